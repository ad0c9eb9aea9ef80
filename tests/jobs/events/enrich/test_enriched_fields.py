"""When sources are merged, or a person speaks, what was filled in gives way, and its origin goes with it."""

from __future__ import annotations

from tadoru.jobs.events.dedupe.field_merge import MergeInput, merge_fields
from tadoru.store.calendar.merging import with_manual_values
from tests.jobs.events.enrich.drafts import draft

GUESSED = draft(category="Music", extra={"category_from": "model 1", "summary": "Short.", "summary_from": "extract", "a": "1"})


def test_what_a_source_says_beats_what_was_filled_in_for_a_more_trusted_one() -> None:
    together = merge_fields([MergeInput(GUESSED, 1, trust=5), MergeInput(draft(category="Culture"), 2)])
    assert together.draft.category == "Culture"
    assert together.owners["category"] == 2
    assert "category_from" not in together.draft.extra


def test_what_was_filled_in_stays_with_its_origin_when_no_source_says_anything() -> None:
    for sides in ([MergeInput(GUESSED, 1), MergeInput(draft(), 2)], [MergeInput(draft(), 1), MergeInput(GUESSED, 2)]):
        together = merge_fields(sides)
        assert together.draft.category == "Music"
        assert together.draft.extra == GUESSED.extra


def test_of_two_guesses_the_first_is_kept_with_its_own_origin() -> None:
    other = draft(category="Sports", extra={"category_from": "llm small"})
    together = merge_fields([MergeInput(other, 1), MergeInput(GUESSED, 2)])
    assert (together.draft.category, together.draft.extra["category_from"]) == ("Sports", "llm small")


def test_a_summary_of_a_source_has_no_origin_of_another() -> None:
    together = merge_fields([MergeInput(draft(extra={"summary": "The source's own."}), 1), MergeInput(GUESSED, 2)])
    assert together.draft.extra["summary"] == "The source's own."
    assert "summary_from" not in together.draft.extra
    assert (
        merge_fields([MergeInput(GUESSED, 1), MergeInput(draft(extra={"summary": "Own."}), 2)]).draft.extra["summary_from"]
        == "extract"
    )


def test_what_a_person_says_has_no_origin_of_a_model() -> None:
    spoken = with_manual_values(GUESSED, {"category": "Culture"})
    assert spoken.category == "Culture"
    assert "category_from" not in spoken.extra
    assert spoken.extra["summary_from"] == "extract"
    assert with_manual_values(GUESSED, {"price": "free"}).extra == GUESSED.extra
