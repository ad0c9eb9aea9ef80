"""The HTML format: one self-contained file with the site graph, links that do not work, redirects and all URLs.

It is for the owner of the site, who did not run the crawl. The template is `links.html`. The graph shows a small site completely.
Of a larger site the start page, broken pages and hubs are drawn, each with the pages between it and the start page; the other
pages are combined into one dot for each directory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from heapq import nsmallest
from itertools import chain
from typing import TextIO

from tadoru.i18n.formats import format_date
from tadoru.i18n.translation import Translator
from tadoru.jobs.links.broken import format_status
from tadoru.jobs.links.report.figures import BAD_LINK_KINDS, LinksFigures, LinksReport, SiteTree, format_place
from tadoru.jobs.links.report.text import describe_not_requested, describe_trap, translate_stop
from tadoru.jobs.links.result import CrawlResult, LinkEdge, UrlInfo
from tadoru.jobs.reporting import graph_svg
from tadoru.jobs.reporting.charts import ChartSegment
from tadoru.jobs.reporting.escape import clip, first_directory, printable, readable_url, url_host, url_origin, url_shortener
from tadoru.jobs.reporting.formatting import format_duration
from tadoru.jobs.reporting.html_templates import link_html, write_template

MAX_DOTS = 400
_MAX_DIRECTORIES = 40
"""Dots that stand for a directory, of `MAX_DOTS`."""
_MAX_FAILED = 100
"""Failed pages that are drawn before the hubs."""
_MAX_GROUPS = 5000
"""Directories that are counted separately: a site may have one for each of a million pages."""

_Group = tuple[int, str]
"""The parent dot of some pages, and their directory."""
_OTHER_GROUP: _Group = (0, "")
"""The pages of all other directories."""
_MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class PageDot(graph_svg.GraphDot):
    """A dot with its page. Its weight is the number of inlinks."""

    info: UrlInfo | None = None


@dataclass(frozen=True, slots=True)
class DrawnPages:
    """The dots to draw. A parent comes before its children."""

    dots: tuple[PageDot, ...]
    index: dict[str, int]
    """The index of the dot of each page that has its own."""
    combined: int
    """Pages that are drawn as part of a directory."""


def choose_pages(result: CrawlResult, figures: LinksFigures, edges: Iterable[LinkEdge]) -> DrawnPages:
    """Chooses the pages to draw, always the same ones for the same crawl."""
    infos, start = result.internal_urls, result.start_url
    tree = SiteTree(infos, figures, MAX_DOTS)
    inlinks = Counter(edge.target for edge in edges if edge.target in tree.urls and edge.source != edge.target)
    if len(infos) <= MAX_DOTS:
        drawn = set(tree.urls)
    else:
        drawn = _pick(_ranked(tree, start, inlinks), tree, figures, MAX_DOTS - _MAX_DIRECTORIES - 1)
    dots: list[PageDot] = []
    index: dict[str, int] = {}
    for info in sorted((tree.urls[url] for url in drawn), key=lambda info: (info.depth, info.url != start, info.url)):
        parent = tree.parent(info)
        index[info.url] = len(dots)
        parent_index = index[parent] if parent is not None else (0 if dots else None)
        outcome = figures.outcome(info)
        dots.append(PageDot(info.url, parent_index, info.depth, outcome, inlinks[info.url], info=info))
    rest = (info for info in infos if info.url not in drawn) if len(drawn) < len(infos) else ()
    combined = _combine_by_directory(rest, tree, index, dots, figures)
    return DrawnPages((*dots, *combined), index, sum(dot.pages for dot in combined))


def _ranked(tree: SiteTree, start: str, inlinks: Counter[str]) -> list[UrlInfo]:
    """The start page first, then by number of inlinks."""

    def key(info: UrlInfo) -> tuple[bool, bool, int, int, str]:
        return info.url != start, info.depth > 0, -inlinks[info.url], info.depth, info.url

    return sorted(tree.urls.values(), key=key)


def _pick(ranked: list[UrlInfo], tree: SiteTree, figures: LinksFigures, limit: int) -> set[str]:
    failed = [info for info in ranked if info.url in figures.failed][:_MAX_FAILED]
    drawn: set[str] = set()
    for info in (ranked[0], *failed, *ranked):
        path: list[str] = []
        url: str | None = info.url
        while url is not None and url not in drawn:
            path.append(url)
            url = tree.parent(tree.urls[url])
        if len(drawn) + len(path) <= limit:
            drawn.update(path)
        if len(drawn) == limit:
            break
    return drawn


def _combine_by_directory(
    rest: Iterable[UrlInfo], tree: SiteTree, index: dict[str, int], dots: list[PageDot], figures: LinksFigures
) -> list[PageDot]:
    """A dot for each directory below each page that the start page links to; the smallest groups share one dot."""
    groups: Counter[_Group] = Counter()
    broken: set[_Group] = set()
    for info in rest:
        above = tree.parent(info)
        while above is not None and (above not in index or dots[index[above]].depth > dots[0].depth + 1):
            above = tree.parent(tree.urls[above])
        group = (index[above] if above is not None else 0, first_directory(info.url))
        if group not in groups and len(groups) >= _MAX_GROUPS:
            group = _OTHER_GROUP
        groups[group] += 1
        if figures.outcome(info) is graph_svg.UrlOutcome.BROKEN:
            broken.add(group)
    ordered = sorted(groups, key=lambda group: (group == _OTHER_GROUP, -groups[group], group))

    def dot(together: list[_Group], parent: int, directory: str) -> PageDot:
        outcome = graph_svg.UrlOutcome.OK if broken.isdisjoint(together) else graph_svg.UrlOutcome.BROKEN
        return PageDot(None, parent, dots[parent].depth + 1, outcome, 0, directory, sum(groups[group] for group in together))

    combined = [dot([group], *group) for group in ordered[:_MAX_DIRECTORIES]]
    left = ordered[_MAX_DIRECTORIES:]
    return [*combined, dot(left, *_OTHER_GROUP)] if left else combined


def draw_site(
    result: CrawlResult,
    figures: LinksFigures,
    edges: Callable[[], Iterable[LinkEdge]],
    short: Callable[[str], str],
    _: Translator,
) -> graph_svg.GraphPicture | None:
    """Draws the site; None if there is no page."""
    if not result.internal_urls:
        return None
    drawn = choose_pages(result, figures, edges())
    index = drawn.index
    pairs = ((index[edge.source], index[edge.target]) for edge in edges() if edge.source in index and edge.target in index)
    names = [_name(dot, short, _) for dot in drawn.dots]
    if names[0] == "/":
        names[0] = url_origin(next(iter(index))).partition("://")[2]
    tooltips = [_tooltip(dot, name, _) for dot, name in zip(drawn.dots, names, strict=True)]
    heading = _.ngettext(
        "Link graph of {site}: {count} page",
        "Link graph of {site}: {count} pages",
        len(result.internal_urls),
        site=printable(result.start_url),
    )
    drawing = graph_svg.draw_dots(drawn.dots, pairs, names, tooltips, heading)
    caption = _caption(drawn, len(result.internal_urls), drawing, _)
    return graph_svg.GraphPicture(drawing.svg, caption, graph_svg.legend_items(figures.outcomes, _), drawn.combined > 0)


def _name(dot: PageDot, short: Callable[[str], str], _: Translator) -> str:
    if dot.url is not None:
        return clip(short(dot.url), _MAX_NAME)
    return f"{_directory_name(dot, short, _)} +{_.number(dot.pages)}"


def _directory_name(dot: PageDot, short: Callable[[str], str], _: Translator) -> str:
    return short(dot.directory) if dot.directory else _("other directories")


def _tooltip(dot: PageDot, name: str, _: Translator) -> str:
    if dot.info is None:
        directory = name.rpartition(" +")[0]
        return _.ngettext("{count} more page: {directory}", "{count} more pages: {directory}", dot.pages, directory=directory)
    code = dot.info.status_code
    facts = _(
        "{status} · depth {depth} · {inlinks}",
        status=format_status(code) if code is not None else _(graph_svg.OUTCOME_NAMES[dot.outcome]),
        depth=dot.depth,
        inlinks=_.ngettext("{count} inlink", "{count} inlinks", round(dot.weight)),
    )
    return "\n".join(line for line in (clip(printable(dot.info.title), 120), name, facts) if line)


def _caption(drawn: DrawnPages, pages: int, drawing: graph_svg.GraphDrawing, _: Translator) -> str:
    sentences = [graph_svg.describe_common_pages(drawing, _)]
    if drawn.combined:
        bounded = _(
            "{drawn} of {total} pages are drawn: broken pages, and the pages with the most inlinks. The other {combined} are "
            "combined by directory in the hollow dots.",
            drawn=_.number(len(drawn.index)),
            total=_.number(pages),
            combined=_.number(drawn.combined),
        )
        sentences.insert(0, bounded)
    if drawing.curves == graph_svg.MAX_CURVES:
        curves, links = _.number(drawing.curves), _.number(drawing.links)
        sentences.append(_("{curves} of {links} links are drawn as curves.", curves=curves, links=links))
    return " ".join(filter(None, sentences))


MAX_ROWS = 5000


def write_html(report: LinksReport, out: TextIO) -> None:
    """Writes the page; rows of the table of URLs are streamed."""
    _, result, figures = report.translate, report.result, LinksFigures.of(report.result)
    short, site = url_shortener(figures.site), url_host(result.start_url)
    moved = sorted(result.redirects, key=lambda info: info.url)
    external = report.show_external and bool(result.external_urls)
    write_template(
        "links.html",
        _.lang,
        out,
        has_script=True,
        title=_("Links of {site}", site=site),
        about=_crawl_date(figures, _),
        site=site,
        start_url=result.start_url,
        facts=_facts(report, figures, _),
        verdict=_verdict(report, figures, _),
        cards=_cards(report, figures, len(moved), _),
        picture=draw_site(result, figures, report.edges, short, _),
        bad_links={kind: [link for link in report.broken if link.kind == kind] for kind in BAD_LINK_KINDS},
        figures=figures,
        segments=[
            ChartSegment(outcome, _(name), figures.outcomes.get(outcome, 0)) for outcome, name in graph_svg.OUTCOME_NAMES.items()
        ],
        legend=graph_svg.legend_items(figures.outcomes, _),
        statuses=[(_(name), count) for name, count in figures.statuses],
        depths=[(str(depth), count) for depth, count in figures.depths],
        excluded=list(_excluded(report, _)),
        hosts=report.hosts(),
        format_place=format_place,
        translate_text=_.text,
        redirects=moved,
        max_rows=MAX_ROWS,
        total=len(result.internal_urls) + (len(result.external_urls) if external else 0),
        kinds=_kinds(external, _),
        rows=_url_rows(choose_rows(result, figures, report.show_external), figures, short, _),
        short=short,
    )


def _crawl_date(figures: LinksFigures, _: Translator) -> str:
    if figures.first_seen is None:
        return ""
    return _("Crawled on {date}.", date=format_date(figures.first_seen, _.lang, pattern="long"))


def _facts(report: LinksReport, figures: LinksFigures, _: Translator) -> str:
    count, duration = report.result.total_processed, format_duration(report.result.crawl_duration, _)
    requested = _.ngettext(
        "{count} URL requested in {duration}.", "{count} URLs requested in {duration}.", count, duration=duration
    )
    return " ".join(filter(None, (_crawl_date(figures, _), requested)))


def _verdict(report: LinksReport, figures: LinksFigures, _: Translator) -> tuple[str, str]:
    """The result of the crawl in one line, and its colour."""
    broken = sum(link.kind != "blocked" for link in report.broken)
    pages = len({source.page_url for link in report.broken if link.kind != "blocked" for source in link.sources})
    if broken and pages:
        count = _.ngettext("{count} page", "{count} pages", pages)
        return "broken", _.ngettext("{count} broken link on {pages}", "{count} broken links on {pages}", broken, pages=count)
    if broken:
        return "broken", _.ngettext("{count} broken link", "{count} broken links", broken)
    failed = figures.outcomes.get(graph_svg.UrlOutcome.BROKEN, 0)
    if failed:
        return "broken", _.ngettext("{count} page could not be loaded", "{count} pages could not be loaded", failed)
    if report.broken:
        return "blocked", _.ngettext(
            "{count} link could not be checked", "{count} links could not be checked", len(report.broken)
        )
    if not report.result.internal_urls:
        return "unread", _("Nothing was crawled.")
    if report.checked:
        return "ok", report.describe_success()
    return "ok", _("Every requested page works.")


def _cards(report: LinksReport, figures: LinksFigures, moved: int, _: Translator) -> list[tuple[str, str, int, str]]:
    """Colour, name, count and note of each card."""
    result, outcomes = report.result, figures.outcomes
    broken = sum(link.kind != "blocked" for link in report.broken) or outcomes.get(graph_svg.UrlOutcome.BROKEN, 0)
    blocked = sum(link.kind == "blocked" for link in report.broken) or outcomes.get(graph_svg.UrlOutcome.BLOCKED, 0)
    return [
        ("", _("Pages found"), len(result.internal_urls), ""),
        ("", _("Requested"), result.total_processed, ""),
        ("broken", _("Broken"), broken, ""),
        ("blocked", _("Blocked"), blocked, ""),
        ("", _("Redirects"), moved, ""),
        ("", _("External URLs"), len(result.external_urls), ""),
    ]


def _kinds(external: bool, _: Translator) -> list[tuple[str, str]]:
    """The values and names of the filter of the table."""
    kinds = [("", _("All")), *((str(outcome), _(name)) for outcome, name in graph_svg.OUTCOME_NAMES.items())]
    return [*kinds, ("external", _("External"))] if external else kinds


def _excluded(report: LinksReport, _: Translator) -> Iterator[str]:
    """What the crawl did not request."""
    if report.result.stopped:
        yield _("The crawl stopped early: {reason}", reason=printable(translate_stop(report.result.stopped, _)))
    for trap in report.result.traps:
        text, count = describe_trap(trap, _), trap.skipped
        if count:
            text = _.ngettext("{trap}, {count} URL skipped", "{trap}, {count} URLs skipped", count, trap=text)
        yield _("Crawler trap: {trap}", trap=text)


def choose_rows(result: CrawlResult, figures: LinksFigures, show_external: bool) -> list[tuple[UrlInfo, bool]]:
    """The URLs of the table, and whether each is external. If there are too many, those with problems come first."""
    external = result.external_urls if show_external else ()
    rows = chain(((info, False) for info in result.internal_urls), ((info, True) for info in external))
    rank = {outcome: number for number, outcome in enumerate(graph_svg.UrlOutcome)}
    are_too_many = len(result.internal_urls) + len(external) > MAX_ROWS

    def key(row: tuple[UrlInfo, bool]) -> tuple[int, bool, int, str]:
        info, is_external = row
        return rank[figures.outcome(info)] if are_too_many else 0, is_external, info.depth, info.url

    return nsmallest(MAX_ROWS, rows, key=key)


def _url_rows(
    rows: list[tuple[UrlInfo, bool]], figures: LinksFigures, short: Callable[[str], str], _: Translator
) -> Iterator[tuple[str, str, str, str, str, str, str, str]]:
    """Outcome, filter values, status code, URL, name, line below, depth, and a link to the parent of each URL."""

    @lru_cache(1024)
    def parent(url: str | None) -> str:
        return link_html(url, short(url)) if url else ""

    for info, external in rows:
        outcome = str(figures.outcome(info))
        name = readable_url(info.url) if external else short(info.url)
        text = _second_line(info, figures, _, external=external)
        kinds = f"{outcome} external" if external else outcome
        yield outcome, kinds, str(info.status_code or ""), info.url, name, text, str(info.depth), parent(info.parent_url)


def _second_line(info: UrlInfo, figures: LinksFigures, _: Translator, *, external: bool) -> str:
    failed = figures.failed.get(info.url)
    if failed is not None:
        text = _.text(failed.error_message)
    elif info.redirect_to:
        text = f"→ {url_shortener(url_origin(info.url))(info.redirect_to)}"
    elif info.not_fetched and not external:
        text = describe_not_requested(info, _)
    else:
        text = info.title
    return clip(printable(text), 200)
