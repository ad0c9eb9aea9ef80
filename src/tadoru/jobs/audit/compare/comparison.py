"""Compares two crawls page by page, counts every change, and keeps some examples of each kind."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

from tadoru.jobs.audit.compare.changes import ChangeKind, PageChange, describe_response, is_working, page_changes
from tadoru.jobs.audit.compare.run_handles import RunHandle
from tadoru.model.finding import Severity
from tadoru.store.crawl.run_pages import CheckTexts, PageState, Rewrite, StrayFinding

T = TypeVar("T")
KeyFunction = Callable[[T], Any]


async def merge_by_key(
    before: AsyncIterator[T], after: AsyncIterator[T], key: KeyFunction[T], on_twin: Callable[[T], object] = lambda twin: None
) -> AsyncIterator[tuple[T | None, T | None]]:
    """What has the same key together, what is on one side only alone; both streams must be in the order of their keys.

    Of several with one key on one side the first counts, and `on_twin` is told the others.
    """
    left, right = _unique_by_key(before, key, on_twin), _unique_by_key(after, key, on_twin)
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


async def _unique_by_key(items: AsyncIterator[T], key: KeyFunction[T], on_twin: Callable[[T], object]) -> AsyncIterator[T]:
    last: Any = None
    async for item in items:
        if (this := key(item)) == last:
            on_twin(item)
        else:
            last = this
            yield item


FindingSet = frozenset[tuple[str, str]]
"""Check and subject."""
FindingsReader = Callable[[str], FindingSet]
ChangeHandler = Callable[[PageChange], object]


@dataclass(slots=True)
class CheckChange:
    """What became of the findings of one check."""

    check: CheckTexts
    before: int = 0
    after: int = 0
    new: int = 0
    fixed: int = 0
    gone: int = 0
    """Went together with the page, or the page does not answer any more: not mended."""
    examples: list[PageChange] = field(default_factory=list)


@dataclass(slots=True)
class CrawlComparison:
    """What a comparison came to."""

    before: RunHandle
    after: RunHandle
    shown: int = 20
    """How many examples are kept of each kind and check."""
    pages_before: int = 0
    pages_after: int = 0
    compared: int = 0
    """Pages that both have."""
    unseen: int = 0
    """Pages that only one of them came to, because the other was stopped."""
    twins: int = 0
    """URLs that became the same as another one by `--map`."""
    counts: Counter[ChangeKind] = field(default_factory=Counter)
    examples: dict[ChangeKind, list[PageChange]] = field(default_factory=dict)
    checks: dict[str, CheckChange] = field(default_factory=dict)

    def changed_checks(self) -> list[CheckChange]:
        """The checks with new or fixed findings, the gravest first."""
        ranks = list(Severity)
        touched = [change for change in self.checks.values() if change.new or change.fixed]
        return sorted(touched, key=lambda change: (ranks.index(Severity(change.check.severity)), -change.new, change.check.id))

    def new_findings(self, worst: Severity) -> int:
        """New findings that are as grave as that, or graver."""
        ranks = list(Severity)
        grave = ranks[: ranks.index(worst) + 1]
        return sum(change.new for change in self.checks.values() if change.check.severity in grave)

    def tell(self, change: PageChange) -> None:
        self.counts[change.kind] += 1
        kept = self.checks[change.check_id].examples if change.check_id else self.examples.setdefault(change.kind, [])
        if len(kept) < self.shown:
            kept.append(change)


class _Comparer:
    """One comparison on its way."""

    def __init__(self, result: CrawlComparison, rewrite: Rewrite | None, sink: ChangeHandler) -> None:
        self._result = result
        self._rewrite = rewrite
        self._sink = sink
        self._was_partial = result.before.run.partial
        self._is_partial = result.after.run.partial

    async def prepare(self) -> None:
        before, after = self._result.before, self._result.after
        then, now = await before.store.check_words(), await after.store.check_words()
        self._read_then, self._read_now = findings_reader(then, self._rewrite), findings_reader(now, self._rewrite)
        words = {check.id: check for check in (*then.values(), *now.values())}
        self._result.checks = {check.id: CheckChange(check) for check in words.values()}
        for number, count in (await before.store.check_totals(before.number)).items():
            self._result.checks[then[number].id].before = count
        for number, count in (await after.store.check_totals(after.number)).items():
            self._result.checks[now[number].id].after = count

    def pages(self, before: PageState | None, after: PageState | None) -> None:
        """A page that is on one side or on both."""
        result = self._result
        result.pages_before += before is not None and before.status != "skipped"
        result.pages_after += after is not None and after.status != "skipped"
        if before is not None and after is not None:
            result.compared += 1
            for change in page_changes(before, after, self._rewrite):
                self._tell(change)
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
            self._tell(PageChange(ChangeKind.ADDED, page.url, None, describe_response(page)))
        self._findings(page.url, frozenset(), self._read_now(page.findings), True)

    def _vanished(self, page: PageState) -> None:
        if self._is_partial:
            self._result.unseen += 1
            return
        if page.status != "skipped":
            self._tell(PageChange(ChangeKind.REMOVED, page.url, describe_response(page), None))
        self._findings(page.url, self._read_then(page.findings), frozenset(), False)

    def strays(self, before: StrayFinding | None, after: StrayFinding | None) -> None:
        """A finding about something that is no page of the site."""
        if after is not None and before is None and not self._was_partial:
            self._new(after.url, after.check_id, after.subject)
        elif before is not None and after is None and not self._is_partial:
            self._fixed(before.url, before.check_id, before.subject)

    def _findings(self, url: str, before: FindingSet, after: FindingSet, mended: bool) -> None:
        if before == after:
            return
        for check, subject in sorted(after - before):
            self._new(url, check, subject)
        for check, subject in sorted(before - after):
            if mended:
                self._fixed(url, check, subject)
            else:
                self._result.checks[check].gone += 1

    def _new(self, url: str, check: str, subject: str) -> None:
        self._result.checks[check].new += 1
        self._tell(PageChange(ChangeKind.NEW_FINDING, url, None, subject or None, check))

    def _fixed(self, url: str, check: str, subject: str) -> None:
        self._result.checks[check].fixed += 1
        self._tell(PageChange(ChangeKind.FIXED_FINDING, url, subject or None, None, check))

    def _tell(self, change: PageChange) -> None:
        self._result.tell(change)
        self._sink(change)


async def compare_runs(
    before: RunHandle,
    after: RunHandle,
    *,
    rewrite: Rewrite | None = None,
    shown: int = 20,
    sink: ChangeHandler = lambda change: None,
) -> CrawlComparison:
    """Compare two runs. Every change goes to `sink` in the order of the URLs, first of pages, then of what is no page."""
    result = CrawlComparison(before, after, shown)
    walk = _Comparer(result, rewrite, sink)
    await walk.prepare()

    def twin(page: PageState) -> None:
        result.twins += 1

    pages = [side.store.page_states(side.number, rewrite) for side in (before, after)]
    async for was, now in merge_by_key(pages[0], pages[1], lambda page: page.key, twin):
        walk.pages(was, now)
    strays = [side.store.stray_findings(side.number, rewrite) for side in (before, after)]
    async for gone, come in merge_by_key(strays[0], strays[1], lambda one: (one.key, one.check_id, one.subject)):
        walk.strays(gone, come)
    return result


def findings_reader(words: Mapping[int, CheckTexts], rewrite: Rewrite | None = None) -> FindingsReader:
    """Reads the findings of a page. Most pages have the same few as many others."""

    @lru_cache(maxsize=4096)
    def read(findings: str) -> FindingSet:
        return frozenset(
            (words[number].id, rewrite(subject) if rewrite is not None and subject else subject)
            for number, subject in json.loads(findings)
        )

    return read
