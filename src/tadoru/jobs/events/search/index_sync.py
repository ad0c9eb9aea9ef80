"""Syncs an index of a search engine with the database: completely, or only the changes.

A full sync fills a new index beside the one in use and swaps them at the end; the database logs what changes meanwhile, and that
is sent afterwards. A killed sync loses nothing: an unfinished index is built again, and a log entry is deleted only when the
engine has processed it. Sending a document twice does no harm, because it is always complete.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from tadoru.clock import Clock
from tadoru.jobs.events.search.engine import (
    DOCUMENT_VERSION,
    BatchTooLarge,
    SearchEngine,
    SearchEngineBusy,
    SearchEngineSilent,
    TaskId,
    is_indexed,
    search_document,
)
from tadoru.rules.retry import parse_retry_after
from tadoru.store.calendar.search_changes import SearchTarget
from tadoru.store.calendar.store import CalendarStore

BATCH_SIZE = 1000
"""Documents per request."""
MAX_ATTEMPTS = 6
_FIRST_WAIT, _LONGEST_WAIT = 1.0, 30.0
_LONGEST_ASKED = 300.0
"""Maximum Retry-After of an engine, in seconds; with a longer one, the rest is sent next time."""
_FIRST_LOOK, _LONGEST_LOOK = 0.05, 2.0
_TASK_PATIENCE = 900.0
WORKER_LEASE = 60.0
"""Seconds for which a worker counts as alive after each renewal."""
T = TypeVar("T")
Progress = Callable[[int], None]


@dataclass(slots=True)
class SyncResult:
    """What a sync did."""

    is_whole: bool = False
    put: int = 0
    removed: int = 0


class IndexSync:
    """One sync of one index, by one worker of the database."""

    def __init__(
        self, store: CalendarStore, engine: SearchEngine, clock: Clock, worker: int, *, archived: bool = True,
        tries: int = MAX_ATTEMPTS,
        at_once: int = BATCH_SIZE, progress: Progress = lambda done: None,
    ) -> None:  # fmt: skip
        self._store, self._engine, self._clock, self._worker = store, engine, clock, worker
        self._archived, self._tries, self._at_once, self._progress = archived, tries, at_once, progress
        self._form = DOCUMENT_VERSION if archived else f"{DOCUMENT_VERSION} without archived"
        self._done = SyncResult()

    async def run(self, *, whole: bool = False) -> SyncResult | None:
        """Send what the engine does not have yet. None: another worker is syncing it."""
        target = await asyncio.to_thread(self._store.search_changes.lease, self._engine.name, self._worker)
        if target is None:
            return None
        try:
            if whole or target.form != self._form or not await self._try(self._engine.has_index):
                await self._sync_all(target)
            await self._sync_changes(target)
        finally:
            await asyncio.to_thread(self._store.search_changes.release, target, self._worker)
        return self._done

    async def _sync_all(self, target: SearchTarget) -> None:
        self._done.is_whole = True
        await asyncio.to_thread(self._store.search_changes.begin_full_sync, target)
        await self._wait_for(await self._try(self._engine.create_new))
        after = 0
        while numbers := await asyncio.to_thread(self._store.search_changes.event_numbers, after, limit=self._at_once):
            documents, _ = await asyncio.to_thread(self._read, numbers)
            await self._put(documents, new=True)
            after = numbers[-1]
            await self._renew_lease()
        await self._wait_for([await self._try(self._engine.swap_in, is_once=True)])
        await asyncio.to_thread(self._store.search_changes.end_full_sync, target, self._form)
        await self._wait_for([await self._try(self._engine.delete_old)])

    async def _sync_changes(self, target: SearchTarget) -> None:
        while pending := await asyncio.to_thread(self._store.search_changes.pending, target, limit=self._at_once):
            documents, gone = await asyncio.to_thread(self._read, tuple(pending))
            await self._put(documents, new=False)
            if gone:
                await self._wait_for([await self._try(lambda: self._engine.remove(gone))])  # noqa: B023 - awaited here
                self._done.removed += len(gone)
            if not await asyncio.to_thread(self._store.search_changes.mark_synced, target, self._worker, pending):
                raise SearchEngineBusy(
                    "This worker did not renew its lease in time and another one took over. No changes are lost."
                )
            await self._renew_lease()

    def _read(self, numbers: Sequence[int]) -> tuple[list[Mapping[str, Any]], list[str]]:
        """The documents of these events, and the ids to delete."""
        known = self._store.events.records(numbers)
        documents: dict[int, Mapping[str, Any]] = {
            number: search_document(record.event)
            for number, record in known.items()
            if is_indexed(record.event, archived=self._archived)
        }
        return list(documents.values()), [str(number) for number in numbers if number not in documents]

    async def _put(self, documents: Sequence[Mapping[str, Any]], *, new: bool) -> None:
        """Send documents in one request, or in as many as the engine needs."""
        if not documents:
            return
        try:
            await self._wait_for([await self._try(lambda: self._engine.put(documents, new=new))])
        except BatchTooLarge:
            if len(documents) == 1:
                raise
            half = len(documents) // 2
            await self._put(documents[:half], new=new)
            await self._put(documents[half:], new=new)
            return
        self._done.put += len(documents)
        self._progress(self._done.put)

    async def _wait_for(self, tickets: Sequence[TaskId]) -> None:
        """Wait until the engine has finished these tasks."""
        for ticket in tickets:
            if ticket is None:
                continue
            look, until = _FIRST_LOOK, self._clock.monotonic() + _TASK_PATIENCE
            while not await self._try(lambda: self._engine.is_done(ticket)):  # noqa: B023 - awaited here
                if self._clock.monotonic() > until:
                    raise SearchEngineBusy(
                        "The search engine has not finished task {task}. Rerun the command later.", task=ticket
                    )
                await self._clock.sleep(look)
                look = min(_LONGEST_LOOK, look * 1.5)
                await self._renew_lease()

    async def _try(self, call: Callable[[], T], *, is_once: bool = False) -> T:
        """Retry while the engine is busy: after a second, then twice as long each time, or as long as the engine asks for. A call
        that `is_once` is not repeated if it may have been done."""
        wait = _FIRST_WAIT
        for left in range(self._tries - 1, -1, -1):
            try:
                return await asyncio.to_thread(call)
            except SearchEngineBusy as error:
                if not left or (is_once and isinstance(error, SearchEngineSilent)):
                    raise
                retry_after = parse_retry_after(error.retry_after, self._clock.now()) or 0.0
            await self._pause(max(wait, min(retry_after, _LONGEST_ASKED)))
            wait = min(_LONGEST_WAIT, wait * 2)
        raise AssertionError("unreachable")

    async def _pause(self, seconds: float) -> None:
        """Wait, and keep the worker alive meanwhile."""
        while seconds > 0:
            await self._renew_lease()
            part = min(seconds, WORKER_LEASE / 2)
            await self._clock.sleep(part)
            seconds -= part

    async def _renew_lease(self) -> None:
        if not await asyncio.to_thread(self._store.schedule.renew, self._worker, WORKER_LEASE):
            raise SearchEngineBusy("This worker did not renew its lease in time and another one took over. No changes are lost.")


async def sync_once(
    store: CalendarStore, engine: SearchEngine, clock: Clock, *, whole: bool = False, archived: bool = True,
    progress: Progress = lambda done: None,
) -> SyncResult | None:  # fmt: skip
    """Sync an index as a separate worker. None: another worker is syncing it."""
    await asyncio.to_thread(store.schedule.reap)
    worker = await asyncio.to_thread(store.schedule.join, WORKER_LEASE)
    try:
        return await IndexSync(store, engine, clock, worker, archived=archived, progress=progress).run(whole=whole)
    finally:
        await asyncio.to_thread(store.schedule.leave, worker)
