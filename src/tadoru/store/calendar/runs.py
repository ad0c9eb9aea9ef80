"""Run logs and snapshots: what each collection of a source did, and where the bodies it read are kept.

A run is begun under a lease and is written to only while it is open: one that was given up for dead (`Schedule.reap`) is closed,
and its worker, should it still live, is told so at its next step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, delete, exists, func, insert, select, update

from tadoru.errors import StoreError, UsageError
from tadoru.model.event import RunStatus
from tadoru.store.calendar.database import CalendarDatabase
from tadoru.store.calendar.records import RunLog, Snapshot, in_batches, run_from_row
from tadoru.store.calendar.run_notifications import RunNotifications
from tadoru.store.calendar.schema import events, run_logs, snapshots, source_state


class RunClosed(StoreError):
    """The run was given up for dead, and its source is somebody else's now."""


def check_run_open(sql: Connection, run: RunLog) -> None:
    """Raise unless the run is under way."""
    finished = sql.execute(select(run_logs.c.finished_at).where(run_logs.c.id == run.id)).one_or_none()
    if finished is None or finished[0] is not None:
        raise RunClosed(f"Run {run.id} was closed by another worker, because this one was silent for too long.")


class RunStore(RunNotifications):
    """The log of collecting."""

    def start_run(self, source_id: int, worker: int | None = None) -> RunLog:
        """A run begins now. Its source counts as tried."""
        now = self.now()
        values: dict[str, Any] = {"source_id": source_id, "started_at": now, "worker_id": worker, "counts": {}}
        with self.write() as sql:
            row = sql.execute(insert(run_logs).values(**values, snapshot_paths=[]).returning(run_logs)).mappings().one()
            query = update(source_state).where(source_state.c.source_id == source_id)
            sql.execute(query.values(last_attempt=self.shared_now(sql)))
            self._tell_run(sql, row)
            return run_from_row(row)

    def finish_run(
        self,
        run: RunLog,
        status: RunStatus,
        *,
        counts: Mapping[str, int],
        error: str = "",
        snapshot_paths: Sequence[str] = (),
    ) -> RunLog:
        """Close a run and give its source back. A success ends a row of failures."""
        closed = {
            "finished_at": self.now(),
            "status": RunStatus(status).value,
            "counts": dict(counts),
            "error_summary": error,
            "snapshot_paths": list(snapshot_paths),
            **{f"{name}_count": counts.get(name, 0) for name in ("fetched", "parsed", "upserted")},
        }
        with self.write() as sql:
            check_run_open(sql, run)
            query = update(run_logs).where(run_logs.c.id == run.id).values(closed).returning(run_logs)
            row = sql.execute(query).mappings().one()
            is_news = self._teach(sql, run, row["status"], error, counts.get("parsed"))
            self._tell_run(sql, row)
            if is_news:
                self._tell_health(sql, run.source_id)
            return run_from_row(row)

    def _teach(self, sql: Connection, run: RunLog, status: str, error: str, parsed: int | None) -> bool:
        """Write what a run says of its source; does it do better or worse than before?"""
        mine = source_state.c.source_id == run.source_id
        before = sql.execute(select(source_state.c.failures, source_state.c.last_success).where(mine)).one_or_none()
        learnt: dict[str, Any] = {"lease_worker": None, "last_error": error}
        if status == RunStatus.FAIL.value:
            learnt["failures"] = source_state.c.failures + 1
        else:
            learnt |= {"failures": 0, "backoff": 0.0, "last_success": self.shared_now(sql)}
            if parsed is not None:
                learnt["last_count"] = parsed
        sql.execute(update(source_state).where(mine).values(learnt))
        return status == RunStatus.FAIL.value or (before is not None and (bool(before.failures) or before.last_success is None))

    def runs(self, *, source_id: int | None = None, limit: int | None = None, before: int | None = None) -> tuple[RunLog, ...]:
        """The newest first; `before` goes on after a run's id."""
        query = select(run_logs).order_by(run_logs.c.id.desc()).limit(limit)
        if source_id is not None:
            query = query.where(run_logs.c.source_id == source_id)
        if before is not None:
            query = query.where(run_logs.c.id < before)
        with self.read() as sql:
            return tuple(run_from_row(row) for row in sql.execute(query).mappings())

    def runs_state(self) -> str:
        """Another text whenever a run began or ended: what a long run wrote is stamped with the time of its beginning."""
        last = select(func.max(run_logs.c.id))
        under_way = select(func.count()).select_from(run_logs).where(run_logs.c.finished_at.is_(None))
        with self.read() as sql:
            return f"{sql.execute(last).scalar()}-{sql.execute(under_way).scalar()}"

    def run(self, run_id: int) -> RunLog:
        with self.read() as sql:
            row = sql.execute(select(run_logs).where(run_logs.c.id == run_id)).mappings().one_or_none()
        if row is None:
            raise UsageError(f"There is no run {run_id}: list them with `tadoru events runs`.")
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
        """Remember where a body was kept; the same path of the same source is remembered once."""
        values = {"url": url, "fetched_at": fetched_at, "etag": etag, "last_modified": last_modified, "run_id": run_id}
        values["event_candidate_id"] = event_candidate_id
        place = (snapshots.c.source_id == source_id, snapshots.c.content_path == content_path)
        with self.write() as sql:
            row = sql.execute(update(snapshots).where(*place).values(values).returning(snapshots)).mappings().first()
            if row is None:
                query = insert(snapshots).values(**values, source_id=source_id, content_path=content_path)
                row = sql.execute(query.returning(snapshots)).mappings().one()
            return Snapshot(**row)

    def snapshots(self, source_id: int, *, limit: int | None = None) -> tuple[Snapshot, ...]:
        """The newest first."""
        order = (snapshots.c.fetched_at.desc(), snapshots.c.id.desc())
        query = select(snapshots).where(snapshots.c.source_id == source_id).order_by(*order).limit(limit)
        with self.read() as sql:
            return tuple(Snapshot(**row) for row in sql.execute(query).mappings())


ARCHIVE_AFTER = timedelta(days=180)
DELETE_AFTER = timedelta(days=90)
_AT_ONCE = 5000


class Retention(CalendarDatabase):
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

    def old_runs(self, *, after: timedelta = DELETE_AFTER) -> tuple[tuple[int, datetime], ...]:
        """What `forget_runs` would drop now."""
        query = select(run_logs.c.id, run_logs.c.started_at).order_by(run_logs.c.id)
        with self.read() as sql:
            return tuple(
                (row.id, row.started_at) for row in sql.execute(query.where(run_logs.c.finished_at < self.now() - after))
            )

    def old_snapshots(self, *, after: timedelta = DELETE_AFTER) -> tuple[tuple[int, str], ...]:
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
        for part in in_batches(ids):
            with self.write() as sql:
                sql.execute(delete(snapshots).where(snapshots.c.id.in_(part)))

    def forget_runs(self, *, after: timedelta = DELETE_AFTER) -> tuple[tuple[int, datetime], ...]:
        """Drop run logs that were closed so long ago; their ids and when they began, by which their files are called."""
        old = (run_logs.c.finished_at.is_not(None), run_logs.c.finished_at < self.now() - after)
        with self.write() as sql:
            found = sql.execute(delete(run_logs).where(*old).returning(run_logs.c.id, run_logs.c.started_at)).all()
            return tuple((row.id, row.started_at) for row in found)
