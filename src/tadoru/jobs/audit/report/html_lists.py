"""The lists of the HTML page: slow and large pages, redirects, sitemaps, near duplicates, and what was left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape

from tadoru.jobs.audit.report.messages import Words, describe_exclusions, format_milliseconds, format_size
from tadoru.jobs.audit.report.summary import AuditSummary
from tadoru.jobs.reporting.escape import clip, printable, url_origin, url_shortener
from tadoru.jobs.reporting.html_page import badge_html, link_html
from tadoru.store.crawl.summary import PageFigures, RedirectRow

_LONGEST_NAME = 110


def _name_of(summary: AuditSummary) -> Callable[[str], str]:
    short = url_shortener(url_origin(summary.crawl.start_url))
    return lambda url: clip(short(url), _LONGEST_NAME)


def _slowest(summary: AuditSummary, words: Words) -> Iterator[str]:
    yield from _page_table(summary, words, summary.slowest)


def _largest(summary: AuditSummary, words: Words) -> Iterator[str]:
    yield from _page_table(summary, words, summary.largest)


def _page_table(summary: AuditSummary, words: Words, pages: Sequence[PageFigures]) -> Iterator[str]:
    if not pages:
        return
    name = _name_of(summary)
    heads = f'<th class="number extra">{escape(words.first_byte)}</th>'
    heads += "".join(f'<th class="number">{escape(each)}</th>' for each in (words.time, words.size))
    yield f'<div class="panel scroll"><table class="figures sortable"><thead><tr><th>{escape(words.page)}</th>{heads}</tr>'
    yield "</thead>\n<tbody>\n"
    for page in pages:
        title = f"<small>{escape(clip(printable(page.title), 120))}</small>" if page.title else ""
        cells = _cell(page.ttfb_ms, format_milliseconds, "number extra") + _cell(page.response_ms, format_milliseconds)
        yield f"<tr><td>{link_html(page.url, name(page.url))}{title}</td>{cells}{_cell(page.size, format_size)}</tr>\n"
    yield "</tbody></table></div>\n"


def _cell(value: float | None, words: Callable[[float], str], kind: str = "number") -> str:
    return f'<td class="{kind}" data-v="{value or 0:.3f}">{escape(words(value)) if value is not None else ""}</td>'


def _redirects(summary: AuditSummary, words: Words) -> Iterator[str]:
    if not summary.redirects:
        return
    name = _name_of(summary)
    yield f'<p class="lead">{escape(words.redirects_lead)}</p>\n<div class="panel scroll"><table class="figures sortable">'
    yield f"<thead><tr><th>{escape(words.page)}</th><th>{escape(words.redirect_to)}</th>"
    yield f'<th class="number">{escape(words.links)}</th></tr></thead>\n<tbody>\n'
    yield from (_redirect(row, name, words) for row in summary.redirects)
    yield "</tbody></table>"
    if summary.redirect_count > len(summary.redirects):
        yield f'<p class="note">{escape(words.more.format(number=f"{summary.redirect_count - len(summary.redirects):,}"))}</p>'
    yield "</div>\n"


def _redirect(row: RedirectRow, name: Callable[[str], str], words: Words) -> str:
    first, *onward = row.hops
    steps = "".join(
        f"<li>{badge_html(_kind(hop.status_code), str(hop.status_code or words.not_requested))}{link_html(hop.url, name(hop.url))}</li>"
        for hop in onward
    )
    inlinks = f"{row.inlinks:,}" if row.inlinks is not None else ""
    mark = badge_html("redirect", str(first.status_code or ""))
    return (
        f'<tr><td>{mark}{link_html(first.url, name(first.url))}</td><td><ul class="hops">{steps}</ul></td>'
        f'<td class="number">{inlinks}</td></tr>\n'
    )


def _kind(code: int | None) -> str:
    if code is None:
        return "unread"
    return "ok" if code < 300 else "redirect" if code < 400 else "broken"


def _sitemaps(summary: AuditSummary, words: Words) -> Iterator[str]:
    if not summary.sitemaps:
        return
    figures = summary.sitemap_figures
    told = words.sitemap_figures.format(
        pages=words.count("page", figures.pages),
        closed=f"{figures.not_indexable:,}",
        unlinked=f"{figures.unlinked:,}",
        missing=words.count("page", figures.missing),
    )
    yield f'<p class="lead">{escape(words.sitemaps_lead)}</p>\n'
    yield f'<div class="panel"><p class="soft">{escape(told)}</p><ul class="list">'
    for row in summary.sitemaps:
        kind = {"read": "ok", "failed": "broken"}.get(row.status, "unread")
        mark = badge_html(kind, words.sitemap_states.get(row.status, row.status))
        count = f" · {escape(words.count('url', row.urls))}" if row.urls is not None else ""
        problems = "".join(f"<br>{escape(clip(printable(problem), 300))}" for problem in row.problems[:5])
        name = clip(printable(row.url), _LONGEST_NAME)
        yield f'<li>{mark}{link_html(row.url, name)}<span class="soft">{count}{problems}</span></li>'
    yield "</ul>"
    if figures.sitemaps > len(summary.sitemaps):
        yield f'<p class="note">{escape(words.more.format(number=f"{figures.sitemaps - len(summary.sitemaps):,}"))}</p>'
    yield "</div>\n"


def _duplicates(summary: AuditSummary, words: Words) -> Iterator[str]:
    if not summary.clusters:
        return
    name = _name_of(summary)
    yield f'<p class="lead">{escape(words.duplicates_lead)}</p>\n<div class="panel">'
    for number, row in enumerate(summary.clusters):
        told = escape(words.cluster.format(pages=words.count("page", row.pages)))
        urls = "".join(f"<li>{link_html(url, name(url))}</li>" for url in row.urls)
        hidden = row.pages - len(row.urls)
        more = f"<li>{escape(words.more.format(number=f'{hidden:,}'))}</li>" if hidden > 0 else ""
        yield f'<details class="cluster"{" open" if number < 3 else ""}><summary>{told}: {escape(name(row.urls[0]))}</summary>'
        yield f'<ul class="where">{urls}{more}</ul></details>\n'
    if summary.cluster_count > len(summary.clusters):
        yield f'<p class="note">{escape(words.more.format(number=f"{summary.cluster_count - len(summary.clusters):,}"))}</p>'
    yield "</div>\n"


def _traps(summary: AuditSummary, words: Words) -> Iterator[str]:
    lines = [*describe_exclusions(summary, words)]
    if lines:
        items = "".join(f"<li>{escape(line)}</li>" for line in lines)
        yield f'<div class="panel"><ul class="list">{items}</ul></div>\n'


LISTS: tuple[tuple[str, Callable[[AuditSummary, Words], Iterator[str]]], ...] = (
    ("slowest", _slowest),
    ("largest", _largest),
    ("redirects", _redirects),
    ("sitemaps", _sitemaps),
    ("duplicates", _duplicates),
    ("traps", _traps),
)
"""By the name of their heading in `Words`."""
