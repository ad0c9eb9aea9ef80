"""Lanes by themselves: nothing is lost, nobody sends early, everybody gets a turn."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tadoru.engine.lanes import Lane, Lanes
from tadoru.rules.pace import Pace
from tadoru.store.base import HostState, Lease, Purpose


def lease(number: int, host: str) -> Lease:
    return Lease(number, f"http://{host}/{number}", host, 0, 0, 0, Purpose.PAGE, False)


def paced(gap: float) -> Pace:
    return Pace(gap=gap, base=gap, latency=None, baseline=None, strikes=0)


def filled(*hosts: tuple[str, float, float, int]) -> Lanes:
    """Lanes of (host, gap, wait, number of URLs)."""
    lanes, number = Lanes(16), 0
    for host, gap, wait, count in hosts:
        leases = [lease(number + index, host) for index in range(count)]
        number += count
        lanes.take(leases, {host: HostState(host, paced(gap), wait)}, 0.0)
    return lanes


def send(lanes: Lanes, lane: Lane, now: float) -> Lease:
    """What the loop does with a lane that is due."""
    sent = lane.queue.popleft()
    lane.due = max(lane.due, now + (lane.pace.gap if lane.pace else 0.0))
    lanes.schedule(lane)
    return sent


def test_the_lane_that_has_been_due_for_longest_comes_first() -> None:
    lanes = filled(("a", 0.0, 3.0, 1), ("b", 0.0, 1.0, 1), ("c", 0.0, 2.0, 1))
    order = []
    while (lane := lanes.pop_due(10.0)) is not None:
        order.append(send(lanes, lane, 10.0).host)
    assert order == ["b", "c", "a"]


def test_lanes_without_a_gap_take_turns() -> None:
    lanes = filled(("a", 0.0, 0.0, 3), ("b", 0.0, 0.0, 3))
    order = ""
    while (lane := lanes.pop_due(1.0)) is not None:
        order += send(lanes, lane, 1.0).host
    assert order == "ababab"


def test_a_lane_that_was_put_off_after_it_lined_up_waits() -> None:
    lanes = filled(("a", 0.0, 0.0, 1))
    lanes.by_host["a"].due = 5.0
    assert lanes.pop_due(4.0) is None
    assert lanes.next_due() == 5.0
    assert lanes.pop_due(5.0) is lanes.by_host["a"]


def test_a_paced_lane_does_not_line_up_while_a_request_is_on_its_way_out() -> None:
    lanes = filled(("a", 1.0, 0.0, 2))
    lane = lanes.pop_due(0.0)
    assert lane is not None
    lane.sending = lane.queue.popleft()
    lanes.schedule(lane)
    assert lanes.pop_due(100.0) is None
    lane.sending = None
    lanes.schedule(lane)
    assert lanes.pop_due(100.0) is lane


def test_lanes_that_were_emptied_offer_nothing_and_take_new_work() -> None:
    lanes = filled(("a", 0.0, 0.0, 3))
    lanes.empty()
    assert (lanes.waiting, lanes.pop_due(1.0)) == (0, None)
    lanes.take([lease(9, "a")], {"a": HostState("a", paced(0.0), 0.0)}, 1.0)
    assert lanes.pop_due(1.0) is lanes.by_host["a"]


def test_idle_lanes_make_room_for_other_hosts_and_busy_ones_stay() -> None:
    lanes = Lanes(4)
    for host in "abc":
        lanes.take([lease(1, host)], {host: HostState(host, paced(0.0), 0.0)}, 0.0)
    lanes.by_host["a"].in_flight = 1
    for _ in "ab":
        lane = lanes.pop_due(0.0)
        assert lane is not None
        lane.queue.clear()
    lanes.drop_idle(10.0, 5.0)
    lanes.drop_idle(16.0, 5.0)
    assert set(lanes.by_host) == {"a", "c"}
    assert lanes.room_for_hosts() == 2


def test_a_lane_asks_for_more_when_it_is_half_empty() -> None:
    lanes = filled(("free", 0.0, 0.0, 3), ("full", 0.0, 0.0, 6), ("paced", 1.0, 0.0, 0))
    assert lanes.wants(2, 8) == {"free": 5, "full": 0, "paced": 2}


HOSTS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from([0.0, 0.5, 2.0]), st.floats(0, 5), st.integers(0, 6)),
    max_size=4,
    unique_by=lambda host: host[0],
)


@given(HOSTS)
def test_every_url_is_sent_once_and_no_host_before_its_time(hosts: list[tuple[str, float, float, int]]) -> None:
    lanes, now, sent = filled(*hosts), 0.0, []
    last: dict[str, float] = {}
    while (due := lanes.next_due()) is not None:
        now = max(now, due)
        lane = lanes.pop_due(now)
        assert lane is not None
        gap, wait = next((gap, wait) for host, gap, wait, _ in hosts if host == lane.host)
        assert now >= wait
        assert now >= last.get(lane.host, -100.0) + gap
        last[lane.host] = now
        sent.append(send(lanes, lane, now).page_id)
    assert sorted(sent) == list(range(sum(count for *_, count in hosts)))
    assert lanes.waiting == 0
