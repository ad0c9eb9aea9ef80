"""Loads the events that a draft is compared with: those that share a blocking key with it.

New events of the same chunk are included, so that two rows of one chunk are compared too. Nothing is decided here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

from sqlalchemy import Connection, RowMapping, Select, func, or_, select

from tadoru.model.event import EventDraft
from tadoru.store.calendar.drafts import TEXT_COLUMNS, draft_from_row
from tadoru.store.calendar.records import Matcher, MatchOutcome, in_batches, select_in
from tadoru.store.calendar.schema import apart, blocks, events, occurrences, sightings, storable_text

_COMPARED = [
    events.c[name]
    for name in ("id", "starts_at", "ends_at", "has_time", "lat", "lon", "cancelled_at", "times", *TEXT_COLUMNS)
    if name != "description"
]
"""Columns that a comparison uses. Descriptions are long, and no matcher compares them."""


MAX_COMPARISONS = 100
"""Maximum number of events that one draft is compared with: a source may list thousands for one day."""
LIMITED_COMPARISONS = 20
"""The same when the run has compared as many pairs as it may."""
LARGE_BLOCK = 1_000
"""Events of a blocking key above which its oldest ones are read by the index: numbering all of them takes longer with each."""


class CandidateMatch(NamedTuple):
    """A known event and the result of comparing it."""

    event_id: int
    found: MatchOutcome


def reasons_json(reasons: Sequence[Any]) -> list[Any]:
    """Reasons as JSON: a text, or the fields of a named tuple with its text."""
    return [{**one._asdict(), "why": getattr(one, "why", "")} if hasattr(one, "_asdict") else str(one) for one in reasons]


class MergeCandidates:
    """The events that some drafts are compared with."""

    def __init__(self, sql: Connection, matcher: Matcher, source_id: int | None) -> None:
        self._sql, self._matcher, self._source_id = sql, matcher, source_id
        self._in_block: dict[str, list[int]] = {}
        self._block_size: Counter[str] = Counter()
        """The number of events with each blocking key, including those that are not loaded."""
        self._drafts: dict[int, EventDraft] = {}
        self._rows_of_source: dict[int, list[RowMapping]] = {}
        self._sources: dict[int, set[int | None]] = {}
        self._row_keys: dict[int, set[str]] = {}
        """The keys of the rows of each event, of all sources."""
        self._limit = LIMITED_COMPARISONS if matcher.has_reached_limit else MAX_COMPARISONS

    def load(self, names: Iterable[str], titles: Collection[str]) -> None:
        """Load the events with these blocking keys, of each key the oldest ones: when the matcher has reached its limit, only
        those with one of these titles, because no others are compared."""
        self._in_block = {name: [] for name in names}
        place = func.row_number().over(partition_by=blocks.c.block, order_by=blocks.c.event_id).label("place")
        # Not as a window too: that takes ten times as long for a block of a hundred thousand events.
        sizes = select(blocks.c.block, func.count().label("size")).group_by(blocks.c.block)
        for part in in_batches(self._in_block):
            self._block_size.update({row.block: row.size for row in self._sql.execute(sizes.where(blocks.c.block.in_(part)))})
            small = [name for name in part if self._block_size[name] <= LARGE_BLOCK]
            numbered = select(blocks, place).where(blocks.c.block.in_(small)).subquery()
            for row in self._sql.execute(select(numbered).where(numbered.c.place <= self._limit).order_by(numbered.c.event_id)):
                self._in_block[row.block].append(row.event_id)
        oldest = select(blocks.c.event_id).order_by(blocks.c.event_id).limit(self._limit)
        for name in self._in_block:
            if self._block_size[name] > LARGE_BLOCK:
                self._in_block[name] = list(self._sql.execute(oldest.where(blocks.c.block == name)).scalars())
        query = select(*_COMPARED)
        if self._matcher.has_reached_limit:
            query = query.where(events.c.title_clean.in_(titles))
        self._load(query, (event_id for block in self._in_block.values() for event_id in block))

    def load_events(self, event_ids: Iterable[int]) -> None:
        self._load(select(*_COMPARED), event_ids)

    def _load(self, query: Select[Any], event_ids: Iterable[int]) -> None:
        unknown = [event_id for event_id in dict.fromkeys(event_ids) if event_id not in self._sources]
        rows = select_in(self._sql, query, events.c.id, unknown)
        found = [row["id"] for row in rows]
        times: dict[int, list[RowMapping]] = {}
        series = [row["id"] for row in rows if row["times"] > 1]
        order = (occurrences.c.event_id, occurrences.c.number)
        for row in select_in(self._sql, select(occurrences).order_by(*order), occurrences.c.event_id, series):
            times.setdefault(row["event_id"], []).append(row)
        self._drafts |= {row["id"]: draft_from_row(row, times.get(row["id"], ())) for row in rows}
        self._sources |= {event_id: set() for event_id in found}
        columns = (sightings.c.id, sightings.c.event_id, sightings.c.source_id, sightings.c.row_key, sightings.c.last_run)
        for row in select_in(self._sql, select(*columns), sightings.c.event_id, found):
            self._sources[row["event_id"]].add(row["source_id"])
            self._row_keys.setdefault(row["event_id"], set()).add(row["row_key"])
            if row["source_id"] == self._source_id:
                self._rows_of_source.setdefault(row["event_id"], []).append(row)

    def add(self, number: int, draft: EventDraft, names: Iterable[str]) -> None:
        """Add an event that is about to be stored, with its temporary number."""
        self._drafts[number] = draft
        self._sources[number] = {self._source_id}
        for name in names:
            self._block_size[name] += 1
            if len(self._in_block[name]) < self._limit:
                self._in_block[name].append(number)

    def absorb(self, kept: int, absorbed: int) -> None:
        """Count the rows of an event that was merged as rows of the other."""
        self._sources[kept] |= self._sources[absorbed]
        self._rows_of_source.setdefault(kept, []).extend(self._rows_of_source.pop(absorbed, ()))

    def rows_of_source(self, event_id: int) -> Sequence[RowMapping]:
        """The rows about the event that the source of this run already has."""
        return self._rows_of_source.get(event_id, ())

    def sources_of(self, event_id: int) -> set[int | None]:
        return self._sources.get(event_id, set())

    def compare(
        self, draft: EventDraft, names: Iterable[str], own: set[int | None], leave_out: int | None = None
    ) -> list[CandidateMatch]:
        """All events that are not clearly different, best match first."""
        # The smallest block first: it is the most specific, and nearly always contains the matching event.
        shared = sorted(names, key=self._block_size.__getitem__)
        near = dict.fromkeys(event_id for name in shared for event_id in self._in_block[name] if event_id != leave_out)
        mine = own - {None}
        found = []
        for event_id in islice(near, self._limit):
            if event_id not in self._drafts:
                continue
            known = self._drafts[event_id]
            if draft.uid and uid_row_key(draft.uid) in self._row_keys.get(event_id, ()):
                known = replace(known, uid=draft.uid)
            result = self._matcher.compare(draft, known, same_source=not mine.isdisjoint(self._sources[event_id]))
            if result.verdict != "different":
                found.append(CandidateMatch(event_id, result))
        return sorted(found, key=lambda match: (-match.found.score, match.event_id))


def uid_row_key(uid: str) -> str:
    """The key of the row of a source that has a uid of its own."""
    return storable_text(f"uid:{uid}")


def separate_pairs(sql: Connection, event_ids: Iterable[int]) -> set[tuple[int, int]]:
    """The pairs that a person marked as different events."""
    ids = list(dict.fromkeys(event_ids))
    pairs: set[tuple[int, int]] = set()
    for start in range(0, len(ids), 400):
        part = ids[start : start + 400]
        query = select(apart.c.low_id, apart.c.high_id).where(or_(apart.c.low_id.in_(part), apart.c.high_id.in_(part)))
        pairs |= {(row.low_id, row.high_id) for row in sql.execute(query)}
    return pairs


def ordered_pair(one: int, other: int) -> tuple[int, int]:
    return (one, other) if one < other else (other, one)


def outcome_detail(found: MatchOutcome) -> Mapping[str, Any]:
    return {"score": found.score, "reasons": reasons_json(found.reasons), "verdict": str(found.verdict)}
