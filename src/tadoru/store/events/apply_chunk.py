"""One chunk of rows of one source, in one transaction: recognised, compared, stored. `apply` says why it is done this way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, RowMapping, bindparam, insert, select, update

from tadoru.model.event import EventStatus, ReviewReason
from tadoru.store.events.candidates import Candidates, Match, kept_apart, pair, pair_detail, told
from tadoru.store.events.drafts import columns_of, occurrence_rows
from tadoru.store.events.merging import Stamp, absorb
from tadoru.store.events.questions import PUT_RIGHT, Question, ask, close_about_rows, close_outdated
from tadoru.store.events.row_keys import Row
from tadoru.store.events.rows import add_all, among, portions, said_about
from tadoru.store.events.schema import blocks, events, merges, occurrences, sightings
from tadoru.store.events.values import Applied, Comparison, Judge, RunLog
from tadoru.store.events.weave import Weaver


class Chunk:
    """The state of one chunk while it is decided."""

    def __init__(
        self,
        sql: Connection,
        judge: Judge,
        run: RunLog,
        source: RowMapping,
        now: datetime,
        run_keys: frozenset[str],
        reused: frozenset[str],
    ) -> None:
        """`run_keys` name the rows of the whole run, `reused` those that are about something else than the row known by it."""
        self._sql, self._judge, self._run, self._source, self._now = sql, judge, run, source, now
        self._by = f"source {source['id']}"
        self._run_keys, self._reused = run_keys, reused
        self._near = Candidates(sql, judge, source["id"])
        self._new: dict[int, Row] = {}
        """Events to be made; their numbers are negative until the database gives them one."""
        self._joined: list[tuple[Row, int, Comparison]] = []
        self._renamed: list[tuple[Row, int, int]] = []
        self._doubts: list[tuple[int, int, Comparison]] = []
        self._changed: list[tuple[Row, RowMapping]] = []
        self._unchanged: list[RowMapping] = []
        self._merged_events = 0
        self._reviews = 0

    def add_to(self, applied: Applied) -> None:
        """Count what was done, once it is committed."""
        applied.inserted += len(self._new)
        applied.updated += len(self._changed) + len(self._renamed)
        applied.unchanged += len(self._unchanged)
        applied.merged += len(self._joined)
        applied.absorbed += self._merged_events
        applied.review += self._reviews

    def store(self, rows: Sequence[Row]) -> None:
        """Decide about every row and write it."""
        fresh = self._recognise(rows)
        self._place(fresh)
        numbers = self._insert_events()
        self._insert_joined(numbers)
        self._update_rows()
        touched = {numbers.get(event_id, event_id) for _, event_id, _ in self._joined}
        touched |= {row["event_id"] for _, row in self._changed} | {event_id for _, _, event_id in self._renamed}
        weaver = Weaver(self._sql, self._judge, self._now, self._by)
        weaver.weave(touched)
        self._reviews += weaver.asked
        self._see()
        self._ask(numbers)
        self._compare_again(weaver.contested)

    def _recognise(self, rows: Sequence[Row]) -> list[Row]:
        """Rows that are known are set aside; returns those that are new."""
        query = select(sightings).where(sightings.c.source_id == self._source["id"])
        known = {row["row_key"]: row for row in among(self._sql, query, sightings.c.row_key, [row.key for row in rows])}
        fresh = []
        for row in rows:
            found = known.get(row.key)
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
        """Free a name. What was known by it is found again by what it says, or is missing at the end of the run."""
        query = update(sightings).where(sightings.c.id == found["id"])
        self._sql.execute(query.values(row_key=f"{found['row_key']}~{found['id']}"))

    def _place(self, fresh: Sequence[Row]) -> None:
        """Find for each new row the event it belongs to."""
        names = {row.key: self._judge.blocks(row.draft) for row in fresh}
        self._near.load(name for each in names.values() for name in each)
        used: set[int] = set()
        for row in fresh:
            matches = self._near.compare(row.draft, names[row.key], {self._source["id"]})
            same = [match for match in matches if match.found.verdict == "same"]
            if not same:
                number = -1 - len(self._new)
                self._new[number] = row
                self._near.add(number, row.draft, names[row.key])
                self._doubts += [(number, match.event_id, match.found) for match in matches]
                continue
            best = self._best(row, same, used)
            self._doubts += [(best.event_id, other.event_id, other.found) for other in same if other is not best]
            replaced = self._replaced(best.event_id, used)
            if replaced is not None:
                used.add(replaced["id"])
                self._renamed.append((row, replaced["id"], best.event_id))
            else:
                self._joined.append((row, best.event_id, best.found))

    def _best(self, row: Row, same: Sequence[Match], used: set[int]) -> Match:
        """Of several equally alike the one whose row this source has just given up: it is that row under another name."""
        top = [match for match in same if match.found.score == same[0].found.score]
        return next((match for match in top if self._replaced(match.event_id, used) is not None), top[0])

    def _replaced(self, event_id: int, used: set[int]) -> RowMapping | None:
        """The row about this event that the source no longer has."""
        rows = self._near.rows_of_source(event_id)
        return next((row for row in rows if row["row_key"] not in self._run_keys and row["id"] not in used), None)

    def _insert_events(self) -> dict[int, int]:
        """Store what is new; returns the number of each."""
        if not self._new:
            return {}
        source = self._source
        own = {"source_id": source["id"], "licence": source["licence"], "terms_url": source["terms_url"]}
        stamps = {"created_at": self._now, "updated_at": self._now, "last_seen": self._now, "status": EventStatus.ACTIVE.value}
        uids = {number: uuid4().hex for number in self._new}
        rows = [
            columns_of(row.draft, self._now)
            | own
            | stamps
            | {"uid": uids[number], "dedupe_key": self._judge.key(row.draft), "source_url": row.draft.url or source["url"]}
            for number, row in self._new.items()
        ]
        made = {row.uid: row.id for row in self._sql.execute(insert(events).returning(events.c.id, events.c.uid), rows)}
        numbers = {number: made[uid] for number, uid in uids.items()}
        add_all(self._sql, sightings, [self._sighting(row, numbers[number]) for number, row in self._new.items()])
        add_all(
            self._sql,
            occurrences,
            [one for number, row in self._new.items() for one in occurrence_rows(numbers[number], row.draft)],
        )
        add_all(
            self._sql,
            blocks,
            [
                {"block": name, "event_id": numbers[number]}
                for number, row in self._new.items()
                for name in dict.fromkeys(self._judge.blocks(row.draft))
            ],
        )
        return numbers

    def _sighting(self, row: Row, event_id: int) -> dict[str, Any]:
        seen = {"first_seen": self._now, "last_seen": self._now, "last_run": self._run.id}
        said = {"row_key": row.key, "raw": row.raw, "draft": row.said, "draft_hash": row.hash}
        return {"event_id": event_id, "source_id": self._source["id"], **said, **seen}

    def _insert_joined(self, numbers: Mapping[int, int]) -> None:
        """Rows that are about an event that is there already: another source's, or another row of this one."""
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
                "reasons": told(found.reasons),
                "at": self._now,
                "by": self._by,
                "before": {},
            }
            for row, event_id, found in self._joined
        ]
        add_all(self._sql, merges, done)

    def _update_rows(self) -> None:
        """Known rows that say something else now, come back, or are called otherwise."""
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
                {"b_id": known, "v_row_key": row.key, "v_raw": row.raw, "v_draft": row.said, "v_draft_hash": row.hash}
                for known, row in every
            ],
        )

    def _see(self) -> None:
        """Everything in this chunk was seen now."""
        for part in portions(row["id"] for row in self._unchanged):
            query = update(sightings).where(sightings.c.id.in_(part))
            self._sql.execute(query.values(last_seen=self._now, last_run=self._run.id))
        seen = {row["event_id"] for row in self._unchanged} | {row["event_id"] for _, row in self._changed}
        seen |= {event_id for _, event_id, _ in self._joined if event_id > 0} | {event_id for _, _, event_id in self._renamed}
        whole = [row["event_id"] for row in (*self._unchanged, *(found for _, found in self._changed))]
        close_about_rows(self._sql, whole, self._source["id"], PUT_RIGHT, self._by, self._now)
        for some in portions(sorted(seen)):
            self._sql.execute(update(events).where(events.c.id.in_(some)).values(last_seen=self._now))

    def _ask(self, numbers: Mapping[int, int]) -> None:
        """Doubtful pairs are a person's to decide, unless one has."""
        pairs = [(numbers.get(one, one), numbers.get(other, other), found) for one, other, found in self._doubts]
        if not pairs:
            return
        apart = kept_apart(self._sql, [each for one, other, _ in pairs for each in (one, other)])
        self._reviews += ask(
            self._sql,
            [_doubt(one, other, found, self._source["id"]) for one, other, found in pairs if pair(one, other) not in apart],
            self._now,
        )

    def _compare_again(self, contested: set[int]) -> None:
        """A row that changed may now be about another event, or no longer about its own. `contested` rows are asked about."""
        changed = [(row, found) for row, found in self._changed if found["draft"] is None or _moved(found["draft"], row.said)]
        if not changed:
            return
        near = Candidates(self._sql, self._judge, self._source["id"])
        near.load_events(found["event_id"] for _, found in changed)
        near.load(name for row, _ in changed for name in self._judge.blocks(row.draft))
        apart = kept_apart(self._sql, [found["event_id"] for _, found in changed])
        gone: set[int] = set()
        for row, found in changed:
            own = found["event_id"]
            if own in gone:
                continue
            matches = near.compare(row.draft, self._judge.blocks(row.draft), near.sources_of(own), leave_out=own)
            for match in matches:
                if match.event_id in gone or pair(own, match.event_id) in apart:
                    continue
                if match.found.verdict == "same":
                    kept, other = pair(own, match.event_id)
                    score, reasons = match.found.score, told(match.found.reasons)
                    absorb(self._sql, self._judge, kept, other, Stamp(self._by, self._now), score=score, reasons=reasons)
                    self._merged_events += 1
                    gone.add(other)
                    own = kept
                    apart |= kept_apart(self._sql, [own])
                else:
                    self._reviews += ask(self._sql, [_doubt(own, match.event_id, match.found, self._source["id"])], self._now)
            if found["id"] not in contested:
                self._part_ways(row, found, own)

    def _part_ways(self, row: Row, found: RowMapping, event_id: int) -> None:
        """Ask when a row no longer agrees with what the other sources say about its event."""
        kind = f"parted:{event_id}:{found['id']}:"
        subject = f"{kind}{row.hash}"
        close_outdated(self._sql, [event_id], kind, {subject}, self._by, self._now)
        for other in said_about(self._sql, [event_id]).get(event_id, ()):
            if other.id == found["id"] or other.draft is None or other.gone_at is not None:
                continue
            result = self._judge.compare(row.draft, other.draft, same_source=other.source_id == self._source["id"])
            if result.verdict != "same":
                detail = {**pair_detail(result), "sighting": found["id"], "other": other.id}
                question = Question(subject, (event_id,), ReviewReason.DEDUPE_CONFLICT, self._source["id"], detail)
                self._reviews += ask(self._sql, [question], self._now)
                return


def _doubt(one: int, other: int, found: Comparison, source_id: int) -> Question:
    low, high = pair(one, other)
    return Question(f"pair:{low}:{high}", (low, high), ReviewReason.DEDUPE_CONFLICT, source_id, pair_detail(found))


_IDENTITY = ("title", "occurrence", "occurrences", "venue", "city", "url", "timezone")


def _moved(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether what tells events apart has changed."""
    return any(before.get(name) != after.get(name) for name in _IDENTITY)
