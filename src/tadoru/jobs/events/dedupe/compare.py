"""Decides whether two events are one: early exits first, then evidence from title, time, place and page, weighed and limited.

The score is the weighted mean of the evidence, and no higher than the lowest limit that a reason sets. So one contradiction in
what is identity settles the matter, however alike the rest; and doubt leads to a person, never to a merge. Each rule that can
stop a merge is a reason in the result.

In one source two rows are two events unless they say the same: a source seldom lists an event twice, and never under two names.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from tadoru.jobs.events.dedupe.days import Days, Meeting, Times, compare_times, end_days_differ, last_day, meet
from tadoru.jobs.events.dedupe.explain import Code, Comparison, Reason, Verdict
from tadoru.jobs.events.dedupe.fold import fold, normal
from tadoru.jobs.events.dedupe.links import same_page, specific
from tadoru.jobs.events.dedupe.marks import own_day
from tadoru.jobs.events.dedupe.places import Place, city_name, compare_venues, distance, venue_view
from tadoru.jobs.events.dedupe.titles import CODES, Identity, Likeness, identity, likeness, share_a_word, unlike, view
from tadoru.model.event import EventDraft

SAME = 0.85
"""From this score on two events are merged."""
REVIEW = 0.6
"""From this score on a person is asked."""
DOUBT = 0.8
NO = 0.3
_FAR_APART = 3.0
_NEAR = 0.3
"""Kilometres."""
_TITLE, _TIME, _PLACE, _PAGE = 0.5, 0.2, 0.2, 0.1
_CONTRADICTIONS = frozenset({Code.NUMBERS_DIFFER, Code.MARKS_DIFFER, Code.ASIDES_DIFFER})
_IDENTICAL = Comparison(Verdict.SAME, 1.0, (Reason("event", 1.0, 1.0, Code.IDENTICAL),))
_VERY_CLOSE = 0.92
_COMMON_TITLE = 8
"""Signs: titles up to here (おはなし会) are given to many events."""


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What the comparisons of single fields found."""

    a: EventDraft
    b: EventDraft
    same_source: bool
    meeting: Meeting
    level: Likeness
    alike: float
    beyond: str
    place: Place
    times: Times
    page: bool

    @property
    def placed(self) -> bool:
        """Something says that both are in one place."""
        return self.page or self.place in {Place.SAME, Place.ALIAS}

    @property
    def hall(self) -> bool:
        """Both have the hall to themselves from one minute to another, and the titles share a word: one event under two names."""
        ends = {self.a.occurrence.ends_at, self.b.occurrence.ends_at}
        taken = self.place in {Place.SAME, Place.ALIAS} and len(ends) == 1 and None not in ends
        return taken and share_a_word(view(self.a.title), view(self.b.title))

    @property
    def met(self) -> bool:
        """No venue is known, but the city and the minute are the same, and the title is long enough to say something."""
        city = self.a.city and self.b.city and city_name(self.a.city) == city_name(self.b.city)
        long = min(len(self.a.title), len(self.b.title)) > _COMMON_TITLE
        return self.place is Place.UNKNOWN and bool(city) and self.times is Times.SAME and long


def compare(a: EventDraft, b: EventDraft, *, same_source: bool) -> Comparison:
    """Whether two events are one, with the reasons. The order of the two does not matter."""
    if a == b:
        return _IDENTICAL
    meeting = meet(a, b)
    if meeting.days is Days.APART or (same_source and meeting.days in {Days.PART, Days.SLIP}):
        return _result([Reason("day", 0.0, _TIME, Code.DAY_APART, (str(a.local_date), str(b.local_date)), NO)])
    one, other = view(a.title), view(b.title)
    page = same_page(a.url, b.url)
    if not page and (share := unlike(one, other)) is not None:
        return _result([Reason("title", share, _TITLE, Code.TITLE_FAR, (_percent(share),), NO)])

    def explained() -> str:
        return "|".join((*_names(a), *_names(b), own_day(first.local_date)))

    first = min(a, b, key=lambda draft: draft.occurrence.starts_at)
    hour = first.occurrence.starts_at.hour if first.occurrence.has_time else None
    known = identity(one, other, (first.local_date, hour), explained)
    if known.code in _CONTRADICTIONS:
        return _result([Reason("title", 0.0, _TITLE, known.code, known.values, NO)])
    level, alike, beyond = likeness(one, other, explained)
    times = compare_times(meeting.one, meeting.other)
    found = _Evidence(a, b, same_source, meeting, level, alike, beyond, _place(a, b), times, page)
    reasons = [_day(found), _title(found), _time(found), _venue(found)]
    reasons += filter(
        None,
        (_identity(found, known), _city(found), _url(found), _ends(found), _thin(found, min(len(one.text), len(other.text)))),
    )
    return _result(reasons)


def _result(reasons: list[Reason]) -> Comparison:
    weight = sum(reason.weight for reason in reasons)
    mean = sum(reason.score * reason.weight for reason in reasons) / weight
    score = round(min(mean, *(reason.limit for reason in reasons)), 4)
    verdict = Verdict.SAME if score >= SAME else Verdict.REVIEW if score >= REVIEW else Verdict.DIFFERENT
    return Comparison(verdict, score, tuple(reasons))


def _percent(share: float) -> str:
    return str(int(share * 100))


@lru_cache(maxsize=50_000)
def _folded(text: str) -> str:
    return fold(normal(text))


def _names(draft: EventDraft) -> tuple[str, ...]:
    return (venue_view(draft.venue).text if draft.venue else "", _folded(draft.city), _folded(draft.organizer))


def _place(a: EventDraft, b: EventDraft) -> Place:
    """Venues, corrected by coordinates: near ones with other names may be one place, far ones with like names may not."""
    place = compare_venues(a.venue, b.venue, city_name(a.city or b.city))
    if place in {Place.DIFFERENT, Place.ALIAS} and (apart := distance(a, b)) is not None:
        if place is Place.DIFFERENT and apart <= _NEAR:
            return Place.WEAK
        if place is Place.ALIAS and apart >= _FAR_APART:
            return Place.WEAK
    return place


def _day(found: _Evidence) -> Reason:
    match found.meeting.days:
        case Days.SAME:
            return Reason("day", 1.0, 0.0, Code.DAY_SAME, (str(found.a.local_date),))
        case Days.INSTANT:
            return Reason("day", 1.0, 0.0, Code.DAY_INSTANT)
        case Days.SHARED:
            shared = found.meeting.shared
            most = 2 * shared >= min(len(found.a.occurrences), len(found.b.occurrences))
            return Reason("day", 1.0, 0.0, Code.DAY_SHARED, (str(shared),), 1.0 if most else DOUBT)
        case days:
            code = Code.DAY_SLIP if days is Days.SLIP else Code.DAY_PART
            return Reason("day", 0.5, 0.0, code, (), DOUBT if found.level >= Likeness.SPELLING and found.placed else NO)


def _title(found: _Evidence) -> Reason:
    limit = 1.0
    match found.level:
        case Likeness.SPELLING:
            limit = 1.0 if (found.placed or found.met) and not found.same_source else DOUBT
        case Likeness.PART:
            limit = 1.0 if found.placed and found.times is Times.SAME and not found.same_source else DOUBT
        case Likeness.CLOSE:
            close = found.alike >= _VERY_CLOSE and found.place is Place.UNKNOWN and found.times is not Times.DIFFERENT
            limit = DOUBT if (close or (found.placed and found.times is Times.SAME)) and not found.same_source else NO
        case Likeness.FAR:
            known = (found.page and found.alike >= 0.5) or found.hall
            limit = DOUBT if known and found.times is Times.SAME and not found.same_source else NO
        case Likeness.SAME:
            pass
    values = (found.beyond,) if found.level is Likeness.PART else (_percent(found.alike),)
    return Reason("title", found.alike, _TITLE, CODES[found.level], values, limit)


def _time(found: _Evidence) -> Reason:
    if found.meeting.days in {Days.PART, Days.SLIP}:  # a person is asked in any case
        return Reason("time", 0.5, 0.0, Code.TIME_IGNORED)
    known = [f"{each.starts_at:%H:%M}" for each in (found.meeting.one, found.meeting.other) if each.has_time]
    match found.times:
        case Times.SAME:
            return Reason("time", 1.0, _TIME, Code.TIME_SAME, (known[0],))
        case Times.ONE:
            return Reason("time", 0.8, _TIME / 2, Code.TIME_MISSING, (known[0],), DOUBT if found.same_source else 1.0)
        case Times.NONE:
            return Reason("time", 0.5, 0.0, Code.TIME_UNKNOWN)
        case Times.DIFFERENT:
            open_to_doubt = found.level >= Likeness.PART and not found.same_source
            return Reason("time", 0.0, _TIME, Code.TIME_DIFFERS, tuple(known), DOUBT if open_to_doubt else NO)


def _venue(found: _Evidence) -> Reason:
    values = (found.a.venue, found.b.venue)
    strict = found.same_source
    match found.place:
        case Place.SAME:
            return Reason("venue", 1.0, _PLACE, Code.VENUE_SAME)
        case Place.ALIAS:
            return Reason("venue", 0.95, _PLACE, Code.VENUE_ALIAS, values, DOUBT if strict else 1.0)
        case Place.ROOM:
            return Reason("venue", 0.5, _PLACE, Code.VENUE_ROOM, values, NO if strict else DOUBT)
        case Place.WEAK:
            return Reason("venue", 0.6, _PLACE, Code.VENUE_WEAK, values, NO if strict else DOUBT)
        case Place.DIFFERENT:
            return Reason("venue", 0.0, _PLACE, Code.VENUE_DIFFERS, values, DOUBT if found.page and not strict else NO)
        case Place.UNKNOWN:
            return Reason("venue", 0.5, 0.0, Code.VENUE_UNKNOWN, (), DOUBT if strict and any(values) else 1.0)


def _city(found: _Evidence) -> Reason | None:
    mine, theirs = found.a.city, found.b.city
    if mine == theirs and mine:
        return None
    if mine and theirs:
        if city_name(mine) == city_name(theirs):
            return None
        return Reason("city", 0.0, 0.0, Code.CITY_DIFFERS, (mine, theirs), DOUBT if found.placed else NO)
    known = found.same_source or found.page or found.place is not Place.UNKNOWN
    return None if known else Reason("place", 0.5, 0.0, Code.PLACE_UNKNOWN, (), DOUBT)


def _identity(found: _Evidence, known: Identity) -> Reason | None:
    if known.code is None:
        return None
    strong = found.placed and found.times is Times.SAME
    match known.code:
        case Code.EDITION_MISSING:
            sure = strong
        case Code.ASIDES_SPELLING:
            sure = found.placed and found.times is not Times.DIFFERENT
        case Code.MARKS_MISSING:  # a slip within the word, or a word of the venue's name
            sure = strong and found.level is Likeness.SPELLING
        case _:
            sure = False
    sure = sure and not found.same_source
    return Reason("title", 0.9 if sure else 0.5, 0.0, known.code, known.values, 1.0 if sure else DOUBT)


def _url(found: _Evidence) -> Reason | None:
    if found.page:
        return Reason("url", 1.0, _PAGE, Code.URL_SAME)
    if found.same_source and specific(found.a.url) and specific(found.b.url):
        return Reason("url", 0.0, 0.0, Code.URL_DIFFERS, (), DOUBT)
    return None


def _ends(found: _Evidence) -> Reason | None:
    if found.meeting.days is not Days.SAME or not end_days_differ(found.a, found.b):
        return None
    ends = (str(last_day(found.a.occurrence)), str(last_day(found.b.occurrence)))
    return Reason("day", 0.5, 0.0, Code.END_DAY, ends, DOUBT)


def _thin(found: _Evidence, length: int) -> Reason | None:
    if found.same_source or found.placed or found.times is Times.SAME or length > _COMMON_TITLE:
        return None
    return Reason("event", 0.5, 0.0, Code.THIN, (), DOUBT)
