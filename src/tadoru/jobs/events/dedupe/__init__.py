"""Tells which events of different sources, or of one, are the same: pure functions over `EventDraft`.

`blocking_keys` says what is compared with what, `compare_events` decides with reasons, `merge_fields` puts several together, `dedupe_key` is the seed's
dedupe key. `EventMatcher` offers them to the database as it asks for them. What is stored, undone and reviewed is the business of
`store.calendar` and of the collection.
"""

from __future__ import annotations

from tadoru.jobs.events.dedupe.field_merge import FieldConflict, MergeInput, MergeResult, merge_fields
from tadoru.jobs.events.dedupe.keys import blocking_keys, dedupe_key, is_same_row
from tadoru.jobs.events.dedupe.matcher import REVIEW_SCORE, SAME_SCORE, EventMatcher, compare_events
from tadoru.jobs.events.dedupe.reasons import REASON_MESSAGES, EventComparison, MatchReason, MatchVerdict, ReasonCode

__all__ = [
    "REASON_MESSAGES",
    "REVIEW_SCORE",
    "SAME_SCORE",
    "EventComparison",
    "EventMatcher",
    "FieldConflict",
    "MatchReason",
    "MatchVerdict",
    "MergeInput",
    "MergeResult",
    "ReasonCode",
    "blocking_keys",
    "compare_events",
    "dedupe_key",
    "is_same_row",
    "merge_fields",
]
