"""How each option is spelt: its flags, its key in a file, what values it takes, and a line of help. One table for everything:
the command line, `TADORU_*` variables, configuration files, `--show-config` and the generated reference all read it."""

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
    """What a setting has to do with secrets: `config` decides by it what a file that was only found may set."""

    PLAIN = "plain"
    """Nothing."""
    CREDENTIAL = "credential"
    """Holds a secret, or could be made to."""
    CREDENTIAL_NAME = "credential name"
    """Names the variable or the file that holds one."""
    DESTINATION = "destination"
    """Chooses where something is sent, by which way, or how well protected."""
    START = "start"
    """Says where a crawl starts when no URL is typed: the command decides."""
    STORAGE = "storage"
    """A path, or the URL of a server that is signed in to with what the environment holds (`PGPASSWORD`, `AWS_*`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One option."""

    name: str
    """The field of the job's options, and the key in a configuration file."""
    flags: tuple[str, ...]
    """The first is the name everywhere; the rest are the seeds' names."""
    parse: Parser
    help: str
    group: str
    metavar: str = ""
    many: bool = False
    is_flag: bool = False
    negated: str = ""
    """The flag that switches it off, where it is on by default."""
    secret: bool = False
    """Its value is shown to nobody."""
    role: SettingRole = SettingRole.PLAIN
    linktadoru: str | None = None
    """LinkTadoru's key for it, in its file and (upper case, after `LT_`) its environment."""


def _setting(name: str, flags: str, parse: Parser, group: str, words: str, **more: Any) -> Setting:
    return Setting(name=name, flags=tuple(flags.split()), parse=parse, group=group, help=words, **more)


LINKS_FORMATS = ("text", "json", "csv", "dot", "html")

CRAWL: tuple[Setting, ...] = (
    _setting("depth", "--depth --max-depth", whole_number(0), "What to crawl",
        "Links to follow from the start, at most.", metavar="N", linktadoru="max_depth"),
    _setting("limit", "--limit -l --max-urls --max-pages", whole_number(0), "What to crawl",
        "URLs to request, exactly; 0 for no limit.", metavar="N", linktadoru="limit"),
    _setting("max_time", "--max-time", parse_positive_duration, "What to crawl", "Stop after this long.", metavar="TIME"),
    _setting("scope", "--scope", one_of("host", "domain", "path"), "What to crawl",
        "The site is its host, its domain, or what lies below the start.", metavar="host|domain|path"),
    _setting("include", "--include --include-patterns", parse_regex, "What to crawl",
        "Request only URLs that match this regular expression (repeatable).",
        metavar="REGEX", many=True, linktadoru="include_patterns"),
    _setting("exclude", "--exclude --exclude-patterns", parse_regex, "What to crawl",
        "Never request URLs that match it (repeatable).", metavar="REGEX", many=True, linktadoru="exclude_patterns"),
    _setting("strip_tracking", "--strip-tracking", parse_flag, "What to crawl",
        "Drop utm_*, gclid and other tracking parameters from URLs.", is_flag=True),
    _setting("strip_sessions", "--strip-sessions", parse_flag, "What to crawl", "Drop session ids from URLs.", is_flag=True),
    _setting("trap_limit", "--trap-limit", whole_number(0), "What to crawl",
        "URLs to request of one endless-looking kind (calendar, facets); 0: no limit.", metavar="N"),
    _setting("delay", "--delay -r", parse_delay, "Politeness",
        "Seconds between two requests to a host.", metavar="TIME", linktadoru="request_delay"),
    _setting("concurrency", "--concurrency -c", whole_number(1, 100), "Politeness",
        "Requests in flight at a time.", metavar="N", linktadoru="concurrency"),
    _setting("processes", "--processes", parse_process_count, "Politeness",
        "Processes to crawl with; auto: every core when there is no delay.", metavar="N|auto"),
    _setting("timeout", "--timeout -t", parse_positive_duration, "Politeness",
        "Patience for connecting, for an answer, and for its body.", metavar="TIME", linktadoru="request_timeout"),
    _setting("max_response_size", "--max-response-size", parse_size, "Politeness",
        "Give up on larger bodies.", metavar="SIZE", linktadoru="max_response_size"),
    _setting("ignore_robots", "--ignore-robots --no-robots --ignore-robots-txt", parse_flag, "Politeness",
        "Do not read robots.txt: only for sites that are yours.", is_flag=True, linktadoru="ignore_robots_txt"),
    _setting("user_agent", "--user-agent -u", parse_text, "Politeness",
        "How to introduce yourself.", metavar="TEXT", linktadoru="user_agent"),
    _setting("header", "--header -H", parse_text, "Access",
        "Send this header to the site, “Name: value” (repeatable).",
        metavar="HEADER", many=True, secret=True, linktadoru="headers", role=SettingRole.CREDENTIAL),
    _setting("cookies", "--cookies", parse_text, "Access", "Send the cookies of this file (cookies.txt).", metavar="FILE",
        role=SettingRole.CREDENTIAL_NAME),
    _setting("auth_type", "--auth-type", one_of("basic", "bearer", "api-key"), "Access",
        "Sign in to the site.", metavar="basic|bearer|api-key", linktadoru="auth_type"),
    _setting("auth_username", "--auth-username", parse_text, "Access",
        "User name for basic.", metavar="NAME", linktadoru="auth_basic_username", role=SettingRole.CREDENTIAL),
    _setting("auth_password", "--auth-password", parse_text, "Access",
        "Password for basic; better in TADORU_AUTH_PASSWORD.", metavar="WORD", secret=True, linktadoru="auth_basic_password",
        role=SettingRole.CREDENTIAL),
    _setting("auth_token", "--auth-token", parse_text, "Access",
        "Token for bearer; better in TADORU_AUTH_TOKEN.", metavar="TOKEN", secret=True, linktadoru="auth_bearer_token",
        role=SettingRole.CREDENTIAL),
    _setting("auth_header", "--auth-header", parse_text, "Access",
        "Header name for api-key.", metavar="NAME", linktadoru="auth_apikey_header", role=SettingRole.CREDENTIAL),
    _setting("auth_value", "--auth-value", parse_text, "Access",
        "Key for api-key; better in TADORU_AUTH_VALUE.", metavar="VALUE", secret=True, linktadoru="auth_apikey_value",
        role=SettingRole.CREDENTIAL),
    _setting("proxy", "--proxy", parse_text, "Access", "Send everything through this HTTP proxy.", metavar="URL", secret=True,
        role=SettingRole.DESTINATION),
    _setting("insecure", "--insecure", parse_flag, "Access", "Accept any TLS certificate.", is_flag=True, role=SettingRole.DESTINATION),
    _setting("allow_private", "--allow-private", parse_flag, "Access", "Let pages lead to private and loopback addresses.", is_flag=True),
)  # fmt: skip

LINKS: tuple[Setting, ...] = (
    _setting("subdomains", "--subdomains", parse_flag, "What to crawl", "The whole domain; the same as --scope domain.", is_flag=True),
    _setting("list", "--list", parse_flag, "What to crawl", "Request exactly the given URLs and follow nothing.", is_flag=True),
    _setting("check", "--check", parse_flag, "Checking",
        "Request external links too; report each broken link with the pages that have it.", is_flag=True),
    _setting("fragments", "--fragments", parse_flag, "Checking", "Check that #fragments exist on the pages they point into.", is_flag=True),
    _setting("accept", "--accept", parse_text, "Checking", "Status codes that count as working.", metavar="CODES"),
    _setting("ignore", "--ignore", parse_regex, "Checking",
        "Do not report links that match this regular expression (repeatable).", metavar="REGEX", many=True),
    _setting("suppress", "--suppress", parse_text, "Checking", "A file of links known to be bad, each with its reason.", metavar="FILE"),
    _setting("fail_on", "--fail-on", parse_text, "Checking",
        "Exit 10 when exceeded: broken, blocked, fragment, redirects, errors, any, broken>5 …", metavar="WHAT"),
    _setting("format", "--format -f", one_of(*LINKS_FORMATS), "Output", "How to show the result.", metavar="|".join(LINKS_FORMATS)),
    _setting("output", "--output -o", parse_text, "Output", "Write the result to this file.", metavar="FILE"),
    _setting("include_external", "--include-external", parse_flag, "Output", "List external URLs too.", is_flag=True),
    _setting("state", "--state", parse_text, "Output",
        "Keep the crawl in this file, to resume or to share it.", metavar="FILE", role=SettingRole.START),
)  # fmt: skip

AUDIT: tuple[Setting, ...] = (
    _setting("database", "--database -d", parse_text, "Output",
        "The crawl; resumed or joined when it is there.", metavar="FILE|URL", linktadoru="database_path", role=SettingRole.STORAGE),
    _setting("follow_external_hosts", "--follow-external-hosts", parse_flag, "What to crawl",
        "Crawl every host that is linked to: give a --limit.", is_flag=True, linktadoru="follow_external_hosts"),
    _setting("pages_per_host", "--pages-per-host", whole_number(0), "What to crawl",
        "Requests for pages of one host, at most; 0: no bound. When every host is followed: 10000.", metavar="N"),
    _setting("hosts_per_domain", "--hosts-per-domain", whole_number(0), "What to crawl",
        "Hosts of one domain to crawl, at most; 0: no bound. When every host is followed: 100.", metavar="N"),
    _setting("queue_limit", "--queue-limit", whole_number(0), "What to crawl",
        "URLs that wait at a time; the rest is put off. 0: no bound. When every host is followed: 1000000.", metavar="N"),
    _setting("seed_urls", "--seed", parse_text, "What to crawl", "One more URL to start from (repeatable).",
        metavar="URL", many=True, linktadoru="seed_urls", role=SettingRole.START),
    _setting("list", "--list", parse_flag, "What to crawl", "Request exactly the given URLs and follow nothing.", is_flag=True),
    _setting("recrawl", "--recrawl", parse_flag, "What to crawl",
        "Ask every known page for what changed; the last run is kept.", is_flag=True),
    _setting("sitemap", "--sitemap", one_of("auto", "only", "off"), "What to crawl",
        "Crawl what sitemaps name too, only that, or do not read them.", metavar="auto|only|off"),
    _setting("sitemap_url", "--sitemap-url", parse_text, "What to crawl",
        "Read this sitemap instead of those of robots.txt (repeatable).", metavar="URL", many=True),
    _setting("render", "--render", one_of("auto", "always", "never"), "Checking",
        "Use a browser for pages that are empty without, for all, for none.", metavar="auto|always|never"),
    _setting("check_external", "--check-external", parse_flag, "Checking",
        "Request external links and resources too.", is_flag=True),
    _setting("fragments", "--fragments", parse_flag, "Checking", "Check that #fragments exist on the pages they point into.", is_flag=True),
    _setting("resources", "--resources", whole_number(0), "Checking",
        "Images, scripts and styles to try once the pages are done; 0 for none.", metavar="N"),
    _setting("store_bodies", "--store-bodies", parse_flag, "Output", "Keep the pages themselves, for `tadoru export --format warc`.",
        is_flag=True),
    _setting("extract", "--extract", parse_text, "Checking",
        "Keep a value of each page: name=css:…, name=xpath:… or name=regex:… (repeatable).", metavar="NAME=HOW", many=True),
    _setting("threshold", "--threshold", parse_text, "Checking",
        "Set the threshold of a check: ID=NUMBER (repeatable).", metavar="ID=N", many=True),
    _setting("no_plugins", "--no-plugins", parse_flag, "Checking", "Leave out the checks of installed plugins.", is_flag=True),
    _setting("fail_on", "--fail-on", parse_text, "Checking",
        "Exit 10 when exceeded: error, warning>10, title-missing, score<80, new-error … (repeatable).",
        metavar="WHAT", many=True),
    _setting("baseline", "--baseline", parse_text, "Checking", "Count only findings that this earlier crawl does not have.", metavar="DB"),
    _setting("suppress", "--suppress", parse_text, "Checking", "A file of findings that are accepted, each with its reason.", metavar="FILE"),
    _setting("report", "--report", parse_text, "Output",
        "Write a report too, as .html, .json, .md, .xml or .sarif (repeatable).", metavar="FILE", many=True),
    _setting("lang", "--lang", one_of("en", "ja"), "Output", "The language of reports.", metavar="en|ja"),
)  # fmt: skip

DOCS: tuple[Setting, ...] = (
    _setting("same_domain", "--same-domain", parse_flag, "What to crawl",
        "Stay on the start's host, or follow links to every host.", is_flag=True, negated="--no-same-domain"),
    _setting("sitemap", "--sitemap", one_of("auto", "only", "off"), "What to crawl",
        "Crawl what sitemaps name too, only that, or do not read them.", metavar="auto|only|off"),
    _setting("sitemap_url", "--sitemap-url", parse_text, "What to crawl",
        "Read this sitemap instead of those of robots.txt (repeatable).", metavar="URL", many=True),
    _setting("variants", "--variants", one_of("version", "language", "print", "index", "source", "all"), "What to crawl",
        "Read pages too that say again what others say: other versions, other languages, books on one page … (repeatable).",
        metavar="KIND", many=True),
    _setting("language", "--language", parse_text, "What to crawl", "The language to read; the start page's when left out.", metavar="CODE"),
    _setting("own_markdown", "--own-markdown", parse_flag, "Reading",
        "Prefer the site's own Markdown where it is complete.", is_flag=True, negated="--no-own-markdown"),
    _setting("render", "--render", one_of("auto", "always", "never"), "Reading",
        "Use a browser for pages that are empty without, for all, for none.", metavar="auto|always|never"),
    _setting("spa_wait", "--spa-wait", parse_duration, "Reading",
        "For how long nothing may move before a page in the browser counts as complete.", metavar="TIME"),
    _setting("headed", "--headed", parse_flag, "Reading", "Show the browser.", is_flag=True),
    _setting("keep_session", "--keep-session", parse_flag, "Reading",
        "Keep the browser's cookies and storage in the site's folder, for the next run too.", is_flag=True),
    _setting("output", "--output -o", parse_text, "Output", "The site's folder. [.context/<site>]", metavar="DIR"),
    _setting("diff", "--diff", parse_flag, "Output",
        "Ask only for what changed, and tell it (changes.md).", is_flag=True),
    _setting("pages", "--pages", parse_flag, "Output", "A file for each page.", is_flag=True, negated="--no-pages"),
    _setting("merge", "--merge", parse_flag, "Output", "The whole site as one file (full.md, llms-full.txt).",
        is_flag=True, negated="--no-merge"),
    _setting("chunks", "--chunks", parse_flag, "Output", "The site in pieces, divided at titles.", is_flag=True, negated="--no-chunks"),
    _setting("chunk_tokens", "--chunk-tokens", whole_number(50, 1_000_000), "Output",
        "Pieces of at most so many tokens, each with its path of headings.", metavar="N"),
    _setting("local_links", "--local-links", parse_flag, "Output", "Let links between pages lead to their files.", is_flag=True),
    _setting("tokenizer", "--tokenizer", parse_text, "Output",
        "How tokens are counted: estimate, or the name of a tiktoken encoding.", metavar="NAME"),
)  # fmt: skip

_SHARED_WITH_EVENTS = (
    "delay", "concurrency", "timeout", "max_response_size", "ignore_robots", "user_agent", "proxy", "insecure", "allow_private",
)  # fmt: skip

EVENTS: tuple[Setting, ...] = (
    _setting("database", "--database -d", parse_text, "Where things are",
        "The events: a file, or postgresql://….", metavar="FILE|URL", role=SettingRole.STORAGE),
    _setting("files", "--files", parse_text, "Where things are",
        "Snapshots and run logs: a folder, or s3://bucket/prefix. [var beside the database]", metavar="DIR|URL",
        role=SettingRole.STORAGE),
    _setting("timezone", "--timezone", parse_time_zone, "Reading", "Where dates are meant, of sources that do not say it.", metavar="ZONE"),
    _setting("notify", "--notify", parse_text, "Telling",
        "Tell about failures, recoveries and sudden drops: an apprise address such as mailto://… or slack://… (repeatable).",
        metavar="URL", many=True, secret=True, role=SettingRole.DESTINATION),
    _setting("enrich", "--enrich", one_of("category", "summary", "llm"), "Enriching",
        "Fill in what sources leave out: a category by a model, a summary by the first sentences, or both by an endpoint "
        "(repeatable).", metavar="category|summary|llm", many=True),
    _setting("category_model", "--category-model", parse_text, "Enriching",
        "The model of categories, made by `tadoru events enrich train`.", metavar="FILE"),
    _setting("llm_url", "--llm-url", parse_text, "Enriching",
        "An endpoint that speaks OpenAI's language, up to /chat/completions: https://llm.example/v1.", metavar="URL",
        role=SettingRole.DESTINATION),
    _setting("llm_model", "--llm-model", parse_text, "Enriching", "The model to ask there.", metavar="NAME"),
    _setting("llm_key", "--llm-key", parse_text, "Enriching", "The name of the variable that holds its key.", metavar="VARIABLE",
        role=SettingRole.CREDENTIAL_NAME),
    _setting("llm_category", "--llm-category", parse_text, "Enriching",
        "A category it may choose; those of --category-model when left out (repeatable).", metavar="NAME", many=True),
    _setting("llm_budget", "--llm-budget", whole_number(0), "Enriching",
        "Ask at most so many questions: in a run, or in a day of a worker.", metavar="N"),
    _setting("llm_timeout", "--llm-timeout", parse_positive_duration, "Enriching", "Patience for one answer.", metavar="TIME"),
    _setting("search_engine", "--search-engine", one_of("meilisearch", "typesense"), "Searching",
        "A search engine to keep up to date with the calendar.", metavar="meilisearch|typesense"),
    _setting("search_url", "--search-url", parse_text, "Searching", "Where it listens: http://127.0.0.1:7700.", metavar="URL",
        role=SettingRole.DESTINATION),
    _setting("search_key", "--search-key", parse_text, "Searching", "The name of the variable that holds its key.", metavar="VARIABLE",
        role=SettingRole.CREDENTIAL_NAME),
    _setting("search_index", "--search-index", parse_text, "Searching", "What the index is called there.", metavar="NAME"),
    _setting("search_archived", "--search-archived", parse_flag, "Searching", "Archived events can be searched there as well.",
        is_flag=True, negated="--no-search-archived"),
    *(setting for setting in CRAWL if setting.name in _SHARED_WITH_EVENTS),
)  # fmt: skip


SERVE: tuple[Setting, ...] = (
    _setting("database", "--database -d", parse_text, "Where things are",
        "Events, users, keys: a file, or postgresql://….", metavar="FILE|URL", role=SettingRole.STORAGE),
    _setting("host", "--host", parse_text, "Answering", "The address to listen on; 0.0.0.0 for all of this machine.", metavar="ADDRESS"),
    _setting("port", "--port", whole_number(0, 65535), "Answering", "The port to listen on; 0 for any that is free.", metavar="N"),
    _setting("workers", "--workers", whole_number(1, 64), "Answering", "Processes that answer.", metavar="N"),
    _setting("base_url", "--base-url", parse_origin, "Answering",
        "The public address, behind a proxy: https://events.example.",
        metavar="URL"),
    _setting("allow_host", "--allow-host", parse_text, "Answering",
        "One more name to answer for; others are turned away (repeatable).", metavar="NAME", many=True),
    _setting("trusted_proxy", "--trusted-proxy", parse_text, "Answering",
        "A proxy whose X-Forwarded-* headers are believed (repeatable).", metavar="ADDRESS", many=True),
    _setting("shutdown_timeout", "--shutdown-timeout", parse_positive_duration, "Answering",
        "Patience for requests that are under way when the service is stopped.", metavar="TIME"),
    _setting("rate_limit", "--rate-limit", whole_number(0), "Limits",
        "Requests a minute from one address; 0 for no limit.", metavar="N"),
    _setting("key_rate_limit", "--key-rate-limit", whole_number(0), "Limits",
        "Requests a minute with one key or by one person; 0 for no limit.", metavar="N"),
    _setting("cors", "--cors", parse_text, "Limits",
        "A site whose scripts may read what is public, such as https://town.example, or * (repeatable).",
        metavar="ORIGIN", many=True),
    _setting("crawls_at_once", "--crawls-at-once", whole_number(1, 64), "Crawls", "Crawls to run at the same time.", metavar="N"),
    _setting("crawls_queued", "--crawls-queued", whole_number(1, 100_000), "Crawls",
        "Maximum number of queued crawls for each user.", metavar="N"),
    _setting("crawl_private", "--crawl-private", parse_host_and_port, "Crawls", metavar="HOST:PORT", many=True, words=
        "A private address that crawls, sources and webhooks may reach, such as 10.0.0.5:80, or * for all (repeatable)."),
    _setting("crawl_quota", "--crawl-quota", parse_quota, "Crawls",
        "Disk space for the files of crawls and documentation sites; 0 for no limit.", metavar="SIZE"),
    _setting("notify", "--notify", parse_text, "Crawls",
        "Tell when a crawl finds a site worse than before, or better again: an apprise address such as mailto://… (repeatable).",
        metavar="URL", many=True, secret=True, role=SettingRole.DESTINATION),
    _setting("webhook_secret", "--webhook-secret", parse_text, "Crawls", metavar="WORD", secret=True, words=
        "Sign what is sent to webhooks with this; better in TADORU_WEBHOOK_SECRET.", role=SettingRole.CREDENTIAL),
    _setting("embed", "--embed", parse_frame_origin, "Limits",
        "A site that may show /embed in a frame, such as https://town.example, or * (repeatable).", metavar="ORIGIN", many=True),
    _setting("audit_days", "--audit-days", whole_number(0), "Limits",
        "Days that the log of changes is kept for; 0 for ever.", metavar="N"),
    _setting("site_name", "--site-name", parse_name, "Reading", "The name of the calendar, in pages and feeds.", metavar="NAME"),
    _setting("contact", "--contact", parse_contact_url, "Reading",
        "Where to find who is responsible: a page such as https://town.example/imprint, or mailto:….", metavar="URL"),
    _setting("timezone", "--timezone", parse_time_zone, "Reading", "Where dates without a place are meant.", metavar="ZONE"),
    _setting("lang", "--lang", one_of("en", "ja"), "Reading", "The language of pages, unless a visitor prefers the other.",
        metavar="en|ja"),
)  # fmt: skip


WORKER: tuple[Setting, ...] = (
    _setting("database", "--database -d", parse_text, "Working", "The database of the cluster: postgresql://….", metavar="URL",
        role=SettingRole.STORAGE),
    _setting("hosts", "--hosts", whole_number(1, 2000), "Working", "Hosts to ask at a time.", metavar="N"),
    _setting("slice", "--slice", parse_positive_duration, "Working",
        "How long to ask one host, before another worker or another crawl has its turn.", metavar="TIME"),
    _setting("events", "--events", parse_flag, "Working", "Collect the sources of the calendar in the same database too.",
        is_flag=True, negated="--no-events"),
    _setting("name", "--name", parse_name, "Being seen", "What this worker is called; its machine and process when left out.",
        metavar="NAME"),
    _setting("metrics", "--metrics", parse_host_and_port, "Being seen",
        "Answer /metrics for Prometheus here, such as 127.0.0.1:9464.", metavar="ADDRESS:PORT"),
)  # fmt: skip


def _with_short_depth(settings: tuple[Setting, ...]) -> tuple[Setting, ...]:
    """In `docs`, as its seed has it, `-d` is the depth."""
    return tuple(replace(one, flags=(*one.flags, "-d")) if one.name == "depth" else one for one in settings)


JOB_SETTINGS: dict[str, tuple[Setting, ...]] = {
    "links": CRAWL + LINKS,
    "audit": CRAWL + AUDIT,
    "docs": _with_short_depth(CRAWL) + DOCS,
    "events": EVENTS,
    "serve": SERVE,
    "worker": WORKER,
}
