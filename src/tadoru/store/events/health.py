"""Numbers about collecting: how much, how well, how late. For `doctor`, reports and metrics."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Integer, case, func, select

from tadoru.model.event import EventStatus, RunStatus
from tadoru.store.events.connect import EventsDatabase
from tadoru.store.events.schema import events, incidents, merges, reviews, run_logs, sightings, source_state, sources


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceHealth:
    """How one source does."""

    source_id: int
    name: str
    enabled: bool
    rows: int
    """What it says at present."""
    runs: int
    failed_runs: int
    """Both in the period that was asked for."""
    failures: int
    """In a row, until now."""
    last_success: datetime | None
    last_error: str
    late: float
    """Seconds it should have been collected ago."""
    open_incidents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """The database in numbers."""

    events: dict[str, int]
    """By status; absorbed ones are not counted."""
    archived: int
    vanished: int
    rows: int
    merged_rows: int
    """Rows that are about an event that another row is about too."""
    open_reviews: int
    sources: int
    merges: int


class Health(EventsDatabase):
    """Counting."""

    def totals(self) -> Totals:
        standing = events.c.merged_into.is_(None)
        with self.read() as sql:
            statuses = sql.execute(select(events.c.status, func.count()).where(standing).group_by(events.c.status)).all()
            by_status: dict[str, int] = dict(statuses)
            row_count = sql.execute(select(func.count()).select_from(sightings)).scalar_one()
            spoken_of = sql.execute(select(func.count(sightings.c.event_id.distinct()))).scalar_one()
            marked = select(func.count(events.c.archived_at), func.count(events.c.vanished_at)).where(standing)
            archived, vanished = sql.execute(marked).one()
            waiting = select(func.count()).select_from(reviews).where(reviews.c.resolved_at.is_(None))
            done = select(func.count()).select_from(merges).where(merges.c.undone_at.is_(None))
            return Totals(
                events={status.value: by_status.get(status.value, 0) for status in EventStatus},
                archived=archived,
                vanished=vanished,
                rows=row_count,
                merged_rows=row_count - spoken_of,
                open_reviews=sql.execute(waiting).scalar_one(),
                sources=sql.execute(select(func.count()).select_from(sources)).scalar_one(),
                merges=sql.execute(done).scalar_one(),
            )

    def health(self, *, days: int = 30) -> tuple[SourceHealth, ...]:
        """Every source, by its id."""
        failed = func.sum(case((run_logs.c.status == RunStatus.FAIL.value, 1), else_=0), type_=Integer)
        recent = select(run_logs.c.source_id, func.count().label("runs"), failed.label("failed"))
        recent = recent.where(run_logs.c.started_at >= self.now() - timedelta(days=days)).group_by(run_logs.c.source_id)
        said = select(sightings.c.source_id, func.count()).where(sightings.c.gone_at.is_(None)).group_by(sightings.c.source_id)
        trouble = (
            select(incidents.c.source_id, func.count()).where(incidents.c.closed_at.is_(None)).group_by(incidents.c.source_id)
        )
        with self.read() as sql:
            now = self.shared_now(sql)
            runs = {row.source_id: row for row in sql.execute(recent)}
            rows: dict[int, int] = dict(sql.execute(said).all())
            open_incidents: dict[int, int] = dict(sql.execute(trouble).all())
            every = sql.execute(select(sources, source_state).join(source_state).order_by(sources.c.id)).mappings()
            return tuple(
                SourceHealth(
                    source_id=row["id"],
                    name=row["name"],
                    enabled=row["enabled"],
                    rows=rows.get(row["id"], 0),
                    runs=runs[row["id"]].runs if row["id"] in runs else 0,
                    failed_runs=runs[row["id"]].failed if row["id"] in runs else 0,
                    failures=row["failures"],
                    last_success=row["last_success"],
                    last_error=row["last_error"],
                    late=max(0.0, (now - row["next_run_at"]).total_seconds()) if row["enabled"] else 0.0,
                    open_incidents=open_incidents.get(row["id"], 0),
                )
                for row in every
            )
