"""Users: who gets in, by what, and who does not any more."""

from __future__ import annotations

import threading

import pytest
from sqlalchemy import text

from tadoru.errors import UsageError
from tadoru.store.accounts.audit_log import Actor
from tadoru.store.accounts.users import LINK_LIFETIME
from tadoru.store.service import ServiceStore
from tests.support.clock import FakeClock

PASSWORD = "correct horse battery"


def test_a_user_signs_in_with_the_password_and_with_no_other(store: ServiceStore, by: Actor) -> None:
    store.users.add("mia", "editor", by, password=PASSWORD)
    found = store.users.with_password("mia", PASSWORD)
    assert found is not None
    assert (found.name, found.role, found.has_password) == ("mia", "editor", True)
    for name, password in (
        ("mia", "correct horse batterY"),
        ("mia", ""),
        ("nobody", PASSWORD),
        ("", PASSWORD),
        ("a b", PASSWORD),
    ):
        assert store.users.with_password(name, password) is None


def test_a_user_without_a_password_can_not_sign_in_with_an_empty_one(store: ServiceStore, by: Actor) -> None:
    store.users.add("mia", "editor", by)
    assert store.users.with_password("mia", "") is None


def test_a_name_is_the_same_in_any_letters(store: ServiceStore, by: Actor) -> None:
    store.users.add(" Ｍia ", "viewer", by, password=PASSWORD)
    assert store.users.with_password("MIA", PASSWORD) is not None
    with pytest.raises(UsageError, match="User mia already exists"):
        store.users.add("mia", "admin", by)


@pytest.mark.parametrize("name", ["", "  ", "a b", "a\nb", "a\x1b[31m", "x" * 65])
def test_a_name_that_would_confuse_people_is_refused(store: ServiceStore, by: Actor, name: str) -> None:
    with pytest.raises(UsageError, match="A user name has 1 to 64 characters"):
        store.users.add(name, "viewer", by)


def test_what_does_not_fit_is_refused_in_a_sentence(store: ServiceStore, by: Actor) -> None:
    with pytest.raises(UsageError, match="Unknown role “king”"):
        store.users.add("mia", "king", by)
    with pytest.raises(UsageError, match="at least 10 characters"):
        store.users.add("mia", "viewer", by, password="short")
    with pytest.raises(UsageError, match="User mia not found"):
        store.users.make_link("mia", by)
    assert store.users.list() == ()
    assert not store.users.has_any()


def test_a_link_works_once_and_for_an_hour(store: ServiceStore, by: Actor, clock: FakeClock) -> None:
    store.users.add("mia", "admin", by)
    first, second = store.users.make_link("mia", by), store.users.make_link("mia", by)
    assert store.users.of_link(first) is None
    assert store.sessions.start_by_link(first, by) is None
    assert store.users.of_link(second) is not None
    started = store.sessions.start_by_link(second, by)
    assert started is not None
    assert started[0].name == "mia"
    assert store.sessions.start_by_link(second, by) is None
    third = store.users.make_link("mia", by)
    clock.advance(LINK_LIFETIME.total_seconds())
    assert store.users.of_link(third) is None
    assert store.sessions.start_by_link(third, by) is None


def test_of_two_who_use_a_link_at_once_only_one_gets_in(store: ServiceStore, by: Actor) -> None:
    store.users.add("mia", "admin", by)
    token, got, gate = store.users.make_link("mia", by), [], threading.Barrier(4)

    def use() -> None:
        gate.wait()
        got.append(store.sessions.start_by_link(token, by))

    threads = [threading.Thread(target=use) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len([one for one in got if one is not None]) == 1


def test_who_is_revoked_gets_in_by_nothing(store: ServiceStore, by: Actor) -> None:
    store.users.add("root", "admin", by)
    mia = store.users.add("mia", "editor", by, password=PASSWORD)
    session, link = store.sessions.start(mia, by), store.users.make_link("mia", by)
    _, key = store.keys.add("hers", ("events:read",), by, user="mia")
    assert store.sessions.get(session) is not None
    assert store.keys.find(key) is not None
    store.users.revoke("mia", by)
    assert store.sessions.get(session) is None
    assert store.keys.find(key) is None
    assert store.sessions.start_by_link(link, by) is None
    assert store.users.with_password("mia", PASSWORD) is None
    assert [one.name for one in store.users.list() if one.revoked_at is None] == ["root"]


def test_who_comes_back_gets_nothing_of_what_was(store: ServiceStore, by: Actor) -> None:
    store.users.add("root", "admin", by)
    store.users.add("mia", "editor", by, password=PASSWORD)
    _, key = store.keys.add("hers", ("events:read",), by, user="mia")
    store.users.revoke("mia", by)
    again = store.users.add("mia", "viewer", by)
    assert (again.role, again.has_password) == ("viewer", False)
    assert store.users.with_password("mia", PASSWORD) is None
    assert store.keys.find(key) is None


def test_the_last_admin_stays(store: ServiceStore, by: Actor) -> None:
    store.users.add("ann", "admin", by)
    store.users.add("ben", "admin", by)
    store.users.set_role("ben", "viewer", by)
    with pytest.raises(UsageError, match="ann is the only administrator"):
        store.users.revoke("ann", by)
    with pytest.raises(UsageError, match="ann is the only administrator"):
        store.users.set_role("ann", "editor", by)
    assert store.users.set_role("ben", "admin", by).role == "admin"
    assert store.users.revoke("ann", by).name == "ann"


def test_two_admins_can_not_revoke_each_other_at_once(store: ServiceStore, by: Actor) -> None:
    store.users.add("ann", "admin", by)
    store.users.add("ben", "admin", by)
    gate, refused = threading.Barrier(2), []

    def revoke(name: str) -> None:
        gate.wait()
        try:
            store.users.revoke(name, by)
        except UsageError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=revoke, args=(name,)) for name in ("ann", "ben")]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(refused) == 1
    assert len([one for one in store.users.list() if one.revoked_at is None]) == 1


def test_a_new_password_ends_every_session(store: ServiceStore, by: Actor) -> None:
    mia = store.users.add("mia", "admin", by, password=PASSWORD)
    session = store.sessions.start(mia, by)
    store.users.set_password("mia", "another long password", by)
    assert store.sessions.get(session) is None
    assert store.users.with_password("mia", PASSWORD) is None
    assert store.users.with_password("mia", "another long password") is not None


def test_no_secret_is_in_the_database(store: ServiceStore, by: Actor) -> None:
    mia = store.users.add("mia", "admin", by, password=PASSWORD)
    secret = [
        PASSWORD,
        store.sessions.start(mia, by),
        store.users.make_link("mia", by),
        store.keys.add("k", ("admin",), by)[1][13:],
    ]
    with store.db.read() as sql:
        for table in ("users", "sessions", "api_keys", "audit_log"):
            rows = str(sql.execute(text(f"SELECT * FROM {table}")).all())
            assert rows != "[]"
            assert not [one for one in secret if one in rows], table
