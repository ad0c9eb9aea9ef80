"""The crawls of the service, as the processes that run them see them: take one, say how it goes, end it.

A running crawl names its process. One whose process is gone, or was silent for too long, is queued again by whoever looks next,
and goes on where it was: its own database knows every page.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from tadoru.store.crawls.register import CrawlRegister
from tadoru.store.crawls.schema import crawl_runs, crawls
from tadoru.store.crawls.values import CrawlRun, CrawlState, ServedCrawl
from tadoru.store.workers import Identity, is_dead

SILENCE = timedelta(seconds=120)
"""After so long without a word a process on another machine counts as gone."""
_RESTING = (CrawlState.FINISHED.value, CrawlState.FAILED.value, CrawlState.STOPPED.value)


class CrawlLost(Exception):
    """The crawl is no longer this process's: it was given up for dead, or removed."""


class CrawlClaims(CrawlRegister):
    """Running crawls."""

    def queue_due_crawls(self, here: str) -> int:
        """Queue the crawls whose time has come, and those whose process is gone; how many. `here` names this machine."""
        with self.write() as sql:
            now = self.shared_now(sql)
            due = crawls.c.next_at <= now, crawls.c.state.in_(_RESTING)
            numbers = list(sql.execute(select(crawls.c.id).where(*due)).scalars())
            for number in numbers:
                sql.execute(
                    update(crawls).where(crawls.c.id == number).values(state="queued", again=1, wanted="", next_at=None, error="")
                )
            lost = [row.id for row in sql.execute(select(crawls).where(crawls.c.state == "running")) if _is_lost(row, here, now)]
            for number in lost:
                self._close_run(sql, number, "failed", {}, {})
                wanted = sql.execute(select(crawls.c.wanted).where(crawls.c.id == number)).scalar_one()
                state = {"pause": "paused", "stop": "stopped"}.get(wanted, "queued")
                sql.execute(update(crawls).where(crawls.c.id == number).values(state=state, wanted="", pid=None))
            for number in (*numbers, *lost):
                self._tell_state(sql, number)
            return len(numbers) + len(lost)

    def claim_crawl(self, worker: Identity, *, at_once: int) -> ServedCrawl | None:
        """Take the crawl that waits longest, unless so many run already; it is running then, as this process's."""
        with self.write() as sql:
            if not self.is_sqlite:
                sql.execute(select(func.pg_advisory_xact_lock(CLAIMING)))
            running = sql.execute(select(func.count()).where(crawls.c.state == "running")).scalar_one()
            number = sql.execute(select(crawls.c.id).where(crawls.c.state == "queued").order_by(crawls.c.id).limit(1)).scalar()
            if running >= at_once or number is None:
                return None
            now = self.shared_now(sql)
            mine = {"machine": worker.machine, "pid": worker.pid, "process_start": worker.started, "beat_at": now}
            values = {"state": "running", "wanted": "", "error": "", "started_at": now, "ended_at": None, "progress": {}, **mine}
            sql.execute(update(crawls).where(crawls.c.id == number).values(values))
            sql.execute(insert(crawl_runs).values(crawl_id=number, started_at=now, figures={}, changes={}))
            self._tell_state(sql, number)
            return self._crawl(sql, number)

    def hand_crawl(self, number: int, worker: Identity, to: Identity) -> None:
        """Hand a claimed crawl to the process that was started for it. Raises CrawlLost."""
        with self.write() as sql:
            self._mine(sql, number, worker)
            row = {"machine": to.machine, "pid": to.pid, "process_start": to.started, "beat_at": self.shared_now(sql)}
            sql.execute(update(crawls).where(crawls.c.id == number).values(row))

    def beat(self, number: int, worker: Identity, progress: Mapping[str, Any]) -> str:
        """Say how a run goes; what is wanted of it: nothing, `pause` or `stop`. Raises CrawlLost."""
        with self.write() as sql:
            wanted = self._mine(sql, number, worker)
            values = {"beat_at": self.shared_now(sql), "progress": dict(progress)}
            sql.execute(update(crawls).where(crawls.c.id == number).values(values))
            self.told_live(sql, "crawl.progress", f"crawl/{number}", {"crawl_id": number, **progress})
            return wanted

    def end_crawl(
        self,
        number: int,
        worker: Identity,
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
            due = now + timedelta(seconds=every) if every and state in (CrawlState.FINISHED, CrawlState.FAILED) else None
            values: dict[str, Any] = {"state": state.value, "wanted": "", "error": error, "ended_at": now, "pid": None}
            values |= {"again": 0} if state is not CrawlState.QUEUED else {}
            values |= {"next_at": due} if due is not None else {}
            sql.execute(update(crawls).where(crawls.c.id == number).values(values))
            self._tell_state(sql, number)
            return self._crawl(sql, number)

    def untold_runs(self) -> tuple[CrawlRun, ...]:
        """Runs that ended worse than the ones before them, and of which nobody was told yet."""
        query = select(crawl_runs).where(crawl_runs.c.told_at.is_(None), crawl_runs.c.ended_at.is_not(None))
        with self.read() as sql:
            rows = [CrawlRun(**row) for row in sql.execute(query.order_by(crawl_runs.c.id)).mappings()]
        return tuple(row for row in rows if row.changes.get("regression"))

    def mark_told(self, run_id: int) -> bool:
        """Take it upon oneself to tell of a run; whether nobody had."""
        with self.write() as sql:
            query = update(crawl_runs).where(crawl_runs.c.id == run_id, crawl_runs.c.told_at.is_(None))
            return bool(sql.execute(query.values(told_at=self.now())).rowcount)

    def _mine(self, sql: Connection, number: int, worker: Identity) -> str:
        columns = crawls.c.state, crawls.c.machine, crawls.c.pid, crawls.c.process_start, crawls.c.wanted
        row = sql.execute(select(*columns).where(crawls.c.id == number)).one_or_none()
        if row is None or tuple(row)[:4] != ("running", *worker):
            raise CrawlLost
        wanted: str = row.wanted
        return wanted

    def _close_run(
        self, sql: Connection, number: int, outcome: str, figures: Mapping[str, Any], changes: Mapping[str, Any]
    ) -> None:
        newest = select(func.max(crawl_runs.c.id)).where(crawl_runs.c.crawl_id == number).scalar_subquery()
        values = {"ended_at": self.shared_now(sql), "outcome": outcome, "figures": dict(figures), "changes": dict(changes)}
        sql.execute(update(crawl_runs).where(crawl_runs.c.id == newest, crawl_runs.c.ended_at.is_(None)).values(values))


CLAIMING = 0x7AD0_0006
"""The advisory lock of those who take crawls, on PostgreSQL."""


def _is_lost(row: Any, here: str, now: datetime) -> bool:
    is_silent = row.beat_at is None or now - row.beat_at > SILENCE
    return is_silent or (row.pid is not None and is_dead(Identity(row.machine, row.pid, row.process_start), here))
