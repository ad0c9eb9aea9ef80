"""What every format is made from: the crawl with its links, its figures, and its tree of shortest paths.

The tree contains every URL that was requested or is a parent. URLs that were only found may be millions: of these it contains the
first below each page, and the number of the others.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime

from tadoru.i18n.translation import N_, Translator, translator
from tadoru.jobs.links.result import BrokenKind, BrokenLink, CrawlResult, FailedUrl, LinkEdge, LinkSource, UrlInfo
from tadoru.jobs.reporting.escape import readable_url, url_host, url_origin
from tadoru.jobs.reporting.graph_svg import UrlOutcome

MAX_UNREAD = 20_000
"""URLs that were not requested and are kept in all: if there are more, fewer are kept below each page."""


class SiteTree:
    """Parents and children. A parent counts only if it is less deep than its child, so that any data makes a tree.

    `max_below` is the number of URLs that were not requested and may be kept below one page.
    """

    def __init__(self, infos: Collection[UrlInfo], figures: LinksFigures, max_below: int) -> None:
        self.urls = {info.url: info for info in infos if figures.is_inner(info)}
        """The URLs in the tree."""
        self._children: dict[str | None, list[UrlInfo]] = {}
        for info in sorted(self.urls.values(), key=sort_key):
            self._children.setdefault(self.parent(info), []).append(info)
        self._hidden: Counter[str | None] = Counter()
        limit = leaves_per_page(figures.unread_below.values(), max_below)
        leaves = self._first_leaves((info for info in infos if info.url not in self.urls), limit)
        for parent, first in leaves.items():
            self.urls.update((info.url, info) for info in first)
            self._children[parent] = sorted([*self._children.get(parent, ()), *first], key=sort_key)

    def _first_leaves(self, leaves: Iterable[UrlInfo], limit: int) -> dict[str | None, list[UrlInfo]]:
        """The first leaves below each parent. The others are counted."""
        kept: dict[str | None, list[UrlInfo]] = {}
        for info in leaves:
            parent = self.parent(info)
            first = kept.setdefault(parent, [])
            insort(first, info, key=sort_key)
            if len(first) > limit:
                first.pop()
                self._hidden[parent] += 1
        return kept

    def parent(self, info: UrlInfo) -> str | None:
        """The parent of a URL, whether the URL is in the tree or not; None if it has none."""
        above = self.urls.get(info.parent_url) if info.parent_url else None
        return above.url if above is not None and above.depth < info.depth else None

    def children(self, url: str | None) -> list[UrlInfo]:
        """The children of a URL by depth and name; of None, the URLs without a parent."""
        return self._children.get(url, [])

    def hidden(self, url: str | None) -> int:
        """The number of children that are not in the tree."""
        return self._hidden[url]

    @property
    def all_hidden(self) -> int:
        return self._hidden.total()


def sort_key(info: UrlInfo) -> tuple[int, str]:
    """The key that sorts URLs by depth, then by name."""
    return info.depth, info.url


def leaves_per_page(unread: Collection[int], maximum: int) -> int:
    """How many of the `unread` URLs below each page may be kept, at most `maximum`."""
    limits = (maximum, 100, 50, 20, 10, 5, 2, 1)
    return next((limit for limit in limits if sum(min(count, limit) for count in unread) <= MAX_UNREAD), 0)


NO_RESPONSE = N_("no response")
NOT_REQUESTED = N_("not requested")
BAD_LINK_KINDS: tuple[BrokenKind, ...] = ("broken", "fragment", "blocked")
"""The kinds of links that do not work, in the order of the reports."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFigures:
    """How the checked URLs of an external host responded."""

    host: str
    checked: int
    broken: int
    blocked: int
    redirects: int

    def to_dict(self) -> dict[str, str | int]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class LinksReport:
    """A crawl, its links, and what to show of it."""

    result: CrawlResult
    edges: Callable[[], Iterable[LinkEdge]]
    """Streams the links between pages from the store. May be called more than once."""
    broken: tuple[BrokenLink, ...] = ()
    """Usually `result.bad_links`."""
    show_external: bool = False
    checked: bool = False
    """Whether links were checked, so that the report mentions if none is broken."""
    accepted: int = 0
    """Links that do not work but are accepted by the suppression file; `broken` does not contain them."""

    lang: str = "en"

    @property
    def translate(self) -> Translator:
        """The translator of the report's language."""
        return translator(self.lang)

    def hosts(self) -> list[HostFigures]:
        """The external hosts whose URLs were checked, those with the most problems first."""
        failed = {failure.url: failure for failure in self.result.failed_urls}
        outcomes: dict[str, Counter[UrlOutcome]] = {}
        for info in self.result.external_urls:
            outcome = outcome_of(info, failed.get(info.url))
            if outcome is not UrlOutcome.UNREAD:
                outcomes.setdefault(url_host(info.url), Counter())[outcome] += 1
        found = [
            HostFigures(
                host=host,
                checked=counts.total(),
                broken=counts[UrlOutcome.BROKEN],
                blocked=counts[UrlOutcome.BLOCKED],
                redirects=counts[UrlOutcome.REDIRECT],
            )
            for host, counts in outcomes.items()
        ]
        return sorted(found, key=lambda host: (-host.broken, -host.blocked, -host.checked, host.host))

    def describe_success(self) -> str:
        """The sentence about a check without broken links."""
        _ = self.translate
        if self.accepted:
            accepted = _.number(self.accepted)
            if self.result.stopped:
                return _("Every checked link works, except {count} that you accept.", count=accepted)
            return _("Every link works, except {count} that you accept.", count=accepted)
        return _("Every checked link works.") if self.result.stopped else _("Every link works.")


def format_place(source: LinkSource) -> str:
    """Where a link was found: `docs/guide.md:12:5`, or the URL of a page."""
    place = (readable_url(source.file or source.page_url), source.line, source.column)
    return ":".join(str(part) for part in place if part is not None)


def outcome_of(info: UrlInfo, failed: FailedUrl | None) -> UrlOutcome:
    """The outcome of a URL. An accepted status code is not a failure."""
    if failed is not None:
        return UrlOutcome.BLOCKED if failed.blocked else UrlOutcome.BROKEN
    if info.status_code is None:
        return UrlOutcome.UNREAD
    if info.redirect_to or 300 <= info.status_code <= 399:
        return UrlOutcome.REDIRECT
    return UrlOutcome.OK


@dataclass(frozen=True, slots=True)
class LinksFigures:
    """Counts of the internal URLs. They are read once, and none is kept."""

    failed: Mapping[str, FailedUrl]
    outcomes: Mapping[UrlOutcome, int]
    statuses: tuple[tuple[str, int], ...]
    """Status code, `NO_RESPONSE` or `NOT_REQUESTED`, and the number of URLs."""
    depths: tuple[tuple[int, int], ...]
    """Depth and number of URLs, for every depth up to the deepest."""
    rate: float
    """Pages per second."""
    first_seen: datetime | None
    site: str
    """The most frequent origin: a start URL often redirects to another host."""
    unread_below: Mapping[str | None, int]
    """For each parent URL, the number of its children that were not requested."""

    @classmethod
    def of(cls, result: CrawlResult) -> LinksFigures:
        """The figures of a crawl."""
        failed = {failure.url: failure for failure in result.failed_urls}
        outcomes: Counter[UrlOutcome] = Counter()
        statuses: Counter[str] = Counter()
        depths: Counter[int] = Counter()
        below: Counter[str | None] = Counter()
        home = url_origin(result.start_url)
        homes = Counter({home: 0})
        first_seen: datetime | None = None
        for info in result.internal_urls:
            failure = failed.get(info.url)
            outcome = outcome_of(info, failure)
            outcomes[outcome] += 1
            statuses[_status_label(info, failure)] += 1
            depths[info.depth] += 1
            below[info.parent_url] += outcome is UrlOutcome.UNREAD
            if not info.url.startswith(home + "/"):
                home = url_origin(info.url)
            homes[home] += 1
            if first_seen is None or info.discovered_at < first_seen:
                first_seen = info.discovered_at
        duration = result.crawl_duration
        return cls(
            failed=failed,
            outcomes=outcomes,
            statuses=tuple(sorted(statuses.items())),
            depths=tuple((depth, depths[depth]) for depth in _shown_depths(depths)),
            rate=result.total_processed / duration if duration > 0 else 0.0,
            first_seen=first_seen,
            site=max(homes, key=lambda home: homes[home]),
            unread_below=below,
        )

    def outcome(self, info: UrlInfo) -> UrlOutcome:
        return outcome_of(info, self.failed.get(info.url))

    def is_inner(self, info: UrlInfo) -> bool:
        """Whether a URL was requested or is a parent: reports keep all of these; the others may be millions."""
        return info.url in self.unread_below or self.outcome(info) is not UrlOutcome.UNREAD


def _shown_depths(depths: Mapping[int, int]) -> Iterable[int]:
    # A start list or a resumed crawl may have depths far apart; empty ones are shown only if there are few.
    deepest = max(depths, default=-1)
    return range(deepest + 1) if deepest <= 2 * len(depths) else sorted(depths)


def _status_label(info: UrlInfo, failed: FailedUrl | None) -> str:
    code = info.status_code
    if code is None and failed is not None:
        code = failed.status_code
    if code is not None:
        return str(code)
    return NO_RESPONSE if failed is not None else NOT_REQUESTED
