"""Operations on crawls: add, run, pause, stop, change, remove. The API, GraphQL and the pages call these.

Each raises `HttpProblem`: 404 for an unknown crawl, 409 if its state does not allow the operation, 422 for invalid values, 429 if
the user has too many queued crawls. The store records each operation in the audit log.

Operators import a crawl by its path, and back up everything. An imported crawl stays where it is, also when it is removed from
the service. A backup has the layout of the data folder, so that it can be served as it is. Databases are copied by SQLite's
backup; the copy of a documentation site is repeated until it is consistent.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Unpack, cast

from tadoru.clock import SystemClock
from tadoru.config.options import CRAWL_JOBS
from tadoru.errors import StoreError, UsageError
from tadoru.jobs.audit.crawl_results import queries
from tadoru.jobs.audit.crawl_results.models import CrawlOverview
from tadoru.jobs.audit.trend import audit_figures
from tadoru.jobs.docs.bundle.output_folder import crawl_database_path
from tadoru.serve.crawl_runner.crawl_files import crawl_path_in, data_folder, remove_crawl_files, run_file
from tadoru.serve.crawl_runner.crawl_options import MAX_INTERVAL, MIN_INTERVAL, validate_options, validate_start_urls
from tadoru.serve.crawl_runner.dispatcher import quota_error
from tadoru.serve.crawl_runner.notifier import validate_webhook
from tadoru.serve.crawl_runner.process_messages import progress_counts
from tadoru.serve.problems import HttpProblem
from tadoru.serve.roles import Role
from tadoru.serve.service import Service
from tadoru.store.accounts.audit_log import Actor
from tadoru.store.calendar.backup import back_up_calendar
from tadoru.store.copy_crawl import copy_crawl
from tadoru.store.crawl.open import open_existing
from tadoru.store.crawl.records import CrawlCounts
from tadoru.store.served_crawls.register import CrawlBusy, CrawlChanges, CrawlNotFound, CrawlQueueFull
from tadoru.store.served_crawls.schema import DAILY, CrawlState, ServedCrawl, next_scheduled
from tadoru.store.service import ServiceStore

MAX_NAME_LENGTH = 200
MAX_RECIPIENTS = 5
_ANY_TIME = datetime(2026, 1, 1, tzinfo=UTC)
_ADDRESS = re.compile(r"[A-Za-z0-9._%+\-]{1,64}@[A-Za-z0-9\-]{1,63}(?:\.[A-Za-z0-9\-]{1,63}){1,8}")


@contextmanager
def _errors_as_problems() -> Iterator[None]:
    try:
        yield
    except CrawlNotFound as error:
        raise HttpProblem(404, error) from None
    except CrawlBusy as error:
        raise HttpProblem(409, error) from None
    except CrawlQueueFull as error:
        raise HttpProblem(429, error, {"Retry-After": "60"}) from None
    except UsageError as error:
        raise HttpProblem(422, error) from None


def add(  # noqa: PLR0913 - the fields of a crawl
    service: Service,
    by: Actor,
    *,
    name: str,
    job: str,
    starts: Sequence[str],
    options: Mapping[str, Any],
    every: int | None = None,
    webhook: str | None = None,
    schedule: str = "",
    report_to: str = "",
    role: Role = Role.EDITOR,
) -> ServedCrawl:
    """Add a crawl and queue it. `role` is the role of the principal."""
    with _errors_as_problems():
        chosen = validate_options(job, options, admin=role >= Role.ADMIN)
        given = [starts] if isinstance(starts, str) else starts
        found = validate_start_urls(service, job, given, listed=bool(chosen.get("list")))
        kept = _validate_name(name or found[0][:MAX_NAME_LENGTH])
        every = schedule_interval(schedule) or every
        address, interval = validate_webhook(service, webhook), None if every is None else _validate_interval(every)
        _check_quota(service)
        crawl = service.store.crawls.add(
            kept, job, found, chosen, by, every=interval, webhook=address, most_queued=service.options.crawls_queued,
            schedule=validate_schedule(schedule), report_to=validate_recipients(report_to),
        )  # fmt: skip
    _wake(service)
    return crawl


def run(service: Service, by: Actor, crawl_id: int) -> ServedCrawl:
    """Resume a crawl that was paused; run any other one again."""
    with _errors_as_problems():
        service.store.crawls.get(crawl_id)
        _check_quota(service)
        crawl = service.store.crawls.run(crawl_id, by, most_queued=service.options.crawls_queued)
    _wake(service)
    return crawl


def pause(service: Service, by: Actor, crawl_id: int) -> ServedCrawl:
    """Pause a crawl; `run` resumes it."""
    with _errors_as_problems():
        return service.store.crawls.pause(crawl_id, by)


def stop(service: Service, by: Actor, crawl_id: int) -> ServedCrawl:
    """End the run of a crawl and keep its results; the next run starts again."""
    with _errors_as_problems():
        return service.store.crawls.stop(crawl_id, by)


def change(service: Service, by: Actor, crawl_id: int, **given: Unpack[CrawlChanges]) -> ServedCrawl:
    """Change a crawl; what is not given, or None, stays."""
    validators: dict[str, Callable[[Any], Any]] = {
        "name": _validate_name, "every": _validate_interval, "repeats": bool, "webhook": partial(validate_webhook, service),
        "schedule": validate_schedule, "report_to": validate_recipients,
    }  # fmt: skip
    with _errors_as_problems():
        service.store.crawls.get(crawl_id)
        if interval := schedule_interval(given.get("schedule") or ""):
            given = {**given, "every": interval}
        valid = {name: validators[name](value) for name, value in given.items() if value is not None}
        return service.store.crawls.change(crawl_id, by, **cast("CrawlChanges", valid))


def remove(service: Service, by: Actor, crawl_id: int) -> ServedCrawl:
    """Remove a crawl that does not run, and its files; files that an operator added by path stay."""
    with _errors_as_problems():
        found = service.store.crawls.remove(crawl_id, by)
    remove_crawl_files(service.store.db.database, found)
    return found


def _validate_name(text: str) -> str:
    kept = " ".join(text.split())
    if not kept or len(kept) > MAX_NAME_LENGTH or not kept.isprintable():
        raise UsageError("The name must have 1 to {limit} characters.", limit=MAX_NAME_LENGTH)
    return kept


def _validate_interval(seconds: int) -> int:
    if not MIN_INTERVAL <= seconds <= MAX_INTERVAL:
        raise UsageError("The interval must be from {least} seconds to one year.", least=f"{MIN_INTERVAL:,}")
    return int(seconds)


def schedule_interval(schedule: str) -> int | None:
    """The seconds between runs of a schedule: a day, or a week if it names a weekday; None without one."""
    return (86_400 if schedule.startswith(f"{DAILY} ") else 604_800) if schedule else None


def validate_schedule(text: str) -> str:
    """A schedule such as `mon 03:00 Asia/Tokyo`; empty for none. Raises UsageError."""
    if text and next_scheduled(text, _ANY_TIME) is None:
        raise UsageError("Invalid schedule. Give a time such as 03:00 and a time zone such as Asia/Tokyo.")
    return text


def validate_recipients(text: str) -> str:
    """E-mail addresses, separated by spaces or commas; empty for none. Raises UsageError."""
    found = text.replace(",", " ").split()
    if len(found) > MAX_RECIPIENTS or not all(len(one) <= 254 and _ADDRESS.fullmatch(one) for one in found):
        raise UsageError("Enter up to {limit} e-mail addresses, separated by spaces.", limit=MAX_RECIPIENTS)
    return " ".join(found)


def _check_quota(service: Service) -> None:
    if why := quota_error(service):
        raise CrawlBusy(why)


def _wake(service: Service) -> None:
    if service.crawling is not None:
        service.crawling.wake()


MAX_KNOWN_CRAWLS = 10_000


def import_crawl(store: ServiceStore, given: str, by: Actor, name: str = "") -> ServedCrawl:
    """Add the crawl at a path: a database of `audit` or `links`, or the folder of a documentation site. Raises UsageError."""
    path = Path(given).absolute()
    file = crawl_database_path(path) if path.is_dir() else path
    if path.is_dir() and not file.is_file():
        raise UsageError(
            "{path} was not written by `tadoru docs`. Give the folder of a documentation site, or the database of a crawl.",
            path=path,
        )
    job, starts, counts, overview = asyncio.run(_read_crawl(file))
    if job not in CRAWL_JOBS or (job == "docs") != path.is_dir():
        raise UsageError(
            "{path} contains no crawl that can be added. Give a database of `tadoru audit` or `tadoru links`.", path=path
        )
    if any(one.place == str(path) for one in store.crawls.list(limit=MAX_KNOWN_CRAWLS)):
        raise UsageError("{path} was already added. List the crawls with `tadoru serve crawls list`.", path=path)
    state = CrawlState.PAUSED if counts.queued + counts.processing else CrawlState.FINISHED
    crawl = store.crawls.add(
        name or starts[0], job, starts, {}, by, place=str(path), state=state, progress=progress_counts(counts)
    )
    if overview.started_at is not None:
        ended = overview.ended_at or overview.started_at
        store.crawls.add_run(crawl.id, state, overview.started_at, ended, _figures(job, file, overview))
    return store.crawls.get(crawl.id)


def _figures(job: str, file: Path, overview: CrawlOverview) -> dict[str, float]:
    if job == "audit":
        return asyncio.run(audit_figures(str(file), SystemClock()))
    return {"pages": overview.pages, "errors": overview.states.get("error", 0)}


async def _read_crawl(file: Path) -> tuple[str, list[str], CrawlCounts, CrawlOverview]:
    """The job of a crawl, its start URLs, its progress, and its figures."""
    store = open_existing(str(file), SystemClock())
    try:
        job, starts = await store.meta.get("job"), json.loads(await store.meta.get("starts") or "[]")
        counts = await store.frontier.counts()
        # While the store is open: a connection that only reads would leave SQLite's shared memory file behind.
        overview = queries.read_overview(file)
    finally:
        await store.close()
    if not job or not starts:
        raise UsageError("{file} contains no crawl yet. Start one with `tadoru audit` first.", file=file)
    return job, starts, counts, overview


EVENT_FOLDERS = ("snapshots", "runlogs")
DATABASE_FILE = "tadoru.db"
NOTE_FILE = "RESTORE.txt"
MAX_COPY_ATTEMPTS = 5
RESTORE_NOTE = """A backup of a Tadoru service, made at {moment}.

Serve it as it is:       tadoru serve -d var/tadoru.db
Restore on SQLite:       stop the service, move its var folder away, and copy this var folder to its place.
Restore on PostgreSQL:   tadoru events -d postgresql://… restore var/tadoru.db  (into an empty database), and copy
                         var/crawls, var/docs, var/snapshots and var/runlogs into the var folder of the service.

A crawl that was running during the backup is queued; the service that starts on the backup resumes it.
{left_out}"""


def back_up(store: ServiceStore, folder: Path, say: Callable[[str], None]) -> None:
    """Write a backup into a new folder; `say` reports each part. Raises UsageError or StoreError."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError("{folder} is not empty. Give a new folder.", folder=folder)
    to = folder / "var"
    try:
        to.mkdir(parents=True, mode=0o700)
        back_up_calendar(store.db, str(to / DATABASE_FILE))
        say("the database")
        left_out = [text for crawl in _all_crawls(store) if (text := _copy_crawl_files(store, crawl, to, say))]
        for name in EVENT_FOLDERS:
            if (source := data_folder(store.db.database) / name).is_dir():
                shutil.copytree(source, to / name, symlinks=True)
        note = f"\nNot in this backup, because they are stored elsewhere:\n{''.join(left_out)}" if left_out else ""
        (folder / NOTE_FILE).write_text(
            RESTORE_NOTE.format(moment=store.db.now().isoformat(timespec="seconds"), left_out=note), "utf-8"
        )
    except OSError as error:
        raise StoreError(
            "Cannot write {folder}: {reason}. Free some disk space, or give another folder.", folder=folder, reason=error.strerror
        ) from error


def _all_crawls(store: ServiceStore) -> list[ServedCrawl]:
    """Every crawl, newest first."""
    found: list[ServedCrawl] = []
    while page := store.crawls.list(limit=500, before=found[-1].id if found else None):
        found += page
    return found


def _copy_crawl_files(store: ServiceStore, crawl: ServedCrawl, to: Path, say: Callable[[str], None]) -> str:
    """Copy the files of a crawl; a line for the note if they are outside the data folder."""
    for file in sorted(run_file(store.db.database, crawl.id, 0).parent.glob("*.db")):
        kept = to / "crawls" / str(crawl.id) / "runs" / file.name
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, kept)  # It never changes.
    if not crawl.is_ours:
        return f"  crawl {crawl.id}: {crawl.place}\n"
    since, target = crawl_path_in(store.db.database, crawl), to / crawl.place
    if crawl.job == "docs":
        if since.is_dir():
            _copy_site(since, target)
    elif since.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        copy_crawl(since, target)
        if (result := since.with_name("result.json")).is_file():
            shutil.copy2(result, target.with_name("result.json"))
    say(f"crawl {crawl.id}")
    return ""


def _copy_site(since: Path, to: Path) -> None:
    """Copy a documentation site. Its index is written last: if it did not change during the copy, the copy is consistent."""
    for _ in range(MAX_COPY_ATTEMPTS):
        before = _index(since)
        shutil.rmtree(to, ignore_errors=True)
        try:
            shutil.copytree(since, to, symlinks=True, ignore=shutil.ignore_patterns("crawl.db*"))
        except shutil.Error:  # A file was removed during the copy.
            continue
        if _index(since) == before:
            break
    else:
        raise StoreError("{folder} keeps changing. Pause its crawl and repeat the backup.", folder=since)
    if (file := crawl_database_path(since)).is_file():
        crawl_database_path(to).parent.mkdir(parents=True, exist_ok=True)
        copy_crawl(file, crawl_database_path(to))


def _index(folder: Path) -> bytes:
    file = folder / "index.json"
    return file.read_bytes() if file.is_file() else b""
