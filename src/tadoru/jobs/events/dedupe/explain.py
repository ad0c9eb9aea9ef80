"""Why two events were judged as they were: each reason has a stable id, and a sentence made from it.

The judging is in `compare`; here are only the words. A translation needs the ids (`Code`) and the values of a reason, no more.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Verdict(StrEnum):
    """What is to be done with two events."""

    SAME = "same"
    """They are one event: merge them."""
    REVIEW = "review"
    """A person decides."""
    DIFFERENT = "different"


class Code(StrEnum):
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


SENTENCES: dict[Code, str] = {
    Code.IDENTICAL: "Both say the same, word for word.",
    Code.DAY_SAME: "Both begin on {0}.",
    Code.DAY_INSTANT: "Both begin at the same moment, written in two time zones.",
    Code.DAY_SHARED: "Both are series and share {0} of their dates.",
    Code.DAY_PART: "One takes place on a day of the other, which lasts longer or is a series.",
    Code.DAY_SLIP: "The days are one apart, the time zones differ and a time is missing: it may be one day read in two zones.",
    Code.DAY_APART: "They take place on different days: {0} and {1}.",
    Code.END_DAY: "They end on different days: {0} and {1}.",
    Code.TIME_SAME: "Both begin at {0}.",
    Code.TIME_MISSING: "Only one of them says when it begins: {0}.",
    Code.TIME_UNKNOWN: "Neither says at what time it begins.",
    Code.TIME_IGNORED: "Their start times are those of different days, and say nothing.",
    Code.TIME_DIFFERS: "The start times differ: {0} and {1}.",
    Code.TITLE_SAME: "The titles are the same but for width, spaces, decoration or kana.",
    Code.TITLE_SPELLING: "The titles differ by a slip of the pen or the order of the words ({0} % alike).",
    Code.TITLE_PART: "One title is a part of the other; beyond it stands “{0}”.",
    Code.TITLE_CLOSE: "The titles are alike ({0} %), but words differ.",
    Code.TITLE_FAR: "The titles are not alike ({0} %).",
    Code.NUMBERS_DIFFER: "Numbers in the titles differ: {0} and {1}.",
    Code.NUMBERS_MISSING: "Only one title has the number {0}.",
    Code.EDITION_MISSING: "Only one title says which edition it is: {0}.",
    Code.MARKS_DIFFER: "The titles name different groups, levels or sessions: {0} and {1}.",
    Code.MARKS_MISSING: "Only one title names “{0}”.",
    Code.ASIDES_DIFFER: "What stands in brackets differs: “{0}” and “{1}”.",
    Code.ASIDES_SPELLING: "What stands in brackets differs by a slip of the pen: “{0}” and “{1}”.",
    Code.ASIDES_MISSING: "Only one title has “{0}” in brackets.",
    Code.VENUE_SAME: "The venues are the same.",
    Code.VENUE_ALIAS: "The venues are names of one place: “{0}” and “{1}”.",
    Code.VENUE_ROOM: "The building is the same, the rooms differ: “{0}” and “{1}”.",
    Code.VENUE_WEAK: "The venues may be one place: “{0}” and “{1}”.",
    Code.VENUE_UNKNOWN: "A venue is missing.",
    Code.VENUE_DIFFERS: "The venues differ: “{0}” and “{1}”.",
    Code.CITY_DIFFERS: "The cities differ: {0} and {1}.",
    Code.PLACE_UNKNOWN: "Nothing says that both take place in one place.",
    Code.URL_SAME: "Both point to the same page.",
    Code.URL_DIFFERS: "One source gives each a page of its own.",
    Code.THIN: "The title is short and common, and nothing else tells them apart.",
}


class Reason(NamedTuple):
    """One thing that speaks for or against two events being one."""

    field: str
    score: float
    """From 0 (against) to 1 (for)."""
    weight: float
    """Its share in the score; 0 when it only limits it."""
    code: Code
    values: tuple[str, ...] = ()
    limit: float = 1.0
    """With this reason the score is never higher."""

    @property
    def why(self) -> str:
        """One English sentence."""
        return SENTENCES[self.code].format(*self.values)


class Comparison(NamedTuple):
    """The verdict on two events, with what led to it."""

    verdict: Verdict
    score: float
    """From 0 to 1: the weighted mean of the reasons, but no higher than the lowest of their limits."""
    reasons: tuple[Reason, ...]

    @property
    def why(self) -> str:
        """The reasons that decided, as sentences: what limits the score first."""
        ordered = sorted(self.reasons, key=lambda reason: (reason.limit, -reason.weight))
        return " ".join(reason.why for reason in ordered)
