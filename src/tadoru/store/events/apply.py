"""The heart: what a run found goes into the database, in chunks, so that a kill at any moment and a second run give the same
result.

Each row of a source is a sighting with a key. A known row is updated; a new one is compared with the events that share a block
with it and becomes a part of one of them, or an event of its own, with a question for a person where it is doubtful. Whatever a
chunk decides is one transaction, taken alone (`write_events`); a row that was written already is merely recognised by its key.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy import select

from tadoru.model.event import EventDraft, Quarantined, RawEvent
from tadoru.store.events.apply_chunk import Chunk
from tadoru.store.events.apply_quarantine import quarantine
from tadoru.store.events.connect import EventsDatabase
from tadoru.store.events.drafts import draft_in
from tadoru.store.events.row_keys import Row, bad_rows_of, rows_of
from tadoru.store.events.rows import among, portions
from tadoru.store.events.runs import check_open
from tadoru.store.events.schema import sightings, sources
from tadoru.store.events.values import Applied, Judge, RunLog

CHUNK = 500
"""Rows in one transaction: others wait for it, and a kill loses no more."""


class Applying(EventsDatabase):
    """Storing what a run found."""

    def apply_run(
        self,
        run: RunLog,
        drafts: Sequence[EventDraft],
        quarantined: Sequence[Quarantined],
        judge: Judge,
        *,
        raws: Sequence[RawEvent | None] = (),
        chunk: int = CHUNK,
        progress: Callable[[int], None] = lambda done: None,
    ) -> Applied:
        """Store everything; `raws` are what the source said, in the order of the drafts. `progress` hears how many are done."""
        rows, repeated = rows_of(drafts, raws, judge)
        bad = bad_rows_of(quarantined)
        reused = self._reused(run, rows, judge)
        keys = (frozenset(row.key for row in rows) | {row.key for row in bad}) - reused
        applied = Applied(merged=repeated, quarantined=len(quarantined))
        done = repeated
        for part in portions(rows, chunk):
            with self.write_events() as sql:
                check_open(sql, run)
                source = sql.execute(sources.select().where(sources.c.id == run.source_id)).mappings().one()
                work = Chunk(sql, judge, run, source, self.now(), keys, reused)
                work.store(part)
            work.add_to(applied)
            done += len(part)
            progress(done)
        for some in portions(bad, chunk):
            with self.write_events() as sql:
                check_open(sql, run)
                applied.review += quarantine(sql, run, some, self.now())
            done += len(some)
            progress(done)
        return applied

    def _reused(self, run: RunLog, rows: Sequence[Row], judge: Judge) -> frozenset[str]:
        """Names that the source has given to other rows than before: it numbers them anew, or took one for something else."""
        names = {row.key: row for row in rows if row.draft.uid}
        query = select(sightings.c.row_key, sightings.c.draft_hash, sightings.c.draft)
        query = query.where(sightings.c.source_id == run.source_id, sightings.c.draft.is_not(None))
        with self.read() as sql:
            known = among(sql, query, sightings.c.row_key, names)
        changed = [found for found in known if found["draft_hash"] != names[found["row_key"]].hash]
        return frozenset(
            found["row_key"] for found in changed if not judge.same_row(draft_in(found["draft"]), names[found["row_key"]].draft)
        )
