"""Reads a stored crawl into a `CrawlResult`: URLs, failed URLs and broken links.

One pass over the pages keeps redirects and failures. All URLs, which may be millions, are either loaded or streamed from the
store.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TypeVar

from tadoru.clock import SystemClock
from tadoru.i18n.translation import N_
from tadoru.jobs.links.broken import AcceptedCodes, LinkCheck, classify_link, describe_problem, is_ignored, malformed_links
from tadoru.jobs.links.result import BrokenLink, CrawlResult, FailedUrl, LinkEdge, LinkSource, SkippedTrap, UrlInfo
from tadoru.model.web import FOLLOWED, FailureKind, LinkKind
from tadoru.store.crawl.crawl_database import CrawlDatabase
from tadoru.store.crawl.interface import CrawlStore
from tadoru.store.crawl.open import open_store
from tadoru.store.crawl.records import LinkRow, PageRow, PageStatus, UrlPurpose
from tadoru.store.crawl.resources import ResourceFailure

STOPPED = N_("stopped before it was requested")
STOPPED_BEFORE_RETRY = N_("stopped before it was retried")
_KINDS = {kind.value: kind for kind in FailureKind}


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenLinkRules:
    """Which links count as broken."""

    accepted: AcceptedCodes = AcceptedCodes()
    ignore: tuple[re.Pattern[str], ...] = ()
    fragments: bool = False
    kinds: frozenset[LinkKind] = frozenset(LinkKind)
    """The kinds of references that are reported."""


class ProblemPages:
    """The pages that redirect, failed, or have a status code that is not accepted; and the number of all pages."""

    def __init__(self, accepted: AcceptedCodes) -> None:
        self.internal = 0
        self.external = 0
        self.styles = 0
        self._accepted = accepted
        self._rows: dict[str, PageRow] = {}

    def add(self, row: PageRow) -> None:
        """Counts a page, and keeps it if it redirects or has a problem. What is gone and linked nowhere has none."""
        if row.purpose == UrlPurpose.STYLE:
            self.styles += 1
        elif row.internal:
            self.internal += 1
        else:
            self.external += 1
        if row.purpose == UrlPurpose.GONE:
            return
        is_bad = row.status_code is not None and not self._accepted.accepts(row.status_code, row.url)
        if row.redirect_url or row.status == PageStatus.ERROR or is_bad:
            self._rows[row.url] = row

    def __iter__(self) -> Iterator[PageRow]:
        return iter(self._rows.values())

    def follow_redirects(self, row: PageRow) -> tuple[str, PageRow | None]:
        """The URL at the end of the redirects of a page, and its row if it has a problem. In a loop, the URL that closes it."""
        url, seen = row.url, {row.url}
        last: PageRow | None = row
        while last is not None and last.redirect_url and last.status != PageStatus.ERROR and last.redirect_url not in seen:
            url = last.redirect_url
            seen.add(url)
            last = self._rows.get(url)
        return url, last

    def checked(self, row: PageRow) -> LinkCheck:
        """The result of requesting a URL, for `broken.classify_link`."""
        url, last = self.follow_redirects(row)
        final_url = url if url != row.url else None
        if last is None or last.status not in (PageStatus.COMPLETED, PageStatus.ERROR):
            return LinkCheck(url=row.url, status_code=None, final_url=final_url)
        return LinkCheck(
            url=row.url,
            status_code=last.status_code,
            failure=_KINDS.get(last.error_type or "") if last.status == PageStatus.ERROR else None,
            message=last.error_message or "",
            final_url=final_url,
        )


async def read_problem_pages(store: CrawlStore, rules: BrokenLinkRules) -> ProblemPages:
    """Reads all pages of a crawl that has ended."""
    await store.graph.settle()
    problems = ProblemPages(rules.accepted)
    async for row in store.graph.pages():
        problems.add(row)
    return problems


async def load_urls(store: CrawlStore, problems: ProblemPages) -> tuple[tuple[UrlInfo, ...], tuple[UrlInfo, ...]]:
    """All internal and all external URLs, in an order that does not depend on the timing of the crawl."""
    internal: list[UrlInfo] = []
    external: list[UrlInfo] = []
    async for row in store.graph.pages():
        if row.purpose != UrlPurpose.STYLE:
            (internal if row.internal else external).append(url_info(row, problems))
    return tuple(internal), tuple(external)


async def read_crawl_result(
    store: CrawlDatabase,
    start_url: str,
    rules: BrokenLinkRules,
    problems: ProblemPages,
    urls: tuple[Collection[UrlInfo], Collection[UrlInfo]],
    *,
    duration: float,
    stopped: str | None,
) -> CrawlResult:
    """The result of a crawl whose internal and external URLs are in `urls`."""
    pages = [(row, problems.checked(row)) for row in problems]
    broken = [link async for link in _broken_links(store, pages, rules)]
    sources = {link.url: link.sources for link in broken}
    broken = _merged(broken, _broken_resources(await store.resources.failures(), rules))
    broken += [link for link in malformed_links(store.findings) if not is_ignored(link.url, rules.ignore)]
    if rules.fragments:
        broken += [link async for link in _missing_fragments(store, rules)]
    counts = await store.frontier.counts()
    result = CrawlResult(
        start_url=start_url,
        internal_urls=urls[0],
        external_urls=urls[1],
        failed_urls=tuple(
            _failed(row, checked, sources.get(row.url, ())) for row, checked in pages if _has_failed(row, checked, rules)
        ),
        total_processed=counts.completed + counts.error,
        total_found=problems.internal + problems.external + problems.styles,
        crawl_duration=round(duration, 3),
        traps=tuple(SkippedTrap(trap.key, trap.why, trap.refused) for trap in await store.graph.traps()),
        stopped=stopped,
    )
    return result.with_bad_links(broken)


def url_info(row: PageRow, problems: ProblemPages) -> UrlInfo:
    """A page as it is in results."""
    reason = None
    if row.status not in (PageStatus.COMPLETED, PageStatus.ERROR):
        reason = row.skip_reason or (
            _stop_reason(row) if row.status in (PageStatus.QUEUED, PageStatus.PROCESSING) else "external"
        )
    return UrlInfo(
        url=row.url,
        depth=row.depth,
        parent_url=row.parent_url,
        status_code=row.status_code,
        discovered_at=row.added_at,
        title=row.title or "",
        content_type=row.content_type,
        redirect_to=problems.follow_redirects(row)[0] if row.redirect_url and row.status == PageStatus.COMPLETED else None,
        not_fetched=reason,
    )


def _stop_reason(row: PageRow) -> str:
    return f"{STOPPED_BEFORE_RETRY}: {row.error_message}" if row.error_message else STOPPED


def _has_failed(row: PageRow, checked: LinkCheck, rules: BrokenLinkRules) -> bool:
    """Whether a URL failed. A redirect to a failed page has not failed itself."""
    is_error = row.status == PageStatus.ERROR and not rules.accepted.accepts_failure(checked.failure, row.url)
    return is_error or (not row.redirect_url and classify_link(checked, rules.accepted) is not None)


def _failed(row: PageRow, checked: LinkCheck, sources: tuple[LinkSource, ...]) -> FailedUrl:
    return FailedUrl(
        url=row.url,
        error_message=describe_problem(checked),
        attempted_at=row.crawled_at or row.added_at,
        parent_url=row.parent_url,
        error_type=row.error_type or f"http_{row.status_code}",
        status_code=row.status_code,
        blocked=classify_link(checked, AcceptedCodes()) == "blocked",
        sources=sources,
    )


async def _broken_links(
    store: CrawlStore, pages: Iterable[tuple[PageRow, LinkCheck]], rules: BrokenLinkRules
) -> AsyncIterator[BrokenLink]:
    for row, checked in sorted(pages, key=lambda pair: pair[0].url):
        kind = classify_link(checked, rules.accepted)
        if kind is None or is_ignored(row.url, rules.ignore):
            continue
        links = [link async for link in store.graph.links_to([row.page_id])]
        sources = tuple(_source(link) for link in links if link.kind in rules.kinds and not _is_refused_form(link, checked))
        if not sources and (row.depth > 0 or links):
            continue  # Only a redirect leads here, and the link to the redirect is reported.
        yield BrokenLink(row.url, checked.status_code, describe_problem(checked), kind, sources)


_GONE = (404, 410)


def _is_refused_form(link: LinkRow, checked: LinkCheck) -> bool:
    """Whether a link is a form that is sent with POST, and its URL responds to GET with anything but that it does not exist."""
    return link.kind == LinkKind.FORM and link.rel == "post" and checked.failure is None and checked.status_code not in _GONE


def _broken_resources(failures: Iterable[ResourceFailure], rules: BrokenLinkRules) -> Iterator[BrokenLink]:
    for url, uses in groupby(failures, key=lambda failure: failure.url):
        found = [use for use in uses if use.kind in rules.kinds]
        if not found or is_ignored(url, rules.ignore):
            continue
        first = found[0]
        failure = _KINDS.get(first.error_type or "")
        checked = LinkCheck(url, first.status_code, failure, first.error_message or "", first.final_url)
        if (kind := classify_link(checked, rules.accepted)) is not None:
            sources = tuple(LinkSource(use.page_url, "", kind=use.kind) for use in found)
            yield BrokenLink(url, checked.status_code, describe_problem(checked), kind, sources)


def _merged(links: Iterable[BrokenLink], others: Iterable[BrokenLink]) -> list[BrokenLink]:
    """Broken links, each URL once with all its sources, by URL."""
    found = {link.url: link for link in links}
    for other in others:
        known = found.get(other.url)
        found[other.url] = other if known is None else replace(known, sources=known.sources + other.sources)
    return [found[url] for url in sorted(found)]


async def _missing_fragments(store: CrawlStore, rules: BrokenLinkRules) -> AsyncIterator[BrokenLink]:
    sources: dict[str, list[LinkSource]] = {}
    async for link, exists in store.graph.fragment_links():
        whole = f"{link.target_url}#{link.fragment}"
        if not exists and not is_ignored(whole, rules.ignore):
            sources.setdefault(whole, []).append(_source(link))
    for url in sorted(sources):
        yield BrokenLink(url, None, "no element with this ID on the page", "fragment", tuple(sources[url]))


def _source(link: LinkRow) -> LinkSource:
    return LinkSource(link.source_url, link.text, link.fragment, link.position, link.kind)


T = TypeVar("T")
CHUNK_SIZE = 1000


def stored_edges(database: str) -> Iterator[LinkEdge]:
    """Streams the links of a stored crawl."""
    for link in _stream_rows(database, lambda store: store.graph.links()):
        if link.kind in FOLLOWED:
            yield LinkEdge(link.source_url, link.target_url, link.text, link.rel)


def stored_urls(database: str, problems: ProblemPages) -> tuple[Collection[UrlInfo], Collection[UrlInfo]]:
    """The internal and external URLs of a stored crawl, read from the store each time."""
    return StoredUrls(database, problems, True, problems.internal), StoredUrls(database, problems, False, problems.external)


@dataclass(frozen=True)
class StoredUrls(Collection[UrlInfo]):
    """Internal or external URLs that are read from the store on each iteration. Not for use inside an event loop."""

    database: str
    problems: ProblemPages
    internal: bool
    count: int

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[UrlInfo]:
        if self.count:
            for row in _stream_rows(self.database, lambda store: store.graph.pages()):
                if row.internal is self.internal and row.purpose != UrlPurpose.STYLE:
                    yield url_info(row, self.problems)

    def __contains__(self, info: object) -> bool:
        return any(info == other for other in self)


def _stream_rows(database: str, rows: Callable[[CrawlStore], AsyncIterator[T]]) -> Iterator[T]:
    with asyncio.Runner() as runner:
        store = runner.run(_open_store(database))
        try:
            source = rows(store)
            while chunk := runner.run(_next_chunk(source)):
                yield from chunk
        finally:
            runner.run(store.close())


async def _open_store(database: str) -> CrawlStore:
    return open_store(database, SystemClock())


async def _next_chunk(rows: AsyncIterator[T]) -> list[T]:
    chunk: list[T] = []
    async for row in rows:
        chunk.append(row)
        if len(chunk) == CHUNK_SIZE:
            break
    return chunk
