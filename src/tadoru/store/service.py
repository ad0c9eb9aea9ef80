"""The database of the service: the calendar, accounts, and the crawls that the service runs."""

from __future__ import annotations

from tadoru.clock import Clock
from tadoru.store.accounts.api_keys import ApiKeys
from tadoru.store.accounts.audit_log import AuditLog
from tadoru.store.accounts.secrets import COST
from tadoru.store.accounts.users import AccountCleanup, Sessions, Users
from tadoru.store.calendar.database import LOCK_TIMEOUT
from tadoru.store.calendar.store import DEFAULT_DATABASE, CalendarStore, open_as
from tadoru.store.served_crawls.claims import CrawlClaims


class ServiceStore(CrawlClaims, AccountCleanup, Sessions, Users, ApiKeys, AuditLog, CalendarStore):
    """Everything that the service stores; threads may share it, and a method is one transaction unless it says otherwise."""


def open_service(
    database: str = DEFAULT_DATABASE, clock: Clock | None = None, *, patience: float = LOCK_TIMEOUT, password_cost: int = COST
) -> ServiceStore:
    """Open a database, made when it is not there: a path, or `postgresql://…`."""
    store = open_as(ServiceStore, database, clock, patience)
    store.password_cost = password_cost
    return store
