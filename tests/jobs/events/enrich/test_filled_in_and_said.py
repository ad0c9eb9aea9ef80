"""When sources are merged, or a person speaks, what was filled in gives way, and its origin goes with it."""

from __future__ import annotations

from tadoru.jobs.events.dedupe.merge import Side, merge
from tadoru.store.events.weave import over
from tests.jobs.events.enrich.drafts import draft

GUESSED = draft(category="Music", extra={"category_from": "model 1", "summary": "Short.", "summary_from": "extract", "a": "1"})


def test_what_a_source_says_beats_what_was_filled_in_for_a_more_trusted_one() -> None:
    together = merge([Side(GUESSED, 1, trust=5), Side(draft(category="Culture"), 2)])
    assert together.draft.category == "Culture"
    assert together.owners["category"] == 2
    assert "category_from" not in together.draft.extra


def test_what_was_filled_in_stays_with_its_origin_when_no_source_says_anything() -> None:
    for sides in ([Side(GUESSED, 1), Side(draft(), 2)], [Side(draft(), 1), Side(GUESSED, 2)]):
        together = merge(sides)
        assert together.draft.category == "Music"
        assert together.draft.extra == GUESSED.extra


def test_of_two_guesses_the_first_is_kept_with_its_own_origin() -> None:
    other = draft(category="Sports", extra={"category_from": "llm small"})
    together = merge([Side(other, 1), Side(GUESSED, 2)])
    assert (together.draft.category, together.draft.extra["category_from"]) == ("Sports", "llm small")


def test_a_summary_of_a_source_has_no_origin_of_another() -> None:
    together = merge([Side(draft(extra={"summary": "The source's own."}), 1), Side(GUESSED, 2)])
    assert together.draft.extra["summary"] == "The source's own."
    assert "summary_from" not in together.draft.extra
    assert merge([Side(GUESSED, 1), Side(draft(extra={"summary": "Own."}), 2)]).draft.extra["summary_from"] == "extract"


def test_what_a_person_says_has_no_origin_of_a_model() -> None:
    spoken = over(GUESSED, {"category": "Culture"})
    assert spoken.category == "Culture"
    assert "category_from" not in spoken.extra
    assert spoken.extra["summary_from"] == "extract"
    assert over(GUESSED, {"price": "free"}).extra == GUESSED.extra
