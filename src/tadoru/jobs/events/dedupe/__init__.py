"""Tells which events of different sources, or of one, are the same: pure functions over `EventDraft`.

`blocks` says what is compared with what, `compare` decides with reasons, `merge` puts several together, `key` is the seed's
dedupe key. `EventJudge` offers them to the database as it asks for them. What is stored, undone and reviewed is the business of
`store.events` and of the collection.
"""

from __future__ import annotations

from tadoru.jobs.events.dedupe.blocks import blocks
from tadoru.jobs.events.dedupe.compare import REVIEW, SAME, compare
from tadoru.jobs.events.dedupe.explain import SENTENCES, Code, Comparison, Reason, Verdict
from tadoru.jobs.events.dedupe.identity import key, same_row
from tadoru.jobs.events.dedupe.judge import EventJudge
from tadoru.jobs.events.dedupe.merge import Conflict, Side, Together, merge

__all__ = [
    "REVIEW",
    "SAME",
    "SENTENCES",
    "Code",
    "Comparison",
    "Conflict",
    "EventJudge",
    "Reason",
    "Side",
    "Together",
    "Verdict",
    "blocks",
    "compare",
    "key",
    "merge",
    "same_row",
]
