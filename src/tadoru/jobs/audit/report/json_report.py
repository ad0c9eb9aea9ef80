"""The JSON format: stable names, one finding a line, streamed. docs/reference/report.md describes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime
from typing import Any, TextIO

from tadoru.clock import iso
from tadoru.i18n.translation import Translator
from tadoru.jobs.audit.report.audit_report import AuditReport, ReportedFinding
from tadoru.jobs.audit.report.messages import translate_check
from tadoru.jobs.audit.report.summary import TIME_BOUNDS, AuditSummary, CheckResult
from tadoru.jobs.reporting.escape import encode_json
from tadoru.model.finding import Severity
from tadoru.version import VERSION

SCHEMA = "tadoru-audit-report"
SCHEMA_VERSION = 1
INLINKS = 10
"""Inlinks listed of each page."""


def write_json(report: AuditReport, out: TextIO) -> None:
    """Writes the document: figures first, then all findings that are not suppressed."""
    separator = "{\n"
    for name, value in _fields(report):
        out.write(f"{separator}  {encode_json(name)}: {encode_json(value)}")
        separator = ",\n"
    out.write(f'{separator}  "findings": ')
    separator, end = "[\n", "[]"
    for item in _findings(report):
        out.write(f"{separator}    {item}")
        separator, end = ",\n", "\n  ]"
    out.write(f"{end}\n}}\n")


def _fields(report: AuditReport) -> Iterator[tuple[str, Any]]:
    summary = report.summary
    yield "schema", SCHEMA
    yield "schema_version", SCHEMA_VERSION
    yield "tadoru_version", VERSION
    yield "language", report.translate.lang
    yield "crawl", _crawl(summary)
    yield "score", summary.score
    yield "score_version", summary.score_version
    yield "pages", _pages(summary)
    yield "indexability", [{"reason": reason, "indexable": good, "pages": count} for reason, good, count in summary.indexability]
    yield "depths", [{"depth": depth, "pages": count} for depth, count in summary.depths]
    yield "response_times", _times(summary)
    yield (
        "totals",
        {
            "findings": sum(summary.count(severity) for severity in Severity),
            "suppressed": summary.suppressed,
            "severities": {
                severity: {"findings": summary.count(severity), "pages": summary.pages_with[severity]} for severity in Severity
            },
        },
    )
    yield "not_judged", [asdict(one) for one in summary.not_judged]
    yield "unused_suppressions", [{"line": entry.line, "text": entry.text} for entry in summary.unused]
    yield "checks", [_check(result, report.translate) for result in summary.results]
    yield from _lists(summary)


def _crawl(summary: AuditSummary) -> dict[str, Any]:
    crawl = summary.crawl
    return {
        "start_url": crawl.start_url,
        "started_at": _time(crawl.started),
        "ended_at": _time(crawl.ended),
        "outcome": crawl.outcome,
        "runs": crawl.runs,
        "tadoru_version": crawl.version,
    }


def _time(moment: datetime | None) -> str | None:
    return iso(moment, "seconds") if moment is not None else None


def _pages(summary: AuditSummary) -> dict[str, Any]:
    codes: dict[str, int] = {}
    for state in summary.states:
        if state.internal and state.status_code is not None:
            codes[str(state.status_code)] = codes.get(str(state.status_code), 0) + state.urls
    return {
        "requested": summary.pages,
        "waiting": summary.waiting,
        "indexable": summary.indexable,
        "unlinked": summary.unlinked,
        "classes": {name.replace(" ", "_"): count for name, count in summary.classes.items()},
        "status_codes": dict(sorted(codes.items())),
        "links": summary.links,
        "external_urls": summary.external,
    }


def _times(summary: AuditSummary) -> dict[str, Any]:
    times = summary.times
    bounds = (*TIME_BOUNDS, None)
    return {
        "count": times.count,
        "p50_ms": _ms(times.p50),
        "p90_ms": _ms(times.p90),
        "p99_ms": _ms(times.p99),
        "histogram": [{"up_to_ms": bound, "pages": count} for bound, count in zip(bounds, times.classes, strict=True)],
    }


def _ms(time: float | None) -> float | None:
    return round(time, 1) if time is not None else None


def _check(result: CheckResult, _: Translator) -> dict[str, Any]:
    check, text = result.check, translate_check(result.check, _)
    return {
        "id": check.id,
        "group": check.group,
        "severity": check.severity,
        "scope": result.scope,
        "title": text.title,
        "why": text.why,
        "fix": text.fix,
        "threshold": check.threshold.default if check.threshold else None,
        "unit": check.threshold.unit if check.threshold else None,
        "count": result.count,
        "suppressed": result.suppressed,
        "templates": [group._asdict() for group in result.templates],
        "segments": [group._asdict() for group in result.segments],
    }


def _lists(summary: AuditSummary) -> Iterator[tuple[str, Any]]:
    for name, pages in (("slowest", summary.slowest), ("largest", summary.largest)):
        yield (
            name,
            [
                {
                    "url": page.url,
                    "status_code": page.status_code,
                    "response_ms": _ms(page.response_ms),
                    "ttfb_ms": _ms(page.ttfb_ms),
                    "bytes": page.size,
                }
                for page in pages
            ],
        )
    yield (
        "redirects",
        {
            "count": summary.redirect_count,
            "first": [
                {"inlinks": row.inlinks, "hops": [{"url": hop.url, "status_code": hop.status_code} for hop in row.hops]}
                for row in summary.redirects
            ],
        },
    )
    yield "sitemaps", {**summary.sitemap_figures._asdict(), "first": [row._asdict() for row in summary.sitemaps]}
    yield (
        "near_duplicates",
        {
            "clusters": summary.cluster_count,
            "first": [{"pages": row.pages, "urls": list(row.urls)} for row in summary.clusters],
        },
    )
    yield (
        "traps",
        [{"pattern": trap.key, "reason": trap.why, "refused": trap.refused, "example": trap.example} for trap in summary.traps],
    )
    yield "skipped", [{"reason": reason, "urls": count} for reason, count in summary.skipped]


def _findings(report: AuditReport) -> Iterator[str]:
    """Each finding, encoded. The inlinks of a page are encoded once for all its findings."""
    page, links = 0, encode_json(_links(report, 0))
    for finding in report.findings():
        if finding.entry is not None:
            continue
        if finding.row.page_id != page:
            page = finding.row.page_id
            links = encode_json(_links(report, page))
        yield f"{encode_json(_finding(finding))[:-1]}, {links[1:]}"


def _finding(finding: ReportedFinding) -> dict[str, Any]:
    row, check = finding.row, finding.result.check
    return {
        "check": check.id,
        "severity": check.severity,
        "group": check.group,
        "url": row.url,
        "subject": row.subject,
        "detail": row.detail,
        "data": row.data,
        "status_code": row.status_code,
    }


def _links(report: AuditReport, page: int) -> dict[str, Any]:
    count, links = report.inlinks(page, INLINKS)
    return {
        "inlink_count": count,
        "inlinks": [
            {"url": link.source_url, "text": link.text, "rel": link.rel, "kind": link.kind, "landmark": link.landmark or None}
            for link in links
        ],
    }
