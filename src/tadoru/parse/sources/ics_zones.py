"""The time zones of a calendar: names of the tz database, of Windows, with a vendor's prefix, or defined by the calendar
itself.

A known name is read from the tz database and not from the calendar's VTIMEZONE, which is often old. A zone converts local time
to a moment and back; a local time in a gap is read with the offset before the gap, an ambiguous one is the first (RFC 5545,
3.3.5).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import NamedTuple, Protocol
from zoneinfo import ZoneInfo

from tadoru.parse.sources.ics_lines import IcsComponent, first, properties, read_offset, read_stamp
from tadoru.parse.sources.ics_rule import OutOfSteps, RuleRefused, StepBudget, read_rule, times_of

_PAIRS = """
Africa/Cairo=Egypt | Africa/Casablanca=Morocco | Africa/Johannesburg=South Africa | Africa/Juba=South Sudan |
Africa/Khartoum=Sudan | Africa/Lagos=W. Central Africa | Africa/Nairobi=E. Africa | Africa/Sao_Tome=Sao Tome |
Africa/Tripoli=Libya | Africa/Windhoek=Namibia | America/Adak=Aleutian | America/Anchorage=Alaskan |
America/Araguaina=Tocantins | America/Argentina/Buenos_Aires=Argentina | America/Asuncion=Paraguay |
America/Bahia=Bahia | America/Bogota=SA Pacific | America/Cancun=Eastern (Mexico) | America/Caracas=Venezuela |
America/Cayenne=SA Eastern | America/Chicago=Central | America/Cuiaba=Central Brazilian | America/Denver=Mountain |
America/Grand_Turk=Turks And Caicos | America/Guatemala=Central America | America/Halifax=Atlantic |
America/Havana=Cuba | America/Indiana/Indianapolis=US Eastern | America/La_Paz=SA Western |
America/Los_Angeles=Pacific | America/Mazatlan=Mountain (Mexico) | America/Mexico_City=Central (Mexico) |
America/Miquelon=Saint Pierre | America/Montevideo=Montevideo | America/New_York=Eastern | America/Nuuk=Greenland |
America/Phoenix=US Mountain | America/Port-au-Prince=Haiti | America/Punta_Arenas=Magallanes |
America/Regina=Canada Central | America/Santiago=Pacific SA | America/Sao_Paulo=E. South America |
America/St_Johns=Newfoundland | America/Tijuana=Pacific (Mexico) | America/Whitehorse=Yukon | Asia/Amman=Jordan |
Asia/Baghdad=Arabic | Asia/Baku=Azerbaijan | Asia/Bangkok=SE Asia | Asia/Barnaul=Altai | Asia/Beirut=Middle East |
Asia/Bishkek=Central Asia | Asia/Chita=Transbaikal | Asia/Colombo=Sri Lanka | Asia/Damascus=Syria |
Asia/Dhaka=Bangladesh | Asia/Dubai=Arabian | Asia/Hebron=West Bank | Asia/Hovd=W. Mongolia |
Asia/Irkutsk=North Asia East | Asia/Jerusalem=Israel | Asia/Kabul=Afghanistan | Asia/Kamchatka=Russia Time Zone 11 |
Asia/Karachi=Pakistan | Asia/Kathmandu=Nepal | Asia/Kolkata=India | Asia/Krasnoyarsk=North Asia | Asia/Magadan=Magadan |
Asia/Novosibirsk=N. Central Asia | Asia/Omsk=Omsk | Asia/Pyongyang=North Korea | Asia/Qyzylorda=Qyzylorda |
Asia/Riyadh=Arab | Asia/Sakhalin=Sakhalin | Asia/Seoul=Korea | Asia/Shanghai=China | Asia/Singapore=Singapore |
Asia/Srednekolymsk=Russia Time Zone 10 | Asia/Taipei=Taipei | Asia/Tashkent=West Asia | Asia/Tbilisi=Georgian |
Asia/Tehran=Iran | Asia/Tokyo=Tokyo | Asia/Tomsk=Tomsk | Asia/Ulaanbaatar=Ulaanbaatar | Asia/Vladivostok=Vladivostok |
Asia/Yakutsk=Yakutsk | Asia/Yangon=Myanmar | Asia/Yekaterinburg=Ekaterinburg | Asia/Yerevan=Caucasus |
Atlantic/Azores=Azores | Atlantic/Cape_Verde=Cape Verde | Atlantic/Reykjavik=Greenwich |
Australia/Adelaide=Cen. Australia | Australia/Brisbane=E. Australia | Australia/Darwin=AUS Central |
Australia/Eucla=Aus Central W. | Australia/Hobart=Tasmania | Australia/Lord_Howe=Lord Howe |
Australia/Perth=W. Australia | Australia/Sydney=AUS Eastern | Etc/GMT+11=UTC-11 | Etc/GMT+12=Dateline |
Etc/GMT+2=UTC-02 | Etc/GMT+8=UTC-08 | Etc/GMT+9=UTC-09 | Etc/GMT-12=UTC+12 | Etc/GMT-13=UTC+13 |
Europe/Astrakhan=Astrakhan | Europe/Berlin=W. Europe |
Europe/Berlin=Western/Central Europe | Europe/Bucharest=GTB | Europe/Budapest=Central Europe |
Europe/Chisinau=E. Europe | Europe/Istanbul=Turkey | Europe/Kaliningrad=Kaliningrad | Europe/Kyiv=FLE |
Europe/London=GMT | Europe/Minsk=Belarus | Europe/Moscow=Russian | Europe/Paris=Romance |
Europe/Samara=Russia Time Zone 3 | Europe/Saratov=Saratov | Europe/Volgograd=Volgograd |
Europe/Warsaw=Central European | Indian/Mauritius=Mauritius | Pacific/Apia=Samoa | Pacific/Auckland=New Zealand |
Pacific/Bougainville=Bougainville | Pacific/Chatham=Chatham Islands | Pacific/Easter=Easter Island | Pacific/Fiji=Fiji |
Pacific/Guadalcanal=Central Pacific | Pacific/Honolulu=Hawaiian | Pacific/Kiritimati=Line Islands |
Pacific/Marquesas=Marquesas | Pacific/Norfolk=Norfolk | Pacific/Port_Moresby=West Pacific | Pacific/Tongatapu=Tonga
"""

ZONES: dict[str, str] = {
    windows.lower(): zone for zone, _, windows in (pair.strip().partition("=") for pair in _PAIRS.split("|"))
}
"""By the Windows name in lower case."""


def windows_zone(name: str) -> str | None:
    """The tz database's name for a Windows name, daylight or standard: "Tokyo Standard Time" is Asia/Tokyo."""
    return ZONES.get(name.lower().replace(" standard time", "").replace(" daylight time", ""))


_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+){0,3}")
_NOT_A_PLACE = frozenset({"localtime", "Factory", "posixrules", "right", "posix"})
_DISPLAYED = re.compile(r"\((?:UTC|GMT)(?:([+-])([0-9]{1,2})[:.]([0-9]{2}))?\)\s{0,3}(.{0,100})", re.IGNORECASE)
"""As Outlook shows zones: "(UTC+09:00) Osaka, Sapporo, Tokyo"."""
_REGIONS = "Asia Europe America Australia Africa Pacific Atlantic Indian".split()
_FIXED = re.compile(r"(?:UTC|GMT)?([+-])([0-9]{1,2})(?::?([0-9]{2}))?", re.IGNORECASE)
_DRAWN_FROM = datetime(1970, 1, 1)  # noqa: DTZ001 -- a clock on the wall
_DRAWN_DAYS = 10 * 366
_WINTER, _SUMMER = datetime(2026, 1, 1), datetime(2026, 7, 1)  # noqa: DTZ001 -- clocks on the wall
_MOST_CHANGES = 2_000
_MOST_STEPS = 60_000
"""Of one zone."""


class CalendarZone(Protocol):
    """A time zone of a calendar."""

    @property
    def name(self) -> str | None:
        """Its name in the tz database."""
        ...

    def moment(self, wall: datetime) -> datetime:
        """The aware time at which the clock shows this, in this zone."""
        ...

    def show(self, moment: datetime) -> datetime:
        """An aware time in this zone."""
        ...


class NamedZone:
    """A zone of the tz database, or a fixed offset."""

    def __init__(self, tz: tzinfo, name: str | None) -> None:
        self._tz = tz
        self.name = name

    def moment(self, wall: datetime) -> datetime:
        moment = wall.replace(tzinfo=self._tz, fold=0)
        # There and back: a time in a gap becomes what the clock shows at that moment.
        return moment if self._tz is UTC else moment.astimezone(UTC).astimezone(self._tz)

    def show(self, moment: datetime) -> datetime:
        return moment.astimezone(self._tz)


class ZoneTransition(NamedTuple):
    """A moment at which the offset of an embedded zone changes."""

    moment: datetime
    """UTC, naive."""
    before: timedelta
    after: timedelta

    @property
    def wall(self) -> datetime:
        """The first time on the wall that is read with the offset after."""
        return self.moment + max(self.before, self.after)


class EmbeddedZone:
    """A zone defined by a VTIMEZONE; it has no common name, so its moments carry a fixed offset."""

    name: str | None = None

    def __init__(self, changes: list[ZoneTransition]) -> None:
        self._changes = sorted(changes)
        self._walls = [change.wall for change in self._changes]
        self._moments = [change.moment for change in self._changes]

    def moment(self, wall: datetime) -> datetime:
        return self.show((wall - self._offset(bisect_right(self._walls, wall))).replace(tzinfo=UTC))

    def show(self, moment: datetime) -> datetime:
        utc = moment.astimezone(UTC)
        return utc.astimezone(timezone(self._offset(bisect_right(self._moments, utc.replace(tzinfo=None)))))

    def _offset(self, passed: int) -> timedelta:
        return self._changes[passed - 1].after if passed else self._changes[0].before


UTC_ZONE = NamedZone(UTC, None)


def wall_of(moment: datetime, zone: CalendarZone) -> datetime:
    """What the clock of a zone shows at an aware time: naive."""
    return zone.show(moment).replace(tzinfo=None, fold=0)


@lru_cache(maxsize=512)
def known_zone(name: str) -> NamedZone | None:
    """The zone of a name that is known everywhere: with or without a maker's prefix, as Windows calls it, or as an offset."""
    name = name.strip().strip('"').replace("\\", "")
    if name.upper() in ("UTC", "Z", "GMT", "ETC/UTC"):
        return UTC_ZONE
    if name.upper() == "JST":
        name = "Asia/Tokyo"
    name = name.strip("/")
    parts = name.split("/")
    candidates = [windows_zone(name) or name, *("/".join(parts[-count:]) for count in (3, 2) if len(parts) > count)]
    for candidate in candidates:
        if _NAME.fullmatch(candidate) and candidate.split("/", 1)[0] not in _NOT_A_PLACE:
            try:
                return NamedZone(ZoneInfo(candidate), candidate)
            except (KeyError, ValueError, OSError):  # not there, not a name, the folder of several
                continue
    if match := _FIXED.fullmatch(name):
        offset = timedelta(hours=int(match[2]), minutes=int(match[3] or 0))
        if offset < timedelta(hours=15):
            return NamedZone(timezone(offset if match[1] == "+" else -offset), None)
    return None


def displayed_zone(name: str) -> NamedZone | None:
    """The zone of a name as Outlook shows it: by the first of its cities that has this offset, else by the offset alone."""
    match = _DISPLAYED.fullmatch(name.strip().strip('"').replace("\\", ""))
    if match is None:
        return None
    offset = timedelta(hours=int(match[2] or 0), minutes=int(match[3] or 0))
    offset = -offset if match[1] == "-" else offset
    words = re.sub(r"\s?(?:Time)?\s?\(US (?:&|and) Canada\)|\sTime$", "", match[4])
    cities = (city.strip().replace(" ", "_") for city in re.split("[,;&/]", words))
    candidates = [windows_zone(words.strip()) or "", *(f"{region}/{city}" for city in cities if city for region in _REGIONS)]
    for candidate in candidates:
        zone = known_zone(candidate) if candidate else None
        if zone is not None and offset in {zone.moment(_WINTER).utcoffset(), zone.moment(_SUMMER).utcoffset()}:
            return zone
    return NamedZone(timezone(offset), None) if offset < timedelta(hours=15) else None


class CalendarZones:
    """The time zones of one calendar."""

    def __init__(self, drawn: Iterable[IcsComponent], now: datetime, steps: StepBudget) -> None:
        self._drawn: dict[str, IcsComponent] = {}
        for component in drawn:
            if name := first(component, "TZID"):
                self._drawn.setdefault(name.value.strip().replace("\\", ""), component)
        self._now = now
        self._steps = steps
        self._found: dict[str, CalendarZone | None] = {}

    def find(self, name: str) -> CalendarZone | None:
        """The zone of a TZID."""
        name = name.strip().replace("\\", "")
        if name not in self._found:
            self._found[name] = known_zone(name[:200]) or self._located(name) or self._draw(name) or displayed_zone(name[:200])
        return self._found[name]

    def _located(self, name: str) -> CalendarZone | None:
        place = first(self._drawn[name], "X-LIC-LOCATION") if name in self._drawn else None
        return known_zone(place.value[:200]) if place else None

    def _draw(self, name: str) -> CalendarZone | None:
        if name not in self._drawn:
            return None
        changes: list[ZoneTransition] = []
        until = (self._now + timedelta(days=_DRAWN_DAYS)).replace(tzinfo=None)
        steps = self._steps.share(0, _MOST_STEPS)
        try:
            for observance in self._drawn[name].children[:_MOST_CHANGES]:
                changes += _changes(observance, until, steps)
        except (OutOfSteps, RuleRefused):
            return None
        finally:
            self._steps.give_back(steps)
        return EmbeddedZone(changes[:_MOST_CHANGES]) if changes else None


def _changes(observance: IcsComponent, until: datetime, steps: StepBudget) -> Iterator[ZoneTransition]:
    """When the clocks are changed to one STANDARD or DAYLIGHT time. Raises RuleRefused, OutOfSteps."""
    start_line, rule_line = first(observance, "DTSTART"), first(observance, "RRULE")
    before, after = (_offset(observance, name) for name in ("TZOFFSETFROM", "TZOFFSETTO"))
    start = read_stamp(start_line.value) if start_line else None
    if start is None or before is None or after is None:
        return
    walls = {start.wall}
    for line in properties(observance, "RDATE"):
        values = line.value.split(",", _MOST_CHANGES)[:_MOST_CHANGES]
        steps.spend(len(values))
        walls.update(stamp.wall for value in values if (stamp := read_stamp(value)))
    if rule_line:
        rule = read_rule(rule_line.value)
        limit = until
        if rule.until:
            limit = min(limit, rule.until.wall + before if rule.until.is_utc else rule.until.wall)
        walls.update(times_of(replace(rule, until=None), start.wall, _DRAWN_FROM, limit, steps))
    yield from (ZoneTransition(wall - before, before, after) for wall in walls)


def _offset(observance: IcsComponent, name: str) -> timedelta | None:
    line = first(observance, name)
    return read_offset(line.value) if line else None
