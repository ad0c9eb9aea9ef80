"""URLs: parsing as browsers do (WHATWG, by `ada_url`), and the canonical form that all other parts compare and store.

Canonical: absolute http or https, WHATWG serialization, without fragment, user information, empty query and dot at the end of the
host, percent-escapes in upper case and only where they are needed. Because it is so regular, `split_url`, `origin` and `host_key`
read it by splitting strings, and must be given canonical URLs only.

Which URLs are crawled is decided in `scope` and `traps`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple
from urllib.parse import quote, unquote, unquote_plus

from ada_url import join_url, normalize_url

from tadoru.errors import UsageError, quoted

_TRACKING_NAME = re.compile(
    r"utm_.*|gclid|gclsrc|dclid|gbraid|wbraid|_ga|_gl|fbclid|igshid|igsh|msclkid|yclid|ysclid|twclid|ttclid|li_fat_id|mc_cid|mc_eid"
    r"|_hsenc|_hsmi|__hstc|__hssc|__hsfp|hsctatracking|mkt_tok|vero_id|vero_conv|oly_anon_id|oly_enc_id|wickedid|s_cid",
    re.IGNORECASE,
)
_SESSION_NAME = re.compile(
    r"phpsessid|jsessionid|sid|sess(?:ion)?[_-]?(?:id|key)|aspsessionid.*|asp\.net_sessionid|cfid|cftoken|oscsid|xtcsid|zenid",
    re.IGNORECASE,
)
_PATH_SESSION = re.compile(r";jsessionid=[^/;]*", re.IGNORECASE)

# An escape right after a stray "%" or "%X" is not decoded: it could complete a new escape ("%%341" is not "%41").
_ESCAPE = re.compile(r"(%|%[0-9A-Fa-f])?%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_DECODED = {f"{byte:02x}": chr(byte) if chr(byte) in _UNRESERVED else f"%{byte:02X}" for byte in range(256)}

LONGEST_URL = 8_000
"""Maximum characters of a URL with its fragment: RFC 9110 asks to support so many, and many servers accept no more."""
LONGEST_BASE = 2_083
"""Maximum characters of a base URL. Each relative reference is stored with it, so a long one multiplies the size of a page."""

_EDGE = "".join(map(chr, range(0x21)))
"""C0 controls and space, which the parser strips at both ends."""
_TABS = {9: None, 10: None, 13: None}
"""Characters that the parser removes everywhere."""


def is_session_name(name: str) -> bool:
    """Whether a parameter of this name carries a session id."""
    return _SESSION_NAME.fullmatch(name) is not None


def is_tracking_name(name: str) -> bool:
    """Whether a parameter of this name is only used for tracking."""
    return _TRACKING_NAME.fullmatch(name) is not None


UrlRemaps = tuple[tuple[str, str], ...]
"""Pairs of canonical URLs without the slash at their end: URLs below the first are requested below the second."""


def remap_url(url: str, remaps: UrlRemaps) -> str:
    """A canonical URL after the first of the remaps that applies to it."""
    for old, new in remaps:
        if url.startswith(old) and url[len(old) : len(old) + 1] in ("", "/", "?"):
            return canonical(new + url[len(old) :]) or url
    return url


@dataclass(frozen=True, slots=True)
class UrlCleaner:
    """Removes parameters that do not change the page, and moves URLs to the place where they are requested."""

    strip_tracking: bool = False
    strip_sessions: bool = False
    remaps: UrlRemaps = ()

    def clean(self, url: str) -> str:
        """A canonical URL without these parameters."""
        head, mark, query = url.partition("?")
        if self.strip_sessions and ";" in head:
            # Not in the host, where ";" is allowed too. Parsed again: the dots of "/a/..;jsessionid=1" become a segment.
            start = origin(head)
            head = normalize_url(start + _PATH_SESSION.sub("", head[len(start) :]))
        kept = "&".join(pair for pair in query.split("&") if not self._removes(pair.partition("=")[0])) if mark else ""
        return f"{head}?{kept}" if kept else head

    def _removes(self, name: str) -> bool:
        return (self.strip_tracking and is_tracking_name(name)) or (self.strip_sessions and is_session_name(name))


NO_CLEANING = UrlCleaner()


def canonical(text: str, base: str | None = None, *, cleaning: UrlCleaner = NO_CLEANING) -> str | None:
    """The canonical form; None when `text` is not an http or https URL (relative to `base`, if given) or is too long."""
    if len(text) > LONGEST_URL:
        return None
    try:
        href = normalize_url(text) if base is None else join_url(base, text)
    except ValueError:
        return None
    url = _normalized(href.partition("#")[0], cleaning)
    return None if url is None or len(url) > LONGEST_URL else url


def canonical_base(text: str, base: str) -> str | None:
    """The base URL by `<base href>` or `xml:base`; None when it is not an http or https URL, or too long."""
    url = canonical(text, base) if len(text) <= LONGEST_BASE else None
    return None if url is None or len(url) > LONGEST_BASE else url


def _normalized(url: str, cleaning: UrlCleaner) -> str | None:
    """The canonical form of a WHATWG serialization without fragment."""
    if not url.startswith(("http://", "https://")):
        return None
    # An http URL has a host and a path, so the first slash from here on ends the authority.
    end = url.index("/", 8)
    if url[end - 1] == "." or "@" in url or ".:" in url:
        authority = _normalized_authority(url[:end])
        if authority is None:
            return None
        url = authority + url[end:]
    if "%" in url:
        url = _ESCAPE.sub(_unescape, url)
    if url[-1] == "?" and url.index("?") == len(url) - 1:
        url = url[:-1]
    if cleaning.strip_tracking or cleaning.strip_sessions:
        url = cleaning.clean(url)
    return remap_url(url, cleaning.remaps) if cleaning.remaps else url


def _normalized_authority(start: str) -> str | None:
    """`scheme://authority` without user information and the last dot of the host; None when the host is still not valid."""
    scheme, _, authority = start.partition("://")
    host, colon, port = authority.rpartition("@")[2].partition(":")
    if host.startswith("["):
        return f"{scheme}://{host}{colon}{port}"
    host = host.removesuffix(".")
    if not host or host.endswith("."):
        return None
    return f"{scheme}://{host}{colon}{port}"


def _unescape(match: re.Match[str]) -> str:
    stray, octet = match.groups()
    if stray:
        return f"{stray}%{octet.upper()}"
    return _DECODED[octet.lower()]


class UrlParts(NamedTuple):
    """The parts of a canonical URL."""

    scheme: str
    host: str
    """In brackets if it is an IPv6 address."""
    port: int
    path: str
    query: str
    """Without the question mark; empty when there is none."""


def split_url(url: str) -> UrlParts:
    """The parts of a canonical URL."""
    scheme, _, rest = url.partition("://")
    authority, _, tail = rest.partition("/")
    path, _, query = tail.partition("?")
    host, port = split_port(authority)
    return UrlParts(scheme, host, port or (443 if scheme == "https" else 80), "/" + path, query)


def split_port(host_key: str) -> tuple[str, int | None]:
    """`("a", 8080)` for `a:8080`, `("[::1]", None)` for `[::1]`."""
    host, colon, port = host_key.rpartition(":")
    if not colon or host_key[-1] == "]":
        return host_key, None
    return host, int(port)


def host_key(url: str) -> str:
    """The host of a canonical URL, with the port when it is not the default of the scheme."""
    return url.split("/", 3)[2]


def origin(url: str) -> str:
    """`scheme://host[:port]` of a canonical URL."""
    return url[: url.index("/", 8)]


_ROOTED = ("/", "http://", "https://")
"""References with these prefixes depend at most on the origin of the base."""
_SAME_SCHEME = re.compile(r" *https?:(?![/\\])", re.IGNORECASE)
"""`http:?q` with an http base is a relative reference."""
MAX_CACHED_LENGTH = 512
"""Maximum characters of a URL in caches: longer ones are rare and would take too much memory."""
_MOST_FOLDERS_UP = 8
"""References to higher folders are left to the parser."""
_PLAIN = re.compile(r"(/|(?:\.\./)*+)([A-Za-z0-9_~-][A-Za-z0-9._~/-]*+)")
"""The usual references: parent folders or the root, then unreserved characters. They are joined without the parser."""

Resolved = tuple[str, str]


class UrlResolver:
    """Resolves references of pages with a cache across pages: the links in the navigation of a site are the same on most pages.

    A reference depends on the origin of the base when it starts with a slash or a scheme, and on its directory when it is another
    path, so there is one table for each origin and directory. Their entries together stay below `capacity`.
    """

    def __init__(self, cleaning: UrlCleaner = NO_CLEANING, capacity: int = 50_000) -> None:
        self._cleaning = cleaning
        self._capacity = capacity
        self._tables: dict[str, dict[str, Resolved]] = {}
        self._size = 0
        self.too_long = 0
        """The number of references that were refused because they are too long."""
        self._base: str | None = None
        self._starts: dict[str, str] = {}
        """The folder for the first part of a plain reference: `""`, `"/"`, `"../"`, `"../../"`…"""
        self._rooted: dict[str, Resolved] = {}
        self._nearby: dict[str, Resolved] = {}

    def __len__(self) -> int:
        """The number of tables and entries, which is limited by the capacity."""
        return self._size

    @cached_property
    def uncleaned(self) -> UrlResolver:
        """A resolver that removes no parameters, for URLs by which a page identifies itself."""
        only_remaps = UrlCleaner(remaps=self._cleaning.remaps)
        return self if self._cleaning == only_remaps else UrlResolver(only_remaps, self._capacity)

    def resolve(self, href: str, base: str) -> Resolved | None:
        """The canonical URL and the decoded fragment of a reference on the page `base`; None when it cannot be followed."""
        if len(href) > LONGEST_URL:
            return self._refused(href)
        if base is not self._base:
            self._enter(base)
        if (plain := _PLAIN.fullmatch(href)) is not None:
            start, rest = plain.groups()
            if (folder := self._starts.get(start)) is not None and "/." not in rest:
                # Joining is faster than the cache.
                url = folder + rest
                return (url, "") if len(url) <= LONGEST_URL else self._refused(href)
        # A fragment starts at the first hash, so the part before it resolves in the same way for all fragments.
        front, mark, fragment = href.partition("#")
        if mark and href.isprintable():
            fragment = unquote(fragment.rstrip(" ")) if "%" in fragment else fragment.rstrip(" ")
            if not front.rstrip(" "):
                return base, fragment
            if not front.endswith(" "):  # Before a fragment it is part of the path and not stripped.
                found = self.resolve(front, base)
                return None if found is None else (found[0], fragment)
        found = (self._rooted if href.startswith(_ROOTED) else self._nearby).get(href)
        return found if found is not None else self._missed(href, base)

    def _refused(self, href: str) -> Resolved | None:
        """Count a reference that is too long; a `data:` URL is no reference and may have any length."""
        self.too_long += href[:5].lower() != "data:"
        return None

    def _missed(self, href: str, base: str) -> Resolved | None:
        if href[:5].lower() == "data:":
            # An embedded image of possibly many kilobytes, which the parser would read to the end.
            return None
        # With tabs, newlines, controls or invalid text inside, only the parser knows how it starts.
        start = href.lstrip(" ")[:1] if href.isprintable() else None
        if start in ("", "#"):
            return base, unquote(href.strip(" ")[1:])
        try:
            url, _, fragment = join_url(base, href).partition("#")
        except ValueError:
            return None
        tidied = _normalized(url, self._cleaning)
        if tidied is None:
            return None
        if len(tidied) > LONGEST_URL:
            return self._refused(href)
        found = tidied, fragment and unquote(fragment)
        if start not in (None, "?") and len(href) <= MAX_CACHED_LENGTH >= len(tidied) and not _SAME_SCHEME.match(href):
            (self._rooted if href.startswith(_ROOTED) else self._nearby)[href] = found
            self._size += 1
            if self._size > self._capacity:
                self._forget_oldest()
        return found

    def _enter(self, base: str) -> None:
        if self._size > self._capacity:
            self._forget_oldest()
        self._base = base
        root = origin(base)
        path_end = base.find("?")
        folder = base[: base.rindex("/", 0, path_end if path_end > 0 else None) + 1]
        self._rooted, self._nearby = self._table(root), self._table(folder)
        self._starts = {}
        if any(old.startswith(root) for old, _ in self._cleaning.remaps):
            return  # What is joined is not remapped.
        self._starts = {"/": root + "/", "": folder}
        up = ""
        while len(folder) > len(root) + 1 and len(up) < 3 * _MOST_FOLDERS_UP:
            folder, up = folder[: folder.rindex("/", 0, -1) + 1], up + "../"
            self._starts[up] = folder

    def _table(self, key: str) -> dict[str, Resolved]:
        table = self._tables.get(key)
        if table is None:
            table = self._tables[key] = {}
            self._size += 1
        return table

    def _forget_oldest(self) -> None:
        while self._size > self._capacity // 2:
            oldest = next(iter(self._tables))
            self._size -= 1 + len(self._tables.pop(oldest))
        # The current tables may have been dropped: look them up again.
        self._base = None


_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_NUMERIC_OPAQUE = frozenset({"tel", "sms", "fax", "callto"})
"""Schemes that are followed by digits like a port."""


def parse_typed_url(text: str) -> str:
    """The canonical form of a URL that the user typed. Raises UsageError with the reason."""
    text = text.translate(_TABS).strip(_EDGE + "\u3000\xa0")
    if not text:
        raise UsageError("The URL is empty. Enter a URL such as https://example.com/.")
    if not text.isascii() and any("\ud800" <= sign <= "\udfff" for sign in text):
        raise UsageError("The URL {url} is not valid UTF-8. Write it with percent-encoding.", url=quoted(text))
    if len(text) > LONGEST_URL:
        raise UsageError(
            "The URL {url} has {length} characters. The maximum is {limit}.",
            url=quoted(text[:60] + "…"),
            length=f"{len(text):,}",
            limit=f"{LONGEST_URL:,}",
        )
    scheme, rest = _typed_scheme(text)
    authority = re.split(r"[/\\?#]", rest, maxsplit=1)[0]
    _check_authority(text, authority)
    url = canonical(f"{scheme or 'http'}://{rest}")
    if url is None:
        raise UsageError("{host} is not a valid host name. Enter a URL such as https://example.com/.", host=quoted(authority))
    if scheme is None and not _is_local(url, authority):
        url = canonical(f"https://{rest}") or url
    return url


def _typed_scheme(text: str) -> tuple[str | None, str]:
    """The scheme (http, https, or None when none was typed) and what follows the slashes."""
    match = _SCHEME.match(text)
    if match is None:
        rest = text.lstrip("/\\") if text.startswith(("//", "\\\\")) else text
        return None, rest
    name, rest = match[1].lower(), text[match.end() :]
    if name in ("http", "https"):
        return name, rest.lstrip("/\\")
    authority = re.split(r"[/\\?#]", rest, maxsplit=1)[0]
    if rest.startswith("//") or name in _NUMERIC_OPAQUE:
        is_host = False
    elif "." in name or name == "localhost" or rest[:1].isdigit() or rest.startswith(":"):
        is_host = True
    else:
        is_host = "@" in authority and name != "mailto"
    if not is_host:
        raise UsageError("{scheme}: URLs cannot be crawled. Use a URL that starts with https:// or http://.", scheme=name)
    return None, text


def _check_authority(text: str, authority: str) -> None:
    """Report common mistakes with a reason, which the parser does not give."""
    if not authority:
        raise UsageError("{url} has no host. Enter a URL such as https://example.com/.", url=quoted(text))
    if "@" in authority:
        # Without the text: it may contain a password.
        raise UsageError("A URL must not contain a user name or password. Use --auth-type, --auth-username and --auth-password.")
    if authority.startswith("["):
        if canonical(f"http://{authority.partition(']')[0]}]/") is None or "]" not in authority:
            raise UsageError(
                "{address} is not a valid IPv6 address. Write it as in http://[2001:db8::1]/.", address=quoted(authority)
            )
    elif authority.count(":") > 1:
        raise UsageError(
            "{address} has several colons. Put an IPv6 address in brackets, as in http://[2001:db8::1]/.",
            address=quoted(authority),
        )
    port = authority.rpartition("]")[2].partition(":")[2]
    if port and not (port.isascii() and port.isdigit() and 0 < int(port[:9]) < 65536):
        raise UsageError(
            "{port} in {address} is not a valid port. Use a number from 1 to 65535.", port=quoted(port), address=quoted(authority)
        )


def _is_local(url: str, authority: str) -> bool:
    """Whether http is the more likely scheme: for this machine, an IP address, or a port other than 443."""
    port = authority.rpartition("]")[2].partition(":")[2]
    if port:
        return port != "443"
    host = split_url(url).host
    return is_ip_address(host) or host == "localhost" or host.endswith(".localhost")


def is_ip_address(host: str) -> bool:
    """Whether the host of a canonical URL is an IP address: the parser lets no other name end in a number."""
    return host[0] == "[" or host.rpartition(".")[2].isdigit()


def with_parameter(url: str, name: str, value: str) -> str:
    """A URL with one query parameter set, without its fragment; the other parameters are not changed."""
    start = without_parameters(url.partition("#")[0], lambda other, _: other == name)
    return f"{start}{'&' if '?' in start else '?'}{quote(name, safe='[]')}={quote(value, safe='')}"


def without_parameters(url: str, matches: Callable[[str, str], bool]) -> str:
    """A URL without the query parameters whose decoded name and value match; the others are not changed."""
    start, hash_sign, fragment = url.partition("#")
    path, _, query = start.partition("?")
    pairs = [part for part in query.split("&") if part]
    kept = [part for part in pairs if not matches(*(unquote_plus(text) for text in part.partition("=")[::2]))]
    return path + ("?" + "&".join(kept) if kept else "") + hash_sign + fragment
