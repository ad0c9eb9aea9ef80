"""The picture of a site: its most telling pages and the links between them, as values or as SVG."""

from __future__ import annotations

import re
from pathlib import Path

from tadoru.jobs.audit.reading.unchanged import kept_while_unchanged
from tadoru.jobs.audit.reading.values import Node, SiteGraph
from tadoru.jobs.audit.report.html_graph import picture
from tadoru.jobs.audit.report.language import LANGUAGES
from tadoru.jobs.audit.report.summary import Graph
from tadoru.jobs.report.graph.picture import Drawing
from tadoru.store.read_only import looking_at
from tadoru.store.summary import NodeRow

MOST = 300
MOST_EVER = 1000
_SHARE_OF_BROKEN = 5
_PAINT: dict[str, dict[str, str]] = {
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


def graph(path: Path | str, *, most: int = MOST) -> SiteGraph:
    """The pages that most leads to, some that are broken, and the way to each."""
    start, nodes, links = _read(path, min(most, MOST_EVER))
    return SiteGraph(
        start_url=start,
        nodes=tuple(
            Node(
                id=node.page_id, url=node.url, title=node.title, depth=node.depth, parent_id=node.parent_id, status=node.status,
                status_code=node.status_code, link_score=node.link_score, inlinks=node.inlinks,
            )
            for node in nodes
        ),
        edges=tuple(links),
    )  # fmt: skip


def draw(path: Path | str, *, most: int = MOST, lang: str = "en") -> Drawing | None:
    """The picture; None when there is no page yet. Its colours come from a style sheet, by class names."""
    start, nodes, links = _read(path, min(most, MOST_EVER))
    return picture(Graph(tuple(nodes), tuple(links)), start, LANGUAGES[lang]) if nodes else None


def standing_alone(svg: str) -> str:
    """The picture as a file of its own: with its colours in it, as attributes, because a style would not be allowed."""
    colours = re.sub(r'class="([a-z ]+)"', lambda found: f"{found[0]}{_painted(found[1].split())}", svg)
    return colours.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)


def _painted(classes: list[str]) -> str:
    paint: dict[str, str] = {}
    for name in classes:
        paint |= _PAINT.get(name, {})
    return "".join(f' {name}="{value}"' for name, value in paint.items())


@kept_while_unchanged
def _read(path: Path | str, most: int) -> tuple[str, list[NodeRow], list[tuple[int, int]]]:
    with looking_at(path) as crawl:
        nodes = crawl.nodes(most, most // _SHARE_OF_BROKEN)
        return crawl.start_url() or "", nodes, crawl.links_between(node.page_id for node in nodes)
