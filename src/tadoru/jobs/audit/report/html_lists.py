"""The lists of the HTML page: slow and large pages, redirects, sitemaps, near duplicates, and what was excluded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape

from tadoru.i18n.translation import N_, Translator
from tadoru.jobs.audit.report.messages import (
    describe_exclusions,
    describe_hidden,
    format_milliseconds,
    format_page_count,
    format_size,
)
from tadoru.jobs.audit.report.summary import AuditSummary
from tadoru.jobs.reporting.escape import clip, printable, url_origin, url_shortener
from tadoru.jobs.reporting.html_page import badge_html, link_html
from tadoru.store.crawl.summary import PageFigures, RedirectRow

_MAX_NAME = 110


def _name_of(summary: AuditSummary) -> Callable[[str], str]:
    short = url_shortener(url_origin(summary.crawl.start_url))
    return lambda url: clip(short(url), _MAX_NAME)


def _slowest(summary: AuditSummary, _: Translator) -> Iterator[str]:
    yield from _page_table(summary, _, summary.slowest)


def _largest(summary: AuditSummary, _: Translator) -> Iterator[str]:
    yield from _page_table(summary, _, summary.largest)


def _page_table(summary: AuditSummary, _: Translator, pages: Sequence[PageFigures]) -> Iterator[str]:
    if not pages:
        return
    name = _name_of(summary)
    first_byte, page_head = escape(_("First byte")), escape(_("Page"))
    heads = f'<th class="number extra">{first_byte}</th>'
    heads += "".join(f'<th class="number">{escape(each)}</th>' for each in (_("Response time"), _("Size")))
    yield f'<div class="panel scroll"><table class="figures sortable"><thead><tr><th>{page_head}</th>{heads}</tr>'
    yield "</thead>\n<tbody>\n"
    for page in pages:
        title = f"<small>{escape(clip(printable(page.title), 120))}</small>" if page.title else ""
        cells = _cell(page.ttfb_ms, format_milliseconds, "number extra") + _cell(page.response_ms, format_milliseconds)
        yield f"<tr><td>{link_html(page.url, name(page.url))}{title}</td>{cells}{_cell(page.size, format_size)}</tr>\n"
    yield "</tbody></table></div>\n"


def _cell(value: float | None, format_value: Callable[[float], str], kind: str = "number") -> str:
    return f'<td class="{kind}" data-v="{value or 0:.3f}">{escape(format_value(value)) if value is not None else ""}</td>'


def _redirects(summary: AuditSummary, _: Translator) -> Iterator[str]:
    if not summary.redirects:
        return
    name = _name_of(summary)
    lead = _("A redirect slows visitors down: link to its final URL instead. Sorted by number of inlinks.")
    yield f'<p class="lead">{escape(lead)}</p>\n<div class="panel scroll"><table class="figures sortable">'
    page, target, inlinks = map(escape, (_("Page"), _("Redirects to"), _("Inlinks")))
    yield f'<thead><tr><th>{page}</th><th>{target}</th><th class="number">{inlinks}</th></tr></thead>\n<tbody>\n'
    yield from (_redirect(row, name, _) for row in summary.redirects)
    yield "</tbody></table>"
    if summary.redirect_count > len(summary.redirects):
        yield f'<p class="note">{escape(describe_hidden(summary.redirect_count - len(summary.redirects), _))}</p>'
    yield "</div>\n"


def _redirect(row: RedirectRow, name: Callable[[str], str], _: Translator) -> str:
    first, *onward = row.hops
    steps = "".join(f"<li>{_hop_badge(hop.status_code, _)}{link_html(hop.url, name(hop.url))}</li>" for hop in onward)
    inlinks = _.number(row.inlinks) if row.inlinks is not None else ""
    mark = badge_html("redirect", str(first.status_code or ""))
    return (
        f'<tr><td>{mark}{link_html(first.url, name(first.url))}</td><td><ul class="hops">{steps}</ul></td>'
        f'<td class="number">{inlinks}</td></tr>\n'
    )


def _hop_badge(code: int | None, _: Translator) -> str:
    if code is None:
        return badge_html("unread", _("Not requested"))
    return badge_html("ok" if code < 300 else "redirect" if code < 400 else "broken", str(code))


_SITEMAP_STATES = {"read": N_("parsed"), "failed": N_("not readable"), "queued": N_("not parsed yet")}


def _sitemaps(summary: AuditSummary, _: Translator) -> Iterator[str]:
    if not summary.sitemaps:
        return
    figures = summary.sitemap_figures
    text = _(
        "Listed: {pages}; not indexable: {not_indexable}; without inlinks: {unlinked}. Indexable but in no sitemap: {missing}.",
        pages=format_page_count(figures.pages, _),
        not_indexable=_.number(figures.not_indexable),
        unlinked=_.number(figures.unlinked),
        missing=format_page_count(figures.missing, _),
    )
    lead = _("The pages that the sitemaps list, compared with the pages of the site.")
    yield f'<p class="lead">{escape(lead)}</p>\n'
    yield f'<div class="panel"><p class="soft">{escape(text)}</p><ul class="list">'
    for row in summary.sitemaps:
        kind = {"read": "ok", "failed": "broken"}.get(row.status, "unread")
        badge = badge_html(kind, _(_SITEMAP_STATES.get(row.status, row.status)))
        count = " · " + escape(_.ngettext("{count} URL", "{count} URLs", row.urls)) if row.urls is not None else ""
        problems = "".join(f"<br>{escape(clip(printable(problem), 300))}" for problem in row.problems[:5])
        name = clip(printable(row.url), _MAX_NAME)
        yield f'<li>{badge}{link_html(row.url, name)}<span class="soft">{count}{problems}</span></li>'
    yield "</ul>"
    if figures.sitemaps > len(summary.sitemaps):
        yield f'<p class="note">{escape(describe_hidden(figures.sitemaps - len(summary.sitemaps), _))}</p>'
    yield "</div>\n"


def _duplicates(summary: AuditSummary, _: Translator) -> Iterator[str]:
    if not summary.clusters:
        return
    name = _name_of(summary)
    lead = _("Pages with nearly the same content compete with each other in search results.")
    yield f'<p class="lead">{escape(lead)}</p>\n<div class="panel">'
    for number, row in enumerate(summary.clusters):
        heading = escape(_.ngettext("{count} nearly identical page", "{count} nearly identical pages", row.pages))
        urls = "".join(f"<li>{link_html(url, name(url))}</li>" for url in row.urls)
        hidden = row.pages - len(row.urls)
        more = f"<li>{escape(describe_hidden(hidden, _))}</li>" if hidden > 0 else ""
        yield f'<details class="cluster"{" open" if number < 3 else ""}><summary>{heading}: {escape(name(row.urls[0]))}</summary>'
        yield f'<ul class="where">{urls}{more}</ul></details>\n'
    if summary.cluster_count > len(summary.clusters):
        yield f'<p class="note">{escape(describe_hidden(summary.cluster_count - len(summary.clusters), _))}</p>'
    yield "</div>\n"


def _excluded(summary: AuditSummary, _: Translator) -> Iterator[str]:
    lines = [*describe_exclusions(summary, _)]
    if lines:
        items = "".join(f"<li>{escape(line)}</li>" for line in lines)
        yield f'<div class="panel"><ul class="list">{items}</ul></div>\n'


LISTS: tuple[tuple[str, str, Callable[[AuditSummary, Translator], Iterator[str]]], ...] = (
    ("slowest", N_("Slowest pages"), _slowest),
    ("largest", N_("Largest pages"), _largest),
    ("redirects", N_("Redirects"), _redirects),
    ("sitemaps", N_("Sitemaps"), _sitemaps),
    ("duplicates", N_("Near duplicates"), _duplicates),
    ("traps", N_("Excluded"), _excluded),
)
"""The id, heading and content of each section."""
