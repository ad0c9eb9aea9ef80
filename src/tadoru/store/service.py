"""The database of the service: the events, who may see and change them, and the crawls that it drives."""

from __future__ import annotations

from tadoru.clock import Clock
from tadoru.store.access.audit import AuditLog
from tadoru.store.access.keys import Keys
from tadoru.store.access.pruning import Pruning
from tadoru.store.access.secrets import COST
from tadoru.store.access.sessions import Sessions
from tadoru.store.access.users import Users
from tadoru.store.crawls.claiming import CrawlClaims
from tadoru.store.events.connect import LOCK_PATIENCE
from tadoru.store.events.migrate import prepare
from tadoru.store.events.open import DEFAULT_DATABASE, EventsStore


class ServiceStore(CrawlClaims, Pruning, Sessions, Users, Keys, AuditLog, EventsStore):
    """Everything that the service keeps. Threads may share it; a method is one transaction unless it says else."""


def open_service(
    database: str = DEFAULT_DATABASE, clock: Clock | None = None, *, patience: float = LOCK_PATIENCE, password_cost: int = COST
) -> ServiceStore:
    """Open a database, made when it is not there: a path, or `postgresql://…`."""
    if clock is None:
        from tadoru.clock import SystemClock

        clock = SystemClock()
    store = ServiceStore(database, clock, patience=patience)
    store.password_cost = password_cost
    try:
        prepare(store)
    except BaseException:
        store.close()
        raise
    return store
