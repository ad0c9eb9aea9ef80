"""One page of a crawl with everything about it: response, texts, indexability, findings, links, resources, changes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from tadoru.i18n.stored_texts import failure_name, translate_reason
from tadoru.i18n.translation import N_, Formatter, translator
from tadoru.jobs.audit.compare.report_formats import CHANGE_NAMES, describe_change
from tadoru.jobs.audit.crawl_results import queries, run_comparison
from tadoru.jobs.audit.crawl_results.models import PageDetail, PageFinding
from tadoru.jobs.audit.crawl_results.run_comparison import PageDifferences
from tadoru.jobs.audit.report.messages import (
    INDEXABILITIES,
    describe_evidence,
    format_milliseconds,
    format_size,
    translate_name,
)
from tadoru.jobs.reporting.escape import clip, json_safe, printable
from tadoru.model.finding import Severity
from tadoru.serve.crawl_runner.crawl_tables import earlier_of
from tadoru.serve.problems import HttpProblem
from tadoru.serve.service import service_of
from tadoru.serve.web.crawls.results import crawl_tab, open_tab, render_tab
from tadoru.serve.web.crawls.view_models import bar_chart, status_colour, web_url
from tadoru.serve.web.rendering import formatter_of
from tadoru.serve.web.request_input import MAX_ID
from tadoru.store.crawl.findings import FindingRow as StoredFinding
from tadoru.store.crawl.tables import LINKS

router = APIRouter(include_in_schema=False)
MAX_JSON_LENGTH = 4000
MAX_RESOURCES = 50
_NUMBERS = {
    "word_count": N_("Word count"),
    "unique_inlinks": N_("Linking pages"),
    "outlinks": N_("Outlinks"),
    "external_outlinks": N_("External links"),
    "retry_count": N_("Retries"),
}
_TEXTS = {
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
    "segment": N_("Segment"),
}
_STEPS = {
    "dns_ms": N_("DNS lookup"), "connect_ms": N_("Connection"), "tls_ms": N_("TLS"), "ttfb_ms": N_("Time to first byte"),
    "download_time_ms": N_("Download"),
}  # fmt: skip
_RENDERED = {
    "title": N_("Title"), "description": N_("Meta description"), "canonical": N_("Canonical"), "language": N_("Language"),
    "h1": N_("First heading"), "robots": N_("Meta robots"), "words": N_("Word count"), "links": N_("Links"),
    "hreflang": N_("Language versions"), "structured_data": N_("Structured data"),
}  # fmt: skip


@crawl_tab(router, "pages/{page_id}")
def page_page(request: Request, crawl_id: int, page_id: int) -> Response:
    """One page of a crawl in detail."""
    opened = open_tab(request, crawl_id, "pages")
    crawl, path = opened.crawl, opened.path
    if not 0 < page_id < MAX_ID:
        raise HttpProblem(404)
    formatter = formatter_of(request)

    def read() -> dict[str, Any] | None:
        found = queries.read_page(path, page_id, lang=formatter.lang)
        if found is None:
            return None
        earlier = earlier_of(service_of(request), crawl, path) if crawl.job == "audit" else None
        compared = run_comparison.compare_page(earlier, path, found.summary.url, lang=formatter.lang) if earlier else None
        return _context(found, compared, formatter) | {"is_audit": crawl.job == "audit"}

    return render_tab(request, opened, "pages", "crawls/page.html", read)


def _context(page: PageDetail, compared: PageDifferences | None, formatter: Formatter) -> dict[str, Any]:
    translate, new = translator(formatter.lang), compared.new if compared is not None else frozenset()
    return {
        "page": page.summary, "facts": list(_facts(page, formatter)), "steps": _steps(page.facts, formatter),
        "headings": page.headings, "hops": page.redirects, "headers": page.headers, "hreflang": page.hreflang,
        "status_colour": status_colour, "web_url": web_url, "format_step": _format_step, "format_size": format_size,
        "format_milliseconds": format_milliseconds, "template_id": page.facts.get("template") or "",
        "found": [
            (one, _evidence(one, page, formatter.lang), (one.check.id, one.subject) in new)
            for one in sorted(page.findings, key=_severity_rank)
        ],
        "items": [(one.syntax, one.type, _json(one.properties)) for one in page.structured_data],
        "extracted": [(name, value if isinstance(value, str) else _json(value)) for name, value in page.extracted.items()],
        "inlinks": page.inlinks, "outlinks": page.outlinks,
        "parts": {name: formatter.gettext(label) for name, (label, _) in _landmarks().items()},
        "resources": page.resources[:MAX_RESOURCES], "more_resources": max(0, len(page.resources) - MAX_RESOURCES),
        "is_compared": compared is not None, "fixed": compared.fixed if compared is not None else (),
        "changes": [
            (translate(CHANGE_NAMES[one.kind]), describe_change(one, translate)) for one in compared.changes
        ] if compared is not None else [],
        **_rendering(page.facts.get("rendering") or {}, formatter),
    }  # fmt: skip


def _landmarks() -> Mapping[str, tuple[str, str]]:
    column = LINKS.column("landmark")
    return column.choices if column is not None else {}


def _rendering(found: Mapping[str, Any], formatter: Formatter) -> dict[str, Any]:
    """What a browser changed: rows of name, raw and rendered value; and what went wrong in it."""
    rows, differences = [], found.get("differences") or {}
    for name, label in _RENDERED.items():
        if isinstance(one := differences.get(name), dict):
            raw, rendered = (one["raw"], one["rendered"]) if "rendered" in one else (one.get("removed"), one.get("added"))
            rows.append((formatter.gettext(label), _plain(raw), _plain(rendered)))
    given = [found.get(name) for name in ("failed", "page_errors", "console_errors", "failed_resources", "refused_resources")]
    messages = [printable(str(text)) for one in given for text in (one if isinstance(one, list) else [one]) if text]
    return {"is_rendered": "differences" in found, "rendered": rows, "render_messages": messages[:20]}


def _plain(value: Any) -> str:
    return printable(", ".join(map(str, value)) if isinstance(value, list) else str(value if value is not None else ""))


def _severity_rank(one: PageFinding) -> int:
    return list(Severity).index(Severity(one.check.severity))


def _facts(page: PageDetail, formatter: Formatter) -> Iterator[tuple[str, str, str]]:
    """The details that are known: label, value, and the URL of a link."""
    _, one, facts = formatter.gettext, page.summary, page.facts
    for label, name, text in (("Title", "title", one.title), ("Meta description", "description", facts["meta_description"])):
        if text:
            yield _(label), _measured(str(text), facts, name, formatter), ""
    if one.redirect_url:
        yield _("Redirects to"), one.redirect_url, web_url(one.redirect_url)
    if one.skip_reason:
        yield _("Skipped because"), printable(translate_reason(one.skip_reason, formatter.translator)), ""
    if one.error_type or one.error_message:
        kind = formatter.translator.text(failure_name(one.error_type)) if one.error_type else ""
        yield _("Error"), printable(" · ".join(part for part in (kind, one.error_message) if part)), ""
    if one.indexability:
        yield _("Indexability"), " · ".join(part for part in _indexability(page, formatter) if part), ""
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
        if (value := facts.get(name)) and not (name == "cluster_url" and value == one.url):
            yield _(label), printable(str(value)), web_url(str(value)) if name.endswith(("url", "_http")) else ""
    if one.crawled_at:
        yield _("Crawled"), formatter.timestamp(one.crawled_at), ""


def _measured(text: str, facts: Mapping[str, Any], name: str, formatter: Formatter) -> str:
    """A text with its length in characters and pixels."""
    length, pixels = facts.get(f"{name}_length"), facts.get(f"{name}_pixels")
    if length is None or pixels is None:
        return printable(text)
    count, _ = formatter.number(length), formatter.gettext
    measured = _("{count} characters, {pixels} pixels", count=count, pixels=formatter.number(pixels))
    return f"{printable(text)} ({measured})"


def _indexability(page: PageDetail, formatter: Formatter) -> Iterator[str]:
    """Whether a page is indexable, the reason, and where that is written."""
    _, one, facts = formatter.gettext, page.summary, page.facts
    if one.indexability != "indexable":
        yield _("not indexable")
    yield translate_name(INDEXABILITIES, str(one.indexability), translator(formatter.lang))
    match one.indexability:
        case "noindex":
            for name in ("meta_robots", "x_robots_tag"):
                if "noindex" in str(facts.get(name) or "").lower() or "none" in str(facts.get(name) or "").lower():
                    yield f"{_(_TEXTS[name])}: {printable(str(facts[name]))}"
        case "canonicalised":
            yield printable(str(facts.get("canonical_url") or facts.get("canonical_http") or ""))
        case "blocked by robots.txt" if one.skip_reason:
            yield printable(translate_reason(one.skip_reason, formatter.translator))


def _steps(facts: Mapping[str, Any], formatter: Formatter) -> tuple[Any, ...]:
    """The phases of the request as bars of microseconds."""
    known = [(label, float(facts[name])) for name, label in _STEPS.items() if isinstance(facts.get(name), int | float)]
    return bar_chart((formatter.gettext(label), round(ms * 1000), "good", "") for label, ms in known)


def _format_step(microseconds: int) -> str:
    ms = microseconds / 1000
    return f"{ms:.1f} ms" if ms < 10 else format_milliseconds(ms)


def _evidence(one: PageFinding, page: PageDetail, lang: str) -> str:
    of = page.summary
    row = StoredFinding(0, of.id, of.url, one.subject, one.detail, one.data, of.depth, of.status_code, of.title)
    return describe_evidence(row, translator(lang))


def _json(value: Any) -> str:
    lines = clip(json.dumps(value, ensure_ascii=False, indent=1), MAX_JSON_LENGTH).split("\n")
    return "\n".join(json_safe(line) for line in lines)
