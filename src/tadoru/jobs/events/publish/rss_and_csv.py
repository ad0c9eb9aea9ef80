"""The calendar as RSS 2.0: one item per event with time, place, source and licence.

`pubDate` is when an event was first seen, and the guid is its UID, so a feed reader shows an event once, however often it
changes. Descriptions are plain text.

And as CSV (RFC 4180): a header, one row per event, the columns of `json_documents` without `extra`. Spreadsheets execute a cell
that starts like a formula: texts of a source that do get an apostrophe in front; numbers and times stay as they are.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from tadoru.i18n.translation import translator
from tadoru.jobs.events.publish.ics import field_labels, format_place
from tadoru.jobs.events.publish.json_documents import EVENT_FIELDS, event_json, format_local
from tadoru.parse.text_cleaning import plain_text
from tadoru.store.calendar.records import CalendarEvent, EventRecord, EventTime

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def rss_feed(
    events: Iterable[EventRecord], *, name: str, site: str, own: str, lang: str, built: datetime | None
) -> Iterator[str]:
    """A feed in pieces. `site` is the URL of the service without a trailing slash, `own` that of the feed."""
    words = _labels(lang)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield '<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:dc="http://purl.org/dc/elements/1.1/">\n<channel>\n'
    yield _tag("title", name) + _tag("link", f"{site}/events") + _tag("description", words["about"])
    yield _tag("language", lang) + _tag("copyright", words["rights"]) + _tag("generator", "Tadoru")
    if built is not None:
        yield _tag("lastBuildDate", _date(built))
    yield f'<atom:link href={quoteattr(_clean(own))} rel="self" type="application/rss+xml"/>\n'
    for record in events:
        yield _item(record, site, words)
    yield "</channel>\n</rss>\n"


def _labels(lang: str) -> Mapping[str, str]:
    _ = translator(lang)
    return {
        **field_labels(lang),
        "when": _.pgettext("calendar", "When"),
        "where": _.pgettext("calendar", "Where"),
        "cancelled": _.pgettext("calendar", "Cancelled"),
        "postponed": _.pgettext("calendar", "Postponed"),
        "rights": _.pgettext("calendar", "Each event names its source and licence."),
        "about": _.pgettext("calendar", "Events collected from many sources."),
    }


def _item(record: EventRecord, site: str, words: Mapping[str, str]) -> str:
    event = record.event
    mark = words["postponed" if event.is_postponed else "cancelled"]
    title = f"[{mark}] {event.title}" if event.cancelled_at else event.title
    parts = [_tag("title", title), _tag("link", f"{site}/events/{event.id}")]
    parts.append(f'<guid isPermaLink="false">{_text(event.uid)}</guid>\n')
    parts.append(_tag("pubDate", _date(event.created_at)) + _tag("description", _about(event, record.time, words)))
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
    record = "\n".join(f"{words[name]}: {value}" for name, value in facts if value)
    return "\n\n".join(part for part in (record, plain_text(event.description) if event.description else "") if part)


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
    """The text without characters that XML forbids."""
    return _NOT_XML.sub("", value)


COLUMNS = tuple(name for name in EVENT_FIELDS if name != "extra")
BYTE_ORDER_MARK = "\ufeff"
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""Full-width signs start a formula too in some programs."""


def csv_rows(events: Iterable[EventRecord], *, mark: bool = False) -> Iterator[str]:
    """The rows with line ends; `mark` adds a byte order mark, which Excel needs."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    yield (BYTE_ORDER_MARK if mark else "") + _taken(buffer)
    for record in events:
        row = event_json(record)
        writer.writerow([_cell(row[name]) for name in COLUMNS])
        yield _taken(buffer)


def _taken(buffer: io.StringIO) -> str:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text


def _cell(value: Any) -> Any:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case list():
            return " ".join(f"{one['starts_at']}/{one['ends_at']}" if one["ends_at"] else one["starts_at"] for one in value)
        case str():
            return escape_formula(value)
    return value


def escape_formula(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text
