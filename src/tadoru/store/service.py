"""The database of the service: the calendar, accounts, and the crawls that the service runs."""

from __future__ import annotations

from tadoru.clock import Clock
from tadoru.store.accounts.audit_log import AuditLog
from tadoru.store.accounts.secrets import COST
from tadoru.store.accounts.users import ApiKeys, Sessions, Users
from tadoru.store.calendar.database import LOCK_TIMEOUT, CalendarDatabase
from tadoru.store.calendar.store import DEFAULT_DATABASE, CalendarStore, open_database
from tadoru.store.served_crawls.annotations import CrawlAnnotations
from tadoru.store.served_crawls.register import CrawlClaims, CrawlRegister


class ServiceStore(CalendarStore):
    """Everything that the service stores: the parts of a calendar, and those of accounts and crawls."""

    def __init__(self, db: CalendarDatabase, password_cost: int = COST) -> None:
        super().__init__(db)
        self.users = Users(db, password_cost)
        self.sessions = Sessions(db)
        self.keys = ApiKeys(db)
        self.audit = AuditLog(db)
        self.crawls = CrawlRegister(db)
        self.claims = CrawlClaims(db)
        self.annotations = CrawlAnnotations(db)


def open_service(
    database: str = DEFAULT_DATABASE, clock: Clock | None = None, *, patience: float = LOCK_TIMEOUT, password_cost: int = COST
) -> ServiceStore:
    """Open a database, a path or `postgresql://…`, and create it if it does not exist."""
    return ServiceStore(open_database(database, clock, patience), password_cost)
