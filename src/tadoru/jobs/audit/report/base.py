"""What a form is given to write: the figures of an audit, its findings as a stream, and the language."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from tadoru.jobs.audit.report.summary import CheckResult, Example, Summary
from tadoru.jobs.audit.report.texts import Words
from tadoru.jobs.audit.suppress import Entry, Suppressions, covering
from tadoru.store.found import FoundRow, Inlink
from tadoru.store.sqlite import SqliteStore


class Known(Protocol):
    """What was found before."""

    def __contains__(self, key: tuple[str, str, str], /) -> bool:
        """Whether a finding (URL, check, subject) was there."""
        ...

    def gone(self) -> Iterator[tuple[str, str, str]]:
        """Every finding that was there, as far as that is known."""
        ...


class Told(NamedTuple):
    """A finding as it streams by."""

    row: FoundRow
    result: CheckResult
    entry: Entry | None
    """What suppresses it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """An audit to be written."""

    summary: Summary
    words: Words
    database: str
    """As the person named it, for the commands that a report suggests."""
    store: SqliteStore
    suppressions: Suppressions = Suppressions()
    list_all: bool = False
    """Every page of each check, where a form shows only the first ones by itself."""
    baseline: Known | None = None

    def findings(self, *results: CheckResult) -> Iterator[Told]:
        """Every finding of some checks, by depth and URL; of all chosen ones when none is named. Suppressed ones, too."""
        wanted = {result.number: result for result in results or self.summary.results}
        entries = {number: self.suppressions.about(result.check.id) for number, result in wanted.items()}
        for row in self.store.found(list(wanted)):
            about = entries[row.check_number]
            yield Told(row, wanted[row.check_number], covering(about, row.url) if about else None)

    def pages(self, result: CheckResult, inlinks: int) -> Iterator[Example]:
        """The pages to show of a check, each with the first links that lead to it: the examples, or with `list_all` every one."""
        if not self.list_all:
            yield from result.examples
            return
        for told in self.findings(result):
            if told.entry is None:
                count, links = self.inlinks(told.row.page_id, inlinks)
                yield Example(told.row, tuple(links), count)

    def hidden(self, result: CheckResult) -> int:
        """How many findings of a check `pages` leaves out."""
        return 0 if self.list_all else result.count - len(result.examples)

    def inlinks(self, page_id: int, most: int) -> tuple[int, list[Inlink]]:
        """How many links lead to a page, and the first of them."""
        return (self.store.inlink_count(page_id), self.store.inlinks(page_id, most)) if page_id else (0, [])

    def command(self, arguments: str) -> str:
        """A command about this crawl, to be typed as it is."""
        return f"tadoru report {shlex.quote(self.database)} {arguments}"
