"""`tadoru events list` and `tadoru events show`: the calendar as a table, JSON, CSV or ICS, and one event with its provenance."""

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
from tadoru.cli.output import (
    LANGUAGES,
    N_,
    FormatChoice,
    _,
    current_language,
    format_option,
    format_time,
    ngettext,
    translate_text,
    write_json,
)
from tadoru.cli.table import single_line, write_pairs
from tadoru.errors import UsageError
from tadoru.log import printable

if TYPE_CHECKING:
    from tadoru.store.calendar.listing import EventFilter
    from tadoru.store.calendar.records import CalendarEvent, EventProvenance, EventRecord, MergeRecord, ReviewItem, Sighting
    from tadoru.store.calendar.store import CalendarStore


MAX_DESCRIPTION = 400
"""Characters of a description that are shown; JSON has all of it."""
_FIELD_LABELS = {
    "title": N_("title"), "occurrence": N_("when"), "timezone": N_("time zone"), "venue": N_("venue"), "address": N_("address"),
    "city": N_("city"), "latitude": N_("position"), "category": N_("category"), "price": N_("price"),
    "organizer": N_("organizer"), "url": "URL", "image": N_("image"), "recurrence": N_("recurrence"),
    "when_note": N_("date note"), "description": N_("description"), "is_cancelled": N_("cancelled"),
}  # fmt: skip
"""Fields of a draft, with their labels."""


def write_event(out: TextIO, story: EventProvenance, names: Mapping[int, str], zone: str) -> None:
    """Write an event as text: its fields with their sources, merges, reviews and changes."""
    event = story.event
    out.write(_("Event {id}: {title}", id=event.id, title=single_line(event.title) or _("untitled")) + "\n")
    for sentence in _status_lines(event, zone):
        out.write(f"{sentence}\n")
    out.write("\n")
    write_pairs(out, _field_rows(story), "  ")
    if len(story.occurrences) > 1:
        _write_heading(out, _("Dates ({count})", count=len(story.occurrences)))
        for time in story.occurrences[:20]:
            out.write(f"  {format_event_time(time, event.timezone)}\n")
        if len(story.occurrences) > 20:
            out.write(_("  … and {count} more", count=len(story.occurrences) - 20) + "\n")
    _write_heading(out, _("Sources"))
    for one in story.sightings:
        _write_sighting(out, one, names, zone)
    if story.merges:
        _write_heading(out, _("Merges"))
        for merge in story.merges:
            write_merge(out, merge, zone)
    if story.reviews:
        _write_heading(out, _("Reviews"))
        for review in story.reviews:
            out.write(f"  {format_review(review, zone)}\n")
    if story.history:
        _write_heading(out, _("Changes"))
        for entry in story.history:
            out.write(f"  {format_time(entry['at'], zone)}  {single_line(str(entry['by']))}\n")
            write_pairs(out, ((name, _format_change(values)) for name, values in entry["changes"].items()), "    ")


def _write_heading(out: TextIO, text: str) -> None:
    out.write(f"\n{text}\n")


def _status_lines(event: CalendarEvent, zone: str) -> Iterator[str]:
    if event.merged_into is not None:
        yield _("Merged into event {id}.", id=event.merged_into)
    if event.status.value != "active":
        is_hidden = event.status.value == "hidden"
        yield _("Hidden; not in the calendar.") if is_hidden else _("In quarantine; not in the calendar.")
    for at, message in (
        (event.cancelled_at, N_("Postponed; seen on {time}.") if event.is_postponed else N_("Cancelled; seen on {time}.")),
        (event.vanished_at, N_("No longer listed by a source since {time}.")),
        (event.archived_at, N_("Archived on {time}.")),
    ):  # fmt: skip
        if at is not None:
            yield _(message, time=format_time(at, zone))


def _field_rows(story: EventProvenance) -> Iterator[tuple[str, str]]:
    event = story.event
    for field, label in _FIELD_LABELS.items():
        value = _field_value(event, field)
        owner = story.owners.get(field)
        is_emptied = not value and owner is not None and owner.owner == "person" and _has_source_value(story, field)
        if value or is_emptied:
            yield _(label), f"{value or _('empty')}  [{_field_source(field, story)}]"
    yield _("source URL"), event.source_url
    yield _("licence"), " ".join(part for part in (event.licence, event.terms_url) if part)
    yield _("dedupe key"), event.dedupe_key


def _field_value(event: CalendarEvent, field: str) -> str:
    match field:
        case "occurrence":
            return format_event_dates(event)
        case "latitude":
            return f"{event.lat:.6f}, {event.lon:.6f}" if event.lat is not None and event.lon is not None else ""
        case "is_cancelled":
            return _("yes") if event.cancelled_at else ""
        case "description":
            from tadoru.parse.text_cleaning import plain_text

            text = " ".join(plain_text(event.description).split())
            return text if len(text) <= MAX_DESCRIPTION else text[:MAX_DESCRIPTION].rstrip() + "…"
    value: str = getattr(event, field)
    return value


def _has_source_value(story: EventProvenance, field: str) -> bool:
    """Whether a source has a value for a field that was cleared manually."""
    return any(one.draft is not None and getattr(one.draft, field) for one in story.sightings)


def _field_source(field: str, story: EventProvenance) -> str:
    """The source of a field; the names of the sources are listed below."""
    owner = story.owners.get(field)
    if owner is not None and owner.owner == "person":
        return _("edited by {user}", user=owner.who or _("a user"))
    source_id = owner.source_id if owner is not None else story.event.source_id
    return _("source {id}", id=source_id) if source_id is not None else _("a removed source")


def source_name(source_id: int | None, names: Mapping[int, str]) -> str:
    """A source with its ID and name."""
    if source_id is None:
        return _("a user, or a removed source")
    return _("source {id}, {name}", id=source_id, name=single_line(names.get(source_id, _("removed"))))


def _write_sighting(out: TextIO, one: Sighting, names: Mapping[int, str], zone: str) -> None:
    who = (
        _("added manually") if one.source_id is None and one.row_key.startswith("person:") else source_name(one.source_id, names)
    )
    seen = _("seen {first} to {last}", first=format_time(one.first_seen, zone), last=format_time(one.last_seen, zone))
    gone = _(", gone since {time}", time=format_time(one.gone_at, zone)) if one.gone_at else ""
    out.write(f"  {who}: {seen}{gone}\n")
    if one.draft is not None:
        place = ", ".join(part for part in (one.draft.venue, one.draft.city) if part)
        start = one.draft.occurrence.starts_at
        when = f"{start:%Y-%m-%d %H:%M}" if one.draft.occurrence.has_time else f"{start:%Y-%m-%d}"
        out.write(f"    {single_line(one.draft.title)} · {when}{' · ' + single_line(place) if place else ''}\n")
    else:
        out.write(_("    An incomplete item; see its review.") + "\n")


def write_merge(out: TextIO, merge: MergeRecord, zone: str) -> None:
    """Write a merge, its evidence, and the command that undoes it."""
    other = _("event {id}", id=merge.absorbed_id) if merge.absorbed_id is not None else _("a new item")
    text = _(
        "Merge {id}: {other} into event {kept}, {time}, by {user}",
        id=merge.id, other=other, kept=merge.kept_id, time=format_time(merge.at, zone), user=single_line(merge.by),
    )  # fmt: skip
    out.write(f"  {text}\n")
    for reason in merge.reasons:
        out.write(f"    {single_line(format_reason(reason))}\n")
    if merge.undone_at is not None:
        out.write(
            "    "
            + _("Undone {time} by {user}.", time=format_time(merge.undone_at, zone), user=single_line(merge.undone_by))
            + "\n"
        )
    else:
        out.write("    " + _("To undo: {command}", command=f"tadoru events merges undo {merge.id}") + "\n")


def format_reason(reason: Any) -> str:
    """The message of a reason as the database stores it."""
    from tadoru.jobs.events.dedupe.reasons import reason_message

    return translate_text(reason_message(reason))


def format_review(review: ReviewItem, zone: str) -> str:
    """A review on one line."""
    values = {"id": review.id, "reason": review.reason.value, "created": format_time(review.created_at, zone)}
    if review.resolved_at is None:
        return _(
            "Review {id}: {reason}, created {created}; open: {command}",
            command=f"tadoru events review show {review.id}",
            **values,
        )
    return _(
        "Review {id}: {reason}, created {created}; resolved {resolved}: {resolution}",
        resolved=format_time(review.resolved_at, zone), resolution=single_line(review.resolution), **values,
    )  # fmt: skip


def _format_change(values: Any) -> str:
    if isinstance(values, list | tuple) and len(values) == 2:
        old, new = (str(value)[:200] if value not in (None, "") else _("empty") for value in values)
        return f"{old} → {new}"
    return str(values)


LIST_FORMATS = ("table", "json", "csv", "ics")
EXAMPLES = (
    ("tadoru events list", "events from today on"),
    ("tadoru events list --city 盛岡市 --from 2026-08-01 --to 2026-08-31", "a month in a city"),
    ("tadoru events list -o calendar.ics", "for calendar apps"),
    ("tadoru events list --all -o events.csv --bom", "all events, for Excel"),
)


@click.command(
    "list", cls=DocumentedCommand, examples=EXAMPLES, short_help="List events.",
    sections={
        "Filters": ["city", "since", "until", "category", "words", "source_id", "every", "hidden", "limit"],
        "Output": ["form", "output", "bom", "lang"],
    },
)  # fmt: skip
@click.option("--city", metavar="NAME", help="Only events in this city; 盛岡 finds 盛岡市.")
@click.option("--from", "since", metavar="DATE", help="From this date on, such as 2026-08-01. [today]")
@click.option("--to", "until", metavar="DATE", help="Up to and including this date.")
@click.option("--category", metavar="NAME", help="Only events of this category.")
@click.option("--q", "words", metavar="WORDS", help="Only events that contain all these words.")
@click.option("--source", "source_id", type=int, metavar="ID", help="Only events of this source.")
@click.option("--all", "every", is_flag=True, help="Include past and archived events.")
@click.option("--hidden", is_flag=True, help="List hidden events instead.")
@click.option("-n", "--limit", type=click.IntRange(min=1), metavar="N", help="Maximum number of events.")
@click.option(
    "-f",
    "--format",
    "form",
    type=FormatChoice(LIST_FORMATS),
    help="Output format; default: by the name of --output, or table.",
)
@click.option("-o", "--output", metavar="FILE", help="Write to a file instead of stdout.")
@click.option("--bom", is_flag=True, help="csv: begin with a byte order mark, for Excel.")
@click.option("--lang", type=click.Choice(LANGUAGES), help="Language of labels in an ICS.")
@click.pass_obj
def list_events(
    place: EventsContext, city: str | None, since: str | None, until: str | None, category: str | None, words: str | None,
    source_id: int | None, every: bool, hidden: bool, limit: int | None, form: str | None, output: str | None, bom: bool,
    lang: str | None,
) -> None:  # fmt: skip
    """List events. An event with several dates is listed once, at its first matching date; an ICS has all dates."""
    from tadoru.jobs.reporting.output import open_output
    from tadoru.model.event import EventStatus
    from tadoru.store.calendar.listing import EventFilter

    to_file = output not in (None, "-")
    if to_file and output is not None:
        check_writable(Path(output), "--output")
        form = form or _format_of(output)
    form = form or "table"
    if bom and form != "csv":
        raise UsageError("--bom needs --format csv.")
    with open_existing_calendar(place) as (store, options):
        first, last = _period(since, until, every, store.db.now().astimezone(ZoneInfo(options.timezone)).date())
        if source_id is not None:
            store.sources.get(source_id)  # Raises UsageError if it does not exist.
        chosen = EventFilter(
            city=_city(store, city), since=first, until=last, category=category, q=words, source_id=source_id,
            statuses=(EventStatus.HIDDEN,) if hidden else (EventStatus.ACTIVE,), archived=None if every else False,
        )  # fmt: skip
        with open_output(output if to_file else None) as out:
            if form in ("csv", "ics") and isinstance(out, io.TextIOWrapper):
                out.reconfigure(newline="")  # Their standards define the line endings, on every system.
            for piece in _pieces(store, chosen, limit, form, bom=bom, lang=lang or current_language()):
                out.write(piece)
            count = _write_table(out, store, chosen, limit) if form == "table" else 0
        _report_count(store, form, count, output if to_file else None, city)


def _pieces(store: CalendarStore, chosen: EventFilter, limit: int | None, form: str, *, bom: bool, lang: str) -> Iterator[str]:

    match form:
        case "json":
            from tadoru.jobs.events.publish.json_documents import event_json, json_array

            yield from json_array(event_json(record) for record in store.events.iterate(chosen, limit=limit))
        case "csv":
            from tadoru.jobs.events.publish.rss_and_csv import csv_rows

            yield from csv_rows(store.events.iterate(chosen, limit=limit), mark=bom)
        case "ics":
            from tadoru.jobs.events.publish.ics import ics_calendar

            name = " ".join(["Tadoru", *([chosen.city] if chosen.city else [])])
            record = store.events.iterate(chosen, limit=limit)
            yield from ics_calendar(
                record, store.events.zones(chosen), name=name, lang=lang, since=chosen.since, until=chosen.until
            )


def _write_table(out: TextIO, store: CalendarStore, chosen: EventFilter, limit: int | None) -> int:
    from tadoru.cli.table import table_columns, write_table

    columns = table_columns("ID>", "When", "Title~", "Venue~", "City~", "")
    return write_table(out, columns, map(_event_row, store.events.iterate(chosen, limit=limit)))


def _event_row(record: EventRecord) -> list[str]:
    event = record.event
    when = format_event_time(record.time, event.timezone)
    return [str(event.id), when, event.title, event.venue or event.address, event.city, ", ".join(_marks(record))]


def _marks(record: EventRecord) -> Iterator[str]:
    """Remarks about an event."""
    event = record.event
    if event.cancelled_at:
        yield _("postponed") if event.is_postponed else _("cancelled")
    if event.is_sold_out:
        yield _("sold out")
    if event.vanished_at:
        yield _("no longer listed")
    if event.archived_at:
        yield _("archived")
    if len(record.times) > 1:
        yield _("{count} dates", count=len(record.times))


def _report_count(store: CalendarStore, form: str, count: int, output: str | None, city: str | None) -> None:
    """Report the file or the number of events, on stderr."""
    if output is not None:
        sys.stderr.write(_("Wrote {file}.", file=printable(output)) + "\n")
    elif form == "table" and count == 0:
        hint = "" if city is None or _known_city(store, city) else _cities_hint(store, city)
        sys.stderr.write((hint or _("No events. `--all` includes past events.")) + "\n")
    elif form == "table" and sys.stdout.isatty():
        sys.stderr.write(ngettext("{count} event", "{count} events", count) + "\n")


def _format_of(output: str) -> str | None:
    ending = Path(output).suffix.lower().removeprefix(".")
    return ending if ending in LIST_FORMATS else None


def _city(store: CalendarStore, asked: str | None) -> str | None:
    return None if asked is None else _known_city(store, asked) or asked


def _known_city(store: CalendarStore, asked: str) -> str | None:
    from tadoru.jobs.events.publish.list_pages import find_city

    return find_city(asked, store.events.cities())


def _cities_hint(store: CalendarStore, asked: str) -> str:
    from tadoru.jobs.events.publish.list_pages import suggest_cities

    near = suggest_cities(asked, store.events.cities())
    if near:
        return _("No events. There are events in {cities}.", cities=printable(", ".join(near)))
    return _("No events. No event has the city {city}.", city=printable(asked))


def _period(since: str | None, until: str | None, every: bool, today: date) -> tuple[date | None, date | None]:
    first = _date(since, "--from") if since else None
    last = _date(until, "--to") if until else None
    if first is not None and last is not None and last < first:
        raise UsageError("--to {last} is before --from {first}. Swap them.", last=last, first=first)
    if first is None and not every:
        if last is not None and last < today:
            raise UsageError("--to {last} is in the past. Add --from or --all.", last=last)
        first = today
    return first, last


def _date(text: str, flag: str) -> date:
    for form in ("%Y-%m-%d", "%Y/%m/%d", "%Y%m%d"):
        try:
            return datetime.strptime(text.strip(), form).date()  # noqa: DTZ007 - a date has no time zone
        except ValueError:
            continue
    raise UsageError("{option} {value} is not a date. Write it as 2026-08-01.", option=flag, value=text)


@click.command(
    cls=DocumentedCommand,
    examples=(("tadoru events show 12", "event 12 with its sources"),),
    short_help="Show an event and the source of each field.",
)
@click.argument("event_id", type=int, metavar="ID")
@format_option("text", "json")
@click.pass_obj
def show(place: EventsContext, event_id: int, form: str) -> None:
    """Show an event: its fields with their sources, merges and how to undo them, reviews and changes."""
    from tadoru.jobs.events.publish.json_documents import provenance_json

    with open_existing_calendar(place) as (store, options):
        story = store.events.provenance(event_id)
        found = store.events.record(event_id)
        assert found is not None
        names = {source.id: source.name for source in store.sources.list()}
        if form == "json":
            write_json(provenance_json(story, found, names))
        else:
            write_event(sys.stdout, story, names, options.timezone)
