"""The Python API: `tadoru.docs(url, …) -> DocsResult`, and `docs_async` for a running event loop."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tadoru.config.options import DocsOptions
from tadoru.engine.notifications import CrawlNotification, Notify
from tadoru.errors import NothingToCrawl, SeedUnreachable, UsageError
from tadoru.jobs import launch
from tadoru.jobs.crawl_setup import parse_options
from tadoru.jobs.docs.bundle.model import DocChanges
from tadoru.jobs.docs.run import finish, prepare


@dataclass(frozen=True, slots=True, kw_only=True)
class DocsResult:
    """A documentation site on disk: its folder and the most important figures."""

    folder: Path
    pages: int
    tokens: int
    changes: DocChanges
    """The changes since the previous run."""
    stopped: bool
    """Whether the crawl stopped before it was complete, for example at its time limit."""

    def markdown(self) -> Iterator[tuple[str, str]]:
        """URL and Markdown of each page, in reading order, from the files of its pages."""
        index = json.loads((self.folder / "index.json").read_text("utf-8"))
        for page in index["pages"]:
            text = (self.folder / page["file"]).read_text("utf-8")
            yield page["url"], text.partition("\n---\n")[2].lstrip("\n")


def docs(url: str, *, notify: Notify | None = None, **options: Any) -> DocsResult:
    """Crawl a documentation site into a folder as Markdown. Options are those of `tadoru docs` (`output="site", depth=3, …`).

    Raises `tadoru.errors.UsageError` for invalid arguments, `SeedUnreachable` or `NothingToCrawl` if no page can be crawled.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return launch.run_loop(docs_async(url, notify=notify, **options))
    raise UsageError("docs() cannot be called in a running event loop. Await docs_async() instead.")


async def docs_async(url: str, *, notify: Notify | None = None, **options: Any) -> DocsResult:
    """As `docs`, awaited. Cancelling it stops the crawl; calling it again resumes the crawl."""
    chosen = parse_options("docs", DocsOptions, options)
    if "depth" in options and "sitemap" not in options:
        chosen = replace(chosen, sitemap="off")
    prepared = await prepare(chosen, url, options)
    ended = await launch.crawl(prepared.plan, notify or _silent)
    finished = await finish(chosen, prepared, ended)
    if finished.start is not None:
        kind = SeedUnreachable if finished.start.status == "error" else NothingToCrawl
        raise kind("Nothing could be crawled from {url}: {reason}.", url=finished.start.url, reason=finished.start.reason)
    written = finished.written
    return DocsResult(
        folder=prepared.root,
        pages=written.pages if written else 0,
        tokens=written.tokens if written else 0,
        changes=written.changes if written else DocChanges(),
        stopped=ended.stopped,
    )


def _silent(notice: CrawlNotification) -> None:
    """Ignore notifications."""
