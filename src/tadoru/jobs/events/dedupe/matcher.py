"""Decides whether two events are one. This is the only place where that is decided.

Early exits come first, then evidence from title, time, venue and page. The score is the weighted mean of the evidence, limited by
the lowest limit of any reason. So a single contradiction in what identifies an event decides, however similar the rest is; and an
uncertain case goes to review, never to a merge. Every rule that can prevent a merge is a reason in the result.

Two rows of one source are two events unless they say the same: a source seldom lists an event twice, and never under two names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from tadoru.jobs.events.dedupe.field_merge import MergeInput, merge_fields
from tadoru.jobs.events.dedupe.keys import BLOCK_FORMAT, blocking_keys, dedupe_key, is_same_row, is_unique_uid
from tadoru.jobs.events.dedupe.linkage import (
    TRANSLATED,
    TitleWords,
    compare_words,
    is_for_a_person,
    observe,
    probability,
    scale,
    venue_likeness,
)
from tadoru.jobs.events.dedupe.reasons import EventComparison, MatchReason, MatchVerdict, ReasonCode
from tadoru.jobs.events.dedupe.similarity import event_page_key, fold_spelling, is_same_page, normalise_text
from tadoru.jobs.events.dedupe.times import (
    DOORS,
    DayComparison,
    DayRelation,
    TimeRelation,
    compare_days,
    compare_times,
    end_days_differ,
    have_same_span,
    last_day,
    tells_doors,
)
from tadoru.jobs.events.dedupe.titles import (
    TitleAgreement,
    TitleSimilarity,
    compare_identity,
    differing_number,
    dissimilarity,
    format_own_day,
    has_other_script,
    have_one_frame,
    have_other_quotes,
    have_same_edition,
    have_same_quote,
    is_transliterated,
    share_content,
    split_title,
    title_similarity,
)
from tadoru.jobs.events.dedupe.venues import (
    FAR_APART,
    ONLINE,
    VenueRelation,
    bare_city_name,
    compare_venues,
    distance_km,
    may_be_renamed,
    split_venue,
    venue_names,
)
from tadoru.model.event import EventDraft
from tadoru.parse.sources.cancellation import NoticeKind
from tadoru.store.calendar.records import MergedDraft, Sighting

SAME_SCORE = 0.85
"""From this score on, two events are merged."""
REVIEW_SCORE = 0.6
"""From this score on, a review is opened."""
REVIEW_LIMIT = 0.8
DIFFERENT_LIMIT = 0.3
_NEAR = 0.3
"""Kilometres."""
_TITLE, _TIME, _PLACE, _PAGE = 0.5, 0.2, 0.2, 0.1
_MODELLED = frozenset(
    {
        ReasonCode.TITLE_SAME,
        ReasonCode.TITLE_SPELLING,
        ReasonCode.TITLE_PART,
        ReasonCode.TITLE_CLOSE,
        ReasonCode.TITLE_FAR,
        ReasonCode.ASIDES_MISSING,
        ReasonCode.EDITION_MISSING,
        ReasonCode.VENUE_WEAK,
        ReasonCode.VENUE_DIFFERS,
    }
)
"""Reasons whose meaning the model knows better than a limit."""
_CONTRADICTIONS = frozenset({ReasonCode.NUMBERS_DIFFER, ReasonCode.MARKS_DIFFER, ReasonCode.ASIDES_DIFFER})
_OF_NUMBERS = frozenset({ReasonCode.NUMBERS_DIFFER, ReasonCode.NUMBERS_MISSING, ReasonCode.EDITION_MISSING})
_SAME_DAYS = frozenset({DayRelation.SAME, DayRelation.INSTANT, DayRelation.SHARED})
_ONE_TIME = (TimeRelation.SAME, TimeRelation.DOORS)
_IDENTICAL = EventComparison(MatchVerdict.SAME, 1.0, (MatchReason("event", 1.0, 1.0, ReasonCode.IDENTICAL),))
_COMMON_TITLE = 8
"""Characters: titles up to this length are common to many events."""
_RARE = 4
"""Pairs of characters that few titles have: with fewer, a title (おはなし会) is common to many events."""
_OWN_VENUE = 4
"""Characters of a venue that a title may name."""
_WORD = 2
"""Characters that say which event it is, without common words."""
_LONG_WORD = 4
_OWN_TITLE = 7
"""Of a title that hardly belongs to two events."""
_SIMILAR_VENUES = 0.6


@dataclass(frozen=True, slots=True)
class _Evidence:
    """The results of comparing single fields."""

    a: EventDraft
    b: EventDraft
    same_source: bool
    meeting: DayComparison
    known: TitleAgreement
    level: TitleSimilarity
    alike: float
    beyond: str
    place: VenueRelation
    times: TimeRelation
    page: bool

    @property
    def is_same_place(self) -> bool:
        """Whether there is evidence that both are in one place."""
        return self.page or self.place in {VenueRelation.SAME, VenueRelation.ALIAS}

    @property
    def is_near_place(self) -> bool:
        """Whether the names of the venues are two of one place, or similar."""
        city = bare_city_name(self.a.city or self.b.city)
        is_weak = self.place is VenueRelation.WEAK
        return self.is_same_place or (is_weak and venue_likeness(self.a.venue, self.b.venue, city) > _SIMILAR_VENUES)

    @property
    def is_one_booking(self) -> bool:
        """Whether both begin at the same minute, or are over the same days, in what may be one place: there is hardly ever
        another event."""
        is_timely = self.times in _ONE_TIME or (self.times is not TimeRelation.DIFFERENT and self.has_same_span)
        return is_timely and (self.is_same_place or self.place is VenueRelation.WEAK)

    @property
    def is_one_city(self) -> bool:
        """Whether the cities do not differ."""
        return not (self.a.city and self.b.city) or bare_city_name(self.a.city) == bare_city_name(self.b.city)

    @property
    def is_exact_booking(self) -> bool:
        """Whether both take the same venue at the same time and nothing about time and place differs: other words for one event,
        unless there are several rooms."""
        ends = self.a.occurrence.ends_at, self.b.occurrence.ends_at
        has_same_end = ends[0] == ends[1] is not None
        is_taken = self.is_same_place and self.times in _ONE_TIME and (None in ends or has_same_end)
        is_taken = is_taken or (self.place is VenueRelation.WEAK and self.times is TimeRelation.SAME and has_same_end)
        return is_taken and self.is_one_city and not ONLINE.search(self.a.venue + self.b.venue)

    def is_plausible(self, words: TitleWords) -> bool:
        """Whether a person should see them: a word in common, and time or place, and nothing that excludes it."""
        has_word = self.has_word(words)
        is_contradicted = have_other_quotes(self.a.title, self.b.title) or (
            words.substituted is not None
            and words.common > 0
            and not has_word
            and have_one_frame(*map(split_title, (self.a.title, self.b.title)))
        )
        if is_contradicted:
            return False
        if self.is_exact_booking or (self.is_one_booking and has_word):
            return True
        is_same_title = self.level >= TitleSimilarity.SPELLING
        if self.times is TimeRelation.DIFFERENT:  # One of them may be wrong, or have another time of a longer event.
            is_soon = (
                abs(self.meeting.one.starts_at - self.meeting.other.starts_at) <= DOORS and min(words.shared, words.rare) >= _RARE
            )
            is_open = (is_same_title and (self.is_near_place or self.has_same_edition)) or (is_soon and self.is_same_place)
        elif self.times is TimeRelation.SAME:  # Two halls may have the same programme; a short title is no evidence then.
            city = bare_city_name(self.a.city) if self.a.city and self.b.city else ""
            is_other_hall = is_same_title and self.place is VenueRelation.DIFFERENT
            is_rare = words.rare >= _RARE and words.shared >= (_OWN_TITLE if is_other_hall else _LONG_WORD)
            is_open = (
                self.page or (bool(city) and is_rare) or may_be_renamed(self.a.venue, self.b.venue, city) or self.is_same_issue
            )
        else:
            is_open = self.is_same_place or self.is_same_issue
        return is_open and self.is_one_city and (self.page or has_word or is_same_title)

    def has_word(self, words: TitleWords) -> bool:
        """Whether the titles have something in common that tells which event it is."""
        return words.shared >= _WORD or self.has_same_edition

    @property
    def has_same_edition(self) -> bool:
        """Whether the titles have the same edition."""
        return have_same_edition(split_title(self.a.title), split_title(self.b.title))

    @property
    def is_same_issue(self) -> bool:
        """Whether similar titles have the same edition, wherever they take place."""
        return self.level >= TitleSimilarity.CLOSE and self.has_same_edition

    @property
    def has_same_span(self) -> bool:
        """Both are over the same days."""
        return have_same_span(self.a, self.b)


def compare_events(a: EventDraft, b: EventDraft, *, same_source: bool) -> EventComparison:
    """Whether two events are one, with the reasons. The order of the two does not matter."""
    result = _compare(a, b, same_source)
    if not same_source and a.uid and a.uid == b.uid and is_unique_uid(a.uid):
        return _with_same_uid(a, b, result)
    return result


def _with_same_uid(a: EventDraft, b: EventDraft, result: EventComparison) -> EventComparison:
    """The result for two sources that pass on one entry of a calendar: the same uid stands for the title and the place, not for
    another time, which one of them may have missed."""
    meeting = compare_days(a, b)
    is_same_time = meeting.days in _SAME_DAYS and compare_times(meeting.one, meeting.other) is not TimeRelation.DIFFERENT
    reasons = (*result.reasons, MatchReason("uid", 1.0, 0.0, ReasonCode.UID_SAME))
    is_similar = dissimilarity(split_title(a.title), split_title(b.title)) is None
    if is_same_time and is_similar and not any(reason.code in _CONTRADICTIONS for reason in result.reasons):
        return _decided(reasons, max(result.score, SAME_SCORE))
    if is_same_time or is_similar:
        return _decided(reasons, max(result.score, REVIEW_LIMIT))
    return result


def _compare(a: EventDraft, b: EventDraft, same_source: bool) -> EventComparison:
    found = _gather(a, b, same_source)
    if isinstance(found, EventComparison):
        return found
    reasons = [_day(found), _title(found), _time(found), _venue(found)]
    reasons += filter(None, (_identity(found, found.known), _city(found), _url(found), _ends(found)))
    return _result(reasons) if same_source else _linked(found, reasons)


def _linked(found: _Evidence, reasons: list[MatchReason]) -> EventComparison:
    """The result for two sources: the probability of the model, within the limits of the reasons.

    The model decides what titles and venues that are only similar mean. It never merges across a contradiction, and what is
    plausible is asked about even if the model doubts it.
    """
    words, seen = _observe(found)
    likely = probability(seen)
    reasons = [*reasons, MatchReason("event", likely, 0.0, ReasonCode.PROBABILITY, (_percent(likely),))]
    is_reworded = found.level < TitleSimilarity.SPELLING
    if words.substituted and is_reworded:
        reasons.append(MatchReason("title", 0.0, 0.0, ReasonCode.WORD_SUBSTITUTED, words.substituted, REVIEW_LIMIT))
    score = max(scale(likely), REVIEW_SCORE) if found.is_plausible(words) else scale(likely)
    modelled = _MODELLED
    if found.times is not TimeRelation.SAME and words.rare < _RARE and not (found.is_near_place or found.is_one_booking):
        reasons.append(MatchReason("event", 0.5, 0.0, ReasonCode.THIN, (), REVIEW_LIMIT))
    if found.times is TimeRelation.SAME and words.rare >= 2 * _RARE and not is_reworded:
        modelled |= {ReasonCode.PLACE_UNKNOWN}
    is_known = found.is_one_booking and found.has_word(words) and not words.substituted
    if is_known and words.common >= _COMMON_TITLE:  # whom it is for, and which number it has, of an event that is surely the same
        is_told = not words.replaced or have_same_quote(found.a.title, found.b.title)
        modelled |= {ReasonCode.NUMBERS_MISSING} | ({ReasonCode.MARKS_MISSING} if is_told else set())
    limit = min((reason.limit for reason in reasons if reason.limit < 1 and reason.code not in modelled), default=1.0)
    is_open = found.times is TimeRelation.SAME or (found.times is TimeRelation.ONE and found.is_same_place)
    is_long = is_open and found.place is not VenueRelation.DIFFERENT and min(words.rare, words.shared) >= 2 * _RARE
    is_certain = (is_known or is_long) and "end.differs" not in seen and not have_other_quotes(found.a.title, found.b.title)
    is_unsure = (words.replaced and not is_certain) or (words.is_short_part and not (is_certain and words.rare >= _RARE))
    if is_for_a_person(words, seen) or (is_reworded and is_unsure):
        limit = min(limit, REVIEW_LIMIT)
    is_taken = found.times is TimeRelation.SAME and found.place is not VenueRelation.UNKNOWN
    if TRANSLATED in seen and not found.page and not is_taken:
        limit = DIFFERENT_LIMIT  # Any two titles of a day in two languages could be one.
    return _decided(tuple(reasons), min(score, limit))


def observations(a: EventDraft, b: EventDraft) -> tuple[str, ...] | None:
    """What the linkage model sees of two events of two sources; None if one contradiction decides."""
    found = _gather(a, b, same_source=False)
    return None if isinstance(found, EventComparison) else _observe(found)[1]


def _observe(found: _Evidence) -> tuple[TitleWords, tuple[str, ...]]:
    one, other = split_title(found.a.title), split_title(found.b.title)
    explained = _explained(found.a, found.b)
    words = compare_words(one, other, explained, explained if found.is_same_place else "")
    if is_transliterated(found.a.title, found.b.title):
        length = min(len(one.text), len(other.text))
        words = TitleWords(length, length, length, None, 0, 0, is_other_kind=False)
    seen = observe(found.a, found.b, words, found.level, found.times, found.place, found.page)
    if found.is_one_booking:
        seen = (*seen, "booking.same" if found.is_same_place else "booking.weak")
    return words, (*seen, f"day.{found.meeting.days.value}", *((str(found.known.code),) if found.known.code else ()))


def _explained(a: EventDraft, b: EventDraft) -> str:
    """What the titles may repeat without saying more."""
    first = b if b.occurrence.starts_at < a.occurrence.starts_at else a
    return "|".join((*_names(a), *_names(b), format_own_day(first.local_date)))


def _gather(a: EventDraft, b: EventDraft, same_source: bool) -> _Evidence | EventComparison:
    """Compare all fields, or return the result if one contradiction decides."""
    if a.title == b.title and a == b:
        return _IDENTICAL
    one, other = split_title(a.title), split_title(b.title)
    if same_source and (numbers := differing_number(one, other)):  # Most pairs of a source with a numbered list end here.
        return _different(MatchReason("title", 0.0, _TITLE, ReasonCode.NUMBERS_DIFFER, numbers, DIFFERENT_LIMIT))
    meeting = compare_days(a, b)
    if meeting.days is DayRelation.APART or (same_source and meeting.days in (DayRelation.PART, DayRelation.SLIP)):
        days = (str(a.local_date), str(b.local_date))
        return _different(MatchReason("day", 0.0, _TIME, ReasonCode.DAY_APART, days, DIFFERENT_LIMIT))
    page = is_same_page(a.url, b.url)
    times = compare_times(meeting.one, meeting.other, lambda: tells_doors(a.title) or tells_doors(b.title))
    share = dissimilarity(one, other)
    if (
        not page
        and share is not None
        and not (has_other_script(a.title, b.title) or (not same_source and _may_be_reworded(a, b, times)))
    ):
        return _different(MatchReason("title", share, _TITLE, ReasonCode.TITLE_FAR, (_percent(share),), DIFFERENT_LIMIT))

    def explained() -> str:
        return _explained(a, b)

    first = b if b.occurrence.starts_at < a.occurrence.starts_at else a
    hour = first.occurrence.starts_at.hour if first.occurrence.has_time else None
    ends = map(last_day, (a.occurrence, b.occurrence)) if one.numbers != other.numbers else ()
    last = max(filter(None, ends), default=None)
    known = compare_identity(one, other, (first.local_date, hour), explained, last)
    # In other words or letters, whom it is for may be told in another way.
    is_exact = known.code in _OF_NUMBERS or (share is None and not is_transliterated(a.title, b.title))
    if known.code in _CONTRADICTIONS and is_exact:
        return _different(MatchReason("title", 0.0, _TITLE, known.code, known.values, DIFFERENT_LIMIT))
    level, alike, beyond = title_similarity(one, other, explained)
    if is_transliterated(a.title, b.title):
        level, alike, known = TitleSimilarity.SPELLING, 0.97, known if known.code in _OF_NUMBERS else TitleAgreement()
    return _Evidence(a, b, same_source, meeting, known, level, alike, beyond, _place(a, b), times, page)


def _may_be_reworded(a: EventDraft, b: EventDraft, times: TimeRelation) -> bool:
    """Whether two events with other titles may be one: at one time in one venue, or with a word in common."""
    if times is TimeRelation.DIFFERENT:
        return False
    is_one_time = times in _ONE_TIME or have_same_span(a, b)
    if not (is_one_time or times is TimeRelation.ONE) or have_other_quotes(a.title, b.title):
        return False
    place = _place(a, b)
    is_same_place = place in {VenueRelation.SAME, VenueRelation.ALIAS}
    if is_one_time and (is_same_place or (place is VenueRelation.WEAK and a.occurrence.ends_at == b.occurrence.ends_at)):
        return True
    is_open = is_one_time or (is_same_place and times is TimeRelation.ONE)
    return is_open and share_content(split_title(a.title), split_title(b.title), _explained(a, b))


def _different(reason: MatchReason) -> EventComparison:
    """The result for one reason that decides alone: most comparisons of a large source end here."""
    return EventComparison(MatchVerdict.DIFFERENT, round(min(reason.score, reason.limit), 4), (reason,))


def _result(reasons: list[MatchReason]) -> EventComparison:
    weight = sum(reason.weight for reason in reasons)
    mean = sum(reason.score * reason.weight for reason in reasons) / weight
    return _decided(tuple(reasons), min(mean, *(reason.limit for reason in reasons)))


def _decided(reasons: tuple[MatchReason, ...], score: float) -> EventComparison:
    score = round(score, 4)
    verdict = (
        MatchVerdict.SAME if score >= SAME_SCORE else MatchVerdict.REVIEW if score >= REVIEW_SCORE else MatchVerdict.DIFFERENT
    )
    return EventComparison(verdict, score, reasons)


def _percent(share: float) -> str:
    return str(int(share * 100))


@lru_cache(maxsize=10_000)
def _folded(text: str) -> str:
    return fold_spelling(normalise_text(text))


def _names(draft: EventDraft) -> tuple[str, ...]:
    return (split_venue(draft.venue).text if draft.venue else "", _folded(draft.city), _folded(draft.organizer))


def _place(a: EventDraft, b: EventDraft) -> VenueRelation:
    """Compare venues, corrected by coordinates: nearby ones with other names may be one place, distant ones with similar names
    may not."""
    place = compare_venues(a.venue, b.venue, bare_city_name(a.city or b.city))
    if place is VenueRelation.UNKNOWN and (a.venue or b.venue):
        title = split_title(b.title if a.venue else a.title).text
        is_named = any(len(name) >= _OWN_VENUE and name in title for name in venue_names(a.venue or b.venue, a.city or b.city))
        return VenueRelation.ALIAS if is_named else place
    if place in {VenueRelation.DIFFERENT, VenueRelation.ALIAS} and (apart := distance_km(a, b)) is not None:
        if place is VenueRelation.DIFFERENT and apart <= _NEAR:
            return VenueRelation.WEAK
        if place is VenueRelation.ALIAS and apart >= FAR_APART:
            return VenueRelation.WEAK
    return place


def _day(found: _Evidence) -> MatchReason:
    match found.meeting.days:
        case DayRelation.SAME:
            return MatchReason("day", 1.0, 0.0, ReasonCode.DAY_SAME, (str(found.a.local_date),))
        case DayRelation.INSTANT:
            return MatchReason("day", 1.0, 0.0, ReasonCode.DAY_INSTANT)
        case DayRelation.SHARED:
            shared = found.meeting.shared
            most = 2 * shared >= min(len(found.a.occurrences), len(found.b.occurrences))
            return MatchReason("day", 1.0, 0.0, ReasonCode.DAY_SHARED, (str(shared),), 1.0 if most else REVIEW_LIMIT)
        case days:
            code = ReasonCode.DAY_SLIP if days is DayRelation.SLIP else ReasonCode.DAY_PART
            return MatchReason(
                "day",
                0.5,
                0.0,
                code,
                (),
                REVIEW_LIMIT if found.level >= TitleSimilarity.SPELLING and found.is_same_place else DIFFERENT_LIMIT,
            )


def _title(found: _Evidence) -> MatchReason:
    """The limits are those within one source; across sources, the model decides."""
    limit = REVIEW_LIMIT if found.level >= TitleSimilarity.PART else DIFFERENT_LIMIT
    if found.level is TitleSimilarity.SAME:
        limit = 1.0
    values = (found.beyond,) if found.level is TitleSimilarity.PART else (_percent(found.alike),)
    return MatchReason("title", found.alike, _TITLE, ReasonCode(f"title.{found.level.name.lower()}"), values, limit)


def _time(found: _Evidence) -> MatchReason:
    if found.meeting.days in {DayRelation.PART, DayRelation.SLIP}:  # goes to review in any case
        return MatchReason("time", 0.5, 0.0, ReasonCode.TIME_IGNORED)
    known = [f"{each.starts_at:%H:%M}" for each in (found.meeting.one, found.meeting.other) if each.has_time]
    match found.times:
        case TimeRelation.SAME:
            return MatchReason("time", 1.0, _TIME, ReasonCode.TIME_SAME, (known[0],))
        case TimeRelation.ONE:
            return MatchReason(
                "time", 0.8, _TIME / 2, ReasonCode.TIME_MISSING, (known[0],), REVIEW_LIMIT if found.same_source else 1.0
            )
        case TimeRelation.DOORS:
            # Sessions of one programme may have its end, too.
            limit = DIFFERENT_LIMIT if found.same_source else REVIEW_LIMIT
            return MatchReason("time", 0.8, _TIME, ReasonCode.TIME_DOORS, tuple(known), limit)
        case TimeRelation.NONE:
            return MatchReason("time", 0.5, 0.0, ReasonCode.TIME_UNKNOWN)
        case TimeRelation.DIFFERENT:
            limit = DIFFERENT_LIMIT if found.same_source else REVIEW_LIMIT
            return MatchReason("time", 0.0, _TIME, ReasonCode.TIME_DIFFERS, tuple(known), limit)


def _venue(found: _Evidence) -> MatchReason:
    values = (found.a.venue, found.b.venue)
    strict = found.same_source
    match found.place:
        case VenueRelation.SAME:
            return MatchReason("venue", 1.0, _PLACE, ReasonCode.VENUE_SAME)
        case VenueRelation.ALIAS:
            code = ReasonCode.VENUE_ALIAS if all(values) else ReasonCode.VENUE_IN_TITLE
            return MatchReason("venue", 0.95, _PLACE, code, tuple(filter(None, values)), REVIEW_LIMIT if strict else 1.0)
        case VenueRelation.ROOM:
            return MatchReason("venue", 0.5, _PLACE, ReasonCode.VENUE_ROOM, values, DIFFERENT_LIMIT if strict else REVIEW_LIMIT)
        case VenueRelation.WEAK:
            return MatchReason("venue", 0.6, _PLACE, ReasonCode.VENUE_WEAK, values, DIFFERENT_LIMIT)
        case VenueRelation.DIFFERENT:
            return MatchReason("venue", 0.0, _PLACE, ReasonCode.VENUE_DIFFERS, values, DIFFERENT_LIMIT)
        case VenueRelation.UNKNOWN:
            return MatchReason("venue", 0.5, 0.0, ReasonCode.VENUE_UNKNOWN, (), REVIEW_LIMIT if strict and any(values) else 1.0)


def _city(found: _Evidence) -> MatchReason | None:
    mine, theirs = found.a.city, found.b.city
    if mine == theirs and mine:
        return None
    if mine and theirs:
        if bare_city_name(mine) == bare_city_name(theirs):
            return None
        return MatchReason(
            "city", 0.0, 0.0, ReasonCode.CITY_DIFFERS, (mine, theirs), REVIEW_LIMIT if found.is_same_place else DIFFERENT_LIMIT
        )
    city, beside = (mine, found.b) if mine else (theirs, found.a)
    is_named = bool(city) and bare_city_name(city) in f"{split_title(beside.title).text}|{split_venue(beside.venue).text}"
    known = found.same_source or found.page or found.place is not VenueRelation.UNKNOWN or is_named
    return None if known else MatchReason("place", 0.5, 0.0, ReasonCode.PLACE_UNKNOWN, (), REVIEW_LIMIT)


def _identity(found: _Evidence, known: TitleAgreement) -> MatchReason | None:
    if known.code is None:
        return None
    strong = found.is_same_place and found.times is TimeRelation.SAME
    match known.code:
        case ReasonCode.EDITION_MISSING:
            sure = strong
        case ReasonCode.ASIDES_SPELLING:
            sure = found.is_same_place and found.times is not TimeRelation.DIFFERENT
        case ReasonCode.MARKS_MISSING:  # a typo within the word, or a word of the venue's name
            sure = strong and found.level is TitleSimilarity.SPELLING
        case _:
            sure = False
    sure = sure and not found.same_source
    return MatchReason("title", 0.9 if sure else 0.5, 0.0, known.code, known.values, 1.0 if sure else REVIEW_LIMIT)


def _url(found: _Evidence) -> MatchReason | None:
    if found.page:
        return MatchReason("url", 1.0, _PAGE, ReasonCode.URL_SAME)
    if found.same_source and event_page_key(found.a.url) and event_page_key(found.b.url):
        return MatchReason("url", 0.0, 0.0, ReasonCode.URL_DIFFERS, (), REVIEW_LIMIT)
    return None


def _ends(found: _Evidence) -> MatchReason | None:
    if found.meeting.days is not DayRelation.SAME or not end_days_differ(found.a, found.b):
        return None
    ends = (str(last_day(found.a.occurrence)), str(last_day(found.b.occurrence)))
    return MatchReason("day", 0.5, 0.0, ReasonCode.END_DAY, ends, REVIEW_LIMIT)


class EventMatcher:
    """The matcher that the calendar database uses (`store.calendar.records.Matcher`). Stateless and thread-safe."""

    @property
    def has_reached_limit(self) -> bool:
        """Whether events are compared only if their titles are equal."""
        return False

    @property
    def block_format(self) -> int:
        """The format of the blocking keys."""
        return BLOCK_FORMAT

    def key(self, draft: EventDraft) -> str:
        """The dedupe key: title_clean + date + venue."""
        return dedupe_key(draft)

    def blocks(self, draft: EventDraft) -> tuple[str, ...]:
        """The blocking keys: only drafts that share one are compared."""
        return blocking_keys(draft)

    def compare(self, new: EventDraft, known: EventDraft, *, same_source: bool) -> EventComparison:
        """Whether two drafts are one event, with the reasons."""
        notice = new.extra.get("notice")
        if notice == NoticeKind.VENUE:  # the venue of the event is another now
            new = replace(new, venue="", venue_clean="", latitude=None, longitude=None)
        if notice is None:
            return compare_events(new, known, same_source=same_source)
        # A notice is another item of the source about the same event.
        result = compare_events(new, known, same_source=False)
        if any(reason.code in _OTHER_TITLES for reason in result.reasons):  # It names its event.
            return _decided(result.reasons, min(result.score, DIFFERENT_LIMIT))
        is_meant = same_source and new.title_clean == known.title_clean and compare_days(new, known).days in _SAME_DAYS
        return _decided(result.reasons, max(result.score, SAME_SCORE)) if is_meant else result

    def merge(self, sightings: Sequence[Sighting]) -> MergedDraft:
        """Merge sightings with drafts, the most trusted first."""
        inputs = [MergeInput(one.draft, one.id, one.priority) for one in sightings if one.draft is not None]
        found = merge_fields(inputs)
        return MergedDraft(draft=found.draft, owners=found.owners, conflicts=found.conflicts)

    def is_same_row(self, known: EventDraft, read: EventDraft) -> bool:
        """Whether a row with a known uid still describes the same event."""
        return is_same_row(known, read)


_OTHER_TITLES = frozenset({ReasonCode.TITLE_CLOSE, ReasonCode.TITLE_FAR})
MAX_PAIRS = 100_000
"""Pairs of events that one run compares in full: one second. Ten thousand events of a large calendar stay below it."""
_NOT_COMPARED = EventComparison(MatchVerdict.DIFFERENT, 0.0, ())


class RunMatcher(EventMatcher):
    """The matcher of one run, with a limit: when it is reached, only events with the same title are compared.

    A source can list a hundred thousand events of one day and place, each of which is similar to hundreds of others.
    """

    def __init__(self, pairs: int = MAX_PAIRS) -> None:
        self._left = pairs

    @property
    def has_reached_limit(self) -> bool:
        return self._left < 0

    def compare(self, new: EventDraft, known: EventDraft, *, same_source: bool) -> EventComparison:
        """Whether two drafts are one event, with the reasons."""
        self._left -= 1
        if self._left < 0 and new.title_clean != known.title_clean:
            return _NOT_COMPARED
        return super().compare(new, known, same_source=same_source)
