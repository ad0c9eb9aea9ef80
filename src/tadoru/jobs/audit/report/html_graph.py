"""The picture of the site on the HTML page: up to a few hundred pages, by depth, the larger the higher their link score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from tadoru.jobs.audit.report.messages import Words, url_host
from tadoru.jobs.audit.report.summary import AuditSummary, PageGraph
from tadoru.jobs.reporting.escape import clip, printable, url_origin, url_shortener
from tadoru.jobs.reporting.graph_layout import GraphDot, UrlOutcome
from tadoru.jobs.reporting.graph_svg import GraphDrawing, draw_dots
from tadoru.store.crawl.summary import GraphNodeRow

_LONGEST_NAME = 110
_REFUSALS = (401, 403, 429)
_SHOWN = (UrlOutcome.OK, UrlOutcome.REDIRECT, UrlOutcome.BROKEN, UrlOutcome.BLOCKED)


def graph_html(summary: AuditSummary, words: Words) -> Iterator[str]:
    """The picture with its legend; nothing when there is no page."""
    if summary.graph is None or not summary.graph.nodes:
        return
    dots, _ = graph_dots(summary.graph)
    drawing = draw_page_graph(summary.graph, summary.crawl.start_url, words)
    yield f'<p class="lead">{escape(words.graph_lead)}</p>\n<div class="panel">{drawing.svg}\n<ul class="legend">'
    for outcome in _SHOWN:
        if count := sum(dot.outcome is outcome for dot in dots):
            shape = '<path d="M6 0l6 6l-6 6l-6 -6z"/>' if outcome is UrlOutcome.BROKEN else '<circle cx="6" cy="6" r="5.5"/>'
            name = escape(words.outcome_names[outcome])
            yield f'<li><svg class="{outcome}" viewBox="0 0 12 12">{shape}</svg>{name} <b>{count:,}</b></li>'
    yield "</ul>"
    notes = []
    if summary.pages > len(dots):
        drawn = words.count("page", len(dots)) if words.lang == "ja" else f"{len(dots):,}"
        notes.append(words.graph_bounded.format(drawn=drawn, pages=words.count("page", summary.pages)))
    if drawing.common:
        notes.append(words.graph_menu.format(pages=words.count("page", drawing.common)))
    if notes:
        yield f'<p class="note">{escape(" ".join(notes))}</p>'
    yield "</div>\n"


def draw_page_graph(graph: PageGraph, start_url: str, words: Words) -> GraphDrawing:
    """The picture alone, of a graph that has a page."""
    dots, pairs = graph_dots(graph)
    nodes = _in_order(graph.nodes)
    short = url_shortener(url_origin(start_url))
    names = [url_host(start_url) if short(node.url) == "/" else clip(short(node.url), _LONGEST_NAME) for node in nodes]
    hints = [_hint(node, name, words) for node, name in zip(nodes, names, strict=True)]
    return draw_dots(dots, pairs, names, hints, f"{words.graph}: {words.count('page', len(dots))}")


def _in_order(nodes: Sequence[GraphNodeRow]) -> list[GraphNodeRow]:
    """The start, which is the first that hangs from nothing, then by depth."""
    start = min(nodes, key=lambda node: (node.depth, -node.link_score, node.url))
    return sorted(nodes, key=lambda node: (node is not start, node.depth, node.url))


def graph_dots(graph: PageGraph) -> tuple[list[GraphDot], list[tuple[int, int]]]:
    """The pages as dots, and the links between them by their numbers."""
    nodes = _in_order(graph.nodes)
    by_id = {node.page_id: node for node in nodes}
    place = {node.page_id: number for number, node in enumerate(nodes)}
    dots = []
    for number, node in enumerate(nodes):
        above = by_id.get(node.parent_id) if node.parent_id is not None else None
        # What a redirect leads to is as deep as the redirect itself: it hangs from where that hangs.
        while above is not None and above.depth >= node.depth and above is not nodes[0]:
            above = by_id.get(above.parent_id) if above.parent_id is not None and above.parent_id != node.page_id else None
        parent = None if number == 0 else place[above.page_id] if above is not None else 0
        dots.append(GraphDot(node.url, parent, node.depth, _outcome(node), node.link_score))
    return dots, [(place[source], place[target]) for source, target in graph.links]


def _outcome(node: GraphNodeRow) -> UrlOutcome:
    code = node.status_code
    if node.status == "error" or code is None:
        return UrlOutcome.BROKEN
    if code in _REFUSALS:
        return UrlOutcome.BLOCKED
    return UrlOutcome.BROKEN if code >= 400 else UrlOutcome.REDIRECT if code >= 300 else UrlOutcome.OK


def _hint(node: GraphNodeRow, name: str, words: Words) -> str:
    status = str(node.status_code) if node.status_code is not None else words.no_answer
    links = words.count("link", node.inlinks or 0)
    facts = words.graph_hint.format(status=status, depth=node.depth, score=node.link_score, links=links)
    return "\n".join(line for line in (clip(printable(node.title or ""), 120), name, facts) if line)
