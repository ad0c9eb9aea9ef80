"""The calendar as RSS 2.0, for feed readers: an item an event, with when and where, its source and its licence.

`pubDate` is when we first heard of an event, and the guid is the calendar's own UID: a reader shows an event once, however often
its words change. What a source wrote is text here; markup is taken out of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import format_datetime
from types import MappingProxyType
from xml.sax.saxutils import escape, quoteattr

from tadoru.jobs.events.publish.ics import format_place
from tadoru.jobs.events.publish.json_documents import format_local
from tadoru.parse.text_cleaning import plain_text
from tadoru.store.calendar.event_records import EventRecord
from tadoru.store.calendar.records import CalendarEvent, EventTime

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_WORDS: Mapping[str, Mapping[str, str]] = MappingProxyType({
    "en": {"when": "When", "where": "Where", "price": "Price", "organizer": "Organizer", "source": "Source", "licence": "Licence",
           "terms": "Terms", "cancelled": "Cancelled", "rights": "Each event names its source and licence.",
           "about": "Events, collected from many sources."},
    "ja": {"when": "日時", "where": "場所", "price": "料金", "organizer": "主催", "source": "出典", "licence": "ライセンス",
           "terms": "利用規約", "cancelled": "中止", "rights": "出典とライセンスは各催しに記載しています。",
           "about": "各所から集めた催しの一覧です。"},
})  # fmt: skip


def rss_feed(
    events: Iterable[EventRecord], *, name: str, site: str, own: str, lang: str, built: datetime | None
) -> Iterator[str]:
    """A feed in pieces. `site` is the address of the service without a slash at its end, `own` that of the feed itself."""
    words = _WORDS[lang]
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield '<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:dc="http://purl.org/dc/elements/1.1/">\n<channel>\n'
    yield _tag("title", name) + _tag("link", f"{site}/events") + _tag("description", words["about"])
    yield _tag("language", lang) + _tag("copyright", words["rights"]) + _tag("generator", "Tadoru")
    if built is not None:
        yield _tag("lastBuildDate", _date(built))
    yield f'<atom:link href={quoteattr(_clean(own))} rel="self" type="application/rss+xml"/>\n'
    for told in events:
        yield _item(told, site, words)
    yield "</channel>\n</rss>\n"


def _item(told: EventRecord, site: str, words: Mapping[str, str]) -> str:
    event = told.event
    title = f"[{words['cancelled']}] {event.title}" if event.cancelled_at else event.title
    parts = [_tag("title", title), _tag("link", f"{site}/events/{event.id}")]
    parts.append(f'<guid isPermaLink="false">{_text(event.uid)}</guid>\n')
    parts.append(_tag("pubDate", _date(event.created_at)) + _tag("description", _about(event, told.time, words)))
    parts += [_tag("category", one.strip()) for one in event.category.split(",") if one.strip()]
    if rights := " ".join(part for part in (event.licence, event.terms_url) if part):
        parts.append(_tag("dc:rights", rights))
    if event.source_url:
        parts.append(_tag("dc:source", event.source_url))
    return f"<item>\n{''.join(parts)}</item>\n"


def _about(event: CalendarEvent, time: EventTime | None, words: Mapping[str, str]) -> str:
    facts = (
        ("when", _when(event, time)), ("where", format_place(event)), ("price", event.price), ("organizer", event.organizer),
        ("source", event.source_url), ("licence", event.licence), ("terms", event.terms_url),
    )  # fmt: skip
    told = "\n".join(f"{words[name]}: {value}" for name, value in facts if value)
    return "\n\n".join(part for part in (told, plain_text(event.description) if event.description else "") if part)


def _when(event: CalendarEvent, time: EventTime | None) -> str:
    if time is None:
        return ""
    if not time.has_time:
        days = (time.local_date.isoformat(), time.last_date.isoformat())
        return days[0] if days[0] == days[1] else " – ".join(days)
    start, end = (format_local(at, event.timezone) for at in (time.starts_at, time.ends_at))
    return " – ".join(at[:16].replace("T", " ") for at in (start, end) if at)


def _date(at: datetime) -> str:
    return format_datetime(at.astimezone(UTC), usegmt=True)


def _tag(name: str, value: str) -> str:
    return f"<{name}>{_text(value)}</{name}>\n"


def _text(value: str) -> str:
    return escape(_clean(value))


def _clean(value: str) -> str:
    """Without what no XML may hold."""
    return _NOT_XML.sub("", value)
