"""`read_when`: from the text of a date to occurrences, or to the reason why there are none."""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from tadoru.errors import Message, message_of
from tadoru.model.event import Occurrence
from tadoru.parse.dates.accounting import (
    account,
    check_complete,
    of_the_event,
    tokens_of,
    unread_words,
    without_asides,
    without_side_remarks,
)
from tadoru.parse.dates.assemble import LAST_AFTERNOON, AssembledDates, DaySession, as_clock, sessions_of
from tadoru.parse.dates.clocks import clock_column, is_possible
from tadoru.parse.dates.exact import as_tokens, read_exact
from tadoru.parse.dates.exclusions import ExcludedDates, split_exclusions
from tadoru.parse.dates.note import DateNote, as_columns, every_day, read_note, runs_of, with_dates, without_repeats
from tadoru.parse.dates.opening_hours import (
    LONG_PERIOD,
    WeekdayHours,
    are_of_period,
    hours_on,
    split_weekday_hours,
    weekly_by_name,
)
from tadoru.parse.dates.period import AHEAD, LONGEST_SEASON, PeriodDays, add_period
from tadoru.parse.dates.phrase import DateGroup, DatePhrase, DaySpan, HourRange, read_phrase
from tadoru.parse.dates.recurrence import RecurrencePhrase, expand, find_rule
from tadoru.parse.dates.scan import LONGEST, prepare, scan, scan_places, with_weekdays
from tadoru.parse.dates.tokens import (
    DateMark,
    DayHalf,
    DayToken,
    MarkToken,
    MonthToken,
    NotADate,
    ParsedDate,
    TimeToken,
    Token,
    UnreadableDate,
    YearSource,
)
from tadoru.parse.dates.vocabulary import DayMonthOrder, day_month_order
from tadoru.parse.dates.weekdays import LATIN
from tadoru.parse.dates.years import ResolvedDates, resolve

_LONGEST_NOTE = 20 * LONGEST
"""What repeats the columns is taken out of a note before it is read."""
_FIRST_TIME = re.compile(
    r"(?:初回|開講日)[は:]?\s?((?:\d{1,2}月)?\d{1,2}日(?:\([^()]{1,8}\))?|\d{1,2}/\d{1,2}(?:\([^()]{1,8}\))?)(?!か|~|よ)"
)
_NEXT_TIME = re.compile(r"次回[は:]?\s?(?:(?:\d{1,2}月)?\d{1,2}日|\d{1,2}/\d{1,2})(?:\([^()]{1,8}\))?")
_RUNS = re.compile(
    r"開催中|公開中|展示中|実施中|(?:開催|公開|展示|実施|点灯|上映)して[いお]|会期|展示は|開[館園]時間|"
    r"(?<![a-zà-ÿ])(?:open|on (?:view|show|display)|exhibition|geöffnet|"
    r"ausstellung|noch|exposition|mostra|exposición|tentoonstelling)(?![a-zà-ÿ])",
    re.IGNORECASE,
)
"""It is on already, so that its end is enough."""
_SHIFT = re.compile(r"(?:[土日祝]|休日|平日)[^)）。]{0,8}場合は?[^)）。]{0,6}[翌前]")
"""Another day in its place, if it falls on a holiday."""
_BEGINS = re.compile(
    r"[\d日)]\s?(?:から|より|~|スタート|開始|開講)|(?<![a-zà-ÿ])(?:from|starting|starts?|begins?|beginning|ab|beginn|"
    r"dès|à partir|desde|dal|a partire|vanaf)(?![a-zà-ÿ])",
    re.IGNORECASE,
)
_NOT_DAILY = re.compile(
    r"教室|講座|講習|セミナー|研修|受付|相談|申告|募集|キャンプ|合宿|大会|リーグ|工事|体験|[作つ]く?ろう|class|course|seminar|camp",
    re.IGNORECASE,
)
"""Hours beside a long period of these are not opening hours: they are held on some of its days."""
_OVER_NIGHT = re.compile(
    r"合宿|キャンプ|泊|とまり|夜通し|オールナイト|ツアー|旅行|登山|林間学校|臨海学校|耐久|24時間|ハッカソン|hackathon|overnight|camp|"
    r"retreat|sleepover|schullandheim|freizeit|séjour",
    re.IGNORECASE,
)
"""These go on from the first day to the last."""
_NIGHTS = re.compile(r"[\d１-９一二三]泊|お泊まり|overnight stay", re.IGNORECASE)
_TAKING_PART = re.compile(
    r"registration|applications?|call for|tickets?|submissions?|enrol|bewerb|anmeld|einsend|vorverkauf|rabatt|inscription|"
    r"candidature|early bird|iscrizion|inscripci|aanmeld|inschrijv|deadline|discount|"
    r"survey|umfrage|nominations?|offer|voting|competition",
    re.IGNORECASE,
)
_OFFICE = re.compile(
    r"(?<!要)(?:問い?合わ?せ|窓口|電話|TEL|申し?込み?|予約|事務[所局])[^。\n\s制]{0,6}[\s:：は]{0,2}"
    r"(?:平日|[月火水木金土日](?:曜日?)?\s?[~～\-・から]{1,2}\s?[月火水木金土日])[^。\n]{0,60}",
    re.IGNORECASE,
)
"""When an office answers, which is not when the event takes place: "お問い合わせは平日9時~17時"."""
_DAYS_LONG = re.compile(r"\d日?(?:\s?\([^()]{1,8}\))?\s?(?:から|より|~)の?\s{0,2}(\d{1,2})日間(?!有効|以内)")
"""How many days it goes on from the first: "9日(土)から3日間"."""
_EARLY = re.compile("日の出|ご来光|早朝|朝市|朝釣|夜明|探鳥|オールナイト")
"""An hour up to four is then as it is written, not in the afternoon."""
_ARRIVAL = re.compile(r"(日(?:\s?\([^()]{1,8}\))?)\s?(?:まで)?\s?[(\[【※]{0,2}\s?(?:必着|消印有効|締め?切り?)[)\]】]?(?:まで)?")
"""The day by which something has to arrive is an end."""
_DEADLINE = re.compile(r"(?<=\d)日(?:\s?\([^()]{1,8}\))?\s?(?:(?:午前|午後)?\s?\d{1,2}(?:時(?:半|\d{1,2}分)?|:\d\d)|正午)?までに")
_OF_ONE_DAY = re.compile(
    r"(?:初日|最終日)(?:\s?[（(][^（）()]{1,8}[）)])?(?:のみ|だけ|は)(?:、|は)?\s?(?=午|正午|[\d０-９]{1,2}[時:：])[^。、,()（）\n]{1,30}"
)
"""The hours of the first or the last day, as a note has them."""
_HAS_DEADLINE = re.compile("締め?切|〆切|必着|申し?込|応募|予約|受け?付")
_OPEN_RANGE = re.compile(r"から[、,]\s?(?=(?:令和|平成)?\s?[\d元]{1,4}[年月日/][^。は]{0,30}まで)")
"""A comma before the end of a range."""
_OPEN_LIST = re.compile(
    r"(?:(?<=[時分半])|(?<=:\d\d))~\s(?=(?:\d{1,2}月)?\d{1,2}日(?![間目])(?:\([^()]{1,8}\))?[^。\d~]{0,12}(?:\d{1,2}時(?:半|\d{1,2}分)?|\d{1,2}:\d\d)~(?:\s|$))"
)
"""No range, since the second time has a sign of its own: "9日 18時~ 10日 10時~"."""
_NO_DATE = re.compile(r"\d{1,2}日制|\d泊\d{1,2}日|第\d{1,2}日(?!曜)|(?<=[名人館所先課室口組枚台])まで")
"""A course of two days, at most four people, call the office."""
DayPair = tuple[date, date | None]
"""The first day and, if there is one, the last."""
Written = str | date
"""A date in words, or one that was read already (a `datetime` too)."""


_YMD = re.compile(r"(\d{4})[/-](\d{1,2})[/-](\d{1,2})")


def _as_iso(found: re.Match[str]) -> str:
    return f"{found[1]}-{int(found[2]):02}-{int(found[3]):02}"


def read_when(  # noqa: PLR0913 - each is a column of its own
    text: Written,
    *,
    now: datetime,
    zone: ZoneInfo,
    end: Written | None = None,
    start_time: str | None = None,
    end_time: str | None = None,
    note: str | None = None,
    order: DayMonthOrder | None = None,
    title: str = "",
) -> ParsedDate | UnreadableDate:
    """A written date with what stands beside it. `now` is aware; `order` is that of short dates, by default the usual there; the
    title tells opening hours from the hours of a course."""
    reader = _Reading(now.astimezone(zone).date(), zone, order or day_month_order(zone), title)
    text, end = (written[:LONGEST] if isinstance(written, str) else written for written in (text, end or ""))
    if isinstance(text, str) and not end and (columns := as_columns(text)):
        note = "\n".join(filter(None, [without_repeats(text), note]))
        text, end = (_YMD.sub(_as_iso, columns.get(name, "")) for name in ("開始日", "終了日"))
        start_time, end_time = start_time or columns.get("開始時"), end_time or columns.get("終了時")
    try:
        return reader.read(text, end, (start_time or "")[:LONGEST], (end_time or "")[:LONGEST], (note or "")[:_LONGEST_NOTE])
    except NotADate as problem:
        return UnreadableDate(str(text)[:200], message_of(problem))


@dataclass(frozen=True, slots=True)
class _WrittenDate:
    """A text of a date: its tokens, and what they do not say."""

    tokens: list[Token]
    rule: RecurrencePhrase | None = None
    plain: str = ""
    """The prepared text; empty for a date that a machine wrote."""
    unread: str = ""
    """Words that look like dates or times and are in no token."""
    excluded: ExcludedDates = ExcludedDates()
    opening: tuple[WeekdayHours, ...] = ()


class _Reading:
    """One parse, with its time zone and current time."""

    def __init__(self, today: date, zone: ZoneInfo, order: DayMonthOrder, title: str) -> None:
        self._today = today
        self._title = title
        self._is_early = _EARLY.search(title) is not None
        self._may_be_daily = _NOT_DAILY.search(title) is None
        self._may_end_each_day = _OVER_NIGHT.search(title) is None
        self._zone = zone
        self._order = order
        self._hours_of_columns = False
        """The hours stand in columns of their own, so that they are those of each day."""

    def read(self, text: Written, end: Written, start_time: str, end_time: str, note: str) -> ParsedDate:
        begins, end_clocks = self._clocks(start_time), self._clocks(end_time)
        if isinstance(text, str) and (clauses := _OF_ONE_DAY.findall(text)):
            text, note = _OF_ONE_DAY.sub(" ", text), "、".join([*clauses, note])
        written = self._tokens(text)
        self._hours_of_columns = bool(begins and end_clocks) and self._may_end_each_day
        tokens, rule = written.tokens, written.rule
        ends = self._tokens(end).tokens
        if not end_clocks and _is_filled_in(begins, tokens):
            begins = []
        tokens = _without_midnight(tokens) if begins else tokens
        ends = _without_midnight(ends) if end_clocks else ends
        shown = " ".join(str(text).split())[:80]
        if shown and ends and not any(isinstance(token, DayToken | MonthToken) for token in tokens):
            raise NotADate("“{text}” is not a date that can be read, and there is only an end beside it.", text=shown)
        phrase = _in_columns(tokens, begins, ends, end_clocks)
        if phrase is None:
            tokens += begins
            if ends or end_clocks:
                tokens += [MarkToken("~", DateMark.RANGE), *ends, *_called_end(end_clocks)]
            phrase = read_phrase(with_weekdays(tokens))
        if str(end).strip() and not ends:
            phrase.notes.append("The end could not be read.")
        self._months_of_rule(phrase, rule)
        return self._occurrences(shown, phrase, written, note)

    def _tokens(self, text: Written) -> _WrittenDate:
        """The tokens of a text, and the rule that stands among them."""
        if not text:
            return _WrittenDate([])
        if not isinstance(text, str):
            return _WrittenDate(list(as_tokens(text, str(text))))
        found = _scan_text(text, self._order, self._today)
        is_early = self._is_early or _EARLY.search(text) is not None
        return replace(found, tokens=[_as_written(token) for token in found.tokens] if is_early else [*found.tokens])

    def _clocks(self, text: str) -> list[Token]:
        column = clock_column(text)
        if column:
            return list(column)
        tokens = scan(prepare(text), order=self._order, today=self._today) if text.strip() else []
        return (
            [_as_written(token) if self._is_early else token for token in tokens if isinstance(token, TimeToken | MarkToken)]
            if any(isinstance(t, TimeToken) for t in tokens)
            else []
        )

    def _months_of_rule(self, phrase: DatePhrase, rule: RecurrencePhrase | None) -> None:
        """ "8月の毎週土曜日" is from the first to the last of the month; "3月~11月 毎月第3金曜日" to the last of November."""
        if rule is None or phrase.days or phrase.month is None or phrase.vague:
            return
        month, final = phrase.month, phrase.last_month or phrase.month
        days = [
            (DayToken(month.text, month.year, month.month, 1), False),
            (DayToken(final.text, final.year, final.month, 1), True),
        ]
        begin, finish = resolve(days, today=self._today, fiscal=phrase.fiscal).dates
        if begin is None or finish is None:
            return
        last = monthrange(finish.year, finish.month)[1]
        span = DaySpan(DayToken(month.text, begin.year, begin.month, 1), DayToken(final.text, finish.year, finish.month, last))
        phrase.groups = [DateGroup([span], [hours for group in phrase.groups for hours in group.hours])]

    def _occurrences(self, shown: str, phrase: DatePhrase, written: _WrittenDate, note: str) -> ParsedDate:
        rule = written.rule
        if rule is not None and not phrase.vague and not written.unread and (not phrase.days or _only_until(phrase)):
            return self._open_rule(shown, rule, phrase)
        is_on = written.opening or _RUNS.search(written.plain)
        if is_on and _only_until(phrase) and not _TAKING_PART.search(written.plain):
            self._begin_today(phrase)
        groups = _that_begin(shown, phrase, written)
        resolved = resolve(phrase.days, today=self._today, fiscal=phrase.fiscal)
        assembly = AssembledDates(self._zone, notes=[*phrase.notes, *resolved.notes], doubts=[*resolved.notes])
        days = _dated(groups, resolved)
        is_single = len(days) == 1 and len(days[0]) == 1
        if is_single and days[0][0][1] is None and (lasts := _DAYS_LONG.search(written.plain)):
            days = [[(days[0][0][0], days[0][0][0] + timedelta(days=max(int(lasts[1]), 1) - 1))]]
        phrase.goes_on = phrase.goes_on or _NIGHTS.search(f"{shown} {note}") is not None
        if written.plain:
            if is_single and days[0][0][1] is None and _only_ends(groups[0]):
                raise NotADate("“{text}” says only when it ends.", text=shown)
            account(shown, written.plain, written.unread, [pair for pairs in days for pair in pairs])
        if written.opening or (written.plain and not is_single and _are_periods_with_hours(groups, days)):
            return self._by_day(shown, written, groups, days, resolved.year)
        said = self._note(note, *days[0][0]) if is_single else self._note(note, date.max, None)
        rule = rule or (said.rule if said else None)
        if is_single:
            sessions = [] if phrase.is_all_day else sessions_of(groups[0])
            rule = rule or weekly_by_name(f"{self._title}\n{note}", *days[0][0], sessions)
            text = f"{shown} {note}" if self._may_be_daily and not phrase.goes_on else None
            begins = written.rule is not None and _BEGINS.search(written.plain) is not None
            is_by_day = (bool(written.plain) or self._hours_of_columns) and not phrase.goes_on
            is_season = bool(written.plain) and not note and self._may_be_daily and not _NOT_DAILY.search(shown)
            first, last = days[0][0]
            is_short = last is not None and (last - first).days < LONG_PERIOD
            excluded = written.excluded | said.excluded if said and is_by_day and is_short else written.excluded
            within = PeriodDays(rule, begins, excluded, is_by_day, is_season)
            add_period(assembly, *days[0][0], sessions, within, said, phrase.is_all_day, text)
        else:
            self._add_groups(assembly, groups, days, phrase, written)
        assembly.occurrences = _in_order(_with_hours(assembly.occurrences))
        if written.rule is not None and assembly.doubts:
            raise NotADate("“{text}” cannot be read. {reason}", text=shown, reason=assembly.doubts[0])
        if written.plain:
            check_complete(shown, written.plain, rule, {item.starts_at.date() for item in assembly.occurrences})
        doors = assembly.doors(phrase) or (assembly.doors(said.phrase) if said else None)
        return ParsedDate(
            occurrences=tuple(assembly.occurrences),
            doors=doors,
            year=resolved.year,
            recurrence=rule.text if rule else "",
            notes=tuple(dict.fromkeys(assembly.notes)),
        )

    def _add_groups(
        self,
        assembly: AssembledDates,
        groups: list[DateGroup],
        days: list[list[DayPair]],
        phrase: DatePhrase,
        written: _WrittenDate,
    ) -> None:
        """Days and periods of a list, each with the hours beside it; a day that is there already only gets other hours."""
        several = False
        for group, pairs in zip(groups, days, strict=True):
            sessions = [] if phrase.is_all_day else sessions_of(group)
            is_by_day = (
                bool(written.plain) and not phrase.goes_on and bool(sessions) and all(one.is_of_one_day for one in sessions)
            )
            for first, last in pairs:
                if last is None and _is_remark(first, sessions, assembly, several):
                    continue
                is_each = last is not None and is_by_day and (last - first).days <= LONGEST_SEASON
                if last is not None and (is_each or written.excluded):
                    held = tuple(day for day in every_day(first, last) if day not in written.excluded)
                    for begin, finish in [(day, None) for day in held] if is_each else runs_of(held):
                        assembly.add(begin, finish, sessions)
                else:
                    assembly.add(first, (last or first) if phrase.is_all_day else last, sessions)
            several = len(pairs) > 1 or any(last for _, last in pairs)

    def _begin_today(self, phrase: DatePhrase) -> None:
        """ "開催中~5月16日" as the period from today on."""
        span = next(span for group in phrase.groups for span in group.spans)
        span.first = DayToken("", self._today.year, self._today.month, self._today.day, relative=True)
        phrase.notes.append("No first date is written: it is shown from today on.")

    def _by_day(
        self,
        shown: str,
        written: _WrittenDate,
        groups: list[DateGroup],
        days: list[list[tuple[date, date | None]]],
        year: YearSource,
    ) -> ParsedDate:
        """Each day of the periods with the hours of its weekday, or with the usual ones."""
        assembly = AssembledDates(self._zone)
        for group, pairs in zip(groups, days, strict=True):
            usual = sessions_of(group)
            for first, last in pairs:
                for day in every_day(first, last or first):
                    if day not in written.excluded and (sessions := hours_on(day, written.opening, usual)):
                        assembly.add(day, None, sessions)
        if written.rule is not None or not assembly.occurrences:
            raise NotADate("“{text}” has hours of weekdays beside another rule, or of no day that it names.", text=shown)
        return ParsedDate(occurrences=tuple(_in_order(assembly.occurrences)), year=year, notes=tuple(assembly.notes))

    def _open_rule(self, shown: str, rule: RecurrencePhrase, phrase: DatePhrase) -> ParsedDate:
        """The next dates of a rule that does not say from when, and perhaps not until when."""
        last = self._today + AHEAD * (2 if rule.nths or rule.month_days else 1)
        if phrase.days:
            last = resolve(phrase.days, today=self._today, fiscal=phrase.fiscal).dates[0] or last
        sessions = [session for group in phrase.groups for session in sessions_of(group)]
        is_open = rule.is_open and (sessions or not rule.must_begin)
        dates, reason = expand(replace(rule, must_begin=False), self._today, last) if phrase.days or is_open else ((), "")
        if not dates:
            if reason:
                raise NotADate("“{text}” says how often, but not from when to when. {reason}", text=shown, reason=reason)
            raise NotADate("“{text}” says how often, but not from when to when.", text=shown)
        assembly = AssembledDates(self._zone, notes=phrase.notes)
        for day in dates:
            assembly.add(day, None, sessions)
        missing = "No first date" if phrase.days else "No first and no last date"
        notes = (*assembly.notes, f"{missing} is written: these are the next dates.")
        occurrences = tuple(_in_order(assembly.occurrences))
        return ParsedDate(occurrences=occurrences, year=YearSource.RELATIVE, recurrence=rule.text, notes=notes)

    def _note(self, note: str, first: date, last: date | None) -> DateNote | None:
        note = _OFFICE.sub(" ", note)
        return read_note(with_dates(note, first, last), order=self._order, today=self._today) if note.strip() else None


@lru_cache(maxsize=1_000)
def _scan_text(text: str, order: DayMonthOrder, today: date) -> _WrittenDate:
    """What stands in a text. Events of a source share their dates, so each text is scanned once."""
    exact = read_exact(text)
    if exact is not None:
        return _WrittenDate(list(as_tokens(exact, text)))
    plain, excluded = split_exclusions(prepare(text))
    plain = without_asides(without_side_remarks(plain) if LATIN.search(plain) else plain)
    plain = of_the_event(plain)
    if _DEADLINE.search(plain) and "から" not in plain and "~" not in plain:
        raise NotADate("“{text}” says only when it ends.", text=" ".join(text.split())[:80])
    prepared = _OPEN_RANGE.sub("から", _OPEN_LIST.sub("~、", _ARRIVAL.sub(r"\1まで", _NO_DATE.sub(" ", plain))))
    rest, opening = split_weekday_hours(prepared := _FIRST_TIME.sub(r"\1から", prepared), order, today)
    prepared, opening = (rest, opening) if are_of_period(rest, opening) else (prepared, ())
    rule, plain = find_rule(prepared, excluded), prepared
    if rule is not None and not excluded and (shift := _SHIFT.search(text)):
        rule = replace(rule, doubt=Message("it has an exception ({words})", words=shift[0]))
    if rule is not None:
        prepared = _NEXT_TIME.sub(" ", f"{prepared[: rule.start]} {prepared[rule.stop :]}")
    places = scan_places(prepared, order=order, today=today)
    return _WrittenDate(tokens_of(prepared, places), rule, plain, unread_words(prepared, places), excluded, opening)


def _that_begin(shown: str, phrase: DatePhrase, written: _WrittenDate) -> list[DateGroup]:
    """The groups of a phrase with a first day; raises `NotADate` if there is none, or if something else ends."""
    groups = [group for group in phrase.groups if any(span.first for span in group.spans)]
    if not groups:
        raise _why_none(shown, phrase, written.rule)
    has_end = any(not span.first for group in phrase.groups for span in group.spans)
    if written.plain and has_end and not _HAS_DEADLINE.search(shown):
        raise NotADate("“{text}” says also when something else ends.", text=shown)
    for group in groups:
        group.spans = [span for span in group.spans if span.first]
    phrase.groups = groups
    return groups


def _are_periods_with_hours(groups: list[DateGroup], days: list[list[DayPair]]) -> bool:
    """Whether there are only periods, and hours that hold on each of their days."""
    hours = [sessions_of(group) for group in groups]
    are_periods = all(last is not None and last > first for pairs in days for first, last in pairs)
    return are_periods and all(sessions and all(one.is_of_one_day for one in sessions) for sessions in hours)


def _only_until(phrase: DatePhrase) -> bool:
    """Whether the only day is an end: "毎週土曜日、11月30日まで"."""
    return len(phrase.days) == 1 and phrase.days[0][1]


def _only_ends(group: DateGroup) -> bool:
    """A day with nothing but "until five o'clock": a deadline."""
    return bool(group.hours) and all(hours.start is None and hours.label is None for hours in group.hours)


def _in_columns(tokens: list[Token], begins: list[Token], ends: list[Token], end_clocks: list[Token]) -> DatePhrase | None:
    """Two days and two times, each in a column of its own: nine of ten rows of a table. None when it is not so simple."""
    if max(len(tokens), len(begins), len(ends), len(end_clocks)) > 1:
        return None
    first, last = next(iter(tokens), None), next(iter(ends), None)
    opens, closes = next(iter(begins), None), next(iter(end_clocks), None)
    if not isinstance(first, DayToken) or not isinstance(last, DayToken | None):
        return None
    if not (isinstance(opens, TimeToken | None) and isinstance(closes, TimeToken | None)):
        return None
    if not all(clock is None or is_possible(clock) for clock in (opens, closes)):
        return None
    hours = [HourRange(opens, closes, None if opens else DateMark.END)] if opens or closes else []
    return DatePhrase([DateGroup([DaySpan(first, last)], hours)])


def _as_written(token: Token) -> Token:
    """A time in the small hours as one before noon."""
    if isinstance(token, TimeToken) and token.half is None and 1 <= token.hour <= LAST_AFTERNOON:
        return replace(token, half=DayHalf.GOZEN)
    return token


def _called_end(clocks: list[Token]) -> list[Token]:
    """A time in the column of the end is the end, whatever is missing before it."""
    if not clocks or not isinstance(clock := clocks[0], TimeToken) or clock.label:
        return clocks
    return [replace(clock, label=DateMark.END), *clocks[1:]]


def _is_filled_in(begins: list[Token], tokens: list[Token]) -> bool:
    """Whether 0:00 alone stands in the column of the start, as forms that insist on a time are filled in; not at New Year."""
    day = tokens[0] if tokens else None
    is_new_year = isinstance(day, DayToken) and (day.month, day.day) in {(1, 1), (12, 31)}
    return bool(begins) and not _without_midnight(begins) and not is_new_year


def _without_midnight(tokens: list[Token]) -> list[Token]:
    """Midnight is what exports write beside a time of its own."""
    return [token for token in tokens if not (isinstance(token, TimeToken) and not token.hour and not token.minute)]


def _is_remark(day: date, sessions: list[DaySession], assembly: AssembledDates, is_one_of_several: bool) -> bool:
    """ "10時～16時 (3日は15時まで)": hours of a day that is there already. They hold in place of the others, or are noted."""
    there = [item for item in assembly.occurrences if item.has_time and _covers(item, day)]
    if not there or not sessions:
        return False
    shown = f"{day.day} {day:%B}"
    if all(session.start is None for session in sessions):
        if len(there) == 1 and there[0].starts_at.date() == day and (end := sessions[-1].end) is not None:
            return assembly.end_at(there[0], end)
        assembly.note(f"On {shown} it ends at {as_clock(sessions[-1].end or 0)}.")
        return True
    if any(item.starts_at.date() != day for item in there):
        assembly.note(f"On {shown} the hours are others.")
        return True
    if is_one_of_several:
        assembly.occurrences = [item for item in assembly.occurrences if item not in there]
    return False


def _covers(occurrence: Occurrence, day: date) -> bool:
    start, end = occurrence.starts_at, occurrence.ends_at
    return start.date() == day or (end is not None and start.date() <= day <= (end - timedelta(minutes=1)).date())


def _with_hours(occurrences: list[Occurrence]) -> list[Occurrence]:
    """Without the whole days of which hours are told as well: "8月1日・2日 1日は10時から、2日は9時から"."""
    if len(occurrences) == 1:
        return occurrences
    timed = {item.starts_at.date() for item in occurrences if item.has_time}
    return [item for item in occurrences if item.has_time or item.ends_at is not None or item.starts_at.date() not in timed]


def _in_order(occurrences: list[Occurrence]) -> list[Occurrence]:
    """Each start once, the earliest first."""
    if len(occurrences) == 1:
        return occurrences
    # In UTC: an hour that comes twice is two.
    by_start = {item.starts_at.astimezone(UTC): item for item in occurrences}
    return [by_start[moment] for moment in sorted(by_start)]


def _dated(groups: list[DateGroup], resolved: ResolvedDates) -> list[list[tuple[date, date | None]]]:
    """The dates of each group's spans, taken from the list of all."""
    dates = iter(resolved.dates)
    found: list[list[tuple[date, date | None]]] = []
    for group in groups:
        pairs = []
        for span in group.spans:
            first = next(dates)
            assert first is not None
            pairs.append((first, next(dates) if span.last else None))
        found.append(pairs)
    return found


def _why_none(shown: str, phrase: DatePhrase, rule: RecurrencePhrase | None) -> NotADate:
    if not shown:
        return NotADate("There is no date.")
    if any(span.last for group in phrase.groups for span in group.spans):
        return NotADate("“{text}” says only when it ends.", text=shown)
    if rule is not None:
        return NotADate("“{text}” says how often, but not from when to when.", text=shown)
    if phrase.vague:
        return NotADate("“{text}” names no day: it is not settled, or only a part of a month or year.", text=shown)
    if phrase.month is not None:
        return NotADate("“{text}” names a month, but no day.", text=shown)
    if phrase.groups:
        return NotADate("“{text}” is a time without a date.", text=shown)
    return NotADate("“{text}” is not a date that can be read.", text=shown)
