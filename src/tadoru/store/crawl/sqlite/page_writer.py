"""Writes the outcomes of leased URLs: pages, links and newly found URLs, in one transaction. The hottest code of a crawl."""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from itertools import islice
from operator import attrgetter

from tadoru.model.web import FailureKind, Link
from tadoru.store.crawl.metrics import error_counter, measure, status_counter
from tadoru.store.crawl.page_details import PageDetailWriter
from tadoru.store.crawl.queue_changes import QueueChanges
from tadoru.store.crawl.records import (
    NOT_ARRIVED,
    TOO_DEEP,
    CompletedOutcome,
    FailedOutcome,
    Lease,
    LinkTarget,
    Outcome,
    PageFacts,
    PageRecords,
    PageStatus,
    RefusedOutcome,
    RetryOutcome,
    UnchangedOutcome,
)
from tadoru.store.crawl.sqlite.database import Database, stamp

Known = dict[str, tuple[int, int]]
"""url → (id, depth)."""

_INSERT = """INSERT INTO pages
    (id, url, status, host_id, purpose, internal, skip_reason, depth, is_seed, hops, parent_id, added_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_CHUNK = 16
_LONGEST = 16 * _CHUNK
# The unique index is named, because `pages_in_order` of a settled crawl holds these columns too, and would be read to its end.
_FIND_SOME = "SELECT url, id, depth FROM pages INDEXED BY sqlite_autoindex_pages_1 WHERE url IN ({})"
_FIND = {n: _FIND_SOME.format(", ".join("?" * n)) for n in range(_CHUNK, _LONGEST + 1, _CHUNK)}
"""By how many URLs are asked for at once: a few lengths, so that SQLite meets the same statements again."""

_TEXTS = 64
_FIND_TEXTS = f"""WITH wanted(text) AS (VALUES {", ".join(["(?)"] * _TEXTS)})
    SELECT texts.text, texts.id FROM wanted CROSS JOIN texts INDEXED BY sqlite_autoindex_texts_1 ON texts.text = wanted.text"""


class UrlWriter:
    """The new URLs and texts of one transaction, and the counters they change."""

    def __init__(self, db: Database, max_depth: int | None) -> None:
        self.db = db
        self.sql: sqlite3.Connection = db.sql
        self.max_depth = max_depth
        self.now = db.clock.now()
        self.stamp = stamp(self.now)
        self.inserted = 0
        self.changes = QueueChanges(db, self.sql, max_depth)
        self.tally, self.waiting = self.changes.tally, self.changes.waiting

    def learn(self, targets: Mapping[str, LinkTarget], depth: int, parent: int) -> Known:
        """Numbers and depths of URLs that are in no cache; the new ones are made known."""
        found = self.find(targets)
        if len(found) < len(targets):
            found |= self.insert([target for url, target in targets.items() if url not in found], depth, parent, 0, False)
        return found

    def find(self, urls: Iterable[str]) -> Known:
        """Those URLs that the database knows."""
        found: Known = {}
        rest = iter(urls)
        while chunk := list(islice(rest, _LONGEST)):
            size = -(-len(chunk) // _CHUNK) * _CHUNK
            rows = self.sql.execute(_FIND[size], [*chunk, *[None] * (size - len(chunk))])
            found.update([(url, (number, depth)) for url, number, depth in rows])
        self.db.known.add(found)
        return found

    def insert(self, targets: list[LinkTarget], depth: int, parent: int | None, hops: int, seed: bool) -> Known:
        """Make new URLs known. The numbers are ours to give: nobody else writes during this transaction."""
        host_ids, waiting, tally = self.db.host_ids, self.waiting, self.tally
        number: int = self.sql.execute("SELECT coalesce(max(id), 0) FROM pages").fetchone()[0]
        rows, fresh, here = [], {}, (depth, int(seed), hops, parent, self.stamp)
        for target in targets:
            url, host, status, reason, purpose, internal, trap = target
            if status is PageStatus.QUEUED and (trap is not None or self.max_depth is not None):
                status, reason = self.changes.admit(target, depth, seed)
            host_id = host_ids.get(host) or self.db.host_id(host)
            number += 1
            fresh[url] = (number, depth)
            # Plain types: SQLite asks an adapter about all others, at a price.
            rows.append((number, url, str(status), host_id, str(purpose), int(internal), reason or None, *here))
            if status is PageStatus.QUEUED:
                waiting[host_id] += 1
            tally[status] += 1
        self.sql.executemany(_INSERT, rows)
        self.inserted += len(rows)
        self.db.known.add(fresh)
        return fresh

    def text_ids(self, texts: Iterable[str]) -> dict[str, int]:
        """The numbers of anchor texts, rels and fragments that are in no cache; the new ones are made known.

        In their order: what is neighbours in the index is then looked up and written together, at two thirds of the price.
        """
        wanted = sorted(texts)
        found: dict[str, int] = {}
        for start in range(0, len(wanted), _TEXTS):
            chunk = wanted[start : start + _TEXTS]
            found.update(self.sql.execute(_FIND_TEXTS, [*chunk, *[None] * (_TEXTS - len(chunk))]).fetchall())
        if len(found) < len(wanted):
            number: int = self.sql.execute("SELECT max(id) FROM texts").fetchone()[0]
            fresh = list(enumerate((text for text in wanted if text not in found), number + 1))
            self.sql.executemany("INSERT INTO texts(id, text) VALUES (?, ?)", fresh)
            found.update([(text, number) for number, text in fresh])
        self.db.texts.add(found)
        return found


FACTS = tuple(field.name for field in fields(PageFacts))
_facts = attrgetter(*FACTS)
_COMPLETE = f"""UPDATE pages SET status = 'completed', owner = NULL, {" = ?, ".join(FACTS)} = ?, crawled_at = ?,
    last_error_type = NULL, last_error_message = NULL, skip_reason = NULL, redirect_id = NULL, crawls = crawls + 1
    WHERE id = ? AND owner = ? RETURNING depth, hops, is_seed, crawls"""
_STILL = """UPDATE pages SET status = 'completed', owner = NULL, crawled_at = ?, last_error_type = NULL, last_error_message = NULL
    WHERE id = ? AND owner = ? RETURNING redirect_id"""
_END = f"""UPDATE pages SET status = ?, owner = NULL, skip_reason = ?, last_error_type = ?, last_error_message = ?,
    crawled_at = ?, {" = NULL, ".join(FACTS)} = NULL, crawls = crawls + 1 WHERE id = ? AND owner = ? RETURNING crawls"""
_REQUEUE = """UPDATE pages SET status = 'queued', owner = NULL, not_before = ?, retry_count = retry_count + ?,
    last_error_type = coalesce(?, last_error_type), last_error_message = coalesce(?, last_error_message)
    WHERE id = ? AND owner = ?"""
_FURTHER = """SELECT DISTINCT p.id FROM link_relations r JOIN pages p ON p.id = r.target_id
    WHERE r.source_id = ? AND p.depth > ?"""
_PROMOTE = """UPDATE pages SET hops = CASE WHEN ?1 = 0 OR NOT is_seed THEN ?1 ELSE hops END, is_seed = true WHERE id = ?2
    RETURNING status, host_id"""
_REQUEST = "UPDATE pages SET status = 'queued', purpose = 'page', internal = true, skip_reason = NULL WHERE id = ?"
_RETRY = "UPDATE pages SET status = 'queued', retry_count = 0, not_before = 0 WHERE id = ?"
_WANTED = f"SELECT status, host_id FROM pages WHERE id = ? AND internal AND (status = 'discovered' OR skip_reason = '{TOO_DEEP}')"
_WANT = "UPDATE pages SET status = 'queued', skip_reason = NULL WHERE id = ?"
_ERROR = "INSERT INTO crawl_errors(url, error_type, error_message, occurred_at) VALUES (?, ?, ?, ?)"
_RELATION = 8
_AT_ONCE = 64 * _RELATION
"""Values in one statement: rows that are written many at a time cost a third less, and more than this brings nothing."""


def _relate(rows: int) -> str:
    row = f"({', '.join('?' * _RELATION)})"
    columns = "source_id, position, target_id, kind, text_id, rel_id, fragment_id, landmark"
    return f"INSERT OR REPLACE INTO link_relations({columns}) VALUES {', '.join([row] * rows)}"


_RELATE, _RELATE_MANY = _relate(1), _relate(_AT_ONCE // _RELATION)
_LOWER = """UPDATE pages SET depth = ?, parent_id = ? WHERE id = ? AND depth > ?
    RETURNING url, status, skip_reason, host_id, redirect_id"""


class PageWriter(UrlWriter):
    """The writes of one transaction, and the counters they change."""

    def __init__(self, db: Database, worker: int, max_depth: int | None) -> None:
        super().__init__(db, max_depth)
        self.worker = worker
        self.recorded = 0
        self._details = PageDetailWriter(db)
        self._relations: list[int | str] = []
        """The values of link rows, one row after the other."""
        self._owed: list[tuple[int, str]] = []
        """Where in them the number of a text is to be put."""

    def record(self, outcome: Outcome) -> None:
        """Write one outcome, if its lease is still ours."""
        if isinstance(outcome, CompletedOutcome):
            written = self._complete(outcome)
        elif isinstance(outcome, UnchangedOutcome):
            written = self._still(outcome.lease)
        elif isinstance(outcome, FailedOutcome):
            written = self._fail(outcome.lease, outcome.kind, outcome.message, outcome.records)
        elif isinstance(outcome, RetryOutcome):
            written = self._requeue(outcome.lease, outcome.after, outcome.kind, outcome.message)
        elif isinstance(outcome, RefusedOutcome):
            written = self._end(outcome.lease, PageStatus.SKIPPED, (outcome.reason, None, None, None), outcome.records)
        else:
            written = self._requeue(outcome.lease, 0.0, None, None)
        self.recorded += written

    def flush(self) -> None:
        """What is left: link rows, counters, how many URLs wait at each host."""
        self._flush_relations()
        self._details.flush()
        self.changes.flush()

    def _complete(self, outcome: CompletedOutcome) -> bool:
        lease, page = outcome.lease, outcome.lease.page_id
        row = self.sql.execute(_COMPLETE, (*_facts(outcome.facts), self.stamp, page, self.worker)).fetchone()
        if row is None:
            return False
        depth, hops, seed, crawls = row
        self.tally["processing"] -= 1
        self.changes.give_back(lease, self.db.host_id(lease.host), asked=True)
        measure(self.tally, outcome.facts)
        if crawls > 1:
            self.changes.forget([page])
        if outcome.records is not None:
            self._details.add(page, outcome.records, outcome.resources)
        if outcome.redirect is None:
            self.tally["counted"] += 1
        elif self._closes_loop(page, self._redirect(page, outcome.redirect, depth, hops + 1, bool(seed))):
            self._end_loop(lease)
            return True
        else:
            self.tally["redirects"] += 1
        self.tally["completed"] += 1
        for reason in outcome.left_out:
            self._log_error(lease.url, FailureKind.PAGE_LIMIT, f"A part of the page is left out: {reason}.")
        self._relate(page, self._numbers(outcome.targets, depth + 1, page), outcome.links)
        if outcome.anchors is not None:
            self.sql.execute("INSERT OR REPLACE INTO page_anchors VALUES (?, ?)", (page, "\n".join(outcome.anchors)))
        return True

    def _still(self, lease: Lease) -> bool:
        row = self.sql.execute(_STILL, (self.stamp, lease.page_id, self.worker)).fetchone()
        if row is None:
            return False
        self.tally["processing"] -= 1
        self.changes.give_back(lease, self.db.host_id(lease.host), asked=True)
        self.tally["completed"] += 1
        self.tally["counted" if row[0] is None else "redirects"] += 1
        self.tally[status_counter(304)] += 1
        return True

    def _relate(self, page: int, numbers: Mapping[str, int], links: Sequence[Link]) -> None:
        """The links of a page to URLs with these numbers. Nearly all have texts met before: those must cost next to nothing."""
        texts, rows = self.db.texts, self._relations
        for url, kind, text, rel, position, fragment, landmark in links:
            rows += (
                page, position, numbers[url],
                str(kind),  # SQLite asks an adapter about everything but plain types, at half the price of the row.
                (texts.get(text) or self._owe(4, text)) if text else 0,
                (texts.get(rel) or self._owe(5, rel)) if rel else 0,
                (texts.get(fragment) or self._owe(6, fragment)) if fragment else 0,
                landmark,
            )  # fmt: skip

    def _owe(self, column: int, text: str) -> int:
        """A place for the number of a text that is not at hand, in the row that is being made."""
        self._owed.append((len(self._relations) + column, text))
        return 0

    def _numbers(self, targets: Mapping[str, LinkTarget], depth: int, page: int) -> dict[str, int]:
        """The numbers of what a page leads to, each brought closer when this way to it is shorter."""
        known = self.db.known
        missing = {url: target for url, target in targets.items() if url not in known}
        fresh = self.learn(missing, depth, page) if missing else {}
        numbers = {}
        for url, target in targets.items():
            found = known.get(url) or fresh.get(url)
            numbers[url] = found[0] if found is not None and found[1] <= depth else self.know(target, depth, page)
        return numbers

    def _flush_relations(self) -> None:
        rows, self._relations = self._relations, []
        owed, self._owed = self._owed, []
        numbers = self.text_ids({text for _, text in owed})
        for place, text in owed:
            rows[place] = numbers[text]
        self._write_relations(rows)

    def _write_relations(self, rows: list[int | str]) -> None:
        """Write link rows, given one value after the other."""
        whole = len(rows) - len(rows) % _AT_ONCE
        for start in range(0, whole, _AT_ONCE):
            self.sql.execute(_RELATE_MANY, rows[start : start + _AT_ONCE])
        self.sql.executemany(_RELATE, [rows[start : start + _RELATION] for start in range(whole, len(rows), _RELATION)])

    def know(self, target: LinkTarget, depth: int, parent: int | None, *, hops: int = 0, seed: bool = False) -> int:
        """The number of a URL, made known when it is new, brought closer when this way to it is shorter."""
        found = self.db.known.get(target.url) or self.find([target.url]).get(target.url)
        if seed:
            self.changes.named.add(self.db.host_id(target.host))
        if found is None:
            return self.insert([target], depth, parent, hops, seed)[target.url][0]
        if seed:
            self._promote(found[0], target, hops)
        if depth < found[1]:
            self.lower(found[0], depth, parent)
        return found[0]

    def know_many(self, targets: Iterable[LinkTarget], depth: int, *, seed: bool) -> None:
        """The same for thousands: what is new is written together."""
        first: dict[str, LinkTarget] = {}
        again = [target for target in targets if first.setdefault(target.url, target) is not target]
        self.db.know_hosts(target.host for target in first.values())
        known = self.find(first)
        fresh = [target for url, target in first.items() if url not in known]
        if seed:
            self.changes.named.update(self.db.host_id(target.host) for target in fresh)
        if fresh:
            self.insert(fresh, depth, None, 0, seed)
        for target in (*(first[url] for url in known), *again):
            self.know(target, depth, None, seed=seed)

    def _promote(self, page: int, target: LinkTarget, hops: int) -> None:
        """A seed is requested even if it was only discovered, only to be checked, or skipped before; a typed one (it has no hops)
        also if it failed."""
        status, host_id = self.sql.execute(_PROMOTE, (hops, page)).fetchone()
        if hops == 0:
            self.sql.execute("UPDATE pages SET parent_id = NULL WHERE id = ?", (page,))
        if target.status is PageStatus.QUEUED and status in ("discovered", "skipped", "queued"):
            self.sql.execute(_REQUEST, (page,))
            self.changes.queue_again(status, host_id)
        elif target.status is PageStatus.QUEUED and status == "error" and hops == 0:
            self.sql.execute(_RETRY, (page,))
            self.changes.queue_again(status, host_id)
            self.tally["counted"] -= 1

    def want(self, pages: Iterable[int]) -> None:
        """Request pages of the site that were only discovered until now, or too deep: how deep they are depends on the timing."""
        for page in pages:
            row = self.sql.execute(_WANTED, (page,)).fetchone()
            if row is not None:
                self.sql.execute(_WANT, (page,))
                self.changes.queue_again(*row)

    def lower(self, page: int, depth: int, parent: int | None) -> None:
        """Bring a page closer, and all that it leads to, as far as that shortens anything."""
        self._flush_relations()
        work: deque[tuple[int, int, int | None]] = deque([(page, depth, parent)])
        while work:
            number, near, source = work.popleft()
            row = self.sql.execute(_LOWER, (near, source, number, near)).fetchone()
            if row is None:
                continue
            url, status, reason, host_id, redirect_id = row
            self.db.known[url] = (number, near)
            if status == "skipped" and reason == TOO_DEEP and (self.max_depth is None or near <= self.max_depth):
                self.sql.execute("UPDATE pages SET status = 'queued', skip_reason = NULL WHERE id = ?", (number,))
                self.changes.queue_again(status, host_id)
            if redirect_id is not None:
                work.appendleft((redirect_id, near, number))
            further = self.sql.execute(_FURTHER, (number, near + 1))
            work.extend((target, near + 1, number) for (target,) in further)

    def _redirect(self, page: int, target: LinkTarget, depth: int, hops: int, seed: bool) -> int:
        """Remember where a page redirects: no further from the start than the page itself."""
        target_id = self.know(target, depth, page, hops=hops, seed=seed)
        self.sql.execute("UPDATE pages SET redirect_id = ? WHERE id = ?", (target_id, page))
        return target_id

    def _closes_loop(self, page: int, step: int | None) -> bool:
        """Whether redirects lead from a step back to the page. They may also lead into a loop that was there before."""
        seen = set()
        while step is not None and step != page and step not in seen:
            seen.add(step)
            step = self.sql.execute("SELECT redirect_id FROM pages WHERE id = ?", (step,)).fetchone()[0]
        return step == page

    def _end_loop(self, lease: Lease) -> None:
        message = f"The redirects from {lease.url} lead back to it."
        self.sql.execute(
            "UPDATE pages SET status = 'error', last_error_type = ?, last_error_message = ? WHERE id = ?",
            (FailureKind.REDIRECT_LOOP, message, lease.page_id),
        )
        self._log_error(lease.url, FailureKind.REDIRECT_LOOP, message)
        self.tally["error"] += 1
        self.tally["counted"] += 1

    def _fail(self, lease: Lease, kind: str, message: str, records: PageRecords | None) -> bool:
        if not self._end(lease, PageStatus.ERROR, (None, kind, message, self.stamp), records):
            return False
        self.tally["counted"] += 1
        self._log_error(lease.url, kind, message)
        return True

    def _end(
        self,
        lease: Lease,
        status: PageStatus,
        why: tuple[str | None, str | None, str | None, str | None],
        records: PageRecords | None,
    ) -> bool:
        row = self.sql.execute(_END, (status, *why, lease.page_id, self.worker)).fetchone()
        if row is None:
            return False
        self.tally["processing"] -= 1
        self.changes.give_back(lease, self.db.host_id(lease.host), asked=status is PageStatus.ERROR)
        self.tally[status] += 1
        if row[0] > 1:
            self.changes.forget([lease.page_id])
        if records is not None:
            self._details.add(lease.page_id, records)
        return True

    def _requeue(self, lease: Lease, after: float, kind: str | None, message: str | None) -> bool:
        values = (self.now + after if after else 0.0, int(kind is not None), kind, message, lease.page_id, self.worker)
        if not self.sql.execute(_REQUEUE, values).rowcount:
            return False
        self.changes.queue_again("processing", self.db.host_id(lease.host))
        self.changes.give_back(lease, self.db.host_id(lease.host), asked=kind is not None and kind not in NOT_ARRIVED)
        if kind is not None:
            self._log_error(lease.url, kind, message or "")
        return True

    def _log_error(self, url: str, kind: str, message: str) -> None:
        self.sql.execute(_ERROR, (url, kind, message, self.stamp))
        self.tally[error_counter(kind)] += 1
