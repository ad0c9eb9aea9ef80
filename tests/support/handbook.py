"""A small documentation site on loopback that a test can rewrite between two crawls, and running `tadoru docs` on it.

book = Handbook(site)                            # pages with an ETag, answered 304 to whoever has their present state
book.page("/", "Start", "<p>…</p>", links=["/install"])
book.page("/install", "Install", code="make install")
done = crawl(tadoru, site, "--diff")             # exits 0, writes into `out`
assert book.sent == []                           # no body was transferred
"""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import tadoru
from tadoru.jobs.docs.run import DocsResult
from tests.acceptance.command import CommandResult, Tadoru
from tests.support.exchange import Exchange, Reply
from tests.support.site import Site

MODIFIED = "Wed, 21 Oct 2015 07:28:00 GMT"
TIMES = re.compile(rb'("?(?:crawledAt|lastChecked)"?: )"[^"]*"')
PROSE = "The kettle is filled with water, closed and put on the fire until it sings. "


def doc(title: str, body: str = "", links: Iterable[str] = (), head: str = "") -> str:
    """A page as documentation has them: a menu, a text, a footer."""
    menu = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>{head}</head><body>'
        f"<nav><ul>{menu}</ul></nav><main><h1>{title}</h1>{body}</main><footer>Made by hand</footer></body></html>"
    )


class Handbook:
    """Pages that say what they are, and can be changed, removed and broken."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.sent: list[str] = []
        """Paths whose body was sent."""
        self.bytes = 0
        """Of all bodies that were sent."""
        self._states: dict[str, tuple[bytes, str, str]] = {}

    def forget(self) -> None:
        """Count from nothing."""
        self.sent.clear()
        self.bytes = 0
        self.site.requests.clear()

    def page(
        self,
        path: str,
        title: str,
        body: str = "",
        *,
        links: Iterable[str] = (),
        code: str = "",
        by: str = "etag",
        head: str = "",
    ) -> None:
        """A page, or what becomes of it. `by` is how it says whether it changed: etag, modified or nothing."""
        block = f'<pre><code class="language-sh">{html.escape(code)}\n</code></pre>' if code else ""
        text = doc(title, f"{body or f'<p>{title}. {PROSE * 4}</p>'}{block}", links, head)
        self.file(path, text, "text/html; charset=utf-8", by=by)

    def file(self, path: str, text: str, content_type: str, *, by: str = "etag") -> None:
        """Anything else, with a validator too."""
        self._states[path] = (text.encode(), content_type, by)
        self.site.handle(path, lambda exchange, _: self._answer(exchange, path))

    async def _answer(self, exchange: Exchange, path: str) -> None:
        body, content_type, by = self._states[path]
        name, asked, version = {
            "etag": ("ETag", "if-none-match", f'"{hashlib.sha256(body).hexdigest()[:16]}"'),
            "modified": ("Last-Modified", "if-modified-since", MODIFIED),
        }.get(by, ("", "", ""))
        headers = ((name, version),) if name else ()
        if version and exchange.seen.headers.get(asked) == version:
            await exchange.send(Reply(status=304, headers=headers, content_type=""))
        else:
            if exchange.seen.method == "GET":
                self.sent.append(path)
                self.bytes += len(body)
            await exchange.send(Reply(body=body, content_type=content_type, headers=headers))

    def write(self, pages: int = 6) -> None:
        """A handbook of so many pages, each with the whole menu."""
        menu = ["/", *(f"/part-{number}" for number in range(1, pages))]
        self.page("/", "The handbook", links=menu)
        for number, path in enumerate(menu[1:], 1):
            own = f"<p>Part {number} is about step {number}. {PROSE * 4}</p><h2>Detail {number}</h2><p>Wait {number} minutes.</p>"
            self.page(path, f"Part {number}", own, links=menu, code=f"# step {number}\nkettle --minutes {number}")


def crawl(command: Tadoru, site: Site, *arguments: str, code: int = 0, path: str = "/", **options: Any) -> CommandResult:
    """Run `tadoru docs` into `out` without a pace, in one process unless told otherwise."""
    given = [
        *(() if "--processes" in arguments else ("--processes", "1")),
        *(() if "--delay" in arguments else ("--delay", "0")),
        *(() if "-o" in arguments else ("-o", "out")),
    ]
    done = command("docs", site.url(path), *given, *arguments, **options)
    assert done.code == code, (done.code, done.out, done.err)
    return done


def read(site: Site, folder: Path, path: str = "/", **options: Any) -> DocsResult:
    """The same through the Python API: without the start of a process."""
    return tadoru.docs(site.url(path), **{"output": str(folder), "delay": 0.0, "processes": 1, "render": "never", **options})


def index(folder: Path) -> dict[str, Any]:
    """index.json."""
    found: dict[str, Any] = json.loads((folder / "index.json").read_text("utf-8"))
    return found


def entries(folder: Path, site: Site) -> dict[str, dict[str, Any]]:
    """The pages of index.json by their path, in their order."""
    return {page["url"].removeprefix(site.base): page for page in index(folder)["pages"]}


def tree(folder: Path, *, times: bool = False) -> dict[str, bytes]:
    """Every file but the state, by its path; the times of the crawl taken out."""
    files = (file for file in sorted(folder.rglob("*")) if file.is_file() and ".tadoru" not in file.parts)
    read = {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}
    return read if times else {name: TIMES.sub(rb"\1", data) for name, data in read.items()}


def marks(folder: Path) -> dict[str, tuple[int, int]]:
    """When each file was last written, and which one it is: a file that was put in the place of another is another."""
    files = (file for file in folder.rglob("*") if file.is_file() and ".tadoru" not in file.parts)
    return {file.relative_to(folder).as_posix(): (file.stat().st_mtime_ns, file.stat().st_ino) for file in files}


def changed(done: DocsResult, site: Site) -> dict[str, list[str]]:
    """The paths that were added, changed and removed."""
    kinds = ("added", "changed", "removed")
    return {kind: paths for kind in kinds if (paths := [one.url.removeprefix(site.base) for one in getattr(done.changes, kind)])}
