"""Everything that a database holds, as plain values, to be compared with another or with itself at another time."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from tadoru.store.calendar.database import CalendarDatabase
from tadoru.store.calendar.schema import metadata

MOVING = frozenset({"updated_at", "sequence"})
"""Columns that tell that something was done, not what there is."""


def dump(store: CalendarDatabase, *tables: str, without: frozenset[str] = frozenset()) -> dict[str, list[dict[str, Any]]]:
    """The rows of these tables, or of all, in the order of their keys."""
    found = {}
    with store.read() as sql:
        for name in tables or [table.name for table in metadata.sorted_tables]:
            table = metadata.tables[name]
            rows = sql.execute(select(table).order_by(*table.primary_key.columns)).mappings()
            found[name] = [{key: value for key, value in row.items() if key not in without} for row in rows]
    return found
