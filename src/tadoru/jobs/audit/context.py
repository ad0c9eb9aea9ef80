"""The interface of page checks, for built-in checks and for plugins: their input (`PageContext`) and sets of checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Protocol

from tadoru.errors import ConfigError, quoted
from tadoru.model.finding import Check, Finding, Severity, Threshold, define
from tadoru.model.web import EVERY_BOT, Answer, Failure, Link, LinkKind, RenderedPage, Response
from tadoru.parse.header_fields import RobotsDirective, robots_tags
from tadoru.parse.page import PageView
from tadoru.rules.url import canonical, is_ip_address, split_url

_DELAY = re.compile(r"\d{1,9}(?:\.\d+)?")
_IMMEDIATE_SECONDS = 10
DEFAULT_BOTS = frozenset({EVERY_BOT, "googlebot"})
_HIDING = ("noindex", "none")


class CheckDefinitions:
    """Defines the checks of a group, by severity, and keeps them in their order."""

    def __init__(self, group: str) -> None:
        self._group = group
        self.checks: tuple[Check, ...] = ()
        self.error = partial(self._define, Severity.ERROR)
        self.warning = partial(self._define, Severity.WARNING)
        self.notice = partial(self._define, Severity.NOTICE)
        self.info = partial(self._define, Severity.INFO)

    def _define(  # noqa: PLR0913 - the fields of a check
        self,
        severity: Severity,
        name: str,
        *,
        title: str,
        why: str,
        fix: str,
        threshold: Threshold | None = None,
        is_site_wide: bool = False,
        is_off: bool = False,
        merged_into: tuple[str, ...] = (),
    ) -> Check:
        check = define(
            name, severity, title=title, why=why, fix=fix, group=self._group, threshold=threshold, is_site_wide=is_site_wide,
            is_off=is_off, merged_into=merged_into,
        )  # fmt: skip
        self.checks += (check,)
        return check


class Limits:
    """The thresholds of checks: their defaults, or the values that were configured."""

    def __init__(self, checks: Iterable[Check], chosen: Mapping[str, float] | None = None) -> None:
        self._values = {check.id: check.threshold.default for check in checks if check.threshold is not None}
        for name, value in (chosen or {}).items():
            if name not in self._values:
                raise ConfigError(
                    "{name} is not a check with a threshold. Choose one of {names}.",
                    name=quoted(name),
                    names=", ".join(sorted(self._values)),
                )
            self._values[name] = value

    def __getitem__(self, check: Check) -> float:
        return self._values[check.id]


@dataclass(frozen=True, slots=True)
class RenderedContext:
    """What a browser made of a page."""

    page: RenderedPage
    raw: PageView
    """The page as it was sent."""

    @property
    def redirect_target(self) -> str | None:
        """The URL that a script sent the visitor to."""
        target = canonical(self.page.url.partition("#")[0]) if self.page.is_redirected else None
        return target if target != self.raw.url and self.raw.head.refresh_url is None else None


@dataclass(frozen=True, kw_only=True)
class PageContext:
    """One URL with everything that is known when its response has arrived."""

    url: str
    limits: Limits
    answer: Answer | None = None
    """None if it was not requested."""
    page: PageView | None = None
    """The page, if the response is HTML."""
    rendering: RenderedContext | None = None
    """What a browser showed, if one was used."""
    robots_rule: str | None = None
    """The line of robots.txt that blocks the URL."""
    bots: frozenset[str] = DEFAULT_BOTS
    """The names of crawlers whose directives count."""

    @property
    def response(self) -> Response | None:
        return self.answer if isinstance(self.answer, Response) else None

    @property
    def failure(self) -> Failure | None:
        return self.answer if isinstance(self.answer, Failure) else None

    @cached_property
    def document(self) -> PageView | None:
        """The page if visitors are meant to see it; None for error pages and redirects."""
        response = self.response
        return self.page if response is not None and 200 <= response.status < 300 and not self.is_refreshed else None

    @cached_property
    def is_refreshed(self) -> bool:
        """Whether the page redirects by refresh or by a script before visitors can read it."""
        page = self.page
        if self.rendering is not None and self.rendering.redirect_target is not None:
            return True
        if page is None or page.head.refresh_url in (None, page.url):
            return False
        delay = _DELAY.match(page.head.refresh or "")
        return delay is None or float(delay[0]) <= _IMMEDIATE_SECONDS

    @cached_property
    def is_loopback(self) -> bool:
        """Whether the page is served on this machine, where nobody can listen: browsers treat it as secure."""
        host = split_url(self.url).host
        return host in ("localhost", "[::1]") or host.endswith(".localhost") or (host.startswith("127.") and is_ip_address(host))

    @cached_property
    def headers(self) -> dict[str, str]:
        """The first value of each header field, by its name in lower case."""
        response = self.response
        return {name.lower(): value for name, value in reversed(response.headers)} if response is not None else {}

    @cached_property
    def links(self) -> dict[LinkKind, list[Link]]:
        """The links of the page by kind."""
        by_kind: dict[LinkKind, list[Link]] = {kind: [] for kind in LinkKind}
        for link in self.page.links if self.page is not None else ():
            by_kind[link.kind].append(link)
        return by_kind

    @cached_property
    def directives(self) -> tuple[RobotsDirective, ...]:
        """The robots directives that count, of the page and of its header fields. What is not HTML has only the latter."""
        page, response = self.page, self.response
        if page is not None:
            named = (*page.directives, *page.header_directives)
        else:
            named = robots_tags(response.header_all("x-robots-tag")) if response is not None else ()
        return tuple(one for one in named if one.agent in self.bots)

    @property
    def is_noindex(self) -> bool:
        """Whether a directive keeps the page out of search results."""
        return any(one.name in _HIDING for one in self.directives)

    @cached_property
    def is_indexable(self) -> bool:
        """Whether search engines may index the page: status 2xx, no noindex, no canonical to another URL."""
        page = self.document
        if page is None or self.is_noindex:
            return False
        return page.head.canonical in (None, page.url)


class PageChecks(Protocol):
    """A set of page checks."""

    @property
    def checks(self) -> tuple[Check, ...]:
        """The checks of the set."""
        ...

    @property
    def run(self) -> Callable[[PageContext], Iterator[Finding]]:
        """Check a page: yields at most one finding for each check."""
        ...


@dataclass(frozen=True)
class CheckGroup:
    """A set of page checks and the function that runs them."""

    checks: tuple[Check, ...]
    run: Callable[[PageContext], Iterator[Finding]] = field(repr=False)


INDEXABLE = "indexable"


def classify_indexability(context: PageContext) -> str:
    """`indexable`, or the first reason against it, in the order in which search engines check."""
    if context.robots_rule is not None:
        return "blocked by robots.txt"
    response = context.response
    if response is None:
        return "no response"
    if response.is_redirect or context.is_refreshed:
        return "redirected"
    if response.status >= 500:
        return "server error"
    if response.status >= 400:
        return "client error"
    if response.status != 200:
        return "no content"
    if context.is_noindex:
        return "noindex"
    page = context.document
    if page is not None and page.head.canonical not in (None, page.url):
        return "canonicalised"
    named = next((link.url for link in page.header_links if "canonical" in link.rel), None) if page is not None else None
    if page is not None and named not in (None, page.url):
        return "canonicalised"
    return INDEXABLE
