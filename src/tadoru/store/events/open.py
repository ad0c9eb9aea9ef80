"""The events database as one thing: every room of it, and the way in."""

from __future__ import annotations

from tadoru.clock import Clock
from tadoru.store.events.apply import Applying
from tadoru.store.events.connect import LOCK_PATIENCE, EventsDatabase
from tadoru.store.events.hand import Hand
from tadoru.store.events.health import Health
from tadoru.store.events.host_slots import HostSlots
from tadoru.store.events.incidents import Incidents
from tadoru.store.events.listing import Listing
from tadoru.store.events.merging import Merging
from tadoru.store.events.migrate import prepare
from tadoru.store.events.retention import Retention
from tadoru.store.events.reviewing import Reviewing
from tadoru.store.events.runs import Runs
from tadoru.store.events.schedule import Schedule
from tadoru.store.events.search_changes import SearchChanges
from tadoru.store.events.sources import Sources
from tadoru.store.events.story import Stories
from tadoru.store.events.sweep import Sweeping
from tadoru.store.events.transfer import Transfer

DEFAULT_DATABASE = "./var/tadoru.db"


class EventsStore(
    Sources,
    Schedule,
    HostSlots,
    Runs,
    Applying,
    Sweeping,
    Merging,
    Reviewing,
    Hand,
    Listing,
    Stories,
    Incidents,
    Retention,
    Health,
    Transfer,
    SearchChanges,
    EventsDatabase,
):
    """Everything that is kept about events. Threads may share it; a method is one transaction unless it says else."""


def open_events(database: str = DEFAULT_DATABASE, clock: Clock | None = None, *, patience: float = LOCK_PATIENCE) -> EventsStore:
    """Open a database, made when it is not there: a path, or `postgresql://…`."""
    if clock is None:
        from tadoru.clock import SystemClock

        clock = SystemClock()
    store = EventsStore(database, clock, patience=patience)
    try:
        prepare(store)
    except BaseException:
        store.close()
        raise
    return store
