"""The pages and the links of a crawl, chosen by filters, a part at a time."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from tadoru.jobs.audit.reading.values import Link, PageSummary
from tadoru.store.browse_links import LinkFilter
from tadoru.store.browse_pages import PageFilter, PageLine
from tadoru.store.read_only import looking_at


def pages(
    path: Path | str,
    chosen: PageFilter | None = None,
    *,
    sort: str = "url",
    falls: bool | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> tuple[list[PageSummary], str | None]:
    """Pages in an order of `ORDERS` (`falls`: the largest first), and where the list goes on."""
    with looking_at(path) as crawl:
        lines, more = crawl.page_lines(chosen or PageFilter(), sort=sort, falls=falls, limit=limit, cursor=cursor)
    return [page_summary(line) for line in lines], more


def count(path: Path | str, chosen: PageFilter) -> int:
    """How many pages there are of these."""
    with looking_at(path) as crawl:
        return crawl.page_count(chosen)


def links(
    path: Path | str, chosen: LinkFilter | None = None, *, limit: int = 50, cursor: str | None = None
) -> tuple[list[Link], str | None]:
    """Links, and where the list goes on."""
    with looking_at(path) as crawl:
        lines, more = crawl.link_lines(chosen or LinkFilter(), limit=limit, cursor=cursor)
    return [Link.of(line) for line in lines], more


def page_summary(line: PageLine) -> PageSummary:
    """A line of the store as others know it."""
    return PageSummary(**line._asdict() | {"crawled_at": moment(line.crawled_at)})


def moment(text: str | None) -> datetime | None:
    """A time of the database, which is UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC) if text else None
