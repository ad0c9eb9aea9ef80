"""`tadoru events run` and `tadoru events worker`: collecting, once or for ever."""

from __future__ import annotations

import asyncio
import sys
import traceback
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import click

from tadoru.cli.events import Place, files_of
from tadoru.cli.help import GroupedCommand
from tadoru.cli.options import job_options
from tadoru.errors import Interrupted, UsageError
from tadoru.jobs.report.words import counted
from tadoru.log import Log, printable
from tadoru.options import EventsOptions
from tadoru.settings import JOBS

if TYPE_CHECKING:
    from tadoru.jobs.events.collect import Collected
    from tadoru.jobs.events.work import Crew, Tally
    from tadoru.store.events.open import EventsStore

_SHARED = tuple(setting.name for setting in JOBS["events"] if setting.name not in ("database",))
MOST_USED = (
    "every", "due", "source_ids", "accept_drop", "timezone", "notify", "enrich", "category_model", "search_engine", "search_url",
    "delay", "allow_private", "verbose", "quiet",
)  # fmt: skip
_RUNNING = (
    click.option("--log-format", type=click.Choice(["text", "json"]), default="text", help="How to write log lines."),
    click.option("-v", "--verbose", count=True, help="Say more (-v sources, -vv stages)."),
    click.option("-q", "--quiet", is_flag=True, help="No progress, no summary."),
)


def _running(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_RUNNING):
        function = option(function)
    return function


class Voice:
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

    def done(self, collected: Collected) -> None:
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
            sources = counted(self._expected or self._count, "source")
            sys.stderr.write(f"\r{of}{sources}, {self._failed} failed ")
            sys.stderr.flush()

    def end(self) -> None:
        if self._shows and self._count:
            sys.stderr.write("\r\x1b[K")


@click.command(
    cls=GroupedCommand, groups=JOBS["events"], most_used=MOST_USED, short_help="Collect once.",
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
@job_options("events", EventsOptions(), _SHARED)
@_running
@click.pass_obj
def run(
    place: Place, /, every: bool, due: bool, source_ids: tuple[int, ...], accept_drop: bool, quiet: bool, verbose: int,
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
        voice = Voice(quiet=quiet, verbose=verbose, form=log_format, expected=len(chosen))

        async def work(crew: Crew) -> Tally:
            return await (crew.run_due(voice.done) if due else crew.run(chosen, voice.done))

        tally = _collect(store, options, voice, work, accept_drop=accept_drop)
    if due and not quiet and not (tally.collected or tally.busy):
        sys.stdout.write("No source is due. `tadoru events status` says when each will be.\n")
    elif not quiet:
        _summary(tally)
    for source in tally.busy:
        sys.stderr.write(f"tadoru: Source {source.id} is being collected by another worker.\n")
    return 1 if tally.failed and (source_ids or len(tally.failed) == len(tally.collected)) else 0


def _summary(tally: Tally) -> None:
    counts: dict[str, int] = {}
    for one in tally.collected:
        for name, number in one.run.counts.items():
            counts[name] = counts.get(name, 0) + number
    unchanged = sum(one.unchanged for one in tally.collected)
    words = [
        f"{counted(counts.get('parsed', 0), 'event')} read",
        f"{counts.get('inserted', 0):,} new",
        f"{counts.get('updated', 0):,} changed",
    ]
    extra = {"merged": "merged", "quarantined": "in quarantine", "review": "to review", "vanished": "vanished"}
    words += [f"{counts[name]:,} {word}" for name, word in extra.items() if counts.get(name)]
    sources = counted(len(tally.collected), "source")
    same = f" ({unchanged:,} unchanged)" if unchanged else ""
    failed = f"; {len(tally.failed):,} failed" if tally.failed else ""
    sys.stdout.write(f"{sources}{same}: {', '.join(words)}{failed}.\n")
    for one in tally.failed[:20]:
        sys.stdout.write(f"  failed  {one.source.id} {printable(one.source.name)}: {printable(one.run.error_summary)}\n")
    if len(tally.failed) > 20:
        sys.stdout.write(f"  … {len(tally.failed) - 20} more: tadoru events runs\n")


@click.command(
    cls=GroupedCommand, groups=JOBS["events"], most_used=MOST_USED, short_help="Collect for ever.",
    examples=(
        ("tadoru events worker", "until Ctrl-C; start it on as many machines as you like"),
        ("tadoru events worker --notify mailto://me@mail.example", "and tell when something goes wrong"),
    ),
)  # fmt: skip
@job_options("events", EventsOptions(), _SHARED)
@_running
@click.pass_obj
def worker(place: Place, /, quiet: bool, verbose: int, log_format: str, **given: Any) -> int:
    """Collect each source when its time has come, until stopped. Several workers may share a database, and any may be killed."""
    options = place.options(given)
    voice = Voice(quiet=quiet, verbose=verbose, form=log_format, expected=None)

    async def work(crew: Crew) -> Tally:
        return await crew.run_due(voice.done, forever=True)

    with place.open(options) as store:
        if not quiet:
            sources = counted(len(store.sources(enabled=True)), "source")
            sys.stderr.write(f"Collecting {sources} into {store.name}; Ctrl-C stops.\n")
        _collect(store, options, voice, work, is_worker=True)
    return 0


def _collect(
    store: EventsStore,
    options: EventsOptions,
    voice: Voice,
    work: Callable[[Crew], Awaitable[Tally]],
    *,
    accept_drop: bool = False,
    is_worker: bool = False,
) -> Tally:
    """Work until it is done; a first signal lets what was begun finish, a second one does not."""
    from tadoru.clock import SystemClock
    from tadoru.jobs.events.work import Crew
    from tadoru.jobs.launch import on_signals, run_loop

    async def main() -> tuple[Tally, bool]:
        crew = Crew(store, files_of(options), SystemClock(), options, voice.say, accept_drops=accept_drop)
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

        with on_signals(stop):
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
