"""The options of each job as typed values with defaults, each declared once: the parameters of the Python API, the flags of the
command line, the keys of configuration files, and the fields of the service (`settings`). Values are resolved in `resolve`."""

from __future__ import annotations

from tadoru.config.parsers import (
    one_of,
    parse_accent,
    parse_contact_url,
    parse_delay,
    parse_frame_origin,
    parse_host_and_port,
    parse_host_value,
    parse_label,
    parse_link_kinds,
    parse_logo,
    parse_name,
    parse_origin,
    parse_paragraph,
    parse_positive_duration,
    parse_process_count,
    parse_quota,
    parse_regex,
    parse_remap,
    parse_search_bots,
    parse_size,
    parse_time_zone,
    parse_timeout,
    whole_number,
)
from tadoru.config.settings import CrawlField, JobOptions, Setting, SettingRole, job_options, option, option_of, settings_of
from tadoru.version import PROJECT_URL, VERSION

USER_AGENT = f"Tadoru/{VERSION} (+{PROJECT_URL})"
DAY = 24 * 3600.0


# fmt: off
@job_options
class CrawlOptions(JobOptions):
    """Options of all crawling jobs."""

    depth: int | None = option(None, "Scope", "Maximum link depth from the start URL.", whole_number(0), flags="--max-depth",
        linktadoru="max_depth", form=CrawlField("Depth", least=0, most=100))
    limit: int = option(0, "Scope",
        "Maximum URLs to request, not counting redirects, robots.txt, sitemaps and resources; 0 for no limit.", whole_number(0),
        flags="-l --max-urls --max-pages", linktadoru="limit",
        form=CrawlField("Page limit", "Maximum URLs to request, not counting redirects, robots.txt, sitemaps and resources.",
            default=10_000, least=1, most=1_000_000))
    max_time: float | None = option(None, "Scope", "Stop after this time.", parse_positive_duration, per_run=True,
        form=CrawlField("Time limit (seconds)", "Time limit of a run in seconds.", default=DAY, least=1.0, most=7 * DAY))
    scope: str = option("host", "Scope", "Stay on the host, the domain or the path of the start URL.",
        one_of("host", "domain", "path"),
        form=CrawlField("Scope", "Scope of the site: its host, its whole domain, or only the path of the start URL.",
            value_labels=("Same host", "Whole domain", "Below the path of the start URL")))
    include: tuple[str, ...] = option((), "Scope", "Request only URLs that match (repeatable).", parse_regex,
        flags="--include-patterns", linktadoru="include_patterns",
        form=CrawlField("Include (regex)", "Request only URLs that match one of these regular expressions."))
    exclude: tuple[str, ...] = option((), "Scope", "Never request URLs that match (repeatable).", parse_regex,
        flags="--exclude-patterns", linktadoru="exclude_patterns",
        form=CrawlField("Exclude (regex)", "Never request URLs that match one of these regular expressions."))
    strip_tracking: bool = option(False, "Scope", "Remove tracking parameters (utm_*, gclid …) from URLs.",
        form=CrawlField("Strip tracking parameters", "Remove utm_*, gclid and other tracking parameters from URLs."))
    strip_sessions: bool = option(False, "Scope", "Remove session IDs from URLs.", form=CrawlField("Strip session IDs"))
    trap_limit: int = option(500, "Scope",
        "Maximum URLs of one endless pattern (calendars, facets; by default 5000 numbered pages); 0 for no limit.",
        whole_number(0))
    delay: float = option(1.0, "Politeness", "Delay between requests to a host.", parse_delay, flags="-r",
        linktadoru="request_delay",
        form=CrawlField("Delay between requests (seconds)", "Seconds between two requests to a host.", least=0.1, most=60.0))
    concurrency: int = option(4, "Politeness", "Requests in flight.", whole_number(1, 100), flags="-c", linktadoru="concurrency",
        form=CrawlField("Concurrency", least=1, most=20))
    processes: int | None = option(None, "Politeness", "Crawler processes; auto: one per core if there is no delay.",
        parse_process_count, per_run=True)
    timeout: float = option(30.0, "Politeness", "Timeout for each phase of a request.", parse_timeout, flags="-t",
        linktadoru="request_timeout",
        form=CrawlField("Timeout (seconds)", "Timeout for each phase of a request in seconds.", least=1.0, most=120.0))
    max_response_size: int = option(10 * 1024 * 1024, "Politeness", "Maximum size of a response body.", parse_size,
        linktadoru="max_response_size")
    retries: int | None = option(None, "Politeness",
        "Retries of a request that fails temporarily. [1 to 3, depending on the failure]", whole_number(0, 20))
    ignore_robots: bool = option(False, "Politeness", "Ignore robots.txt (only for your own sites).",
        flags="--no-robots --ignore-robots-txt", linktadoru="ignore_robots_txt ignore_robots",
        form=CrawlField("Ignore robots.txt", admin=True))
    user_agent: str = option(USER_AGENT, "Politeness", "User-Agent header.", flags="-u", linktadoru="user_agent")
    robots_agent: str | None = option(None, "Politeness", "Obey robots.txt as this crawler, such as Googlebot. [the user agent]",
        metavar="NAME")
    robots_file: str | None = option(None, "Politeness", "Obey this file instead of the robots.txt of the site.", metavar="FILE")
    header: tuple[str, ...] = option((), "Access", "Send this header to the site, as “Name: value” (repeatable).", flags="-H",
        metavar="HEADER", secret=True, linktadoru="headers", role=SettingRole.CREDENTIAL)
    host_header: tuple[str, ...] = option((), "Access",
        "Send a header to one host only, as “HOST Name: value” (repeatable).", parse_host_value, metavar="'HOST HEADER'",
        secret=True, role=SettingRole.CREDENTIAL)
    host_auth: tuple[str, ...] = option((), "Access",
        "Sign in to one host, as “HOST user:password” or “HOST bearer TOKEN” (repeatable).", parse_host_value,
        metavar="'HOST SECRET'", secret=True, role=SettingRole.CREDENTIAL)
    cookies: str | None = option(None, "Access", "Send the cookies of a cookies.txt file.", metavar="FILE",
        role=SettingRole.CREDENTIAL_NAME)
    auth_type: str | None = option(None, "Access", "Authentication method of the site.", one_of("basic", "bearer", "api-key"),
        linktadoru="auth_type")
    auth_username: str | None = option(None, "Access", "User name for basic authentication.", metavar="NAME",
        linktadoru="auth_basic_username", role=SettingRole.CREDENTIAL)
    auth_password: str | None = option(None, "Access", "Password for basic authentication; prefer TADORU_AUTH_PASSWORD.",
        metavar="WORD", secret=True, linktadoru="auth_basic_password", role=SettingRole.CREDENTIAL)
    auth_token: str | None = option(None, "Access", "Bearer token; prefer TADORU_AUTH_TOKEN.", metavar="TOKEN", secret=True,
        linktadoru="auth_bearer_token", role=SettingRole.CREDENTIAL)
    auth_header: str | None = option(None, "Access", "Header name of the API key.", metavar="NAME",
        linktadoru="auth_apikey_header", role=SettingRole.CREDENTIAL)
    auth_value: str | None = option(None, "Access", "API key; prefer TADORU_AUTH_VALUE.", metavar="VALUE", secret=True,
        linktadoru="auth_apikey_value", role=SettingRole.CREDENTIAL)
    proxy: str | None = option(None, "Access", "Send all requests through this HTTP proxy.", metavar="URL", secret=True,
        role=SettingRole.DESTINATION)
    insecure: bool = option(False, "Access", "Skip verification of TLS certificates.", role=SettingRole.DESTINATION)
    allow_private: bool = option(False, "Access", "Allow links to private and loopback addresses.")
    log_file: str | None = option(None, "Output", "Add log lines as JSON to this file.", metavar="FILE", linktadoru="log_file")


@job_options
class LinksOptions(CrawlOptions):
    """Options of `tadoru links`."""

    depth: int | None = option_of(CrawlOptions, "depth", default=3)
    limit: int = option_of(CrawlOptions, "limit", default=1000)
    timeout: float = option_of(CrawlOptions, "timeout", default=10.0)
    subdomains: bool = option(False, "Scope", "Include subdomains; same as --scope domain.")
    exclude_file: str | None = option(None, "Scope",
        "File of regular expressions, one per line: never request URLs that match.", metavar="FILE")
    remap: tuple[str, ...] = option((), "Scope",
        "Request URLs below another URL: https://example.com=http://127.0.0.1:8080 (repeatable).", parse_remap,
        role=SettingRole.DESTINATION)
    list: bool = option(False, "Scope", "Request only the given URLs; follow no links.",
        form=CrawlField("List mode", "List mode: request only the given URLs and follow no links."))
    recrawl: bool = option(False, "Scope", "Request all known pages again for changes; the last run is kept.", per_run=True)
    check: bool = option(False, "Checks", "Check external links too; list broken links and their pages.",
        form=CrawlField("Check external links", "Check external links too and report every broken link with its source pages."))
    fragments: bool = option(False, "Checks", "Check that the #fragments of links exist.",
        form=CrawlField("Check anchor (#) links", "Check that the targets of #fragment links exist."))
    kinds: str = option("all", "Checks", "Kinds of references to check: all, img,script,style …, or -form for all but forms.",
        parse_link_kinds)
    base_url: str | None = option(None, "Checks", "URL of the given folder: links to it are checked in the folder.",
        metavar="URL")
    extensionless: bool = option(False, "Checks", "In a folder, accept /about for about.html.")
    accept: str = option("200..299", "Checks", "What counts as success: 200..299,403,timeout, or of a host: example.com=999.",
        metavar="CODES",
        form=CrawlField("Accepted status codes", "Status codes that count as working."))
    ignore: tuple[str, ...] = option((), "Checks", "Do not report links that match (repeatable).", parse_regex,
        form=CrawlField("Do not report (regex)", "Do not report links that match one of these regular expressions."))
    suppress: str | None = option(None, "Checks", "File of known broken links, each with a reason.", metavar="FILE", per_run=True)
    write_suppressions: str | None = option(None, "Checks",
        "Add the links that do not work to this file, with reasons to fill in.", metavar="FILE", per_run=True)
    cache: str | None = option(None, "Checks", "Keep results of external links in this file, and use recent ones.",
        metavar="FILE", per_run=True)
    max_age: float = option(DAY, "Checks", "Maximum age of a result in --cache.", parse_positive_duration, per_run=True)
    cache_failures: bool = option(False, "Checks", "Keep failures in --cache too.", per_run=True)
    fail_on: str | None = option(None, "Checks",
        "Exit with status 10 if exceeded: broken, blocked, fragment, redirects, errors, any, broken>5 …", metavar="WHAT",
        per_run=True)
    format: str = option("text", "Output", "Output format.",
        one_of("text", "json", "csv", "dot", "html", "sarif", "junit", "markdown", "codequality"), flags="-f")
    output: str | None = option(None, "Output", "Write the result to a file.", flags="-o", metavar="FILE")
    report: tuple[str, ...] = option((), "Output",
        "Also write a report: .sarif, .xml (JUnit), .md, codequality.json … (repeatable).", metavar="FILE")
    include_external: bool = option(False, "Output", "List external URLs too.")
    state: str | None = option(None, "Output", "Keep the crawl in this file, to resume or share it.", metavar="FILE",
        role=SettingRole.START)


@job_options
class AuditOptions(CrawlOptions):
    """Options of `tadoru audit`."""

    delay: float = option_of(CrawlOptions, "delay", default=0.1)
    concurrency: int = option_of(CrawlOptions, "concurrency", default=10)
    database: str = option("./tadoru.db", "Output", "Database of the crawl; an existing crawl is resumed.", flags="-d",
        metavar="FILE|URL", linktadoru="database_path", role=SettingRole.STORAGE)
    follow_external_hosts: bool = option(False, "Scope", "Crawl all linked hosts; use with --limit.",
        linktadoru="follow_external_hosts")
    pages_per_host: int | None = option(None, "Scope",
        "Maximum pages per host; 0 for no limit. [10000 with --follow-external-hosts]", whole_number(0))
    hosts_per_domain: int | None = option(None, "Scope",
        "Maximum hosts per domain; 0 for no limit. [100 with --follow-external-hosts]", whole_number(0))
    queue_limit: int | None = option(None, "Scope",
        "Maximum queued URLs; others are deferred; 0 for no limit. [1000000 with --follow-external-hosts]", whole_number(0))
    seed_urls: tuple[str, ...] = option((), "Scope", "Additional start URL (repeatable).", flag="--seed", metavar="URL",
        linktadoru="seed_urls", role=SettingRole.START)
    list: bool = option_of(LinksOptions, "list")
    recrawl: bool = option_of(LinksOptions, "recrawl")
    sitemap: str = option("auto", "Scope", "Also crawl the URLs of sitemaps, only those, or ignore sitemaps.",
        one_of("auto", "only", "off"),
        form=CrawlField("Sitemaps", "Crawl the URLs of sitemaps too (auto), only those, or ignore sitemaps (off).",
            value_labels=("Crawl listed pages too", "Listed pages only", "Off")))
    sitemap_url: tuple[str, ...] = option((), "Scope", "Sitemap to use instead of those in robots.txt (repeatable).",
        metavar="URL", form=CrawlField("Sitemap URLs", "Sitemaps to read instead of those in robots.txt."))
    render: str = option("never", "Checks", "Render in a browser: pages that need it, all, or none.",
        one_of("auto", "always", "never"),
        form=CrawlField("Render JavaScript", "Render JavaScript: only if the page needs it, always, or never.",
            value_labels=("Only if the page needs it", "All pages", "Off")))
    render_wait: float = option(0.5, "Checks", "Time without activity after which a rendered page is complete.", parse_delay)
    wait_for: str | None = option(None, "Checks", "CSS selector of an element that a rendered page waits for.",
        metavar="SELECTOR")
    check_external: bool = option(False, "Checks", "Check external links and resources too.",
        form=CrawlField("Check external links"))
    fragments: bool = option_of(LinksOptions, "fragments")
    resources: int = option(1000, "Checks", "Maximum images, scripts and styles to check after the pages; 0 for none.",
        whole_number(0),
        form=CrawlField("Resources to check",
            "Maximum number of images, scripts and styles to check after the pages; 0 for none.", least=0, most=10_000))
    store_bodies: bool = option(False, "Output", "Store page bodies, for `tadoru export --format warc`.",
        form=CrawlField("Store page bodies", "Store page bodies, for a WARC export."))
    search_bots: str = option("googlebot", "Checks",
        "Crawlers whose own robots directives count for indexability: googlebot,bingbot … or none.",
        parse_search_bots)
    extract: tuple[str, ...] = option((), "Checks",
        "Extract a value from each page: name=css:…, name=xpath:… or name=regex:… (repeatable).", metavar="NAME=HOW")
    threshold: tuple[str, ...] = option((), "Checks", "Set the threshold of a check: ID=NUMBER (repeatable).", metavar="ID=N")
    enable: tuple[str, ...] = option((), "Checks",
        "Run a check that is off by default: url-underscores, url-uppercase, inlinks-single (repeatable).", metavar="ID")
    no_plugins: bool = option(False, "Checks", "Disable the checks of plugins.")
    fail_on: tuple[str, ...] = option((), "Checks",
        "Exit with status 10 if exceeded: error, warning>10, title-missing, score<80, new-error … (repeatable).", metavar="WHAT",
        per_run=True)
    baseline: str | None = option(None, "Checks", "Count only findings that are not in this earlier crawl.", metavar="DB",
        per_run=True)
    suppress: str | None = option(None, "Checks", "File of accepted findings, each with a reason.", metavar="FILE", per_run=True)
    report: tuple[str, ...] = option((), "Output",
        "Also write a report: .html, .json, .md, .xml, .sarif … (repeatable).", metavar="FILE")
    lang: str = option("en", "Output", "Language of reports.", one_of("en", "ja"))


@job_options
class DocsOptions(CrawlOptions):
    """Options of `tadoru docs`."""

    depth: int | None = option_of(CrawlOptions, "depth", default=2, flags="-d")
    delay: float = option_of(CrawlOptions, "delay", default=0.5)
    same_domain: bool = option(True, "Scope", "Stay on the host of the start URL.")
    sitemap: str = option_of(AuditOptions, "sitemap")
    sitemap_url: tuple[str, ...] = option_of(AuditOptions, "sitemap_url")
    variants: tuple[str, ...] = option((), "Scope",
        "Also download duplicate content: other versions, other languages, single-page editions … (repeatable).",
        one_of("version", "language", "print", "index", "source", "all"), metavar="KIND",
        form=CrawlField("Variants to crawl too",
            "Include variants of pages: other versions, other languages, print versions, indexes, source code."))
    language: str | None = option(None, "Scope", "Language of the pages; default: that of the start page.", metavar="CODE",
        form=CrawlField("Language", "Language to read; empty for the language of the start page."))
    own_markdown: bool = option(True, "Content", "Prefer the site's own Markdown where it is complete.",
        form=CrawlField("Prefer the Markdown of the site", "Prefer the site's own Markdown if it is complete."))
    render: str = option_of(AuditOptions, "render", default="auto", group="Content")
    spa_wait: float = option(2.0, "Content", "Time without changes after which a rendered page is complete.", parse_delay)
    headed: bool = option(False, "Content", "Show the browser window.", per_run=True)
    keep_session: bool = option(False, "Content", "Keep cookies and storage of the browser for the next run.")
    output: str | None = option(None, "Output", "Output folder. [.context/<site>]", flags="-o", metavar="DIR")
    label: str | None = option(None, "Output", "Keep this version of a site beside others, in .context/<site>@<label>.",
        parse_label, metavar="NAME")
    diff: bool = option(False, "Output", "Download only changes and list them (changes.md).")
    pages: bool = option(True, "Output", "Write a file per page.")
    merge: bool = option(True, "Output", "Write the whole site as one file (full.md, llms-full.txt).")
    max_tokens: int = option(0, "Output",
        "Maximum tokens of full.md and llms-full.txt, most linked pages first; 0 for the whole site.", whole_number(0),
        form=CrawlField("Size of full.md (tokens)", "Maximum size of full.md in tokens; 0 for the whole site.", least=0,
            most=100_000_000))
    chunks: bool = option(True, "Output", "Write the site in chunks, split at headings (chunks/, chunks.jsonl).")
    chunk_tokens: int = option(800, "Output", "Maximum tokens per chunk; 0: a chunk per heading of level 1.",
        whole_number(0, 1_000_000),
        form=CrawlField("Chunk size (tokens)", "Maximum chunk size in tokens; 0 to split only at headings of level 1.", least=0,
            most=100_000))
    links: str = option("keep", "Output", "Links in the Markdown: keep URLs, shorten those of the site, or keep only the text.",
        one_of("keep", "short", "none"),
        form=CrawlField("Links", "Links in the Markdown: whole URLs, short ones within the site, or only their text.",
            value_labels=("Whole URLs", "Short URLs", "Text only")))
    local_links: bool = option(False, "Output", "Make links between pages point to the local files.")
    tokenizer: str = option("estimate", "Output", "Token counter: estimate, or a tiktoken encoding.", metavar="NAME")


@job_options
class EventsOptions(JobOptions):
    """Options of `tadoru events`. It follows no links, so it shares only the politeness options with the crawling jobs."""

    database: str = option("./var/tadoru.db", "Storage", "Database of the calendar: a file or postgresql://….", flags="-d",
        metavar="FILE|URL", role=SettingRole.STORAGE)
    files: str | None = option(None, "Storage",
        "Snapshots and run logs: a folder or s3://bucket/prefix. [var, next to the database]", metavar="DIR|URL",
        role=SettingRole.STORAGE)
    timezone: str = option("UTC", "Calendar", "Time zone of sources that do not state one.", parse_time_zone)
    notify: tuple[str, ...] = option((), "Notifications",
        "Notify about failures, recoveries and sudden drops: an Apprise URL such as mailto://… or slack://… (repeatable).",
        metavar="URL", secret=True, role=SettingRole.DESTINATION)
    enrich: tuple[str, ...] = option((), "Enrichment",
        "Fill in missing fields: category by a model, summary by the first sentences, or both by an LLM (repeatable).",
        one_of("category", "summary", "llm"))
    category_model: str | None = option(None, "Enrichment", "Category model made by `tadoru events enrich train`.",
        metavar="FILE")
    llm_url: str | None = option(None, "Enrichment",
        "OpenAI-compatible endpoint, without /chat/completions: https://llm.example/v1.", metavar="URL",
        role=SettingRole.DESTINATION)
    llm_model: str | None = option(None, "Enrichment", "Model to use at the endpoint.", metavar="NAME")
    llm_key: str | None = option(None, "Enrichment", "Variable that holds the API key of the LLM.", metavar="VARIABLE",
        role=SettingRole.CREDENTIAL_NAME)
    llm_category: tuple[str, ...] = option((), "Enrichment",
        "Category the LLM may choose; default: those of --category-model (repeatable).", metavar="NAME")
    llm_budget: int = option(100, "Enrichment", "Maximum LLM requests per run, or per day of a worker.", whole_number(0))
    llm_timeout: float = option(60.0, "Enrichment", "Timeout for an LLM request.", parse_positive_duration)
    search_engine: str | None = option(None, "Search engine", "Search engine to keep in sync with the calendar.",
        one_of("meilisearch", "typesense"))
    search_url: str | None = option(None, "Search engine", "URL of the search engine: http://127.0.0.1:7700.", metavar="URL",
        role=SettingRole.DESTINATION)
    search_key: str | None = option(None, "Search engine", "Variable that holds the API key of the search engine.",
        metavar="VARIABLE", role=SettingRole.CREDENTIAL_NAME)
    search_index: str = option("events", "Search engine", "Name of the index.", metavar="NAME")
    search_archived: bool = option(True, "Search engine", "Include archived events in the index.")
    delay: float = option_of(CrawlOptions, "delay", default=2.0)
    concurrency: int = option_of(CrawlOptions, "concurrency", default=32)
    timeout: float = option_of(CrawlOptions, "timeout")
    max_response_size: int = option_of(CrawlOptions, "max_response_size", default=20 * 1024 * 1024)
    ignore_robots: bool = option_of(CrawlOptions, "ignore_robots")
    user_agent: str = option_of(CrawlOptions, "user_agent")
    proxy: str | None = option_of(CrawlOptions, "proxy")
    insecure: bool = option_of(CrawlOptions, "insecure")
    allow_private: bool = option_of(CrawlOptions, "allow_private")


@job_options
class ServeOptions(JobOptions):
    """Options of `tadoru serve`."""

    database: str = option("./var/tadoru.db", "Storage", "Database of the service: a file or postgresql://….", flags="-d",
        metavar="FILE|URL", role=SettingRole.STORAGE)
    host: str = option("127.0.0.1", "Server", "Address to listen on; 0.0.0.0 for all interfaces.", metavar="ADDRESS")
    port: int = option(8000, "Server", "Port to listen on; 0 for any free port.", whole_number(0, 65535))
    workers: int = option(1, "Server", "Server processes.", whole_number(1, 64))
    base_url: str | None = option(None, "Server", "Public URL behind a proxy: https://events.example.", parse_origin)
    allow_host: tuple[str, ...] = option((), "Server", "Additional host name to accept (repeatable).", metavar="NAME")
    trusted_proxy: tuple[str, ...] = option((), "Server", "Proxy whose X-Forwarded-* headers are trusted (repeatable).",
        metavar="ADDRESS")
    shutdown_timeout: float = option(20.0, "Server", "Time for running requests to finish at shutdown.", parse_positive_duration)
    rate_limit: int = option(300, "Limits", "Requests per minute and IP address; 0 for no limit.", whole_number(0))
    key_rate_limit: int = option(1200, "Limits", "Requests per minute and API key or user; 0 for no limit.", whole_number(0))
    cors: tuple[str, ...] = option((), "Limits",
        "Origin whose scripts may read public data, such as https://town.example, or * (repeatable).", metavar="ORIGIN")
    crawls_at_once: int = option(2, "Crawls", "Crawls to run at the same time.", whole_number(1, 64))
    crawls_queued: int = option(50, "Crawls", "Maximum queued crawls per user.", whole_number(1, 100_000))
    crawl_private: tuple[str, ...] = option((), "Crawls",
        "Private address that crawls, sources and webhooks may reach, such as 10.0.0.5:80, or * (repeatable).",
        parse_host_and_port)
    crawl_quota: int = option(20 * 1024**3, "Crawls", "Disk space for crawls and documentation sites; 0 for no limit.",
        parse_quota)
    notify: tuple[str, ...] = option((), "Crawls",
        "Notify when a crawl finds a regression or a recovery: an Apprise URL such as mailto://… (repeatable).", metavar="URL",
        secret=True, role=SettingRole.DESTINATION)
    webhook_secret: str | None = option(None, "Crawls", "Secret that signs webhooks; prefer TADORU_WEBHOOK_SECRET.",
        metavar="WORD", secret=True, role=SettingRole.CREDENTIAL)
    embed: tuple[str, ...] = option((), "Limits",
        "Origin that may show /embed in a frame, such as https://town.example, or * (repeatable).", parse_frame_origin)
    audit_days: int = option(400, "Limits", "Days to keep the audit log; 0 for no limit.", whole_number(0))
    collector: bool = option(True, "Calendar", "Collect due event sources; --no-collector leaves them to `tadoru events worker`.")
    site_name: str = option("Tadoru", "Calendar", "Name of the calendar, in pages and feeds.", parse_name)
    contact: str | None = option(None, "Calendar",
        "Contact of the operator: a page such as https://town.example/imprint, or mailto:….", parse_contact_url)
    logo: str | None = option(None, "Calendar", "Logo in the header: an SVG, PNG, WebP or JPEG file, or an https:// URL.",
        parse_logo)
    accent: str | None = option(None, "Calendar", "Colour of links and buttons, such as #1c5d5a; its contrast is checked.",
        parse_accent)
    intro: str = option("", "Calendar", "Text above the list of events.", parse_paragraph)
    about: str = option("", "Calendar", "Text of the operator on the About page.", parse_paragraph)
    timezone: str = option("UTC", "Calendar", "Time zone of the service.", parse_time_zone)
    lang: str = option("en", "Calendar",
        "Default language of pages. German (de) is for the public calendar; other pages and feeds are then in English.",
        one_of("en", "ja", "de"))


@job_options
class WorkerOptions(JobOptions):
    """Options of `tadoru worker`."""

    database: str = option("", "Worker", "Database of the cluster: postgresql://….", flags="-d", metavar="URL",
        role=SettingRole.STORAGE)
    hosts: int = option(50, "Worker", "Hosts to crawl at the same time.", whole_number(1, 2000))
    slice: float = option(30.0, "Worker", "Time for one host before another worker or crawl takes over.", parse_positive_duration)
    events: bool = option(True, "Worker", "Also collect event sources from the same database.")
    name: str = option("", "Monitoring", "Name of the worker; default: machine and process ID.", parse_name)
    metrics: str | None = option(None, "Monitoring", "Serve Prometheus metrics at this address, such as 127.0.0.1:9464.",
        parse_host_and_port, metavar="ADDRESS:PORT")
# fmt: on


CRAWL_JOBS: dict[str, type[AuditOptions | LinksOptions | DocsOptions]] = {
    "audit": AuditOptions, "links": LinksOptions, "docs": DocsOptions,
}  # fmt: skip
JOB_SETTINGS: dict[str, tuple[Setting, ...]] = {
    "links": settings_of(LinksOptions), "audit": settings_of(AuditOptions), "docs": settings_of(DocsOptions),
    "events": settings_of(EventsOptions), "serve": settings_of(ServeOptions), "worker": settings_of(WorkerOptions),
}  # fmt: skip
OPERATOR_SETTINGS = frozenset({
    "user_agent", "robots_agent", "proxy", "insecure", "delay", "concurrency", "timeout", "max_response_size", "trap_limit",
    "strip_tracking", "strip_sessions", "resources", "threshold", "no_plugins", "render", "tokenizer", "spa_wait",
})  # fmt: skip
"""The settings of the operator that apply to crawls of the service: no start URLs, files or credentials."""
