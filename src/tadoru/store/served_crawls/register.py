"""The registry of the service's crawls, as users manage it (add, list, run, pause, stop, edit, remove), and the claims of the
processes that run them (claim, heartbeat, end).

A running crawl names its process. If the process is gone or its heartbeat is too old, the next dispatcher queues the crawl again;
it resumes where it was, since its own database has every page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypedDict, Unpack

from sqlalchemy import Connection, Select, delete, func, insert, select, update

from tadoru.errors import Message, UsageError, restore_message
from tadoru.i18n.stored_texts import error_regression, regression_changes
from tadoru.store.accounts.audit_log import Actor, add_audit_entry
from tadoru.store.calendar.database import CalendarDatabase
from tadoru.store.crawl.workers import WorkerIdentity, is_dead
from tadoru.store.served_crawls.live_messages import add_live_message
from tadoru.store.served_crawls.schema import CrawlRun, CrawlState, ServedCrawl, crawl_runs, crawls, next_scheduled

CLAIM_LOCK = 0x7AD0_0006
"""The advisory lock for queueing and claiming crawls on PostgreSQL."""
_COLUMNS = [crawls.c[name] for name in ServedCrawl.__dataclass_fields__]


class CrawlChanges(TypedDict, total=False):
    """What can be changed of a crawl. None keeps a value."""

    name: str | None
    every: int | None
    """The interval in seconds."""
    repeats: bool | None
    """False for no interval."""
    webhook: str | None
    """Empty for none."""
    schedule: str | None
    """Empty for none."""
    report_to: str | None
    """The addresses of people who get reports; empty for none."""


class CrawlNotFound(UsageError):
    """No crawl has this ID."""

    code = "not_found"


class CrawlBusy(UsageError):
    """The state of the crawl does not allow this."""

    code = "crawl_busy"


class CrawlQueueFull(UsageError):
    """The account has reached its maximum of queued crawls."""

    code = "queue_full"


class CrawlRegister:
    """Manages crawls."""

    def __init__(self, db: CalendarDatabase) -> None:
        self._db = db

    def add(  # noqa: PLR0913 - the fields of a crawl
        self,
        name: str,
        job: str,
        starts: Sequence[str],
        options: Mapping[str, Any],
        by: Actor,
        *,
        place: str = "",
        every: int | None = None,
        webhook: str = "",
        schedule: str = "",
        report_to: str = "",
        state: CrawlState = CrawlState.QUEUED,
        progress: Mapping[str, Any] | None = None,
        most_queued: int | None = None,
    ) -> ServedCrawl:
        """A new crawl. Without a place it gets one below the service's own folder. What is given was checked by the caller.
        Raises CrawlQueueFull."""
        now = self._db.now()
        with self._db.write() as sql:
            self._check_queue(sql, by, most_queued)
            row = {
                "name": name, "job": job, "starts": list(starts), "options": dict(options), "place": place, "state": state.value,
                "every": every, "webhook": webhook, "created_at": now, "created_by": by.who, "progress": dict(progress or {}),
                "owner": by.account, "queued_by": by.account, "schedule": schedule, "report_to": report_to,
            }  # fmt: skip
            number: int = sql.execute(insert(crawls).values(row).returning(crawls.c.id)).scalar_one()
            if not place:
                own = f"docs/{number}" if job == "docs" else f"crawls/{number}/crawl.db"
                sql.execute(update(crawls).where(crawls.c.id == number).values(place=own))
            add_audit_entry(self._db, sql, by, "crawl.add", f"crawl/{number}", name=name, job=job, starts=list(starts))
            publish_state(self._db, sql, number)
            return read_crawl(sql, number)

    def add_run(
        self, number: int, outcome: CrawlState, started_at: datetime, ended_at: datetime, figures: Mapping[str, Any]
    ) -> None:
        """Add a run that was made elsewhere; nobody is notified of it."""
        values = {
            "crawl_id": number,
            "started_at": started_at,
            "ended_at": ended_at,
            "outcome": outcome.value,
            "told_at": ended_at,
        }
        with self._db.write() as sql:
            sql.execute(insert(crawl_runs).values(values | {"figures": dict(figures), "changes": {}}))
            sql.execute(update(crawls).where(crawls.c.id == number).values(started_at=started_at, ended_at=ended_at))

    def list(self, *, job: str | None = None, limit: int = 100, before: int | None = None) -> tuple[ServedCrawl, ...]:
        """Crawls, newest first; `before` is the ID of the last one seen."""
        query = select(*_COLUMNS).order_by(crawls.c.id.desc()).limit(limit)
        if job is not None:
            query = query.where(crawls.c.job == job)
        if before is not None:
            query = query.where(crawls.c.id < before)
        with self._db.read() as sql:
            return tuple(_crawl(row) for row in sql.execute(query).mappings())

    def get(self, number: int) -> ServedCrawl:
        """One crawl. Raises CrawlNotFound."""
        with self._db.read() as sql:
            return read_crawl(sql, number)

    def run(self, number: int, by: Actor, *, again: bool | None = None, most_queued: int | None = None) -> ServedCrawl:
        """Queue a run: a paused crawl resumes, any other starts again (a failed one first completes an unfinished run). Raises
        CrawlBusy and CrawlQueueFull."""
        with self._db.write() as sql:
            self._check_queue(sql, by, most_queued)
            found = read_crawl(sql, number, lock=True)
            if found.is_busy and not found.wanted:
                raise CrawlBusy("Crawl {id} is already {state}.", id=number, state=found.state.value)
            if found.state is CrawlState.RUNNING:
                raise CrawlBusy("Crawl {id} is ending. Try again in a moment.", id=number)
            anew = found.state is not CrawlState.PAUSED if again is None else again
            queued = {"state": CrawlState.QUEUED.value, "queued_by": by.account, "again": int(anew)}
            self._change(sql, number, by, "crawl.run", **queued, wanted="", error="")
            return read_crawl(sql, number)

    def pause(self, number: int, by: Actor) -> ServedCrawl:
        """Request a pause; requests in flight finish first. Raises CrawlBusy if it does not run."""
        return self._end(number, by, "pause", CrawlState.PAUSED)

    def stop(self, number: int, by: Actor) -> ServedCrawl:
        """Request a stop, which ends the run; results are kept. Raises CrawlBusy if it neither runs nor is paused."""
        return self._end(number, by, "stop", CrawlState.STOPPED)

    def _end(self, number: int, by: Actor, wanted: str, state: CrawlState) -> ServedCrawl:
        with self._db.write() as sql:
            found = read_crawl(sql, number, lock=True)
            if found.state is CrawlState.RUNNING:
                self._change(sql, number, by, f"crawl.{wanted}", wanted=wanted)
            elif found.state is CrawlState.QUEUED or (found.state is CrawlState.PAUSED and wanted == "stop"):
                self._change(sql, number, by, f"crawl.{wanted}", state=state.value, wanted="")
            else:
                raise CrawlBusy("Cannot {action} crawl {id}: it is {state}.", action=wanted, id=number, state=found.state.value)
            return read_crawl(sql, number)

    def change(self, number: int, by: Actor, **given: Unpack[CrawlChanges]) -> ServedCrawl:
        """Change a crawl; what is not given, or None, stays."""
        values: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
        repeats, every, schedule = values.pop("repeats", None), values.pop("every", None), values.get("schedule")
        if repeats is False:
            values |= {"every": None, "next_at": None, "schedule": ""}
        elif every is not None or schedule is not None:
            with self._db.read() as sql:
                before = read_crawl(sql, number)
            due = next_run(every or before.every, before.schedule if schedule is None else schedule, self._db.now())
            values |= {"every": every or before.every, "next_at": due, "owner": by.account}
        with self._db.write() as sql:
            read_crawl(sql, number)
            if values:
                self._change(sql, number, by, "crawl.change", **values)
            return read_crawl(sql, number)

    def remove(self, number: int, by: Actor) -> ServedCrawl:
        """Remove a crawl; the caller removes its files. Raises CrawlBusy while it runs."""
        with self._db.write() as sql:
            found = read_crawl(sql, number, lock=True)
            if found.state is CrawlState.RUNNING:
                raise CrawlBusy("Crawl {id} is running. Stop it first.", id=number)
            sql.execute(delete(crawls).where(crawls.c.id == number))
            add_audit_entry(self._db, sql, by, "crawl.remove", f"crawl/{number}", name=found.name)
            add_live_message(self._db, sql, "crawl.removed", f"crawl/{number}", {"crawl_id": number})
            return found

    def runs(self, number: int, *, limit: int = 50, before: int | None = None) -> tuple[CrawlRun, ...]:
        """The runs of a crawl, newest first."""
        query = select(crawl_runs).where(crawl_runs.c.crawl_id == number).order_by(crawl_runs.c.id.desc()).limit(limit)
        if before is not None:
            query = query.where(crawl_runs.c.id < before)
        with self._db.read() as sql:
            return tuple(CrawlRun(**row) for row in sql.execute(query).mappings())

    def busy(self, *, limit: int = 20) -> tuple[ServedCrawl, ...]:
        """Running and queued crawls, oldest first."""
        query = select(*_COLUMNS).where(crawls.c.state.in_(("running", "queued"))).order_by(crawls.c.id).limit(limit)
        with self._db.read() as sql:
            return tuple(_crawl(row) for row in sql.execute(query).mappings())

    def finished_runs(self, numbers: Sequence[int]) -> dict[int, CrawlRun]:
        """The latest finished run of each of these crawls."""
        if not numbers:
            return {}
        newest = select(func.max(crawl_runs.c.id)).where(crawl_runs.c.crawl_id.in_(numbers), crawl_runs.c.outcome == "finished")
        query = select(crawl_runs).where(crawl_runs.c.id.in_(newest.group_by(crawl_runs.c.crawl_id)))
        with self._db.read() as sql:
            return {row["crawl_id"]: CrawlRun(**row) for row in sql.execute(query).mappings()}

    def runs_since(self, since: datetime, *, limit: int = 1000) -> tuple[CrawlRun, ...]:
        """The runs of all crawls that ended since a time, newest first."""
        query = select(crawl_runs).where(crawl_runs.c.ended_at >= since).order_by(crawl_runs.c.id.desc()).limit(limit)
        with self._db.read() as sql:
            return tuple(CrawlRun(**row) for row in sql.execute(query).mappings())

    def _change(self, sql: Connection, number: int, by: Actor, what: str, **values: Any) -> None:
        sql.execute(update(crawls).where(crawls.c.id == number).values(values))
        add_audit_entry(self._db, sql, by, what, f"crawl/{number}")
        publish_state(self._db, sql, number)

    def _check_queue(self, sql: Connection, by: Actor, most: int | None) -> None:
        """Check the maximum of queued crawls of an account. Raises CrawlQueueFull."""
        if most is None:
            return
        lock_claims(self._db, sql)  # Two parallel requests must not both take the last slot.
        mine = crawls.c.state == CrawlState.QUEUED.value, crawls.c.queued_by == by.account
        if sql.execute(select(func.count()).where(*mine)).scalar_one() >= most:
            raise CrawlQueueFull(
                "You have {limit} queued crawls, the maximum per user. Wait until some have run, or stop some.", limit=f"{most:,}"
            )


ERROR_MESSAGE = "error"
"""The key in the progress of a crawl under which its error is stored as a message, to be shown in other languages."""


def error_values(progress: Mapping[str, Any], error: str) -> dict[str, Any]:
    """The columns of a crawl that its error is stored in: the English text, and the message in its progress."""
    kept = {name: value for name, value in progress.items() if name != ERROR_MESSAGE}
    return {"error": error, "progress": kept | ({ERROR_MESSAGE: error.to_json()} if isinstance(error, Message) else {})}


def _crawl(row: Mapping[Any, Any]) -> ServedCrawl:
    progress = dict(row["progress"])
    stored = {
        "error": restore_message(row["error"], progress.pop(ERROR_MESSAGE, None)), "progress": progress,
        "starts": tuple(row["starts"]), "state": CrawlState(row["state"]), "again": bool(row["again"]),
    }  # fmt: skip
    return ServedCrawl(**{**row, **stored})


def next_run(every: int | None, schedule: str, now: datetime) -> datetime | None:
    """When a crawl runs again after a run: by its schedule, else after its interval."""
    due = next_scheduled(schedule, now) if schedule else None
    return due or (now + timedelta(seconds=every) if every else None)


def lock_claims(db: CalendarDatabase, sql: Connection) -> None:
    """Serialise queueing and claiming on PostgreSQL."""
    if not db.is_sqlite:
        sql.execute(select(func.pg_advisory_xact_lock(CLAIM_LOCK)))


def read_crawl(sql: Connection, number: int, *, lock: bool = False) -> ServedCrawl:
    query = select(*_COLUMNS).where(crawls.c.id == number)
    row = sql.execute(query.with_for_update() if lock else query).mappings().one_or_none()
    if row is None:
        raise CrawlNotFound("Crawl {id} not found.", id=number)
    return _crawl(row)


def publish_state(db: CalendarDatabase, sql: Connection, number: int) -> None:
    found = read_crawl(sql, number)
    body = {"crawl_id": number, "job": found.job, "name": found.name, "state": found.state.value, "wanted": found.wanted}
    add_live_message(db, sql, "crawl.state", f"crawl/{number}", body | {"error": found.error})


HEARTBEAT_TIMEOUT = timedelta(seconds=120)
"""A process without a heartbeat for this long counts as gone."""
MAX_CRASHES = 3
"""A crawl fails after this many crashes in a row without progress."""
CRASHED = Message(
    "The crawl process crashed {count} times in a row. Check the service log and run the crawl again.", count=MAX_CRASHES
)
_IDLE_STATES = (CrawlState.FINISHED.value, CrawlState.FAILED.value, CrawlState.STOPPED.value)


class CrawlLost(Exception):
    """The crawl no longer belongs to this process: its claim expired, or it was removed."""


class CrawlClaims:
    """Claims and heartbeats of running crawls."""

    def __init__(self, db: CalendarDatabase) -> None:
        self._db = db

    def queue_due(self, here: str) -> int:
        """Queue due crawls and crawls whose process is gone; how many. `here` is the name of this machine.

        A crawl whose process crashed several times without progress has failed.
        """
        with self._db.read() as sql:
            if not self._due_crawls(sql) and not self._lost_crawls(sql, here):
                return 0
        with self._db.write() as sql:
            lock_claims(self._db, sql)
            due, lost = self._due_crawls(sql), self._lost_crawls(sql, here)
            anew = {"state": "queued", "queued_by": crawls.c.owner, "again": 1, "wanted": "", "next_at": None, "error": ""}
            for number in due:
                sql.execute(update(crawls).where(crawls.c.id == number).values(anew))
            for row in lost:
                self._requeue_lost(sql, row)
            for number in (*due, *(row.id for row in lost)):
                publish_state(self._db, sql, number)
            return len(due) + len(lost)

    def _due_crawls(self, sql: Connection) -> list[int]:
        query = select(crawls.c.id).where(crawls.c.next_at <= self._db.shared_now(sql), crawls.c.state.in_(_IDLE_STATES))
        return list(sql.execute(query).scalars())

    def _lost_crawls(self, sql: Connection, here: str) -> list[Any]:
        now = self._db.shared_now(sql)
        return [row for row in sql.execute(select(crawls).where(crawls.c.state == "running")) if _is_lost(row, here, now)]

    def _requeue_lost(self, sql: Connection, row: Any) -> None:
        """Queue, pause, stop or fail a crawl whose process is gone."""
        state = {"pause": "paused", "stop": "stopped"}.get(row.wanted, "queued")
        values: dict[str, Any] = {"state": state, "wanted": "", "pid": None, "deaths": row.deaths + 1}
        changes: dict[str, Any] = {}
        if state == "queued" and row.deaths + 1 >= MAX_CRASHES:
            values |= {
                "state": "failed",
                "deaths": 0,
                "ended_at": self._db.shared_now(sql),
                **error_values(row.progress, CRASHED),
            }
            changes = regression_changes([error_regression(CRASHED)])
            if row.every:
                values["next_at"] = next_run(row.every, row.schedule, self._db.shared_now(sql))
        self._close_run(sql, row.id, "failed", {}, changes)
        sql.execute(update(crawls).where(crawls.c.id == row.id).values(values))

    def claim(self, worker: WorkerIdentity, *, at_once: int) -> ServedCrawl | None:
        """Claim the next queued crawl for this process, unless `at_once` crawls already run; None if there is none."""
        with self._db.read() as sql:
            if not sql.execute(select(func.count()).where(crawls.c.state == "queued")).scalar_one():
                return None
        with self._db.write() as sql:
            lock_claims(self._db, sql)
            running = sql.execute(select(func.count()).where(crawls.c.state == "running")).scalar_one()
            number = sql.execute(_next_queued()).scalar()
            if running >= at_once or number is None:
                return None
            now = self._db.shared_now(sql)
            mine = {"machine": worker.machine, "pid": worker.pid, "process_start": worker.started, "beat_at": now}
            values = {"state": "running", "wanted": "", "error": "", "started_at": now, "ended_at": None, "progress": {}, **mine}
            sql.execute(update(crawls).where(crawls.c.id == number).values(values))
            sql.execute(insert(crawl_runs).values(crawl_id=number, started_at=now, figures={}, changes={}))
            publish_state(self._db, sql, number)
            return read_crawl(sql, number)

    def transfer(self, number: int, worker: WorkerIdentity, to: WorkerIdentity) -> None:
        """Transfer a claimed crawl to the process that was started for it. Raises CrawlLost."""
        with self._db.write() as sql:
            self._check_claim(sql, number, worker)
            row = {"machine": to.machine, "pid": to.pid, "process_start": to.started, "beat_at": self._db.shared_now(sql)}
            sql.execute(update(crawls).where(crawls.c.id == number).values(row))

    def holds(self, number: int, worker: WorkerIdentity) -> bool:
        """Whether this process still holds a crawl."""
        with self._db.read() as sql:
            try:
                self._check_claim(sql, number, worker, reading=True)
            except CrawlLost:
                return False
            return True

    def mark_restarted(self, number: int, worker: WorkerIdentity) -> None:
        """Record that a repeated run has started: after an interruption it resumes. Raises CrawlLost."""
        with self._db.write() as sql:
            self._check_claim(sql, number, worker)
            sql.execute(update(crawls).where(crawls.c.id == number).values(again=0))

    def beat(self, number: int, worker: WorkerIdentity, progress: Mapping[str, Any]) -> str:
        """Record the progress of a run; the requested action: empty, `pause` or `stop`. Raises CrawlLost."""
        with self._db.write() as sql:
            wanted = self._check_claim(sql, number, worker)
            before: Any = sql.execute(select(crawls.c.progress).where(crawls.c.id == number)).scalar_one()
            # Whoever requested a pause has set the reason.
            reason = {ERROR_MESSAGE: before[ERROR_MESSAGE]} if ERROR_MESSAGE in before else {}
            values: dict[str, Any] = {"beat_at": self._db.shared_now(sql), "progress": {**progress, **reason}}
            if "pages" in before and progress.get("pages", 0) > before["pages"]:
                values["deaths"] = 0
            sql.execute(update(crawls).where(crawls.c.id == number).values(values))
            add_live_message(self._db, sql, "crawl.progress", f"crawl/{number}", {"crawl_id": number, **progress})
            return wanted

    def pause_all(self, why: str) -> int:
        """Pause queued crawls and request a pause of running ones, for a reason outside the crawls; how many."""
        touched = 0
        with self._db.write() as sql:
            for state, values in (("queued", {"state": "paused"}), ("running", {"wanted": "pause"})):
                found = select(crawls.c.id, crawls.c.progress).where(crawls.c.state == state, crawls.c.wanted == "")
                for number, progress in sql.execute(found).all():
                    sql.execute(update(crawls).where(crawls.c.id == number).values(values | error_values(progress, why)))
                    publish_state(self._db, sql, number)
                    touched += 1
        return touched

    def end(
        self,
        number: int,
        worker: WorkerIdentity,
        state: CrawlState,
        *,
        error: str = "",
        figures: Mapping[str, Any] | None = None,
        changes: Mapping[str, Any] | None = None,
    ) -> ServedCrawl:
        """End a run. The state `queued` means that only the service stops and the crawl resumes. Raises CrawlLost."""
        with self._db.write() as sql:
            self._check_claim(sql, number, worker)
            now = self._db.shared_now(sql)
            self._close_run(sql, number, "stopped" if state is CrawlState.QUEUED else state.value, figures or {}, changes or {})
            columns = crawls.c.every, crawls.c.schedule, crawls.c.progress
            every, schedule, progress = sql.execute(select(*columns).where(crawls.c.id == number)).one()
            due = next_run(every, schedule, now) if state.value in _IDLE_STATES else None
            values: dict[str, Any] = {"state": state.value, "wanted": "", "ended_at": now, "pid": None}
            values |= {"again": 0, "deaths": 0} if state is not CrawlState.QUEUED else {}
            # Whoever requested the pause has set the reason.
            values |= error_values(progress, error) if error or state is not CrawlState.PAUSED else {}
            values |= {"next_at": due} if due is not None else {}
            sql.execute(update(crawls).where(crawls.c.id == number).values(values))
            publish_state(self._db, sql, number)
            return read_crawl(sql, number)

    def unnotified_runs(self) -> tuple[CrawlRun, ...]:
        """Runs with a regression or a recovery that nobody was notified of."""
        query = select(crawl_runs).where(crawl_runs.c.told_at.is_(None), crawl_runs.c.ended_at.is_not(None))
        with self._db.read() as sql:
            return tuple(CrawlRun(**row) for row in sql.execute(query.order_by(crawl_runs.c.id)).mappings())

    def mark_notified(self, run_id: int) -> bool:
        """Claim the notification of a run; False if another process has it."""
        with self._db.write() as sql:
            query = update(crawl_runs).where(crawl_runs.c.id == run_id, crawl_runs.c.told_at.is_(None))
            return bool(sql.execute(query.values(told_at=self._db.now())).rowcount)

    def mark_unnotified(self, run_id: int) -> None:
        """Release the notification of a run for another attempt."""
        with self._db.write() as sql:
            sql.execute(update(crawl_runs).where(crawl_runs.c.id == run_id).values(told_at=None))

    def _check_claim(self, sql: Connection, number: int, worker: WorkerIdentity, *, reading: bool = False) -> str:
        columns = crawls.c.state, crawls.c.machine, crawls.c.pid, crawls.c.process_start, crawls.c.wanted
        query = select(*columns).where(crawls.c.id == number)
        row = sql.execute(query if reading else query.with_for_update()).one_or_none()
        if row is None or tuple(row)[:4] != ("running", *worker):
            raise CrawlLost
        wanted: str = row.wanted
        return wanted

    def _close_run(
        self, sql: Connection, number: int, outcome: str, figures: Mapping[str, Any], changes: Mapping[str, Any]
    ) -> None:
        newest = select(func.max(crawl_runs.c.id)).where(crawl_runs.c.crawl_id == number).scalar_subquery()
        values = {"ended_at": self._db.shared_now(sql), "outcome": outcome, "figures": dict(figures), "changes": dict(changes)}
        reported = select(crawls.c.id).where(crawls.c.id == number, crawls.c.report_to != "", crawls.c.every.is_not(None))
        is_reported = outcome == "finished" and sql.execute(reported).first() is not None
        if not (changes.get("regression") or changes.get("recovered") or is_reported):
            values["told_at"] = values["ended_at"]  # Nothing to notify of.
        sql.execute(update(crawl_runs).where(crawl_runs.c.id == newest, crawl_runs.c.ended_at.is_(None)).values(values))


def _next_queued() -> Select[Any]:
    """The next queued crawl. Accounts take turns: first those with the fewest running crawls, then those whose last start is
    oldest; within an account the oldest crawl is first."""
    running = func.count().filter(crawls.c.state == "running").label("running")
    began = func.max(crawls.c.started_at).label("began")
    turns = select(crawls.c.queued_by, running, began).group_by(crawls.c.queued_by).subquery()
    waiting = select(crawls.c.id).join(turns, turns.c.queued_by == crawls.c.queued_by).where(crawls.c.state == "queued")
    return waiting.order_by(turns.c.running, turns.c.began.nulls_first(), crawls.c.id).limit(1)


def _is_lost(row: Any, here: str, now: datetime) -> bool:
    is_silent = row.beat_at is None or now - row.beat_at > HEARTBEAT_TIMEOUT
    return is_silent or (row.pid is not None and is_dead(WorkerIdentity(row.machine, row.pid, row.process_start), here))
