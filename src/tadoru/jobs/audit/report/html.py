"""The HTML format: one self-contained file for the owner of the site, for screens, phones and paper.

The templates are `audit.html` and `audit_lists.html`. The site graph shows up to a few hundred pages by depth, sized by
their link score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from math import pi
from typing import Any, TextIO

from tadoru.i18n.translation import Translator
from tadoru.jobs.audit.coverage import describe_skipped_checks
from tadoru.jobs.audit.report import messages
from tadoru.jobs.audit.report.audit_report import AuditReport
from tadoru.jobs.audit.report.summary import TIME_BOUNDS, AuditSummary, CheckResult, PageGraph
from tadoru.jobs.audit.score import HIDDEN_FACTOR, SCORE_VERSION, WEIGHTS
from tadoru.jobs.reporting import graph_svg
from tadoru.jobs.reporting.charts import ChartSegment, scale_bars
from tadoru.jobs.reporting.escape import clip, printable, url_host, url_origin, url_shortener
from tadoru.jobs.reporting.html_templates import write_template
from tadoru.model.finding import Severity
from tadoru.store.crawl.summary import GraphPage

MAX_PRINTED = 10
"""Pages of a check that are printed; the style sheet has the same number."""
DIAL_CIRCUMFERENCE = 2 * pi * 62
_MAX_NAME = 110
_MAX_CHARACTERS = 60_000
"""Maximum size of the table of one check: very long URLs must not make the page too large to open."""
_ROW_SIZE, _LINK_SIZE = 150, 84
"""Characters of the markup of a row, and of an inlink in it."""
_CLASSES = {
    "2xx": "ok", "3xx": "redirect", "4xx": "broken", "5xx": "broken", "no answer": "blocked", "not requested": "unread",
    "waiting": "unread",
}  # fmt: skip


def write_html(report: AuditReport, out: TextIO) -> None:
    """Writes the page; findings are streamed."""
    _, summary = report.translate, report.summary
    short = url_shortener(url_origin(summary.crawl.start_url))

    @lru_cache(4096)
    def name(url: str) -> str:
        return clip(short(url), _MAX_NAME)

    picture, excluded = site_picture(summary, _), list(messages.describe_exclusions(summary, _))
    skipped = {check for one in summary.not_judged for check in one.checks}
    passed = [result for result in summary.results if not result.count and result.check.id not in skipped]
    headings = [(severity, _(messages.SEVERITY_HEADINGS[severity]), summary.count(severity)) for severity in Severity]
    sections = {
        "figures": (_("Summary"), True),
        "findings": (_("Findings"), True),
        "graph": (_("Site structure"), picture is not None),
        "slowest": (_("Slowest pages"), summary.slowest),
        "largest": (_("Largest pages"), summary.largest),
        "redirects": (_("Redirects"), summary.redirects),
        "sitemaps": (_("Sitemaps"), summary.sitemaps),
        "duplicates": (_("Near duplicates"), summary.clusters),
        "traps": (_("Excluded"), excluded),
        "not-judged": (_("Not judged"), summary.not_judged),
        "passed": (_("Passed checks"), passed),
    }
    write_template(
        "audit.html",
        _.lang,
        out,
        has_script=True,
        title=_("Audit of {site}", site=messages.site_name(summary)),
        about=messages.describe_crawl(summary, _),
        cards=_cards(summary, _),
        sections={name: heading for name, (heading, content) in sections.items() if content},
        report=report,
        summary=summary,
        translate=_,
        messages=messages,
        severities={severity: _(name) for severity, name in messages.SEVERITIES.items()},
        severity_headings=headings,
        severity_choices=[(severity, heading) for severity, heading, count in headings if count],
        dial_circumference=DIAL_CIRCUMFERENCE,
        weights=[f"{100 * WEIGHTS[severity]:g}" for severity in (Severity.ERROR, Severity.WARNING, Severity.NOTICE)],
        hidden_percent=f"{100 * HIDDEN_FACTOR:g}",
        is_score_current=summary.score_version == SCORE_VERSION,
        status_bars=_status_bars(summary, _),
        codes=_codes(summary),
        depths=[
            *((str(depth), count) for depth, count in summary.depths),
            *([(_("not linked"), summary.unlinked)] if summary.unlinked else []),
        ],
        times=_time_columns(summary),
        indexability_bars=_indexability_bars(summary, _),
        group_bars=_group_bars(summary, _),
        groups=_groups(summary, _),
        checks=((result, messages.translate_check(result.check, _), _rows(report, result, name)) for result in summary.found),
        token=_token,
        severity_ranks=list(Severity),
        max_printed=MAX_PRINTED,
        name=name,
        picture=picture,
        excluded=excluded,
        not_judged=list(describe_skipped_checks(summary.not_judged, _)),
        passed=[messages.translate_check(result.check, _).title for result in passed],
    )


def _cards(summary: AuditSummary, _: Translator) -> list[tuple[str, str, int, str]]:
    """Colour, name, count and note of each card."""
    share = f"{100 * summary.indexable / summary.pages:.0f} %" if summary.pages else ""
    cards = [("", _("Pages"), summary.pages, ""), ("", _("Indexable"), summary.indexable, share)]
    for severity in (Severity.ERROR, Severity.WARNING, Severity.NOTICE):
        count = summary.count(severity)
        pages = messages.format_page_count(summary.pages_with[severity], _) if count else ""
        cards.append((str(severity), _(messages.SEVERITY_HEADINGS[severity]), count, pages))
    return [*cards, ("", _("Links"), summary.links, "")]


def _time_columns(summary: AuditSummary) -> list[tuple[str, int]]:
    """The classes of response times by upper bound, without empty ones at the end."""
    names = [*map(messages.format_time_bound, TIME_BOUNDS), f"> {messages.format_time_bound(TIME_BOUNDS[-1])}"]
    classes = list(zip(names, summary.times.classes, strict=True))
    while classes and not classes[-1][1]:
        classes.pop()
    return classes


def _status_bars(summary: AuditSummary, _: Translator) -> Sequence[Any]:
    named = ((kind, messages.response_class_name(kind, _), count) for kind, count in summary.classes.items() if count)
    return scale_bars([(name, [ChartSegment(_CLASSES.get(kind, "unread"), name, count)]) for kind, name, count in named])


def _codes(summary: AuditSummary) -> list[tuple[int, int]]:
    codes: Counter[int] = Counter()
    for state in summary.states:
        if state.internal and state.status_code is not None:
            codes[state.status_code] += state.urls
    return sorted(codes.items())


def _indexability_bars(summary: AuditSummary, _: Translator) -> Sequence[Any]:
    named = (
        (messages.translate_name(messages.INDEXABILITIES, reason, _), kind, count) for reason, kind, count in summary.indexability
    )
    return scale_bars([(name, [ChartSegment("ok" if indexable else "unread", name, count)]) for name, indexable, count in named])


def _group_bars(summary: AuditSummary, _: Translator) -> Sequence[Any]:
    counts: dict[str, Counter[Severity]] = {}
    for result in summary.found:
        counts.setdefault(result.check.group, Counter())[result.check.severity] += result.count
    ordered = sorted(counts.items(), key=lambda item: [-item[1][severity] for severity in Severity])
    return scale_bars(
        [
            (
                messages.translate_name(messages.GROUPS, group, _),
                [ChartSegment(each, _(messages.SEVERITIES[each]), by_severity[each]) for each in Severity],
            )
            for group, by_severity in ordered
        ]
    )


def _groups(summary: AuditSummary, _: Translator) -> list[tuple[str, str]]:
    """The values and names of the filter by group."""
    groups = {result.check.group: messages.translate_name(messages.GROUPS, result.check.group, _) for result in summary.found}
    return [(f"in-{_token(group)}", name) for group, name in sorted(groups.items(), key=lambda item: item[1])]


def _token(name: str) -> str:
    """A name as a token of an attribute, without spaces: a plugin may name its group anything."""
    return "-".join(printable(name).split())


def _rows(report: AuditReport, result: CheckResult, name: Callable[[str], str]) -> list[tuple[Any, ...]]:
    """Status code, URL, name, evidence, inlinks (URL, name, anchor text) and a note on them, of the first examples."""
    _, rows, size = report.translate, list[tuple[Any, ...]](), 0
    for example in result.examples:
        row, evidence = example.row, messages.describe_evidence(example.row, _)
        links = [(link.source_url, name(link.source_url), clip(printable(link.text), 80)) for link in example.inlinks]
        hidden = example.inlink_count - len(links)
        # A finding about the whole site has no page that others could link to.
        note = messages.describe_hidden(hidden, _) if hidden > 0 else _("No inlinks") if row.page_id and not links else ""
        shown = name(row.url)
        rows.append((row.status_code, row.url, shown, evidence, links, note))
        size += _ROW_SIZE + len(row.url) + len(shown) + len(evidence)
        size += sum(_LINK_SIZE + len(url) + len(linked) + len(text) for url, linked, text in links)
        if size > _MAX_CHARACTERS:
            break
    return rows


_BLOCKED_CODES = (401, 403, 429)


def site_picture(summary: AuditSummary, _: Translator) -> graph_svg.GraphPicture | None:
    """The graph with its legend and caption; None if there is no page."""
    if summary.graph is None or not summary.graph.nodes:
        return None
    drawing = draw_page_graph(summary.graph, summary.crawl.start_url, _)
    outcomes = Counter(_outcome(node) for node in summary.graph.nodes)
    notes = [graph_svg.describe_common_pages(drawing, _)]
    if summary.pages > outcomes.total():
        bounded = _(
            "{drawn} of {total} pages are drawn: the start page, broken pages, and the pages with the highest link score.",
            drawn=_.number(outcomes.total()),
            total=_.number(summary.pages),
        )
        notes.insert(0, bounded)
    return graph_svg.GraphPicture(drawing.svg, " ".join(filter(None, notes)), graph_svg.legend_items(outcomes, _))


def draw_page_graph(
    graph: PageGraph, start_url: str, _: Translator, max_curves: int = graph_svg.MAX_CURVES
) -> graph_svg.GraphDrawing:
    """The drawing of a graph that has at least one page."""
    dots, pairs = graph_dots(graph)
    nodes = _in_order(graph.nodes)
    short = url_shortener(url_origin(start_url))
    names = [url_host(start_url) if short(node.url) == "/" else clip(short(node.url), _MAX_NAME) for node in nodes]
    tooltips = [_tooltip(node, name, _) for node, name in zip(nodes, names, strict=True)]
    heading = _("Site structure") + f": {messages.format_page_count(len(dots), _)}"
    return graph_svg.draw_dots(dots, pairs, names, tooltips, heading, max_curves)


def _in_order(nodes: Sequence[GraphPage]) -> list[GraphPage]:
    """The start page first, then by depth."""
    start = min(nodes, key=lambda node: (node.depth, -node.link_score, node.url))
    return sorted(nodes, key=lambda node: (node is not start, node.depth, node.url))


def graph_dots(graph: PageGraph) -> tuple[list[graph_svg.GraphDot], list[tuple[int, int]]]:
    """The pages as dots, and the links between them as pairs of indexes."""
    nodes = _in_order(graph.nodes)
    by_id = {node.id: node for node in nodes}
    place = {node.id: number for number, node in enumerate(nodes)}
    dots = []
    for number, node in enumerate(nodes):
        above = by_id.get(node.parent_id) if node.parent_id is not None else None
        # The target of a redirect is as deep as the redirect itself, so it gets the same parent.
        while above is not None and above.depth >= node.depth and above is not nodes[0]:
            above = by_id.get(above.parent_id) if above.parent_id is not None and above.parent_id != node.id else None
        parent = None if number == 0 else place[above.id] if above is not None else 0
        dots.append(graph_svg.GraphDot(node.url, parent, node.depth, _outcome(node), node.link_score))
    return dots, [(place[source], place[target]) for source, target in graph.links]


def _outcome(node: GraphPage) -> graph_svg.UrlOutcome:
    code = node.status_code
    if node.status == "error" or code is None:
        return graph_svg.UrlOutcome.BROKEN
    if code in _BLOCKED_CODES:
        return graph_svg.UrlOutcome.BLOCKED
    return (
        graph_svg.UrlOutcome.BROKEN if code >= 400 else graph_svg.UrlOutcome.REDIRECT if code >= 300 else graph_svg.UrlOutcome.OK
    )


def _tooltip(node: GraphPage, name: str, _: Translator) -> str:
    facts = _(
        "{status} · depth {depth} · link score {score} · {inlinks}",
        status=str(node.status_code) if node.status_code is not None else _("No response"),
        depth=node.depth,
        score=f"{node.link_score:.0f}",
        inlinks=_.ngettext("{count} inlink", "{count} inlinks", node.inlinks or 0),
    )
    return "\n".join(line for line in (clip(printable(node.title or ""), 120), name, facts) if line)
