"""What holds for any two events."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.events.dedupe import REVIEW_SCORE, SAME_SCORE, MatchVerdict, blocking_keys, compare_events, dedupe_key
from tadoru.model.event import EventDraft
from tests.jobs.events.dedupe.event_strategies import events


@given(events(), events(), st.booleans())
def test_the_order_of_two_events_does_not_matter_and_the_answer_never_changes(
    a: EventDraft, b: EventDraft, same_source: bool
) -> None:
    forth, back = compare_events(a, b, same_source=same_source), compare_events(b, a, same_source=same_source)
    assert (forth.verdict, forth.score) == (back.verdict, back.score)
    assert compare_events(a, b, same_source=same_source) == forth
    assert 0.0 <= forth.score <= 1.0
    assert forth.verdict == ("same" if forth.score >= SAME_SCORE else "review" if forth.score >= REVIEW_SCORE else "different")
    assert forth.why


@given(events(), st.booleans())
def test_an_event_is_itself(event: EventDraft, same_source: bool) -> None:
    assert compare_events(event, replace(event), same_source=same_source).verdict is MatchVerdict.SAME
    assert dedupe_key(event) == dedupe_key(replace(event))


@given(
    events(),
    st.integers(1, 99),
    st.integers(1, 99),
    st.sampled_from(["第{}回{}", "{1} vol.{0}", "{1}#{0}", "{1}その{0}", "{1}({0}歳)", "{1} {0}日目"]),
)
def test_two_numbers_are_two_events(event: EventDraft, one: int, other: int, form: str) -> None:
    first, second = (replace(event, title=form.format(number, "星空観察会")) for number in (one, other))
    for same_source in (True, False):
        verdict = compare_events(first, second, same_source=same_source).verdict
        assert (verdict is MatchVerdict.SAME) == (one == other)


@given(events(), events(), st.booleans())
def test_what_is_merged_shares_a_block(a: EventDraft, b: EventDraft, same_source: bool) -> None:
    if compare_events(a, b, same_source=same_source).verdict is MatchVerdict.SAME:
        assert not set(blocking_keys(a)).isdisjoint(blocking_keys(b))


@given(events())
def test_blocks_are_few_and_distinct(event: EventDraft) -> None:
    found = blocking_keys(event)
    assert len(set(found)) == len(found)
    assert 1 <= len(found) <= 40
