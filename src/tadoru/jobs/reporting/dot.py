"""The DOT format of Graphviz: the pages of a site as boxes in clusters, and the links between them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TextIO

from tadoru.jobs.reporting.escape import clip, quote_dot

OK, REDIRECT, BROKEN, BLOCKED, UNREAD = "#d7ebe4", "#f6e3b5", "#f4c4bb", "#dccdec", "#eceeec"
"""The colours of boxes."""
_LONGEST_LABEL = 60


class DotNode(NamedTuple):
    """A page as a box."""

    url: str
    label: str
    tooltip: str
    colour: str


class DotWriter:
    """Writes a graph piece by piece: its clusters, then its links, then its end."""

    def __init__(self, name: str, out: TextIO, *, is_strict: bool = False) -> None:
        """`is_strict`: Graphviz merges repeated links, and clusters that occur twice."""
        self._out = out
        out.write(f"{'strict ' if is_strict else ''}digraph {quote_dot(name)} {{\n")
        out.write('  graph [rankdir=LR, overlap=false, fontname="sans-serif"];\n')
        out.write('  node [shape=box, style="rounded,filled", fontname="sans-serif", fontsize=10, color="#8a979b"];\n')
        out.write('  edge [color="#8a979b80", arrowsize=0.6];\n')

    def comment(self, text: str) -> None:
        """A line for people who read the file."""
        self._out.write(f"  // {text}\n")

    def cluster(self, name: str, label: str, nodes: Iterable[DotNode]) -> None:
        """Boxes in a frame."""
        out = self._out
        out.write(f'  subgraph {quote_dot(f"cluster {name}")} {{\n    label={_label(label)}; color="#c9d1d0";\n')
        for node in nodes:
            label = _label(clip(node.label, _LONGEST_LABEL))
            tooltip = _label(node.tooltip)
            out.write(f'    {quote_dot(node.url)} [label={label}, tooltip={tooltip}, fillcolor="{node.colour}"];\n')
        out.write("  }\n")

    def link(self, source: str, target: str, attributes: str = "") -> None:
        """A link between two boxes."""
        self._out.write(f"  {quote_dot(source)} -> {quote_dot(target)}{f' [{attributes}]' if attributes else ''};\n")

    def end(self) -> None:
        """After all links."""
        self._out.write("}\n")


def _label(text: str) -> str:
    # Graphviz decodes HTML entities in labels.
    return quote_dot(text.replace("&", "&amp;"))
