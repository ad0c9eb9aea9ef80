"""All options in one table: flags, key in a file, accepted values and help text. The command line, `TADORU_*` variables,
configuration files, `--show-config`, the forms of the service and the generated reference read it. The help texts and the
headings of the groups are translated when they are shown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from tadoru.config.parsers import (
    Parser,
    one_of,
    parse_contact_url,
    parse_delay,
    parse_duration,
    parse_flag,
    parse_frame_origin,
    parse_host_and_port,
    parse_name,
    parse_origin,
    parse_positive_duration,
    parse_process_count,
    parse_quota,
    parse_regex,
    parse_size,
    parse_text,
    parse_time_zone,
    whole_number,
)


class SettingRole(StrEnum):
    """How a setting relates to secrets. It decides what a discovered file, which nobody named, may set (`config.resolve`)."""

    PLAIN = "plain"
    """Not at all."""
    CREDENTIAL = "credential"
    """It holds a secret, or may hold one."""
    CREDENTIAL_NAME = "credential name"
    """It names the variable or the file that holds a secret."""
    DESTINATION = "destination"
    """It decides where data is sent, by which route, or how well protected."""
    START = "start"
    """It decides where a crawl starts if the command line has no URL."""
    STORAGE = "storage"
    """A path, or the URL of a server that the credentials of the environment (`PGPASSWORD`, `AWS_*`) are sent to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One option."""

    name: str
    """The field of the job's options, and the key in a configuration file."""
    flags: tuple[str, ...]
    """The first is the name everywhere; the others are accepted for compatibility with older tools."""
    parse: Parser
    help: str
    group: str
    metavar: str = ""
    many: bool = False
    is_flag: bool = False
    negated: str = ""
    """The flag that turns it off, if it is on by default."""
    secret: bool = False
    """Whether its value is never shown."""
    role: SettingRole = SettingRole.PLAIN
    linktadoru: str | None = None
    """LinkTadoru's key for it, in its file and (upper case, after `LT_`) its environment."""


def _setting(name: str, flags: str, parse: Parser, group: str, text: str, **more: Any) -> Setting:
    return Setting(name=name, flags=tuple(flags.split()), parse=parse, group=group, help=text, **more)


LINKS_FORMATS = ("text", "json", "csv", "dot", "html")

CRAWL: tuple[Setting, ...] = (
    _setting("depth", "--depth --max-depth", whole_number(0), "Scope",
        "Maximum link depth from the start URL.", metavar="N", linktadoru="max_depth"),
    _setting("limit", "--limit -l --max-urls --max-pages", whole_number(0), "Scope",
        "Maximum URLs to request; 0 for no limit.", metavar="N", linktadoru="limit"),
    _setting("max_time", "--max-time", parse_positive_duration, "Scope", "Stop after this time.", metavar="TIME"),
    _setting("scope", "--scope", one_of("host", "domain", "path"), "Scope",
        "Stay on the host, the domain or the path of the start URL.", metavar="host|domain|path"),
    _setting("include", "--include --include-patterns", parse_regex, "Scope",
        "Request only URLs that match (repeatable).",
        metavar="REGEX", many=True, linktadoru="include_patterns"),
    _setting("exclude", "--exclude --exclude-patterns", parse_regex, "Scope",
        "Never request URLs that match (repeatable).", metavar="REGEX", many=True, linktadoru="exclude_patterns"),
    _setting("strip_tracking", "--strip-tracking", parse_flag, "Scope",
        "Remove tracking parameters (utm_*, gclid …) from URLs.", is_flag=True),
    _setting("strip_sessions", "--strip-sessions", parse_flag, "Scope", "Remove session IDs from URLs.", is_flag=True),
    _setting("trap_limit", "--trap-limit", whole_number(0), "Scope",
        "Maximum URLs of one endless pattern (calendars, facets); 0 for no limit.", metavar="N"),
    _setting("delay", "--delay -r", parse_delay, "Politeness",
        "Delay between requests to a host.", metavar="TIME", linktadoru="request_delay"),
    _setting("concurrency", "--concurrency -c", whole_number(1, 100), "Politeness",
        "Requests in flight.", metavar="N", linktadoru="concurrency"),
    _setting("processes", "--processes", parse_process_count, "Politeness",
        "Crawler processes; auto: one per core if there is no delay.", metavar="N|auto"),
    _setting("timeout", "--timeout -t", parse_positive_duration, "Politeness",
        "Timeout for each phase of a request.", metavar="TIME", linktadoru="request_timeout"),
    _setting("max_response_size", "--max-response-size", parse_size, "Politeness",
        "Maximum size of a response body.", metavar="SIZE", linktadoru="max_response_size"),
    _setting("ignore_robots", "--ignore-robots --no-robots --ignore-robots-txt", parse_flag, "Politeness",
        "Ignore robots.txt (only for your own sites).", is_flag=True, linktadoru="ignore_robots_txt"),
    _setting("user_agent", "--user-agent -u", parse_text, "Politeness",
        "User-Agent header.", metavar="TEXT", linktadoru="user_agent"),
    _setting("header", "--header -H", parse_text, "Access",
        "Send this header to the site, as “Name: value” (repeatable).",
        metavar="HEADER", many=True, secret=True, linktadoru="headers", role=SettingRole.CREDENTIAL),
    _setting("cookies", "--cookies", parse_text, "Access", "Send the cookies of a cookies.txt file.", metavar="FILE",
        role=SettingRole.CREDENTIAL_NAME),
    _setting("auth_type", "--auth-type", one_of("basic", "bearer", "api-key"), "Access",
        "Authentication method of the site.", metavar="basic|bearer|api-key", linktadoru="auth_type"),
    _setting("auth_username", "--auth-username", parse_text, "Access",
        "User name for basic authentication.", metavar="NAME", linktadoru="auth_basic_username", role=SettingRole.CREDENTIAL),
    _setting("auth_password", "--auth-password", parse_text, "Access",
        "Password for basic authentication; prefer TADORU_AUTH_PASSWORD.", metavar="WORD", secret=True,
        linktadoru="auth_basic_password",
        role=SettingRole.CREDENTIAL),
    _setting("auth_token", "--auth-token", parse_text, "Access",
        "Bearer token; prefer TADORU_AUTH_TOKEN.", metavar="TOKEN", secret=True, linktadoru="auth_bearer_token",
        role=SettingRole.CREDENTIAL),
    _setting("auth_header", "--auth-header", parse_text, "Access",
        "Header name of the API key.", metavar="NAME", linktadoru="auth_apikey_header", role=SettingRole.CREDENTIAL),
    _setting("auth_value", "--auth-value", parse_text, "Access",
        "API key; prefer TADORU_AUTH_VALUE.", metavar="VALUE", secret=True, linktadoru="auth_apikey_value",
        role=SettingRole.CREDENTIAL),
    _setting("proxy", "--proxy", parse_text, "Access", "Send all requests through this HTTP proxy.", metavar="URL", secret=True,
        role=SettingRole.DESTINATION),
    _setting("insecure", "--insecure", parse_flag, "Access",
        "Skip verification of TLS certificates.", is_flag=True, role=SettingRole.DESTINATION),
    _setting("allow_private", "--allow-private", parse_flag, "Access",
        "Allow links to private and loopback addresses.", is_flag=True),
)  # fmt: skip

LINKS: tuple[Setting, ...] = (
    _setting("subdomains", "--subdomains", parse_flag, "Scope", "Include subdomains; same as --scope domain.", is_flag=True),
    _setting("list", "--list", parse_flag, "Scope", "Request only the given URLs; follow no links.", is_flag=True),
    _setting("check", "--check", parse_flag, "Checks",
        "Check external links too; list broken links and their pages.", is_flag=True),
    _setting("fragments", "--fragments", parse_flag, "Checks", "Check that the #fragments of links exist.", is_flag=True),
    _setting("accept", "--accept", parse_text, "Checks", "Status codes that count as success.", metavar="CODES"),
    _setting("ignore", "--ignore", parse_regex, "Checks",
        "Do not report links that match (repeatable).", metavar="REGEX", many=True),
    _setting("suppress", "--suppress", parse_text, "Checks", "File of known broken links, each with a reason.", metavar="FILE"),
    _setting("fail_on", "--fail-on", parse_text, "Checks",
        "Exit with status 10 if exceeded: broken, blocked, fragment, redirects, errors, any, broken>5 …", metavar="WHAT"),
    _setting("format", "--format -f", one_of(*LINKS_FORMATS), "Output", "Output format.", metavar="|".join(LINKS_FORMATS)),
    _setting("output", "--output -o", parse_text, "Output", "Write the result to a file.", metavar="FILE"),
    _setting("include_external", "--include-external", parse_flag, "Output", "List external URLs too.", is_flag=True),
    _setting("state", "--state", parse_text, "Output",
        "Keep the crawl in this file, to resume or share it.", metavar="FILE", role=SettingRole.START),
)  # fmt: skip

AUDIT: tuple[Setting, ...] = (
    _setting("database", "--database -d", parse_text, "Output",
        "Database of the crawl; an existing crawl is resumed.", metavar="FILE|URL", linktadoru="database_path",
        role=SettingRole.STORAGE),
    _setting("follow_external_hosts", "--follow-external-hosts", parse_flag, "Scope",
        "Crawl all linked hosts; use with --limit.", is_flag=True, linktadoru="follow_external_hosts"),
    _setting("pages_per_host", "--pages-per-host", whole_number(0), "Scope",
        "Maximum pages per host; 0 for no limit. [10000 with --follow-external-hosts]", metavar="N"),
    _setting("hosts_per_domain", "--hosts-per-domain", whole_number(0), "Scope",
        "Maximum hosts per domain; 0 for no limit. [100 with --follow-external-hosts]", metavar="N"),
    _setting("queue_limit", "--queue-limit", whole_number(0), "Scope",
        "Maximum queued URLs; others are deferred; 0 for no limit. [1000000 with --follow-external-hosts]", metavar="N"),
    _setting("seed_urls", "--seed", parse_text, "Scope", "Additional start URL (repeatable).",
        metavar="URL", many=True, linktadoru="seed_urls", role=SettingRole.START),
    _setting("list", "--list", parse_flag, "Scope", "Request only the given URLs; follow no links.", is_flag=True),
    _setting("recrawl", "--recrawl", parse_flag, "Scope",
        "Request all known pages again for changes; the last run is kept.", is_flag=True),
    _setting("sitemap", "--sitemap", one_of("auto", "only", "off"), "Scope",
        "Also crawl the URLs of sitemaps, only those, or ignore sitemaps.", metavar="auto|only|off"),
    _setting("sitemap_url", "--sitemap-url", parse_text, "Scope",
        "Sitemap to use instead of those in robots.txt (repeatable).", metavar="URL", many=True),
    _setting("render", "--render", one_of("auto", "always", "never"), "Checks",
        "Render in a browser: pages that need it, all, or none.", metavar="auto|always|never"),
    _setting("check_external", "--check-external", parse_flag, "Checks",
        "Check external links and resources too.", is_flag=True),
    _setting("fragments", "--fragments", parse_flag, "Checks", "Check that the #fragments of links exist.", is_flag=True),
    _setting("resources", "--resources", whole_number(0), "Checks",
        "Maximum images, scripts and styles to check after the pages; 0 for none.", metavar="N"),
    _setting("store_bodies", "--store-bodies", parse_flag, "Output", "Store page bodies, for `tadoru export --format warc`.",
        is_flag=True),
    _setting("extract", "--extract", parse_text, "Checks",
        "Extract a value from each page: name=css:…, name=xpath:… or name=regex:… (repeatable).", metavar="NAME=HOW", many=True),
    _setting("threshold", "--threshold", parse_text, "Checks",
        "Set the threshold of a check: ID=NUMBER (repeatable).", metavar="ID=N", many=True),
    _setting("no_plugins", "--no-plugins", parse_flag, "Checks", "Disable the checks of plugins.", is_flag=True),
    _setting("fail_on", "--fail-on", parse_text, "Checks",
        "Exit with status 10 if exceeded: error, warning>10, title-missing, score<80, new-error … (repeatable).",
        metavar="WHAT", many=True),
    _setting("baseline", "--baseline", parse_text, "Checks",
        "Count only findings that are not in this earlier crawl.", metavar="DB"),
    _setting("suppress", "--suppress", parse_text, "Checks", "File of accepted findings, each with a reason.", metavar="FILE"),
    _setting("report", "--report", parse_text, "Output",
        "Also write a report: .html, .json, .md, .xml or .sarif (repeatable).", metavar="FILE", many=True),
    _setting("lang", "--lang", one_of("en", "ja"), "Output", "Language of reports.", metavar="en|ja"),
)  # fmt: skip

DOCS: tuple[Setting, ...] = (
    _setting("same_domain", "--same-domain", parse_flag, "Scope",
        "Stay on the host of the start URL.", is_flag=True, negated="--no-same-domain"),
    _setting("sitemap", "--sitemap", one_of("auto", "only", "off"), "Scope",
        "Also crawl the URLs of sitemaps, only those, or ignore sitemaps.", metavar="auto|only|off"),
    _setting("sitemap_url", "--sitemap-url", parse_text, "Scope",
        "Sitemap to use instead of those in robots.txt (repeatable).", metavar="URL", many=True),
    _setting("variants", "--variants", one_of("version", "language", "print", "index", "source", "all"), "Scope",
        "Also download duplicate content: other versions, other languages, single-page editions … (repeatable).",
        metavar="KIND", many=True),
    _setting("language", "--language", parse_text, "Scope",
        "Language of the pages; default: that of the start page.", metavar="CODE"),
    _setting("own_markdown", "--own-markdown", parse_flag, "Content",
        "Prefer the site's own Markdown where it is complete.", is_flag=True, negated="--no-own-markdown"),
    _setting("render", "--render", one_of("auto", "always", "never"), "Content",
        "Render in a browser: pages that need it, all, or none.", metavar="auto|always|never"),
    _setting("spa_wait", "--spa-wait", parse_duration, "Content",
        "Time without changes after which a rendered page is complete.", metavar="TIME"),
    _setting("headed", "--headed", parse_flag, "Content", "Show the browser window.", is_flag=True),
    _setting("keep_session", "--keep-session", parse_flag, "Content",
        "Keep cookies and storage of the browser for the next run.", is_flag=True),
    _setting("output", "--output -o", parse_text, "Output", "Output folder. [.context/<site>]", metavar="DIR"),
    _setting("diff", "--diff", parse_flag, "Output",
        "Download only changes and list them (changes.md).", is_flag=True),
    _setting("pages", "--pages", parse_flag, "Output", "Write a file per page.", is_flag=True, negated="--no-pages"),
    _setting("merge", "--merge", parse_flag, "Output", "Write the whole site as one file (full.md, llms-full.txt).",
        is_flag=True, negated="--no-merge"),
    _setting("chunks", "--chunks", parse_flag, "Output",
        "Write the site in chunks, split at headings.", is_flag=True, negated="--no-chunks"),
    _setting("chunk_tokens", "--chunk-tokens", whole_number(50, 1_000_000), "Output",
        "Maximum tokens per chunk; each chunk has its heading path.", metavar="N"),
    _setting("local_links", "--local-links", parse_flag, "Output",
        "Make links between pages point to the local files.", is_flag=True),
    _setting("tokenizer", "--tokenizer", parse_text, "Output",
        "Token counter: estimate, or a tiktoken encoding.", metavar="NAME"),
)  # fmt: skip

_SHARED_WITH_EVENTS = (
    "delay", "concurrency", "timeout", "max_response_size", "ignore_robots", "user_agent", "proxy", "insecure", "allow_private",
)  # fmt: skip

EVENTS: tuple[Setting, ...] = (
    _setting("database", "--database -d", parse_text, "Storage",
        "Database of the calendar: a file or postgresql://….", metavar="FILE|URL", role=SettingRole.STORAGE),
    _setting("files", "--files", parse_text, "Storage",
        "Snapshots and run logs: a folder or s3://bucket/prefix. [var, next to the database]", metavar="DIR|URL",
        role=SettingRole.STORAGE),
    _setting("timezone", "--timezone", parse_time_zone, "Calendar",
        "Time zone of sources that do not state one.", metavar="ZONE"),
    _setting("notify", "--notify", parse_text, "Notifications",
        "Notify about failures, recoveries and sudden drops: an Apprise URL such as mailto://… or slack://… (repeatable).",
        metavar="URL", many=True, secret=True, role=SettingRole.DESTINATION),
    _setting("enrich", "--enrich", one_of("category", "summary", "llm"), "Enrichment",
        "Fill in missing fields: category by a model, summary by the first sentences, or both by an LLM (repeatable).",
        metavar="category|summary|llm", many=True),
    _setting("category_model", "--category-model", parse_text, "Enrichment",
        "Category model made by `tadoru events enrich train`.", metavar="FILE"),
    _setting("llm_url", "--llm-url", parse_text, "Enrichment",
        "OpenAI-compatible endpoint, without /chat/completions: https://llm.example/v1.", metavar="URL",
        role=SettingRole.DESTINATION),
    _setting("llm_model", "--llm-model", parse_text, "Enrichment", "Model to use at the endpoint.", metavar="NAME"),
    _setting("llm_key", "--llm-key", parse_text, "Enrichment", "Variable that holds the API key of the LLM.", metavar="VARIABLE",
        role=SettingRole.CREDENTIAL_NAME),
    _setting("llm_category", "--llm-category", parse_text, "Enrichment",
        "Category the LLM may choose; default: those of --category-model (repeatable).", metavar="NAME", many=True),
    _setting("llm_budget", "--llm-budget", whole_number(0), "Enrichment",
        "Maximum LLM requests per run, or per day of a worker.", metavar="N"),
    _setting("llm_timeout", "--llm-timeout", parse_positive_duration, "Enrichment",
        "Timeout for an LLM request.", metavar="TIME"),
    _setting("search_engine", "--search-engine", one_of("meilisearch", "typesense"), "Search engine",
        "Search engine to keep in sync with the calendar.", metavar="meilisearch|typesense"),
    _setting("search_url", "--search-url", parse_text, "Search engine",
        "URL of the search engine: http://127.0.0.1:7700.", metavar="URL",
        role=SettingRole.DESTINATION),
    _setting("search_key", "--search-key", parse_text, "Search engine",
        "Variable that holds the API key of the search engine.", metavar="VARIABLE",
        role=SettingRole.CREDENTIAL_NAME),
    _setting("search_index", "--search-index", parse_text, "Search engine", "Name of the index.", metavar="NAME"),
    _setting("search_archived", "--search-archived", parse_flag, "Search engine", "Include archived events in the index.",
        is_flag=True, negated="--no-search-archived"),
    *(setting for setting in CRAWL if setting.name in _SHARED_WITH_EVENTS),
)  # fmt: skip


SERVE: tuple[Setting, ...] = (
    _setting("database", "--database -d", parse_text, "Storage",
        "Database of the service: a file or postgresql://….", metavar="FILE|URL", role=SettingRole.STORAGE),
    _setting("host", "--host", parse_text, "Server", "Address to listen on; 0.0.0.0 for all interfaces.", metavar="ADDRESS"),
    _setting("port", "--port", whole_number(0, 65535), "Server", "Port to listen on; 0 for any free port.", metavar="N"),
    _setting("workers", "--workers", whole_number(1, 64), "Server", "Server processes.", metavar="N"),
    _setting("base_url", "--base-url", parse_origin, "Server",
        "Public URL behind a proxy: https://events.example.",
        metavar="URL"),
    _setting("allow_host", "--allow-host", parse_text, "Server",
        "Additional host name to accept (repeatable).", metavar="NAME", many=True),
    _setting("trusted_proxy", "--trusted-proxy", parse_text, "Server",
        "Proxy whose X-Forwarded-* headers are trusted (repeatable).", metavar="ADDRESS", many=True),
    _setting("shutdown_timeout", "--shutdown-timeout", parse_positive_duration, "Server",
        "Time for running requests to finish at shutdown.", metavar="TIME"),
    _setting("rate_limit", "--rate-limit", whole_number(0), "Limits",
        "Requests per minute and IP address; 0 for no limit.", metavar="N"),
    _setting("key_rate_limit", "--key-rate-limit", whole_number(0), "Limits",
        "Requests per minute and API key or user; 0 for no limit.", metavar="N"),
    _setting("cors", "--cors", parse_text, "Limits",
        "Origin whose scripts may read public data, such as https://town.example, or * (repeatable).",
        metavar="ORIGIN", many=True),
    _setting("crawls_at_once", "--crawls-at-once", whole_number(1, 64), "Crawls", "Crawls to run at the same time.", metavar="N"),
    _setting("crawls_queued", "--crawls-queued", whole_number(1, 100_000), "Crawls",
        "Maximum queued crawls per user.", metavar="N"),
    _setting("crawl_private", "--crawl-private", parse_host_and_port, "Crawls", metavar="HOST:PORT", many=True, text=
        "Private address that crawls, sources and webhooks may reach, such as 10.0.0.5:80, or * (repeatable)."),
    _setting("crawl_quota", "--crawl-quota", parse_quota, "Crawls",
        "Disk space for crawls and documentation sites; 0 for no limit.", metavar="SIZE"),
    _setting("notify", "--notify", parse_text, "Crawls",
        "Notify when a crawl finds a regression or a recovery: an Apprise URL such as mailto://… (repeatable).",
        metavar="URL", many=True, secret=True, role=SettingRole.DESTINATION),
    _setting("webhook_secret", "--webhook-secret", parse_text, "Crawls", metavar="WORD", secret=True, text=
        "Secret that signs webhooks; prefer TADORU_WEBHOOK_SECRET.", role=SettingRole.CREDENTIAL),
    _setting("embed", "--embed", parse_frame_origin, "Limits",
        "Origin that may show /embed in a frame, such as https://town.example, or * (repeatable).", metavar="ORIGIN", many=True),
    _setting("audit_days", "--audit-days", whole_number(0), "Limits",
        "Days to keep the audit log; 0 for no limit.", metavar="N"),
    _setting("site_name", "--site-name", parse_name, "Calendar", "Name of the calendar, in pages and feeds.", metavar="NAME"),
    _setting("contact", "--contact", parse_contact_url, "Calendar",
        "Contact of the operator: a page such as https://town.example/imprint, or mailto:….", metavar="URL"),
    _setting("timezone", "--timezone", parse_time_zone, "Calendar", "Time zone of the service.", metavar="ZONE"),
    _setting("lang", "--lang", one_of("en", "ja", "de"), "Calendar",
        "Default language of pages. German (de) is for the public calendar; other pages and feeds are then in English.",
        metavar="en|ja|de"),
)  # fmt: skip


WORKER: tuple[Setting, ...] = (
    _setting("database", "--database -d", parse_text, "Worker", "Database of the cluster: postgresql://….", metavar="URL",
        role=SettingRole.STORAGE),
    _setting("hosts", "--hosts", whole_number(1, 2000), "Worker", "Hosts to crawl at the same time.", metavar="N"),
    _setting("slice", "--slice", parse_positive_duration, "Worker",
        "Time for one host before another worker or crawl takes over.", metavar="TIME"),
    _setting("events", "--events", parse_flag, "Worker", "Also collect event sources from the same database.",
        is_flag=True, negated="--no-events"),
    _setting("name", "--name", parse_name, "Monitoring", "Name of the worker; default: machine and process ID.",
        metavar="NAME"),
    _setting("metrics", "--metrics", parse_host_and_port, "Monitoring",
        "Serve Prometheus metrics at this address, such as 127.0.0.1:9464.", metavar="ADDRESS:PORT"),
)  # fmt: skip


def _with_short_depth(settings: tuple[Setting, ...]) -> tuple[Setting, ...]:
    """In `docs`, `-d` is the depth."""
    return tuple(replace(one, flags=(*one.flags, "-d")) if one.name == "depth" else one for one in settings)


JOB_SETTINGS: dict[str, tuple[Setting, ...]] = {
    "links": CRAWL + LINKS,
    "audit": CRAWL + AUDIT,
    "docs": _with_short_depth(CRAWL) + DOCS,
    "events": EVENTS,
    "serve": SERVE,
    "worker": WORKER,
}
