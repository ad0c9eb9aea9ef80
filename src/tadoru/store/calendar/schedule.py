"""Schedules sources and requests: workers, leases of sources, stale workers, and request slots of hosts.

A worker is a row with an expiry time that it renews; a leased source names its worker. A dead worker on this machine is noticed
immediately, one on another machine when its row expires. All times here are `shared_now`, the clock that all machines of a
database share.

A host gets one request at a time, with a gap between requests and pauses that it asked for. The slots are in the database, so any
number of workers is as polite as one. A worker takes a slot, sends the request and gives the slot back; the next slot is free
when the gap since sending is over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    text,
    update,
)

from tadoru.errors import Message, UsageError
from tadoru.model.event import RunStatus
from tadoru.rules.retry import MAX_RETRY_AFTER
from tadoru.store.calendar.database import CalendarDatabase
from tadoru.store.calendar.records import (
    CollectionState,
    EventSource,
    last_error_counts,
    run_counts,
    select_in,
    source_from_row,
    state_from_row,
)
from tadoru.store.calendar.run_notifications import notify_health, notify_run
from tadoru.store.calendar.runs import check_worker
from tadoru.store.calendar.schema import hosts, robots, run_logs, snapshots, source_state, sources, workers
from tadoru.store.crawl.records import RobotsRecord, slot_wait
from tadoru.store.crawl.workers import current, lost

WORKER_STOPPED = Message("The worker stopped before this run was finished.")
CLOCK_TOLERANCE = timedelta(minutes=1)
"""A time that is further ahead than this was written before the clock was set back."""
DEPENDENCY_WAIT = timedelta(days=1)
"""How long a source that is due waits for the success of the one it depends on."""


class SourceSchedule:
    """Leases of sources, and workers."""

    def __init__(self, db: CalendarDatabase) -> None:
        self._db = db

    def join(self, hold: float) -> int:
        """Register a worker; returns its number. It counts as alive for `hold` seconds, and again after each `renew`."""
        me = current()._asdict()
        with self._db.write() as sql:
            until = self._db.shared_now(sql) + timedelta(seconds=hold)
            number: int = sql.execute(insert(workers).values(**me, expires_at=until).returning(workers.c.id)).scalar_one()
            return number

    def renew(self, worker: int, hold: float) -> bool:
        """Extend the life of a worker. False: it was removed as dead, and other workers took over its leases."""
        with self._db.write() as sql:
            until = self._db.shared_now(sql) + timedelta(seconds=hold)
            done = sql.execute(update(workers).where(workers.c.id == worker).values(expires_at=until))
            return done.rowcount == 1

    def leave(self, worker: int) -> None:
        """Release everything of a worker that ends and close its unfinished runs. Their sources have not failed: they are due."""
        with self._db.write() as sql:
            self._remove_workers(sql, [worker], self._db.shared_now(sql), have_failed=False)

    def has_worker(self) -> bool:
        """Whether a worker is alive."""
        with self._db.read() as sql:
            known = sql.execute(_identities(self._db.shared_now(sql))).all()
        return len(lost(known)) < len(known)

    def lease_due(self, worker: int, *, limit: int = 1) -> tuple[EventSource, ...]:
        """Lease sources that are due: higher priority first, then the longest overdue."""
        with self._db.write() as sql:
            check_worker(self._db, sql, worker)
            now = self._db.shared_now(sql)
            query = self._due(now).order_by(sources.c.priority.desc(), source_state.c.next_run_at, sources.c.id).limit(limit)
            if not self._db.is_sqlite:
                query = query.with_for_update(of=source_state, skip_locked=True)
            found = [source_from_row(row) for row in sql.execute(query).mappings()]
            self._lease(sql, worker, [one.id for one in found])
            return tuple(found)

    def lease(self, worker: int, source_id: int) -> bool:
        """Lease a source whether it is due or not. False: another worker has it."""
        with self._db.write() as sql:
            check_worker(self._db, sql, worker)
            free = or_(source_state.c.lease_worker.is_(None), source_state.c.lease_worker == worker)
            query = select(source_state.c.source_id).where(source_state.c.source_id == source_id, free)
            if not self._db.is_sqlite:
                query = query.with_for_update()
            found = sql.execute(query).scalars().all()
            self._lease(sql, worker, found)
            return bool(found)

    def _lease(self, sql: Connection, worker: int, source_ids: Any) -> None:
        if source_ids:
            query = update(source_state).where(source_state.c.source_id.in_(source_ids))
            sql.execute(query.values(lease_worker=worker))

    def release(self, worker: int, source_id: int) -> None:
        mine = and_(source_state.c.source_id == source_id, source_state.c.lease_worker == worker)
        with self._db.write() as sql:
            sql.execute(update(source_state).where(mine).values(lease_worker=None))

    def due(self, *, limit: int | None = None) -> tuple[EventSource, ...]:
        """The sources that `lease_due` would lease now."""
        with self._db.read() as sql:
            query = self._due(self._db.shared_now(sql))
            query = query.order_by(sources.c.priority.desc(), source_state.c.next_run_at, sources.c.id).limit(limit)
            return tuple(source_from_row(row) for row in sql.execute(query).mappings())

    def seconds_until_due(self) -> float | None:
        """Seconds until the next free source is due; 0 if one is, None if there is none."""
        with self._db.read() as sql:
            now = self._db.shared_now(sql)
            if sql.execute(self._due(now).limit(1)).first():
                return 0.0
            query = select(func.min(source_state.c.next_run_at)).join(sources)
            free = (sources.c.enabled == True, source_state.c.lease_worker.is_(None), source_state.c.next_run_at > now)  # noqa: E712
            first: datetime | None = sql.execute(query.where(*free)).scalar()
            return max(0.0, (first - now).total_seconds()) if first else None

    def _due(self, now: datetime) -> Select[Any]:
        state = source_state.c
        query = select(sources).join(source_state)
        return query.where(
            sources.c.enabled == True,  # noqa: E712
            or_(state.next_run_at <= now, state.last_attempt > now + CLOCK_TOLERANCE),
            state.lease_worker.is_(None),
            _dependency_is_done(now),
        )

    def set_due(self, source_id: int, after: float, *, backoff: float = 0.0) -> None:
        """Make the source due in so many seconds."""
        with self._db.write() as sql:
            now, tried = self._db.shared_now(sql), source_state.c.last_attempt
            query = update(source_state).where(source_state.c.source_id == source_id)
            # The clock may have been set back since the last attempt, which would make the source due at once.
            attempt = case((tried > now, now), else_=tried)
            sql.execute(query.values(next_run_at=now + timedelta(seconds=after), backoff=backoff, last_attempt=attempt))

    def state(self, source_id: int) -> CollectionState:
        with self._db.read() as sql:
            query = select(source_state, last_error_counts()).where(source_state.c.source_id == source_id)
            row = sql.execute(query).mappings().one_or_none()
        if row is None:
            raise UsageError("Source {id} not found. `tadoru events sources list` lists them.", id=source_id)
        return state_from_row(row)

    def states(self, source_ids: Iterable[int]) -> dict[int, CollectionState]:
        """The collection states of several sources."""
        with self._db.read() as sql:
            rows = select_in(sql, select(source_state, last_error_counts()), source_state.c.source_id, source_ids)
            return {row["source_id"]: state_from_row(row) for row in rows}

    def remember(self, source_id: int, **values: Any) -> None:
        """Store data for the next run: etag, last_modified (bytes, as received), body_hash, kept."""
        allowed: Mapping[str, Any] = {
            name: values[name] for name in values if name in ("etag", "last_modified", "body_hash", "kept")
        }
        assert len(allowed) == len(values), f"not remembered: {sorted(values.keys() - allowed.keys())}"
        with self._db.write() as sql:
            sql.execute(update(source_state).where(source_state.c.source_id == source_id).values(**allowed))

    def reap(self) -> int:
        """Remove dead workers, close their runs and free their leases. Returns the number of runs closed."""
        with self._db.write() as sql:
            now = self._db.shared_now(sql)
            return self._remove_workers(sql, lost(sql.execute(_identities(now)).all()), now)

    def _remove_workers(self, sql: Connection, dead: list[int], now: datetime, *, have_failed: bool = True) -> int:
        if not dead:
            return 0
        mine = and_(run_logs.c.worker_id.in_(dead), run_logs.c.finished_at.is_(None))
        closed = {
            "finished_at": self._db.now(), "status": RunStatus.FAIL.value, "error_summary": WORKER_STOPPED,
            "counts": run_counts({}, WORKER_STOPPED),
        }  # fmt: skip
        open_runs = sql.execute(select(run_logs.c.id).where(mine)).scalars().all()
        for one in open_runs:
            paths = sql.execute(select(snapshots.c.content_path).where(snapshots.c.run_id == one).order_by(snapshots.c.id))
            sql.execute(update(run_logs).where(run_logs.c.id == one).values(snapshot_paths=list(paths.scalars())))
        runs = sql.execute(update(run_logs).where(mine).values(closed).returning(run_logs)).mappings().all()
        left = [row["source_id"] for row in runs]
        # The first time it is retried immediately; a source that kills its worker every time waits for its schedule.
        their = update(source_state).where(source_state.c.source_id.in_(left))
        sql.execute((their.where(source_state.c.failures == 0) if have_failed else their).values(next_run_at=now))
        if have_failed:
            sql.execute(their.values(failures=source_state.c.failures + 1, last_error=WORKER_STOPPED))
        sql.execute(update(source_state).where(source_state.c.lease_worker.in_(dead)).values(lease_worker=None))
        sql.execute(update(hosts).where(hosts.c.slot_worker.in_(dead)).values(slot_worker=None, slot_until=None))
        sql.execute(delete(workers).where(workers.c.id.in_(dead)))
        for row in runs:
            notify_run(self._db, sql, row)
        for source_id in dict.fromkeys(left):
            notify_health(self._db, sql, source_id)
        return len(left)


def _identities(now: datetime) -> Select[Any]:
    """The workers, as `lost` takes them."""
    return select(workers.c.id, workers.c.machine, workers.c.pid, workers.c.started, workers.c.expires_at <= now)


def _dependency_is_done(now: datetime) -> ColumnElement[bool]:
    """Its dependency succeeded since its last attempt. Disabled sources are not waited for, others not for long."""
    other, its = sources.alias("other"), source_state.alias("its")
    waits = exists().where(
        other.c.id == sources.c.depends_on,
        its.c.source_id == other.c.id,
        other.c.enabled == True,  # noqa: E712
        or_(its.c.last_success.is_(None), its.c.last_success < source_state.c.last_attempt),
    )
    is_late = source_state.c.next_run_at <= now - DEPENDENCY_WAIT
    return or_(~waits, is_late, source_state.c.last_attempt > now + CLOCK_TOLERANCE)


SHORTEST_WAIT = 0.05
"""Seconds after which to ask again for a slot that another worker has: it keeps it until the response has arrived."""

_KNOW_HOST = text("INSERT INTO hosts(name) VALUES (:name) ON CONFLICT DO NOTHING").bindparams(
    bindparam("name", type_=hosts.c.name.type)
)


class HostSlots:
    """Request slots of hosts, and their robots.txt."""

    def __init__(self, db: CalendarDatabase) -> None:
        self._db = db

    def take_slot(self, worker: int, host: str, hold: float, *, gap: float) -> float:
        """0: the slot is taken until `sent` and `give_back`, or for `hold` seconds. Otherwise the seconds after which to ask
        again."""
        with self._db.write() as sql:
            check_worker(self._db, sql, worker)
            self._know(sql, host)
            now = self._db.shared_now(sql)
            row = sql.execute(self._locked(host)).one()
            is_taken = row.slot_worker is not None and row.slot_worker != worker and row.slot_until > now
            is_held = is_taken and not self._is_gone(sql, row.slot_worker, now)
            wait = slot_wait(
                self._wait(sql, row, now), gap, (row.slot_until - now).total_seconds() if is_held else 0.0, SHORTEST_WAIT
            )
            if not wait:
                until = now + timedelta(seconds=hold)
                sql.execute(update(hosts).where(hosts.c.name == host).values(slot_worker=worker, slot_until=until, gap=gap))
            return wait

    def _wait(self, sql: Connection, row: Any, now: datetime) -> float:
        """Seconds for which a host is left alone: never longer than when that began, although the clock was set back since."""
        if row.next_at is None:
            return 0.0
        wait: float = (row.next_at - now).total_seconds()
        longest = (row.next_at - row.wait_from).total_seconds() if row.wait_from else MAX_RETRY_AFTER
        if wait > min(longest, MAX_RETRY_AFTER):
            wait = longest if wait <= MAX_RETRY_AFTER else 0.0
            at = now + timedelta(seconds=wait)
            sql.execute(update(hosts).where(hosts.c.name == row.name).values(next_at=at, wait_from=now))
        return wait

    def _is_gone(self, sql: Connection, worker: int, now: datetime) -> bool:
        """Whether the worker that has a slot is dead."""
        rows = sql.execute(_identities(now).where(workers.c.id == worker)).all()
        return not rows or bool(lost(rows))

    def sent(self, worker: int, host: str) -> None:
        """The request is sent now: the gap starts."""
        with self._db.write() as sql:
            now, row = self._db.shared_now(sql), sql.execute(self._locked(host)).one()
            if row.slot_worker == worker:
                self._not_before(sql, row, now, row.gap)

    def give_back(self, worker: int, host: str) -> None:
        """The response has arrived, or there is none."""
        mine = (hosts.c.name == host, hosts.c.slot_worker == worker)
        with self._db.write() as sql:
            sql.execute(update(hosts).where(*mine).values(slot_worker=None, slot_until=None))

    def pause_host(self, host: str, seconds: float) -> None:
        """Send nothing to this host for so long (Retry-After). A longer existing pause stays."""
        with self._db.write() as sql:
            self._know(sql, host)
            row = sql.execute(self._locked(host)).one()
            self._not_before(sql, row, self._db.shared_now(sql), seconds)

    def _not_before(self, sql: Connection, row: Any, now: datetime, seconds: float) -> None:
        at = now + timedelta(seconds=seconds)
        if row.next_at is None or row.next_at < at:
            sql.execute(update(hosts).where(hosts.c.name == row.name).values(next_at=at, wait_from=now))

    def _locked(self, host: str) -> Any:
        query = select(hosts).where(hosts.c.name == host)
        return query if self._db.is_sqlite else query.with_for_update()

    def _know(self, sql: Connection, host: str) -> None:
        sql.execute(_KNOW_HOST, {"name": host})

    def robots(self, origin: str) -> RobotsRecord | None:
        """The stored robots.txt of an origin, with its age."""
        with self._db.read() as sql:
            row = sql.execute(select(robots).where(robots.c.origin == origin)).one_or_none()
            if row is None:
                return None
            age = (self._db.shared_now(sql) - row.fetched_at).total_seconds()
            return RobotsRecord(row.status, row.failure, row.message, row.body or b"", age)

    def put_robots(self, origin: str, record: RobotsRecord) -> None:
        with self._db.write() as sql:
            at = self._db.shared_now(sql) - timedelta(seconds=record.age)
            sql.execute(delete(robots).where(robots.c.origin == origin))
            fields = {"status": record.status, "failure": record.failure, "message": record.message or "", "body": record.body}
            sql.execute(insert(robots).values(origin=origin, fetched_at=at, **fields))
