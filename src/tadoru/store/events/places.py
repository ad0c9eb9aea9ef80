"""Where events are on the map: a box, or a circle around a point. Plain columns everywhere; PostGIS adds an exact and indexed
way.

Without PostGIS the distance is measured on the plane that touches the earth at the centre: right to a few parts in a thousand for
the distances people travel to an event. The antimeridian may lie inside.
"""

from __future__ import annotations

from math import cos, radians
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, case, func, literal, or_, text

from tadoru.errors import StoreError, UsageError
from tadoru.store.events.connect import EventsDatabase
from tadoru.store.events.schema import events

KM_PER_DEGREE = 111.195
_POSITION = """
ALTER TABLE events ADD COLUMN IF NOT EXISTS position geography
GENERATED ALWAYS AS (CASE WHEN lat IS NULL OR lon IS NULL THEN NULL
ELSE ST_SetSRID(ST_MakePoint(lon, lat), 4326)::geography END) STORED
"""


class Box(NamedTuple):
    """Degrees. A box whose west is greater than its east crosses the antimeridian."""

    south: float
    west: float
    north: float
    east: float


class Circle(NamedTuple):
    """Everything within so many kilometres of a point."""

    lat: float
    lon: float
    km: float


def within(box: Box | None, near: Circle | None, *, exact: bool) -> list[ColumnElement[bool]]:
    """The conditions of a box and a circle."""
    wanted: list[ColumnElement[bool]] = []
    if box is not None:
        wanted += _in_box(box)
    if near is not None:
        if not (-90 <= near.lat <= 90 and -180 <= near.lon <= 180 and near.km > 0):
            raise UsageError("A place is a latitude from -90 to 90, a longitude from -180 to 180 and a distance above 0 km.")
        wanted += _with_postgis(near) if exact else _in_circle(near)
    return wanted


def _in_box(box: Box) -> list[ColumnElement[bool]]:
    lat, lon = events.c.lat, events.c.lon
    across = or_(lon >= box.west, lon <= box.east)
    return [lat.between(box.south, box.north), across if box.west > box.east else lon.between(box.west, box.east)]


def _in_circle(near: Circle) -> list[ColumnElement[bool]]:
    high = near.km / KM_PER_DEGREE
    apart = func.abs(events.c.lon - literal(near.lon))
    across = case((apart > 180, 360 - apart), else_=apart) * (KM_PER_DEGREE * cos(radians(near.lat)))
    along = (events.c.lat - literal(near.lat)) * KM_PER_DEGREE
    round_it = across * across + along * along <= near.km * near.km
    return [and_(events.c.lat.between(near.lat - high, near.lat + high), events.c.lon.is_not(None), round_it)]


def _with_postgis(near: Circle) -> list[ColumnElement[bool]]:
    point = "ST_SetSRID(ST_MakePoint(:near_lon, :near_lat), 4326)::geography"
    values = {"near_lon": near.lon, "near_lat": near.lat, "near_metres": near.km * 1000}
    return [text(f"ST_DWithin(events.position, {point}, :near_metres)").bindparams(**values)]  # type: ignore[list-item]


def prepare_postgis(store: EventsDatabase) -> bool:
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
