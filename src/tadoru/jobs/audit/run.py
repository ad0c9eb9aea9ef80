"""Running an audit: from options to a plan, from a crawl that ended to one that is analysed. Command and Python API come here."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from tadoru import plugins
from tadoru.clock import SystemClock
from tadoru.engine import scout
from tadoru.engine.crawl import Ended
from tadoru.engine.gate import Gate
from tadoru.errors import UsageError, quoted
from tadoru.jobs.access import access_for, signs_in
from tadoru.jobs.audit.analyse import analyse
from tadoru.jobs.audit.context import Limits
from tadoru.jobs.audit.job import AuditJob
from tadoru.jobs.audit.site_checks import SITE_CHECKS
from tadoru.jobs.begin import (
    StartState,
    add_starts,
    agreed_exemptions,
    agreed_scope,
    apply_rules,
    keep_within,
    outcome_of,
    policy_for,
    put_starts,
    start_state,
)
from tadoru.jobs.launch import Plan, pick_processes
from tadoru.jobs.report.words import counted
from tadoru.options import AuditOptions
from tadoru.parse.extract import Extraction
from tadoru.rules.address import Exemptions
from tadoru.rules.bounds import Bounds
from tadoru.rules.scope import Scope
from tadoru.rules.url import Cleaning, typed
from tadoru.store.base import Counts
from tadoru.store.database import stamp
from tadoru.store.open import open_audit, open_existing
from tadoru.store.runs import RunOutcome
from tadoru.store.sqlite import SqliteStore
from tadoru.version import VERSION

WORTH_SAYING = 20_000
"""Pages whose analysis takes long enough to say that it goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """An audit that is set up in its database."""

    plan: Plan
    starts: tuple[str, ...]
    run: int
    resumed: bool
    recrawl: bool
    nothing_to_do: str = ""
    """Why there is nothing to request; empty when there is."""
    lacks_credentials: bool = False
    """An earlier run signed in, and this one does not: they are never kept."""


def build_scope(options: AuditOptions, starts: Sequence[str]) -> Scope:
    mode = "all" if options.follow_external_hosts else options.scope
    return Scope(mode=mode, sites=tuple(starts), include=options.include, exclude=options.exclude)  # type: ignore[arg-type]


def bounds_for(options: AuditOptions) -> Bounds:
    """What a crawl of many hosts is kept within: as the person said, or as it has to be when every host is followed."""

    def chosen(given: int | None, usual: int) -> int:
        return given if given is not None else usual if options.follow_external_hosts else 0

    return Bounds(
        pages_per_host=chosen(options.pages_per_host, 10_000),
        hosts_per_domain=chosen(options.hosts_per_domain, 100),
        queued=chosen(options.queue_limit, 1_000_000),
    )


def build_job(options: AuditOptions, scope: Scope) -> AuditJob:
    """The job that the options describe. Raises UsageError."""
    job = AuditJob(
        scope=scope,
        check_external=options.check_external,
        follow=not options.list and options.sitemap != "only",
        fragments=options.fragments,
        render=options.render,
        store_bodies=options.store_bodies,
        extractions=tuple(Extraction.parse(text) for text in options.extract),
        thresholds=(),
        plugins=(plugins.load(enabled=not options.no_plugins),),
        cleaning=Cleaning(strip_tracking=options.strip_tracking, strip_sessions=options.strip_sessions),
    )
    chosen = _thresholds(options.threshold)
    Limits([*job.catalogue.checks.values(), *SITE_CHECKS.values()], chosen)  # Refuses a name that is none.
    return replace(job, thresholds=tuple((name, chosen[name]) for name in chosen if name in job.catalogue.checks))


def _thresholds(texts: Sequence[str]) -> dict[str, float]:
    chosen = {}
    for text in texts:
        name, _, number = text.partition("=")
        try:
            chosen[name.strip()] = float(number)
        except ValueError:
            raise UsageError(f"--threshold {quoted(text)} must have the form ID=NUMBER, such as title-too-long=65.") from None
    return chosen


async def prepare(
    options: AuditOptions, urls: Sequence[str], config: dict[str, Any], allowed: Exemptions | None = None
) -> Prepared:
    """Open, join or resume the crawl and put the starts in it. `allowed`: see `agreed_exemptions`. Raises UsageError."""
    store = open_audit(options.database, SystemClock())
    try:
        stored, new = await _starts(store, urls, options)
        starts = (*stored, *new)
        exemptions = await agreed_exemptions(store, new, allowed)
        scope = await agreed_scope(store, build_scope(options, starts), new)
        job = build_job(options, scope)
        await store.install_checks(job.catalogue.checks.values(), "page", dict(job.thresholds))
        await store.recover()
        await store.lower_paces(options.delay)
        run, recrawl = await _begin(store, options, config, resumed=bool(stored))
        same = await _judged_alike(store, job, options, anew=recrawl)
        gate = Gate(scope, check_external=options.check_external, follow=job.follow, trap_cap=options.trap_limit)
        if await apply_rules(store, gate, options.depth):
            await store.reconsider_resources(scope.is_internal, externals=options.check_external)
        await keep_within(store, bounds_for(options), anew=recrawl)
        if stored and new:
            await store.recall()
        await put_starts(store, gate, starts, new)
        await _look_for_more_sitemaps(store, options, starts)
        # Last: a process that was killed before it begins anew.
        starts = await add_starts(store, new)
        if stored:
            await store.widen(options.depth)
        nothing = await _nothing_to_do(store, options)
        if not nothing:
            await store.set_meta("analysed", "")
        lacks = await _lacks_credentials(store, options)
    finally:
        await store.close()
    plan = _plan(options, job, starts, exemptions, revalidate=run > 1 and same)
    return Prepared(
        plan=plan, starts=starts, run=run, resumed=bool(stored), recrawl=recrawl, nothing_to_do=nothing, lacks_credentials=lacks
    )


async def _lacks_credentials(store: SqliteStore, options: AuditOptions) -> bool:
    if signs_in(options):
        await store.set_meta("signed_in", "yes")
    return not signs_in(options) and await store.get_meta("signed_in") is not None


async def rejoin(options: AuditOptions) -> Prepared:
    """An audit that somebody else has set up, for one more who works on it: nothing is begun, and nothing decided anew."""
    store = open_existing(options.database, SystemClock())
    try:
        starts = tuple(json.loads(await store.get_meta("starts") or "[]"))
        exemptions = Exemptions.from_list(json.loads(await store.get_meta("exemptions") or "[]"))
        job = build_job(options, Scope.from_dict(json.loads(await store.get_meta("scope") or "{}")))
        await store.install_checks(job.catalogue.checks.values(), "page", dict(job.thresholds))
        run = (await store.runs())[-1].number  # Not begun again: whoever finishes the crawl may have ended it meanwhile.
        same = await store.get_meta("revalidate") == "yes"
        nothing = await _nothing_to_do(store, options)
    finally:
        await store.close()
    plan = _plan(options, job, starts, exemptions, revalidate=run > 1 and same)
    return Prepared(plan=plan, starts=starts, run=run, resumed=True, recrawl=False, nothing_to_do=nothing)


async def take_up_what_was_put_off(options: AuditOptions) -> bool:
    """Queue URLs that had to wait because too many were queued; whether there were any."""
    store = open_existing(options.database, SystemClock())
    try:
        store.bound(bounds_for(options))
        return await store.refill() > 0
    finally:
        await store.close()


def _plan(options: AuditOptions, job: AuditJob, starts: tuple[str, ...], exemptions: Exemptions, *, revalidate: bool) -> Plan:
    policy = replace(
        policy_for(options),
        revalidate=revalidate,
        resource_budget=options.resources,
        sitemaps=options.sitemap != "off" and not options.list,
        sitemap_urls=options.sitemap_url,
        bounds=bounds_for(options),
    )
    return Plan(
        job=job,
        policy=policy,
        access=access_for(options, exemptions, starts),
        database=options.database,
        processes=pick_processes(options.processes, options.delay),
        render=options.render != "never",
    )


async def _starts(store: SqliteStore, urls: Sequence[str], options: AuditOptions) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The starts that the crawl has, and those that this run adds."""
    given = dict.fromkeys(typed(url) for url in urls)
    known = await store.get_meta("starts")
    stored = tuple(json.loads(known)) if known is not None else ()
    if not stored and not given:
        raise UsageError(
            f"There is no URL to start from, and no crawl in {options.database}: give a URL, such as https://example.com/."
        )
    if stored and (job := await store.get_meta("job")) not in (None, "audit"):
        raise UsageError(f"{options.database} holds a crawl of `tadoru {job}`: give another --database.")
    await store.set_meta("job", "audit")
    known_before = frozenset(stored)
    return stored, tuple(url for url in given if url not in known_before)


async def _begin(store: SqliteStore, options: AuditOptions, config: dict[str, Any], *, resumed: bool) -> tuple[int, bool]:
    """The number of this run, and whether it is a re-crawl that begins now."""
    now = SystemClock().now()
    if options.recrawl and resumed:
        number = await store.begin_recrawl(config, VERSION, limit=options.limit, externals=options.check_external)
        if number is not None:
            await _remember(store, config, now)
            return number, True
    number = await store.begin_run("crawl", config, VERSION)
    await _remember(store, config, now)
    return number, False


async def _remember(store: SqliteStore, config: dict[str, Any], now: float) -> None:
    if await store.get_meta("started_at") is None:
        await store.set_meta("started_at", stamp(now))
    await store.set_meta("config", json.dumps(config, ensure_ascii=False, default=str))
    await store.set_meta("version", VERSION)


async def _judged_alike(store: SqliteStore, job: AuditJob, options: AuditOptions, *, anew: bool) -> bool:
    """Whether pages were judged as they would be now: if not, also those that did not change have to be read again.

    Decided when a re-crawl begins, so that one that is resumed goes on as it began.
    """
    words = [VERSION, *sorted(job.catalogue.checks), *map(str, sorted(job.thresholds)), *options.extract, options.render]
    words += [str(options.store_bodies), str(options.fragments)]
    fingerprint = sha256("\n".join(words).encode()).hexdigest()
    if anew or await store.get_meta("judged_by") is None:
        same = await store.get_meta("judged_by") == fingerprint
        await store.set_meta("judged_by", fingerprint)
        await store.set_meta("revalidate", "yes" if same else "no")
    return await store.get_meta("revalidate") == "yes"


async def _look_for_more_sitemaps(store: SqliteStore, options: AuditOptions, starts: Sequence[str]) -> None:
    """Sitemaps are read once, for the starts there are: with another start or another sitemap there is more to read."""
    sources = json.dumps([starts[: scout.MOST_SITES], options.sitemap_url])
    if await store.get_meta("sitemap_sources") != sources:
        await store.repeat_chore(scout.CHORE)
        await store.set_meta("sitemap_sources", sources)


async def _nothing_to_do(store: SqliteStore, options: AuditOptions) -> str:
    """Why a run would request nothing."""
    counts: Counts = await store.counts()
    if options.limit and counts.counted >= options.limit:
        return f"the limit of {counted(options.limit, 'page')} is reached: raise --limit, or --recrawl"
    return ""


async def finish(
    options: AuditOptions, prepared: Prepared, ended: Ended, seconds: float, note: Callable[[str], None] | None = None
) -> bool:
    """Analyse what was crawled, unless it was interrupted or others are still at it; whether that was done."""
    store = open_audit(options.database, SystemClock())
    try:
        total = seconds + float(await store.get_meta("seconds") or 0.0)
        await store.set_meta("seconds", f"{total:.3f}")
        if await store.get_meta("starts") is None:
            raise UsageError(f"The database {options.database} was removed or replaced while the crawl ran: run it again.")
        outcome = outcome_of(ended)
        if outcome is RunOutcome.INTERRUPTED or await store.has_workers():
            await store.end_run(prepared.run, outcome, None)
            return False
        if not prepared.nothing_to_do:
            await store.set_meta("analysed", "")  # Somebody who was at it when this run began may have said so since.
        await ensure_analysed(store, options.threshold, note)
        score = await store.get_meta("score")
        await store.end_run(prepared.run, outcome, float(score) if score else None)
        await store.set_meta("finished_at", stamp(SystemClock().now()))
        return True
    finally:
        await store.close()


async def starts_of(prepared: Prepared) -> StartState | None:
    """Why there is nothing, when there is nothing."""
    store = open_audit(prepared.plan.database, SystemClock())
    try:
        return await start_state(store)
    finally:
        await store.close()


async def ensure_analysed(store: SqliteStore, thresholds: Sequence[str] = (), note: Callable[[str], None] | None = None) -> None:
    """Run what needs the whole site, when something was crawled since it last ran."""
    if await store.get_meta("analysed"):
        return
    if note is not None and (await store.counts()).counted > WORTH_SAYING:
        note("Looking at the site as a whole ...")
    chosen = _of_site(_thresholds(thresholds))
    await store.install_checks(SITE_CHECKS.values(), "site", chosen)
    before = await store.counts()
    await store.retire()
    await analyse(store, Limits(SITE_CHECKS.values(), chosen))
    await store.settle()
    # Somebody may have crawled on meanwhile: then this was not the last word.
    is_all = await store.counts() == before
    await store.set_meta("analysed", stamp(SystemClock().now()) if is_all else "")


async def analyse_left_over(store: SqliteStore) -> None:
    """What a crawl that was stopped could not do itself, done when somebody asks for its results and nobody works on it."""
    if await store.get_meta("job") == "audit" and not await store.get_meta("analysed") and not await store.has_workers():
        config = json.loads(await store.get_meta("config") or "{}")
        await ensure_analysed(store, config.get("threshold") or ())


def _of_site(chosen: dict[str, float]) -> dict[str, float]:
    return {name: value for name, value in chosen.items() if name in SITE_CHECKS}
