"""The reasons for a decision about two events: a stable code, values, and a message that can be translated.

`matcher` decides; this module only explains. The database stores a reason as JSON with its code and values, and `reason_message`
restores the message, so that the command line, the API and the pages can show it in any language.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from tadoru.errors import Message
from tadoru.i18n.translation import N_


class MatchVerdict(StrEnum):
    """The decision about two events."""

    SAME = "same"
    """They are one event: merge them."""
    REVIEW = "review"
    """Uncertain: a person decides."""
    DIFFERENT = "different"


class ReasonCode(StrEnum):
    """Identifies a reason."""

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
    TIME_DOORS = "time.doors"
    TIME_DIFFERS = "time.differs"
    TITLE_SAME = "title.same"
    TITLE_SPELLING = "title.spelling"
    TITLE_PART = "title.part"
    TITLE_CLOSE = "title.close"
    TITLE_FAR = "title.far"
    NUMBERS_DIFFER = "title.numbers_differ"
    DATES_DIFFER = "title.dates_differ"
    NUMBERS_MISSING = "title.numbers_missing"
    EDITION_MISSING = "title.edition_missing"
    WORD_SUBSTITUTED = "title.substituted"
    MARKS_DIFFER = "title.marks_differ"
    MARKS_MISSING = "title.marks_missing"
    ASIDES_DIFFER = "title.asides_differ"
    ASIDES_SPELLING = "title.asides_spelling"
    ASIDES_MISSING = "title.asides_missing"
    VENUE_SAME = "venue.same"
    VENUE_ALIAS = "venue.alias"
    VENUE_IN_TITLE = "venue.in_title"
    VENUE_ROOM = "venue.other_room"
    VENUE_WEAK = "venue.weak"
    VENUE_UNKNOWN = "venue.unknown"
    VENUE_DIFFERS = "venue.differs"
    CITY_DIFFERS = "city.differs"
    PLACE_UNKNOWN = "place.unknown"
    URL_SAME = "url.same"
    URL_DIFFERS = "url.differs"
    UID_SAME = "uid.same"
    THIN = "event.thin"
    PROBABILITY = "event.probability"


REASON_MESSAGES: dict[ReasonCode, str] = {
    ReasonCode.IDENTICAL: N_("Identical, word for word"),
    ReasonCode.DAY_SAME: N_("Both start on {one}"),
    ReasonCode.DAY_INSTANT: N_("Both start at the same moment, given in two time zones"),
    ReasonCode.DAY_SHARED: N_("Both are series and share {one} of their dates"),
    ReasonCode.DAY_PART: N_("One takes place on a day of the other, which is longer or a series"),
    ReasonCode.DAY_SLIP: N_("One day apart, in different time zones and without a time: possibly the same day"),
    ReasonCode.DAY_APART: N_("Different days: {one} and {other}"),
    ReasonCode.END_DAY: N_("Different end dates: {one} and {other}"),
    ReasonCode.TIME_SAME: N_("Both start at {one}"),
    ReasonCode.TIME_MISSING: N_("Only one has a start time: {one}"),
    ReasonCode.TIME_UNKNOWN: N_("Neither has a start time"),
    ReasonCode.TIME_IGNORED: N_("Start times not compared, because they are on different days"),
    ReasonCode.TIME_DOORS: N_("One may be when the doors open: {one} and {other}"),
    ReasonCode.TIME_DIFFERS: N_("Start times differ: {one} and {other}"),
    ReasonCode.TITLE_SAME: N_("Titles match after normalisation"),
    ReasonCode.TITLE_SPELLING: N_("Titles differ by a typo or the order of words ({one} % similar)"),
    ReasonCode.TITLE_PART: N_("One title contains the other and adds “{one}”"),
    ReasonCode.TITLE_CLOSE: N_("Titles are similar ({one} %), but words differ"),
    ReasonCode.TITLE_FAR: N_("Titles differ ({one} % similar)"),
    ReasonCode.NUMBERS_DIFFER: N_("Numbers in the titles differ: {one} and {other}"),
    ReasonCode.DATES_DIFFER: N_("The titles name different months or days: {one} and {other}"),
    ReasonCode.NUMBERS_MISSING: N_("Only one title has the number {one}"),
    ReasonCode.EDITION_MISSING: N_("Only one title has an edition: {one}"),
    ReasonCode.WORD_SUBSTITUTED: N_("One title has “{one}” where the other has “{other}”"),
    ReasonCode.MARKS_DIFFER: N_("The titles name different groups, levels or sessions: {one} and {other}"),
    ReasonCode.MARKS_MISSING: N_("Only one title has “{one}”"),
    ReasonCode.ASIDES_DIFFER: N_("Text in brackets differs: “{one}” and “{other}”"),
    ReasonCode.ASIDES_SPELLING: N_("Text in brackets differs by a typo: “{one}” and “{other}”"),
    ReasonCode.ASIDES_MISSING: N_("Only one title has “{one}” in brackets"),
    ReasonCode.VENUE_SAME: N_("Same venue"),
    ReasonCode.VENUE_IN_TITLE: N_("One title names the venue of the other: “{one}”"),
    ReasonCode.VENUE_ALIAS: N_("Two names of the same venue: “{one}” and “{other}”"),
    ReasonCode.VENUE_ROOM: N_("Same building, different rooms: “{one}” and “{other}”"),
    ReasonCode.VENUE_WEAK: N_("Possibly the same venue: “{one}” and “{other}”"),
    ReasonCode.VENUE_UNKNOWN: N_("A venue is missing"),
    ReasonCode.VENUE_DIFFERS: N_("Venues differ: “{one}” and “{other}”"),
    ReasonCode.CITY_DIFFERS: N_("Cities differ: {one} and {other}"),
    ReasonCode.PLACE_UNKNOWN: N_("No evidence that both are in the same place"),
    ReasonCode.URL_SAME: N_("Both link to the same page"),
    ReasonCode.URL_DIFFERS: N_("The same source has a separate page for each"),
    ReasonCode.UID_SAME: N_("Both calendars give the event the same UID"),
    ReasonCode.PROBABILITY: N_("Probability that both are one event: {one} %"),
    ReasonCode.THIN: N_("The title is short and common, and there is no other evidence"),
}
_VALUE_NAMES = ("one", "other")


class MatchReason(NamedTuple):
    """One piece of evidence for or against two events being one."""

    field: str
    score: float
    """From 0 (against) to 1 (for)."""
    weight: float
    """Its weight in the score; 0 if it only limits it."""
    code: ReasonCode
    values: tuple[str, ...] = ()
    limit: float = 1.0
    """The maximum score with this reason."""

    @property
    def why(self) -> Message:
        """The message of this reason."""
        return _message(self.code, self.values)


class EventComparison(NamedTuple):
    """The decision about two events, with its reasons."""

    verdict: MatchVerdict
    score: float
    """From 0 to 1: the weighted mean of the reasons, but at most the lowest of their limits."""
    reasons: tuple[MatchReason, ...]

    @property
    def why(self) -> str:
        """The messages of all reasons, those that limit the score first."""
        ordered = sorted(self.reasons, key=lambda reason: (reason.limit, -reason.weight))
        return "; ".join(reason.why for reason in ordered)


def _message(code: ReasonCode, values: tuple[str, ...]) -> Message:
    return Message(REASON_MESSAGES[code], **dict(zip(_VALUE_NAMES, values, strict=False)))


def reason_message(stored: Any) -> str:
    """The message of a reason or a conflict as the database stores it; a `Message` if its code is known."""
    if not isinstance(stored, Mapping):
        return str(stored)
    try:
        return _message(ReasonCode(stored["code"]), tuple(map(str, stored["values"])))
    except (KeyError, TypeError, ValueError):
        pass
    if stored.get("field") in CONFLICT_MESSAGES and "kept" in stored and "other" in stored:
        return conflict_message(stored["field"], str(stored["kept"]), str(stored["other"]))
    return str(stored.get("why") or ", ".join(f"{name} {value}" for name, value in stored.items()))


def probability_first(stored: Iterable[Any]) -> list[Any]:
    """Stored reasons with the probability first, which sums up the others and is the only figure about all of them."""
    return sorted(stored, key=lambda one: not (isinstance(one, Mapping) and one.get("code") == ReasonCode.PROBABILITY))


def main_difference(stored: Iterable[Any]) -> list[Any]:
    """What a list shows of stored reasons: the one that speaks most against one event, then the probability."""
    first, *others = probability_first(stored) or [None]
    against = [one for one in others if isinstance(one, Mapping) and one.get("score", 1) < 1]
    return [one for one in (min(against, key=lambda one: one["score"], default=None), first) if one is not None]


CONFLICT_MESSAGES: dict[str, str] = {
    "starts_at": N_("Start differs: “{kept}” is shown, another source has “{other}”"),
    "ends_at": N_("End differs: “{kept}” is shown, another source has “{other}”"),
    "venue": N_("Venue differs: “{kept}” is shown, another source has “{other}”"),
    "city": N_("City differs: “{kept}” is shown, another source has “{other}”"),
    "coordinates": N_("Coordinates differ: {kept} is shown, another source has {other}"),
    "price": N_("Price differs: “{kept}” is shown, another source has “{other}”"),
    "is_cancelled": N_("Shown as cancelled, but another source does not say so"),
}
"""Messages of contradictions between the sources of one event, by field."""


def conflict_message(field: str, kept: str, other: str) -> Message:
    """The message of a contradiction between two sources."""
    return Message(CONFLICT_MESSAGES[field], kept=kept, other=other)
