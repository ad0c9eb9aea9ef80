"""Counters against what they count, whatever happens: leases, answers, deaths, re-crawls, other rules, resources, sitemaps."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tadoru.model.web import Link, LinkKind
from tadoru.store.crawl import records
from tadoru.store.crawl.records import PageRecords, ResourceUse
from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.support.clock import FakeClock
from tests.support.properties import examples

R = TypeVar("R")
HOSTS = ("a.example", "b.example")
workers = st.integers(0, 1)
RECORDS = PageRecords(indexable=True, indexability="indexable")


@st.composite
def targets(draw: st.DrawFn) -> records.LinkTarget:
    host, path = draw(st.sampled_from(HOSTS)), draw(st.integers(0, 5))
    url = f"https://{host}/{path}"
    if host == HOSTS[0]:
        status = draw(st.sampled_from([records.PageStatus.QUEUED] * 4 + [records.PageStatus.SKIPPED]))
        return records.LinkTarget(url, host, status, "" if status is records.PageStatus.QUEUED else "excluded by pattern x")
    if draw(st.booleans()):
        return records.LinkTarget(url, host, records.PageStatus.QUEUED, "external", records.UrlPurpose.CHECK, internal=False)
    return records.LinkTarget(url, host, records.PageStatus.DISCOVERED, "external", internal=False)


@st.composite
def answers(draw: st.DrawFn, lease: records.Lease) -> records.Outcome:
    links = draw(st.lists(targets(), max_size=4, unique_by=lambda target: target.url))
    uses = [ResourceUse(f"https://a.example/{n}.png", HOSTS[0], "img", True, True) for n in draw(st.sets(st.integers(0, 3)))]
    found = [Link(target.url, LinkKind.A, "", "", position, "") for position, target in enumerate(links)]
    outcomes: list[records.Outcome] = [
        records.CompletedOutcome(
            lease=lease,
            facts=records.PageFacts(status_code=200),
            links=found,
            targets={one.url: one for one in links},
            records=RECORDS,
            resources=uses,
        ),
        records.CompletedOutcome(
            lease=lease, facts=records.PageFacts(status_code=301), redirect=links[0] if links else None, records=RECORDS
        ),
        records.UnchangedOutcome(lease=lease),
        records.FailedOutcome(lease=lease, kind="tls_error", message="m", records=RECORDS),
        records.RetryOutcome(lease=lease, after=0.0, kind="http_503", message="m"),
        records.RefusedOutcome(lease=lease, reason="robots.txt forbids it", records=RECORDS),
    ]
    return draw(st.sampled_from([outcomes[0], outcomes[0], *outcomes]))


class Recrawls(RuleBasedStateMachine):
    """One crawl after the other in one database."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.store = SqliteStore(":memory:", FakeClock())
        self.worker = [self.do(self.store.frontier.join(60.0)) for _ in range(2)]
        self.held: list[tuple[int, records.Lease]] = []
        self.trying: list[tuple[int, records.ResourceLease]] = []

    def do(self, work: Awaitable[R]) -> R:
        async def wait() -> R:
            return await work

        return self.runner.run(wait())

    @initialize()
    def begin(self) -> None:
        self.do(self.store.runs.begin("crawl", {}, "1"))
        start, other = (records.LinkTarget(f"https://a.example/{n}", HOSTS[0], records.PageStatus.QUEUED) for n in (0, 1))
        self.do(self.store.frontier.add([start], seed=True))
        [lease] = self.do(self.store.frontier.lease(self.worker[0], {}, new_hosts=1, per_host=1, limit=0)).leases
        uses = [ResourceUse(f"https://a.example/{n}.png", HOSTS[0], "img", True, True) for n in range(2)]
        links = [Link(other.url, LinkKind.A, "", "", 0, "")]
        done = records.CompletedOutcome(
            lease=lease, facts=records.PageFacts(status_code=200), links=links, targets={other.url: other}, records=RECORDS,
            resources=uses,
        )  # fmt: skip
        self.do(self.store.frontier.finish(self.worker[0], [done], max_depth=None))

    @rule(place=workers, number=st.integers(1, 4), limit=st.sampled_from([0, 0, 3]))
    def lease(self, place: int, number: int, limit: int) -> None:
        worker = self.worker[place]
        leased = self.do(self.store.frontier.lease(worker, {}, new_hosts=2, per_host=number, limit=limit))
        self.held += [(worker, lease) for lease in leased.leases]

    @precondition(lambda self: self.held)
    @rule(data=st.data(), max_depth=st.sampled_from([None, 1]))
    def finish(self, data: st.DataObject, max_depth: int | None) -> None:
        worker, lease = self.held.pop(0)
        self.do(self.store.frontier.finish(worker, [data.draw(answers(lease))], max_depth=max_depth))

    @rule(place=workers)
    def die(self, place: int) -> None:
        self.do(self.store.frontier.leave(self.worker[place]))
        self.worker[place] = self.do(self.store.frontier.join(60.0))

    @rule(limit=st.sampled_from([0, 1, 1]), externals=st.booleans())
    def recrawl(self, limit: int, externals: bool) -> None:
        self.end()
        if self.do(self.store.runs.begin_recrawl({}, "1", limit=limit, externals=externals)) is not None:
            self.held.clear()

    @rule()
    def end(self) -> None:
        for run in self.do(self.store.runs.all())[-1:]:
            self.do(self.store.runs.end(run.number, "complete", None))

    @rule(found=st.lists(targets(), max_size=6), max_depth=st.sampled_from([None, 1]))
    def reconsider(self, found: list[records.LinkTarget], max_depth: int | None) -> None:
        now = {target.url: target for target in found}
        self.do(self.store.rescope.reconsider(lambda url, seed: now.get(url), max_depth=max_depth))

    @rule()
    def retire(self) -> None:
        self.do(self.store.stale_pages.retire())

    @rule()
    def recall(self) -> None:
        self.do(self.store.stale_pages.recall())

    @rule(found=st.lists(targets(), max_size=3))
    def name_pages(self, found: list[records.LinkTarget]) -> None:
        number = self.do(
            self.store.sitemaps.put(records.SitemapRecord("https://a.example/s", 0, "guess", "read", "urlset", 200, 1, 1, ()))
        )
        self.do(self.store.frontier.add_named(number, [records.NamedPage(target, None) for target in found]))

    @rule(place=workers, number=st.integers(1, 3))
    def lease_resources(self, place: int, number: int) -> None:
        worker = self.worker[place]
        self.trying += [(worker, lease) for lease in self.do(self.store.resources.lease(worker, number, budget=3))]

    @precondition(lambda self: self.trying)
    @rule(again=st.booleans())
    def finish_resource(self, again: bool) -> None:
        worker, lease = self.trying.pop(0)
        result = records.ResourceResult(resource_id=lease.resource_id, status="completed", again_after=0.0 if again else None)
        self.do(self.store.resources.finish(worker, [result]))

    def ask(self, what: str) -> list[tuple[Any, ...]]:
        return self.store.sql.execute(f"SELECT {what}").fetchall()

    @invariant()
    def pages_are_counted_right(self) -> None:
        counts = self.do(self.store.frontier.counts())
        found = Counter(status for (status,) in self.ask("status FROM pages"))
        assert {status: getattr(counts, status) for status in records.PageStatus} == {
            status: found[status] for status in records.PageStatus
        }

    @invariant()
    def what_is_gone_waits_for_nothing(self) -> None:
        assert self.ask("url FROM pages WHERE purpose = 'gone' AND status <> 'completed' AND status <> 'error'") == []

    @invariant()
    def hosts_know_what_waits(self) -> None:
        queued = "(SELECT count(*) FROM pages WHERE host_id = hosts.id AND status = 'queued')"
        assert self.ask(f"name, queued, {queued} FROM hosts WHERE queued <> {queued}") == []

    @invariant()
    def resources_are_counted_right(self) -> None:
        taken = "(SELECT count(*) FROM resources WHERE status <> 'queued' AND status <> 'discovered')"
        assert self.ask(f"1 WHERE {taken} <> coalesce((SELECT value FROM counters WHERE name = 'resources'), 0)") == []
        assert self.ask(f"1 WHERE {taken} > 3") == []

    @invariant()
    def owners_own_what_is_in_work(self) -> None:
        for table in ("pages", "resources"):
            assert self.ask(f"url FROM {table} WHERE (status = 'processing') <> (owner IS NOT NULL)") == []

    @invariant()
    def what_was_not_requested_has_no_details(self) -> None:
        about = "page_details d JOIN pages p ON p.id = d.page_id WHERE p.status = 'discovered' OR p.skip_reason GLOB 'excluded*'"
        assert self.ask(f"p.url FROM {about}") == []

    def teardown(self) -> None:
        self.runner.run(self.store.close())
        self.runner.close()


TestRecrawls = Recrawls.TestCase
TestRecrawls.settings = examples(50, stateful_step_count=40, deadline=None)
