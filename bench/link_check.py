"""Measures `links --check` and a folder beside the plain link map and LinkChecker: `python -m bench.link_check`.

The commands take turns, so that load of the machine affects all of them; a ratio is that of one round, and its median counts. CPU
time is that of the process tree; for what comes over loopback the server's is added, because a folder needs no server.
LinkChecker runs to its end, on a smaller site, and Tadoru there too: while it has pages to read, LinkChecker leaves most of the
links that it found for later. The sites have no links to other hosts: a map does not request them. The results are sections of
`bench/LINK_CHECK.md`.
"""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from bench.install import Unavailable
from bench.measure import run, tree_cpu
from bench.peers import linkchecker, tadoru
from bench.peers.base import Job
from bench.server import Server, serve
from bench.site import Site, build

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".bench"
REPORT = ROOT / "bench" / "LINK_CHECK.md"
CONCURRENCY = 32
FOLDER = "links {url} --processes auto --concurrency {concurrency} --format json -o {output}"
MAP, CHECK, FILES, LINKCHECKER = "links URL", "links URL --check", "links FOLDER", "LinkChecker"
_EXTERNAL = re.compile(r'href="https?://[^"]*"')


def without_external_links(site: Site) -> Site:
    """A copy of a site whose links to other hosts lead to its start page."""
    root = site.root.with_name(site.root.name + "-internal")
    if not root.exists():
        shutil.copytree(site.root, root)
        for page in root.rglob("*.html"):
            page.write_text(_EXTERNAL.sub('href="/index.html"', page.read_text("utf-8")), "utf-8")
    return replace(site, root=root)


def cpu_per_page(command: Callable[[Job], list[str]], job: Job, server: Server, pages: int, box: float) -> float:
    """Milliseconds of CPU time per page. Of a command that the time box ended, per page that it requested."""
    shutil.rmtree(job.folder, ignore_errors=True)
    job.folder.mkdir()
    before, mark = tree_cpu(server.pid), server.mark()
    usage = run(command(job), job.folder, box, server.pid)
    served = tree_cpu(server.pid) - before
    requested = server.seen_since(mark).pages
    return (usage.cpu + served) * 1000 / (pages if usage.finished else max(1, requested))


def measure(site: Site, server: Server, rounds: int, box: float, scratch: Path) -> dict[str, list[float]]:
    """The cost of a page for each command of Tadoru, in each round."""
    folder = scratch / "output"
    job, local = Job(server.url, folder, CONCURRENCY), Job(str(site.root), folder, CONCURRENCY)
    commands: dict[str, tuple[Callable[[Job], list[str]], Job]] = {
        MAP: (tadoru.command, job),
        CHECK: (lambda job: [*tadoru.command(job), "--check"], job),
        FILES: (lambda job: tadoru.command(job, FOLDER), local),
    }
    found: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, (command, given) in commands.items():
            found[name].append(cpu_per_page(command, given, server, site.pages or 1, box))
    return found


def measure_peer(site: Site, server: Server, rounds: int, box: float, scratch: Path) -> dict[str, list[float]]:
    """The cost of a page for LinkChecker, and for Tadoru before and after it."""
    scratch.chmod(0o755)  # Started by root, LinkChecker becomes another user.
    job, peer, pages = Job(server.url, scratch / "output", CONCURRENCY), linkchecker.prepare(CACHE), site.pages or 1

    def check(job: Job) -> list[str]:
        return [*tadoru.command(job), "--check"]

    before = [cpu_per_page(check, job, server, pages, box) for _ in range(rounds)]
    theirs = [cpu_per_page(peer.command, job, server, pages, box)]
    after = [cpu_per_page(check, job, server, pages, box) for _ in range(rounds)]
    return {CHECK: before + after, LINKCHECKER: theirs}


def ratio(found: dict[str, list[float]], slower: str, faster: str) -> float:
    """How many times as many pages `faster` reads in the same CPU time; the median of the rounds."""
    return statistics.median(found[slower][at % len(found[slower])] / cost for at, cost in enumerate(found[faster]))


def report(site: Site, server: str, found: dict[str, list[float]]) -> str:
    """The costs of the commands on a site, and their ratios."""
    lines = [
        f"\nThe generated site without external links ({site.description}); {len(found[CHECK])} rounds; served by {server}.",
        "",
        "| command | ms of CPU per page | lowest–highest |",
        "| --- | ---: | ---: |",
        *(f"| {name} | {statistics.median(cost):.2f} | {min(cost):.2f}–{max(cost):.2f} |" for name, cost in found.items()),
        "",
    ]
    if LINKCHECKER in found:
        lines.append(f"- `links --check` is {ratio(found, LINKCHECKER, CHECK):.0f} times LinkChecker (asked: 25).")
    else:
        lines.append(f"- `links --check` has {ratio(found, MAP, CHECK):.2f} of the rate of plain `links` (asked: 0.80).")
        share = ratio(found, MAP, FILES)
        lines.append(f"- A folder has {share:.2f} of the rate at which `links` maps it over loopback (asked: 1.00).")
    return "\n".join(lines) + "\n"


def replace_section(path: Path, heading: str, text: str) -> None:
    """Write a section of a document: in the place of the one with this heading, or at the end."""
    before, found, rest = path.read_text("utf-8").partition(f"{heading}\n")
    after = rest[rest.index("\n## ") :] if "\n## " in rest else ""
    path.write_text(f"{before if found else before + chr(10)}{heading}\n{text}{after}", "utf-8")
    print(text)


def main(given: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.link_check", description=__doc__)
    parser.add_argument("--pages", type=int, default=5000)
    parser.add_argument("--peer-pages", type=int, default=800, help="pages of the site for LinkChecker")
    parser.add_argument("--only", choices=["tadoru", "peer"], help="one half of the measurement")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--box", type=float, default=1200.0, help="seconds for a command")
    chosen = parser.parse_args(given)
    for half, heading, pages, run_half in (
        ("tadoru", "## Speed", chosen.pages, measure),
        ("peer", "## Speed beside LinkChecker", chosen.peer_pages, measure_peer),
    ):
        if chosen.only not in (None, half):
            continue
        site = without_external_links(build(CACHE, pages, 1))
        with tempfile.TemporaryDirectory(prefix="tadoru-bench-") as scratch, serve(site, Path(scratch)) as server:
            try:
                found = run_half(site, server, chosen.rounds, chosen.box, Path(scratch))
            except Unavailable as why:
                print(f"Without LinkChecker: {why}", file=sys.stderr)
                continue
            replace_section(REPORT, heading, report(site, server.name, found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
