"""The tables of a crawl: pages, links, redirects, resources and findings, by one definition (`store.crawl.tables`).

Every column can be shown, sorted and filtered; a view can be named and exported. Everything is in the URL, without a script.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from fastapi.responses import Response

from tadoru.clock import to_datetime
from tadoru.errors import UsageError
from tadoru.i18n.translation import Formatter, translator
from tadoru.jobs.audit.crawl_results import downloads, queries
from tadoru.jobs.audit.report.messages import INDEXABILITIES, translate_name
from tadoru.serve.api.responses import StreamResponse
from tadoru.serve.auth.principal import actor_of
from tadoru.serve.crawl_runner import crawl_tables
from tadoru.serve.problems import HttpProblem
from tadoru.serve.service import service_of
from tadoru.serve.web.crawls.results import crawl_tab, open_tab, render_tab
from tadoru.serve.web.crawls.view_models import CRAWLS_URL, OpenedRun, crawl_or_404, one_line, page_state_labels, status_colour
from tadoru.serve.web.rendering import formatter_of, redirect_after
from tadoru.serve.web.request_input import SubmittedForm
from tadoru.store.crawl.export_tables import ColumnKind
from tadoru.store.crawl.records import parse_utc
from tadoru.store.crawl.sqlite.store import CrawlNotReadable
from tadoru.store.crawl.tables import BrowsedColumn, CrawlTable, TablePage

router = APIRouter(include_in_schema=False)
MAX_ROWS, MIN_ROWS, MAX_CELLS = 50, 15, 450
"""Rows of a page: fewer with many columns, so that a page stays small."""
_NUMBERS = (ColumnKind.INTEGER, ColumnKind.REAL)


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell as the page shows it."""

    text: str
    href: str = ""
    chip: str | None = None
    """The colour of a chip; None if it is none."""
    is_number: bool = False


@dataclass(frozen=True, slots=True)
class TableHead:
    """The head of a shown column."""

    label: str
    sort_url: str
    direction: str
    """`ascending` or `descending` if the table is sorted by it."""
    is_number: bool


@dataclass(frozen=True, slots=True)
class TableField:
    """The filter of a column, and whether the column is shown."""

    name: str
    label: str
    value: str
    options: tuple[tuple[str, str], ...]
    is_number: bool
    is_shown: bool


def table_page(request: Request, crawl_id: int) -> Response:
    """The table that the path names: pages, links (by default the broken ones), redirects, resources, or single findings."""
    tab = request.url.path.rpartition("/")[2]
    opened, formatter = open_tab(request, crawl_id, tab), formatter_of(request)
    table = crawl_tables.TABS[tab]
    view = _view_of(request, opened, table)
    cursor, service = request.query_params.get("cursor", ""), service_of(request)

    def read() -> dict[str, Any]:
        limit = min(MAX_ROWS, max(MIN_ROWS, MAX_CELLS // max(1, len(view.columns))))
        found = queries.browse_table(opened.path, table, view.asked, limit=limit, cursor=cursor or None)
        here, query = f"{opened.base}/{tab}", view.query()
        segments = crawl_tables.segment_names(service, opened.crawl, opened.path) if table.segment else []
        return {
            "table_name": table.name, "heading": formatter.gettext(table.label), "heads": _heads(view, here, formatter),
            "rows": _rows(view, found, opened, formatter), "found": found, "fields": _fields(view, formatter),
            "view": view, "query": query, "here": here, "chips": _chips(view, here, formatter),
            "segments": [("", formatter.gettext("All")), *((one, one) for one in segments)],
            "own": f"{CRAWLS_URL}/{opened.crawl.id}", "tab_name": tab,
            "views": service.store.annotations.views(opened.crawl.id, tab),
            "exports": [
                (form.upper() if form != "parquet" else "Parquet", f"{opened.base}/export/{tab}?format={form}&{query}")
                for form, kind in downloads.available_formats().items() if kind.of_tables
            ],
            "next_url": f"{here}?{view.query(cursor=found.next)}" if found.next else "",
            "first_url": f"{here}?{query}" if cursor else "", "max_name": crawl_tables.MAX_NAME_LENGTH,
            "sorts": [(one.name, formatter.gettext(one.label)) for one in table.columns if one.sortable],
        }  # fmt: skip

    return render_tab(request, opened, tab, "crawls/table.html", read)


for _tab in crawl_tables.TABS:
    crawl_tab(router, _tab)(table_page)


def _view_of(request: Request, opened: OpenedRun, table: CrawlTable) -> crawl_tables.TableView:
    service = service_of(request)
    return crawl_tables.parse_view(
        table,
        request.query_params.multi_items(),
        lambda given: crawl_tables.find_segment(service, opened.crawl, opened.path, given),
    )


@crawl_tab(router, "export/{tab}")
def export_view_page(request: Request, crawl_id: int, tab: str) -> Response:
    """The rows and columns of a view as a file."""
    if tab not in crawl_tables.TABS:
        raise HttpProblem(404)
    opened, table = open_tab(request, crawl_id, tab), crawl_tables.TABS[tab]
    view, form = _view_of(request, opened, table), request.query_params.get("format", "csv")
    columns, now = [one.name for one in view.columns], to_datetime(service_of(request).clock.now())
    try:
        made = downloads.export_view(opened.path, form, table, view.asked, columns, now=now)
    except CrawlNotReadable as error:
        raise HttpProblem(404, error) from None
    except UsageError as error:
        raise HttpProblem(422, error) from None
    headers = {
        "Content-Disposition": f'attachment; filename="crawl-{crawl_id}-{table.name}{made.suffix}"',
        "Cache-Control": "private, no-store",
    }  # fmt: skip
    return StreamResponse(made.chunks, headers=headers, media_type=made.media_type)


@router.post("/manage/crawls/{crawl_id}/views")
def save_view_page(request: Request, crawl_id: int) -> Response:
    """Name a view."""
    crawl, form = crawl_or_404(request, crawl_id), SubmittedForm(request)
    tab, name, query = form.text("tab"), form.text("name"), form.text("query")
    try:
        saved = crawl_tables.save_view(service_of(request), crawl, actor_of(request), tab=tab, name=name, query=query)
    except UsageError as error:
        raise HttpProblem(422, error) from None
    if tab == crawl_tables.SEGMENTS:
        return redirect_after(f"{CRAWLS_URL}/{crawl.id}", "segment_saved")
    return redirect_after(f"{CRAWLS_URL}/{crawl.id}/{tab}", "view_saved", **parse_qs(saved.query))


@router.post("/manage/crawls/{crawl_id}/views/{view_id}/remove")
def remove_view_page(request: Request, crawl_id: int, view_id: int) -> Response:
    """Remove a view."""
    crawl, tab = crawl_or_404(request, crawl_id), SubmittedForm(request).text("tab")
    service_of(request).store.annotations.remove_view(crawl.id, view_id, actor_of(request))
    if tab == crawl_tables.SEGMENTS:
        return redirect_after(f"{CRAWLS_URL}/{crawl.id}", "segment_removed")
    return redirect_after(f"{CRAWLS_URL}/{crawl.id}/{tab if tab in crawl_tables.TABS else 'pages'}", "view_removed")


def _heads(view: crawl_tables.TableView, here: str, formatter: Formatter) -> list[TableHead]:
    heads = []
    for column in view.columns:
        is_sorted = view.asked.sort == column.name
        falls = column.falls if view.asked.falls is None else view.asked.falls
        turned = ("up" if falls else "down") if is_sorted else ""
        heads.append(
            TableHead(
                formatter.gettext(column.label),
                f"{here}?{view.query(sort=column.name, order=turned)}" if column.sortable else "",
                ("descending" if falls else "ascending") if is_sorted else "", column.kind in _NUMBERS,
            )
        )  # fmt: skip
    return heads


def _fields(view: crawl_tables.TableView, formatter: Formatter) -> list[TableField]:
    _ = formatter.gettext
    shown = {one.name for one in view.columns}
    return [
        TableField(
            one.name, _(one.label), view.asked.filters.get(one.name, ""),
            (("", _("All")), *((name, _(label)) for name, (label, _condition) in one.choices.items())) if one.choices else (),
            one.kind in _NUMBERS, one.name in shown,
        )
        for one in view.table.columns
    ]  # fmt: skip


def _chips(view: crawl_tables.TableView, here: str, formatter: Formatter) -> list[tuple[str, str]]:
    """The filters in use, each with the URL of the view without it."""
    _, found = formatter.gettext, []
    for column in view.table.columns:
        if given := view.asked.filters.get(column.name):
            value = _(column.choices[given][0]) if given in column.choices else given
            removed = "all" if column.name == "which" else ""
            found.append((f"{_(column.label)}: {value}", f"{here}?{view.query(**{column.name: removed})}"))
    for name, label, value in (("q", _("Search"), view.asked.q), ("segment", _("Segment"), view.segment)):
        if value:
            found.append((f"{label}: {value}", f"{here}?{view.query(**{name: ''})}"))
    if view.asked.source or view.asked.target:
        found.append((_("Links of one page"), f"{here}?{view.query(source='', target_page='')}"))
    return found


def _rows(
    view: crawl_tables.TableView, found: TablePage, opened: OpenedRun, formatter: Formatter
) -> list[list[tuple[str, TableCell]]]:
    names = [one.name for one in view.table.columns]
    return [
        [
            (formatter.gettext(column.label), _cell(column, dict(zip(names, row, strict=True)), pages, opened, formatter))
            for column in view.columns
        ]
        for row, pages in zip(found.rows, found.pages, strict=True)
    ]


def _cell(
    column: BrowsedColumn, row: Mapping[str, Any], pages: Mapping[str, int], opened: OpenedRun, formatter: Formatter
) -> TableCell:  # fmt: skip
    value, _ = row[column.name], formatter.gettext
    if column.name in ("status_code", "target_code"):
        state = str(row.get("answer" if column.name == "status_code" else "target_answer") or "completed")
        text = str(value) if value is not None else page_state_labels(formatter).get(state, "") if "answer" in row else ""
        return TableCell(text, chip=status_colour(state, value) if text else None, is_number=True)
    if value is None:
        return TableCell("–" if column.kind in _NUMBERS else "", is_number=column.kind in _NUMBERS)
    if column.kind in _NUMBERS:
        return TableCell(formatter.number(round(value) if abs(value) >= 10 else round(value, 1)), is_number=True)
    if column.kind is ColumnKind.TIME:
        return TableCell(formatter.timestamp(parse_utc(value)) if value else "")
    if column.name in ("landmark", "severity"):
        label = _(column.choices[value][0]) if value in column.choices else ""
        return TableCell(label, chip=str(value) if column.name == "severity" else None)
    if column.name == "check":
        return TableCell(str(value), f"{opened.base}/findings/{value}")
    if column.name == "indexable":
        return TableCell(translate_name(INDEXABILITIES, str(value), translator(formatter.lang)))
    if value in ("internal", "external") and column.choices:
        return TableCell(_("Internal") if value == "internal" else _("External"))
    if column.name == "answer":
        return TableCell(page_state_labels(formatter).get(str(value), str(value)))
    page = pages.get(column.name)
    return TableCell(one_line(str(value)), f"{opened.base}/pages/{page}" if page else "")
