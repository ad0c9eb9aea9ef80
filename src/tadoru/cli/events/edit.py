"""`tadoru events add | edit | hide | unhide`: what a person does to the calendar. A field that a person wrote is theirs: no
source writes over it until it is released."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from tadoru.cli.events import EventsContext, current_user, format_event_dates, open_existing_calendar
from tadoru.cli.help import DocumentedCommand
from tadoru.cli.output import format_option, write_json
from tadoru.cli.table import single_line
from tadoru.errors import UsageError
from tadoru.jobs.reporting.formatting import format_count

if TYPE_CHECKING:
    from tadoru.store.calendar.records import CalendarEvent
    from tadoru.store.calendar.store import CalendarStore

_EVENT_FIELDS = {
    "title": ("--title", "TEXT", "What it is called."),
    "starts": ("--starts", "WHEN", "When it begins, in any form that sources use: 2026-08-01 10:00, 令和8年8月1日 10時~12時."),
    "ends": ("--ends", "WHEN", "When it ends; a day alone is the last day, included."),
    "venue": ("--venue", "TEXT", "Where: the place."),
    "address": ("--address", "TEXT", "Where: the address."),
    "city": ("--city", "NAME", "Where: the city; without it, what the address says."),
    "lat": ("--lat", "DEGREES", "Where: latitude."),
    "lon": ("--lon", "DEGREES", "Where: longitude."),
    "category": ("--category", "NAME", "What kind of event."),
    "price": ("--price", "TEXT", "What it costs."),
    "organizer": ("--organizer", "TEXT", "Who holds it."),
    "url": ("--url", "URL", "Its page."),
    "image": ("--image", "URL", "A picture."),
    "description": ("--description", "TEXT", "Text, or HTML."),
    "timezone": ("--timezone", "ZONE", "The zone of its dates [the installation's]."),
}


def _field_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for name, (option, metavar, words) in reversed(_EVENT_FIELDS.items()):
        function = click.option(option, name, metavar=metavar, help=words, required=name in ("title", "starts"))(function)
    return function


@click.command(
    cls=DocumentedCommand, short_help="Add an event by hand.",
    sections={
        "What": ["title", "category", "price", "organizer", "url", "image", "description"],
        "When": ["starts", "ends", "timezone", "all_day"],
        "Where": ["venue", "address", "city", "lat", "lon"],
    },
    examples=(("tadoru events add --title 朝市 --starts '2026-08-01 6:00' --venue 駅前広場", "an event"),),
)  # fmt: skip
@_field_options
@click.option("--all-day", is_flag=True, help="It is of whole days.")
@format_option("text", "json")
@click.pass_obj
def add(place: EventsContext, /, all_day: bool, form: str, **given: str | None) -> int:
    """Add an event by hand. It is compared with no other: what you add is in the calendar."""
    from tadoru.jobs.events.dedupe.matcher import EventMatcher
    from tadoru.jobs.events.event_input import parse_new_event

    values = {name: value for name, value in given.items() if value is not None}
    if all_day:
        values["all_day"] = "yes"
    options = place.options()
    with place.open(options) as store:
        draft = parse_new_event(values, options.timezone, store.now())
        _report_event(store, store.create_event(draft, EventMatcher(), current_user()), "was added", form)
        _report_notes(draft.extra.get("notes", ""))
    return 0


@click.command(
    cls=DocumentedCommand, short_help="Change an event by hand.",
    examples=(
        ("tadoru events edit 12 --set venue=市民会館 --set price=無料", "two fields that are yours now"),
        ("tadoru events edit 12 --set 'starts=2026-08-02 10:00'", "another time; it keeps its length"),
        ("tadoru events edit 12 --release venue", "let the sources say it again"),
    ),
)  # fmt: skip
@click.argument("event_id", type=int, metavar="ID")
@click.option("--set", "pairs", multiple=True, metavar="FIELD=VALUE", help="Write a field; an empty value empties it.")
@click.option("--release", "released", multiple=True, metavar="FIELD", help="Give a field back to the sources.")
@format_option("text", "json")
@click.pass_obj
def edit(place: EventsContext, event_id: int, pairs: tuple[str, ...], released: tuple[str, ...], form: str) -> int:
    """Change an event by hand; no source overwrites what you write.

    Fields: title, description, starts, ends, venue, address, city, lat, lon, category, price, organizer, url, image, timezone,
    when_note, all_day and cancelled (yes or no).
    """
    from tadoru.jobs.events.dedupe.matcher import EventMatcher
    from tadoru.jobs.events.event_input import fields_from_pairs, parse_changes, resolve_field

    values, names = fields_from_pairs(pairs), [resolve_field(name) for name in released]
    if not values and not names:
        raise UsageError("There is nothing to change: say what with --set field=value or --release field.")
    if both := sorted(values.keys() & set(names)):
        raise UsageError(f"The field {both[0]} can not be set and released at once: do one of them.")
    with open_existing_calendar(place) as (store, options):
        event = store.event(event_id)
        times = store.times(event_id)
        changes = parse_changes(event, times, values, options.timezone, store.now()) if values else {}
        if names:
            event = _release(store, event, names)
        if changes:
            event = store.edit_event(event_id, changes, EventMatcher(), current_user())
            if len(times) > 1 and not changes.get("occurrences", times):
                sys.stderr.write(f"Event {event_id} had {len(times)} dates, and is one event now.\n")
        _report_event(store, event, "was changed", form)
    return 0


def _release(store: CalendarStore, event: CalendarEvent, names: list[str]) -> CalendarEvent:
    from tadoru.jobs.events.dedupe.matcher import EventMatcher
    from tadoru.jobs.events.event_input import draft_fields

    owners = store.story(event.id).owners
    for name in names:
        if not any(owners[field].owner == "person" for field in draft_fields([name]) if field in owners):
            raise UsageError(f"The field {name} of event {event.id} is not a person's: there is nothing to release.")
    return store.give_back_fields(event.id, draft_fields(names), EventMatcher(), current_user())


@click.command(
    cls=DocumentedCommand, short_help="Take an event out of the calendar.",
    examples=(("tadoru events hide 12", "it stays known, and is not shown"),),
)  # fmt: skip
@click.argument("event_id", type=int, metavar="ID")
@click.pass_obj
def hide(place: EventsContext, event_id: int) -> int:
    """Take an event out of the calendar. It stays known, so that no source brings it back."""
    with open_existing_calendar(place) as (store, _):
        _report_event(store, store.hide_event(event_id, current_user()), "is hidden now", "text")
    return 0


@click.command(
    cls=DocumentedCommand, short_help="Put it back.",
    examples=(("tadoru events list --hidden --all", "what is hidden"), ("tadoru events unhide 12", "show it again")),
)  # fmt: skip
@click.argument("event_id", type=int, metavar="ID")
@click.pass_obj
def unhide(place: EventsContext, event_id: int) -> int:
    """Put an event back into the calendar."""
    with open_existing_calendar(place) as (store, _):
        _report_event(store, store.unhide_event(event_id, current_user()), "is in the calendar again", "text")
    return 0


def _report_event(store: CalendarStore, event: CalendarEvent, what: str, form: str) -> None:
    from tadoru.jobs.events.publish.json_documents import event_json
    from tadoru.store.calendar.event_records import find_event_record

    if form == "json":
        found = find_event_record(store, event.id)
        assert found is not None
        write_json(event_json(found))
        return
    place = " · ".join(part for part in (event.venue, event.city) if part)
    dates = f" and {format_count(event.times - 1, 'more date')}" if event.times > 1 else ""
    words = f"Event {event.id} {what}: {event.title} · {format_event_dates(event)} {event.timezone}{dates}{' · ' + place if place else ''}"
    sys.stdout.write(single_line(words) + "\n")


def _report_notes(notes: str) -> None:
    if notes:
        sys.stderr.write(single_line(notes) + "\n")
