"""Crawls in a copy of a database: none of them runs there. What ran in the original is queued, and gone on with where it was."""

from __future__ import annotations

from sqlalchemy import Connection, case, func, select, update

from tadoru.store.crawls.schema import crawl_runs, crawls


def let_go_of_running(sql: Connection) -> None:
    """Take every crawl of a copy from the process that runs the original."""
    heard = select(crawls.c.beat_at).where(crawls.c.id == crawl_runs.c.crawl_id).scalar_subquery()
    ended = func.coalesce(heard, crawl_runs.c.started_at)
    open_runs = update(crawl_runs).where(crawl_runs.c.ended_at.is_(None))
    sql.execute(open_runs.values(ended_at=ended, told_at=ended, outcome="stopped"))
    state = case((crawls.c.wanted == "pause", "paused"), (crawls.c.wanted == "stop", "stopped"), else_="queued")
    mine = {"state": state, "wanted": "", "machine": "", "pid": None, "process_start": ""}
    sql.execute(update(crawls).where(crawls.c.state == "running").values(mine))
