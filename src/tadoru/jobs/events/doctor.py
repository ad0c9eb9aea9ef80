"""Checks that everything which collecting needs is there: each a line, good, doubtful or bad, with what to do about it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from tadoru.clock import Clock
from tadoru.errors import TadoruError
from tadoru.jobs.checkup import Checked, State, check_clock, check_packages, check_zones
from tadoru.jobs.report.words import counted
from tadoru.options import EventsOptions
from tadoru.store.events.connect import is_postgresql
from tadoru.store.events.open import EventsStore
from tadoru.store.files import Files

PACKAGES = ("psycopg", "boto3", "apprise", "lxml")
_PROBE = "var/doctor-check.txt"
_LITTLE_ROOM = 500 * 1024 * 1024
_SKEW = timedelta(seconds=5)
_STUCK = timedelta(hours=6)
_LATE = timedelta(days=1)
_NAMED = 5


def check_machine(options: EventsOptions, clock: Clock) -> Iterator[Checked]:
    """What can be checked without the database."""
    yield check_clock(clock)
    yield check_zones(options.timezone)
    uses = {
        "psycopg": is_postgresql(options.database), "boto3": (options.files or "").startswith("s3://"),
        "apprise": bool(options.notify),
    }  # fmt: skip
    yield from check_packages(PACKAGES, [name for name, is_used in uses.items() if is_used])


def check_files(files: Files) -> Checked:
    """Whether files can be written, read and removed."""
    try:
        files.put(_PROBE, b"tadoru")
        is_read = files.get(_PROBE) == b"tadoru"
        files.delete([_PROBE])
    except (TadoruError, OSError) as error:
        return Checked("files", State.BAD, str(error))
    if not is_read:
        return Checked("files", State.BAD, f"{files.name} does not give back what was written to it.")
    return Checked("files", State.GOOD, f"{files.name} can be written")


def check_database(store: EventsStore) -> Iterator[Checked]:
    """The database, its clock and its disk. It was opened, so that its format is the present one."""
    try:
        with store.write() as sql:
            shared = store.shared_now(sql)
    except TadoruError as error:
        yield Checked("database", State.BAD, str(error))
        return
    totals = store.totals()
    yield Checked(
        "database",
        State.GOOD,
        f"{store.name}: {counted(sum(totals.events.values()), 'event')} of {counted(totals.sources, 'source')}",
    )
    if (skew := abs(shared - store.now())) > _SKEW:
        words = f"This machine's differs from the database's by {skew.total_seconds():.0f} s: set it by NTP."
        yield Checked("clock", State.DOUBTFUL, words)
    if store.is_sqlite:
        free = shutil.disk_usage(Path(store.database).absolute().parent).free
        state = State.DOUBTFUL if free < _LITTLE_ROOM else State.GOOD
        yield Checked("disk", state, f"{free / 1024**3:.1f} GiB free beside the database")


def check_collecting(store: EventsStore) -> Iterator[Checked]:
    """Sources and runs."""
    now, health = store.now(), store.health()
    if not health:
        yield Checked("sources", State.DOUBTFUL, "There are none: add one with `tadoru events sources add`.")
    failing = [one for one in health if one.enabled and one.failures]
    for one in failing[:_NAMED]:
        words = f"Source {one.source_id}, {one.name}, failed {counted(one.failures, 'time')} in a row: {one.last_error}"
        yield Checked("sources", State.DOUBTFUL, words)
    if len(failing) > _NAMED:
        yield Checked("sources", State.DOUBTFUL, f"And {len(failing) - _NAMED} more: `tadoru events status` lists them.")
    late = [one for one in health if one.enabled and one.late > _LATE.total_seconds()]
    if late:
        words = (
            f"{len(late)} should have been collected a day ago: run `tadoru events worker`, or `tadoru events run --due` by cron."
        )
        yield Checked("sources", State.DOUBTFUL, words)
    if health and not failing and not late:
        yield Checked("sources", State.GOOD, f"{sum(one.enabled for one in health):,} enabled, none fails")
    yield from _secrets(store)
    stuck = [run for run in store.runs(limit=1000) if run.finished_at is None and now - run.started_at > _STUCK]
    for run in stuck[:_NAMED]:
        since = f"{run.started_at:%Y-%m-%d %H:%M} UTC"
        words = f"Run {run.id} of source {run.source_id} is under way since {since}; if its worker died, the next run closes it."
        yield Checked("runs", State.DOUBTFUL, words)
    if not stuck:
        yield Checked("runs", State.GOOD, "none is stuck")
    if waiting := store.totals().open_reviews:
        yield Checked("reviews", State.GOOD, f"{waiting:,} wait for an answer: `tadoru events review list`")


def _secrets(store: EventsStore) -> Iterator[Checked]:
    for source in store.sources(enabled=True):
        if source.secret and not os.environ.get(source.secret):
            words = f"The variable {source.secret}, which source {source.id} needs, is not set here."
            yield Checked("secrets", State.DOUBTFUL, words)
