"""The lists of the HTML page: links that do not work, redirects, and the table of every URL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from heapq import nsmallest
from html import escape
from itertools import chain

from tadoru.jobs.links.report.charts import WORDS
from tadoru.jobs.links.report.figures import Figures
from tadoru.jobs.links.result import BrokenLink, CrawlResult, Source, UrlInfo
from tadoru.jobs.report.escape import clip, printable, readable_url
from tadoru.jobs.report.graph.dots import Outcome
from tadoru.jobs.report.page import anchor, tag
from tadoru.jobs.report.words import counted

MOST_ROWS = 5000
_OPEN_PLACES = 5
_MOST_PLACES = 200

Name = Callable[[str], str]


def bad_links(links: Iterable[BrokenLink], short: Name) -> Iterator[str]:
    """Each link with the places that lead to it."""
    for link in links:
        kind = "blocked" if link.kind == "blocked" else "broken"
        mark = str(link.status_code) if link.status_code is not None else "#" if link.kind == "fragment" else "—"
        yield f'<div class="bad-link"><p>{tag(kind, mark)}{anchor(link.url, short(link.url))}</p>'
        words = printable(link.error).removeprefix(f"{link.status_code} ")
        yield f'<p class="error">{escape(words)}</p>'
        yield from _places(link.sources, short)
        yield "</div>"


def _places(sources: tuple[Source, ...], short: Name) -> Iterator[str]:
    if not sources:
        return
    yield f'<ul class="where">{"".join(_place(source, short) for source in sources[:_OPEN_PLACES])}</ul>'
    rest = sources[_OPEN_PLACES:]
    if rest:
        yield f"<details><summary>{counted(len(rest), 'more place')}</summary>"
        yield f'<ul class="where">{"".join(_place(source, short) for source in rest[:_MOST_PLACES])}</ul>'
        if len(rest) > _MOST_PLACES:
            yield f'<p class="error">and {len(rest) - _MOST_PLACES:,} more</p>'
        yield "</details>"


def _place(source: Source, short: Name) -> str:
    text = clip(printable(source.anchor_text), 160)
    words = f" as <q>{escape(text)}</q>" if text else ""
    return f"<li>on {anchor(source.page_url, short(source.page_url))}{words}</li>"


def redirects(infos: Iterable[UrlInfo], short: Name) -> Iterator[str]:
    """One line for each redirect."""
    for info in infos:
        mark = tag("redirect", str(info.status_code) if info.status_code is not None else "—")
        yield f"<li>{mark}{anchor(info.url, short(info.url))} → {escape(short(info.redirect_to or ''))}</li>"


def chosen_rows(result: CrawlResult, figures: Figures, show_external: bool) -> list[tuple[UrlInfo, bool]]:
    """The URLs of the table with whether each is external; when they are too many, those with problems are kept first."""
    external = result.external_urls if show_external else ()
    rows = chain(((info, False) for info in result.internal_urls), ((info, True) for info in external))
    rank = {outcome: number for number, outcome in enumerate(Outcome)}
    are_too_many = len(result.internal_urls) + len(external) > MOST_ROWS

    def key(row: tuple[UrlInfo, bool]) -> tuple[int, bool, int, str]:
        info, is_external = row
        return rank[figures.outcome(info)] if are_too_many else 0, is_external, info.depth, info.url

    return nsmallest(MOST_ROWS, rows, key=key)


def url_rows(rows: Iterable[tuple[UrlInfo, bool]], figures: Figures, short: Name) -> Iterator[str]:
    """The body of the table."""
    for info, external in rows:
        outcome = figures.outcome(info)
        status = str(info.status_code) if info.status_code is not None else "—"
        name = readable_url(info.url) if external else short(info.url)
        kind = f"{outcome} external" if external else outcome
        parent = anchor(info.parent_url, short(info.parent_url)) if info.parent_url else ""
        yield (
            f'<tr data-k="{kind}"><td data-v="{info.status_code or 0}">{tag(outcome, status)}</td>'
            f'<td data-v="{escape(name)}">{anchor(info.url, name)}{_second_line(info, figures, short, external)}</td>'
            f'<td class="number">{info.depth}</td><td class="from">{parent}</td></tr>\n'
        )


def _second_line(info: UrlInfo, figures: Figures, short: Name, external: bool) -> str:
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


def kind_options(external: bool) -> str:
    """The choices of the table's filter."""
    choices = [("", "All"), *((str(outcome), words) for outcome, words in WORDS.items())]
    if external:
        choices.append(("external", "External"))
    return "".join(f'<option value="{value}">{words}</option>' for value, words in choices)
