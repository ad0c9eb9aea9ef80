"""The options that users may set for crawls of the service, with their limits; for the API, the forms and GraphQL.

Fewer options are allowed over the network than on the command line: none that names a file, a proxy, a credential or a header. A
crawl never leaves its site, and it reaches a private address only if the operator allows it (`--crawl-private`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from tadoru.config.settings import JOB_SETTINGS as SETTINGS
from tadoru.errors import Message, UsageError, quoted
from tadoru.fetch.guard import is_literal
from tadoru.i18n.translation import N_
from tadoru.rules.address import Exemptions, block_reason
from tadoru.rules.url import parse_typed_url
from tadoru.serve.service import Service

JOBS = ("audit", "links", "docs")
MAX_START_URLS, MAX_LISTED_URLS = 20, 1000
MAX_LIST_ITEMS, MAX_TEXT_LENGTH = 20, 300
MIN_INTERVAL, MAX_INTERVAL = 15 * 60, 366 * 24 * 3600
"""Seconds between runs of a repeating crawl."""
DAY = 24 * 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlOptionSpec:
    """One option of a crawl."""

    name: str
    """The name of the job's option."""
    kind: str
    """`whole`, `seconds`, `flag`, `one` (of `values`), `text`, or `texts` (a list)."""
    default: Any
    description: str
    """What it does; translated where it is shown."""
    least: float | None = None
    most: float | None = None
    values: tuple[str, ...] = ()
    admin: bool = False
    """Only an administrator may set it."""


def _option(name: str, kind: str, default: Any, description: str, **limits: Any) -> CrawlOptionSpec:
    return CrawlOptionSpec(name=name, kind=kind, default=default, description=description, **limits)


_DEPTH = _option("depth", "whole", None, N_("Maximum link depth from the start URL."), least=0, most=100)
_LIMIT = _option("limit", "whole", 10_000, N_("Maximum number of pages."), least=1, most=1_000_000)
_SHARED: tuple[CrawlOptionSpec, ...] = (
    _option("max_time", "seconds", DAY, N_("Time limit of a run in seconds."), least=1.0, most=7 * DAY),
    _option(
        "scope", "one", "host", N_("Scope of the site: its host, its whole domain, or only the path of the start URL."),
        values=("host", "domain", "path"),
    ),
    _option("include", "texts", [], N_("Request only URLs that match one of these regular expressions.")),
    _option("exclude", "texts", [], N_("Never request URLs that match one of these regular expressions.")),
    _option("strip_tracking", "flag", False, N_("Remove utm_*, gclid and other tracking parameters from URLs.")),
    _option("strip_sessions", "flag", False, N_("Remove session IDs from URLs.")),
    _option("delay", "seconds", 1.0, N_("Seconds between two requests to a host."), least=0.1, most=60.0),
    _option("concurrency", "whole", 4, N_("Requests in flight."), least=1, most=20),
    _option("timeout", "seconds", 30.0, N_("Timeout for each phase of a request in seconds."), least=1.0, most=120.0),
    _option("ignore_robots", "flag", False, N_("Ignore robots.txt (only for your own sites)."), admin=True),
)  # fmt: skip
_SITEMAP = _option(
    "sitemap", "one", "auto", N_("Crawl the URLs of sitemaps too (auto), only those, or ignore sitemaps (off)."),
    values=("auto", "only", "off"),
)  # fmt: skip
_SITEMAP_URL = _option("sitemap_url", "texts", [], N_("Sitemaps to read instead of those in robots.txt."))
_RENDER = _option(
    "render", "one", "never", N_("Render JavaScript: only if the page needs it, always, or never."),
    values=("auto", "always", "never"),
)  # fmt: skip
_LIST = _option("list", "flag", False, N_("List mode: request only the given URLs and follow no links."))
_FRAGMENTS = _option("fragments", "flag", False, N_("Check that the targets of #fragment links exist."))


def _with(option: CrawlOptionSpec, default: Any) -> CrawlOptionSpec:
    return replace(option, default=default)


def _shared(**defaults: Any) -> tuple[CrawlOptionSpec, ...]:
    return tuple(_with(one, defaults[one.name]) if one.name in defaults else one for one in _SHARED)


CRAWL_OPTIONS: dict[str, tuple[CrawlOptionSpec, ...]] = {
    "audit": (
        _DEPTH, _LIMIT, *_shared(delay=0.1, concurrency=10), _LIST, _SITEMAP, _SITEMAP_URL, _RENDER, _FRAGMENTS,
        _option("check_external", "flag", False, N_("Check external links and resources too.")),
        _option(
            "resources", "whole", 1000, N_("Maximum number of images, scripts and styles to check after the pages; 0 for none."),
            least=0, most=10_000,
        ),
        _option("store_bodies", "flag", False, N_("Store page bodies, for a WARC export.")),
    ),
    "links": (
        _with(_DEPTH, 3), _with(_LIMIT, 1000), *_shared(timeout=10.0), _LIST, _FRAGMENTS,
        _option("check", "flag", False, N_("Check external links too and report every broken link with its source pages.")),
        _option("accept", "text", "200..299", N_("Status codes that count as working.")),
        _option("ignore", "texts", [], N_("Do not report links that match one of these regular expressions.")),
    ),
    "docs": (
        _with(_DEPTH, 2), _LIMIT, *_shared(delay=0.5), _SITEMAP, _SITEMAP_URL, _with(_RENDER, "auto"),
        _option(
            "variants", "texts", [],
            N_("Include variants of pages: other versions, other languages, print versions, indexes, source code."),
            values=("version", "language", "print", "index", "source", "all"),
        ),
        _option("language", "text", None, N_("Language to read; empty for the language of the start page.")),
        _option("own_markdown", "flag", True, N_("Prefer the site's own Markdown if it is complete.")),
        _option("chunk_tokens", "whole", None, N_("Maximum chunk size in tokens."), least=50, most=100_000),
    ),
}  # fmt: skip
"""The options by job, in the order of a form."""


def validate_options(job: str, given: Mapping[str, Any], *, admin: bool = False) -> dict[str, Any]:
    """The validated options by name, always with a page limit and a time limit. Raises UsageError."""
    if job not in CRAWL_OPTIONS:
        raise UsageError("Unknown job {job}. Use one of {jobs}.", job=quoted(job), jobs=", ".join(JOBS))
    choices = {choice.name: choice for choice in CRAWL_OPTIONS[job]}
    for name in given:
        if name not in choices:
            raise UsageError(
                "The job {job} has no option {name}. Use one of {options}.",
                job=job,
                name=quoted(name),
                options=", ".join(choices),
            )
    found = {name: _value(job, choices[name], value, admin) for name, value in given.items() if value is not None}
    for name in ("limit", "max_time"):
        found.setdefault(name, choices[name].default)
    if job == "docs" and "depth" in found:
        found.setdefault("sitemap", "off")  # A depth limit means links from the start URL.
    return found


def _value(job: str, choice: CrawlOptionSpec, value: Any, admin: bool) -> Any:
    if choice.admin and not admin and value not in (False, "false", "0", "off", ""):
        raise UsageError("Only an administrator can set {option}. Remove it.", option=choice.name)
    try:
        if choice.kind == "texts":
            return _texts(job, choice, value)
        parsed = _parsed(job, choice.name, value)
    except UsageError as error:
        raise UsageError("{option} {problem}.", option=choice.name, problem=error) from None
    if choice.least is not None and choice.most is not None and not choice.least <= parsed <= choice.most:
        raise UsageError(
            "{option} must be from {least} to {most}.", option=choice.name, least=f"{choice.least:,}", most=f"{choice.most:,}"
        )
    if isinstance(parsed, str) and len(parsed) > MAX_TEXT_LENGTH:
        raise UsageError("{option} must have at most {limit} characters.", option=choice.name, limit=MAX_TEXT_LENGTH)
    return parsed


def _texts(job: str, choice: CrawlOptionSpec, value: Any) -> list[str]:
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list | tuple) or not all(isinstance(one, str) for one in items):
        raise UsageError("must be a list of strings")
    if len(items) > MAX_LIST_ITEMS or any(len(one) > MAX_TEXT_LENGTH for one in items):
        raise UsageError(
            "must have at most {count} entries of at most {limit} characters", count=MAX_LIST_ITEMS, limit=MAX_TEXT_LENGTH
        )
    if choice.name == "sitemap_url":
        return [_sitemap_url(one) for one in items]
    return [str(_parsed(job, choice.name, one)) for one in items]


def _sitemap_url(text: str) -> str:
    try:
        return parse_typed_url(text)
    except UsageError as error:
        raise UsageError("must be sitemap URLs: {problem}", problem=Message(error.message.rstrip("."), **error.values)) from None


def _parsed(job: str, name: str, value: Any) -> Any:
    if isinstance(value, list | tuple | dict):
        raise UsageError("must be a single value")
    parsed = next(setting for setting in SETTINGS[job] if setting.name == name).parse(value)
    if name == "accept":
        from tadoru.jobs.links.broken import AcceptedCodes

        try:
            AcceptedCodes.parse(parsed)
        except UsageError:
            raise UsageError("must be status codes and ranges such as 200..299,403") from None
    return parsed


def validate_start_urls(service: Service, job: str, starts: Sequence[str], *, listed: bool = False) -> tuple[str, ...]:
    """The start URLs in canonical form. Private addresses are refused here; a name that resolves to one is refused when the crawl
    connects. Raises UsageError."""
    most = 1 if job == "docs" else MAX_LISTED_URLS if listed else 1 if job == "links" else MAX_START_URLS
    found = tuple(dict.fromkeys(_start_url(one) for one in starts))
    if not found:
        raise UsageError("Enter a start URL, such as https://example.com/.")
    if len(found) > most:
        if listed or job == "docs":
            raise UsageError("Too many start URLs. The maximum is {limit}.", limit=f"{most:,}")
        raise UsageError("Too many start URLs. The maximum is {limit}. Use list mode to check more URLs.", limit=most)
    exempt = Exemptions.from_list(service.options.crawl_private)
    for url in found:
        reject_private_url(url, exempt)
    return found


def _start_url(text: Any) -> str:
    if not isinstance(text, str) or len(text) > 2000:
        raise UsageError("A start URL must have at most 2,000 characters.")
    return parse_typed_url(text)


def reject_private_url(url: str, exempt: Exemptions) -> None:
    """Check that the host of a canonical URL is neither a private address nor this machine. Raises UsageError."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    if exempt.covers(host, port):
        return
    why: str | None = Message("it is this machine") if host == "localhost" or host.endswith(".localhost") else None
    if is_literal(host):
        why = block_reason(host)
    if why is not None:
        raise UsageError("Cannot crawl {url}: {reason}. The operator can allow it with --crawl-private.", url=url, reason=why)
