"""The options of each job as typed values with defaults: the parameters of the Python API.

Their flags and keys are in `settings`; their values are resolved in `resolve`.
"""

from __future__ import annotations

from dataclasses import dataclass

from tadoru.version import PROJECT_URL, VERSION

USER_AGENT = f"Tadoru/{VERSION} (+{PROJECT_URL})"


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlOptions:
    """Options of all crawling jobs."""

    depth: int | None = None
    limit: int = 0
    max_time: float | None = None
    scope: str = "host"
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    delay: float = 1.0
    concurrency: int = 4
    processes: int | None = None
    timeout: float = 30.0
    max_response_size: int = 10 * 1024 * 1024
    ignore_robots: bool = False
    user_agent: str = USER_AGENT
    header: tuple[str, ...] = ()
    cookies: str | None = None
    auth_type: str | None = None
    auth_username: str | None = None
    auth_password: str | None = None
    auth_token: str | None = None
    auth_header: str | None = None
    auth_value: str | None = None
    proxy: str | None = None
    insecure: bool = False
    allow_private: bool = False
    strip_tracking: bool = False
    strip_sessions: bool = False
    trap_limit: int = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class LinksOptions(CrawlOptions):
    """Options of `tadoru links`."""

    depth: int | None = 3
    limit: int = 1000
    timeout: float = 10.0
    subdomains: bool = False
    list: bool = False
    check: bool = False
    fragments: bool = False
    accept: str = "200..299"
    ignore: tuple[str, ...] = ()
    suppress: str | None = None
    fail_on: str | None = None
    format: str = "text"
    output: str | None = None
    include_external: bool = False
    state: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions(CrawlOptions):
    """Options of `tadoru audit`."""

    delay: float = 0.1
    concurrency: int = 10
    database: str = "./tadoru.db"
    seed_urls: tuple[str, ...] = ()
    follow_external_hosts: bool = False
    pages_per_host: int | None = None
    hosts_per_domain: int | None = None
    queue_limit: int | None = None
    list: bool = False
    recrawl: bool = False
    sitemap: str = "auto"
    sitemap_url: tuple[str, ...] = ()
    render: str = "never"
    check_external: bool = False
    fragments: bool = False
    resources: int = 1000
    store_bodies: bool = False
    extract: tuple[str, ...] = ()
    threshold: tuple[str, ...] = ()
    no_plugins: bool = False
    fail_on: tuple[str, ...] = ()
    baseline: str | None = None
    suppress: str | None = None
    report: tuple[str, ...] = ()
    lang: str = "en"


@dataclass(frozen=True, slots=True, kw_only=True)
class DocsOptions(CrawlOptions):
    """Options of `tadoru docs`."""

    depth: int | None = 2
    delay: float = 0.5
    output: str | None = None
    same_domain: bool = True
    sitemap: str = "auto"
    sitemap_url: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    language: str | None = None
    render: str = "auto"
    spa_wait: float = 2.0
    headed: bool = False
    keep_session: bool = False
    own_markdown: bool = True
    diff: bool = False
    pages: bool = True
    merge: bool = True
    chunks: bool = True
    chunk_tokens: int | None = None
    local_links: bool = False
    tokenizer: str = "estimate"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsOptions:
    """Options of `tadoru events`. It follows no links, so it shares only the politeness options with the crawling jobs."""

    database: str = "./var/tadoru.db"
    files: str | None = None
    timezone: str = "UTC"
    notify: tuple[str, ...] = ()
    enrich: tuple[str, ...] = ()
    category_model: str | None = None
    llm_url: str | None = None
    llm_model: str | None = None
    llm_key: str | None = None
    llm_category: tuple[str, ...] = ()
    llm_budget: int = 100
    llm_timeout: float = 60.0
    search_engine: str | None = None
    search_url: str | None = None
    search_key: str | None = None
    search_index: str = "events"
    search_archived: bool = True
    delay: float = 2.0
    concurrency: int = 32
    timeout: float = 30.0
    max_response_size: int = 20 * 1024 * 1024
    ignore_robots: bool = False
    user_agent: str = USER_AGENT
    proxy: str | None = None
    insecure: bool = False
    allow_private: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """Options of `tadoru serve`."""

    database: str = "./var/tadoru.db"
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    base_url: str | None = None
    """The public URL of the service, if it is behind a proxy."""
    allow_host: tuple[str, ...] = ()
    trusted_proxy: tuple[str, ...] = ()
    rate_limit: int = 300
    """Requests per minute and IP address; 0 for no limit."""
    key_rate_limit: int = 1200
    """Requests per minute and API key or user; 0 for no limit."""
    cors: tuple[str, ...] = ()
    embed: tuple[str, ...] = ()
    """Origins that may embed the calendar in a frame, or `*`."""
    timezone: str = "UTC"
    lang: str = "en"
    site_name: str = "Tadoru"
    contact: str | None = None
    """A page or a mailto: URL of the operator."""
    audit_days: int = 400
    """Days to keep the audit log; 0 for no limit."""
    shutdown_timeout: float = 20.0
    crawls_at_once: int = 2
    """Crawls to run at the same time."""
    crawls_queued: int = 50
    """Maximum queued crawls per user."""
    crawl_private: tuple[str, ...] = ()
    """Private addresses that crawls and their webhooks may reach, as `host:port`; `*` for all."""
    crawl_quota: int = 20 * 1024**3
    """Maximum bytes of the files of crawls and documentation sites; 0 for no limit."""
    notify: tuple[str, ...] = ()
    webhook_secret: str | None = None
    """Signs webhooks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOptions:
    """Options of `tadoru worker`."""

    database: str = ""
    hosts: int = 50
    """Hosts to crawl at the same time."""
    slice: float = 30.0
    """Seconds for one host before another takes over."""
    name: str = ""
    metrics: str | None = None
    """Where to serve metrics, as `address:port`."""
    events: bool = True
    """Whether to collect the event sources in the same database."""
