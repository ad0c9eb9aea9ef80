"""The calendar database as one class, and how to open it."""

from __future__ import annotations

from typing import TypeVar

from tadoru.clock import Clock, SystemClock
from tadoru.store.calendar.apply import RunApplier
from tadoru.store.calendar.backup import BackupStore
from tadoru.store.calendar.database import LOCK_TIMEOUT, CalendarDatabase
from tadoru.store.calendar.event_records import EventDetails
from tadoru.store.calendar.listing import EventQueries
from tadoru.store.calendar.manual_edits import ManualEdits
from tadoru.store.calendar.merging import MergeStore
from tadoru.store.calendar.migrate import prepare_database
from tadoru.store.calendar.missing_events import MissingEvents
from tadoru.store.calendar.review_queue import ReviewQueue
from tadoru.store.calendar.run_notifications import IncidentStore
from tadoru.store.calendar.runs import Retention, RunStore
from tadoru.store.calendar.schedule import HostSlots, SourceSchedule
from tadoru.store.calendar.search_changes import SearchChangeLog
from tadoru.store.calendar.sources import HealthQueries, SourceStore

DEFAULT_DATABASE = "./var/tadoru.db"
S = TypeVar("S", bound=CalendarDatabase)


class CalendarStore(
    SourceStore,
    SourceSchedule,
    HostSlots,
    RunStore,
    RunApplier,
    MissingEvents,
    MergeStore,
    ReviewQueue,
    ManualEdits,
    EventQueries,
    EventDetails,
    IncidentStore,
    Retention,
    HealthQueries,
    BackupStore,
    SearchChangeLog,
    CalendarDatabase,
):
    """The whole calendar database. Threads may share it; each method is one transaction unless documented otherwise."""


def open_calendar(
    database: str = DEFAULT_DATABASE, clock: Clock | None = None, *, patience: float = LOCK_TIMEOUT
) -> CalendarStore:
    """Open a database, a path or `postgresql://…`, and create it if it does not exist."""
    return open_as(CalendarStore, database, clock, patience)


def open_as(kind: type[S], database: str, clock: Clock | None, patience: float) -> S:
    """Open a database as a store of some kind."""
    store = kind(database, clock or SystemClock(), patience=patience)
    try:
        prepare_database(store)
    except BaseException:
        store.close()
        raise
    return store
