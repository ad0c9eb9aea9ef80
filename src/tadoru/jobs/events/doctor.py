"""Checks everything that collecting needs; each result is good, doubtful or bad, with a suggested fix."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from tadoru.clock import Clock
from tadoru.config.options import EventsOptions
from tadoru.errors import Message, TadoruError
from tadoru.jobs.doctor import CheckState, DoctorCheck, check_clock, check_packages, check_time_zones
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
        return DoctorCheck("files", CheckState.BAD, Message("{place} does not return what was written to it.", place=files.name))
    return DoctorCheck("files", CheckState.GOOD, Message("{place} is writable", place=files.name))


def check_database(store: CalendarStore) -> Iterator[DoctorCheck]:
    """Check the database, its clock and its disk. It is open, so its format is current."""
    try:
        with store.db.write() as sql:
            shared = store.db.shared_now(sql)
    except TadoruError as error:
        yield DoctorCheck("database", CheckState.BAD, str(error))
        return
    totals = store.statistics.totals()
    yield DoctorCheck(
        "database",
        CheckState.GOOD,
        Message(
            "{database} (events: {events}, sources: {sources})",
            database=store.db.name,
            events=f"{sum(totals.events.values()):,}",
            sources=f"{totals.sources:,}",
        ),
    )
    if (skew := abs(shared - store.db.now())) > _SKEW:
        words = Message(
            "The clock of this machine differs from the database by {seconds} s. Synchronise it with NTP.",
            seconds=f"{skew.total_seconds():.0f}",
        )
        yield DoctorCheck("clock", CheckState.DOUBTFUL, words)
    if store.db.is_sqlite:
        free = shutil.disk_usage(Path(store.db.database).absolute().parent).free
        state = CheckState.DOUBTFUL if free < _LITTLE_ROOM else CheckState.GOOD
        yield DoctorCheck("disk", state, Message("{size} GiB free on the disk of the database", size=f"{free / 1024**3:.1f}"))


def check_collecting(store: CalendarStore) -> Iterator[DoctorCheck]:
    """Check the sources and runs."""
    now, health = store.db.now(), store.statistics.source_health()
    if not health:
        yield DoctorCheck("sources", CheckState.DOUBTFUL, Message("No sources yet. Add one with `tadoru events sources add`."))
    failing = [one for one in health if one.enabled and one.failures]
    for one in failing[:_NAMED]:
        words = Message(
            "Source {id} ({name}) fails (consecutive failures: {count}): {error}",
            id=one.source_id,
            name=one.name,
            count=one.failures,
            error=one.last_error,
        )
        yield DoctorCheck("sources", CheckState.DOUBTFUL, words)
    if len(failing) > _NAMED:
        yield DoctorCheck(
            "sources",
            CheckState.DOUBTFUL,
            Message("{count} more failing sources. `tadoru events status` lists them.", count=len(failing) - _NAMED),
        )
    late = [one for one in health if one.enabled and one.late > _LATE.total_seconds()]
    if late:
        words = Message(
            "{count} overdue by more than a day. Run `tadoru events worker`, or `tadoru events run --due` from cron.",
            count=len(late),
        )
        yield DoctorCheck("sources", CheckState.DOUBTFUL, words)
    if health and not failing and not late:
        yield DoctorCheck(
            "sources", CheckState.GOOD, Message("{count} enabled, all healthy", count=sum(one.enabled for one in health))
        )
    yield from _secrets(store)
    stuck = [run for run in store.runs.list(limit=1000) if run.finished_at is None and now - run.started_at > _STUCK]
    for run in stuck[:_NAMED]:
        since = f"{run.started_at:%Y-%m-%d %H:%M} UTC"
        words = Message(
            "Run {id} of source {source} has been running since {time}. If its worker died, the next run closes it.",
            id=run.id,
            source=run.source_id,
            time=since,
        )
        yield DoctorCheck("runs", CheckState.DOUBTFUL, words)
    if not stuck:
        yield DoctorCheck("runs", CheckState.GOOD, Message("none stuck"))
    if waiting := store.statistics.totals().open_reviews:
        yield DoctorCheck(
            "reviews", CheckState.GOOD, Message("{count} to review: `tadoru events review list`", count=f"{waiting:,}")
        )


def _secrets(store: CalendarStore) -> Iterator[DoctorCheck]:
    for source in store.sources.list(enabled=True):
        if source.secret and not os.environ.get(source.secret):
            words = Message(
                "The environment variable {variable} of source {id} is not set.", variable=source.secret, id=source.id
            )
            yield DoctorCheck("secrets", CheckState.DOUBTFUL, words)
