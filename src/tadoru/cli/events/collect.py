"""`tadoru events run | worker | runs | status`: collects from sources once or continuously, and shows runs and source health."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import click

from tadoru.cli.events import EventsContext, calendar_files, open_existing_calendar, write_json_array
from tadoru.cli.help import DocumentedCommand
from tadoru.cli.options import job_options
from tadoru.cli.output import N_, _, all_of, format_duration, format_option, format_time, ngettext, translate_text, write_json
from tadoru.cli.table import table_columns, write_pairs, write_table
from tadoru.config.options import JOB_SETTINGS, EventsOptions
from tadoru.errors import Interrupted, UsageError
from tadoru.log import Log, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tadoru.jobs.events.collect.collector import SourceRun
    from tadoru.jobs.events.collect.worker_pool import CycleResult, WorkerPool
    from tadoru.store.calendar.records import RunLog
    from tadoru.store.calendar.sources import CalendarTotals
    from tadoru.store.calendar.store import CalendarStore


_EVENT_SETTINGS = tuple(setting.name for setting in JOB_SETTINGS["events"] if setting.name not in ("database",))
MOST_USED = (
    "every", "due", "source_ids", "accept_drop", "timezone", "notify", "enrich", "category_model", "search_engine", "search_url",
    "delay", "allow_private", "verbose", "quiet",
)  # fmt: skip
_RUN_OPTIONS = (
    click.option("--log-format", type=click.Choice(["text", "json"]), default="text", help="Format of log lines."),
    click.option("-v", "--verbose", count=True, help="More output (-v: sources, -vv: stages)."),
    click.option("-q", "--quiet", is_flag=True, help="No progress and no summary."),
)


class CollectProgress:
    """Progress of a collection: a line for each source, and log lines for the stages."""

    def __init__(self, *, quiet: bool, verbose: int, form: str, expected: int | None) -> None:
        from tadoru.clock import SystemClock

        level = "error" if quiet else "debug" if verbose > 1 else "info" if verbose or form == "json" else "warning"
        self._log = Log(sys.stderr, SystemClock(), form=form, level=level)
        self._expected = expected
        self._shows = not quiet and form == "text" and not verbose and sys.stderr.isatty()
        self._count = self._failed = 0

    def log_stage(self, stage: str, *, trace: bool = False, **fields: Any) -> None:
        """Log a stage of a run, with the fields source_id, run_id, stage, duration, error."""
        wrong = bool(fields.get("error")) and stage in ("fault", "notify", "worker", "enrich", "search")
        self._log.write("error" if wrong else "debug", f"stage {stage}", stage=stage, **fields)
        if trace:
            self._log.line(traceback.format_exc())

    def done(self, collected: SourceRun) -> None:
        """Log the result of a source."""
        run, source = collected.run, collected.source
        self._count += 1
        self._failed += collected.failed
        fields: dict[str, Any] = {"source_id": source.id, "run_id": run.id, "status": str(run.status), **run.counts}
        if run.error_summary:
            fields["error"] = run.error_summary
        if collected.missing is not None and collected.missing.is_drop:
            fields["drop"] = f"{collected.missing.missing} of {collected.missing.known} missing, none marked as vanished"
        worth = "warning" if collected.failed or "drop" in fields else "info"
        self._log.write(worth, f"collected {source.name}", **fields)
        self._progress()

    def _progress(self) -> None:
        if self._shows:
            if self._expected:
                sources = ngettext("{done} of {count} source", "{done} of {count} sources", self._expected, done=self._count)
            else:
                sources = ngettext("{count} source", "{count} sources", self._count)
            sys.stderr.write("\r" + _("{sources}, {failed} failed", sources=sources, failed=self._failed) + " ")
            sys.stderr.flush()

    def end(self) -> None:
        """Clear the progress line."""
        if self._shows and self._count:
            sys.stderr.write("\r\x1b[K")


@click.command(
    cls=DocumentedCommand, groups=JOB_SETTINGS["events"], most_used=MOST_USED, short_help="Collect once.",
    sections={"Sources": ["every", "due", "source_ids", "accept_drop"]},
    examples=(
        ("tadoru events run --all", "all sources"),
        ("tadoru events run --due", "due sources, for cron"),
        ("tadoru events run --source 3", "one source"),
    ),
)  # fmt: skip
@click.option("--all", "every", is_flag=True, help="All enabled sources.")
@click.option("--due", is_flag=True, help="Sources that are due.")
@click.option(
    "--source", "source_ids", type=int, multiple=True, metavar="ID", help="This source, even if it is disabled (repeatable)."
)
@click.option("--accept-drop", is_flag=True, help="Mark missing events as vanished even if there are many.")
@job_options("events", _EVENT_SETTINGS)
@all_of(*_RUN_OPTIONS)
@click.pass_obj
def run(
    place: EventsContext, /, every: bool, due: bool, source_ids: tuple[int, ...], accept_drop: bool, quiet: bool, verbose: int,
    log_format: str, **given: Any,
) -> int:  # fmt: skip
    """Collect once: fetch, parse, normalise, deduplicate and store. Unchanged sources are not fetched again."""
    if (every, due, bool(source_ids)).count(True) != 1:
        raise UsageError("Choose the sources: --all, --due or --source ID.")
    options = place.options(given)
    with place.open(options) as store:
        if source_ids:
            chosen = tuple(store.sources.get(one) for one in dict.fromkeys(source_ids))
        else:
            chosen = store.sources.list(enabled=True) if every else store.schedule.due()
        if not chosen and not due and not store.sources.list():
            raise UsageError("No sources yet. Add one with `tadoru events sources add`.")
        progress = CollectProgress(quiet=quiet, verbose=verbose, form=log_format, expected=len(chosen))

        async def work(pool: WorkerPool) -> CycleResult:
            return await (pool.run_due(progress.done) if due else pool.run(chosen, progress.done))

        tally = _collect(store, options, progress, work, accept_drop=accept_drop)
    if due and not quiet and not (tally.collected or tally.busy):
        sys.stdout.write(_("No source is due. `tadoru events status` shows when each will be.") + "\n")
    elif not quiet:
        _print_summary(tally)
    for source in tally.busy:
        sys.stderr.write("tadoru: " + _("Another worker is collecting source {id}.", id=source.id) + "\n")
    return 1 if tally.failed and (source_ids or len(tally.failed) == len(tally.collected)) else 0


def _print_summary(tally: CycleResult) -> None:
    counts: dict[str, int] = {}
    for one in tally.collected:
        for name, number in one.run.counts.items():
            counts[name] = counts.get(name, 0) + number
    unchanged = sum(one.unchanged for one in tally.collected)
    parts = [
        ngettext("{count} event parsed", "{count} events parsed", counts.get("parsed", 0)),
        _("{count} new", count=f"{counts.get('inserted', 0):,}"),
        _("{count} changed", count=f"{counts.get('updated', 0):,}"),
    ]
    parts += [_(message, count=f"{counts[name]:,}") for name, message in _OTHER_COUNTS.items() if counts.get(name)]
    sources = ngettext("{count} source", "{count} sources", len(tally.collected))
    if unchanged:
        sources = _("{sources} ({count} unchanged)", sources=sources, count=f"{unchanged:,}")
    text = _("{sources}: {results}", sources=sources, results=", ".join(parts))
    failed = "; " + _("{count} failed", count=f"{len(tally.failed):,}") if tally.failed else ""
    sys.stdout.write(f"{text}{failed}.\n")
    with_problems = [*tally.failed, *(one for one in tally.collected if one.run.error_summary and not one.failed)]
    for one in with_problems[:20]:
        label = _("failed") if one.failed else _("note")
        sys.stdout.write(
            f"  {label}  {one.source.id} {printable(one.source.name)}: {printable(translate_text(one.run.error_summary))}\n"
        )
    if len(with_problems) > 20:
        sys.stdout.write(_("  … {count} more: tadoru events runs", count=len(with_problems) - 20) + "\n")


_OTHER_COUNTS = {
    "merged": N_("{count} merged"), "quarantined": N_("{count} in quarantine"), "review": N_("{count} to review"),
    "vanished": N_("{count} vanished"),
}  # fmt: skip


@click.command(
    cls=DocumentedCommand, groups=JOB_SETTINGS["events"], most_used=MOST_USED, short_help="Collect continuously.",
    examples=(
        ("tadoru events worker", "until Ctrl-C, on any number of machines"),
        ("tadoru events worker --notify mailto://me@mail.example", "notify about failures"),
    ),
)  # fmt: skip
@job_options("events", _EVENT_SETTINGS)
@all_of(*_RUN_OPTIONS)
@click.pass_obj
def worker(place: EventsContext, /, quiet: bool, verbose: int, log_format: str, **given: Any) -> None:
    """Collect each source when it is due, until stopped. Several workers can share a database, and any can be killed."""
    options = place.options(given)
    progress = CollectProgress(quiet=quiet, verbose=verbose, form=log_format, expected=None)

    async def work(pool: WorkerPool) -> CycleResult:
        return await pool.run_due(progress.done, forever=True)

    with place.open(options) as store:
        if not quiet:
            sources = ngettext("{count} source", "{count} sources", len(store.sources.list(enabled=True)))
            text = _("Collecting {sources} into {database}. Press Ctrl-C to stop.", sources=sources, database=store.db.name)
            sys.stderr.write(text + "\n")
        _collect(store, options, progress, work, is_worker=True)


def _collect(
    store: CalendarStore,
    options: EventsOptions,
    progress: CollectProgress,
    work: Callable[[WorkerPool], Awaitable[CycleResult]],
    *,
    accept_drop: bool = False,
    is_worker: bool = False,
) -> CycleResult:
    """Run until done; the first signal lets work in flight finish, the second stops immediately."""
    import asyncio

    from tadoru.jobs.events.collect.worker_pool import WorkerPool
    from tadoru.jobs.launch import run_loop, stop_on_signals, tune_process

    async def main() -> tuple[CycleResult, bool]:
        pool = WorkerPool(store, calendar_files(options), store.db.clock, options, progress.log_stage, accept_drops=accept_drop)

        def stop() -> None:
            sys.stderr.write("\n" + _("Finishing in-flight work. Press Ctrl-C again to stop immediately.") + "\n")
            pool.stop()

        with stop_on_signals(stop) as was_stopped:
            async with pool.running():
                tally = await work(pool)
            return tally, was_stopped()

    try:
        tune_process()
        tally, was_stopped = run_loop(main())
    except asyncio.CancelledError:
        raise Interrupted("Stopped. Unfinished sources are collected again in the next run.") from None
    finally:
        progress.end()
    if was_stopped and not is_worker:
        raise Interrupted("Stopped. The remaining sources are collected in the next run.")
    return tally


@click.command(
    cls=DocumentedCommand, short_help="List collection runs.",
    examples=(
        ("tadoru events runs --source 3", "runs of source 3"), ("tadoru events runs -f json", "all runs, as JSON"),
    ),
)  # fmt: skip
@click.option("--source", "source_id", type=int, metavar="ID", help="Only runs of this source.")
@click.option("-n", "--limit", type=click.IntRange(min=1), metavar="N", help="Maximum number of runs. [50; json: all]")
@format_option("table", "json")
@click.pass_obj
def runs(place: EventsContext, /, source_id: int | None, limit: int | None, form: str) -> None:
    """List collection runs, newest first."""
    from tadoru.jobs.events.publish.json_documents import run_json

    with open_existing_calendar(place) as (store, options):
        if source_id is not None:
            store.sources.get(source_id)  # Raises UsageError if it does not exist.
        if form == "json":
            write_json_array([run_json(one) for one in store.runs.list(source_id=source_id, limit=limit)])
            return
        names = {source.id: source.name for source in store.sources.list()}
        columns = table_columns("ID>", "Source~", "Started", "Duration>", "Status", "Fetched>", "Parsed>", "Stored>", "Error~")
        found = store.runs.list(source_id=source_id, limit=limit or 50)
        if not write_table(sys.stdout, columns, (_run_row(one, names, options.timezone) for one in found)):
            sys.stderr.write(_("No runs yet. Collect with `tadoru events run --all`.") + "\n")


def _run_row(one: RunLog, names: dict[int, str], zone: str) -> list[str]:
    took = format_duration((one.finished_at - one.started_at).total_seconds()) if one.finished_at else ""
    return [
        str(one.id), f"{one.source_id} {names.get(one.source_id, '')}", format_time(one.started_at, zone), took,
        one.status.value if one.status else _("running"), f"{one.fetched_count:,}", f"{one.parsed_count:,}",
        f"{one.upserted_count:,}", translate_text(one.error_summary),
    ]  # fmt: skip


@click.command(
    cls=DocumentedCommand, short_help="Show source health.",
    examples=(("tadoru events status", "failures, delays, open reviews"), ("tadoru events status -f json", "for monitoring")),
)  # fmt: skip
@click.option("--days", type=click.IntRange(1, 90), default=30, metavar="N", help="Count the runs of this many days. [30]")
@format_option("table", "json")
@click.pass_obj
def status(place: EventsContext, /, days: int, form: str) -> None:
    """Show source health: events, failure rate, share of events that other sources have too, delays."""
    from tadoru.jobs.events.publish.json_documents import sources_health, totals_json

    with open_existing_calendar(place) as (store, options):
        totals = store.statistics.totals()
        sources = list(sources_health(store, days))
        if form == "json":
            write_json({"totals": totals_json(totals), "sources": sources})
            return
        write_pairs(sys.stdout, _total_rows(totals))
        sys.stdout.write("\n")
        columns = table_columns(
            "ID>", "Source~", "State", "Events>", "Runs>", "Failed>", "Shared>", "Last success", "Next run", "Late>", "Problem~"
        )
        rows = [_status_row(one, options.timezone) for one in sources]
        if not write_table(sys.stdout, columns, rows):
            sys.stderr.write(_("No sources yet. Add one with `tadoru events sources add`.") + "\n")


def _status_row(one: dict[str, Any], zone: str) -> list[str]:
    from datetime import datetime

    def at(text: str | None) -> str:
        return format_time(datetime.fromisoformat(text), zone) if text else ""

    def percent(value: float | None) -> str:
        return "" if value is None else f"{value:.0%}"

    late = format_duration(one["lag_seconds"]) if one["lag_seconds"] >= 60 else ""
    trouble = ", ".join(one["open_incidents"]) + (f": {translate_text(one['last_error'])}" if one["last_error"] else "")
    return [
        str(one["source_id"]), one["name"], one["state"], f"{one['rows']:,}", f"{one['runs']:,}", percent(one["failure_rate"]),
        percent(one["duplicate_rate"]), at(one["last_success"]), at(one["next_run_at"]), late, trouble.removeprefix(": "),
    ]  # fmt: skip


def _total_rows(totals: CalendarTotals) -> Iterator[tuple[str, str]]:
    from tadoru.jobs.events.publish.json_documents import ratio

    counts = totals.events
    events = [_("{count} in the calendar", count=f"{counts['active']:,}")]
    for message, count in (
        (N_("{count} hidden"), counts["hidden"]), (N_("{count} in quarantine"), counts["quarantine"]),
        (N_("{count} archived"), totals.archived), (N_("{count} no longer listed"), totals.vanished),
    ):  # fmt: skip
        if count:
            events.append(_(message, count=f"{count:,}"))
    yield _("Events"), ", ".join(events)
    rate = ratio(totals.merged_rows, totals.rows)
    items = ngettext("{items} from {count} source", "{items} from {count} sources", totals.sources, items=f"{totals.rows:,}")
    yield _("Items"), items + (", " + _("{rate} duplicates", rate=f"{rate:.0%}") if rate else "")
    yield _("Reviews"), _("{count} open", count=f"{totals.open_reviews:,}") if totals.open_reviews else _("none open")
