"""The register of sources: added, edited, switched and removed, each change with who, when and what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from tadoru.errors import UsageError, quoted
from tadoru.model.event import SourceType
from tadoru.store.events.rows import source_from
from tadoru.store.events.schema import snapshots, source_history, source_state, sources
from tadoru.store.events.tidings import Tidings
from tadoru.store.events.values import Source, SourceChange

FREQUENCIES = ("high", "normal", "low")
_GIVEN = frozenset(one.name for one in fields(Source)) - {"id", "created_at", "updated_at"}
_EMPTY: dict[str, Any] = {
    **dict.fromkeys(("city", "notes", "timezone", "licence", "terms_url", "named_host", "secret"), ""),
    **{"frequency": "normal", "enabled": True, "settings": {}, "priority": 0, "depends_on": None},
    **{"allow_private": False, "low_hours": 24},
}


def _checked(values: Mapping[str, Any]) -> dict[str, Any]:
    if unknown := sorted(values.keys() - _GIVEN):
        raise UsageError(f"A source has no field {quoted(unknown[0])}: it has {', '.join(sorted(_GIVEN))}.")
    if "type" in values and values["type"] not in list(SourceType):
        raise UsageError(f"A source can not be of the type {quoted(values['type'])}: use {', '.join(SourceType)}.")
    if "frequency" in values and values["frequency"] not in FREQUENCIES:
        raise UsageError(f"The frequency {quoted(values['frequency'])} is unknown: use {', '.join(FREQUENCIES)}.")
    if not 24 <= values.get("low_hours", 24) <= 72:
        raise UsageError("The hours between two runs of a source of low frequency are from 24 to 72.")
    for name in ("name", "url"):
        if name in values and not values[name].strip():
            raise UsageError(f"A source needs a {name}: give one.")
    checked = dict(values)
    if "type" in checked:
        checked["type"] = SourceType(checked["type"]).value
    return checked


class Sources(Tidings):
    """The register."""

    def add_source(self, values: Mapping[str, Any], by: str) -> Source:
        """A new source, due at once. `values` are fields of `Source`; name, type and url are required."""
        given = _EMPTY | _checked(values)
        if missing := [name for name in ("name", "type", "url") if name not in given]:
            raise UsageError(f"A source needs a {missing[0]}: give one.")
        now = self.now()
        with self.write() as sql:
            self._check_dependency(sql, None, given["depends_on"])
            number = self._insert(sql, given | {"created_at": now, "updated_at": now})
            sql.execute(insert(source_state), {"source_id": number, "next_run_at": self.shared_now(sql)})
            self._note(sql, number, by, [("source", None, given["name"])], now)
            return self._source(sql, number)

    def _insert(self, sql: Connection, values: Mapping[str, Any]) -> int:
        try:
            number: int = sql.execute(insert(sources).values(values).returning(sources.c.id)).scalar_one()
        except IntegrityError as error:
            raise UsageError(f"There is a source named {quoted(values['name'])} already: give another name.") from error
        return number

    def edit_source(self, source_id: int, changes: Mapping[str, Any], by: str) -> Source:
        """Change fields; what has the value already is no change. Another address forgets what the old one's server said."""
        checked = _checked(changes)
        now = self.now()
        with self.write() as sql:
            before = self._source(sql, source_id)
            changed = [(name, getattr(before, name), value) for name, value in checked.items() if getattr(before, name) != value]
            if not changed:
                return before
            if "depends_on" in checked:
                self._check_dependency(sql, source_id, checked["depends_on"])
            try:
                new = {name: value for name, _, value in changed}
                sql.execute(update(sources).where(sources.c.id == source_id).values(**new, updated_at=now))
            except IntegrityError as error:
                raise UsageError(f"There is a source named {quoted(checked.get('name'))} already: give another name.") from error
            if {"url", "settings", "type"} & new.keys():
                fresh = {"etag": None, "last_modified": None, "body_hash": "", "next_run_at": self.shared_now(sql)}
                sql.execute(update(source_state).where(source_state.c.source_id == source_id).values(fresh))
            self._note(sql, source_id, by, changed, now)
            if {"name", "enabled"} & new.keys():
                self._tell_health(sql, source_id)
            return self._source(sql, source_id)

    def enable_source(self, source_id: int, by: str) -> Source:
        return self.edit_source(source_id, {"enabled": True}, by)

    def disable_source(self, source_id: int, by: str) -> Source:
        return self.edit_source(source_id, {"enabled": False}, by)

    def remove_source(self, source_id: int, by: str) -> tuple[str, ...]:
        """Forget a source; its events stay. Returns the paths of its snapshots, which nothing names any more."""
        with self.write_events() as sql:
            found = self._source(sql, source_id)
            paths = sql.execute(select(snapshots.c.content_path).where(snapshots.c.source_id == source_id)).scalars().all()
            self._note(sql, source_id, by, [("source", found.name, None)], self.now())
            sql.execute(delete(sources).where(sources.c.id == source_id))
            return tuple(paths)

    def sources(self, *, enabled: bool | None = None) -> tuple[Source, ...]:
        query = select(sources).order_by(sources.c.id)
        if enabled is not None:
            query = query.where(sources.c.enabled == enabled)
        with self.read() as sql:
            return tuple(source_from(row) for row in sql.execute(query).mappings())

    def source(self, source_id: int) -> Source:
        with self.read() as sql:
            return self._source(sql, source_id)

    def source_history(self, source_id: int) -> tuple[SourceChange, ...]:
        """Every change, oldest first; of a removed source too."""
        query = select(source_history).where(source_history.c.source_id == source_id).order_by(source_history.c.id)
        with self.read() as sql:
            rows = sql.execute(query).mappings()
            names = ("at", "by", "field", "old", "new")
            return tuple(SourceChange(**{name: row[name] for name in names}) for row in rows)

    def _source(self, sql: Connection, source_id: int) -> Source:
        row = sql.execute(select(sources).where(sources.c.id == source_id)).mappings().one_or_none()
        if row is None:
            raise UsageError(f"There is no source {source_id}: list them with `tadoru events sources list`.")
        return source_from(row)

    def _check_dependency(self, sql: Connection, source_id: int | None, on: int | None) -> None:
        """A source may wait for another, but not for itself by way of others."""
        seen = set()
        while on is not None and on not in seen:
            if on == source_id:
                raise UsageError(f"Source {source_id} would wait for itself: choose another source to depend on.")
            seen.add(on)
            on = self._source(sql, on).depends_on

    def _note(self, sql: Connection, source_id: int, by: str, changed: Sequence[tuple[str, Any, Any]], now: datetime) -> None:
        rows = [
            {"source_id": source_id, "at": now, "by": by, "field": name, "old": old, "new": new} for name, old, new in changed
        ]
        sql.execute(insert(source_history), rows)
