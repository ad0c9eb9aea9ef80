"""What people do with crawls: add, run, pause, stop, change, remove. REST, GraphQL and pages all call these.

Each refuses in one sentence (`problems.Refused`): 404 for a crawl that is not there, 409 for one in another state, 422 for what
cannot be used, 429 for one more than a user may have in the queue. Who does it is in the audit log, by the store.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tadoru.errors import UsageError
from tadoru.serve.crawling.allowed import LONGEST_EVERY, SHORTEST_EVERY, check_starts, settle
from tadoru.serve.crawling.dispatcher import over_quota
from tadoru.serve.crawling.places import remove_files
from tadoru.serve.crawling.telling import check_webhook
from tadoru.serve.problems import Refused
from tadoru.serve.roles import Role
from tadoru.serve.service import Service
from tadoru.store.access.values import By
from tadoru.store.crawls.register import CrawlBusy, NoSuchCrawl, QueueFull
from tadoru.store.crawls.values import ServedCrawl

LONGEST_NAME = 200


@contextmanager
def _refusing() -> Iterator[None]:
    try:
        yield
    except NoSuchCrawl as error:
        raise Refused(404, str(error)) from None
    except CrawlBusy as error:
        raise Refused(409, str(error)) from None
    except QueueFull as error:
        raise Refused(429, str(error), {"Retry-After": "60"}) from None
    except UsageError as error:
        raise Refused(422, str(error)) from None


def add(  # noqa: PLR0913 - a crawl is made of so much
    service: Service,
    by: By,
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
    with _refusing():
        chosen = settle(job, options, admin=role >= Role.ADMIN)
        given = [starts] if isinstance(starts, str) else starts
        found = check_starts(service, job, given, listed=bool(chosen.get("list")))
        kept = _name(name or found[0][:LONGEST_NAME])
        address, rhythm = check_webhook(service, webhook), _every(job, every)
        _room(service)
        crawl = service.store.add_crawl(
            kept, job, found, chosen, by, every=rhythm, webhook=address, most_queued=service.options.crawls_queued
        )
    _wake(service)
    return crawl


def run(service: Service, by: By, crawl_id: int) -> ServedCrawl:
    """Go on with a crawl that was paused, stopped or failed; run one that finished again."""
    with _refusing():
        service.store.crawl(crawl_id)
        _room(service)
        crawl = service.store.run_crawl(crawl_id, by, most_queued=service.options.crawls_queued)
    _wake(service)
    return crawl


def pause(service: Service, by: By, crawl_id: int) -> ServedCrawl:
    """Let a crawl rest; `run` goes on with it."""
    with _refusing():
        return service.store.pause_crawl(crawl_id, by)


def stop(service: Service, by: By, crawl_id: int) -> ServedCrawl:
    """End a crawl. What it found stays."""
    with _refusing():
        return service.store.stop_crawl(crawl_id, by)


def change(
    service: Service,
    by: By,
    crawl_id: int,
    *,
    name: str | None = None,
    every: int | None = None,
    repeats: bool | None = None,
    webhook: str | None = None,
) -> ServedCrawl:
    """Give a crawl another name, rhythm (`repeats=False`: none) or webhook (empty: none). None leaves a thing as it is."""
    with _refusing():
        found = service.store.crawl(crawl_id)
        kept = None if name is None else _name(name)
        address = None if webhook is None else check_webhook(service, webhook)
        rhythm = _every(found.job, every)
        return service.store.change_crawl(crawl_id, by, name=kept, every=rhythm, repeats=repeats, webhook=address)


def remove(service: Service, by: By, crawl_id: int) -> ServedCrawl:
    """Forget a crawl that does not run, and remove its files; what an operator added by its path stays on the disk."""
    with _refusing():
        found = service.store.remove_crawl(crawl_id, by)
    remove_files(service.store.database, found)
    return found


def _name(text: str) -> str:
    kept = " ".join(text.split())
    if not kept or len(kept) > LONGEST_NAME or not kept.isprintable():
        raise UsageError(f"A crawl needs a name of 1 to {LONGEST_NAME} characters.")
    return kept


def _every(job: str, seconds: int | None) -> int | None:
    if seconds is None:
        return None
    if not SHORTEST_EVERY <= seconds <= LONGEST_EVERY:
        raise UsageError(f"A crawl repeats itself after {SHORTEST_EVERY:,} seconds at the earliest, and within a year.")
    return int(seconds)


def _room(service: Service) -> None:
    if why := over_quota(service):
        raise CrawlBusy(why)


def _wake(service: Service) -> None:
    if service.crawling is not None:
        service.crawling.wake()
