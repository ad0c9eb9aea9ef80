"""The tables of the service's crawls and their records, in the calendar database so that backups include them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sqlalchemy import CheckConstraint, Column, Connection, ForeignKey, Index, case, func, select, text, update

from tadoru.store.accounts.schema import service_table, text_column
from tadoru.store.calendar.schema import Int64, JsonValue, SafeText, UtcDateTime
from tadoru.store.crawl.browse import PublishedRecord


class CrawlState(StrEnum):
    """The state of a crawl of the service."""

    QUEUED = "queued"
    """It runs as soon as a slot is free."""
    RUNNING = "running"
    PAUSED = "paused"
    """Paused by a user; it can be resumed."""
    STOPPED = "stopped"
    """Stopped by a user: its run is over, and its results are kept."""
    FINISHED = "finished"
    FAILED = "failed"
    """It could not run; `error` has the reason."""


WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
DAILY = "daily"
_DAY = timedelta(days=1)


def next_scheduled(schedule: str, after: datetime) -> datetime | None:
    """The next time of a schedule such as `mon 03:00 Asia/Tokyo` or `daily 22:30 UTC`; None if it is none.

    A time that the clocks skip is the one that they show instead, and one that they show twice counts once.
    """
    day, _, rest = schedule.partition(" ")
    at, _, zone = rest.partition(" ")
    hours, _, minutes = at.partition(":")
    try:
        here, time = ZoneInfo(zone), timedelta(hours=int(hours), minutes=int(minutes))
    except (ValueError, OSError, ZoneInfoNotFoundError):
        return None
    if day not in (*WEEKDAYS, DAILY) or not timedelta(0) <= time < _DAY:
        return None
    local = after.astimezone(here)
    for number in range(9):
        date = (local + number * _DAY).date()
        found = (datetime(date.year, date.month, date.day, tzinfo=here) + time).astimezone(UTC)
        if found > after and day in (DAILY, WEEKDAYS[date.weekday()]):
            return found
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedCrawl:
    """A crawl of the service."""

    id: int
    name: str
    job: str
    """`audit`, `links` or `docs`."""
    starts: tuple[str, ...]
    options: Mapping[str, Any]
    """The chosen options, by the names of the job's options."""
    place: str
    """Its database, or its folder for `docs`: below the service's data folder as `crawls/…` or `docs/…`, or a path that an
    operator added, which is never deleted."""
    state: CrawlState
    wanted: str
    """`pause` or `stop`, if a user requested it and the crawl still runs."""
    again: bool
    """Its next run requests every URL again."""
    error: str
    webhook: str
    """The URL that is notified of regressions; empty for none."""
    every: int | None
    """Seconds between runs of a repeating crawl."""
    next_at: datetime | None
    created_at: datetime
    created_by: str
    started_at: datetime | None
    ended_at: datetime | None
    beat_at: datetime | None
    progress: Mapping[str, Any]
    """The last reported progress: `pages`, `errors`, `queued`, `known`, `rate` (pages per second), `seconds`."""
    schedule: str = ""
    """When it runs, such as `mon 03:00 Asia/Tokyo` or `daily 22:30 UTC`; empty for an interval or none."""
    report_to: str = ""
    """E-mail addresses that get the report after a scheduled run, separated by spaces."""

    @property
    def is_ours(self) -> bool:
        """Whether its files are in the service's data folder."""
        return self.place.startswith(("crawls/", "docs/"))

    @property
    def is_busy(self) -> bool:
        return self.state in (CrawlState.QUEUED, CrawlState.RUNNING)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlRun:
    """One run of a crawl, for trends."""

    id: int
    crawl_id: int
    started_at: datetime
    ended_at: datetime | None
    outcome: str
    """`finished`, `paused`, `stopped`, `failed`; empty while it runs."""
    figures: Mapping[str, Any]
    """Figures to compare runs by, such as `pages`, `errors`, `score`, `findings.error`."""
    changes: Mapping[str, Any]
    """Differences from the previous run, and whether they are a regression."""
    told_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedView(PublishedRecord, published="CrawlView"):
    """A view of a table of a crawl that somebody named, or a segment of its site."""

    id: int
    crawl_id: int
    tab: str
    name: str
    query: str
    """The query string of its page; the paths of a segment."""
    created_at: datetime
    created_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IgnoredFinding(PublishedRecord, published="CrawlIgnored"):
    """A check, or one of its subjects, that somebody decided to ignore."""

    id: int
    crawl_id: int
    check_id: str
    subject: str
    """The URL of the page or target; empty for the whole check."""
    reason: str
    created_at: datetime
    created_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedReport(PublishedRecord, published="CrawlShare"):
    """A link to the report of a crawl for somebody without an account."""

    id: int
    crawl_id: int
    label: str
    created_at: datetime
    created_by: str
    expires_at: datetime
    revoked_at: datetime | None
    used_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveMessage:
    """A message to the live connections."""

    id: int
    """Increases with every message: a client resumes after the last one it received."""
    at: datetime
    kind: str
    """Such as `crawl.progress`; the kinds are in `serve.live`."""
    subject: str
    """What it is about, such as `crawl/12` or `source/3`."""
    body: Mapping[str, Any]


def _crawl_id() -> Column[Any]:
    return Column("crawl_id", Int64, ForeignKey("crawls.id", ondelete="CASCADE"), nullable=False, index=True)


crawls = service_table(
    "crawls",
    Column("name", SafeText, nullable=False),
    Column("job", SafeText, CheckConstraint("job IN ('audit','links','docs')", name="crawl_job"), nullable=False),
    Column("starts", JsonValue, nullable=False),
    Column("options", JsonValue, nullable=False),
    Column("place", SafeText, nullable=False),
    Column("state", SafeText, CheckConstraint(
        "state IN ('queued','running','paused','stopped','finished','failed')", name="crawl_state"), nullable=False),
    text_column("wanted", CheckConstraint("wanted IN ('','pause','stop')", name="crawl_wanted")),
    Column("again", Int64, nullable=False, server_default=text("0")),
    text_column("error"),
    text_column("webhook"),
    Column("every", Int64),
    Column("next_at", UtcDateTime),
    Column("created_at", UtcDateTime, nullable=False),
    text_column("created_by"),
    Column("started_at", UtcDateTime),
    Column("ended_at", UtcDateTime),
    text_column("machine"),
    Column("pid", Int64),
    text_column("process_start"),
    Column("beat_at", UtcDateTime),
    Column("deaths", Int64, nullable=False, server_default=text("0")),
    Column("progress", JsonValue, nullable=False),
    text_column("owner"),
    text_column("queued_by"),
    text_column("schedule"),
    text_column("report_to"),
    Index("crawls_by_state", "state"),
)  # fmt: skip

crawl_runs = service_table(
    "crawl_runs",
    _crawl_id(),
    Column("started_at", UtcDateTime, nullable=False),
    Column("ended_at", UtcDateTime),
    text_column("outcome"),
    Column("figures", JsonValue, nullable=False),
    Column("changes", JsonValue, nullable=False),
    Column("told_at", UtcDateTime),
)

crawl_views = service_table(
    "crawl_views",
    _crawl_id(),
    Column("tab", SafeText, nullable=False),
    Column("name", SafeText, nullable=False),
    Column("query", SafeText, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    text_column("created_by"),
)

crawl_ignored = service_table(
    "crawl_ignored",
    _crawl_id(),
    Column("check_id", SafeText, nullable=False),
    text_column("subject"),
    Column("reason", SafeText, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    text_column("created_by"),
)

crawl_shares = service_table(
    "crawl_shares",
    _crawl_id(),
    Column("token_hash", SafeText, nullable=False, unique=True),
    text_column("label"),
    Column("created_at", UtcDateTime, nullable=False),
    text_column("created_by"),
    Column("expires_at", UtcDateTime, nullable=False),
    Column("revoked_at", UtcDateTime),
    Column("used_at", UtcDateTime),
)

live_messages = service_table(
    "live_messages",
    Column("at", UtcDateTime, nullable=False, index=True),
    Column("kind", SafeText, nullable=False),
    Column("subject", SafeText, nullable=False),
    Column("body", JsonValue, nullable=False),
)


def release_running_crawls(sql: Connection) -> None:
    """Queue the running crawls of a copied database: no process runs them there, and they resume where they were."""
    heard = select(crawls.c.beat_at).where(crawls.c.id == crawl_runs.c.crawl_id).scalar_subquery()
    ended = func.coalesce(heard, crawl_runs.c.started_at)
    open_runs = update(crawl_runs).where(crawl_runs.c.ended_at.is_(None))
    sql.execute(open_runs.values(ended_at=ended, told_at=ended, outcome="stopped"))
    state = case((crawls.c.wanted == "pause", "paused"), (crawls.c.wanted == "stop", "stopped"), else_="queued")
    mine = {"state": state, "wanted": "", "machine": "", "pid": None, "process_start": ""}
    sql.execute(update(crawls).where(crawls.c.state == "running").values(mine))
