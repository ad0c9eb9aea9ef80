"""A crawl of a site, whichever job it is of and whoever asks for it: how it is prepared from its options, run and finished.

The jobs derive from `SiteCrawl`. The command line, the service, the workers of a cluster and the Python API run these.
"""

from __future__ import annotations

import asyncio
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Generic, TypeVar

from tadoru.clock import SystemClock
from tadoru.config.options import JOB_SETTINGS, AuditOptions, CrawlOptions, DocsOptions, EventsOptions, LinksOptions
from tadoru.engine.crawl import CrawlOutcome
from tadoru.engine.job import CrawlJob, CrawlPolicy
from tadoru.engine.notifications import Notify
from tadoru.engine.url_filter import UrlFilter
from tadoru.errors import Message, UsageError, describe_unknown, quoted, reading_errors
from tadoru.fetch.credentials import Credentials
from tadoru.fetch.guard import DnsCache, private_exemptions
from tadoru.jobs.launch import CrawlPlan, NetworkAccess, crawl, ignore_notification, pick_processes, run_loop
from tadoru.jobs.suppressions import read_patterns
from tadoru.rules.address import Exemptions
from tadoru.rules.budget import BreadthLimits, Budget
from tadoru.rules.robots import product_token
from tadoru.rules.scope import Scope, ScopeMode
from tadoru.rules.url import UrlCleaner, UrlRemaps, host_key, is_ip_address, origin, parse_typed_url, split_port
from tadoru.store.crawl.crawl_database import CrawlDatabase
from tadoru.store.crawl.interface import CrawlStore
from tadoru.store.crawl.open import open_store, read_notes
from tadoru.store.crawl.records import LinkTarget, PageStatus
from tadoru.store.crawl.runs import RunOutcome
from tadoru.version import VERSION

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedCrawl:
    """A crawl that is set up in its database."""

    plan: CrawlPlan
    starts: tuple[str, ...]
    run: int = 0
    """The number of the run, of jobs that count them."""
    resumed: bool = False
    recrawl: bool = False
    nothing_to_do: str = ""
    """Why there is nothing to crawl; empty if there is something."""
    lacks_credentials: bool = False
    """Whether an earlier run used credentials and this one does not: they are never stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartFailure:
    """Why a start URL could not be crawled."""

    url: str
    status: str
    reason: str
    error_type: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedCrawl(Generic[Result]):
    """How a run of a crawl ended, and its result."""

    prepared: PreparedCrawl
    ended: CrawlOutcome
    result: Result
    start: StartFailure | None = None
    """Why nothing was crawled, if nothing was."""
    is_complete: bool = True
    """False if the run was interrupted, or if other workers are still active: the last one completes it."""

    @property
    def is_interrupted(self) -> bool:
        return run_outcome(self.ended) is RunOutcome.INTERRUPTED


class SiteCrawl(ABC, Generic[Result]):
    """A crawl of a job in its database."""

    @abstractmethod
    async def prepare(self) -> PreparedCrawl:
        """Start, resume or repeat the crawl. Raises UsageError."""

    @abstractmethod
    async def finish(self, prepared: PreparedCrawl, ended: CrawlOutcome, seconds: float) -> FinishedCrawl[Result]:
        """Read, analyse or write what was crawled in `seconds`."""

    async def run(self, notify: Notify | None = None) -> FinishedCrawl[Result]:
        """Run the crawl in the event loop of the caller. Cancelling it stops the crawl, which can be resumed."""
        clock = SystemClock()
        prepared = await self.prepare()
        began = clock.monotonic()
        ended = NOTHING_TO_DO if prepared.nothing_to_do else await crawl(prepared.plan, notify or ignore_notification)
        return await self.finish(prepared, ended, clock.monotonic() - began)

    def run_with(
        self, run: Callable[[CrawlPlan], CrawlOutcome], on_prepared: Callable[[PreparedCrawl], None] = lambda prepared: None
    ) -> FinishedCrawl[Result]:
        """Run the crawl outside an event loop, in a loop or in processes of `run`."""
        clock = SystemClock()
        prepared = run_loop(self.prepare())
        on_prepared(prepared)
        began = clock.monotonic()
        ended = NOTHING_TO_DO if prepared.nothing_to_do else run(prepared.plan)
        return run_loop(self.finish(prepared, ended, clock.monotonic() - began))


NOTHING_TO_DO = CrawlOutcome(stopped=False, limit_reached=True)


def run_outside_loop(name: str, run: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    """Run a function of the Python API in an event loop of its own. Raises UsageError if there is one already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return run_loop(run())
    raise UsageError(
        "{name}() cannot run inside a running event loop. Await {name}_async() instead, or call it in a thread.", name=name
    )


def build_scope(options: CrawlOptions, starts: Sequence[str]) -> Scope:
    """The scope of the options."""
    mode: ScopeMode = options.scope  # type: ignore[assignment]
    match options:
        case LinksOptions(subdomains=True):
            mode = "domain"
        case AuditOptions(follow_external_hosts=True) | DocsOptions(same_domain=False):
            mode = "all"
    listed = read_patterns(options.exclude_file) if isinstance(options, LinksOptions) and options.exclude_file else ()
    return Scope(mode=mode, sites=tuple(starts), include=options.include, exclude=(*options.exclude, *listed))


def build_cleaner(options: CrawlOptions) -> UrlCleaner:
    """How URLs are cleaned."""
    return UrlCleaner(strip_tracking=options.strip_tracking, strip_sessions=options.strip_sessions, remaps=parse_remaps(options))


def parse_remaps(options: CrawlOptions) -> UrlRemaps:
    """The URLs that are requested elsewhere. Raises UsageError."""
    given = options.remap if isinstance(options, LinksOptions) else ()
    pairs = (re.split(r"=(?=https?://)", text, maxsplit=1, flags=re.IGNORECASE) for text in given)
    return tuple((parse_typed_url(old).rstrip("/"), parse_typed_url(new).rstrip("/")) for old, new in pairs)


def build_plan(
    options: CrawlOptions, job: CrawlJob, starts: Sequence[str], exemptions: Exemptions, database: str,
    policy: Mapping[str, Any] | None = None, **more: Any,
) -> CrawlPlan:  # fmt: skip
    """The plan of a crawl; `policy` and `more` are what the job adds to it."""
    return CrawlPlan(
        job=job,
        policy=replace(policy_for(options), **policy or {}),
        access=access_for(options, exemptions, starts),
        database=database,
        processes=pick_processes(options.processes, options.delay),
        **more,
    )


def access_for(options: CrawlOptions, exemptions: Exemptions, sites: Sequence[str]) -> NetworkAccess:
    """The network access of a crawl; credentials, headers and cookies are for the origins of the sites. Raises UsageError."""
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
    """Whether requests contain secrets."""
    return bool(options.auth_type or options.header or options.cookies or options.host_header or options.host_auth)


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
    for text in options.host_header:
        host, value = text.split(maxsplit=1)
        credentials = credentials.with_headers([_host_origin(host)], (_header(value),))
    for text in options.host_auth:
        credentials = _with_host_auth(credentials, *text.split(maxsplit=1))
    if options.cookies is not None:
        with reading_errors(options.cookies):
            text = Path(options.cookies).read_text(encoding="utf-8")
        credentials = credentials.with_cookie_file(text, SystemClock().now())
    return credentials


def _with_host_auth(credentials: Credentials, host: str, secret: str) -> Credentials:
    """The credentials with those of one host: `bearer TOKEN`, or a user name and a password."""
    origins = [_host_origin(host)]
    kind, _, token = secret.partition(" ")
    if kind.lower() == "bearer" and token.strip():
        return credentials.with_bearer(origins, token.strip())
    username, colon, password = secret.partition(":")
    if not colon:
        raise UsageError("--host-auth needs “HOST user:password” or “HOST bearer TOKEN”.")
    return credentials.with_basic(origins, username, password)


def _host_origin(text: str) -> str:
    """The origin of a host that the user typed, https unless another scheme is given. Raises UsageError."""
    url = parse_typed_url(text)
    if url != f"{origin(url)}/":
        raise UsageError("{host} is not a host. Give a host or an origin, such as https://api.example.com.", host=quoted(text))
    return origin(url)


def _required(options: CrawlOptions, name: str) -> str:
    value: str | None = getattr(options, name)
    if not value:
        raise UsageError(
            "--auth-type {type} needs {option} (or {variable}).",
            type=options.auth_type,
            option=f"--{name.replace('_', '-')}",
            variable=f"TADORU_{name.upper()}",
        )
    return value


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise UsageError("--header needs the format “Name: value”.")
    return name.strip(), value.strip()


Options = TypeVar("Options", bound=CrawlOptions | EventsOptions)


def parse_options(job: str, kind: type[Options], options: dict[str, Any]) -> Options:
    """The options of a job from keyword arguments, checked as on the command line. Raises UsageError."""
    known = {setting.name: setting for setting in JOB_SETTINGS[job]}
    found: dict[str, Any] = {}
    for name, value in options.items():
        if name not in known:
            raise UsageError(describe_unknown(Message("{job}() has no option {name}", job=job, name=name), name, known))
        try:
            found[name] = None if value is None else known[name].convert(value)
        except UsageError as error:
            raise UsageError("{job}(): {name} {problem}.", job=job, name=name, problem=error) from None
    return kind(**found)


def read_stored_options(job: str, database: str) -> dict[str, Any]:
    """The options that a crawl keeps for later runs, as they are stored; empty when there is no crawl of this job."""
    notes = read_notes(database, SystemClock())
    if "starts" not in notes or notes.get("job") not in (None, job):
        return {}
    kept = {setting.name for setting in JOB_SETTINGS[job] if setting.is_kept}
    return {name: value for name, value in json.loads(notes.get("config") or "{}").items() if name in kept}


MAX_SITES = 100
"""Maximum start URLs in a scope of all hosts: it does not depend on them, and each worker holds it."""
MANY_HOSTS = 1_000
"""With more hosts than this, private ones are exempt only if they are IP addresses."""
FIRST_PATIENCE = 3.0
"""Seconds to wait for another program's lock before a run begins."""
START_URLS_PER_TRANSACTION = 2_000
"""Start URLs written in one transaction, so that other workers can write in between."""


def policy_for(options: CrawlOptions) -> CrawlPolicy:
    """The crawl policy from the options that all jobs share."""
    return CrawlPolicy(
        delay=options.delay,
        concurrency=options.concurrency,
        timeout=options.timeout,
        max_bytes=options.max_response_size,
        budget=Budget(limit=options.limit, max_depth=options.depth, max_time=options.max_time),
        obey_robots=not options.ignore_robots,
        robots_token=robots_token(options),
        robots_text=read_robots_file(options),
        trap_cap=options.trap_limit,
        retries=options.retries,
        remaps=parse_remaps(options),
    )


def robots_token(options: CrawlOptions) -> str:
    """The product token whose group of robots.txt applies: that of the user agent that is sent, or another one by choice."""
    sent = [value for name, value in map(_header, options.header) if name.lower() == "user-agent"]
    return product_token(options.robots_agent or (sent[-1] if sent else options.user_agent))


def read_robots_file(options: CrawlOptions) -> bytes | None:
    """The robots.txt that the user tries instead of that of the site. Raises UsageError."""
    if options.robots_file is None:
        return None
    with reading_errors(options.robots_file):
        return Path(options.robots_file).read_bytes()


async def open_for_run(database: str, *, durable: bool = True) -> CrawlDatabase:
    """The store that a run is prepared in. A lock is waited for only briefly, unless workers of the crawl may hold it."""
    store = open_store(database, SystemClock(), durable=durable, patience=FIRST_PATIENCE)
    if not await store.frontier.has_workers():
        return store
    await store.close()
    return open_store(database, SystemClock(), durable=durable)


async def recover_crawl(
    store: CrawlStore, options: CrawlOptions, starts: Sequence[str], new: Sequence[str], allowed: Exemptions | None
) -> tuple[Scope, Exemptions]:
    """Return what dead processes left to the queue. Returns scope and exemptions of this run; `allowed`: `resolve_exemptions`."""
    remap_targets = [f"{target}/" for _, target in parse_remaps(options)]
    exemptions = await resolve_exemptions(store, [*new, *remap_targets], allowed)
    scope = await resolve_scope(store, build_scope(options, starts), new)
    await store.frontier.recover()
    await store.hosts.lower_paces(options.delay)
    return scope, exemptions


async def begin_run(store: CrawlDatabase, config: Mapping[str, Any], *, recrawl: bool, **how: Any) -> tuple[int, bool]:
    """The number of this run, and whether it crawls everything again. An unfinished run is resumed first."""
    number = await store.runs.begin_recrawl(dict(config), VERSION, **how) if recrawl else None
    is_new = number is not None
    if number is None:
        number = await store.runs.begin("crawl", dict(config), VERSION)
    await store.meta.set("config", json.dumps(config, ensure_ascii=False, default=str))
    await store.meta.set("version", VERSION)
    return number, is_new


async def is_read_alike(store: CrawlDatabase, key: str, settings: Sequence[str], *, anew: bool) -> bool:
    """Whether the stored pages were read by this version with these settings; if not, unchanged pages are read again too.

    This is decided when a recrawl starts and stays the same when it is resumed. `key` is where the settings are stored.
    """
    fingerprint, before = sha256("\n".join([VERSION, *settings]).encode()).hexdigest(), await store.meta.get(key)
    if anew or before is None:
        await store.meta.set(key, fingerprint)
        await store.meta.set("revalidate", "yes" if before == fingerprint else "no")
    return await store.meta.get("revalidate") == "yes"


async def resolve_exemptions(store: CrawlStore, new_starts: Sequence[str], allowed: Exemptions | None = None) -> Exemptions:
    """The private hosts that may be crawled. Decided once, when a start URL is first given: a name that was public then is
    blocked if it becomes private later.

    With `allowed` the start URLs were not given by a user of this machine: then exactly these are allowed and nothing is stored.
    """
    if allowed is not None:
        return allowed
    exemptions = Exemptions.from_list(json.loads(await store.meta.get("exemptions") or "[]"))
    if new_starts:
        names = DnsCache(SystemClock())
        try:
            exemptions |= await private_exemptions(_exemptible(new_starts), names)
        finally:
            await names.close()
    await store.meta.set("exemptions", json.dumps(exemptions.to_list()))
    return exemptions


def _exemptible(starts: Sequence[str]) -> Sequence[str]:
    """The start URLs that may be on private addresses; of a long list only those with an IP address."""
    keys = {url: split_port(host_key(url))[0] for url in starts}
    return starts if len(set(keys.values())) <= MANY_HOSTS else [url for url, host in keys.items() if is_ip_address(host)]


async def resolve_scope(store: CrawlStore, scope: Scope, new_starts: Sequence[str] = ()) -> Scope:
    """The scope of this run, on the sites that the start URLs redirected to."""

    def agreed(text: str | None) -> str:
        sites = Scope.from_dict(json.loads(text)).sites if text is not None else scope.sites
        all_sites = tuple(dict.fromkeys((*sites, *new_starts)))
        return json.dumps(replace(scope, sites=all_sites[:MAX_SITES] if scope.mode == "all" else all_sites).to_dict())

    return Scope.from_dict(json.loads(await store.meta.change("scope", agreed)))


async def apply_rules(store: CrawlStore, url_filter: UrlFilter, max_depth: int | None) -> bool:
    """If the rules have changed since the last run, decide again about all URLs that were not requested. True if they have."""
    rules, sites = json.dumps(url_filter.rules), json.dumps(url_filter.scope.sites)
    were, there = await store.meta.get("rules"), await store.meta.get("rules_sites")
    if (were, there) == (rules, sites):
        return False

    def decide(url: str, seed: bool) -> LinkTarget | None:
        target = url_filter.decide_again(url, seed)
        # A site that only moved is still requested at its old URLs, to record their state.
        return target if target.internal or were != rules else None

    await store.rescope.reconsider(decide, max_depth=max_depth)
    # Last: a process that is killed before repeats it.
    await store.meta.set("rules", rules)
    await store.meta.set("rules_sites", sites)
    return True


async def queue_start_urls(
    store: CrawlStore, url_filter: UrlFilter, starts: Sequence[str], new: Sequence[str], depth: int | None
) -> tuple[str, ...]:
    """Queue new start URLs, and all of them if none was answered yet: a site may be reachable now. Returns all stored ones."""

    def added(text: str | None) -> str:
        return json.dumps(list(dict.fromkeys((*json.loads(text or "[]"), *new))))

    queued = new
    if not await store.frontier.has_answered_seeds():
        await store.robots.forget_failed()
        queued = starts
    for first in range(0, len(queued), START_URLS_PER_TRANSACTION):
        batch = [url_filter.start_target(url) for url in queued[first : first + START_URLS_PER_TRANSACTION]]
        await store.frontier.add(batch, seed=True)
    # After the others: if the process is killed before this, the next run starts over.
    stored = tuple(json.loads(await store.meta.change("starts", added)))
    if len(new) < len(starts):
        await store.frontier.widen(depth)
    return stored


async def apply_limits(store: CrawlStore, bounds: BreadthLimits, *, restarted: bool) -> None:
    """Apply limits to the crawl. If they have changed since the last run, or the crawl starts again, URLs that were skipped for a
    limit are decided again."""
    store.limits.set(bounds)
    text = json.dumps(asdict(bounds))
    if restarted or text != (await store.meta.get("bounds") or json.dumps(asdict(BreadthLimits()))):
        await store.limits.requeue()
        await store.meta.set("bounds", text)


def run_outcome(ended: CrawlOutcome) -> RunOutcome:
    """The outcome of a run as it is stored."""
    if ended.stopped:
        return RunOutcome.TIME if ended.out_of_time else RunOutcome.INTERRUPTED
    return RunOutcome.LIMIT if ended.limit_reached else RunOutcome.COMPLETE


async def start_failure(store: CrawlStore) -> StartFailure | None:
    """The first failure if all start URLs failed or were refused; None when at least one was answered.

    Of a redirected start URL the target counts, which is a page of the same depth.
    """
    worst: StartFailure | None = None
    async for row in store.graph.pages():
        if row.depth > 0:
            break
        if row.redirect_url is not None and row.status == PageStatus.COMPLETED:
            continue
        if row.status not in (PageStatus.ERROR, PageStatus.SKIPPED):
            return None
        reason = row.error_message or row.skip_reason or ""
        worst = worst or StartFailure(url=row.url, status=row.status, reason=reason, error_type=row.error_type)
    return worst
