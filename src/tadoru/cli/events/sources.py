"""`tadoru events sources …`: manages the sources that events are collected from."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tadoru.cli.events import EventsContext, current_user
from tadoru.cli.help import CommandGroup
from tadoru.cli.options import job_options
from tadoru.cli.output import _, all_of, current_language, format_option, format_time, ngettext, translate_text
from tadoru.cli.table import table_columns, write_table
from tadoru.config.options import JOB_SETTINGS
from tadoru.errors import Message, UsageError, quoted, reading_errors
from tadoru.log import printable

if TYPE_CHECKING:
    from tadoru.store.calendar.records import CollectionState, EventSource
    from tadoru.store.calendar.store import CalendarStore

SOURCE_TYPES = "rss|ics|api|html|csv"
_SOURCE_OPTIONS = (
    click.option("--city", metavar="NAME", help="City of events that do not state one."),
    click.option("--frequency", metavar="high|normal|low", help="Interval: 3, 12 or 24 hours. [normal]"),
    click.option("--low-hours", type=int, metavar="N", help="Low-frequency interval in hours, 24 to 72. [24]"),
    click.option("--timezone", metavar="ZONE", help="Time zone of its dates, such as Asia/Tokyo."),
    click.option("--priority", type=int, metavar="N", help="Priority; higher wins. [0]"),
    click.option("--depends-on", type=int, metavar="ID", help="Collect after this source."),
    click.option("--licence", metavar="TEXT", help="Licence of its data, such as CC BY 4.0."),
    click.option("--terms-url", metavar="URL", help="Terms of use."),
    click.option("--notes", metavar="TEXT", help="Internal notes."),
    click.option("--secret", metavar="VARIABLE", help="Variable that holds its key or password (see the setting auth)."),
    click.option("--set", "pairs", metavar="KEY=VALUE", multiple=True, help="Parser setting (repeatable)."),
    click.option("--allow-private", is_flag=True, default=None, help="Allow private and loopback addresses."),
)

_SECTIONS = {
    "Source": ("name", "kind", "url", "city", "timezone", "licence", "terms_url", "notes"),
    "Schedule": ("frequency", "low_hours", "priority", "depends_on", "disabled"),
    "Parser": ("pairs", "secret", "allow_private"),
}


@click.group(
    cls=CommandGroup, short_help="Manage event sources.",
    examples=(
        ("tadoru events sources add --name Town --type ics --url https://town.example/events.ics", "add a source"),
        ("tadoru events sources test 1", "preview without storing"),
        ("tadoru events sources list", "list with health"),
    ),
)  # fmt: skip
def sources() -> None:
    """Manage the sources that events are collected from."""


@sources.command(
    short_help="Add a source.", sections=_SECTIONS,
    examples=(
        ("tadoru events sources add --name Town --type ics --url https://town.example/events.ics --city 盛岡市", "a calendar"),
        ("tadoru events sources add --name Hall --type html --url https://hall.example/ --frequency low", "a page"),
    ),
)  # fmt: skip
@click.option("--name", required=True, metavar="NAME", help="Name of the source.")
@click.option("--type", "kind", required=True, metavar=SOURCE_TYPES, help="Format of the source.")
@click.option("--url", required=True, metavar="URL", help="URL of the source.")
@all_of(*_SOURCE_OPTIONS)
@click.option("--disabled", is_flag=True, help="Add it disabled.")
@click.pass_obj
def add(place: EventsContext, /, name: str, kind: str, url: str, pairs: tuple[str, ...], disabled: bool, **given: Any) -> None:
    """Add a source. The next `tadoru events run` collects it."""
    from tadoru.jobs.events.collect import source_registry as register
    from tadoru.jobs.events.collect.source_settings import settings_from_pairs
    from tadoru.jobs.launch import run_loop

    values = {key: value for key, value in given.items() if value is not None}
    values |= {"name": name, "type": kind, "url": url, "settings": settings_from_pairs(pairs), "enabled": not disabled}
    with place.open() as store:
        source = run_loop(register.add_source(store, values, current_user()))
    text = _(
        "Added source {id}: {name} ({type}, {frequency}).",
        id=source.id, name=printable(source.name), type=source.type, frequency=source.frequency,
    )  # fmt: skip
    sys.stdout.write(text + "\n")


@sources.command("list", short_help="List the sources.", examples=(("tadoru events sources list", "with their health"),))
@format_option("table", "json")
@click.pass_obj
def list_sources(place: EventsContext, form: str) -> int:
    """List the sources with their health."""
    with place.open() as store:
        health = {one.source_id: one for one in store.statistics.source_health()}
        found = store.sources.list()
        states = {source.id: store.schedule.state(source.id) for source in found}
    if form == "json":
        from tadoru.jobs.events.publish.json_documents import source_json, state_json

        learnt = ("last_success", "last_error", "failures", "next_run_at")
        rows = []
        for source in found:
            state = state_json(states[source.id])
            rows.append(source_json(source) | {name: state[name] for name in learnt} | {"rows": health[source.id].rows})
        return _print_json(rows)
    if not found:
        sys.stdout.write(_("No sources yet. Add one with `tadoru events sources add`.") + "\n")
        return 0
    columns = table_columns("ID>", "Name~", "Type", "City~", "Frequency", "Events>", "State~")
    lines = (
        (
            str(source.id), source.name, source.type.value, source.city, source.frequency, f"{health[source.id].rows:,}",
            _format_state(source, states[source.id]),
        )
        for source in found
    )  # fmt: skip
    write_table(sys.stdout, columns, lines)
    return 0


def _format_state(source: EventSource, known: CollectionState) -> str:
    if known.failures:
        return _("failed {count}×: {error}", count=known.failures, error=translate_text(known.last_error))
    if not source.enabled:
        return _("disabled")
    return _("healthy") if known.last_success else _("not yet collected")


@sources.command(short_help="Show a source.", examples=(("tadoru events sources show 3", "all fields of source 3"),))
@click.argument("source_id", type=int, metavar="ID")
@click.pass_obj
def show(place: EventsContext, source_id: int) -> int:
    """Show a source: its fields, its settings and its state."""
    from tadoru.jobs.events.publish.json_documents import source_json, state_json

    with place.open() as store:
        source, state = store.sources.get(source_id), store.schedule.state(source_id)
    return _print_json(source_json(source) | {"state": state_json(state)})


@sources.command(
    short_help="Edit a source.", sections=_SECTIONS,
    examples=(
        ("tadoru events sources edit 3 --frequency high", "collect every three hours"),
        ("tadoru events sources edit 3 --set fields.title=h2", "set a parser setting"),
    ),
)  # fmt: skip
@click.argument("source_id", type=int, metavar="ID")
@click.option("--name", metavar="NAME", help="Name of the source.")
@click.option("--type", "kind", metavar=SOURCE_TYPES, help="Format of the source.")
@click.option("--url", metavar="URL", help="URL of the source.")
@all_of(*_SOURCE_OPTIONS)
@click.pass_obj
def edit(place: EventsContext, /, source_id: int, kind: str | None, pairs: tuple[str, ...], **given: Any) -> None:
    """Edit a source. `--set KEY=` removes a setting."""
    from tadoru.jobs.events.collect import source_registry as register
    from tadoru.jobs.events.collect.source_settings import settings_from_pairs
    from tadoru.jobs.launch import run_loop

    values = {key: value for key, value in given.items() if value is not None}
    if kind is not None:
        values["type"] = kind
    with place.open() as store:
        if pairs:
            values["settings"] = settings_from_pairs(pairs, store.sources.get(source_id).settings)
        if not values:
            raise UsageError("Nothing to change. See `tadoru events sources edit --help`.")
        source = run_loop(register.edit_source(store, source_id, values, current_user()))
    sys.stdout.write(_("Changed source {id}.", id=source.id) + "\n")


@sources.command(short_help="Enable sources.", examples=(("tadoru events sources enable 3 4", "collect them again"),))
@click.argument("source_ids", type=int, metavar="ID...", nargs=-1, required=True)
@click.pass_obj
def enable(place: EventsContext, source_ids: tuple[int, ...]) -> None:
    """Enable sources: they are collected again."""
    with place.open() as store:
        for one in source_ids:
            store.sources.enable(one, current_user())
            store.schedule.set_due(one, 0.0)
            sys.stdout.write(_("Enabled source {id}.", id=one) + "\n")


@sources.command(short_help="Disable sources.", examples=(("tadoru events sources disable 3", "stop collecting it"),))
@click.argument("source_ids", type=int, metavar="ID...", nargs=-1, required=True)
@click.pass_obj
def disable(place: EventsContext, source_ids: tuple[int, ...]) -> None:
    """Disable sources: they are not collected. Their events are kept."""
    with place.open() as store:
        for one in source_ids:
            store.sources.disable(one, current_user())
            sys.stdout.write(_("Disabled source {id}.", id=one) + "\n")


@sources.command(short_help="Remove a source.", examples=(("tadoru events sources remove 3", "after a confirmation"),))
@click.argument("source_id", type=int, metavar="ID")
@click.option("--yes", is_flag=True, help="Skip the confirmation.")
@click.pass_obj
def remove(place: EventsContext, source_id: int, yes: bool) -> None:
    """Remove a source and its snapshots. Its events and its history are kept."""
    from tadoru.cli.events import calendar_files

    with place.open() as store:
        source = store.sources.get(source_id)
        if not yes:
            if not sys.stdin.isatty():
                raise UsageError(
                    "Removing source {id} ({name}) cannot be undone. Confirm with --yes, or disable it instead.",
                    id=source_id, name=source.name,
                )  # fmt: skip
            click.confirm(_("Remove source {id} ({name})?", id=source_id, name=printable(source.name)), abort=True, err=True)
        calendar_files(place.options()).delete(store.sources.remove(source_id, current_user()))
    sys.stdout.write(_("Removed source {id}. Its events are kept.", id=source_id) + "\n")


@sources.command(
    "import", short_help="Import sources from a file.",
    examples=(("tadoru events sources import sources.yml", "YAML, OPML or CSV"),),
)  # fmt: skip
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.pass_obj
def import_sources(place: EventsContext, file: Path) -> None:
    """Import sources from a YAML, OPML or CSV file. All are validated first; existing ones are not changed."""
    from tadoru.jobs.events.collect import source_registry
    from tadoru.jobs.launch import run_loop

    with reading_errors(file):
        text = file.read_text("utf-8")
    entries = source_registry.parse_source_file(text, file.name)
    with place.open() as store:
        added, known = run_loop(_import(store, entries))
    sources = ngettext("{count} source", "{count} sources", added)
    sys.stdout.write(_("Added {sources}; {known} already existed.", sources=sources, known=known) + "\n")


async def _import(store: CalendarStore, entries: list[Any]) -> tuple[int, int]:
    from tadoru.jobs.events.collect import source_registry as register

    problems, ready = [], []
    for entry in entries:
        try:
            ready.append((entry, register.check_source(entry.values)))
        except UsageError as error:
            problems.append(Message("{where}: {error}", where=entry.where, error=error))
    if problems:
        if len(problems) == 1:
            raise UsageError("{problem} Nothing was imported.", problem=problems[0])
        raise UsageError(
            "{problem} {more} more problems like this. Nothing was imported.", problem=problems[0], more=len(problems) - 1
        )
    ids = {source.name: source.id for source in store.sources.list()}
    addresses = {(source.url, source.type) for source in store.sources.list()}
    added = 0
    for entry, values in ready:
        if entry.values["name"] in ids or (values["url"], values["type"]) in addresses:
            continue
        if entry.depends_on:
            if entry.depends_on not in ids:
                raise UsageError(
                    "{where}: the source {name} that it depends on must come before it.",
                    where=entry.where,
                    name=quoted(entry.depends_on),
                )
            values["depends_on"] = ids[entry.depends_on]
        source = await register.add_source(store, values, current_user())
        ids[source.name] = source.id
        added += 1
    return added, len(ready) - added


@sources.command(
    short_help="Show the changes of a source.", examples=(("tadoru events sources history 3", "changes of source 3"),)
)
@click.argument("source_id", type=int, metavar="ID")
@format_option("table", "json")
@click.pass_obj
def history(place: EventsContext, source_id: int, form: str) -> int:
    """Show the changes of a source: when, by whom, and which field."""
    from tadoru.jobs.events.publish.json_documents import change_json

    with place.open() as store:
        changes = store.sources.history(source_id)
    if not changes:
        raise UsageError("Source {id} not found. List them with `tadoru events sources list`.", id=source_id)
    if form == "json":
        return _print_json([change_json(one) for one in changes])
    columns = table_columns("Time", "User", "Field", "Before~", "After~")
    zone = place.options().timezone
    rows = ((format_time(one.at, zone), one.by, one.field, _format_value(one.old), _format_value(one.new)) for one in changes)
    write_table(sys.stdout, columns, rows)
    return 0


@sources.command(
    short_help="Fetch a source without storing anything.", groups=JOB_SETTINGS["events"],
    examples=(("tadoru events sources test 3", "preview its events"), ("tadoru events sources test 3 -f json", "as JSON")),
)  # fmt: skip
@click.argument("source_id", type=int, metavar="ID")
@click.option("-n", "--limit", type=click.IntRange(min=1), default=10, metavar="N", help="Maximum events to show. [10]")
@format_option("table", "json")
@job_options("events", ("delay", "timeout", "ignore_robots", "user_agent", "proxy", "insecure"))
@click.pass_obj
def test(place: EventsContext, /, source_id: int, limit: int, form: str, **given: Any) -> int:
    """Fetch a source and show its events. Nothing is stored, and the next run reads the source as if there had been no test."""
    from tadoru.cli.events import calendar_files
    from tadoru.jobs.events.collect.trial import try_source
    from tadoru.jobs.launch import run_loop

    options = place.options(given)
    with place.open(options) as store:
        trial = run_loop(try_source(store, calendar_files(options), options, source_id))
    if form == "json":
        _print_json(trial.to_dict())
    else:
        trial.write(sys.stdout, limit, current_language())
    return 1 if trial.error else 0


def _print_json(value: Any) -> int:
    json.dump(value, sys.stdout, ensure_ascii=False, indent=2, default=str)
    sys.stdout.write("\n")
    return 0


def _format_value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
