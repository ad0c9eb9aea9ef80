"""From options to `NetworkAccess`: who the crawl says it is, which credentials go to which origins, and where it may connect."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from tadoru.clock import SystemClock
from tadoru.config.options import CrawlOptions, EventsOptions
from tadoru.config.settings import JOB_SETTINGS
from tadoru.engine.crawl import CrawlOutcome
from tadoru.engine.job import CrawlPolicy
from tadoru.engine.url_filter import UrlFilter
from tadoru.errors import UsageError
from tadoru.fetch.credentials import Credentials
from tadoru.fetch.guard import DnsCache, private_exemptions
from tadoru.jobs.launch import NetworkAccess
from tadoru.rules.address import Exemptions
from tadoru.rules.budget import BreadthLimits, Budget
from tadoru.rules.scope import Scope
from tadoru.rules.url import host_key, is_ip_address, origin, split_port
from tadoru.store.crawl.interface import CrawlStore, LinkTarget, PageStatus
from tadoru.store.crawl.runs import RunOutcome


def access_for(options: CrawlOptions, exemptions: Exemptions, sites: Sequence[str]) -> NetworkAccess:
    """Credentials, headers and cookies are bound to the origins the person named. Raises UsageError."""
    if options.allow_private:
        exemptions = exemptions | Exemptions(allow_all=True)
    return NetworkAccess(
        user_agent=options.user_agent,
        exemptions=exemptions,
        credentials=_credentials(options, frozenset(origin(site) for site in sites)),
        proxy=options.proxy,
        verify_tls=not options.insecure,
    )


def uses_credentials(options: CrawlOptions) -> bool:
    """Whether the site is told anything that strangers do not know."""
    return bool(options.auth_type or options.header or options.cookies)


def _credentials(options: CrawlOptions, origins: frozenset[str]) -> Credentials:
    credentials = Credentials()
    match options.auth_type:
        case "basic":
            username, password = _required(options, "auth_username"), _required(options, "auth_password")
            credentials = credentials.with_basic(origins, username, password)
        case "bearer":
            credentials = credentials.with_bearer(origins, _required(options, "auth_token"))
        case "api-key":
            credentials = credentials.with_api_key(origins, _required(options, "auth_header"), _required(options, "auth_value"))
    if options.header:
        credentials = credentials.with_headers(origins, tuple(_header(text) for text in options.header))
    if options.cookies is not None:
        try:
            text = Path(options.cookies).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise UsageError(f"The cookies file {options.cookies} cannot be read (not UTF-8 text): save it as UTF-8.") from None
        except OSError as error:
            raise UsageError(f"The cookies file {options.cookies} cannot be read ({error.strerror}): check its name.") from None
        credentials = credentials.with_cookie_file(text, SystemClock().now())
    return credentials


def _required(options: CrawlOptions, name: str) -> str:
    value: str | None = getattr(options, name)
    if not value:
        raise UsageError(f"--auth-type {options.auth_type} needs --{name.replace('_', '-')} (or TADORU_{name.upper()}).")
    return value


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise UsageError("--header needs the form “Name: value”.")
    return name.strip(), value.strip()


Options = TypeVar("Options", bound=CrawlOptions | EventsOptions)


def parse_options(job: str, kind: type[Options], options: dict[str, Any]) -> Options:
    """The options of a job. Raises UsageError."""
    known = {setting.name: setting for setting in JOB_SETTINGS[job]}
    found: dict[str, Any] = {}
    for name, value in options.items():
        if name not in known:
            raise UsageError(f"{job}() was given an option it does not know: {name}.")
        setting = known[name]
        try:
            if value is None:
                found[name] = None
            elif setting.many:
                found[name] = tuple(setting.parse(item) for item in ((value,) if isinstance(value, str) else value))
            else:
                found[name] = setting.parse(value)
        except UsageError as error:
            raise UsageError(f"{job}(): {name} {error}.") from None
    return kind(**found)


MAX_SITES = 100
"""Starts that the scope names when every host is in it: of more than these nothing depends on it, and every worker holds it."""
MANY_HOSTS = 1_000
"""More than a person has looked at one by one."""
START_URLS_PER_TRANSACTION = 2_000
"""Starts made known in one transaction: others want to write too."""


def policy_for(options: CrawlOptions) -> CrawlPolicy:
    """How to crawl, as every job understands it."""
    return CrawlPolicy(
        delay=options.delay,
        concurrency=options.concurrency,
        timeout=options.timeout,
        max_bytes=options.max_response_size,
        budget=Budget(limit=options.limit, max_depth=options.depth, max_time=options.max_time),
        obey_robots=not options.ignore_robots,
        trap_cap=options.trap_limit,
    )


async def resolve_exemptions(store: CrawlStore, new_starts: Sequence[str], allowed: Exemptions | None = None) -> Exemptions:
    """Decided once, when a start is first named: a name that was public then is not let through as a private one later.

    With `allowed` it was nobody at this machine who named the starts: then exactly that is let through, and nothing is kept.
    """
    if allowed is not None:
        return allowed
    exemptions = Exemptions.from_list(json.loads(await store.get_meta("exemptions") or "[]"))
    if new_starts:
        names = DnsCache(SystemClock())
        try:
            exemptions |= await private_exemptions(_exemptible(new_starts), names)
        finally:
            await names.close()
    await store.set_meta("exemptions", json.dumps(exemptions.to_list()))
    return exemptions


def _exemptible(starts: Sequence[str]) -> Sequence[str]:
    """The starts that may be let through to private addresses: of a long list only those that say themselves that they are."""
    keys = {url: split_port(host_key(url))[0] for url in starts}
    return starts if len(set(keys.values())) <= MANY_HOSTS else [url for url, host in keys.items() if is_ip_address(host)]


async def resolve_scope(store: CrawlStore, scope: Scope, new_starts: Sequence[str] = ()) -> Scope:
    """The scope of this run, on the sites that the starts turned out to be."""

    def agreed(text: str | None) -> str:
        sites = Scope.from_dict(json.loads(text)).sites if text is not None else scope.sites
        all_sites = tuple(dict.fromkeys((*sites, *new_starts)))
        return json.dumps(replace(scope, sites=all_sites[:MAX_SITES] if scope.mode == "all" else all_sites).to_dict())

    return Scope.from_dict(json.loads(await store.change_meta("scope", agreed)))


async def apply_rules(store: CrawlStore, url_filter: UrlFilter, max_depth: int | None) -> bool:
    """When other rules hold than in the last run, decide anew about every URL that was not requested; whether they do."""
    rules, sites = json.dumps(url_filter.rules), json.dumps(url_filter.scope.sites)
    were, there = await store.get_meta("rules"), await store.get_meta("rules_sites")
    if (were, there) == (rules, sites):
        return False

    def decide(url: str, seed: bool) -> LinkTarget | None:
        target = url_filter.decide_again(url, seed)
        # A site that only moved is still asked at its old place: what became of it is worth knowing.
        return target if target.internal or were != rules else None

    await store.reconsider(decide, max_depth=max_depth)
    # Last: a process that is killed before does it again.
    await store.set_meta("rules", rules)
    await store.set_meta("rules_sites", sites)
    return True


async def add_start_urls(store: CrawlStore, new: Sequence[str]) -> tuple[str, ...]:
    """The starts of the crawl with new ones among them."""

    def added(text: str | None) -> str:
        return json.dumps(list(dict.fromkeys((*json.loads(text or "[]"), *new))))

    return tuple(json.loads(await store.change_meta("starts", added)))


async def queue_start_urls(store: CrawlStore, url_filter: UrlFilter, starts: Sequence[str], new: Sequence[str]) -> None:
    """Ask for new starts, and for all of them as long as none was answered: what was down may be up by now."""
    if not await store.has_answered_seeds():
        await store.forget_failed_robots()
        new = starts
    for first in range(0, len(new), START_URLS_PER_TRANSACTION):
        await store.add([url_filter.start_target(url) for url in new[first : first + START_URLS_PER_TRANSACTION]], seed=True)


async def apply_limits(store: CrawlStore, bounds: BreadthLimits, *, anew: bool) -> None:
    """Hold the crawl within bounds. When they are others than in the last run, or it begins anew, what was skipped for one of
    them is decided again."""
    store.bound(bounds)
    text = json.dumps(asdict(bounds))
    if anew or text != (await store.get_meta("bounds") or json.dumps(asdict(BreadthLimits()))):
        await store.take_up()
        await store.set_meta("bounds", text)


def run_outcome(ended: CrawlOutcome) -> RunOutcome:
    """How a run ended, as the store keeps it."""
    if ended.stopped:
        return RunOutcome.TIME if ended.out_of_time else RunOutcome.INTERRUPTED
    return RunOutcome.LIMIT if ended.limit_reached else RunOutcome.COMPLETE


@dataclass(frozen=True, slots=True, kw_only=True)
class StartFailure:
    """What became of the start URLs."""

    url: str
    status: str
    reason: str
    error_type: str | None


async def start_failure(store: CrawlStore) -> StartFailure | None:
    """Why there is nothing, when every start failed or was refused; None when at least one was answered.

    A start that redirects is what waits at the end of that: a page of the same depth.
    """
    worst: StartFailure | None = None
    async for row in store.pages():
        if row.depth > 0:
            break
        if row.redirect_url is not None and row.status == PageStatus.COMPLETED:
            continue
        if row.status not in (PageStatus.ERROR, PageStatus.SKIPPED):
            return None
        reason = row.error_message or row.skip_reason or ""
        worst = worst or StartFailure(url=row.url, status=row.status, reason=reason, error_type=row.error_type)
    return worst
