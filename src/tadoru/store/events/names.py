"""The names that a filter offers: every city, every category. Each page shows them, and they hardly ever change.

To find them, all events are read, which takes a second of a hundred thousand. So they are remembered for as long as nothing has
changed, as the newest rows tell, and at most for a little while: what is archived leaves no such trace.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Select, func, select

from tadoru.model.event import EventStatus
from tadoru.store.events.connect import EventsDatabase
from tadoru.store.events.schema import event_history, events, merges, occurrences

HELD = 30.0
"""Seconds."""
_NEWEST = select(*(
    select(func.max(column)).scalar_subquery()
    for column in (events.c.id, events.c.updated_at, event_history.c.id, merges.c.id)
))  # fmt: skip
_CITIES = select(occurrences.c.city).distinct().where(occurrences.c.city != "").order_by(occurrences.c.city)
_SHOWN = (events.c.status == EventStatus.ACTIVE.value, events.c.merged_into.is_(None), events.c.archived_at.is_(None))
_CATEGORIES = select(events.c.category).distinct().where(events.c.category != "", *_SHOWN).order_by(events.c.category)


class Names(EventsDatabase):
    """Reading them."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self._names: dict[str, tuple[float, tuple[Any, ...], tuple[str, ...]]] = {}

    def cities(self) -> tuple[str, ...]:
        """Every city that an event of the calendar takes place in, or one that was hidden."""
        return self._remembered("cities", _CITIES)

    def categories(self) -> tuple[str, ...]:
        """Every category of an active event that is not archived."""
        return self._remembered("categories", _CATEGORIES)

    def _remembered(self, what: str, query: Select[Any]) -> tuple[str, ...]:
        with self.read() as sql:
            now, newest = self.clock.monotonic(), _newest(sql)
            until, state, names = self._names.get(what, (0.0, (), ()))
            if newest != state or now >= until:
                names = tuple(sql.execute(query).scalars())
                self._names[what] = (now + HELD, newest, names)
            return names


def _newest(sql: Connection) -> tuple[Any, ...]:
    """What no change leaves as it was."""
    return tuple(sql.execute(_NEWEST).one())
