"""Runs the job: from options to a crawl plan, from a stored crawl to its result; and the Python API `tadoru.links()`."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tadoru.clock import SystemClock
from tadoru.config.options import LinksOptions
from tadoru.engine.notifications import CrawlNotification, Notify
from tadoru.engine.url_filter import UrlFilter
from tadoru.errors import Message, StoreError, UsageError
from tadoru.i18n.translation import N_
from tadoru.jobs import launch
from tadoru.jobs.crawl_setup import (
    StartFailure,
    access_for,
    apply_rules,
    parse_options,
    policy_for,
    queue_start_urls,
    resolve_exemptions,
    resolve_scope,
    start_failure,
)
from tadoru.jobs.launch import CrawlPlan, NetworkAccess, pick_processes
from tadoru.jobs.links.broken import AcceptedCodes, compile_patterns
from tadoru.jobs.links.job import LinksJob
from tadoru.jobs.links.result import CrawlResult, UrlInfo
from tadoru.jobs.links.result_reader import BrokenLinkRules, load_urls, read_crawl_result, read_problem_pages, stored_urls
from tadoru.rules.address import Exemptions
from tadoru.rules.scope import Scope, ScopeMode
from tadoru.rules.url import UrlCleaner, parse_typed_url
from tadoru.store.crawl.open import open_store


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedLinks:
    """A crawl that is set up in its store."""

    plan: CrawlPlan
    starts: tuple[str, ...]
    resumed: bool


def broken_link_rules(options: LinksOptions) -> BrokenLinkRules:
    """Which links count as broken. Raises UsageError."""
    return BrokenLinkRules(
        accepted=AcceptedCodes.parse(options.accept),
        ignore=compile_patterns(options.ignore),
        fragments=options.fragments,
    )


def build_scope(options: LinksOptions, starts: Sequence[str]) -> Scope:
    """The scope of the options."""
    mode: ScopeMode = "domain" if options.subdomains else options.scope  # type: ignore[assignment]
    return Scope(mode=mode, sites=tuple(starts), include=options.include, exclude=options.exclude)


async def prepare(
    options: LinksOptions, urls: Sequence[str], database: str, *, durable: bool, allowed: Exemptions | None = None
) -> PreparedLinks:
    """Creates or resumes the crawl in its store. `allowed`: see `resolve_exemptions`.

    Raises UsageError if the store contains another crawl.
    """
    store = open_store(database, SystemClock(), durable=durable)
    try:
        known = await store.meta.get("starts")
        if known is not None and (job := await store.meta.get("job")) != "links":
            raise UsageError(
                "{database} contains a crawl of `tadoru {job}`. Choose another --state file.", database=database, job=job
            )
        starts = _resolve_start_urls(known, urls, database)
        exemptions = await resolve_exemptions(store, starts if known is None else (), allowed)
        scope = await resolve_scope(store, build_scope(options, starts))
        await store.meta.set("job", "links")
        await store.frontier.recover()
        await store.hosts.lower_paces(options.delay)
        url_filter = UrlFilter(scope, check_external=options.check, follow=not options.list, trap_cap=options.trap_limit)
        await apply_rules(store, url_filter, options.depth)
        await queue_start_urls(store, url_filter, starts, starts if known is None else ())
        if known is None:
            # Last, so that a process that was killed before starts again.
            await store.meta.set("starts", json.dumps(starts))
        else:
            await store.frontier.widen(options.depth)
    finally:
        await store.close()
    plan = _plan(options, scope, access_for(options, exemptions, starts), database, durable)
    return PreparedLinks(plan=plan, starts=starts, resumed=known is not None)


def _resolve_start_urls(known: str | None, urls: Sequence[str], database: str) -> tuple[str, ...]:
    starts = tuple(dict.fromkeys(parse_typed_url(url) for url in urls))
    if known is None:
        if not starts:
            raise UsageError("No start URL given. Add one, such as https://example.com/.")
        return starts
    stored = tuple(json.loads(known))
    if starts and starts != stored:
        raise UsageError(
            "{database} contains the crawl of {url}. Use that URL to resume it, or choose another --state file.",
            database=database,
            url=stored[0],
        )
    return stored


def _plan(options: LinksOptions, scope: Scope, access: NetworkAccess, database: str, durable: bool) -> CrawlPlan:
    job = LinksJob(
        scope=scope,
        check_external=options.check,
        follow=not options.list,
        every_link=options.check or options.fragments,
        fragments=options.fragments,
        cleaning=UrlCleaner(strip_tracking=options.strip_tracking, strip_sessions=options.strip_sessions),
    )
    return CrawlPlan(
        job=job,
        policy=policy_for(options),
        access=access,
        database=database,
        durable=durable,
        processes=pick_processes(options.processes, options.delay),
    )


async def read_result(
    options: LinksOptions, prepared: PreparedLinks, *, duration: float, stopped: str | None, load: bool = False
) -> CrawlResult:
    """Reads the result of a crawl. With `load` its URLs are in memory, else they are read from the store each time."""
    plan = prepared.plan
    store = open_store(plan.database, SystemClock(), durable=plan.durable)
    try:
        if await store.meta.get("starts") is None:
            raise StoreError(
                "The database {database} was removed or replaced during the crawl. Rerun the command.", database=plan.database
            )
        rules = broken_link_rules(options)
        problems = await read_problem_pages(store, rules)
        urls: tuple[Collection[UrlInfo], Collection[UrlInfo]]
        urls = await load_urls(store, problems) if load else stored_urls(plan.database, problems)
        # The duration of a resumed crawl is that of all its runs.
        duration += float(await store.meta.get("seconds") or 0.0)
        await store.meta.set("seconds", str(duration))
        return await read_crawl_result(store, prepared.starts[0], rules, problems, urls, duration=duration, stopped=stopped)
    finally:
        await store.close()


async def read_start_state(prepared: PreparedLinks) -> StartFailure | None:
    """Why nothing was crawled; None if something was."""
    store = open_store(prepared.plan.database, SystemClock(), durable=prepared.plan.durable)
    try:
        return await start_failure(store)
    finally:
        await store.close()


def links(url: str, *, notify: Notify | None = None, **options: Any) -> CrawlResult:
    """Maps the links of a site. Options are those of `tadoru links` (`depth=2, delay=0.5, check=True, …`).

    Problems of the site are in the result; a `tadoru.errors.UsageError` means that the call was wrong.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return launch.run_loop(links_async(url, notify=notify, **options))
    raise UsageError("links() cannot be used in a running event loop. Use links_async().")


async def links_async(url: str, *, notify: Notify | None = None, **options: Any) -> CrawlResult:
    """Like `links`, for a running event loop. Cancelling it stops the crawl; with `state=FILE` it can be resumed."""
    chosen = parse_options("links", LinksOptions, options)
    clock = SystemClock()
    with tempfile.TemporaryDirectory(prefix="tadoru-") as folder:
        database = chosen.state or str(Path(folder) / "links.db")
        prepared = await prepare(chosen, [url], database, durable=chosen.state is not None)
        began = clock.monotonic()
        ended = await launch.crawl(prepared.plan, notify or _ignore_notification)
        stopped: Message | None = None
        if ended.stopped:
            stopped = Message("time limit") if ended.out_of_time else Message("interrupted")
        elif ended.limit_reached:
            one, many = N_("limit of {limit} page"), N_("limit of {limit} pages")
            stopped = Message(one if chosen.limit == 1 else many, limit=f"{chosen.limit:,}")
        return await read_result(chosen, prepared, duration=clock.monotonic() - began, stopped=stopped, load=True)


def _ignore_notification(notice: CrawlNotification) -> None:
    """Does nothing."""
