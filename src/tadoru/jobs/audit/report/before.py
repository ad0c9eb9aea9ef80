"""What was found before, for forms that say what is new: another crawl, an earlier run of one, or a list of findings."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from tadoru.clock import Clock
from tadoru.errors import UsageError
from tadoru.jobs.audit.baseline import FoundBefore, is_database
from tadoru.jobs.audit.compare.sides import Side, open_side
from tadoru.jobs.audit.report.base import Known
from tadoru.store.open import is_same_crawl
from tadoru.store.sqlite import SqliteStore

Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class CrawlBefore:
    """The findings of another crawl."""

    side: Side

    def __contains__(self, key: Key) -> bool:
        return self.side.store.has_finding(key, self.side.number)

    def gone(self) -> Iterator[Key]:
        return self.side.store.finding_keys(self.side.number)


@dataclass(frozen=True, slots=True)
class ListBefore:
    """The findings of a list, of which only is known whether it names one."""

    known: FoundBefore

    def __contains__(self, key: Key) -> bool:
        return key in self.known

    def gone(self) -> Iterator[Key]:
        return iter(())


@asynccontextmanager
async def opened_baseline(name: str | None, store: SqliteStore, clock: Clock) -> AsyncIterator[Known | None]:
    """The baseline of that name, if there is a name, for the crawl in `store`. Raises UsageError."""
    if name is None:
        yield None
    elif is_database(name):
        side = await open_side(await _run_before(name, store), clock)
        try:
            yield CrawlBefore(side)
        finally:
            await side.close()
    else:
        yield ListBefore(FoundBefore(name))


async def _run_before(name: str, store: SqliteStore) -> str:
    """The name itself; when it is the very crawl that is reported, the run of it before the last."""
    if not is_same_crawl(name, store.path):
        return name
    kept = [run.number for run in await store.runs() if run.kept]
    if len(kept) < 2:
        raise UsageError(f"--baseline {name} is the crawl itself, and it has no earlier run: give another crawl.")
    return f"{name}@{kept[-2]}"
