"""The lists of the HTML page: links that do not work, redirects, and the table of all URLs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from heapq import nsmallest
from html import escape
from itertools import chain

from tadoru.i18n.translation import Translator
from tadoru.jobs.links.report.figures import LinksFigures
from tadoru.jobs.links.report.text import describe_not_requested
from tadoru.jobs.links.result import BrokenLink, CrawlResult, LinkSource, UrlInfo
from tadoru.jobs.reporting.escape import clip, printable, readable_url
from tadoru.jobs.reporting.graph_layout import OUTCOME_NAMES, UrlOutcome
from tadoru.jobs.reporting.html_page import badge_html, link_html

MAX_ROWS = 5000
_OPEN_SOURCES = 5
_MAX_SOURCES = 200

Shortener = Callable[[str], str]


def broken_links_html(links: Iterable[BrokenLink], short: Shortener, _: Translator) -> Iterator[str]:
    """Each link with the pages that contain it."""
    for link in links:
        kind = "blocked" if link.kind == "blocked" else "broken"
        mark = str(link.status_code) if link.status_code is not None else "#" if link.kind == "fragment" else "—"
        yield f'<div class="bad-link"><p>{badge_html(kind, mark)}{link_html(link.url, short(link.url))}</p>'
        error = printable(link.error).removeprefix(f"{link.status_code} ")
        yield f'<p class="error">{escape(error)}</p>'
        yield from _sources(link.sources, short, _)
        yield "</div>"


def _sources(sources: tuple[LinkSource, ...], short: Shortener, _: Translator) -> Iterator[str]:
    if not sources:
        return
    yield f'<ul class="where">{"".join(_source(source, short, _) for source in sources[:_OPEN_SOURCES])}</ul>'
    rest = sources[_OPEN_SOURCES:]
    if rest:
        more = escape(_.ngettext("{count} more place", "{count} more places", len(rest)))
        yield f"<details><summary>{more}</summary>"
        yield f'<ul class="where">{"".join(_source(source, short, _) for source in rest[:_MAX_SOURCES])}</ul>'
        if len(rest) > _MAX_SOURCES:
            hidden = escape(_("and {count} more", count=_.number(len(rest) - _MAX_SOURCES)))
            yield f'<p class="error">{hidden}</p>'
        yield "</details>"


def _source(source: LinkSource, short: Shortener, _: Translator) -> str:
    text = clip(printable(source.anchor_text), 160)
    page = link_html(source.page_url, short(source.page_url))
    if not text:
        return "<li>" + _("on {page}", page=page) + "</li>"
    return "<li>" + _("on {page}: {anchor_text}", page=page, anchor_text=f"<q>{escape(text)}</q>") + "</li>"


def redirects_html(infos: Iterable[UrlInfo], short: Shortener) -> Iterator[str]:
    """A line for each redirect."""
    for info in infos:
        mark = badge_html("redirect", str(info.status_code) if info.status_code is not None else "—")
        yield f"<li>{mark}{link_html(info.url, short(info.url))} → {escape(short(info.redirect_to or ''))}</li>"


def choose_rows(result: CrawlResult, figures: LinksFigures, show_external: bool) -> list[tuple[UrlInfo, bool]]:
    """The URLs of the table, and whether each is external. If there are too many, those with problems come first."""
    external = result.external_urls if show_external else ()
    rows = chain(((info, False) for info in result.internal_urls), ((info, True) for info in external))
    rank = {outcome: number for number, outcome in enumerate(UrlOutcome)}
    are_too_many = len(result.internal_urls) + len(external) > MAX_ROWS

    def key(row: tuple[UrlInfo, bool]) -> tuple[int, bool, int, str]:
        info, is_external = row
        return rank[figures.outcome(info)] if are_too_many else 0, is_external, info.depth, info.url

    return nsmallest(MAX_ROWS, rows, key=key)


def url_rows_html(rows: Iterable[tuple[UrlInfo, bool]], figures: LinksFigures, short: Shortener, _: Translator) -> Iterator[str]:
    """The body of the table."""
    for info, external in rows:
        outcome = figures.outcome(info)
        status = str(info.status_code) if info.status_code is not None else "—"
        name = readable_url(info.url) if external else short(info.url)
        kind = f"{outcome} external" if external else outcome
        parent = link_html(info.parent_url, short(info.parent_url)) if info.parent_url else ""
        second_line = _second_line(info, figures, short, _, external=external)
        yield (
            f'<tr data-k="{kind}"><td data-v="{info.status_code or 0}">{badge_html(outcome, status)}</td>'
            f'<td data-v="{escape(name)}">{link_html(info.url, name)}{second_line}</td>'
            f'<td class="number">{info.depth}</td><td class="from">{parent}</td></tr>\n'
        )


def _second_line(info: UrlInfo, figures: LinksFigures, short: Shortener, _: Translator, *, external: bool) -> str:
    failed = figures.failed.get(info.url)
    if failed is not None:
        text = failed.error_message
    elif info.redirect_to:
        text = f"→ {short(info.redirect_to)}"
    elif info.not_fetched and not external:
        text = describe_not_requested(info, _)
    else:
        text = info.title
    return f"<small>{escape(clip(printable(text), 200))}</small>" if text else ""


def kind_options_html(external: bool, _: Translator) -> str:
    """The options of the filter of the table."""
    choices = [("", _("All")), *((str(outcome), _(name)) for outcome, name in OUTCOME_NAMES.items())]
    if external:
        choices.append(("external", _("External")))
    return "".join(f'<option value="{value}">{escape(name)}</option>' for value, name in choices)
