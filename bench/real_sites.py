"""Runs links, audit and docs on documentation as Debian packages ship it, and says what came of each.

Sites that nobody made for a test: Sphinx, DocBook, AsciiDoc, rustdoc, mdBook, Javadoc, Doxygen, gtk-doc, gi-docgen, Texinfo and
hand-written HTML. Those of `KNOWN` that are installed are taken, or the folders that are named. nginx serves them on loopback;
links to other hosts are not requested. Rates are those of one process on a machine that also serves.

    apt-get install python3-doc postgresql-doc git-doc sqlite3-doc …
    python -m bench.real_sites [--pages 300] [--only python,git] [--root DIR]… [-o bench/REAL_SITES.md] [FOLDER]…

`--root` is a folder with the files of packages (`usr/share/doc/…`), or one with such folders side by side, as `dpkg-deb -x` makes
them. Commands run one at a time.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from bench.measure import Usage, run
from bench.server import Server, serve
from bench.site import Site


class DebianManual(NamedTuple):
    """A manual of a Debian package."""

    name: str
    maker: str
    folder: str
    """Below `usr/share`; a pattern where a version is in it."""
    start: str = "index.html"


KNOWN = (
    DebianManual("python", "Sphinx", "doc/python3*/html"),
    DebianManual("django", "Sphinx", "doc/python-django-doc/html"),
    DebianManual("cmake", "Sphinx", "doc/cmake-data/html"),
    DebianManual("postgresql", "DocBook", "doc/postgresql-doc-*/html"),
    DebianManual("boost", "DocBook", "doc/libboost*-doc", "doc/html/index.html"),
    DebianManual("git", "AsciiDoc", "doc/git-doc"),
    DebianManual("nodejs", "its own", "doc/nodejs/api"),
    DebianManual("sqlite", "its own", "doc/sqlite3"),
    DebianManual("erlang", "its own", "doc/erlang-doc", "doc/index.html"),
    DebianManual("rust-book", "mdBook", "doc/rust-doc/html", "book/index.html"),
    DebianManual("rust-alloc", "rustdoc", "doc/rust-doc/html", "alloc/index.html"),
    DebianManual("java", "Javadoc", "doc/openjdk-*-jre-headless", "api/java.base/module-summary.html"),
    DebianManual("eigen", "Doxygen", "doc/libeigen3-dev/html"),
    DebianManual("glib", "gtk-doc", "gtk-doc/html", "glib/index.html"),
    DebianManual("gtk4", "gi-docgen", "doc/libgtk-4-doc", "gtk4/index.html"),
    DebianManual("octave", "Texinfo", "doc/octave", "octave.html/index.html"),
    DebianManual("ghc", "Sphinx and Haddock", "doc/ghc-doc/html", "users_guide/index.html"),
)
BOX = 900.0
SEVERITIES = ("error", "warning", "notice", "info")
TIMES = ("pages", "s", "pages/s", "CPU ms per page", "peak MB")
HEADS = {
    "links": ("site", "generator", *TIMES, "broken", "broken #"),
    "audit": ("site", "generator", *TIMES, "score", "errors", "warnings", "notices", "info"),
    "docs": ("site", "generator", *TIMES, "tokens", "code blocks"),
}
COMMANDS = {
    "links": "`tadoru links --fragments`: broken links and broken fragments within the site.",
    "audit": "`tadoru audit --fragments`: findings, counted by page.",
    "docs": "`tadoru docs`: pages as Markdown; memory includes a browser if a page needs one.",
}


@dataclass(frozen=True, slots=True)
class ServedManual:
    """A folder of pages to serve, and the page to begin with."""

    name: str
    maker: str
    folder: Path
    start: str


@dataclass(frozen=True, slots=True)
class Row:
    """What the three jobs made of a manual."""

    manual: ServedManual
    links: Usage
    audit: Usage
    docs: Usage
    linked: dict[str, Any]
    report: dict[str, Any]
    index: dict[str, Any]
    fences: int
    """Blocks of code in the Markdown."""

    def cells(self, job: str) -> tuple[str, ...]:
        """The row of one of the three tables."""
        names = (self.manual.name, self.manual.maker)
        if job == "links":
            broken = self.linked["broken_links"]
            fragments = sum(link["kind"] == "fragment" for link in broken)
            times = _times(self.links, self.linked["total_processed"])
            return (*names, *times, f"{len(broken) - fragments:,}", f"{fragments:,}")
        if job == "audit":
            severities = self.report["totals"]["severities"]
            found = (f"{severities[name]['findings']:,}" for name in SEVERITIES)
            return (*names, *_times(self.audit, self.report["pages"]["requested"]), f"{self.report['score']:.0f}", *found)
        return (*names, *_times(self.docs, self.index["totalPages"]), f"{self.index['totalTokens']:,}", f"{self.fences:,}")


def _times(used: Usage, pages: int) -> tuple[str, ...]:
    """Of the whole command, start and output included."""
    rate, cost = pages / used.wall, 1000 * used.cpu / max(1, pages)
    return f"{pages:,}", f"{used.wall:.1f}", f"{rate:.0f}", f"{cost:.0f}", f"{used.peak / 1e6:.0f}"


def installed(roots: list[Path], only: set[str]) -> Iterator[ServedManual]:
    """The known manuals below the roots, each once."""
    for known in KNOWN:
        if only and known.name not in only:
            continue
        patterns = (f"usr/share/{known.folder}", f"*/usr/share/{known.folder}")
        folders = (folder for root in roots for pattern in patterns for folder in sorted(root.glob(pattern)))
        found = next((folder for folder in folders if (folder / known.start).is_file()), None)
        if found is not None:
            yield ServedManual(known.name, known.maker, found, known.start)


def given(folders: list[Path]) -> Iterator[ServedManual]:
    """Folders that were named."""
    for folder in folders:
        if not (folder / "index.html").is_file():
            raise SystemExit(f"{folder} has no index.html to begin with. Name the folder that has it.")
        yield ServedManual(folder.name, "", folder, "index.html")


def measure(manual: ServedManual, server: Server, folder: Path, pages: int) -> Row:
    """The three commands as a person would type them, without a delay and with a limit."""
    url = server.url.removesuffix("index.html") + manual.start
    common = ["--delay", "0", "--processes", "1", "--scope", "path", "--limit", str(pages), "-q"]
    links = _tadoru(server, folder, "links", url, "--depth", "50", "--fragments", "-f", "json", "-o", "links.json", *common)
    audit = _tadoru(server, folder, "audit", url, "-d", "audit.db", "--fragments", *common)
    _tadoru(server, folder, "report", "audit.db", "-f", "json", "-o", "report.json", "-q")
    docs = _tadoru(server, folder, "docs", url, "-d", "50", "-o", "docs", *common)
    linked, report, index = (_read(folder / name) for name in ("links.json", "report.json", "docs/index.json"))
    fences = sum(line.startswith("```") for line in (folder / "docs" / "full.md").read_text("utf-8").splitlines()) // 2
    return Row(manual, links, audit, docs, linked, report, index, fences)


def _tadoru(server: Server, folder: Path, *command: str) -> Usage:
    used = run([sys.executable, "-P", "-m", "tadoru", *command], folder, BOX, server.pid)
    if used.exit_code or not used.finished:
        raise SystemExit(f"tadoru {' '.join(command)} did not end well:\n{(folder / 'stderr').read_text('utf-8')}")
    return used


def _read(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return found


def table(rows: list[Row], server: str, pages: int, others: float) -> str:
    """The figures as Markdown."""
    limit = f"at most {pages:,} pages a site, " if pages else ""
    lines = [
        "# Results on real documentation sites", "",
        f"`python -m bench.real_sites --pages {pages}` on the documentation of Debian packages, {limit}served by",
        f"{server} on the same machine ({os.cpu_count()} cores), one process, one command at a time, its start included.",
        f"Other programs used {others:.1f} cores on average, so the CPU time per page is more reliable than the rate.",
    ]  # fmt: skip
    for job, head in HEADS.items():
        lines += [
            "",
            f"## {job}",
            "",
            COMMANDS[job],
            "",
            f"| {' | '.join(head)} |",
            f"| --- | --- |{' ---: |' * (len(head) - 2)}",
        ]
        lines += [f"| {' | '.join(row.cells(job))} |" for row in rows]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "folders", nargs="*", type=Path, metavar="FOLDER", help="a folder with an index.html, instead of what is installed"
    )
    parser.add_argument("--pages", type=int, default=300, help="pages of a site, at most; 0 for all (default 300)")
    parser.add_argument("--only", default="", help="names of known manuals, separated by commas")
    parser.add_argument("--root", action="append", type=Path, default=[], help="where packages lie (default /)")
    parser.add_argument("-o", "--output", type=Path, help="the file to write the table to")
    chosen = parser.parse_args()
    only = set(filter(None, chosen.only.split(",")))
    manuals = list(given(chosen.folders)) or list(installed(chosen.root or [Path("/")], only))
    if not manuals:
        raise SystemExit("No documentation is installed that this knows. Install python3-doc or git-doc, or name a folder.")
    rows: list[Row] = []
    name = ""
    for manual in manuals:
        with (
            tempfile.TemporaryDirectory() as place,
            serve(Site(manual.name, manual.folder, None, ""), Path(place) / "server") as server,
        ):
            name = server.name
            rows.append(measure(manual, server, Path(place), chosen.pages))
        for job in HEADS:
            print(job, *rows[-1].cells(job), sep=" | ", flush=True)
    used = [usage for row in rows for usage in (row.links, row.audit, row.docs)]
    text = table(rows, name, chosen.pages, sum(usage.others for usage in used) / len(used))
    print(text)
    if chosen.output:
        chosen.output.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
