"""The data of one report: the summary of an audit, its findings as a stream, the language, and the findings of a baseline."""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from tadoru.clock import Clock
from tadoru.errors import UsageError
from tadoru.i18n.translation import Translator
from tadoru.jobs.audit.compare.run_handles import RunHandle, open_run
from tadoru.jobs.audit.criteria import BaselineFindings, is_database
from tadoru.jobs.audit.report.summary import AuditSummary, CheckResult, FindingExample
from tadoru.jobs.audit.suppressions import FindingSuppression, FindingSuppressions, find_suppression
from tadoru.store.crawl.crawl_database import CrawlDatabase
from tadoru.store.crawl.findings import FindingRow, Inlink
from tadoru.store.crawl.open import is_same_crawl


class KnownFindings(Protocol):
    """The findings of a baseline."""

    def __contains__(self, key: tuple[str, str, str], /) -> bool:
        """Whether the baseline has a finding (URL, check, subject)."""
        ...

    def all_keys(self) -> Iterator[tuple[str, str, str]]:
        """All findings of the baseline, as far as they are known."""
        ...


class ReportedFinding(NamedTuple):
    """A finding with its check."""

    row: FindingRow
    result: CheckResult
    entry: FindingSuppression | None
    """The entry that suppresses it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """An audit, as every format writes it."""

    summary: AuditSummary
    translate: Translator
    database: str
    """The name that the user gave, for the commands that a report suggests."""
    store: CrawlDatabase
    suppressions: FindingSuppressions = FindingSuppressions()
    list_all: bool = False
    """List all pages of each check in formats that otherwise show some of them."""
    baseline: KnownFindings | None = None

    def findings(self, *results: CheckResult) -> Iterator[ReportedFinding]:
        """All findings of some checks, or of all chosen ones, by depth and URL. Includes suppressed findings."""
        wanted = {result.number: result for result in results or self.summary.results}
        entries = {number: self.suppressions.about(result.check.id) for number, result in wanted.items()}
        for row in self.store.findings.found(list(wanted)):
            about = entries[row.check_number]
            yield ReportedFinding(row, wanted[row.check_number], find_suppression(about, row.url) if about else None)

    def pages(self, result: CheckResult, inlinks: int) -> Iterator[FindingExample]:
        """The pages to show of a check, each with its first inlinks: the examples, or with `list_all` all of them."""
        if not self.list_all:
            yield from result.examples
            return
        for finding in self.findings(result):
            if finding.entry is None:
                count, links = self.inlinks(finding.row.page_id, inlinks)
                yield FindingExample(finding.row, tuple(links), count)

    def hidden(self, result: CheckResult) -> int:
        """The number of findings of a check that `pages` leaves out."""
        return 0 if self.list_all else result.count - len(result.examples)

    def inlinks(self, page_id: int, limit: int) -> tuple[int, list[Inlink]]:
        """The number of links to a page, and the first of them."""
        return (self.store.findings.inlink_count(page_id), self.store.findings.inlinks(page_id, limit)) if page_id else (0, [])

    def command(self, arguments: str) -> str:
        """A command about this crawl, for users to copy."""
        return f"tadoru report {shlex.quote(self.database)} {arguments}"


FindingKey = tuple[str, str, str]
"""URL, check and subject, which identify a finding in two crawls."""


@dataclass(frozen=True, slots=True)
class CrawlBaseline:
    """The findings of another crawl."""

    run: RunHandle

    def __contains__(self, key: FindingKey) -> bool:
        return self.run.store.findings.has_finding(key, self.run.number)

    def all_keys(self) -> Iterator[FindingKey]:
        return self.run.store.findings.finding_keys(self.run.number)


@dataclass(frozen=True, slots=True)
class FileBaseline:
    """The findings of a file, which can be looked up but not listed."""

    known: BaselineFindings

    def __contains__(self, key: FindingKey) -> bool:
        return key in self.known

    def all_keys(self) -> Iterator[FindingKey]:
        return iter(())


@asynccontextmanager
async def open_baseline(name: str | None, store: CrawlDatabase, clock: Clock) -> AsyncIterator[KnownFindings | None]:
    """The baseline of that name for the crawl in `store`; None without a name. Raises UsageError."""
    if name is None:
        yield None
    elif is_database(name):
        run = await open_run(await _baseline_name(name, store), clock)
        try:
            yield CrawlBaseline(run)
        finally:
            await run.close()
    else:
        yield FileBaseline(BaselineFindings(name))


async def _baseline_name(name: str, store: CrawlDatabase) -> str:
    """The name itself, or the previous run if the baseline is the reported crawl."""
    if not is_same_crawl(name, store.path):
        return name
    kept = [run.number for run in await store.runs.all() if run.kept]
    if len(kept) < 2:
        raise UsageError("--baseline {name} is this crawl, which has no earlier run. Choose another crawl.", name=name)
    return f"{name}@{kept[-2]}"
