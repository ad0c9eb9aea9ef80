"""Operations on crawls: add, run, pause, stop, change, remove. The API, GraphQL and the pages call these.

Each raises `HttpProblem`: 404 for an unknown crawl, 409 if its state does not allow the operation, 422 for invalid values, 429 if
the user has too many queued crawls. The store records each operation in the audit log.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any, Unpack, cast

from tadoru.errors import UsageError
from tadoru.serve.crawl_runner.crawl_files import remove_crawl_files
from tadoru.serve.crawl_runner.crawl_options import MAX_INTERVAL, MIN_INTERVAL, validate_options, validate_start_urls
from tadoru.serve.crawl_runner.dispatcher import quota_error
from tadoru.serve.crawl_runner.notifier import validate_webhook
from tadoru.serve.problems import HttpProblem
from tadoru.serve.roles import Role
from tadoru.serve.service import Service
from tadoru.store.accounts.audit_log import Actor
from tadoru.store.served_crawls.register import CrawlBusy, CrawlChanges, CrawlNotFound, CrawlQueueFull
from tadoru.store.served_crawls.schema import DAILY, ServedCrawl, next_scheduled

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
