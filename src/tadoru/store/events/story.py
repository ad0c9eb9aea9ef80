"""One event with everything that is known about how it came to be."""

from __future__ import annotations

from sqlalchemy import or_, select

from tadoru.errors import UsageError
from tadoru.store.events.connect import EventsDatabase
from tadoru.store.events.listing import time_from
from tadoru.store.events.rows import event_from, event_rows, merge_from, review_from, said_about
from tadoru.store.events.schema import event_history, field_owners, merges, occurrences, review_candidates, reviews
from tadoru.store.events.values import Event, EventStory, EventTime, Owner


class Stories(EventsDatabase):
    """Reading one event."""

    def event(self, event_id: int) -> Event:
        with self.read() as sql:
            row = event_rows(sql, [event_id]).get(event_id)
        if row is None:
            raise UsageError(f"There is no event {event_id}: list them with `tadoru events list --all`.")
        return event_from(row)

    def times(self, event_id: int) -> tuple[EventTime, ...]:
        query = select(occurrences).where(occurrences.c.event_id == event_id).order_by(occurrences.c.number)
        with self.read() as sql:
            return tuple(time_from(row) for row in sql.execute(query).mappings())

    def story(self, event_id: int) -> EventStory:
        """Who says what about an event, what was merged and asked, and how it changed."""
        found = self.event(event_id)
        times = self.times(event_id)
        with self.read() as sql:
            owners = sql.execute(select(field_owners).where(field_owners.c.event_id == event_id)).mappings()
            names = ("owner", "source_id", "who", "at")
            owned = {row["field"]: Owner(**{name: row[name] for name in names}) for row in owners}
            part = or_(merges.c.kept_id == event_id, merges.c.absorbed_id == event_id)
            merged = sql.execute(select(merges).where(part).order_by(merges.c.id)).mappings().all()
            about = select(review_candidates.c.review_id).where(review_candidates.c.event_id == event_id)
            asked = sql.execute(select(reviews).where(reviews.c.id.in_(about)).order_by(reviews.c.id)).mappings().all()
            past = select(event_history).where(event_history.c.event_id == event_id).order_by(event_history.c.id)
            return EventStory(
                event=found,
                occurrences=times,
                owners=owned,
                said=tuple(said_about(sql, [event_id]).get(event_id, ())),
                merges=tuple(merge_from(row) for row in merged),
                reviews=tuple(review_from(row) for row in asked),
                history=tuple({name: row[name] for name in ("at", "by", "changes")} for row in sql.execute(past).mappings()),
            )
