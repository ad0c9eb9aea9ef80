"""Once a day: events that are long over are archived, old snapshots and run logs removed. The newest snapshot of a source stays.

Files go first, then the rows that name them: killed in between, the next time finds the rows and removes nothing twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from tadoru.jobs.report.words import counted
from tadoru.store.events.open import EventsStore
from tadoru.store.events.retention import ARCHIVE_AFTER, FORGET_AFTER
from tadoru.store.files import Files

_LOGS = "var/runlogs/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """What was put away."""

    archived: int
    snapshots: int
    run_logs: int

    def __str__(self) -> str:
        parts = (
            (self.archived, "event", "archived"),
            (self.snapshots, "snapshot", "removed"),
            (self.run_logs, "run log", "removed"),
        )
        return ", ".join(f"{counted(count, what)} {done}" for count, what, done in parts)


def prune(
    store: EventsStore,
    files: Files,
    now: datetime,
    *,
    archive_after: timedelta = ARCHIVE_AFTER,
    forget_after: timedelta = FORGET_AFTER,
    dry_run: bool = False,
) -> Pruned:
    """Put away what is old. `dry_run` only counts."""
    snapshots = store.old_snapshots(after=forget_after)
    logs = store.old_runs(after=forget_after)
    if dry_run:
        archived = store.to_archive(after=archive_after)
        return Pruned(archived=archived, snapshots=len(snapshots), run_logs=len(logs))
    files.delete(path for _, path in snapshots)
    store.forget_snapshots(tuple(number for number, _ in snapshots))
    files.delete(f"{_LOGS}{began:%Y-%m-%d}/{number}.json" for number, began in logs)
    files.delete(_old_logs(files, (now - forget_after).date()))
    store.forget_runs(after=forget_after)
    return Pruned(archived=store.archive(after=archive_after), snapshots=len(snapshots), run_logs=len(logs))


def _old_logs(files: Files, before: date) -> list[str]:
    """Files of days that are over, also of runs that nobody knows any more because their source was removed."""
    found = []
    for key in files.keys(_LOGS):
        try:
            day = date.fromisoformat(key.removeprefix(_LOGS).split("/")[0])
        except ValueError:
            continue
        if day < before:
            found.append(key)
    return found
