"""`tadoru events run` and `tadoru events worker`: collecting, once or for ever."""

from __future__ import annotations

import asyncio
import sys
import traceback
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import click

from tadoru.cli.events import EventsContext, calendar_files, open_existing_calendar, write_json_array
from tadoru.cli.help import DocumentedCommand
from tadoru.cli.options import job_options
from tadoru.cli.output import format_duration, format_option, format_time, write_json
from tadoru.cli.table import Column, write_pairs, write_table
from tadoru.config.options import EventsOptions
from tadoru.config.settings import JOB_SETTINGS
from tadoru.errors import Interrupted, UsageError
from tadoru.jobs.reporting.formatting import format_count
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
    click.option("--log-format", type=click.Choice(["text", "json"]), default="text", help="How to write log lines."),
    click.option("-v", "--verbose", count=True, help="Say more (-v sources, -vv stages)."),
    click.option("-q", "--quiet", is_flag=True, help="No progress, no summary."),
)


def _run_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_RUN_OPTIONS):
        function = option(function)
    return function


class CollectProgress:
    """What is said while collecting: a line for each source, and stages for who wants them."""

    def __init__(self, *, quiet: bool, verbose: int, form: str, expected: int | None) -> None:
        from tadoru.clock import SystemClock

        level = "error" if quiet else "debug" if verbose > 1 else "info" if verbose or form == "json" else "warning"
        self._log = Log(sys.stderr, SystemClock(), form=form, level=level)
        self._expected = expected
        self._shows = not quiet and form == "text" and not verbose and sys.stderr.isatty()
        self._count = self._failed = 0

    def say(self, stage: str, *, trace: bool = False, **fields: Any) -> None:
        """A stage of a run: the seed's fields source_id, run_id, stage, duration, error."""
        wrong = bool(fields.get("error")) and stage in ("fault", "notify", "worker", "enrich", "search")
        self._log.write("error" if wrong else "debug", f"stage {stage}", stage=stage, **fields)
        if trace:
            self._log.line(traceback.format_exc())

    def done(self, collected: SourceRun) -> None:
        run, source = collected.run, collected.source
        self._count += 1
        self._failed += collected.failed
        fields: dict[str, Any] = {"source_id": source.id, "run_id": run.id, "status": str(run.status), **run.counts}
        if run.error_summary:
            fields["error"] = run.error_summary
        if collected.sweep is not None and collected.sweep.is_drop:
            fields["drop"] = f"{collected.sweep.missing} of {collected.sweep.known} are missing; nothing was marked"
        worth = "warning" if collected.failed or "drop" in fields else "info"
        self._log.write(worth, f"collected {source.name}", **fields)
        self._progress()

    def _progress(self) -> None:
        if self._shows:
            of = f"{self._count} of " if self._expected else ""
            sources = format_count(self._expected or self._count, "source")
            sys.stderr.write(f"\r{of}{sources}, {self._failed} failed ")
            sys.stderr.flush()

    def end(self) -> None:
        if self._shows and self._count:
            sys.stderr.write("\r\x1b[K")


@click.command(
    cls=DocumentedCommand, groups=JOB_SETTINGS["events"], most_used=MOST_USED, short_help="Collect once.",
    sections={"What to collect": ["every", "due", "source_ids", "accept_drop"]},
    examples=(
        ("tadoru events run --all", "every source"),
        ("tadoru events run --due", "those whose time has come, for cron"),
        ("tadoru events run --source 3", "one"),
    ),
)  # fmt: skip
@click.option("--all", "every", is_flag=True, help="Every source that is enabled.")
@click.option("--due", is_flag=True, help="Those whose time has come.")
@click.option("--source", "source_ids", type=int, multiple=True, metavar="ID", help="This one, enabled or not (repeatable).")
@click.option("--accept-drop", is_flag=True, help="Mark what is missing as vanished even when it is a great part.")
@job_options("events", EventsOptions(), _EVENT_SETTINGS)
@_run_options
@click.pass_obj
def run(
    place: EventsContext, /, every: bool, due: bool, source_ids: tuple[int, ...], accept_drop: bool, quiet: bool, verbose: int,
    log_format: str, **given: Any,
) -> int:  # fmt: skip
    """Collect once: fetch, read, clean, compare and store. What did not change is not fetched again."""
    if (every, due, bool(source_ids)).count(True) != 1:
        raise UsageError("Say what to collect: --all, --due or --source ID.")
    options = place.options(given)
    with place.open(options) as store:
        if source_ids:
            chosen = tuple(store.source(one) for one in dict.fromkeys(source_ids))
        else:
            chosen = store.sources(enabled=True) if every else store.due()
        if not chosen and not due and not store.sources():
            raise UsageError("There are no sources yet: add one with `tadoru events sources add`.")
        voice = CollectProgress(quiet=quiet, verbose=verbose, form=log_format, expected=len(chosen))

        async def work(crew: WorkerPool) -> CycleResult:
            return await (crew.run_due(voice.done) if due else crew.run(chosen, voice.done))

        tally = _collect(store, options, voice, work, accept_drop=accept_drop)
    if due and not quiet and not (tally.collected or tally.busy):
        sys.stdout.write("No source is due. `tadoru events status` says when each will be.\n")
    elif not quiet:
        _print_summary(tally)
    for source in tally.busy:
        sys.stderr.write(f"tadoru: Source {source.id} is being collected by another worker.\n")
    return 1 if tally.failed and (source_ids or len(tally.failed) == len(tally.collected)) else 0


def _print_summary(tally: CycleResult) -> None:
    counts: dict[str, int] = {}
    for one in tally.collected:
        for name, number in one.run.counts.items():
            counts[name] = counts.get(name, 0) + number
    unchanged = sum(one.unchanged for one in tally.collected)
    words = [
        f"{format_count(counts.get('parsed', 0), 'event')} read",
        f"{counts.get('inserted', 0):,} new",
        f"{counts.get('updated', 0):,} changed",
    ]
    extra = {"merged": "merged", "quarantined": "in quarantine", "review": "to review", "vanished": "vanished"}
    words += [f"{counts[name]:,} {word}" for name, word in extra.items() if counts.get(name)]
    sources = format_count(len(tally.collected), "source")
    same = f" ({unchanged:,} unchanged)" if unchanged else ""
    failed = f"; {len(tally.failed):,} failed" if tally.failed else ""
    sys.stdout.write(f"{sources}{same}: {', '.join(words)}{failed}.\n")
    for one in tally.failed[:20]:
        sys.stdout.write(f"  failed  {one.source.id} {printable(one.source.name)}: {printable(one.run.error_summary)}\n")
    if len(tally.failed) > 20:
        sys.stdout.write(f"  … {len(tally.failed) - 20} more: tadoru events runs\n")


@click.command(
    cls=DocumentedCommand, groups=JOB_SETTINGS["events"], most_used=MOST_USED, short_help="Collect for ever.",
    examples=(
        ("tadoru events worker", "until Ctrl-C; start it on as many machines as you like"),
        ("tadoru events worker --notify mailto://me@mail.example", "and tell when something goes wrong"),
    ),
)  # fmt: skip
@job_options("events", EventsOptions(), _EVENT_SETTINGS)
@_run_options
@click.pass_obj
def worker(place: EventsContext, /, quiet: bool, verbose: int, log_format: str, **given: Any) -> int:
    """Collect each source when its time has come, until stopped. Several workers may share a database, and any may be killed."""
    options = place.options(given)
    voice = CollectProgress(quiet=quiet, verbose=verbose, form=log_format, expected=None)

    async def work(crew: WorkerPool) -> CycleResult:
        return await crew.run_due(voice.done, forever=True)

    with place.open(options) as store:
        if not quiet:
            sources = format_count(len(store.sources(enabled=True)), "source")
            sys.stderr.write(f"Collecting {sources} into {store.name}; Ctrl-C stops.\n")
        _collect(store, options, voice, work, is_worker=True)
    return 0


def _collect(
    store: CalendarStore,
    options: EventsOptions,
    voice: CollectProgress,
    work: Callable[[WorkerPool], Awaitable[CycleResult]],
    *,
    accept_drop: bool = False,
    is_worker: bool = False,
) -> CycleResult:
    """Work until it is done; a first signal lets what was begun finish, a second one does not."""
    from tadoru.clock import SystemClock
    from tadoru.jobs.events.collect.worker_pool import WorkerPool
    from tadoru.jobs.launch import handle_stop_signals, run_loop

    async def main() -> tuple[CycleResult, bool]:
        crew = WorkerPool(store, calendar_files(options), SystemClock(), options, voice.say, accept_drops=accept_drop)
        signals = 0
        task = asyncio.current_task()
        assert task is not None

        def stop() -> None:
            nonlocal signals
            signals += 1
            if signals > 1:
                task.cancel()
            else:
                sys.stderr.write("\nStopping when what was begun is done; once more to stop now.\n")
                crew.stop()

        with handle_stop_signals(stop):
            async with crew.at_work():
                tally = await work(crew)
        return tally, signals > 0

    try:
        tally, was_stopped = run_loop(main())
    except asyncio.CancelledError:
        raise Interrupted("Stopped; what was not finished is collected again at the next run.") from None
    finally:
        voice.end()
    if was_stopped and not is_worker:
        raise Interrupted("Stopped; the rest is collected at the next run.")
    return tally


@click.command(
    cls=DocumentedCommand, short_help="The log of collecting.",
    examples=(
        ("tadoru events runs --source 3", "what became of source 3"), ("tadoru events runs -f json", "all, for a program"),
    ),
)  # fmt: skip
@click.option("--source", "source_id", type=int, metavar="ID", help="Only of this source.")
@click.option("-n", "--limit", type=click.IntRange(min=1), metavar="N", help="At most so many. [50 in a table, all in JSON]")
@format_option("table", "json")
@click.pass_obj
def runs(place: EventsContext, /, source_id: int | None, limit: int | None, form: str) -> int:
    """The log of collecting, the newest run first."""
    from tadoru.jobs.events.publish.json_documents import run_json

    with open_existing_calendar(place) as (store, options):
        if source_id is not None:
            store.source(source_id)  # says so when there is none
        if form == "json":
            write_json_array([run_json(one) for one in store.runs(source_id=source_id, limit=limit)])
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
    took = format_duration((one.finished_at - one.started_at).total_seconds()) if one.finished_at else ""
    return [
        str(one.id), f"{one.source_id} {names.get(one.source_id, '')}", format_time(one.started_at, zone), took,
        one.status.value if one.status else "under way", f"{one.fetched_count:,}", f"{one.parsed_count:,}",
        f"{one.upserted_count:,}", one.error_summary,
    ]  # fmt: skip


@click.command(
    cls=DocumentedCommand, short_help="How the sources do.",
    examples=(("tadoru events status", "failures, delays, what waits"), ("tadoru events status -f json", "for a monitor")),
)  # fmt: skip
@click.option("--days", type=click.IntRange(1, 90), default=30, metavar="N", help="Count runs of so many days. [30]")
@format_option("table", "json")
@click.pass_obj
def status(place: EventsContext, /, days: int, form: str) -> int:
    """How the sources do: what they hold, how often they fail, how much others say too, how late they are."""
    from tadoru.jobs.events.publish.json_documents import sources_health, totals_json

    with open_existing_calendar(place) as (store, options):
        totals = store.totals()
        sources = list(sources_health(store, days))
        if form == "json":
            write_json({"totals": totals_json(totals), "sources": sources})
            return 0
        write_pairs(sys.stdout, _total_rows(totals))
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
        return format_time(datetime.fromisoformat(text), zone) if text else ""

    def percent(value: float | None) -> str:
        return "" if value is None else f"{value:.0%}"

    late = format_duration(one["lag_seconds"]) if one["lag_seconds"] >= 60 else ""
    trouble = ", ".join(one["open_incidents"]) + (f": {one['last_error']}" if one["last_error"] else "")
    return [
        str(one["source_id"]), one["name"], one["state"], f"{one['rows']:,}", f"{one['runs']:,}", percent(one["failure_rate"]),
        percent(one["duplicate_rate"]), at(one["last_success"]), at(one["next_run_at"]), late, trouble.removeprefix(": "),
    ]  # fmt: skip


def _total_rows(totals: CalendarTotals) -> Iterator[tuple[str, str]]:
    from tadoru.jobs.events.publish.json_documents import ratio

    counts = totals.events
    hidden = [
        f"{counts[name]:,} {words}" for name, words in (("hidden", "hidden"), ("quarantine", "in quarantine")) if counts[name]
    ]
    marked = [f"{totals.archived:,} archived"] if totals.archived else []
    marked += [f"{totals.vanished:,} no longer listed"] if totals.vanished else []
    yield "Events", ", ".join([f"{counts['active']:,} in the calendar", *hidden, *marked])
    rate = ratio(totals.merged_rows, totals.rows)
    yield "Rows", f"{totals.rows:,} of {format_count(totals.sources, 'source')}" + (f", {rate:.0%} duplicates" if rate else "")
    waits = "waits" if totals.open_reviews == 1 else "wait"
    yield "Reviews", f"{totals.open_reviews:,} {waits} for an answer" if totals.open_reviews else "none waits"
