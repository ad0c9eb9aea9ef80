"""The part of the overview that is about crawls: those that run, what got worse, and how much was crawled by day."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from tadoru.serve.pages.crawls_charts import Column, by_day
from tadoru.serve.pages.crawls_showing import Listed, figure, listed, shown_run
from tadoru.serve.service import Service
from tadoru.store.crawls.register import NoSuchCrawl
from tadoru.store.events.drafts import zone

DAYS = 30
MOST_WORSE = 5
COUNTED = 5000
"""Runs that the chart counts at most."""


@dataclass(frozen=True, slots=True)
class Worse:
    """A run that was worse than the one before it."""

    crawl_id: int
    name: str
    at: datetime | None
    reasons: tuple[str, ...]
    new: int
    fixed: int


@dataclass(frozen=True, slots=True)
class CrawlDesk:
    """All of it."""

    running: tuple[Listed, ...]
    worse: tuple[Worse, ...]
    columns: tuple[Column, ...]
    pages: int
    runs: int


def crawl_desk(service: Service, today: date) -> CrawlDesk:
    """What the overview says of crawls."""
    store = service.store
    here = zone(service.options.timezone)
    runs = store.crawl_runs_since(store.now() - timedelta(days=DAYS), limit=COUNTED)
    days = [(run.ended_at.astimezone(here).date(), int(figure(run.figures, "pages") or 0)) for run in runs if run.ended_at]
    worse = [shown_run(run) for run in runs if run.changes.get("regression")]
    crawl_ids = {run.id: run.crawl_id for run in runs}
    names = _names(service, [crawl_ids[one.id] for one in worse[:MOST_WORSE]])
    return CrawlDesk(
        running=tuple(listed(one, None) for one in store.busy_crawls()),
        worse=tuple(
            Worse(crawl_ids[one.id], names.get(crawl_ids[one.id], ""), one.ended_at, one.reasons, one.new, one.fixed)
            for one in worse[:MOST_WORSE]
        ),
        columns=by_day(days, today, DAYS), pages=sum(count for _, count in days), runs=len(runs),
    )  # fmt: skip


def _names(service: Service, numbers: Sequence[int]) -> dict[int, str]:
    found = {}
    for number in set(numbers):
        try:
            found[number] = service.store.crawl(number).name
        except NoSuchCrawl:  # Removed just now.
            continue
    return found
