"""The comparison as one HTML file that needs nothing but a browser. All crawled text is escaped, and nothing is loaded or run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import TextIO

from tadoru.jobs.audit.compare.changes import FINDING_CHANGES, REGRESSIONS, ChangeKind, PageChange
from tadoru.jobs.audit.compare.comparison import CheckChange, CrawlComparison
from tadoru.jobs.audit.compare.report_formats import Sentences, describe_limits, format_score_change
from tadoru.jobs.audit.compare.run_handles import RunHandle
from tadoru.jobs.reporting.escape import clip, printable, readable_url
from tadoru.jobs.reporting.html_page import badge_html, html_head, link_html, read_asset
from tadoru.model.finding import Severity
from tadoru.version import VERSION

STYLE = (
    read_asset("base.css")
    + read_asset("audit.css", "tadoru.jobs.audit.report")
    + read_asset("compare.css", "tadoru.jobs.audit.compare")
)
_GOOD = frozenset({ChangeKind.FIXED, ChangeKind.INDEXED, ChangeKind.FASTER})
_CARDS = (
    ChangeKind.BROKEN,
    ChangeKind.REMOVED,
    ChangeKind.ADDED,
    ChangeKind.FIXED,
    ChangeKind.NEW_FINDING,
    ChangeKind.FIXED_FINDING,
)
_OPEN = 10
"""Lists up to this length are shown at once."""
_LONGEST_NAME = 110


def write_html(result: CrawlComparison, say: Sentences, out: TextIO) -> None:
    """Writes the page, piece by piece."""
    out.write(html_head(say.words.lang, _title(result, say), STYLE))
    out.writelines(_header(result, say))
    out.write(f'<main>\n<dl class="cards">{"".join(_cards(result, say))}</dl>\n')
    out.writelines(_changes(result, say))
    out.writelines(_findings(result, say))
    out.write(f"</main>\n<footer>{escape(say.words.made_by.format(version=VERSION))}</footer>\n</body>\n</html>\n")


def _title(result: CrawlComparison, say: Sentences) -> str:
    names = [printable(_file(side)) for side in (result.before, result.after)]
    if names[0] == names[1]:
        names = [f"{name}@{side.run.number}" for name, side in zip(names, (result.before, result.after), strict=True)]
    return say.title.format(before=names[0], after=names[1])


def _file(side: RunHandle) -> str:
    return Path(side.name).name


def _header(result: CrawlComparison, say: Sentences) -> Iterator[str]:
    yield f'<header>\n<p class="over">{escape(say.over)}</p>\n<h1>{escape(_title(result, say))}</h1>\n'
    for name, side, pages in (
        (say.before, result.before, result.pages_before),
        (say.after, result.after, result.pages_after),
    ):
        # The folder is nobody's business but of those who have the file.
        yield f'<p class="over">{escape(name)}: {escape(say.side(replace(side, name=_file(side)), pages))}</p>\n'
    was, now = result.before.run.score, result.after.run.score
    kind = "unread" if was is None or now is None or was == now else "ok" if now > was else "broken"
    yield f'<p class="verdict {kind}">{escape(say.score)} {escape(format_score_change(result, say))}</p>\n'
    yield from (f'<p class="alert" role="note">{escape(remark)}</p>\n' for remark in describe_limits(result, say))
    yield "</header>\n"


def _cards(result: CrawlComparison, say: Sentences) -> Iterator[str]:
    for kind in _CARDS:
        count = result.counts[kind]
        colour = "broken" if count and (kind in REGRESSIONS or kind is ChangeKind.NEW_FINDING) else ""
        yield f'<div class="{colour}"><dt>{escape(say.kinds[kind])}</dt><dd>{count:,}</dd></div>'


def _changes(result: CrawlComparison, say: Sentences) -> Iterator[str]:
    kinds = [kind for kind in ChangeKind if kind not in FINDING_CHANGES and result.counts[kind]]
    yield f'<section>\n<h2>{escape(say.changes)}</h2>\n<div class="panel changes">\n'
    if not kinds:
        yield f'<p class="soft">{escape(say.nothing)}</p>\n'
    for kind in kinds:
        count, shown = result.counts[kind], result.examples.get(kind, [])
        colour = "broken" if kind in REGRESSIONS else "ok" if kind in _GOOD else "unread"
        yield f"<details{' open' if count <= _OPEN else ''}><summary>{badge_html(colour, say.kinds[kind])}<b>{count:,}</b></summary>\n"
        yield '<ul class="where">\n'
        yield from (_change_item(change, say) for change in shown)
        yield f"</ul>{_rest(count - len(shown), say)}</details>\n"
    yield "</div>\n</section>\n"


def _change_item(change: PageChange, say: Sentences) -> str:
    return f"<li>{_link(change.url)} <q>{escape(say.values(change))}</q></li>\n"


def _link(url: str) -> str:
    return link_html(url, clip(readable_url(url), _LONGEST_NAME))


def _rest(number: int, say: Sentences) -> str:
    return f'<p class="note">{escape(say.more.format(number=f"{number:,}"))}</p>' if number > 0 else ""


def _findings(result: CrawlComparison, say: Sentences) -> Iterator[str]:
    checks = result.changed_checks()
    if not checks:
        return
    counts = {"new": f"{result.counts[ChangeKind.NEW_FINDING]:,}", "fixed": f"{result.counts[ChangeKind.FIXED_FINDING]:,}"}
    yield f'<section>\n<h2>{escape(say.findings)}</h2>\n<p class="lead">{escape(say.findings_lead.format(**counts))}</p>\n'
    names = (say.severity, say.check, say.totals, f"{say.new} / {say.fixed}")
    yield f'<div class="panel"><div class="heads">{"".join(f"<span>{escape(name)}</span>" for name in names)}</div>\n<div>\n'
    for change in checks:
        yield from _check(change, say)
    yield "</div></div>\n</section>\n"


def _check(change: CheckChange, say: Sentences) -> Iterator[str]:
    severity = Severity(change.check.severity)
    yield f'<details class="check"><summary><span>{badge_html(severity, say.words.severities[severity][0])}</span>'
    yield f'<span class="what"><b>{escape(say.check_title(change.check))}</b> '
    yield f'<span class="id">{escape(change.check.id)}</span></span>'
    yield f'<span class="group">{change.before:,} → {change.after:,}</span>'
    yield f'<span class="number">+{change.new:,} / −{change.fixed:,}</span></summary>\n<div class="inside"><ul class="list">\n'
    for example in change.examples:
        is_new = example.kind is ChangeKind.NEW_FINDING
        subject = example.after if is_new else example.before
        more = f' <span class="soft">{escape(readable_url(str(subject)))}</span>' if subject else ""
        mark = badge_html("broken", say.new) if is_new else badge_html("ok", say.fixed)
        yield f"<li>{mark}{_link(example.url)}{more}</li>\n"
    yield f"</ul>{_rest(change.new + change.fixed - len(change.examples), say)}</div></details>\n"
