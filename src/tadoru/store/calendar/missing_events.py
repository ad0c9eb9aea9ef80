"""Detects events that a source no longer lists.

Upcoming events are marked as vanished, never deleted. Past events are left alone, because sources drop them as a matter of
course. If a large share is missing at once, the source is doubted and nothing is marked.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Select, and_, exists, insert, or_, select, update

from tadoru.model.event import EventStatus
from tadoru.store.calendar.database import CalendarDatabase
from tadoru.store.calendar.records import MissingEventsResult, RunLog, in_batches
from tadoru.store.calendar.review_items import ROW_GONE, close_row_reviews
from tadoru.store.calendar.runs import check_run_open
from tadoru.store.calendar.schema import event_history, events, sightings

DROP_SHARE = 0.2
DROP_COUNT = 5
"""A drop is more missing events than this, and a larger share than that."""


class MissingEvents(CalendarDatabase):
    """Marks missing events at the end of a run."""

    def mark_missing(self, run: RunLog, *, force: bool = False) -> MissingEventsResult:
        """Mark the events that a source no longer lists. Call it only if the run has read the whole source. `force` marks them
        despite a drop."""
        now = self.now()
        with self.write_events() as sql:
            check_run_open(sql, run)
            known = sql.execute(_upcoming_sightings(run, now)).all()
            missing = [row for row in known if row.last_run != run.id]
            is_drop = len(missing) > DROP_COUNT and len(missing) > DROP_SHARE * len(known) and not force
            gone = [] if is_drop else missing
            for part in in_batches(row.id for row in gone):
                sql.execute(update(sightings).where(sightings.c.id.in_(part)).values(gone_at=now))
            vanished = self._mark_vanished(sql, sorted({row.event_id for row in gone}), now, f"source {run.source_id}")
            if not is_drop:
                self._close_gone_rows(sql, run, now)
            return MissingEventsResult(known=len(known), missing=len(missing), vanished=vanished, is_drop=is_drop)

    def _mark_vanished(self, sql: Connection, event_ids: list[int], now: datetime, by: str) -> int:
        """Mark events without any current sighting as vanished; returns how many."""
        count = 0
        for part in in_batches(event_ids):
            is_listed = exists().where(sightings.c.event_id == events.c.id, sightings.c.gone_at.is_(None))
            query = update(events).where(events.c.id.in_(part), ~is_listed, events.c.vanished_at.is_(None))
            values = {"vanished_at": now, "updated_at": now, "sequence": events.c.sequence + 1}
            marked = sql.execute(query.values(values).returning(events.c.id)).scalars().all()
            changes = {"vanished_at": [None, now.isoformat()]}
            notes = [{"event_id": one, "at": now, "by": by, "changes": changes} for one in marked]
            if notes:
                sql.execute(insert(event_history), notes)
            count += len(marked)
        return count

    def _close_gone_rows(self, sql: Connection, run: RunLog, now: datetime) -> None:
        """Close the reviews of quarantined rows that are gone."""
        mine = and_(sightings.c.source_id == run.source_id, sightings.c.draft.is_(None), sightings.c.gone_at.is_(None))
        old = or_(sightings.c.last_run != run.id, sightings.c.last_run.is_(None))
        query = update(sightings).where(mine, old).values(gone_at=now).returning(sightings.c.event_id)
        gone = list(sql.execute(query).scalars())
        for part in in_batches(gone):
            close_row_reviews(sql, part, run.source_id, ROW_GONE, f"source {run.source_id}", now)
            still = events.c.status == EventStatus.QUARANTINE.value
            sql.execute(update(events).where(events.c.id.in_(part), still).values(vanished_at=now))

    def mark_all_seen(self, run: RunLog) -> int:
        """Mark all rows of a source as seen, because it reported no change (304); returns how many."""
        now = self.now()
        with self.write_events() as sql:
            check_run_open(sql, run)
            mine = and_(sightings.c.source_id == run.source_id, sightings.c.gone_at.is_(None))
            about = select(sightings.c.event_id).where(mine)
            sql.execute(update(events).where(events.c.id.in_(about)).values(last_seen=now))
            done = sql.execute(update(sightings).where(mine).values(last_seen=now, last_run=run.id))
            return done.rowcount


def _upcoming_sightings(run: RunLog, now: datetime) -> Select[Any]:
    """The rows of a source about events that have not started. Calendars drop ongoing events, so these prove nothing."""
    columns = select(sightings.c.id, sightings.c.event_id, sightings.c.last_run).join(events, events.c.id == sightings.c.event_id)
    goes_on = and_(events.c.times > 1, events.c.last_day_over > now + timedelta(days=1))
    return columns.where(
        sightings.c.source_id == run.source_id,
        sightings.c.gone_at.is_(None),
        sightings.c.draft.is_not(None),
        or_(events.c.starts_at > now, goes_on),
    )
