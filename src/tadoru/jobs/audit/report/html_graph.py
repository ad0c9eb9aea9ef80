"""The site graph of the HTML page: up to a few hundred pages by depth, sized by their link score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tadoru.i18n.translation import Translator
from tadoru.jobs.audit.report.messages import format_page_count
from tadoru.jobs.audit.report.summary import AuditSummary, PageGraph
from tadoru.jobs.reporting.escape import clip, printable, url_host, url_origin, url_shortener
from tadoru.jobs.reporting.graph_layout import GraphDot, UrlOutcome
from tadoru.jobs.reporting.graph_svg import GraphDrawing, GraphPicture, describe_common_pages, draw_dots, legend_items
from tadoru.store.crawl.summary import GraphPage

_MAX_NAME = 110
_BLOCKED_CODES = (401, 403, 429)


def site_picture(summary: AuditSummary, _: Translator) -> GraphPicture | None:
    """The graph with its legend and caption; None if there is no page."""
    if summary.graph is None or not summary.graph.nodes:
        return None
    drawing = draw_page_graph(summary.graph, summary.crawl.start_url, _)
    outcomes = Counter(_outcome(node) for node in summary.graph.nodes)
    notes = [describe_common_pages(drawing, _)]
    if summary.pages > outcomes.total():
        bounded = _(
            "{drawn} of {total} pages are drawn: the start page, broken pages, and the pages with the highest link score.",
            drawn=_.number(outcomes.total()),
            total=_.number(summary.pages),
        )
        notes.insert(0, bounded)
    return GraphPicture(drawing.svg, " ".join(filter(None, notes)), legend_items(outcomes, _))


def draw_page_graph(graph: PageGraph, start_url: str, _: Translator) -> GraphDrawing:
    """The drawing of a graph that has at least one page."""
    dots, pairs = graph_dots(graph)
    nodes = _in_order(graph.nodes)
    short = url_shortener(url_origin(start_url))
    names = [url_host(start_url) if short(node.url) == "/" else clip(short(node.url), _MAX_NAME) for node in nodes]
    tooltips = [_tooltip(node, name, _) for node, name in zip(nodes, names, strict=True)]
    return draw_dots(dots, pairs, names, tooltips, _("Site structure") + f": {format_page_count(len(dots), _)}")


def _in_order(nodes: Sequence[GraphPage]) -> list[GraphPage]:
    """The start page first, then by depth."""
    start = min(nodes, key=lambda node: (node.depth, -node.link_score, node.url))
    return sorted(nodes, key=lambda node: (node is not start, node.depth, node.url))


def graph_dots(graph: PageGraph) -> tuple[list[GraphDot], list[tuple[int, int]]]:
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
        dots.append(GraphDot(node.url, parent, node.depth, _outcome(node), node.link_score))
    return dots, [(place[source], place[target]) for source, target in graph.links]


def _outcome(node: GraphPage) -> UrlOutcome:
    code = node.status_code
    if node.status == "error" or code is None:
        return UrlOutcome.BROKEN
    if code in _BLOCKED_CODES:
        return UrlOutcome.BLOCKED
    return UrlOutcome.BROKEN if code >= 400 else UrlOutcome.REDIRECT if code >= 300 else UrlOutcome.OK


def _tooltip(node: GraphPage, name: str, _: Translator) -> str:
    facts = _(
        "{status} · depth {depth} · link score {score} · {inlinks}",
        status=str(node.status_code) if node.status_code is not None else _("No response"),
        depth=node.depth,
        score=f"{node.link_score:.0f}",
        inlinks=_.ngettext("{count} inlink", "{count} inlinks", node.inlinks or 0),
    )
    return "\n".join(line for line in (clip(printable(node.title or ""), 120), name, facts) if line)
