"""The DOT format: the links between the pages of a site for Graphviz, with a cluster for each folder.

Graphviz cannot draw a million pages, so only the pages with the most inlinks are written; a comment has the number of the
others. Only those pages are kept in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import TextIO

from tadoru.jobs.reporting.escape import clip, first_directory, quote_dot, url_origin, url_shortener
from tadoru.store.crawl.export_reader import ExportNode

DEFAULT_NODES = 2000
_FILLS = ((200, "#d7ebe4"), (300, "#f6e3b5"), (400, "#f4c4bb"))
"""The colour of a node by its lowest status code."""
_UNREAD = "#eceeec"


def write_dot(
    nodes: Sequence[ExportNode], total: int, edges: Callable[[int], Iterable[tuple[int, bool]]], start: str, out: TextIO
) -> int:
    """Writes a `digraph`; returns the number of links. `edges`: the targets of a page, and whether the links are `nofollow`."""
    site = url_origin(start)
    out.write(f"digraph {quote_dot(start)} {{\n")
    if total > len(nodes):
        out.write(f"  // {total - len(nodes)} of {total} pages are left out: those with the fewest inlinks.\n")
    out.write('  graph [rankdir=LR, overlap=false, fontname="sans-serif"];\n')
    out.write('  node [shape=box, style="rounded,filled", fontname="sans-serif", fontsize=10, color="#8a979b"];\n')
    out.write('  edge [color="#8a979b80", arrowsize=0.6];\n')
    _write_clusters(nodes, site, out)
    names = {node.page_id: quote_dot(node.url) for node in nodes}
    links = 0
    for node in nodes:
        source = names[node.page_id]
        for target, nofollow in edges(node.page_id):
            if target in names:
                out.write(f"  {source} -> {names[target]}{' [style=dashed]' if nofollow else ''};\n")
                links += 1
        if node.redirect_id in names:
            out.write(f'  {source} -> {names[node.redirect_id]} [style=bold, label="redirect"];\n')
            links += 1
    out.write("}\n")
    return links


def _write_clusters(nodes: Sequence[ExportNode], site: str, out: TextIO) -> None:
    short = url_shortener(site)
    for folder, members in groupby(sorted(nodes, key=lambda node: (_folder(node.url), node.url)), lambda node: _folder(node.url)):
        label = _label(folder.removeprefix(site))
        out.write(f'  subgraph {quote_dot(f"cluster {folder}")} {{\n    label={label}; color="#c9d1d0";\n')
        for node in members:
            out.write(f"    {quote_dot(node.url)} [label={_label(clip(short(node.url), 60))}, ")
            out.write(f'tooltip={_label(_tooltip(node))}, fillcolor="{_fill(node.status_code)}"];\n')
        out.write("  }\n")


def _folder(url: str) -> str:
    """The folder of a page: its site and the first folder of its path."""
    return f"{url_origin(url)}{first_directory(url)}"


def _label(text: str) -> str:
    # Graphviz decodes HTML entities in labels.
    return quote_dot(text.replace("&", "&amp;"))


def _tooltip(node: ExportNode) -> str:
    facts = [str(node.status_code or "no response")]
    if node.title:
        facts.append(node.title)
    if node.link_score is not None:
        facts.append(f"link score {node.link_score:.1f}")
    return " · ".join(facts)


def _fill(code: int | None) -> str:
    return next((fill for least, fill in reversed(_FILLS) if code is not None and code >= least), _UNREAD)
