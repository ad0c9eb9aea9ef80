"""A calendar as ICS (RFC 5545), for programs that subscribe to it or import it.

Where the standard leaves a choice, this is what calendar programs handle best:

- Times are local, with the IANA name of the zone and a VTIMEZONE for it: programs know these names, users see the local time,
  and an import keeps the day. A time in the repeated hour of a clock change is written in UTC.
- Each occurrence of a series is a separate event whose UID includes its date: programs disagree about rules and lists of dates,
  and occurrences may have different durations. A corrected time keeps the UID.
- DTSTAMP is the last change, so that the same events give the same bytes. TRANSP shows users as free.
- The organiser is a CONTACT: ORGANIZER requires a mail address, which sources seldom have. Source and licence are in DESCRIPTION,
  which every program shows.

A VTIMEZONE covers the years in use, at least twelve, so that "the last Sunday of March" can be record from "the fourth". Changes
that follow such a rule are written as a rule, others as a list of dates.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from tadoru.i18n.translation import translator
from tadoru.parse.text_cleaning import plain_text
from tadoru.store.calendar.drafts import zone_or_utc
from tadoru.store.calendar.records import CalendarEvent, EventRecord, EventTime, ZoneUse
from tadoru.version import VERSION

LINE_END = "\r\n"
_WIDTH = 75
_NOT_ALLOWED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_SPECIAL = re.compile(r"[\\;,\n]")


def escape_text(value: str) -> str:
    """Escape a value of type TEXT."""
    cleaned = _NOT_ALLOWED.sub("", value.replace("\r\n", "\n").replace("\r", "\n"))
    return _SPECIAL.sub(lambda found: "\\n" if found[0] == "\n" else f"\\{found[0]}", cleaned)


def escape_uri(value: str) -> str:
    """Clean a value of type URI: it is not escaped, so it must not contain line breaks."""
    return "".join(_NOT_ALLOWED.sub("", value).split())


def fold_line(line: str) -> str:
    """A line with its line end, folded at 75 octets and never within a character."""
    if len(line) * 4 <= _WIDTH or len(line.encode()) <= _WIDTH:
        return line + LINE_END
    octets, parts, start, room = line.encode(), [], 0, _WIDTH
    while start < len(octets):
        stop = min(start + room, len(octets))
        while stop < len(octets) and octets[stop] & 0xC0 == 0x80:  # within a character
            stop -= 1
        parts.append(octets[start:stop].decode())
        start, room = stop, _WIDTH - 1  # the leading space counts
    return f"{LINE_END} ".join(parts) + LINE_END


_DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_FIRST_YEAR, _LAST_YEAR = 1900, 2100
_STEP = timedelta(days=10)
"""Shorter than the interval between two clock changes anywhere."""
_ENOUGH_YEARS = 12
_LEAST_FOR_A_RULE = 3
_REFRESH = "PT3H"
"""How often subscribers ask: no source is collected more often."""


@dataclass(frozen=True, slots=True)
class _Clock:
    """The offset of a zone during a period."""

    offset: timedelta
    is_summer: bool
    name: str


@dataclass(frozen=True, slots=True)
class _Change:
    """A clock change."""

    at: datetime
    before: _Clock
    after: _Clock

    @property
    def wall(self) -> datetime:
        """The local time of the change, before it."""
        return self.at.replace(tzinfo=None) + self.before.offset


def zone_lines(zone: ZoneInfo, first: datetime, last: datetime) -> Iterator[str]:
    """The VTIMEZONE component for events between two times."""
    begin, end = _years(first, last)
    yield "BEGIN:VTIMEZONE"
    yield f"TZID:{zone.key}"
    changes = list(_changes(zone, begin, end))
    initial = _clock(zone, begin)
    wall = begin.replace(tzinfo=None) if changes else datetime(1970, 1, 1)  # noqa: DTZ001 - what a clock shows
    yield from _observance(initial, initial, [wall], None)
    groups: dict[tuple[_Clock, _Clock], list[_Change]] = {}
    for change in changes:
        groups.setdefault((change.before, change.after), []).append(change)
    for (before, after), group in groups.items():
        is_over = group[-1].at < end - timedelta(days=400)
        yield from _observance(before, after, [one.wall for one in group], group[-1].at if is_over else None)
    yield "END:VTIMEZONE"


def _years(first: datetime, last: datetime) -> tuple[datetime, datetime]:
    begin = min(max(first.year - 1, _FIRST_YEAR), _LAST_YEAR - _ENOUGH_YEARS)
    end = min(max(last.year + 2, begin + _ENOUGH_YEARS), _LAST_YEAR)
    return datetime(begin, 1, 1, tzinfo=UTC), datetime(end, 1, 1, tzinfo=UTC)


def _clock(zone: ZoneInfo, at: datetime) -> _Clock:
    here = at.astimezone(zone)
    return _Clock(here.utcoffset() or timedelta(0), (here.dst() or timedelta(0)) > timedelta(0), here.tzname() or "")


def _changes(zone: ZoneInfo, begin: datetime, end: datetime) -> Iterator[_Change]:
    at, clock = begin, _clock(zone, begin)
    while at < end:
        then = at + _STEP
        if (after := _clock(zone, then)) != clock:
            yield _Change(_moment(zone, at, then, clock), clock, after)
            clock = after
        at = then


def _moment(zone: ZoneInfo, low: datetime, high: datetime, clock: _Clock) -> datetime:
    """The second of a clock change between two times."""
    while (high - low).total_seconds() > 1:
        middle = low + timedelta(seconds=int((high - low).total_seconds()) // 2)
        low, high = (middle, high) if _clock(zone, middle) == clock else (low, middle)
    return high


def _observance(before: _Clock, after: _Clock, walls: Sequence[datetime], until: datetime | None) -> Iterator[str]:
    kind = "DAYLIGHT" if after.is_summer else "STANDARD"
    yield f"BEGIN:{kind}"
    yield f"DTSTART:{walls[0]:%Y%m%dT%H%M%S}"
    yield f"TZOFFSETFROM:{_offset(before.offset)}"
    yield f"TZOFFSETTO:{_offset(after.offset)}"
    if after.name:
        yield f"TZNAME:{escape_text(after.name)}"
    if rule := _rule(walls, until) if len(walls) > 1 else "":
        yield rule
    else:
        # One date a line: several programs read only the first of a list.
        yield from (f"RDATE:{wall:%Y%m%dT%H%M%S}" for wall in walls[1:])
    yield f"END:{kind}"


def _rule(walls: Sequence[datetime], until: datetime | None) -> str:
    """The rule "last Sunday of March" if all dates follow it; empty otherwise."""
    first = walls[0]
    is_yearly = [wall.year for wall in walls] == list(range(first.year, first.year + len(walls)))
    is_alike = len({(wall.month, wall.weekday(), wall.time()) for wall in walls}) == 1
    if not (is_yearly and is_alike and len(walls) >= _LEAST_FOR_A_RULE):
        return ""
    if all(wall.day + 7 > monthrange(wall.year, wall.month)[1] for wall in walls):
        place = -1
    elif len(places := {(wall.day - 1) // 7 + 1 for wall in walls}) == 1:
        place = places.pop()
    else:
        return ""
    end = f";UNTIL={until:%Y%m%dT%H%M%SZ}" if until else ""
    return f"RRULE:FREQ=YEARLY;BYMONTH={first.month};BYDAY={place}{_DAYS[first.weekday()]}{end}"


def _offset(offset: timedelta) -> str:
    seconds = int(offset.total_seconds())
    sign, seconds = ("-", -seconds) if seconds < 0 else ("+", seconds)
    rest = f"{seconds % 60:02}" if seconds % 60 else ""
    return f"{sign}{seconds // 3600:02}{seconds // 60 % 60:02}{rest}"


def ics_calendar(
    events: Iterable[EventRecord],
    zones: Iterable[ZoneUse],
    *,
    name: str = "Tadoru",
    lang: str = "en",
    since: date | None = None,
    until: date | None = None,
) -> Iterator[str]:
    """A calendar in pieces. Of a series, only the occurrences from `since` to `until`, both included, are written."""
    words = field_labels(lang)
    yield _component([
        "BEGIN:VCALENDAR", "VERSION:2.0", f"PRODID:-//Tadoru//Tadoru {VERSION}//EN", "CALSCALE:GREGORIAN", "METHOD:PUBLISH",
        f"NAME:{escape_text(name)}", f"X-WR-CALNAME:{escape_text(name)}",
        f"REFRESH-INTERVAL;VALUE=DURATION:{_REFRESH}", f"X-PUBLISHED-TTL:{_REFRESH}",
    ])  # fmt: skip
    used: dict[str, ZoneUse] = {}
    for use in zones:  # two names may be one zone: unknown ones are UTC
        key = zone_or_utc(use.name).key
        other = used.get(key, use)
        used[key] = ZoneUse(name=key, first=min(use.first, other.first), last=max(use.last, other.last))
    for key, use in used.items():
        if not _is_utc(key):
            yield _component(zone_lines(zone_or_utc(key), use.first, use.last))
    for record in events:
        uids = _uids(record)
        for time, uid in zip(record.times, uids, strict=True):
            is_wanted = (since is None or time.last_date >= since) and (until is None or time.local_date <= until)
            if is_wanted or len(record.times) == 1:
                yield _component(_event(record.event, time, uid=uid, words=words))
    yield f"END:VCALENDAR{LINE_END}"


def field_labels(lang: str) -> Mapping[str, str]:
    """The labels of the facts in a description."""
    _ = translator(lang)
    return {
        "price": _.pgettext("calendar", "Price"),
        "organizer": _.pgettext("calendar", "Organizer"),
        "source": _.pgettext("calendar", "Source"),
        "licence": _.pgettext("calendar", "Licence"),
        "terms": _.pgettext("calendar", "Terms"),
        "vanished": _.pgettext("calendar", "The source no longer lists this event."),
        "postponed": _.pgettext("calendar", "Postponed: the event does not take place on this date."),
    }


def _component(lines: Iterable[str]) -> str:
    return "".join(map(fold_line, lines))


def _is_utc(key: str) -> bool:
    return key in {"UTC", "Etc/UTC"}


def _utc(at: datetime) -> str:
    at = at.astimezone(UTC)
    return f"{at.year:04}{at:%m%dT%H%M%S}Z"


def _uids(record: EventRecord) -> list[str]:
    """The UID of each occurrence: of a series by its date, and its place among those of one day."""
    if len(record.times) == 1:
        return [record.event.uid]
    days: Counter[date] = Counter()
    found = []
    for time in record.times:
        days[time.local_date] += 1
        number = days[time.local_date]
        found.append(f"{record.event.uid}-{_day(time.local_date)}{f'-{number}' if number > 1 else ''}")
    return found


def _event(event: CalendarEvent, time: EventTime, *, uid: str, words: Mapping[str, str]) -> Iterator[str]:
    yield "BEGIN:VEVENT"
    yield f"UID:{uid}"
    yield f"DTSTAMP:{_utc(event.updated_at)}"
    yield f"CREATED:{_utc(event.created_at)}"
    yield f"LAST-MODIFIED:{_utc(event.updated_at)}"
    yield f"SEQUENCE:{event.sequence}"
    yield from _when(event, time)
    yield f"SUMMARY:{escape_text(event.title)}"
    if record := _description(event, words):
        yield f"DESCRIPTION:{escape_text(record)}"
    if place := format_place(event):
        yield f"LOCATION:{escape_text(place)}"
    if event.lat is not None and event.lon is not None:
        yield f"GEO:{event.lat:.6f};{event.lon:.6f}"
    if link := escape_uri(event.url or event.source_url):
        yield f"URL:{link}"
    if event.category:
        yield "CATEGORIES:" + ",".join(escape_text(one.strip()) for one in event.category.split(",") if one.strip())
    if event.organizer:
        yield f"CONTACT:{escape_text(event.organizer)}"
    if image := escape_uri(event.image):
        yield f"IMAGE;VALUE=URI:{image}"
    yield f"STATUS:{_status(event)}"
    yield "TRANSP:TRANSPARENT"
    yield "END:VEVENT"


def _status(event: CalendarEvent) -> str:
    if event.is_postponed:
        return "TENTATIVE"
    if event.cancelled_at is not None:
        return "CANCELLED"
    return "TENTATIVE" if event.vanished_at is not None else "CONFIRMED"


def _when(event: CalendarEvent, time: EventTime) -> Iterator[str]:
    if not time.has_time:
        yield f"DTSTART;VALUE=DATE:{_day(time.local_date)}"
        if time.ends_at is not None:
            yield f"DTEND;VALUE=DATE:{_day(time.last_date + timedelta(days=1))}"
        return
    here = zone_or_utc(event.timezone)
    times = [("DTSTART", time.starts_at)]
    if time.ends_at is not None and time.ends_at > time.starts_at:
        times.append(("DTEND", time.ends_at))
    is_utc = _is_utc(here.key) or any(at.astimezone(here).fold for _, at in times)
    for name, at in times:
        local = at.astimezone(here)
        yield f"{name}:{_utc(at)}" if is_utc else f"{name};TZID={here.key}:{_day(local)}{local:T%H%M%S}"


def _day(day: date) -> str:
    return f"{day.year:04}{day:%m%d}"  # not %Y: it has no leading zeros on some systems


def format_place(event: CalendarEvent) -> str:
    """Venue, address and city, without repetitions."""
    parts: list[str] = []
    for part in (event.venue, event.address, event.city):
        if part and not any(part in other for other in parts):
            parts.append(part)
    return ", ".join(parts)


def _description(event: CalendarEvent, words: Mapping[str, str]) -> str:
    about = [plain_text(event.description) if event.description else "", event.when_note]
    facts = [
        f"{words[name]}: {value}"
        for name, value in (
            ("price", event.price), ("organizer", event.organizer), ("source", event.source_url),
            ("licence", event.licence), ("terms", event.terms_url),
        )
        if value
    ]  # fmt: skip
    if event.is_postponed:
        about.insert(0, words["postponed"])
    if event.vanished_at is not None:
        facts.append(words["vanished"])
    return "\n\n".join(part for part in (*about, "\n".join(facts)) if part)
