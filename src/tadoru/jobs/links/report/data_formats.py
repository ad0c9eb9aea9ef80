"""The formats for programs: CSV, JSON and DOT."""

from __future__ import annotations

import csv
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from typing import TextIO

from tadoru.clock import iso
from tadoru.i18n.translation import Translator
from tadoru.jobs.links.broken import format_status
from tadoru.jobs.links.report.figures import LinksFigures, LinksReport
from tadoru.jobs.links.result import FailedUrl, UrlInfo
from tadoru.jobs.reporting import dot
from tadoru.jobs.reporting.build_formats import write_json_list
from tadoru.jobs.reporting.escape import encode_json, printable, url_shortener
from tadoru.jobs.reporting.graph_svg import UrlOutcome

COLUMNS = tuple(
    "url type depth parent_url status_code error discovered_at title content_type redirect_to not_fetched blocked".split()
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


_COLOURS = {
    UrlOutcome.OK: dot.OK,
    UrlOutcome.REDIRECT: dot.REDIRECT,
    UrlOutcome.BROKEN: dot.BROKEN,
    UrlOutcome.BLOCKED: dot.BLOCKED,
    UrlOutcome.UNREAD: dot.UNREAD,
}


def write_dot(report: LinksReport, out: TextIO) -> None:
    """Writes the link graph for Graphviz, with a cluster for each depth and colours by outcome. Nodes and links are streamed."""
    result, _ = report.result, report.translate
    figures, drawn = LinksFigures.of(result), _HashedUrls()
    short = url_shortener(figures.site)

    def nodes(infos: Iterable[UrlInfo]) -> Iterator[dot.DotNode]:
        for info in infos:
            drawn.add(info.url)
            yield dot.DotNode(info.url, short(info.url), _tooltip(info, _), _COLOURS[figures.outcome(info)])

    graph = dot.DotWriter(result.start_url, out, is_strict=True)
    for depth, infos in groupby(result.internal_urls, key=lambda info: info.depth):
        graph.cluster(f"depth {depth}", _("depth {depth}", depth=depth), nodes(infos))
    if report.show_external:
        graph.cluster("external", _("external"), nodes(result.external_urls))
    drawn.sort()
    for edge in report.edges():
        if edge.source in drawn and edge.target in drawn:
            graph.link(edge.source, edge.target, "style=dashed" if "nofollow" in edge.rel.split() else "")
    graph.end()


class _HashedUrls:
    """The hashes of URLs, eight bytes each. A collision is very unlikely, and would draw one link too many."""

    def __init__(self) -> None:
        self._hashes = array("q")

    def add(self, url: str) -> None:
        self._hashes.append(hash(url))

    def sort(self) -> None:
        """Makes the URLs searchable after all are added."""
        self._hashes = array("q", sorted(self._hashes))

    def __contains__(self, url: str) -> bool:
        wanted = hash(url)
        position = bisect_left(self._hashes, wanted)
        return position < len(self._hashes) and self._hashes[position] == wanted


def _tooltip(info: UrlInfo, _: Translator) -> str:
    status = format_status(info.status_code) if info.status_code is not None else _("not requested")
    return f"{status} · {printable(info.title)}" if info.title else status
