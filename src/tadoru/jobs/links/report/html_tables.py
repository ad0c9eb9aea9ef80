"""The lists of the HTML page: links that do not work, redirects, and the table of every URL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from heapq import nsmallest
from html import escape
from itertools import chain

from tadoru.jobs.links.report.figures import OUTCOME_NAMES, LinksFigures
from tadoru.jobs.links.result import BrokenLink, CrawlResult, LinkSource, UrlInfo
from tadoru.jobs.reporting.escape import clip, printable, readable_url
from tadoru.jobs.reporting.formatting import format_count
from tadoru.jobs.reporting.graph_layout import UrlOutcome
from tadoru.jobs.reporting.html_page import badge_html, link_html

MAX_ROWS = 5000
_OPEN_PLACES = 5
_MOST_PLACES = 200

Name = Callable[[str], str]


def broken_links_html(links: Iterable[BrokenLink], short: Name) -> Iterator[str]:
    """Each link with the places that lead to it."""
    for link in links:
        kind = "blocked" if link.kind == "blocked" else "broken"
        mark = str(link.status_code) if link.status_code is not None else "#" if link.kind == "fragment" else "—"
        yield f'<div class="bad-link"><p>{badge_html(kind, mark)}{link_html(link.url, short(link.url))}</p>'
        words = printable(link.error).removeprefix(f"{link.status_code} ")
        yield f'<p class="error">{escape(words)}</p>'
        yield from _places(link.sources, short)
        yield "</div>"


def _places(sources: tuple[LinkSource, ...], short: Name) -> Iterator[str]:
    if not sources:
        return
    yield f'<ul class="where">{"".join(_place(source, short) for source in sources[:_OPEN_PLACES])}</ul>'
    rest = sources[_OPEN_PLACES:]
    if rest:
        yield f"<details><summary>{format_count(len(rest), 'more place')}</summary>"
        yield f'<ul class="where">{"".join(_place(source, short) for source in rest[:_MOST_PLACES])}</ul>'
        if len(rest) > _MOST_PLACES:
            yield f'<p class="error">and {len(rest) - _MOST_PLACES:,} more</p>'
        yield "</details>"


def _place(source: LinkSource, short: Name) -> str:
    text = clip(printable(source.anchor_text), 160)
    words = f" as <q>{escape(text)}</q>" if text else ""
    return f"<li>on {link_html(source.page_url, short(source.page_url))}{words}</li>"


def redirects_html(infos: Iterable[UrlInfo], short: Name) -> Iterator[str]:
    """One line for each redirect."""
    for info in infos:
        mark = badge_html("redirect", str(info.status_code) if info.status_code is not None else "—")
        yield f"<li>{mark}{link_html(info.url, short(info.url))} → {escape(short(info.redirect_to or ''))}</li>"


def choose_rows(result: CrawlResult, figures: LinksFigures, show_external: bool) -> list[tuple[UrlInfo, bool]]:
    """The URLs of the table with whether each is external; when they are too many, those with problems are kept first."""
    external = result.external_urls if show_external else ()
    rows = chain(((info, False) for info in result.internal_urls), ((info, True) for info in external))
    rank = {outcome: number for number, outcome in enumerate(UrlOutcome)}
    are_too_many = len(result.internal_urls) + len(external) > MAX_ROWS

    def key(row: tuple[UrlInfo, bool]) -> tuple[int, bool, int, str]:
        info, is_external = row
        return rank[figures.outcome(info)] if are_too_many else 0, is_external, info.depth, info.url

    return nsmallest(MAX_ROWS, rows, key=key)


def url_rows_html(rows: Iterable[tuple[UrlInfo, bool]], figures: LinksFigures, short: Name) -> Iterator[str]:
    """The body of the table."""
    for info, external in rows:
        outcome = figures.outcome(info)
        status = str(info.status_code) if info.status_code is not None else "—"
        name = readable_url(info.url) if external else short(info.url)
        kind = f"{outcome} external" if external else outcome
        parent = link_html(info.parent_url, short(info.parent_url)) if info.parent_url else ""
        yield (
            f'<tr data-k="{kind}"><td data-v="{info.status_code or 0}">{badge_html(outcome, status)}</td>'
            f'<td data-v="{escape(name)}">{link_html(info.url, name)}{_second_line(info, figures, short, external)}</td>'
            f'<td class="number">{info.depth}</td><td class="from">{parent}</td></tr>\n'
        )


def _second_line(info: UrlInfo, figures: LinksFigures, short: Name, external: bool) -> str:
    failed = figures.failed.get(info.url)
    if failed is not None:
        words = failed.error_message
    elif info.redirect_to:
        words = f"→ {short(info.redirect_to)}"
    elif info.not_fetched and not external:
        words = f"not requested: {info.not_fetched}"
    else:
        words = info.title
    return f"<small>{escape(clip(printable(words), 200))}</small>" if words else ""


def kind_options_html(external: bool) -> str:
    """The choices of the table's filter."""
    choices = [("", "All"), *((str(outcome), words) for outcome, words in OUTCOME_NAMES.items())]
    if external:
        choices.append(("external", "External"))
    return "".join(f'<option value="{value}">{words}</option>' for value, words in choices)
