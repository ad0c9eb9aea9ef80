"""Evaluates `--fail-on` for a crawl: counts its findings without suppressed ones and compares them with an earlier state.

The conditions are in `gates`. The earlier state is the baseline, or else the previous run of the same database.

A baseline is a crawl (`FILE`, `FILE@RUN`), or a list of findings: the JSON of `tadoru report`, or an export of findings with one
JSON object per line. A list is streamed, and only a hash of each finding is kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, TextIO

from tadoru.clock import SystemClock
from tadoru.config.options import AuditOptions
from tadoru.errors import UsageError
from tadoru.jobs.audit.compare.comparison import FindingsReader, findings_reader, merge_by_key
from tadoru.jobs.audit.compare.run_handles import RunHandle, open_run, split_name
from tadoru.jobs.audit.gates import AuditGates, GateCounter, SiteFigures
from tadoru.jobs.audit.run import build_job
from tadoru.jobs.audit.site_checks import SITE_CHECKS
from tadoru.jobs.audit.suppressions import FindingSuppression, FindingSuppressions, find_suppression
from tadoru.jobs.crawl_setup import build_scope
from tadoru.jobs.launch import run_loop
from tadoru.store.crawl.crawl_database import CrawlDatabase
from tadoru.store.crawl.open import is_same_crawl, is_there, open_existing
from tadoru.store.crawl.postgres.crawl_url import is_postgresql
from tadoru.store.crawl.run_pages import CheckTexts, PageState, StrayFinding

_LIST = re.compile(r'"findings"\s*:\s*\[')
_GAP = re.compile(r"[\s,]*")
_CHUNK = 1 << 20


class BaselineFindings:
    """The findings of a list."""

    def __init__(self, name: str) -> None:
        """Read the list. Raises UsageError."""
        self._known = {_hash(*key) for key in _read_keys(name)}

    def __contains__(self, key: tuple[str, str, str]) -> bool:
        """Whether the list contains a finding (URL, check, subject)."""
        return _hash(*key) in self._known


def _hash(url: str, check_id: str, subject: str) -> int:
    """A finding as a number. In a list, anything other than a page has its URL as the subject as well."""
    return hash((url, check_id, "" if subject == url else subject))


def is_database(name: str) -> bool:
    """Whether a baseline is a crawl and not a list. Raises UsageError if it cannot be read."""
    if is_postgresql(name):
        return True
    path = Path(split_name(name)[0])
    try:
        with path.open("rb") as file:
            return file.read(6) == b"SQLite"
    except OSError as error:
        raise _unreadable(name, error) from None


def _unreadable(name: str, error: OSError) -> UsageError:
    return UsageError("Cannot read --baseline {name}: {reason}. Check the file name.", name=name, reason=error.strerror)


def _read_keys(name: str) -> Iterator[tuple[str, str, str]]:
    try:
        with Path(name).open(encoding="utf-8-sig") as file:
            for found in _read_objects(file):
                yield str(found["url"]), str(found.get("check") or found["check_id"]), str(found.get("subject") or "")
    except OSError as error:
        raise _unreadable(name, error) from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UsageError(
            "--baseline {name} is neither a crawl nor a list of findings. Give a database or the output of "
            "`tadoru report --format json`.",
            name=name,
        ) from None


def _read_objects(file: TextIO) -> Iterator[dict[str, Any]]:
    """The objects of the list `findings`, or of a file with one object after the other."""
    decoder = json.JSONDecoder()
    text = file.read(_CHUNK).lstrip()
    begins = _LIST.search(text)
    at = begins.end() if begins is not None else int(text.startswith("["))
    ends_anywhere = at == 0
    while True:
        at = _end(_GAP.match(text, at))
        if text.startswith("]", at):
            return
        try:
            found, at = decoder.raw_decode(text, at)
        except ValueError:
            more = file.read(_CHUNK)
            if more:
                text, at = text[at:] + more, 0
                continue
            if at == len(text) and ends_anywhere:
                return
            raise
        yield found


def _end(found: re.Match[str] | None) -> int:
    assert found is not None  # It also matches the empty string.
    return found.end()


@dataclass(slots=True)
class CheckCount:
    """The number of findings of one check."""

    check: CheckTexts
    count: int = 0
    url: str = ""
    """The URL of the first finding."""


@dataclass(frozen=True, slots=True)
class GateResult:
    """The conditions that are met, and the counted findings."""

    exceeded: list[str]
    """A `Message` for each condition of `--fail-on` that is met."""
    found: list[CheckCount]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditCriteria:
    """The options that decide whether an audit fails: `--fail-on`, `--baseline` and `--suppress`."""

    gates: AuditGates = AuditGates()
    suppressions: FindingSuppressions = FindingSuppressions()
    baseline: str | None = None

    @classmethod
    def parse(cls, options: AuditOptions) -> AuditCriteria:
        """Parses the options, before anything is requested. Raises UsageError."""
        return run_loop(cls.parse_async(options))

    @classmethod
    async def parse_async(cls, options: AuditOptions) -> AuditCriteria:
        """The same within an event loop."""
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

    def evaluate(self, database: str) -> GateResult:
        """Evaluates a crawl that has ended."""
        return run_loop(self.evaluate_async(database))

    async def evaluate_async(self, database: str) -> GateResult:
        """The same within an event loop."""
        store = open_existing(database, SystemClock())
        earlier = _EarlierFindings()
        try:
            if self.baseline is not None or self.gates.needs_earlier:
                earlier = await _open_earlier(store, database, self.baseline)
            tally = _Tally(self, earlier, await store.run_pages.check_words())
            async for was, now in merge_by_key(earlier.pages(), store.run_pages.page_states(None), lambda page: page.key):
                if now is not None:
                    tally.add_page(now, was)
            async for gone, come in merge_by_key(earlier.strays(), store.run_pages.stray_findings(None), _stray_key):
                if come is not None:
                    tally.add_stray(come, gone)
            return tally.result(await _read_figures(store, self.gates, tally.pages))
        finally:
            await store.close()
            await earlier.close()


@dataclass(frozen=True, slots=True)
class _EarlierFindings:
    """Earlier findings: of a crawl, of a list, or none."""

    handle: RunHandle | None = None
    listed: BaselineFindings | None = None
    read: FindingsReader = findings_reader({})

    async def pages(self) -> AsyncIterator[PageState]:
        if self.handle is not None:
            async for page in self.handle.store.run_pages.page_states(self.handle.number):
                yield page

    async def strays(self) -> AsyncIterator[StrayFinding]:
        if self.handle is not None:
            async for stray in self.handle.store.run_pages.stray_findings(self.handle.number):
                yield stray

    async def close(self) -> None:
        if self.handle is not None:
            await self.handle.close()


@dataclass(slots=True)
class _Tally:
    """Counts the findings of a crawl."""

    criteria: AuditCriteria
    earlier: _EarlierFindings
    words: dict[int, CheckTexts]
    pages: int = 0
    counter: GateCounter = field(init=False)
    checks: dict[str, CheckCount] = field(init=False)
    read: FindingsReader = field(init=False)

    def __post_init__(self) -> None:
        self.counter = self.criteria.gates.counter()
        self.checks = {check.id: CheckCount(check) for check in self.words.values()}
        self.read = findings_reader(self.words)

    def add_page(self, page: PageState, was: PageState | None) -> None:
        self.pages += page.status != "skipped"
        before, listed = self.earlier.read(was.findings) if was is not None else frozenset(), self.earlier.listed
        kept = sorted(one for one in self.read(page.findings) if not self._is_suppressed(one[0], page.url))
        new = [one for one in kept if one not in before and (listed is None or (page.url, *one) not in listed)]
        self._count(page.url, [check for check, _ in kept], [check for check, _ in new], is_page=True)

    def add_stray(self, stray: StrayFinding, was: StrayFinding | None) -> None:
        if self._is_suppressed(stray.check_id, stray.url):
            return
        listed = self.earlier.listed
        is_new = was is None and (listed is None or (stray.url, stray.check_id, stray.subject) not in listed)
        self._count(stray.url, [stray.check_id], [stray.check_id] if is_new else [], is_page=False)

    def result(self, figures: SiteFigures) -> GateResult:
        found = [count for count in self.checks.values() if count.count]
        return GateResult(self.criteria.gates.exceeded(self.counter, figures), found)

    def _count(self, url: str, found: list[str], new: list[str], *, is_page: bool) -> None:
        counted = new if self.criteria.baseline is not None else found
        self.counter.add(counted, new, is_page=is_page)
        for check in counted:
            count = self.checks[check]
            count.count += 1
            count.url = count.url or url

    def _is_suppressed(self, check: str, url: str) -> bool:
        entries = _entries(self.criteria.suppressions, check)
        return bool(entries) and find_suppression(entries, url) is not None


@lru_cache(maxsize=1024)
def _entries(suppressions: FindingSuppressions, check: str) -> tuple[FindingSuppression, ...]:
    return suppressions.about(check)


def _stray_key(stray: StrayFinding) -> tuple[str, str, str]:
    return stray.key, stray.check_id, stray.subject


async def _read_figures(store: CrawlDatabase, gates: AuditGates, pages: int) -> SiteFigures:
    runs = await store.runs.all()
    times = {number: await store.run_pages.response_time(number / 100) for number in gates.percentiles}
    return SiteFigures(pages=pages, score=runs[-1].score if runs else None, times=times)


async def _open_earlier(store: CrawlDatabase, database: str, baseline: str | None) -> _EarlierFindings:
    """The baseline; without one, the previous run, if there is one."""
    if baseline is not None and not _is_same(baseline, database):
        if not is_database(baseline):
            return _EarlierFindings(listed=BaselineFindings(baseline))
        handle = await open_run(baseline, SystemClock())
    else:
        kept = [run.number for run in await store.runs.all() if run.kept]
        if len(kept) < 2:
            return _EarlierFindings()
        handle = await open_run(f"{database}@{kept[-2]}", SystemClock())
    return _EarlierFindings(handle, read=findings_reader(await handle.store.run_pages.check_words()))


async def _check_baseline(name: str, database: str, has_earlier: bool) -> None:
    if _is_same(name, database):
        if not has_earlier:
            raise UsageError(
                "--baseline {name} is the crawl itself. Use another crawl, or an earlier run of it: {name}@1.", name=name
            )
    elif is_database(name):
        await (await open_run(name, SystemClock())).close()
    else:
        BaselineFindings(name)


def _is_same(baseline: str, database: str) -> bool:
    """Whether a baseline is the database itself, without a run number."""
    return split_name(baseline)[1] is None and is_same_crawl(baseline, database)


async def _has_earlier_run(database: str) -> bool:
    if not is_there(database, SystemClock()):
        return False
    store = open_existing(database, SystemClock())
    try:
        return sum(run.kept for run in await store.runs.all()) > 1
    finally:
        await store.close()
