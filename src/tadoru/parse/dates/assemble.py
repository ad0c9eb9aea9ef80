"""Occurrences from days and hours: whole days, times of a day, sessions, and ranges that cross midnight."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from tadoru.model.event import Occurrence
from tadoru.parse.dates.clocks import DAY, NOON, inherit, minutes, minutes_of_end
from tadoru.parse.dates.phrase import DateGroup, DatePhrase, HourRange
from tadoru.parse.dates.tokens import DateMark, DayHalf, TimeToken

BEFORE_START = "The end is before the start, and was left out."
_SHORTEST_DAY = 6 * 60
"""Minutes from the end of what lasts over night to its start: 13:00 to 12:00 is a slip."""
_LONGEST_ADMISSION = 3 * 60
"""Minutes from the time of admission, or of reception, to the start."""
LAST_AFTERNOON = 4
"""Hours up to this one that are written in words without a half of the day are in the afternoon."""
_MAIN = frozenset({None, DateMark.START})


@dataclass(frozen=True, slots=True)
class DaySession:
    """Hours in minutes from midnight."""

    start: int | None
    end: int | None
    half: DayHalf | None = None
    start_offset: int | None = None
    end_offset: int | None = None

    @property
    def is_whole_day(self) -> bool:
        """From 0:00 to 23:59 or 0:00, as forms that insist on a time are filled in."""
        return self.start == 0 and self.end in {0, DAY - 1, DAY} and self.start_offset is None

    @property
    def is_of_one_day(self) -> bool:
        """Whether it has a start, and ends on the same day if an end is told."""
        end = DAY if self.end is None else self.end
        return self.start is not None and self.start < end <= DAY and not self.is_whole_day


@dataclass(slots=True)
class AssembledDates:
    """The occurrences, and notes about them."""

    zone: ZoneInfo
    occurrences: list[Occurrence] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    """The notes because of which a rule is not read."""

    def doubt(self, *sentences: str) -> None:
        """Notes because of which a rule is not read."""
        self.doubts += sentences
        for sentence in sentences:
            self.note(sentence)

    def note(self, sentence: str) -> None:
        if sentence not in self.notes:
            self.notes.append(sentence)

    def add(self, first: date, last: date | None, sessions: list[DaySession]) -> None:
        """The occurrences of one day or range of days."""
        if last is not None and last < first:
            self.doubt(BEFORE_START)
            last = None
        timed = [session for session in sessions if session.start is not None]
        for session in sessions:
            if session.start is None and session.end is not None and not timed:
                self.note(f"It ends at {as_clock(session.end)}; no time is given for the start.")
        if not timed or all(session.is_whole_day for session in timed):
            self.occurrences.append(self._whole(first, last))
        elif last is not None and last > first:
            self.occurrences.append(self._over_days(first, last, timed))
        else:
            self.occurrences += [self._within_day(first, session) for session in timed]

    def end_at(self, occurrence: Occurrence, minute: int) -> bool:
        """Give one occurrence another end; False if that is not after its start."""
        end = self._at(occurrence.starts_at.date(), minute)
        if end <= occurrence.starts_at:
            return False
        self.occurrences = [replace(one, ends_at=end) if one is occurrence else one for one in self.occurrences]
        return True

    def _whole(self, first: date, last: date | None) -> Occurrence:
        end = self._midnight(last + timedelta(days=1)) if last is not None else None
        return Occurrence(starts_at=self._midnight(first), ends_at=end, has_time=False)

    def _over_days(self, first: date, last: date, sessions: list[DaySession]) -> Occurrence:
        if len(sessions) > 1:
            self.note("It takes place at several times on each of these days.")
            return self._whole(first, last)
        ends = [session for session in sessions if session.end is not None]
        opening = sessions[0]
        closing = max(ends, key=lambda session: session.end or 0) if len(ends) == len(sessions) else sessions[-1]
        start = self._at(first, opening.start or 0, opening.start_offset)
        # Without a time for the end, the last day is known all the same.
        is_midnight = closing.end == 0 and bool(opening.start) and (last - first).days > 1
        minute = DAY if closing.end is None or is_midnight else closing.end
        if minute > DAY and (last - first).days == 1:
            minute -= DAY  # "13:00 to 12:00 of the next day", which is the last day
        end = self._at(last, minute, closing.end_offset)
        if end.timestamp() <= start.timestamp():
            self.doubt(BEFORE_START)
            return Occurrence(starts_at=start)
        return Occurrence(starts_at=start, ends_at=end)

    def _within_day(self, day: date, session: DaySession) -> Occurrence:
        begin, end = session.start or 0, session.end
        start = self._at(day, begin, session.start_offset)
        if end is None:
            return Occurrence(starts_at=start)
        if end < begin and begin >= NOON and begin - end > _SHORTEST_DAY and session.end_offset is None:
            end += DAY
        finish = self._at(day, end, session.end_offset)
        # Not by the clock: clocks that are put back make an hour come twice.
        if (length := finish.timestamp() - start.timestamp()) <= 0:
            if length:
                self.doubt(BEFORE_START)
            return Occurrence(starts_at=start)
        return Occurrence(starts_at=start, ends_at=finish)

    def _midnight(self, day: date) -> datetime:
        return datetime(day.year, day.month, day.day, tzinfo=self.zone)

    def _at(self, day: date, minute: int, offset: int | None = None) -> datetime:
        """A time of a day. One that clocks pass over when they are put forward is as much later."""
        moment = datetime(day.year, day.month, day.day) + timedelta(minutes=minute)  # noqa: DTZ001 - the zone follows
        if offset is None:
            local = moment.replace(tzinfo=self.zone)
            is_settled = local.utcoffset() == local.replace(fold=1).utcoffset()
            return local if is_settled else local.astimezone(UTC).astimezone(self.zone)
        return moment.replace(tzinfo=timezone(timedelta(minutes=offset))).astimezone(self.zone)

    def doors(self, phrase: DatePhrase) -> datetime | None:
        """The time of admission on the first day."""
        if not self.occurrences:
            return None
        first = self.occurrences[0]
        if phrase.doors is None:
            minutes_before = phrase.doors_before
            return first.starts_at - timedelta(minutes=minutes_before) if minutes_before and first.has_time else None
        minute = minutes(phrase.doors)
        start = first.starts_at.hour * 60 + first.starts_at.minute
        # "午後1時 (0時30分開場)": admission is just before, in the same half of the day.
        if (
            first.has_time
            and phrase.doors.half is None
            and minute < NOON
            and minute + NOON <= start
            and start - minute > NOON - 60
        ):
            minute += NOON
        opens = self._at(first.starts_at.date(), minute, phrase.doors.offset)
        if first.has_time and opens > first.starts_at:
            self.note("The doors would open after the start, and were left out.")
            return None
        return opens


def sessions_of(group: DateGroup) -> list[DaySession]:
    """The hours of a group that are the event's own: those called the start when there are any, else those without a name."""
    main = [hours for hours in group.hours if hours.label in _MAIN]
    # "open 11:00-17:00": open as long as it lasts.
    main = main or [hours for hours in group.hours if hours.label is DateMark.DOORS and hours.end]
    begun = [hours for hours in main if hours.label is DateMark.START and hours.start and not (hours.end and len(main) > 1)]
    if begun and len(begun) < len(main):
        _lend_end(begun, main)
        main = begun
    ends = [hours for hours in group.hours if hours.label is DateMark.END and hours.end]
    for hours, closing in zip(reversed(main), reversed(ends), strict=False):
        hours.end = hours.end or closing.end
    entries = [hours for hours in group.hours if hours.label is DateMark.ENTRY and hours.start]
    entries = entries or [hours for hours in group.hours if hours.label is DateMark.DOORS and hours.start and ends]
    if not main and entries and ends:
        main = [HourRange(entries[0].start, ends[-1].end)]
    if not main and len(entries) == 1 and _is_open_long(entries[0]):
        main = entries
    if not main:
        main = ends
    before = next((hours.start for hours in group.hours if hours.start and hours.start.half and hours not in main), None)
    if before is not None and main and main[0].start and not _is_soon_after(before, main[0].start):
        before = None
    sessions: list[DaySession] = []
    for hours in main:
        sessions.append(_session(hours, before))
        before = hours.start if hours.start and hours.start.half else before
    return sessions


def _is_open_long(hours: HourRange) -> bool:
    """ "入館時間 9時~16時30分" are opening hours; a reception before the start is short."""
    session = _session(hours, None)
    return session.start is not None and session.end is not None and session.end - session.start > _LONGEST_ADMISSION


def _is_soon_after(admission: TimeToken, start: TimeToken) -> bool:
    """ "午後1時開場、1時30分開演" starts in the afternoon; "午前9時受付、10時開始" has its own half of the day."""
    return 0 <= minutes(inherit(start, admission)) - minutes(admission) <= _LONGEST_ADMISSION


def _lend_end(begun: list[HourRange], main: list[HourRange]) -> None:
    """ "10:00-16:00 (14:00 start)" ends at 16:00."""
    last = main[0] if main[0].label is None else main[-1]
    if len(begun) == 1 and begun[0].end is None and last.label is None:
        begun[0].end = last.end


def _session(hours: HourRange, before: TimeToken | None) -> DaySession:
    if hours.start is None:
        return DaySession(None, minutes(hours.end) if hours.end else None)
    start = inherit(hours.start, before)
    if start.half is None and 1 <= start.hour <= LAST_AFTERNOON and "時" in start.text and not start.days_later:
        start = replace(start, half=DayHalf.GOGO)  # "1時30分~3時"
    begin = minutes(start)
    end = minutes_of_end(hours.end, begin, start.half) if hours.end else None
    offset = hours.end.offset if hours.end else None
    return DaySession(begin, end, start.half, start.offset, offset)


def as_clock(minute: int) -> str:
    """Minutes from midnight as they are read: 9:30, 25:00."""
    return f"{minute // 60}:{minute % 60:02}"
