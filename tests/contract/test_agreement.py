"""SQLite against memory, step by step: whatever workers do, both backends say the same, and their counters tell the truth.

The in-memory store is short enough to be read and believed; this machine carries that belief over to the SQL.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tadoru.model.web import Link, LinkKind
from tadoru.rules.budget import BreadthLimits
from tadoru.rules.pace import Pace
from tadoru.rules.traps import TrapPattern
from tadoru.store.crawl import interface, records
from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.support.clock import FakeClock
from tests.support.memory_store.store import MemoryStore
from tests.support.properties import examples

HOSTS = ["a.example", "b.one.example", "c.one.example"]
paths = st.integers(0, 5)
hosts = st.sampled_from(HOSTS)
workers = st.integers(0, 2)
depth_limits = st.sampled_from([None, 0, 1, 2, 3])


@st.composite
def targets(draw: st.DrawFn) -> records.LinkTarget:
    host = draw(hosts)
    status = draw(st.sampled_from([records.PageStatus.QUEUED] * 5 + [records.PageStatus.SKIPPED, records.PageStatus.DISCOVERED]))
    reason = "" if status is records.PageStatus.QUEUED else "so they said"
    outer = TrapPattern("every calendar", "calendar", 3)
    kinds = [
        TrapPattern("one", "calendar", 2, outer),
        TrapPattern("two", "calendar", 2, outer),
        TrapPattern("facets", "facets", 1),
    ]
    trap = draw(st.sampled_from([None, None, *kinds]))
    purpose = draw(st.sampled_from([records.UrlPurpose.PAGE, records.UrlPurpose.PAGE, records.UrlPurpose.CHECK]))
    return records.LinkTarget(f"https://{host}/{draw(paths)}", host, status, reason, purpose, host == HOSTS[0], trap)


@st.composite
def link_lists(draw: st.DrawFn) -> tuple[list[Link], dict[str, records.LinkTarget]]:
    found = draw(st.lists(st.tuples(targets(), st.sampled_from(["", "a text"]), st.sampled_from(["", "x", "y"])), max_size=4))
    first: dict[str, records.LinkTarget] = {}  # The rules decide about a URL once; a page cannot have two opinions of it.
    links = [
        Link(first.setdefault(target.url, target).url, LinkKind.A, text, "", position, fragment)
        for position, (target, text, fragment) in enumerate(found)
    ]
    return links, first


outcome_makers: st.SearchStrategy[Callable[[records.Lease], records.Outcome]] = st.one_of(
    st.builds(
        lambda found, anchors: (
            lambda lease: records.CompletedOutcome(
                lease=lease,
                facts=records.PageFacts(status_code=200, title="t"),
                links=found[0],
                targets=found[1],
                anchors=anchors,
            )
        ),
        link_lists(),
        st.sampled_from([None, (), ("x",)]),
    ),
    st.builds(
        lambda onward: (
            lambda lease: records.CompletedOutcome(lease=lease, facts=records.PageFacts(status_code=301), redirect=onward)
        ),
        targets(),
    ),
    st.just(lambda lease: records.FailedOutcome(lease=lease, kind="tls_error", message="m")),
    st.builds(
        lambda after: lambda lease: records.RetryOutcome(lease=lease, after=after, kind="http_503", message="m"),
        st.sampled_from([0.0, 8.0]),
    ),
    st.just(lambda lease: records.RefusedOutcome(lease=lease, reason="robots")),
    st.just(lambda lease: records.ReleasedOutcome(lease=lease)),
)


class Agreement(RuleBasedStateMachine):
    """Every step is done to both backends; what they return, and what they then show, must be equal."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.clock = FakeClock()
        self.memory, self.sqlite = MemoryStore(self.clock), SqliteStore(":memory:", self.clock)
        self.worker = [0, 0, 0]
        self.held: list[tuple[int, records.Lease]] = []

    def both(self, ask: Callable[[interface.CrawlStore], Awaitable[Any]]) -> Any:
        """One answer from two stores."""

        async def answer(store: interface.CrawlStore) -> Any:
            return await ask(store)

        one, two = self.runner.run(answer(self.memory)), self.runner.run(answer(self.sqlite))
        assert one == two
        return one

    @initialize(found=st.lists(targets(), min_size=1, max_size=4))
    def begin(self, found: list[records.LinkTarget]) -> None:
        for place in range(3):
            self.worker[place] = self.both(lambda store: store.frontier.join(60.0))
        self.both(lambda store: store.frontier.add(found, seed=True))

    @rule(found=st.lists(targets(), max_size=3), seed=st.booleans(), depth=st.integers(0, 3))
    def add(self, found: list[records.LinkTarget], seed: bool, depth: int) -> None:
        self.both(lambda store: store.frontier.add(found, seed=seed, depth=0 if seed else depth))

    @rule(
        place=workers,
        wants=st.dictionaries(hosts, st.integers(0, 3), max_size=2),
        new=st.integers(0, 2),
        limit=st.sampled_from([0, 0, 6]),
    )
    def lease(self, place: int, wants: dict[str, int], new: int, limit: int) -> None:
        worker = self.worker[place]
        leased = self.both(lambda store: store.frontier.lease(worker, wants, new_hosts=new, per_host=2, limit=limit))
        self.held += [(worker, lease) for lease in leased.leases]

    @precondition(lambda self: self.held)
    @rule(data=st.data(), makers=st.lists(outcome_makers, min_size=1, max_size=3), max_depth=depth_limits)
    def finish(
        self, data: st.DataObject, makers: list[Callable[[records.Lease], records.Outcome]], max_depth: int | None
    ) -> None:
        worker = data.draw(st.sampled_from(sorted({worker for worker, _ in self.held})))
        mine = [pair for pair in self.held if pair[0] == worker][: len(makers)]
        self.held = [pair for pair in self.held if pair not in mine]
        outcomes = [make(lease) for make, (_, lease) in zip(makers, mine, strict=False)]
        self.both(lambda store: store.frontier.finish(worker, outcomes, max_depth=max_depth))

    @rule(
        pages=st.sampled_from([0, 1, 2]),
        hosts=st.sampled_from([0, 1, 2]),
        queue=st.sampled_from([0, 3, 20]),
    )
    def bound(self, pages: int, hosts: int, queue: int) -> None:
        for store in (self.memory, self.sqlite):
            store.limits.set(BreadthLimits(pages_per_host=pages, hosts_per_domain=hosts, queued=queue))
        self.both(lambda store: store.limits.requeue())

    @rule()
    def refill(self) -> None:
        self.both(lambda store: store.limits.refill())

    @rule(max_depth=depth_limits)
    def widen(self, max_depth: int | None) -> None:
        self.both(lambda store: store.frontier.widen(max_depth))

    @rule(found=st.lists(targets(), max_size=3))
    def name_pages(self, found: list[records.LinkTarget]) -> None:
        self.both(lambda store: store.frontier.add_named(1, [records.NamedPage(target, None) for target in found]))

    @rule(found=st.lists(targets(), max_size=6), max_depth=depth_limits)
    def reconsider(self, found: list[records.LinkTarget], max_depth: int | None) -> None:
        now = {target.url: target for target in found}
        self.both(lambda store: store.rescope.reconsider(lambda url, seed: now.get(url), max_depth=max_depth))

    @rule(seconds=st.sampled_from([0.5, 4.0, 31.0]))
    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @rule(place=workers)
    def renew(self, place: int) -> None:
        if not self.both(lambda store: store.frontier.renew(self.worker[place], 60.0)):
            self.worker[place] = self.both(lambda store: store.frontier.join(60.0))

    @rule()
    def recover(self) -> None:
        self.both(lambda store: store.frontier.recover())

    @rule(place=workers)
    def leave(self, place: int) -> None:
        self.both(lambda store: store.frontier.leave(self.worker[place]))

    @rule(place=workers, host=hosts)
    def take_slot(self, place: int, host: str) -> None:
        self.both(lambda store: store.hosts.take_slot(self.worker[place], host, 16.0))

    @rule(place=workers, host=hosts)
    def sent(self, place: int, host: str) -> None:
        self.both(lambda store: store.hosts.sent(self.worker[place], host))

    @rule(host=hosts, gap=st.sampled_from([0.0, 1.0, 4.0]))
    def begin_pace(self, host: str, gap: float) -> None:
        self.both(lambda store: store.hosts.begin_pace(host, Pace(gap, gap, None, None, 0)))

    @rule(gap=st.sampled_from([0.0, 1.0, 2.0]))
    def lower_paces(self, gap: float) -> None:
        self.both(lambda store: store.hosts.lower_paces(gap))

    @rule(host=hosts, gap=st.sampled_from([0.0, 2.0, 8.0]), pause=st.sampled_from([0.0, 16.0]))
    def set_pace(self, host: str, gap: float, pause: float) -> None:
        self.both(lambda store: store.hosts.set_pace(host, Pace(gap, 1.0, 0.5, 0.25, 1), pause))

    @rule(place=workers, host=hosts, status=st.sampled_from([None, 200, 500]))
    def robots(self, place: int, host: str, status: int | None) -> None:
        if self.both(lambda store: store.robots.claim(self.worker[place], host, hold=16.0, max_age=64.0)) is True and status:
            self.both(lambda store: store.robots.put(host, records.RobotsRecord(status, None, "", b"x", 0.0)))

    @rule()
    def settle(self) -> None:
        self.both(lambda store: store.graph.settle())

    @invariant()
    def they_show_the_same(self) -> None:
        self.both(_everything)

    @invariant()
    def the_counters_tell_the_truth(self) -> None:
        counts = self.both(lambda store: store.frontier.counts())
        pages = self.both(_pages)
        found = Counter(page.status for page in pages)
        assert {status: getattr(counts, status) for status in records.PageStatus} == {
            status: found[status] for status in records.PageStatus
        }
        redirects = sum(page.status == "completed" and page.redirect_url is not None for page in pages)
        assert (counts.redirects, counts.counted) == (redirects, found["completed"] + found["error"] - redirects)

    @invariant()
    def the_waiting_numbers_of_hosts_tell_the_truth(self) -> None:
        queued = "SELECT count(*) FROM pages WHERE host_id = hosts.id AND status = 'queued'"
        assert self.sqlite.sql.execute(f"SELECT name, queued, ({queued}) FROM hosts WHERE queued <> ({queued})").fetchall() == []

    def teardown(self) -> None:
        self.runner.run(self.sqlite.close())
        self.runner.close()


async def _pages(store: interface.CrawlStore) -> list[Any]:
    return [page async for page in store.graph.pages()]


async def _everything(store: interface.CrawlStore) -> tuple[Any, ...]:
    pages = await _pages(store)
    links = [link async for link in store.graph.links()]
    incoming = [link async for link in store.graph.links_to([page.page_id for page in pages])]
    fragments = [link async for link in store.graph.fragment_links()]
    return pages, links, incoming, fragments, await store.graph.traps(), await store.frontier.counts()


TestAgreement = Agreement.TestCase
TestAgreement.settings = examples(60, stateful_step_count=40, deadline=None)
