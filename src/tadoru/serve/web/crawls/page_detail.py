"""The view of one page of a crawl: details, timing, findings with their evidence, links."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tadoru.i18n.formatter import Formatter
from tadoru.i18n.stored_texts import failure_name, translate_reason
from tadoru.i18n.translation import N_, translator
from tadoru.jobs.audit.crawl_results.models import PageDetail, PageFinding
from tadoru.jobs.audit.report.messages import INDEXABILITIES, describe_evidence, format_milliseconds, format_size, translate_name
from tadoru.jobs.reporting.escape import clip, json_safe, printable
from tadoru.model.finding import Severity
from tadoru.serve.web.crawls.view_models import bar_chart, web_url
from tadoru.store.crawl.findings import FindingRow

MAX_JSON_LENGTH = 4000
_NUMBERS = {
    "word_count": N_("Word count"),
    "unique_inlinks": N_("Linking pages"),
    "outlinks": N_("Outlinks"),
    "external_outlinks": N_("External links"),
    "retry_count": N_("Retries"),
}
_TEXTS = {
    "meta_description": N_("Meta description"),
    "h1": N_("First heading"),
    "meta_robots": N_("Meta robots"),
    "x_robots_tag": N_("X-Robots-Tag"),
    "canonical_url": N_("Canonical"),
    "canonical_http": N_("Canonical (header)"),
    "language": N_("Language"),
    "charset": N_("Character set"),
    "http_version": N_("HTTP version"),
    "server": N_("Server"),
    "content_encoding": N_("Compression"),
    "etag": N_("ETag"),
    "next_url": N_("Next page"),
    "prev_url": N_("Previous page"),
    "cluster_url": N_("Near-duplicate of"),
}
_STEPS = {
    "dns_ms": N_("DNS lookup"), "connect_ms": N_("Connection"), "tls_ms": N_("TLS"), "ttfb_ms": N_("Time to first byte"),
    "download_time_ms": N_("Download"),
}  # fmt: skip


def page_detail(page: PageDetail, formatter: Formatter) -> dict[str, Any]:
    """The context of the template."""
    return {
        "page": page.summary, "facts": list(_facts(page, formatter)), "steps": _steps(page.facts, formatter),
        "headings": page.headings, "hops": page.redirects, "headers": page.headers, "hreflang": page.hreflang,
        "status_colour": status_colour, "web_url": web_url, "format_step": _format_step, "format_size": format_size,
        "format_milliseconds": format_milliseconds,
        "found": [(one, _evidence(one, page, formatter.lang))  for one in sorted(page.findings, key=_severity_rank)],
        "items": [(one.syntax, one.type, _json(one.properties)) for one in page.structured_data],
        "extracted": [(name, value if isinstance(value, str) else _json(value)) for name, value in page.extracted.items()],
        "inlinks": page.inlinks, "outlinks": page.outlinks,
    }  # fmt: skip


def _severity_rank(one: PageFinding) -> int:
    return list(Severity).index(Severity(one.check.severity))


def status_colour(status: str, code: int | None) -> str:
    """The colour of a status code."""
    if status == "error":
        return "bad"
    if code is None:
        return ""
    return "good" if code < 300 else "warn" if code < 400 else "bad"


def _facts(page: PageDetail, formatter: Formatter) -> Iterator[tuple[str, str, str]]:
    """The details that are known: label, value, and the URL of a link."""
    _, one, facts = formatter.gettext, page.summary, page.facts
    if one.title:
        yield _("Title"), printable(one.title), ""
    if one.redirect_url:
        yield _("Redirects to"), one.redirect_url, web_url(one.redirect_url)
    if one.skip_reason:
        yield _("Skipped because"), printable(translate_reason(one.skip_reason, formatter.translator)), ""
    if one.error_type or one.error_message:
        kind = formatter.translator.text(failure_name(one.error_type)) if one.error_type else ""
        yield _("Error"), printable(" · ".join(part for part in (kind, one.error_message) if part)), ""
    if one.indexability:
        yield _("Indexability"), translate_name(INDEXABILITIES, one.indexability, translator(formatter.lang)), ""
    yield _("Depth"), str(one.depth) if one.depth is not None else _("no inlinks"), ""
    if one.content_type:
        yield _("Content type"), printable(one.content_type), ""
    if one.size is not None:
        yield _("Size"), format_size(one.size), ""
    for name, label in _NUMBERS.items():
        if facts.get(name):
            yield _(label), formatter.number(int(facts[name])), ""
    if one.link_score is not None:
        yield _("Link score"), f"{one.link_score:.0f}", ""
    for name, label in _TEXTS.items():
        if value := facts.get(name):
            yield _(label), printable(str(value)), web_url(str(value)) if name.endswith(("url", "_http")) else ""
    if one.crawled_at:
        yield _("Crawled"), formatter.timestamp(one.crawled_at), ""


def _steps(facts: Mapping[str, Any], formatter: Formatter) -> tuple[Any, ...]:
    """The phases of the request as bars of microseconds."""
    known = [(label, float(facts[name])) for name, label in _STEPS.items() if isinstance(facts.get(name), int | float)]
    return bar_chart((formatter.gettext(label), round(ms * 1000), "good", "") for label, ms in known)


def _format_step(microseconds: int) -> str:
    ms = microseconds / 1000
    return f"{ms:.1f} ms" if ms < 10 else format_milliseconds(ms)


def _evidence(one: PageFinding, page: PageDetail, lang: str) -> str:
    of = page.summary
    row = FindingRow(0, of.id, of.url, one.subject, one.detail, one.data, of.depth, of.status_code, of.title)
    return describe_evidence(row, translator(lang))


def _json(value: Any) -> str:
    lines = clip(json.dumps(value, ensure_ascii=False, indent=1), MAX_JSON_LENGTH).split("\n")
    return "\n".join(json_safe(line) for line in lines)
