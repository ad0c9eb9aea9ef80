"""Groups tokens: which day starts a range and which ends it, which times belong to which days, and which is the time of
admission.

The result still has days without years (`years` infers them) and times without a date (`assemble` joins them).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tadoru.parse.dates.clocks import is_possible
from tadoru.parse.dates.tokens import (
    DateMark,
    DayToken,
    MarkToken,
    MinutesBefore,
    MonthToken,
    NotADate,
    TimeToken,
    Token,
    YearToken,
)

MOST_DAYS = 200
_MEETING = ("集合", "treffpunkt", "ritrovo", "verzamelen", "rendez-vous")
_LONGEST_JOIN = 5
"""Letters of a word that joins two dates; longer words between them are marked as a list too."""
_LABELS = frozenset({DateMark.DOORS, DateMark.START, DateMark.END, DateMark.ENTRY})
_SKIPPED = frozenset({DateMark.DEADLINE, DateMark.ASIDE})
_ENDS_SKIP = frozenset({DateMark.LIST, DateMark.STOP, DateMark.START})


@dataclass(slots=True)
class DaySpan:
    """A day, or the days from one to another."""

    first: DayToken | None
    last: DayToken | None = None


@dataclass(slots=True)
class HourRange:
    """A time, or the time from one to another."""

    start: TimeToken | None
    end: TimeToken | None = None
    label: DateMark | None = None


@dataclass(slots=True)
class DateGroup:
    """Days, and the times that hold on each of them."""

    spans: list[DaySpan] = field(default_factory=list)
    hours: list[HourRange] = field(default_factory=list)


@dataclass(slots=True)
class DatePhrase:
    """The days and times of a text."""

    groups: list[DateGroup] = field(default_factory=list)
    month: MonthToken | None = None
    """A month without a day, when there is one."""
    last_month: MonthToken | None = None
    """The month that ends a range of months."""
    doors: TimeToken | None = None
    doors_before: int | None = None
    is_all_day: bool = False
    goes_on: bool = False
    """From a time of the first day to one of the last, not at the same hours each day."""
    vague: str = ""
    fiscal: int | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def days(self) -> list[tuple[DayToken, bool]]:
        """Every day in the order of writing, and whether it ends a range."""
        found = []
        for group in self.groups:
            for span in group.spans:
                found += [(day, is_end) for day, is_end in ((span.first, False), (span.last, True)) if day is not None]
        return found


def read_phrase(tokens: list[Token]) -> DatePhrase:
    """The tokens of one text put together."""
    reader = _Reader()
    for token in _label(_in_pairs(_on_own_lines(_without_ceremony(_without_meeting(_without_asides(tokens)))))):
        reader.take(token)
    return reader.finish()


def _without_asides(tokens: list[Token]) -> list[Token]:
    """Without the dates of deadlines and of bad weather: those after such a word, or the one just before "closes"."""
    out: list[Token] = []
    skipping = is_closed = False
    for position, token in enumerate(tokens):
        mark = token.mark if isinstance(token, MarkToken) else None
        if mark in _SKIPPED:
            skipping, is_closed = True, token.text.startswith(("休", "定休", "閉"))
            if mark is DateMark.DEADLINE and not _has_date_ahead(tokens, position + 1):
                while out and (isinstance(out[-1], DayToken | TimeToken | YearToken) or _is(out[-1], DateMark.UNTIL)):
                    out.pop()
            continue
        if skipping and is_closed:
            skipping = mark is not DateMark.START and token.text not in {"。", "\n"}
        elif (
            skipping
            and mark in _ENDS_SKIP
            and not (mark is DateMark.LIST and (token.text == "・" or len(token.text) > _LONGEST_JOIN))
        ):
            skipping = False
        if not skipping:
            out.append(token)
    return out


def _without_ceremony(tokens: list[Token]) -> list[Token]:
    """Where a start is named, the opening ceremony is no second one: "9時開会式、9時半競技開始"."""
    starts = [token for token in tokens if _is(token, DateMark.START) and token.text.endswith(("開始", "開演", "スタート"))]
    if not starts:
        return tokens
    return [
        MarkToken(token.text, DateMark.ENTRY) if _is(token, DateMark.START) and token.text.startswith(("開会", "開式")) else token
        for token in tokens
    ]


def _without_meeting(tokens: list[Token]) -> list[Token]:
    """Where no other time is named, people meet for the start: "10時集合"."""
    times = sum(isinstance(token, TimeToken) for token in tokens)
    is_alone = times == 1 and not any(_is(token, DateMark.START, DateMark.DOORS) for token in tokens)
    return [
        token for token in tokens if not (is_alone and _is(token, DateMark.ENTRY) and token.text.lower().startswith(_MEETING))
    ]


def _has_date_ahead(tokens: list[Token], position: int) -> bool:
    for token in tokens[position : position + 4]:
        if isinstance(token, DayToken | TimeToken):
            return True
        if isinstance(token, MarkToken) and token.mark in _ENDS_SKIP:
            return False
    return False


def _is(token: Token | None, *marks: DateMark) -> bool:
    return isinstance(token, MarkToken) and token.mark in marks


def _on_own_lines(tokens: list[Token]) -> list[Token]:
    """Lines that each say "from" are a list: "9時から", "10時から"."""
    out = list(tokens)
    for place in range(len(out) - 3):
        opens, line_end, when, again = out[place : place + 4]
        is_line = _is(line_end, DateMark.STOP) and line_end.text == "\n"
        if is_line and _is(opens, DateMark.RANGE) and isinstance(when, TimeToken | DayToken) and _is(again, DateMark.RANGE):
            out[place + 1] = MarkToken(line_end.text, DateMark.LIST)
    return out


def _in_pairs(tokens: list[Token]) -> list[Token]:
    """ "開場/開演 18:00/18:30" as "開場 18:00 開演 18:30"."""
    out = list(tokens)
    for place in range(len(out) - 5):
        first, between, second, opens, _, begins = out[place : place + 6]
        is_named = _is(first, *_LABELS) and _is(between, DateMark.LIST, DateMark.RANGE) and _is(second, *_LABELS)
        if is_named and isinstance(opens, TimeToken) and isinstance(begins, TimeToken):
            out[place : place + 6] = [first, opens, between, second, begins, between]
    return out


def _label(tokens: list[Token]) -> list[Token]:
    """Each time with the word that names it, before it ("開演18:30") or after it ("18:30開演", "9時から受付")."""
    out: list[Token] = []
    held: DateMark | None = None
    position = 0
    while position < len(tokens):
        token = tokens[position]
        position += 1
        if isinstance(token, MarkToken) and token.mark in _LABELS:
            held = token.mark
        elif isinstance(token, TimeToken):
            mark, used = (held, 0) if held else _label_after(tokens, position)
            out.append(replace(token, label=mark) if mark else token)
            del tokens[position : position + used]
            held = None
        else:
            if (
                isinstance(token, MinutesBefore)
                and held is None
                and position < len(tokens)
                and _is(tokens[position], DateMark.DOORS)
            ):
                held = DateMark.DOORS
            if isinstance(token, MinutesBefore) and held is not DateMark.DOORS:
                continue
            if isinstance(token, DayToken) and held is DateMark.END:
                out.append(MarkToken("~", DateMark.RANGE))
            is_between = _is(token, DateMark.RANGE) or (_is(token, DateMark.STOP) and token.text in {"\n", ")"})
            if not is_between and not isinstance(token, YearToken):
                held = None
            out.append(token)
    return out


def _label_after(tokens: list[Token], position: int) -> tuple[DateMark | None, int]:
    """The label behind a time and how many tokens it takes; not when it rather belongs to the time that follows it."""
    used = 0
    while position + used < len(tokens) and _stands_between(tokens[position + used]):
        used += 1
    if position + used >= len(tokens):
        return None, 0
    label = tokens[position + used]
    if not (isinstance(label, MarkToken) and label.mark in _LABELS):
        return None, 0
    after = tokens[position + used + 1 : position + used + 4]
    if label.mark in {DateMark.START, DateMark.DOORS, DateMark.ENTRY} and _ends_range(tokens, position - 1, used):
        # "10時から11時30分まで開催": what takes place is the whole range; not in "9時~9時半受付 10時開始".
        is_followed = not used and len(after) > 1 and isinstance(after[0], TimeToken) and _is(after[1], DateMark.START)
        return (label.mark, used + 1) if is_followed and label.mark is not DateMark.START else (None, 0)
    if after and isinstance(after[0], TimeToken) and not any(_is(token, *_LABELS) for token in after[1:]):
        return None, 0
    return label.mark, used + 1


def _stands_between(token: Token) -> bool:
    """What may stand between a time and the word that names it: "9時から受付", "3時頃解散"."""
    if _is(token, DateMark.STOP) and token.text == "(":
        return True
    return _is(token, DateMark.RANGE, DateMark.UNTIL) or (_is(token, DateMark.VAGUE) and token.text in {"頃", "ごろ"})


def _ends_range(tokens: list[Token], position: int, used: int) -> bool:
    """Whether the time at this position is the end of a range, by the word behind it or by the time before it."""
    is_until = any(_is(token, DateMark.UNTIL) for token in tokens[position + 1 : position + 1 + used])
    return is_until or (
        position >= 2 and _is(tokens[position - 1], DateMark.RANGE) and isinstance(tokens[position - 2], TimeToken)
    )


class _Reader:
    """Takes tokens one by one. `_last` is what a range sign would connect to; `_linked`, that there was one."""

    def __init__(self) -> None:
        self._phrase = DatePhrase()
        self._group = DateGroup()
        self._last: DayToken | TimeToken | None = None
        self._linked = False
        self._open = False
        """The sign was one that also means "until" when nothing is before it."""
        self._ends_later = False
        self._is_until = False
        """A time that follows the day is an end: "9 May until 10pm"."""
        self._leading: list[HourRange] = []
        """Hours before the first day: they are those of every day."""
        self._month: MonthToken | None = None
        self._year: YearToken | None = None
        self._era: int | None = None
        self._century: int | None = None

    def take(self, token: Token) -> None:
        match token:
            case DayToken():
                self._take_day(token)
            case TimeToken():
                self._take_clock(token)
            case YearToken():
                self._take_year(token)
            case MonthToken():
                self._take_month(token)
            case MinutesBefore():
                self._phrase.doors_before = token.minutes
            case MarkToken():
                self._take_sign(token)
            case _:
                pass

    def _take_year(self, year: YearToken) -> None:
        value = year.value
        if year.short:
            base = self._era if self._era is not None else self._century
            if base is None:
                raise NotADate("{year} is short for more than one year.", year=year.text.strip())
            value += base
        elif year.era is None:
            self._century, self._era = value // 100 * 100, None
        if year.era is not None:
            self._era = year.era
        if year.fiscal:
            self._phrase.fiscal = value
            return
        if self._year is not None and self._year.value != value:
            raise NotADate("{first} and {second} are not the same year.", first=self._year.text.strip(), second=year.text.strip())
        self._year = replace(year, value=value)

    def _take_month(self, month: MonthToken) -> None:
        month = replace(month, year=month.year or (self._year.value if self._year else None))
        if self._linked and self._phrase.month is not None and not self._group.spans and self._phrase.last_month is None:
            self._phrase.last_month = month
        elif self._linked:
            self._phrase.vague = self._phrase.vague or month.text.strip()
        elif self._month is not None and self._month.month != month.month and not self._group.spans:
            if month.month == (self._phrase.last_month or self._month).month % 12 + 1:
                self._phrase.last_month = month  # "in October and November"
            else:
                self._phrase.vague = self._phrase.vague or month.text.strip()
        self._phrase.month = self._phrase.month or month
        self._month, self._year = month, None

    def _take_day(self, day: DayToken) -> None:
        if self._year is not None and day.year is None:
            day = replace(day, year=self._year.value)
        self._year = None
        if day.month is None and self._month is not None and not self._phrase.days and not self._group.spans:
            day = replace(day, month=self._month.month, year=day.year or self._month.year)  # "6月の木曜日(4・11日)"
        elif day.month is None and not self._linked and not self._group.hours and self._names_again(day):
            self._close()
        if len(self._phrase.days) + len(self._group.spans) >= MOST_DAYS:
            raise NotADate("There are more than {most} dates in it.", most=MOST_DAYS)
        spans = self._group.spans
        if self._linked and spans and spans[-1].last is None and self._last is not None:
            self._ends_later = isinstance(self._last, TimeToken)
            self._phrase.goes_on = self._phrase.goes_on or self._ends_later
            spans[-1].last = day
        else:
            if self._group.hours and spans:
                self._close()
            elif self._group.hours and not self._phrase.groups:
                self._leading = list(self._group.hours)
            is_end = self._open and self._last is None
            self._group.spans.append(DaySpan(None, day) if is_end else DaySpan(day))
        self._last, self._linked, self._is_until = day, False, False

    def _names_again(self, day: DayToken) -> bool:
        """ "8月1日・2日 1日は10時から": a day of the list, to say more of it."""
        spans = self._group.spans
        return len(spans) > 1 and any(span.first and span.first.day == day.day and span.last is None for span in spans)

    def _take_clock(self, clock: TimeToken) -> None:
        if not is_possible(clock):
            self._phrase.notes.append(f"{clock.text.strip()} is not a time.")
            return
        hours = self._group.hours
        joins = self._linked and isinstance(self._last, TimeToken)
        is_open = joins and bool(hours) and hours[-1].end is None and hours[-1].label is None
        if is_open and clock.label in {DateMark.DOORS, DateMark.ENTRY}:
            hours[-1].end, hours[-1].label = clock, clock.label  # "9時~9時半受付"
            self._phrase.doors = self._phrase.doors or (hours[-1].start if clock.label is DateMark.DOORS else None)
        elif clock.label is DateMark.END and hours and hours[-1].label in {DateMark.DOORS, DateMark.ENTRY}:
            hours.append(HourRange(None, clock, clock.label))
        elif (
            (joins or self._ends_later)
            and hours
            and hours[-1].end is None
            and clock.label in {None, DateMark.END, hours[-1].label}
        ):
            hours[-1].end = clock
        elif clock.label is DateMark.DOORS:
            self._phrase.doors = self._phrase.doors or clock
            hours.append(HourRange(clock, None, clock.label))
        else:
            is_first = self._last is None and self._phrase.month is None
            is_end = clock.label is DateMark.END or (self._open and is_first) or self._is_until  # "until 8pm"
            hours.append(HourRange(None if is_end else clock, clock if is_end else None, clock.label))
        self._last, self._linked, self._ends_later, self._is_until = clock, False, False, False

    def _take_sign(self, sign: MarkToken) -> None:
        match sign.mark:
            case DateMark.RANGE:
                self._linked = True
                self._open = sign.text == "~" or sign.text.lower().startswith(("bis", "tot", "t/m", "au", "al", "through"))
            case DateMark.UNTIL:
                self._take_until(is_behind=sign.text in {"まで", "迄"})
            case DateMark.LIST:
                is_after_end = sign.text == "," and isinstance(self._last, DayToken)  # "Dec 31, 9 pm - Jan 1, 1 am"
                self._linked, self._open, self._ends_later = False, False, self._ends_later and is_after_end
            case DateMark.STOP:
                self._open = self._open and sign.text == "("
                self._linked = self._linked and sign.text == "\n"
            case DateMark.ALL_DAY:
                self._phrase.is_all_day = True
            case DateMark.UNSETTLED if self._linked:
                self._phrase.notes.append("The end is not settled yet.")
            case DateMark.VAGUE if sign.text in {"頃", "ごろ"} and isinstance(self._last, TimeToken):
                self._phrase.notes.append("The time is approximate.")
            case DateMark.VAGUE | DateMark.UNSETTLED:
                self._phrase.vague = self._phrase.vague or sign.text
            case _:
                pass

    def _take_until(self, *, is_behind: bool) -> None:
        """What "まで" ends: a range it already ends, or the only day or time there is."""
        hours, spans = self._group.hours, self._group.spans
        if self._last is None:
            self._open = True  # "until 5 September"
        elif not is_behind:
            self._linked, self._open = True, False  # "from 10am till 4pm"
            self._is_until = isinstance(self._last, DayToken) and not hours
            return
        elif isinstance(self._last, TimeToken) and hours and hours[-1].end is None and hours[-1].label is None:
            hours[-1] = HourRange(None, hours[-1].start)
        elif isinstance(self._last, DayToken) and spans and spans[-1].last is None:
            spans[-1] = DaySpan(None, spans[-1].first)
        self._linked = False

    def _close(self) -> None:
        if self._group.spans or self._group.hours:
            self._phrase.groups.append(self._group)
        self._group = DateGroup()

    def finish(self) -> DatePhrase:
        self._close()
        groups = self._phrase.groups
        if len(groups) > 1 and not groups[0].spans and not groups[1].hours:
            groups[1].hours = groups.pop(0).hours
        for group in groups:
            group.hours = group.hours or list(self._leading)
        if self._linked and self._phrase.month is not None and self._last is None and self._phrase.last_month is None:
            self._phrase.vague = self._phrase.vague or self._phrase.month.text.strip()  # "4月から", and nobody says until when
        if self._year is not None and not self._phrase.days and self._phrase.month is None:
            self._phrase.vague = self._phrase.vague or self._year.text.strip()
        return self._phrase
