"""The DOT form: the link graph for Graphviz, a cluster for each depth, the colour from how a URL came out.

Nodes and links are written as they come, and no URL is kept. Graphviz joins the parts of a cluster that occurs twice, so the
order in which URLs come does not matter to the graph.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import TextIO

from tadoru.jobs.links.broken import status_words
from tadoru.jobs.links.report.base import LinksReport
from tadoru.jobs.links.report.figures import Figures
from tadoru.jobs.links.result import UrlInfo
from tadoru.jobs.report.escape import clip, printable, shortener
from tadoru.jobs.report.graph.dots import Outcome

_FILL = {
    Outcome.OK: "#d7ebe4",
    Outcome.REDIRECT: "#f6e3b5",
    Outcome.BROKEN: "#f4c4bb",
    Outcome.BLOCKED: "#dccdec",
    Outcome.UNREAD: "#eceeec",
}


def write_dot(report: LinksReport, out: TextIO) -> None:
    """Writes a `strict digraph`, in which Graphviz itself merges repeated links."""
    result = report.result
    figures = Figures.of(result)
    nodes = _Nodes(figures, shortener(figures.site), out)
    out.write(f"strict digraph {quoted(result.start_url)} {{\n")
    out.write('  graph [rankdir=LR, overlap=false, fontname="sans-serif"];\n')
    out.write('  node [shape=box, style="rounded,filled", fontname="sans-serif", fontsize=10, color="#8a979b"];\n')
    out.write('  edge [color="#8a979b80", arrowsize=0.6];\n')
    for depth, infos in groupby(result.internal_urls, key=lambda info: info.depth):
        nodes.write_cluster(f"depth {depth}", infos)
    if report.show_external:
        nodes.write_cluster("external", result.external_urls)
    nodes.end()
    for edge in report.edges():
        if edge.source in nodes and edge.target in nodes:
            style = " [style=dashed]" if "nofollow" in edge.rel.split() else ""
            out.write(f"  {quoted(edge.source)} -> {quoted(edge.target)}{style};\n")
    out.write("}\n")


class _Nodes:
    """Writes the nodes, and knows afterwards which ones there are: by their hashes, eight bytes each.

    That two of a million URLs share one happens once in many million graphs, and would draw one link too many.
    """

    def __init__(self, figures: Figures, short: Callable[[str], str], out: TextIO) -> None:
        self._figures, self._short, self._out = figures, short, out
        self._hashes = array("q")

    def write_cluster(self, name: str, infos: Iterable[UrlInfo]) -> None:
        out = self._out
        out.write(f'  subgraph {quoted("cluster " + name)} {{\n    label={quoted(name)}; color="#c9d1d0";\n')
        for info in infos:
            fill = _FILL[self._figures.outcome(info)]
            label = quoted(_entity_safe(clip(self._short(info.url), 60)))
            tip = quoted(_entity_safe(_tooltip(info)))
            out.write(f'    {quoted(info.url)} [label={label}, tooltip={tip}, fillcolor="{fill}"];\n')
            self._hashes.append(hash(info.url))
        out.write("  }\n")

    def end(self) -> None:
        """All nodes are written; only now may be asked which ones."""
        self._hashes = array("q", sorted(self._hashes))

    def __contains__(self, url: str) -> bool:
        wanted = hash(url)
        place = bisect_left(self._hashes, wanted)
        return place < len(self._hashes) and self._hashes[place] == wanted


def _tooltip(info: UrlInfo) -> str:
    status = status_words(info.status_code) if info.status_code is not None else "not requested"
    return f"{status} · {printable(info.title)}" if info.title else status


def quoted(text: str) -> str:
    """A DOT string: a quotation mark ends it, a backslash could escape that mark, and both are doubled out of harm's way."""
    escaped = printable(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _entity_safe(text: str) -> str:
    # Graphviz decodes HTML entities in labels.
    return text.replace("&", "&amp;")
