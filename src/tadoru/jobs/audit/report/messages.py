"""The messages that several formats of an audit report share: names of groups, units and severities, and whole sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from tadoru.i18n.formats import format_utc
from tadoru.i18n.stored_texts import translate_reason
from tadoru.i18n.translation import N_, Translator
from tadoru.jobs.audit.report.summary import AuditSummary, CheckResult
from tadoru.jobs.reporting.escape import clip, printable, url_host
from tadoru.jobs.reporting.formatting import format_duration
from tadoru.model.finding import Check, CheckText, Severity, Threshold
from tadoru.store.crawl.findings import FindingRow, Inlink

MAX_TEXT = 160
"""Characters shown of one piece of evidence."""

GROUPS: Mapping[str, str] = {
    "responses": N_("Response codes"),
    "redirects": N_("Redirects"),
    "urls": N_("URLs"),
    "titles": N_("Page titles"),
    "descriptions": N_("Meta descriptions"),
    "headings": N_("Headings"),
    "content": N_("Content"),
    "images": N_("Images"),
    "canonicals": N_("Canonicals"),
    "pagination": N_("Pagination"),
    "directives": N_("Directives"),
    "hreflang": N_("Languages (hreflang)"),
    "links": N_("Links"),
    "sitemaps": N_("Sitemaps"),
    "structured-data": N_("Structured data"),
    "security": N_("Security"),
    "html": N_("HTML"),
    "resources": N_("Resources"),
    "site": N_("Site-wide"),
    "performance": N_("Performance"),
    "rendering": N_("JavaScript"),
    "plugins": N_("Plugins"),
}
INDEXABILITIES: Mapping[str, str] = {
    "indexable": N_("Indexable"),
    "noindex": N_("noindex"),
    "canonicalised": N_("Canonicalised to another URL"),
    "redirected": N_("Redirected"),
    "client error": N_("Client error (4xx)"),
    "server error": N_("Server error (5xx)"),
    "no response": N_("No response"),
    "no content": N_("No content"),
    "blocked by robots.txt": N_("Blocked by robots.txt"),
}
"""Names of the reasons that are stored in the database."""
UNITS: Mapping[str, str] = {
    "bytes": N_("bytes"),
    "characters": N_("characters"),
    "elements": N_("elements"),
    "files": N_("files"),
    "links": N_("links"),
    "parameters": N_("parameters"),
    "percent": "%",
    "pixels": N_("pixels"),
    "scripts": N_("scripts"),
    "seconds": N_("seconds"),
    "words": N_("words"),
    "clicks": N_("clicks"),
    "redirects": N_("redirects"),
    "URLs": N_("URLs"),
    "words, two Chinese or Japanese characters counted as one": N_("words (two Chinese or Japanese characters count as one)"),
    "characters, full-width ones counted twice": N_("characters (full-width characters count twice)"),
    "pages": N_("pages"),
}
EVIDENCE: Mapping[str, str] = {
    "count": N_("count"),
    "length": N_("length"),
    "limit": N_("limit"),
    "pixels": N_("pixels"),
    "words": N_("word count"),
    "seconds": N_("seconds"),
    "size": N_("bytes"),
    "percent": "%",
    "status": N_("status"),
    "source": N_("found in"),
    "message": N_("message"),
    "characters": N_("character count"),
    "html": N_("in HTML"),
    "hops": N_("redirect count"),
    "clicks": N_("click depth"),
    "pages": N_("page count"),
    "sitemaps": N_("sitemap count"),
    "named_by": N_("listed in"),
    "median": N_("median"),
    "percentile": N_("percentile"),
}
"""Names of the data of a finding."""
SEVERITIES: Mapping[Severity, str] = {
    Severity.ERROR: N_("Error"),
    Severity.WARNING: N_("Warning"),
    Severity.NOTICE: N_("Notice"),
    Severity.INFO: N_("Info"),
}
SEVERITY_HEADINGS: Mapping[Severity, str] = {
    Severity.ERROR: N_("Errors"),
    Severity.WARNING: N_("Warnings"),
    Severity.NOTICE: N_("Notices"),
    Severity.INFO: N_("Info"),
}
_GRADES = ((90, N_("Very good")), (75, N_("Good")), (50, N_("Needs work")), (0, N_("Poor")))
_RESPONSE_CLASSES = {"no answer": N_("No response"), "not requested": N_("Not requested"), "waiting": N_("Queued")}


def translate_name(names: Mapping[str, str], name: str, _: Translator) -> str:
    """One of the names that are stored in English; a name that is not in the table is shown as it is."""
    known = names.get(name)
    return printable(_(known) if known is not None else name.replace("-", " "))


def translate_check(check: Check, _: Translator) -> CheckText:
    """The title, reason and fix of a check."""
    return CheckText(*map(printable, _.check(check)))


def score_grade(score: float, _: Translator) -> str:
    """The grade of a score: very good, good, needs work or poor."""
    return _(next(grade for least, grade in _GRADES if score >= least))


def response_class_name(name: str, _: Translator) -> str:
    """The name of a class of `AuditSummary.classes`. Classes of status codes have no other name."""
    return _(_RESPONSE_CLASSES[name]) if name in _RESPONSE_CLASSES else name


def site_name(summary: AuditSummary) -> str:
    """The host of the site, with its port."""
    return url_host(summary.crawl.start_url)


def describe_crawl(summary: AuditSummary, _: Translator) -> str:
    """When the site was crawled, and how long that took."""
    crawl, parts = summary.crawl, []
    if crawl.started is not None:
        parts.append(_("Crawled on {date}", date=format_utc(crawl.started, _.lang)))
        if crawl.ended is not None:
            parts.append(_("took {duration}", duration=format_duration((crawl.ended - crawl.started).total_seconds(), _)))
    if crawl.runs > 1:
        parts.append(_("run {number}", number=crawl.runs))
    return " · ".join(parts)


def describe_unfinished(summary: AuditSummary, _: Translator) -> str:
    """A warning if not everything was crawled; empty otherwise."""
    outcome, waiting = summary.crawl.outcome, summary.waiting
    if outcome == "interrupted":
        return _.ngettext(
            "The crawl was interrupted; {count} known URL not crawled. This report covers what is known so far.",
            "The crawl was interrupted; {count} known URLs not crawled. This report covers what is known so far.",
            waiting,
        )
    if outcome == "limit" and waiting:
        return _.ngettext(
            "Stopped at the page limit; {count} known URL not crawled.",
            "Stopped at the page limit; {count} known URLs not crawled.",
            waiting,
        )
    if outcome == "time" and waiting:
        return _.ngettext(
            "Stopped at the time limit; {count} known URL not crawled.",
            "Stopped at the time limit; {count} known URLs not crawled.",
            waiting,
        )
    if not waiting and not (outcome is None and summary.crawl.runs):
        return ""
    return _.ngettext(
        "The crawl is not finished; {count} known URL not crawled yet. This report covers what is known so far.",
        "The crawl is not finished; {count} known URLs not crawled yet. This report covers what is known so far.",
        waiting,
    )


def describe_exclusions(summary: AuditSummary, _: Translator) -> Iterator[str]:
    """What the crawl skipped, and what was suppressed."""
    for stored, count in summary.skipped:
        reason = _stored_reason(stored, _)
        yield _.ngettext("{count} URL skipped: {reason}.", "{count} URLs skipped: {reason}.", count, reason=reason)
    for trap in summary.traps:
        text = f"{printable(trap.key)} ({_stored_reason(trap.why, _)})"
        skipped = _.ngettext("{trap}, {count} URL skipped", "{trap}, {count} URLs skipped", trap.refused, trap=text)
        yield _("Crawler trap: {trap}", trap=skipped)
    if summary.suppressed:
        yield _.ngettext("{count} known finding suppressed.", "{count} known findings suppressed.", summary.suppressed)


def _stored_reason(reason: str, _: Translator) -> str:
    """A reason as the database has it, translated if it is known."""
    return printable(translate_reason(reason, _)).rstrip(".")


def describe_suppressed(result: CheckResult, _: Translator) -> str:
    """How many findings of a check are suppressed, and why."""
    reasons = printable("; ".join(result.reasons))
    return _("{count} suppressed: {reasons}", count=_.number(result.suppressed), reasons=reasons)


def describe_groups(result: CheckResult, short: Callable[[str], str], _: Translator) -> list[str]:
    """The templates and the segments of the site that a check applies to, with their numbers of findings."""
    lines = []
    if result.templates:
        named = (f"{group.name} ({_.number(group.findings)}; {short(group.example)})" for group in result.templates)
        lines.append(_("Templates: {groups}", groups=printable(", ".join(named))))
    if result.segments:
        named = (f"{group.name} ({_.number(group.findings)})" for group in result.segments)
        lines.append(_("Segments: {groups}", groups=printable(", ".join(named))))
    return lines


def format_finding_count(count: int, _: Translator) -> str:
    """`1 finding`, `2,000 findings`."""
    return _.ngettext("{count} finding", "{count} findings", count)


def format_page_count(count: int, _: Translator) -> str:
    """`1 page`, `2,000 pages`."""
    return _.ngettext("{count} page", "{count} pages", count)


def describe_hidden(count: int, _: Translator) -> str:
    """How many more there are than are shown."""
    return _("and {count} more", count=_.number(count))


def describe_hidden_before_command(count: int, _: Translator) -> str:
    """How many more findings there are; the command that lists them follows."""
    return _("{count} more. To list them, run:", count=_.number(count))


def describe_evidence(row: FindingRow, _: Translator) -> str:
    """The evidence of a finding in one line."""
    facts = ", ".join(_facts(row, _))
    detail = clip(printable(row.detail), 2 * MAX_TEXT)
    subject = clip(printable(row.subject), 2 * MAX_TEXT) if row.page_id and row.subject != row.detail else ""
    return " · ".join(part for part in (subject, detail, facts) if part)


def _facts(row: FindingRow, _: Translator) -> Iterator[str]:
    for name, value in row.data.items():
        if isinstance(value, list | tuple):
            others = [clip(printable(str(each)), MAX_TEXT) for each in value if each != row.detail]
            if others:
                yield _("e.g. {examples}", examples=" · ".join(others))
        elif name == "count" and isinstance(value, int):
            if value != 1:
                yield _.ngettext("{count} occurrence", "{count} occurrences", value)
        else:
            yield f"{translate_name(EVIDENCE, name, _)} {clip(printable(format_amount(value, _)), MAX_TEXT)}"


def format_amount(value: object, _: Translator) -> str:
    """A number with separators; anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return _.number(int(value) if isinstance(value, float) and value.is_integer() else value)


def describe_threshold(threshold: Threshold, _: Translator) -> str:
    """The threshold of a check with its unit."""
    unit = translate_name(UNITS, threshold.unit, _)
    return _("Threshold: {limit}", limit=f"{format_amount(threshold.default, _)} {unit}".strip())


def describe_inlink(link: Inlink, name: str) -> str:
    """A page that links, the anchor text of the link, and where it stands if that is not the content."""
    text = clip(printable(link.text), 80)
    place = f" ({link.landmark})" if link.landmark not in ("", "content") else ""
    return f"{name} “{text}”{place}" if text else f"{name}{place}"


def format_size(size: float) -> str:
    """`512 B`, `34.1 kB`, `2.3 MB`."""
    if size < 1000:
        return f"{size:.0f} B"
    return f"{size / 1000:.1f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"


def format_milliseconds(ms: float) -> str:
    """`120 ms`, `1.24 s`."""
    return f"{ms:.0f} ms" if ms < 1000 else f"{ms / 1000:.2f} s"


def format_time_bound(ms: int) -> str:
    """`200 ms`, `2 s`."""
    return f"{ms} ms" if ms < 1000 else f"{ms / 1000:g} s"
