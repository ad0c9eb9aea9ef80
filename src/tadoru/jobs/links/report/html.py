"""The HTML form: one file that needs nothing but a browser, with a picture of the site and every list behind it.

Written for somebody who owns the site and did not run the crawl. All crawled text is escaped, and a content security policy
forbids whatever is not this page's own style and script.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape
from typing import TextIO
from urllib.parse import urlsplit

from tadoru.jobs.links.report.base import LinksReport
from tadoru.jobs.links.report.charts import WORDS, depth_columns, outcome_bar
from tadoru.jobs.links.report.figures import Figures
from tadoru.jobs.links.report.picture import draw
from tadoru.jobs.links.report.style import SCRIPT, STYLE
from tadoru.jobs.links.report.tables import MOST_ROWS, bad_links, chosen_rows, kind_options, redirects, url_rows
from tadoru.jobs.links.result import BrokenKind, UrlInfo
from tadoru.jobs.report.escape import printable, readable_url, shortener
from tadoru.jobs.report.graph.dots import Outcome
from tadoru.jobs.report.page import anchor, head
from tadoru.jobs.report.words import counted, duration_words

_MOST_REDIRECTS = 500
_OPEN_LINKS = 20


def write_html(report: LinksReport, out: TextIO) -> None:
    """Writes the page, piece by piece."""
    figures = Figures.of(report.result)
    short = shortener(figures.site)
    moved = sorted(report.result.redirects, key=lambda info: info.url)
    out.write(head("en", f"Links of {_site(report)}", STYLE, SCRIPT))
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


def _when(figures: Figures) -> str:
    seen = figures.first_seen
    return f"Crawled on {seen.day} {seen:%B %Y}." if seen is not None else ""


def _header(report: LinksReport, figures: Figures) -> Iterator[str]:
    start = report.result.start_url
    yield f'<header>\n<p class="over">Link report</p>\n<h1>{escape(_site(report))}</h1>\n'
    yield (
        f'<p class="over">From {anchor(start, readable_url(start))}. {_when(figures)} '
        f"{counted(report.result.total_processed, 'URL')} requested in {_time(report)}.</p>\n"
    )
    kind, words = _verdict(report, figures)
    yield f'<p class="verdict {kind}">{words}</p>\n</header>\n'


def _time(report: LinksReport) -> str:
    return duration_words(report.result.crawl_duration).replace(" ", "&nbsp;")


def _verdict(report: LinksReport, figures: Figures) -> tuple[str, str]:
    """The one line a busy reader takes away."""
    broken = sum(link.kind != "blocked" for link in report.broken)
    pages = len({source.page_url for link in report.broken if link.kind != "blocked" for source in link.sources})
    if broken:
        return "broken", f"{counted(broken, 'broken link')}" + (f" on {counted(pages, 'page')}" if pages else "")
    failed = figures.outcomes.get(Outcome.BROKEN, 0)
    if failed:
        return "broken", f"{counted(failed, 'page')} could not be read"
    if report.broken:
        return "blocked", f"{counted(len(report.broken), 'link')} could not be checked"
    if not report.result.internal_urls:
        return "unread", "Nothing was crawled"
    if report.checked:
        return "ok", report.all_well
    return "ok", "Every page that was requested works"


def _cards(report: LinksReport, figures: Figures, moved: int) -> str:
    result = report.result
    cards = [
        ("", "Pages found", len(result.internal_urls)),
        ("", "Requested", result.total_processed),
        ("broken", "Broken", sum(link.kind != "blocked" for link in report.broken) or figures.outcomes.get(Outcome.BROKEN, 0)),
        ("blocked", "Blocked", sum(link.kind == "blocked" for link in report.broken) or figures.outcomes.get(Outcome.BLOCKED, 0)),
        ("", "Redirects", moved),
        ("", "External links", len(result.external_urls)),
    ]
    inside = "".join(
        f'<div class="{kind if count else ""}"><dt>{words}</dt><dd>{count:,}</dd></div>' for kind, words, count in cards
    )
    return f'<dl class="cards">{inside}</dl>\n'


def _graph(report: LinksReport, figures: Figures, short: Callable[[str], str]) -> Iterator[str]:
    picture = draw(report.result, figures, report.edges, short)
    if picture is None:
        return
    yield '<section>\n<h2>How the site hangs together</h2>\n<p class="lead">The start page is in the middle, each ring is one '
    yield "click further away, and a bigger dot has more links leading to it. Point at a dot to see its links.</p>\n"
    yield f'<div class="panel">{picture.svg}\n<ul class="legend">'
    yield from (_legend(outcome, count) for outcome in WORDS if (count := figures.outcomes.get(outcome, 0)))
    if "dot more" in picture.svg:
        yield '<li><svg viewBox="0 0 12 12"><circle class="more" cx="6" cy="6" r="5"/></svg>Several pages of one directory</li>'
    yield "</ul>"
    if picture.caption:
        yield f'<p class="note">{picture.caption}</p>'
    yield "</div>\n</section>\n"


def _legend(outcome: Outcome, count: int) -> str:
    shape = '<path d="M6 0l6 6l-6 6l-6 -6z"/>' if outcome is Outcome.BROKEN else '<circle cx="6" cy="6" r="5.5"/>'
    return f'<li><svg class="{outcome}" viewBox="0 0 12 12">{shape}</svg>{WORDS[outcome]} <b>{count:,}</b></li>'


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
            yield from bad_links(links[:_OPEN_LINKS], short)
            if len(links) > _OPEN_LINKS:
                yield f"<details><summary>{len(links) - _OPEN_LINKS:,} more</summary>"
                yield from bad_links(links[_OPEN_LINKS:], short)
                yield "</details>"
            yield "</div>\n</section>\n"


def _charts(figures: Figures) -> Iterator[str]:
    if not figures.depths:
        return
    codes = "".join(f"<span>{escape(label)}: {count:,}</span>" for label, count in figures.statuses)
    yield '<section>\n<h2>In numbers</h2>\n<div class="two">\n<div class="panel"><h3>How the pages answered</h3>'
    yield f'{outcome_bar(figures.outcomes)}<ul class="legend">'
    yield from (_legend(outcome, count) for outcome in WORDS if (count := figures.outcomes.get(outcome, 0)))
    yield f'</ul><p class="codes">{codes}</p></div>\n'
    yield f'<div class="panel"><h3>Clicks from the start page</h3>{depth_columns(figures.depths)}</div>\n</div>\n</section>\n'


def _remarks(report: LinksReport) -> Iterator[str]:
    """What the crawl left out, when it left anything out."""
    lines = [f"The crawl stopped early: {printable(report.result.stopped)}"] if report.result.stopped else []
    for trap in report.result.traps:
        reason = f" ({printable(trap.reason)})" if trap.reason else ""
        skipped = f", {counted(trap.skipped, 'URL')} left out" if trap.skipped else ""
        lines.append(f"URLs without end were cut off: {printable(trap.pattern)}{reason}{skipped}")
    if lines:
        yield '<section>\n<h2>What was left out</h2>\n<div class="panel"><ul class="list">'
        yield from (f"<li>{escape(line)}</li>" for line in lines)
        yield "</ul></div>\n</section>\n"


def _redirects(infos: list[UrlInfo], short: Callable[[str], str]) -> Iterator[str]:
    if not infos:
        return
    yield '<section>\n<h2>Redirects</h2>\n<p class="lead">Each costs a visitor a detour; link to where it ends.</p>\n'
    yield f'<div class="panel"><details{" open" if len(infos) <= 10 else ""}><summary>{counted(len(infos), "redirect")}</summary>'
    yield '<ul class="list">'
    yield from redirects(infos[:_MOST_REDIRECTS], short)
    yield "</ul>"
    if len(infos) > _MOST_REDIRECTS:
        yield f'<p class="note">and {len(infos) - _MOST_REDIRECTS:,} more</p>'
    yield "</details></div>\n</section>\n"


def _urls(report: LinksReport, figures: Figures, short: Callable[[str], str]) -> Iterator[str]:
    rows = chosen_rows(report.result, figures, report.show_external)
    external = report.show_external and bool(report.result.external_urls)
    total = len(report.result.internal_urls) + (len(report.result.external_urls) if external else 0)
    yield "<section>\n<h2>Every URL</h2>\n"
    if total > MOST_ROWS:
        yield f'<p class="lead">{MOST_ROWS:,} of {total:,} URLs, those with problems first. The CSV form has all of them.</p>\n'
    yield '<div class="panel"><div class="tools" hidden data-shown="{count} of {all}">'
    yield '<input type="search" aria-label="Filter" placeholder="Filter by words">'
    yield f'<select aria-label="Kind">{kind_options(external)}</select><output></output></div>\n'
    yield '<table id="urls" class="sortable"><thead><tr><th>Status</th><th>URL</th><th class="number">Depth</th>'
    yield '<th class="from">Found on</th></tr></thead>\n<tbody>\n'
    yield from url_rows(rows, figures, short)
    yield "</tbody></table></div>\n</section>\n"
