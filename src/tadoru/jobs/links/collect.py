"""From a stored crawl to a `CrawlResult`: which URLs, which failed, which links are broken."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from tadoru.jobs.links.broken import AcceptedCodes, Checked, describe, is_ignored, judge
from tadoru.jobs.links.result import BrokenLink, CrawlResult, FailedUrl, Source, Trap, UrlInfo
from tadoru.model.web import FailureKind
from tadoru.store.base import CrawlStore, LinkRow, PageRow, PageStatus

STOPPED = "stopped before it was requested"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """What counts as broken."""

    accepted: AcceptedCodes = AcceptedCodes()
    ignore: tuple[re.Pattern[str], ...] = ()
    fragments: bool = False


async def collect(store: CrawlStore, start_url: str, judging: Judging, *, duration: float, stopped: str | None) -> CrawlResult:
    """Read a crawl, in an order that does not depend on its timing."""
    await store.settle()
    rows = [row async for row in store.pages()]
    ends = _Redirects(rows)
    internal = tuple(_url_info(row, ends) for row in rows if row.internal)
    external = tuple(_url_info(row, ends) for row in rows if not row.internal)
    bad = [(row, checked) for row, checked in ((row, ends.checked(row)) for row in rows) if judge(checked, judging.accepted) is not None]
    broken = [link async for link in _broken(store, bad, judging)]
    if judging.fragments:
        broken += [link async for link in _missing_fragments(store, judging)]
    sources = {link.url: link.sources for link in broken}
    counts = await store.counts()
    result = CrawlResult(
        start_url=start_url,
        internal_urls=internal,
        external_urls=external,
        failed_urls=tuple(_failed(row, checked, sources.get(row.url, ())) for row, checked in bad if not row.redirect_url),
        total_processed=counts.completed + counts.error,
        total_found=len(rows),
        crawl_duration=round(duration, 3),
        traps=tuple(Trap(trap.key, trap.why, trap.refused) for trap in await store.traps()),
        stopped=stopped,
    )
    return result.with_bad_links(broken)


class _Redirects:
    """Where redirects end. Only URLs that redirect are held."""

    def __init__(self, rows: Sequence[PageRow]) -> None:
        self._onward = {row.url: row.redirect_url for row in rows if row.redirect_url}
        wanted = set(self._onward.values())
        self._reached = {row.url: row for row in rows if row.url in wanted}

    def end(self, row: PageRow) -> PageRow:
        """The last URL of a chain; of a loop, the one that closes it."""
        seen = {row.url}
        while row.redirect_url and row.status != PageStatus.ERROR and row.redirect_url not in seen:
            seen.add(row.redirect_url)
            onward = self._reached.get(row.redirect_url)
            if onward is None:
                break
            row = onward
        return row

    def checked(self, row: PageRow) -> Checked:
        """What requesting a URL came to, as `broken` judges it."""
        last = self.end(row)
        failure = FailureKind(last.error_type) if last.status == PageStatus.ERROR and last.error_type in _KINDS else None
        asked = last.status in (PageStatus.COMPLETED, PageStatus.ERROR)
        return Checked(
            url=row.url,
            status_code=last.status_code if asked else None,
            failure=failure,
            message=last.error_message or "",
            final_url=last.url if last is not row else None,
        )


_KINDS = frozenset(kind.value for kind in FailureKind)


def _url_info(row: PageRow, ends: _Redirects) -> UrlInfo:
    reason = None
    if row.status not in (PageStatus.COMPLETED, PageStatus.ERROR):
        reason = row.skip_reason or (STOPPED if row.status in (PageStatus.QUEUED, PageStatus.PROCESSING) else "external")
    return UrlInfo(
        url=row.url,
        depth=row.depth,
        parent_url=row.parent_url,
        status_code=row.status_code,
        discovered_at=row.added_at,
        title=row.title or "",
        content_type=row.content_type,
        redirect_to=ends.end(row).url if row.redirect_url and row.status == PageStatus.COMPLETED else None,
        not_fetched=reason,
    )


def _failed(row: PageRow, checked: Checked, sources: tuple[Source, ...]) -> FailedUrl:
    return FailedUrl(
        url=row.url,
        error_message=describe(checked),
        attempted_at=row.crawled_at or row.added_at,
        parent_url=row.parent_url,
        error_type=row.error_type or f"http_{row.status_code}",
        status_code=row.status_code,
        blocked=judge(checked, AcceptedCodes()) == "blocked",
        sources=sources,
    )


async def _broken(store: CrawlStore, bad: list[tuple[PageRow, Checked]], judging: Judging) -> AsyncIterator[BrokenLink]:
    for row, checked in sorted(bad, key=lambda pair: pair[0].url):
        kind = judge(checked, judging.accepted)
        if kind is None or is_ignored(row.url, judging.ignore):
            continue
        sources = tuple([_source(link) async for link in store.links_to([row.page_id])])
        yield BrokenLink(row.url, checked.status_code, describe(checked), kind, sources)


async def _missing_fragments(store: CrawlStore, judging: Judging) -> AsyncIterator[BrokenLink]:
    places: dict[str, list[Source]] = {}
    async for link, is_there in store.fragment_links():
        whole = f"{link.target_url}#{link.fragment}"
        if not is_there and not is_ignored(whole, judging.ignore):
            places.setdefault(whole, []).append(_source(link))
    for url in sorted(places):
        yield BrokenLink(url, None, "no such #fragment on the page", "fragment", tuple(places[url]))


def _source(link: LinkRow) -> Source:
    return Source(link.source_url, link.text, link.fragment, link.position)
