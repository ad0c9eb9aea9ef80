"""Who gets a slice next: hosts that wait, of every crawl, found by one worker at a time and put into the queue once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from tadoru.store.cluster.registry import ClusterRegistry
from tests.support.clusters import SampleCluster, cluster_on
from tests.support.postgres import server


@pytest.fixture
def seen() -> Iterator[SampleCluster]:
    with cluster_on(server()) as made:
        yield made


def lined_up(seen: SampleCluster, crawl: str) -> int:
    return seen.cluster.counts(crawl)["lined up"]


def test_a_crawl_of_many_hosts_leaves_room_in_the_queue_for_one_of_few(seen: SampleCluster) -> None:
    large = [f"host-{number}.example" for number in range(12)]
    seen.crawl("large", *large)
    seen.crawl("small", "shop.example")
    seen.put_slices("large", *seen.cluster.waiting_hosts("large", 6))
    assert lined_up(seen, "large") == 6
    assert seen.cluster.waiting_hosts("large", 6) == [], "its share is taken"
    assert seen.cluster.waiting_hosts("small", 6) == ["shop.example"]
    assert lined_up(seen, "small") == 0


def test_hosts_of_which_one_waits_already_are_put_into_the_queue_all_the_same(seen: SampleCluster) -> None:
    seen.crawl("shops", "a.example", "b.example", "c.example")
    seen.put_slices("shops", "b.example")
    seen.put_slices("shops", "a.example", "b.example", "c.example")
    assert lined_up(seen, "shops") == 3
    assert seen.cluster.waiting_hosts("shops", 10) == []


def test_one_worker_looks_at_a_time_and_one_that_is_gone_keeps_nobody_from_it(seen: SampleCluster) -> None:
    with closing(ClusterRegistry(seen.database)) as other:
        with other.looking() as is_alone:
            assert is_alone
            with seen.cluster.looking() as is_second:
                assert not is_second
        with seen.cluster.looking() as is_next:
            assert is_next
        other.looking().__enter__()
    with seen.cluster.looking() as is_after_it_is_gone:
        assert is_after_it_is_gone
