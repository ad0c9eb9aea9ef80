"""Asking the index of searched texts, of each database's own kind.

SQLite has a full-text table over the column `search_text`, PostgreSQL an index of the words in it; both are kept by triggers or
by the database itself, in the transaction that writes the event (revision 0004). Both find candidates by whole words or the
beginning of one; SQLite knows their order too, on PostgreSQL the text is looked at again.
"""

from __future__ import annotations

from enum import Enum
from math import cos, radians
from typing import Any, NamedTuple

from sqlalchemy import (
    CTE,
    ColumnElement,
    Connection,
    Select,
    and_,
    case,
    column,
    false,
    func,
    literal,
    literal_column,
    or_,
    select,
    table,
    text,
)
from sqlalchemy.dialects.postgresql import TSQUERY, TSVECTOR
from sqlalchemy.types import Text

from tadoru.errors import StoreError, UsageError
from tadoru.store.calendar.database import CalendarDatabase
from tadoru.store.calendar.schema import events, occurrences
from tadoru.store.calendar.search_text import SearchPhrase, SearchQuery

FEW = 2000
"""Up to so many events that are found are put in order; among more of them the list is walked in its order instead."""
_SAMPLE, _COMMON = 200, 0.05
"""Events that are looked at to know what is common, and the share of them that makes it so."""


class MatchFrequency(Enum):
    """How many of all events have what is asked for: each is found in another way."""

    FEW = "few"
    SOME = "some"
    COMMON = "common"


_index = table("events_search", column("rowid"))
_match: ColumnElement[Any] = literal_column("events_search")


def contains_words(query: SearchQuery, *, is_sqlite: bool) -> ColumnElement[bool]:
    """The condition that an event has what is asked for."""
    if not query.wanted:
        return false()
    if is_sqlite:
        return events.c.id.in_(matching_ids(query))
    words = func.array_to_tsvector(func.string_to_array(func.btrim(events.c.search_text), literal_column("' '")), type_=TSVECTOR)
    asked = literal(" & ".join(_lexemes(phrase) for phrase in query.wanted), Text()).cast(TSQUERY)
    # One word is found by the index alone; to ask for it twice would let the planner think it twice as rare.
    said = [events.c.search_text.contains(phrase.line) for phrase in query.wanted if len(phrase.words) > 1]
    return and_(words.op("@@")(asked), *said, *(~events.c.search_text.contains(phrase.line) for phrase in query.unwanted))


def _lexemes(phrase: SearchPhrase) -> str:
    """The words of a phrase in PostgreSQL's language. They are letters and digits only: nothing a person types is syntax."""
    last = len(phrase.words) - 1
    return " & ".join(f"'{word}'{':*' if at == last and phrase.is_open else ''}" for at, word in enumerate(phrase.words))


def matching_ids(query: SearchQuery) -> Select[Any]:
    """The numbers of the events that have it, on SQLite."""
    return select(_index.c.rowid).where(_match.op("MATCH")(fts_expression(query)))


def fts_expression(query: SearchQuery) -> str:
    """The query in SQLite's language, of quoted strings only."""
    wanted = " AND ".join(map(_quoted, query.wanted))
    return f"({wanted})" + "".join(f" NOT {_quoted(phrase)}" for phrase in query.unwanted)


def _quoted(phrase: SearchPhrase) -> str:
    return f'"{" ".join(phrase.words)}"{"*" if phrase.is_open else ""}'


def text_contains(query: SearchQuery) -> ColumnElement[bool]:
    """The condition that the text of an event has it: the index is not asked."""
    text = events.c.search_text
    wanted = [func.instr(text, phrase.line) > 0 for phrase in query.wanted]
    return and_(*wanted, *(func.instr(text, phrase.line) == 0 for phrase in query.unwanted))


def match_frequency(sql: Connection, query: SearchQuery) -> MatchFrequency:
    """How many events have it, on SQLite: few, some, or so many that reading texts along the list is the shortest way."""
    last: int = sql.execute(select(func.max(events.c.id))).scalar() or 0
    sample = {1 + number * last // _SAMPLE for number in range(_SAMPLE)}
    common = select(func.count()).where(events.c.id.in_(sample), text_contains(query))
    if sql.execute(common).scalar_one() >= _SAMPLE * _COMMON:
        return MatchFrequency.COMMON
    some = matching_ids(query).limit(FEW + 1).subquery()
    return MatchFrequency.FEW if sql.execute(select(func.count()).select_from(some)).scalar_one() <= FEW else MatchFrequency.SOME


def matching_occurrences(query: SearchQuery) -> CTE:
    """The times of all events that have it, on SQLite: looked up by their numbers, whatever the planner thinks of that."""
    rows = select(occurrences).where(occurrences.c.event_id.in_(matching_ids(query))).cte("found")
    return rows.prefix_with("MATERIALIZED", dialect="sqlite")


def occurrence_matches(query: SearchQuery) -> ColumnElement[bool]:
    """The condition on a time that its event has it, on SQLite; the plus keeps the walk in its order."""
    return literal_column("+occurrences.event_id", occurrences.c.event_id.type).in_(matching_ids(query))


KM_PER_DEGREE = 111.195
_POSITION = """
ALTER TABLE events ADD COLUMN IF NOT EXISTS position geography
GENERATED ALWAYS AS (CASE WHEN lat IS NULL OR lon IS NULL THEN NULL
ELSE ST_SetSRID(ST_MakePoint(lon, lat), 4326)::geography END) STORED
"""


class GeoBox(NamedTuple):
    """Degrees. A box whose west is greater than its east crosses the antimeridian."""

    south: float
    west: float
    north: float
    east: float


class GeoCircle(NamedTuple):
    """Everything within so many kilometres of a point."""

    lat: float
    lon: float
    km: float


def geo_conditions(box: GeoBox | None, near: GeoCircle | None, *, exact: bool) -> list[ColumnElement[bool]]:
    """The conditions of a box and a circle."""
    wanted: list[ColumnElement[bool]] = []
    if box is not None:
        wanted += _in_box(box)
    if near is not None:
        if not (-90 <= near.lat <= 90 and -180 <= near.lon <= 180 and near.km > 0):
            raise UsageError("A place is a latitude from -90 to 90, a longitude from -180 to 180 and a distance above 0 km.")
        wanted += _with_postgis(near) if exact else _in_circle(near)
    return wanted


def _in_box(box: GeoBox) -> list[ColumnElement[bool]]:
    lat, lon = events.c.lat, events.c.lon
    across = or_(lon >= box.west, lon <= box.east)
    return [lat.between(box.south, box.north), across if box.west > box.east else lon.between(box.west, box.east)]


def _in_circle(near: GeoCircle) -> list[ColumnElement[bool]]:
    high = near.km / KM_PER_DEGREE
    apart = func.abs(events.c.lon - literal(near.lon))
    across = case((apart > 180, 360 - apart), else_=apart) * (KM_PER_DEGREE * cos(radians(near.lat)))
    along = (events.c.lat - literal(near.lat)) * KM_PER_DEGREE
    round_it = across * across + along * along <= near.km * near.km
    return [and_(events.c.lat.between(near.lat - high, near.lat + high), events.c.lon.is_not(None), round_it)]


def _with_postgis(near: GeoCircle) -> list[ColumnElement[bool]]:
    point = "ST_SetSRID(ST_MakePoint(:near_lon, :near_lat), 4326)::geography"
    values = {"near_lon": near.lon, "near_lat": near.lat, "near_metres": near.km * 1000}
    return [text(f"ST_DWithin(events.position, {point}, :near_metres)").bindparams(**values)]  # type: ignore[list-item]


def prepare_postgis(store: CalendarDatabase) -> bool:
    """Whether PostGIS can be used; its column is made when it can. It is no part of the schema: it follows from lat and lon.

    It has to be installed and visible from the schema in use; a user who may not alter the table does without it.
    """
    with store.read() as sql:
        if sql.execute(text("SELECT to_regtype('geography') IS NULL")).scalar_one():
            return False
        if _has_position(sql):
            return True
    try:
        with store.write() as sql:
            sql.execute(text(_POSITION))
            sql.execute(text("CREATE INDEX IF NOT EXISTS events_by_position ON events USING gist (position)"))
    except StoreError:
        return False
    return True


def _has_position(sql: Connection) -> bool:
    query = "SELECT 1 FROM information_schema.columns WHERE table_name = 'events' AND column_name = 'position'"
    return sql.execute(text(f"{query} AND table_schema = ANY (current_schemas(false))")).first() is not None
