"""Users, keys, sessions and the audit log keep one contract: every test here runs on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tadoru.store.accounts.audit_log import Actor
from tadoru.store.service import ServiceStore, open_service
from tests.support.clock import FakeClock


@pytest.fixture
def by() -> Actor:
    return Actor(who="root", address="192.0.2.1")


@pytest.fixture
def store(database: str, clock: FakeClock) -> Iterator[ServiceStore]:
    opened = open_service(database, clock, password_cost=2**4)  # The real cost is half a second each; it is tried once.
    yield opened
    opened.close()
