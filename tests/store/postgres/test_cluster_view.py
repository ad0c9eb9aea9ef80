"""A cluster as those see it who watch it, on a real PostgreSQL, with rows that the workers' own code wrote."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict

import pytest

from tadoru.errors import StoreError, UsageError
from tadoru.rules.pace import Pace
from tadoru.store.cluster.status import ClusterStatusReader
from tests.support.clusters import SampleCluster, cluster_on, fill
from tests.support.postgres import server


@pytest.fixture(scope="module")
def filled() -> Iterator[SampleCluster]:
    """For tests that only look."""
    with cluster_on(server()) as made:
        fill(made)
        yield made


@pytest.fixture
def seen() -> Iterator[SampleCluster]:
    with cluster_on(server()) as made:
        yield made


@pytest.fixture
def view(seen: SampleCluster) -> Iterator[ClusterStatusReader]:
    with closing(ClusterStatusReader(seen.database)) as opened:
        yield opened


def test_workers_are_alive_or_gone_by_the_clock_of_the_database(filled: SampleCluster) -> None:
    with closing(ClusterStatusReader(filled.database)) as view:
        found = view.look()
    assert [(one.name, one.machine, one.is_alive, one.hosts, one.pages) for one in found.workers] == [
        ("attic-1", "attic", False, 0, 89), ("den-1", "den", True, 3, 1234), ("den-2", "den", True, 1, 567),
    ]  # fmt: skip
    assert found.alive == 2
    assert found.workers[0].rate == 0
    assert all(one.started_at < one.seen_at for one in found.workers)


def test_a_crawl_is_told_in_counts_the_open_ones_first(filled: SampleCluster) -> None:
    with closing(ClusterStatusReader(filled.database)) as view:
        shops, docs = view.look().crawls
    assert (shops.name, shops.state, shops.done, shops.queued, shops.in_flight, shops.errors) == ("shops", "open", 10, 5, 0, 5)
    assert shops.hosts_waiting == 5
    assert (docs.name, docs.state, docs.done, docs.queued, docs.errors, docs.hosts_waiting) == ("docs", "done", 2, 0, 1, 0)
    assert shops.ended_at is None
    assert docs.ended_at is not None


def test_the_queue_tells_what_waits_runs_stalls_and_was_given_up(filled: SampleCluster) -> None:
    with closing(ClusterStatusReader(filled.database)) as view:
        assert asdict(view.look().queue) == {"waiting": 2, "again": 0, "running": 1, "stalled": 1, "failed": 1}


def test_hosts_in_trouble_are_named_the_worst_first(filled: SampleCluster) -> None:
    with closing(ClusterStatusReader(filled.database)) as view:
        found = view.look().hosts
        assert [(one.name, one.trouble) for one in found] == [
            ("bad.example", "failed"), ("shut.example", "robots"), ("slow.example", "slowed"),
        ]  # fmt: skip
        assert found[0].attempts == 5
        assert (found[2].gap, found[2].latency, found[2].queued) == (32.0, 4.5, 1)
        assert 500 < (found[2].wait or 0) <= 600
        assert [one.name for one in view.look(most_hosts=1).hosts] == ["bad.example"]


def test_a_host_that_only_wants_to_be_asked_slowly_is_named_without_blame(seen: SampleCluster, view: ClusterStatusReader) -> None:
    seen.crawl("a", "calm.example", "usual.example")
    seen.pace("a", "calm.example", Pace(gap=20.0, base=20.0, latency=None, baseline=None, strikes=0))
    seen.pace("a", "usual.example", Pace(gap=1.0, base=1.0, latency=None, baseline=None, strikes=0))
    assert [(one.name, one.trouble, one.gap) for one in view.look().hosts] == [("calm.example", "", 20.0)]


def test_an_empty_cluster_has_nothing_to_tell(view: ClusterStatusReader) -> None:
    found = view.look()
    assert (found.workers, found.crawls, found.hosts) == ((), (), ())
    assert not any(asdict(found.queue).values())
    assert found.document()["rate"] == 0


def test_a_crawl_that_nothing_was_written_for_is_told_so(seen: SampleCluster, view: ClusterStatusReader) -> None:
    seen.cluster.put_crawl("soon", "audit", {})
    (crawl,) = view.look().crawls
    assert (crawl.name, crawl.has_data, crawl.done) == ("soon", False, 0)


def test_the_rate_is_that_of_the_last_beats(seen: SampleCluster, view: ClusterStatusReader) -> None:
    number = seen.cluster.register("w", "here", 1, "0.1.0")
    for pages in range(6000, 60_000, 6000):
        seen.sql("UPDATE workers SET seen_at = seen_at - interval '600 seconds' WHERE id = %s", number)
        seen.cluster.beat(number, 1, pages)
    assert view.look().rate == pytest.approx(10.0, rel=0.05)
    for _ in range(3):
        seen.sql("UPDATE workers SET seen_at = seen_at - interval '600 seconds' WHERE id = %s", number)
        seen.cluster.beat(number, 1, 54_000)
    assert view.look().rate < 0.1


def test_tables_without_a_rate_tell_the_mean_since_the_start(seen: SampleCluster, view: ClusterStatusReader) -> None:
    seen.worker("old", "here", pages=7200)
    seen.sql("ALTER TABLE workers DROP COLUMN rate")
    assert view.look().rate == pytest.approx(2.0, rel=0.01)


def test_a_crawl_is_stopped_resumed_and_forgotten(seen: SampleCluster, view: ClusterStatusReader) -> None:
    seen.crawl("shops", "a.example", "b.example")
    seen.put_slices("shops", "a.example", "b.example")
    seen.put_slices("other", "c.example")
    with pytest.raises(UsageError, match=r"is open\. Stop it first"):
        view.forget("shops")
    view.stop("shops")
    found = view.look()
    assert (found.crawls[0].state, found.crawls[0].ended_at is None, found.queue.waiting) == ("stopped", False, 1)
    with pytest.raises(UsageError, match="Cannot stop crawl shops: it is stopped, not open"):
        view.stop("shops")
    view.resume("shops")
    assert (view.look().crawls[0].state, view.look().crawls[0].ended_at) == ("open", None)
    view.stop("shops")
    view.forget("shops")
    assert view.look().crawls == ()
    seen.cluster.put_crawl("shops", "audit", {})
    assert view.look().crawls[0].done == 4, "what was found stays"


def test_a_crawl_that_workers_are_still_at_is_not_forgotten(seen: SampleCluster, view: ClusterStatusReader) -> None:
    seen.crawl("shops", "a.example")
    seen.put_slices("shops", "a.example")
    seen.begin_slice("a.example")
    view.stop("shops")
    with pytest.raises(UsageError, match="Workers still process crawl shops"):
        view.forget("shops")


def test_a_crawl_that_is_done_can_not_go_on(filled: SampleCluster) -> None:
    with (
        closing(ClusterStatusReader(filled.database)) as view,
        pytest.raises(UsageError, match="Cannot resume crawl docs: it is done"),
    ):
        view.resume("docs")


@pytest.mark.parametrize("change", ["stop", "resume", "forget"])
def test_a_crawl_that_the_cluster_does_not_have_is_one_sentence(change: str, filled: SampleCluster) -> None:
    with closing(ClusterStatusReader(filled.database)) as view:
        with pytest.raises(UsageError, match=r"Crawl nix'; DROP not found in the cluster\. `tadoru cluster status` lists them"):
            getattr(view, change)("nix'; DROP")
        assert len(view.look().crawls) == 2


def test_a_database_without_a_cluster_is_told_how_to_get_one() -> None:
    database = server().new_database()
    try:
        with closing(ClusterStatusReader(database)) as view:
            assert not view.is_there()
            with pytest.raises(UsageError, match=r"No cluster in postgresql://.*`tadoru worker"):
                view.look()
            with pytest.raises(UsageError, match="Crawl a not found"):
                view.stop("a")
    finally:
        server().drop(database)


def test_a_database_that_is_not_there_is_one_sentence_without_its_password() -> None:
    with pytest.raises(StoreError, match="Cannot connect to") as told:
        ClusterStatusReader("postgresql+psycopg://ann:secret@127.0.0.1:1/none")
    assert "secret" not in str(told.value)
