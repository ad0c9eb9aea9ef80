"""Calibrates the health score: audits sites whose expected band was written down first, and writes the table.

Manuals are those of Debian packages, unpacked below a root as `dpkg-deb -x` does; generated sites have exactly one property each.
Everything is served on loopback. Exits with 1 if a score is outside its band.

    apt-get download python3.11-doc python-django-doc debian-handbook …; dpkg-deb -x PACKAGE.deb ROOT
    python -m bench.audit_score --root ROOT [--root ROOT]… [--pages 250] [--only django,noindex] [-o bench/AUDIT_SCORE.md]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import tadoru
from tadoru.clock import SystemClock
from tadoru.jobs.audit.score import points_lost
from tadoru.jobs.launch import run_loop
from tadoru.store.crawl.open import open_existing

Band = tuple[int, int]
STORY = "Bread number {n} rests for {n} hours before it is baked, and is sold on day {n} of the month. " * 12
DESCRIPTION = "Bread {n} is baked from flour number {n} and from nothing else, in an oven of stone."


@dataclass(frozen=True)
class Manual:
    """A manual of a Debian package, with the band that was expected of it."""

    name: str
    folder: str
    """Below `usr/share`."""
    band: Band
    expected: str
    """Why."""
    start: str = "index.html"


MANUALS = (
    Manual("python", "doc/python3.11/html", (75, 95), "sound Sphinx manual: long titles, few descriptions, one missing script"),
    Manual("django", "doc/python-django-doc/html", (70, 95), "sound Sphinx manual with a missing script"),
    Manual("cmake", "doc/cmake-data/html", (70, 95), "sound Sphinx manual with short pages"),
    Manual("debian-policy", "doc/debian-policy/policy.html", (70, 95), "small Sphinx manual"),
    Manual("developers-reference", "developers-reference", (70, 95), "small Sphinx manual"),
    Manual("git", "doc/git-doc", (65, 92), "AsciiDoc pages without descriptions or navigation", "git.html"),
    Manual("nodejs", "doc/nodejs/api", (75, 97), "complete HTML, very large pages"),
    Manual("postgresql", "doc/postgresql-doc-15/html", (70, 95), "DocBook: no descriptions, no language"),
    Manual("sqlite", "doc/sqlite3", (55, 90), "hand-written over 20 years, some broken links"),
    Manual("octave", "doc/octave/octave.html", (65, 92), "Texinfo: short pages, no viewport"),
    Manual("zsh", "doc/zsh-common/html", (60, 92), "Texinfo: old markup without language and viewport"),
    Manual("ffmpeg", "doc/ffmpeg/api", (60, 92), "Doxygen: many short pages with similar texts"),
    Manual("handbook", "doc/debian-handbook/html/en-US", (0, 20), "every page is canonicalised to another host"),
)


@dataclass(frozen=True)
class GeneratedSite:
    """A site of small pages that has one property, with the band that was expected of it."""

    name: str
    band: Band
    expected: str
    head: Callable[[int], str] = lambda n: ""
    title: Callable[[int], str] = lambda n: f"Bread number {n} and how it is baked"
    text: Callable[[int], str] = lambda n: STORY.format(n=n)
    heading: Callable[[int], str] = lambda n: f"Bread {n}"
    body: Callable[[int], str] = lambda n: ""
    status: Callable[[int], int] = lambda n: 200
    robots: str = "User-agent: *\nDisallow:\n"
    pages: int = 40
    is_bare: bool = False

    def document(self, n: int) -> str:
        """A page that links to all others."""
        menu = " ".join(f'<a href="/{other}">Bread number {other}</a>' for other in range(self.pages))
        if self.is_bare:
            return f"<h1>{self.heading(n)}</h1><p>{self.text(n)}</p>{self.body(n)}<p>{menu}</p>"
        title = f"<title>{self.title(n)}</title>" if self.title(n) else ""
        return (
            f'<!doctype html><html lang="en"><head><meta charset="utf-8">{title}'
            '<meta name="viewport" content="width=device-width">'
            f'<meta name="description" content="{DESCRIPTION.format(n=n)}">{self.head(n)}</head>'
            f"<body><main><h1>{self.heading(n)}</h1><p>{self.text(n)}</p>{self.body(n)}</main><nav>{menu}</nav></body></html>"
        )


SCRIPT = '<script src="/jquery.js" defer></script>'
GOOGLE = '<meta name="googlebot" content="noindex">'
BLOCKED = "User-agent: Googlebot\nDisallow: /\n"
NOINDEX = '<meta name="robots" content="noindex">'
AWAY = '<link rel="canonical" href="https://copy.example/{n}">'
GENERATED = (
    GeneratedSite("sound", (95, 100), "nothing is wrong"),
    GeneratedSite("noindex", (0, 12), "no page may be shown", head=lambda n: NOINDEX),
    GeneratedSite("googlebot-noindex", (0, 12), "Google may show no page", head=lambda n: GOOGLE),
    GeneratedSite("canonicalised-away", (0, 12), "every page names another host", head=lambda n: AWAY.format(n=n)),
    GeneratedSite("robots-blocked", (0, 12), "robots.txt forbids everything to Google", robots=BLOCKED),
    GeneratedSite("quarter-noindex", (90, 100), "some pages are hidden on purpose", head=lambda n: NOINDEX if n % 4 == 1 else ""),
    GeneratedSite("missing-script", (92, 100), "one missing script on every page", head=lambda n: SCRIPT),
    GeneratedSite("dead-link", (92, 100), "every page links to the same missing page", body=lambda n: '<a href="/lost">Lost</a>'),
    GeneratedSite("fifth-broken", (80, 95), "every fifth page is missing", status=lambda n: 404 if n % 5 == 4 else 200),
    GeneratedSite("same-title", (85, 96), "all pages have one title", title=lambda n: "Bread and how it is baked here"),
    GeneratedSite("no-title", (75, 90), "no page has a title", title=lambda n: ""),
    GeneratedSite("same-text", (60, 88), "all pages have one text", text=lambda n: STORY.format(n=1), heading=lambda n: "Bread"),
    GeneratedSite("bare", (55, 85), "HTML without title, language, doctype, viewport, description", is_bare=True),
    GeneratedSite("thin", (88, 99), "a few words on each page", text=lambda n: f"Bread {n} of the bakery."),
)  # fmt: skip


class _QuietServer(ThreadingHTTPServer):
    """A server that does not mind a client which reads only the beginning of a resource."""

    def handle_error(self, request: object, client_address: object) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Quiet(SimpleHTTPRequestHandler):
    """Serves a folder without a log."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in the standard library
        pass


class _Generated(BaseHTTPRequestHandler):
    """Serves a generated site."""

    def __init__(self, site: GeneratedSite, *args: object) -> None:
        self.site = site
        super().__init__(*args)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        name = self.path.strip("/")
        status, kind, text = 404, "text/html", "<title>Not found</title>"
        if name == "robots.txt":
            status, kind, text = 200, "text/plain", self.site.robots
        elif name.isdigit() and int(name) < self.site.pages:
            status = self.site.status(int(name))
            text = self.site.document(int(name)) if status == 200 else text
        body = text.encode()
        self.send_response(status)
        for field_name, value in {"Content-Type": f"{kind}; charset=utf-8", "Content-Length": str(len(body))}.items():
            self.send_header(field_name, value)
        self.end_headers()
        self.wfile.write(body)

    do_HEAD = do_GET  # noqa: N815 - a name of the standard library

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in the standard library
        pass


@contextmanager
def served(handler: Callable[..., BaseHTTPRequestHandler]) -> Iterator[str]:
    """A server on loopback; its origin."""
    server = _QuietServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass(frozen=True)
class Outcome:
    """The score of a site."""

    name: str
    pages: int
    score: float | None
    band: Band
    expected: str
    reasons: str
    """The checks that cost most, with the points."""

    @property
    def fits(self) -> bool:
        return self.score is not None and self.band[0] <= self.score <= self.band[1]


def audited(name: str, url: str, band: Band, expected: str, **options: object) -> Outcome:
    """The score of the site at a URL."""
    with tempfile.TemporaryDirectory() as folder:
        database = str(Path(folder) / "crawl.db")
        chosen = {"delay": 0.0, "processes": 1, "sitemap": "off", "resources": 50, **options}
        result = tadoru.audit(url, database=database, **chosen)
        return Outcome(name, result.pages, result.score, band, expected, run_loop(_reasons(database)))


async def _reasons(database: str) -> str:
    store = open_existing(database, SystemClock())
    try:
        health = await store.analysis.health(store.analysis.site_view(likeness=0.9))
        return ", ".join(f"{check} {points:.1f}" for check, points in points_lost(health)[:4])
    finally:
        await store.close()


def outcomes(roots: list[Path], pages: int, only: set[str]) -> Iterator[Outcome]:
    """All sites that are there."""
    for site in GENERATED:
        if not only or site.name in only:
            with served(partial(_Generated, site)) as origin:
                yield audited(site.name, f"{origin}/0", site.band, site.expected)
    for manual in MANUALS:
        folder = next((found for root in roots if (found := root / "usr/share" / manual.folder).is_dir()), None)
        if folder is not None and (not only or manual.name in only):
            with served(partial(_Quiet, directory=str(folder))) as origin:
                yield audited(manual.name, f"{origin}/{manual.start}", manual.band, manual.expected, limit=pages)


def main() -> int:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, action="append", default=[])
    parser.add_argument("--pages", type=int, default=250)
    parser.add_argument("--only", default="")
    parser.add_argument("-o", "--output", type=Path)
    chosen = parser.parse_args()
    lines = [
        "# The health score on known sites\n",
        f"Made by `python -m bench.audit_score`; at most {chosen.pages} pages of a manual. The bands were written down "
        "before the scores were seen.\n",
        "| site | pages | expected | score | why expected | points lost |",
        "|---|--:|--:|--:|---|---|",
    ]
    every = True
    for one in outcomes(chosen.root, chosen.pages, set(filter(None, chosen.only.split(",")))):
        every = every and one.fits
        mark = "" if one.fits else " **outside**"
        low, high = one.band
        lines.append(f"| {one.name} | {one.pages} | {low}–{high} | {one.score}{mark} | {one.expected} | {one.reasons} |")
        print(lines[-1], file=sys.stderr, flush=True)
    text = "\n".join(lines) + "\n"
    if chosen.output:
        chosen.output.write_text(text, encoding="utf-8")
    else:
        print(text)
    return 0 if every else 1


if __name__ == "__main__":
    sys.exit(main())
