"""The findings of the HTML page: a line for each check, which opens to say why it matters, how to mend it, and where it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape

from tadoru.jobs.audit.report.audit_report import AuditReport
from tadoru.jobs.audit.report.messages import GROUPS, Words, describe_evidence, describe_threshold
from tadoru.jobs.audit.report.summary import AuditSummary, CheckResult, FindingExample
from tadoru.jobs.reporting.escape import clip, printable, url_origin, url_shortener
from tadoru.jobs.reporting.html_page import badge_html, link_html
from tadoru.model.finding import Severity
from tadoru.store.crawl.findings import Inlink

MAX_PRINTED = 10
"""Pages of a check that are printed; the style sheet knows it too."""
_LONGEST_NAME = 110
_MOST_LETTERS = 60_000
"""What the pages of one check may take: a site with very long URLs must not make a page that nobody can open."""

Name = Callable[[str], str]


def findings_html(report: AuditReport) -> Iterator[str]:
    """Every check that found something."""
    words, summary = report.words, report.summary
    if not summary.found:
        yield f'<div class="panel"><p class="soft">{escape(words.nothing)}</p></div>\n'
        return
    short = url_shortener(url_origin(summary.crawl.start_url))
    yield f'<p class="lead">{escape(words.findings_lead)}</p>\n<div class="panel">{_tools(summary, words)}'
    heads = "".join(f"<span>{escape(name)}</span>" for name in (words.severity, words.check, words.group, words.found))
    yield f'<div class="heads">{heads}</div>\n<div>\n'
    for result in summary.found:
        yield from _check(report, result, short)
    yield "</div></div>\n"


def _tools(summary: AuditSummary, words: Words) -> str:
    severities = [severity for severity in Severity if summary.count(severity)]
    groups = sorted({result.check.group for result in summary.found}, key=lambda group: words.named(GROUPS, group))
    by_severity = _select(words.severity, words.all_severities, [(each, words.severities[each][1]) for each in severities])
    by_group = _select(words.group, words.all_groups, [(f"in-{_token(each)}", words.named(GROUPS, each)) for each in groups])
    hint = escape(words.filter_hint)
    return (
        f'<div class="tools" hidden data-shown="{escape(words.shown)}"><input type="search" aria-label="{hint}" '
        f'placeholder="{hint}">{by_severity}{by_group}<output></output></div>\n'
    )


def _select(label: str, every: str, choices: list[tuple[str, str]]) -> str:
    options = "".join(f'<option value="{escape(value)}">{escape(name)}</option>' for value, name in [("", every), *choices])
    return f'<select aria-label="{escape(label)}">{options}</select>'


def _token(name: str) -> str:
    """A plugin may call its group anything; a token of an attribute has no spaces."""
    return "-".join(printable(name).split())


def _check(report: AuditReport, result: CheckResult, short: Name) -> Iterator[str]:
    words, check = report.words, result.check
    rank = list(Severity).index(check.severity)
    kinds = escape(f"{check.severity} in-{_token(check.group)}")
    mark = badge_html(check.severity, words.severities[check.severity][0])
    yield f'<details class="check" id="check-{escape(_token(check.id))}" data-k="{kinds}"><summary>'
    yield f'<span data-v="{rank}">{mark}</span><span class="what" data-v="{escape(words.check_text(check).title)}">'
    yield f'<b>{escape(words.check_text(check).title)}</b> <span class="id">{escape(printable(check.id))}</span></span>'
    yield f'<span class="group">{escape(words.named(GROUPS, check.group))}</span>'
    yield f'<span class="number" data-v="{result.count}">{result.count:,}</span></summary>\n<div class="inside">'
    yield f'<dl class="advice"><div><dt>{escape(words.why)}</dt><dd>{escape(words.check_text(check).why)}</dd></div>'
    yield f"<div><dt>{escape(words.fix)}</dt><dd>{escape(words.check_text(check).fix)}</dd></div></dl>\n"
    notes = [describe_threshold(check.threshold, words)] if check.threshold is not None else []
    if result.suppressed:
        told = words.suppressed_here.format(findings=words.count("finding", result.suppressed))
        notes.append(f"{told}: {printable('; '.join(result.reasons))}")
    yield from (f'<p class="note">{escape(note)}</p>\n' for note in notes)
    yield from _pages(report, result, short)
    yield "</div></details>\n"


def _pages(report: AuditReport, result: CheckResult, short: Name) -> Iterator[str]:
    words = report.words
    proofs = [escape(describe_evidence(example.row, words)) for example in result.examples]
    # A column in which nothing stands would only take room.
    names = [words.page, *([words.evidence] if any(proofs) else []), words.linked_from]
    yield f"<table><thead><tr>{''.join(f'<th>{escape(name)}</th>' for name in names)}</tr></thead>\n<tbody>\n"
    size = shown = 0
    for example, proof in zip(result.examples, proofs, strict=True):
        cells = [_page(example, short), *([proof] if any(proofs) else []), _inlinks(example, words, short)]
        row = f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>\n"
        yield row
        size, shown = size + len(row), shown + 1
        if size > _MOST_LETTERS:
            break
    yield "</tbody></table>\n"
    if shown > MAX_PRINTED:
        yield f'<p class="note paper">{escape(words.on_paper.format(number=MAX_PRINTED))}</p>\n'
    if hidden := result.count - shown:
        command = escape(report.command(f"--check {result.check.id}"))
        told = escape(words.more_command.format(number=f"{hidden:,}"))
        yield f'<p class="note">{told} <code>{command}</code></p>\n'


def _page(example: FindingExample, short: Name) -> str:
    row = example.row
    code = row.status_code
    mark = badge_html("redirect" if code < 400 else "broken", str(code)) if code is not None and code != 200 else ""
    return f"{mark}{link_html(row.url, clip(short(row.url), _LONGEST_NAME))}"


def _inlinks(example: FindingExample, words: Words, short: Name) -> str:
    if not example.row.page_id:
        return ""
    if not example.inlinks:
        return f'<span class="soft">{escape(words.no_inlinks)}</span>'
    items = "".join(f"<li>{_inlink(link, short)}</li>" for link in example.inlinks)
    hidden = example.inlink_count - len(example.inlinks)
    more = f"<li>{escape(words.more.format(number=f'{hidden:,}'))}</li>" if hidden > 0 else ""
    return f"<ul>{items}{more}</ul>"


def _inlink(link: Inlink, short: Name) -> str:
    text = clip(printable(link.text), 80)
    words = f" <q>{escape(text)}</q>" if text else ""
    return f"{link_html(link.source_url, clip(short(link.source_url), _LONGEST_NAME))}{words}"


def passed_html(summary: AuditSummary, words: Words) -> Iterator[str]:
    """The checks that found nothing, folded."""
    clean = [result for result in summary.results if not result.count]
    if not clean:
        return
    told = escape(words.passed_lead.format(checks=words.count("check", len(clean))))
    yield f'<div class="panel"><details><summary>{told}</summary><ul class="passed">'
    yield from (f"<li>{escape(words.check_text(result.check).title)}</li>" for result in clean)
    yield "</ul></details></div>\n"
