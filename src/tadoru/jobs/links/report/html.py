"""The HTML format: one self-contained file with the site graph, links that do not work, redirects and all URLs.

It is for the owner of the site, who did not run the crawl. The template is `links.html`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from heapq import nsmallest
from itertools import chain
from typing import TextIO

from tadoru.i18n.formats import format_date
from tadoru.i18n.translation import Translator
from tadoru.jobs.links.report.figures import BAD_LINK_KINDS, LinksFigures, LinksReport, format_place
from tadoru.jobs.links.report.site_graph import draw_site
from tadoru.jobs.links.report.text import describe_not_requested, describe_trap, translate_stop
from tadoru.jobs.links.result import CrawlResult, UrlInfo
from tadoru.jobs.reporting.charts import ChartSegment
from tadoru.jobs.reporting.escape import clip, printable, readable_url, url_host, url_origin, url_shortener
from tadoru.jobs.reporting.formatting import format_duration
from tadoru.jobs.reporting.graph_layout import OUTCOME_NAMES, UrlOutcome
from tadoru.jobs.reporting.graph_svg import legend_items
from tadoru.jobs.reporting.html_templates import link_html, write_template

MAX_ROWS = 5000


def write_html(report: LinksReport, out: TextIO) -> None:
    """Writes the page; rows of the table of URLs are streamed."""
    _, result, figures = report.translate, report.result, LinksFigures.of(report.result)
    short, site = url_shortener(figures.site), url_host(result.start_url)
    moved = sorted(result.redirects, key=lambda info: info.url)
    external = report.show_external and bool(result.external_urls)
    write_template(
        "links.html",
        _.lang,
        out,
        has_script=True,
        title=_("Links of {site}", site=site),
        about=_crawl_date(figures, _),
        site=site,
        start_url=result.start_url,
        facts=_facts(report, figures, _),
        verdict=_verdict(report, figures, _),
        cards=_cards(report, figures, len(moved), _),
        picture=draw_site(result, figures, report.edges, short, _),
        bad_links={kind: [link for link in report.broken if link.kind == kind] for kind in BAD_LINK_KINDS},
        figures=figures,
        segments=[ChartSegment(outcome, _(name), figures.outcomes.get(outcome, 0)) for outcome, name in OUTCOME_NAMES.items()],
        legend=legend_items(figures.outcomes, _),
        statuses=[(_(name), count) for name, count in figures.statuses],
        depths=[(str(depth), count) for depth, count in figures.depths],
        excluded=list(_excluded(report, _)),
        hosts=report.hosts(),
        format_place=format_place,
        translate_text=_.text,
        redirects=moved,
        max_rows=MAX_ROWS,
        total=len(result.internal_urls) + (len(result.external_urls) if external else 0),
        kinds=_kinds(external, _),
        rows=_url_rows(choose_rows(result, figures, report.show_external), figures, short, _),
        short=short,
    )


def _crawl_date(figures: LinksFigures, _: Translator) -> str:
    if figures.first_seen is None:
        return ""
    return _("Crawled on {date}.", date=format_date(figures.first_seen, _.lang, pattern="long"))


def _facts(report: LinksReport, figures: LinksFigures, _: Translator) -> str:
    count, duration = report.result.total_processed, format_duration(report.result.crawl_duration, _)
    requested = _.ngettext(
        "{count} URL requested in {duration}.", "{count} URLs requested in {duration}.", count, duration=duration
    )
    return " ".join(filter(None, (_crawl_date(figures, _), requested)))


def _verdict(report: LinksReport, figures: LinksFigures, _: Translator) -> tuple[str, str]:
    """The result of the crawl in one line, and its colour."""
    broken = sum(link.kind != "blocked" for link in report.broken)
    pages = len({source.page_url for link in report.broken if link.kind != "blocked" for source in link.sources})
    if broken and pages:
        count = _.ngettext("{count} page", "{count} pages", pages)
        return "broken", _.ngettext("{count} broken link on {pages}", "{count} broken links on {pages}", broken, pages=count)
    if broken:
        return "broken", _.ngettext("{count} broken link", "{count} broken links", broken)
    failed = figures.outcomes.get(UrlOutcome.BROKEN, 0)
    if failed:
        return "broken", _.ngettext("{count} page could not be loaded", "{count} pages could not be loaded", failed)
    if report.broken:
        return "blocked", _.ngettext(
            "{count} link could not be checked", "{count} links could not be checked", len(report.broken)
        )
    if not report.result.internal_urls:
        return "unread", _("Nothing was crawled.")
    if report.checked:
        return "ok", report.describe_success()
    return "ok", _("Every requested page works.")


def _cards(report: LinksReport, figures: LinksFigures, moved: int, _: Translator) -> list[tuple[str, str, int, str]]:
    """Colour, name, count and note of each card."""
    result, outcomes = report.result, figures.outcomes
    broken = sum(link.kind != "blocked" for link in report.broken) or outcomes.get(UrlOutcome.BROKEN, 0)
    blocked = sum(link.kind == "blocked" for link in report.broken) or outcomes.get(UrlOutcome.BLOCKED, 0)
    return [
        ("", _("Pages found"), len(result.internal_urls), ""),
        ("", _("Requested"), result.total_processed, ""),
        ("broken", _("Broken"), broken, ""),
        ("blocked", _("Blocked"), blocked, ""),
        ("", _("Redirects"), moved, ""),
        ("", _("External URLs"), len(result.external_urls), ""),
    ]


def _kinds(external: bool, _: Translator) -> list[tuple[str, str]]:
    """The values and names of the filter of the table."""
    kinds = [("", _("All")), *((str(outcome), _(name)) for outcome, name in OUTCOME_NAMES.items())]
    return [*kinds, ("external", _("External"))] if external else kinds


def _excluded(report: LinksReport, _: Translator) -> Iterator[str]:
    """What the crawl did not request."""
    if report.result.stopped:
        yield _("The crawl stopped early: {reason}", reason=printable(translate_stop(report.result.stopped, _)))
    for trap in report.result.traps:
        text, count = describe_trap(trap, _), trap.skipped
        if count:
            text = _.ngettext("{trap}, {count} URL skipped", "{trap}, {count} URLs skipped", count, trap=text)
        yield _("Crawler trap: {trap}", trap=text)


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


def _url_rows(
    rows: list[tuple[UrlInfo, bool]], figures: LinksFigures, short: Callable[[str], str], _: Translator
) -> Iterator[tuple[str, str, str, str, str, str, str, str]]:
    """Outcome, filter values, status code, URL, name, line below, depth, and a link to the parent of each URL."""

    @lru_cache(1024)
    def parent(url: str | None) -> str:
        return link_html(url, short(url)) if url else ""

    for info, external in rows:
        outcome = str(figures.outcome(info))
        name = readable_url(info.url) if external else short(info.url)
        text = _second_line(info, figures, _, external=external)
        kinds = f"{outcome} external" if external else outcome
        yield outcome, kinds, str(info.status_code or ""), info.url, name, text, str(info.depth), parent(info.parent_url)


def _second_line(info: UrlInfo, figures: LinksFigures, _: Translator, *, external: bool) -> str:
    failed = figures.failed.get(info.url)
    if failed is not None:
        text = _.text(failed.error_message)
    elif info.redirect_to:
        text = f"→ {url_shortener(url_origin(info.url))(info.redirect_to)}"
    elif info.not_fetched and not external:
        text = describe_not_requested(info, _)
    else:
        text = info.title
    return clip(printable(text), 200)
