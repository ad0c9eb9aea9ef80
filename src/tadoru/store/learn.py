"""Making URLs and texts known, many at a time: the writing half of a `Batch` that knows nothing of leases."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from tadoru.rules.traps import Trap
from tadoru.store.base import TOO_DEEP, PageStatus, Purpose, Target
from tadoru.store.database import Database, stamp

Known = dict[str, tuple[int, int]]
"""url → (id, depth)."""

_INSERT = """INSERT INTO pages
    (id, url, status, host_id, purpose, internal, skip_reason, depth, is_seed, hops, parent_id, added_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_COUNT_TRAP = """INSERT INTO traps VALUES (?, ?, 1, 0, ?) ON CONFLICT(key) DO UPDATE SET known = traps.known + 1
    RETURNING known"""
_CHUNK = 16
_LONGEST = 16 * _CHUNK
# The unique index is named, because `pages_in_order` of a settled crawl holds these columns too, and would be read to its end.
_FIND_SOME = "SELECT url, id, depth FROM pages INDEXED BY sqlite_autoindex_pages_1 WHERE url IN ({})"
_FIND = {n: _FIND_SOME.format(", ".join("?" * n)) for n in range(_CHUNK, _LONGEST + 1, _CHUNK)}
"""By how many URLs are asked for at once: a few lengths, so that SQLite meets the same statements again."""

_TEXTS = 64
_FIND_TEXTS = f"""WITH wanted(text) AS (VALUES {", ".join(["(?)"] * _TEXTS)})
    SELECT texts.text, texts.id FROM wanted CROSS JOIN texts INDEXED BY sqlite_autoindex_texts_1 ON texts.text = wanted.text"""


class Learning:
    """What a transaction learns, and what that changes in the counters."""

    def __init__(self, db: Database, max_depth: int | None) -> None:
        self.db = db
        self.sql: sqlite3.Connection = db.sql
        self.max_depth = max_depth
        self.now = db.clock.now()
        self.stamp = stamp(self.now)
        self.inserted = 0
        self.tally: defaultdict[str, int] = defaultdict(int)
        self.waiting: defaultdict[int, int] = defaultdict(int)

    def learn(self, targets: Mapping[str, Target], depth: int, parent: int) -> Known:
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

    def insert(self, targets: list[Target], depth: int, parent: int | None, hops: int, seed: bool) -> Known:
        """Make new URLs known. The numbers are ours to give: nobody else writes during this transaction."""
        host_ids, waiting, tally = self.db.host_ids, self.waiting, self.tally
        number = self.last_page()
        rows, fresh, here = [], {}, (depth, int(seed), hops, parent, self.stamp)
        for target in targets:
            url, host, status, reason, purpose, internal, trap = target
            if status is PageStatus.QUEUED and (trap is not None or self.max_depth is not None):
                status, reason = self._admit(target, depth, seed)
            host_id = host_ids.get(host) or self.db.host_id(host)
            number += 1
            fresh[url] = (number, depth)
            # Plain types: SQLite asks an adapter about all others, at a price.
            rows.append((number, url, str(status), host_id, str(purpose), int(internal), reason or None, *here))
            if status is PageStatus.QUEUED:
                waiting[host_id] += 1
            tally[status] += 1
        self.write_pages(rows)
        self.inserted += len(rows)
        self.db.known.add(fresh)
        return fresh

    def last_page(self) -> int:
        """The highest number that a page has."""
        number: int = self.sql.execute("SELECT coalesce(max(id), 0) FROM pages").fetchone()[0]
        return number

    def expect(self, targets: Iterable[Target]) -> None:
        """These are about to be asked for: where asking costs a journey, all of them are looked up at once."""

    def write_pages(self, rows: Sequence[tuple[object, ...]]) -> None:
        self.sql.executemany(_INSERT, rows)

    def _admit(self, target: Target, depth: int, seed: bool) -> tuple[PageStatus, str]:
        """Whether a URL that the rules would queue is within the depth, and within the cap of its kind."""
        if self.max_depth is not None and depth > self.max_depth and target.purpose is Purpose.PAGE:
            return PageStatus.SKIPPED, TOO_DEEP
        if target.trap is not None and not seed and not self._within_trap(target.url, target.trap):
            return PageStatus.SKIPPED, f"trap: {target.trap.why}"
        return target.status, target.reason

    def _within_trap(self, url: str, trap: Trap) -> bool:
        if self.sql.execute(_COUNT_TRAP, (trap.key, trap.why, url)).fetchone()[0] <= trap.cap:
            return trap.outer is None or self._within_trap(url, trap.outer)
        self.sql.execute("UPDATE traps SET refused = refused + 1, example = ? WHERE key = ?", (url, trap.key))
        return False

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
