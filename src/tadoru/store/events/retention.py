"""What time does to the database: events are archived, old run logs and snapshots forgotten. Archived events are still found.

The files are the caller's: it is told which paths nothing names any more.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import delete, exists, func, select, update

from tadoru.store.events.connect import EventsDatabase
from tadoru.store.events.rows import portions
from tadoru.store.events.schema import events, run_logs, snapshots

ARCHIVE_AFTER = timedelta(days=180)
FORGET_AFTER = timedelta(days=90)
_AT_ONCE = 5000


class Retention(EventsDatabase):
    """The daily jobs."""

    def archive(self, *, after: timedelta = ARCHIVE_AFTER) -> int:
        """Archive events whose last day was over that long ago; how many."""
        now, count = self.now(), 0
        due = (events.c.archived_at.is_(None), events.c.last_day_over.is_not(None), events.c.last_day_over <= now - after)
        while True:
            with self.write_events() as sql:
                some = select(events.c.id).where(*due).limit(_AT_ONCE)
                done = sql.execute(update(events).where(events.c.id.in_(some)).values(archived_at=now)).rowcount
            count += done
            if done < _AT_ONCE:
                return count

    def to_archive(self, *, after: timedelta = ARCHIVE_AFTER) -> int:
        """How many `archive` would archive now."""
        due = (events.c.archived_at.is_(None), events.c.last_day_over.is_not(None), events.c.last_day_over <= self.now() - after)
        with self.read() as sql:
            count: int = sql.execute(select(func.count()).select_from(events).where(*due)).scalar_one()
            return count

    def old_runs(self, *, after: timedelta = FORGET_AFTER) -> tuple[tuple[int, datetime], ...]:
        """What `forget_runs` would drop now."""
        query = select(run_logs.c.id, run_logs.c.started_at).order_by(run_logs.c.id)
        with self.read() as sql:
            return tuple(
                (row.id, row.started_at) for row in sql.execute(query.where(run_logs.c.finished_at < self.now() - after))
            )

    def old_snapshots(self, *, after: timedelta = FORGET_AFTER) -> tuple[tuple[int, str], ...]:
        """Id and path of snapshots that may go: old, and not the newest of their source."""
        newer = snapshots.alias("newer")
        later = (newer.c.fetched_at > snapshots.c.fetched_at) | (
            (newer.c.fetched_at == snapshots.c.fetched_at) & (newer.c.id > snapshots.c.id)
        )
        has_newer = exists().where(newer.c.source_id == snapshots.c.source_id, later)
        query = select(snapshots.c.id, snapshots.c.content_path).where(snapshots.c.fetched_at < self.now() - after, has_newer)
        with self.read() as sql:
            return tuple((row.id, row.content_path) for row in sql.execute(query.order_by(snapshots.c.id)))

    def forget_snapshots(self, ids: tuple[int, ...]) -> None:
        """The files are gone."""
        for part in portions(ids):
            with self.write() as sql:
                sql.execute(delete(snapshots).where(snapshots.c.id.in_(part)))

    def forget_runs(self, *, after: timedelta = FORGET_AFTER) -> tuple[tuple[int, datetime], ...]:
        """Drop run logs that were closed so long ago; their ids and when they began, by which their files are called."""
        old = (run_logs.c.finished_at.is_not(None), run_logs.c.finished_at < self.now() - after)
        with self.write() as sql:
            found = sql.execute(delete(run_logs).where(*old).returning(run_logs.c.id, run_logs.c.started_at)).all()
            return tuple((row.id, row.started_at) for row in found)
