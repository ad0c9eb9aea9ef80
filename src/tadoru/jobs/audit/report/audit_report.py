"""The data of one report: the summary of an audit, its findings as a stream, the language, and the findings of a baseline."""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from tadoru.clock import Clock
from tadoru.errors import UsageError
from tadoru.jobs.audit.baseline import BaselineFindings, is_database
from tadoru.jobs.audit.compare.run_handles import RunHandle, open_run
from tadoru.jobs.audit.report.messages import Words
from tadoru.jobs.audit.report.summary import AuditSummary, CheckResult, FindingExample
from tadoru.jobs.audit.suppressions import FindingSuppression, FindingSuppressions, find_suppression
from tadoru.store.crawl.findings import FindingRow, Inlink
from tadoru.store.crawl.open import is_same_crawl
from tadoru.store.crawl.sqlite import SqliteStore


class KnownFindings(Protocol):
    """What was found before."""

    def __contains__(self, key: tuple[str, str, str], /) -> bool:
        """Whether a finding (URL, check, subject) was there."""
        ...

    def gone(self) -> Iterator[tuple[str, str, str]]:
        """Every finding that was there, as far as that is known."""
        ...


class ReportedFinding(NamedTuple):
    """A finding as it streams by."""

    row: FindingRow
    result: CheckResult
    entry: FindingSuppression | None
    """What suppresses it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """An audit to be written."""

    summary: AuditSummary
    words: Words
    database: str
    """As the person named it, for the commands that a report suggests."""
    store: SqliteStore
    suppressions: FindingSuppressions = FindingSuppressions()
    list_all: bool = False
    """Every page of each check, where a form shows only the first ones by itself."""
    baseline: KnownFindings | None = None

    def findings(self, *results: CheckResult) -> Iterator[ReportedFinding]:
        """Every finding of some checks, by depth and URL; of all chosen ones when none is named. Suppressed ones, too."""
        wanted = {result.number: result for result in results or self.summary.results}
        entries = {number: self.suppressions.about(result.check.id) for number, result in wanted.items()}
        for row in self.store.found(list(wanted)):
            about = entries[row.check_number]
            yield ReportedFinding(row, wanted[row.check_number], find_suppression(about, row.url) if about else None)

    def pages(self, result: CheckResult, inlinks: int) -> Iterator[FindingExample]:
        """The pages to show of a check, each with the first links that lead to it: the examples, or with `list_all` every one."""
        if not self.list_all:
            yield from result.examples
            return
        for told in self.findings(result):
            if told.entry is None:
                count, links = self.inlinks(told.row.page_id, inlinks)
                yield FindingExample(told.row, tuple(links), count)

    def hidden(self, result: CheckResult) -> int:
        """How many findings of a check `pages` leaves out."""
        return 0 if self.list_all else result.count - len(result.examples)

    def inlinks(self, page_id: int, most: int) -> tuple[int, list[Inlink]]:
        """How many links lead to a page, and the first of them."""
        return (self.store.inlink_count(page_id), self.store.inlinks(page_id, most)) if page_id else (0, [])

    def command(self, arguments: str) -> str:
        """A command about this crawl, to be typed as it is."""
        return f"tadoru report {shlex.quote(self.database)} {arguments}"


FindingKey = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class CrawlBaseline:
    """The findings of another crawl."""

    side: RunHandle

    def __contains__(self, key: FindingKey) -> bool:
        return self.side.store.has_finding(key, self.side.number)

    def gone(self) -> Iterator[FindingKey]:
        return self.side.store.finding_keys(self.side.number)


@dataclass(frozen=True, slots=True)
class FileBaseline:
    """The findings of a list, of which only is known whether it names one."""

    known: BaselineFindings

    def __contains__(self, key: FindingKey) -> bool:
        return key in self.known

    def gone(self) -> Iterator[FindingKey]:
        return iter(())


@asynccontextmanager
async def open_baseline(name: str | None, store: SqliteStore, clock: Clock) -> AsyncIterator[KnownFindings | None]:
    """The baseline of that name, if there is a name, for the crawl in `store`. Raises UsageError."""
    if name is None:
        yield None
    elif is_database(name):
        side = await open_run(await _run_before(name, store), clock)
        try:
            yield CrawlBaseline(side)
        finally:
            await side.close()
    else:
        yield FileBaseline(BaselineFindings(name))


async def _run_before(name: str, store: SqliteStore) -> str:
    """The name itself; when it is the very crawl that is reported, the run of it before the last."""
    if not is_same_crawl(name, store.path):
        return name
    kept = [run.number for run in await store.runs() if run.kept]
    if len(kept) < 2:
        raise UsageError(f"--baseline {name} is the crawl itself, and it has no earlier run: give another crawl.")
    return f"{name}@{kept[-2]}"
