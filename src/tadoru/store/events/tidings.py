"""What those who watch are told of collecting: that a run began or ended, and that a source does better or worse.

It is told in the transaction of what it tells of, so that nobody hears of what did not happen, and whoever collects is heard of:
the service itself, a worker beside it, or one on another machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, func, select

from tadoru.store.crawls.live import LiveMessages
from tadoru.store.events.schema import incidents, source_state, sources

UNDER_WAY = "running"
"""The status of a run that has none yet."""
LONGEST = 500
"""Characters of an error that are told; the rest is in the log of the run."""


class Tidings(LiveMessages):
    """Telling of collecting."""

    def _tell_run(self, sql: Connection, row: Mapping[Any, Any]) -> None:
        """Tell how a run stands, by its row."""
        status = row["status"] or UNDER_WAY
        body = {"run_id": row["id"], "source_id": row["source_id"], "status": status, "counts": dict(row["counts"])}
        kind = "run.started" if status == UNDER_WAY else "run.ended"
        self.told_live(sql, kind, f"source/{row['source_id']}", body | {"error": row["error_summary"][:LONGEST]})

    def _tell_health(self, sql: Connection, source_id: int) -> None:
        """Tell how a source does; nothing when it is gone."""
        trouble = select(func.count()).where(incidents.c.source_id == source_id, incidents.c.closed_at.is_(None))
        state = source_state.c
        columns = sources.c.name, sources.c.enabled, state.failures, state.last_error, state.last_success
        query = select(*columns, trouble.scalar_subquery().label("incidents")).join(source_state)
        row = sql.execute(query.where(sources.c.id == source_id)).one_or_none()
        if row is None:
            return
        body = {
            "source_id": source_id, "name": row.name, "failures": row.failures, "error": row.last_error[:LONGEST],
            "incidents": row.incidents, "status": _status(row),
        }  # fmt: skip
        self.told_live(sql, "source.health", f"source/{source_id}", body)


def _status(row: Any) -> str:
    if not row.enabled:
        return "off"
    if row.failures:
        return "failing"
    return "new" if row.last_success is None else "well"
