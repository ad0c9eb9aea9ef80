"""Lanes by themselves: nothing is lost, nobody sends early, everybody gets a turn."""

from __future__ import annotations

from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from tadoru.engine.host_queues import HostQueue, HostQueues
from tadoru.rules.pace import Pace
from tadoru.store.crawl.records import HostState, Lease, UrlPurpose


def lease(number: int, host: str) -> Lease:
    return Lease(number, f"http://{host}/{number}", host, 0, 0, 0, UrlPurpose.PAGE, False)


def paced(gap: float) -> Pace:
    return Pace(gap=gap, base=gap, latency=None, baseline=None, strikes=0)


def filled(*hosts: tuple[str, float, float, int]) -> HostQueues:
    """Lanes of (host, gap, wait, number of URLs)."""
    queues, number = HostQueues(16, 64), 0
    for host, gap, wait, count in hosts:
        leases = [lease(number + index, host) for index in range(count)]
        number += count
        queues.add(leases, {host: HostState(host, paced(gap), wait)}, 0.0)
    return queues


def send(queues: HostQueues, queue: HostQueue, now: float) -> Lease:
    """What the loop does with a queue that is due."""
    sent = queue.leases.popleft()
    queue.due = max(queue.due, now + (queue.pace.gap if queue.pace else 0.0))
    queues.schedule(queue)
    return sent


def test_the_queue_that_has_been_due_for_longest_comes_first() -> None:
    queues = filled(("a", 0.0, 3.0, 1), ("b", 0.0, 1.0, 1), ("c", 0.0, 2.0, 1))
    order = []
    while (queue := queues.pop_due(10.0)) is not None:
        order.append(send(queues, queue, 10.0).host)
    assert order == ["b", "c", "a"]


def test_queues_without_a_gap_take_turns() -> None:
    queues = filled(("a", 0.0, 0.0, 3), ("b", 0.0, 0.0, 3))
    order = ""
    while (queue := queues.pop_due(1.0)) is not None:
        order += send(queues, queue, 1.0).host
    assert order == "ababab"


def test_a_queue_that_was_put_off_after_it_lined_up_waits() -> None:
    queues = filled(("a", 0.0, 0.0, 1))
    queues.by_host["a"].due = 5.0
    assert queues.pop_due(4.0) is None
    assert queues.next_due() == 5.0
    assert queues.pop_due(5.0) is queues.by_host["a"]


def test_a_paced_queue_does_not_line_up_while_a_request_is_on_its_way_out() -> None:
    queues = filled(("a", 1.0, 0.0, 2))
    queue = queues.pop_due(0.0)
    assert queue is not None
    queue.sending = queue.leases.popleft()
    queues.schedule(queue)
    assert queues.pop_due(100.0) is None
    queue.sending = None
    queues.schedule(queue)
    assert queues.pop_due(100.0) is queue


def test_queues_that_were_emptied_offer_nothing_and_take_new_work() -> None:
    queues = filled(("a", 0.0, 0.0, 3))
    queues.clear()
    assert (queues.waiting, queues.pop_due(1.0)) == (0, None)
    queues.add([lease(9, "a")], {"a": HostState("a", paced(0.0), 0.0)}, 1.0)
    assert queues.pop_due(1.0) is queues.by_host["a"]


def test_idle_queues_make_room_for_other_hosts_and_busy_ones_stay() -> None:
    queues = HostQueues(4, 64)
    for host in "abc":
        queues.add([lease(1, host)], {host: HostState(host, paced(0.0), 0.0)}, 0.0)
    queues.by_host["a"].in_flight = 1
    for _ in "ab":
        queue = queues.pop_due(0.0)
        assert queue is not None
        queue.leases.clear()
    queues.drop_idle(10.0, 5.0)
    queues.drop_idle(16.0, 5.0)
    assert set(queues.by_host) == {"a", "c"}
    assert queues.free_places() == 2


def test_a_queue_asks_for_more_when_it_is_half_empty() -> None:
    queues = filled(("free", 0.0, 0.0, 3), ("full", 0.0, 0.0, 6), ("paced", 1.0, 0.0, 0))
    assert queues.wants(2, 8) == {"free": 5, "full": 0, "paced": 2}


HOSTS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from([0.0, 0.5, 2.0]), st.floats(0, 5), st.integers(0, 6)),
    max_size=4,
    unique_by=lambda host: host[0],
)


@given(HOSTS)
def test_every_url_is_sent_once_and_no_host_before_its_time(hosts: list[tuple[str, float, float, int]]) -> None:
    queues, now, sent = filled(*hosts), 0.0, []
    last: dict[str, float] = {}
    while (due := queues.next_due()) is not None:
        now = max(now, due)
        queue = queues.pop_due(now)
        assert queue is not None
        gap, wait = next((gap, wait) for host, gap, wait, _ in hosts if host == queue.host)
        assert now >= wait
        assert now >= last.get(queue.host, -100.0) + gap
        last[queue.host] = now
        sent.append(send(queues, queue, now).page_id)
    assert sorted(sent) == list(range(sum(count for *_, count in hosts)))
    assert queues.waiting == 0


def test_a_queue_that_had_its_turn_makes_room_when_there_is_none() -> None:
    queues = HostQueues(2, 64)
    queues.add([lease(1, "a"), lease(2, "a")], {"a": HostState("a", paced(1.0), 0.0)}, 0.0)
    queues.by_host["a"].started = 1
    assert queues.expired(60.0, 10.0) == []  # There is room.
    queues.add([lease(3, "b")], {"b": HostState("b", paced(1.0), 0.0)}, 55.0)
    [over] = queues.expired(60.0, 10.0)
    assert over.host == "a"
    over.leaving = True
    over.leases.clear()
    assert queues.wants(2, 8) == {"a": 0, "b": 0}
    queues.pop_due(60.0)
    for now in (60.0, 60.1):
        queues.drop_idle(now, 5.0)
    assert (set(queues.by_host), queues.free_places()) == ({"b"}, 1)


def test_a_queue_that_sent_nothing_keeps_its_place_unless_its_host_wants_to_be_left_alone() -> None:
    queues = HostQueues(2, 64)
    queues.add([lease(1, "a")], {"a": HostState("a", paced(1.0), 0.0)}, 0.0)
    queues.add([lease(2, "b")], {"b": HostState("b", paced(1.0), 300.0)}, 0.0)
    assert [queue.host for queue in queues.expired(30.0, 10.0)] == ["b"]


@given(
    capacity=st.integers(1, 5),
    sizes=st.lists(st.integers(1, 60), min_size=1, max_size=20),
    places=st.integers(1, 4),
)
def test_every_host_is_asked_in_bounded_time_however_much_the_others_have(capacity: int, sizes: list[int], places: int) -> None:
    """A turn is ten seconds, a request takes one: after as many rounds as it takes for all to have one, all have been asked."""
    queues, waiting, now = HostQueues(capacity, 64), deque((str(host), size) for host, size in enumerate(sizes)), 0.0
    left = dict(waiting)
    first: dict[str, float] = {}
    rounds = -(-len(sizes) // capacity)
    most = rounds * (10.0 + capacity + 2.0)
    while now <= most and len(first) < len(sizes):
        for queue in queues.expired(now, 10.0):
            queue.leaving = True
            waiting.append((queue.host, 0))
            queue.leases.clear()
        queues.drop_idle(now, 5.0)
        for _ in range(min(queues.free_places(), len(waiting))):
            host, _ = waiting.popleft()
            if left[host]:
                queues.add([lease(0, host)], {host: HostState(host, paced(0.5), 0.0)}, now)
        for _ in range(places):
            if (queue := queues.pop_due(now)) is not None:
                send(queues, queue, now)
                queue.started += 1
                left[queue.host] -= 1
                first.setdefault(queue.host, now)
        for host, want in queues.wants(2, 8).items():
            if want and left[host] > len(queues.by_host[host].leases):
                queues.add([lease(0, host)], {host: HostState(host, paced(0.5), 0.0)}, now)
        now += 1.0
    assert len(first) == len(sizes), (now, first)
