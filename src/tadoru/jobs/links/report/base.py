"""What a form is given to write."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tadoru.jobs.links.result import BrokenLink, CrawlResult, Edge


@dataclass(frozen=True, slots=True)
class LinksReport:
    """A crawl, its links, and how much of it to show."""

    result: CrawlResult
    edges: Callable[[], Iterable[Edge]]
    """Streams the links between pages from the store; may be called more than once."""
    broken: tuple[BrokenLink, ...] = ()
    """Usually `result.bad_links`."""
    show_external: bool = False
    checked: bool = False
    """Whether links were checked, so that none being broken is worth a sentence."""
    accepted: int = 0
    """Bad links that a suppression file accepts, and that are not among the broken."""

    @property
    def all_well(self) -> str:
        """What is said of a check that found nothing bad; no full stop at its end."""
        works = "Every link that was tried works" if self.result.stopped else "Every link works"
        return f"{works}, but for {self.accepted:,} that you accept" if self.accepted else works
