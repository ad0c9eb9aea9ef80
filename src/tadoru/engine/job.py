"""What the engine needs of a job. A job is a value, not a subclass of a crawler: it names its scope, and reads pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tadoru.model.web import Link, Response
from tadoru.rules.budget import Budget
from tadoru.rules.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How to crawl, whatever the job."""

    delay: float = 1.0
    concurrency: int = 4
    timeout: float = 30.0
    max_bytes: int = 10 * 1024 * 1024
    budget: Budget = Budget()
    obey_robots: bool = True
    max_redirects: int = 10
    trap_cap: int = 500
    """How many URLs of one endless-looking class are requested; 0 switches traps off."""
    lease_ttl: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """An answer with what the crawl knows about its URL."""

    url: str
    depth: int
    response: Response


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a job read from a page."""

    links: Sequence[Link] = ()
    title: str | None = None
    meta_description: str | None = None
    meta_robots: str | None = None
    canonical_url: str | None = None
    content_hash: str | None = None
    anchors: Sequence[str] | None = None


class Job(Protocol):
    """One of the things Tadoru does with a site."""

    @property
    def scope(self) -> Scope: ...

    @property
    def body_types(self) -> tuple[str, ...] | None:
        """Media types whose bodies `handle` wants; None for every body."""
        ...

    @property
    def check_external(self) -> bool:
        """Whether external links are requested, to see that they answer."""
        ...

    @property
    def follow(self) -> bool:
        """False in list mode: only the given URLs."""
        ...

    def handle(self, page: Page) -> Found:
        """Read one page. Pure: no I/O, no state that matters."""
        ...
