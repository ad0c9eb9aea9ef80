"""The simulation of a cluster at sizes where the right answer is known: both ways of it, and that they agree."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import simulation as passes
from bench import simulation_events as events
from bench.simulation import DATABASE, PACE, WORKER, WRITER, Cluster, Prices
from tests.support.properties import examples

FREE = Prices(worker=0.0, database=0.0, writer=0.0)
DEAR = Prices(worker=0.004, database=0.002, writer=0.001, transaction=0.003, transaction_cpu=0.001, log=9_000.0)

sizes = st.lists(st.integers(1, 60), min_size=1, max_size=25)
clusters = st.builds(
    Cluster,
    workers=st.integers(1, 4),
    hosts_each=st.integers(1, 8),
    delay=st.sampled_from([0.5, 1.0, 2.0]),
    slice=st.sampled_from([5.0, 30.0]),
    databases=st.integers(1, 3),
)


def array(values: list[int]) -> passes.Numbers:
    return np.array(values, dtype=np.int64)


@given(sizes, clusters)
@examples(40)
def test_every_page_is_asked_for_once_and_written_once(hosts: list[int], cluster: Cluster) -> None:
    ran = events.simulate(hosts, cluster, DEAR)
    assert Counter((sent.host, sent.page) for sent in ran.requests) == Counter(
        {(host, page): 1 for host, size in enumerate(hosts) for page in range(size)}
    )
    assert ran.written == sum(hosts)
    assert passes.simulate(array(hosts), cluster, DEAR).pages == sum(hosts)


@given(sizes, clusters)
@examples(40)
def test_no_host_is_asked_twice_within_its_delay_whoever_asks(hosts: list[int], cluster: Cluster) -> None:
    by_host = defaultdict(list)
    for sent in events.simulate(hosts, cluster, DEAR).requests:
        by_host[sent.host].append(sent.at)
    gaps = [late - early for times in by_host.values() for early, late in pairwise(sorted(times))]
    assert all(gap >= cluster.delay - 1e-9 for gap in gaps)


@given(sizes, clusters)
@examples(40)
def test_no_worker_asks_more_hosts_at_a_time_than_it_may(hosts: list[int], cluster: Cluster) -> None:
    assert events.simulate(hosts, cluster, DEAR).most_hosts <= cluster.hosts_each


@given(sizes, clusters)
@examples(40)
def test_the_largest_host_is_a_floor_that_no_number_of_workers_gets_under(hosts: list[int], cluster: Cluster) -> None:
    floor = (max(hosts) - 1) * cluster.delay
    assert events.simulate(hosts, cluster, DEAR).seconds >= floor
    assert passes.simulate(array(hosts), cluster, DEAR).seconds >= floor


@pytest.mark.parametrize("workers", [1, 7])
def test_one_host_takes_its_pages_times_the_delay_however_many_workers_there_are(workers: int) -> None:
    cluster = Cluster(workers=workers, sending=0.0, latency=0.0, handover=0.0, delay=2.0, slice=1e9)
    assert passes.simulate(array([500]), cluster, FREE).seconds == pytest.approx(499 * 2.0)
    assert max(sent.at for sent in events.simulate([500], cluster, FREE).requests) == pytest.approx(499 * 2.0)


def test_equal_hosts_take_as_many_turns_as_there_are_places() -> None:
    cluster = Cluster(workers=2, hosts_each=5, sending=0.0, latency=1.0, handover=0.0, slice=30.0)
    # 100 hosts in 10 places: ten turns of 20 pages, a second each.
    assert passes.simulate(array([20] * 100), cluster, FREE).seconds == pytest.approx(10 * 20.0)
    assert events.simulate([20] * 100, cluster, FREE).seconds == pytest.approx(10 * 20.0, rel=0.06)


@pytest.mark.parametrize(
    "prices, name, seconds",
    [
        (Prices(worker=0.5, database=0.0, writer=0.0), WORKER, 10_000 * 0.5 / 4),
        (Prices(worker=0.0, database=0.0, writer=0.5), WRITER, 10_000 * 0.5 / 4),
        (Prices(worker=0.0, database=8.0, writer=0.0), DATABASE, 10_000 * 8.0 / 16),
        (FREE, PACE, 99.0),
    ],
)
def test_what_is_scarcest_decides_and_is_named(prices: Prices, name: str, seconds: float) -> None:
    cluster = Cluster(workers=4, hosts_each=25, sending=0.0, latency=0.0, handover=0.0, cores=16, slice=1e9)
    ran = passes.simulate(array([100] * 100), cluster, prices)
    assert next(iter(ran.bottlenecks())) == name
    assert ran.seconds == pytest.approx(seconds)


def test_a_writer_that_is_waited_for_is_as_slow_request_by_request() -> None:
    prices = Prices(worker=0.0, database=0.0, writer=0.05, transaction=0.1)
    cluster = Cluster(workers=2, hosts_each=20, sending=0.0, latency=0.1)
    one, other = passes.simulate(array([30] * 40), cluster, prices), events.simulate([30] * 40, cluster, prices)
    assert next(iter(one.bottlenecks())) == WRITER
    assert one.seconds == pytest.approx(other.seconds, rel=0.1)
    assert other.transactions < other.written / 5, "what waits is written together"


@given(st.integers(2_000, 20_000), st.integers(50, 400), st.integers(0, 50))
@examples(15)
def test_more_workers_are_never_slower(urls: int, hosts: int, seed: int) -> None:
    world = passes.zipf(urls, hosts, seed=seed)
    times = [
        passes.simulate(world, Cluster(workers=workers, hosts_each=10), DEAR).at(share)
        for share in (0.5, 0.9, 1.0)
        for workers in (1, 2, 4, 8, 16, 64)
    ]
    for first in range(0, len(times), 6):
        assert all(more <= fewer * 1.02 for fewer, more in pairwise(times[first : first + 6]))


@pytest.mark.parametrize("workers, hosts_each", [(1, 20), (2, 20), (4, 40)])
def test_passes_and_requests_agree_on_a_world_of_hosts_of_all_sizes(workers: int, hosts_each: int) -> None:
    world = passes.zipf(12_000, 600)
    cluster = Cluster(workers=workers, hosts_each=hosts_each)
    one, other = passes.simulate(world, cluster, DEAR), events.simulate(world.tolist(), cluster, DEAR)
    times = sorted(sent.at for sent in other.requests)
    assert one.at(0.9) == pytest.approx(times[int(0.9 * len(times))], rel=0.08)
    assert one.seconds == pytest.approx(other.seconds, rel=0.08)


@given(st.integers(1, 5_000), st.integers(1, 300), st.integers(0, 9))
@examples(60)
def test_a_world_has_the_pages_that_were_asked_for(more: int, hosts: int, seed: int) -> None:
    world = passes.zipf(hosts + more, hosts, seed=seed)
    assert (len(world), int(world.sum()), int(world.min()) >= 1) == (hosts, hosts + more, True)
    assert (world == passes.zipf(hosts + more, hosts, seed=seed)).all()
    assert int(passes.zipf(hosts + more, hosts, cap=3, seed=seed).max()) <= 3


def test_several_databases_share_the_writing() -> None:
    prices = Prices(worker=0.0, database=0.16, writer=0.0)
    world = passes.zipf(200_000, 4_000, cap=200)
    one, four = (passes.simulate(world, Cluster(workers=16, hosts_each=200, databases=n), prices) for n in (1, 4))
    assert next(iter(one.bottlenecks())) == DATABASE
    assert 3.5 < four.rate / one.rate <= 4.0
