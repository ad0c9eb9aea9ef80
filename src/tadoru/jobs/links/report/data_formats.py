"""The formats for programs: CSV, JSON and DOT."""

from __future__ import annotations

import csv
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from typing import TextIO

from tadoru.clock import iso
from tadoru.i18n.translation import Translator
from tadoru.jobs.links.broken import format_status
from tadoru.jobs.links.report.figures import LinksFigures, LinksReport
from tadoru.jobs.links.result import FailedUrl, UrlInfo
from tadoru.jobs.reporting.build_formats import write_json_list
from tadoru.jobs.reporting.escape import clip, encode_json, printable, quote_dot, url_shortener
from tadoru.jobs.reporting.graph_layout import UrlOutcome

COLUMNS = (
    "url",
    "type",
    "depth",
    "parent_url",
    "status_code",
    "error",
    "discovered_at",
    "title",
    "content_type",
    "redirect_to",
    "not_fetched",
    "blocked",
)

Cell = str | int | None


def write_csv(report: LinksReport, out: TextIO) -> None:
    """Writes CSV: internal URLs, then external ones (failed ones even if external URLs are not shown), then other failures."""
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(COLUMNS)
    failed = {failure.url: failure for failure in report.result.failed_urls}
    for info in report.result.internal_urls:
        rows.writerow(_row(info, "internal", failed.pop(info.url, None)))
    for info in report.result.external_urls:
        failure = failed.pop(info.url, None)
        if report.show_external or failure is not None:
            rows.writerow(_row(info, "external", failure))
    for failure in failed.values():
        rows.writerow(_failed_row(failure))


def _row(info: UrlInfo, kind: str, failed: FailedUrl | None) -> list[Cell]:
    return [
        _csv_cell(info.url),
        kind,
        info.depth,
        _csv_cell(info.parent_url),
        info.status_code if info.status_code is not None or failed is None else failed.status_code,
        _csv_cell(failed.error_message) if failed else None,
        iso(info.discovered_at),
        _csv_cell(info.title),
        _csv_cell(info.content_type),
        _csv_cell(info.redirect_to),
        _csv_cell(info.not_fetched),
        _yes_no(failed),
    ]


def _failed_row(failed: FailedUrl) -> list[Cell]:
    row: list[Cell] = [_csv_cell(failed.url), "failed", None, _csv_cell(failed.parent_url), failed.status_code]
    return [*row, _csv_cell(failed.error_message), iso(failed.attempted_at), None, None, None, None, _yes_no(failed)]


def _yes_no(failed: FailedUrl | None) -> str | None:
    return None if failed is None else "yes" if failed.blocked else "no"


def _csv_cell(text: str | None) -> str | None:
    """A cell that no spreadsheet interprets as a formula; in Japanese full-width signs start formulas, too."""
    if not text:
        return None
    text = printable(text)
    return "'" + text if text.startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠")) else text


def write_json(report: LinksReport, out: TextIO) -> None:
    """Writes JSON, one URL a line; external URLs only if they are shown."""
    result = report.result.with_bad_links(report.broken)
    if not report.show_external:
        result = replace(result, external_urls=())
    separator = "{\n"
    for name, value in result.fields():
        out.write(f"{separator}  {encode_json(name)}: ")
        if isinstance(value, Iterator):
            write_json_list(value, out, "  ")
        else:
            out.write(encode_json(value))
        separator = ",\n"
    out.write(f'{separator}  "hosts": ')
    write_json_list((host.to_dict() for host in report.hosts()), out, "  ")
    out.write("\n}\n")


_FILL = {
    UrlOutcome.OK: "#d7ebe4",
    UrlOutcome.REDIRECT: "#f6e3b5",
    UrlOutcome.BROKEN: "#f4c4bb",
    UrlOutcome.BLOCKED: "#dccdec",
    UrlOutcome.UNREAD: "#eceeec",
}


def write_dot(report: LinksReport, out: TextIO) -> None:
    """Writes the link graph for Graphviz, with a cluster for each depth and colours by outcome.

    Nodes and links are streamed. Graphviz merges repeated links of a `strict digraph`, and clusters that occur twice.
    """
    result = report.result
    _, figures = report.translate, LinksFigures.of(result)
    nodes = _Nodes(figures, url_shortener(figures.site), _, out)
    out.write(f"strict digraph {quote_dot(result.start_url)} {{\n")
    out.write('  graph [rankdir=LR, overlap=false, fontname="sans-serif"];\n')
    out.write('  node [shape=box, style="rounded,filled", fontname="sans-serif", fontsize=10, color="#8a979b"];\n')
    out.write('  edge [color="#8a979b80", arrowsize=0.6];\n')
    for depth, infos in groupby(result.internal_urls, key=lambda info: info.depth):
        nodes.write_cluster(f"depth {depth}", _("depth {depth}", depth=depth), infos)
    if report.show_external:
        nodes.write_cluster("external", _("external"), result.external_urls)
    nodes.index()
    for edge in report.edges():
        if edge.source in nodes and edge.target in nodes:
            style = " [style=dashed]" if "nofollow" in edge.rel.split() else ""
            out.write(f"  {quote_dot(edge.source)} -> {quote_dot(edge.target)}{style};\n")
    out.write("}\n")


class _Nodes:
    """Writes the nodes, and keeps their hashes, eight bytes each, to look them up.

    A collision of hashes is very unlikely, and would draw one link too many.
    """

    def __init__(self, figures: LinksFigures, short: Callable[[str], str], translate: Translator, out: TextIO) -> None:
        self._figures, self._short, self._translate, self._out = figures, short, translate, out
        self._hashes = array("q")

    def write_cluster(self, name: str, label: str, infos: Iterable[UrlInfo]) -> None:
        """Writes some nodes as one cluster."""
        out = self._out
        out.write(f'  subgraph {quote_dot("cluster " + name)} {{\n    label={quote_dot(label)}; color="#c9d1d0";\n')
        for info in infos:
            fill = _FILL[self._figures.outcome(info)]
            node_label = quote_dot(_entity_safe(clip(self._short(info.url), 60)))
            tip = quote_dot(_entity_safe(_tooltip(info, self._translate)))
            out.write(f'    {quote_dot(info.url)} [label={node_label}, tooltip={tip}, fillcolor="{fill}"];\n')
            self._hashes.append(hash(info.url))
        out.write("  }\n")

    def index(self) -> None:
        """Makes the nodes searchable after all are written."""
        self._hashes = array("q", sorted(self._hashes))

    def __contains__(self, url: str) -> bool:
        wanted = hash(url)
        position = bisect_left(self._hashes, wanted)
        return position < len(self._hashes) and self._hashes[position] == wanted


def _tooltip(info: UrlInfo, _: Translator) -> str:
    status = format_status(info.status_code) if info.status_code is not None else _("not requested")
    return f"{status} · {printable(info.title)}" if info.title else status


def _entity_safe(text: str) -> str:
    # Graphviz decodes HTML entities in labels.
    return text.replace("&", "&amp;")
