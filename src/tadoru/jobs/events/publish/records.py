"""What stands around events, as plain objects for programs: sources, runs, questions, merges, an event's story, the state of
things. `documents` has the events themselves; commands and the service give out the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tadoru.clock import iso
from tadoru.jobs.events.publish.documents import document, local, stamp
from tadoru.model.event import EventDraft
from tadoru.store.events.health import SourceHealth, Totals
from tadoru.store.events.open import EventsStore
from tadoru.store.events.shared_rows import shared_rows
from tadoru.store.events.values import (
    EventStory,
    MergeRecord,
    Owner,
    Review,
    RunLog,
    Said,
    Source,
    SourceChange,
    SourceState,
)
from tadoru.store.events.walking import Told, told_all


def source_json(source: Source) -> dict[str, Any]:
    """A source, without what it was permitted to connect to."""
    return {
        "id": source.id, "name": source.name, "type": source.type.value, "url": source.url, "city": source.city,
        "frequency": source.frequency, "enabled": source.enabled, "notes": source.notes, "created_at": exact(source.created_at),
        "updated_at": exact(source.updated_at), "settings": dict(source.settings), "timezone": source.timezone,
        "priority": source.priority, "depends_on": source.depends_on, "licence": source.licence, "terms_url": source.terms_url,
        "allow_private": source.allow_private, "low_hours": source.low_hours, "secret": source.secret,
    }  # fmt: skip


def state_json(state: SourceState) -> dict[str, Any]:
    """What collecting a source has taught."""
    return {
        "last_attempt": exact(state.last_attempt), "last_success": exact(state.last_success),
        "next_run_at": exact(state.next_run_at), "failures": state.failures, "last_error": state.last_error,
        "last_count": state.last_count, "etag": state.etag.decode("utf-8", "replace") if state.etag else None,
        "last_modified": state.last_modified.decode("utf-8", "replace") if state.last_modified else None,
    }  # fmt: skip


def change_json(one: SourceChange) -> dict[str, Any]:
    """One change of a source."""
    return {"at": exact(one.at), "by": one.by, "field": one.field, "old": one.old, "new": one.new}


def exact(at: Any) -> str | None:
    """A time of ours with its fractions: UTC."""
    return iso(at) if at else None


def run_json(one: RunLog) -> dict[str, Any]:
    """A run: the seed's fields, all counts, and where the bodies are."""
    return {
        "id": one.id, "source_id": one.source_id, "started_at": stamp(one.started_at), "finished_at": stamp(one.finished_at),
        "status": one.status.value if one.status else None, "fetched_count": one.fetched_count,
        "parsed_count": one.parsed_count, "upserted_count": one.upserted_count, "error_summary": one.error_summary,
        "counts": dict(one.counts), "snapshot_paths": list(one.snapshot_paths),
    }  # fmt: skip


def story_json(story: EventStory, told: Told, names: Mapping[int, str]) -> dict[str, Any]:
    """An event as lists have it, and everything around it."""
    return document(told) | {
        "merged_into": story.event.merged_into,
        "owners": {name: _owner_json(owner) for name, owner in story.owners.items()},
        "sightings": [_said_json(one, names) for one in story.said],
        "merges": [merge_json(one) for one in story.merges],
        "reviews": [review_json(one) for one in story.reviews],
        "history": [{"at": stamp(one["at"]), "by": one["by"], "changes": one["changes"]} for one in story.history],
    }


def _owner_json(owner: Owner) -> dict[str, Any]:
    return {"owner": owner.owner, "source_id": owner.source_id, "who": owner.who, "at": stamp(owner.at)}


def _said_json(one: Said, names: Mapping[int, str]) -> dict[str, Any]:
    draft = one.draft
    return {
        "id": one.id, "source_id": one.source_id, "source": names.get(one.source_id or 0), "row_key": one.row_key,
        "title": draft.title if draft else None, "venue": draft.venue if draft else None, "city": draft.city if draft else None,
        "starts_at": local(draft.occurrence.starts_at, draft.timezone) if draft else None,
        "ends_at": local(draft.occurrence.ends_at, draft.timezone) if draft else None,
        "url": draft.url if draft else None, "raw": one.raw,
        "first_seen": stamp(one.first_seen), "last_seen": stamp(one.last_seen), "gone_at": stamp(one.gone_at),
    }  # fmt: skip


def merge_json(one: MergeRecord) -> dict[str, Any]:
    """A merge, and whether it was taken back."""
    return {
        "id": one.id, "kept_id": one.kept_id, "absorbed_id": one.absorbed_id, "score": one.score, "reasons": list(one.reasons),
        "at": stamp(one.at), "by": one.by, "undone_at": stamp(one.undone_at), "undone_by": one.undone_by,
    }  # fmt: skip


def review_json(one: Review) -> dict[str, Any]:
    """A review: the seed's fields, and what the question is."""
    return {
        "id": one.id, "candidate_ids": list(one.candidate_ids), "reason": one.reason.value, "created_at": stamp(one.created_at),
        "resolved_at": stamp(one.resolved_at), "resolution": one.resolution, "by": one.by, "source_id": one.source_id,
        "detail": dict(one.detail),
    }  # fmt: skip


def review_document(store: EventsStore, found: Review) -> dict[str, Any]:
    """A review with the events it is about, and the rows when it is about rows."""
    events = told_all(store, found.candidate_ids)
    wanted = {number for name in ("sighting", "other") if isinstance(number := found.detail.get(name), int)}
    said = store.story(found.candidate_ids[0]).said if wanted and found.candidate_ids else ()
    rows = [_row_json(one, one.draft) for one in said if one.id in wanted and one.draft is not None]
    return review_json(found) | {"events": [document(events[one]) for one in found.candidate_ids if one in events], "rows": rows}


def _row_json(one: Said, draft: EventDraft) -> dict[str, Any]:
    return {
        "id": one.id, "source_id": one.source_id, "title": draft.title, "venue": draft.venue, "city": draft.city,
        "starts_at": local(draft.occurrence.starts_at, draft.timezone), "url": draft.url,
    }  # fmt: skip


def sources_health(store: EventsStore, days: int) -> Iterator[dict[str, Any]]:
    """How each source does, its runs counted over so many days."""
    shared = shared_rows(store)
    trouble: dict[int, list[str]] = {}
    for incident in store.incidents(is_open=True):
        trouble.setdefault(incident.source_id, []).append(incident.kind)
    for one in store.health(days=days):
        state = store.state(one.source_id)
        yield {
            "source_id": one.source_id, "name": one.name, "enabled": one.enabled, "state": _state(one), "rows": one.rows,
            "runs": one.runs, "failed_runs": one.failed_runs, "failure_rate": share(one.failed_runs, one.runs),
            "duplicate_rate": share(shared.get(one.source_id, 0), one.rows), "failures_in_a_row": one.failures,
            "last_success": stamp(one.last_success), "next_run_at": stamp(state.next_run_at) if one.enabled else None,
            "lag_seconds": round(one.late), "open_incidents": trouble.get(one.source_id, []), "last_error": one.last_error,
        }  # fmt: skip


def _state(one: SourceHealth) -> str:
    if not one.enabled:
        return "disabled"
    if one.failures:
        return "failing"
    return "ok" if one.last_success else "new"


def share(part: int, whole: int) -> float | None:
    """A part of a whole; None of nothing."""
    return round(part / whole, 4) if whole else None


def totals_json(totals: Totals) -> dict[str, Any]:
    """The database in numbers."""
    return {
        "events": dict(totals.events), "archived": totals.archived, "vanished": totals.vanished, "rows": totals.rows,
        "duplicate_rows": totals.merged_rows, "duplicate_rate": share(totals.merged_rows, totals.rows), "merges": totals.merges,
        "open_reviews": totals.open_reviews, "sources": totals.sources,
    }  # fmt: skip
