"""From options to `Access`: who the crawl says it is, which credentials go to which origins, and where it may connect."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tadoru.clock import SystemClock
from tadoru.errors import UsageError
from tadoru.fetch.credentials import Credentials
from tadoru.jobs.launch import Access
from tadoru.options import CrawlOptions
from tadoru.rules.address import Exemptions
from tadoru.rules.url import origin


def access_for(options: CrawlOptions, exemptions: Exemptions, sites: Sequence[str]) -> Access:
    """Credentials, headers and cookies are bound to the origins the person named. Raises UsageError."""
    if options.allow_private:
        exemptions = exemptions | Exemptions(allow_all=True)
    return Access(
        user_agent=options.user_agent,
        exemptions=exemptions,
        credentials=_credentials(options, frozenset(origin(site) for site in sites)),
        proxy=options.proxy,
        verify_tls=not options.insecure,
    )


def signs_in(options: CrawlOptions) -> bool:
    """Whether the site is told anything that strangers do not know."""
    return bool(options.auth_type or options.header or options.cookies)


def _credentials(options: CrawlOptions, origins: frozenset[str]) -> Credentials:
    credentials = Credentials()
    match options.auth_type:
        case "basic":
            username, password = _needed(options, "auth_username"), _needed(options, "auth_password")
            credentials = credentials.with_basic(origins, username, password)
        case "bearer":
            credentials = credentials.with_bearer(origins, _needed(options, "auth_token"))
        case "api-key":
            credentials = credentials.with_api_key(origins, _needed(options, "auth_header"), _needed(options, "auth_value"))
    if options.header:
        credentials = credentials.with_headers(origins, tuple(_header(text) for text in options.header))
    if options.cookies is not None:
        try:
            text = Path(options.cookies).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise UsageError(f"The cookies file {options.cookies} can not be read (not UTF-8 text): save it as UTF-8.") from None
        except OSError as error:
            raise UsageError(f"The cookies file {options.cookies} can not be read ({error.strerror}): check its name.") from None
        credentials = credentials.with_cookie_file(text, SystemClock().now())
    return credentials


def _needed(options: CrawlOptions, name: str) -> str:
    value: str | None = getattr(options, name)
    if not value:
        raise UsageError(f"--auth-type {options.auth_type} needs --{name.replace('_', '-')} (or TADORU_{name.upper()}).")
    return value


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise UsageError("--header needs the form “Name: value”.")
    return name.strip(), value.strip()
