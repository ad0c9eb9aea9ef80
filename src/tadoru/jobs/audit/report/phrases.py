"""Pieces that several forms say in the same words: the site, the time, evidence, sizes, and what the crawl left out."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from tadoru.jobs.audit.report.summary import Summary
from tadoru.jobs.audit.report.texts import EVIDENCE, UNITS, Words
from tadoru.jobs.report.escape import clip, printable
from tadoru.jobs.report.words import duration_words
from tadoru.model.finding import Threshold
from tadoru.store.found import FoundRow, Inlink

LONGEST_TEXT = 160


def site_name(summary: Summary) -> str:
    """The host of the site, with its port."""
    return host_of(summary.crawl.start_url)


def host_of(start_url: str) -> str:
    """The host of a URL, with its port; the URL itself when it has none."""
    try:
        host = urlsplit(start_url).netloc.rpartition("@")[2]
    except ValueError:
        host = ""
    return printable(host or start_url)


def occasion(summary: Summary, words: Words) -> str:
    """When the site was crawled, and how long that took."""
    crawl = summary.crawl
    parts = []
    if crawl.started is not None:
        parts.append(words.crawled.format(date=words.when(crawl.started)))
        if crawl.ended is not None:
            parts.append(words.duration.format(time=duration_words((crawl.ended - crawl.started).total_seconds())))
    if crawl.runs > 1:
        parts.append(words.again.format(number=crawl.runs))
    return " · ".join(parts)


def unfinished(summary: Summary, words: Words) -> str:
    """What to know before reading on, when not everything was crawled; empty otherwise."""
    outcome, waiting = summary.crawl.outcome, words.count("url", summary.waiting)
    if outcome is not None and outcome in words.outcomes and (summary.waiting or outcome == "interrupted"):
        return words.outcomes[outcome].format(urls=waiting)
    return words.suspended.format(urls=waiting) if summary.waiting or (outcome is None and summary.crawl.runs) else ""


def left_out(summary: Summary, words: Words) -> Iterator[str]:
    """What the crawl did not request, and what was suppressed."""
    for reason, count in summary.skipped:
        yield words.skipped.format(urls=words.count("url", count), reason=printable(reason).rstrip("."))
    for trap in summary.traps:
        urls = words.count("url", trap.refused)
        yield words.trap.format(pattern=printable(trap.key), reason=printable(trap.why), urls=urls)
    if summary.suppressed:
        yield words.suppressed.format(findings=words.count("finding", summary.suppressed))


def evidence(row: FoundRow, words: Words) -> str:
    """What was found there, in one line."""
    facts = ", ".join(_facts(row, words))
    detail = clip(printable(row.detail), 2 * LONGEST_TEXT)
    subject = clip(printable(row.subject), 2 * LONGEST_TEXT) if row.page_id and row.subject != row.detail else ""
    return " · ".join(part for part in (subject, detail, facts) if part)


def _facts(row: FoundRow, words: Words) -> Iterator[str]:
    for name, value in row.data.items():
        if isinstance(value, list | tuple):
            others = [clip(printable(str(each)), LONGEST_TEXT) for each in value if each != row.detail]
            if others:
                yield f"{words.examples} {' · '.join(others)}"
        elif not (name == "count" and value == 1):
            yield f"{words.named(EVIDENCE, name)} {clip(printable(amount(value)), LONGEST_TEXT)}"


def amount(value: object) -> str:
    """A number with its thousands apart, anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) or not value.is_integer() else f"{int(value):,}"


def limit_words(threshold: Threshold, words: Words) -> str:
    """The threshold of a check with its unit."""
    unit = words.named(UNITS, threshold.unit)
    return words.limit.format(limit=f"{amount(threshold.default)} {unit}".strip())


def link_words(link: Inlink, name: str) -> str:
    """A page that links, and the words that are linked there."""
    text = clip(printable(link.text), 80)
    return f"{name} “{text}”" if text else name


def size_words(size: float) -> str:
    """`512 B`, `34.1 kB`, `2.3 MB`."""
    if size < 1000:
        return f"{size:.0f} B"
    return f"{size / 1000:.1f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"


def time_words(ms: float) -> str:
    """`120 ms`, `1.24 s`."""
    return f"{ms:.0f} ms" if ms < 1000 else f"{ms / 1000:.2f} s"


def bound_words(ms: int) -> str:
    """`200 ms`, `2 s`."""
    return f"{ms} ms" if ms < 1000 else f"{ms / 1000:g} s"


def class_names(words: Words) -> dict[str, str]:
    """What each class of answers is called; those of status codes are called what they are."""
    return {"no answer": words.no_answer, "not requested": words.refused, "waiting": words.waiting}
