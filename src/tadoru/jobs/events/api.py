"""The Python API: `tadoru.events(database) -> Calendar`. What needs the network has an awaitable variant for event loops."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any, Self

from tadoru.config.options import EventsOptions
from tadoru.jobs.crawl_setup import parse_options, run_outside_loop
from tadoru.jobs.events.collect import source_registry as register
from tadoru.jobs.events.collect.worker_pool import CycleResult, WorkerPool
from tadoru.jobs.events.publish.json_documents import event_json
from tadoru.store.calendar.listing import EventFilter
from tadoru.store.calendar.records import EventSource
from tadoru.store.calendar.store import CalendarStore, open_calendar
from tadoru.store.files import beside, open_files


class Calendar:
    """A calendar database. `store` is the database itself, for everything that has no method here. Close it, or use `with`."""

    def __init__(self, options: EventsOptions) -> None:
        self._options = options
        self.store: CalendarStore = open_calendar(options.database)
        self._files = open_files(options.files or beside(options.database))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.store.close()

    def add_source(self, name: str, type: str, url: str, **fields: Any) -> EventSource:  # noqa: A002 - the seed's name
        """Add a source. `fields` are other fields of a source: `city`, `settings`, `timezone`, `priority` … Raises UsageError."""
        return run_outside_loop("add_source", lambda: self.add_source_async(name, type, url, **fields))

    async def add_source_async(self, name: str, type: str, url: str, **fields: Any) -> EventSource:  # noqa: A002
        """Add a source within a running event loop."""
        return await register.add_source(self.store, {"name": name, "type": type, "url": url, **fields}, "python")

    def run(self, *source_ids: int) -> CycleResult:
        """Collect these sources, or all enabled ones."""
        return run_outside_loop("run", lambda: self.run_async(*source_ids))

    async def run_async(self, *source_ids: int) -> CycleResult:
        """Collect these sources, or all enabled ones, within a running event loop."""
        chosen = [self.store.sources.get(one) for one in source_ids] if source_ids else self.store.sources.list(enabled=True)
        pool = WorkerPool(self.store, self._files, self.store.db.clock, self._options, lambda *_, **__: None)
        async with pool.running():
            return await pool.run(chosen)

    def list(
        self,
        *,
        city: str | None = None,
        since: date | None = None,
        until: date | None = None,
        category: str | None = None,
        q: str | None = None,
    ) -> Iterator[dict[str, Any]]:
        """The events in the order of time, as `tadoru events list --format json` has them."""
        chosen = EventFilter(city=city, since=since, until=until, category=category, q=q, archived=None)
        return (event_json(record) for record in self.store.events.iterate(chosen))


def events(database: str = EventsOptions().database, **options: Any) -> Calendar:
    """Open a calendar, created if it does not exist. Options are those of `tadoru events run` (`delay=1, timezone=…`)."""
    return Calendar(parse_options("events", EventsOptions, {"database": database, **options}))
