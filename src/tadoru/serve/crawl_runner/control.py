"""What people do with crawls: add, run, pause, stop, change, remove. REST, GraphQL and pages all call these.

Each refuses in one sentence (`problems.HttpProblem`): 404 for a crawl that is not there, 409 for one in another state, 422 for what
cannot be used, 429 for one more than a user may have in the queue. Who does it is in the audit log, by the store.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tadoru.errors import UsageError
from tadoru.serve.crawl_runner.crawl_files import remove_crawl_files
from tadoru.serve.crawl_runner.crawl_options import MAX_INTERVAL, MIN_INTERVAL, validate_options, validate_start_urls
from tadoru.serve.crawl_runner.dispatcher import quota_error
from tadoru.serve.crawl_runner.notifier import validate_webhook
from tadoru.serve.problems import HttpProblem
from tadoru.serve.roles import Role
from tadoru.serve.service import Service
from tadoru.store.accounts.audit_log import Actor
from tadoru.store.served_crawls.register import CrawlBusy, CrawlNotFound, CrawlQueueFull
from tadoru.store.served_crawls.schema import ServedCrawl

MAX_NAME_LENGTH = 200


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


def add(  # noqa: PLR0913 - a crawl is made of so much
    service: Service,
    by: Actor,
    *,
    name: str,
    job: str,
    starts: Sequence[str],
    options: Mapping[str, Any],
    every: int | None = None,
    webhook: str | None = None,
    role: Role = Role.EDITOR,
) -> ServedCrawl:
    """Add a crawl and have it run as soon as there is room. `role`: of whoever asks."""
    with _errors_as_problems():
        chosen = validate_options(job, options, admin=role >= Role.ADMIN)
        given = [starts] if isinstance(starts, str) else starts
        found = validate_start_urls(service, job, given, listed=bool(chosen.get("list")))
        kept = _name(name or found[0][:MAX_NAME_LENGTH])
        address, rhythm = validate_webhook(service, webhook), _every(job, every)
        _check_quota(service)
        crawl = service.store.add_crawl(
            kept, job, found, chosen, by, every=rhythm, webhook=address, most_queued=service.options.crawls_queued
        )
    _wake(service)
    return crawl


def run(service: Service, by: Actor, crawl_id: int) -> ServedCrawl:
    """Go on with a crawl that was paused, stopped or failed; run one that finished again."""
    with _errors_as_problems():
        service.store.crawl(crawl_id)
        _check_quota(service)
        crawl = service.store.run_crawl(crawl_id, by, most_queued=service.options.crawls_queued)
    _wake(service)
    return crawl


def pause(service: Service, by: Actor, crawl_id: int) -> ServedCrawl:
    """Let a crawl rest; `run` goes on with it."""
    with _errors_as_problems():
        return service.store.pause_crawl(crawl_id, by)


def stop(service: Service, by: Actor, crawl_id: int) -> ServedCrawl:
    """End a crawl. What it found stays."""
    with _errors_as_problems():
        return service.store.stop_crawl(crawl_id, by)


def change(
    service: Service,
    by: Actor,
    crawl_id: int,
    *,
    name: str | None = None,
    every: int | None = None,
    repeats: bool | None = None,
    webhook: str | None = None,
) -> ServedCrawl:
    """Give a crawl another name, rhythm (`repeats=False`: none) or webhook (empty: none). None leaves a thing as it is."""
    with _errors_as_problems():
        found = service.store.crawl(crawl_id)
        kept = None if name is None else _name(name)
        address = None if webhook is None else validate_webhook(service, webhook)
        rhythm = _every(found.job, every)
        return service.store.change_crawl(crawl_id, by, name=kept, every=rhythm, repeats=repeats, webhook=address)


def remove(service: Service, by: Actor, crawl_id: int) -> ServedCrawl:
    """Forget a crawl that does not run, and remove its files; what an operator added by its path stays on the disk."""
    with _errors_as_problems():
        found = service.store.remove_crawl(crawl_id, by)
    remove_crawl_files(service.store.database, found)
    return found


def _name(text: str) -> str:
    kept = " ".join(text.split())
    if not kept or len(kept) > MAX_NAME_LENGTH or not kept.isprintable():
        raise UsageError("The name must have 1 to {limit} characters.", limit=MAX_NAME_LENGTH)
    return kept


def _every(job: str, seconds: int | None) -> int | None:
    if seconds is None:
        return None
    if not MIN_INTERVAL <= seconds <= MAX_INTERVAL:
        raise UsageError("The interval must be from {least} seconds to one year.", least=f"{MIN_INTERVAL:,}")
    return int(seconds)


def _check_quota(service: Service) -> None:
    if why := quota_error(service):
        raise CrawlBusy(why)


def _wake(service: Service) -> None:
    if service.crawling is not None:
        service.crawling.wake()
