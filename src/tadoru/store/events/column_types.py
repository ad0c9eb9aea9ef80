"""Types of columns that mean the same on SQLite and on PostgreSQL. SQLite's tables are STRICT, so each type is one it knows
there.

Python sees aware UTC times, dates, booleans and plain JSON values on both. What neither database can keep (NUL, half of a
surrogate pair) is dropped on the way in: a crawled text may hold anything.
"""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from math import isfinite
from typing import Any

from sqlalchemy import REAL, BigInteger, Boolean, Date, DateTime, Dialect, Double, Integer, LargeBinary, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeDecorator, TypeEngine

Number = BigInteger().with_variant(Integer(), "sqlite")
Real: TypeEngine[float] = Double().with_variant(REAL(), "sqlite")
Blob = LargeBinary()


def storable(text: str) -> str:
    """A text without what no database takes."""
    if text.isascii():
        return text.replace("\x00", "") if "\x00" in text else text
    return text.encode("utf-8", "ignore").decode("utf-8").replace("\x00", "")


class Words(TypeDecorator[str]):
    """Text of any origin."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else storable(value)


class Moment(TypeDecorator[datetime]):
    """A point in time: `timestamptz`, or on SQLite text in UTC of one length, so that it sorts as it should."""

    impl = DateTime
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(Text() if dialect.name == "sqlite" else DateTime(timezone=True))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value!r} has no time zone")
        at = value.astimezone(UTC)
        # Not strftime: its %Y has no leading zeros on Linux, and a year 987 must sort before a year 1987.
        return at.replace(tzinfo=None).isoformat(" ", "microseconds") if dialect.name == "sqlite" else at

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if isinstance(value, str):
            return datetime.fromisoformat(value).replace(tzinfo=UTC)
        at: datetime = value
        return at.astimezone(UTC)


class Day(TypeDecorator[date]):
    """A date without a zone: the day where an event takes place."""

    impl = Date
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(Text() if dialect.name == "sqlite" else Date())

    def process_bind_param(self, value: date | None, dialect: Dialect) -> Any:
        return value.isoformat() if value is not None and dialect.name == "sqlite" else value

    def process_result_value(self, value: Any, dialect: Dialect) -> date | None:
        return date.fromisoformat(value) if isinstance(value, str) else value


class Flag(TypeDecorator[bool]):
    """Yes or no; 1 or 0 on SQLite."""

    impl = Boolean
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(Integer() if dialect.name == "sqlite" else Boolean())

    def process_bind_param(self, value: bool | None, dialect: Dialect) -> Any:
        return int(value) if value is not None and dialect.name == "sqlite" else value

    def process_result_value(self, value: Any, dialect: Dialect) -> bool | None:
        return None if value is None else bool(value)


class Json(TypeDecorator[Any]):
    """A JSON value: `jsonb`, or text on SQLite."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(Text() if dialect.name == "sqlite" else JSONB(none_as_null=True))

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        if value is None:
            return None
        kept = _storable_json(value)
        return json.dumps(kept, ensure_ascii=False, separators=(",", ":")) if dialect.name == "sqlite" else kept

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        return json.loads(value) if isinstance(value, str) and dialect.name == "sqlite" else value


def _storable_json(value: Any) -> Any:
    match value:
        case str():
            return storable(value)
        case dict():
            return {storable(str(name)): _storable_json(part) for name, part in value.items()}
        case list() | tuple():
            return [_storable_json(part) for part in value]
        case float() if not isfinite(value):
            return None  # A source may say NaN; no JSON does.
    return value
