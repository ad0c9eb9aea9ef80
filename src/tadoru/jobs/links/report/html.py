"""The HTML form: one file that needs nothing but a browser, with a picture of the site and every list behind it.

Written for somebody who owns the site and did not run the crawl. All crawled text is escaped, and a content security policy
forbids whatever is not this page's own style and script.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from html import escape
from typing import TextIO
from urllib.parse import urlsplit

from tadoru.jobs.links.report.figures import OUTCOME_NAMES, LinksFigures, LinksReport
from tadoru.jobs.links.report.html_tables import (
    MAX_ROWS,
    broken_links_html,
    choose_rows,
    kind_options_html,
    redirects_html,
    url_rows_html,
)
from tadoru.jobs.links.report.site_graph import draw_site
from tadoru.jobs.links.result import BrokenKind, UrlInfo
from tadoru.jobs.reporting.charts import ChartSegment, bar_svg, columns_svg
from tadoru.jobs.reporting.escape import printable, readable_url, url_shortener
from tadoru.jobs.reporting.formatting import format_count, format_duration
from tadoru.jobs.reporting.graph_layout import UrlOutcome
from tadoru.jobs.reporting.html_page import html_head, link_html, read_asset

STYLE = read_asset("base.css")
SCRIPT = read_asset("base.js")


def outcome_bar(outcomes: Mapping[UrlOutcome, int]) -> str:
    """One bar, a piece for each outcome that occurs."""
    return bar_svg([ChartSegment(outcome, words, outcomes.get(outcome, 0)) for outcome, words in OUTCOME_NAMES.items()])


def depth_columns(depths: tuple[tuple[int, int], ...]) -> str:
    """A column for each depth; on a very deep site the last one holds all the rest."""
    return columns_svg([(str(depth), count) for depth, count in depths], "depth")


_MOST_REDIRECTS = 500
_OPEN_LINKS = 20


def write_html(report: LinksReport, out: TextIO) -> None:
    """Writes the page, piece by piece."""
    figures = LinksFigures.of(report.result)
    short = url_shortener(figures.site)
    moved = sorted(report.result.redirects, key=lambda info: info.url)
    out.write(html_head("en", f"Links of {_site(report)}", STYLE, SCRIPT))
    out.writelines(_header(report, figures))
    out.write("<main>\n")
    out.write(_cards(report, figures, len(moved)))
    out.writelines(_graph(report, figures, short))
    out.writelines(_bad_links(report, short))
    out.writelines(_charts(figures))
    out.writelines(_remarks(report))
    out.writelines(_redirects(moved, short))
    out.writelines(_urls(report, figures, short))
    out.write("</main>\n")
    out.write(f"<footer>Made by Tadoru. {_when(figures)}</footer>\n<script>{SCRIPT}</script>\n</body>\n</html>\n")


def _site(report: LinksReport) -> str:
    try:
        host = urlsplit(report.result.start_url).netloc
    except ValueError:
        host = ""
    return printable(host or report.result.start_url)


def _when(figures: LinksFigures) -> str:
    seen = figures.first_seen
    return f"Crawled on {seen.day} {seen:%B %Y}." if seen is not None else ""


def _header(report: LinksReport, figures: LinksFigures) -> Iterator[str]:
    start = report.result.start_url
    yield f'<header>\n<p class="over">Link report</p>\n<h1>{escape(_site(report))}</h1>\n'
    yield (
        f'<p class="over">From {link_html(start, readable_url(start))}. {_when(figures)} '
        f"{format_count(report.result.total_processed, 'URL')} requested in {_time(report)}.</p>\n"
    )
    kind, words = _verdict(report, figures)
    yield f'<p class="verdict {kind}">{words}</p>\n</header>\n'


def _time(report: LinksReport) -> str:
    return format_duration(report.result.crawl_duration).replace(" ", "&nbsp;")


def _verdict(report: LinksReport, figures: LinksFigures) -> tuple[str, str]:
    """The one line a busy reader takes away."""
    broken = sum(link.kind != "blocked" for link in report.broken)
    pages = len({source.page_url for link in report.broken if link.kind != "blocked" for source in link.sources})
    if broken:
        return "broken", f"{format_count(broken, 'broken link')}" + (f" on {format_count(pages, 'page')}" if pages else "")
    failed = figures.outcomes.get(UrlOutcome.BROKEN, 0)
    if failed:
        return "broken", f"{format_count(failed, 'page')} could not be read"
    if report.broken:
        return "blocked", f"{format_count(len(report.broken), 'link')} could not be checked"
    if not report.result.internal_urls:
        return "unread", "Nothing was crawled"
    if report.checked:
        return "ok", report.all_well
    return "ok", "Every page that was requested works"


def _cards(report: LinksReport, figures: LinksFigures, moved: int) -> str:
    result = report.result
    cards = [
        ("", "Pages found", len(result.internal_urls)),
        ("", "Requested", result.total_processed),
        ("broken", "Broken", sum(link.kind != "blocked" for link in report.broken) or figures.outcomes.get(UrlOutcome.BROKEN, 0)),
        (
            "blocked",
            "Blocked",
            sum(link.kind == "blocked" for link in report.broken) or figures.outcomes.get(UrlOutcome.BLOCKED, 0),
        ),
        ("", "Redirects", moved),
        ("", "External links", len(result.external_urls)),
    ]
    inside = "".join(
        f'<div class="{kind if count else ""}"><dt>{words}</dt><dd>{count:,}</dd></div>' for kind, words, count in cards
    )
    return f'<dl class="cards">{inside}</dl>\n'


def _graph(report: LinksReport, figures: LinksFigures, short: Callable[[str], str]) -> Iterator[str]:
    picture = draw_site(report.result, figures, report.edges, short)
    if picture is None:
        return
    yield '<section>\n<h2>How the site hangs together</h2>\n<p class="lead">The start page is in the middle, each ring is one '
    yield "click further away, and a bigger dot has more links leading to it. Point at a dot to see its links.</p>\n"
    yield f'<div class="panel">{picture.svg}\n<ul class="legend">'
    yield from (_legend(outcome, count) for outcome in OUTCOME_NAMES if (count := figures.outcomes.get(outcome, 0)))
    if "dot more" in picture.svg:
        yield '<li><svg viewBox="0 0 12 12"><circle class="more" cx="6" cy="6" r="5"/></svg>Several pages of one directory</li>'
    yield "</ul>"
    if picture.caption:
        yield f'<p class="note">{picture.caption}</p>'
    yield "</div>\n</section>\n"


def _legend(outcome: UrlOutcome, count: int) -> str:
    shape = '<path d="M6 0l6 6l-6 6l-6 -6z"/>' if outcome is UrlOutcome.BROKEN else '<circle cx="6" cy="6" r="5.5"/>'
    return f'<li><svg class="{outcome}" viewBox="0 0 12 12">{shape}</svg>{OUTCOME_NAMES[outcome]} <b>{count:,}</b></li>'


def _bad_links(report: LinksReport, short: Callable[[str], str]) -> Iterator[str]:
    headings: tuple[tuple[BrokenKind, str, str], ...] = (
        ("broken", "Broken links", "Each leads nowhere. Below it, the pages to mend and the words that are linked there."),
        ("fragment", "Links to missing places in a page", "The page exists; the place within it that the link names does not."),
        ("blocked", "Links that could not be checked", "These sites turn a crawler away. A visitor may be able to open them."),
    )
    for kind, heading, lead in headings:
        links = [link for link in report.broken if link.kind == kind]
        if links:
            yield f'<section>\n<h2>{heading}</h2>\n<p class="lead">{lead}</p>\n<div class="panel">'
            yield from broken_links_html(links[:_OPEN_LINKS], short)
            if len(links) > _OPEN_LINKS:
                yield f"<details><summary>{len(links) - _OPEN_LINKS:,} more</summary>"
                yield from broken_links_html(links[_OPEN_LINKS:], short)
                yield "</details>"
            yield "</div>\n</section>\n"


def _charts(figures: LinksFigures) -> Iterator[str]:
    if not figures.depths:
        return
    codes = "".join(f"<span>{escape(label)}: {count:,}</span>" for label, count in figures.statuses)
    yield '<section>\n<h2>In numbers</h2>\n<div class="two">\n<div class="panel"><h3>How the pages answered</h3>'
    yield f'{outcome_bar(figures.outcomes)}<ul class="legend">'
    yield from (_legend(outcome, count) for outcome in OUTCOME_NAMES if (count := figures.outcomes.get(outcome, 0)))
    yield f'</ul><p class="codes">{codes}</p></div>\n'
    yield f'<div class="panel"><h3>Clicks from the start page</h3>{depth_columns(figures.depths)}</div>\n</div>\n</section>\n'


def _remarks(report: LinksReport) -> Iterator[str]:
    """What the crawl left out, when it left anything out."""
    lines = [f"The crawl stopped early: {printable(report.result.stopped)}"] if report.result.stopped else []
    for trap in report.result.traps:
        reason = f" ({printable(trap.reason)})" if trap.reason else ""
        skipped = f", {format_count(trap.skipped, 'URL')} left out" if trap.skipped else ""
        lines.append(f"URLs without end were cut off: {printable(trap.pattern)}{reason}{skipped}")
    if lines:
        yield '<section>\n<h2>What was left out</h2>\n<div class="panel"><ul class="list">'
        yield from (f"<li>{escape(line)}</li>" for line in lines)
        yield "</ul></div>\n</section>\n"


def _redirects(infos: list[UrlInfo], short: Callable[[str], str]) -> Iterator[str]:
    if not infos:
        return
    yield '<section>\n<h2>Redirects</h2>\n<p class="lead">Each costs a visitor a detour; link to where it ends.</p>\n'
    yield f'<div class="panel"><details{" open" if len(infos) <= 10 else ""}><summary>{format_count(len(infos), "redirect")}</summary>'
    yield '<ul class="list">'
    yield from redirects_html(infos[:_MOST_REDIRECTS], short)
    yield "</ul>"
    if len(infos) > _MOST_REDIRECTS:
        yield f'<p class="note">and {len(infos) - _MOST_REDIRECTS:,} more</p>'
    yield "</details></div>\n</section>\n"


def _urls(report: LinksReport, figures: LinksFigures, short: Callable[[str], str]) -> Iterator[str]:
    rows = choose_rows(report.result, figures, report.show_external)
    external = report.show_external and bool(report.result.external_urls)
    total = len(report.result.internal_urls) + (len(report.result.external_urls) if external else 0)
    yield "<section>\n<h2>Every URL</h2>\n"
    if total > MAX_ROWS:
        yield f'<p class="lead">{MAX_ROWS:,} of {total:,} URLs, those with problems first. The CSV form has all of them.</p>\n'
    yield '<div class="panel"><div class="tools" hidden data-shown="{count} of {all}">'
    yield '<input type="search" aria-label="Filter" placeholder="Filter by words">'
    yield f'<select aria-label="Kind">{kind_options_html(external)}</select><output></output></div>\n'
    yield '<table id="urls" class="sortable"><thead><tr><th>Status</th><th>URL</th><th class="number">Depth</th>'
    yield '<th class="from">Found on</th></tr></thead>\n<tbody>\n'
    yield from url_rows_html(rows, figures, short)
    yield "</tbody></table></div>\n</section>\n"
