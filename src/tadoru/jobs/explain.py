"""Why a URL would or would not be crawled: applies each rule of a crawl to one URL."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tadoru.clock import SystemClock
from tadoru.config.options import AuditOptions, DocsOptions, LinksOptions
from tadoru.engine.crawl import PROBE_META as SURVEY
from tadoru.engine.request_flow import follow_redirects
from tadoru.errors import Message
from tadoru.fetch.guard import DnsCache, private_exemptions
from tadoru.i18n.stored_texts import skip_reason
from tadoru.jobs.crawl_setup import access_for, build_cleaner, build_scope, read_robots_file, robots_token
from tadoru.jobs.docs.bundle.output_folder import crawl_database_path
from tadoru.jobs.docs.content.variants import detect_edition
from tadoru.jobs.docs.run import build_job as docs_job
from tadoru.jobs.docs.run import site_folder
from tadoru.jobs.launch import build_fetcher
from tadoru.jobs.reporting.formatting import format_count
from tadoru.model.web import Request, Response
from tadoru.rules import address, robots, traps
from tadoru.rules.address import Exemptions
from tadoru.rules.scope import Admission, Scope
from tadoru.rules.url import canonical, host_key, is_ip_address, origin, parse_typed_url, split_url
from tadoru.store.crawl.open import open_store


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The decision, its reason, and the result of each rule."""

    url: str
    crawled: bool
    because: str
    rows: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        return {"url": self.url, "crawled": self.crawled, "because": self.because, **self.rows}


CrawlingOptions = LinksOptions | AuditOptions | DocsOptions
WANTED = Message("a page of the documentation")


async def explain_url(text: str, start: str | None, options: CrawlingOptions) -> Explanation:
    """Apply all rules. Only robots.txt is requested, and only if no other rule refuses the URL."""
    url = parse_typed_url(text)
    url = canonical(url, cleaning=build_cleaner(options)) or url
    starts: tuple[str, ...] = (parse_typed_url(start) if start else f"{origin(url)}/",)
    rows = {"url": url, "start": starts[0]}
    sites = starts
    database = stored_crawl(options, starts[0])
    if database is not None:
        starts, sites = await _stored(url, database, starts, rows)
    if isinstance(options, DocsOptions):
        variant = await _variant(url, starts, options, database)
        rows["variant"] = skip_reason(variant) if variant else WANTED
    verdict = await _apply_rules(url, build_scope(options, sites), starts, options, rows)
    return Explanation(url=url, crawled=verdict is None, because=verdict or Message("all rules allow it"), rows=rows)


def stored_crawl(options: CrawlingOptions, start: str) -> str | None:
    """The database of a stored crawl, if there is one."""
    if isinstance(options, LinksOptions):
        return options.state
    database = crawl_database_path(site_folder(options, start)) if isinstance(options, DocsOptions) else Path(options.database)
    return str(database) if database.is_file() else None


async def _stored(
    url: str, database: str, starts: tuple[str, ...], rows: dict[str, str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Add what a stored crawl knows of the URL; returns its start URLs, and the sites that they redirected to."""
    sites = starts
    store = open_store(database, SystemClock())
    try:
        known, scope = await store.meta.get("starts"), await store.meta.get("scope")
        if known is not None and scope is not None:
            starts, sites = tuple(json.loads(known)), Scope.from_dict(json.loads(scope)).sites
            rows["start"] = sites[0]
        rows["known"] = Message("not found by this crawl")
        async for page in store.graph.pages():
            if page.url == url:
                status = Message("status {code}", code=page.status_code) if page.status_code else ""
                reason = skip_reason(page.skip_reason) if page.skip_reason else page.error_message or status
                links = format_count(page.depth, "link")
                known = Message("{status}, {links} from the start URL", status=page.status, links=links)
                rows["known"] = Message("{state}: {reason}", state=known, reason=reason) if reason else known
                rows["found on"] = page.parent_url or Message("start URL")
                break
    finally:
        await store.close()
    return starts, sites


async def _apply_rules(
    url: str, scope: Scope, starts: tuple[str, ...], options: CrawlingOptions, rows: dict[str, str]
) -> str | None:
    """The reason of the first rule that refuses the URL; None when it is crawled."""
    verdict = scope.decide(url)
    rows["scope"] = skip_reason(verdict.reason)
    is_checked = verdict.admission in (Admission.EXTERNAL, Admission.OUTSIDE) and _checks(options)
    if is_checked:
        rows["scope"] = Message("{reason}; it is requested once, and its links are not followed", reason=rows["scope"])
    elif verdict.admission is not Admission.FOLLOW:
        return rows["scope"]
    if rows.get("variant", WANTED) != WANTED:
        return rows["variant"]
    if options.trap_limit and not is_checked:
        shape, trap = traps.shape_refusal(url), traps.pattern(url, options.trap_limit)
        if trap is None:
            rows["traps"] = skip_reason(shape) if shape else Message("an ordinary URL")
        else:
            rows["traps"] = (
                skip_reason(shape)
                if shape
                else Message(
                    "{kind}: at most {limit} such URLs ({key})", kind=skip_reason(trap.why), limit=trap.cap, key=trap.key
                )
            )
        if shape:
            return skip_reason(f"trap: {shape}")
    names = DnsCache(SystemClock())
    try:
        exemptions = await private_exemptions(starts, names) | Exemptions(allow_all=options.allow_private)
    finally:
        await names.close()
    where = split_url(url)
    is_open = not is_ip_address(where.host) or exemptions.covers(where.host, where.port)
    refusal = None if is_open else address.block_reason(where.host.strip("[]"))
    rows["address"] = refusal or Message("allowed; checked again when connecting")
    if refusal:
        return refusal
    return await _apply_robots(url, exemptions, starts, options, rows)


def _checks(options: CrawlingOptions) -> bool:
    if isinstance(options, DocsOptions):
        return False
    return options.check if isinstance(options, LinksOptions) else options.check_external


async def _variant(url: str, starts: tuple[str, ...], options: DocsOptions, database: str | None) -> str | None:
    """Why a page is a variant of another one: by the probe of a stored crawl, otherwise by the start URL."""
    if url in starts:
        return None
    known = asdict(detect_edition(starts[0], ()))
    if database is not None:
        store = open_store(database, SystemClock())
        try:
            known = json.loads(await store.meta.get(SURVEY) or "null") or known
        finally:
            await store.close()
    return docs_job(options, build_scope(options, starts[:1]), starts[0]).with_probe_result(known).skip_reason(url)


async def _read_robots(url: str, exemptions: Exemptions, starts: tuple[str, ...], options: CrawlingOptions) -> robots.Robots:
    """The rules of the site for the product token of the crawl, or those of `--robots-file`."""
    token, text = robots_token(options), read_robots_file(options)
    if text is not None and build_scope(options, starts).is_internal(url):
        return robots.read(status=200, failure=None, body=text, token=token)
    fetcher = build_fetcher(access_for(options, exemptions, starts), 1)
    try:
        template = Request(url=url, timeout=options.timeout, max_bytes=robots.MAX_BYTES, truncate=True)
        answer = await follow_redirects(fetcher.fetch, f"{origin(url)}/robots.txt", template, robots.MAX_REDIRECTS)
    finally:
        await fetcher.close()
    if isinstance(answer, Response):
        return robots.read(status=answer.status, failure=None, body=answer.body, token=token)
    return robots.read(status=None, failure=answer.kind, body=b"", token=token)


async def _apply_robots(
    url: str, exemptions: Exemptions, starts: tuple[str, ...], options: CrawlingOptions, rows: dict[str, str]
) -> str | None:
    crawl_delay = None
    refusal = None
    if options.ignore_robots:
        rows["robots"] = Message("ignored (--ignore-robots)")
    else:
        rules = await _read_robots(url, exemptions, starts, options)
        decision = rules.allows(url)
        crawl_delay = rules.paced_delay
        rows["robots"] = skip_reason(decision.reason)
        refusal = None if decision.allowed else rows["robots"]
    gap, host = f"{max(options.delay, crawl_delay or 0.0):g}", host_key(url)
    if (crawl_delay or 0.0) > options.delay:
        rows["pace"] = Message("one request every {seconds} s to {host} (its Crawl-delay)", seconds=gap, host=host)
    else:
        rows["pace"] = Message("one request every {seconds} s to {host}", seconds=gap, host=host)
    return refusal
