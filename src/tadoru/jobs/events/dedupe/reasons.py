"""Why two events were judged as they were: each reason has a stable id, and a sentence made from it.

The judging is in `compare`; here are only the words. A translation needs the ids (`ReasonCode`) and the values of a reason, no more.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class MatchVerdict(StrEnum):
    """What is to be done with two events."""

    SAME = "same"
    """They are one event: merge them."""
    REVIEW = "review"
    """A person decides."""
    DIFFERENT = "different"


class ReasonCode(StrEnum):
    """The id of a reason."""

    IDENTICAL = "event.identical"
    DAY_SAME = "day.same"
    DAY_INSTANT = "day.same_instant"
    DAY_SHARED = "day.shared"
    DAY_PART = "day.part_of_other"
    DAY_SLIP = "day.slip"
    DAY_APART = "day.apart"
    END_DAY = "day.ends_differ"
    TIME_SAME = "time.same"
    TIME_MISSING = "time.missing"
    TIME_UNKNOWN = "time.unknown"
    TIME_IGNORED = "time.ignored"
    TIME_DIFFERS = "time.differs"
    TITLE_SAME = "title.same"
    TITLE_SPELLING = "title.spelling"
    TITLE_PART = "title.part"
    TITLE_CLOSE = "title.close"
    TITLE_FAR = "title.far"
    NUMBERS_DIFFER = "title.numbers_differ"
    NUMBERS_MISSING = "title.numbers_missing"
    EDITION_MISSING = "title.edition_missing"
    MARKS_DIFFER = "title.marks_differ"
    MARKS_MISSING = "title.marks_missing"
    ASIDES_DIFFER = "title.asides_differ"
    ASIDES_SPELLING = "title.asides_spelling"
    ASIDES_MISSING = "title.asides_missing"
    VENUE_SAME = "venue.same"
    VENUE_ALIAS = "venue.alias"
    VENUE_ROOM = "venue.other_room"
    VENUE_WEAK = "venue.weak"
    VENUE_UNKNOWN = "venue.unknown"
    VENUE_DIFFERS = "venue.differs"
    CITY_DIFFERS = "city.differs"
    PLACE_UNKNOWN = "place.unknown"
    URL_SAME = "url.same"
    URL_DIFFERS = "url.differs"
    THIN = "event.thin"


REASON_MESSAGES: dict[ReasonCode, str] = {
    ReasonCode.IDENTICAL: "Both say the same, word for word.",
    ReasonCode.DAY_SAME: "Both begin on {0}.",
    ReasonCode.DAY_INSTANT: "Both begin at the same moment, written in two time zones.",
    ReasonCode.DAY_SHARED: "Both are series and share {0} of their dates.",
    ReasonCode.DAY_PART: "One takes place on a day of the other, which lasts longer or is a series.",
    ReasonCode.DAY_SLIP: "The days are one apart, the time zones differ and a time is missing: it may be one day read in two zones.",
    ReasonCode.DAY_APART: "They take place on different days: {0} and {1}.",
    ReasonCode.END_DAY: "They end on different days: {0} and {1}.",
    ReasonCode.TIME_SAME: "Both begin at {0}.",
    ReasonCode.TIME_MISSING: "Only one of them says when it begins: {0}.",
    ReasonCode.TIME_UNKNOWN: "Neither says at what time it begins.",
    ReasonCode.TIME_IGNORED: "Their start times are those of different days, and say nothing.",
    ReasonCode.TIME_DIFFERS: "The start times differ: {0} and {1}.",
    ReasonCode.TITLE_SAME: "The titles are the same but for width, spaces, decoration or kana.",
    ReasonCode.TITLE_SPELLING: "The titles differ by a slip of the pen or the order of the words ({0} % alike).",
    ReasonCode.TITLE_PART: "One title is a part of the other; beyond it stands “{0}”.",
    ReasonCode.TITLE_CLOSE: "The titles are alike ({0} %), but words differ.",
    ReasonCode.TITLE_FAR: "The titles are not alike ({0} %).",
    ReasonCode.NUMBERS_DIFFER: "Numbers in the titles differ: {0} and {1}.",
    ReasonCode.NUMBERS_MISSING: "Only one title has the number {0}.",
    ReasonCode.EDITION_MISSING: "Only one title says which edition it is: {0}.",
    ReasonCode.MARKS_DIFFER: "The titles name different groups, levels or sessions: {0} and {1}.",
    ReasonCode.MARKS_MISSING: "Only one title names “{0}”.",
    ReasonCode.ASIDES_DIFFER: "What stands in brackets differs: “{0}” and “{1}”.",
    ReasonCode.ASIDES_SPELLING: "What stands in brackets differs by a slip of the pen: “{0}” and “{1}”.",
    ReasonCode.ASIDES_MISSING: "Only one title has “{0}” in brackets.",
    ReasonCode.VENUE_SAME: "The venues are the same.",
    ReasonCode.VENUE_ALIAS: "The venues are names of one place: “{0}” and “{1}”.",
    ReasonCode.VENUE_ROOM: "The building is the same, the rooms differ: “{0}” and “{1}”.",
    ReasonCode.VENUE_WEAK: "The venues may be one place: “{0}” and “{1}”.",
    ReasonCode.VENUE_UNKNOWN: "A venue is missing.",
    ReasonCode.VENUE_DIFFERS: "The venues differ: “{0}” and “{1}”.",
    ReasonCode.CITY_DIFFERS: "The cities differ: {0} and {1}.",
    ReasonCode.PLACE_UNKNOWN: "Nothing says that both take place in one place.",
    ReasonCode.URL_SAME: "Both point to the same page.",
    ReasonCode.URL_DIFFERS: "One source gives each a page of its own.",
    ReasonCode.THIN: "The title is short and common, and nothing else tells them apart.",
}


class MatchReason(NamedTuple):
    """One thing that speaks for or against two events being one."""

    field: str
    score: float
    """From 0 (against) to 1 (for)."""
    weight: float
    """Its share in the score; 0 when it only limits it."""
    code: ReasonCode
    values: tuple[str, ...] = ()
    limit: float = 1.0
    """With this reason the score is never higher."""

    @property
    def why(self) -> str:
        """One English sentence."""
        return REASON_MESSAGES[self.code].format(*self.values)


class EventComparison(NamedTuple):
    """The verdict on two events, with what led to it."""

    verdict: MatchVerdict
    score: float
    """From 0 to 1: the weighted mean of the reasons, but no higher than the lowest of their limits."""
    reasons: tuple[MatchReason, ...]

    @property
    def why(self) -> str:
        """The reasons that decided, as sentences: what limits the score first."""
        ordered = sorted(self.reasons, key=lambda reason: (reason.limit, -reason.weight))
        return " ".join(reason.why for reason in ordered)
