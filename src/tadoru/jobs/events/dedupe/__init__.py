"""Decides which events of one or several sources are the same. Pure functions over `EventDraft`.

`matcher` decides whether two drafts are one event, with the reasons in `reasons`; `titles`, `times` and `venues` compare single
fields, with the text comparison of `similarity`. `keys` selects which drafts are compared at all, and `field_merge` merges the
fields of drafts that are one event. `store.calendar` stores, undoes and reviews merges; it calls this package through
`EventMatcher`.
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
