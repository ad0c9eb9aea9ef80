"""Sources that are collected or tried from here.

A collection runs in a thread with a loop of its own, so that the service goes on answering. It is what
`tadoru events run --source` does, with the same leases, pace and robots rules; a worker that collects the same database beside us
changes nothing. When the service ends, those under way are finished and nothing new is begun.
"""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from tadoru.errors import TadoruError
from tadoru.jobs.events.trial import Trial, try_source
from tadoru.jobs.events.work import Crew
from tadoru.jobs.launch import run_loop
from tadoru.serve.problems import Refused
from tadoru.serve.rest.register import allowed_by_operator, files_of, found_source
from tadoru.serve.service import Service
from tadoru.store.events.values import Source

AT_ONCE = 8
"""Collections of one process at a time."""


class Collecting:
    """The collections that this process has under way."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._lock = threading.Lock()
        self._threads: dict[int, threading.Thread] = {}
        self._crews: dict[int, tuple[asyncio.AbstractEventLoop, Crew]] = {}
        self._is_stopping = False

    def start(self, source: Source) -> None:
        """Begin to collect a source. Raises Refused when it is under way, or too many are."""
        newest = self._service.store.runs(source_id=source.id, limit=1)
        with self._lock:
            if self._is_stopping:
                raise Refused(503, "The service is about to stop: try again when it is back.", {"Retry-After": "30"})
            if source.id in self._threads or (newest and newest[0].finished_at is None):
                raise Refused(409, f"Source {source.id} is being collected already: see its runs.")
            if len(self._threads) >= AT_ONCE:
                raise Refused(503, f"{AT_ONCE} sources are being collected already: try again later.", {"Retry-After": "30"})
            thread = threading.Thread(target=self._work, args=(source,), name=f"collect {source.id}", daemon=True)
            self._threads[source.id] = thread
            thread.start()

    def stop(self) -> None:
        """Begin nothing more, and wait for what was begun."""
        with self._lock:
            self._is_stopping = True
            crews, threads = list(self._crews.values()), list(self._threads.values())
            for loop, crew in crews:
                loop.call_soon_threadsafe(crew.stop)
        for thread in threads:
            thread.join()

    def wait(self) -> None:
        """Wait for what was begun; for tests."""
        with self._lock:
            threads = list(self._threads.values())
        for thread in threads:
            thread.join()

    def _work(self, source: Source) -> None:
        try:
            run_loop(self._collect(source))
        except TadoruError as error:
            self._service.log.write("error", f"collecting {source.name} failed", source_id=source.id, error=str(error))
        finally:
            with self._lock:
                self._threads.pop(source.id, None)

    async def _collect(self, source: Source) -> None:
        service = self._service
        allowed = allowed_by_operator(service)
        crew = Crew(service.store, files_of(service), service.clock, service.events, self._say, allowed=allowed)
        with self._lock:
            self._crews[source.id] = (asyncio.get_running_loop(), crew)
            if self._is_stopping:
                crew.stop()
        try:
            async with crew.at_work():
                await crew.run([source])
        finally:
            with self._lock:
                self._crews.pop(source.id, None)

    def _say(self, stage: str, *, trace: bool = False, **fields: Any) -> None:
        wrong = bool(fields.get("error")) and stage in ("fault", "notify", "worker")
        self._service.log.write("error" if wrong else "debug", f"stage {stage}", stage=stage, **fields)


_making = threading.Lock()


def start_run(service: Service, source_id: int) -> None:
    """Begin to collect a source, enabled or not, and do not wait for it. Raises Refused."""
    with _making:
        if service.collecting is None:
            service.collecting = Collecting(service)
            service.at_end.append(service.collecting.stop)
    service.collecting.start(found_source(service, source_id))


def trial_of(service: Service, source_id: int) -> Trial:
    """Fetch a source once and say what would be read. Raises Refused."""
    found_source(service, source_id)
    return run_loop(try_source(service.store, files_of(service), service.events, source_id, allowed_by_operator(service)))
