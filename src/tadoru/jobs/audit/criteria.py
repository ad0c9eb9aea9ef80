"""The verdict on a crawled site: its findings counted, without those that are accepted or were there before, against the gates.

What a gate is, is in `gates`. What was there before is a baseline (`baseline`), or else the last run of the same database.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from functools import lru_cache

from tadoru.clock import SystemClock
from tadoru.errors import UsageError
from tadoru.jobs.audit.baseline import BaselineFindings, is_database
from tadoru.jobs.audit.compare.comparison import FindingsReader, findings_reader, merge_by_key
from tadoru.jobs.audit.compare.run_handles import RunHandle, open_run, split_name
from tadoru.jobs.audit.gates import AuditGates, GateCounter, SiteFigures
from tadoru.jobs.audit.run import build_job, build_scope
from tadoru.jobs.audit.site_checks import SITE_CHECKS
from tadoru.jobs.audit.suppressions import FindingSuppression, FindingSuppressions, find_suppression
from tadoru.jobs.launch import run_loop
from tadoru.options import AuditOptions
from tadoru.store.crawl.open import is_same_crawl, is_there, open_existing
from tadoru.store.crawl.run_pages import CheckTexts, PageState, StrayFinding
from tadoru.store.crawl.sqlite import SqliteStore


@dataclass(slots=True)
class CheckCount:
    """The findings of one check that count."""

    check: CheckTexts
    count: int = 0
    url: str = ""
    """The first of them."""


@dataclass(frozen=True, slots=True)
class GateResult:
    """What the gates say, and what they were judged by."""

    exceeded: list[str]
    """One sentence for each gate that was exceeded."""
    found: list[CheckCount]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditCriteria:
    """What a person wants to be told about: `--fail-on`, `--baseline` and `--suppress`."""

    gates: AuditGates = AuditGates()
    suppressions: FindingSuppressions = FindingSuppressions()
    baseline: str | None = None

    @classmethod
    def parse(cls, options: AuditOptions) -> AuditCriteria:
        """Before anything is requested. Raises UsageError."""
        return run_loop(cls.read(options))

    @classmethod
    async def read(cls, options: AuditOptions) -> AuditCriteria:
        page_checks = build_job(options, build_scope(options, ())).catalogue.checks
        has_earlier = options.recrawl or await _has_earlier_run(options.database)
        if options.baseline is not None:
            await _check_baseline(options.baseline, options.database, has_earlier)
        gates = AuditGates.parse(
            options.fail_on,
            [*page_checks.values(), *SITE_CHECKS.values()],
            has_earlier=options.baseline is not None or has_earlier,
        )
        return cls(gates=gates, suppressions=FindingSuppressions.read(options.suppress), baseline=options.baseline)

    def of(self, database: str) -> GateResult:
        """The verdict on a crawl that has ended."""
        return run_loop(self.judge(database))

    async def judge(self, database: str) -> GateResult:
        store = open_existing(database, SystemClock())
        earlier = _EarlierFindings()
        try:
            if self.baseline is not None or self.gates.ask_for_new:
                earlier = await _open_earlier(store, database, self.baseline)
            tally = _Tally(self, earlier, await store.check_words())
            async for was, now in merge_by_key(earlier.pages(), store.page_states(None), lambda page: page.key):
                if now is not None:
                    tally.page(now, was)
            async for gone, come in merge_by_key(earlier.strays(), store.stray_findings(None), _stray_key):
                if come is not None:
                    tally.stray(come, gone)
            return tally.verdict(await _read_figures(store, self.gates, tally.pages))
        finally:
            await store.close()
            await earlier.close()


@dataclass(frozen=True, slots=True)
class _EarlierFindings:
    """What was found before: in a crawl, or in a list, or nothing."""

    side: RunHandle | None = None
    listed: BaselineFindings | None = None
    read: FindingsReader = findings_reader({})

    async def pages(self) -> AsyncIterator[PageState]:
        if self.side is not None:
            async for page in self.side.store.page_states(self.side.number):
                yield page

    async def strays(self) -> AsyncIterator[StrayFinding]:
        if self.side is not None:
            async for stray in self.side.store.stray_findings(self.side.number):
                yield stray

    async def close(self) -> None:
        if self.side is not None:
            await self.side.close()


@dataclass(slots=True)
class _Tally:
    """Findings as they pass by."""

    judgement: AuditCriteria
    earlier: _EarlierFindings
    words: dict[int, CheckTexts]
    pages: int = 0
    counting: GateCounter = field(init=False)
    checks: dict[str, CheckCount] = field(init=False)
    read: FindingsReader = field(init=False)

    def __post_init__(self) -> None:
        self.counting = self.judgement.gates.counting()
        self.checks = {check.id: CheckCount(check) for check in self.words.values()}
        self.read = findings_reader(self.words)

    def page(self, page: PageState, was: PageState | None) -> None:
        self.pages += page.status != "skipped"
        before, listed = self.earlier.read(was.findings) if was is not None else frozenset(), self.earlier.listed
        kept = sorted(one for one in self.read(page.findings) if not self._is_accepted(one[0], page.url))
        new = [one for one in kept if one not in before and (listed is None or (page.url, *one) not in listed)]
        self._count(page.url, [check for check, _ in kept], [check for check, _ in new], is_page=True)

    def stray(self, stray: StrayFinding, was: StrayFinding | None) -> None:
        if self._is_accepted(stray.check_id, stray.url):
            return
        listed = self.earlier.listed
        is_new = was is None and (listed is None or (stray.url, stray.check_id, stray.subject) not in listed)
        self._count(stray.url, [stray.check_id], [stray.check_id] if is_new else [], is_page=False)

    def verdict(self, figures: SiteFigures) -> GateResult:
        found = [count for count in self.checks.values() if count.count]
        return GateResult(self.judgement.gates.exceeded(self.counting, figures), found)

    def _count(self, url: str, found: list[str], new: list[str], *, is_page: bool) -> None:
        counted = new if self.judgement.baseline is not None else found
        self.counting.add(counted, new, is_page=is_page)
        for check in counted:
            count = self.checks[check]
            count.count += 1
            count.url = count.url or url

    def _is_accepted(self, check: str, url: str) -> bool:
        entries = _entries(self.judgement.suppressions, check)
        return bool(entries) and find_suppression(entries, url) is not None


@lru_cache(maxsize=1024)
def _entries(suppressions: FindingSuppressions, check: str) -> tuple[FindingSuppression, ...]:
    return suppressions.about(check)


def _stray_key(stray: StrayFinding) -> tuple[str, str, str]:
    return stray.key, stray.check_id, stray.subject


async def _read_figures(store: SqliteStore, gates: AuditGates, pages: int) -> SiteFigures:
    runs = await store.runs()
    times = {number: await store.response_time(number / 100) for number in gates.percentiles}
    return SiteFigures(pages=pages, score=runs[-1].score if runs else None, times=times)


async def _open_earlier(store: SqliteStore, database: str, baseline: str | None) -> _EarlierFindings:
    """The baseline; without one, the run before this one, if there was any."""
    if baseline is not None and not _is_same(baseline, database):
        if not is_database(baseline):
            return _EarlierFindings(listed=BaselineFindings(baseline))
        side = await open_run(baseline, SystemClock())
    else:
        kept = [run.number for run in await store.runs() if run.kept]
        if len(kept) < 2:
            return _EarlierFindings()
        side = await open_run(f"{database}@{kept[-2]}", SystemClock())
    return _EarlierFindings(side, read=findings_reader(await side.store.check_words()))


async def _check_baseline(name: str, database: str, has_earlier: bool) -> None:
    if _is_same(name, database):
        if not has_earlier:
            raise UsageError(f"--baseline {name} is the crawl itself: give another one, or an earlier run of it as {name}@1.")
    elif is_database(name):
        await (await open_run(name, SystemClock())).close()
    else:
        BaselineFindings(name)


def _is_same(baseline: str, database: str) -> bool:
    """Whether a baseline is the database itself, with no word on which run of it."""
    return split_name(baseline)[1] is None and is_same_crawl(baseline, database)


async def _has_earlier_run(database: str) -> bool:
    if not is_there(database, SystemClock()):
        return False
    store = open_existing(database, SystemClock())
    try:
        return sum(run.kept for run in await store.runs()) > 1
    finally:
        await store.close()
