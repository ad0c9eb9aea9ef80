"""The register of the service's crawls keeps one contract: every test here runs on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import text

from tadoru.store.accounts.audit_log import Actor
from tadoru.store.service import ServiceStore, open_service
from tests.support.clock import FakeClock

LetPass = Callable[[float], None]


@pytest.fixture
def by() -> Actor:
    return Actor(who="mika")


@pytest.fixture
def store(database: str, clock: FakeClock) -> Iterator[ServiceStore]:
    opened = open_service(database, clock)
    yield opened
    opened.close()


@pytest.fixture
def let_pass(store: ServiceStore, clock: FakeClock) -> LetPass:
    """Lets time pass for the database. PostgreSQL has a clock of its own: there what it remembers is moved into the past."""

    def let_pass(seconds: float) -> None:
        clock.advance(seconds)
        if not store.db.is_sqlite:
            with store.db.write() as sql:
                moved = ", ".join(f"{name} = {name} - make_interval(secs => :by)" for name in ("beat_at", "next_at"))
                sql.execute(text(f"UPDATE crawls SET {moved}"), {"by": seconds})

    return let_pass
