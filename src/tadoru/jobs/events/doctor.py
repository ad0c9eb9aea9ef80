"""Checks everything that collecting needs; each result is good, doubtful or bad, with a suggested fix."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from tadoru.clock import Clock
from tadoru.config.options import EventsOptions
from tadoru.errors import TadoruError
from tadoru.jobs.doctor import CheckState, DoctorCheck, check_clock, check_packages, check_time_zones
from tadoru.jobs.reporting.formatting import format_count
from tadoru.store.calendar.database import is_postgresql
from tadoru.store.calendar.store import CalendarStore
from tadoru.store.files import FileStore

PACKAGES = ("psycopg", "boto3", "apprise", "lxml")
_PROBE = "var/doctor-check.txt"
_LITTLE_ROOM = 500 * 1024 * 1024
_SKEW = timedelta(seconds=5)
_STUCK = timedelta(hours=6)
_LATE = timedelta(days=1)
_NAMED = 5


def check_machine(options: EventsOptions, clock: Clock) -> Iterator[DoctorCheck]:
    """The checks that need no database."""
    yield check_clock(clock)
    yield check_time_zones(options.timezone)
    uses = {
        "psycopg": is_postgresql(options.database), "boto3": (options.files or "").startswith("s3://"),
        "apprise": bool(options.notify),
    }  # fmt: skip
    yield from check_packages(PACKAGES, [name for name, is_used in uses.items() if is_used])


def check_files(files: FileStore) -> DoctorCheck:
    """Whether files can be written, read and deleted."""
    try:
        files.put(_PROBE, b"tadoru")
        is_read = files.get(_PROBE) == b"tadoru"
        files.delete([_PROBE])
    except (TadoruError, OSError) as error:
        return DoctorCheck("files", CheckState.BAD, str(error))
    if not is_read:
        return DoctorCheck("files", CheckState.BAD, f"{files.name} does not return what was written to it.")
    return DoctorCheck("files", CheckState.GOOD, f"{files.name} is writable")


def check_database(store: CalendarStore) -> Iterator[DoctorCheck]:
    """Check the database, its clock and its disk. It is open, so its format is current."""
    try:
        with store.write() as sql:
            shared = store.shared_now(sql)
    except TadoruError as error:
        yield DoctorCheck("database", CheckState.BAD, str(error))
        return
    totals = store.totals()
    yield DoctorCheck(
        "database",
        CheckState.GOOD,
        f"{store.name}: {format_count(sum(totals.events.values()), 'event')} of {format_count(totals.sources, 'source')}",
    )
    if (skew := abs(shared - store.now())) > _SKEW:
        words = f"The clock of this machine differs from the database by {skew.total_seconds():.0f} s. Synchronise it with NTP."
        yield DoctorCheck("clock", CheckState.DOUBTFUL, words)
    if store.is_sqlite:
        free = shutil.disk_usage(Path(store.database).absolute().parent).free
        state = CheckState.DOUBTFUL if free < _LITTLE_ROOM else CheckState.GOOD
        yield DoctorCheck("disk", state, f"{free / 1024**3:.1f} GiB free on the disk of the database")


def check_collecting(store: CalendarStore) -> Iterator[DoctorCheck]:
    """Check the sources and runs."""
    now, health = store.now(), store.health()
    if not health:
        yield DoctorCheck("sources", CheckState.DOUBTFUL, "No sources yet. Add one with `tadoru events sources add`.")
    failing = [one for one in health if one.enabled and one.failures]
    for one in failing[:_NAMED]:
        words = f"Source {one.source_id} ({one.name}) failed {format_count(one.failures, 'time')} in a row: {one.last_error}"
        yield DoctorCheck("sources", CheckState.DOUBTFUL, words)
    if len(failing) > _NAMED:
        yield DoctorCheck(
            "sources", CheckState.DOUBTFUL, f"{len(failing) - _NAMED} more failing sources. `tadoru events status` lists them."
        )
    late = [one for one in health if one.enabled and one.late > _LATE.total_seconds()]
    if late:
        words = f"{len(late)} overdue by more than a day. Run `tadoru events worker`, or `tadoru events run --due` from cron."
        yield DoctorCheck("sources", CheckState.DOUBTFUL, words)
    if health and not failing and not late:
        yield DoctorCheck("sources", CheckState.GOOD, f"{sum(one.enabled for one in health):,} enabled, all healthy")
    yield from _secrets(store)
    stuck = [run for run in store.runs(limit=1000) if run.finished_at is None and now - run.started_at > _STUCK]
    for run in stuck[:_NAMED]:
        since = f"{run.started_at:%Y-%m-%d %H:%M} UTC"
        words = (
            f"Run {run.id} of source {run.source_id} has been running since {since}. If its worker died, the next run closes it."
        )
        yield DoctorCheck("runs", CheckState.DOUBTFUL, words)
    if not stuck:
        yield DoctorCheck("runs", CheckState.GOOD, "none stuck")
    if waiting := store.totals().open_reviews:
        yield DoctorCheck("reviews", CheckState.GOOD, f"{waiting:,} to review: `tadoru events review list`")


def _secrets(store: CalendarStore) -> Iterator[DoctorCheck]:
    for source in store.sources(enabled=True):
        if source.secret and not os.environ.get(source.secret):
            words = f"The environment variable {source.secret} of source {source.id} is not set."
            yield DoctorCheck("secrets", CheckState.DOUBTFUL, words)
