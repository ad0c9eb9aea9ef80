"""The HTML form: one file for somebody who owns the site and did not run the crawl, to be read on a screen, a phone or paper.

It needs nothing but a browser and loads nothing. All crawled text is escaped. What the checks found is in `html_findings`, charts
in `html_figures`, the picture of the site in `html_graph`, everything else in `html_lists`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from math import pi
from typing import TextIO

from tadoru.jobs.audit.report.audit_report import AuditReport
from tadoru.jobs.audit.report.html_findings import findings_html, passed_html
from tadoru.jobs.audit.report.html_graph import graph_html
from tadoru.jobs.audit.report.html_lists import LISTS
from tadoru.jobs.audit.report.messages import (
    GROUPS,
    INDEXABILITIES,
    Words,
    describe_crawl,
    describe_unfinished,
    format_milliseconds,
    format_time_bound,
    response_class_names,
    site_name,
)
from tadoru.jobs.audit.report.summary import TIME_BOUNDS, AuditSummary
from tadoru.jobs.audit.score import PAGE_WEIGHTS, SITE_PENALTIES
from tadoru.jobs.reporting.charts import ChartSegment, bar_svg, columns_svg
from tadoru.jobs.reporting.escape import readable_url
from tadoru.jobs.reporting.html_page import html_head, link_html, read_asset
from tadoru.model.finding import Severity
from tadoru.version import VERSION

_CLASSES = {
    "2xx": "ok", "3xx": "redirect", "4xx": "broken", "5xx": "broken", "no answer": "blocked", "not requested": "unread",
    "waiting": "unread",
}  # fmt: skip


def charts_html(summary: AuditSummary, words: Words) -> Iterator[str]:
    """Every chart, in two columns where there is room."""
    yield '<div class="two">\n<div class="stack">\n'
    yield _panel(words.answers, words.answers_lead, _status_codes(summary, words))
    depths = [(str(depth), count) for depth, count in summary.depths]
    if summary.unlinked:
        depths.append((words.unlinked, summary.unlinked))
    yield _panel(words.depth, words.depth_lead, columns_svg(depths))
    if summary.times.count:
        yield _panel(words.times, words.times_lead, f"{_percentiles(summary, words)}{columns_svg(_time_columns(summary))}")
    yield '</div>\n<div class="stack">\n'
    yield _panel(words.indexability, words.indexability_lead, _indexability(summary, words))
    yield _panel(words.by_group, "", _groups(summary, words))
    yield "</div>\n</div>\n"


def _time_columns(summary: AuditSummary) -> list[tuple[str, int]]:
    """The classes of response times without those at the end that are empty. Each is named by its upper end."""
    classes = [(format_time_bound(bound), count) for bound, count in zip(TIME_BOUNDS, summary.times.classes, strict=False)]
    classes.append((f"> {format_time_bound(TIME_BOUNDS[-1])}", summary.times.classes[-1]))
    while not classes[-1][1]:
        classes.pop()
    return classes


def _panel(heading: str, lead: str, content: str) -> str:
    told = f'<p class="note">{escape(lead)}</p>' if lead else ""
    return f'<div class="panel"><h3>{escape(heading)}</h3>{content}{told}</div>\n' if content else ""


def _bars(rows: Sequence[tuple[str, Sequence[ChartSegment]]]) -> str:
    """A bar for each row, as long as its share of the longest."""
    totals = [sum(piece.size for piece in pieces) for _, pieces in rows]
    most = max(totals, default=0)
    if not most:
        return ""
    lines = "".join(
        f"<dt>{escape(name)}</dt><dd>{bar_svg(pieces, total / most)}</dd><dd>{total:,}</dd>"
        for (name, pieces), total in zip(rows, totals, strict=True)
    )
    return f'<dl class="bars">{lines}</dl>'


def _status_codes(summary: AuditSummary, words: Words) -> str:
    names = response_class_names(words)
    rows = [(names.get(name, name), count, _CLASSES.get(name, "unread")) for name, count in summary.classes.items() if count]
    codes: dict[int, int] = {}
    for state in summary.states:
        if state.internal and state.status_code is not None:
            codes[state.status_code] = codes.get(state.status_code, 0) + state.urls
    told = "".join(f"<span>{code}: {count:,}</span>" for code, count in sorted(codes.items()))
    listed = f'<p class="codes">{told}</p>' if told else ""
    return _bars([(name, [ChartSegment(kind, name, count)]) for name, count, kind in rows]) + listed


def _indexability(summary: AuditSummary, words: Words) -> str:
    return _bars(
        [
            (
                words.named(INDEXABILITIES, reason),
                [ChartSegment("ok" if good else "unread", words.named(INDEXABILITIES, reason), count)],
            )
            for reason, good, count in summary.indexability
        ]
    )


def _groups(summary: AuditSummary, words: Words) -> str:
    counts: dict[str, dict[Severity, int]] = {}
    for result in summary.found:
        severities = counts.setdefault(result.check.group, dict.fromkeys(Severity, 0))
        severities[result.check.severity] += result.count
    ordered = sorted(counts.items(), key=lambda item: [-item[1][severity] for severity in Severity])
    rows = [
        (words.named(GROUPS, group), [ChartSegment(each, words.severities[each][0], found[each]) for each in Severity])
        for group, found in ordered
    ]
    legend = "".join(
        f'<li><svg class="{each}" viewBox="0 0 12 12"><circle cx="6" cy="6" r="5.5"/></svg>{escape(words.severities[each][1])} '
        f"<b>{summary.count(each):,}</b></li>"
        for each in Severity
        if summary.count(each)
    )
    drawn = _bars(rows)
    return f'{drawn}<ul class="legend">{legend}</ul>' if drawn else ""


def _percentiles(summary: AuditSummary, words: Words) -> str:
    times = summary.times
    items = "".join(
        f"<li><b>{escape(format_milliseconds(time))}</b>{escape(words.percentile.format(percent=share))}</li>"
        for share, time in ((50, times.p50), (90, times.p90), (99, times.p99))
    )
    return f'<ul class="percentiles">{items}</ul>'


STYLE = read_asset("base.css") + read_asset("audit.css", "tadoru.jobs.audit.report")
SCRIPT = read_asset("base.js")
_RADIUS = 62.0


def write_html(report: AuditReport, out: TextIO) -> None:
    """Writes the page, piece by piece."""
    words, summary = report.words, report.summary
    sections = [(name, heading, section) for name, heading, section in _sections(report) if section]
    out.write(html_head(words.lang, words.title.format(site=site_name(summary)), STYLE, SCRIPT))
    out.writelines(_header(summary, words))
    out.write(_contents(sections, words))
    out.write(f"</header>\n<main>\n{_cards(summary, words)}")
    for name, heading, section in sections:
        out.write(f'<section id="{name}">\n<h2>{escape(heading)}</h2>\n')
        out.write(section)
        out.write("</section>\n")
    made = escape(words.made_by.format(version=VERSION))
    out.write(
        f"</main>\n<footer>{made} {escape(describe_crawl(summary, words))}</footer>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )


def _sections(report: AuditReport) -> Iterator[tuple[str, str, str]]:
    """Name, heading and content; a section without content is none."""
    words, summary = report.words, report.summary
    yield "figures", words.summary, "".join(charts_html(summary, words))
    yield "findings", words.findings, "".join(findings_html(report))
    yield "graph", words.graph, "".join(graph_html(summary, words))
    for name, section in LISTS:
        yield name, getattr(words, name), "".join(section(summary, words))
    yield "passed", words.passed, "".join(passed_html(summary, words))


def _contents(sections: list[tuple[str, str, str]], words: Words) -> str:
    links = "".join(f'<li><a href="#{name}">{escape(heading)}</a></li>' for name, heading, _ in sections)
    return f'<nav aria-label="{escape(words.contents)}"><ul>{links}</ul></nav>\n'


def _header(summary: AuditSummary, words: Words) -> Iterator[str]:
    start = summary.crawl.start_url
    yield f'<header>\n<div class="top"><div>\n<p class="over">{escape(words.over)}</p>\n<h1>{escape(site_name(summary))}</h1>\n'
    yield f'<p class="over">{link_html(start, readable_url(start))} · {escape(describe_crawl(summary, words))}</p>\n'
    if warning := describe_unfinished(summary, words):
        yield f'<p class="alert" role="note">{escape(warning)}</p>\n'
    yield f'</div>\n<div class="score">{_dial(summary, words)}'
    yield f'<div><p class="over">{escape(words.score)}</p>'
    verdict = words.grade(summary.score) if summary.score is not None else words.no_score
    yield f'<p class="{"grade" if summary.score is not None else "soft"}">{escape(verdict)}</p></div></div>\n</div>\n'
    if summary.score is not None:
        yield f'<details class="how"><summary>{escape(words.score_how)}</summary><p>{escape(_formula(words))}</p></details>\n'


def _formula(words: Words) -> str:
    names = (Severity.ERROR, Severity.WARNING, Severity.NOTICE)
    worth = {str(name): value for name, value in zip(names, PAGE_WEIGHTS, strict=True)}
    penalty = {f"site_{name}": value for name, value in zip(names, SITE_PENALTIES, strict=True)}
    return words.score_formula.format(**worth, **penalty)


def _dial(summary: AuditSummary, words: Words) -> str:
    score = summary.score
    if score is None:
        return ""
    kind = "good" if score >= 75 else "fair" if score >= 50 else "poor"
    around, place = 2 * pi * _RADIUS, f'cx="74" cy="74" r="{_RADIUS:.0f}"'
    filled = f"{around * score / 100:.1f} {around:.1f}"
    label = escape(f"{words.score}: {words.score_of.format(score=f'{score:.0f}')}")
    return (
        f'<svg class="dial" viewBox="0 0 148 148" role="img" aria-label="{label}"><circle {place}/>'
        f'<circle class="arc {kind}" {place} stroke-dasharray="{filled}" transform="rotate(-90 74 74)"/>'
        f'<text x="74" y="86">{score:.0f}</text><text class="of" x="74" y="108">/ 100</text></svg>'
    )


def _cards(summary: AuditSummary, words: Words) -> str:
    share = f"{100 * summary.indexable / summary.pages:.0f} %" if summary.pages else ""
    cards = [("", words.pages, summary.pages, ""), ("", words.indexable, summary.indexable, share)]
    for severity in (Severity.ERROR, Severity.WARNING, Severity.NOTICE):
        count = summary.count(severity)
        pages = words.count("page", summary.pages_with[severity]) if count else ""
        cards.append((str(severity) if count else "", words.severities[severity][1], count, pages))
    cards.append(("", words.links, summary.links, ""))
    inside = "".join(
        f'<div class="{kind}"><dt>{escape(name)}</dt><dd>{count:,}</dd><small>{escape(note)}</small></div>'
        for kind, name, count, note in cards
    )
    return f'<dl class="cards">{inside}</dl>\n'
