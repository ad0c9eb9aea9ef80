"""The judge that the events database asks (`store.events.values.Judge`): the rules of this package in the shape of its questions.

The store knows sightings, the rules know drafts; this is the only place that knows both.
"""

from __future__ import annotations

from collections.abc import Sequence

from tadoru.jobs.events.dedupe.blocks import blocks
from tadoru.jobs.events.dedupe.compare import compare
from tadoru.jobs.events.dedupe.explain import Comparison
from tadoru.jobs.events.dedupe.identity import key, same_row
from tadoru.jobs.events.dedupe.merge import Side, merge
from tadoru.model.event import EventDraft
from tadoru.store.events.values import Merged, Said


class EventJudge:
    """Stateless; one serves every run and every thread."""

    def key(self, draft: EventDraft) -> str:
        """What two descriptions of one event share: title_clean + date + venue."""
        return key(draft)

    def blocks(self, draft: EventDraft) -> tuple[str, ...]:
        """The names under which it is found by those it has to be compared with."""
        return blocks(draft)

    def compare(self, new: EventDraft, known: EventDraft, *, same_source: bool) -> Comparison:
        """Whether two are one, with the reasons."""
        return compare(new, known, same_source=same_source)

    def merge(self, said: Sequence[Said]) -> Merged:
        """Several sightings with drafts, the most trusted first, as one."""
        sides = [Side(one.draft, one.id, one.priority) for one in said if one.draft is not None]
        found = merge(sides)
        return Merged(draft=found.draft, owners=found.owners, conflicts=found.conflicts)

    def same_row(self, known: EventDraft, read: EventDraft) -> bool:
        """Whether a row with a known uid still is about the event it was about."""
        return same_row(known, read)
