"""The command: build the sites, run every peer on each, print the table and write it down."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
import tempfile
import time
from pathlib import Path

from bench import everything, report, site
from bench.install import Unavailable, debian
from bench.measure import milliseconds, run
from bench.peers import AUDIT_PEERS, PEERS
from bench.peers.base import InstalledPeer, Job, Peer
from bench.peers.tadoru import PROGRAM
from bench.server import Server, serve

ROOT = Path(__file__).resolve().parent.parent
MEMORY = Path("/dev/shm")


def arguments(given: list[str]) -> argparse.Namespace:
    names = list(dict.fromkeys(peer.name.lower() for peer in (*PEERS, *AUDIT_PEERS)))
    parser = argparse.ArgumentParser(prog="python -m bench", description="Run tadoru and its peers side by side.")
    parser.add_argument("--audit", action="store_true", help="audits instead of maps of links: writes bench/AUDIT.md")
    parser.add_argument("--quick", action="store_true", help="600 pages, at most 12 s a crawl: under two minutes")
    parser.add_argument("--site", choices=("generated", "python3-doc", "both"), help="default: both; generated with --quick")
    parser.add_argument("--only", metavar="NAMES", help=f"some of {','.join(names)}")
    parser.add_argument("--pages", type=int, help="size of the generated site (default 4000)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the generated site")
    parser.add_argument("--box", type=float, metavar="SECONDS", help="end a crawl after so long (default 60, audits 30)")
    parser.add_argument("--rounds", type=int, default=3, help="runs of the fast ones, taken in turns (default 3)")
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--cache", type=Path, default=ROOT / ".bench", help="sites, environments and scratch")
    parser.add_argument("-o", "--output", type=Path, help="default: below bench/ for a full run, otherwise below .bench/")
    chosen = parser.parse_args(given)
    only = set(chosen.only.lower().split(",")) if chosen.only else set(names)
    if unknown := only - set(names):
        parser.error(f"no such peer: {', '.join(sorted(unknown))}")
    full = not chosen.quick and not chosen.only and not chosen.site
    name = "AUDIT.md" if chosen.audit else "LINKS.md"
    chosen.peers = [peer for peer in (AUDIT_PEERS if chosen.audit else PEERS) if peer.name.lower() in only]
    chosen.site = chosen.site or ("generated" if chosen.quick else "both")
    chosen.pages = chosen.pages or (600 if chosen.quick else 4000)
    chosen.box = chosen.box or (12 if chosen.quick else 30 if chosen.audit else 60)
    chosen.cache = chosen.cache.resolve()
    # A disk that is busy halves wget2's rate: what crawlers write goes to memory where that is possible.
    chosen.scratch = MEMORY if os.access(MEMORY, os.W_OK) else chosen.cache
    chosen.output = chosen.output or (ROOT / "bench" if full else chosen.cache) / name
    return chosen


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def sites(chosen: argparse.Namespace) -> list[site.Site]:
    found = []
    if chosen.site in ("generated", "both"):
        say(f"Building {chosen.pages:,} pages …")
        found.append(site.build(chosen.cache, chosen.pages, chosen.seed))
    if chosen.site in ("python3-doc", "both"):
        if site.python_doc() is None:
            try:
                debian("python3-doc")
            except Unavailable as why:
                say(f"Without python3-doc: {why}")
        if doc := site.python_doc():
            found.append(doc)
    return found


def crawl(peer: Peer, ready: InstalledPeer, server: Server, chosen: argparse.Namespace) -> report.Run:
    """One crawl in a folder of its own, which is deleted afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="tadoru-bench-", dir=chosen.scratch))
    folder.chmod(0o755)  # LinkChecker reads its configuration as another account
    job = Job(server.url, folder, chosen.concurrency)
    mark = server.mark()
    try:
        usage = run(ready.command(job), folder, chosen.box, server.pid)
        time.sleep(0.2)  # the server writes a line a moment after the client has the page
        seen = server.seen_since(mark)
        recorded = peer.recorded(job) if peer.recorded and usage.finished else None
        kept = peer.kept(job) if peer.kept else None
        complaint = (folder / "stderr").read_text(errors="replace").splitlines()[-3:]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    cost = f"{usage.wall:.1f} s wall, {usage.cpu:.1f} s CPU, others took {usage.others:.1f} cores"
    say(f"  {peer.name}: {seen.rate:,.1f} pages/s, {seen.pages:,} pages, {cost}")
    if not seen.pages or (usage.finished and usage.exit_code):
        for line in complaint:
            say(f"    {line}")
    return report.Run(seen, usage, recorded, kept)


def sit(
    place: site.Site, ready: dict[str, InstalledPeer], absent: dict[str, str], chosen: argparse.Namespace
) -> report.SiteComparison:
    """Every peer on one site. The fast ones take turns, so that a busy moment of the machine does not fall on one of them."""
    runs: dict[str, list[report.Run]] = {name: [] for name in ready}
    present = [peer for peer in chosen.peers if peer.name in ready]
    with serve(place, chosen.cache / "server") as server:
        say(f"{place.name} ({place.description}), served by {server.name}")
        for turn in range(chosen.rounds):
            for peer in present:
                if turn == 0 or peer.repeats:
                    runs[peer.name].append(crawl(peer, ready[peer.name], server, chosen))
        rows = tuple(
            report.Row(peer.name, ready[peer.name].version, peer.work, tuple(runs[peer.name]))
            if peer.name in ready
            else report.Row(peer.name, "", peer.work, absent=absent[peer.name])
            for peer in chosen.peers
        )
        return report.SiteComparison(place.name, place.description, server.name, place.pages, rows)


def startup() -> str:
    """How long the command takes to say its version, against an interpreter that does nothing."""
    python = PROGRAM.parent / ".venv" / "bin" / "python"
    if not PROGRAM.exists() or not python.exists():
        return "Start-up: not measured, ./tadoru is not there yet"
    own, bare = milliseconds([str(PROGRAM), "--version"]), milliseconds([str(python), "-c", "pass"])
    allowed = 3 * bare + 150
    return (
        f"Start-up: `./tadoru --version` {own:.0f} ms, `python -c pass` {bare:.0f} ms: {own / bare:.1f} times "
        f"(allowed: three times and 150 ms, {allowed:.0f} ms: {'kept' if own <= allowed else 'NOT KEPT'})"
    )


def main(given: list[str]) -> int:
    if given[:1] == ["--everything"]:
        return everything.main(given[1:])
    chosen = arguments(given)
    chosen.cache.mkdir(parents=True, exist_ok=True)
    ready: dict[str, InstalledPeer] = {}
    absent: dict[str, str] = {}
    for peer in chosen.peers:
        try:
            ready[peer.name] = peer.prepare(chosen.cache)
        except Unavailable as why:
            absent[peer.name] = str(why)
            say(f"Without {peer.name}: {why}")
    measured = startup() if "tadoru" in ready else "Start-up: not measured"
    sittings = [sit(place, ready, absent, chosen) for place in sites(chosen)]
    required = report.AUDIT_REQUIRED if chosen.audit else report.REQUIRED
    text = report.render(sittings, measured, shlex.join(["bench/run", *given]), required)
    chosen.output.write_text(text)
    print(text)
    say(f"Written to {os.path.relpath(chosen.output)}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
