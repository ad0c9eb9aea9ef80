"""Tests a source: fetches, parses and normalises it, or parses its last saved response with other settings. Nothing is stored."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, TextIO

from tadoru.clock import Clock, iso, to_datetime
from tadoru.config.options import EventsOptions
from tadoru.errors import ConfigError, Message, message_of, quoted
from tadoru.i18n.translation import SOURCE_LANGUAGE, translator
from tadoru.jobs.events.collect.collector import Collector, other_problems, read_secret
from tadoru.jobs.events.collect.reader_process import ReaderProcess, ReaderTimeout
from tadoru.jobs.events.collect.readers import SourceDocument
from tadoru.jobs.events.collect.source_fetch import FetchContext, SourceContent, SourceFetcher
from tadoru.jobs.events.collect.source_settings import parse_source_settings
from tadoru.jobs.events.collect.worker_pool import WorkerPool
from tadoru.log import printable
from tadoru.model.event import EventDraft, QuarantinedEvent
from tadoru.rules.address import Exemptions
from tadoru.store.calendar.records import EventSource, Snapshot
from tadoru.store.calendar.store import CalendarStore
from tadoru.store.files import FileStore

PREVIEW_SECONDS = 5.0
"""For which a preview may parse: somebody is waiting for it."""
PREVIEW_EVENTS = 200
PREVIEW_DETAILS = 10
"""Pages of events that a preview reads."""
_RUN_SNAPSHOTS = 200
"""Snapshots among which the first of a run is looked for."""


@dataclass(slots=True)
class SourceTrial:
    """The result of testing a source."""

    source: EventSource
    error: str = ""
    documents: int = 0
    drafts: list[EventDraft] = field(default_factory=list)
    quarantined: list[QuarantinedEvent] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        return {
            "source_id": self.source.id,
            "error": self.error or None,
            "documents": self.documents,
            "events": [
                {
                    "position": one.position,
                    "title": one.title,
                    "starts_at": iso(one.occurrence.starts_at),
                    "ends_at": iso(one.occurrence.ends_at) if one.occurrence.ends_at else None,
                    "all_day": not one.occurrence.has_time,
                    "venue": one.venue,
                    "city": one.city,
                    "url": one.url,
                    "occurrences": len(one.occurrences) or 1,
                }
                for one in self.drafts
            ],
            "quarantined": [
                {"position": one.raw.position, "title": one.raw.title, "reason": one.reason.value, "why": one.why}
                for one in self.quarantined
            ],
            "missing": self.missing,
        }

    def write(self, out: TextIO, limit: int, lang: str = SOURCE_LANGUAGE) -> None:
        """Print the result."""
        _ = translator(lang)
        name = printable(self.source.name)
        if self.error:
            out.write(_("{source} failed: {error}", source=name, error=printable(_.text(self.error))) + "\n")
        else:
            text = _(
                "{source}: {events}, {incomplete} incomplete, in {documents}.",
                source=name,
                events=_.ngettext("{count} event", "{count} events", len(self.drafts)),
                incomplete=len(self.quarantined),
                documents=_.ngettext("{count} document", "{count} documents", self.documents),
            )
            out.write(text + "\n")
        for one in self.drafts[:limit]:
            at = one.occurrence.starts_at
            when = f"{at:%Y-%m-%d %H:%M}" if one.occurrence.has_time else f"{at:%Y-%m-%d}      "
            where = " · ".join(filter(None, (one.venue, one.city)))
            further = len(one.occurrences) - 1
            more = _.ngettext("and {count} more time", "and {count} more times", further) if further > 0 else ""
            out.write(printable(f"  {when}  {one.title}{f' · {where}' if where else ''}{f' ({more})' if more else ''}") + "\n")
        if len(self.drafts) > limit:
            out.write("  " + _("… {count} more", count=len(self.drafts) - limit) + "\n")
        for bad_one in self.quarantined[:limit]:
            title = f" {quoted(bad_one.raw.title)}" if bad_one.raw.title else ""
            out.write(printable(f"  {bad_one.raw.position}{title}: {_.text(bad_one.why)}") + "\n")
        for sentence in self.missing[:limit]:
            out.write(f"  {printable(_.text(sentence))}\n")


async def try_source(
    store: CalendarStore, files: FileStore, options: EventsOptions, source_id: int, allowed: Exemptions | None = None
) -> SourceTrial:
    """Fetch a source once, enabled or not. `allowed`: see `WorkerPool`."""
    source, clock = store.sources.get(source_id), store.db.clock
    trial = SourceTrial(source)

    pool = WorkerPool(store, files, clock, options, lambda *_, **__: None, allowed=allowed)
    async with pool.running():
        try:
            settings = parse_source_settings(source.type, source.settings, secret=source.secret)
            secret = read_secret(source)
        except ConfigError as error:
            trial.error = message_of(error)
            return trial
        zone = source.timezone or options.timezone
        context = FetchContext(
            client=pool.client_for(source), files=None, clock=clock, zone=zone, timeout=options.timeout, secret=secret
        )
        known = await asyncio.to_thread(store.schedule.state, source_id)
        # As if it had never been read: a trial shows the content, not the changes.
        fetcher = SourceFetcher(source, settings, replace(known, etag=None, last_modified=None, kept=None), context)
        found = await fetcher.fetch()
        normal = pool.collector.normalise(source, settings, found)
        trial.error, trial.documents = found.error, len(found.documents)
        trial.missing = [*found.missing, *found.gone, *other_problems(found)]
        trial.drafts, trial.quarantined = normal.drafts, normal.quarantined
    return trial


def preview_settings(
    store: CalendarStore, files: FileStore, options: EventsOptions, source: EventSource, clock: Clock,
    *, seconds: float = PREVIEW_SECONDS,
) -> SourceTrial:  # fmt: skip
    """Parse the last saved response of a source with these settings, without a request, for at most so many seconds."""
    trial = SourceTrial(source)
    try:
        settings = parse_source_settings(source.type, source.settings, secret=source.secret)
    except ConfigError as error:
        trial.error = message_of(error)
        return trial
    snapshots = store.runs.snapshots(source.id, limit=_RUN_SNAPSHOTS)
    newest = _list_snapshot(snapshots)
    body = files.get(newest.content_path) if newest else None
    if newest is None or body is None:
        trial.error = Message("There is no saved response yet: the first run of the source saves one.")
        return trial
    reader = ReaderProcess(source.type, settings, min(options.timeout, seconds))
    document = SourceDocument(
        body=body, content_type=None, url=newest.url, headers=(), page=1, is_detail=False, now=to_datetime(clock.now()),
        zone=source.timezone or options.timezone, max_events=PREVIEW_EVENTS, max_same_start=settings.limits.same_start,
    )  # fmt: skip
    try:
        parsed = reader.read(document)
        found = SourceContent(events=list(parsed.events[:PREVIEW_EVENTS]), problems=list(parsed.problems))
        details = _saved_details(parsed.details, snapshots, files)
        for url, saved in details.items():
            detail = reader.read(replace(document, body=saved, url=url, is_detail=True))
            found.events += detail.events
            found.problems += [replace(one, position=f"{url}, {one.position}") for one in detail.problems]
    except ReaderTimeout as problem:
        trial.error = message_of(problem)
        return trial
    finally:
        reader.close()
    normal = Collector(store, files, clock, 0, options, lambda *_, **__: None).normalise(source, settings, found)
    trial.documents, trial.drafts, trial.quarantined = 1 + len(details), normal.drafts, normal.quarantined
    trial.missing = other_problems(found)
    if len(details) < len(parsed.details):
        counts = {"count": len(parsed.details), "saved": len(details)}
        trial.missing.append(Message("The list links to {count} pages of events; {saved} saved ones are shown.", **counts))
    return trial


def _list_snapshot(newest: tuple[Snapshot, ...]) -> Snapshot | None:
    """The first document of the newest run that saved one: the list, not the page of an event."""
    of_run = [one for one in newest if one.run_id == newest[0].run_id]
    return min(of_run, key=lambda one: (one.fetched_at, one.id), default=None)


def _saved_details(urls: tuple[str, ...], newest: tuple[Snapshot, ...], files: FileStore) -> dict[str, bytes]:
    """The first pages of events that are saved, by their URLs."""
    paths = {one.url: one.content_path for one in reversed(newest)}
    saved = ((url, files.get(paths[url])) for url in urls if url in paths)
    return dict(islice(((url, body) for url, body in saved if body is not None), PREVIEW_DETAILS))
