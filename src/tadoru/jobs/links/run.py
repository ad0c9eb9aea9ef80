"""Running the job: from options to a plan, from a stored crawl to its result. The command and the Python API both come here."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from tadoru.clock import SystemClock
from tadoru.engine.gate import Gate
from tadoru.errors import StoreError, UsageError
from tadoru.jobs.access import access_for
from tadoru.jobs.begin import StartState, agreed_exemptions, agreed_scope, apply_rules, policy_for, put_starts, start_state
from tadoru.jobs.launch import Access, Plan, pick_processes
from tadoru.jobs.links.broken import AcceptedCodes, compile_patterns
from tadoru.jobs.links.collect import Judging, collect, load_urls, survey
from tadoru.jobs.links.job import LinksJob
from tadoru.jobs.links.result import CrawlResult, UrlInfo
from tadoru.jobs.links.stream import stored_urls
from tadoru.options import LinksOptions
from tadoru.rules.address import Exemptions
from tadoru.rules.scope import Mode, Scope
from tadoru.rules.url import Cleaning, typed
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


async def prepare(
    options: LinksOptions, urls: Sequence[str], database: str, *, durable: bool, allowed: Exemptions | None = None
) -> Prepared:
    """Open or resume the store and put the start in it. `allowed`: see `agreed_exemptions`.

    Raises UsageError when the store holds another crawl.
    """
    store = open_store(database, SystemClock(), durable=durable)
    try:
        known = await store.get_meta("starts")
        if known is not None and (job := await store.get_meta("job")) != "links":
            raise UsageError(f"{database} holds a crawl of `tadoru {job}`: give another --state file.")
        starts = _agreed_starts(known, urls, database)
        exemptions = await agreed_exemptions(store, starts if known is None else (), allowed)
        scope = await agreed_scope(store, build_scope(options, starts))
        await store.set_meta("job", "links")
        await store.recover()
        await store.lower_paces(options.delay)
        gate = Gate(scope, check_external=options.check, follow=not options.list, trap_cap=options.trap_limit)
        await apply_rules(store, gate, options.depth)
        await put_starts(store, gate, starts, starts if known is None else ())
        if known is None:
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


def _plan(options: LinksOptions, scope: Scope, access: Access, database: str, durable: bool) -> Plan:
    job = LinksJob(
        scope=scope,
        check_external=options.check,
        follow=not options.list,
        every_link=options.check or options.fragments,
        fragments=options.fragments,
        cleaning=Cleaning(strip_tracking=options.strip_tracking, strip_sessions=options.strip_sessions),
    )
    return Plan(
        job=job,
        policy=policy_for(options),
        access=access,
        database=database,
        durable=durable,
        processes=pick_processes(options.processes, options.delay),
    )


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


async def starts_of(prepared: Prepared) -> StartState | None:
    """Why there is nothing, when there is nothing."""
    store = open_store(prepared.plan.database, SystemClock(), durable=prepared.plan.durable)
    try:
        return await start_state(store)
    finally:
        await store.close()
