"""`tadoru demo`: serves the bundled site, runs every job on it with the commands that a user would type, and lists the results.

To add a job, add it to `DEMO_JOBS`. The site itself is in `tadoru.demo`. The language is English unless `tadoru --lang` chooses
another, whatever the locale is.
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
from tadoru.cli.output import N_, _, current_language, set_language
from tadoru.errors import UsageError

SHOWN_LINES = 24
"""Lines of each paragraph of a result that are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoJob:
    """A job of the demo."""

    what: str
    """What it does."""
    commands: Callable[[str, Path], list[list[str]]]
    """The arguments of its commands, for the URL of the site and the output folder."""
    shown: str
    """The file that is shown, shortened."""
    made: tuple[tuple[str, str], ...]
    """Its output files, and what each is."""
    fresh: tuple[str, ...] = ()
    """Files and folders of an earlier demo that are deleted first."""


def _links(url: str, folder: Path) -> list[list[str]]:
    crawl = ["links", f"{url}/", "--delay", "0", "--depth", "6", "--trap-limit", "5", "--check", "--fragments"]
    kept = ["--state", str(folder / "links.db")]
    # The later commands read the stored crawl and send no requests.
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
# The town publishes its events in five formats, with different details.
sources:
  - {{name: Calendar, type: ics, url: "{url}/events.ics", city: 星町, timezone: Asia/Tokyo}}
  - {{name: Open data, type: csv, url: "{url}/opendata/events.csv", city: 星町}}
  - name: API
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
        what=N_("Mapping and checking the links of the site"),
        commands=_links,
        shown="links.txt",
        made=(
            ("links.html", N_("graph of the site, pages and broken links: open it in a browser")),
            ("links.txt", N_("the whole tree")),
            ("links.json", N_("the same as JSON")),
            ("links.db", N_("the crawl (SQLite): it can be resumed and queried")),
        ),
        fresh=("links.db", "links.db-wal", "links.db-shm"),
    ),
    DemoJob(
        what=N_("Auditing the site: every page, then the site as a whole"),
        commands=_audit,
        shown="audit.txt",
        made=(
            ("audit.html", N_("shareable report: open it in a browser")),
            ("audit.txt", N_("the summary")),
            ("findings.csv", N_("all findings, for a spreadsheet")),
            ("audit.db", N_("the crawl (SQLite): pages, links, findings and more")),
        ),
        fresh=("audit.db", "audit.db-wal", "audit.db-shm"),
    ),
    DemoJob(
        what=N_("Downloading the documentation as Markdown and searching it"),
        commands=_docs,
        shown="docs/llms.txt",
        made=(
            ("docs/full.md", N_("the documentation as one file, for a language model")),
            ("docs/pages", N_("a file per page")),
            ("docs/SKILL.md", N_("instructions for agents")),
        ),
        fresh=("docs",),
    ),
    DemoJob(
        what=N_("Collecting events from five sources into one calendar"),
        commands=_events,
        shown="events.txt",
        made=(
            ("events.ics", N_("the calendar, for calendar apps")),
            ("events.txt", N_("the events as a table")),
            ("sources.yml", N_("the event sources")),
            ("events", N_("database, snapshots of the sources, and run logs")),
        ),
        fresh=("events",),
    ),
)


_NEXT_STEPS = (
    ("tadoru demo --serve", N_("the results in the web service")),
    ("tadoru demo --serve-only", N_("the site in your browser, with its broken pages")),
    ("tadoru links https://example.com", N_("your own site")),
    ("tadoru audit https://example.com", N_("the problems of a site")),
    ("tadoru docs https://docs.example.com", N_("a documentation site as Markdown")),
    ("tadoru events --help", N_("a calendar from many sources")),
    ("tadoru --help", N_("all commands")),
)


@click.command(
    cls=DocumentedCommand, short_help="Run every job on a small bundled site.",
    examples=(
        ("tadoru demo", "all jobs, with results in ./tadoru-demo"),
        ("tadoru demo --serve", "then show the results in the web service"),
        ("tadoru demo --serve-only --port 8080", "a site to try commands on"),
    ),
)  # fmt: skip
@click.option("--keep", metavar="DIR", default="tadoru-demo", help="Folder for the results. [./tadoru-demo]")
@click.option("--port", metavar="N", type=click.IntRange(0, 65535), default=0, help="Port of the site; 0 for any free port.")
@click.option("--serve-only", is_flag=True, help="Only serve the site until Ctrl-C, to open it in a browser or to try commands.")
@click.option("--changes", metavar="DIR", help="With --serve-only: files in this folder replace those of the site.")
@click.option("--serve", is_flag=True, help="Then show the results with `tadoru serve` until Ctrl-C.")
def demo(keep: str, port: int, serve_only: bool, changes: str | None, serve: bool) -> int:
    """Serve a small bundled site on loopback and run every job on it. Needs no network access."""
    if not click.get_current_context().find_root().params.get("lang"):
        set_language("en")
    if serve_only and serve:
        raise UsageError("--serve-only serves the site, --serve the results. Choose one.")
    if changes is not None and not serve_only:
        raise UsageError("--changes needs --serve-only.")
    if serve_only:
        return _serve_site(port, changes)
    if serve:
        import tadoru.serve.app  # noqa: F401 - a missing package is reported now, not after all jobs.
    folder = _folder(keep)
    from tadoru.demo.server import running_site

    with running_site(port) as url:
        _note(_("Serving the town of Hoshimachi at {url}/ during the demo.", url=url))
        for job in DEMO_JOBS:
            code = _run_job(job, url, folder)
            if code:
                return code
        _print_next_steps(folder)
        # The site stays: the service collects its sources and crawls it again.
        return _serve_results(folder, url) if serve else 0


def _serve_results(folder: Path, url: str) -> int:
    """Run the service with the results of the jobs; it may reach the site."""
    service = ["serve", "-d", str(folder / "events" / "events.db"), "--timezone", "Asia/Tokyo", "--site-name", "Hoshimachi"]
    print()
    for arguments in (
        [*service, "crawls", "add", str(folder / "audit.db"), "--name", "Hoshimachi, audit"],
        [*service, "crawls", "add", str(folder / "links.db"), "--name", "Hoshimachi, links"],
        [*service, "crawls", "add", str(folder / "docs"), "--name", "Hoshimachi Open Data"],
        [*service, "--crawl-private", url.removeprefix("http://"), "--port", "0"],
    ):
        print(f"$ {shlex.join(['tadoru', *arguments])}", flush=True)
        code = run(arguments, current_language())
        if code:
            return code
    return 0


def _serve_site(port: int, changes: str | None) -> int:
    from tadoru.demo.server import open_server

    if changes is not None and not Path(changes).is_dir():
        raise UsageError("Folder {folder} not found. Create it and add the pages to replace.", folder=changes)
    with open_server(port, Path(changes) if changes else None) as server:
        print(f"{server.url}/", flush=True)
        _note(_("Serving the demo site until Ctrl-C. In another terminal, try:"))
        _note(f"  tadoru links {server.url}/ --delay 0 --check")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            _note("")
    return 0


def _folder(name: str) -> Path:
    """The output folder, without the files of an earlier demo."""
    folder = Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for old in (folder / file for job in DEMO_JOBS for file in job.fresh):
            if old.is_dir() and not old.is_symlink():
                shutil.rmtree(old)
            else:
                old.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(
            "Cannot use the folder {folder} ({reason}). Choose another with --keep.", folder=folder, reason=error.strerror
        ) from None
    return folder


def _run_job(job: DemoJob, url: str, folder: Path) -> int:
    _note(f"{_(job.what)} ...")
    for arguments in job.commands(url, folder):
        print(f"$ {shlex.join(['tadoru', *arguments])}", flush=True)
        code = run(arguments, current_language())
        if code:
            return code
    print(f"\n{shorten_paragraphs((folder / job.shown).read_text('utf-8'), SHOWN_LINES)}", flush=True)
    return 0


def shorten_paragraphs(text: str, most: int) -> str:
    """The text with each paragraph cut to so many lines."""
    return "\n\n".join(_shorten_lines(part.splitlines(), most) for part in text.strip("\n").split("\n\n"))


def _shorten_lines(lines: list[str], most: int) -> str:
    if len(lines) <= most + 1:
        return "\n".join(lines)
    return "\n".join([*lines[:most], _("  … {count} more lines", count=len(lines) - most)])


def _print_next_steps(folder: Path) -> None:
    print("\n" + _("Results"))
    files = [(str(folder / name), _(what)) for job in DEMO_JOBS for name, what in job.made]
    width = max(len(name) for name, _ in files)
    for name, what in files:
        print(f"  {name:<{width}}  {what}")
    print("\n" + _("Next steps"))
    for command, what in _NEXT_STEPS:
        print(f"  {command:<39} {_(what)}")


def _note(sentence: str) -> None:
    sys.stderr.write(f"{sentence}\n")
    sys.stderr.flush()
