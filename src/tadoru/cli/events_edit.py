"""`tadoru events add | edit | hide | unhide`: what a person does to the calendar. A field that a person wrote is theirs: no
source writes over it until it is released."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from tadoru.cli.events import Place, person
from tadoru.cli.events_reading import event_when, existing
from tadoru.cli.forms import format_option, write_json
from tadoru.cli.help import GroupedCommand
from tadoru.cli.table import clean
from tadoru.errors import UsageError
from tadoru.jobs.report.words import counted

if TYPE_CHECKING:
    from tadoru.store.events.open import EventsStore
    from tadoru.store.events.values import Event

_TEXTS = {
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


def _texts(function: Callable[..., Any]) -> Callable[..., Any]:
    for name, (option, metavar, words) in reversed(_TEXTS.items()):
        function = click.option(option, name, metavar=metavar, help=words, required=name in ("title", "starts"))(function)
    return function


@click.command(
    cls=GroupedCommand, short_help="Add an event by hand.",
    sections={
        "What": ["title", "category", "price", "organizer", "url", "image", "description"],
        "When": ["starts", "ends", "timezone", "all_day"],
        "Where": ["venue", "address", "city", "lat", "lon"],
    },
    examples=(("tadoru events add --title 朝市 --starts '2026-08-01 6:00' --venue 駅前広場", "an event"),),
)  # fmt: skip
@_texts
@click.option("--all-day", is_flag=True, help="It is of whole days.")
@format_option("text", "json")
@click.pass_obj
def add(place: Place, /, all_day: bool, form: str, **given: str | None) -> int:
    """Add an event by hand. It is compared with no other: what you add is in the calendar."""
    from tadoru.jobs.events.by_hand import draft_of_new
    from tadoru.jobs.events.dedupe.judge import EventJudge

    values = {name: value for name, value in given.items() if value is not None}
    if all_day:
        values["all_day"] = "yes"
    options = place.options()
    with place.open(options) as store:
        draft = draft_of_new(values, options.timezone, store.now())
        _tell(store, store.create_event(draft, EventJudge(), person()), "was added", form)
        _say_notes(draft.extra.get("notes", ""))
    return 0


@click.command(
    cls=GroupedCommand, short_help="Change an event by hand.",
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
def edit(place: Place, event_id: int, pairs: tuple[str, ...], released: tuple[str, ...], form: str) -> int:
    """Change an event by hand; no source overwrites what you write.

    Fields: title, description, starts, ends, venue, address, city, lat, lon, category, price, organizer, url, image, timezone,
    when_note, all_day and cancelled (yes or no).
    """
    from tadoru.jobs.events.by_hand import changes_of, from_pairs, known_field
    from tadoru.jobs.events.dedupe.judge import EventJudge

    values, names = from_pairs(pairs), [known_field(name) for name in released]
    if not values and not names:
        raise UsageError("There is nothing to change: say what with --set field=value or --release field.")
    if both := sorted(values.keys() & set(names)):
        raise UsageError(f"The field {both[0]} can not be set and released at once: do one of them.")
    with existing(place) as (store, options):
        event = store.event(event_id)
        times = store.times(event_id)
        changes = changes_of(event, times, values, options.timezone, store.now()) if values else {}
        if names:
            event = _release(store, event, names)
        if changes:
            event = store.edit_event(event_id, changes, EventJudge(), person())
            if len(times) > 1 and not changes.get("occurrences", times):
                sys.stderr.write(f"Event {event_id} had {len(times)} dates, and is one event now.\n")
        _tell(store, event, "was changed", form)
    return 0


def _release(store: EventsStore, event: Event, names: list[str]) -> Event:
    from tadoru.jobs.events.by_hand import owned_fields
    from tadoru.jobs.events.dedupe.judge import EventJudge

    owners = store.story(event.id).owners
    for name in names:
        if not any(owners[field].owner == "person" for field in owned_fields([name]) if field in owners):
            raise UsageError(f"The field {name} of event {event.id} is not a person's: there is nothing to release.")
    return store.give_back_fields(event.id, owned_fields(names), EventJudge(), person())


@click.command(
    cls=GroupedCommand, short_help="Take an event out of the calendar.",
    examples=(("tadoru events hide 12", "it stays known, and is not shown"),),
)  # fmt: skip
@click.argument("event_id", type=int, metavar="ID")
@click.pass_obj
def hide(place: Place, event_id: int) -> int:
    """Take an event out of the calendar. It stays known, so that no source brings it back."""
    with existing(place) as (store, _):
        _tell(store, store.hide_event(event_id, person()), "is hidden now", "text")
    return 0


@click.command(
    cls=GroupedCommand, short_help="Put it back.",
    examples=(("tadoru events list --hidden --all", "what is hidden"), ("tadoru events unhide 12", "show it again")),
)  # fmt: skip
@click.argument("event_id", type=int, metavar="ID")
@click.pass_obj
def unhide(place: Place, event_id: int) -> int:
    """Put an event back into the calendar."""
    with existing(place) as (store, _):
        _tell(store, store.unhide_event(event_id, person()), "is in the calendar again", "text")
    return 0


def _tell(store: EventsStore, event: Event, what: str, form: str) -> None:
    from tadoru.jobs.events.publish.documents import document
    from tadoru.store.events.walking import told

    if form == "json":
        found = told(store, event.id)
        assert found is not None
        write_json(document(found))
        return
    place = " · ".join(part for part in (event.venue, event.city) if part)
    dates = f" and {counted(event.times - 1, 'more date')}" if event.times > 1 else ""
    words = (
        f"Event {event.id} {what}: {event.title} · {event_when(event)} {event.timezone}{dates}{' · ' + place if place else ''}"
    )
    sys.stdout.write(clean(words) + "\n")


def _say_notes(notes: str) -> None:
    if notes:
        sys.stderr.write(clean(notes) + "\n")
