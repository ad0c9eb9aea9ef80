"""Checks that everything which collecting needs is there: each a line, good, doubtful or bad, with what to do about it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from zoneinfo import ZoneInfo

from tadoru.clock import Clock, to_datetime
from tadoru.errors import TadoruError
from tadoru.options import EventsOptions
from tadoru.store.events.connect import is_postgresql
from tadoru.store.events.open import EventsStore
from tadoru.store.files import Files

PACKAGES = {
    "psycopg": ("postgres", "PostgreSQL"),
    "boto3": ("s3", "object storage"),
    "apprise": ("notify", "notifications"),
    "lxml": ("xpath", "XPath selectors"),
}
"""Module → the extra that brings it, and what it is for."""
_PROBE = "var/doctor-check.txt"
_LITTLE_ROOM = 500 * 1024 * 1024
_SKEW = timedelta(seconds=5)
_STUCK = timedelta(hours=6)
_LATE = timedelta(days=1)
_NAMED = 5
_SANE = datetime(2025, 1, 1, tzinfo=UTC)


class State(StrEnum):
    """How something is."""

    GOOD = "good"
    DOUBTFUL = "doubtful"
    """It works; somebody should look."""
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Checked:
    """One thing that was looked at."""

    what: str
    state: State
    words: str


def check_machine(options: EventsOptions, clock: Clock) -> Iterator[Checked]:
    """What can be checked without the database."""
    now = to_datetime(clock.now())
    if now < _SANE:
        yield Checked("clock", State.BAD, f"It says {now:%Y-%m-%d}, which is long over: set it.")
    else:
        yield Checked("clock", State.GOOD, f"{now:%Y-%m-%d %H:%M} UTC")
    yield _zones(options.timezone)
    yield from _packages(options)


def _zones(own: str) -> Checked:
    try:
        for name in ("Asia/Tokyo", "Europe/London", own):
            ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        return Checked("time zones", State.BAD, f"{error}: install the package tzdata.")
    try:
        version = f", data {metadata.version('tzdata')}"
    except metadata.PackageNotFoundError:
        version = ""
    return Checked("time zones", State.GOOD, f"this installation is in {own}{version}")


def _packages(options: EventsOptions) -> Iterator[Checked]:
    needed = {
        "psycopg": is_postgresql(options.database), "boto3": (options.files or "").startswith("s3://"),
        "apprise": bool(options.notify),
    }  # fmt: skip
    missing = [name for name in PACKAGES if find_spec(name) is None]
    for name in missing:
        extra, purpose = PACKAGES[name]
        if needed.get(name):
            yield Checked("packages", State.BAD, f"{purpose} needs {name}: pip install 'tadoru[{extra}]'.")
    there = [purpose for name, (_, purpose) in PACKAGES.items() if name not in missing]
    not_there = [f"{PACKAGES[name][1]} (tadoru[{PACKAGES[name][0]}])" for name in missing]
    words = f"for {', '.join(there)}" if there else "none of the optional ones"
    yield Checked("packages", State.GOOD, words + (f"; not installed: {', '.join(not_there)}" if not_there else ""))


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
    yield Checked("database", State.GOOD, f"{store.name}: {sum(totals.events.values()):,} events of {totals.sources:,} sources")
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
        words = f"Source {one.source_id}, {one.name}, failed {one.failures} times in a row: {one.last_error}"
        yield Checked("sources", State.DOUBTFUL, words)
    if len(failing) > _NAMED:
        yield Checked("sources", State.DOUBTFUL, f"{len(failing) - _NAMED} more fail: `tadoru events status` lists them.")
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
