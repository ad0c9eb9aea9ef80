"""The HTML form: one file for somebody who owns the site and did not run the crawl, to be read on a screen, a phone or paper.

It needs nothing but a browser and loads nothing. All crawled text is escaped. What the checks found is in `html_findings`, charts
in `html_figures`, the picture of the site in `html_graph`, everything else in `html_lists`.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from math import pi
from typing import TextIO

from tadoru.jobs.audit.report.base import AuditReport
from tadoru.jobs.audit.report.html_figures import charts
from tadoru.jobs.audit.report.html_findings import findings, passed
from tadoru.jobs.audit.report.html_graph import graph
from tadoru.jobs.audit.report.html_lists import LISTS
from tadoru.jobs.audit.report.phrases import occasion, site_name, unfinished
from tadoru.jobs.audit.report.summary import Summary
from tadoru.jobs.audit.report.texts import Words
from tadoru.jobs.audit.score import PENALTY, WORTH
from tadoru.jobs.report.escape import readable_url
from tadoru.jobs.report.page import anchor, asset, head
from tadoru.model.finding import Severity
from tadoru.version import VERSION

STYLE = asset("base.css") + asset("audit.css", "tadoru.jobs.audit.report")
SCRIPT = asset("base.js")
_RADIUS = 62.0


def write_html(report: AuditReport, out: TextIO) -> None:
    """Writes the page, piece by piece."""
    words, summary = report.words, report.summary
    sections = [(name, heading, section) for name, heading, section in _sections(report) if section]
    out.write(head(words.lang, words.title.format(site=site_name(summary)), STYLE, SCRIPT))
    out.writelines(_header(summary, words))
    out.write(_contents(sections, words))
    out.write(f"</header>\n<main>\n{_cards(summary, words)}")
    for name, heading, section in sections:
        out.write(f'<section id="{name}">\n<h2>{escape(heading)}</h2>\n')
        out.write(section)
        out.write("</section>\n")
    made = escape(words.made_by.format(version=VERSION))
    out.write(
        f"</main>\n<footer>{made} {escape(occasion(summary, words))}</footer>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )


def _sections(report: AuditReport) -> Iterator[tuple[str, str, str]]:
    """Name, heading and content; a section without content is none."""
    words, summary = report.words, report.summary
    yield "figures", words.summary, "".join(charts(summary, words))
    yield "findings", words.findings, "".join(findings(report))
    yield "graph", words.graph, "".join(graph(summary, words))
    for name, section in LISTS:
        yield name, getattr(words, name), "".join(section(summary, words))
    yield "passed", words.passed, "".join(passed(summary, words))


def _contents(sections: list[tuple[str, str, str]], words: Words) -> str:
    links = "".join(f'<li><a href="#{name}">{escape(heading)}</a></li>' for name, heading, _ in sections)
    return f'<nav aria-label="{escape(words.contents)}"><ul>{links}</ul></nav>\n'


def _header(summary: Summary, words: Words) -> Iterator[str]:
    start = summary.crawl.start_url
    yield f'<header>\n<div class="top"><div>\n<p class="over">{escape(words.over)}</p>\n<h1>{escape(site_name(summary))}</h1>\n'
    yield f'<p class="over">{anchor(start, readable_url(start))} · {escape(occasion(summary, words))}</p>\n'
    if warning := unfinished(summary, words):
        yield f'<p class="alert" role="note">{escape(warning)}</p>\n'
    yield f'</div>\n<div class="score">{_dial(summary, words)}'
    yield f'<div><p class="over">{escape(words.score)}</p>'
    verdict = words.grade(summary.score) if summary.score is not None else words.no_score
    yield f'<p class="{"grade" if summary.score is not None else "soft"}">{escape(verdict)}</p></div></div>\n</div>\n'
    if summary.score is not None:
        yield f'<details class="how"><summary>{escape(words.score_how)}</summary><p>{escape(_formula(words))}</p></details>\n'


def _formula(words: Words) -> str:
    names = (Severity.ERROR, Severity.WARNING, Severity.NOTICE)
    worth = {str(name): value for name, value in zip(names, WORTH, strict=True)}
    penalty = {f"site_{name}": value for name, value in zip(names, PENALTY, strict=True)}
    return words.score_formula.format(**worth, **penalty)


def _dial(summary: Summary, words: Words) -> str:
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


def _cards(summary: Summary, words: Words) -> str:
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
