"""One run of one source: fetch, normalise, store, and schedule the next run.

If a run is killed, another worker closes it, and the next run stores the same rows with the same result. Validators are stored
last, when everything they stand for is stored.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any, TypeVar
from zoneinfo import ZoneInfo

from tadoru.clock import Clock, iso, to_datetime
from tadoru.config.options import EventsOptions
from tadoru.engine.polite_client import PoliteClient
from tadoru.errors import ConfigError, Message, StoreError, TadoruError, clip_message, message_of
from tadoru.jobs.events.collect.source_fetch import FetchContext, FetchedDocument, SourceContent, SourceFetcher
from tadoru.jobs.events.collect.source_settings import SourceSettings, parse_source_settings
from tadoru.jobs.events.dedupe.matcher import MAX_PAIRS, EventMatcher, RunMatcher
from tadoru.jobs.events.normalise.normaliser import SourceRules, normalise
from tadoru.model.event import EventDraft, ParseProblem, QuarantinedEvent, RawEvent, ReviewReason, RunStatus
from tadoru.parse.sources.cancellation import EventNotice, NoticeKind, find_marked_notice, find_notice, notice_title
from tadoru.parse.text_cleaning import clean_title
from tadoru.store.calendar.merge_candidates import LIMITED_COMPARISONS
from tadoru.store.calendar.records import EventSource, MissingEventsResult, RunLog
from tadoru.store.calendar.runs import RunClosed
from tadoru.store.calendar.store import CalendarStore
from tadoru.store.files import FileStore

if TYPE_CHECKING:
    from tadoru.jobs.events.enrich.enricher import Enricher


T = TypeVar("T")
HOUR = 3600.0
PERIODS = {"high": 3 * HOUR, "normal": 12 * HOUR}
MAX_INTERVAL = 7 * 24 * HOUR
"""Maximum interval: however often a source fails, it is tried once a week."""
MAX_TTL = 24 * HOUR
"""Maximum interval that a source can ask for itself."""


STOPPING_GRACE = 5.0
"""Seconds for which a source may still be fetched when its worker shall end."""


EventPlace = tuple[date, str]
"""The day and the venue of an event."""


class CollectionStopped(Exception):
    """A source was given up because its worker ends. Its run stays open, and is closed with the worker."""


def run_interval(source: EventSource) -> float:
    """Seconds between two runs."""
    return PERIODS.get(source.frequency, source.low_hours * HOUR)


def delay_after_success(source: EventSource, wish: float | None, retry_after: float = 0.0) -> float:
    """Seconds until the next run; `wish` is the ttl of the source, `retry_after` the pause that its server asked for."""
    return max(run_interval(source), min(wish or 0.0, MAX_TTL), retry_after)


def delay_after_failure(source: EventSource, failures: int, *, jitter: float, retry_after: float = 0.0) -> float:
    """Seconds until the next run after consecutive failures: one interval, then twice as long each time, plus or minus ten
    percent (`jitter`, in [0, 1)); never sooner than the server asked for."""
    wait = min(run_interval(source) * 2.0 ** min(failures - 1, 20), MAX_INTERVAL) * (0.9 + 0.2 * jitter)
    return min(max(wait, retry_after), MAX_INTERVAL)


_ITEM = re.compile(r"[0-9]$")
"""The end of the position of one item: "row 3", "item 7"."""
MAX_SUMMARY_LENGTH = 500
"""Maximum length of an error summary."""
StageLog = Callable[..., None]
"""Logs a stage: `log_stage(stage, source_id=…, run_id=…, duration=…, error=…)`."""


@dataclass(frozen=True, slots=True)
class SourceRun:
    """The result of a run."""

    source: EventSource
    run: RunLog
    missing: MissingEventsResult | None = None
    unchanged: bool = False
    """The source reported no change."""

    @property
    def failed(self) -> bool:
        return self.run.status is RunStatus.FAIL


@dataclass(frozen=True, slots=True)
class NormalisedEvents:
    """The drafts and quarantined rows of a source."""

    drafts: list[EventDraft]
    raws: list[RawEvent]
    """The raw events of the drafts, in the same order."""
    quarantined: list[QuarantinedEvent]


class Collector:
    """Collects sources into a database."""

    def __init__(
        self, store: CalendarStore, files: FileStore, clock: Clock, worker: int, options: EventsOptions, log_stage: StageLog, *,
        accept_drops: bool = False, enricher: Enricher | None = None,
    ) -> None:  # fmt: skip
        self._store = store
        self._files = files
        self._clock = clock
        self.worker = worker
        self._options = options
        self._log_stage = log_stage
        self._accept_drops = accept_drops
        self._enricher = enricher
        self.stopping = asyncio.Event()
        """Set when the worker shall end: what is not fetched soon is given up."""
        self._matcher = EventMatcher()
        self._random = random.Random()

    async def collect(self, source: EventSource, client: PoliteClient) -> SourceRun:
        """Run a source that is leased to this worker. Raises for problems of the database or the disk, and CollectionStopped."""
        store = self._store
        run = await asyncio.to_thread(store.runs.start, source.id, self.worker)
        # Already now, so that a source which kills its worker is not due again immediately.
        await asyncio.to_thread(store.schedule.set_due, source.id, run_interval(source))
        began = self._clock.monotonic()
        try:
            return await self._run(source, run, client)
        except RunClosed as error:
            self._log_duration(source, run, "run", began, str(error))
            return SourceRun(source, await asyncio.to_thread(store.runs.get, run.id))
        except (StoreError, CollectionStopped):
            raise
        except TadoruError as error:
            return await self._failed(source, run, SourceContent(error=message_of(error)), began)
        except Exception as error:
            message = Message("Bug in Tadoru: {error}", error=f"{type(error).__name__}: {error}")
            collected = await self._failed(source, run, SourceContent(error=message), began)
            self._log_stage("fault", source_id=source.id, run_id=run.id, error=message, trace=True)
            return collected

    async def _run(self, source: EventSource, run: RunLog, client: PoliteClient) -> SourceRun:
        began = self._clock.monotonic()
        state = await asyncio.to_thread(self._store.schedule.state, source.id)
        settings = parse_source_settings(source.type, source.settings, secret=source.secret)
        context = FetchContext(
            client=client, files=self._files, clock=self._clock, zone=self.zone_of(source), secret=read_secret(source),
            timeout=self._options.timeout, enriched_by=self._enricher.signature if self._enricher else "",
        )  # fmt: skip
        fetcher = SourceFetcher(source, settings, state, context, lambda document: self._remember_snapshot(source, run, document))
        found = await self._unless_stopped(fetcher.fetch())
        self._log_duration(source, run, "fetch", began, found.error)
        if found.error:
            return await self._failed(source, run, found, began)
        if found.is_unchanged:
            return await self._unchanged(source, run, found)
        began = self._clock.monotonic()
        normal = await asyncio.to_thread(self.normalise, source, settings, found)
        self._log_duration(source, run, "normalise", began)
        if not normal.drafts and not found.events and found.problems:
            # Nothing could be parsed: the source is broken, not its events.
            return await self._failed(source, run, found, began, normal)
        if self._enricher is not None:
            normal = await self._unless_stopped(self._enrich(self._enricher, source, run, found, normal))
        return await self._store_all(source, run, found, normal)

    async def _unless_stopped(self, requests: Coroutine[Any, Any, T]) -> T:
        """The result of requests. Raises CollectionStopped if the worker ends and it is not there soon, whatever it waits for."""
        task, giving_up = asyncio.create_task(requests), asyncio.create_task(self._stopped_for(STOPPING_GRACE))
        try:
            await asyncio.wait([task, giving_up], return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise CollectionStopped
            return await task
        finally:
            task.cancel()
            giving_up.cancel()
            await asyncio.gather(task, giving_up, return_exceptions=True)

    async def _stopped_for(self, seconds: float) -> None:
        await self.stopping.wait()
        await self._clock.sleep(seconds)

    def zone_of(self, source: EventSource) -> str:
        return source.timezone or self._options.timezone

    def _remember_snapshot(self, source: EventSource, run: RunLog, document: FetchedDocument) -> None:
        self._store.runs.add_snapshot(
            source.id, document.url, document.path, document.fetched_at,
            etag=document.etag, last_modified=document.last_modified, run_id=run.id,
        )  # fmt: skip

    def normalise(self, source: EventSource, settings: SourceSettings, found: SourceContent) -> NormalisedEvents:
        """Normalise all raw events: drafts, or rows in quarantine with the reason."""
        rules = SourceRules(zone=self.zone_of(source), now=to_datetime(self._clock.now()), city=source.city, order=settings.order)
        read = {raw.position for raw in found.events}
        normal = NormalisedEvents([], [], [_quarantined_problem(one) for one in found.problems if _is_lost_item(one, read)])
        items = settings.items
        notices: list[tuple[RawEvent, EventDraft | QuarantinedEvent, EventNotice]] = []

        def keep(raw: RawEvent, outcome: EventDraft | QuarantinedEvent) -> None:
            if not isinstance(outcome, QuarantinedEvent):
                normal.drafts.append(items.timed(outcome))
                normal.raws.append(raw)
            elif not (items.skip_undated and outcome.raw.title):
                normal.quarantined.append(outcome)

        for raw in map(items.completed, filter(items.is_wanted, found.events)):
            outcome, title = normalise(raw, rules), raw.title or ""
            is_undated = isinstance(outcome, QuarantinedEvent)
            if (notice := find_notice(title) or (find_marked_notice(title) if is_undated else None)) is not None:
                notices.append((raw, outcome, notice))  # Attached when all events of the source are known.
            else:
                keep(raw, outcome)
        places: dict[str, set[EventPlace]] = {}
        for draft in normal.drafts if notices else ():
            if "notice" not in draft.extra:
                places.setdefault(draft.title_clean, set()).add((draft.local_date, draft.venue))
        for raw, outcome, notice in notices:
            title = clean_title(notice.subject)
            keep(raw, self._attach(raw, outcome, notice, rules, places.get(title, set()) | self._places(title, rules)))
        return normal

    def _places(self, title: str, rules: SourceRules) -> set[EventPlace]:
        """The days and venues of the stored events to come with a title."""
        zone = ZoneInfo(rules.zone)
        return {
            (event.starts_at.astimezone(zone).date(), event.venue)
            for event in self._store.events.titled(title, rules.now.date())
            if event.starts_at is not None and (not event.city or not rules.city or event.city == rules.city)
        }

    def _attach(
        self,
        raw: RawEvent,
        item: EventDraft | QuarantinedEvent,
        notice: EventNotice,
        rules: SourceRules,
        known: set[EventPlace],
    ) -> EventDraft | QuarantinedEvent:
        """Give a notice the day and the venue of its event, if exactly one event to come has its title. `known`: where and when
        events with this title are."""
        if (notice.kind is NoticeKind.VENUE and not raw.venue) or (
            notice.kind is NoticeKind.TIME and isinstance(item, QuarantinedEvent)
        ):
            why = Message(
                "“{title}” has another venue or time, which this notice does not name. Edit the event, then dismiss this.",
                title=notice.subject,
            )
            return QuarantinedEvent(raw=raw, reason=ReviewReason.MISSING_REQUIRED, why=why)
        if not isinstance(item, QuarantinedEvent):
            known = {(day, venue) for day, venue in known if day == item.local_date}
        days = {day for day, _ in known if day >= rules.now.date()}
        venues = {venue for day, venue in known if day in days and venue}
        if len(days) == 1 and len(venues) <= 1:
            is_moved = notice.kind is NoticeKind.VENUE
            placed = replace(raw, title=notice_title(notice), venue=raw.venue or (None if is_moved else next(iter(venues), None)))
            if isinstance(item, QuarantinedEvent):
                placed = replace(placed, start=days.pop(), end=None, start_time=None, end_time=None, when_note=None)
            outcome = normalise(placed, rules)
            item = item if isinstance(outcome, QuarantinedEvent) else outcome
        if not isinstance(item, QuarantinedEvent):
            return item
        why = Message(
            "This is a notice about “{title}”, and {count} events with this title are known. Give it the date of the event.",
            title=notice.subject,
            count=max(len(days), len(venues)),
        )
        return replace(item, why=why)

    async def _enrich(
        self, enricher: Enricher, source: EventSource, run: RunLog, found: SourceContent, normal: NormalisedEvents
    ) -> NormalisedEvents:
        began = self._clock.monotonic()
        enriched = await enricher.enrich(normal.drafts)
        if not enriched.is_complete:
            # The rest is enriched next time, so the source must be read then even if it has not changed.
            found.kept["enriched"] = ""
        self._log_duration(source, run, "enrich", began)
        return replace(normal, drafts=enriched.drafts)

    async def _store_all(self, source: EventSource, run: RunLog, found: SourceContent, normal: NormalisedEvents) -> SourceRun:
        began = self._clock.monotonic()
        store = self._store
        matcher = RunMatcher()
        applied = await asyncio.to_thread(store.results.apply, run, normal.drafts, normal.quarantined, matcher, raws=normal.raws)
        self._log_duration(source, run, "store", began)
        is_whole = not found.missing
        missing = await asyncio.to_thread(store.results.mark_missing, run, force=self._accept_drops) if is_whole else None
        counts = {
            "fetched": found.fetched,
            "parsed": len(normal.drafts) + len(normal.quarantined),
            "upserted": applied.upserted,
            "quarantined": applied.quarantined,
            "merged": applied.merged,
            "review": applied.review,
            "inserted": applied.inserted,
            "updated": applied.updated,
            "vanished": missing.vanished if missing else 0,
        }
        problems = [*found.missing, *found.gone, *map(_problem_message, found.problems)]
        if matcher.has_reached_limit:
            text = Message(
                "More than {count} pairs of events are similar. Each further event was compared with at most {limit} others, and "
                "only if the titles are equal.",
                count=f"{MAX_PAIRS:,}",
                limit=LIMITED_COMPARISONS,
            )
            problems.insert(0, text)
        status = RunStatus.PARTIAL if problems else RunStatus.SUCCESS
        problems += _moved(found)
        if found.is_list_whole:
            first = found.documents[0] if found.documents else None
            await asyncio.to_thread(
                store.schedule.remember, source.id,
                etag=first.etag if first else None, last_modified=first.last_modified if first else None,
                body_hash=first.path.rpartition("/")[2].partition(".")[0] if first else "", kept=found.kept,
            )  # fmt: skip
        closed = await self._finish(run, status, counts, _summary(problems), tuple(found.snapshots))
        await asyncio.to_thread(store.schedule.set_due, source.id, delay_after_success(source, found.ttl, found.retry_after))
        await asyncio.to_thread(self._end_failure, source)
        if missing is not None:
            await asyncio.to_thread(self._watch_drop, source, missing)
        return SourceRun(source, closed, missing)

    async def _unchanged(self, source: EventSource, run: RunLog, found: SourceContent) -> SourceRun:
        if found.kept:
            await asyncio.to_thread(self._store.schedule.remember, source.id, kept=found.kept)
        await asyncio.to_thread(self._store.results.fill_blocks, run, self._matcher)
        seen = await asyncio.to_thread(self._store.results.mark_all_seen, run)
        counts = dict.fromkeys(("fetched", "parsed", "upserted", "quarantined", "merged", "review"), 0) | {"unchanged": seen}
        closed = await self._finish(run, RunStatus.SUCCESS, counts, _summary(_moved(found)), tuple(found.snapshots))
        await asyncio.to_thread(self._store.schedule.set_due, source.id, delay_after_success(source, None))
        await asyncio.to_thread(self._end_failure, source)
        return SourceRun(source, closed, unchanged=True)

    async def _failed(
        self, source: EventSource, run: RunLog, found: SourceContent, began: float, normal: NormalisedEvents | None = None
    ) -> SourceRun:
        """Close the run as failed; the next one is later each time. Rows that could not be parsed go to quarantine."""
        store = self._store
        quarantined = normal.quarantined if normal else []
        applied = await asyncio.to_thread(store.results.apply, run, [], quarantined, self._matcher) if quarantined else None
        error = found.error or _summary([*map(_problem_message, found.problems)])
        counts = dict.fromkeys(("fetched", "parsed", "upserted", "quarantined", "merged", "review"), 0)
        counts |= {"fetched": found.fetched, "parsed": len(quarantined), "quarantined": len(quarantined)}
        counts["review"] = applied.review if applied else 0
        closed = await self._finish(run, RunStatus.FAIL, counts, error, tuple(found.snapshots))
        state = await asyncio.to_thread(store.schedule.state, source.id)
        wait = delay_after_failure(source, state.failures, jitter=self._random.random(), retry_after=found.retry_after)
        await asyncio.to_thread(store.schedule.set_due, source.id, wait, backoff=wait)
        detail = {"error": error, "run_id": run.id}
        if found.is_gone:
            await asyncio.to_thread(store.sources.edit, source.id, {"enabled": False}, "410 Gone")
            await asyncio.to_thread(store.incidents.open, source.id, "gone", detail)
        else:
            await asyncio.to_thread(store.incidents.open, source.id, "failure", detail)
        self._log_duration(source, run, "failed", began, error)
        return SourceRun(source, closed)

    def _end_failure(self, source: EventSource) -> None:
        for kind in ("failure", "gone"):
            self._store.incidents.close(source.id, kind)

    def _watch_drop(self, source: EventSource, missing: MissingEventsResult) -> None:
        if missing.is_drop:
            self._store.incidents.open(source.id, "drop", {"known": missing.known, "missing": missing.missing})
        else:
            self._store.incidents.close(source.id, "drop")

    async def _finish(self, run: RunLog, status: RunStatus, counts: dict[str, int], error: str, paths: tuple[str, ...]) -> RunLog:
        closed = await asyncio.to_thread(self._store.runs.finish, run, status, counts=counts, error=error, snapshot_paths=paths)
        await asyncio.to_thread(write_run_log, self._files, closed)
        return closed

    def _log_duration(self, source: EventSource, run: RunLog, stage: str, began: float, error: str = "") -> None:
        self._log_stage(stage, source_id=source.id, run_id=run.id, duration=self._clock.monotonic() - began, error=error)


def _is_lost_item(problem: ParseProblem, read: set[str]) -> bool:
    """Whether an item was lost that a person could complete; a warning about an item that was read, or about the whole document,
    is only reported with the run."""
    return bool(problem.sample) and problem.position not in read and _ITEM.search(problem.position) is not None


def other_problems(found: SourceContent) -> list[str]:
    """What is to be said about the documents, besides the items in quarantine."""
    read = {raw.position for raw in found.events}
    return [_problem_message(one) for one in found.problems if not _is_lost_item(one, read)]


def _quarantined_problem(problem: ParseProblem) -> QuarantinedEvent:
    raw = RawEvent(position=problem.position, description=problem.sample or None)
    return QuarantinedEvent(raw=raw, reason=ReviewReason.PARSE_ERROR, why=problem.reason)


def _problem_message(problem: ParseProblem) -> str:
    return Message("{position}: {reason}", position=problem.position, reason=problem.reason)


def _moved(found: SourceContent) -> list[str]:
    if not found.moved_to:
        return []
    return [Message("The source has moved permanently to {url}. Edit its URL.", url=found.moved_to)]


def _summary(problems: list[str]) -> str:
    if not problems:
        return ""
    first = clip_message(problems[0], MAX_SUMMARY_LENGTH)
    return Message("{problem} (and {count} more)", problem=first, count=len(problems) - 1) if len(problems) > 1 else first


def read_secret(source: EventSource) -> str:
    """The secret of a source, from its environment variable. Raises ConfigError."""
    if not source.secret:
        return ""
    secret = os.environ.get(source.secret, "")
    if not secret:
        raise ConfigError(
            "The environment variable {variable} with the secret of this source is not set.", variable=source.secret
        )
    return secret


def run_log_path(run: RunLog) -> str:
    return f"var/runlogs/{run.started_at:%Y-%m-%d}/{run.id}.json"


def write_run_log(files: FileStore, run: RunLog) -> None:
    """Write the run log as a file."""
    assert run.finished_at is not None
    assert run.status is not None
    record: dict[str, Any] = {
        "id": run.id,
        "source_id": run.source_id,
        "started_at": iso(run.started_at),
        "finished_at": iso(run.finished_at),
        "status": run.status.value,
        "counts": dict(run.counts),
        "error_summary": run.error_summary,
        "snapshot_paths": list(run.snapshot_paths),
    }
    files.put(run_log_path(run), json.dumps(record, ensure_ascii=False, indent=2).encode() + b"\n")
