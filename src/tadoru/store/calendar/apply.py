"""Stores the result of a run in chunks, such that killing a run at any moment and running it again has the same result.

Each row of a source is a sighting with a key. A known row is updated, and so is one without a UID whose time, date or venue the
source has corrected: it is the only row with this URL, with this title on this day, or with this title and number in a table,
both before and now. A new row is compared with the events that share a blocking key with it (`merge_candidates`): it joins one of
them or becomes a new event, with a review where the matcher is uncertain. A chunk is one exclusive transaction (`write_events`);
rows that are already stored are recognised by their key.

A row that lacks a required field is stored as an event in quarantine, which is never shown, with a review. If it was an event
before, that event stays as it was.

Upcoming events that a source no longer lists are marked as vanished, never deleted. Past events are left alone, because sources
drop them as a matter of course. If a large share is missing at once, the source is doubted and nothing is marked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, RowMapping, Select, and_, delete, exists, insert, or_, select, update

from tadoru.model.event import EventDraft, EventStatus, QuarantinedEvent, RawEvent
from tadoru.store.calendar.apply_chunk import ChunkApplier, KeyedRow, QuarantinedRow, RowKey, quarantined_keys, row_keys
from tadoru.store.calendar.database import CalendarDatabase
from tadoru.store.calendar.drafts import draft_from_json, draft_to_json, raw_to_json
from tadoru.store.calendar.merging import EventMerger
from tadoru.store.calendar.records import ApplyResult, Matcher, MissingEventsResult, RunLog, in_batches, insert_all, select_in
from tadoru.store.calendar.review_items import (
    ROW_GONE,
    ReviewRequest,
    close_row_reviews,
    message_detail,
    open_reviews,
    reopen_reviews,
)
from tadoru.store.calendar.runs import check_run_open
from tadoru.store.calendar.schema import block_formats, event_history, events, sightings, sources

CHUNK_SIZE = 200
"""Rows per transaction, for which other writers wait: less than half a second even if each row is compared with as many events as
it may. A killed run loses at most one chunk."""
DROP_SHARE = 0.2
DROP_COUNT = 5
"""A drop is more missing events than this, and a larger share than that."""
ROW_NUMBERS = ("NO", "No", "No.", "no", "番号")
"""Columns with the number of a row. It is no UID, because many tables are numbered anew."""
SAME_TITLE_SHARE = 0.5
"""A page whose event has another day and title is about the same event if the titles have at least this share in common."""


TitleAndDay = tuple[str, date]


class RunResults:
    """Stores the results of runs, and marks the events that a source no longer lists."""

    def __init__(self, db: CalendarDatabase) -> None:
        self._db = db

    def apply(
        self,
        run: RunLog,
        drafts: Sequence[EventDraft],
        quarantined: Sequence[QuarantinedEvent],
        matcher: Matcher,
        *,
        raws: Sequence[RawEvent | None] = (),
        chunk: int = CHUNK_SIZE,
        progress: Callable[[int], None] = lambda done: None,
    ) -> ApplyResult:
        """Store all rows; `raws` are the raw events of the drafts, in the same order. `progress` is called with the number of
        rows done."""
        self.fill_blocks(run, matcher)
        rows, bad = row_keys(drafts, matcher), quarantined_keys(quarantined)
        reused = self._reused(run, rows, drafts, matcher)
        keys = {row.key for row in (*rows, *bad)} - reused
        corrected = self._corrected(run, rows, drafts, keys)
        keys |= set(corrected.values())
        applied = ApplyResult(merged=len(drafts) - len(rows), quarantined=len(quarantined))
        done = applied.merged
        for part in in_batches(rows, chunk):
            # Before the transaction, for which other writers wait.
            some = [_keyed_row(row, drafts, raws, matcher) for row in part]
            with self._db.write_events() as sql:
                check_run_open(sql, run)
                source = sql.execute(sources.select().where(sources.c.id == run.source_id)).mappings().one()
                work = ChunkApplier(sql, matcher, run, source, self._db.now(), keys, reused, corrected)
                work.store(some)
            work.add_to(applied)
            done += len(part)
            progress(done)
        for part in in_batches(bad, chunk):
            lacking = [_quarantined_row(row, quarantined[row.number]) for row in part]
            with self._db.write_events() as sql:
                check_run_open(sql, run)
                applied.review += store_quarantined(sql, run, lacking, self._db.now())
            done += len(part)
            progress(done)
        return applied

    def fill_blocks(self, run: RunLog, matcher: Matcher, chunk: int = CHUNK_SIZE) -> int:
        """Write the blocking keys of the events of a source anew if an earlier version of the matcher wrote them, in the first
        run of all also those of events that no source will list again; returns how many events that were."""
        mine = block_formats.c.source_id == run.source_id
        with self._db.read() as sql:
            formats = {row.source_id: row.format for row in sql.execute(select(block_formats))}
            if formats.get(run.source_id) == matcher.block_format:
                return 0
            whose = sightings.c.source_id == run.source_id
            if matcher.block_format not in formats.values():
                is_disabled = sightings.c.source_id.in_(select(sources.c.id).where(sources.c.enabled == False))  # noqa: E712
                whose = or_(whose, sightings.c.source_id.is_(None), is_disabled)
            query = select(sightings.c.event_id).where(whose, sightings.c.draft.is_not(None)).distinct()
            event_ids = sorted(sql.execute(query).scalars())
        for part in in_batches(event_ids, chunk):
            with self._db.write_events() as sql:
                check_run_open(sql, run)
                EventMerger(sql, matcher, self._db.now(), f"source {run.source_id}").write_blocks(part)
        with self._db.write_events() as sql:
            check_run_open(sql, run)
            sql.execute(delete(block_formats).where(mine))
            sql.execute(insert(block_formats).values(source_id=run.source_id, format=matcher.block_format))
        return len(event_ids)

    def _reused(self, run: RunLog, rows: Sequence[RowKey], drafts: Sequence[EventDraft], matcher: Matcher) -> set[str]:
        """Row keys that now name another row than before: the source renumbered its rows or reused a UID."""
        named = {row.key: row for row in rows if drafts[row.number].uid}
        query = select(sightings.c.row_key, sightings.c.draft_hash, sightings.c.draft)
        query = query.where(sightings.c.source_id == run.source_id, sightings.c.draft.is_not(None))
        reused: set[str] = set()
        with self._db.read() as sql:
            for part in in_batches(named):
                for known in sql.execute(query.where(sightings.c.row_key.in_(part))):
                    row = named[known.row_key]
                    if known.draft_hash != row.hash and not matcher.is_same_row(draft_from_json(known.draft), drafts[row.number]):
                        reused.add(row.key)
        return reused

    def _corrected(self, run: RunLog, rows: Sequence[RowKey], drafts: Sequence[EventDraft], keys: set[str]) -> dict[str, str]:
        """The keys of rows without a UID that correct a known row, each with the key of that row."""
        named, now = {row.key: drafts[row.number] for row in rows if not drafts[row.number].uid}, self._db.now()
        mine = (sightings.c.source_id == run.source_id, sightings.c.draft.is_not(None))
        listed: dict[str, EventDraft] = {}
        gone: dict[str, EventDraft] = {}
        with self._db.read() as sql:
            known = set(sql.execute(select(sightings.c.row_key).where(*mine)).scalars()) if named else set()
            fresh = {key: draft for key, draft in named.items() if key not in known}
            is_over = events.c.last_day_over <= now - timedelta(days=1)
            columns = select(sightings.c.row_key, sightings.c.draft, sightings.c.gone_at).join(events).where(*mine, ~is_over)
            for part in in_batches([key for key in known - keys if key.startswith("key:")] if fresh else []):
                for row in sql.execute(columns.where(sightings.c.row_key.in_(part))):
                    (listed if row.gone_at is None else gone)[row.row_key] = draft_from_json(row.draft)
        stayed = Counter(map(_title_and_day, (drafts[row.number] for row in rows if row.key not in fresh)))
        urls = Counter(draft.url for draft in drafts)
        found = corrected_rows(fresh, listed, urls, stayed, now)
        # Next those that the source did not list for a while.
        rest = {key: draft for key, draft in fresh.items() if key not in found}
        return found | corrected_rows(rest, gone, urls, stayed, now)

    def mark_missing(self, run: RunLog, *, force: bool = False) -> MissingEventsResult:
        """Mark the events that a source no longer lists. Call it only if the run has read the whole source. `force` marks them
        despite a drop."""
        now = self._db.now()
        with self._db.write_events() as sql:
            check_run_open(sql, run)
            known = sql.execute(_upcoming_sightings(run, now)).all()
            missing = [row for row in known if row.last_run != run.id]
            is_drop = len(missing) > DROP_COUNT and len(missing) > DROP_SHARE * len(known) and not force
            gone = [] if is_drop else missing
            for part in in_batches(row.id for row in gone):
                sql.execute(update(sightings).where(sightings.c.id.in_(part)).values(gone_at=now))
            vanished = self._mark_vanished(sql, sorted({row.event_id for row in gone}), now, f"source {run.source_id}")
            if not is_drop:
                self._close_gone_rows(sql, run, now)
            return MissingEventsResult(known=len(known), missing=len(missing), vanished=vanished, is_drop=is_drop)

    def _mark_vanished(self, sql: Connection, event_ids: list[int], now: datetime, by: str) -> int:
        """Mark events without any current sighting as vanished; returns how many."""
        count = 0
        for part in in_batches(event_ids):
            is_listed = exists().where(sightings.c.event_id == events.c.id, sightings.c.gone_at.is_(None))
            query = update(events).where(events.c.id.in_(part), ~is_listed, events.c.vanished_at.is_(None))
            values = {"vanished_at": now, "updated_at": now, "sequence": events.c.sequence + 1}
            marked = sql.execute(query.values(values).returning(events.c.id)).scalars().all()
            changes = {"vanished_at": [None, now.isoformat()]}
            notes = [{"event_id": one, "at": now, "by": by, "changes": changes} for one in marked]
            if notes:
                sql.execute(insert(event_history), notes)
            count += len(marked)
        return count

    def _close_gone_rows(self, sql: Connection, run: RunLog, now: datetime) -> None:
        """Close the reviews of quarantined rows that are gone."""
        mine = and_(sightings.c.source_id == run.source_id, sightings.c.draft.is_(None), sightings.c.gone_at.is_(None))
        old = or_(sightings.c.last_run != run.id, sightings.c.last_run.is_(None))
        query = update(sightings).where(mine, old).values(gone_at=now).returning(sightings.c.event_id)
        gone = list(sql.execute(query).scalars())
        for part in in_batches(gone):
            close_row_reviews(sql, part, run.source_id, ROW_GONE, f"source {run.source_id}", now)
            still = events.c.status == EventStatus.QUARANTINE.value
            sql.execute(update(events).where(events.c.id.in_(part), still).values(vanished_at=now))

    def mark_all_seen(self, run: RunLog) -> int:
        """Mark all rows of a source as seen, because it reported no change (304); returns how many."""
        now = self._db.now()
        with self._db.write_events() as sql:
            check_run_open(sql, run)
            mine = and_(sightings.c.source_id == run.source_id, sightings.c.gone_at.is_(None))
            about = select(sightings.c.event_id).where(mine)
            sql.execute(update(events).where(events.c.id.in_(about)).values(last_seen=now))
            done = sql.execute(update(sightings).where(mine).values(last_seen=now, last_run=run.id))
            return done.rowcount


def _upcoming_sightings(run: RunLog, now: datetime) -> Select[Any]:
    """The rows of a source about events that have not started. Calendars drop ongoing events, so these prove nothing."""
    columns = select(sightings.c.id, sightings.c.event_id, sightings.c.last_run).join(events, events.c.id == sightings.c.event_id)
    goes_on = and_(events.c.times > 1, events.c.last_day_over > now + timedelta(days=1))
    return columns.where(
        sightings.c.source_id == run.source_id,
        sightings.c.gone_at.is_(None),
        sightings.c.draft.is_not(None),
        or_(events.c.starts_at > now, goes_on),
    )


def corrected_rows(
    fresh: Mapping[str, EventDraft],
    dropped: Mapping[str, EventDraft],
    urls: Mapping[str, int],
    stayed: Mapping[TitleAndDay, int],
    now: datetime,
) -> dict[str, str]:
    """New keys with the old ones they replace. `urls` counts the URLs of the run, `stayed` its known rows by title and day;
    events that are over are not corrected."""
    old = {key: draft for key, draft in dropped.items() if _last_start(draft) > now - timedelta(days=1)}
    found: dict[str, str] = {}
    pages: dict[str, list[str]] = {}
    for key, draft in old.items():
        pages.setdefault(draft.url, []).append(key)
    for key, draft in fresh.items():
        known = pages.get(draft.url, []) if draft.url and urls[draft.url] == 1 else []
        if len(known) == 1 and _is_alike(draft, old[known[0]], now):
            found[key] = known[0]
    taken = set(found.values())
    new_groups = _by_title_and_day({key: draft for key, draft in fresh.items() if key not in found})
    old_groups = _by_title_and_day({key: draft for key, draft in old.items() if key not in taken})
    for name, group in new_groups.items():
        others = old_groups.get(name, {})
        if len(group) == len(others):
            found |= _paired(group, others, is_all=not stayed.get(name))
    return found | _numbered_rows(fresh, old, found, now)


def _numbered_rows(
    fresh: Mapping[str, EventDraft], old: Mapping[str, EventDraft], found: Mapping[str, str], now: datetime
) -> dict[str, str]:
    """New keys with the old ones of events to come that have moved to another day, with their title and number in a table."""
    places: dict[tuple[str, str], tuple[list[str], list[str]]] = {}
    taken = set(found.values())
    to_come = {key: draft for key, draft in old.items() if key not in taken and _last_start(draft) > now}
    for side, rows in enumerate(({key: draft for key, draft in fresh.items() if key not in found}, to_come)):
        for key, draft in rows.items():
            if number := next((draft.extra[name] for name in ROW_NUMBERS if draft.extra.get(name)), ""):
                places.setdefault((draft.title_clean, number), ([], []))[side].append(key)
    return {new[0]: known[0] for new, known in places.values() if len(new) == len(known) == 1}


def _paired(new: Mapping[str, EventDraft], old: Mapping[str, EventDraft], *, is_all: bool) -> dict[str, str]:
    """Rows of one title and day: those of one venue in the order of their starts. `is_all`: no other row has stayed as it was, so
    that the venue may have changed, of the only row or of those that start as before."""
    found: dict[str, str] = {}
    venues: dict[str, tuple[list[str], list[str]]] = {}
    for side, rows in enumerate((new, old)):
        for key, draft in rows.items():
            venues.setdefault(draft.venue_clean, ([], []))[side].append(key)
    for ones, others in venues.values():
        if len(ones) == len(others):
            found |= dict(zip(ones, others, strict=True))
    if is_all and not found and ([*map(_start, new.values())] == [*map(_start, old.values())] or len(new) == 1):
        found = dict(zip(new, old, strict=True))
    return found


def _start(draft: EventDraft) -> datetime:
    return draft.occurrence.starts_at


def _title_and_day(draft: EventDraft) -> TitleAndDay:
    return draft.title_clean, draft.local_date


def _by_title_and_day(rows: Mapping[str, EventDraft]) -> dict[TitleAndDay, dict[str, EventDraft]]:
    """The rows with one title on one day, in the order of their starts."""
    groups: dict[TitleAndDay, dict[str, EventDraft]] = {}
    for key, draft in sorted(rows.items(), key=lambda row: _start(row[1])):
        groups.setdefault(_title_and_day(draft), {})[key] = draft
    return groups


def _is_alike(draft: EventDraft, other: EventDraft, now: datetime) -> bool:
    """Whether a page is still about the same event: its title or its day has stayed, or most of the title of an event to come."""
    one, two = draft.title_clean, other.title_clean
    if one in two or two in one or draft.local_date == other.local_date:
        return True
    return _last_start(other) > now and _digits(one) == _digits(two) and _share_of_pairs(one, two) >= SAME_TITLE_SHARE


def _digits(title: str) -> str:
    """The numbers of a title: another one is another event of a series."""
    return "".join(sign for sign in title if sign.isdigit())


def _share_of_pairs(one: str, two: str) -> float:
    """The share of the pairs of neighbouring characters that two titles have in common."""
    pairs = [Counter(map("".join, pairwise(title))) for title in (one, two)]
    return 2 * (pairs[0] & pairs[1]).total() / max((pairs[0] + pairs[1]).total(), 1)


def _last_start(draft: EventDraft) -> datetime:
    return max((one.starts_at for one in draft.occurrences), default=draft.occurrence.starts_at)


def _keyed_row(row: RowKey, drafts: Sequence[EventDraft], raws: Sequence[RawEvent | None], matcher: Matcher) -> KeyedRow:
    draft = drafts[row.number]
    raw = raws[row.number] if row.number < len(raws) else None
    data = raw_to_json(raw) if raw else None
    return KeyedRow(row.key, row.hash, draft, draft_to_json(draft), data, matcher.blocks(draft))


def _quarantined_row(row: RowKey, lacking: QuarantinedEvent) -> QuarantinedRow:
    return QuarantinedRow(row.key, row.hash, lacking, raw_to_json(lacking.raw))


def store_quarantined(sql: Connection, run: RunLog, rows: Sequence[QuarantinedRow], now: datetime) -> int:
    """Store the rows; returns how many reviews were opened."""
    query = select(sightings).where(sightings.c.source_id == run.source_id)
    known = {row["row_key"]: row for row in select_in(sql, query, sightings.c.row_key, [row.key for row in rows])}
    fresh = [row for row in rows if row.key not in known]
    numbers = _insert(sql, run, fresh, now)
    _mark_seen(sql, run, list(known.values()), now)
    numbers |= {row["row_key"]: row["event_id"] for row in known.values()}
    questions = [_review_request(row, numbers[row.key], run) for row in rows]
    back = {row["row_key"] for row in known.values() if row["gone_at"] is not None}
    again = [one.subject for one, row in zip(questions, rows, strict=True) if row.key in back]
    return open_reviews(sql, questions, now) + reopen_reviews(sql, again)


def _review_request(row: QuarantinedRow, event_id: int, run: RunLog) -> ReviewRequest:
    subject = f"row:{run.source_id}:{row.key}:{row.hash}"
    detail = {**message_detail(row.row.why), "raw": row.raw, "position": row.row.raw.position}
    return ReviewRequest(subject, (event_id,), row.row.reason, run.source_id, detail)


def _insert(sql: Connection, run: RunLog, rows: Sequence[QuarantinedRow], now: datetime) -> dict[str, int]:
    if not rows:
        return {}
    uids = {row.key: uuid4().hex for row in rows}
    made = {
        found.uid: found.id
        for found in sql.execute(
            insert(events).returning(events.c.id, events.c.uid), [_event(row, uids[row.key], run, now) for row in rows]
        )
    }
    numbers = {key: made[uid] for key, uid in uids.items()}
    seen = {"source_id": run.source_id, "first_seen": now, "last_seen": now, "last_run": run.id}
    insert_all(sql, sightings, [{**seen, "event_id": numbers[row.key], "row_key": row.key, "raw": row.raw} for row in rows])
    return numbers


def _event(row: QuarantinedRow, uid: str, run: RunLog, now: datetime) -> dict[str, Any]:
    """The columns of an event in quarantine: its title, if it has one."""
    raw = row.row.raw
    fields = {"title": raw.title or "", "venue": raw.venue or "", "city": raw.city or "", "source_url": raw.url or ""}
    stamps = {"created_at": now, "updated_at": now, "last_seen": now, "status": EventStatus.QUARANTINE.value}
    return {
        **fields,
        **stamps,
        "uid": uid,
        "source_id": run.source_id,
        "all_day": False,
        "has_time": False,
        "extra": {},
        "times": 0,
    }


def _mark_seen(sql: Connection, run: RunLog, known: Sequence[RowMapping], now: datetime) -> None:
    for part in in_batches(known):
        ids = [row["id"] for row in part]
        query = update(sightings).where(sightings.c.id.in_(ids))
        sql.execute(query.values(last_seen=now, last_run=run.id, gone_at=None))
        about = events.c.id.in_([row["event_id"] for row in part])
        sql.execute(update(events).where(about).values(last_seen=now))
        back = (about, events.c.status == EventStatus.QUARANTINE.value, events.c.vanished_at.is_not(None))
        sql.execute(update(events).where(*back).values(vanished_at=None))
