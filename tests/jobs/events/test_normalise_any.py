"""Whatever a reader hands over, the normaliser ends in a draft that keeps its promises or in a reason."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.events.normalise.normaliser import LIMITS, SourceRules, normalise
from tadoru.model.event import EventDraft, Occurrence, QuarantinedEvent, RawEvent
from tadoru.parse.text_cleaning import clean_title, clean_venue
from tests.parse.dates.test_any_text import TEXTS

WORDS = st.one_of(
    st.none(),
    st.text(max_size=30),
    TEXTS,
    st.sampled_from(["<b>", "夏まつり", "東京都杉並区1-2", "500円", "【中止】", "&lt;", "https://a b/"]),
)
MOMENTS = st.datetimes() | st.datetimes(timezones=st.timezones()) | st.datetimes(timezones=st.just(ZoneInfo("Africa/Cairo")))
OCCURRENCES = st.builds(Occurrence, starts_at=MOMENTS, ends_at=st.none() | MOMENTS, has_time=st.booleans())
DATES = st.one_of(WORDS, MOMENTS, st.dates(), st.sampled_from(["2026-08-01", "令和8年8月1日 10時～12時", "8月1日(土)"]))
RAW = st.builds(
    RawEvent,
    position=st.just("row 1"),
    title=st.just("夏まつり") | WORDS,
    description=WORDS,
    start=DATES,
    end=DATES,
    start_time=WORDS,
    end_time=WORDS,
    when_note=WORDS,
    timezone=st.sampled_from([None, "", "Asia/Tokyo", "Africa/Cairo", "nowhere", "\ud800"]),
    occurrences=st.lists(OCCURRENCES, max_size=3).map(tuple),
    recurrence=WORDS,
    venue=WORDS,
    address=WORDS,
    city=WORDS,
    latitude=WORDS | st.floats(),
    longitude=WORDS | st.floats(),
    price=WORDS,
    url=WORDS,
    image=WORDS,
    is_cancelled=st.booleans(),
    extra=st.dictionaries(st.text(max_size=5), st.text(max_size=10), max_size=3),
)
ZONES = ("Asia/Tokyo", "Europe/Berlin", "America/New_York")


@given(RAW, st.sampled_from(ZONES))
def test_normalising_never_fails_and_its_drafts_keep_their_promises(raw: RawEvent, zone: str) -> None:
    found = normalise(raw, SourceRules(zone=zone, now=datetime(2026, 7, 15, tzinfo=UTC)))
    if isinstance(found, QuarantinedEvent):
        assert found.raw is raw
        assert found.why.endswith(".")
        return
    assert found.title
    assert found.title_clean == clean_title(found.title_clean) != ""
    assert found.venue_clean == clean_venue(found.venue_clean)
    assert all(len(getattr(found, name)) <= limit for name, limit in LIMITS.items())
    _check_times(found)


def _check_times(found: EventDraft) -> None:
    local = ZoneInfo(found.timezone)
    assert found.occurrence in (found.occurrences or (found.occurrence,))
    assert len(found.occurrences) != 1
    for item in (found.occurrence, *found.occurrences):
        assert item.starts_at.tzinfo == local
        assert item.has_time or (item.starts_at.hour, item.starts_at.minute) == (0, 0)
        if item.ends_at is not None:
            assert item.ends_at.tzinfo == local
            assert item.ends_at.astimezone(UTC) >= item.starts_at.astimezone(UTC)
    starts = [item.starts_at.astimezone(UTC) for item in found.occurrences]
    assert starts == sorted(starts)


@given(RAW)
def test_a_draft_that_is_normalised_again_is_the_same_to_compare(raw: RawEvent) -> None:
    rules = SourceRules(zone="Asia/Tokyo", now=datetime(2026, 7, 15, tzinfo=UTC))
    first = normalise(raw, rules)
    if isinstance(first, EventDraft):
        again = normalise(
            RawEvent(position="", title=first.title, start=first.local_date, venue=first.venue, city=first.city), rules
        )
        assert isinstance(again, EventDraft)
        assert (again.title_clean, again.venue_clean, again.city) == (first.title_clean, first.venue_clean, first.city)
        assert again.local_date == first.local_date
