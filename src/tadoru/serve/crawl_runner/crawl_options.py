"""The options that users may set for crawls of the service, with their limits; for the API, the forms and GraphQL.

Fewer options are allowed over the network than on the command line: none that names a file, a proxy, a credential or a header. A
crawl never leaves its site, and it reaches a private address only if the operator allows it (`--crawl-private`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from tadoru.config.options import CRAWL_JOBS, JOB_SETTINGS
from tadoru.config.settings import CrawlField
from tadoru.errors import Message, UsageError, quoted
from tadoru.fetch.guard import is_literal
from tadoru.rules.address import Exemptions, block_reason
from tadoru.rules.url import parse_typed_url
from tadoru.serve.service import Service

JOBS = tuple(CRAWL_JOBS)
MAX_START_URLS, MAX_LISTED_URLS = 20, 1000
MAX_LIST_ITEMS, MAX_TEXT_LENGTH = 20, 300
MIN_INTERVAL, MAX_INTERVAL = 15 * 60, 366 * 24 * 3600
"""Seconds between runs of a repeating crawl."""


def _fields_by_job() -> dict[str, tuple[CrawlField, ...]]:
    """The fields by job in the order of a form: those of several jobs come first."""
    fields = {job: [setting.form for setting in JOB_SETTINGS[job] if setting.form is not None] for job in JOBS}
    jobs = Counter(one.name for of_job in fields.values() for one in of_job)
    return {job: tuple(sorted(of_job, key=lambda one: jobs[one.name] == 1)) for job, of_job in fields.items()}


CRAWL_OPTIONS = _fields_by_job()


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
    found = {name: _value(choices[name], value, admin) for name, value in given.items() if value is not None}
    for name in ("limit", "max_time"):
        found.setdefault(name, choices[name].default)
    if job == "docs" and "depth" in found:
        found.setdefault("sitemap", "off")  # A depth limit means links from the start URL.
    return found


def _value(choice: CrawlField, value: Any, admin: bool) -> Any:
    if choice.admin and not admin and value not in (False, "false", "0", "off", ""):
        raise UsageError("Only an administrator can set {option}. Remove it.", option=choice.name)
    try:
        if choice.kind == "texts":
            return _texts(choice, value)
        parsed = _parsed(choice, value)
    except UsageError as error:
        raise UsageError("{option} {problem}.", option=choice.name, problem=error) from None
    if choice.least is not None and choice.most is not None and not choice.least <= parsed <= choice.most:
        raise UsageError(
            "{option} must be from {least} to {most}.", option=choice.name, least=f"{choice.least:,}", most=f"{choice.most:,}"
        )
    if isinstance(parsed, str) and len(parsed) > MAX_TEXT_LENGTH:
        raise UsageError("{option} must have at most {limit} characters.", option=choice.name, limit=MAX_TEXT_LENGTH)
    return parsed


def _texts(choice: CrawlField, value: Any) -> list[str]:
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list | tuple) or not all(isinstance(one, str) for one in items):
        raise UsageError("must be a list of strings")
    if len(items) > MAX_LIST_ITEMS or any(len(one) > MAX_TEXT_LENGTH for one in items):
        raise UsageError(
            "must have at most {count} entries of at most {limit} characters", count=MAX_LIST_ITEMS, limit=MAX_TEXT_LENGTH
        )
    if choice.name == "sitemap_url":
        return [_sitemap_url(one) for one in items]
    return [str(_parsed(choice, one)) for one in items]


def _sitemap_url(text: str) -> str:
    try:
        return parse_typed_url(text)
    except UsageError as error:
        raise UsageError("must be sitemap URLs: {problem}", problem=Message(error.message.rstrip("."), **error.values)) from None


def _parsed(choice: CrawlField, value: Any) -> Any:
    if isinstance(value, list | tuple | dict):
        raise UsageError("must be a single value")
    parsed = choice.parse(value)
    if choice.name == "accept":
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
