"""How each option is spelt: its flags, its key in a file, what values it takes, and a line of help. One table for everything:
the command line, `TADORU_*` variables, configuration files, `--show-config` and the generated reference all read it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from tadoru.setting_values import (
    Parse,
    auto_or_whole,
    choice,
    contact_address,
    delay,
    duration,
    flag,
    host_and_port,
    pattern,
    positive_duration,
    quota,
    short_text,
    site_of_frames,
    size,
    text,
    web_address,
    whole,
    zone,
)


class Role(StrEnum):
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
    parse: Parse
    help: str
    group: str
    metavar: str = ""
    many: bool = False
    is_flag: bool = False
    negated: str = ""
    """The flag that switches it off, where it is on by default."""
    secret: bool = False
    """Its value is shown to nobody."""
    role: Role = Role.PLAIN
    linktadoru: str | None = None
    """LinkTadoru's key for it, in its file and (upper case, after `LT_`) its environment."""


def _s(name: str, flags: str, parse: Parse, group: str, words: str, **more: Any) -> Setting:
    return Setting(name=name, flags=tuple(flags.split()), parse=parse, group=group, help=words, **more)


FORMS = ("text", "json", "csv", "dot", "html")

CRAWL: tuple[Setting, ...] = (
    _s("depth", "--depth --max-depth", whole(0), "What to crawl",
        "Links to follow from the start, at most.", metavar="N", linktadoru="max_depth"),
    _s("limit", "--limit -l --max-urls --max-pages", whole(0), "What to crawl",
        "URLs to request, exactly; 0 for no limit.", metavar="N", linktadoru="limit"),
    _s("max_time", "--max-time", positive_duration, "What to crawl", "Stop after this long.", metavar="TIME"),
    _s("scope", "--scope", choice("host", "domain", "path"), "What to crawl",
        "The site is its host, its domain, or what lies below the start.", metavar="host|domain|path"),
    _s("include", "--include --include-patterns", pattern, "What to crawl",
        "Request only URLs that match this regular expression (repeatable).",
        metavar="REGEX", many=True, linktadoru="include_patterns"),
    _s("exclude", "--exclude --exclude-patterns", pattern, "What to crawl",
        "Never request URLs that match it (repeatable).", metavar="REGEX", many=True, linktadoru="exclude_patterns"),
    _s("strip_tracking", "--strip-tracking", flag, "What to crawl",
        "Drop utm_*, gclid and other tracking parameters from URLs.", is_flag=True),
    _s("strip_sessions", "--strip-sessions", flag, "What to crawl", "Drop session ids from URLs.", is_flag=True),
    _s("trap_limit", "--trap-limit", whole(0), "What to crawl",
        "URLs to request of one endless-looking kind (calendar, facets); 0: no limit.", metavar="N"),
    _s("delay", "--delay -r", delay, "Politeness",
        "Seconds between two requests to a host.", metavar="TIME", linktadoru="request_delay"),
    _s("concurrency", "--concurrency -c", whole(1, 100), "Politeness",
        "Requests in flight at a time.", metavar="N", linktadoru="concurrency"),
    _s("processes", "--processes", auto_or_whole, "Politeness",
        "Processes to crawl with; auto: every core when there is no delay.", metavar="N|auto"),
    _s("timeout", "--timeout -t", positive_duration, "Politeness",
        "Patience for connecting, for an answer, and for its body.", metavar="TIME", linktadoru="request_timeout"),
    _s("max_response_size", "--max-response-size", size, "Politeness",
        "Give up on larger bodies.", metavar="SIZE", linktadoru="max_response_size"),
    _s("ignore_robots", "--ignore-robots --no-robots --ignore-robots-txt", flag, "Politeness",
        "Do not read robots.txt: only for sites that are yours.", is_flag=True, linktadoru="ignore_robots_txt"),
    _s("user_agent", "--user-agent -u", text, "Politeness",
        "How to introduce yourself.", metavar="TEXT", linktadoru="user_agent"),
    _s("header", "--header -H", text, "Access",
        "Send this header to the site, “Name: value” (repeatable).",
        metavar="HEADER", many=True, secret=True, linktadoru="headers", role=Role.CREDENTIAL),
    _s("cookies", "--cookies", text, "Access", "Send the cookies of this file (cookies.txt).", metavar="FILE",
        role=Role.CREDENTIAL_NAME),
    _s("auth_type", "--auth-type", choice("basic", "bearer", "api-key"), "Access",
        "Sign in to the site.", metavar="basic|bearer|api-key", linktadoru="auth_type"),
    _s("auth_username", "--auth-username", text, "Access",
        "User name for basic.", metavar="NAME", linktadoru="auth_basic_username", role=Role.CREDENTIAL),
    _s("auth_password", "--auth-password", text, "Access",
        "Password for basic; better in TADORU_AUTH_PASSWORD.", metavar="WORD", secret=True, linktadoru="auth_basic_password",
        role=Role.CREDENTIAL),
    _s("auth_token", "--auth-token", text, "Access",
        "Token for bearer; better in TADORU_AUTH_TOKEN.", metavar="TOKEN", secret=True, linktadoru="auth_bearer_token",
        role=Role.CREDENTIAL),
    _s("auth_header", "--auth-header", text, "Access",
        "Header name for api-key.", metavar="NAME", linktadoru="auth_apikey_header", role=Role.CREDENTIAL),
    _s("auth_value", "--auth-value", text, "Access",
        "Key for api-key; better in TADORU_AUTH_VALUE.", metavar="VALUE", secret=True, linktadoru="auth_apikey_value",
        role=Role.CREDENTIAL),
    _s("proxy", "--proxy", text, "Access", "Send everything through this HTTP proxy.", metavar="URL", secret=True,
        role=Role.DESTINATION),
    _s("insecure", "--insecure", flag, "Access", "Accept any TLS certificate.", is_flag=True, role=Role.DESTINATION),
    _s("allow_private", "--allow-private", flag, "Access", "Let pages lead to private and loopback addresses.", is_flag=True),
)  # fmt: skip

LINKS: tuple[Setting, ...] = (
    _s("subdomains", "--subdomains", flag, "What to crawl", "The whole domain; the same as --scope domain.", is_flag=True),
    _s("list", "--list", flag, "What to crawl", "Request exactly the given URLs and follow nothing.", is_flag=True),
    _s("check", "--check", flag, "Checking",
        "Request external links too; report each broken link with the pages that have it.", is_flag=True),
    _s("fragments", "--fragments", flag, "Checking", "Check that #fragments exist on the pages they point into.", is_flag=True),
    _s("accept", "--accept", text, "Checking", "Status codes that count as working.", metavar="CODES"),
    _s("ignore", "--ignore", pattern, "Checking",
        "Do not report links that match this regular expression (repeatable).", metavar="REGEX", many=True),
    _s("suppress", "--suppress", text, "Checking", "A file of links known to be bad, each with its reason.", metavar="FILE"),
    _s("fail_on", "--fail-on", text, "Checking",
        "Exit 10 when exceeded: broken, blocked, fragment, redirects, errors, any, broken>5 …", metavar="WHAT"),
    _s("format", "--format -f", choice(*FORMS), "Output", "How to show the result.", metavar="|".join(FORMS)),
    _s("output", "--output -o", text, "Output", "Write the result to this file.", metavar="FILE"),
    _s("include_external", "--include-external", flag, "Output", "List external URLs too.", is_flag=True),
    _s("state", "--state", text, "Output",
        "Keep the crawl in this file, to resume or to share it.", metavar="FILE", role=Role.START),
)  # fmt: skip

AUDIT: tuple[Setting, ...] = (
    _s("database", "--database -d", text, "Output",
        "The crawl; resumed or joined when it is there.", metavar="FILE|URL", linktadoru="database_path", role=Role.STORAGE),
    _s("follow_external_hosts", "--follow-external-hosts", flag, "What to crawl",
        "Crawl every host that is linked to: give a --limit.", is_flag=True, linktadoru="follow_external_hosts"),
    _s("pages_per_host", "--pages-per-host", whole(0), "What to crawl",
        "Requests for pages of one host, at most; 0: no bound. When every host is followed: 10000.", metavar="N"),
    _s("hosts_per_domain", "--hosts-per-domain", whole(0), "What to crawl",
        "Hosts of one domain to crawl, at most; 0: no bound. When every host is followed: 100.", metavar="N"),
    _s("queue_limit", "--queue-limit", whole(0), "What to crawl",
        "URLs that wait at a time; the rest is put off. 0: no bound. When every host is followed: 1000000.", metavar="N"),
    _s("seed_urls", "--seed", text, "What to crawl", "One more URL to start from (repeatable).",
        metavar="URL", many=True, linktadoru="seed_urls", role=Role.START),
    _s("list", "--list", flag, "What to crawl", "Request exactly the given URLs and follow nothing.", is_flag=True),
    _s("recrawl", "--recrawl", flag, "What to crawl",
        "Ask every known page for what changed; the last run is kept.", is_flag=True),
    _s("sitemap", "--sitemap", choice("auto", "only", "off"), "What to crawl",
        "Crawl what sitemaps name too, only that, or do not read them.", metavar="auto|only|off"),
    _s("sitemap_url", "--sitemap-url", text, "What to crawl",
        "Read this sitemap instead of those of robots.txt (repeatable).", metavar="URL", many=True),
    _s("render", "--render", choice("auto", "always", "never"), "Checking",
        "Use a browser for pages that are empty without, for all, for none.", metavar="auto|always|never"),
    _s("check_external", "--check-external", flag, "Checking",
        "Request external links and resources too.", is_flag=True),
    _s("fragments", "--fragments", flag, "Checking", "Check that #fragments exist on the pages they point into.", is_flag=True),
    _s("resources", "--resources", whole(0), "Checking",
        "Images, scripts and styles to try once the pages are done; 0 for none.", metavar="N"),
    _s("store_bodies", "--store-bodies", flag, "Output", "Keep the pages themselves, for `tadoru export --format warc`.",
        is_flag=True),
    _s("extract", "--extract", text, "Checking",
        "Keep a value of each page: name=css:…, name=xpath:… or name=regex:… (repeatable).", metavar="NAME=HOW", many=True),
    _s("threshold", "--threshold", text, "Checking",
        "Set the threshold of a check: ID=NUMBER (repeatable).", metavar="ID=N", many=True),
    _s("no_plugins", "--no-plugins", flag, "Checking", "Leave out the checks of installed plugins.", is_flag=True),
    _s("fail_on", "--fail-on", text, "Checking",
        "Exit 10 when exceeded: error, warning>10, title-missing, score<80, new-error … (repeatable).",
        metavar="WHAT", many=True),
    _s("baseline", "--baseline", text, "Checking", "Count only findings that this earlier crawl does not have.", metavar="DB"),
    _s("suppress", "--suppress", text, "Checking", "A file of findings that are accepted, each with its reason.", metavar="FILE"),
    _s("report", "--report", text, "Output",
        "Write a report too, as .html, .json, .md, .xml or .sarif (repeatable).", metavar="FILE", many=True),
    _s("lang", "--lang", choice("en", "ja"), "Output", "The language of reports.", metavar="en|ja"),
)  # fmt: skip

DOCS: tuple[Setting, ...] = (
    _s("same_domain", "--same-domain", flag, "What to crawl",
        "Stay on the start's host, or follow links to every host.", is_flag=True, negated="--no-same-domain"),
    _s("sitemap", "--sitemap", choice("auto", "only", "off"), "What to crawl",
        "Crawl what sitemaps name too, only that, or do not read them.", metavar="auto|only|off"),
    _s("sitemap_url", "--sitemap-url", text, "What to crawl",
        "Read this sitemap instead of those of robots.txt (repeatable).", metavar="URL", many=True),
    _s("variants", "--variants", choice("version", "language", "print", "index", "source", "all"), "What to crawl",
        "Read pages too that say again what others say: other versions, other languages, books on one page … (repeatable).",
        metavar="KIND", many=True),
    _s("language", "--language", text, "What to crawl", "The language to read; the start page's when left out.", metavar="CODE"),
    _s("own_markdown", "--own-markdown", flag, "Reading",
        "Prefer the site's own Markdown where it is complete.", is_flag=True, negated="--no-own-markdown"),
    _s("render", "--render", choice("auto", "always", "never"), "Reading",
        "Use a browser for pages that are empty without, for all, for none.", metavar="auto|always|never"),
    _s("spa_wait", "--spa-wait", duration, "Reading",
        "For how long nothing may move before a page in the browser counts as complete.", metavar="TIME"),
    _s("headed", "--headed", flag, "Reading", "Show the browser.", is_flag=True),
    _s("keep_session", "--keep-session", flag, "Reading",
        "Keep the browser's cookies and storage in the site's folder, for the next run too.", is_flag=True),
    _s("output", "--output -o", text, "Output", "The site's folder. [.context/<site>]", metavar="DIR"),
    _s("diff", "--diff", flag, "Output",
        "Ask only for what changed, and tell it (changes.md).", is_flag=True),
    _s("pages", "--pages", flag, "Output", "A file for each page.", is_flag=True, negated="--no-pages"),
    _s("merge", "--merge", flag, "Output", "The whole site as one file (full.md, llms-full.txt).",
        is_flag=True, negated="--no-merge"),
    _s("chunks", "--chunks", flag, "Output", "The site in pieces, divided at titles.", is_flag=True, negated="--no-chunks"),
    _s("chunk_tokens", "--chunk-tokens", whole(50, 1_000_000), "Output",
        "Pieces of at most so many tokens, each with its path of headings.", metavar="N"),
    _s("local_links", "--local-links", flag, "Output", "Let links between pages lead to their files.", is_flag=True),
    _s("tokenizer", "--tokenizer", text, "Output",
        "How tokens are counted: estimate, or the name of a tiktoken encoding.", metavar="NAME"),
)  # fmt: skip

_SHARED = (
    "delay", "concurrency", "timeout", "max_response_size", "ignore_robots", "user_agent", "proxy", "insecure", "allow_private",
)  # fmt: skip

EVENTS: tuple[Setting, ...] = (
    _s("database", "--database -d", text, "Where things are",
        "The events: a file, or postgresql://….", metavar="FILE|URL", role=Role.STORAGE),
    _s("files", "--files", text, "Where things are",
        "Snapshots and run logs: a folder, or s3://bucket/prefix. [var beside the database]", metavar="DIR|URL",
        role=Role.STORAGE),
    _s("timezone", "--timezone", zone, "Reading", "Where dates are meant, of sources that do not say it.", metavar="ZONE"),
    _s("notify", "--notify", text, "Telling",
        "Tell about failures, recoveries and sudden drops: an apprise address such as mailto://… or slack://… (repeatable).",
        metavar="URL", many=True, secret=True, role=Role.DESTINATION),
    _s("enrich", "--enrich", choice("category", "summary", "llm"), "Enriching",
        "Fill in what sources leave out: a category by a model, a summary by the first sentences, or both by an endpoint "
        "(repeatable).", metavar="category|summary|llm", many=True),
    _s("category_model", "--category-model", text, "Enriching",
        "The model of categories, made by `tadoru events enrich train`.", metavar="FILE"),
    _s("llm_url", "--llm-url", text, "Enriching",
        "An endpoint that speaks OpenAI's language, up to /chat/completions: https://llm.example/v1.", metavar="URL",
        role=Role.DESTINATION),
    _s("llm_model", "--llm-model", text, "Enriching", "The model to ask there.", metavar="NAME"),
    _s("llm_key", "--llm-key", text, "Enriching", "The name of the variable that holds its key.", metavar="VARIABLE",
        role=Role.CREDENTIAL_NAME),
    _s("llm_category", "--llm-category", text, "Enriching",
        "A category it may choose; those of --category-model when left out (repeatable).", metavar="NAME", many=True),
    _s("llm_budget", "--llm-budget", whole(0), "Enriching",
        "Ask at most so many questions: in a run, or in a day of a worker.", metavar="N"),
    _s("llm_timeout", "--llm-timeout", positive_duration, "Enriching", "Patience for one answer.", metavar="TIME"),
    _s("search_engine", "--search-engine", choice("meilisearch", "typesense"), "Searching",
        "A search engine to keep up to date with the calendar.", metavar="meilisearch|typesense"),
    _s("search_url", "--search-url", text, "Searching", "Where it listens: http://127.0.0.1:7700.", metavar="URL",
        role=Role.DESTINATION),
    _s("search_key", "--search-key", text, "Searching", "The name of the variable that holds its key.", metavar="VARIABLE",
        role=Role.CREDENTIAL_NAME),
    _s("search_index", "--search-index", text, "Searching", "What the index is called there.", metavar="NAME"),
    _s("search_archived", "--search-archived", flag, "Searching", "Archived events can be searched there as well.",
        is_flag=True, negated="--no-search-archived"),
    *(setting for setting in CRAWL if setting.name in _SHARED),
)  # fmt: skip


SERVE: tuple[Setting, ...] = (
    _s("database", "--database -d", text, "Where things are",
        "Events, users, keys: a file, or postgresql://….", metavar="FILE|URL", role=Role.STORAGE),
    _s("host", "--host", text, "Answering", "The address to listen on; 0.0.0.0 for all of this machine.", metavar="ADDRESS"),
    _s("port", "--port", whole(0, 65535), "Answering", "The port to listen on; 0 for any that is free.", metavar="N"),
    _s("workers", "--workers", whole(1, 64), "Answering", "Processes that answer.", metavar="N"),
    _s("base_url", "--base-url", web_address, "Answering",
        "The public address, behind a proxy: https://events.example.",
        metavar="URL"),
    _s("allow_host", "--allow-host", text, "Answering",
        "One more name to answer for; others are turned away (repeatable).", metavar="NAME", many=True),
    _s("trusted_proxy", "--trusted-proxy", text, "Answering",
        "A proxy whose X-Forwarded-* headers are believed (repeatable).", metavar="ADDRESS", many=True),
    _s("shutdown_timeout", "--shutdown-timeout", positive_duration, "Answering",
        "Patience for requests that are under way when the service is stopped.", metavar="TIME"),
    _s("rate_limit", "--rate-limit", whole(0), "Limits",
        "Requests a minute from one address; 0 for no limit.", metavar="N"),
    _s("key_rate_limit", "--key-rate-limit", whole(0), "Limits",
        "Requests a minute with one key or by one person; 0 for no limit.", metavar="N"),
    _s("cors", "--cors", text, "Limits",
        "A site whose scripts may read what is public, such as https://town.example, or * (repeatable).",
        metavar="ORIGIN", many=True),
    _s("crawls_at_once", "--crawls-at-once", whole(1, 64), "Crawls", "Crawls to run at the same time.", metavar="N"),
    _s("crawls_queued", "--crawls-queued", whole(1, 100_000), "Crawls",
        "Maximum number of queued crawls for each user.", metavar="N"),
    _s("crawl_private", "--crawl-private", host_and_port, "Crawls", metavar="HOST:PORT", many=True, words=
        "A private address that crawls, sources and webhooks may reach, such as 10.0.0.5:80, or * for all (repeatable)."),
    _s("crawl_quota", "--crawl-quota", quota, "Crawls",
        "Disk space for the files of crawls and documentation sites; 0 for no limit.", metavar="SIZE"),
    _s("notify", "--notify", text, "Crawls",
        "Tell when a crawl finds a site worse than before, or better again: an apprise address such as mailto://… (repeatable).",
        metavar="URL", many=True, secret=True, role=Role.DESTINATION),
    _s("webhook_secret", "--webhook-secret", text, "Crawls", metavar="WORD", secret=True, words=
        "Sign what is sent to webhooks with this; better in TADORU_WEBHOOK_SECRET.", role=Role.CREDENTIAL),
    _s("embed", "--embed", site_of_frames, "Limits",
        "A site that may show /embed in a frame, such as https://town.example, or * (repeatable).", metavar="ORIGIN", many=True),
    _s("audit_days", "--audit-days", whole(0), "Limits",
        "Days that the log of changes is kept for; 0 for ever.", metavar="N"),
    _s("site_name", "--site-name", short_text, "Reading", "The name of the calendar, in pages and feeds.", metavar="NAME"),
    _s("contact", "--contact", contact_address, "Reading",
        "Where to find who is responsible: a page such as https://town.example/imprint, or mailto:….", metavar="URL"),
    _s("timezone", "--timezone", zone, "Reading", "Where dates without a place are meant.", metavar="ZONE"),
    _s("lang", "--lang", choice("en", "ja"), "Reading", "The language of pages, unless a visitor prefers the other.",
        metavar="en|ja"),
)  # fmt: skip


WORKER: tuple[Setting, ...] = (
    _s("database", "--database -d", text, "Working", "The database of the cluster: postgresql://….", metavar="URL",
        role=Role.STORAGE),
    _s("hosts", "--hosts", whole(1, 2000), "Working", "Hosts to ask at a time.", metavar="N"),
    _s("slice", "--slice", positive_duration, "Working",
        "How long to ask one host, before another worker or another crawl has its turn.", metavar="TIME"),
    _s("events", "--events", flag, "Working", "Collect the sources of the calendar in the same database too.",
        is_flag=True, negated="--no-events"),
    _s("name", "--name", short_text, "Being seen", "What this worker is called; its machine and process when left out.",
        metavar="NAME"),
    _s("metrics", "--metrics", host_and_port, "Being seen",
        "Answer /metrics for Prometheus here, such as 127.0.0.1:9464.", metavar="ADDRESS:PORT"),
)  # fmt: skip


def _with_short_depth(settings: tuple[Setting, ...]) -> tuple[Setting, ...]:
    """In `docs`, as its seed has it, `-d` is the depth."""
    return tuple(replace(one, flags=(*one.flags, "-d")) if one.name == "depth" else one for one in settings)


JOBS: dict[str, tuple[Setting, ...]] = {
    "links": CRAWL + LINKS,
    "audit": CRAWL + AUDIT,
    "docs": _with_short_depth(CRAWL) + DOCS,
    "events": EVENTS,
    "serve": SERVE,
    "worker": WORKER,
}
