"""Hosts: one request at a time, a gap between them, pauses, and what robots.txt said."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from tadoru.store.calendar.runs import RunClosed
from tadoru.store.calendar.schema import workers
from tadoru.store.calendar.store import CalendarStore
from tadoru.store.crawl.records import RobotsRecord
from tests.contract.events.conftest import LetPass

HOST = "example.org"


def test_one_request_at_a_time(store: CalendarStore, let_pass: LetPass) -> None:
    one, other = store.schedule.join(600), store.schedule.join(600)
    assert store.hosts.take_slot(one, HOST, 30, gap=2) == 0
    assert store.hosts.take_slot(other, HOST, 30, gap=2) > 0
    assert store.hosts.take_slot(other, "elsewhere.example", 30, gap=2) == 0
    store.hosts.sent(one, HOST)
    let_pass(5)
    assert store.hosts.take_slot(other, HOST, 30, gap=2) > 0, "the answer is not here yet"
    store.hosts.give_back(one, HOST)
    assert store.hosts.take_slot(other, HOST, 30, gap=2) == 0


def test_the_gap_begins_when_the_request_goes_out(store: CalendarStore, let_pass: LetPass) -> None:
    one, other = store.schedule.join(600), store.schedule.join(600)
    store.hosts.take_slot(one, HOST, 30, gap=2)
    let_pass(10)
    store.hosts.sent(one, HOST)
    store.hosts.give_back(one, HOST)
    wait = store.hosts.take_slot(other, HOST, 30, gap=2)
    assert 1.5 < wait <= 2
    let_pass(2)
    assert store.hosts.take_slot(other, HOST, 30, gap=2) == 0


def test_a_pause_that_a_clock_set_back_has_made_endless_is_over(store: CalendarStore) -> None:
    one = store.schedule.join(600)
    store.hosts.pause_host(HOST, 23 * 3600)
    assert store.hosts.take_slot(one, HOST, 30, gap=2) > 0
    store.hosts.pause_host(HOST, 400 * 24 * 3600)
    assert store.hosts.take_slot(one, HOST, 30, gap=2) == 0


def test_a_clock_that_is_set_back_makes_no_wait_longer(store: CalendarStore, let_pass: LetPass) -> None:
    one = store.schedule.join(600)
    assert store.hosts.take_slot(one, HOST, 30, gap=2) == 0
    store.hosts.sent(one, HOST)
    store.hosts.give_back(one, HOST)
    let_pass(-7200)
    assert 0 < store.hosts.take_slot(one, HOST, 30, gap=2) <= 2
    store.hosts.pause_host(HOST, 3600)
    let_pass(-7200)
    assert 3590 < store.hosts.take_slot(one, HOST, 30, gap=2) <= 3600
    let_pass(3601)
    assert store.hosts.take_slot(one, HOST, 30, gap=2) == 0


def test_a_worker_that_was_removed_gets_no_slot(store: CalendarStore, let_pass: LetPass) -> None:
    silent = store.schedule.join(60)
    let_pass(61)
    store.schedule.reap()
    with pytest.raises(RunClosed):
        store.hosts.take_slot(silent, HOST, 30, gap=2)


def test_a_slot_that_was_never_given_back_falls_free(store: CalendarStore, let_pass: LetPass) -> None:
    one, other = store.schedule.join(600), store.schedule.join(600)
    store.hosts.take_slot(one, HOST, 30, gap=2)
    let_pass(29)
    assert store.hosts.take_slot(other, HOST, 30, gap=2) > 0
    let_pass(2)
    assert store.hosts.take_slot(other, HOST, 30, gap=2) == 0
    store.hosts.give_back(one, HOST)
    assert store.hosts.take_slot(one, HOST, 30, gap=2) > 0, "the slot is the other's now"


def test_nobody_waits_for_the_slot_of_a_worker_that_died(store: CalendarStore, let_pass: LetPass) -> None:
    killed, silent, other = store.schedule.join(600), store.schedule.join(600), store.schedule.join(600)
    store.hosts.take_slot(killed, HOST, 300, gap=2)
    store.hosts.take_slot(silent, "elsewhere.example", 300, gap=2)
    with store.db.write() as sql:
        sql.execute(update(workers).where(workers.c.id == killed).values(started="0"))  # What has its pid now began later.
        sql.execute(update(workers).where(workers.c.id == silent).values(machine="another"))
    assert store.hosts.take_slot(other, HOST, 30, gap=2) == 0
    assert store.hosts.take_slot(other, "elsewhere.example", 30, gap=2) > 0, "it may live: only its time tells"
    store.schedule.renew(other, 6000)
    let_pass(299)
    assert store.hosts.take_slot(other, "elsewhere.example", 30, gap=2) > 0
    store.schedule.renew(silent, 0)
    assert store.hosts.take_slot(other, "elsewhere.example", 30, gap=2) == 0


def test_a_pause_holds_for_everybody_and_the_longer_one_wins(store: CalendarStore, let_pass: LetPass) -> None:
    worker = store.schedule.join(600)
    store.hosts.pause_host(HOST, 60)
    store.hosts.pause_host(HOST, 5)
    assert 55 < store.hosts.take_slot(worker, HOST, 30, gap=0) <= 60
    let_pass(60)
    assert store.hosts.take_slot(worker, HOST, 30, gap=0) == 0


def test_robots_are_kept_with_their_age(store: CalendarStore, let_pass: LetPass) -> None:
    assert store.hosts.robots("https://example.org") is None
    store.hosts.put_robots("https://example.org", RobotsRecord(200, None, "", b"User-agent: *\n\xff", 5.0))
    let_pass(10)
    found = store.hosts.robots("https://example.org")
    assert found is not None
    assert (found.status, found.body) == (200, b"User-agent: *\n\xff")
    assert 15 <= found.age < 20
    store.hosts.put_robots("https://example.org", RobotsRecord(None, "timeout", "no answer", b"", 0.0))
    again = store.hosts.robots("https://example.org")
    assert again is not None
    assert (again.status, again.failure, again.body) == (None, "timeout", b"")
