"""The queue of crawls: users take turns, and none of them may fill it."""

from __future__ import annotations

import threading

import pytest

from tadoru.store.accounts.audit_log import Actor
from tadoru.store.crawl.workers import current, machine_name
from tadoru.store.served_crawls.register import CrawlQueueFull
from tadoru.store.served_crawls.schema import CrawlState
from tadoru.store.service import ServiceStore, open_service
from tests.contract.served.conftest import LetPass
from tests.support.clock import FakeClock

ANN, BEN, CI = Actor(who="ann", user_id=1), Actor(who="ben", user_id=2), Actor(who="key:ci", key_id=5)
KEY_OF_ANN = Actor(who="key:hers", user_id=1, key_id=9)
ME = current()


def queue(store: ServiceStore, by: Actor, count: int = 1, **more: int) -> list[int]:
    return [store.crawls.add("Site", "audit", ["https://example.org/"], {}, by, **more).id for _ in range(count)]


def run_next(store: ServiceStore, let_pass: LetPass) -> int:
    """Run the crawl whose turn it is, from its beginning to its end."""
    crawl = store.claims.claim(ME, at_once=9)
    assert crawl is not None
    let_pass(1)
    store.claims.end(crawl.id, ME, CrawlState.FINISHED)
    return crawl.id


def test_users_take_turns_however_much_one_of_them_queued(store: ServiceStore, let_pass: LetPass) -> None:
    ann = queue(store, ANN, 30) + queue(store, KEY_OF_ANN, 2)
    ben, ci = queue(store, BEN, 2), queue(store, CI)
    order = [run_next(store, let_pass) for _ in range(6)]
    assert order == [ann[0], ben[0], ci[0], ann[1], ben[1], ann[2]]


def test_who_has_fewer_crawls_running_is_first(store: ServiceStore) -> None:
    ann, ben = queue(store, ANN, 5), queue(store, BEN, 2)
    taken = [store.claims.claim(ME, at_once=9) for _ in range(4)]
    assert [one and one.id for one in taken] == [ann[0], ben[0], ann[1], ben[1]]


def test_crawls_that_repeat_themselves_take_turns_too(store: ServiceStore, let_pass: LetPass) -> None:
    for _ in range(3):
        queue(store, ANN, every=60)
        run_next(store, let_pass)
    ben = queue(store, BEN, every=60)
    run_next(store, let_pass)
    let_pass(120)
    assert store.claims.queue_due(machine_name()) == 4
    order = [run_next(store, let_pass) for _ in range(2)]
    assert ben[0] in order


def test_who_runs_the_crawl_of_another_uses_their_own_place(store: ServiceStore, let_pass: LetPass) -> None:
    ann = queue(store, ANN, 2)
    for _ in ann:
        run_next(store, let_pass)
    for number in ann:
        store.crawls.run(number, BEN, most_queued=2)
    with pytest.raises(CrawlQueueFull):
        queue(store, BEN, most_queued=2)
    queue(store, ANN, 2, most_queued=2)


@pytest.mark.parametrize("by", [ANN, CI])
def test_one_user_has_only_so_many_crawls_in_the_queue(store: ServiceStore, by: Actor, let_pass: LetPass) -> None:
    first = queue(store, by, 3, most_queued=3)
    with pytest.raises(CrawlQueueFull, match="You have 3 queued crawls, the maximum per user"):
        queue(store, by, most_queued=3)
    queue(store, BEN, most_queued=3)
    store.crawls.stop(first[1], by)
    queue(store, by, most_queued=3)
    with pytest.raises(CrawlQueueFull):
        store.crawls.run(first[1], by, most_queued=3)
    assert store.crawls.get(first[1]).state is CrawlState.STOPPED
    run_next(store, let_pass)
    store.crawls.run(first[1], by, most_queued=3)


def test_keys_of_one_user_share_their_place(store: ServiceStore) -> None:
    queue(store, KEY_OF_ANN, 2, most_queued=2)
    with pytest.raises(CrawlQueueFull):
        queue(store, ANN, most_queued=2)


def test_the_maximum_holds_for_those_who_ask_at_the_same_time(store: ServiceStore, clock: FakeClock) -> None:
    gate, refused = threading.Barrier(8), []

    def ask() -> None:
        own = open_service(store.db.database, clock)
        gate.wait()
        for _ in range(3):
            try:
                queue(own, ANN, most_queued=5)
            except CrawlQueueFull as error:
                refused.append(error)
        own.close()

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert (len(store.crawls.list()), len(refused)) == (5, 19)
