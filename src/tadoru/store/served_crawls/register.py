"""The registry of the service's crawls, as users manage it: add, list, run, pause, stop, edit, remove."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from tadoru.errors import Message, UsageError, restore_message
from tadoru.store.accounts.audit_log import Actor, add_audit_entry
from tadoru.store.calendar.database import CalendarDatabase
from tadoru.store.served_crawls.live_messages import add_live_message
from tadoru.store.served_crawls.schema import CrawlRun, CrawlState, ServedCrawl, crawl_runs, crawls

CLAIM_LOCK = 0x7AD0_0006
"""The advisory lock for queueing and claiming crawls on PostgreSQL."""
_COLUMNS = [crawls.c[name] for name in ServedCrawl.__dataclass_fields__]


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
                "owner": by.account, "queued_by": by.account,
            }  # fmt: skip
            number: int = sql.execute(insert(crawls).values(row).returning(crawls.c.id)).scalar_one()
            if not place:
                own = f"docs/{number}" if job == "docs" else f"crawls/{number}/crawl.db"
                sql.execute(update(crawls).where(crawls.c.id == number).values(place=own))
            add_audit_entry(self._db, sql, by, "crawl.add", f"crawl/{number}", name=name, job=job, starts=list(starts))
            publish_state(self._db, sql, number)
            return read_crawl(sql, number)

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
        """Queue a run: a paused or stopped crawl resumes, a finished or failed one starts again (the job first completes an
        unfinished run). Raises CrawlBusy and CrawlQueueFull."""
        with self._db.write() as sql:
            self._check_queue(sql, by, most_queued)
            found = read_crawl(sql, number, lock=True)
            if found.is_busy and not found.wanted:
                raise CrawlBusy("Crawl {id} is already {state}.", id=number, state=found.state.value)
            if found.state is CrawlState.RUNNING:
                raise CrawlBusy("Crawl {id} is ending. Try again in a moment.", id=number)
            anew = found.state in (CrawlState.FINISHED, CrawlState.FAILED) if again is None else again
            queued = {"state": CrawlState.QUEUED.value, "queued_by": by.account, "again": int(anew)}
            self._change(sql, number, by, "crawl.run", **queued, wanted="", error="")
            return read_crawl(sql, number)

    def pause(self, number: int, by: Actor) -> ServedCrawl:
        """Request a pause; requests in flight finish first. Raises CrawlBusy if it does not run."""
        return self._end(number, by, "pause", CrawlState.PAUSED)

    def stop(self, number: int, by: Actor) -> ServedCrawl:
        """Request a stop; results are kept. Raises CrawlBusy if it neither runs nor is paused."""
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

    def change(
        self,
        number: int,
        by: Actor,
        *,
        name: str | None = None,
        every: int | None = None,
        repeats: bool | None = None,
        webhook: str | None = None,
    ) -> ServedCrawl:
        """Change the name, the interval (`repeats=False` for none) or the webhook (empty for none)."""
        values: dict[str, Any] = {key: value for key, value in (("name", name), ("webhook", webhook)) if value is not None}
        if repeats is False:
            values |= {"every": None, "next_at": None}
        elif every is not None:
            values |= {"every": every, "next_at": self._db.now() + timedelta(seconds=every), "owner": by.account}
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
