"""The first page of a crawl in figures: its score, how its pages answered, how fast, how deep, and what to mend first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from tadoru.errors import StoreError
from tadoru.jobs.audit import reading
from tadoru.jobs.audit.reading.values import CheckSummary, Overview, TimeFigures
from tadoru.jobs.audit.report.language import LANGUAGES
from tadoru.jobs.audit.report.phrases import bound_words, class_names, time_words
from tadoru.jobs.audit.report.texts import INDEXABILITIES
from tadoru.jobs.report.charts import few
from tadoru.serve.crawling.places import database_of
from tadoru.serve.pages.crawls_charts import Part, bars
from tadoru.serve.pages.crawls_kept import kept
from tadoru.serve.pages.telling import Telling
from tadoru.serve.service import Service
from tadoru.store.crawls.values import ServedCrawl

FIRST = 5
"""Checks that are shown as what to mend first."""
_KINDS = {"2xx": "good", "3xx": "warn", "4xx": "bad", "5xx": "bad", "no answer": "bad"}
_FILTERS = {"no answer": "error", "waiting": "queued", "not requested": "skipped"}
"""How the list of pages names them."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What the page draws."""

    overview: Overview
    grade: str
    tiles: tuple[tuple[str, int, str], ...]
    answers: tuple[Part, ...]
    times: tuple[Part, ...]
    percentiles: tuple[str, str, str] | None
    depths: tuple[Part, ...]
    indexability: tuple[Part, ...]
    first: tuple[CheckSummary, ...]


def figures_of(service: Service, crawl: ServedCrawl, telling: Telling) -> Figures | None:
    """The figures of a crawl; None when there is nothing to read, or not now."""
    path = database_of(service, crawl)
    try:
        found = kept(reading.overview, path)
        grave = kept(reading.findings, path, lang=telling.lang) if found.severities else []
    except (reading.NothingToRead, StoreError):
        return None
    base, words = f"/manage/crawls/{crawl.id}", LANGUAGES[telling.lang]
    answers = class_names(words)
    return Figures(
        overview=found,
        grade=words.grade(found.score) if found.score is not None else "",
        tiles=_tiles(found, telling, base, has_links=crawl.job != "docs"),
        answers=bars(
            (
                answers.get(name, name),
                count,
                _KINDS.get(name, ""),
                f"{base}/pages?{urlencode({'answer': _FILTERS.get(name, name)})}",
            )
            for name, count in found.charts.classes.items()
            if count
        ),
        times=_times(found.charts.times),
        percentiles=_percentiles(found.charts.times),
        depths=depth_bars(found.charts.depths, base),
        indexability=bars(
            (words.named(INDEXABILITIES, one.reason), one.pages, "good" if one.indexable else "", "")
            for one in found.indexability
        ),
        first=tuple(one for one in grave if one.severity in ("error", "warning"))[:FIRST],
    )


def _tiles(found: Overview, telling: Telling, base: str, *, has_links: bool) -> tuple[tuple[str, int, str], ...]:
    say = telling.say
    tiles = [(say("over.pages"), found.pages, f"{base}/pages")]
    if found.severities:
        tiles.append((say("over.indexable"), found.indexable, f"{base}/pages?indexable=yes"))
        tiles += [
            (say(f"severity.{one.severity}"), one.findings, f"{base}/findings?severity={one.severity}")
            for one in found.severities[:3]
        ]
    elif has_links:
        broken = sum(found.charts.classes.get(name, 0) for name in ("4xx", "5xx", "no answer"))
        tiles.append((say("over.broken"), broken, f"{base}/links?which=broken"))
    if found.waiting:
        tiles.append((say("over.waiting"), found.waiting, f"{base}/pages?answer=queued"))
    if has_links:
        tiles.append((say("over.external"), found.external, f"{base}/links?which=external"))
    return tuple(tiles)


def depth_bars(depths: Sequence[tuple[int, int]], base: str) -> tuple[Part, ...]:
    """A bar for each depth, with the way to its pages; of very many, the last one holds all the rest."""
    shown = few([(str(depth), pages) for depth, pages in depths])
    return bars((depth, pages, "good", f"{base}/pages?depth={depth}" if depth.isdecimal() else "") for depth, pages in shown)


def _times(times: TimeFigures) -> tuple[Part, ...]:
    """The classes of response times without those at the end that are empty; each is named by its upper end."""
    if not times.count:
        return ()
    names = [*(f"≤ {bound_words(bound)}" for bound in times.bounds), f"> {bound_words(times.bounds[-1])}"]
    classes = list(zip(names, times.classes, strict=True))
    while not classes[-1][1]:
        classes.pop()
    return bars(
        (name, count, "good" if bound <= 1000 else "warn", "")
        for (name, count), bound in zip(classes, (*times.bounds, 10**9), strict=False)
    )


def _percentiles(times: TimeFigures) -> tuple[str, str, str] | None:
    if times.p50 is None or times.p90 is None or times.p99 is None:
        return None
    return time_words(times.p50), time_words(times.p90), time_words(times.p99)
