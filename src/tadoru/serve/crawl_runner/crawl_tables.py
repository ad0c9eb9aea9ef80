"""Views of the tables of a crawl, the segments of its site, and its findings by check, as pages and API list them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qsl, urlencode

from tadoru.errors import UsageError, quoted
from tadoru.i18n.translation import N_
from tadoru.jobs.audit.crawl_results import queries, run_comparison
from tadoru.jobs.audit.crawl_results.models import CheckSummary
from tadoru.jobs.audit.crawl_results.run_comparison import ChangedCheck, EarlierRun, NothingToCompare
from tadoru.model.finding import Severity
from tadoru.serve.crawl_runner.crawl_files import MAX_RUNS, openable_runs
from tadoru.serve.service import Service
from tadoru.store.accounts.audit_log import Actor
from tadoru.store.crawl.browse import PublishedRecord
from tadoru.store.crawl.tables import (
    BROWSED_TABLES,
    MAX_FILTER_LENGTH,
    BrowsedColumn,
    CrawlTable,
    LinkCause,
    SiteSegment,
    TableFilter,
)
from tadoru.store.served_crawls.schema import IgnoredFinding, SavedView, ServedCrawl

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
    origins = queries.site_origins(path)
    return tuple((one.name, SiteSegment(origins, segment_patterns(one.query))) for one in defined_segments(service, crawl))


def defined_segments(service: Service, crawl: ServedCrawl) -> tuple[SavedView, ...]:
    """The segments of a crawl as they are stored."""
    return service.store.annotations.views(crawl.id, SEGMENTS)


def find_segment(service: Service, crawl: ServedCrawl, path: Path | str, given: str) -> SiteSegment | None:
    """A segment by its name, or by a folder or pattern; None if it is neither."""
    if (named := dict(named_segments(service, crawl, path)).get(given)) is not None:
        return named
    try:
        return SiteSegment(queries.site_origins(path), segment_patterns(given))
    except UsageError:
        return None


def segment_names(service: Service, crawl: ServedCrawl, path: Path | str) -> list[str]:
    """The segments of a site that filters offer: those that were defined, or else its largest folders."""
    found = queries.list_segments(path, named=named_segments(service, crawl, path))
    return [name for name, *_ in found[:MAX_SEGMENTS]]


STATES = {"new": N_("New"), "open": N_("Open"), "ignored": N_("Ignored"), "fixed": N_("Fixed")}
LEVELS = {"high": N_("high"), "medium": N_("medium"), "low": N_("low")}
MAX_COMPARED_PAGES = 50_000
"""Pages up to which findings are compared with the previous run whenever they are listed."""
_RANKS = {name: rank for rank, name in enumerate(LEVELS)}
_SEVERITIES = list(Severity)
CAUSES = {"link-broken": True, "page-broken-linked": True, "link-external-broken": False, "link-to-redirect": True}
"""Checks whose findings have a target as their cause, and whether that is a page of the site."""
StateName = Literal["new", "open", "ignored", "fixed"]
LevelName = Literal["high", "medium", "low"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedCheck(PublishedRecord, published="CrawlFinding"):
    """A check with its findings, and what is known about their change and worth."""

    check: CheckSummary
    new: int
    """Findings that the previous run did not have; of broken links and links to redirects, targets."""
    fixed: int
    """Findings or targets of the previous run that are gone."""
    ignored: int
    """Pages and targets of the check that are ignored, each for a reason."""
    state: StateName
    """`new` if all its findings are."""
    reason: str
    """Why the whole check is ignored."""
    effect: LevelName
    effort: LevelName
    priority: int = 0
    """1 is to be fixed first: much effect with little effort."""


SORTS: Mapping[str, Callable[[RankedCheck], Any]] = {
    "priority": lambda one: one.priority,
    "finding": lambda one: one.check.title.casefold(),
    "severity": lambda one: _SEVERITIES.index(Severity(one.check.severity)),
    "count": lambda one: -one.check.count,
    "state": lambda one: (list(STATES).index(one.state), -one.new),
    "effect": lambda one: _RANKS[one.effect],
    "effort": lambda one: -_RANKS[one.effort],
}
"""What findings can be sorted by, the most urgent first."""


def effect_and_effort(check: CheckSummary, pages: int) -> tuple[LevelName, LevelName]:
    """How much fixing a finding helps, by severity and share of the pages, and how much work it is: what is on nearly every page
    comes from one template, and a few places are quickly changed."""
    share = min(1.0, check.count / max(1, pages))
    effect: LevelName
    if check.severity == "error":
        effect = "high" if share >= 0.02 or check.count >= 10 else "medium"
    elif check.severity == "warning":
        effect = "high" if share >= 0.5 else "medium" if share >= 0.05 or check.count >= 10 else "low"
    else:
        effect = "medium" if check.severity == "notice" and share >= 0.5 else "low"
    effort: LevelName = "low" if check.count <= 5 or share >= 0.8 else "high" if check.count > 100 else "medium"
    return effect, effort


def earlier_of(service: Service, crawl: ServedCrawl, path: Path | str) -> EarlierRun | None:
    """The run before the one whose results are at a path; None if there is none."""
    runs = service.store.crawls.runs(crawl.id, limit=MAX_RUNS)
    kept = openable_runs(service, crawl, runs)
    paths = [str(kept[run.id]) for run in runs if run.id in kept]
    after = paths[paths.index(str(path)) :] if str(path) in paths else []
    previous = next((one for one in after if one != str(path)), None)
    return EarlierRun(previous) if previous is not None else run_comparison.earlier_run(path)


def changed_checks(service: Service, crawl: ServedCrawl, path: Path | str, lang: str) -> Mapping[str, ChangedCheck]:
    """The checks with new or fixed findings since the previous run; empty without one, or if the site is too large."""
    if queries.read_overview(path).pages > MAX_COMPARED_PAGES:
        return {}
    earlier = earlier_of(service, crawl, path)
    try:
        if earlier is not None and earlier.path != str(path):
            found = run_comparison.compare_crawls(earlier.path, path, lang=lang)
        else:
            found = run_comparison.compare_with_previous(path, lang=lang)
    except NothingToCompare:
        return {}
    return {one.check: one for one in found.checks}


def causes_since(path: Path | str, earlier: EarlierRun | None, check: str) -> tuple[tuple[LinkCause, ...], frozenset[str] | None]:
    """The targets that cause the findings of a check, and the URLs of those that did so before; None if that is unknown."""
    if check not in CAUSES:
        return (), None
    wanted = {"internal": CAUSES[check], "broken": check != "link-to-redirect"}
    # The links of an earlier run are only known if its results are a copy of their own.
    was = queries.link_causes(earlier.path, **wanted) if earlier is not None and earlier.number is None else None
    return queries.link_causes(path, **wanted), frozenset(one.url for one in was) if was is not None else None


def ignored_checks(ignored: tuple[IgnoredFinding, ...]) -> dict[str, str]:
    """The checks that are ignored everywhere, with the reason."""
    return {one.check_id: one.reason for one in ignored if not one.subject}


def list_finding_rows(
    service: Service, crawl: ServedCrawl, path: Path | str, *, lang: str, counts: Mapping[str, int] | None = None
) -> list[RankedCheck]:
    """Every check that has findings or had some in the previous run, by priority. `counts`: the numbers of findings in a part of
    the site, where changes are not counted."""
    found = queries.list_findings(path, lang=lang, every=True)
    if counts is not None:
        found = [replace(one, count=counts.get(one.id, 0)) for one in found]
    pages = queries.read_overview(path).pages
    changes = changed_checks(service, crawl, path, lang) if counts is None else {}
    every = service.store.annotations.ignored(crawl.id)
    whole, rows = ignored_checks(every), []
    earlier = earlier_of(service, crawl, path) if counts is None else None
    for check in found:
        change = changes.get(check.id)
        new, fixed = (change.new, change.fixed) if change is not None else (0, 0)
        causes, known = causes_since(path, earlier, check.id) if check.count else ((), None)
        if known is not None:
            found_now = {one.url for one in causes}
            new, fixed = len(found_now - known), len(known - found_now)
        if not check.count and not fixed:
            continue
        is_new = new >= (check.count if known is None else len(causes))
        state: StateName = "ignored" if check.id in whole else "fixed" if not check.count else "new" if is_new else "open"
        effect, effort = effect_and_effort(check, pages)
        subjects = sum(1 for one in every if one.check_id == check.id and one.subject)
        rows.append(
            RankedCheck(
                check=check, new=new, fixed=fixed, ignored=subjects, state=state, reason=whole.get(check.id, ""), effect=effect,
                effort=effort,
            )
        )  # fmt: skip
    rows.sort(
        key=lambda one: (
            one.state in ("ignored", "fixed"), _RANKS[one.effect], -_RANKS[one.effort], SORTS["severity"](one), -one.check.count,
        )
    )  # fmt: skip
    return [replace(one, priority=number) for number, one in enumerate(rows, 1)]
