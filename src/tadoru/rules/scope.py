"""Which URLs belong to the crawl, and the reason for each that does not.

Scope knows sites and patterns only. robots.txt, traps, depth and limits refuse URLs too, each in its own module.
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
    """Another site: recorded, perhaps checked, never followed."""
    REFUSED = "refused"
    """This site, but not wanted."""


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
    """The start URLs: hosts, domains and paths follow from them."""
    include: tuple[str, ...] = ()
    """Regular expressions searched in the whole URL; when there are any, one must match."""
    exclude: tuple[str, ...] = ()
    """Regular expressions searched in the whole URL; none may match, whatever else holds."""

    def __post_init__(self) -> None:
        if self.mode not in get_args(ScopeMode):
            raise UsageError(f"{quoted(self.mode)} is not a scope: use one of {', '.join(get_args(ScopeMode))}.")
        # Compiled here so that a bad pattern is refused before the crawl begins.
        _ = self._included, self._excluded

    @cached_property
    def _included(self) -> tuple[re.Pattern[str], ...]:
        return tuple(_compiled(pattern, "--include") for pattern in self.include)

    @cached_property
    def _excluded(self) -> tuple[re.Pattern[str], ...]:
        return tuple(_compiled(pattern, "--exclude") for pattern in self.exclude)

    @cached_property
    def _keys(self) -> frozenset[str]:
        """The names of the sites, each as `_key` gives it."""
        return frozenset(map(self._key, self.sites))

    @cached_property
    def _starts(self) -> frozenset[str]:
        return frozenset(self.sites)

    @cached_property
    def _prefixes(self) -> dict[str, tuple[str, ...]]:
        """The paths of each host that may be crawled in mode `path`."""
        found: dict[str, tuple[str, ...]] = {}
        for site in self.sites:
            key, prefix = host_key(site), _prefix(split_url(site).path)
            if prefix not in found.get(key, ()):
                found[key] = (*found.get(key, ()), prefix)
        return found

    def _key(self, url: str) -> str:
        return domain_key(url) if self.mode == "domain" else host_key(url)

    def is_internal(self, url: str) -> bool:
        """Whether the URL is on one of the sites, wanted or not."""
        return self.mode == "all" or self._key(url) in self._keys

    def decide(self, url: str) -> ScopeDecision:
        """Follow it, or why not."""
        if not self.is_internal(url):
            return ScopeDecision(Admission.EXTERNAL, self._external_reason(url))
        if excluded := self._exclusion(url):
            return excluded
        if url in self._starts:
            return _START
        if self.mode == "path" and (outside := self._outside_path(url)):
            return ScopeDecision(Admission.REFUSED, outside)
        if self._included and not any(pattern.search(url) for pattern in self._included):
            return _NOT_INCLUDED
        return _FOLLOW

    def decide_start(self, url: str) -> ScopeDecision:
        """The same of a URL that a person named. With every host in scope they need not be among `sites`: there may be many."""
        return self.decide(url) if self.mode != "all" else self._exclusion(url) or _START

    def _exclusion(self, url: str) -> ScopeDecision | None:
        for pattern in self._excluded:
            if pattern.search(url):
                return ScopeDecision(Admission.REFUSED, f"excluded by pattern {pattern.pattern}")
        return None

    def _external_reason(self, url: str) -> str:
        if len(self._keys) == 1:
            return f"external: {host_key(url)} is not {'in ' if self.mode == 'domain' else ''}{next(iter(self._keys))}"
        return f"external: {host_key(url)} is none of the {len(self._keys)} sites"

    def _outside_path(self, url: str) -> str:
        """Why a URL of this host is outside; empty when it is inside."""
        path = split_url(url).path
        prefixes = self._prefixes[host_key(url)]
        for prefix in prefixes:
            if path == prefix or path.startswith(prefix if prefix.endswith("/") else prefix + "/"):
                return ""
        return f"outside the path {' and '.join(prefixes)}"

    def moved(self, old_url: str, new_url: str) -> Scope:
        """The scope after a start URL redirected: where it led is a start too, and its host the site, unless in scope already."""
        if old_url not in self._starts or self.decide(new_url).admission is Admission.FOLLOW:
            return self
        sites = dict.fromkeys(new_url if site == old_url else site for site in self.sites)
        return replace(self, sites=tuple(sites))

    def to_dict(self) -> dict[str, Any]:
        """As JSON can store it."""
        return {"mode": self.mode, "sites": [*self.sites], "include": [*self.include], "exclude": [*self.exclude]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Scope:
        """What `to_dict` gave."""
        return cls(data["mode"], tuple(data["sites"]), tuple(data["include"]), tuple(data["exclude"]))


def domain_key(url: str) -> str:
    """The registrable domain of a canonical URL (with the port, as in `host_key`); the host where there is none."""
    return registrable_domain(host_key(url))


def registrable_domain(key: str) -> str:
    """The same of what `host_key` gave."""
    host, port = split_port(key)
    domain = _registrable(host)
    return domain if port is None else f"{domain}:{port}"


@lru_cache(maxsize=4096)
def _registrable(host: str) -> str:
    # The list's rule for unknown endings would take the end of an address for a domain.
    if is_ip_address(host) or "." not in host:
        return host
    return _suffixes().privatesuffix(host) or host


@lru_cache(maxsize=1)
def _suffixes() -> PublicSuffixList:
    # Imported and read late: it takes 40 ms, and only the scope `domain` needs it.
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()


_FILE_NAME = re.compile(r"[^/]\.[a-z][a-z0-9]{1,5}$", re.IGNORECASE)


def _prefix(path: str) -> str:
    """What a start URL's path covers: `/docs/` of `/docs/intro.html` and of `/docs/`, `/docs` of `/docs`."""
    if path.endswith("/") or not _FILE_NAME.search(path):
        return path
    return path[: path.rindex("/") + 1]


def _compiled(pattern: str, option: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise UsageError(f"The {option} pattern {quoted(pattern)} is not a valid regular expression: {error}.") from None
