"""Users, keys, sessions and the audit log keep one contract: every test here runs on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tadoru.store.access import secrets
from tadoru.store.access.values import By
from tadoru.store.events.open import open_events
from tadoru.store.service import ServiceStore, open_service
from tests.support.clock import FakeClock
from tests.support.postgres import PostgresServer, server


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def by() -> By:
    return By(who="root", address="192.0.2.1")


@pytest.fixture(autouse=True)
def cheap_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real cost is half a second each; it is tried once, in `test_secrets`."""
    monkeypatch.setattr(secrets, "COST", 2**4)


@pytest.fixture(scope="session")
def postgres() -> PostgresServer:
    return server()


@pytest.fixture(scope="session")
def ready_made(postgres: PostgresServer) -> str:
    """A database with its tables, to copy."""
    address = postgres.new_database()
    open_events(address, FakeClock()).close()
    return address.partition("@/")[2].partition("?")[0]


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a new database."""
    if request.param == "sqlite":
        yield str(tmp_path / "events.db")
        return
    postgres: PostgresServer = request.getfixturevalue("postgres")
    address = postgres.new_database(request.getfixturevalue("ready_made"))
    yield address
    postgres.drop(address)


@pytest.fixture
def store(database: str, clock: FakeClock) -> Iterator[ServiceStore]:
    opened = open_service(database, clock)
    yield opened
    opened.close()
