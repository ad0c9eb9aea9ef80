"""Opens and closes items of the review queue.

The `subject` of an item says what it is about. A subject is opened once, whatever the decision was, so it includes everything
that would make it another question: the content of a row, or the contradicting values. Items are closed automatically when they
no longer apply.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, insert, select, update

from tadoru.errors import Message, restore_message
from tadoru.model.event import ReviewReason
from tadoru.store.calendar.records import in_batches, insert_all, select_in
from tadoru.store.calendar.schema import review_candidates, reviews

ROW_GONE = "the row is gone"
SOURCE_FIXED = "the source was put right"
OUTDATED = "the sources say something else now"


class ReviewRequest(NamedTuple):
    """A review to open, unless it was opened before."""

    subject: str
    """Identifies what it is about."""
    candidate_ids: tuple[int, ...]
    reason: ReviewReason
    source_id: int | None
    detail: Mapping[str, Any]


def message_detail(why: str) -> dict[str, Any]:
    """The text of a review for its detail: in English, and for a `Message` also its template and values for translations."""
    if not isinstance(why, Message):
        return {"why": why}
    return {"why": str(why), **why.to_json()}


def detail_message(detail: Mapping[str, Any]) -> str:
    """The text in the detail of a review, empty if it has none; a `Message` if it can be translated."""
    return restore_message(str(detail.get("why") or ""), detail)


def open_reviews(sql: Connection, questions: Iterable[ReviewRequest], now: datetime) -> int:
    """Open the reviews that are new; returns how many."""
    every = {one.subject: one for one in questions}
    known = {row["subject"] for row in select_in(sql, select(reviews.c.subject), reviews.c.subject, every)}
    new = [one for one in every.values() if one.subject not in known]
    if not new:
        return 0
    rows = [
        {**one._asdict(), "candidate_ids": list(one.candidate_ids), "reason": one.reason.value, "created_at": now} for one in new
    ]
    made = sql.execute(insert(reviews).returning(reviews.c.id, sort_by_parameter_order=True), rows).scalars().all()
    about = [(number, each) for number, one in zip(made, new, strict=True) for each in dict.fromkeys(one.candidate_ids)]
    insert_all(sql, review_candidates, [{"review_id": number, "event_id": each} for number, each in about])
    return len(new)


def reopen_reviews(sql: Connection, subjects: Iterable[str]) -> int:
    """Open reviews again that were closed because their row was gone; returns how many."""
    count = 0
    for part in in_batches(subjects):
        query = update(reviews).where(reviews.c.subject.in_(part), reviews.c.resolution == ROW_GONE)
        count += sql.execute(query.values(resolved_at=None, resolution="", by="")).rowcount
    return count


def open_reviews_about(sql: Connection, event_ids: Iterable[int]) -> list[Mapping[Any, Any]]:
    """The open reviews about these events."""
    query = select(reviews, review_candidates.c.event_id).join(review_candidates).where(reviews.c.resolved_at.is_(None))
    return list(select_in(sql, query, review_candidates.c.event_id, event_ids))


def close_reviews(sql: Connection, review_ids: Collection[int], resolution: str, by: str, now: datetime) -> None:
    for part in in_batches(review_ids):
        query = update(reviews).where(reviews.c.id.in_(part), reviews.c.resolved_at.is_(None))
        sql.execute(query.values(resolved_at=now, resolution=resolution, by=by))


def close_row_reviews(sql: Connection, event_ids: Sequence[int], source_id: int, resolution: str, by: str, now: datetime) -> None:
    """Close reviews about incomplete rows of this source."""
    mine = [
        row["id"]
        for row in open_reviews_about(sql, event_ids)
        if row["source_id"] == source_id and row["reason"] != ReviewReason.DEDUPE_CONFLICT.value
    ]
    close_reviews(sql, mine, resolution, by, now)


def close_outdated_reviews(
    sql: Connection, event_ids: Iterable[int], kind: str, still: Collection[str], by: str, now: datetime
) -> None:
    """Close reviews of one kind about these events, except those that still apply."""
    old = [
        row["id"] for row in open_reviews_about(sql, event_ids) if row["subject"].startswith(kind) and row["subject"] not in still
    ]
    close_reviews(sql, old, OUTDATED, by, now)
