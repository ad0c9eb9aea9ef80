"""The review queue and the five decisions about an item.

`merge` and `keep-apart` decide whether events are one; `fix`, `retry` and `dismiss` decide about an incomplete row. A decision
holds until what it was about changes, or until it is taken back (`reopen`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, func, select, update

from tadoru.errors import UsageError
from tadoru.model.event import EventDraft, QuarantinedEvent, RawEvent, ReviewReason
from tadoru.store.calendar.database import CalendarDatabase
from tadoru.store.calendar.drafts import draft_hash, draft_to_json, raw_from_json, raw_to_json
from tadoru.store.calendar.manual_edits import set_manual_fields
from tadoru.store.calendar.merging import (
    EventMerger,
    MergeStamp,
    absorb_event,
    copy_event,
    final_event_id,
    keep_apart,
    move_sightings,
    release_apart,
    unmerged_row,
)
from tadoru.store.calendar.records import Matcher, ReviewItem, event_rows, review_from_row
from tadoru.store.calendar.review_items import ReviewRequest, message_detail, open_reviews
from tadoru.store.calendar.schema import reviews, sightings


class ReviewQueue:
    """Lists reviews and applies decisions."""

    def __init__(self, db: CalendarDatabase) -> None:
        self._db = db

    def request(self, question: ReviewRequest) -> bool:
        """Open a review of the caller; False if it was opened before."""
        with self._db.write() as sql:
            return open_reviews(sql, [question], self._db.now()) == 1

    def list(
        self, *, is_open: bool | None = True, reason: ReviewReason | None = None, limit: int | None = None, after: int = 0
    ) -> tuple[ReviewItem, ...]:
        """Reviews, oldest first; `after` continues after a review id."""
        query = select(reviews).where(reviews.c.id > after).order_by(reviews.c.id).limit(limit)
        if is_open is not None:
            query = query.where(reviews.c.resolved_at.is_(None) if is_open else reviews.c.resolved_at.is_not(None))
        if reason is not None:
            query = query.where(reviews.c.reason == reason.value)
        with self._db.read() as sql:
            return tuple(review_from_row(row) for row in sql.execute(query).mappings())

    def get(self, review_id: int) -> ReviewItem:
        with self._db.read() as sql:
            return self._review(sql, review_id)

    def merge(self, review_id: int, matcher: Matcher, by: str, *, keep: int | None = None) -> int:
        """Merge the candidates. Returns the event that is kept: the oldest, unless given."""
        with self._db.write_events() as sql:
            found, now = self._open_pair(sql, review_id), self._db.now()
            if keep is not None and keep not in found.candidate_ids:
                raise UsageError(
                    "Review {id} is not about event {event}, but about {events}.",
                    id=review_id,
                    event=keep,
                    events=_listed(found.candidate_ids),
                )
            ids = list(dict.fromkeys(final_event_id(sql, one) for one in found.candidate_ids))
            kept = final_event_id(sql, keep) if keep is not None else min(ids)
            for one in ids:
                if one != kept:
                    score, reasons = found.detail.get("score"), found.detail.get("reasons", [])
                    absorb_event(sql, matcher, kept, one, MergeStamp(by, now, is_person=True), score=score, reasons=reasons)
            self._close(sql, review_id, "merge", by)
            return kept

    def keep_apart(self, review_id: int, matcher: Matcher, by: str) -> tuple[int, ...]:
        """Mark the candidates as different events, or split a row off its event. Returns the events."""
        with self._db.write_events() as sql:
            found = self._open_pair(sql, review_id)
            if (sighting := found.detail.get("sighting")) is not None:
                ids = self._split_off(sql, sighting, matcher, by)
            else:
                ids = list(dict.fromkeys(final_event_id(sql, one) for one in found.candidate_ids))
                if len(ids) < len(found.candidate_ids):
                    raise UsageError(
                        "The events of review {id} were merged in the meantime. Undo that merge to separate them.", id=review_id
                    )
            keep_apart(sql, ids, by, self._db.now())
            self._close(sql, review_id, "keep-apart", by)
            return tuple(ids)

    def _open_pair(self, sql: Connection, review_id: int) -> ReviewItem:
        """An open review that asks whether events are one."""
        found = self._open(sql, review_id)
        if found.reason is not ReviewReason.DEDUPE_CONFLICT:
            raise UsageError("Review {id} is about one incomplete item. Complete it or dismiss it.", id=review_id)
        return found

    def _split_off(self, sql: Connection, sighting: int, matcher: Matcher, by: str) -> Sequence[int]:
        """Give a row an event of its own, unless it is the only one of its event."""
        home: int = sql.execute(select(sightings.c.event_id).where(sightings.c.id == sighting)).scalar_one()
        company = select(func.count()).select_from(sightings).where(sightings.c.event_id == home)
        if sql.execute(company).scalar_one() < 2:
            return [home]
        other = copy_event(sql, event_rows(sql, [home])[home], self._db.now())
        move_sightings(sql, [sighting], since=home, to=other)
        EventMerger(sql, matcher, self._db.now(), by).merge([home, other])
        return [home, other]

    def fix(self, review_id: int, draft: EventDraft, matcher: Matcher, by: str) -> int:
        """Complete a row in quarantine. Values that the source does not provide become manual edits."""
        with self._db.write_events() as sql:
            event_id = self._quarantined_event(sql, review_id)
            raw = self._review(sql, review_id).detail.get("raw", {})
            data = draft_to_json(draft)
            self._store_draft(sql, event_id, draft)
            set_manual_fields(
                sql, event_id, {name: data[name] for name in data if not _is_source_value(name, data, raw)}, by, self._db.now()
            )
            EventMerger(sql, matcher, self._db.now(), by).merge([event_id])
            self._close(sql, review_id, "fix", by)
            return event_id

    def raw(self, review_id: int) -> RawEvent | None:
        """The raw row of the source, to parse it again (`retry`)."""
        with self._db.read() as sql:
            raw = self._review(sql, review_id).detail.get("raw")
            return raw_from_json(raw) if raw else None

    def retry(self, review_id: int, outcome: EventDraft | QuarantinedEvent, matcher: Matcher, by: str) -> bool:
        """Apply a row that was parsed again. Whether it is an event now; if not, the review stays open."""
        with self._db.write_events() as sql:
            event_id = self._quarantined_event(sql, review_id)
            if isinstance(outcome, QuarantinedEvent):
                known = self._review(sql, review_id).detail
                kept = {name: value for name, value in known.items() if name not in ("message", "values")}
                detail = {**kept, **message_detail(outcome.why), "raw": raw_to_json(outcome.raw)}
                sql.execute(update(reviews).where(reviews.c.id == review_id).values(detail=detail))
                return False
            self._store_draft(sql, event_id, outcome)
            EventMerger(sql, matcher, self._db.now(), by).merge([event_id])
            self._close(sql, review_id, "retry", by)
            return True

    def dismiss(self, review_id: int, by: str) -> None:
        """Close the review without changes, and do not open it again."""
        with self._db.write() as sql:
            self._open(sql, review_id)
            self._close(sql, review_id, "dismiss", by)

    def reopen(self, review_id: int) -> tuple[int, ...]:
        """Take back that events are different, or that a review is dismissed: it is open again. Returns its events."""
        with self._db.write_events() as sql:
            found = self._review(sql, review_id)
            if found.resolution not in ("keep-apart", "dismiss") or found.detail.get("sighting") is not None:
                raise UsageError(
                    "Only reviews that were kept separate or dismissed can be opened again. To undo a merge, use {command}.",
                    command="tadoru events merges undo",
                )
            release_apart(sql, found.candidate_ids)
            values = {"resolved_at": None, "resolution": "", "by": ""}
            sql.execute(update(reviews).where(reviews.c.id == review_id).values(values))
            return tuple(found.candidate_ids)

    def _store_draft(self, sql: Connection, event_id: int, draft: EventDraft) -> None:
        data = draft_to_json(draft)
        query = update(sightings).where(sightings.c.event_id == event_id, sightings.c.draft.is_(None))
        sql.execute(query.values(draft=data, draft_hash=draft_hash(data)))

    def _quarantined_event(self, sql: Connection, review_id: int) -> int:
        found = self._open(sql, review_id)
        if found.reason is ReviewReason.DEDUPE_CONFLICT or not found.candidate_ids:
            raise UsageError("Review {id} is not about an incomplete item. Resolve it with merge or keep-apart.", id=review_id)
        number: int = unmerged_row(sql, found.candidate_ids[0])["id"]
        return number

    def _review(self, sql: Connection, review_id: int) -> ReviewItem:
        row = sql.execute(select(reviews).where(reviews.c.id == review_id)).mappings().one_or_none()
        if row is None:
            raise UsageError("Review {id} not found. `tadoru events review list` lists them.", id=review_id)
        return review_from_row(row)

    def _open(self, sql: Connection, review_id: int) -> ReviewItem:
        found = self._review(sql, review_id)
        if found.resolved_at is not None:
            raise UsageError("Review {id} is already resolved ({resolution}).", id=review_id, resolution=found.resolution)
        return found

    def _close(self, sql: Connection, review_id: int, resolution: str, by: str) -> None:
        values = {"resolved_at": self._db.now(), "resolution": resolution, "by": by}
        sql.execute(update(reviews).where(reviews.c.id == review_id).values(values))


def _listed(ids: Sequence[int]) -> str:
    return ", ".join(map(str, ids))


_SHADOWED = {"title_clean": "title", "venue_clean": "venue"}


def _is_source_value(name: str, data: Mapping[str, Any], raw: Mapping[str, Any]) -> bool:
    """Whether the source provided this very value."""
    name = _SHADOWED.get(name, name)
    return name in raw and raw[name] == data.get(name)
