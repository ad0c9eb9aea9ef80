"""`tadoru events list` and `tadoru events show`: the calendar in the form that somebody or something reads best, and one event
with where everything about it comes from."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TextIO
from zoneinfo import ZoneInfo

import click

from tadoru.cli.events import Place
from tadoru.cli.events_reading import existing, when_text
from tadoru.cli.forms import Form, format_option, write_json
from tadoru.cli.help import GroupedCommand
from tadoru.cli.inputs import check_writable
from tadoru.errors import UsageError
from tadoru.jobs.report.words import counted
from tadoru.log import printable

if TYPE_CHECKING:
    from tadoru.store.events.listing import EventFilter
    from tadoru.store.events.open import EventsStore
    from tadoru.store.events.walking import Told

FORMS = ("table", "json", "csv", "ics")
EXAMPLES = (
    ("tadoru events list", "what comes, from today on"),
    ("tadoru events list --city 盛岡市 --from 2026-08-01 --to 2026-08-31", "a month in a city"),
    ("tadoru events list -o calendar.ics", "for calendar programs"),
    ("tadoru events list --all -o events.csv --bom", "everything, for Excel"),
)


@click.command(
    "list", cls=GroupedCommand, examples=EXAMPLES, short_help="The calendar.",
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
@click.option("-f", "--format", "form", type=Form(FORMS), help="The form; without it, what the name of --output says, or table.")
@click.option("-o", "--output", metavar="FILE", help="Write to a file instead of stdout.")
@click.option("--bom", is_flag=True, help="Begin a CSV with a byte order mark, which Excel needs.")
@click.option("--lang", type=click.Choice(["en", "ja"]), default="en", help="Of our own words in an ICS. [en]")
@click.pass_obj
def list_events(
    place: Place, city: str | None, since: str | None, until: str | None, category: str | None, words: str | None,
    source_id: int | None, every: bool, hidden: bool, limit: int | None, form: str | None, output: str | None, bom: bool,
    lang: str,
) -> int:  # fmt: skip
    """Give out the calendar: an event once, at the first of its times that fits; a series in an ICS at each of them."""
    from tadoru.jobs.report.output import opened_output
    from tadoru.model.event import EventStatus
    from tadoru.store.events.listing import EventFilter

    to_file = output not in (None, "-")
    if to_file and output is not None:
        check_writable(Path(output), "--output")
        form = form or _form_of(output)
    form = form or "table"
    if bom and form != "csv":
        raise UsageError("--bom is for --format csv: leave it out, or add --format csv.")
    with existing(place) as (store, options):
        first, last = _period(since, until, every, store.now().astimezone(ZoneInfo(options.timezone)).date())
        if source_id is not None:
            store.source(source_id)  # says so when there is none
        chosen = EventFilter(
            city=_city(store, city), since=first, until=last, category=category, q=words, source_id=source_id,
            statuses=(EventStatus.HIDDEN,) if hidden else (EventStatus.ACTIVE,), archived=None if every else False,
        )  # fmt: skip
        with opened_output(output if to_file else None) as out:
            if form in ("csv", "ics") and isinstance(out, io.TextIOWrapper):
                out.reconfigure(newline="")  # their lines end as their standards say, on every system
            for piece in _pieces(store, chosen, limit, form, bom=bom, lang=lang):
                out.write(piece)
            count = _write_table(out, store, chosen, limit) if form == "table" else 0
        _tell(store, form, count, output if to_file else None, city)
    return 0


def _pieces(store: EventsStore, chosen: EventFilter, limit: int | None, form: str, *, bom: bool, lang: str) -> Iterator[str]:
    from tadoru.store.events.walking import walk, zones_in_use

    match form:
        case "json":
            from tadoru.jobs.events.publish.documents import document, json_array

            yield from json_array(document(told) for told in walk(store, chosen, limit=limit))
        case "csv":
            from tadoru.jobs.events.publish.rows_csv import rows_csv

            yield from rows_csv(walk(store, chosen, limit=limit), mark=bom)
        case "ics":
            from tadoru.jobs.events.publish.calendar_ics import calendar

            name = " ".join(["Tadoru", *([chosen.city] if chosen.city else [])])
            told = walk(store, chosen, limit=limit)
            yield from calendar(told, zones_in_use(store, chosen), name=name, lang=lang, since=chosen.since, until=chosen.until)


def _write_table(out: TextIO, store: EventsStore, chosen: EventFilter, limit: int | None) -> int:
    from tadoru.cli.table import Column, write_table
    from tadoru.store.events.walking import walk

    columns = [
        Column("ID", to_right=True), Column("When"), Column("What", may_shrink=True), Column("Where", may_shrink=True),
        Column("City", may_shrink=True), Column(""),
    ]  # fmt: skip
    return write_table(out, columns, map(_row, walk(store, chosen, limit=limit)))


def _row(told: Told) -> list[str]:
    event = told.event
    when = when_text(told.time, event.timezone)
    return [str(event.id), when, event.title, event.venue or event.address, event.city, ", ".join(_marks(told))]


def _marks(told: Told) -> Iterator[str]:
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


def _tell(store: EventsStore, form: str, count: int, output: str | None, city: str | None) -> None:
    """What a person wants to know and a program does not."""
    if output is not None:
        sys.stderr.write(f"Wrote {printable(output)}.\n")
    elif form == "table" and count == 0:
        hint = "" if city is None or _known_city(store, city) else _cities_hint(store, city)
        sys.stderr.write(f"No events.{hint or ' `--all` shows also those that are over.'}\n")
    elif form == "table" and sys.stdout.isatty():
        sys.stderr.write(f"{counted(count, 'event')}.\n")


def _form_of(output: str) -> str | None:
    ending = Path(output).suffix.lower().removeprefix(".")
    return ending if ending in FORMS else None


def _city(store: EventsStore, asked: str | None) -> str | None:
    return None if asked is None else _known_city(store, asked) or asked


def _known_city(store: EventsStore, asked: str) -> str | None:
    from tadoru.jobs.events.publish.cities import city_named

    return city_named(asked, store.cities())


def _cities_hint(store: EventsStore, asked: str) -> str:
    from tadoru.jobs.events.publish.cities import cities_like

    near = cities_like(asked, store.cities())
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
    cls=GroupedCommand, examples=(("tadoru events show 12", "who says what about event 12"),), short_help="One event.",
)  # fmt: skip
@click.argument("event_id", type=int, metavar="ID")
@format_option("text", "json")
@click.pass_obj
def show(place: Place, event_id: int, form: str) -> int:
    """Show one event: what it is, who says so, what was merged into it and how to take that back, and how it changed."""
    from tadoru.cli.events_story import write_story
    from tadoru.jobs.events.publish.records import story_json
    from tadoru.store.events.walking import told

    with existing(place) as (store, options):
        story = store.story(event_id)
        found = told(store, event_id)
        assert found is not None
        names = {source.id: source.name for source in store.sources()}
        if form == "json":
            write_json(story_json(story, found, names))
        else:
            write_story(sys.stdout, story, names, options.timezone)
    return 0
