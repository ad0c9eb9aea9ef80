"""The use case of the job: a crawl of links from its options to its result; and the Python API `tadoru.links()`.

The file of `--cache` has a JSON object a line, with the URL of an external link, its result and when it was requested. Without
`--cache-failures` it has only URLs that respond with an accepted status, and redirects: a link that failed is requested again.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tadoru.clock import SystemClock
from tadoru.config.options import LinksOptions
from tadoru.config.parsers import link_kinds
from tadoru.config.resolve import shown_values
from tadoru.engine.crawl import CrawlOutcome
from tadoru.engine.job import KnownCheck
from tadoru.engine.notifications import Notify
from tadoru.engine.url_filter import UrlFilter
from tadoru.errors import Message, StoreError, UsageError, reading_errors
from tadoru.i18n.translation import N_
from tadoru.jobs import crawl_setup
from tadoru.jobs.links.broken import MALFORMED_CHECK, AcceptedCodes, compile_patterns
from tadoru.jobs.links.job import STYLE_TYPE, LinksJob
from tadoru.jobs.links.local_input import FILES_BASE, LocalInput, find_local_input
from tadoru.jobs.links.result import CrawlResult, UrlInfo
from tadoru.jobs.links.result_reader import BrokenLinkRules, load_urls, read_crawl_result, read_problem_pages, stored_urls
from tadoru.jobs.reporting.escape import encode_json
from tadoru.jobs.reporting.output import open_output
from tadoru.model.web import FOLLOWED, FailureKind, LinkKind
from tadoru.parse.html import HTML_TYPES
from tadoru.rules.address import Exemptions
from tadoru.rules.static_site import MARKDOWN_TYPE
from tadoru.rules.url import UrlRemaps, parse_typed_url, remap_url
from tadoru.store.crawl.crawl_database import CrawlDatabase
from tadoru.store.crawl.open import open_store
from tadoru.store.crawl.records import UrlPurpose
from tadoru.store.crawl.runs import RunOutcome

KnownChecks = Mapping[str, KnownCheck]


def read_checks(name: str, oldest: float) -> dict[str, KnownCheck]:
    """The results in a file that were requested at `oldest` or later; none if there is no file. Raises UsageError."""
    if not Path(name).exists():
        return {}
    with reading_errors(name):
        lines = Path(name).read_text(encoding="utf-8", errors="replace").splitlines()
    found: dict[str, KnownCheck] = {}
    for number, line in enumerate(lines, 1):
        try:
            url, known = _parse_line(line)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise UsageError(
                "{file}, line {line}: not a result of an external link. Choose another --cache file, or delete it.",
                file=name,
                line=number,
            ) from None
        if known.checked_at >= oldest:
            found[url] = known
    return found


def _parse_line(line: str) -> tuple[str, KnownCheck]:
    """Raises ValueError, KeyError, TypeError, AttributeError or RecursionError for a line of another file."""
    data = json.loads(line)
    url = data.pop("url")
    known = KnownCheck(**data)
    if not isinstance(url, str) or not isinstance(known.checked_at, int | float):
        raise TypeError
    if not all(text is None or isinstance(text, str) for text in known[2:]) or not isinstance(known.status_code, int | None):
        raise TypeError
    if known.status_code is None:
        FailureKind(known.error_type or "")  # A status or the name of a failure.
    return url, known


async def write_checks(name: str, store: CrawlDatabase, known: KnownChecks, accepted: AcceptedCodes, *, failures: bool) -> None:
    """Writes the results that were known, with their times, and those of the external URLs that this crawl requested."""
    checks = dict(known)
    for resource in await store.resources.external():
        # Without the URL at the end of its redirects: a link to the same URL follows them itself.
        check = KnownCheck(
            checked_at=resource.checked_at.timestamp(),
            status_code=resource.status_code,
            content_type=resource.content_type,
            error_type=resource.error_type,
            error_message=resource.error_message,
        )
        _add(checks, resource.url, check, accepted, failures=failures)
    async for row in store.graph.pages():
        if row.purpose == UrlPurpose.CHECK and not row.internal and row.crawled_at is not None:
            check = KnownCheck(
                checked_at=row.crawled_at.timestamp(),
                status_code=row.status_code,
                content_type=row.content_type,
                redirect_url=row.redirect_url,
                error_type=row.error_type,
                error_message=row.error_message,
            )
            _add(checks, row.url, check, accepted, failures=failures)
    with open_output(name) as out:
        out.writelines(encode_json({"url": url, **checks[url]._asdict()}) + "\n" for url in sorted(checks))


def _add(checks: dict[str, KnownCheck], url: str, check: KnownCheck, accepted: AcceptedCodes, *, failures: bool) -> None:
    """Adds a result that is not known, if it is good or failures are kept too."""
    responded = check.status_code is not None and check.error_type is None
    is_good = responded and (check.redirect_url is not None or accepted.accepts(check.status_code or 0, url))
    if url not in checks and (is_good or (failures and (responded or check.error_type is not None))):
        checks[url] = check


MAX_RESOURCES = 1_000_000
"""Images, scripts and so on that are checked after the pages."""


def broken_link_rules(options: LinksOptions) -> BrokenLinkRules:
    """Which links count as broken. Raises UsageError."""
    return BrokenLinkRules(
        accepted=AcceptedCodes.parse(options.accept),
        ignore=compile_patterns(options.ignore),
        fragments=options.fragments,
        kinds=link_kinds(options.kinds),
    )


@dataclass(frozen=True, slots=True)
class LinksCrawl(crawl_setup.SiteCrawl[CrawlResult]):
    """A crawl of links."""

    options: LinksOptions
    urls: Sequence[str]
    database: str
    durable: bool = True
    """False for a database that is not kept."""
    allowed: Exemptions | None = None
    """See `resolve_exemptions`."""
    load: bool = False
    """Whether the result has its URLs in memory; else they are read from the database each time."""
    local: LocalInput | None = None
    """The files that are checked instead of URLs."""

    async def prepare(self) -> crawl_setup.PreparedCrawl:
        database, local = self.database, self.local
        options = self.options if local is None else local.options(self.options)
        store = await crawl_setup.open_for_run(database, durable=self.durable)
        try:
            known = await store.meta.get("starts")
            if known is not None and (stored_job := await store.meta.get("job")) != "links":
                raise UsageError(
                    "{database} contains a crawl of `tadoru {job}`. Choose another --state file.",
                    database=database,
                    job=stored_job,
                )
            urls = self.urls if local is None else local.documents
            starts = _resolve_start_urls(known, urls, database, crawl_setup.parse_remaps(options), is_local=local is not None)
            new = starts if known is None else ()
            if local is None:
                scope, exemptions = await crawl_setup.recover_crawl(store, options, starts, new, self.allowed)
            else:
                # One site instead of thousands: each worker holds the scope.
                scope, exemptions = await crawl_setup.recover_crawl(store, options, [local.root_url], [], self.allowed)
            run, recrawl = await crawl_setup.begin_run(
                store,
                shown_values(self.options, "links"),
                recrawl=options.recrawl and known is not None,
                limit=options.limit,
                externals=options.check,
            )
            if recrawl:
                await store.meta.set("seconds", "0")
            await store.meta.set("job", "links")
            await store.checks.install([MALFORMED_CHECK], "page")
            url_filter = UrlFilter(scope, check_external=options.check, follow=not options.list, trap_cap=options.trap_limit)
            await crawl_setup.apply_rules(store, url_filter, options.depth)
            await crawl_setup.queue_start_urls(store, url_filter, starts, new, options.depth)
        finally:
            await store.close()
        cleaner = crawl_setup.build_cleaner(options) if local is None else local.cleaner(crawl_setup.build_cleaner(options))
        kinds = link_kinds(options.kinds) | FOLLOWED if local is not None or options.check else FOLLOWED
        job = LinksJob(
            scope=scope,
            check_external=options.check,
            follow=not options.list,
            fragments=options.fragments,
            only_starts=local is not None,
            kinds=kinds,
            cleaning=cleaner,
            body_types=_body_types(kinds, local),
        )
        known_checks = read_checks(options.cache, SystemClock().now() - options.max_age) if options.cache else {}
        budget = MAX_RESOURCES if kinds != FOLLOWED else 0
        policy = {"known_checks": known_checks, "resource_budget": budget, "remaps": cleaner.remaps}
        plan = crawl_setup.build_plan(options, job, starts, exemptions, database, policy, durable=self.durable)
        if local is not None:
            plan = local.plan(plan, options.processes)
        return crawl_setup.PreparedCrawl(plan=plan, starts=starts, run=run, resumed=known is not None, recrawl=recrawl)

    async def finish(
        self, prepared: crawl_setup.PreparedCrawl, ended: CrawlOutcome, seconds: float
    ) -> crawl_setup.FinishedCrawl[CrawlResult]:
        """Read the result of the crawl, also of one that was interrupted."""
        store = open_store(self.database, SystemClock(), durable=self.durable)
        try:
            if await store.meta.get("starts") is None:
                raise StoreError(
                    "The database {database} was removed or replaced during the crawl. Rerun the command.", database=self.database
                )
            if crawl_setup.run_outcome(ended) is not RunOutcome.INTERRUPTED:
                await store.stale_pages.retire()
            await store.runs.end(prepared.run, crawl_setup.run_outcome(ended), None)
            rules = broken_link_rules(self.options)
            problems = await read_problem_pages(store, rules)
            urls: tuple[Collection[UrlInfo], Collection[UrlInfo]]
            urls = await load_urls(store, problems) if self.load else stored_urls(self.database, problems)
            if self.options.cache:
                known = prepared.plan.policy.known_checks
                await write_checks(self.options.cache, store, known, rules.accepted, failures=self.options.cache_failures)
            # The duration of a resumed crawl is that of all its runs.
            seconds += float(await store.meta.get("seconds") or 0.0)
            await store.meta.set("seconds", str(seconds))
            stopped = _stop_reason(ended, self.options.limit)
            start_url = prepared.starts[0] if self.local is None else self.local.start_url
            result = await read_crawl_result(store, start_url, rules, problems, urls, duration=seconds, stopped=stopped)
            if self.local is not None:
                result = self.local.localize(result, crawl_setup.build_cleaner(self.options))
            return crawl_setup.FinishedCrawl(
                prepared=prepared, ended=ended, result=result, start=await crawl_setup.start_failure(store)
            )
        finally:
            await store.close()


def _body_types(kinds: frozenset[LinkKind], local: LocalInput | None) -> tuple[str, ...]:
    """The media types of documents whose links are read."""
    styles = (STYLE_TYPE,) if LinkKind.STYLE in kinds else ()
    return (*HTML_TYPES, *styles, *((MARKDOWN_TYPE,) if local is not None else ()))


def _stop_reason(ended: CrawlOutcome, limit: int) -> Message | None:
    """Why the crawl ended before it was complete; a value of the JSON result."""
    if ended.stopped:
        return Message("time limit") if ended.out_of_time else Message("interrupted")
    one, many = N_("limit of {limit} page"), N_("limit of {limit} pages")
    return Message(one if limit == 1 else many, limit=f"{limit:,}") if ended.limit_reached else None


def _resolve_start_urls(
    known: str | None, urls: Sequence[str], database: str, remaps: UrlRemaps, *, is_local: bool
) -> tuple[str, ...]:
    starts = tuple(dict.fromkeys(remap_url(parse_typed_url(url), remaps) for url in urls))
    if known is None:
        if not starts:
            raise UsageError("No start URL given. Add one, such as https://example.com/.")
        return starts
    stored = tuple(json.loads(known))
    if starts != stored if is_local else stored[0].startswith(f"{FILES_BASE}/"):
        raise UsageError(
            "{database} contains a check of local files. Give the same files to resume it, or choose another --state file.",
            database=database,
        )
    if starts and starts != stored:
        raise UsageError(
            "{database} contains the crawl of {url}. Use that URL to resume it, or choose another --state file.",
            database=database,
            url=stored[0],
        )
    return stored


def links(url: str, *, notify: Notify | None = None, **options: Any) -> CrawlResult:
    """Maps the links of a site, or checks those of a folder or of files.

    Options are those of `tadoru links` (`depth=2, delay=0.5, check=True, …`).

    Problems of the site are in the result; a `tadoru.errors.UsageError` means that the call was wrong.
    """
    return crawl_setup.run_outside_loop("links", lambda: links_async(url, notify=notify, **options))


async def links_async(url: str, *, notify: Notify | None = None, **options: Any) -> CrawlResult:
    """Like `links`, for a running event loop. Cancelling it stops the crawl; with `state=FILE` it can be resumed."""
    chosen = crawl_setup.parse_options("links", LinksOptions, options)
    local = find_local_input([url], chosen)
    with tempfile.TemporaryDirectory(prefix="tadoru-") as folder:
        database = chosen.state or str(Path(folder) / "links.db")
        crawl = LinksCrawl(chosen, [url], database, durable=chosen.state is not None, load=True, local=local)
        return (await crawl.run(notify)).result
