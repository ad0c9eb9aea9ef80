"""How much of what a source says, others say too: its rate of duplicates."""

from __future__ import annotations

from sqlalchemy import func, select

from tadoru.store.events.connect import EventsDatabase
from tadoru.store.events.schema import sightings


def shared_rows(store: EventsDatabase) -> dict[int, int]:
    """Rows of each source, of those it has at present, that are about an event which another row is about too."""
    here = sightings.c.gone_at.is_(None)
    crowded = select(sightings.c.event_id).where(here).group_by(sightings.c.event_id).having(func.count() > 1)
    query = select(sightings.c.source_id, func.count()).where(here, sightings.c.event_id.in_(crowded))
    query = query.where(sightings.c.source_id.is_not(None)).group_by(sightings.c.source_id)
    with store.read() as sql:
        found: dict[int, int] = dict(sql.execute(query).all())
        return found
