"""The names of what goes wrong: every exception of the HTTP client becomes a `FailureKind` and one sentence.

A sentence holds the host and nothing else: no path, no header, no secret, and none of the text a site sent.
"""

from __future__ import annotations

import errno
import os

import aiohttp
from aiohttp.http_exceptions import LineTooLong

from tadoru.fetch.connect import Visit
from tadoru.fetch.guard import BlockedAddress, Unresolved
from tadoru.fetch.limits import BadEncoding, HeadersTooLarge, TooLarge
from tadoru.model.web import FailureKind

_Named = tuple[FailureKind, str]


class ProxyRefused(Exception):
    """The proxy wants to know who we are."""


_TIMEOUTS = {
    FailureKind.CONNECT_TIMEOUT: "No connection to {place} within {seconds:g} s.",
    FailureKind.RESPONSE_TIMEOUT: "No answer from {place} within {seconds:g} s.",
    FailureKind.DOWNLOAD_TIMEOUT: "No complete body from {place} within {seconds:g} s.",
}
_LONG_HEADERS: _Named = FailureKind.HEADERS_TOO_LARGE, "{place} sent too many or too long headers."
_INCOMPLETE: _Named = FailureKind.INCOMPLETE, "{place} ended the body before it was complete."
_BY_TYPE: tuple[tuple[type[Exception], _Named], ...] = (
    (BlockedAddress, (FailureKind.BLOCKED_ADDRESS, "{error}")),
    (TooLarge, (FailureKind.TOO_LARGE, "The body is larger than {cap} bytes.")),
    (BadEncoding, (FailureKind.BAD_ENCODING, "The body can not be decompressed: {error}.")),
    (HeadersTooLarge, _LONG_HEADERS),
    (ProxyRefused, (FailureKind.PROXY, "The proxy asks for a user name and password (407).")),
    (aiohttp.ClientHttpProxyError, (FailureKind.PROXY, "The proxy refused to connect to {place} with status {error.status}.")),
    # The client takes only the usual form of an address; 127.1 or 0x7f000001 is a disguise.
    (aiohttp.InvalidURL, (FailureKind.BLOCKED_ADDRESS, "Refused to connect to {place}: it is not a name or a plain address.")),
    (Unresolved, (FailureKind.DNS, "{place} does not resolve here, so it can not be checked before the proxy gets it.")),
)


def named(error: Exception, visit: Visit, *, proxied: bool) -> _Named:
    """The failure's name and sentence."""
    kind, sentence = _template(error, visit, proxied)
    request = visit.request
    place = request.url.split("/", 3)[2]
    return kind, sentence.format(place=place, error=error, cap=request.max_bytes, seconds=request.timeout)


def _template(error: Exception, visit: Visit, proxied: bool) -> _Named:
    for known, found in _BY_TYPE:
        if isinstance(error, known):
            return found
    if isinstance(error, TimeoutError) and visit.deadline.expired():
        return visit.timeout_kind, _TIMEOUTS[visit.timeout_kind]
    if isinstance(error, aiohttp.ClientSSLError):
        return FailureKind.TLS, f"No secure connection to {{place}}: {_tls_reason(error)}."
    if isinstance(error, aiohttp.ClientConnectorError):
        return (FailureKind.PROXY, "The proxy can not be reached.") if proxied else _unconnected(error)
    if isinstance(error, aiohttp.ClientResponseError):
        return _unreadable(error)
    if not isinstance(error, aiohttp.ClientError | OSError):
        return FailureKind.PROTOCOL, f"What {{place}} answered can not be read ({type(error).__name__})."
    if visit.answered:
        return _INCOMPLETE
    return FailureKind.NETWORK, "{place} closed the connection without an answer."


def _unconnected(error: aiohttp.ClientConnectorError) -> _Named:
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return FailureKind.DNS, "{place} can not be resolved."
    code = error.os_error.errno
    if code == errno.ECONNREFUSED:
        return FailureKind.REFUSED, "{place} refused the connection."
    if code == errno.ETIMEDOUT:
        return FailureKind.CONNECT_TIMEOUT, "{place} did not answer the attempt to connect."
    reason = os.strerror(code).lower() if code else "the connection was lost"
    return FailureKind.NETWORK, f"No connection to {{place}}: {reason}."


def _unreadable(error: BaseException) -> _Named:
    while error.__cause__ is not None:
        error = error.__cause__
    # Only the first line is the parser's; what follows it is the site's.
    said = str(getattr(error, "message", "")).partition("\n")[0]
    if isinstance(error, LineTooLong) or said.startswith("Too many headers"):
        return _LONG_HEADERS
    if "chunk" in said:
        # The headers were good, but came in one packet with the chunk that was not.
        return _INCOMPLETE
    return FailureKind.PROTOCOL, "What {place} answered is not valid HTTP."


def _tls_reason(error: aiohttp.ClientSSLError) -> str:
    """What OpenSSL says: "certificate has expired", "hostname mismatch, ...", "wrong version number"."""
    inner = getattr(error, "certificate_error", None) or error.os_error
    reason = getattr(inner, "verify_message", None) or getattr(inner, "reason", None) or "the handshake failed"
    return str(reason).replace("_", " ").lower().rstrip(".").replace("{", "").replace("}", "")
