"""`tadoru events add | edit | hide | unhide`: manual edits of the calendar. They override sources until they are released."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from tadoru.cli.events import EventsContext, current_user, format_event_dates, open_existing_calendar
from tadoru.cli.help import DocumentedCommand
from tadoru.cli.output import N_, _, format_option, ngettext, write_json
from tadoru.cli.table import single_line
from tadoru.errors import UsageError

if TYPE_CHECKING:
    from tadoru.store.calendar.records import CalendarEvent
    from tadoru.store.calendar.store import CalendarStore

_EVENT_FIELDS = {
    "title": ("--title", "TEXT", "Title."),
    "starts": ("--starts", "WHEN", "Start, in any format that sources use: 2026-08-01 10:00, 令和8年8月1日 10時~12時."),
    "ends": ("--ends", "WHEN", "End; a date without a time means through that day."),
    "venue": ("--venue", "TEXT", "Venue."),
    "address": ("--address", "TEXT", "Address."),
    "city": ("--city", "NAME", "City; default: from the address."),
    "lat": ("--lat", "DEGREES", "Latitude."),
    "lon": ("--lon", "DEGREES", "Longitude."),
    "category": ("--category", "NAME", "Category."),
    "price": ("--price", "TEXT", "Price."),
    "organizer": ("--organizer", "TEXT", "Organizer."),
    "url": ("--url", "URL", "Web page."),
    "image": ("--image", "URL", "Image URL."),
    "description": ("--description", "TEXT", "Description: text or HTML."),
    "timezone": ("--timezone", "ZONE", "Time zone of the dates; default: that of the installation."),
}


def _field_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for name, (option, metavar, words) in reversed(_EVENT_FIELDS.items()):
        function = click.option(option, name, metavar=metavar, help=words, required=name in ("title", "starts"))(function)
    return function


@click.command(
    cls=DocumentedCommand, short_help="Add an event manually.",
    sections={
        "Event": ["title", "category", "price", "organizer", "url", "image", "description"],
        "Time": ["starts", "ends", "timezone", "all_day"],
        "Place": ["venue", "address", "city", "lat", "lon"],
    },
    examples=(("tadoru events add --title 朝市 --starts '2026-08-01 6:00' --venue 駅前広場", "add an event"),),
)  # fmt: skip
@_field_options
@click.option("--all-day", is_flag=True, help="All-day event.")
@format_option("text", "json")
@click.pass_obj
def add(place: EventsContext, /, all_day: bool, form: str, **given: str | None) -> None:
    """Add an event manually. It is published without a search for duplicates."""
    from tadoru.jobs.events.dedupe.matcher import EventMatcher
    from tadoru.jobs.events.event_input import parse_new_event

    values = {name: value for name, value in given.items() if value is not None}
    if all_day:
        values["all_day"] = "yes"
    options = place.options()
    with place.open(options) as store:
        draft = parse_new_event(values, options.timezone, store.db.now())
        _report_event(store, store.edits.create(draft, EventMatcher(), current_user()), N_("Added event {id}: {event}"), form)
        _report_notes(draft.extra.get("notes", ""))


@click.command(
    cls=DocumentedCommand, short_help="Edit an event; edits override sources.",
    examples=(
        ("tadoru events edit 12 --set venue=市民会館 --set price=無料", "override two fields"),
        ("tadoru events edit 12 --set 'starts=2026-08-02 10:00'", "move it; the duration stays"),
        ("tadoru events edit 12 --release venue", "use the source value again"),
    ),
)  # fmt: skip
@click.argument("event_id", type=int, metavar="ID")
@click.option("--set", "pairs", multiple=True, metavar="FIELD=VALUE", help="Set a field; an empty value clears it (repeatable).")
@click.option("--release", "released", multiple=True, metavar="FIELD", help="Use the source value of a field again (repeatable).")
@format_option("text", "json")
@click.pass_obj
def edit(place: EventsContext, event_id: int, pairs: tuple[str, ...], released: tuple[str, ...], form: str) -> None:
    """Edit an event. Edits override sources until they are released.

    Fields: title, description, starts, ends, venue, address, city, lat, lon, category, price, organizer, url, image, timezone,
    when_note, all_day and cancelled (yes or no).
    """
    from tadoru.jobs.events.dedupe.matcher import EventMatcher
    from tadoru.jobs.events.event_input import fields_from_pairs, parse_changes, resolve_field

    values, names = fields_from_pairs(pairs), [resolve_field(name) for name in released]
    if not values and not names:
        raise UsageError("Nothing to change. Give --set FIELD=VALUE or --release FIELD.")
    if both := sorted(values.keys() & set(names)):
        raise UsageError("Cannot both set and release the field {field}. Choose one.", field=both[0])
    with open_existing_calendar(place) as (store, options):
        event = store.events.get(event_id)
        times = store.events.times(event_id)
        changes = parse_changes(event, times, values, options.timezone, store.db.now()) if values else {}
        if names:
            event = _release(store, event, names)
        if changes:
            event = store.edits.edit(event_id, changes, EventMatcher(), current_user())
            if len(times) > 1 and not changes.get("occurrences", times):
                sys.stderr.write(_("Event {id} had {count} dates and now has one.", id=event_id, count=len(times)) + "\n")
        _report_event(store, event, N_("Changed event {id}: {event}"), form)


def _release(store: CalendarStore, event: CalendarEvent, names: list[str]) -> CalendarEvent:
    from tadoru.jobs.events.dedupe.matcher import EventMatcher
    from tadoru.jobs.events.event_input import draft_fields

    owners = store.events.provenance(event.id).owners
    for name in names:
        if not any(owners[field].owner == "person" for field in draft_fields([name]) if field in owners):
            raise UsageError(
                "The field {field} of event {id} was not edited manually: nothing to release.", field=name, id=event.id
            )
    return store.edits.release_fields(event.id, draft_fields(names), EventMatcher(), current_user())


@click.command(
    cls=DocumentedCommand, short_help="Hide an event from the calendar.",
    examples=(("tadoru events hide 12", "no source brings it back"),),
)  # fmt: skip
@click.argument("event_id", type=int, metavar="ID")
@click.pass_obj
def hide(place: EventsContext, event_id: int) -> None:
    """Hide an event from the calendar. It is kept, so that no source brings it back."""
    with open_existing_calendar(place) as (store, _options):
        _report_event(store, store.edits.hide(event_id, current_user()), N_("Hid event {id}: {event}"), "text")


@click.command(
    cls=DocumentedCommand, short_help="Show a hidden event again.",
    examples=(("tadoru events list --hidden --all", "list hidden events"), ("tadoru events unhide 12", "show event 12 again")),
)  # fmt: skip
@click.argument("event_id", type=int, metavar="ID")
@click.pass_obj
def unhide(place: EventsContext, event_id: int) -> None:
    """Show a hidden event in the calendar again."""
    with open_existing_calendar(place) as (store, _options):
        _report_event(
            store, store.edits.unhide(event_id, current_user()), N_("Event {id} is in the calendar again: {event}"), "text"
        )


def _report_event(store: CalendarStore, event: CalendarEvent, message: str, form: str) -> None:
    from tadoru.jobs.events.publish.json_documents import event_json

    if form == "json":
        found = store.events.record(event.id)
        assert found is not None
        write_json(event_json(found))
        return
    place = " · ".join(part for part in (event.venue, event.city) if part)
    more = ngettext(" and {count} more date", " and {count} more dates", event.times - 1) if event.times > 1 else ""
    text = f"{event.title} · {format_event_dates(event)} {event.timezone}{more}{' · ' + place if place else ''}"
    sys.stdout.write(single_line(_(message, id=event.id, event=text)) + "\n")


def _report_notes(notes: str) -> None:
    if notes:
        sys.stderr.write(single_line(notes) + "\n")
