"""The findings of the HTML page: a row for each check, which opens to show why it matters, how to fix it, and affected pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape

from tadoru.i18n.translation import Translator
from tadoru.jobs.audit.report.audit_report import AuditReport
from tadoru.jobs.audit.report.messages import (
    GROUPS,
    SEVERITIES,
    SEVERITY_HEADINGS,
    describe_evidence,
    describe_hidden,
    describe_hidden_before_command,
    describe_suppressed,
    describe_threshold,
    translate_check,
    translate_name,
)
from tadoru.jobs.audit.report.summary import AuditSummary, CheckResult, FindingExample
from tadoru.jobs.reporting.escape import clip, printable, url_origin, url_shortener
from tadoru.jobs.reporting.html_page import badge_html, link_html
from tadoru.model.finding import Severity
from tadoru.store.crawl.findings import Inlink

MAX_PRINTED = 10
"""Pages of a check that are printed; the style sheet has the same number."""
_MAX_NAME = 110
_MAX_CHARACTERS = 60_000
"""Maximum size of the table of one check: very long URLs must not make the page too large to open."""

Name = Callable[[str], str]


def findings_html(report: AuditReport) -> Iterator[str]:
    """All checks with findings."""
    _, summary = report.translate, report.summary
    if not summary.found:
        none = escape(_("No issues found."))
        yield f'<div class="panel"><p class="soft">{none}</p></div>\n'
        return
    short = url_shortener(url_origin(summary.crawl.start_url))
    lead = escape(_("Most severe first. Open a row to see why it matters, how to fix it, and the affected pages."))
    yield f'<p class="lead">{lead}</p>\n<div class="panel">{_tools(summary, _)}'
    heads = "".join(f"<span>{escape(name)}</span>" for name in (_("Severity"), _("Check"), _("Group"), _("Count")))
    yield f'<div class="heads">{heads}</div>\n<div>\n'
    for result in summary.found:
        yield from _check(report, result, short)
    yield "</div></div>\n"


def _tools(summary: AuditSummary, _: Translator) -> str:
    severities = [severity for severity in Severity if summary.count(severity)]
    groups = sorted({result.check.group for result in summary.found}, key=lambda group: translate_name(GROUPS, group, _))
    headings = [(str(each), _(SEVERITY_HEADINGS[each])) for each in severities]
    names = [(f"in-{_token(each)}", translate_name(GROUPS, each, _)) for each in groups]
    by_severity = _select(_("Severity"), _("All severities"), headings)
    by_group = _select(_("Group"), _("All groups"), names)
    hint = escape(_("Filter by text or URL"))
    shown = escape(_("{count} of {all}"))  # The script fills in the numbers.
    return (
        f'<div class="tools" hidden data-shown="{shown}"><input type="search" aria-label="{hint}" '
        f'placeholder="{hint}">{by_severity}{by_group}<output></output></div>\n'
    )


def _select(label: str, every: str, choices: list[tuple[str, str]]) -> str:
    options = "".join(f'<option value="{escape(value)}">{escape(name)}</option>' for value, name in [("", every), *choices])
    return f'<select aria-label="{escape(label)}">{options}</select>'


def _token(name: str) -> str:
    """A name as a token of an attribute, without spaces: a plugin may name its group anything."""
    return "-".join(printable(name).split())


def _check(report: AuditReport, result: CheckResult, short: Name) -> Iterator[str]:
    _, check = report.translate, result.check
    text = translate_check(check, _)
    rank = list(Severity).index(check.severity)
    kinds = escape(f"{check.severity} in-{_token(check.group)}")
    mark = badge_html(check.severity, _(SEVERITIES[check.severity]))
    yield f'<details class="check" id="check-{escape(_token(check.id))}" data-k="{kinds}"><summary>'
    yield f'<span data-v="{rank}">{mark}</span><span class="what" data-v="{escape(text.title)}">'
    yield f'<b>{escape(text.title)}</b> <span class="id">{escape(printable(check.id))}</span></span>'
    yield f'<span class="group">{escape(translate_name(GROUPS, check.group, _))}</span>'
    yield f'<span class="number" data-v="{result.count}">{_.number(result.count)}</span></summary>\n<div class="inside">'
    why, fix = escape(_("Why it matters")), escape(_("How to fix it"))
    yield f'<dl class="advice"><div><dt>{why}</dt><dd>{escape(text.why)}</dd></div>'
    yield f"<div><dt>{fix}</dt><dd>{escape(text.fix)}</dd></div></dl>\n"
    notes = [describe_threshold(check.threshold, _)] if check.threshold is not None else []
    if result.suppressed:
        notes.append(describe_suppressed(result, _))
    yield from (f'<p class="note">{escape(note)}</p>\n' for note in notes)
    yield from _pages(report, result, short)
    yield "</div></details>\n"


def _pages(report: AuditReport, result: CheckResult, short: Name) -> Iterator[str]:
    _ = report.translate
    evidences = [escape(describe_evidence(example.row, _)) for example in result.examples]
    # An empty column would only take space.
    names = [_("Page"), *([_("Evidence")] if any(evidences) else []), _("Linked from")]
    yield f"<table><thead><tr>{''.join(f'<th>{escape(name)}</th>' for name in names)}</tr></thead>\n<tbody>\n"
    size = shown = 0
    for example, evidence in zip(result.examples, evidences, strict=True):
        cells = [_page(example, short), *([evidence] if any(evidences) else []), _inlinks(example, _, short)]
        row = f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>\n"
        yield row
        size, shown = size + len(row), shown + 1
        if size > _MAX_CHARACTERS:
            break
    yield "</tbody></table>\n"
    if shown > MAX_PRINTED:
        printed = escape(_("Only the first {count} are printed.", count=MAX_PRINTED))
        yield f'<p class="note paper">{printed}</p>\n'
    if hidden := result.count - shown:
        command = escape(report.command(f"--check {result.check.id}"))
        yield f'<p class="note">{escape(describe_hidden_before_command(hidden, _))} <code>{command}</code></p>\n'


def _page(example: FindingExample, short: Name) -> str:
    row = example.row
    code = row.status_code
    mark = badge_html("redirect" if code < 400 else "broken", str(code)) if code is not None and code != 200 else ""
    return f"{mark}{link_html(row.url, clip(short(row.url), _MAX_NAME))}"


def _inlinks(example: FindingExample, _: Translator, short: Name) -> str:
    if not example.row.page_id:
        return ""
    if not example.inlinks:
        none = escape(_("No inlinks"))
        return f'<span class="soft">{none}</span>'
    items = "".join(f"<li>{_inlink(link, short)}</li>" for link in example.inlinks)
    hidden = example.inlink_count - len(example.inlinks)
    more = f"<li>{escape(describe_hidden(hidden, _))}</li>" if hidden > 0 else ""
    return f"<ul>{items}{more}</ul>"


def _inlink(link: Inlink, short: Name) -> str:
    text = clip(printable(link.text), 80)
    anchor_text = f" <q>{escape(text)}</q>" if text else ""
    return f"{link_html(link.source_url, clip(short(link.source_url), _MAX_NAME))}{anchor_text}"


def passed_html(summary: AuditSummary, _: Translator) -> Iterator[str]:
    """The checks without findings, in a closed list."""
    clean = [result for result in summary.results if not result.count]
    if not clean:
        return
    heading = escape(_.ngettext("{count} check found no issues.", "{count} checks found no issues.", len(clean)))
    yield f'<div class="panel"><details><summary>{heading}</summary><ul class="passed">'
    yield from (f"<li>{escape(translate_check(result.check, _).title)}</li>" for result in clean)
    yield "</ul></details></div>\n"
