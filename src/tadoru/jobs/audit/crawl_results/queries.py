"""Queries of one crawl: overview, findings, pages, one page in detail, links, and the site graph."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import lru_cache, wraps
from math import ceil
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from tadoru.i18n.translation import translator
from tadoru.jobs.audit.checks.links import MALFORMED
from tadoru.jobs.audit.crawl_results import models
from tadoru.jobs.audit.report.html import draw_page_graph
from tadoru.jobs.audit.report.summary import TIME_BOUNDS, PageGraph
from tadoru.jobs.reporting.escape import url_origin
from tadoru.jobs.reporting.graph_svg import MAX_CURVES, GraphDrawing
from tadoru.model.finding import Severity
from tadoru.store.crawl.browse import AffectedPage, CrawlTotals, LinkFilter, LinkSummary, PageFilter, PageSummary
from tadoru.store.crawl.findings import StoredCheck
from tadoru.store.crawl.records import UNLINKED, parse_utc, response_class
from tadoru.store.crawl.runs import RunFigures, StoredRun
from tadoru.store.crawl.sqlite.store import ReadOnlyCrawl, at_once, looking_at
from tadoru.store.crawl.tables import CrawlTable, LinkCause, SiteSegment, TableFilter, TablePage

P = ParamSpec("P")
T = TypeVar("T")
CACHE_SIZE = 64
"""Results cached of a function whose results are small."""
LARGE_CACHE_SIZE = 8
"""Results cached of a function whose results are large: comparisons, graphs and drawings."""


def cached_while_unchanged(size: int = CACHE_SIZE) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Caches a function that reads crawls by their paths, its only positional arguments, and returns an immutable value."""

    def decorate(read: Callable[P, T]) -> Callable[P, T]:
        untyped: Callable[..., T] = read

        @lru_cache(maxsize=size)
        def cached(states: tuple[object, ...], paths: tuple[str, ...], **options: Any) -> T:
            return untyped(*paths, **options)

        @wraps(read)
        def look_up(*paths: P.args, **options: P.kwargs) -> T:
            # The state is read first: a write during the call makes the next result another one.
            states = tuple(_state(Path(f"{path}{ending}")) for path in paths for ending in ("", "-wal"))
            values: dict[str, Any] = dict(options)
            return cached(states, tuple(map(str, paths)), **values)

        return look_up

    return decorate


def _state(file: Path) -> tuple[int, ...]:
    try:
        found = file.stat()
    except OSError:
        return ()
    return (found.st_ino, found.st_size, found.st_mtime_ns) if found.st_size else ()


_MAX_REASONS = 12
_CLASSES = ("2xx", "3xx", "4xx", "5xx", "no answer", "not requested", "waiting")


@cached_while_unchanged()
def read_overview(path: Path | str) -> models.CrawlOverview:
    """The figures of a crawl: states, responses, findings and runs."""
    with looking_at(path) as crawl:
        standing, counted = crawl.totals.standing()
        of_site = [one for one in standing if one.internal]
        states = _sum_counts((one.status, one.urls) for one in of_site)
        indexability = tuple(
            models.IndexabilityCount(reason=reason, indexable=indexable, pages=pages)
            for reason, indexable, pages in crawl.summary.indexabilities()
        )
        runs = at_once(crawl.runs.all())
        last = runs[-1] if runs else None
        return models.CrawlOverview(
            start_url=crawl.export.start_url() or "",
            started_at=last.started_at if last else None,
            ended_at=last.ended_at if last else None,
            seconds=(last.ended_at - last.started_at).total_seconds() if last and last.ended_at else None,
            outcome=last.outcome if last else None,
            score=last.score if last else None,
            states=dict(states),
            codes=dict(sorted(_sum_counts((one.status_code or 0, one.urls) for one in of_site if _has_response(one)).items())),
            pages=states["completed"] + states["error"],
            waiting=states["queued"] + states["processing"],
            external=sum(one.urls for one in standing if not one.internal),
            unlinked=sum(one.urls for one in of_site if _has_response(one) and one.depth >= UNLINKED),
            indexable=sum(one.pages for one in indexability if one.indexable),
            indexability=indexability,
            skipped=tuple(
                models.SkippedCount(reason=reason, urls=urls) for reason, urls in crawl.summary.skip_reasons(_MAX_REASONS)
            ),
            severities=_severities(crawl),
            charts=_chart_figures(of_site, counted),
            runs=tuple(_run_figures(run) for run in runs),
        )


@cached_while_unchanged()
def read_charts(path: Path | str) -> models.CrawlCharts:
    """Only the data of the charts."""
    with looking_at(path) as crawl:
        standing, counted = crawl.totals.standing()
    return _chart_figures([one for one in standing if one.internal], counted)


def _chart_figures(of_site: Sequence[CrawlTotals], counted: Sequence[tuple[int, int]]) -> models.CrawlCharts:
    found = _sum_counts((response_class(one.status, one.status_code), one.urls) for one in of_site)
    depths = _sum_counts((one.depth, one.urls) for one in of_site if _has_response(one) and one.depth < UNLINKED)
    classes = {name: found[name] for name in (*_CLASSES, *sorted(found.keys() - set(_CLASSES)))}
    return models.CrawlCharts(classes=classes, times=time_figures(counted), depths=tuple(sorted(depths.items())))


def time_figures(counts: Sequence[tuple[int, int]]) -> models.TimeFigures:
    """The distribution of times, given as milliseconds and count, fastest first."""
    total = sum(count for _, count in counts)
    wanted = [max(1, ceil(share * total)) for share in (0.5, 0.9, 0.99)]
    reached: list[int | None] = [None, None, None]
    classes = [0] * (len(TIME_BOUNDS) + 1)
    seen = 0
    for ms, count in counts:
        seen += count
        classes[sum(ms > bound for bound in TIME_BOUNDS)] += count
        for place, rank in enumerate(wanted):
            if reached[place] is None and seen >= rank:
                reached[place] = ms
    p50, p90, p99 = reached
    return models.TimeFigures(count=total, p50=p50, p90=p90, p99=p99, bounds=TIME_BOUNDS, classes=tuple(classes))


def _severities(crawl: ReadOnlyCrawl) -> tuple[models.SeverityFigures, ...]:
    catalogue = crawl.findings.stored_checks()
    if all(each.check.id == MALFORMED.id for each in catalogue):  # A crawl for broken links lists these with them.
        return ()
    counts, pages = crawl.totals.finding_counts()
    found = []
    for severity in Severity:
        own = [counts.get(each.number, 0) for each in catalogue if each.check.severity is severity]
        checks = sum(count > 0 for count in own)
        found.append(
            models.SeverityFigures(severity=severity.value, checks=checks, findings=sum(own), pages=pages.get(severity.value, 0))
        )
    return tuple(found)


def _sum_counts(pairs: Iterable[tuple[T, int]]) -> Counter[T]:
    found: Counter[T] = Counter()
    for name, count in pairs:
        found[name] += count
    return found


def _has_response(one: CrawlTotals) -> bool:
    return one.status == "completed"


def _run_figures(run: StoredRun) -> RunFigures:
    return RunFigures(**{one.name: getattr(run, one.name) for one in fields(RunFigures)})


_SEVERITIES = tuple(Severity)


def list_findings(
    path: Path | str, *, severity: str | None = None, check: str | None = None, lang: str = "en", every: bool = False
) -> list[models.CheckSummary]:
    """The checks with findings, most severe and most frequent first; with `every` also those without."""
    found = [
        (each, count)
        for each, count in count_by_check(path)
        if severity in (None, each.check.severity) and check in (None, each.check.id)
    ]
    found.sort(key=lambda one: (_SEVERITIES.index(one[0].check.severity), -one[1], one[0].number))
    return [summarize_check(each, lang, count) for each, count in found if count or every]


@cached_while_unchanged()
def count_by_check(path: Path | str) -> tuple[tuple[StoredCheck, int], ...]:
    """The checks of the crawl, and the number of findings of each."""
    with looking_at(path) as crawl:
        catalogue = crawl.findings.stored_checks()
        counts, _ = crawl.totals.finding_counts()
    return tuple((each, counts.get(each.number, 0)) for each in catalogue)


def list_affected(
    path: Path | str, check: str, *, limit: int = 50, cursor: str | None = None
) -> tuple[list[AffectedPage], str | None] | None:
    """The pages of a check, and the cursor of the rest; None if the crawl does not have the check."""
    with looking_at(path) as crawl:
        number = next((each.number for each in crawl.findings.stored_checks() if each.check.id == check), None)
        if number is None:
            return None
        return crawl.page_list.affected(number, limit=limit, cursor=cursor)


def summarize_check(stored: StoredCheck, lang: str, count: int) -> models.CheckSummary:
    """A check in one language."""
    check, limit = stored.check, stored.check.threshold
    text = translator(lang).check(check)
    return models.CheckSummary(
        id=check.id, group=check.group, severity=check.severity.value, title=text.title, why=text.why,
        fix=text.fix, threshold=limit.default if limit else None, unit=limit.unit if limit else "", count=count,
    )  # fmt: skip


def list_pages(
    path: Path | str,
    chosen: PageFilter | None = None,
    *,
    sort: str = "url",
    falls: bool | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> tuple[list[PageSummary], str | None]:
    """Pages in one of `ORDERS` (`falls`: largest first), and the cursor of the rest."""
    with looking_at(path) as crawl:
        return crawl.page_list.page_lines(chosen or PageFilter(), sort=sort, falls=falls, limit=limit, cursor=cursor)


def count_pages(path: Path | str, chosen: PageFilter) -> int:
    """The number of pages of a filter."""
    with looking_at(path) as crawl:
        return crawl.page_list.page_count(chosen)


def list_links(
    path: Path | str, chosen: LinkFilter | None = None, *, limit: int = 50, cursor: str | None = None
) -> tuple[list[LinkSummary], str | None]:
    """Links, and the cursor of the rest."""
    with looking_at(path) as crawl:
        return crawl.link_list.link_lines(chosen or LinkFilter(), limit=limit, cursor=cursor)


def browse_table(
    path: Path | str, table: CrawlTable, chosen: TableFilter, *, limit: int = 50, cursor: str | None = None
) -> TablePage:
    """A page of a table of the crawl, filtered and sorted."""
    with looking_at(path) as crawl:
        return crawl.tables.page(table, chosen, limit=limit, cursor=cursor)


MAX_CAUSES, MAX_PLACES = 100, 50


@cached_while_unchanged()
def link_causes(path: Path | str, *, internal: bool | None = None, broken: bool = True) -> tuple[LinkCause, ...]:
    """The targets of broken links (or of links to redirects), most frequent first, each with its places."""
    with looking_at(path) as crawl:
        return tuple(crawl.tables.causes(internal=internal, broken=broken, limit=MAX_CAUSES, places=MAX_PLACES))


@cached_while_unchanged()
def count_in_segment(path: Path | str, *, segment: SiteSegment | None, template: str = "") -> Mapping[str, int]:
    """The number of findings of each check in a segment, on the pages of a template, or both."""
    with looking_at(path) as crawl:
        counts = crawl.tables.check_counts(segment, template)
        return {each.check.id: counts.get(each.number, 0) for each in crawl.findings.stored_checks()}


@cached_while_unchanged()
def site_origins(path: Path | str) -> tuple[str, ...]:
    """The origin of the start URL, and those that it redirects to."""
    with looking_at(path) as crawl:
        start = crawl.export.start_url() or ""
        page = crawl.page_list.page_id(start)
        steps = crawl.page_list.redirect_steps(page) if page is not None else []
    return tuple(dict.fromkeys(url_origin(url) for url in (start, *(url for url, _ in steps)) if url))


@cached_while_unchanged()
def list_segments(path: Path | str, *, named: tuple[tuple[str, SiteSegment], ...] = ()) -> tuple[tuple[str, int, int, int], ...]:
    """The named segments, or else the first folders of the site with the largest first: pages, broken pages, findings."""
    origins = site_origins(path)
    with looking_at(path) as crawl:
        if not named:
            return tuple(crawl.tables.folders(origins))
        counts = crawl.tables.segment_counts([segment for _, segment in named])
    return tuple((name, *its) for (name, _), its in zip(named, counts, strict=True))


MAX_TEMPLATES = 30
MAX_GROUPED_PAGES = 200_000
"""Pages up to which templates are counted for a page of the service: it takes eight microseconds for each."""


@cached_while_unchanged()
def list_templates(path: Path | str) -> tuple[tuple[str, str, int, int], ...]:
    """The largest templates of the pages: the URL of one page, the number of pages, and of findings. None of a huge site."""
    if read_overview(path).pages > MAX_GROUPED_PAGES:
        return ()
    with looking_at(path) as crawl:
        return tuple(crawl.tables.templates(MAX_TEMPLATES))


MAX_LISTED = 500
"""Maximum number of headings, images, alternates, items and header fields each: a page may have any number."""
_LISTS = ("headers", "headings", "images", "directives", "extracted", "rendering")


def read_page(path: Path | str, which: int | str, *, lang: str = "en", links: int = 25) -> models.PageDetail | None:
    """A page by its number or URL, with some of its links; None if the crawl does not have it."""
    with looking_at(path) as crawl:
        number = crawl.page_list.page_id(which) if isinstance(which, str) else which
        line = crawl.page_list.page_line(number) if number is not None else None
        if line is None:
            return None
        facts = crawl.page_list.page_facts(line.id)
        return models.PageDetail(
            summary=line,
            facts=_page_facts(facts),
            headings=tuple(models.PageHeading(level=level, text=text) for level, text, *_ in facts["headings"][:MAX_LISTED]),
            images=tuple(models.PageImage(src=src, alt=alt) for src, alt, *_ in facts["images"][:MAX_LISTED]),
            resources=tuple(
                models.PageResource(url=url, kind=kind, status=status, status_code=code, content_type=content_type, size=size)
                for url, kind, status, code, content_type, size in crawl.page_list.page_resources(line.id, MAX_LISTED)
            ),
            hreflang=tuple(
                models.PageAlternate(language=language, url=url, source=source)
                for language, url, source in crawl.page_list.page_alternates(line.id)[:MAX_LISTED]
            ),
            structured_data=tuple(
                models.StructuredDataItem(syntax=syntax, type=kind, properties=properties)
                for syntax, kind, properties in crawl.page_list.page_items(line.id)[:MAX_LISTED]
            ),
            headers=tuple(models.ResponseHeader(name=name, value=value) for name, value in facts["headers"][:MAX_LISTED]),
            redirects=tuple(
                models.RedirectStep(url=url, status_code=code) for url, code in crawl.page_list.redirect_steps(line.id)
            ),
            extracted=facts["extracted"],
            findings=_page_findings(crawl, line.id, lang),
            inlinks=_page_links(crawl, LinkFilter(target=line.id, is_inlink=True), links, crawl.link_list.link_total(to=line.id)),
            outlinks=_page_links(crawl, LinkFilter(source=line.id), links, crawl.link_list.link_total(of=line.id)),
        )


def _page_facts(facts: dict[str, Any]) -> dict[str, Any]:
    found = {name: value for name, value in facts.items() if name not in _LISTS}
    found["is_seed"] = bool(found["is_seed"])
    for name in ("added_at", "last_modified"):
        found[name] = parse_utc(found[name])
    found["directives"] = [
        {"source": source, "agent": agent, "name": name, "value": value}
        for source, agent, name, value in facts["directives"][:MAX_LISTED]
    ]
    found["rendering"] = facts["rendering"] or None
    return found


def _page_findings(crawl: ReadOnlyCrawl, number: int, lang: str) -> tuple[models.PageFinding, ...]:
    found = crawl.page_list.page_found(number)
    if not found:
        return ()
    checks = {each.number: each for each in crawl.findings.stored_checks()}
    return tuple(
        models.PageFinding(check=summarize_check(checks[check], lang, 1), subject=subject, detail=detail, data=data)
        for check, subject, detail, data in found
        if check in checks
    )


def _page_links(crawl: ReadOnlyCrawl, chosen: LinkFilter, most: int, total: int | None) -> models.LinkList:
    lines, more = crawl.link_list.link_lines(chosen, limit=most)
    return models.LinkList(items=tuple(lines), next=more, total=total)


DEFAULT_NODES = 300
MAX_NODES = 1000
_SHARE_OF_BROKEN = 5
_COLOURS: dict[str, dict[str, str]] = {
    "graph": {"font-family": "sans-serif", "font-size": "11", "fill": "#243033"},
    "ring": {"fill": "none", "stroke": "#e3e8e6"},
    "way": {"fill": "none", "stroke": "#8a979b"},
    "link": {"fill": "none", "stroke": "#8a979b", "stroke-opacity": "0.25"},
    "bad": {"stroke": "#c0392b", "stroke-opacity": "0.6"},
    "ok": {"fill": "#2f7d6b"},
    "redirect": {"fill": "#b7811f"},
    "broken": {"fill": "#c0392b"},
    "blocked": {"fill": "#7a5ea8"},
    "unread": {"fill": "#8a979b"},
}


def read_graph(path: Path | str, *, most: int = DEFAULT_NODES) -> models.SiteGraph:
    """The pages with the highest link score, some broken pages, and the path to each."""
    return _read_graph(path, most=min(most, MAX_NODES))


@cached_while_unchanged(LARGE_CACHE_SIZE)
def draw_site_graph(
    path: Path | str, *, most: int = DEFAULT_NODES, curves: int = MAX_CURVES, lang: str = "en"
) -> GraphDrawing | None:
    """The drawing of the site graph; None if there is no page yet. A style sheet colours it by class name."""
    graph = _read_graph(path, most=min(most, MAX_NODES))
    pages = PageGraph(graph.nodes, graph.edges)
    return draw_page_graph(pages, graph.start_url, translator(lang), curves) if graph.nodes else None


def standalone_svg(svg: str) -> str:
    """The drawing as a separate file, with colours as attributes because inline styles are not allowed."""
    colours = re.sub(r'class="([a-z ]+)"', lambda found: f"{found[0]}{_colour_attributes(found[1].split())}", svg)
    return colours.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)


def _colour_attributes(classes: list[str]) -> str:
    paint: dict[str, str] = {}
    for name in classes:
        paint |= _COLOURS.get(name, {})
    return "".join(f' {name}="{value}"' for name, value in paint.items())


@cached_while_unchanged(LARGE_CACHE_SIZE)
def _read_graph(path: Path | str, *, most: int) -> models.SiteGraph:
    with looking_at(path) as crawl:
        nodes = crawl.summary.nodes(most, most // _SHARE_OF_BROKEN)
        links = crawl.summary.links_between(node.id for node in nodes)
        return models.SiteGraph(start_url=crawl.export.start_url() or "", nodes=tuple(nodes), edges=tuple(links))
