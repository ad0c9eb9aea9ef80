"""Running the job: from options to a plan, from a stored crawl to its result. The command and the Python API both come here."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from tadoru.clock import SystemClock
from tadoru.engine.gate import Gate
from tadoru.engine.job import Policy
from tadoru.errors import StoreError, UsageError
from tadoru.fetch.guard import Names, named_privately
from tadoru.jobs.access import access_for
from tadoru.jobs.launch import Access, Plan, pick_processes
from tadoru.jobs.links.broken import AcceptedCodes, compile_patterns
from tadoru.jobs.links.collect import Judging, collect, load_urls, survey
from tadoru.jobs.links.job import LinksJob
from tadoru.jobs.links.result import CrawlResult, UrlInfo
from tadoru.jobs.links.stream import stored_urls
from tadoru.options import LinksOptions
from tadoru.rules.address import Exemptions
from tadoru.rules.budget import Budget
from tadoru.rules.scope import Mode, Scope
from tadoru.rules.url import Cleaning, typed
from tadoru.store.base import CrawlStore, PageStatus
from tadoru.store.open import open_store


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A crawl that is set up in its store."""

    plan: Plan
    starts: tuple[str, ...]
    resumed: bool


def judging(options: LinksOptions) -> Judging:
    """What counts as broken. Raises UsageError."""
    return Judging(
        accepted=AcceptedCodes.parse(options.accept),
        ignore=compile_patterns(options.ignore),
        fragments=options.fragments,
    )


def build_scope(options: LinksOptions, starts: Sequence[str]) -> Scope:
    mode: Mode = "domain" if options.subdomains else options.scope  # type: ignore[assignment]
    return Scope(mode=mode, sites=tuple(starts), include=options.include, exclude=options.exclude)


async def prepare(options: LinksOptions, urls: Sequence[str], database: str, *, durable: bool) -> Prepared:
    """Open or resume the store and put the start in it. Raises UsageError when the store holds another crawl."""
    store = open_store(database, SystemClock(), durable=durable)
    try:
        known = await store.get_meta("starts")
        starts = _agreed_starts(known, urls, database)
        exemptions = await _agreed_exemptions(store, known, starts)
        scope = await _agreed_scope(store, build_scope(options, starts))
        await store.set_meta("job", "links")
        await store.set_meta("exemptions", json.dumps(exemptions.to_list()))
        await store.recover()
        if known is None:
            gate = Gate(scope, check_external=options.check, follow=not options.list, trap_cap=options.trap_limit)
            await store.add([gate.seed(url) for url in starts], seed=True)
            # Last: a process that was killed before it begins anew.
            await store.set_meta("starts", json.dumps(starts))
        else:
            await store.widen(options.depth)
    finally:
        await store.close()
    plan = _plan(options, scope, access_for(options, exemptions, starts), database, durable)
    return Prepared(plan=plan, starts=starts, resumed=known is not None)


def _agreed_starts(known: str | None, urls: Sequence[str], database: str) -> tuple[str, ...]:
    starts = tuple(dict.fromkeys(typed(url) for url in urls))
    if known is None:
        if not starts:
            raise UsageError("There is no URL to start from: give one, such as https://example.com/.")
        return starts
    stored = tuple(json.loads(known))
    if starts and starts != stored:
        raise UsageError(f"{database} holds the crawl of {stored[0]}: give that URL to resume it, or another --state file.")
    return stored


async def _agreed_exemptions(store: CrawlStore, known: str | None, starts: Sequence[str]) -> Exemptions:
    """Decided once, when the crawl begins: a name that was public then is not let through as a private one later."""
    if known is not None:
        return Exemptions.from_list(json.loads(await store.get_meta("exemptions") or "[]"))
    names = Names(SystemClock())
    try:
        return await named_privately(starts, names)
    finally:
        await names.close()


async def _agreed_scope(store: CrawlStore, scope: Scope) -> Scope:
    """The scope of this run, on the site that the start turned out to be."""
    text = await store.get_meta("scope")
    if text is not None:
        scope = Scope(
            mode=scope.mode, sites=Scope.from_dict(json.loads(text)).sites, include=scope.include, exclude=scope.exclude
        )
    await store.set_meta("scope", json.dumps(scope.to_dict()))
    return scope


def _plan(options: LinksOptions, scope: Scope, access: Access, database: str, durable: bool) -> Plan:
    job = LinksJob(
        scope=scope,
        check_external=options.check,
        follow=not options.list,
        every_link=options.check or options.fragments,
        fragments=options.fragments,
        cleaning=Cleaning(strip_tracking=options.strip_tracking, strip_sessions=options.strip_sessions),
    )
    policy = Policy(
        delay=options.delay,
        concurrency=options.concurrency,
        timeout=options.timeout,
        max_bytes=options.max_response_size,
        budget=Budget(limit=options.limit, max_depth=options.depth, max_time=options.max_time),
        obey_robots=not options.ignore_robots,
        trap_cap=options.trap_limit,
    )
    return Plan(
        job=job,
        policy=policy,
        access=access,
        database=database,
        durable=durable,
        processes=pick_processes(options.processes, options.delay),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StartState:
    """What became of the start URLs."""

    status: str
    reason: str
    error_type: str | None


async def read_result(
    options: LinksOptions, prepared: Prepared, *, duration: float, stopped: str | None, load: bool = False
) -> CrawlResult:
    """The result of a crawl from its store. With `load` it outlives the store; else its URLs are read from there each time."""
    plan = prepared.plan
    store = open_store(plan.database, SystemClock(), durable=plan.durable)
    try:
        if await store.get_meta("starts") is None:
            raise StoreError(f"The database {plan.database} was removed or replaced while the crawl ran: run it again.")
        rules = judging(options)
        odd = await survey(store, rules)
        urls: tuple[Collection[UrlInfo], Collection[UrlInfo]]
        urls = await load_urls(store, odd) if load else stored_urls(plan.database, odd)
        # A resumed crawl took the time of all its runs.
        duration += float(await store.get_meta("seconds") or 0.0)
        await store.set_meta("seconds", str(duration))
        return await collect(store, prepared.starts[0], rules, odd, urls, duration=duration, stopped=stopped)
    finally:
        await store.close()


async def start_state(prepared: Prepared) -> StartState | None:
    """Why there is nothing, when every start failed or was refused; None when at least one was answered."""
    store = open_store(prepared.plan.database, SystemClock(), durable=prepared.plan.durable)
    try:
        worst: StartState | None = None
        async for row in store.pages():
            if row.depth > 0:
                break
            if row.url in prepared.starts:
                if row.status not in (PageStatus.ERROR, PageStatus.SKIPPED):
                    return None
                worst = worst or StartState(
                    status=row.status, reason=row.error_message or row.skip_reason or "", error_type=row.error_type
                )
        return worst
    finally:
        await store.close()
