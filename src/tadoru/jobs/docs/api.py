"""The Python API: `tadoru.docs(url, …) -> DocsResult`, and its twin for a running event loop."""

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
    """A documentation site on disk. Everything is in its folder; this reads the most asked for."""

    folder: Path
    pages: int
    tokens: int
    changes: DocChanges
    """What is different from the run before."""
    stopped: bool
    """Whether the crawl ended before its work was done: by its time limit, say."""

    def markdown(self) -> Iterator[tuple[str, str]]:
        """URL and Markdown of each page, in reading order, from the files of its pages."""
        index = json.loads((self.folder / "index.json").read_text("utf-8"))
        for page in index["pages"]:
            text = (self.folder / page["file"]).read_text("utf-8")
            yield page["url"], text.partition("\n---\n")[2].lstrip("\n")


def docs(url: str, *, notify: Notify | None = None, **options: Any) -> DocsResult:
    """Read a documentation site into a folder as Markdown. Options are those of `tadoru docs` (`output="site", depth=3, …`).

    Raises `tadoru.errors.UsageError` when the call itself is wrong, `SeedUnreachable` or `NothingToCrawl` when there is nothing.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return launch.run_loop(docs_async(url, notify=notify, **options))
    raise UsageError("docs() was called where an event loop is running: await docs_async() there.")


async def docs_async(url: str, *, notify: Notify | None = None, **options: Any) -> DocsResult:
    """The same, awaited. Cancelling it stops the crawl; calling it again goes on with it."""
    chosen = parse_options("docs", DocsOptions, options)
    if "depth" in options and "sitemap" not in options:
        chosen = replace(chosen, sitemap="off")
    prepared = await prepare(chosen, url, options)
    ended = await launch.crawl(prepared.plan, notify or _silent)
    finished = await finish(chosen, prepared, ended)
    if finished.start is not None:
        kind = SeedUnreachable if finished.start.status == "error" else NothingToCrawl
        raise kind(f"Nothing could be crawled from {finished.start.url}: {finished.start.reason}.")
    written = finished.written
    return DocsResult(
        folder=prepared.root,
        pages=written.pages if written else 0,
        tokens=written.tokens if written else 0,
        changes=written.changes if written else DocChanges(),
        stopped=ended.stopped,
    )


def _silent(notice: CrawlNotification) -> None:
    """Nobody is watching."""
