"""Makes URLs known on PostgreSQL: new pages, shorter paths to known ones, start URLs, and the numbers of hosts and counters.

Nothing here waits for other workers but by the rows that both write, and all lock these in one order: own pages, new pages by
their hash, traps of URLs by key, hosts by number, traps of domains by key, counters by name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from tadoru.rules.traps import TrapPattern
from tadoru.store.crawl.connection import json_text
from tadoru.store.crawl.postgres.connection import plain_values, with_driver_parameters
from tadoru.store.crawl.postgres.database import FIND_URLS, PgDatabase
from tadoru.store.crawl.postgres.pool import AsyncLink, Statement, copy, together
from tadoru.store.crawl.queue_changes import QueueTally, hold_limits, is_too_deep
from tadoru.store.crawl.records import (
    TOO_DEEP,
    LinkTarget,
    PageStatus,
)
from tadoru.store.crawl.sqlite.database import stamp

_QUEUED = "SELECT coalesce(sum(value), 0) FROM counters WHERE name = 'queued'"
SHARDS = 32
"""A counter has a row for each worker, modulo this: so that workers do not wait for each other, and rows do not pile up."""
# By hash: two workers that add the same URLs wait for each other, and never each for the other.
_INSERT = """INSERT INTO pages(id, url, status, host_id, purpose, internal, skip_reason, depth, is_seed, hops, parent_id,
        added_at)
    SELECT id, url, status, host_id, purpose, internal, skip_reason, depth, is_seed, hops, parent_id, %s
    FROM (SELECT nextval('pages_id_seq') AS id, n.* FROM json_to_recordset(%s) AS n(url text, status text, host_id bigint,
        purpose text, internal boolean, skip_reason text, depth bigint, is_seed boolean, hops bigint, parent_id bigint)) AS new
    ORDER BY md5(url)::uuid ON CONFLICT ((md5(url)::uuid)) DO NOTHING RETURNING url, id"""
_TRAPS = """INSERT INTO traps(key, why, known, refused, example)
    SELECT key, why, known, 0, example FROM json_to_recordset(%s) AS t(key text, why text, known bigint, example text)
    ORDER BY key COLLATE "C" ON CONFLICT (key) DO UPDATE SET known = traps.known + EXCLUDED.known RETURNING key, known"""
_REFUSE = "UPDATE traps SET refused = refused + %s, example = %s WHERE key = %s"
_SKIP = """UPDATE pages p SET status = 'skipped', skip_reason = s.reason
    FROM json_to_recordset(%s) AS s(id bigint, reason text) WHERE p.id = s.id"""
_PROMOTE = """WITH was AS MATERIALIZED (SELECT id, status FROM pages WHERE id = %(page)s FOR NO KEY UPDATE)
    UPDATE pages p SET hops = CASE WHEN %(hops)s = 0 OR NOT p.is_seed THEN %(hops)s ELSE p.hops END, is_seed = true,
        parent_id = CASE WHEN %(hops)s = 0 THEN NULL ELSE p.parent_id END
    FROM was WHERE p.id = was.id RETURNING was.status, p.host_id"""
_REQUEST = "UPDATE pages SET status = 'queued', purpose = 'page', internal = true, skip_reason = NULL WHERE id = %s"
_RETRY = "UPDATE pages SET status = 'queued', retry_count = 0, not_before = 0 WHERE id = %s"
_WANT = f"""WITH was AS MATERIALIZED (SELECT id, status, host_id FROM pages WHERE id = ANY(%s) AND internal
        AND (status = 'discovered' OR skip_reason = '{TOO_DEEP}') ORDER BY id FOR NO KEY UPDATE)
    UPDATE pages p SET status = 'queued', skip_reason = NULL FROM was WHERE p.id = was.id RETURNING was.status, was.host_id"""
_HOSTS = """WITH changed AS MATERIALIZED (SELECT * FROM json_to_recordset(%s)
        AS c(id bigint, waiting bigint, given_back bigint, answers bigint)),
    locked AS MATERIALIZED (SELECT id FROM hosts WHERE id = ANY (ARRAY(SELECT id FROM changed)) ORDER BY id FOR NO KEY UPDATE)
    UPDATE hosts h SET queued = h.queued + c.waiting, leased = greatest(0, h.leased - c.given_back), asked = h.asked + c.answers
    FROM changed c JOIN locked USING (id) WHERE h.id = c.id"""
COUNT = """INSERT INTO counters(worker, name, value) SELECT %s, name, delta
    FROM json_to_recordset(%s) AS c(name text, delta bigint)
    ORDER BY name COLLATE "C" ON CONFLICT (worker, name) DO UPDATE SET value = counters.value + EXCLUDED.value"""


def count_statement(worker: int, tally: dict[str, int]) -> list[Statement]:
    """What adds to the counters of a worker; nothing if nothing changed."""
    rows = [{"name": name, "delta": delta} for name, delta in tally.items() if delta]
    return [(COUNT, [worker % SHARDS, json_text(rows)])] if rows else []


@dataclass(slots=True)
class WantedUrl:
    """A URL that pages of a batch lead to, by the shortest way."""

    target: LinkTarget
    depth: int
    parent: int | None
    hops: int = 0
    seed: bool = False


class PgUrlWriter(QueueTally):
    """Makes URLs known in one transaction, and counts what that changes."""

    def __init__(self, db: PgDatabase, worker: int, max_depth: int | None) -> None:
        super().__init__()
        self.db = db
        self.worker = worker
        self.max_depth = max_depth
        self.stamp = stamp(db.clock.now())
        self.inserted = 0
        self.shorter: list[tuple[int, int, int | None, int | None]] = []
        """Proposals of shorter paths."""
        self._learnt: dict[str, tuple[int, int]] = {}
        """URLs that are known when the transaction is committed."""
        self.hosts: dict[str, int] = {}
        self.urls: dict[str, tuple[int, int]] = {}

    async def look_up(self, targets: Iterable[LinkTarget], more_hosts: Iterable[str] = ()) -> None:
        """Before the transaction: number the hosts, and find the URLs that are known already."""
        by_url = {target.url: target.host for target in targets}
        self.hosts = await self.db.know_hosts({*by_url.values(), *more_hosts})
        self.urls = await self.db.know_urls(by_url)

    async def know(self, link: AsyncLink, wanted: dict[str, WantedUrl]) -> dict[str, int]:
        """The numbers of URLs: new ones are added, for others a shorter path is proposed."""
        found = {url: known for url in wanted if (known := self.urls.get(url)) is not None}
        new = [one for url, one in wanted.items() if url not in found]
        fresh: dict[str, int] = {}
        if new:
            fresh = await self._insert(link, new)
            late = [one.target.url for one in new if one.target.url not in fresh]
            if late:  # Another worker was faster.
                rows = (await together(link, [(FIND_URLS, [json_text(late)])]))[0]
                found |= {url: (number, depth) for url, number, depth in rows}
        for url, (number, depth) in found.items():
            one = wanted[url]
            if one.depth < depth:
                self.shorter.append((number, one.depth, one.parent, self.max_depth))
                self._learnt[url] = (number, one.depth)
            if one.seed:
                await self._promote(link, number, one)
        return {**fresh, **{url: number for url, (number, _) in found.items()}}

    async def _insert(self, link: AsyncLink, new: Sequence[WantedUrl]) -> dict[str, int]:
        host_ids = self.hosts
        rows = []
        for target, depth, parent, hops, seed in ((one.target, one.depth, one.parent, one.hops, one.seed) for one in new):
            status, reason = self._admit(target, depth)
            rows.append(
                {
                    "url": target.url, "status": status, "host_id": host_ids[target.host], "purpose": target.purpose,
                    "internal": target.internal, "skip_reason": reason or None, "depth": depth, "is_seed": seed, "hops": hops,
                    "parent_id": parent,
                }
            )  # fmt: skip
        inserted: dict[str, int] = dict((await together(link, [(_INSERT, [self.stamp, json_text(rows)])]))[0])
        states = {}
        for row, one in zip(rows, new, strict=True):
            if (number := inserted.get(one.target.url)) is None:
                continue
            states[number] = PageStatus(str(row["status"]))
            self._learnt[one.target.url] = (number, one.depth)
            if one.seed:
                self.named.add(host_ids[one.target.host])
        trapped = [
            (inserted[one.target.url], one.target)
            for one in new
            if one.target.trap is not None and not one.seed and states.get(inserted.get(one.target.url, 0)) is PageStatus.QUEUED
        ]
        if trapped:
            for number in await self._refused_as_traps(link, trapped):
                states[number] = PageStatus.SKIPPED
        for one in new:
            number = inserted.get(one.target.url)
            if number is not None:
                self.tally[states[number]] += 1
                if states[number] is PageStatus.QUEUED:
                    self.waiting[host_ids[one.target.host]] += 1
        self.inserted += len(inserted)
        return inserted

    def _admit(self, target: LinkTarget, depth: int) -> tuple[PageStatus, str]:
        if target.status is PageStatus.QUEUED and is_too_deep(target, depth, self.max_depth):
            return PageStatus.SKIPPED, TOO_DEEP
        return target.status, target.reason

    async def _refused_as_traps(self, link: AsyncLink, pages: Sequence[tuple[int, LinkTarget]]) -> list[int]:
        """Of new pages of endless classes, those over the cap of their class, which are skipped."""
        skipped: list[dict[str, object]] = []
        level = [(number, target, target.trap) for number, target in pages]
        while level:
            by_key: defaultdict[str, list[tuple[int, LinkTarget, TrapPattern]]] = defaultdict(list)
            for number, target, trap in level:
                if trap is not None:
                    by_key[trap.key].append((number, target, trap))
            rows = [
                {"key": key, "why": some[0][2].why, "known": len(some), "example": some[0][1].url} for key, some in by_key.items()
            ]
            level = []
            if not rows:
                break
            for key, known in (await together(link, [(_TRAPS, [json_text(rows)])]))[0]:
                some = by_key[key]
                within = max(0, some[0][2].cap - (known - len(some)))
                level += [(number, target, trap.outer) for number, target, trap in some[:within] if trap.outer is not None]
                if refused := some[within:]:
                    await link.execute(_REFUSE, [len(refused), refused[-1][1].url, key])
                    why = target_trap_reason(refused[0][1])
                    skipped += [{"id": number, "reason": why} for number, _, _ in refused]
        if skipped:
            await link.execute(_SKIP, [json_text(skipped)])
        return [int(str(row["id"])) for row in skipped]

    async def _promote(self, link: AsyncLink, page: int, one: WantedUrl) -> None:
        """A seed is requested even if it was only discovered, only to be checked, or skipped before; a typed one (it has no hops)
        also if it failed."""
        target, hops = one.target, one.hops
        self.named.add(self.hosts[target.host])
        [(status, host_id)] = (await together(link, [(_PROMOTE, {"hops": hops, "page": page})]))[0]
        if target.status is PageStatus.QUEUED and status in ("discovered", "skipped", "queued"):
            await link.execute(_REQUEST, [page])
            self.queue_again(status, host_id)
        elif target.status is PageStatus.QUEUED and status == "error" and hops == 0:
            await link.execute(_RETRY, [page])
            self.queue_again(status, host_id)
            self.tally["counted"] -= 1

    async def want(self, link: AsyncLink, pages: Sequence[int]) -> None:
        """Request pages of the site that were only discovered until now, or too deep: how deep they are depends on the timing."""
        for status, host_id in (await together(link, [(_WANT, [list(pages)])]))[0]:
            self.queue_again(status, host_id)

    async def flush(self, link: AsyncLink) -> None:
        """The numbers of hosts, the limits, the counters; then the transaction is committed."""
        if self.shorter:
            await copy(link, "depth_changes", "page_id, depth, parent_id, max_depth", self.shorter)
        hosts = {*self.waiting, *self.given_back}
        has_limits = bool(self.db.bounds or self.named)  # Then all hosts are locked here, in their order.
        rows = [
            {"id": one, "waiting": self.waiting[one], "given_back": self.given_back[one], "answers": self.answers[one]}
            for one in sorted(hosts | self.named)
            if has_limits or self.waiting[one] or self.given_back[one] or self.answers[one]
        ]
        last: list[Statement] = [(_HOSTS, [json_text(rows)])] if rows else []
        if has_limits:
            if last:
                await together(link, last)
                last = []
            await self._hold_limits(link, hosts)
        await together(link, [*last, *count_statement(self.worker, self.tally), ("COMMIT", ())])

    async def _hold_limits(self, link: AsyncLink, hosts: Collection[int]) -> None:
        """Skip what is too much at these hosts."""
        queued = int((await together(link, [(_QUEUED, ())]))[0][0][0]) if self.db.bounds.queued else 0
        steps = hold_limits(self.db, hosts, self.tally, queued, self.named)
        with suppress(StopIteration):
            statement, values = next(steps)
            while True:
                rows = await together(link, [(with_driver_parameters(statement), plain_values(values))])
                statement, values = steps.send(rows[0])

    def remember(self) -> None:
        """After the commit: what it made known is cached."""
        self.db.known.add(self._learnt)


def target_trap_reason(target: LinkTarget) -> str:
    """Why a URL over the cap of its class is skipped."""
    assert target.trap is not None
    return f"trap: {target.trap.why}"
