"""Sessions and keys: what they open, and when they are over. And what the audit log knows of it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from tadoru.errors import UsageError
from tadoru.store.accounts.audit_log import Actor
from tadoru.store.accounts.schema import sessions
from tadoru.store.accounts.users import LAST_SEEN_PRECISION, SESSION_IDLE_LIMIT, SESSION_LIFETIME
from tadoru.store.calendar.backup import back_up_calendar, copy_calendar
from tadoru.store.calendar.store import open_calendar
from tadoru.store.service import ServiceStore, open_service
from tests.support.clock import FakeClock


def test_a_session_is_its_user_as_they_are_now(store: ServiceStore, by: Actor) -> None:
    store.users.add("root", "admin", by)
    mia = store.users.add("mia", "editor", by)
    token = store.sessions.start(mia, by, agent="Browser/1" + "x" * 300)
    store.users.set_role("mia", "viewer", by)
    session = store.sessions.get(token)
    assert session is not None
    assert (session.user.name, session.user.role, session.address, len(session.agent)) == ("mia", "viewer", "192.0.2.1", 200)
    assert store.sessions.get(token + "x") is None
    assert store.sessions.get("") is None


def test_a_session_ends_when_it_is_not_used_and_after_a_month_in_any_case(
    store: ServiceStore, by: Actor, clock: FakeClock
) -> None:
    mia = store.users.add("mia", "editor", by)
    idle, used = store.sessions.start(mia, by), store.sessions.start(mia, by)
    step = SESSION_IDLE_LIMIT - timedelta(minutes=1)
    begun = store.db.now()
    while store.db.now() + step < begun + SESSION_LIFETIME:
        clock.advance(step.total_seconds())
        assert store.sessions.get(used) is not None
    assert store.sessions.get(idle) is None
    clock.advance((begun + SESSION_LIFETIME - store.db.now()).total_seconds())
    assert store.sessions.get(used) is None


def test_using_a_session_is_not_written_down_each_time(store: ServiceStore, by: Actor, clock: FakeClock) -> None:
    token = store.sessions.start(store.users.add("mia", "editor", by), by)
    begun = store.db.now()
    clock.advance(LAST_SEEN_PRECISION.total_seconds() - 1)
    seen = [store.sessions.get(token), store.sessions.get(token)]
    clock.advance(1)
    seen += [store.sessions.get(token), store.sessions.get(token)]
    assert [one and one.last_seen_at for one in seen] == [begun, begun, begun, begun + LAST_SEEN_PRECISION]


def test_signing_in_again_ends_what_the_browser_had_before(store: ServiceStore, by: Actor) -> None:
    mia = store.users.add("mia", "editor", by)
    planted = store.sessions.start(mia, by)
    fresh = store.sessions.start(mia, by, replaces=planted)
    assert fresh != planted
    assert store.sessions.get(planted) is None
    assert store.sessions.get(fresh) is not None
    store.sessions.end(fresh, by)
    assert store.sessions.get(fresh) is None


def test_sessions_that_are_over_are_cleared_away(store: ServiceStore, by: Actor, clock: FakeClock) -> None:
    mia = store.users.add("mia", "editor", by)
    store.sessions.start(mia, by)
    clock.advance(SESSION_IDLE_LIMIT.total_seconds())
    store.sessions.start(mia, by)
    with store.db.read() as sql:
        assert len(sql.execute(select(sessions)).all()) == 1


def test_a_key_opens_until_it_ends(store: ServiceStore, by: Actor, clock: FakeClock) -> None:
    key, whole = store.keys.add(" a  key ", ("sources:read", "events:read"), by, expires_at=store.db.now() + timedelta(days=1))
    assert (key.name, key.scopes, key.created_by) == ("a key", ("events:read", "sources:read"), "root")
    assert whole.startswith(f"tdr_{key.prefix}_")
    found = store.keys.find(whole)
    assert found is not None
    assert found.id == key.id
    assert store.keys.list()[0].last_used_at == store.db.now()
    clock.advance(86400)
    assert store.keys.find(whole) is None


@pytest.mark.parametrize("change", ["last letter", "other prefix", "cut", "longer", "another's secret", "no key at all"])
def test_a_key_that_is_nearly_right_opens_nothing(store: ServiceStore, by: Actor, change: str) -> None:
    _, whole = store.keys.add("a", ("events:read",), by)
    _, other = store.keys.add("b", ("events:read",), by)
    tried = {
        "last letter": whole[:-1] + ("A" if whole[-1] != "A" else "B"),
        "other prefix": f"tdr_{'z' * 8}_{whole[13:]}",
        "cut": whole[:-1],
        "longer": whole + "A",
        "another's secret": whole[:13] + other[13:],
        "no key at all": "",
    }
    assert store.keys.find(tried[change]) is None


def test_a_revoked_key_opens_nothing(store: ServiceStore, by: Actor) -> None:
    (one, first), (two, second) = (store.keys.add(name, ("events:read",), by) for name in "ab")
    assert store.keys.revoke(f"tdr_{one.prefix}", by).revoked_at is not None
    store.keys.revoke(two.id, by)
    store.keys.revoke(str(two.id), by)
    assert store.keys.find(first) is None
    assert store.keys.find(second) is None
    with pytest.raises(UsageError, match="API key nothing1 not found"):
        store.keys.revoke("tdr_nothing1", by)


def test_a_key_that_makes_no_sense_is_refused(store: ServiceStore, by: Actor) -> None:
    with pytest.raises(UsageError, match="at least one scope"):
        store.keys.add("a", (), by)
    with pytest.raises(UsageError, match="needs a name"):
        store.keys.add("  ", ("admin",), by)
    with pytest.raises(UsageError, match="User mia not found"):
        store.keys.add("a", ("admin",), by, user="mia")
    with pytest.raises(UsageError, match="in the past"):
        store.keys.add("a", ("admin",), by, expires_at=store.db.now())


def test_every_change_is_in_the_audit_log_with_who_and_when(store: ServiceStore, by: Actor, clock: FakeClock) -> None:
    mia = store.users.add("mia", "admin", by)
    clock.advance(60)
    token = store.sessions.start(mia, Actor(who="", address="198.51.100.7"))
    store.sessions.end(token, Actor(who="mia", user_id=mia.id))
    store.sessions.end(token, Actor(who="mia", user_id=mia.id))  # Nothing changes, nothing is written.
    key, _ = store.keys.add("k", ("admin",), by)
    store.keys.revoke(key.id, by)
    store.keys.revoke(key.id, by)
    store.audit.record(by, "POST /x", "event 7", title="盛岡\x00")
    entries = store.audit.entries()
    assert [(one.what, one.who, one.subject) for one in entries] == [
        ("POST /x", "root", "event 7"),
        ("key.revoke", "root", f"tdr_{key.prefix}"),
        ("key.add", "root", f"tdr_{key.prefix}"),
        ("session.end", "mia", "mia"),
        ("session.start", "mia", "mia"),
        ("user.add", "root", "mia"),
    ]
    assert entries[0].detail == {"title": "盛岡"}
    assert entries[4].address == "198.51.100.7"
    assert entries[4].at - entries[5].at == timedelta(seconds=60)
    assert store.audit.entries(limit=1, before=entries[0].id, who="root")[0].what == "key.revoke"


def test_a_copy_and_a_backup_carry_users_keys_and_the_log(
    store: ServiceStore, by: Actor, tmp_path: Path, clock: FakeClock
) -> None:
    mia = store.users.add("mia", "editor", by, password="correct horse battery")
    token = store.sessions.start(mia, by)
    _, key = store.keys.add("k", ("events:read",), by, user="mia")
    copy = open_calendar(str(tmp_path / "copy.db"), clock)
    copy_calendar(store.db, copy.db)
    copy.close()
    back_up_calendar(store.db, str(tmp_path / "backup.db"))
    for file in ("copy.db", "backup.db"):
        other = open_service(str(tmp_path / file), clock)
        assert other.keys.find(key) is not None
        assert other.sessions.get(token) is not None
        assert other.users.with_password("mia", "correct horse battery") is not None
        assert other.audit.entries() == store.audit.entries()
        other.close()
