"""`tadoru events runs` and `tadoru events status`: what collecting did, and how the sources do."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from tadoru.cli.events import Place
from tadoru.cli.events_reading import existing, write_array
from tadoru.cli.forms import format_option, span_text, stamp_text, write_json
from tadoru.cli.help import GroupedCommand
from tadoru.cli.table import Column, write_pairs, write_table
from tadoru.jobs.report.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tadoru.store.events.health import Totals
    from tadoru.store.events.values import RunLog


@click.command(
    cls=GroupedCommand, short_help="The log of collecting.",
    examples=(
        ("tadoru events runs --source 3", "what became of source 3"), ("tadoru events runs -f json", "all, for a program"),
    ),
)  # fmt: skip
@click.option("--source", "source_id", type=int, metavar="ID", help="Only of this source.")
@click.option("-n", "--limit", type=click.IntRange(min=1), metavar="N", help="At most so many. [50 in a table, all in JSON]")
@format_option("table", "json")
@click.pass_obj
def runs(place: Place, /, source_id: int | None, limit: int | None, form: str) -> int:
    """The log of collecting, the newest run first."""
    from tadoru.jobs.events.publish.records import run_json

    with existing(place) as (store, options):
        if source_id is not None:
            store.source(source_id)  # says so when there is none
        if form == "json":
            write_array([run_json(one) for one in store.runs(source_id=source_id, limit=limit)])
            return 0
        names = {source.id: source.name for source in store.sources()}
        columns = [
            Column("ID", to_right=True), Column("Source", may_shrink=True), Column("Began"), Column("Took", to_right=True),
            Column("Status"), Column("Fetched", to_right=True), Column("Parsed", to_right=True), Column("Stored", to_right=True),
            Column("Error", may_shrink=True),
        ]  # fmt: skip
        found = store.runs(source_id=source_id, limit=limit or 50)
        if not write_table(sys.stdout, columns, (_run_row(one, names, options.timezone) for one in found)):
            sys.stderr.write("Nothing was collected yet: `tadoru events run --all` does.\n")
    return 0


def _run_row(one: RunLog, names: dict[int, str], zone: str) -> list[str]:
    took = span_text((one.finished_at - one.started_at).total_seconds()) if one.finished_at else ""
    return [
        str(one.id), f"{one.source_id} {names.get(one.source_id, '')}", stamp_text(one.started_at, zone), took,
        one.status.value if one.status else "under way", f"{one.fetched_count:,}", f"{one.parsed_count:,}",
        f"{one.upserted_count:,}", one.error_summary,
    ]  # fmt: skip


@click.command(
    cls=GroupedCommand, short_help="How the sources do.",
    examples=(("tadoru events status", "failures, delays, what waits"), ("tadoru events status -f json", "for a monitor")),
)  # fmt: skip
@click.option("--days", type=click.IntRange(1, 90), default=30, metavar="N", help="Count runs of so many days. [30]")
@format_option("table", "json")
@click.pass_obj
def status(place: Place, /, days: int, form: str) -> int:
    """How the sources do: what they hold, how often they fail, how much others say too, how late they are."""
    from tadoru.jobs.events.publish.records import sources_health, totals_json

    with existing(place) as (store, options):
        totals = store.totals()
        sources = list(sources_health(store, days))
        if form == "json":
            write_json({"totals": totals_json(totals), "sources": sources})
            return 0
        write_pairs(sys.stdout, _totals_text(totals))
        sys.stdout.write("\n")
        columns = [
            Column("ID", to_right=True), Column("Source", may_shrink=True), Column("State"), Column("Events", to_right=True),
            Column("Runs", to_right=True), Column("Failed", to_right=True), Column("Shared", to_right=True),
            Column("Last success"), Column("Next run"), Column("Late", to_right=True), Column("Trouble", may_shrink=True),
        ]  # fmt: skip
        rows = [_status_row(one, options.timezone) for one in sources]
        if not write_table(sys.stdout, columns, rows):
            sys.stderr.write("There are no sources: add one with `tadoru events sources add`.\n")
    return 0


def _status_row(one: dict[str, Any], zone: str) -> list[str]:
    from datetime import datetime

    def at(text: str | None) -> str:
        return stamp_text(datetime.fromisoformat(text), zone) if text else ""

    def percent(value: float | None) -> str:
        return "" if value is None else f"{value:.0%}"

    late = span_text(one["lag_seconds"]) if one["lag_seconds"] >= 60 else ""
    trouble = ", ".join(one["open_incidents"]) + (f": {one['last_error']}" if one["last_error"] else "")
    return [
        str(one["source_id"]), one["name"], one["state"], f"{one['rows']:,}", f"{one['runs']:,}", percent(one["failure_rate"]),
        percent(one["duplicate_rate"]), at(one["last_success"]), at(one["next_run_at"]), late, trouble.removeprefix(": "),
    ]  # fmt: skip


def _totals_text(totals: Totals) -> Iterator[tuple[str, str]]:
    from tadoru.jobs.events.publish.records import share

    counts = totals.events
    hidden = [
        f"{counts[name]:,} {words}" for name, words in (("hidden", "hidden"), ("quarantine", "in quarantine")) if counts[name]
    ]
    marked = [f"{totals.archived:,} archived"] if totals.archived else []
    marked += [f"{totals.vanished:,} no longer listed"] if totals.vanished else []
    yield "Events", ", ".join([f"{counts['active']:,} in the calendar", *hidden, *marked])
    rate = share(totals.merged_rows, totals.rows)
    yield "Rows", f"{totals.rows:,} of {counted(totals.sources, 'source')}" + (f", {rate:.0%} duplicates" if rate else "")
    waits = "waits" if totals.open_reviews == 1 else "wait"
    yield "Reviews", f"{totals.open_reviews:,} {waits} for an answer" if totals.open_reviews else "none waits"
