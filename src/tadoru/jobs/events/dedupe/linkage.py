"""A probabilistic record-linkage model: how likely two descriptions from two sources are one event.

After Fellegi and Sunter: each field is observed at one of a few levels ("venue.same", "venue.unknown"), each level has a weight,
and the sum of the weights is the logarithm of the odds. The weights are learned from labelled pairs by logistic regression
(`python -m bench.events_linkage`), so that fields that repeat each other do not count twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from math import exp
from typing import NamedTuple

from tadoru.jobs.events.dedupe.keys import COMMON_BIGRAMS
from tadoru.jobs.events.dedupe.similarity import TextMatch, is_abbreviated, match_text, match_words
from tadoru.jobs.events.dedupe.times import TimeRelation
from tadoru.jobs.events.dedupe.titles import (
    TitleParts,
    TitleSimilarity,
    content_length,
    has_other_script,
    is_within,
)
from tadoru.jobs.events.dedupe.venues import FAR_APART, VenueRelation, bare_city_name, distance_km, latin_likeness, own_venue_name
from tadoru.model.event import EventDraft

WEIGHTS: dict[str, float] = {
    "booking.same": 0.8,
    "booking.weak": 0.62,
    "city.differs": -3.78,
    "city.missing": 0.52,
    "city.same": -0.05,
    "day.instant": 0.03,
    "day.same": -0.75,
    "end.differs": -0.5,
    "end.missing": 0.06,
    "end.same": 0.18,
    "prior": -0.41,
    "time.different": -3.7,
    "time.doors": -2.79,
    "time.none": 1.14,
    "time.one": 0.88,
    "time.same": 1.22,
    "title.added.more": -1.41,
    "title.added.to_0": -1.17,
    "title.added.to_3": -0.44,
    "title.added.to_8": -0.59,
    "title.asides_differ": -0.28,
    "title.asides_missing": 0.22,
    "title.asides_spelling": 0.18,
    "title.dates_differ": 0.06,
    "title.edition_missing": -0.47,
    "title.marks_missing": -0.88,
    "title.numbers_missing": -0.04,
    "title.replaced.kind": -0.23,
    "title.replaced.more": 1.23,
    "title.replaced.to_0": 1.57,
    "title.replaced.to_1": 0.1,
    "title.replaced.to_2": -0.27,
    "title.replaced.to_4": 0.34,
    "title.same": 1.52,
    "title.shared.more": -0.07,
    "title.shared.to_0": -0.23,
    "title.shared.to_2": 0.02,
    "title.shared.to_4": 0.53,
    "title.shared.to_8": 0.42,
    "title.spelling": 2.93,
    "title.substituted": -3.57,
    "title.translated": -1.12,
    "venue.alias": 0.88,
    "venue.different.to_3": -3.98,
    "venue.different.to_6": -0.03,
    "venue.different.to_8": -0.04,
    "venue.room": 0.85,
    "venue.same": 1.03,
    "venue.unknown": 0.79,
    "venue.weak.to_3": 0.1,
    "venue.weak.to_6": 0.19,
    "venue.weak.to_8": 0.79,
}
"""Natural logarithms of odds. Made by `python -m bench.events_linkage --train`."""

MERGE_FROM = 0.5
"""The probability from which two events are merged: on the pairs that were trained on, 99 of 100 such pairs are one event."""
ASK_FROM = 0.2
"""The probability from which a person is asked."""
TRANSLATED = "title.translated"
_FOR_A_PERSON = frozenset(
    {
        TRANSLATED,
        "title.substituted",
        "title.replaced.kind",
        "city.differs",
        "venue.far",
        "venue.different.to_3",
        "venue.different.to_6",
    }
)
_LATIN_COMMON = frozenset(
    (
        "concert konzert concerto concierto workshop atelier taller kurs course cours class lecture talk vortrag conference "
        "event festival fest tour visit visite exhibition ausstellung exposition mostra show open public free annual special "
        "day evening night morning afternoon monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch "
        "donnerstag freitag samstag sonntag lundi mardi mercredi jeudi vendredi samedi dimanche new edition session meeting "
        "series live presents city town "
    ).split()
)
_SURNAME = re.compile(
    "佐藤|鈴木|高橋|田中|伊藤|渡辺|山本|中村|小林|加藤|吉田|山田|佐々木|松本|井上|木村|斎藤|清水|山崎|阿部|池田|橋本|石井|小川|前田|岡田|長谷川|"
    "藤田|後藤|近藤|村上|遠藤|青木|坂本|藤井|西村|太田|三浦|藤原|岡本|松田|中島|原田|小野|田村|竹内|金子|和田|中山|石田|上田|森田|柴田|酒井|工藤|横山|"
    "宮本|内田|高木|安藤|島田|谷口|大野|丸山|今井|河野|藤本|村田|武田|上野|杉山|増田|菅原|小島|平野|大塚|野村|松尾|菊地|菊池|佐野|杉本|新井|古川|"
    "小山|桜井|水野|荒井|大西|川口|西田|松井|黒田|片山|星野|永井|久保|本田|松下|吉川|川崎"
)
_ALIKE = [
    re.compile(words)
    for words in (
        "講座|教室|講習|せみな|わくしよつぷ|体験|勉強|れつすん|すく|研修",
        "こんさと|演奏|音楽|らいぶ|りさいたる",
        "展",
        "まつり|祭|ふえす|ふえあ|まるしえ",
        "講演|とく|しんぽじうむ|ふおらむ",
        "相談|面談",
        "つどい|会",
    )
]
"""Words for one kind of event, folded."""
_TWO_KANJI = re.compile(r"[\u3400-\u9fff]{2}")
_DIGITS = re.compile(r"\d+")
_OF_NAMES = frozenset("上下新旧東西南北中大小男女初")
"""One of these more is another name."""
_ADDITION, _LONG = 4, 6
"""Characters of what is added to a long title, and of such a title."""
_PROSE = 6
_CLAUSE = re.compile("[一-龠](?:に|で|を|が)(?=[一-龠ぁ-ん])")
_FEW, _MANY = 5, 8
"""Characters: a short title within a much longer one (おはなし会) may be that of many events."""


class TitleWords(NamedTuple):
    """What two titles have in common, in characters without common words, names of the place and the date."""

    common: int
    """With common words."""
    shared: int
    rare: int
    """Pairs of characters that both have and few titles have."""
    substituted: tuple[str, str] | None
    """A word that stands in the place of another, between the same neighbours: another subject, sport or person."""
    replaced: int
    """Of the title that adds less: words that it has and the other does not, in other places."""
    added: int
    """Of the title that adds more, beyond that."""
    is_other_kind: bool
    """Both have common words in the same place: a lecture and a concert."""
    is_within: bool = False
    """One may be a part of the programme of the other."""

    @property
    def is_short_part(self) -> bool:
        """Whether a short title is within a much longer one."""
        return self.common <= _FEW and self.added > _MANY


def compare_words(one: TitleParts, other: TitleParts, explained: str, place: str = "") -> TitleWords:
    """Compare the words of two titles in any order; `explained` has names that a title may repeat, `place` those of one place."""
    is_latin = bool(one.words and other.words)
    length = _latin_length if is_latin else content_length
    found = match_words(one.words, other.words) if is_latin else match_text(one.text, other.text)
    shared = sum(length(part, explained) for part in found.common if _is_word(part))
    substituted = _substituted(found, length, shared, place)
    less, more = sorted(sum(length(rest, explained) for rest in rests) for rests in (found.mine, found.theirs))
    kinds = (
        all(length(rest, explained, with_common=True) for rest in both)
        and max(map(length, both)) < _LONG  # more than a word for the kind is an addition
        and not _is_one_kind(*both)
        for *both, _ in found.replaced
    )
    return TitleWords(
        common=sum(map(len, found.common)) // (2 if is_latin else 1),
        shared=shared,
        rare=sum(part[at : at + 2] not in COMMON_BIGRAMS for part in found.common for at in range(len(part) - 1)),
        substituted=substituted,
        replaced=less,
        added=more - less,
        is_other_kind=substituted is None and not less and any(kinds),
        is_within=not less and is_within(one, other),
    )


def _substituted(found: TextMatch, length: Callable[[str], int], shared: int, place: str) -> tuple[str, str] | None:
    """The words that contradict each other most, if any do."""
    if (people := _other_people(found.mine, found.theirs)) is not None:
        return people
    for one, other, is_edge in sorted(found.replaced, key=lambda both: -min(map(len, both[:2]))):
        shorter = min(length(_without_names(rest, place)) for rest in (one, other))
        # At its ends, each of two sources may add something to a long title: a programme here, a headline there.
        is_added = (is_edge and shorter >= _ADDITION and shared >= _LONG) or _is_prose(one, other)
        if shorter and not (is_added or one in other or other in one or is_abbreviated(one, other)):
            return one, other
    # 東高校 is another school than 高校
    return next(((rest, "") for rest in (*found.mine, *found.theirs) if rest in _OF_NAMES), None)


def _latin_length(rest: str, explained: str = "", *, with_common: bool = False) -> int:
    """The same for words in Latin letters: three of them say as much as one Japanese character."""
    words = (word for word in rest.split() if word not in explained and (with_common or word not in _LATIN_COMMON))
    return -(-sum(map(len, words)) // 3)


def _is_one_kind(one: str, other: str) -> bool:
    """Whether two parts of folded titles name the same kind of event: 講座 and 教室."""
    return any(kind.search(one) and kind.search(other) for kind in _ALIKE)


def _other_people(mine: Iterable[str], theirs: Iterable[str]) -> tuple[str, str] | None:
    """Two surnames that are in what only one and only the other of two folded titles has."""
    found = [_SURNAME.findall("\0".join(rests)) for rests in (mine, theirs)]
    return (found[0][-1], found[1][-1]) if all(found) else None


def _is_word(part: str) -> bool:
    """Whether what two titles have in common is more than an ending: two kanji or four other letters."""
    return len(part) >= 4 or _TWO_KANJI.search(part) is not None


def _without_names(rest: str, place: str) -> str:
    """A part of a title without the names of the place where both are."""
    for name in filter(None, place.split("|")):
        rest = rest.replace(name, "")
    return rest


def _is_prose(one: str, other: str) -> bool:
    """Whether one of two parts of titles is a clause of a headline, which stands for no word of the other: 駅前でにぎわう."""
    short, long = sorted((one, other), key=len)
    return len(long) >= max(_PROSE, 2 * len(short)) and _CLAUSE.search(long) is not None


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
    return words.is_within or not _FOR_A_PERSON.isdisjoint(observations)


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
        if words.substituted:
            yield "title.substituted"
        else:
            yield "title.replaced.kind" if words.is_other_kind else f"title.replaced.{_step(words.replaced, (0, 1, 2, 4))}"
        yield f"title.added.{_step(words.added, (0, 3, 8))}"
    yield f"title.shared.{_step(words.shared, (0, 2, 4, 8))}"


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
    if (apart := distance_km(a, b)) is not None and apart >= FAR_APART:
        return "venue.far"
    likeness = venue_likeness(a.venue, b.venue, bare_city_name(a.city or b.city))
    return f"venue.{place.value}.{_step(round(10 * likeness), (3, 6, 8))}"


@lru_cache(maxsize=10_000)
def venue_likeness(one: str, other: str, city: str) -> float:
    """The share that two names of venues have in common, without the city and words that many venues have."""
    if (share := latin_likeness(one, other)) is not None:
        return share
    mine, theirs = own_venue_name(one, city), own_venue_name(other, city)
    if mine.whole == theirs.whole:
        return 1.0
    if min(len(mine.own), len(theirs.own)) < 2:  # 体育館 and 総合体育館 may be two
        return 0.0
    # 南部地域センター and 岩戸地域センター differ in what is their own, 大石公民館 and 大石小学校 in what they are.
    return min(_likeness(mine.own, theirs.own), _likeness(mine.whole, theirs.whole))


def _likeness(one: str, other: str) -> float:
    found = match_text(*sorted((one, other)))
    rests = (found.mine, found.theirs)
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
        rests = match_text(*sorted((a.organizer, b.organizer), key=len)).mine
        yield "organizer.same" if not rests else "organizer.differs"
