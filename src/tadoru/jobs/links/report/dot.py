"""The DOT form: the link graph for Graphviz, a cluster for each depth, the colour from how a URL came out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby
from typing import TextIO

from tadoru.jobs.links.broken import status_words
from tadoru.jobs.links.report.base import LinksReport
from tadoru.jobs.links.report.escape import clip, printable, shortener
from tadoru.jobs.links.report.figures import Figures, Outcome
from tadoru.jobs.links.result import UrlInfo

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
    short = shortener(result.start_url, (info.url for info in result.internal_urls))
    figures = Figures.of(result)
    out.write(f"strict digraph {quoted(result.start_url)} {{\n")
    out.write('  graph [rankdir=LR, overlap=false, fontname="sans-serif"];\n')
    out.write('  node [shape=box, style="rounded,filled", fontname="sans-serif", fontsize=10, color="#8a979b"];\n')
    out.write('  edge [color="#8a979b80", arrowsize=0.6];\n')
    ordered = sorted(result.internal_urls, key=lambda info: (info.depth, info.url))
    for depth, infos in groupby(ordered, key=lambda info: info.depth):
        _write_cluster(f"depth {depth}", infos, figures, short, out)
    if report.show_external:
        _write_cluster("external", sorted(result.external_urls, key=lambda info: info.url), figures, short, out)
    known = {info.url for info in result.internal_urls}
    if report.show_external:
        known.update(info.url for info in result.external_urls)
    for edge in report.edges():
        if edge.source in known and edge.target in known:
            style = " [style=dashed]" if "nofollow" in edge.rel.split() else ""
            out.write(f"  {quoted(edge.source)} -> {quoted(edge.target)}{style};\n")
    out.write("}\n")


def _write_cluster(name: str, infos: Iterable[UrlInfo], figures: Figures, short: Callable[[str], str], out: TextIO) -> None:
    out.write(f'  subgraph {quoted("cluster " + name)} {{\n    label={quoted(name)}; color="#c9d1d0";\n')
    for info in infos:
        fill = _FILL[figures.outcome(info)]
        label = quoted(_entity_safe(clip(short(info.url), 60)))
        tip = quoted(_entity_safe(_tooltip(info)))
        out.write(f'    {quoted(info.url)} [label={label}, tooltip={tip}, fillcolor="{fill}"];\n')
    out.write("  }\n")


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
