"""One run of one source: gather, normalise, store, and whatever follows from how it went.

Killed at any moment, the run is closed by whoever comes next, and the next run stores the same things again to the same effect.
Validators are remembered last, when everything that they stand for is stored.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tadoru.clock import Clock, iso, to_datetime
from tadoru.engine.errands import Errand
from tadoru.errors import ConfigError, StoreError, TadoruError
from tadoru.jobs.events import timing
from tadoru.jobs.events.dedupe.judge import EventJudge
from tadoru.jobs.events.gather import Gathered, Gatherer, Means, Taken
from tadoru.jobs.events.normalise import SourceRules, normalise
from tadoru.jobs.events.settings import SourceSettings, read_settings
from tadoru.model.event import EventDraft, Quarantined, RawEvent, ReadProblem, ReviewReason, RunStatus
from tadoru.options import EventsOptions
from tadoru.store.events.open import EventsStore
from tadoru.store.events.runs import RunClosed
from tadoru.store.events.values import RunLog, Source, Sweep
from tadoru.store.files import Files

if TYPE_CHECKING:
    from tadoru.jobs.events.enrich.enricher import Enricher

MOST_SAID = 500
"""Characters of an error summary."""
Say = Callable[..., None]
"""Hears of each stage: `say(stage, source_id=…, run_id=…, duration=…, error=…)`."""


@dataclass(frozen=True, slots=True)
class Collected:
    """How a run went."""

    source: Source
    run: RunLog
    sweep: Sweep | None = None
    unchanged: bool = False
    """The source said that nothing changed."""

    @property
    def failed(self) -> bool:
        return self.run.status is RunStatus.FAIL


@dataclass(frozen=True, slots=True)
class Normalised:
    """What was read, in the product's terms."""

    drafts: list[EventDraft]
    raws: list[RawEvent]
    """Of the drafts, in their order."""
    quarantined: list[Quarantined]


class Collector:
    """Collects sources into a database."""

    def __init__(
        self, store: EventsStore, files: Files, clock: Clock, worker: int, options: EventsOptions, say: Say, *,
        accept_drops: bool = False, enricher: Enricher | None = None,
    ) -> None:  # fmt: skip
        self._store = store
        self._files = files
        self._clock = clock
        self._worker = worker
        self._options = options
        self._say = say
        self._accept_drops = accept_drops
        self._enricher = enricher
        self._judge = EventJudge()
        self._random = random.Random()

    async def collect(self, source: Source, errand: Errand) -> Collected:
        """Run a source that is leased to this worker. Raises only what is wrong with the database or the disk."""
        store = self._store
        run = await asyncio.to_thread(store.start_run, source.id, self._worker)
        # Now, so that a source which takes its worker down does not come back at once, for ever.
        await asyncio.to_thread(store.schedule, source.id, timing.period(source))
        began = self._clock.monotonic()
        try:
            return await self._run(source, run, errand)
        except RunClosed as error:
            self._tell(source, run, "run", began, str(error))
            return Collected(source, await asyncio.to_thread(store.run, run.id))
        except StoreError:
            raise
        except TadoruError as error:
            return await self._failed(source, run, Gathered(error=str(error)), began)
        except Exception as error:
            message = f"This is a fault of Tadoru: {type(error).__name__}: {error}"
            collected = await self._failed(source, run, Gathered(error=message), began)
            self._say("fault", source_id=source.id, run_id=run.id, error=message, trace=True)
            return collected

    async def _run(self, source: Source, run: RunLog, errand: Errand) -> Collected:
        began = self._clock.monotonic()
        state = await asyncio.to_thread(self._store.state, source.id)
        settings = read_settings(source.type, source.settings, secret=source.secret)
        means = Means(
            errand=errand, files=self._files, clock=self._clock, zone=self.zone_of(source), secret=secret_of(source),
            timeout=self._options.timeout, enriched_by=self._enricher.signature if self._enricher else "",
        )  # fmt: skip
        gatherer = Gatherer(source, settings, state, means, lambda taken: self._remember_snapshot(source, run, taken))
        found = await gatherer.gather()
        self._tell(source, run, "fetch", began, found.error)
        if found.error:
            return await self._failed(source, run, found, began)
        if found.is_unchanged:
            return await self._unchanged(source, run)
        began = self._clock.monotonic()
        normal = await asyncio.to_thread(self.normalise, source, settings, found)
        self._tell(source, run, "normalise", began)
        if not normal.drafts and not found.events and found.problems:
            # Nothing in it could be read: the source is broken, not its events.
            return await self._failed(source, run, found, began, normal)
        if self._enricher is not None:
            normal = await self._enrich(self._enricher, source, run, found, normal)
        return await self._store_all(source, run, found, normal)

    def zone_of(self, source: Source) -> str:
        return source.timezone or self._options.timezone

    def _remember_snapshot(self, source: Source, run: RunLog, taken: Taken) -> None:
        self._store.add_snapshot(
            source.id, taken.url, taken.path, taken.fetched_at,
            etag=taken.etag, last_modified=taken.last_modified, run_id=run.id,
        )  # fmt: skip

    def normalise(self, source: Source, settings: SourceSettings, found: Gathered) -> Normalised:
        """Every raw event as a draft, or in quarantine with the reason."""
        rules = SourceRules(zone=self.zone_of(source), now=to_datetime(self._clock.now()), city=source.city, order=settings.order)
        normal = Normalised([], [], [_problem(one) for one in found.problems])
        for raw in found.events:
            outcome = normalise(raw, rules)
            if isinstance(outcome, Quarantined):
                normal.quarantined.append(outcome)
            else:
                normal.drafts.append(outcome)
                normal.raws.append(raw)
        return normal

    async def _enrich(self, enricher: Enricher, source: Source, run: RunLog, found: Gathered, normal: Normalised) -> Normalised:
        began = self._clock.monotonic()
        enriched = await enricher.enrich(normal.drafts)
        if not enriched.is_complete:
            # The rest is asked about next time, and so the source has to be read then, changed or not.
            found.kept["enriched"] = ""
        self._tell(source, run, "enrich", began)
        return replace(normal, drafts=enriched.drafts)

    async def _store_all(self, source: Source, run: RunLog, found: Gathered, normal: Normalised) -> Collected:
        began = self._clock.monotonic()
        store = self._store
        applied = await asyncio.to_thread(store.apply_run, run, normal.drafts, normal.quarantined, self._judge, raws=normal.raws)
        self._tell(source, run, "store", began)
        is_whole = not found.missing
        sweep = await asyncio.to_thread(store.sweep, run, force=self._accept_drops) if is_whole else None
        counts = {
            "fetched": found.fetched,
            "parsed": len(normal.drafts) + len(normal.quarantined),
            "upserted": applied.upserted,
            "quarantined": applied.quarantined,
            "merged": applied.merged,
            "review": applied.review,
            "inserted": applied.inserted,
            "updated": applied.updated,
            "vanished": sweep.vanished if sweep else 0,
        }
        said = [*found.missing, *(f"{one.position}: {one.reason}" for one in found.problems)]
        status = RunStatus.PARTIAL if said else RunStatus.SUCCESS
        if is_whole:
            first = found.documents[0] if found.documents else None
            await asyncio.to_thread(
                store.remember, source.id,
                etag=first.etag if first else None, last_modified=first.last_modified if first else None,
                body_hash=first.path.rpartition("/")[2].partition(".")[0] if first else "", kept=found.kept,
            )  # fmt: skip
        closed = await self._finish(run, status, counts, _summary(said), tuple(one.path for one in found.documents))
        await asyncio.to_thread(store.schedule, source.id, timing.after_success(source, found.ttl))
        await asyncio.to_thread(self._end_failure, source)
        if sweep is not None:
            await asyncio.to_thread(self._watch_drop, source, sweep)
        return Collected(source, closed, sweep)

    async def _unchanged(self, source: Source, run: RunLog) -> Collected:
        seen = await asyncio.to_thread(self._store.see_all, run)
        counts = dict.fromkeys(("fetched", "parsed", "upserted", "quarantined", "merged", "review"), 0) | {"unchanged": seen}
        closed = await self._finish(run, RunStatus.SUCCESS, counts, "", ())
        await asyncio.to_thread(self._store.schedule, source.id, timing.after_success(source, None))
        await asyncio.to_thread(self._end_failure, source)
        return Collected(source, closed, unchanged=True)

    async def _failed(
        self, source: Source, run: RunLog, found: Gathered, began: float, normal: Normalised | None = None
    ) -> Collected:
        """Close the run; the source waits longer each time. What could not be read is in its snapshot, and asked about."""
        store = self._store
        quarantined = normal.quarantined if normal else []
        applied = await asyncio.to_thread(store.apply_run, run, [], quarantined, self._judge) if quarantined else None
        error = found.error or _summary([f"{one.position}: {one.reason}" for one in found.problems])
        counts = dict.fromkeys(("fetched", "parsed", "upserted", "quarantined", "merged", "review"), 0)
        counts |= {"fetched": found.fetched, "parsed": len(quarantined), "quarantined": len(quarantined)}
        counts["review"] = applied.review if applied else 0
        closed = await self._finish(run, RunStatus.FAIL, counts, error, tuple(one.path for one in found.documents))
        state = await asyncio.to_thread(store.state, source.id)
        wait = timing.after_failure(source, state.failures, jitter=self._random.random(), retry_after=found.retry_after)
        await asyncio.to_thread(store.schedule, source.id, wait, backoff=wait)
        detail = {"error": error, "run_id": run.id}
        if found.is_gone:
            await asyncio.to_thread(store.edit_source, source.id, {"enabled": False}, "410 Gone")
            await asyncio.to_thread(store.open_incident, source.id, "gone", detail)
        else:
            await asyncio.to_thread(store.open_incident, source.id, "failure", detail)
        self._tell(source, run, "failed", began, error)
        return Collected(source, closed)

    def _end_failure(self, source: Source) -> None:
        for kind in ("failure", "gone"):
            self._store.close_incident(source.id, kind)

    def _watch_drop(self, source: Source, sweep: Sweep) -> None:
        if sweep.is_drop:
            self._store.open_incident(source.id, "drop", {"known": sweep.known, "missing": sweep.missing})
        else:
            self._store.close_incident(source.id, "drop")

    async def _finish(self, run: RunLog, status: RunStatus, counts: dict[str, int], error: str, paths: tuple[str, ...]) -> RunLog:
        closed = await asyncio.to_thread(self._store.finish_run, run, status, counts=counts, error=error, snapshot_paths=paths)
        await asyncio.to_thread(write_log, self._files, closed)
        return closed

    def _tell(self, source: Source, run: RunLog, stage: str, began: float, error: str = "") -> None:
        self._say(stage, source_id=source.id, run_id=run.id, duration=self._clock.monotonic() - began, error=error)


def _problem(problem: ReadProblem) -> Quarantined:
    raw = RawEvent(position=problem.position, description=problem.sample or None)
    return Quarantined(raw=raw, reason=ReviewReason.PARSE_ERROR, why=problem.reason)


def _summary(said: list[str]) -> str:
    if not said:
        return ""
    more = f" (and {len(said) - 1} more)" if len(said) > 1 else ""
    return f"{said[0][:MOST_SAID]}{more}"


def secret_of(source: Source) -> str:
    """The secret of a source, from the variable that it names. Raises ConfigError."""
    if not source.secret:
        return ""
    secret = os.environ.get(source.secret, "")
    if not secret:
        raise ConfigError(f"The variable {source.secret}, which holds the secret of this source, is not set.")
    return secret


def log_key(run: RunLog) -> str:
    return f"var/runlogs/{run.started_at:%Y-%m-%d}/{run.id}.json"


def write_log(files: Files, run: RunLog) -> None:
    """The run log as a file, in the seed's form."""
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
    files.put(log_key(run), json.dumps(record, ensure_ascii=False, indent=2).encode() + b"\n")
