"""A probabilistic record-linkage model: how likely two descriptions from two sources are one event.

After Fellegi and Sunter: each field is observed at one of a few levels ("venue.same", "venue.unknown"), each level has a weight,
and the sum of the weights is the logarithm of the odds. The weights are learned from labelled pairs by logistic regression
(`python -m bench.events_linkage`), so that fields that repeat each other do not count twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from math import exp
from typing import NamedTuple

from tadoru.jobs.events.dedupe.similarity import is_typo, unmatched_text
from tadoru.jobs.events.dedupe.times import TimeRelation
from tadoru.jobs.events.dedupe.titles import TitleParts, TitleSimilarity, content_length, has_other_script, is_within
from tadoru.jobs.events.dedupe.venues import FAR_APART, VenueRelation, bare_city_name, distance_km, own_venue_name
from tadoru.model.event import EventDraft

WEIGHTS: dict[str, float] = {
    "city.differs": -3.51,
    "city.missing": -0.04,
    "city.same": -0.1,
    "day.instant": -0.01,
    "day.same": -0.09,
    "end.differs": -0.81,
    "end.missing": -0.01,
    "end.same": 0.13,
    "prior": -0.58,
    "time.different": -4.37,
    "time.none": 0.28,
    "time.one": 0.21,
    "time.same": 0.95,
    "title.added.more": -2.09,
    "title.added.to_0": -1.84,
    "title.added.to_3": -1.9,
    "title.added.to_8": -0.24,
    "title.asides_missing": -0.68,
    "title.asides_spelling": -0.23,
    "title.common.more": -0.03,
    "title.common.to_13": 0.22,
    "title.common.to_3": -0.46,
    "title.common.to_5": -0.38,
    "title.common.to_8": 0.26,
    "title.edition_missing": -0.42,
    "title.marks_missing": -0.11,
    "title.numbers_missing": 0.27,
    "title.replaced.kind": 0.33,
    "title.replaced.more": -1.66,
    "title.replaced.to_0": 2.73,
    "title.replaced.to_1": -1.44,
    "title.replaced.to_2": -3.56,
    "title.replaced.to_4": -1.82,
    "title.same": 1.94,
    "title.spelling": 2.72,
    "title.translated": -0.97,
    "venue.alias": 1.33,
    "venue.different.to_3": -4.41,
    "venue.different.to_6": -0.36,
    "venue.different.to_8": -0.07,
    "venue.room": 0.03,
    "venue.same": 1.08,
    "venue.unknown": 0.13,
    "venue.weak.to_3": 0.15,
    "venue.weak.to_6": 0.67,
    "venue.weak.to_8": 0.96,
}
"""Natural logarithms of odds. Made by `python -m bench.events_linkage --train`."""

MERGE_FROM = 0.6
"""The probability from which two events are merged: on the pairs that were trained on, 99 of 100 such pairs are one event."""
ASK_FROM = 0.15
"""The probability from which a person is asked."""
CERTAINLY_TWO = 0.015
"""Below this probability, nobody is asked."""
TRANSLATED = "title.translated"
_FOR_A_PERSON = frozenset(
    {TRANSLATED, "title.replaced.kind", "city.differs", "venue.different.to_3", "venue.different.to_6", "venue.weak.to_3"}
    | {f"title.replaced.{step}" for step in ("to_1", "to_2", "to_4", "more")}
)
_DIGITS = re.compile(r"\d+")
_OF_NAMES = frozenset("上下新旧東西南北中大小男女初")
"""One of these more is another name."""
_LETTERS = 3
"""Letters that say as much as one Japanese character."""
_FEW, _MANY = 5, 8
"""Characters: a short title within a much longer one (おはなし会) may be that of many events."""


class TitleWords(NamedTuple):
    """What two titles have in common, in characters without common words, names of the place and the date."""

    common: int
    replaced: int
    """Of the title that adds less: words that it has instead of words of the other."""
    added: int
    """Of the title that adds more, beyond that."""
    is_other_kind: bool
    """Both have common words that the other does not have: a lecture and a concert."""
    is_within: bool = False
    """One may be a part of the programme of the other."""
    is_mostly_common: bool = False
    """Both are words with spaces between, and share more of them than not."""


def compare_words(one: TitleParts, other: TitleParts, explained: str) -> TitleWords:
    """Compare the words of two titles in any order; `explained` has names that a title may repeat."""
    if one.words and other.words:
        return _compare_latin(one, other, explained)
    mine, theirs = unmatched_text(one.text, other.text)
    common = len(one.text) - sum(map(len, mine))
    less, more = sorted(sum(map(content_length, rests)) for rests in (mine, theirs))
    if not less and any(rest in _OF_NAMES for rest in (*mine, *theirs)):
        less = 1  # 東高校 is another school than 高校
    if less:
        return TitleWords(common, less, more - less, is_other_kind=False)
    # The name of the place adds nothing; but it is another word if the other title has a word instead.
    added = max(sum(content_length(rest, explained) for rest in rests) for rests in (mine, theirs))
    kinds = [any(content_length(rest, explained, with_common=True) for rest in rests) for rests in (mine, theirs)]
    return TitleWords(common, 0, added, is_other_kind=all(kinds), is_within=is_within(one, other))


def _compare_latin(one: TitleParts, other: TitleParts, explained: str) -> TitleWords:
    """The same for titles with spaces between words: another word is another word, however many letters both share."""
    mine, theirs = (sorted(words) for words in (one.words - other.words, other.words - one.words))
    for word in mine[:]:
        if spelling := next((each for each in theirs if is_typo(word, each) or f"{word}s" == each or word == f"{each}s"), None):
            mine.remove(word)
            theirs.remove(spelling)
    common = sum(map(len, one.words & other.words)) // 2
    less, more = sorted(-(-sum(map(len, words)) // _LETTERS) for words in (mine, theirs))
    if not less:
        more = -(-sum(len(word) for word in (*mine, *theirs) if word not in explained) // _LETTERS)
    return TitleWords(common, less, more - less, is_other_kind=False, is_mostly_common=common > less + more)


def observe(
    a: EventDraft, b: EventDraft, words: TitleWords, level: TitleSimilarity, times: TimeRelation, place: VenueRelation, page: bool
) -> tuple[str, ...]:
    """The observations of two events on one day."""
    return (
        *_title(a, b, words, level),
        f"time.{times.value}",
        _ends(a, b),
        _venue(a, b, place),
        _city(a, b),
        *_others(a, b, page),
    )


def is_for_a_person(words: TitleWords, observations: Iterable[str]) -> bool:
    """Whether two events with these observations are never merged without a person: another word may be another event."""
    is_short_part = words.common <= _FEW and words.added > _MANY
    return is_short_part or words.is_within or not _FOR_A_PERSON.isdisjoint(observations)


def probability(observations: Iterable[str]) -> float:
    """The probability that both are one event, with these observations."""
    odds = WEIGHTS["prior"] + sum(WEIGHTS.get(observation, 0.0) for observation in observations)
    return 1 / (1 + exp(-max(-30.0, min(30.0, odds))))


def scale(likely: float) -> float:
    """A probability on the scale of scores, where events are asked about from 0.6 and merged from 0.85."""
    for low, high, start, end in ((0.0, ASK_FROM, 0.0, 0.6), (ASK_FROM, MERGE_FROM, 0.6, 0.85), (MERGE_FROM, 1.0, 0.85, 1.0)):
        if likely < high or high == 1.0:
            return start + (end - start) * (likely - low) / (high - low)
    return 1.0


def _title(a: EventDraft, b: EventDraft, words: TitleWords, level: TitleSimilarity) -> Iterable[str]:
    if has_other_script(a.title, b.title) and level is not TitleSimilarity.SPELLING:
        yield TRANSLATED
        return
    if level is TitleSimilarity.SAME:
        yield "title.same"
    elif level is TitleSimilarity.SPELLING:
        yield "title.spelling"
    else:
        yield "title.replaced.kind" if words.is_other_kind else f"title.replaced.{_step(words.replaced, (0, 1, 2, 4))}"
        yield f"title.added.{_step(words.added, (0, 3, 8))}"
    yield f"title.common.{_step(words.common, (3, 5, 8, 13))}"


def _step(value: int, steps: tuple[int, ...]) -> str:
    """The first step that is not exceeded."""
    return next((f"to_{step}" for step in steps if value <= step), "more")


def _ends(a: EventDraft, b: EventDraft) -> str:
    ends = a.occurrence.ends_at, b.occurrence.ends_at
    if None in ends or not (a.occurrence.has_time and b.occurrence.has_time):
        return "end.missing"
    return "end.same" if ends[0] == ends[1] else "end.differs"


def _venue(a: EventDraft, b: EventDraft, place: VenueRelation) -> str:
    if place not in {VenueRelation.WEAK, VenueRelation.DIFFERENT}:
        return f"venue.{place.value}"
    likeness = venue_likeness(a.venue, b.venue, bare_city_name(a.city or b.city))
    if (apart := distance_km(a, b)) is not None and apart >= FAR_APART:
        likeness = 0.0
    return f"venue.{place.value}.{_step(round(10 * likeness), (3, 6, 8))}"


@lru_cache(maxsize=10_000)
def venue_likeness(one: str, other: str, city: str) -> float:
    """The share that two names of venues have in common, without the city and words that many venues have."""
    mine, theirs = own_venue_name(one, city), own_venue_name(other, city)
    if mine.whole == theirs.whole:
        return 1.0
    if min(len(mine.own), len(theirs.own)) < 2:  # 体育館 and 総合体育館 may be two
        return 0.0
    # 南部地域センター and 岩戸地域センター differ in what is their own, 大石公民館 and 大石小学校 in what they are.
    return min(_likeness(mine.own, theirs.own), _likeness(mine.whole, theirs.whole))


def _likeness(one: str, other: str) -> float:
    rests = unmatched_text(*sorted((one, other)))
    if all(rests) and any(rest in _OF_NAMES for name in rests for rest in name):
        return 0.0  # 北図書館 and 南図書館
    numbers = [set(_DIGITS.findall(name)) for name in (one, other)]
    if not (numbers[0] <= numbers[1] or numbers[1] <= numbers[0]):
        return 0.0
    return 1 - sum(len(rest) for name in rests for rest in name) / len(one + other)


def _city(a: EventDraft, b: EventDraft) -> str:
    if not a.city or not b.city:
        return "city.missing"
    return "city.same" if bare_city_name(a.city) == bare_city_name(b.city) else "city.differs"


def _others(a: EventDraft, b: EventDraft, page: bool) -> Iterable[str]:
    if page:
        yield "page.same"
    if a.organizer and b.organizer:
        rests, _ = unmatched_text(*sorted((a.organizer, b.organizer), key=len))
        yield "organizer.same" if not rests else "organizer.differs"
