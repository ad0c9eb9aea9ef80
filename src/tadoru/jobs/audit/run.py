"""Running an audit: from options to a plan, from a crawl that ended to one that is analysed. Command and Python API come here."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from tadoru import plugins
from tadoru.clock import SystemClock
from tadoru.engine import sitemap_discovery
from tadoru.engine.crawl import CrawlOutcome
from tadoru.engine.url_filter import UrlFilter
from tadoru.errors import UsageError, quoted
from tadoru.jobs.audit.context import Limits
from tadoru.jobs.audit.job import AuditJob
from tadoru.jobs.audit.score import compute_score
from tadoru.jobs.audit.site_checks import GROUPS, SITE_CHECKS
from tadoru.jobs.audit.site_checks.duplicates import NEAR
from tadoru.jobs.crawl_setup import (
    StartFailure,
    access_for,
    add_start_urls,
    apply_limits,
    apply_rules,
    policy_for,
    queue_start_urls,
    resolve_exemptions,
    resolve_scope,
    run_outcome,
    start_failure,
    uses_credentials,
)
from tadoru.jobs.launch import CrawlPlan, pick_processes
from tadoru.jobs.reporting.formatting import format_count
from tadoru.options import AuditOptions
from tadoru.parse.extract import Extraction
from tadoru.rules.address import Exemptions
from tadoru.rules.budget import BreadthLimits
from tadoru.rules.scope import Scope
from tadoru.rules.url import UrlCleaner, parse_typed_url
from tadoru.store.crawl.database import stamp
from tadoru.store.crawl.interface import CrawlCounts
from tadoru.store.crawl.open import open_audit, open_existing
from tadoru.store.crawl.runs import RunOutcome
from tadoru.store.crawl.sqlite import SqliteStore
from tadoru.version import VERSION


async def analyse(store: SqliteStore, limits: Limits, *, notify: Callable[[str], None] = lambda step: None) -> float | None:
    """Analyse the crawl and keep the result; the health score, None when no page answered.

    `limits` holds the thresholds of the site checks. `notify` is told each step when it is done. Call it before `settle`, which
    chooses parents by depth.
    """
    view = store.site_view(likeness=limits[NEAR] / 100)
    wanted = store.begin_site_findings()
    for group in GROUPS:
        findings = (finding for finding in group.run(view, limits) if finding.check_id in wanted)
        store.put_site_findings(findings)
        notify(group.name)
        await store.clock.sleep(0)
    await store.keep_analysis(view)
    notify("written")
    result = compute_score(await store.health())
    await store.keep_score(result)
    notify("scored")
    return result


LARGE_CRAWL = 20_000
"""Pages whose analysis takes long enough to say that it goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedAudit:
    """An audit that is set up in its database."""

    plan: CrawlPlan
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


def bounds_for(options: AuditOptions) -> BreadthLimits:
    """What a crawl of many hosts is kept within: as the person said, or as it has to be when every host is followed."""

    def chosen(given: int | None, usual: int) -> int:
        return given if given is not None else usual if options.follow_external_hosts else 0

    return BreadthLimits(
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
        plugins=(plugins.load_checks(enabled=not options.no_plugins),),
        cleaning=UrlCleaner(strip_tracking=options.strip_tracking, strip_sessions=options.strip_sessions),
    )
    chosen = _parse_thresholds(options.threshold)
    Limits([*job.catalogue.checks.values(), *SITE_CHECKS.values()], chosen)  # Refuses a name that is none.
    return replace(job, thresholds=tuple((name, chosen[name]) for name in chosen if name in job.catalogue.checks))


def _parse_thresholds(texts: Sequence[str]) -> dict[str, float]:
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
) -> PreparedAudit:
    """Open, join or resume the crawl and put the starts in it. `allowed`: see `resolve_exemptions`. Raises UsageError."""
    store = open_audit(options.database, SystemClock())
    try:
        stored, new = await _read_starts(store, urls, options)
        starts = (*stored, *new)
        exemptions = await resolve_exemptions(store, new, allowed)
        scope = await resolve_scope(store, build_scope(options, starts), new)
        job = build_job(options, scope)
        await store.install_checks(job.catalogue.checks.values(), "page", dict(job.thresholds))
        await store.recover()
        await store.lower_paces(options.delay)
        run, recrawl = await _begin_run(store, options, config, resumed=bool(stored))
        same = await _uses_same_checks(store, job, options, anew=recrawl)
        gate = UrlFilter(scope, check_external=options.check_external, follow=job.follow, trap_cap=options.trap_limit)
        if await apply_rules(store, gate, options.depth):
            await store.reconsider_resources(scope.is_internal, externals=options.check_external)
        await apply_limits(store, bounds_for(options), anew=recrawl)
        if stored and new:
            await store.recall()
        await queue_start_urls(store, gate, starts, new)
        await _repeat_sitemap_discovery(store, options, starts)
        # Last: a process that was killed before it begins anew.
        starts = await add_start_urls(store, new)
        if stored:
            await store.widen(options.depth)
        nothing = await _why_nothing_to_do(store, options)
        if not nothing:
            await store.set_meta("analysed", "")
        lacks = await _lacks_credentials(store, options)
    finally:
        await store.close()
    plan = _build_plan(options, job, starts, exemptions, revalidate=run > 1 and same)
    return PreparedAudit(
        plan=plan, starts=starts, run=run, resumed=bool(stored), recrawl=recrawl, nothing_to_do=nothing, lacks_credentials=lacks
    )


async def _lacks_credentials(store: SqliteStore, options: AuditOptions) -> bool:
    if uses_credentials(options):
        await store.set_meta("signed_in", "yes")
    return not uses_credentials(options) and await store.get_meta("signed_in") is not None


async def join_audit(options: AuditOptions) -> PreparedAudit:
    """An audit that somebody else has set up, for one more who works on it: nothing is begun, and nothing decided anew."""
    store = open_existing(options.database, SystemClock())
    try:
        starts = tuple(json.loads(await store.get_meta("starts") or "[]"))
        exemptions = Exemptions.from_list(json.loads(await store.get_meta("exemptions") or "[]"))
        job = build_job(options, Scope.from_dict(json.loads(await store.get_meta("scope") or "{}")))
        await store.install_checks(job.catalogue.checks.values(), "page", dict(job.thresholds))
        run = (await store.runs())[-1].number  # Not begun again: whoever finishes the crawl may have ended it meanwhile.
        same = await store.get_meta("revalidate") == "yes"
        nothing = await _why_nothing_to_do(store, options)
    finally:
        await store.close()
    plan = _build_plan(options, job, starts, exemptions, revalidate=run > 1 and same)
    return PreparedAudit(plan=plan, starts=starts, run=run, resumed=True, recrawl=False, nothing_to_do=nothing)


async def queue_deferred_urls(options: AuditOptions) -> bool:
    """Queue URLs that had to wait because too many were queued; whether there were any."""
    store = open_existing(options.database, SystemClock())
    try:
        store.bound(bounds_for(options))
        return await store.refill() > 0
    finally:
        await store.close()


def _build_plan(
    options: AuditOptions, job: AuditJob, starts: tuple[str, ...], exemptions: Exemptions, *, revalidate: bool
) -> CrawlPlan:
    policy = replace(
        policy_for(options),
        revalidate=revalidate,
        resource_budget=options.resources,
        sitemaps=options.sitemap != "off" and not options.list,
        sitemap_urls=options.sitemap_url,
        bounds=bounds_for(options),
    )
    return CrawlPlan(
        job=job,
        policy=policy,
        access=access_for(options, exemptions, starts),
        database=options.database,
        processes=pick_processes(options.processes, options.delay),
        render=options.render != "never",
    )


async def _read_starts(store: SqliteStore, urls: Sequence[str], options: AuditOptions) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The starts that the crawl has, and those that this run adds."""
    given = dict.fromkeys(parse_typed_url(url) for url in urls)
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


async def _begin_run(store: SqliteStore, options: AuditOptions, config: dict[str, Any], *, resumed: bool) -> tuple[int, bool]:
    """The number of this run, and whether it is a re-crawl that begins now."""
    now = SystemClock().now()
    if options.recrawl and resumed:
        number = await store.begin_recrawl(config, VERSION, limit=options.limit, externals=options.check_external)
        if number is not None:
            await _save_run_details(store, config, now)
            return number, True
    number = await store.begin_run("crawl", config, VERSION)
    await _save_run_details(store, config, now)
    return number, False


async def _save_run_details(store: SqliteStore, config: dict[str, Any], now: float) -> None:
    if await store.get_meta("started_at") is None:
        await store.set_meta("started_at", stamp(now))
    await store.set_meta("config", json.dumps(config, ensure_ascii=False, default=str))
    await store.set_meta("version", VERSION)


async def _uses_same_checks(store: SqliteStore, job: AuditJob, options: AuditOptions, *, anew: bool) -> bool:
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


async def _repeat_sitemap_discovery(store: SqliteStore, options: AuditOptions, starts: Sequence[str]) -> None:
    """Sitemaps are read once, for the starts there are: with another start or another sitemap there is more to read."""
    sources = json.dumps([starts[: sitemap_discovery.MAX_SITES], options.sitemap_url])
    if await store.get_meta("sitemap_sources") != sources:
        await store.repeat_task(sitemap_discovery.TASK_NAME)
        await store.set_meta("sitemap_sources", sources)


async def _why_nothing_to_do(store: SqliteStore, options: AuditOptions) -> str:
    """Why a run would request nothing."""
    counts: CrawlCounts = await store.counts()
    if options.limit and counts.counted >= options.limit:
        return f"the limit of {format_count(options.limit, 'page')} is reached: raise --limit, or --recrawl"
    return ""


async def finish(
    options: AuditOptions, prepared: PreparedAudit, ended: CrawlOutcome, seconds: float, note: Callable[[str], None] | None = None
) -> bool:
    """Analyse what was crawled, unless it was interrupted or others are still at it; whether that was done."""
    store = open_audit(options.database, SystemClock())
    try:
        total = seconds + float(await store.get_meta("seconds") or 0.0)
        await store.set_meta("seconds", f"{total:.3f}")
        if await store.get_meta("starts") is None:
            raise UsageError(f"The database {options.database} was removed or replaced while the crawl ran: run it again.")
        outcome = run_outcome(ended)
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


async def read_start_state(prepared: PreparedAudit) -> StartFailure | None:
    """Why there is nothing, when there is nothing."""
    store = open_audit(prepared.plan.database, SystemClock())
    try:
        return await start_failure(store)
    finally:
        await store.close()


async def ensure_analysed(store: SqliteStore, thresholds: Sequence[str] = (), note: Callable[[str], None] | None = None) -> None:
    """Run what needs the whole site, when something was crawled since it last ran."""
    if await store.get_meta("analysed"):
        return
    if note is not None and (await store.counts()).counted > LARGE_CRAWL:
        note("Looking at the site as a whole ...")
    chosen = _site_thresholds(_parse_thresholds(thresholds))
    await store.install_checks(SITE_CHECKS.values(), "site", chosen)
    before = await store.counts()
    await store.retire()
    await analyse(store, Limits(SITE_CHECKS.values(), chosen))
    await store.settle()
    # Somebody may have crawled on meanwhile: then this was not the last word.
    is_all = await store.counts() == before
    await store.set_meta("analysed", stamp(SystemClock().now()) if is_all else "")


async def analyse_stopped_crawl(store: SqliteStore) -> None:
    """What a crawl that was stopped could not do itself, done when somebody asks for its results and nobody works on it."""
    if await store.get_meta("job") == "audit" and not await store.get_meta("analysed") and not await store.has_workers():
        config = json.loads(await store.get_meta("config") or "{}")
        await ensure_analysed(store, config.get("threshold") or ())


def _site_thresholds(chosen: dict[str, float]) -> dict[str, float]:
    return {name: value for name, value in chosen.items() if name in SITE_CHECKS}
