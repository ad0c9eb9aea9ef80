"""The crawls of the service, as the processes that run them see them: take one, say how it goes, end it.

A running crawl names its process. One whose process is gone, or was silent for too long, is queued again by whoever looks next,
and goes on where it was: its own database knows every page.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Select, func, insert, select, update

from tadoru.store.crawl.workers import WorkerIdentity, is_dead
from tadoru.store.served_crawls.register import CrawlRegister
from tadoru.store.served_crawls.schema import CrawlRun, CrawlState, ServedCrawl, crawl_runs, crawls

HEARTBEAT_TIMEOUT = timedelta(seconds=120)
"""After so long without a word a process on another machine counts as gone."""
MAX_CRASHES = 3
"""Processes in a row that may die at a crawl without getting on with it."""
CRASHED = f"Its process ended by itself {MAX_CRASHES} times in a row: see the log of the service, and run the crawl again."
_IDLE_STATES = (CrawlState.FINISHED.value, CrawlState.FAILED.value, CrawlState.STOPPED.value)


class CrawlLost(Exception):
    """The crawl is no longer this process's: it was given up for dead, or removed."""


class CrawlClaims(CrawlRegister):
    """Running crawls."""

    def queue_due_crawls(self, here: str) -> int:
        """Queue the crawls whose time has come, and those whose process is gone; how many. `here` names this machine.

        One whose process died several times without getting on has failed: something about it kills them.
        """
        with self.read() as sql:
            if not self._due_crawls(sql) and not self._lost_crawls(sql, here):
                return 0
        with self.write() as sql:
            self._claiming_alone(sql)
            due, lost = self._due_crawls(sql), self._lost_crawls(sql, here)
            anew = {"state": "queued", "queued_by": crawls.c.owner, "again": 1, "wanted": "", "next_at": None, "error": ""}
            for number in due:
                sql.execute(update(crawls).where(crawls.c.id == number).values(anew))
            for row in lost:
                self._bury_crawl(sql, row)
            for number in (*due, *(row.id for row in lost)):
                self._tell_state(sql, number)
            return len(due) + len(lost)

    def _due_crawls(self, sql: Connection) -> list[int]:
        query = select(crawls.c.id).where(crawls.c.next_at <= self.shared_now(sql), crawls.c.state.in_(_IDLE_STATES))
        return list(sql.execute(query).scalars())

    def _lost_crawls(self, sql: Connection, here: str) -> list[Any]:
        now = self.shared_now(sql)
        return [row for row in sql.execute(select(crawls).where(crawls.c.state == "running")) if _is_lost(row, here, now)]

    def _bury_crawl(self, sql: Connection, row: Any) -> None:
        """What becomes of a crawl whose process is gone."""
        state = {"pause": "paused", "stop": "stopped"}.get(row.wanted, "queued")
        values: dict[str, Any] = {"state": state, "wanted": "", "pid": None, "deaths": row.deaths + 1}
        changes: dict[str, Any] = {}
        if state == "queued" and row.deaths + 1 >= MAX_CRASHES:
            values |= {"state": "failed", "error": CRASHED, "deaths": 0, "ended_at": self.shared_now(sql)}
            changes = {"regression": True, "reasons": [CRASHED]}
            if row.every:
                values["next_at"] = self.shared_now(sql) + timedelta(seconds=row.every)
        self._close_run(sql, row.id, "failed", {}, changes)
        sql.execute(update(crawls).where(crawls.c.id == row.id).values(values))

    def claim_crawl(self, worker: WorkerIdentity, *, at_once: int) -> ServedCrawl | None:
        """Take the crawl whose turn it is, unless so many run already; it is running then, as this process's."""
        with self.read() as sql:
            if not sql.execute(select(func.count()).where(crawls.c.state == "queued")).scalar_one():
                return None
        with self.write() as sql:
            self._claiming_alone(sql)
            running = sql.execute(select(func.count()).where(crawls.c.state == "running")).scalar_one()
            number = sql.execute(_next_queued()).scalar()
            if running >= at_once or number is None:
                return None
            now = self.shared_now(sql)
            mine = {"machine": worker.machine, "pid": worker.pid, "process_start": worker.started, "beat_at": now}
            values = {"state": "running", "wanted": "", "error": "", "started_at": now, "ended_at": None, "progress": {}, **mine}
            sql.execute(update(crawls).where(crawls.c.id == number).values(values))
            sql.execute(insert(crawl_runs).values(crawl_id=number, started_at=now, figures={}, changes={}))
            self._tell_state(sql, number)
            return self._crawl(sql, number)

    def transfer_crawl(self, number: int, worker: WorkerIdentity, to: WorkerIdentity) -> None:
        """Hand a claimed crawl to the process that was started for it. Raises CrawlLost."""
        with self.write() as sql:
            self._mine(sql, number, worker)
            row = {"machine": to.machine, "pid": to.pid, "process_start": to.started, "beat_at": self.shared_now(sql)}
            sql.execute(update(crawls).where(crawls.c.id == number).values(row))

    def holds_crawl(self, number: int, worker: WorkerIdentity) -> bool:
        """Whether a crawl is still this process's."""
        with self.read() as sql:
            try:
                self._mine(sql, number, worker, reading=True)
            except CrawlLost:
                return False
            return True

    def mark_restarted(self, number: int, worker: WorkerIdentity) -> None:
        """Its run asks for everything again from now on: should it be interrupted, it is gone on with. Raises CrawlLost."""
        with self.write() as sql:
            self._mine(sql, number, worker)
            sql.execute(update(crawls).where(crawls.c.id == number).values(again=0))

    def beat(self, number: int, worker: WorkerIdentity, progress: Mapping[str, Any]) -> str:
        """Say how a run goes; what is wanted of it: nothing, `pause` or `stop`. Raises CrawlLost."""
        with self.write() as sql:
            wanted = self._mine(sql, number, worker)
            before: Any = sql.execute(select(crawls.c.progress).where(crawls.c.id == number)).scalar_one()
            values: dict[str, Any] = {"beat_at": self.shared_now(sql), "progress": dict(progress)}
            if "pages" in before and progress.get("pages", 0) > before["pages"]:
                values["deaths"] = 0
            sql.execute(update(crawls).where(crawls.c.id == number).values(values))
            self.add_live_message(sql, "crawl.progress", f"crawl/{number}", {"crawl_id": number, **progress})
            return wanted

    def pause_all_crawls(self, why: str) -> int:
        """Let nothing go on for a reason that is no crawl's own: what waits is paused, what runs is asked to pause; how many."""
        touched = 0
        with self.write() as sql:
            for state, values in (("queued", {"state": "paused"}), ("running", {"wanted": "pause"})):
                found = select(crawls.c.id).where(crawls.c.state == state, crawls.c.wanted == "")
                for number in list(sql.execute(found).scalars()):
                    sql.execute(update(crawls).where(crawls.c.id == number).values(values | {"error": why}))
                    self._tell_state(sql, number)
                    touched += 1
        return touched

    def end_crawl(
        self,
        number: int,
        worker: WorkerIdentity,
        state: CrawlState,
        *,
        error: str = "",
        figures: Mapping[str, Any] | None = None,
        changes: Mapping[str, Any] | None = None,
    ) -> ServedCrawl:
        """The run is over. `queued`: it is to be gone on with, because only the service stops. Raises CrawlLost."""
        with self.write() as sql:
            self._mine(sql, number, worker)
            now = self.shared_now(sql)
            self._close_run(sql, number, "stopped" if state is CrawlState.QUEUED else state.value, figures or {}, changes or {})
            every = sql.execute(select(crawls.c.every).where(crawls.c.id == number)).scalar_one()
            due = now + timedelta(seconds=every) if every and state.value in _IDLE_STATES else None
            values: dict[str, Any] = {"state": state.value, "wanted": "", "ended_at": now, "pid": None}
            values |= {"again": 0, "deaths": 0} if state is not CrawlState.QUEUED else {}
            # Why it was paused is said by whoever asked for it.
            values |= {"error": error} if error or state is not CrawlState.PAUSED else {}
            values |= {"next_at": due} if due is not None else {}
            sql.execute(update(crawls).where(crawls.c.id == number).values(values))
            self._tell_state(sql, number)
            return self._crawl(sql, number)

    def unnotified_runs(self) -> tuple[CrawlRun, ...]:
        """Runs that ended worse than the ones before them, or well again, and of which nobody was told yet."""
        query = select(crawl_runs).where(crawl_runs.c.told_at.is_(None), crawl_runs.c.ended_at.is_not(None))
        with self.read() as sql:
            return tuple(CrawlRun(**row) for row in sql.execute(query.order_by(crawl_runs.c.id)).mappings())

    def mark_notified(self, run_id: int) -> bool:
        """Take it upon oneself to tell of a run; whether nobody had."""
        with self.write() as sql:
            query = update(crawl_runs).where(crawl_runs.c.id == run_id, crawl_runs.c.told_at.is_(None))
            return bool(sql.execute(query.values(told_at=self.now())).rowcount)

    def mark_unnotified(self, run_id: int) -> None:
        """It could not be told yet: somebody else may try."""
        with self.write() as sql:
            sql.execute(update(crawl_runs).where(crawl_runs.c.id == run_id).values(told_at=None))

    def _mine(self, sql: Connection, number: int, worker: WorkerIdentity, *, reading: bool = False) -> str:
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
        values = {"ended_at": self.shared_now(sql), "outcome": outcome, "figures": dict(figures), "changes": dict(changes)}
        if not (changes.get("regression") or changes.get("recovered")):
            values["told_at"] = values["ended_at"]  # There is nothing to tell.
        sql.execute(update(crawl_runs).where(crawl_runs.c.id == newest, crawl_runs.c.ended_at.is_(None)).values(values))


def _next_queued() -> Select[Any]:
    """The accounts take turns: first those of whom the fewest run, then those whose last one began longest ago. Among the crawls
    of one account the oldest is first."""
    running = func.count().filter(crawls.c.state == "running").label("running")
    began = func.max(crawls.c.started_at).label("began")
    turns = select(crawls.c.queued_by, running, began).group_by(crawls.c.queued_by).subquery()
    waiting = select(crawls.c.id).join(turns, turns.c.queued_by == crawls.c.queued_by).where(crawls.c.state == "queued")
    return waiting.order_by(turns.c.running, turns.c.began.nulls_first(), crawls.c.id).limit(1)


def _is_lost(row: Any, here: str, now: datetime) -> bool:
    is_silent = row.beat_at is None or now - row.beat_at > HEARTBEAT_TIMEOUT
    return is_silent or (row.pid is not None and is_dead(WorkerIdentity(row.machine, row.pid, row.process_start), here))
