"""Which names the service answers for. A request says the name it was sent to; a stranger's web page can make a browser send
requests here under a name of its own, and links that we make from a false name would lead elsewhere. Pure."""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from urllib.parse import urlsplit

from tadoru.config.options import ServeOptions

_LONGEST = 300
"""Characters of a name with its port; what is longer is no name, and is not remembered."""
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?")


def allowed_hosts(options: ServeOptions) -> frozenset[str]:
    """The names that the person who started the service gave it."""
    named = {options.host.lower(), *(name.lower() for name in options.allow_host)}
    if options.base_url:
        named.add((urlsplit(options.base_url).hostname or "").lower())
    return frozenset(named - {"", "0.0.0.0", "::"})  # noqa: S104 - those are no names


def is_allowed_host(host: str, names: frozenset[str]) -> bool:
    """Is this Host header one to answer for? An address always is: nobody can make a browser believe a false one."""
    return len(host) <= _LONGEST and _is_ours(host, names)


@lru_cache(maxsize=512)
def _is_ours(host: str, names: frozenset[str]) -> bool:
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
    """Where a person finds the service."""
    if options.base_url:
        return options.base_url
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(options.host, options.host)  # noqa: S104 - what is listened on is no place
    return f"http://{f'[{host}]' if ':' in host else host}:{options.port if port is None else port}"
