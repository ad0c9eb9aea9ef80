"""The host names that the service accepts (against DNS rebinding and forged links), and its public URL. Pure."""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from urllib.parse import urlsplit

from tadoru.config.options import ServeOptions

_MAX_LENGTH = 300
"""Maximum length of a Host header; longer ones are refused and not cached."""
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?")


def allowed_hosts(options: ServeOptions) -> frozenset[str]:
    """The host names from the options of the service."""
    named = {options.host.lower(), *(name.lower() for name in options.allow_host)}
    if options.base_url:
        named.add((urlsplit(options.base_url).hostname or "").lower())
    return frozenset(named - {"", "0.0.0.0", "::"})  # noqa: S104 - not host names


def is_allowed_host(host: str, names: frozenset[str]) -> bool:
    """Whether to accept a Host header. An IP address is always accepted: DNS cannot forge it."""
    return len(host) <= _MAX_LENGTH and _is_allowed(host, names)


@lru_cache(maxsize=512)
def _is_allowed(host: str, names: frozenset[str]) -> bool:
    match = _HOST.fullmatch(host)
    if match is None:
        return False
    name = match[1].strip("[]").lower().rstrip(".")
    if name in names or name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def public_url(options: ServeOptions, port: int | None = None) -> str:
    """The URL at which users reach the service."""
    if options.base_url:
        return options.base_url
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(options.host, options.host)  # noqa: S104 - not reachable as a URL
    return f"http://{f'[{host}]' if ':' in host else host}:{options.port if port is None else port}"
