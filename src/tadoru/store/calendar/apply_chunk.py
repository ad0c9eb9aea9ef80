"""Applies one chunk of rows of one source in one transaction: recognises, compares and stores them.

The key of a row is the UID of the source, or else its content. A UID is only a hint: one that a run uses twice gets the content
appended; one that changes with every export makes the row look new, and the comparison finds its event again (`apply`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, NamedTuple
from uuid import uuid4

from sqlalchemy import Connection, RowMapping, bindparam, insert, select, update

from tadoru.model.event import EventDraft, EventStatus, QuarantinedEvent, ReviewReason
from tadoru.store.calendar.drafts import draft_hash, draft_to_json, event_columns, occurrence_rows, raw_to_json
from tadoru.store.calendar.merge_candidates import (
    CandidateMatch,
    MergeCandidates,
    ordered_pair,
    outcome_detail,
    reasons_json,
    separate_pairs,
    uid_row_key,
)
from tadoru.store.calendar.merging import EventMerger, MergeStamp, absorb_event
from tadoru.store.calendar.records import (
    ApplyResult,
    Matcher,
    MatchOutcome,
    RunLog,
    in_batches,
    insert_all,
    select_in,
    sightings_of,
)
from tadoru.store.calendar.review_items import (
    SOURCE_FIXED,
    ReviewRequest,
    close_outdated_reviews,
    close_row_reviews,
    open_reviews,
    open_reviews_about,
)
from tadoru.store.calendar.schema import blocks, events, merges, occurrences, sightings, storable_text

MAX_ROWS_OF_EVENT = 100
"""Maximum number of rows of one source about one event, because every change of an event reads all its rows. Further rows become
another event. Real sources stay far below it."""


class RowKey(NamedTuple):
    """The key of a row of a run. Its content is made again when it is stored, because a run may have a hundred thousand rows."""

    number: int
    """Its position in the run."""
    key: str
    hash: str


class KeyedRow(NamedTuple):
    """One row of a run with its key, ready to be stored."""

    key: str
    hash: str
    draft: EventDraft
    data: Mapping[str, Any]
    raw: Mapping[str, Any] | None
    blocks: tuple[str, ...]


class QuarantinedRow(NamedTuple):
    """One row of a run that lacks a required field."""

    key: str
    hash: str
    row: QuarantinedEvent
    raw: Mapping[str, Any]


def row_keys(drafts: Sequence[EventDraft], matcher: Matcher) -> list[RowKey]:
    """The rows of a run, each with a unique key, without exact repeats."""
    names = Counter(draft.uid for draft in drafts if draft.uid)
    contents: set[tuple[str, str]] = set()
    count: Counter[str] = Counter()
    found: list[RowKey] = []
    for number, draft in enumerate(drafts):
        content = draft_hash(draft_to_json(draft))
        key = _key(draft, matcher, unique=names[draft.uid] == 1)
        if (key, content) not in contents:
            contents.add((key, content))
            count[key] += 1
            found.append(RowKey(number, key if count[key] == 1 else f"{key}#{count[key]}", content))
    return found


def _key(draft: EventDraft, matcher: Matcher, *, unique: bool) -> str:
    if draft.uid and unique:
        return uid_row_key(draft.uid)
    start = draft.occurrence.starts_at
    when = start.isoformat(timespec="minutes") if draft.occurrence.has_time else start.date().isoformat()
    name = f"uid:{draft.uid}|" if draft.uid else "key:"
    return storable_text(f"{name}{matcher.key(draft)}|{when}")


def quarantined_keys(quarantined: Sequence[QuarantinedEvent]) -> list[RowKey]:
    """The quarantined rows of a run without repeats."""
    names = Counter(row.raw.uid for row in quarantined if row.raw.uid)
    found: dict[str, RowKey] = {}
    for number, row in enumerate(quarantined):
        content = draft_hash(raw_to_json(row.raw))
        key = uid_row_key(row.raw.uid) if row.raw.uid and names[row.raw.uid] == 1 else f"raw:{content}"
        found.setdefault(key, RowKey(number, key, content))
    return list(found.values())


class ChunkApplier:
    """Decides about the rows of one chunk and writes them."""

    def __init__(
        self,
        sql: Connection,
        matcher: Matcher,
        run: RunLog,
        source: RowMapping,
        now: datetime,
        run_keys: set[str],
        reused: set[str],
        corrected: Mapping[str, str],
    ) -> None:
        """`run_keys` are the keys of all rows of the run, `reused` those that name another row than the stored one, `corrected`
        those of rows that are stored under another key."""
        self._sql, self._matcher, self._run, self._source, self._now = sql, matcher, run, source, now
        self._by = f"source {source['id']}"
        self._run_keys, self._reused, self._corrected = run_keys, reused, corrected
        self._candidates = MergeCandidates(sql, matcher, source["id"])
        self._new: dict[int, KeyedRow] = {}
        """Events to insert, by negative numbers until the database assigns their ids."""
        self._joined: list[tuple[KeyedRow, int, MatchOutcome]] = []
        self._renamed: list[tuple[KeyedRow, int, int]] = []
        self._uncertain: list[tuple[int, int, MatchOutcome]] = []
        self._changed: list[tuple[KeyedRow, RowMapping]] = []
        self._unchanged: list[RowMapping] = []
        self._merged_events = 0
        self._reviews = 0

    def add_to(self, applied: ApplyResult) -> None:
        """Add the counts of this chunk, once it is committed."""
        applied.inserted += len(self._new)
        applied.updated += len(self._changed) + len(self._renamed)
        applied.unchanged += len(self._unchanged)
        applied.merged += len(self._joined)
        applied.absorbed += self._merged_events
        applied.review += self._reviews

    def store(self, rows: Sequence[KeyedRow]) -> None:
        """Decide about every row and write it."""
        fresh = self._recognise(rows)
        self._match_rows(fresh)
        numbers = self._insert_events()
        self._insert_joined(numbers)
        self._update_rows()
        touched = {numbers.get(event_id, event_id) for _, event_id, _ in self._joined}
        touched |= {row["event_id"] for _, row in self._changed} | {event_id for _, _, event_id in self._renamed}
        merger = EventMerger(self._sql, self._matcher, self._now, self._by)
        merger.merge(touched)
        self._reviews += merger.reviews_opened
        self._mark_seen()
        self._open_reviews(numbers)
        self._compare_again(merger.conflicting)

    def _recognise(self, rows: Sequence[KeyedRow]) -> list[KeyedRow]:
        """Set known rows aside and return the new ones."""
        query = select(sightings).where(sightings.c.source_id == self._source["id"])
        names = [name for row in rows for name in (row.key, self._corrected.get(row.key)) if name]
        known = {row["row_key"]: row for row in select_in(self._sql, query, sightings.c.row_key, names)}
        fresh = []
        for row in rows:
            found = known.get(row.key) or known.get(self._corrected.get(row.key, ""))
            if found is None:
                fresh.append(row)
            elif row.key in self._reused:
                self._rename(found)
                fresh.append(row)
            elif found["draft_hash"] == row.hash and found["gone_at"] is None:
                self._unchanged.append(found)
            else:
                self._changed.append((row, found))
        return fresh

    def _rename(self, found: RowMapping) -> None:
        """Free a reused key. Its old row is found again by its content, or counts as missing at the end of the run."""
        query = update(sightings).where(sightings.c.id == found["id"])
        self._sql.execute(query.values(row_key=f"{found['row_key']}~{found['id']}"))

    def _match_rows(self, fresh: Sequence[KeyedRow]) -> None:
        """Find the event of each new row."""
        self._candidates.load((name for row in fresh for name in row.blocks), {row.draft.title_clean for row in fresh})
        used: set[int] = set()
        joined: Counter[int] = Counter()
        for row in fresh:
            matches = self._candidates.compare(row.draft, row.blocks, {self._source["id"]})
            matches = [match for match in matches if not self._is_full(match.event_id, joined, used)]
            same = [match for match in matches if match.found.verdict == "same"]
            if not same:
                number = -1 - len(self._new)
                self._new[number] = row
                self._candidates.add(number, row.draft, row.blocks)
                self._uncertain += [(number, match.event_id, match.found) for match in matches]
                continue
            best = self._best(row, same, used)
            self._uncertain += [(best.event_id, other.event_id, other.found) for other in same if other is not best]
            # A notice about an event replaces no row that describes it.
            replaced = None if "notice" in row.draft.extra else self._replaced(best.event_id, used)
            if replaced is not None:
                used.add(replaced["id"])
                self._renamed.append((row, replaced["id"], best.event_id))
            else:
                self._joined.append((row, best.event_id, best.found))
                joined[best.event_id] += 1

    def _is_full(self, event_id: int, joined: Mapping[int, int], used: set[int]) -> bool:
        """Whether the source has as many rows about this event as it may, and this one replaces none of them."""
        new = event_id < 0
        count = len(self._candidates.rows_of_source(event_id)) + joined.get(event_id, 0) + new
        return count >= MAX_ROWS_OF_EVENT and self._replaced(event_id, used) is None

    def _best(self, row: KeyedRow, same: Sequence[CandidateMatch], used: set[int]) -> CandidateMatch:
        """Of several equally good matches, the one whose row this source has just dropped: it is that row with a new key."""
        top = [match for match in same if match.found.score == same[0].found.score]
        return next((match for match in top if self._replaced(match.event_id, used) is not None), top[0])

    def _replaced(self, event_id: int, used: set[int]) -> RowMapping | None:
        """The row about this event that the source no longer has."""
        # A reused key is not among the keys of the run: an earlier chunk may have stored the row that it names now.
        old = (row for row in self._candidates.rows_of_source(event_id) if row["last_run"] != self._run.id)
        return next((row for row in old if row["row_key"] not in self._run_keys and row["id"] not in used), None)

    def _insert_events(self) -> dict[int, int]:
        """Insert the new events; returns the id of each."""
        if not self._new:
            return {}
        source = self._source
        own = {"source_id": source["id"], "licence": source["licence"], "terms_url": source["terms_url"]}
        stamps = {"created_at": self._now, "updated_at": self._now, "last_seen": self._now, "status": EventStatus.ACTIVE.value}
        uids = {number: uuid4().hex for number in self._new}
        rows = [
            event_columns(row.draft, self._now)
            | own
            | stamps
            | {"uid": uids[number], "dedupe_key": self._matcher.key(row.draft), "source_url": row.draft.url or source["url"]}
            for number, row in self._new.items()
        ]
        made = {row.uid: row.id for row in self._sql.execute(insert(events).returning(events.c.id, events.c.uid), rows)}
        numbers = {number: made[uid] for number, uid in uids.items()}
        insert_all(self._sql, sightings, [self._sighting(row, numbers[number]) for number, row in self._new.items()])
        insert_all(
            self._sql,
            occurrences,
            [one for number, row in self._new.items() for one in occurrence_rows(numbers[number], row.draft)],
        )
        insert_all(
            self._sql,
            blocks,
            [
                {"block": name, "event_id": numbers[number]}
                for number, row in self._new.items()
                for name in dict.fromkeys(row.blocks)
            ],
        )
        return numbers

    def _sighting(self, row: KeyedRow, event_id: int) -> dict[str, Any]:
        seen = {"first_seen": self._now, "last_seen": self._now, "last_run": self._run.id}
        fields = {"row_key": row.key, "raw": row.raw, "draft": row.data, "draft_hash": row.hash}
        return {"event_id": event_id, "source_id": self._source["id"], **fields, **seen}

    def _insert_joined(self, numbers: Mapping[int, int]) -> None:
        """Insert rows about existing events: of another source, or another row of this one."""
        if not self._joined:
            return
        rows = [self._sighting(row, numbers.get(event_id, event_id)) for row, event_id, _ in self._joined]
        query = insert(sightings).returning(sightings.c.id, sightings.c.row_key)
        made = {row.row_key: row.id for row in self._sql.execute(query, rows)}
        done: list[dict[str, Any]] = [
            {
                "kept_id": numbers.get(event_id, event_id),
                "absorbed_id": None,
                "sighting_ids": [made[row.key]],
                "score": found.score,
                "reasons": reasons_json(found.reasons),
                "at": self._now,
                "by": self._by,
                "before": {},
            }
            for row, event_id, found in self._joined
        ]
        insert_all(self._sql, merges, done)

    def _update_rows(self) -> None:
        """Update known rows that changed, came back or have a new key."""
        every = [(found["id"], row) for row, found in self._changed] + [(known, row) for row, known, _ in self._renamed]
        if not every:
            return
        names = ("row_key", "raw", "draft", "draft_hash")
        query = update(sightings).where(sightings.c.id == bindparam("b_id"))
        query = query.values(
            {name: bindparam(f"v_{name}", type_=sightings.c[name].type) for name in names}
            | {"last_seen": self._now, "last_run": self._run.id, "gone_at": None}
        )
        self._sql.execute(
            query,
            [
                {"b_id": known, "v_row_key": row.key, "v_raw": row.raw, "v_draft": row.data, "v_draft_hash": row.hash}
                for known, row in every
            ],
        )

    def _mark_seen(self) -> None:
        """Update the last-seen times of this chunk."""
        for part in in_batches(row["id"] for row in self._unchanged):
            query = update(sightings).where(sightings.c.id.in_(part))
            self._sql.execute(query.values(last_seen=self._now, last_run=self._run.id))
        seen = {row["event_id"] for row in self._unchanged} | {row["event_id"] for _, row in self._changed}
        seen |= {event_id for _, event_id, _ in self._joined if event_id > 0} | {event_id for _, _, event_id in self._renamed}
        whole = [row["event_id"] for row in (*self._unchanged, *(found for _, found in self._changed))]
        close_row_reviews(self._sql, whole, self._source["id"], SOURCE_FIXED, self._by, self._now)
        for some in in_batches(sorted(seen)):
            self._sql.execute(update(events).where(events.c.id.in_(some)).values(last_seen=self._now))

    def _open_reviews(self, numbers: Mapping[int, int]) -> None:
        """Open reviews for uncertain pairs, unless a person has decided about them."""
        pairs = [(numbers.get(one, one), numbers.get(other, other), found) for one, other, found in self._uncertain]
        if not pairs:
            return
        involved = [each for one, other, _ in pairs for each in (one, other)]
        apart = separate_pairs(self._sql, involved)
        groups = ReviewGroups(row["candidate_ids"] for row in open_reviews_about(self._sql, involved))
        self._reviews += open_reviews(
            self._sql,
            [
                _pair_request(one, other, found, self._source["id"])
                for one, other, found in pairs
                if ordered_pair(one, other) not in apart and groups.join(one, other)
            ],
            self._now,
        )

    def _compare_again(self, conflicting: set[int]) -> None:
        """Compare changed rows again: one may now match another event, or no longer match its own. `conflicting` rows have a
        review already."""
        changed = [
            (row, found) for row, found in self._changed if found["draft"] is None or _has_new_identity(found["draft"], row.data)
        ]
        if not changed:
            return
        candidates = MergeCandidates(self._sql, self._matcher, self._source["id"])
        candidates.load_events(found["event_id"] for _, found in changed)
        candidates.load((name for row, _ in changed for name in row.blocks), {row.draft.title_clean for row, _ in changed})
        apart = separate_pairs(self._sql, [found["event_id"] for _, found in changed])
        gone: set[int] = set()
        for row, found in changed:
            own = found["event_id"]
            if own in gone:
                continue
            matches = candidates.compare(row.draft, row.blocks, candidates.sources_of(own), leave_out=own)
            for match in matches:
                if match.event_id in gone or ordered_pair(own, match.event_id) in apart:
                    continue
                if match.found.verdict == "same":
                    if sum(len(candidates.rows_of_source(one)) for one in (own, match.event_id)) > MAX_ROWS_OF_EVENT:
                        continue
                    kept, other = ordered_pair(own, match.event_id)
                    score, reasons = match.found.score, reasons_json(match.found.reasons)
                    absorb_event(
                        self._sql, self._matcher, kept, other, MergeStamp(self._by, self._now), score=score, reasons=reasons
                    )
                    candidates.absorb(kept, other)
                    self._merged_events += 1
                    gone.add(other)
                    own = kept
                    apart |= separate_pairs(self._sql, [own])
                else:
                    self._reviews += open_reviews(
                        self._sql, [_pair_request(own, match.event_id, match.found, self._source["id"])], self._now
                    )
            if found["id"] not in conflicting:
                self._check_agreement(row, found, own)

    def _check_agreement(self, row: KeyedRow, found: RowMapping, event_id: int) -> None:
        """Open a review if a row no longer matches the other sightings of its event."""
        kind = f"parted:{event_id}:{found['id']}:"
        subject = f"{kind}{row.hash}"
        close_outdated_reviews(self._sql, [event_id], kind, {subject}, self._by, self._now)
        for other in sightings_of(self._sql, [event_id]).get(event_id, ()):
            if other.id == found["id"] or other.draft is None or other.gone_at is not None:
                continue
            result = self._matcher.compare(row.draft, other.draft, same_source=other.source_id == self._source["id"])
            if result.verdict != "same":
                detail = {**outcome_detail(result), "sighting": found["id"], "other": other.id}
                question = ReviewRequest(subject, (event_id,), ReviewReason.DEDUPE_CONFLICT, self._source["id"], detail)
                self._reviews += open_reviews(self._sql, [question], self._now)
                return


MAX_FULL_GROUP = 4
"""Events about which every pair is asked; of a larger group of similar events, each is only connected to the others."""


class ReviewGroups:
    """Groups of events that open reviews connect: of n identical pages n - 1 questions are enough, and not one for each pair."""

    def __init__(self, asked: Iterable[Sequence[int]]) -> None:
        self._groups: dict[int, set[int]] = {}
        for ids in asked:
            for one, other in pairwise(ids):
                self._connect(one, other)

    def join(self, one: int, other: int) -> bool:
        """Connect two events; False if they are connected already, in a group that is too large to ask about every pair."""
        group = self._groups.get(one)
        if group is not None and other in group and len(group) > MAX_FULL_GROUP:
            return False
        self._connect(one, other)
        return True

    def _connect(self, one: int, other: int) -> None:
        group = self._groups.get(one, {one}) | self._groups.get(other, {other})
        self._groups.update(dict.fromkeys(group, group))


def _pair_request(one: int, other: int, found: MatchOutcome, source_id: int) -> ReviewRequest:
    low, high = ordered_pair(one, other)
    return ReviewRequest(f"pair:{low}:{high}", (low, high), ReviewReason.DEDUPE_CONFLICT, source_id, outcome_detail(found))


_IDENTITY = ("title", "occurrence", "occurrences", "venue", "city", "url", "timezone")


def _has_new_identity(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether a field that identifies the event has changed."""
    return any(before.get(name) != after.get(name) for name in _IDENTITY)
