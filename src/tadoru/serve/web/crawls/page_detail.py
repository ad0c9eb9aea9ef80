"""One page of a crawl as our page shows it: facts in words, where the time went, findings with their evidence. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tadoru.jobs.audit.crawl_results.models import PageDetail, PageFinding
from tadoru.jobs.audit.report.messages import INDEXABILITIES, LANGUAGES, describe_evidence, format_milliseconds, format_size
from tadoru.jobs.reporting.escape import clip, json_safe, printable
from tadoru.model.finding import Severity
from tadoru.serve.web.calendar.view_models import Formatter, number
from tadoru.serve.web.crawls.view_models import bar_chart, web_url
from tadoru.store.crawl.findings import FindingRow

MAX_JSON_LENGTH = 4000
_TEXTS = ("meta_description", "h1", "meta_robots", "x_robots_tag", "canonical_url", "canonical_http", "language", "charset",
          "http_version", "server", "content_encoding", "etag", "next_url", "prev_url", "cluster_url")  # fmt: skip
_NUMBERS = ("word_count", "unique_inlinks", "outlinks", "external_outlinks", "retry_count")
_STEPS = ("dns_ms", "connect_ms", "tls_ms", "ttfb_ms", "download_time_ms")


def page_detail(page: PageDetail, telling: Formatter) -> dict[str, Any]:
    """What the template of a page needs."""
    return {
        "page": page.summary, "facts": list(_facts(page, telling)), "steps": _steps(page.facts, telling),
        "headings": page.headings,
        "hops": page.redirects, "headers": page.headers, "hreflang": page.hreflang, "kind_of": status_colour, "web": web_url,
        "found": [(one, _evidence(one, page, telling.lang))  for one in sorted(page.findings, key=_severity_rank)],
        "items": [(one.syntax, one.type, _json(one.properties)) for one in page.structured_data],
        "extracted": [(name, value if isinstance(value, str) else _json(value)) for name, value in page.extracted.items()],
        "inlinks": page.inlinks, "outlinks": page.outlinks, "size_words": format_size, "time_words": format_milliseconds,
        "step_words": _step_words,
    }  # fmt: skip


def _severity_rank(one: PageFinding) -> int:
    return list(Severity).index(Severity(one.check.severity))


def status_colour(status: str, code: int | None) -> str:
    """The colour of an answer."""
    if status == "error":
        return "bad"
    if code is None:
        return ""
    return "good" if code < 300 else "warn" if code < 400 else "bad"


def _facts(page: PageDetail, telling: Formatter) -> Iterator[tuple[str, str, str]]:
    """What there is to say: words, value, and where it leads when it is an address."""
    say, one, facts = telling.say, page.summary, page.facts
    if one.title:
        yield say("fact.title"), printable(one.title), ""
    if one.redirect_url:
        yield say("fact.redirect_url"), one.redirect_url, web_url(one.redirect_url)
    if one.skip_reason:
        yield say("fact.skip_reason"), printable(one.skip_reason), ""
    if one.error_type or one.error_message:
        yield say("fact.error"), printable(" · ".join(part for part in (one.error_type, one.error_message) if part)), ""
    if one.indexability:
        yield say("fact.indexability"), LANGUAGES[telling.lang].named(INDEXABILITIES, one.indexability), ""
    yield say("fact.depth"), str(one.depth) if one.depth is not None else say("fact.depth.none"), ""
    if one.content_type:
        yield say("fact.content_type"), printable(one.content_type), ""
    if one.size is not None:
        yield say("fact.size"), format_size(one.size), ""
    for name in _NUMBERS:
        if facts.get(name):
            yield say(f"fact.{name}"), number(int(facts[name])), ""
    if one.link_score is not None:
        yield say("fact.link_score"), f"{one.link_score:.0f}", ""
    for name in _TEXTS:
        if value := facts.get(name):
            yield say(f"fact.{name}"), printable(str(value)), web_url(str(value)) if name.endswith(("url", "_http")) else ""
    if one.crawled_at:
        yield say("fact.crawled_at"), telling.stamp(one.crawled_at), ""


def _steps(facts: Mapping[str, Any], telling: Formatter) -> tuple[Any, ...]:
    """Where the time went, as bars of microseconds."""
    known = [(name, float(facts[name])) for name in _STEPS if isinstance(facts.get(name), int | float)]
    return bar_chart((telling.say(f"fact.{name}"), round(ms * 1000), "good", "") for name, ms in known)


def _step_words(microseconds: int) -> str:
    ms = microseconds / 1000
    return f"{ms:.1f} ms" if ms < 10 else format_milliseconds(ms)


def _evidence(one: PageFinding, page: PageDetail, lang: str) -> str:
    of = page.summary
    row = FindingRow(0, of.id, of.url, one.subject, one.detail, one.data, of.depth, of.status_code, of.title)
    return describe_evidence(row, LANGUAGES[lang])


def _json(value: Any) -> str:
    lines = clip(json.dumps(value, ensure_ascii=False, indent=1), MAX_JSON_LENGTH).split("\n")
    return "\n".join(json_safe(line) for line in lines)
