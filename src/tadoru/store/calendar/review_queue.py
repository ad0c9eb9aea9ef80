"""The review queue: questions for a person, and the five ways to answer them.

merge and keep-apart answer whether events are one; fix, retry and dismiss answer what to do with a row that lacks something. The
same question is asked once: an answer holds until what it was asked about changes.
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
    unmerged_row,
)
from tadoru.store.calendar.records import Matcher, ReviewItem, event_rows, review_from_row
from tadoru.store.calendar.review_items import ReviewRequest, open_reviews
from tadoru.store.calendar.schema import reviews, sightings


class ReviewQueue(CalendarDatabase):
    """Asking and answering."""

    def ask_about(self, question: ReviewRequest) -> bool:
        """Open a review of the caller's; False when it was asked before."""
        with self.write() as sql:
            return open_reviews(sql, [question], self.now()) == 1

    def reviews(
        self, *, is_open: bool | None = True, reason: ReviewReason | None = None, limit: int | None = None, after: int = 0
    ) -> tuple[ReviewItem, ...]:
        """The oldest first; `after` goes on after a review's id."""
        query = select(reviews).where(reviews.c.id > after).order_by(reviews.c.id).limit(limit)
        if is_open is not None:
            query = query.where(reviews.c.resolved_at.is_(None) if is_open else reviews.c.resolved_at.is_not(None))
        if reason is not None:
            query = query.where(reviews.c.reason == reason.value)
        with self.read() as sql:
            return tuple(review_from_row(row) for row in sql.execute(query).mappings())

    def review(self, review_id: int) -> ReviewItem:
        with self.read() as sql:
            return self._review(sql, review_id)

    def review_merge(self, review_id: int, judge: Matcher, by: str, *, keep: int | None = None) -> int:
        """The candidates are one event. Returns the one that is kept: the oldest, unless told."""
        with self.write_events() as sql:
            found, now = self._open(sql, review_id), self.now()
            if keep is not None and keep not in found.candidate_ids:
                raise UsageError(f"Review {review_id} is not about event {keep}: it is about {_listed(found.candidate_ids)}.")
            ids = list(dict.fromkeys(final_event_id(sql, one) for one in found.candidate_ids))
            kept = final_event_id(sql, keep) if keep is not None else min(ids)
            for one in ids:
                if one != kept:
                    score, reasons = found.detail.get("score"), found.detail.get("reasons", [])
                    absorb_event(sql, judge, kept, one, MergeStamp(by, now, is_person=True), score=score, reasons=reasons)
            self._close(sql, review_id, "merge", by)
            return kept

    def review_keep_apart(self, review_id: int, judge: Matcher, by: str) -> tuple[int, ...]:
        """The candidates are different events, or a source's row is not about this one. Returns all of them."""
        with self.write_events() as sql:
            found = self._open(sql, review_id)
            if (sighting := found.detail.get("sighting")) is not None:
                ids = self._take_out(sql, sighting, judge, by)
            else:
                ids = list(dict.fromkeys(final_event_id(sql, one) for one in found.candidate_ids))
                if len(ids) < len(found.candidate_ids):
                    raise UsageError(f"The events of review {review_id} were merged since: undo that merge to part them.")
            keep_apart(sql, ids, by, self.now())
            self._close(sql, review_id, "keep-apart", by)
            return tuple(ids)

    def _take_out(self, sql: Connection, sighting: int, judge: Matcher, by: str) -> list[int]:
        """Give a row an event of its own, unless it has one already."""
        home: int = sql.execute(select(sightings.c.event_id).where(sightings.c.id == sighting)).scalar_one()
        company = select(func.count()).select_from(sightings).where(sightings.c.event_id == home)
        if sql.execute(company).scalar_one() < 2:
            return [home]
        other = copy_event(sql, event_rows(sql, [home])[home], self.now())
        move_sightings(sql, [sighting], since=home, to=other)
        EventMerger(sql, judge, self.now(), by).weave([home, other])
        return [home, other]

    def review_fix(self, review_id: int, draft: EventDraft, judge: Matcher, by: str) -> int:
        """Say what a row in quarantine should have said. What the source does not say itself is the person's from now on."""
        with self.write_events() as sql:
            event_id = self._only(sql, review_id)
            raw = self._review(sql, review_id).detail.get("raw", {})
            said = draft_to_json(draft)
            self._fill(sql, event_id, draft)
            set_manual_fields(
                sql, event_id, {name: said[name] for name in said if not _is_source_value(name, said, raw)}, by, self.now()
            )
            EventMerger(sql, judge, self.now(), by).weave([event_id])
            self._close(sql, review_id, "fix", by)
            return event_id

    def review_raw(self, review_id: int) -> RawEvent | None:
        """What the source said, to be read again with better settings (`review_retry`)."""
        with self.read() as sql:
            raw = self._review(sql, review_id).detail.get("raw")
            return raw_from_json(raw) if raw else None

    def review_retry(self, review_id: int, outcome: EventDraft | QuarantinedEvent, judge: Matcher, by: str) -> bool:
        """The row was read again. True: it is an event now; False: it still lacks something, and the review stays open."""
        with self.write_events() as sql:
            event_id = self._only(sql, review_id)
            if isinstance(outcome, QuarantinedEvent):
                detail = {**self._review(sql, review_id).detail, "why": outcome.why, "raw": raw_to_json(outcome.raw)}
                sql.execute(update(reviews).where(reviews.c.id == review_id).values(detail=detail))
                return False
            self._fill(sql, event_id, outcome)
            EventMerger(sql, judge, self.now(), by).weave([event_id])
            self._close(sql, review_id, "retry", by)
            return True

    def review_dismiss(self, review_id: int, by: str) -> None:
        """Leave everything as it is, and do not ask again."""
        with self.write() as sql:
            self._open(sql, review_id)
            self._close(sql, review_id, "dismiss", by)

    def _fill(self, sql: Connection, event_id: int, draft: EventDraft) -> None:
        said = draft_to_json(draft)
        query = update(sightings).where(sightings.c.event_id == event_id, sightings.c.draft.is_(None))
        sql.execute(query.values(draft=said, draft_hash=draft_hash(said)))

    def _only(self, sql: Connection, review_id: int) -> int:
        found = self._open(sql, review_id)
        if found.reason is ReviewReason.DEDUPE_CONFLICT or not found.candidate_ids:
            raise UsageError(f"Review {review_id} is not about a row that lacks something: answer it with merge or keep-apart.")
        number: int = unmerged_row(sql, found.candidate_ids[0])["id"]
        return number

    def _review(self, sql: Connection, review_id: int) -> ReviewItem:
        row = sql.execute(select(reviews).where(reviews.c.id == review_id)).mappings().one_or_none()
        if row is None:
            raise UsageError(f"There is no review {review_id}: list them with `tadoru events review list`.")
        return review_from_row(row)

    def _open(self, sql: Connection, review_id: int) -> ReviewItem:
        found = self._review(sql, review_id)
        if found.resolved_at is not None:
            raise UsageError(f"Review {review_id} was answered already ({found.resolution}).")
        return found

    def _close(self, sql: Connection, review_id: int, resolution: str, by: str) -> None:
        values = {"resolved_at": self.now(), "resolution": resolution, "by": by}
        sql.execute(update(reviews).where(reviews.c.id == review_id).values(values))


def _listed(ids: Sequence[int]) -> str:
    return ", ".join(map(str, ids))


_SHADOWED = {"title_clean": "title", "venue_clean": "venue"}


def _is_source_value(name: str, said: Mapping[str, Any], raw: Mapping[str, Any]) -> bool:
    """Whether the source gave this very text."""
    name = _SHADOWED.get(name, name)
    return name in raw and raw[name] == said.get(name)
