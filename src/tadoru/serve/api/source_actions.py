"""Operations on sources over the network: add, edit, remove, run and test. The API and the pages call these.

Less is allowed than on the command line, since a user must not reach what only this machine can reach. A private address is
refused unless the operator allowed it (`--crawl-private`), when a source is saved and again when it runs. The
variable of a secret can only be set on the command line, and a source with a secret or with access to a private address cannot
change its URL, type or settings. Header values may be secrets: only users who may change them see them, and a hidden value that
is sent back stays.

A run uses a thread with its own event loop, and the leases, pace and robots rules of `tadoru events run --source`. At shutdown,
runs in progress finish and no new ones start.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from tadoru.errors import TadoruError, UsageError
from tadoru.i18n.translation import N_
from tadoru.jobs.events.collect import source_registry
from tadoru.jobs.events.publish.json_documents import change_json, source_json
from tadoru.rules.address import Exemptions
from tadoru.serve.api.responses import usage_errors_as
from tadoru.serve.auth.principal import Principal
from tadoru.serve.problems import HttpProblem
from tadoru.serve.roles import Role
from tadoru.serve.service import Service
from tadoru.store.calendar.records import EventSource, RunLog, SourceFieldChange
from tadoru.store.files import FileStore, beside, open_files

if TYPE_CHECKING:
    from tadoru.jobs.events.collect.trial import SourceTrial
    from tadoru.jobs.events.collect.worker_pool import WorkerPool

T = TypeVar("T")
_LOCATION_FIELDS = frozenset({"url", "type", "settings"})
_COMMAND_LINE_FIELDS = frozenset({"secret", "allow_private", "named_host"})
HIDDEN = "***"
"""Replaces a value that the principal may not see."""


def visible_settings(settings: Mapping[str, Any], caller: Principal) -> dict[str, Any]:
    """Settings as a principal may see them."""
    if "headers" not in settings or caller.may(Role.EDITOR, "sources:write"):
        return dict(settings)
    headers = settings["headers"]
    return {**settings, "headers": dict.fromkeys(headers, HIDDEN) if isinstance(headers, Mapping) else HIDDEN}


def visible_source(source: EventSource, caller: Principal) -> dict[str, Any]:
    """A source as a principal may see it."""
    return source_json(source) | {"settings": visible_settings(source.settings, caller)}


def visible_change(one: SourceFieldChange, caller: Principal) -> dict[str, Any]:
    """A change of a source as a principal may see it."""
    shown = change_json(one)
    if one.field == "settings":
        sides = {side: shown[side] for side in ("old", "new")}
        shown |= {side: visible_settings(value, caller) if isinstance(value, Mapping) else value for side, value in sides.items()}
    return shown


def get_source(service: Service, source_id: int) -> EventSource:
    """The source of an ID. Raises HttpProblem."""
    with usage_errors_as(404, N_("Source {id} not found."), id=source_id):
        return service.store.sources.get(source_id)


def get_run(service: Service, run_id: int) -> RunLog:
    """The run of an ID. Raises HttpProblem."""
    with usage_errors_as(404, N_("Run {id} not found."), id=run_id):
        return service.store.runs.get(run_id)


def allowed_addresses(service: Service) -> Exemptions:
    """The private addresses that sources may access in this service; those stored with a source do not count."""
    return Exemptions.from_list(service.options.crawl_private) | Exemptions(allow_all=service.events.allow_private)


def add_source(service: Service, values: Mapping[str, Any], by: str) -> EventSource:
    """Add a source. Raises HttpProblem."""
    return _save(service, _restore_hidden(values, {}), partial(source_registry.add_source, service.store, by=by))


def edit_source(service: Service, source_id: int, values: Mapping[str, Any], by: str) -> EventSource:
    """Edit a source. Raises HttpProblem."""
    before = get_source(service, source_id)
    values = _restore_hidden(values, before.settings)
    changed = {name for name, value in values.items() if getattr(before, name, None) != value}
    if before.secret and changed & _LOCATION_FIELDS:
        raise HttpProblem(
            409,
            "Source {id} sends a secret. Change its URL, type and settings on the command line, or remove the secret there.",
            id=source_id,
        )
    if (before.allow_private or before.named_host) and changed & _LOCATION_FIELDS and not allowed_addresses(service).allow_all:
        raise HttpProblem(409, "Source {id} may access a private address. Change it on the command line.", id=source_id)
    return _save(service, values, partial(source_registry.edit_source, service.store, source_id, by=by))


def _restore_hidden(values: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """The values with the stored values of hidden headers. Raises HttpProblem."""
    given = dict(values)
    headers = given["settings"].get("headers") if isinstance(given.get("settings"), Mapping) else None
    if isinstance(headers, Mapping) and HIDDEN in headers.values():
        known = before.get("headers", {})
        for name, value in headers.items():
            if value == HIDDEN and name not in known:
                raise HttpProblem(
                    422, "The value of headers.{name} is hidden and no value is stored. Enter the value.", name=name
                )
        whole = {name: known[name] if value == HIDDEN else value for name, value in headers.items()}
        given["settings"] = {**given["settings"], "headers": whole}
    return given


def remove_source(service: Service, source_id: int, by: str) -> None:
    """Remove a source and its snapshots; its events stay. Raises HttpProblem."""
    get_source(service, source_id)
    paths = service.store.sources.remove(source_id, by)
    source_files(service).delete(paths)


def source_files(service: Service) -> FileStore:
    """The storage of snapshots and run logs: beside the database unless configured."""
    return open_files(service.events.files or beside(service.store.db.database))


def _run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine. The crawler and the HTTP client are imported with the first one, so that pages do not wait for them."""
    from tadoru.jobs.launch import run_loop

    return run_loop(work)


def _save(service: Service, values: Mapping[str, Any], save: Callable[..., Coroutine[Any, Any, EventSource]]) -> EventSource:
    if refused := sorted(values.keys() & _COMMAND_LINE_FIELDS):
        raise HttpProblem(422, "{field} can only be set on the command line. Remove it.", field=refused[0])

    given = dict(values)
    try:
        return _run(save(given, allowed=allowed_addresses(service)))
    except UsageError as error:
        raise HttpProblem(409 if isinstance(error, source_registry.DuplicateSource) else 422, error) from None


MAX_COLLECTIONS = 8
"""Maximum parallel runs of one process."""


class SourceCollector:
    """The runs in progress in this process."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(MAX_COLLECTIONS, thread_name_prefix="collect")
        self._runs: dict[int, Future[None]] = {}
        self._crews: dict[int, tuple[asyncio.AbstractEventLoop, WorkerPool]] = {}
        self._is_stopping = False

    def start(self, source: EventSource) -> None:
        """Start a run in a thread. Raises HttpProblem if the source is running or too many are."""
        newest = self._service.store.runs.list(source_id=source.id, limit=1)
        with self._lock:
            if self._is_stopping:
                raise HttpProblem(503, "The service is shutting down. Try again later.", {"Retry-After": "30"})
            if source.id in self._runs or (newest and newest[0].finished_at is None):
                raise HttpProblem(409, "Source {id} is already running. See its runs.", id=source.id)
            if len(self._runs) >= MAX_COLLECTIONS:
                raise HttpProblem(
                    503, "{count} sources are already running. Try again later.", {"Retry-After": "30"}, count=MAX_COLLECTIONS
                )
            self._runs[source.id] = self._threads.submit(self._work, source)

    def stop(self) -> None:
        """Start no more runs, and wait for those in progress."""
        with self._lock:
            self._is_stopping = True
            for loop, crew in self._crews.values():
                loop.call_soon_threadsafe(crew.stop)
        self._threads.shutdown()

    def wait(self) -> None:
        """Wait for the runs in progress; for tests."""
        with self._lock:
            runs = list(self._runs.values())
        wait(runs)

    def _work(self, source: EventSource) -> None:
        try:
            _run(self._collect(source))
        except TadoruError as error:
            self._service.log.write("error", "run failed", source_id=source.id, error=str(error))
        finally:
            with self._lock:
                self._runs.pop(source.id, None)

    async def _collect(self, source: EventSource) -> None:
        from tadoru.jobs.events.collect.worker_pool import WorkerPool

        service = self._service
        allowed = allowed_addresses(service)
        crew = WorkerPool(service.store, source_files(service), service.clock, service.events, self._say, allowed=allowed)
        with self._lock:
            self._crews[source.id] = (asyncio.get_running_loop(), crew)
            if self._is_stopping:
                crew.stop()
        try:
            async with crew.running():
                await crew.run([source])
        finally:
            with self._lock:
                self._crews.pop(source.id, None)

    def _say(self, stage: str, *, trace: bool = False, **fields: Any) -> None:
        wrong = bool(fields.get("error")) and stage in ("fault", "notify", "worker")
        self._service.log.write("error" if wrong else "debug", f"stage {stage}", stage=stage, **fields)


_making = threading.Lock()


def start_run(service: Service, source_id: int) -> None:
    """Start a run of a source, enabled or not, without waiting for it. Raises HttpProblem."""
    with _making:
        if service.collecting is None:
            service.collecting = SourceCollector(service)
            service.at_end.append(service.collecting.stop)
    service.collecting.start(get_source(service, source_id))


def preview_source(service: Service, source_id: int) -> SourceTrial:
    """Test a source: fetch it once and return what would be parsed. Raises HttpProblem."""
    from tadoru.jobs.events.collect.trial import try_source

    get_source(service, source_id)
    return _run(try_source(service.store, source_files(service), service.events, source_id, allowed_addresses(service)))


_previewing = threading.BoundedSemaphore(2)


def preview_typed(service: Service, source: EventSource) -> SourceTrial:
    """Parse the last saved response of a source with settings that are being typed, without a request. Raises HttpProblem."""
    from tadoru.jobs.events.collect.trial import preview_settings

    if not _previewing.acquire(blocking=False):
        raise HttpProblem(503, "Other previews are in progress. Try again later.", {"Retry-After": "5"})
    try:
        return preview_settings(service.store, source_files(service), service.events, source, service.clock)
    finally:
        _previewing.release()
