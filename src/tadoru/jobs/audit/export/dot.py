"""The DOT export of a crawl: the links between the pages of a site, with a cluster for each folder.

Graphviz cannot draw a million pages, so only the pages with the most inlinks are written; a comment has the number of the
others. Only those pages are kept in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import TextIO

from tadoru.jobs.reporting import dot
from tadoru.jobs.reporting.escape import first_directory, url_origin, url_shortener
from tadoru.store.crawl.export_reader import ExportNode

DEFAULT_NODES = 2000


def write_dot(
    nodes: Sequence[ExportNode], total: int, edges: Callable[[int], Iterable[tuple[int, bool]]], start: str, out: TextIO
) -> int:
    """Writes a `digraph`; returns the number of links. `edges`: the targets of a page, and whether the links are `nofollow`."""
    graph = dot.DotWriter(start, out)
    if total > len(nodes):
        graph.comment(f"{total - len(nodes)} of {total} pages are left out: those with the fewest inlinks.")
    site = url_origin(start)
    short = url_shortener(site)
    for folder, members in groupby(sorted(nodes, key=lambda node: (_folder(node.url), node.url)), lambda node: _folder(node.url)):
        boxes = (dot.DotNode(node.url, short(node.url), _tooltip(node), _colour(node.status_code)) for node in members)
        graph.cluster(folder, folder.removeprefix(site), boxes)
    urls = {node.page_id: node.url for node in nodes}
    links = 0
    for node in nodes:
        for target, nofollow in edges(node.page_id):
            if target in urls:
                graph.link(node.url, urls[target], "style=dashed" if nofollow else "")
                links += 1
        if node.redirect_id in urls:
            graph.link(node.url, urls[node.redirect_id], 'style=bold, label="redirect"')
            links += 1
    graph.end()
    return links


def _folder(url: str) -> str:
    """The folder of a page: its site and the first folder of its path."""
    return f"{url_origin(url)}{first_directory(url)}"


def _tooltip(node: ExportNode) -> str:
    facts = [str(node.status_code or "no response")]
    if node.title:
        facts.append(node.title)
    if node.link_score is not None:
        facts.append(f"link score {node.link_score:.1f}")
    return " · ".join(facts)


def _colour(code: int | None) -> str:
    if code is None or code < 200:
        return dot.UNREAD
    return dot.OK if code < 300 else dot.REDIRECT if code < 400 else dot.BROKEN
