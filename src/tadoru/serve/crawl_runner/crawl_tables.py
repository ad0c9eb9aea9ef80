"""Views of the tables of a crawl, and the segments of its site, as pages and API understand them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

from tadoru.errors import UsageError, quoted
from tadoru.jobs.audit import crawl_results
from tadoru.serve.service import Service
from tadoru.store.accounts.audit_log import Actor
from tadoru.store.crawl.tables import BROWSED_TABLES, MAX_FILTER_LENGTH, BrowsedColumn, CrawlTable, SiteSegment, TableFilter
from tadoru.store.served_crawls.schema import SavedView, ServedCrawl

SEGMENTS = "segments"
"""The tab of views that are segments: their query is a pattern of URLs."""
MAX_PATTERNS = 10
MAX_ID = 2**63
MAX_SEGMENTS = 30
MAX_NAME_LENGTH = 80
MAX_QUERY_LENGTH = 2000
TABS = {**{name: one for name, one in BROWSED_TABLES.items() if name != "findings"}, "occurrences": BROWSED_TABLES["findings"]}
"""The tables of a crawl by the names of their pages; the findings by check are another page."""


@dataclass(frozen=True, slots=True)
class TableView:
    """What the URL asks of a table."""

    table: CrawlTable
    asked: TableFilter
    columns: tuple[BrowsedColumn, ...]
    has_own_columns: bool
    segment: str
    """The name or pattern of a segment, such as `/shop/`."""

    def query(self, **changed: str | Sequence[str]) -> str:
        """The query string of this view, with changes; empty values are left out."""
        asked = self.asked
        values: dict[str, str | Sequence[str]] = {
            "q": asked.q, **asked.filters, "segment": self.segment, "sort": asked.sort,
            "order": "" if asked.falls is None else "down" if asked.falls else "up",
            "source": str(asked.source or ""), "target_page": str(asked.target or ""),
            "col": [one.name for one in self.columns] if self.has_own_columns else (),
        }  # fmt: skip
        if self.table.name == "links" and "which" not in asked.filters and not asked.source and not asked.target:
            values["which"] = "all"
        return urlencode([(name, one) for name, given in (values | changed).items() for one in _each(given) if one])


def _each(given: str | Sequence[str]) -> Iterable[str]:
    return (given,) if isinstance(given, str) else given


def parse_view(
    table: CrawlTable, given: Sequence[tuple[str, str]], find: Callable[[str], SiteSegment | None] = lambda text: None
) -> TableView:
    """The view of a query string; what makes no sense is ignored. `find` returns a segment by its name or pattern."""
    values = dict(given)
    source, target = _page_id(values.get("source", "")), _page_id(values.get("target_page", ""))
    if target is None and table.name == "links":
        target = _page_id(values.get("target", ""))
    filters = {
        column.name: text for column in table.columns if (text := values.get(column.name, "").strip()[:MAX_FILTER_LENGTH])
        and not (target is not None and column.name == "target" and text.isdecimal())
    }  # fmt: skip
    if table.name == "links":
        which = filters.get("which", "" if source or target else "broken")
        filters = {name: value for name, value in filters.items() if name != "which"} | (
            {"which": which} if which not in ("", "all") else {}
        )
    chosen = [value for name, value in given if name == "col"]
    columns = tuple(one for one in table.columns if (one.name in chosen if chosen else one.shown))
    segment = values.get("segment", "").strip()[:MAX_FILTER_LENGTH]
    sort = values.get("sort", "")
    return TableView(
        table,
        TableFilter(
            q=values.get("q", "").strip()[:MAX_FILTER_LENGTH], filters=filters, sort=sort if table.column(sort) else "",
            falls={"up": False, "down": True}.get(values.get("order", "")), segment=find(segment) if segment else None,
            source=source, target=target,
        ),
        columns or tuple(one for one in table.columns if one.shown), bool(chosen and columns), segment,
    )  # fmt: skip


def _page_id(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 and 0 < int(text) < MAX_ID else None


def save_view(service: Service, crawl: ServedCrawl, by: Actor, *, tab: str, name: str, query: str) -> SavedView:
    """Name a view of a table, or a segment. Raises UsageError."""
    name = " ".join(name.split())[:MAX_NAME_LENGTH]
    if tab not in (*TABS, SEGMENTS) or not name or not name.isprintable():
        raise UsageError("Enter a name.")
    if tab == SEGMENTS:
        query = " ".join(segment_patterns(query))
    else:
        given = parse_qsl(query.removeprefix("?")[:MAX_QUERY_LENGTH])
        query = urlencode([one for one in given if one[0] not in ("cursor", "done", "lang")])
    return service.store.annotations.save_view(crawl.id, by, tab=tab, name=name, query=query)


def segment_patterns(text: str) -> tuple[str, ...]:
    """The patterns of a segment, which are separated by spaces or commas. Raises UsageError."""
    given = re.split(r"[\s,]+", text.strip())
    found = tuple(one if one.startswith(("/", "*")) else f"/{one}" for one in given if one)
    if len(text) > MAX_FILTER_LENGTH or not 0 < len(found) <= MAX_PATTERNS:
        raise UsageError(
            "Invalid pattern {pattern}. Write paths such as /blog/ or /*/products/*.", pattern=quoted(text[:MAX_FILTER_LENGTH])
        )
    return found


def named_segments(service: Service, crawl: ServedCrawl, path: Path | str) -> tuple[tuple[str, SiteSegment], ...]:
    """The segments that were defined for a crawl, by name."""
    origins = crawl_results.site_origins(path)
    return tuple((one.name, SiteSegment(origins, segment_patterns(one.query))) for one in defined_segments(service, crawl))


def defined_segments(service: Service, crawl: ServedCrawl) -> tuple[SavedView, ...]:
    """The segments of a crawl as they are stored."""
    return service.store.annotations.views(crawl.id, SEGMENTS)


def find_segment(service: Service, crawl: ServedCrawl, path: Path | str, given: str) -> SiteSegment | None:
    """A segment by its name, or by a folder or pattern; None if it is neither."""
    if (named := dict(named_segments(service, crawl, path)).get(given)) is not None:
        return named
    try:
        return SiteSegment(crawl_results.site_origins(path), segment_patterns(given))
    except UsageError:
        return None


def segment_names(service: Service, crawl: ServedCrawl, path: Path | str) -> list[str]:
    """The segments of a site that filters offer: those that were defined, or else its largest folders."""
    found = crawl_results.list_segments(path, named=named_segments(service, crawl, path))
    return [name for name, *_ in found[:MAX_SEGMENTS]]
