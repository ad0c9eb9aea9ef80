"""Parses coordinates, and finds the municipality by its name or from a Japanese address."""

from __future__ import annotations

import math
import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from tadoru.parse.sources.municipalities import municipalities

_JAPAN = (20.0, 46.5, 122.0, 154.5)
"""South, north, west, east."""
_NUMBER = re.compile(r"[+-]?\d{1,3}(?:\.\d{1,20})?")
_SIDED = re.compile(r"(?:(?P<before>[NSEW])\s?)?(?P<number>\d{1,3}(?:\.\d{1,20})?)\s?°?\s?(?P<after>[NSEW])?", re.IGNORECASE)
_DEGREES = re.compile(
    r"(?P<before>[+-]|[NSEW]|[北南東西][緯経])?\s?(?P<degrees>\d{1,3})\s?(?:°|度|º|\s)\s?"
    r"(?:(?P<minutes>\d{1,2}(?:\.\d{1,10})?)\s?(?:['′’]|分|\s|$)\s?)?"
    r"""(?:(?P<seconds>\d{1,2}(?:\.\d{1,10})?)\s?(?:"|″|”|''|′′|’’|秒|$)\s?)?(?P<after>[NSEW])?""",
    re.IGNORECASE,
)
_POINTS = re.compile(r"(?P<degrees>\d{1,3})[./](?P<minutes>\d{1,2})[./](?P<seconds>\d{1,2}(?:\.\d{1,6})?)")
"""Degrees, minutes and seconds separated by dots, as in Japanese surveys."""
_PAIR = re.compile(r"\s*+([+-]?\d{1,3}\.\d{1,20})(?:\s*+[,、]\s*+|\s++)([+-]?\d{1,3}\.\d{1,20})\s*+")
_POST_CODE = re.compile(r"^\s*(?:〒?\s?\d{3}-?\d{4})?[\s,、]*(?:日本国?[,、\s]*)?")
_COUNTY = re.compile(r"^[^\d\s]{1,5}?郡(?!市|山市)(?=[^\d\s]{1,8}?[町村])")
"""Not the start of 蒲郡市 or 大和郡山市."""
_CITY = re.compile(r"^[^\d\s]{1,8}?(?:市(?!市)|区|町|村)")
_WARD = re.compile(r"^(.{1,6}市).{1,6}区$")
"""The wards of a city are not municipalities; those of Tokyo are, and have no city."""
_LONGEST_CITY = 12


class Coordinates(NamedTuple):
    """Coordinates or none, with a note about corrections."""

    latitude: float | None
    longitude: float | None
    note: str = ""


NO_COORDINATES = Coordinates(None, None)


def parse_coordinates(latitude: str | float | None, longitude: str | float | None, zone: str) -> Coordinates:
    """Parse coordinates if they are plausible; swaps latitude and longitude if they were exchanged."""
    if _is_blank(latitude) and _is_blank(longitude):
        return NO_COORDINATES
    if _is_blank(longitude) and isinstance(latitude, str) and (pair := _PAIR.fullmatch(unicodedata.normalize("NFKC", latitude))):
        latitude, longitude = pair[1], pair[2]
    if _is_blank(latitude) or _is_blank(longitude):
        return Coordinates(None, None, "Only one coordinate; ignored.")
    north, east = _degrees(latitude), _degrees(longitude)
    if north is None or east is None:
        return Coordinates(None, None, "Invalid coordinates; ignored.")
    if not north and not east:
        return Coordinates(None, None, "Coordinates are 0, 0; ignored.")
    is_exchanged = _is_in_japan(east, north) and not _is_in_japan(north, east) and zone in {"Asia/Tokyo", "Japan"}
    if is_exchanged or (90 < abs(north) <= 180 and abs(east) <= 90):
        return Coordinates(east, north, "Latitude and longitude were swapped; corrected.")
    if abs(north) > 90 or abs(east) > 180:
        return Coordinates(None, None, "Coordinates out of range; ignored.")
    return Coordinates(north, east)


def _is_blank(value: str | float | None) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _is_in_japan(latitude: float, longitude: float) -> bool:
    south, north, west, east = _JAPAN
    return south <= latitude <= north and west <= longitude <= east


def _degrees(value: str | float | None) -> float | None:
    if isinstance(value, int | float):
        return float(value) if math.isfinite(value) else None
    text = unicodedata.normalize("NFKC", value or "").strip()
    if _NUMBER.fullmatch(text):
        return float(text)
    if found := _SIDED.fullmatch(text):
        return _signed(float(found["number"]), found)
    if found := _DEGREES.fullmatch(text):
        return _signed(_sum(found), found)
    found = _POINTS.fullmatch(text)
    return _sum(found) if found else None


def _sum(found: re.Match[str]) -> float | None:
    minutes, seconds = float(found["minutes"] or 0), float(found["seconds"] or 0)
    return int(found["degrees"]) + minutes / 60 + seconds / 3600 if minutes < 60 and seconds < 60 else None


def _signed(degrees: float | None, found: re.Match[str]) -> float | None:
    side = (found["before"] or "") + (found["after"] or "")
    return -degrees if degrees is not None and re.search("[-SW南西]", side, re.IGNORECASE) else degrees


def city_from_address(address: str) -> str:
    """The municipality at the start of a Japanese address; empty if there is none."""
    if not address or address.isascii():
        return ""
    text = _POST_CODE.sub("", unicodedata.normalize("NFKC", address))
    prefecture, rest = _without_prefecture(text)
    known = _known(rest)
    if known:
        return known
    found = _CITY.match(rest) if prefecture else None
    return found[0] if found else ""


def normalise_city(text: str) -> str:
    """The official name of a municipality given with its prefecture or county, or in another spelling; else the text itself."""
    if not text or text.isascii():
        return text
    _, rest = _without_prefecture(unicodedata.normalize("NFKC", text))
    return _names().cities.get(_spelt(rest), text)


def _without_prefecture(text: str) -> tuple[str, str]:
    """The prefecture at the start, and the rest without the county."""
    prefecture = next((text[:length] for length in (3, 4) if text[:length] in _names().prefectures), "")
    return prefecture, _COUNTY.sub("", text.removeprefix(prefecture).lstrip())


def _known(text: str) -> str:
    cities, start = _names().cities, _spelt(text[:_LONGEST_CITY])
    return next((cities[start[:length]] for length in range(len(start), 1, -1) if start[:length] in cities), "")


def _spelt(name: str) -> str:
    """Fold small and large ke, which are used interchangeably."""
    return name.replace("ヶ", "ケ").replace("が", "ケ")


class _Names(NamedTuple):
    prefectures: frozenset[str]
    cities: dict[str, str]
    """Folded name → official name."""


@lru_cache(maxsize=1)
def _names() -> _Names:
    places = municipalities().values()
    cities = [place.city for place in places if place.city]
    called = {_spelt(name): _WARD.sub(r"\1", name) for name in cities}
    return _Names(frozenset(place.prefecture for place in places), called)
