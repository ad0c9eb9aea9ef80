"""Compares two crawls page by page, counts every change, and keeps some examples of each kind.

Both crawls are read in the order of their URLs, so that comparing millions of pages takes little memory. A crawl that was stopped
has not seen all pages: what only the other crawl has is then neither added nor removed, and its findings are neither new nor
fixed; it is counted as unseen.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from tadoru.jobs.audit.compare.run_handles import RunHandle
from tadoru.jobs.audit.context import INDEXABLE
from tadoru.model.finding import Severity
from tadoru.store.crawl.run_pages import CheckTexts, PageState, Rewrite, StrayFinding

SLOW_MS = 300.0
"""A response time has changed if it doubled or halved, and by at least this much."""
LARGE_BYTES = 10_000
FEW_LINKS = 5

ChangedValue = str | int | float | None


class ChangeKind(StrEnum):
    """The kind of a change, in the order that matters to a reader."""

    BROKEN = "broken"
    REMOVED = "removed"
    DEINDEXED = "deindexed"
    """It was indexable, and is not any more."""
    REDIRECTED = "redirected"
    """It redirects now, or to another URL."""
    STATUS = "status"
    FIXED = "fixed"
    ADDED = "added"
    INDEXED = "indexed"
    INDEXABILITY = "indexability"
    """It is not indexable for another reason."""
    TITLE = "title"
    DESCRIPTION = "description"
    H1 = "h1"
    CANONICAL = "canonical"
    ROBOTS = "robots"
    CONTENT = "content"
    DEPTH = "depth"
    INLINKS = "inlinks"
    SLOWER = "slower"
    FASTER = "faster"
    LARGER = "larger"
    SMALLER = "smaller"
    NEW_FINDING = "new-finding"
    FIXED_FINDING = "fixed-finding"


REGRESSIONS = frozenset({ChangeKind.BROKEN, ChangeKind.REMOVED, ChangeKind.DEINDEXED})
"""Regressions, together with new errors."""
FINDING_CHANGES = frozenset({ChangeKind.NEW_FINDING, ChangeKind.FIXED_FINDING})


class PageChange(NamedTuple):
    """One change of one URL."""

    kind: ChangeKind
    url: str
    before: ChangedValue = None
    after: ChangedValue = None
    check_id: str = ""
    """The check of a finding."""


def describe_response(state: PageState) -> str:
    """The response to a page: a status code, `no answer` or `not requested`."""
    if state.status == "skipped":
        return "not requested"
    return str(state.status_code) if state.status_code is not None else "no answer"


def is_working(state: PageState) -> bool:
    """Whether a visitor gets the page or a redirect."""
    return state.status_code is not None and state.status_code < 400


def page_changes(before: PageState, after: PageState, rewrite: Rewrite | None) -> Iterator[PageChange]:
    """All changes of a page that both crawls have."""
    was, now = describe_response(before), describe_response(after)
    yield from _response_changes(before, after, was, now, rewrite)
    read = (before.status_code or 0) // 100 == 2 == (after.status_code or 0) // 100
    if read or "not requested" in (was, now):
        yield from _indexability_changes(before, after)
    if read:
        yield from _text_changes(before, after, rewrite)
        yield from _figure_changes(before, after)


def _response_changes(before: PageState, after: PageState, was: str, now: str, rewrite: Rewrite | None) -> Iterator[PageChange]:
    was_requested = "not requested" not in (was, now)
    if was_requested and is_working(before) and not is_working(after):
        yield PageChange(ChangeKind.BROKEN, after.url, was, now)
    elif was_requested and is_working(after) and not is_working(before):
        yield PageChange(ChangeKind.FIXED, after.url, was, now)
    elif after.redirect_url is not None and _mapped(before.redirect_url, rewrite) != _mapped(after.redirect_url, rewrite):
        yield PageChange(ChangeKind.REDIRECTED, after.url, before.redirect_url or was, after.redirect_url)
    elif was != now:
        yield PageChange(ChangeKind.STATUS, after.url, was, now)


def _indexability_changes(before: PageState, after: PageState) -> Iterator[PageChange]:
    was, now = before.indexability, after.indexability
    if was is None or now is None or was == now:
        return
    kind = ChangeKind.DEINDEXED if was == INDEXABLE else ChangeKind.INDEXED if now == INDEXABLE else ChangeKind.INDEXABILITY
    yield PageChange(kind, after.url, was, now)


def _text_changes(before: PageState, after: PageState, rewrite: Rewrite | None) -> Iterator[PageChange]:
    for kind, was, now in (
        (ChangeKind.TITLE, before.title, after.title),
        (ChangeKind.DESCRIPTION, before.description, after.description),
        (ChangeKind.H1, before.h1, after.h1),
        (ChangeKind.ROBOTS, before.robots, after.robots),
    ):
        if (was or "") != (now or ""):
            yield PageChange(kind, after.url, was, now)
    if _mapped(before.canonical, rewrite) != _mapped(after.canonical, rewrite):
        yield PageChange(ChangeKind.CANONICAL, after.url, before.canonical, after.canonical)
    if before.content_hash and after.content_hash and before.content_hash != after.content_hash:
        yield PageChange(ChangeKind.CONTENT, after.url, before.word_count, after.word_count)


def _figure_changes(before: PageState, after: PageState) -> Iterator[PageChange]:
    if before.depth != after.depth:
        yield PageChange(ChangeKind.DEPTH, after.url, before.depth, after.depth)
    if _differ(before.response_ms, after.response_ms, SLOW_MS):
        slower = (after.response_ms or 0) > (before.response_ms or 0)
        yield PageChange(
            ChangeKind.SLOWER if slower else ChangeKind.FASTER, after.url, _round(before.response_ms), _round(after.response_ms)
        )
    if _differ(before.size, after.size, LARGE_BYTES):
        larger = (after.size or 0) > (before.size or 0)
        yield PageChange(ChangeKind.LARGER if larger else ChangeKind.SMALLER, after.url, before.size, after.size)
    if before.inlinks is not None and after.inlinks is not None:
        lost_or_gained = bool(before.inlinks) != bool(after.inlinks)
        if lost_or_gained or _differ(before.inlinks, after.inlinks, FEW_LINKS):
            yield PageChange(ChangeKind.INLINKS, after.url, before.inlinks, after.inlinks)


def _differ(was: float | None, now: float | None, minimum: float) -> bool:
    """Whether two numbers differ by a factor of two and by at least `minimum`."""
    if was is None or now is None:
        return False
    low, high = sorted((was, now))
    return high >= 2 * low and high - low >= minimum


def _round(ms: float | None) -> float | None:
    return None if ms is None else round(ms)


def _mapped(url: str | None, rewrite: Rewrite | None) -> str | None:
    return rewrite(url) if url is not None and rewrite is not None else url


T = TypeVar("T")
KeyFunction = Callable[[T], Any]


async def merge_by_key(
    before: AsyncIterator[T],
    after: AsyncIterator[T],
    key: KeyFunction[T],
    on_duplicate: Callable[[T], object] = lambda item: None,
) -> AsyncIterator[tuple[T | None, T | None]]:
    """Pairs of items with the same key, and single items of one stream; both streams must be sorted by key.

    Of several items with the same key in one stream the first counts; `on_duplicate` is called for the others.
    """
    left, right = _unique_by_key(before, key, on_duplicate), _unique_by_key(after, key, on_duplicate)
    a, b = await anext(left, None), await anext(right, None)
    while a is not None and b is not None:
        first, second = key(a), key(b)
        if first == second:
            yield a, b
            a, b = await anext(left, None), await anext(right, None)
        elif first < second:
            yield a, None
            a = await anext(left, None)
        else:
            yield None, b
            b = await anext(right, None)
    while a is not None:
        yield a, None
        a = await anext(left, None)
    while b is not None:
        yield None, b
        b = await anext(right, None)


async def _unique_by_key(items: AsyncIterator[T], key: KeyFunction[T], on_duplicate: Callable[[T], object]) -> AsyncIterator[T]:
    last: Any = None
    async for item in items:
        if (this := key(item)) == last:
            on_duplicate(item)
        else:
            last = this
            yield item


FindingSet = frozenset[tuple[str, str]]
"""Check and subject."""
FindingsReader = Callable[[str], FindingSet]
ChangeHandler = Callable[[PageChange], object]


@dataclass(slots=True)
class CheckChange:
    """The changes of the findings of one check."""

    check: CheckTexts
    before: int = 0
    after: int = 0
    new: int = 0
    fixed: int = 0
    gone: int = 0
    """Findings of pages that were removed or do not respond any more; these are not fixed."""
    examples: list[PageChange] = field(default_factory=list)


@dataclass(slots=True)
class CrawlComparison:
    """The result of a comparison."""

    before: RunHandle
    after: RunHandle
    shown: int = 20
    """Examples kept of each kind and check."""
    pages_before: int = 0
    pages_after: int = 0
    compared: int = 0
    """Pages that both have."""
    unseen: int = 0
    """Pages that only one crawl has, because the other was stopped."""
    twins: int = 0
    """URLs that `--map` made equal to another URL."""
    counts: Counter[ChangeKind] = field(default_factory=Counter)
    examples: dict[ChangeKind, list[PageChange]] = field(default_factory=dict)
    checks: dict[str, CheckChange] = field(default_factory=dict)

    def changed_checks(self) -> list[CheckChange]:
        """The checks with new or fixed findings, most severe first."""
        ranks = list(Severity)
        touched = [change for change in self.checks.values() if change.new or change.fixed]
        return sorted(touched, key=lambda change: (ranks.index(Severity(change.check.severity)), -change.new, change.check.id))

    def new_findings(self, least: Severity) -> int:
        """New findings of at least a severity."""
        ranks = list(Severity)
        severities = ranks[: ranks.index(least) + 1]
        return sum(change.new for change in self.checks.values() if change.check.severity in severities)

    def add_change(self, change: PageChange) -> None:
        """Counts a change, and keeps it if it is among the first of its kind."""
        self.counts[change.kind] += 1
        kept = self.checks[change.check_id].examples if change.check_id else self.examples.setdefault(change.kind, [])
        if len(kept) < self.shown:
            kept.append(change)


class _Comparer:
    """The state of a running comparison."""

    def __init__(self, result: CrawlComparison, rewrite: Rewrite | None, on_change: ChangeHandler) -> None:
        self._result = result
        self._rewrite = rewrite
        self._on_change = on_change
        self._was_partial = result.before.run.partial
        self._is_partial = result.after.run.partial

    async def prepare(self) -> None:
        """Reads the checks and their totals of both runs."""
        before, after = self._result.before, self._result.after
        then, now = await before.store.run_pages.check_words(), await after.store.run_pages.check_words()
        self._read_then, self._read_now = findings_reader(then, self._rewrite), findings_reader(now, self._rewrite)
        checks = {check.id: check for check in (*then.values(), *now.values())}
        self._result.checks = {check.id: CheckChange(check) for check in checks.values()}
        for number, count in (await before.store.run_pages.check_totals(before.number)).items():
            self._result.checks[then[number].id].before = count
        for number, count in (await after.store.run_pages.check_totals(after.number)).items():
            self._result.checks[now[number].id].after = count

    def pages(self, before: PageState | None, after: PageState | None) -> None:
        """Compares a page that one or both crawls have."""
        result = self._result
        result.pages_before += before is not None and before.status != "skipped"
        result.pages_after += after is not None and after.status != "skipped"
        if before is not None and after is not None:
            result.compared += 1
            for change in page_changes(before, after, self._rewrite):
                self._report(change)
            self._findings(after.url, self._read_then(before.findings), self._read_now(after.findings), is_working(after))
        elif after is not None:
            self._appeared(after)
        elif before is not None:
            self._vanished(before)

    def _appeared(self, page: PageState) -> None:
        if self._was_partial:
            self._result.unseen += 1
            return
        if page.status != "skipped":
            self._report(PageChange(ChangeKind.ADDED, page.url, None, describe_response(page)))
        self._findings(page.url, frozenset(), self._read_now(page.findings), True)

    def _vanished(self, page: PageState) -> None:
        if self._is_partial:
            self._result.unseen += 1
            return
        if page.status != "skipped":
            self._report(PageChange(ChangeKind.REMOVED, page.url, describe_response(page), None))
        self._findings(page.url, self._read_then(page.findings), frozenset(), False)

    def strays(self, before: StrayFinding | None, after: StrayFinding | None) -> None:
        """Compares a finding that is not about a page of the site."""
        if after is not None and before is None and not self._was_partial:
            self._new(after.url, after.check_id, after.subject)
        elif before is not None and after is None and not self._is_partial:
            self._fixed(before.url, before.check_id, before.subject)

    def _findings(self, url: str, before: FindingSet, after: FindingSet, are_fixed: bool) -> None:
        if before == after:
            return
        for check, subject in sorted(after - before):
            self._new(url, check, subject)
        for check, subject in sorted(before - after):
            if are_fixed:
                self._fixed(url, check, subject)
            else:
                self._result.checks[check].gone += 1

    def _new(self, url: str, check: str, subject: str) -> None:
        self._result.checks[check].new += 1
        self._report(PageChange(ChangeKind.NEW_FINDING, url, None, subject or None, check))

    def _fixed(self, url: str, check: str, subject: str) -> None:
        self._result.checks[check].fixed += 1
        self._report(PageChange(ChangeKind.FIXED_FINDING, url, subject or None, None, check))

    def _report(self, change: PageChange) -> None:
        self._result.add_change(change)
        self._on_change(change)


async def compare_runs(
    before: RunHandle,
    after: RunHandle,
    *,
    rewrite: Rewrite | None = None,
    shown: int = 20,
    on_change: ChangeHandler = lambda change: None,
) -> CrawlComparison:
    """Compares two runs. Calls `on_change` for each change in the order of URLs, first for pages, then for other findings."""
    result = CrawlComparison(before, after, shown)
    comparer = _Comparer(result, rewrite, on_change)
    await comparer.prepare()

    def count_duplicate(page: PageState) -> None:
        result.twins += 1

    pages = [run.store.run_pages.page_states(run.number, rewrite) for run in (before, after)]
    async for was, now in merge_by_key(pages[0], pages[1], lambda page: page.key, count_duplicate):
        comparer.pages(was, now)
    strays = [run.store.run_pages.stray_findings(run.number, rewrite) for run in (before, after)]
    async for was_finding, finding in merge_by_key(strays[0], strays[1], lambda one: (one.key, one.check_id, one.subject)):
        comparer.strays(was_finding, finding)
    return result


def findings_reader(checks: Mapping[int, CheckTexts], rewrite: Rewrite | None = None) -> FindingsReader:
    """A function that parses the stored findings of a page, cached because many pages have the same ones."""

    @lru_cache(maxsize=4096)
    def read(findings: str) -> FindingSet:
        return frozenset(
            (checks[number].id, rewrite(subject) if rewrite is not None and subject else subject)
            for number, subject in json.loads(findings)
        )

    return read
