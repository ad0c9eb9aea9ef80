"""Writes the outcomes of leased URLs on PostgreSQL: a batch is a few statements, beside the batches of other workers.

Nothing here waits for other workers but by the rows that both write, and all lock these in one order, which `url_writer` names.
Hosts and texts are numbered before the transaction, so that they are locked for a moment only. A shorter path to a known page is
proposed in `depth_changes`; `depths` applies it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any, NamedTuple

from tadoru.model.web import FailureKind
from tadoru.store.crawl import documents
from tadoru.store.crawl.connection import json_text
from tadoru.store.crawl.metrics import error_counter, measure, status_counter
from tadoru.store.crawl.page_details import DETAIL_TABLES, DetailRows
from tadoru.store.crawl.postgres.connection import plain_values, with_driver_parameters
from tadoru.store.crawl.postgres.database import PgDatabase
from tadoru.store.crawl.postgres.pool import AsyncLink, Statement, copy, together
from tadoru.store.crawl.postgres.url_writer import PgUrlWriter, WantedUrl
from tadoru.store.crawl.queue_changes import PAGE_TABLES
from tadoru.store.crawl.records import (
    NOT_ARRIVED,
    CompletedOutcome,
    FailedOutcome,
    Outcome,
    PageFacts,
    PageRecords,
    RefusedOutcome,
    ResourceUse,
    RetryOutcome,
    UnchangedOutcome,
)

_TYPES = {"int": "bigint", "float": "double precision", "str": "text"}
_FACTS = {field.name: _TYPES[str(field.type).partition(" ")[0]] for field in fields(PageFacts)}
_facts = attrgetter(*_FACTS)
# The rows of one batch, if they are still this worker's: `_LOCK_PAGES` has locked them.
_ENDED = """UPDATE pages p SET owner = NULL, {changes} FROM json_to_recordset(%(rows)s) AS g(id bigint, {columns})
    WHERE p.id = g.id AND p.owner = %(worker)s RETURNING p.id, """
_COMPLETE = (
    _ENDED.format(
        columns=", ".join(f"{name} {kind}" for name, kind in _FACTS.items()),
        changes=", ".join(f"{name} = g.{name}" for name in _FACTS)
        + """, status = 'completed', crawled_at = %(stamp)s, last_error_type = NULL, last_error_message = NULL,
        skip_reason = NULL, redirect_id = NULL, crawls = crawls + 1""",
    )
    + "p.depth, p.hops, p.is_seed, p.crawls"
)
_UNCHANGED = (
    _ENDED.format(
        columns="nothing text",
        changes="status = 'completed', crawled_at = %(stamp)s, last_error_type = NULL, last_error_message = NULL",
    )
    + "p.redirect_id IS NULL"
)
_END = (
    _ENDED.format(
        columns="status text, skip_reason text, kind text, message text, crawled_at text",
        changes=f"""status = g.status, skip_reason = g.skip_reason, last_error_type = g.kind, last_error_message = g.message,
        crawled_at = g.crawled_at, {" = NULL, ".join(_FACTS)} = NULL, crawls = crawls + 1""",
    )
    + "p.crawls"
)
_REQUEUE = (
    _ENDED.format(
        columns="not_before double precision, tries bigint, kind text, message text",
        changes="""status = 'queued', not_before = g.not_before, retry_count = retry_count + g.tries,
        last_error_type = coalesce(g.kind, last_error_type), last_error_message = coalesce(g.message, last_error_message)""",
    )
    + "1"
)
_FIND_RESOURCES = """SELECT r.url, r.id FROM json_array_elements_text(%s::json) AS wanted(url)
    JOIN resources r ON md5(r.url)::uuid = md5(wanted.url)::uuid"""
_NEW_RESOURCES = """INSERT INTO resources(id, url, host, kind, internal, status)
    SELECT id, url, host, kind, internal, status FROM (SELECT nextval('resources_id_seq') AS id, n.*
        FROM json_to_recordset(%s) AS n(url text, host text, kind text, internal boolean, status text)) AS new
    ORDER BY md5(url)::uuid ON CONFLICT ((md5(url)::uuid)) DO NOTHING"""
_LOCK_WORKER = "SELECT id FROM workers WHERE id = %s FOR KEY SHARE"
_LOCK_PAGES = "SELECT id FROM pages WHERE id = ANY(%s) AND owner = %s ORDER BY id FOR NO KEY UPDATE"
_CHAIN = """WITH RECURSIVE reached(id) AS (SELECT unnest(%s::bigint[])
        UNION SELECT p.redirect_id FROM reached JOIN pages p ON p.id = reached.id WHERE p.redirect_id IS NOT NULL)
    SELECT p.id, p.redirect_id FROM reached JOIN pages p ON p.id = reached.id WHERE p.redirect_id IS NOT NULL"""
_REDIRECT = """UPDATE pages p SET redirect_id = r.target, status = CASE WHEN r.message IS NULL THEN p.status ELSE 'error' END,
        last_error_type = CASE WHEN r.message IS NOT NULL THEN %s END, last_error_message = r.message
    FROM json_to_recordset(%s) AS r(id bigint, target bigint, message text) WHERE p.id = r.id"""
_ANCHORS = """INSERT INTO page_anchors(page_id, anchors) SELECT page_id, anchors
    FROM json_to_recordset(%s) AS a(page_id bigint, anchors text)
    ON CONFLICT (page_id) DO UPDATE SET anchors = EXCLUDED.anchors"""


class _Ended(NamedTuple):
    outcome: Outcome
    row: Sequence[Any]


class PgPageWriter(PgUrlWriter):
    """Writes a batch of outcomes."""

    def __init__(self, db: PgDatabase, worker: int, max_depth: int | None) -> None:
        super().__init__(db, worker, max_depth)
        self.recorded = 0
        self._errors: list[tuple[str, str, str, str]] = []
        self._texts: dict[str, int] = {}
        self._loops: set[int] = set()
        """Pages whose redirects lead back to them."""

    async def prepare(self, outcomes: Sequence[Outcome]) -> None:
        """Before the transaction: number hosts and texts, and find the URLs that are known."""
        answers = [outcome for outcome in outcomes if isinstance(outcome, CompletedOutcome)]
        targets = [target for answer in answers for target in answer.targets.values()]
        targets += [answer.redirect for answer in answers if answer.redirect is not None]
        await self.look_up(targets, {outcome.lease.host for outcome in outcomes})
        self._texts = await self.db.know_texts(
            text for answer in answers for link in answer.links for text in (link.text, link.rel, link.fragment) if text
        )
        records = [found for outcome in outcomes if (found := _records(outcome)) is not None]
        await self.db.know_checks(finding.check_id for one in records for finding in one.findings)

    async def record(self, link: AsyncLink, outcomes: Sequence[Outcome]) -> None:
        """Write the outcomes whose leases are still this worker's."""
        completed = await self._end_leases(link, outcomes)
        wanted = self._wanted(completed)
        numbers = await self.know(link, wanted) if wanted else {}
        await self._redirect(link, completed, numbers)
        rows = self._link_rows(completed, numbers)
        if rows:
            async with link.cursor() as cursor, cursor.copy(_COPY_LINKS) as out:
                await out.write("".join(rows))
        anchors = [
            {"page_id": outcome.lease.page_id, "anchors": "\n".join(outcome.anchors)}
            for outcome, _ in completed
            if outcome.anchors is not None and outcome.lease.page_id not in self._loops
        ]
        if anchors:
            await link.execute(_ANCHORS, [json_text(anchors)])
        if self._errors:
            await copy(link, "crawl_errors", "url, error_type, error_message, occurred_at", self._errors)

    async def _end_leases(self, link: AsyncLink, outcomes: Sequence[Outcome]) -> list[tuple[CompletedOutcome, Sequence[Any]]]:
        """End the leases; the answers among them with what is known of their pages."""
        statements, groups = _ending(outcomes, self.worker, self.stamp, self.db.clock.now())
        own: Statement = (_LOCK_PAGES, [[outcome.lease.page_id for outcome in outcomes], self.worker])
        found = await together(link, [(_LOCK_WORKER, [self.worker]), own, *statements])
        ended: list[_Ended] = []
        for group, rows in zip(groups, found[2:], strict=True):
            by_page = {outcome.lease.page_id: outcome for outcome in group}
            ended += [_Ended(by_page[row[0]], row[1:]) for row in rows]
        self.recorded = len(ended)
        again = [one.outcome.lease.page_id for one in ended if self._count(one)]
        if again:
            await forget_pages(link, again)
        await self._write_records(link, [one.outcome for one in ended])
        return [(outcome, row) for outcome, row in ended if isinstance(outcome, CompletedOutcome)]

    def _count(self, ended: _Ended) -> bool:
        """Count an outcome; whether its page was crawled before."""
        outcome, row = ended
        lease, tally = outcome.lease, self.tally
        tally["processing"] -= 1
        if isinstance(outcome, CompletedOutcome):
            self.give_back(lease, self.hosts[lease.host], asked=True)
            measure(tally, outcome.facts)
            return bool(row[3] > 1)
        if isinstance(outcome, UnchangedOutcome):
            self.give_back(lease, self.hosts[lease.host], asked=True)
            tally["completed"] += 1
            tally["counted" if row[0] else "redirects"] += 1
            tally[status_counter(304)] += 1
            return False
        if isinstance(outcome, FailedOutcome):
            self.give_back(lease, self.hosts[lease.host], asked=True)
            tally["error"] += 1
            tally["counted"] += 1
            self._log_error(lease.url, outcome.kind, outcome.message)
            return bool(row[0] > 1)
        if isinstance(outcome, RefusedOutcome):
            self.give_back(lease, self.hosts[lease.host], asked=False)
            tally["skipped"] += 1
            return bool(row[0] > 1)
        tally["queued"] += 1
        self.waiting[self.hosts[lease.host]] += 1
        if isinstance(outcome, RetryOutcome):
            self._log_error(lease.url, outcome.kind, outcome.message)
            self.give_back(lease, self.hosts[lease.host], asked=outcome.kind not in NOT_ARRIVED)
        else:
            self.give_back(lease, self.hosts[lease.host], asked=False)
        return False

    def _log_error(self, url: str, kind: str, message: str) -> None:
        self._errors.append((url, kind, message, self.stamp))
        self.tally[error_counter(kind)] += 1

    @staticmethod
    def _wanted(completed: Iterable[tuple[CompletedOutcome, Sequence[Any]]]) -> dict[str, WantedUrl]:
        """Everything that answers lead to, each by the shortest way in this batch."""
        wanted: dict[str, WantedUrl] = {}
        for outcome, (depth, hops, seed, _) in completed:
            page = outcome.lease.page_id
            if outcome.redirect is not None:
                _add(wanted, WantedUrl(outcome.redirect, depth, page, hops + 1, bool(seed)))
            for target in outcome.targets.values():
                known = wanted.get(target.url)
                if known is None or depth + 1 < known.depth:
                    _add(wanted, WantedUrl(target, depth + 1, page))
        return wanted

    async def _redirect(
        self, link: AsyncLink, completed: Sequence[tuple[CompletedOutcome, Sequence[Any]]], numbers: dict[str, int]
    ) -> None:
        """Store where pages redirect, and count answers. A page whose redirects lead back to it is an error."""
        steps = {outcome.lease.page_id: numbers[outcome.redirect.url] for outcome, _ in completed if outcome.redirect is not None}
        onward: dict[int, int] = dict((await together(link, [(_CHAIN, [list(steps.values())])]))[0]) if steps else {}
        rows = []
        for outcome, _ in completed:
            lease = outcome.lease
            step = steps.get(lease.page_id)
            if step is None:
                self.tally["counted"] += 1
            elif _leads_back(lease.page_id, step, onward):
                self._loops.add(lease.page_id)
                message = f"The redirects from {lease.url} lead back to it."
                self._log_error(lease.url, FailureKind.REDIRECT_LOOP, message)
                self.tally["error"] += 1
                self.tally["counted"] += 1
                rows.append({"id": lease.page_id, "target": step, "message": message})
                onward[lease.page_id] = step
                continue
            else:
                self.tally["redirects"] += 1
                rows.append({"id": lease.page_id, "target": step, "message": None})
                onward[lease.page_id] = step
            self.tally["completed"] += 1
            for reason in outcome.left_out:
                self._log_error(lease.url, FailureKind.PAGE_LIMIT, f"A part of the page is left out: {reason}.")
        if rows:
            await link.execute(_REDIRECT, [str(FailureKind.REDIRECT_LOOP), json_text(rows)])

    def _link_rows(self, completed: Iterable[tuple[CompletedOutcome, Sequence[Any]]], numbers: dict[str, int]) -> list[str]:
        """The links, as COPY reads them."""
        texts = self._texts
        rows = []
        for outcome, _ in completed:
            page = outcome.lease.page_id
            if page in self._loops:
                continue
            for url, kind, text, rel, position, fragment, landmark in outcome.links:
                rows.append(
                    f"{page}\t{position}\t{numbers[url]}\t{kind}\t{texts[text] if text else 0}\t"
                    f"{texts[rel] if rel else 0}\t{texts[fragment] if fragment else 0}\t{landmark}\n"
                )
        return rows

    async def _write_records(self, link: AsyncLink, outcomes: Sequence[Outcome]) -> None:
        """What a job records of pages."""
        recorded = [(outcome, records) for outcome in outcomes if (records := _records(outcome)) is not None]
        if not recorded:
            return
        uses = {outcome.lease.page_id: outcome.resources for outcome, _ in recorded if isinstance(outcome, CompletedOutcome)}
        resources = await self._know_resources(link, [use for some in uses.values() for use in some])
        pages = [(outcome.lease.page_id, records) for outcome, records in recorded]
        details = DetailRows()
        for page, records in pages:
            details.add(page, records, [resources[use.url] for use in uses.get(page, ())], self.db.check_number)
        for table, rows in details.rows.items():
            if rows:
                await copy(link, table, ", ".join(DETAIL_TABLES[table]), rows)
        for page, records in pages:
            for statement, values in documents.statements(page, records, self.stamp):
                await link.execute(with_driver_parameters(statement), plain_values(values))

    async def _know_resources(self, link: AsyncLink, uses: Sequence[ResourceUse]) -> dict[str, int]:
        """The numbers of resources; new ones are added."""
        first = {use.url: use for use in uses}
        found = {url: number for url in first if (number := self.db.resource_ids.get(url)) is not None}
        missing = {url: use for url, use in first.items() if url not in found}
        if missing:
            known: dict[str, int] = dict((await together(link, [(_FIND_RESOURCES, [json_text(list(missing))])]))[0])
            self.db.resource_ids.add(known)  # These were there before this transaction.
            new = [
                {"url": url, "host": use.host, "kind": use.kind, "internal": use.internal,
                    "status": "queued" if use.wanted else "discovered"}
                for url, use in missing.items()
                if url not in known
            ]  # fmt: skip
            if new:
                find: Statement = (_FIND_RESOURCES, [json_text([row["url"] for row in new])])
                known |= dict((await together(link, [(_NEW_RESOURCES, [json_text(new)]), find]))[-1])
            found |= known
        return found


_COPY_LINKS = "COPY link_relations (source_id, position, target_id, kind, text_id, rel_id, fragment_id, landmark) FROM STDIN"


def _add(wanted: dict[str, WantedUrl], one: WantedUrl) -> None:
    known = wanted.get(one.target.url)
    if known is None:
        wanted[one.target.url] = one
        return
    if one.depth < known.depth:
        known.depth, known.parent = one.depth, one.parent
    if one.seed:
        known.seed, known.hops, known.target = True, one.hops, one.target


def _leads_back(page: int, step: int | None, onward: dict[int, int]) -> bool:
    """Whether redirects lead from a step back to the page. They may also lead into a loop that was there before."""
    seen = set()
    while step is not None and step != page and step not in seen:
        seen.add(step)
        step = onward.get(step)
    return step == page


def _records(outcome: Outcome) -> PageRecords | None:
    return outcome.records if isinstance(outcome, CompletedOutcome | FailedOutcome | RefusedOutcome) else None


def _ending(outcomes: Sequence[Outcome], worker: int, now_stamp: str, now: float) -> tuple[list[Statement], list[list[Outcome]]]:
    """The statements that end leases, and the outcomes of each."""
    kinds: dict[str, list[tuple[Outcome, dict[str, object]]]] = defaultdict(list)
    for outcome in outcomes:
        row: dict[str, object] = {"id": outcome.lease.page_id}
        if isinstance(outcome, CompletedOutcome):
            kinds[_COMPLETE].append((outcome, row | dict(zip(_FACTS, _facts(outcome.facts), strict=True))))
        elif isinstance(outcome, UnchangedOutcome):
            kinds[_UNCHANGED].append((outcome, row))
        elif isinstance(outcome, FailedOutcome):
            why = {"status": "error", "kind": outcome.kind, "message": outcome.message, "crawled_at": now_stamp}
            kinds[_END].append((outcome, row | why))
        elif isinstance(outcome, RefusedOutcome):
            kinds[_END].append((outcome, row | {"status": "skipped", "skip_reason": outcome.reason}))
        elif isinstance(outcome, RetryOutcome):
            again = {"not_before": now + outcome.after if outcome.after else 0.0, "tries": 1}
            kinds[_REQUEUE].append((outcome, row | again | {"kind": outcome.kind, "message": outcome.message}))
        else:
            kinds[_REQUEUE].append((outcome, row | {"not_before": 0.0, "tries": 0}))
    statements: list[Statement] = [
        (text, {"rows": json_text([row for _, row in some]), "worker": worker, "stamp": now_stamp})
        for text, some in kinds.items()
    ]
    return statements, [[outcome for outcome, _ in some] for some in kinds.values()]


async def forget_pages(link: AsyncLink, pages: Sequence[int]) -> None:
    """Pages were crawled before: what was kept of them then goes, but for what the whole site says about them."""
    statements: list[Statement] = [
        ("DELETE FROM link_relations WHERE source_id = ANY(%s)", [pages]),
        *[(f"DELETE FROM {table} WHERE page_id = ANY(%s)", [pages]) for table in PAGE_TABLES],
        ("""DELETE FROM page_findings WHERE page_id = ANY(%s)
            AND check_number IN (SELECT number FROM checks WHERE scope = 'page')""", [pages]),
    ]  # fmt: skip
    await together(link, statements)
