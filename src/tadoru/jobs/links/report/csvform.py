"""The CSV form: a header, then one row for every URL, with what went wrong in the same row."""

from __future__ import annotations

import csv
from typing import TextIO

from tadoru.clock import iso
from tadoru.jobs.links.report.base import LinksReport
from tadoru.jobs.links.result import FailedUrl, UrlInfo
from tadoru.jobs.report.escape import printable

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
    """Internal URLs, then external ones (those that failed also when the others are not shown), then any other failure."""
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
        _text(info.url),
        kind,
        info.depth,
        _text(info.parent_url),
        info.status_code if info.status_code is not None or failed is None else failed.status_code,
        _text(failed.error_message) if failed else None,
        iso(info.discovered_at),
        _text(info.title),
        _text(info.content_type),
        _text(info.redirect_to),
        _text(info.not_fetched),
        _yes_no(failed),
    ]


def _failed_row(failed: FailedUrl) -> list[Cell]:
    row: list[Cell] = [_text(failed.url), "failed", None, _text(failed.parent_url), failed.status_code]
    return [*row, _text(failed.error_message), iso(failed.attempted_at), None, None, None, None, _yes_no(failed)]


def _yes_no(failed: FailedUrl | None) -> str | None:
    return None if failed is None else "yes" if failed.blocked else "no"


def _text(text: str | None) -> str | None:
    """A cell no spreadsheet takes for a formula: those begin with one of these signs, and full-width ones count in Japanese."""
    if not text:
        return None
    text = printable(text)
    return "'" + text if text.startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠")) else text
