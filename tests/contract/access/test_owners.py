"""Keys and crawls of a database of the format before get their owners when it is opened."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from tadoru.store.accounts.audit_log import Actor, add_audit_entry
from tadoru.store.calendar.database import CalendarDatabase
from tadoru.store.calendar.migrate import VERSIONS, prepare_database
from tadoru.store.service import ServiceStore, open_service
from tests.support.clock import FakeClock
from tests.support.postgres import PostgresServer

OPERATOR = Actor(who="root (command line)")
SCOPES = ("events:read",)


@pytest.fixture(params=["sqlite", "postgresql"])
def old(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> Iterator[ServiceStore]:
    """A database that has the tables of the format before."""
    postgres: PostgresServer | None = request.getfixturevalue("postgres") if request.param == "postgresql" else None
    address = postgres.new_database() if postgres else str(tmp_path / "old.db")
    before = CalendarDatabase(address, clock)
    prepare_database(before, VERSIONS[: VERSIONS.index("0005")])
    before.close()
    store = ServiceStore(CalendarDatabase(address, clock))
    yield store
    store.close()
    if postgres:
        postgres.drop(address)


def test_keys_of_the_format_before_belong_to_whoever_made_them(old: ServiceStore, clock: FakeClock) -> None:
    ann, ben = (old.users.add(name, "admin", OPERATOR) for name in ("ann", "ben"))
    made = {}
    for user in (ann, ben):
        made[user.name] = old.keys.add(user.name, SCOPES, Actor(who=user.name, user_id=user.id))
    made["by name"] = old.keys.add("by name", SCOPES, Actor(who="ann"))  # Its line of the audit log is gone.
    made["operator"] = old.keys.add("operator", SCOPES, OPERATOR)
    with old.db.write() as sql:
        sql.execute(text("DELETE FROM audit_log WHERE subject = :subject"), {"subject": f"tdr_{made['by name'][0].prefix}"})
    clock.advance(60)
    old.users.revoke("ben", OPERATOR)
    assert old.keys.find(made["ben"][1]) is not None  # What was wrong.
    store = open_service(old.db.database, clock)
    found = store.keys.list()
    assert {one.name: one.user_name for one in found} == {"ann": "ann", "ben": "ben", "by name": "ann", "operator": ""}
    assert {name for name, (_, whole) in made.items() if store.keys.find(whole) is not None} == {"ann", "by name", "operator"}
    store.users.add("ben", "admin", OPERATOR)
    assert store.keys.find(made["ben"][1]) is None
    store.users.set_role("ann", "viewer", OPERATOR)
    assert {one.user_role for one in map(store.keys.find, (made["ann"][1], made["by name"][1])) if one} == {"viewer"}
    store.users.revoke("ann", OPERATOR)
    assert {name for name, (_, whole) in made.items() if store.keys.find(whole) is not None} == {"operator"}
    assert store.audit.entries(limit=1)[0].detail["keys"] == sorted(f"tdr_{made[one][0].prefix}" for one in ("ann", "by name"))
    store.close()


def test_a_key_of_somebody_who_left_and_came_back_stays_over(old: ServiceStore, clock: FakeClock) -> None:
    old.users.add("root", "admin", OPERATOR)
    ann = old.users.add("ann", "admin", OPERATOR)
    _, whole = old.keys.add("hers", SCOPES, Actor(who="ann", user_id=ann.id))
    clock.advance(60)
    old.users.revoke("ann", OPERATOR)
    clock.advance(60)
    old.users.add("ann", "admin", OPERATOR)
    store = open_service(old.db.database, clock)
    assert store.keys.find(whole) is None
    store.close()


def test_crawls_of_the_format_before_count_for_whoever_added_them(old: ServiceStore, clock: FakeClock) -> None:
    row = "INSERT INTO crawls (name, job, starts, options, place, state, created_at, progress) "
    row += "VALUES (:name, 'audit', '[]', '{}', 'x', 'queued', :at, '{}')"
    with old.db.write() as sql:
        for number in range(1, 5):
            sql.execute(
                text(row), {"name": str(number), "at": old.db.now() if not old.db.is_sqlite else old.db.now().isoformat()}
            )
        for number, by in enumerate((Actor(who="ann", user_id=7), Actor(who="ann", user_id=7), Actor(who="key:ci", key_id=3)), 1):
            add_audit_entry(old.db, sql, by, "crawl.add", f"crawl/{number}")
    store = open_service(old.db.database, clock)
    with store.db.read() as sql:
        found = sql.execute(text("SELECT owner, queued_by FROM crawls ORDER BY id")).all()
    assert [tuple(one) for one in found] == [("user 7", "user 7"), ("user 7", "user 7"), ("key 3", "key 3"), ("", "")]
    store.close()
