"""The calendar database: one object with a part for each subject, and how to open it."""

from __future__ import annotations

from tadoru.clock import Clock, SystemClock
from tadoru.store.calendar.apply import RunResults
from tadoru.store.calendar.database import LOCK_TIMEOUT, CalendarDatabase
from tadoru.store.calendar.listing import EventQueries
from tadoru.store.calendar.manual_edits import ManualEdits
from tadoru.store.calendar.merging import Merges
from tadoru.store.calendar.migrate import prepare_database
from tadoru.store.calendar.review_queue import ReviewQueue
from tadoru.store.calendar.run_notifications import Incidents
from tadoru.store.calendar.runs import Retention, RunStore
from tadoru.store.calendar.schedule import HostSlots, SourceSchedule
from tadoru.store.calendar.search_changes import SearchChangeLog
from tadoru.store.calendar.sources import CalendarStatistics, Sources
from tadoru.store.served_crawls.live_messages import LiveMessages

DEFAULT_DATABASE = "./var/tadoru.db"


class CalendarStore:
    """The whole calendar database. Threads may share it; each method of a part is one transaction unless documented otherwise."""

    def __init__(self, db: CalendarDatabase) -> None:
        self.db = db
        self.events = EventQueries(db)
        self.edits = ManualEdits(db)
        self.merges = Merges(db)
        self.reviews = ReviewQueue(db)
        self.sources = Sources(db)
        self.schedule = SourceSchedule(db)
        self.hosts = HostSlots(db)
        self.runs = RunStore(db)
        self.results = RunResults(db)
        self.retention = Retention(db)
        self.incidents = Incidents(db)
        self.messages = LiveMessages(db)
        self.search_changes = SearchChangeLog(db)
        self.statistics = CalendarStatistics(db)

    def close(self) -> None:
        self.db.close()


def open_calendar(
    database: str = DEFAULT_DATABASE, clock: Clock | None = None, *, patience: float = LOCK_TIMEOUT
) -> CalendarStore:
    """Open a database, a path or `postgresql://…`, and create it if it does not exist."""
    return CalendarStore(open_database(database, clock, patience))


def open_database(database: str, clock: Clock | None, patience: float) -> CalendarDatabase:
    """A connection to a database that is created or migrated."""
    db = CalendarDatabase(database, clock or SystemClock(), patience=patience)
    try:
        prepare_database(db)
    except BaseException:
        db.close()
        raise
    return db
