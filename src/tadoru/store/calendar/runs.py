"""Run logs and snapshots, and how long they and past events are kept.

A run starts under a lease and is only written to while it is open. A run of a worker that was removed as dead
(`SourceSchedule.reap`) is closed; if that worker is still alive, its next step raises `RunClosed`.

The database does not delete files: callers get the paths that are no longer referenced.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, delete, exists, func, insert, select, update

from tadoru.errors import StoreError, UsageError
from tadoru.model.event import RunStatus
from tadoru.store.calendar.database import CalendarDatabase
from tadoru.store.calendar.records import RunLog, Snapshot, in_batches, run_counts, run_from_row
from tadoru.store.calendar.run_notifications import notify_health, notify_run
from tadoru.store.calendar.schema import events, run_logs, snapshots, source_state, workers


class RunClosed(StoreError):
    """The run was closed because its worker counted as dead; another worker may have its source."""


class WorkerRemoved(RunClosed):
    """The worker counted as dead and was removed: it did not respond in time, or the clock jumped."""


def check_worker(db: CalendarDatabase, sql: Connection, worker: int) -> None:
    """Raise WorkerRemoved unless the worker is registered; it stays so until the transaction ends."""
    query = select(workers.c.id).where(workers.c.id == worker)
    if sql.execute(query if db.is_sqlite else query.with_for_update(read=True, key_share=True)).first() is None:
        raise WorkerRemoved("This worker did not respond in time and was removed. The next run collects its sources.")


def check_run_open(sql: Connection, run: RunLog) -> None:
    """Raise RunClosed unless the run is open."""
    finished = sql.execute(select(run_logs.c.finished_at).where(run_logs.c.id == run.id)).one_or_none()
    if finished is None or finished[0] is not None:
        raise RunClosed("Run {id} was closed by another worker because this one did not respond in time.", id=run.id)


class RunStore:
    """Run logs and snapshots."""

    def __init__(self, db: CalendarDatabase) -> None:
        self._db = db

    def start(self, source_id: int, worker: int | None = None) -> RunLog:
        """Start a run; its source counts as attempted."""
        now = self._db.now()
        values: dict[str, Any] = {"source_id": source_id, "started_at": now, "worker_id": worker, "counts": {}}
        with self._db.write() as sql:
            if worker is not None:
                check_worker(self._db, sql, worker)
            row = sql.execute(insert(run_logs).values(**values, snapshot_paths=[]).returning(run_logs)).mappings().one()
            query = update(source_state).where(source_state.c.source_id == source_id)
            sql.execute(query.values(last_attempt=self._db.shared_now(sql)))
            notify_run(self._db, sql, row)
            return run_from_row(row)

    def finish(
        self,
        run: RunLog,
        status: RunStatus,
        *,
        counts: Mapping[str, int],
        error: str = "",
        snapshot_paths: Sequence[str] = (),
    ) -> RunLog:
        """Close a run and release its source. A success resets the failures."""
        closed = {
            "finished_at": self._db.now(),
            "status": RunStatus(status).value,
            "counts": run_counts(counts, error),
            "error_summary": error,
            "snapshot_paths": list(snapshot_paths),
            **{f"{name}_count": counts.get(name, 0) for name in ("fetched", "parsed", "upserted")},
        }
        with self._db.write() as sql:
            check_run_open(sql, run)
            query = update(run_logs).where(run_logs.c.id == run.id).values(closed).returning(run_logs)
            row = sql.execute(query).mappings().one()
            is_health_change = self._update_state(sql, run, row["status"], error, counts.get("parsed"))
            notify_run(self._db, sql, row)
            if is_health_change:
                notify_health(self._db, sql, run.source_id)
            return run_from_row(row)

    def _update_state(self, sql: Connection, run: RunLog, status: str, error: str, parsed: int | None) -> bool:
        """Update the state of the source; returns whether its health changed."""
        mine = source_state.c.source_id == run.source_id
        before = sql.execute(select(source_state.c.failures, source_state.c.last_success).where(mine)).one_or_none()
        changes: dict[str, Any] = {"lease_worker": None, "last_error": error}
        if status == RunStatus.FAIL.value:
            changes["failures"] = source_state.c.failures + 1
        else:
            changes |= {"failures": 0, "backoff": 0.0, "last_success": self._db.shared_now(sql)}
            if parsed is not None:
                changes["last_count"] = parsed
        sql.execute(update(source_state).where(mine).values(changes))
        return status == RunStatus.FAIL.value or (before is not None and (bool(before.failures) or before.last_success is None))

    def list(self, *, source_id: int | None = None, limit: int | None = None, before: int | None = None) -> tuple[RunLog, ...]:
        """Runs, newest first; `before` continues after a run id."""
        query = select(run_logs).order_by(run_logs.c.id.desc()).limit(limit)
        if source_id is not None:
            query = query.where(run_logs.c.source_id == source_id)
        if before is not None:
            query = query.where(run_logs.c.id < before)
        with self._db.read() as sql:
            return tuple(run_from_row(row) for row in sql.execute(query).mappings())

    def state(self) -> str:
        """A text that changes whenever a run starts or ends: what a long run writes has the timestamp of its start."""
        last = select(func.max(run_logs.c.id))
        under_way = select(func.count()).select_from(run_logs).where(run_logs.c.finished_at.is_(None))
        with self._db.read() as sql:
            return f"{sql.execute(last).scalar()}-{sql.execute(under_way).scalar()}"

    def get(self, run_id: int) -> RunLog:
        with self._db.read() as sql:
            row = sql.execute(select(run_logs).where(run_logs.c.id == run_id)).mappings().one_or_none()
        if row is None:
            raise UsageError("Run {id} not found. `tadoru events runs` lists them.", id=run_id)
        return run_from_row(row)

    def add_snapshot(
        self,
        source_id: int,
        url: str,
        content_path: str,
        fetched_at: datetime,
        *,
        etag: bytes | None = None,
        last_modified: bytes | None = None,
        run_id: int | None = None,
        event_candidate_id: int | None = None,
    ) -> Snapshot:
        """Record where a body was saved; the same path of a source is recorded once."""
        values = {"url": url, "fetched_at": fetched_at, "etag": etag, "last_modified": last_modified, "run_id": run_id}
        values["event_candidate_id"] = event_candidate_id
        place = (snapshots.c.source_id == source_id, snapshots.c.content_path == content_path)
        with self._db.write() as sql:
            row = sql.execute(update(snapshots).where(*place).values(values).returning(snapshots)).mappings().first()
            if row is None:
                query = insert(snapshots).values(**values, source_id=source_id, content_path=content_path)
                row = sql.execute(query.returning(snapshots)).mappings().one()
            return Snapshot(**row)

    def snapshots(self, source_id: int, *, limit: int | None = None) -> tuple[Snapshot, ...]:
        """Snapshots, newest first."""
        order = (snapshots.c.fetched_at.desc(), snapshots.c.id.desc())
        query = select(snapshots).where(snapshots.c.source_id == source_id).order_by(*order).limit(limit)
        with self._db.read() as sql:
            return tuple(Snapshot(**row) for row in sql.execute(query).mappings())


ARCHIVE_AFTER = timedelta(days=180)
DELETE_AFTER = timedelta(days=90)
_AT_ONCE = 5000


class Retention:
    """Archives old events and deletes old run logs and snapshots."""

    def __init__(self, db: CalendarDatabase) -> None:
        self._db = db

    def archive(self, *, after: timedelta = ARCHIVE_AFTER) -> int:
        """Archive events whose last day was over that long ago; returns how many."""
        now, count = self._db.now(), 0
        due = _to_archive(now - after)
        while True:
            with self._db.write_events() as sql:
                some = select(events.c.id).where(due).limit(_AT_ONCE)
                done = sql.execute(update(events).where(events.c.id.in_(some)).values(archived_at=now)).rowcount
            count += done
            if done < _AT_ONCE:
                return count

    def to_archive(self, *, after: timedelta = ARCHIVE_AFTER) -> int:
        """How many events `archive` would archive now."""
        due = _to_archive(self._db.now() - after)
        with self._db.read() as sql:
            count: int = sql.execute(select(func.count()).select_from(events).where(due)).scalar_one()
            return count

    def old_runs(self, *, after: timedelta = DELETE_AFTER) -> tuple[tuple[int, datetime], ...]:
        """The runs that `forget_runs` would delete now."""
        query = select(run_logs.c.id, run_logs.c.started_at).order_by(run_logs.c.id)
        with self._db.read() as sql:
            return tuple(
                (row.id, row.started_at) for row in sql.execute(query.where(run_logs.c.finished_at < self._db.now() - after))
            )

    def old_snapshots(self, *, after: timedelta = DELETE_AFTER) -> tuple[tuple[int, str], ...]:
        """Id and path of snapshots to delete: old, and not the newest of their source."""
        newer = snapshots.alias("newer")
        later = (newer.c.fetched_at > snapshots.c.fetched_at) | (
            (newer.c.fetched_at == snapshots.c.fetched_at) & (newer.c.id > snapshots.c.id)
        )
        has_newer = exists().where(newer.c.source_id == snapshots.c.source_id, later)
        query = select(snapshots.c.id, snapshots.c.content_path).where(snapshots.c.fetched_at < self._db.now() - after, has_newer)
        with self._db.read() as sql:
            return tuple((row.id, row.content_path) for row in sql.execute(query.order_by(snapshots.c.id)))

    def forget_snapshots(self, ids: tuple[int, ...]) -> None:
        """Delete the rows of snapshots whose files were deleted."""
        for part in in_batches(ids):
            with self._db.write() as sql:
                sql.execute(delete(snapshots).where(snapshots.c.id.in_(part)))

    def forget_runs(self, *, after: timedelta = DELETE_AFTER) -> tuple[tuple[int, datetime], ...]:
        """Delete run logs that were closed so long ago; returns their ids and start times, which name their files."""
        old = (run_logs.c.finished_at.is_not(None), run_logs.c.finished_at < self._db.now() - after)
        with self._db.write() as sql:
            found = sql.execute(delete(run_logs).where(*old).returning(run_logs.c.id, run_logs.c.started_at)).all()
            return tuple((row.id, row.started_at) for row in found)


def _to_archive(before: datetime) -> ColumnElement[bool]:
    """The events whose last day was over by then and that are not archived; those without a day are none."""
    return and_(events.c.archived_at.is_(None), events.c.last_day_over <= before)
