"""The use case of the job: an audit from its options to the analysis of the crawl; and the Python API `tadoru.audit()`."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tadoru import plugins
from tadoru.clock import SystemClock
from tadoru.config.options import AuditOptions
from tadoru.config.resolve import shown_values
from tadoru.engine import sitemap_discovery
from tadoru.engine.crawl import CrawlOutcome
from tadoru.engine.notifications import Notify
from tadoru.engine.url_filter import UrlFilter
from tadoru.errors import Message, UsageError, quoted
from tadoru.fetch.base import BrowserOptions
from tadoru.jobs import crawl_setup
from tadoru.jobs.audit import coverage
from tadoru.jobs.audit.catalogue import SITE_WIDE_CHECKS
from tadoru.jobs.audit.context import Limits
from tadoru.jobs.audit.job import AuditJob
from tadoru.jobs.audit.score import SCORE_VERSION, compute_score
from tadoru.jobs.audit.site_checks import GROUPS, SITE_CHECKS
from tadoru.jobs.audit.site_checks.duplicates import NEAR
from tadoru.jobs.launch import CrawlPlan
from tadoru.model.finding import Check, Finding
from tadoru.model.web import EVERY_BOT
from tadoru.parse.extract import Extraction
from tadoru.parse.html import is_selector
from tadoru.rules.address import Exemptions
from tadoru.rules.budget import BreadthLimits
from tadoru.rules.scope import Scope
from tadoru.rules.url import parse_typed_url
from tadoru.store.crawl.crawl_database import CrawlDatabase
from tadoru.store.crawl.open import open_beside, open_existing, open_store
from tadoru.store.crawl.records import CrawlCounts
from tadoru.store.crawl.runs import RunOutcome
from tadoru.store.crawl.sqlite.database import stamp


async def analyse(
    store: CrawlDatabase, limits: Limits, *, enabled: Collection[str] = (), notify: Callable[[str], None] = lambda step: None
) -> float | None:
    """Run the site checks and store the results. Returns the health score, None if no page responded.

    `limits` holds the thresholds of the site checks. `enabled`: checks that run although they are off by default. `notify` is
    called after each step. Call `analyse` before `settle`, which chooses parents by depth. Calling it again replaces the earlier
    results.
    """
    view = store.analysis.site_view(likeness=limits[NEAR] / 100)
    disabled = {check.id for check in SITE_CHECKS.values() if check.is_off} - {*enabled}
    with store.snapshot():  # Another worker may add pages meanwhile.
        wanted = store.analysis.begin_site_findings() - disabled
        for group in GROUPS:
            findings = (finding for finding in group.run(view, limits) if finding.check_id in wanted)
            store.analysis.put_site_findings(findings)
            notify(group.name)
            await store.db.clock.sleep(0)
        view.compute_figures()
    await store.analysis.keep_analysis(view)
    await store.meta.set(coverage.META_KEY, coverage.encode(coverage.find_skipped_checks(view)))
    notify("written")
    result = compute_score(await store.analysis.health(view))
    await store.analysis.keep_score(result, SCORE_VERSION)
    notify("scored")
    return result


LARGE_CRAWL = 20_000
"""Number of pages from which the analysis takes long enough to announce it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditResult:
    """An audited crawl. Everything is in its database; this class reads the main results."""

    database: str
    score: float | None
    """Health score from 0 to 100; None if the crawl was stopped before the analysis."""
    pages: int
    """Number of crawled pages."""
    stopped: bool
    """Whether the crawl ended early, for example by its time limit."""

    def checks(self) -> list[Check]:
        """The checks of the crawl."""
        store = open_existing(self.database, SystemClock())
        return [stored.check for stored in store.findings.stored_checks()]

    def findings(self, *, severity: str | None = None, check: str | None = None) -> Iterator[Finding]:
        """The findings, streamed from the database."""
        store = open_existing(self.database, SystemClock())
        wanted = {
            stored.number: stored.check.id
            for stored in store.findings.stored_checks()
            if severity in (None, stored.check.severity) and check in (None, stored.check.id)
        }
        for row in store.findings.found(list(wanted)):
            yield Finding(wanted[row.check_number], row.url, row.detail, row.data)


def bounds_for(options: AuditOptions) -> BreadthLimits:
    """The limits of a crawl of many hosts: those of the options, or defaults if every host is followed."""

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
        enabled=options.enable,
        bots=frozenset({EVERY_BOT, *options.search_bots.split(",")} - {"none"}),
        cleaning=crawl_setup.build_cleaner(options),
    )
    if options.wait_for is not None and not is_selector(options.wait_for):
        raise UsageError("--wait-for {selector} is not a CSS selector.", selector=quoted(options.wait_for))
    known = {**job.catalogue.checks, **SITE_CHECKS}
    for name in options.enable:
        if name not in known:
            raise UsageError("--enable {name} is not the id of a check.", name=quoted(name))
    chosen = _parse_thresholds(options.threshold)
    Limits([*job.catalogue.checks.values(), *SITE_CHECKS.values()], chosen)  # Raises an error for an unknown name.
    return replace(job, thresholds=tuple((name, chosen[name]) for name in chosen if name in job.catalogue.checks))


def _parse_thresholds(texts: Sequence[str]) -> dict[str, float]:
    chosen = {}
    for text in texts:
        name, _, number = text.partition("=")
        try:
            chosen[name.strip()] = float(number)
        except ValueError:
            raise UsageError(
                "--threshold {value} must have the form ID=NUMBER, such as title-too-long=65.", value=quoted(text)
            ) from None
    return chosen


@dataclass(frozen=True, slots=True)
class AuditCrawl(crawl_setup.SiteCrawl[AuditResult]):
    """A crawl of an audit."""

    options: AuditOptions
    urls: Sequence[str] = ()
    config: Mapping[str, Any] = field(default_factory=dict)
    """The options as they are stored with the crawl, without secrets."""
    allowed: Exemptions | None = None
    """See `resolve_exemptions`."""
    note: Callable[[str], None] | None = None
    """Called with what takes long."""

    async def prepare(self) -> crawl_setup.PreparedCrawl:
        options = self.options
        store = await crawl_setup.open_for_run(options.database)
        try:
            stored, new = await _read_starts(store, self.urls, options)
            scope, exemptions = await crawl_setup.recover_crawl(store, options, (*stored, *new), new, self.allowed)
            job = build_job(options, scope)
            await store.checks.install(job.catalogue.page_checks, "page", dict(job.thresholds))
            await store.meta.set("search_bots", json.dumps(sorted(job.bots)))
            await store.meta.set("enabled_checks", json.dumps(list(options.enable)))
            if await store.meta.get("started_at") is None:
                await store.meta.set("started_at", stamp(SystemClock().now()))
            run, recrawl = await crawl_setup.begin_run(
                store,
                self.config,
                recrawl=options.recrawl and bool(stored),
                limit=options.limit,
                externals=options.check_external,
            )
            same = await crawl_setup.is_read_alike(store, "judged_by", _reading_settings(options, job), anew=recrawl)
            url_filter = UrlFilter(scope, check_external=options.check_external, follow=job.follow, trap_cap=options.trap_limit)
            if await crawl_setup.apply_rules(store, url_filter, options.depth):
                await store.resources.reconsider(scope.is_internal, externals=options.check_external)
            await crawl_setup.apply_limits(store, bounds_for(options), restarted=recrawl)
            if stored and new:
                await store.stale_pages.recall()
            await _repeat_sitemap_discovery(store, options, (*stored, *new))
            starts = await crawl_setup.queue_start_urls(store, url_filter, (*stored, *new), new, options.depth)
            nothing = await _why_nothing_to_do(store, options)
            if not nothing:
                await store.meta.set("analysed", "")
            if crawl_setup.uses_credentials(options):
                await store.meta.set("signed_in", "yes")
            lacks = not crawl_setup.uses_credentials(options) and await store.meta.get("signed_in") is not None
        finally:
            await store.close()
        return crawl_setup.PreparedCrawl(
            plan=_build_plan(options, job, starts, exemptions, revalidate=run > 1 and same), starts=starts, run=run,
            resumed=bool(stored), recrawl=recrawl, nothing_to_do=nothing, lacks_credentials=lacks,
        )  # fmt: skip

    async def join(self) -> crawl_setup.PreparedCrawl:
        """The crawl as another worker has prepared it, for one more worker: no run is started and no setting is changed."""
        options = self.options
        store = await open_beside(options.database, SystemClock(), new=False)
        try:
            starts = tuple(json.loads(await store.meta.get("starts") or "[]"))
            exemptions = Exemptions.from_list(json.loads(await store.meta.get("exemptions") or "[]"))
            job = build_job(options, Scope.from_dict(json.loads(await store.meta.get("scope") or "{}")))
            await store.checks.install(job.catalogue.page_checks, "page", dict(job.thresholds))
            # No new run: the worker that finishes the crawl may have ended it meanwhile.
            run = (await store.runs.all())[-1].number
            same = await store.meta.get("revalidate") == "yes"
            nothing = await _why_nothing_to_do(store, options)
        finally:
            await store.close()
        plan = _build_plan(options, job, starts, exemptions, revalidate=run > 1 and same)
        return crawl_setup.PreparedCrawl(plan=plan, starts=starts, run=run, resumed=True, nothing_to_do=nothing)

    async def finish(
        self, prepared: crawl_setup.PreparedCrawl, ended: CrawlOutcome, seconds: float
    ) -> crawl_setup.FinishedCrawl[AuditResult]:
        """Analyse the crawl, unless it was interrupted or other workers are still active."""
        database = self.options.database
        store = open_store(database, SystemClock())
        try:
            total = seconds + float(await store.meta.get("seconds") or 0.0)
            await store.meta.set("seconds", f"{total:.3f}")
            if await store.meta.get("starts") is None:
                raise UsageError(
                    "The database {database} was removed or replaced during the crawl. Rerun the command.", database=database
                )
            outcome = crawl_setup.run_outcome(ended)
            is_complete = outcome is not RunOutcome.INTERRUPTED and not await store.frontier.has_workers()
            score = None
            if is_complete:
                if not prepared.nothing_to_do:
                    await store.meta.set("analysed", "")  # Another worker may have set it since this run started.
                await ensure_analysed(store, self.options.threshold, self.note)
                score = await store.meta.get("score")
                await store.meta.set("finished_at", stamp(SystemClock().now()))
            await store.runs.end(prepared.run, outcome, float(score) if score else None, seconds=seconds)
            score = await store.meta.get("score")
            pages = (await store.frontier.counts()).counted
            result = AuditResult(database=database, score=float(score) if score else None, pages=pages, stopped=ended.stopped)
            start = await crawl_setup.start_failure(store)
            return crawl_setup.FinishedCrawl(prepared=prepared, ended=ended, result=result, start=start, is_complete=is_complete)
        finally:
            await store.close()


_READING = "2"
"""Raised when the records of an unchanged page would be different."""


def _reading_settings(options: AuditOptions, job: AuditJob) -> list[str]:
    """What the findings of a page depend on."""
    settings = [
        _READING,
        *sorted(job.catalogue.checks),
        *options.enable,
        *map(str, sorted(job.thresholds)),
        *options.extract,
        *([options.render, str(options.render_wait), options.wait_for or ""] if options.render != "never" else []),
    ]
    return [*settings, str(options.store_bodies), str(options.fragments), *sorted(job.bots)]


async def queue_deferred_urls(options: AuditOptions) -> bool:
    """Queue URLs that were deferred by the queue limit. Returns whether there were any."""
    store = open_existing(options.database, SystemClock())
    try:
        store.limits.set(bounds_for(options))
        return await store.limits.refill() > 0
    finally:
        await store.close()


def _build_plan(
    options: AuditOptions, job: AuditJob, starts: tuple[str, ...], exemptions: Exemptions, *, revalidate: bool
) -> CrawlPlan:
    policy = {
        "revalidate": revalidate,
        "resource_budget": options.resources,
        "declared_targets": True,
        "external_fragments": options.fragments and options.check_external,
        "sitemaps": options.sitemap != "off" and not options.list,
        "sitemap_urls": options.sitemap_url,
        "bounds": bounds_for(options),
    }
    rendering = BrowserOptions(quiet=options.render_wait, wait_for=options.wait_for or "")
    render = options.render != "never"
    return crawl_setup.build_plan(options, job, starts, exemptions, options.database, policy, render=render, rendering=rendering)


async def _read_starts(
    store: CrawlDatabase, urls: Sequence[str], options: AuditOptions
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The start URLs of the crawl, and those that this run adds."""
    given = dict.fromkeys(parse_typed_url(url) for url in urls)
    known = await store.meta.get("starts")
    stored = tuple(json.loads(known)) if known is not None else ()
    if not stored and not given:
        raise UsageError(
            "No start URL given, and {database} contains no crawl. Give a URL, such as https://example.com/.",
            database=options.database,
        )
    if stored and (job := await store.meta.get("job")) not in (None, "audit"):
        raise UsageError(
            "{database} contains a crawl of `tadoru {job}`. Choose another --database.", database=options.database, job=job
        )
    await store.meta.set("job", "audit")
    known_before = frozenset(stored)
    return stored, tuple(url for url in given if url not in known_before)


async def _repeat_sitemap_discovery(store: CrawlDatabase, options: AuditOptions, starts: Sequence[str]) -> None:
    """Read the sitemaps again if there are new start URLs or sitemap URLs; otherwise they are read once."""
    sources = json.dumps([starts[: sitemap_discovery.MAX_SITES], options.sitemap_url])
    if await store.meta.get("sitemap_sources") != sources:
        await store.tasks.repeat(sitemap_discovery.TASK_NAME)
        await store.meta.set("sitemap_sources", sources)


async def _why_nothing_to_do(store: CrawlDatabase, options: AuditOptions) -> str:
    """Why a run would request nothing; empty if it would."""
    counts: CrawlCounts = await store.frontier.counts()
    if options.limit and counts.counted >= options.limit:
        return Message("the page limit of {limit} is reached: raise --limit, or use --recrawl", limit=f"{options.limit:,}")
    return ""


async def ensure_analysed(
    store: CrawlDatabase, thresholds: Sequence[str] = (), note: Callable[[str], None] | None = None
) -> None:
    """Analyse the site if pages were crawled since the last analysis."""
    if await store.meta.get("analysed"):
        return
    if note is not None and (await store.frontier.counts()).counted > LARGE_CRAWL:
        note(Message("Analysing the site…"))
    chosen = _parse_thresholds(thresholds)
    enabled = json.loads(await store.meta.get("enabled_checks") or "[]")
    await store.checks.install(_site_checks(enabled), "site", chosen)
    await store.graph.complete()
    before = await store.frontier.counts()
    await store.stale_pages.retire()
    of_site = {name: value for name, value in chosen.items() if name in SITE_CHECKS}
    await analyse(store, Limits(SITE_CHECKS.values(), of_site), enabled=enabled)
    await store.graph.settle()
    # If another worker crawled more pages meanwhile, the analysis has to be repeated.
    is_all = await store.frontier.counts() == before
    await store.meta.set("analysed", stamp(SystemClock().now()) if is_all else "")


async def analyse_stopped_crawl(store: CrawlDatabase) -> None:
    """Analyse a crawl that was stopped before its analysis, unless workers are active."""
    if await store.meta.get("job") == "audit" and not await store.meta.get("analysed") and not await store.frontier.has_workers():
        config = json.loads(await store.meta.get("config") or "{}")
        await ensure_analysed(store, config.get("threshold") or ())


def _site_checks(enabled: Collection[str]) -> list[Check]:
    """The checks that are reported for the whole site, or found out by comparing its pages."""
    running = (check for check in SITE_CHECKS.values() if not check.merged_into and (not check.is_off or check.id in enabled))
    return [*running, *SITE_WIDE_CHECKS.values()]


def audit(url: str | None = None, *, notify: Notify | None = None, **options: Any) -> AuditResult:
    """Audit a site into a database. Options are those of `tadoru audit` (`database="site.db", limit=500, …`).

    Without a URL it resumes the crawl in the database, with its options where none are given. Problems of the site are in the
    result; a `tadoru.errors.UsageError` means that the call is invalid.
    """
    return crawl_setup.run_outside_loop("audit", lambda: audit_async(url, notify=notify, **options))


async def audit_async(url: str | None = None, *, notify: Notify | None = None, **options: Any) -> AuditResult:
    """The same as a coroutine. Cancelling it stops the crawl; calling it again resumes it."""
    chosen = crawl_setup.parse_options("audit", AuditOptions, options)
    if url is None:
        chosen = crawl_setup.parse_options(
            "audit", AuditOptions, crawl_setup.read_stored_options("audit", chosen.database) | options
        )
    crawl = AuditCrawl(chosen, [url] if url is not None else chosen.seed_urls, shown_values(chosen, "audit"))
    return (await crawl.run(notify)).result
