"""SQL conditions of filters: words in the searched text, and an area on the map.

SQLite has a full-text table over the column `search_text`, PostgreSQL an index of its words. Triggers or the database itself
maintain them in the transaction that writes the event (migration 0004). Both find candidates by whole words or prefixes; SQLite
also knows their order, on PostgreSQL the text is checked again.

Without PostGIS, distances are computed on the plane that touches the earth at the centre, which is exact to a few parts in a
thousand at the distances people travel to an event. An area may cross the antimeridian.
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
"""Up to this number of matches they are collected and sorted; with more, the list is followed in its order."""
_SAMPLE, _COMMON = 200, 0.05
"""Size of the sample that estimates how common a match is, and the share that makes it common."""


class MatchFrequency(Enum):
    """How many of all events match; each case has its own query plan."""

    FEW = "few"
    SOME = "some"
    COMMON = "common"


_index = table("events_search", column("rowid"))
_match: ColumnElement[Any] = literal_column("events_search")


def contains_words(query: SearchQuery, *, is_sqlite: bool) -> ColumnElement[bool]:
    """The condition that an event matches the query."""
    if not query.wanted:
        return false()
    if is_sqlite:
        return events.c.id.in_(matching_ids(query))
    words = func.array_to_tsvector(func.string_to_array(func.btrim(events.c.search_text), literal_column("' '")), type_=TSVECTOR)
    tsquery = literal(" & ".join(_lexemes(phrase) for phrase in query.wanted), Text()).cast(TSQUERY)
    # The index alone is exact for a single word; a second condition would let the planner think the match is twice as rare.
    adjacent = [events.c.search_text.contains(phrase.line) for phrase in query.wanted if len(phrase.words) > 1]
    return and_(words.op("@@")(tsquery), *adjacent, *(~events.c.search_text.contains(phrase.line) for phrase in query.unwanted))


def _lexemes(phrase: SearchPhrase) -> str:
    """The words of a phrase in the syntax of PostgreSQL. They are letters and digits only, so nothing a user enters is syntax."""
    last = len(phrase.words) - 1
    return " & ".join(f"'{word}'{':*' if at == last and phrase.is_open else ''}" for at, word in enumerate(phrase.words))


def matching_ids(query: SearchQuery) -> Select[Any]:
    """The ids of the matching events, on SQLite."""
    return select(_index.c.rowid).where(_match.op("MATCH")(fts_expression(query)))


def fts_expression(query: SearchQuery) -> str:
    """The query in the syntax of SQLite, with quoted strings only."""
    wanted = " AND ".join(map(_quoted, query.wanted))
    return f"({wanted})" + "".join(f" NOT {_quoted(phrase)}" for phrase in query.unwanted)


def _quoted(phrase: SearchPhrase) -> str:
    return f'"{" ".join(phrase.words)}"{"*" if phrase.is_open else ""}'


def text_contains(query: SearchQuery) -> ColumnElement[bool]:
    """The condition that the text of an event matches, without the index."""
    text = events.c.search_text
    wanted = [func.instr(text, phrase.line) > 0 for phrase in query.wanted]
    return and_(*wanted, *(func.instr(text, phrase.line) == 0 for phrase in query.unwanted))


def match_frequency(sql: Connection, query: SearchQuery) -> MatchFrequency:
    """How many events match, on SQLite: few, some, or so many that checking the texts along the list is fastest."""
    last: int = sql.execute(select(func.max(events.c.id))).scalar() or 0
    sample = {1 + number * last // _SAMPLE for number in range(_SAMPLE)}
    common = select(func.count()).where(events.c.id.in_(sample), text_contains(query))
    if sql.execute(common).scalar_one() >= _SAMPLE * _COMMON:
        return MatchFrequency.COMMON
    some = matching_ids(query).limit(FEW + 1).subquery()
    return MatchFrequency.FEW if sql.execute(select(func.count()).select_from(some)).scalar_one() <= FEW else MatchFrequency.SOME


def matching_occurrences(query: SearchQuery) -> CTE:
    """The occurrences of all matching events, on SQLite: looked up by event id, whatever the planner prefers."""
    rows = select(occurrences).where(occurrences.c.event_id.in_(matching_ids(query))).cte("found")
    return rows.prefix_with("MATERIALIZED", dialect="sqlite")


def occurrence_matches(query: SearchQuery) -> ColumnElement[bool]:
    """The condition on an occurrence that its event matches, on SQLite; the plus keeps the list in its order."""
    return literal_column("+occurrences.event_id", occurrences.c.event_id.type).in_(matching_ids(query))


KM_PER_DEGREE = 111.195
_POSITION = """
ALTER TABLE events ADD COLUMN IF NOT EXISTS position geography
GENERATED ALWAYS AS (CASE WHEN lat IS NULL OR lon IS NULL THEN NULL
ELSE ST_SetSRID(ST_MakePoint(lon, lat), 4326)::geography END) STORED
"""


class GeoBox(NamedTuple):
    """A box in degrees. If west is greater than east, it crosses the antimeridian."""

    south: float
    west: float
    north: float
    east: float


class GeoCircle(NamedTuple):
    """Everything within a distance of a point."""

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
            raise UsageError(
                "Invalid area. The latitude must be from -90 to 90, the longitude from -180 to 180 and the distance above 0 km."
            )
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
    """Whether PostGIS can be used; creates its column if so. The column is no part of the schema: it is computed from lat and
    lon.

    PostGIS must be installed and visible from the schema in use. A user without the right to alter the table does without it.
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
