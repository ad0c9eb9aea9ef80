"""The events database as one thing: every room of it, and the way in."""

from __future__ import annotations

from tadoru.clock import Clock
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
    """Everything that is kept about events. Threads may share it; a method is one transaction unless it says else."""


def open_calendar(
    database: str = DEFAULT_DATABASE, clock: Clock | None = None, *, patience: float = LOCK_TIMEOUT
) -> CalendarStore:
    """Open a database, made when it is not there: a path, or `postgresql://…`."""
    if clock is None:
        from tadoru.clock import SystemClock

        clock = SystemClock()
    store = CalendarStore(database, clock, patience=patience)
    try:
        prepare_database(store)
    except BaseException:
        store.close()
        raise
    return store
