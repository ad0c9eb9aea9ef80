"""An event with its story: every field with who says so, what each source says, merges and their undoing, questions, changes."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO
from zoneinfo import ZoneInfo

import click

from tadoru.cli.events import EventsContext, format_event_dates, format_event_time, open_existing_calendar
from tadoru.cli.help import DocumentedCommand
from tadoru.cli.inputs import check_writable
from tadoru.cli.output import FormatChoice, format_option, format_time, write_json
from tadoru.cli.table import single_line, write_pairs
from tadoru.errors import UsageError
from tadoru.jobs.reporting.formatting import format_count
from tadoru.log import printable
from tadoru.parse.normal_text import plain_text

if TYPE_CHECKING:
    from tadoru.store.calendar.event_records import EventRecord
    from tadoru.store.calendar.listing import EventFilter
    from tadoru.store.calendar.records import CalendarEvent, EventProvenance, MergeRecord, ReviewItem, Sighting
    from tadoru.store.calendar.store import CalendarStore


MAX_DESCRIPTION = 400
"""Characters of a description that are shown; JSON has all of it."""
_FIELD_LABELS = {
    "title": "title", "occurrence": "when", "timezone": "timezone", "venue": "venue", "address": "address", "city": "city",
    "latitude": "position", "category": "category", "price": "price", "organizer": "organizer", "url": "url", "image": "image",
    "recurrence": "recurrence", "when_note": "note on time", "description": "description", "is_cancelled": "cancelled",
}  # fmt: skip
"""Fields of a draft, as they are shown."""


def write_event(out: TextIO, story: EventProvenance, names: Mapping[int, str], zone: str) -> None:
    """The story for a person."""
    event = story.event
    out.write(f"Event {event.id}: {single_line(event.title) or 'without a title'}\n")
    for sentence in _status_lines(event, zone):
        out.write(f"{sentence}\n")
    out.write("\n")
    write_pairs(out, _field_rows(story), "  ")
    if len(story.occurrences) > 1:
        _write_heading(out, f"Dates ({len(story.occurrences)})")
        for time in story.occurrences[:20]:
            out.write(f"  {format_event_time(time, event.timezone)}\n")
        if len(story.occurrences) > 20:
            out.write(f"  … and {len(story.occurrences) - 20} more\n")
    _write_heading(out, "What is said about it")
    for one in story.said:
        _write_sighting(out, one, names, zone)
    if story.merges:
        _write_heading(out, "Merges")
        for merge in story.merges:
            write_merge(out, merge, zone)
    if story.reviews:
        _write_heading(out, "Reviews")
        for review in story.reviews:
            out.write(f"  {format_review(review, zone)}\n")
    if story.history:
        _write_heading(out, "Changes")
        for entry in story.history:
            out.write(f"  {format_time(entry['at'], zone)}  {single_line(str(entry['by']))}\n")
            write_pairs(out, ((name, _format_change(values)) for name, values in entry["changes"].items()), "    ")


def _write_heading(out: TextIO, text: str) -> None:
    out.write(f"\n{text}\n")


def _status_lines(event: CalendarEvent, zone: str) -> Iterator[str]:
    if event.merged_into is not None:
        yield f"It was merged into event {event.merged_into}."
    if event.status.value != "active":
        yield f"It is {'hidden' if event.status.value == 'hidden' else 'in quarantine'}, and not in the calendar."
    for at, words in (
        (event.cancelled_at, "It was cancelled; that was seen on"), (event.vanished_at, "No source lists it since"),
        (event.archived_at, "It was archived on"),
    ):  # fmt: skip
        if at is not None:
            yield f"{words} {format_time(at, zone)}."


def _field_rows(story: EventProvenance) -> Iterator[tuple[str, str]]:
    event = story.event
    for field, shown in _FIELD_LABELS.items():
        value = _field_value(event, field)
        owner = story.owners.get(field)
        is_emptied = not value and owner is not None and owner.owner == "person" and _has_source_value(story, field)
        if value or is_emptied:
            yield shown, f"{value or 'nothing'}  [{_field_source(field, story)}]"
    yield "read more", event.source_url
    yield "licence", " ".join(part for part in (event.licence, event.terms_url) if part)
    yield "dedupe key", event.dedupe_key


def _field_value(event: CalendarEvent, field: str) -> str:
    match field:
        case "occurrence":
            return format_event_dates(event)
        case "latitude":
            return f"{event.lat:.6f}, {event.lon:.6f}" if event.lat is not None and event.lon is not None else ""
        case "is_cancelled":
            return "yes" if event.cancelled_at else ""
        case "description":
            text = " ".join(plain_text(event.description).split())
            return text if len(text) <= MAX_DESCRIPTION else text[:MAX_DESCRIPTION].rstrip() + "…"
    value: str = getattr(event, field)
    return value


def _has_source_value(story: EventProvenance, field: str) -> bool:
    """Whether a source says something where a person wants nothing."""
    return any(one.draft is not None and getattr(one.draft, field) for one in story.said)


def _field_source(field: str, story: EventProvenance) -> str:
    """Who says so; the names of the sources stand below."""
    owner = story.owners.get(field)
    if owner is not None and owner.owner == "person":
        return f"{owner.who or 'a person'}, by hand"
    source_id = owner.source_id if owner is not None else story.event.source_id
    return f"source {source_id}" if source_id is not None else "a source that was removed"


def source_name(source_id: int | None, names: Mapping[int, str]) -> str:
    """A source as messages name it."""
    if source_id is None:
        return "a person, or a source that was removed"
    return f"source {source_id}, {single_line(names.get(source_id, 'removed'))}"


def _write_sighting(out: TextIO, one: Sighting, names: Mapping[int, str], zone: str) -> None:
    who = "by hand" if one.source_id is None and one.row_key.startswith("person:") else source_name(one.source_id, names)
    seen = f"seen {format_time(one.first_seen, zone)} to {format_time(one.last_seen, zone)}"
    gone = f", gone since {format_time(one.gone_at, zone)}" if one.gone_at else ""
    out.write(f"  {who}: {seen}{gone}\n")
    if one.draft is not None:
        place = ", ".join(part for part in (one.draft.venue, one.draft.city) if part)
        start = one.draft.occurrence.starts_at
        when = f"{start:%Y-%m-%d %H:%M}" if one.draft.occurrence.has_time else f"{start:%Y-%m-%d}"
        out.write(f"    {single_line(one.draft.title)} · {when}{' · ' + single_line(place) if place else ''}\n")
    else:
        out.write("    A row that lacks something; see its review.\n")


def write_merge(out: TextIO, merge: MergeRecord, zone: str) -> None:
    """One merge, why it was done, and how to take it back."""
    other = f"event {merge.absorbed_id}" if merge.absorbed_id is not None else "a new row"
    score = f", score {merge.score:.2f}" if merge.score is not None else ""
    head = f"  Merge {merge.id}: {other} into event {merge.kept_id}, {format_time(merge.at, zone)}, by {single_line(merge.by)}{score}\n"
    out.write(head)
    for reason in merge.reasons:
        out.write(f"    {single_line(format_reason(reason))}\n")
    if merge.undone_at is not None:
        out.write(f"    Undone {format_time(merge.undone_at, zone)} by {single_line(merge.undone_by)}.\n")
    else:
        out.write(f"    Take it back: tadoru events merges undo {merge.id}\n")


def format_reason(reason: Any) -> str:
    """A reason as the database keeps it: a sentence, or an object that has one."""
    if isinstance(reason, Mapping):
        return str(reason.get("why") or ", ".join(f"{name} {value}" for name, value in reason.items()))
    return str(reason)


def format_review(review: ReviewItem, zone: str) -> str:
    """One review on one line."""
    asked = f"Review {review.id}: {review.reason.value}, asked {format_time(review.created_at, zone)}"
    if review.resolved_at is None:
        return f"{asked}; open: tadoru events review show {review.id}"
    return f"{asked}; answered {format_time(review.resolved_at, zone)}: {single_line(review.resolution)}"


def _format_change(values: Any) -> str:
    if isinstance(values, list | tuple) and len(values) == 2:
        old, new = (str(value)[:200] if value not in (None, "") else "nothing" for value in values)
        return f"{old} → {new}"
    return str(values)


LIST_FORMATS = ("table", "json", "csv", "ics")
EXAMPLES = (
    ("tadoru events list", "what comes, from today on"),
    ("tadoru events list --city 盛岡市 --from 2026-08-01 --to 2026-08-31", "a month in a city"),
    ("tadoru events list -o calendar.ics", "for calendar programs"),
    ("tadoru events list --all -o events.csv --bom", "everything, for Excel"),
)


@click.command(
    "list", cls=DocumentedCommand, examples=EXAMPLES, short_help="The calendar.",
    sections={
        "Which events": ["city", "since", "until", "category", "words", "source_id", "every", "hidden", "limit"],
        "Output": ["form", "output", "bom", "lang"],
    },
)  # fmt: skip
@click.option("--city", metavar="NAME", help="Only in this city; 盛岡 finds 盛岡市.")
@click.option("--from", "since", metavar="DATE", help="From this day on, such as 2026-08-01. [today]")
@click.option("--to", "until", metavar="DATE", help="Until this day, included.")
@click.option("--category", metavar="NAME", help="Only of this category.")
@click.option("--q", "words", metavar="WORDS", help="Only with all of these words in them.")
@click.option("--source", "source_id", type=int, metavar="ID", help="Only what this source speaks of.")
@click.option("--all", "every", is_flag=True, help="Also what is past or archived.")
@click.option("--hidden", is_flag=True, help="What was hidden by hand, instead of the calendar.")
@click.option("-n", "--limit", type=click.IntRange(min=1), metavar="N", help="At most so many.")
@click.option(
    "-f",
    "--format",
    "form",
    type=FormatChoice(LIST_FORMATS),
    help="The form; without it, what the name of --output says, or table.",
)
@click.option("-o", "--output", metavar="FILE", help="Write to a file instead of stdout.")
@click.option("--bom", is_flag=True, help="Begin a CSV with a byte order mark, which Excel needs.")
@click.option("--lang", type=click.Choice(["en", "ja"]), default="en", help="Of our own words in an ICS. [en]")
@click.pass_obj
def list_events(
    place: EventsContext, city: str | None, since: str | None, until: str | None, category: str | None, words: str | None,
    source_id: int | None, every: bool, hidden: bool, limit: int | None, form: str | None, output: str | None, bom: bool,
    lang: str,
) -> int:  # fmt: skip
    """Give out the calendar: an event once, at the first of its times that fits; a series in an ICS at each of them."""
    from tadoru.jobs.reporting.output import open_output
    from tadoru.model.event import EventStatus
    from tadoru.store.calendar.listing import EventFilter

    to_file = output not in (None, "-")
    if to_file and output is not None:
        check_writable(Path(output), "--output")
        form = form or _format_of(output)
    form = form or "table"
    if bom and form != "csv":
        raise UsageError("--bom is for --format csv: leave it out, or add --format csv.")
    with open_existing_calendar(place) as (store, options):
        first, last = _period(since, until, every, store.now().astimezone(ZoneInfo(options.timezone)).date())
        if source_id is not None:
            store.source(source_id)  # says so when there is none
        chosen = EventFilter(
            city=_city(store, city), since=first, until=last, category=category, q=words, source_id=source_id,
            statuses=(EventStatus.HIDDEN,) if hidden else (EventStatus.ACTIVE,), archived=None if every else False,
        )  # fmt: skip
        with open_output(output if to_file else None) as out:
            if form in ("csv", "ics") and isinstance(out, io.TextIOWrapper):
                out.reconfigure(newline="")  # their lines end as their standards say, on every system
            for piece in _pieces(store, chosen, limit, form, bom=bom, lang=lang):
                out.write(piece)
            count = _write_table(out, store, chosen, limit) if form == "table" else 0
        _report_count(store, form, count, output if to_file else None, city)
    return 0


def _pieces(store: CalendarStore, chosen: EventFilter, limit: int | None, form: str, *, bom: bool, lang: str) -> Iterator[str]:
    from tadoru.store.calendar.event_records import iterate_events, zones_in_use

    match form:
        case "json":
            from tadoru.jobs.events.publish.json_documents import event_json, json_array

            yield from json_array(event_json(told) for told in iterate_events(store, chosen, limit=limit))
        case "csv":
            from tadoru.jobs.events.publish.csv_export import csv_rows

            yield from csv_rows(iterate_events(store, chosen, limit=limit), mark=bom)
        case "ics":
            from tadoru.jobs.events.publish.ics import ics_calendar

            name = " ".join(["Tadoru", *([chosen.city] if chosen.city else [])])
            told = iterate_events(store, chosen, limit=limit)
            yield from ics_calendar(
                told, zones_in_use(store, chosen), name=name, lang=lang, since=chosen.since, until=chosen.until
            )


def _write_table(out: TextIO, store: CalendarStore, chosen: EventFilter, limit: int | None) -> int:
    from tadoru.cli.table import Column, write_table
    from tadoru.store.calendar.event_records import iterate_events

    columns = [
        Column("ID", to_right=True), Column("When"), Column("What", may_shrink=True), Column("Where", may_shrink=True),
        Column("City", may_shrink=True), Column(""),
    ]  # fmt: skip
    return write_table(out, columns, map(_event_row, iterate_events(store, chosen, limit=limit)))


def _event_row(told: EventRecord) -> list[str]:
    event = told.event
    when = format_event_time(told.time, event.timezone)
    return [str(event.id), when, event.title, event.venue or event.address, event.city, ", ".join(_marks(told))]


def _marks(told: EventRecord) -> Iterator[str]:
    """What a person should know besides."""
    event = told.event
    if event.cancelled_at:
        yield "cancelled"
    if event.vanished_at:
        yield "no longer listed"
    if event.archived_at:
        yield "archived"
    if len(told.times) > 1:
        yield f"{len(told.times)} dates"


def _report_count(store: CalendarStore, form: str, count: int, output: str | None, city: str | None) -> None:
    """What a person wants to know and a program does not."""
    if output is not None:
        sys.stderr.write(f"Wrote {printable(output)}.\n")
    elif form == "table" and count == 0:
        hint = "" if city is None or _known_city(store, city) else _cities_hint(store, city)
        sys.stderr.write(f"No events.{hint or ' `--all` shows also those that are over.'}\n")
    elif form == "table" and sys.stdout.isatty():
        sys.stderr.write(f"{format_count(count, 'event')}.\n")


def _format_of(output: str) -> str | None:
    ending = Path(output).suffix.lower().removeprefix(".")
    return ending if ending in LIST_FORMATS else None


def _city(store: CalendarStore, asked: str | None) -> str | None:
    return None if asked is None else _known_city(store, asked) or asked


def _known_city(store: CalendarStore, asked: str) -> str | None:
    from tadoru.jobs.events.publish.list_pages import find_city

    return find_city(asked, store.cities())


def _cities_hint(store: CalendarStore, asked: str) -> str:
    from tadoru.jobs.events.publish.list_pages import suggest_cities

    near = suggest_cities(asked, store.cities())
    return f" There are some in {printable(', '.join(near))}." if near else f" None is in a city called {printable(asked)}."


def _period(since: str | None, until: str | None, every: bool, today: date) -> tuple[date | None, date | None]:
    first = _date(since, "--from") if since else None
    last = _date(until, "--to") if until else None
    if first is not None and last is not None and last < first:
        raise UsageError(f"--to {last} is before --from {first}: exchange them.")
    if first is None and not every:
        if last is not None and last < today:
            raise UsageError(f"--to {last} is before today: say with --from where to begin, or add --all.")
        first = today
    return first, last


def _date(text: str, flag: str) -> date:
    for form in ("%Y-%m-%d", "%Y/%m/%d", "%Y%m%d"):
        try:
            return datetime.strptime(text.strip(), form).date()  # noqa: DTZ007 - a day has no zone
        except ValueError:
            continue
    raise UsageError(f"{flag} {text} is no day: write it as 2026-08-01.")


@click.command(
    cls=DocumentedCommand, examples=(("tadoru events show 12", "who says what about event 12"),), short_help="One event.",
)  # fmt: skip
@click.argument("event_id", type=int, metavar="ID")
@format_option("text", "json")
@click.pass_obj
def show(place: EventsContext, event_id: int, form: str) -> int:
    """Show one event: what it is, who says so, what was merged into it and how to take that back, and how it changed."""
    from tadoru.jobs.events.publish.json_documents import provenance_json
    from tadoru.store.calendar.event_records import find_event_record

    with open_existing_calendar(place) as (store, options):
        story = store.story(event_id)
        found = find_event_record(store, event_id)
        assert found is not None
        names = {source.id: source.name for source in store.sources()}
        if form == "json":
            write_json(provenance_json(story, found, names))
        else:
            write_event(sys.stdout, story, names, options.timezone)
    return 0
