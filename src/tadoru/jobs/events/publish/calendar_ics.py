"""A calendar as ICS (RFC 5545), for programs that subscribe to it or import it.

What was chosen where the standard leaves a choice, by what calendar programs handle best:

- Times are local, with the zone's IANA name and a VTIMEZONE for it in front: programs know these names, a person sees the time of
  the place, and an import keeps the day it is meant on. An hour that the clocks show twice is told apart by writing it in UTC.
- Each time of a series is an event of its own, whose UID names that time: rules and lists of dates are understood by few programs
  alike, and an occurrence can so be shorter or longer than the others.
- DTSTAMP is the last change, so that the same events give the same bytes. TRANSP says that nobody is busy because a town has a
  market.
- An organiser is a CONTACT: ORGANIZER demands a mail address, which sources seldom tell. Source and licence stand in DESCRIPTION,
  the one place that every program shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from types import MappingProxyType

from tadoru.jobs.events.publish.ics_text import LINE_END, address, folded, text
from tadoru.jobs.events.publish.ics_zone import zone_lines
from tadoru.parse.normal_text import plain_text
from tadoru.store.events.drafts import zone
from tadoru.store.events.values import Event, EventTime
from tadoru.store.events.walking import Told, ZoneUse
from tadoru.version import VERSION

_WORDS: Mapping[str, Mapping[str, str]] = MappingProxyType({
    "en": {"price": "Price", "organizer": "Organizer", "source": "Source", "licence": "Licence", "terms": "Terms",
           "gone": "The source no longer lists this event."},
    "ja": {"price": "料金", "organizer": "主催", "source": "出典", "licence": "ライセンス", "terms": "利用規約",
           "gone": "この催しは出典に掲載されなくなりました。"},
})  # fmt: skip


def calendar(
    events: Iterable[Told],
    zones: Iterable[ZoneUse],
    *,
    name: str = "Tadoru",
    lang: str = "en",
    since: date | None = None,
    until: date | None = None,
) -> Iterator[str]:
    """A calendar in pieces. Of a series only the times from `since` to `until`, both included, are given out."""
    yield _component([
        "BEGIN:VCALENDAR", "VERSION:2.0", f"PRODID:-//Tadoru//Tadoru {VERSION}//EN", "CALSCALE:GREGORIAN", "METHOD:PUBLISH",
        f"NAME:{text(name)}", f"X-WR-CALNAME:{text(name)}",
    ])  # fmt: skip
    used: dict[str, ZoneUse] = {}
    for use in zones:  # two names may be one zone: what this machine does not know is UTC
        key = zone(use.name).key
        other = used.get(key, use)
        used[key] = ZoneUse(name=key, first=min(use.first, other.first), last=max(use.last, other.last))
    for key, use in used.items():
        if not _is_utc(key):
            yield _component(zone_lines(zone(key), use.first, use.last))
    for told in events:
        for time in told.times:
            is_wanted = (since is None or time.last_date >= since) and (until is None or time.local_date <= until)
            if is_wanted or len(told.times) == 1:
                yield _component(_event(told.event, time, is_series=len(told.times) > 1, words=_WORDS[lang]))
    yield f"END:VCALENDAR{LINE_END}"


def _component(lines: Iterable[str]) -> str:
    return "".join(map(folded, lines))


def _is_utc(key: str) -> bool:
    return key in {"UTC", "Etc/UTC"}


def _utc(at: datetime) -> str:
    at = at.astimezone(UTC)
    return f"{at.year:04}{at:%m%dT%H%M%S}Z"


def _event(event: Event, time: EventTime, *, is_series: bool, words: Mapping[str, str]) -> Iterator[str]:
    yield "BEGIN:VEVENT"
    yield f"UID:{event.uid}-{_utc(time.starts_at)}" if is_series else f"UID:{event.uid}"
    yield f"DTSTAMP:{_utc(event.updated_at)}"
    yield f"CREATED:{_utc(event.created_at)}"
    yield f"LAST-MODIFIED:{_utc(event.updated_at)}"
    yield f"SEQUENCE:{event.sequence}"
    yield from _when(event, time)
    yield f"SUMMARY:{text(event.title)}"
    if told := _description(event, words):
        yield f"DESCRIPTION:{text(told)}"
    if place := place_text(event):
        yield f"LOCATION:{text(place)}"
    if event.lat is not None and event.lon is not None:
        yield f"GEO:{event.lat:.6f};{event.lon:.6f}"
    if link := address(event.url or event.source_url):
        yield f"URL:{link}"
    if event.category:
        yield "CATEGORIES:" + ",".join(text(one.strip()) for one in event.category.split(",") if one.strip())
    if event.organizer:
        yield f"CONTACT:{text(event.organizer)}"
    if image := address(event.image):
        yield f"IMAGE;VALUE=URI:{image}"
    yield f"STATUS:{_status(event)}"
    yield "TRANSP:TRANSPARENT"
    yield "END:VEVENT"


def _status(event: Event) -> str:
    if event.cancelled_at is not None:
        return "CANCELLED"
    return "TENTATIVE" if event.vanished_at is not None else "CONFIRMED"


def _when(event: Event, time: EventTime) -> Iterator[str]:
    if not time.has_time:
        yield f"DTSTART;VALUE=DATE:{_day(time.local_date)}"
        if time.ends_at is not None:
            yield f"DTEND;VALUE=DATE:{_day(time.last_date + timedelta(days=1))}"
        return
    here = zone(event.timezone)
    times = [("DTSTART", time.starts_at)]
    if time.ends_at is not None and time.ends_at > time.starts_at:
        times.append(("DTEND", time.ends_at))
    is_utc = _is_utc(here.key) or any(at.astimezone(here).fold for _, at in times)
    for name, at in times:
        local = at.astimezone(here)
        yield f"{name}:{_utc(at)}" if is_utc else f"{name};TZID={here.key}:{_day(local)}{local:T%H%M%S}"


def _day(day: date) -> str:
    return f"{day.year:04}{day:%m%d}"  # not %Y: it has no leading zeros everywhere


def place_text(event: Event) -> str:
    """Venue, address and city, without what another of them says already."""
    parts: list[str] = []
    for part in (event.venue, event.address, event.city):
        if part and not any(part in other for other in parts):
            parts.append(part)
    return ", ".join(parts)


def _description(event: Event, words: Mapping[str, str]) -> str:
    about = [plain_text(event.description) if event.description else "", event.when_note]
    facts = [
        f"{words[name]}: {value}"
        for name, value in (
            ("price", event.price), ("organizer", event.organizer), ("source", event.source_url),
            ("licence", event.licence), ("terms", event.terms_url),
        )
        if value
    ]  # fmt: skip
    if event.vanished_at is not None:
        facts.append(words["gone"])
    return "\n\n".join(part for part in (*about, "\n".join(facts)) if part)
