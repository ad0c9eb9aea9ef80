"""Accepted host names, and the security headers of every response."""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders

from tadoru.config.options import ServeOptions
from tadoru.serve.auth.principal import ANONYMOUS, Principal

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


CONTENT_SECURITY_POLICY = "; ".join((
    "default-src 'none'", "img-src 'self' https: data:", "style-src 'self'", "script-src 'self'", "connect-src 'self'",
    "font-src 'self'", "manifest-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
))  # fmt: skip
"""No inline scripts or styles, nothing from other sites except event images."""

SECURITY_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(self), microphone=()",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_ALWAYS = tuple((name.lower().encode(), value.encode()) for name, value in SECURITY_HEADERS.items())


def allow_framing(headers: MutableHeaders, sites: tuple[str, ...]) -> None:
    """Allow these sites to embed a response in a frame. Without sites it stays forbidden."""
    if sites:
        headers["Content-Security-Policy"] = CONTENT_SECURITY_POLICY.replace(
            "frame-ancestors 'none'", f"frame-ancestors {' '.join(sites)}"
        )


def add_security_headers(headers: MutableHeaders, caller: Principal, *, secure: bool) -> None:
    """Add missing security headers, and keep responses to signed-in principals out of shared caches."""
    there = {name for name, _ in headers.raw}
    if b"frame-ancestors" in dict(headers.raw).get(b"content-security-policy", b""):
        there.add(b"x-frame-options")  # The policy has the allowed sites; this header could only forbid all.
    headers.raw.extend(one for one in _ALWAYS if one[0] not in there)
    if secure:
        headers.setdefault("Strict-Transport-Security", "max-age=31536000")
    if caller is not ANONYMOUS:
        if "public" in headers.get("cache-control", "public"):
            headers["Cache-Control"] = "private, no-cache"
        headers.add_vary_header("Authorization, Cookie")
