"""What holds for any two events."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.events.dedupe import REVIEW, SAME, Verdict, blocks, compare, key
from tadoru.model.event import EventDraft
from tests.jobs.events.dedupe.event_strategies import events


@given(events(), events(), st.booleans())
def test_the_order_of_two_events_does_not_matter_and_the_answer_never_changes(
    a: EventDraft, b: EventDraft, same_source: bool
) -> None:
    forth, back = compare(a, b, same_source=same_source), compare(b, a, same_source=same_source)
    assert (forth.verdict, forth.score) == (back.verdict, back.score)
    assert compare(a, b, same_source=same_source) == forth
    assert 0.0 <= forth.score <= 1.0
    assert forth.verdict == ("same" if forth.score >= SAME else "review" if forth.score >= REVIEW else "different")
    assert forth.why


@given(events(), st.booleans())
def test_an_event_is_itself(event: EventDraft, same_source: bool) -> None:
    assert compare(event, replace(event), same_source=same_source).verdict is Verdict.SAME
    assert key(event) == key(replace(event))


@given(
    events(),
    st.integers(1, 99),
    st.integers(1, 99),
    st.sampled_from(["第{}回{}", "{1} vol.{0}", "{1}#{0}", "{1}その{0}", "{1}({0}歳)", "{1} {0}日目"]),
)
def test_two_numbers_are_two_events(event: EventDraft, one: int, other: int, form: str) -> None:
    first, second = (replace(event, title=form.format(number, "星空観察会")) for number in (one, other))
    for same_source in (True, False):
        verdict = compare(first, second, same_source=same_source).verdict
        assert (verdict is Verdict.SAME) == (one == other)


@given(events(), events(), st.booleans())
def test_what_is_merged_shares_a_block(a: EventDraft, b: EventDraft, same_source: bool) -> None:
    if compare(a, b, same_source=same_source).verdict is Verdict.SAME:
        assert not set(blocks(a)).isdisjoint(blocks(b))


@given(events())
def test_blocks_are_few_and_distinct(event: EventDraft) -> None:
    found = blocks(event)
    assert len(set(found)) == len(found)
    assert 1 <= len(found) <= 40
