"""Which URLs belong to the crawl, and the reason for each that does not.

The scope consists of sites and patterns. robots.txt, traps, depth and limits refuse URLs too, each in its own module.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from tadoru.errors import UsageError, quoted
from tadoru.rules.url import host_key, is_ip_address, split_port, split_url

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

ScopeMode = Literal["host", "domain", "path", "all"]


class Admission(StrEnum):
    """What a crawl does with a URL."""

    FOLLOW = "follow"
    EXTERNAL = "external"
    """On another site: recorded, possibly checked, never followed."""
    OUTSIDE = "outside"
    """On this site, outside its path: possibly checked like an external URL, never followed."""
    REFUSED = "refused"
    """Excluded: never requested."""


class ScopeDecision(NamedTuple):
    """A decision and its reason."""

    admission: Admission
    reason: str


_FOLLOW = ScopeDecision(Admission.FOLLOW, "in scope")
_START = ScopeDecision(Admission.FOLLOW, "a start URL")
_NOT_INCLUDED = ScopeDecision(Admission.REFUSED, "not matched by any --include pattern")


@dataclass(frozen=True)
class Scope:
    """The sites of a crawl. All URLs, those of `sites` too, are canonical (`rules.url`)."""

    mode: ScopeMode = "host"
    sites: tuple[str, ...] = ()
    """The start URLs, which define the hosts, domains and paths."""
    include: tuple[str, ...] = ()
    """Regular expressions for the whole URL; if there are any, one must match."""
    exclude: tuple[str, ...] = ()
    """Regular expressions for the whole URL; none may match."""

    def __post_init__(self) -> None:
        if self.mode not in get_args(ScopeMode):
            raise UsageError(
                "{mode} is not a valid scope. Use one of {modes}.", mode=quoted(self.mode), modes=", ".join(get_args(ScopeMode))
            )
        # Compiled here so that an invalid pattern is reported before the crawl starts.
        _ = self._included, self._excluded

    @cached_property
    def _included(self) -> tuple[re.Pattern[str], ...]:
        return tuple(_compiled(pattern, "--include") for pattern in self.include)

    @cached_property
    def _excluded(self) -> tuple[re.Pattern[str], ...]:
        return tuple(_compiled(pattern, "--exclude") for pattern in self.exclude)

    @cached_property
    def _keys(self) -> frozenset[str]:
        """The keys of the sites by `_key`."""
        return frozenset(map(self._key, self.sites))

    @cached_property
    def _starts(self) -> frozenset[str]:
        return frozenset(self.sites)

    @cached_property
    def _prefixes(self) -> dict[str, tuple[str, ...]]:
        """The path prefixes of each host in mode `path`."""
        found: dict[str, tuple[str, ...]] = {}
        for site in self.sites:
            key, prefix = host_key(site), _prefix(split_url(site).path)
            if prefix not in found.get(key, ()):
                found[key] = (*found.get(key, ()), prefix)
        return found

    def _key(self, url: str) -> str:
        return domain_key(url) if self.mode == "domain" else host_key(url)

    def is_internal(self, url: str) -> bool:
        """Whether the URL is on one of the sites, excluded or not."""
        return self.mode == "all" or self._key(url) in self._keys

    def decide(self, url: str) -> ScopeDecision:
        """Whether to follow the URL, with the reason."""
        if excluded := self.exclusion(url):
            return excluded
        if not self.is_internal(url):
            return ScopeDecision(Admission.EXTERNAL, self._external_reason(url))
        if url in self._starts:
            return _START
        if self.mode == "path" and (outside := self._outside_path(url)):
            return ScopeDecision(Admission.OUTSIDE, outside)
        if self._included and not any(pattern.search(url) for pattern in self._included):
            return _NOT_INCLUDED
        return _FOLLOW

    def decide_start(self, url: str) -> ScopeDecision:
        """The decision about a start URL. With every host in scope it need not be in `sites`, because there may be many."""
        return self.decide(url) if self.mode != "all" else self.exclusion(url) or _START

    def exclusion(self, url: str) -> ScopeDecision | None:
        """The decision about a URL that is excluded, of any site and of any kind; None for others."""
        for pattern in self._excluded:
            if pattern.search(url):
                return ScopeDecision(Admission.REFUSED, f"excluded by pattern {pattern.pattern}")
        return None

    def _external_reason(self, url: str) -> str:
        if len(self._keys) == 1:
            return f"external: {host_key(url)} is not {'in ' if self.mode == 'domain' else ''}{next(iter(self._keys))}"
        return f"external: {host_key(url)} is none of the {len(self._keys)} sites"

    def _outside_path(self, url: str) -> str:
        """Why a URL of this host is outside the path; empty when it is inside."""
        path = split_url(url).path
        prefixes = self._prefixes[host_key(url)]
        for prefix in prefixes:
            if path == prefix or path.startswith(prefix if prefix.endswith("/") else prefix + "/"):
                return ""
        return f"outside the path {' and '.join(prefixes)}"

    def moved(self, old_url: str, new_url: str) -> Scope:
        """The scope after a start URL was redirected: the target replaces the start URL, unless it is already in scope."""
        if old_url not in self._starts or self.decide(new_url).admission is Admission.FOLLOW:
            return self
        sites = dict.fromkeys(new_url if site == old_url else site for site in self.sites)
        return replace(self, sites=tuple(sites))

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {"mode": self.mode, "sites": [*self.sites], "include": [*self.include], "exclude": [*self.exclude]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Scope:
        """The scope from the result of `to_dict`."""
        return cls(data["mode"], tuple(data["sites"]), tuple(data["include"]), tuple(data["exclude"]))


def domain_key(url: str) -> str:
    """The registrable domain of a canonical URL (with the port, as in `host_key`); the host if there is none."""
    return registrable_domain(host_key(url))


def registrable_domain(key: str) -> str:
    """The registrable domain of a `host_key`."""
    host, port = split_port(key)
    domain = _registrable(host)
    return domain if port is None else f"{domain}:{port}"


@lru_cache(maxsize=4096)
def _registrable(host: str) -> str:
    # The list would treat the last parts of an IP address as a domain.
    if is_ip_address(host) or "." not in host:
        return host
    return _suffixes().privatesuffix(host) or host


@lru_cache(maxsize=1)
def _suffixes() -> PublicSuffixList:
    # Imported late: it takes 40 ms, and only the scope `domain` needs it.
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()


_FILE_NAME = re.compile(r"[^/]\.[a-z][a-z0-9]{1,5}$", re.IGNORECASE)


def _prefix(path: str) -> str:
    """The path prefix of a start URL: `/docs/` for `/docs/intro.html` and for `/docs/`, `/docs` for `/docs`."""
    if path.endswith("/") or not _FILE_NAME.search(path):
        return path
    return path[: path.rindex("/") + 1]


def _compiled(pattern: str, option: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise UsageError(
            "The {option} pattern {pattern} is not a valid regular expression: {error}.",
            option=option,
            pattern=quoted(pattern),
            error=error,
        ) from None
