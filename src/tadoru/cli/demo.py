"""`tadoru demo`: serve the bundled site, run each job on it as a person would type it, and say where to look.

What a job shows comes from its own command, called here with arguments; nothing is made for the demo alone. A new job is a new
line in `DEMO_JOBS`. The site itself is in `tadoru.demo`.
"""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click

from tadoru.cli.help import DocumentedCommand
from tadoru.cli.main import run
from tadoru.errors import UsageError

SHOWN_LINES = 24
"""Of each part of a job's text, so many lines are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoJob:
    """A job's place in the demo."""

    what: str
    """What it is about to do, in a sentence."""
    commands: Callable[[str, Path], list[list[str]]]
    """The arguments of each command, for the site's address and the folder to write to."""
    shown: str
    """The file that is shown, shortened."""
    made: tuple[tuple[str, str], ...]
    """The files it leaves, and what each is."""
    fresh: tuple[str, ...] = ()
    """Files and folders of an earlier demo that must not be taken up again."""


def _links(url: str, folder: Path) -> list[list[str]]:
    crawl = ["links", f"{url}/", "--delay", "0", "--depth", "6", "--trap-limit", "5", "--check", "--fragments"]
    kept = ["--state", str(folder / "links.db")]
    # The later commands read the kept crawl; they request nothing again.
    return [
        [*crawl, *kept, "-o", str(folder / "links.txt")],
        [*crawl, *kept, "-q", "-f", "html", "-o", str(folder / "links.html")],
        [*crawl, *kept, "-q", "-f", "json", "-o", str(folder / "links.json")],
    ]


def _audit(url: str, folder: Path) -> list[list[str]]:
    kept = str(folder / "audit.db")
    crawl = ["audit", f"{url}/", "-d", kept, "--delay", "0", "--trap-limit", "5", "--fragments", "-q"]
    return [
        [*crawl, "--report", str(folder / "audit.html")],
        ["report", kept, "-q", "-o", str(folder / "audit.txt")],
        ["export", kept, "-q", "--format", "csv", "--table", "findings", "-o", str(folder / "findings.csv")],
    ]


def _docs(url: str, folder: Path) -> list[list[str]]:
    site = str(folder / "docs")
    return [
        ["docs", f"{url}/docs/", "-o", site, "--scope", "path", "--delay", "0", "-q"],
        ["docs", "search", site, "rate", "-n", "3"],
    ]


_SOURCES_YAML = """\
# The town publishes its events in five ways; each says a little else about them.
sources:
  - {{name: Calendar, type: ics, url: "{url}/events.ics", city: 星町, timezone: Asia/Tokyo}}
  - {{name: Open data, type: csv, url: "{url}/opendata/events.csv", city: 星町}}
  - name: Interface
    type: api
    url: "{url}/api/events?page=1"
    city: 星町
    timezone: Asia/Tokyo
    settings:
      items: events
      fields: {{title: title.ja, start: starts_at, end: ends_at, venue: venue.name, category: category, url: url}}
      pagination: {{kind: link, path: next}}
  - {{name: News, type: rss, url: "{url}/feed.xml", city: 星町, timezone: Asia/Tokyo}}
  - {{name: Concert, type: html, url: "{url}/events/concert.html", city: 星町, timezone: Asia/Tokyo}}
"""


def _events(url: str, folder: Path) -> list[list[str]]:
    (folder / "sources.yml").write_text(_SOURCES_YAML.format(url=url), "utf-8")
    events = ["events", "-d", str(folder / "events" / "events.db")]
    return [
        [*events, "sources", "import", str(folder / "sources.yml")],
        [*events, "run", "--all", "--delay", "0"],
        [*events, "list", "-o", str(folder / "events.txt")],
        [*events, "list", "--format", "ics", "-o", str(folder / "events.ics")],
    ]


DEMO_JOBS = (
    DemoJob(
        what="Mapping the site's links, and checking each of them",
        commands=_links,
        shown="links.txt",
        made=(
            ("links.html", "the site as a picture, its pages and its broken links: open it in a browser"),
            ("links.txt", "the whole tree"),
            ("links.json", "the same for programs"),
            ("links.db", "the crawl itself, SQLite: it can be resumed and queried"),
        ),
        fresh=("links.db", "links.db-wal", "links.db-shm"),
    ),
    DemoJob(
        what="Auditing the site: every page judged, then the site as a whole",
        commands=_audit,
        shown="audit.txt",
        made=(
            ("audit.html", "the report, to read in a browser or to send to somebody"),
            ("audit.txt", "the same in short"),
            ("findings.csv", "every finding, for a spreadsheet"),
            ("audit.db", "the crawl itself, SQLite: pages, links, findings and much more, by SQL"),
        ),
        fresh=("audit.db", "audit.db-wal", "audit.db-shm"),
    ),
    DemoJob(
        what="Reading the town's documentation as Markdown, and searching it",
        commands=_docs,
        shown="docs/llms.txt",
        made=(
            ("docs/full.md", "the documentation as one file, for a language model"),
            ("docs/pages", "a file for each page"),
            ("docs/SKILL.md", "how an agent is to use them"),
        ),
        fresh=("docs",),
    ),
    DemoJob(
        what="Collecting the town's events from five sources into one calendar",
        commands=_events,
        shown="events.txt",
        made=(
            ("events.ics", "the calendar, for a calendar program"),
            ("events.txt", "the same as a table"),
            ("sources.yml", "where the events came from"),
            ("events", "the database, a snapshot of each source, and the log of each run"),
        ),
        fresh=("events",),
    ),
)


@click.command(
    cls=DocumentedCommand, short_help="Try everything on a small bundled site.",
    examples=(
        ("tadoru demo", "every job, and what it leaves in ./tadoru-demo"),
        ("tadoru demo --serve", "and then the pages of the service, filled with it"),
        ("tadoru demo --serve-only --port 8080", "a site to try your own commands on"),
    ),
)  # fmt: skip
@click.option("--keep", metavar="DIR", default="tadoru-demo", help="Write the results to this folder. [./tadoru-demo]")
@click.option("--port", metavar="N", type=click.IntRange(0, 65535), default=0, help="Serve the site on this port; 0: a free one.")
@click.option("--serve-only", is_flag=True, help="Only serve the site, until Ctrl-C: to look at it, or to try commands on it.")
@click.option("--changes", metavar="DIR", help="With --serve-only: files in this folder take the place of the site's own.")
@click.option("--serve", is_flag=True, help="Then show the results on the pages of `tadoru serve`, until Ctrl-C.")
def demo(keep: str, port: int, serve_only: bool, changes: str | None, serve: bool) -> int:
    """Serve a small bundled site on loopback and run every job on it. Needs no network and no service."""
    if serve_only and serve:
        raise UsageError("--serve-only serves the site, --serve the results: choose one of them.")
    if changes is not None and not serve_only:
        raise UsageError("--changes is for a site that stays: give --serve-only too.")
    if serve_only:
        return _serve_site(port, changes)
    if serve:
        import tadoru.serve.app  # noqa: F401 - a package that is missing is told now, not when all jobs are done.
    folder = _folder(keep)
    from tadoru.demo.server import running_site

    with running_site(port) as url:
        _note(f"The town of Hoshimachi is at {url}/ for a moment.")
        for job in DEMO_JOBS:
            code = _run_job(job, url, folder)
            if code:
                return code
    _print_next_steps(folder)
    return _serve_results(folder) if serve else 0


def _serve_results(folder: Path) -> int:
    """The pages of the service, filled with what the jobs left."""
    service = ["serve", "-d", str(folder / "events" / "events.db"), "--timezone", "Asia/Tokyo", "--site-name", "Hoshimachi"]
    print()
    for arguments in (
        [*service, "crawls", "add", str(folder / "audit.db"), "--name", "Hoshimachi, audited"],
        [*service, "crawls", "add", str(folder / "links.db"), "--name", "Hoshimachi, its links"],
        [*service, "crawls", "add", str(folder / "docs"), "--name", "Hoshimachi Open Data"],
        [*service, "--port", "0"],
    ):
        print(f"$ {shlex.join(['tadoru', *arguments])}", flush=True)
        code = run(arguments)
        if code:
            return code
    return 0


def _serve_site(port: int, changes: str | None) -> int:
    from tadoru.demo.server import open_server

    if changes is not None and not Path(changes).is_dir():
        raise UsageError(f"There is no folder {changes}: make it, then put the pages into it that you want to change.")
    with open_server(port, Path(changes) if changes else None) as server:
        print(f"{server.address}/", flush=True)
        _note("Serving the demo site until Ctrl-C. In another terminal, try:")
        _note(f"  tadoru links {server.address}/ --delay 0 --check")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            _note("")
    return 0


def _folder(name: str) -> Path:
    """The folder, without what must not be taken up again."""
    folder = Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for old in (folder / file for job in DEMO_JOBS for file in job.fresh):
            if old.is_dir() and not old.is_symlink():
                shutil.rmtree(old)
            else:
                old.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"The folder {folder} can not be used ({error.strerror}): give another with --keep.") from None
    return folder


def _run_job(job: DemoJob, url: str, folder: Path) -> int:
    _note(f"{job.what} ...")
    for arguments in job.commands(url, folder):
        print(f"$ {shlex.join(['tadoru', *arguments])}", flush=True)
        code = run(arguments)
        if code:
            return code
    print(f"\n{shorten_paragraphs((folder / job.shown).read_text('utf-8'), SHOWN_LINES)}", flush=True)
    return 0


def shorten_paragraphs(text: str, most: int) -> str:
    """The text with each of its parts, which blank lines divide, cut to so many lines."""
    return "\n\n".join(_shorten_lines(part.splitlines(), most) for part in text.strip("\n").split("\n\n"))


def _shorten_lines(lines: list[str], most: int) -> str:
    if len(lines) <= most + 1:
        return "\n".join(lines)
    return "\n".join([*lines[:most], f"  … {len(lines) - most} more lines"])


def _print_next_steps(folder: Path) -> None:
    print("\nWhere to look")
    files = [(str(folder / name), what) for job in DEMO_JOBS for name, what in job.made]
    width = max(len(name) for name, _ in files)
    for name, what in files:
        print(f"  {name:<{width}}  {what}")
    print("\nWhat to try next")
    print("  tadoru demo --serve                     all of this on the pages of the service")
    print("  tadoru demo --serve-only                the site in your browser, with its broken pages")
    print("  tadoru links https://example.com        your own site")
    print("  tadoru audit https://example.com        what is wrong with it")
    print("  tadoru docs https://docs.example.com    a documentation site as Markdown")
    print("  tadoru events --help                    one calendar from many sources")
    print("  tadoru --help                           everything it can do")


def _note(sentence: str) -> None:
    sys.stderr.write(f"{sentence}\n")
    sys.stderr.flush()
