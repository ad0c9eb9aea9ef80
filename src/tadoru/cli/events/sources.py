"""`tadoru events sources …`: the register of sources on the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tadoru.cli.events import EventsContext, current_user
from tadoru.cli.help import CommandGroup
from tadoru.cli.options import job_options
from tadoru.cli.output import format_option, format_time
from tadoru.cli.table import Column, write_table
from tadoru.config.options import EventsOptions
from tadoru.config.settings import JOB_SETTINGS
from tadoru.errors import UsageError, quoted
from tadoru.jobs.reporting.formatting import format_count
from tadoru.log import printable

if TYPE_CHECKING:
    from tadoru.store.calendar.records import CollectionState, EventSource
    from tadoru.store.calendar.store import CalendarStore

SOURCE_TYPES = "rss|ics|api|html|csv"
_SOURCE_OPTIONS = (
    click.option("--city", metavar="NAME", help="Where its events take place, when they do not say it."),
    click.option("--frequency", metavar="high|normal|low", help="Every 3, 12 or 24 hours. [normal]"),
    click.option("--low-hours", type=int, metavar="N", help="Hours between two runs of low frequency, 24 to 72. [24]"),
    click.option("--timezone", metavar="ZONE", help="Where its dates are meant, such as Asia/Tokyo."),
    click.option("--priority", type=int, metavar="N", help="The greater one is collected first, and believed first. [0]"),
    click.option("--depends-on", type=int, metavar="ID", help="Collect it after this one."),
    click.option("--licence", metavar="TEXT", help="The licence of its data, such as CC BY 4.0."),
    click.option("--terms-url", metavar="URL", help="Its terms of use."),
    click.option("--notes", metavar="TEXT", help="For yourself."),
    click.option("--secret", metavar="VARIABLE", help="The variable that holds its key or password (see the setting auth)."),
    click.option("--set", "pairs", metavar="KEY=VALUE", multiple=True, help="A setting of its reader (repeatable)."),
    click.option("--allow-private", is_flag=True, default=None, help="Let it lead to private and loopback addresses."),
)

_SECTIONS = {
    "What it is": ("name", "kind", "url", "city", "timezone", "licence", "terms_url", "notes"),
    "When to collect it": ("frequency", "low_hours", "priority", "depends_on", "disabled"),
    "How to read it": ("pairs", "secret", "allow_private"),
}


def _source_options(function: Any) -> Any:
    for option in reversed(_SOURCE_OPTIONS):
        function = option(function)
    return function


@click.group(
    cls=CommandGroup, short_help="Where events are collected from.",
    examples=(
        ("tadoru events sources add --name Town --type ics --url https://town.example/events.ics", "a new one"),
        ("tadoru events sources test 1", "what would be read, without storing it"),
        ("tadoru events sources list", "how they do"),
    ),
)  # fmt: skip
def sources() -> None:
    """Where events are collected from."""


@sources.command(
    short_help="Add a source.", sections=_SECTIONS,
    examples=(
        ("tadoru events sources add --name Town --type ics --url https://town.example/events.ics --city 盛岡市", "a calendar"),
        ("tadoru events sources add --name Hall --type html --url https://hall.example/ --frequency low", "a page"),
    ),
)  # fmt: skip
@click.option("--name", required=True, metavar="NAME", help="What to call it.")
@click.option("--type", "kind", required=True, metavar=SOURCE_TYPES, help="What it is written in.")
@click.option("--url", required=True, metavar="URL", help="Where it is.")
@_source_options
@click.option("--disabled", is_flag=True, help="Do not collect it yet.")
@click.pass_obj
def add(place: EventsContext, /, name: str, kind: str, url: str, pairs: tuple[str, ...], disabled: bool, **given: Any) -> int:
    """Add a source. It is collected by the next `tadoru events run`."""
    from tadoru.jobs.events.collect import source_registry as register
    from tadoru.jobs.events.collect.source_settings import settings_from_pairs
    from tadoru.jobs.launch import run_loop

    values = {key: value for key, value in given.items() if value is not None}
    values |= {"name": name, "type": kind, "url": url, "settings": settings_from_pairs(pairs), "enabled": not disabled}
    with place.open() as store:
        source = run_loop(register.add_source(store, values, current_user()))
    sys.stdout.write(f"Source {source.id} was added: {printable(source.name)} ({source.type}, {source.frequency}).\n")
    return 0


@sources.command("list", short_help="List the sources.", examples=(("tadoru events sources list", "with how they do"),))
@format_option("table", "json")
@click.pass_obj
def list_sources(place: EventsContext, form: str) -> int:
    """List the sources, with how they do."""
    with place.open() as store:
        health = {one.source_id: one for one in store.health()}
        found = store.sources()
        states = {source.id: store.state(source.id) for source in found}
    if form == "json":
        from tadoru.jobs.events.publish.json_documents import source_json, state_json

        learnt = ("last_success", "last_error", "failures", "next_run_at")
        rows = []
        for source in found:
            state = state_json(states[source.id])
            rows.append(source_json(source) | {name: state[name] for name in learnt} | {"rows": health[source.id].rows})
        return _print_json(rows)
    if not found:
        sys.stdout.write("There are no sources yet: add one with `tadoru events sources add`.\n")
        return 0
    columns = (
        Column("ID", to_right=True), Column("Name", may_shrink=True), Column("Type"), Column("City", may_shrink=True),
        Column("Every"), Column("Events", to_right=True), Column("State", may_shrink=True),
    )  # fmt: skip
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
        return f"failed {known.failures}×: {known.last_error}"
    if not source.enabled:
        return "disabled"
    return "well" if known.last_success else "not yet collected"


@sources.command(short_help="Show a source.", examples=(("tadoru events sources show 3", "all that is known of source 3"),))
@click.argument("source_id", type=int, metavar="ID")
@click.pass_obj
def show(place: EventsContext, source_id: int) -> int:
    """Show a source: its fields, its settings, and what collecting it has taught."""
    from tadoru.jobs.events.publish.json_documents import source_json, state_json

    with place.open() as store:
        source, state = store.source(source_id), store.state(source_id)
    return _print_json(source_json(source) | {"state": state_json(state)})


@sources.command(
    short_help="Change a source.", sections=_SECTIONS,
    examples=(
        ("tadoru events sources edit 3 --frequency high", "every three hours"),
        ("tadoru events sources edit 3 --set selectors.title=h2", "a setting of its reader"),
    ),
)  # fmt: skip
@click.argument("source_id", type=int, metavar="ID")
@click.option("--name", metavar="NAME", help="What to call it.")
@click.option("--type", "kind", metavar=SOURCE_TYPES, help="What it is written in.")
@click.option("--url", metavar="URL", help="Where it is.")
@_source_options
@click.pass_obj
def edit(place: EventsContext, /, source_id: int, kind: str | None, pairs: tuple[str, ...], **given: Any) -> int:
    """Change a source. `--set key=` takes a setting away."""
    from tadoru.jobs.events.collect import source_registry as register
    from tadoru.jobs.events.collect.source_settings import settings_from_pairs
    from tadoru.jobs.launch import run_loop

    values = {key: value for key, value in given.items() if value is not None}
    if kind is not None:
        values["type"] = kind
    with place.open() as store:
        if pairs:
            values["settings"] = settings_from_pairs(pairs, store.source(source_id).settings)
        if not values:
            raise UsageError("Nothing to change was given: see `tadoru events sources edit --help`.")
        source = run_loop(register.edit_source(store, source_id, values, current_user()))
    sys.stdout.write(f"Source {source.id} was changed.\n")
    return 0


@sources.command(short_help="Collect sources again.", examples=(("tadoru events sources enable 3 4", "from now on"),))
@click.argument("source_ids", type=int, metavar="ID...", nargs=-1, required=True)
@click.pass_obj
def enable(place: EventsContext, source_ids: tuple[int, ...]) -> int:
    """Collect these sources again."""
    with place.open() as store:
        for one in source_ids:
            store.enable_source(one, current_user())
            store.schedule(one, 0.0)
            sys.stdout.write(f"Source {one} is enabled.\n")
    return 0


@sources.command(short_help="Leave sources alone.", examples=(("tadoru events sources disable 3", "until it is enabled again"),))
@click.argument("source_ids", type=int, metavar="ID...", nargs=-1, required=True)
@click.pass_obj
def disable(place: EventsContext, source_ids: tuple[int, ...]) -> int:
    """Leave these sources alone; their events stay."""
    with place.open() as store:
        for one in source_ids:
            store.disable_source(one, current_user())
            sys.stdout.write(f"Source {one} is disabled.\n")
    return 0


@sources.command(short_help="Forget a source.", examples=(("tadoru events sources remove 3", "asks before it does"),))
@click.argument("source_id", type=int, metavar="ID")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def remove(place: EventsContext, source_id: int, yes: bool) -> int:
    """Forget a source and its snapshots. Its events and its history stay."""
    from tadoru.cli.events import calendar_files

    with place.open() as store:
        source = store.source(source_id)
        if not yes:
            if not sys.stdin.isatty():
                raise UsageError(
                    f"Removing source {source_id} ({source.name}) can not be undone: say --yes, or disable it instead."
                )
            click.confirm(f"Remove source {source_id} ({printable(source.name)})?", abort=True, err=True)
        calendar_files(place.options()).delete(store.remove_source(source_id, current_user()))
    sys.stdout.write(f"Source {source_id} was removed; its events stay.\n")
    return 0


@sources.command(
    "import", short_help="Add the sources of a file.",
    examples=(("tadoru events sources import sources.yml", "YAML, OPML or CSV"),),
)  # fmt: skip
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.pass_obj
def import_sources(place: EventsContext, file: Path) -> int:
    """Add the sources of a YAML, OPML or CSV file. All are checked before the first is added; known ones are left alone."""
    from tadoru.jobs.events.collect import source_registry
    from tadoru.jobs.launch import run_loop

    try:
        text = file.read_text("utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"{file} is not UTF-8 text: save it as UTF-8 and try again.") from None
    except OSError as error:
        raise UsageError(f"{file} can not be read ({error.strerror}): check its name.") from None
    entries = source_registry.parse_source_file(text, file.name)
    with place.open() as store:
        added, known = run_loop(_import(store, entries))
    sys.stdout.write(f"Added {format_count(added, 'source')}; {known} {'was' if known == 1 else 'were'} there already.\n")
    return 0


async def _import(store: CalendarStore, entries: list[Any]) -> tuple[int, int]:
    from tadoru.jobs.events.collect import source_registry as register

    problems, ready = [], []
    for entry in entries:
        try:
            ready.append((entry, register.check_source(entry.values)))
        except UsageError as error:
            problems.append(f"{entry.where}: {error}")
    if problems:
        more = f" There {'is' if len(problems) == 2 else 'are'} {len(problems) - 1} more like this." if len(problems) > 1 else ""
        raise UsageError(f"{problems[0]}{more} Nothing was imported.")
    ids = {source.name: source.id for source in store.sources()}
    addresses = {(source.url, source.type) for source in store.sources()}
    added = 0
    for entry, values in ready:
        if entry.values["name"] in ids or (values["url"], values["type"]) in addresses:
            continue
        if entry.depends_on:
            if entry.depends_on not in ids:
                raise UsageError(f"{entry.where}: there is no source named {quoted(entry.depends_on)} before it to depend on.")
            values["depends_on"] = ids[entry.depends_on]
        source = await register.add_source(store, values, current_user())
        ids[source.name] = source.id
        added += 1
    return added, len(ready) - added


@sources.command(short_help="Who changed what.", examples=(("tadoru events sources history 3", "of source 3, and when"),))
@click.argument("source_id", type=int, metavar="ID")
@format_option("table", "json")
@click.pass_obj
def history(place: EventsContext, source_id: int, form: str) -> int:
    """Who changed what about a source, and when."""
    from tadoru.jobs.events.publish.json_documents import change_json

    with place.open() as store:
        changes = store.source_history(source_id)
    if not changes:
        raise UsageError(f"There never was a source {source_id}: list them with `tadoru events sources list`.")
    if form == "json":
        return _print_json([change_json(one) for one in changes])
    columns = (
        Column("When"),
        Column("Who"),
        Column("Field"),
        Column("Before", may_shrink=True),
        Column("After", may_shrink=True),
    )
    zone = place.options().timezone
    rows = ((format_time(one.at, zone), one.by, one.field, _format_value(one.old), _format_value(one.new)) for one in changes)
    write_table(sys.stdout, columns, rows)
    return 0


@sources.command(
    short_help="Fetch a source, and store nothing.", groups=JOB_SETTINGS["events"],
    examples=(("tadoru events sources test 3", "what would be read"), ("tadoru events sources test 3 -f json", "all of it")),
)  # fmt: skip
@click.argument("source_id", type=int, metavar="ID")
@click.option("-n", "--limit", type=click.IntRange(min=1), default=10, metavar="N", help="Events to show. [10]")
@format_option("table", "json")
@job_options("events", EventsOptions(), ("delay", "timeout", "ignore_robots", "user_agent", "proxy", "insecure"))
@click.pass_obj
def test(place: EventsContext, /, source_id: int, limit: int, form: str, **given: Any) -> int:
    """Fetch a source and show what would be read, without storing it. The next run uses what was fetched, for an hour."""
    from tadoru.cli.events import calendar_files
    from tadoru.jobs.events.collect.trial import try_source
    from tadoru.jobs.launch import run_loop

    options = place.options(given)
    with place.open(options) as store:
        trial = run_loop(try_source(store, calendar_files(options), options, source_id))
    if form == "json":
        _print_json(trial.to_dict())
    else:
        trial.write(sys.stdout, limit)
    return 1 if trial.error else 0


def _print_json(value: Any) -> int:
    json.dump(value, sys.stdout, ensure_ascii=False, indent=2, default=str)
    sys.stdout.write("\n")
    return 0


def _format_value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
