"""Writing what became of leased URLs: one `Batch` inside one transaction. The hottest SQL of a crawl is here.

A page is written only while its lease is still ours, so a page is never recorded twice. Depth is the shortest path whatever the
timing: when a shorter way to a known page turns up, the page and everything behind it come closer (`_lower`).
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence

from tadoru.model.web import FailureKind
from tadoru.store.base import Again, Completed, Failed, FoundLink, Lease, Outcome, PageStatus, Purpose, Refused, Target
from tadoru.store.database import Database, stamp

TOO_DEEP = "deeper than the depth limit"

_COMPLETE = """UPDATE pages SET status = 'completed', owner = NULL, status_code = ?, title = ?, meta_description = ?, meta_robots = ?,
    canonical_url = ?, content_hash = ?, dns_ms = ?, connect_ms = ?, tls_ms = ?, ttfb_ms = ?, download_time_ms = ?,
    response_size_bytes = ?, content_type = ?, content_length = ?, last_modified = ?, server = ?, content_encoding = ?, crawled_at = ?
    WHERE id = ? AND owner = ?"""
_END = "UPDATE pages SET status = ?, owner = NULL, skip_reason = ?, last_error_type = ?, last_error_message = ?, crawled_at = ? WHERE id = ? AND owner = ?"
_REQUEUE = "UPDATE pages SET status = 'queued', owner = NULL, not_before = ?, retry_count = retry_count + ?, last_error_type = coalesce(?, last_error_type), last_error_message = coalesce(?, last_error_message) WHERE id = ? AND owner = ?"
_INSERT = """INSERT INTO pages(url, status, host_id, depth, purpose, internal, is_seed, hops, parent_id, skip_reason, added_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id"""
_RELATE = """INSERT OR REPLACE INTO link_relations(source_id, position, target_id, kind, text_id, rel_id, fragment_id)
    VALUES (?, ?, ?, ?, ?, ?, ?)"""


class Batch:
    """The writes of one transaction, with the counters they move."""

    def __init__(self, db: Database, worker: int, max_depth: int | None) -> None:
        self.db = db
        self.sql: sqlite3.Connection = db.sql
        self.worker = worker
        self.max_depth = max_depth
        self.now = db.clock.now()
        self.stamp = stamp(self.now)
        self.recorded = 0
        self.tally: Counter[str] = Counter()
        self.waiting: Counter[int] = Counter()
        self._relations: list[tuple[int, int, int, str, int, int, int]] = []

    def record(self, outcome: Outcome) -> None:
        """Write one outcome, if its lease is still ours."""
        if isinstance(outcome, Completed):
            written = self._complete(outcome)
        elif isinstance(outcome, Failed):
            written = self._fail(outcome.lease, outcome.kind, outcome.message)
        elif isinstance(outcome, Again):
            written = self._requeue(outcome.lease, outcome.after, outcome.kind, outcome.message)
        elif isinstance(outcome, Refused):
            written = self._end(outcome.lease, PageStatus.SKIPPED, reason=outcome.reason)
        else:
            written = self._requeue(outcome.lease, 0.0, None, None)
        self.recorded += written

    def flush(self) -> None:
        """What is left: link rows, counters, how many URLs wait at each host."""
        self._flush_relations()
        counters = [(name, delta) for name, delta in self.tally.items() if delta]
        self.sql.executemany("INSERT INTO counters VALUES (?, ?) ON CONFLICT(name) DO UPDATE SET value = value + excluded.value", counters)
        self.sql.executemany("UPDATE hosts SET queued = queued + ? WHERE id = ?", [(n, h) for h, n in self.waiting.items() if n])

    def _complete(self, outcome: Completed) -> bool:
        lease, f = outcome.lease, outcome.facts
        written = self.sql.execute(
            _COMPLETE,
            (f.status_code, f.title, f.meta_description, f.meta_robots, f.canonical_url, f.content_hash, f.dns_ms, f.connect_ms, f.tls_ms,
             f.ttfb_ms, f.download_time_ms, f.response_size_bytes, f.content_type, f.content_length, f.last_modified, f.server,
             f.content_encoding, self.stamp, lease.page_id, self.worker),
        ).rowcount  # fmt: skip
        if not written:
            return False
        self.tally[PageStatus.PROCESSING] -= 1
        if outcome.redirect is not None:
            if self._redirect(lease, outcome.redirect):
                return True
            self.tally["redirects"] += 1
        else:
            self.tally["counted"] += 1
        self.tally[PageStatus.COMPLETED] += 1
        self._relate(lease, outcome.links)
        if outcome.anchors is not None:
            self.sql.execute("INSERT OR REPLACE INTO page_anchors VALUES (?, ?)", (lease.page_id, "\n".join(outcome.anchors)))
        return True

    def _relate(self, lease: Lease, links: Sequence[FoundLink]) -> None:
        depth, page = lease.depth + 1, lease.page_id
        known, texts, add = self.db.known, self.db.texts, self._relations.append
        for target, kind, text, rel, position, fragment in links:
            found = known.get(target.url)
            target_id = found[0] if found is not None and found[1] <= depth else self.know(target, depth, page)
            add((
                page, position, target_id, kind,
                (texts.get(text) or self._text_id(text)) if text else 0,
                (texts.get(rel) or self._text_id(rel)) if rel else 0,
                (texts.get(fragment) or self._text_id(fragment)) if fragment else 0,
            ))  # fmt: skip

    def _text_id(self, text: str) -> int:
        row = self.sql.execute("SELECT id FROM texts WHERE text = ?", (text,)).fetchone()
        if row is None:
            row = self.sql.execute("INSERT INTO texts(text) VALUES (?) RETURNING id", (text,)).fetchone()
        number: int = row[0]
        self.db.texts[text] = number
        return number

    def _flush_relations(self) -> None:
        self.sql.executemany(_RELATE, self._relations)
        self._relations.clear()

    def _redirect(self, lease: Lease, target: Target) -> bool:
        """Remember where a page redirects. True when it closes a loop, which ends the page as an error instead."""
        target_id = self.know(target, lease.depth, lease.page_id, hops=lease.hops + 1, seed=lease.seed)
        self.sql.execute("UPDATE pages SET redirect_id = ? WHERE id = ?", (target_id, lease.page_id))
        step: int | None = target_id
        for _ in range(50):
            if step is None or step == lease.page_id:
                break
            step = self.sql.execute("SELECT redirect_id FROM pages WHERE id = ?", (step,)).fetchone()[0]
        if step != lease.page_id:
            return False
        message = f"The redirects from {lease.url} lead back to it."
        self.sql.execute(
            "UPDATE pages SET status = 'error', last_error_type = ?, last_error_message = ? WHERE id = ?",
            (FailureKind.REDIRECT_LOOP, message, lease.page_id),
        )
        self._log_error(lease.url, FailureKind.REDIRECT_LOOP, message)
        self.tally[PageStatus.ERROR] += 1
        self.tally["counted"] += 1
        return True

    def _fail(self, lease: Lease, kind: str, message: str) -> bool:
        if not self._end(lease, PageStatus.ERROR, kind=kind, message=message):
            return False
        self.tally["counted"] += 1
        self._log_error(lease.url, kind, message)
        return True

    def _end(self, lease: Lease, status: PageStatus, *, reason: str | None = None, kind: str | None = None, message: str | None = None) -> bool:
        values = (status, reason, kind, message, self.stamp, lease.page_id, self.worker)
        if not self.sql.execute(_END, values).rowcount:
            return False
        self.tally[PageStatus.PROCESSING] -= 1
        self.tally[status] += 1
        return True

    def _requeue(self, lease: Lease, after: float, kind: str | None, message: str | None) -> bool:
        values = (self.now + after if after else 0.0, int(kind is not None), kind, message, lease.page_id, self.worker)
        if not self.sql.execute(_REQUEUE, values).rowcount:
            return False
        self.tally[PageStatus.PROCESSING] -= 1
        self._count_queued(self.db.host_id(lease.host))
        if kind is not None:
            self._log_error(lease.url, kind, message or "")
        return True

    def _log_error(self, url: str, kind: str, message: str) -> None:
        self.sql.execute(
            "INSERT INTO crawl_errors(url, error_type, error_message, occurred_at) VALUES (?, ?, ?, ?)", (url, kind, message, self.stamp)
        )

    def _count_queued(self, host_id: int) -> None:
        self.tally[PageStatus.QUEUED] += 1
        self.waiting[host_id] += 1

    def know(self, target: Target, depth: int, parent: int | None, *, hops: int = 0, seed: bool = False) -> int:
        """The number of a URL, made known when it is new, brought closer when this way to it is shorter."""
        found = self.db.known.get(target.url)
        if found is None:
            row = self.sql.execute("SELECT id, depth FROM pages WHERE url = ?", (target.url,)).fetchone()
            if row is None:
                return self._insert(target, depth, parent, hops, seed)
            found = self.db.known[target.url] = row
        if seed:
            self._promote(found[0])
        if depth < found[1]:
            self._lower(found[0], depth, parent)
        return found[0]

    def _insert(self, target: Target, depth: int, parent: int | None, hops: int, seed: bool) -> int:
        status, reason = target.status, target.reason or None
        if status is PageStatus.QUEUED:
            if target.purpose is Purpose.PAGE and self.max_depth is not None and depth > self.max_depth:
                status, reason = PageStatus.SKIPPED, TOO_DEEP
            elif target.trap is not None and not seed and not self._within_trap(target):
                status, reason = PageStatus.SKIPPED, f"trap: {target.trap[1]}"
        host_id = self.db.host_id(target.host)
        row = self.sql.execute(
            _INSERT,
            (target.url, status, host_id, depth, target.purpose, target.internal, seed, hops, parent, reason, self.stamp),
        ).fetchone()
        self.db.known[target.url] = (row[0], depth)
        if status is PageStatus.QUEUED:
            self._count_queued(host_id)
        else:
            self.tally[status] += 1
        number: int = row[0]
        return number

    def _within_trap(self, target: Target) -> bool:
        assert target.trap is not None
        key, why, cap = target.trap
        known = self.sql.execute(
            "INSERT INTO traps VALUES (?, ?, 1, 0, ?) ON CONFLICT(key) DO UPDATE SET known = known + 1 RETURNING known", (key, why, target.url)
        ).fetchone()[0]
        if known <= cap:
            return True
        self.sql.execute("UPDATE traps SET refused = refused + 1, example = ? WHERE key = ?", (target.url, key))
        return False

    def _promote(self, page: int) -> None:
        """A seed is requested even if it was only discovered, or skipped as too deep, before."""
        row = self.sql.execute("UPDATE pages SET is_seed = 1 WHERE id = ? RETURNING status, skip_reason, host_id", (page,)).fetchone()
        if row[0] in (PageStatus.DISCOVERED, PageStatus.SKIPPED):
            self.sql.execute("UPDATE pages SET status = 'queued', purpose = 'page', internal = 1, skip_reason = NULL WHERE id = ?", (page,))
            self.tally[row[0]] -= 1
            self._count_queued(row[2])

    def _lower(self, page: int, depth: int, parent: int | None) -> None:
        """Bring a page closer, and all that it links to, as far as that shortens anything."""
        self._flush_relations()
        work: list[tuple[int, int, int | None]] = [(page, depth, parent)]
        while work:
            number, near, source = work.pop()
            row = self.sql.execute(
                "UPDATE pages SET depth = ?, parent_id = ? WHERE id = ? AND depth > ? RETURNING url, status, skip_reason, host_id, redirect_id",
                (near, source, number, near),
            ).fetchone()
            if row is None:
                continue
            url, status, reason, host_id, redirect_id = row
            self.db.known[url] = (number, near)
            if status == PageStatus.SKIPPED and reason == TOO_DEEP and (self.max_depth is None or near <= self.max_depth):
                self.sql.execute("UPDATE pages SET status = 'queued', skip_reason = NULL WHERE id = ?", (number,))
                self.tally[PageStatus.SKIPPED] -= 1
                self._count_queued(host_id)
            if redirect_id is not None:
                work.append((redirect_id, near, number))
            further = self.sql.execute(
                "SELECT DISTINCT p.id FROM link_relations r JOIN pages p ON p.id = r.target_id WHERE r.source_id = ? AND p.depth > ?",
                (number, near + 1),
            )
            work.extend((target, near + 1, number) for (target,) in further)
