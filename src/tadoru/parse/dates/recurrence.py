"""Phrases for recurrence: "毎月第2水曜日", "期間中の金曜日のみ", "every Saturday"; recognised, and expanded between two dates.

Days, months and public holidays that are excepted are left out. A rule with an exception that cannot be computed (days off,
"in principle") is recognised and not expanded.
Rules of calendars (RRULE) are in `parse.sources.ics_rule`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta

from tadoru.errors import Message
from tadoru.parse.dates.exclusions import DATED_WEEKDAY, MONTH_NAME, ExcludedDates
from tadoru.parse.dates.holidays import is_holiday
from tadoru.parse.dates.weekdays import (
    AND,
    EVERY,
    LATIN,
    LIST,
    NAME,
    NAME_RANGE,
    ONE,
    PLURAL,
    RANGE,
    either,
    names_of,
    range_of,
    signs_of,
)

_MOST_OPEN = 3
"""Weekdays of a rule without a period; more are opening hours."""
MOST = 400
"""Dates that a rule is expanded to; more than a year of days says nothing that the period does not."""

_NTHS = r"第\s?\d(?:\s?[・、,/と~\-]\s?第?\s?\d){0,4}"
_MONTHLY_NTH = re.compile(
    rf"(?:(?:毎月|各月|(?P<months>偶数月|奇数月))\s?の?\s?|(?<!月)(?<!月の)(?<!\d))(?P<nths>{_NTHS}|最終|最後の?)\s?(?:週の?)?\s?(?!日(?![曜・、]))(?P<days>{LIST})"
)
_NTHS_OF_MONTH = re.compile(
    rf"(?<=\d月)の?\s?(?P<nths>第\s?\d(?:\s?[・、,/と~\-]\s?第?\s?\d){{1,4}})\s?(?:週の?)?\s?(?P<days>{LIST})(?P<months>)"
)
"""Several of one month: "8月の第1・第3土曜日"."""
_CLOSED_AFTER = re.compile(
    r"[・、,\s]{0,2}(?:祝日?|休日)?[・、,\s]{0,2}(?:第\d[月火水木金土日]曜日?)?[はが]?\s?(?:お?休|定休|閉[館園])"
)
_CLOSED_BEFORE = re.compile(r"(?:休[館園業演場]日?|定休日?|お?休み)[はが:(\s]{0,3}$")
_OTHER_HOURS = re.compile(
    r"(?:の?み|は|だけ|に限り|[、,\s]){0,3}(?:午[前後]|夜)?\d{1,2}(?:時半?(?:\d{1,2}分)?|:\d\d)(?:まで|閉館|閉園|終了)"
)
_MONTHLY_DAY = re.compile(r"(?:毎月|各月)\s?の?\s?(?P<days>(?:\d{1,2}日)(?:\s?[・、,と]\s?\d{1,2}日){0,5}|末日)")
_FORTNIGHTLY = re.compile(rf"隔週\s?の?\s?(?P<days>{LIST})")
_HOLIDAYS_TOO = r"(?P<holidays>[・、,\s]?\(?(?:祝日|祝祭日|祝)\)?)?"
_WEEKLY = re.compile(
    rf"(?:(?:期間中の?)?毎週|毎(?![月日](?!曜))|期間中の?|各週の?)\s?の?\s?(?P<days>{RANGE}|{LIST}){_HOLIDAYS_TOO}(?:の?み)?"
    rf"|(?<![^\s・、,/の()~])(?P<only>{RANGE}|{LIST})(?P<only_holidays>[・、,\s]?(?:祝日|祝祭日|祝))?の?のみ?の?み(?:の?開催|実施)?"
)
_OF_PERIOD = re.compile(
    r"(?<=[日月)でに])の\s?(?P<days>[月火水木金土日](?:曜日?)?\s?(?:~|-|から)\s?[月火水木金土日]曜日?"
    rf"|(?:[月火水木金土日](?:曜日?)?[・、,と]?){{0,6}}[月火水木金土日]曜日?){_HOLIDAYS_TOO}(?![月火水木金土日は])(?:の?み)?"
)
"""Weekdays of a period: "9月5日~26日の土曜日"."""
_WORKDAYS = re.compile(r"平日(?:の?み|に?(?:開催|実施))|(?<=[日)]の)平日|(?<=[)日\s(])平日(?=[\s)、(]|の?\d|の?午|$)")
_BARE = re.compile(
    rf"(?:^|(?<![\d日)])[\s:])(?P<days>{RANGE}|[月火水木金土日]曜日?(?:\s?[・、,/と]?\s?{ONE}){{0,6}}|[月火水木金土日](?:[・、,/]?[月火水木金土日]){{1,6}}(?:曜日?)?)"
    rf"{_HOLIDAYS_TOO}(?:に?(?:開催|実施))?(?=[\s、,・(]{{0,3}}(?:全\s?\d{{1,3}}\s?[回日]|午[前後]|\d{{1,2}}[時:]|$))"
)
"""Weekdays alone: a rule only when the period begins on one of them."""
_DAILY = re.compile(
    r"毎日(?!曜)|毎(?=[朝晩夕夜](?!刊))|"
    r"(?<![a-zà-ÿ])(?:every ?day|daily|täglich|tous les jours|chaque jour|todos los días|ogni giorno|"
    r"tutti i giorni|dagelijks|elke dag)(?![a-zà-ÿ])",
    re.IGNORECASE,
)
_LATIN_WEEKLY = re.compile(
    rf"(?<![a-zà-ÿ])(?:(?:{EVERY})\s(?P<other>(?:other|second|zweiten?|2\.|deux|altra|andere|tweede)\s(?!{NAME}\s(?:of|in|im|des|du|del|van)\s))?"
    rf"(?P<days>{NAME}(?:{AND}{NAME}){{0,6}})|(?:on |am |le |les |los |"
    rf"op )?(?P<only>{PLURAL}(?:{AND}{PLURAL}){{0,6}}))(?![a-zà-ÿ])",
    re.IGNORECASE,
)
_LATIN_DAYS = re.compile(
    rf"(?P<days>{NAME_RANGE})|(?<![^\W_])(?P<list>{NAME}(?:{AND}{NAME}){{1,6}})(?![a-zà-ÿ]|[.,]?\s?\d)", re.IGNORECASE
)
_LATIN_ENDS = re.compile(
    r"(?<![a-zà-ÿ])(?:(?P<ends>(?:at |on |every )?weekends(?: only)?|weekend only|wochenends|am wochenende|(?:les|"
    r"le) week-?ends?|"
    r"fines de semana|nei weekend|in het weekend)"
    r"|(?P<work>(?:on )?weekdays(?: only)?|werktags|en semaine|días laborables|nei giorni feriali|op werkdagen))(?![a-zà-ÿ])",
    re.IGNORECASE,
)
_ORDINALS = {
    word: number
    for number, words in (
        (1, "first 1st 1. 1er 1ère ersten erste erster premier première primer primera primo prima eerste"),
        (2, "second 2nd 2. 2e 2ème zweiten zweite zweiter deuxième segundo segunda secondo seconda tweede"),
        (3, "third 3rd 3. 3e 3ème dritten dritte dritter troisième tercer tercera terzo terza derde"),
        (4, "fourth 4th 4. 4e 4ème vierten vierte vierter quatrième cuarto cuarta quarto quarta vierde"),
        (-1, "last letzten letzte letzter dernier dernière último última ultimo ultima laatste"),
    )
    for word in words.split()
}
_ORDINAL = "|".join(re.escape(word) for word in sorted(_ORDINALS, key=len, reverse=True))
_LATIN_MONTHLY = re.compile(
    rf"(?<![a-zà-ÿ\d])(?:(?:on |an )?(?:the|jede[nrms]?|am|le|les|el|los|cada|chaque|il|la|ogni|de|elke|iedere|every|each|"
    rf"tous les|todos los)\s)?"
    rf"(?P<nths>(?:{_ORDINAL})(?:{AND}(?:{_ORDINAL})){{0,3}})\s(?P<days>{NAME})"
    r"\s(?:(?:of|in)\s(?:the|each|every)\s?|im |eines jeden |jeden |des |du |de chaque |de cada |del |di ogni |"
    r"van de |van elke |in de )"
    r"(?:month|monate?s?|mois|mes|mese|maand)(?![a-zà-ÿ])",
    re.IGNORECASE,
)
_FIRST_DAY_BEHIND = re.compile(rf",?\s(?:\d{{1,2}}(?:st|nd|rd|th|\.)?\s|{MONTH_NAME}\s\d)", re.IGNORECASE)
_DOUBT = re.compile(
    r"除[くき]|祝|休館|休園|(?<![夏冬春])休み|休業|休止|お休|不定期|以外|原則|年末年始(?!の)|場合|変更|ただし|但し|または|又は|程度|のうち|いずれか|(?<!毎)月に?\d回|[カヶか]月に|週に\d|年に?\d回|ペース|except|holiday|unless|term.?time|school|ferien|vacances|vacaciones|vacanze|vakantie|außer|sauf|salvo|tranne|"
    r"behalve|closed|geschlossen|fermé|cerrado|chiuso|gesloten",
    re.IGNORECASE,
)
_DAY_BESIDE = re.compile("の(?:前[日週]|翌[日週])")
_UNPLACED = re.compile(
    r"\d月(?:は|のみ|だけ|から(?![^。]{0,8}\d月))|第\s?\d(?=\s?(?:[・、,と]|[月火水木金土日週]|$))|隔週|隔月|(?<!いずれも)(?<!すべて)(?<!全て)[月火水木金土日]曜"
)
"""Other rules and weekdays, which the rule does not have."""
_NUMBER_WORDS = {
    word: number
    for number, words in enumerate(
        (
            "three drei trois tres tre drie",
            "four vier quatre cuatro quattro",
            "five fünf cinq cinco cinque vijf",
            "six sechs seis sei zes",
            "seven sieben sept siete sette zeven",
            "eight acht huit ocho otto",
            "nine neun neuf nueve nove negen",
            "ten zehn dix diez dieci tien",
            "eleven elf onze once undici",
            "twelve zwölf douze doce dodici twaalf",
        ),
        start=3,
    )
    for word in words.split()
}
_TIMES = re.compile(
    r"(?:全|計)\s?(?P<all>\d{1,3})\s?[回日]|[(]\s?(?P<so>\d{1,3})\s?[回日]間?\s?[)]|"
    r"(?<![\d:.])(?P<west>\d{1,2})(?:x\s|\s(?:weeks?|sessions?|lessons?|evenings|termine|abende|séances|sesiones|incontri|lezioni|lessen|keer)(?![a-zà-ÿ]))"
    rf"|(?<![a-zà-ÿ])(?P<word>{either(_NUMBER_WORDS)})\s(?={NAME})",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class RecurrencePhrase:
    """A recurrence rule."""

    text: str
    weekdays: frozenset[int] = frozenset()
    nths: frozenset[int] = frozenset()
    """Which of them in each month; -1 is the last. Empty: every one."""
    month_days: frozenset[int] = frozenset()
    """-1 is the last of the month."""
    months: frozenset[int] = frozenset(range(1, 13))
    weeks: int = 1
    doubt: str = ""
    """Why it is not expanded."""
    count: int | None = None
    """How many dates the text says there are."""
    start: int = 0
    stop: int = 0
    """Where the rule stands in the text."""
    on_holidays: bool = False
    """On public holidays as well."""
    on_workdays: bool = False
    """Not on public holidays."""
    must_begin: bool = False
    """A rule only if the first day of the period is one of its dates."""
    excluded: ExcludedDates = ExcludedDates()

    @property
    def is_open(self) -> bool:
        """Whether it makes sense without a period: some days of each week or month, not the opening hours of every day."""
        return not ("期間" in self.text or self.on_workdays or self.count or self.doubt) and len(self.weekdays) <= _MOST_OPEN


def find_rule(text: str, excluded: ExcludedDates) -> RecurrencePhrase | None:
    """The rule in a prepared text without its exclusions; None when there is none."""
    found: RecurrencePhrase | None = None
    forms = _LATIN_FORMS + _FORMS if LATIN.search(text) else _FORMS
    for pattern, make in forms:
        if (match := pattern.search(text)) and not _is_closed(text, match):
            found = make(match)
            break
    if found is None:
        return None
    rest = f"{text[: found.start]} {text[found.stop :]}"
    doubt = _DAY_BESIDE.match(text, found.stop) or _DOUBT.search(rest) or _UNPLACED.search(DATED_WEEKDAY.sub("日", rest))
    if more := next((match[0] for pattern, _ in forms if (match := pattern.search(text, found.stop))), None):
        reason: str = Message("there is another rule ({words})", words=more.strip())
    else:
        reason = Message("it has an exception ({words})", words=doubt[0]) if doubt else ""
    if not found.nths and found.text.isascii() and _FIRST_DAY_BEHIND.match(text, found.stop):
        found = replace(found, must_begin=True)  # "Tuesdays 13 April - 29 June"
    return replace(found, doubt=reason, count=times_written(text), excluded=excluded)


def times_written(text: str) -> int | None:
    """How often a prepared text says that it takes place: "全8回"."""
    times = _TIMES.search(text)
    if times is None:
        return None
    return _NUMBER_WORDS[times["word"].lower()] if times["word"] else int(times["all"] or times["so"] or times["west"])


def _is_closed(text: str, found: re.Match[str]) -> bool:
    """A rule that says when it is closed, or only open longer, is not the event's."""
    before = text[max(0, found.start() - 10) : found.start()]
    after = _CLOSED_AFTER.match(text, found.end()) or _OTHER_HOURS.match(text, found.end())
    return after is not None or _CLOSED_BEFORE.search(before) is not None


def _weekly(found: re.Match[str], weeks: int = 1) -> RecurrencePhrase:
    groups = found.groupdict()
    written = groups["days"] or groups.get("only") or ""
    holidays = bool(groups.get("holidays") or groups.get("only_holidays"))
    text = found[0].strip().removeprefix("の")
    return RecurrencePhrase(text, signs_of(written), weeks=weeks, start=found.start(), stop=found.end(), on_holidays=holidays)


def _bare(found: re.Match[str]) -> RecurrencePhrase:
    return replace(_weekly(found), must_begin=True)


def _workdays(found: re.Match[str]) -> RecurrencePhrase:
    return RecurrencePhrase(found[0].strip(), frozenset(range(5)), start=found.start(), stop=found.end(), on_workdays=True)


def _fortnightly(found: re.Match[str]) -> RecurrencePhrase:
    return _weekly(found, 2)


def _monthly_nth(found: re.Match[str]) -> RecurrencePhrase:
    written = found["nths"]
    numbers = [int(number) for number in re.findall(r"\d", written)]
    if re.search(r"[~\-]", written) and len(numbers) == 2:
        numbers = list(range(numbers[0], numbers[1] + 1))
    text = found[0].strip().removeprefix("の")
    rule = RecurrencePhrase(text, signs_of(found["days"]), frozenset(numbers or [-1]), start=found.start(), stop=found.end())
    if not found["months"]:
        return rule
    return replace(rule, months=frozenset(range(2 if found["months"] == "偶数月" else 1, 13, 2)))


def _monthly_day(found: re.Match[str]) -> RecurrencePhrase:
    numbers = [int(number) for number in re.findall(r"\d{1,2}", found["days"])]
    return RecurrencePhrase(found[0].strip(), month_days=frozenset(numbers or [-1]), start=found.start(), stop=found.end())


def _daily(found: re.Match[str]) -> RecurrencePhrase:
    text = found.string[found.start() : found.end() + (found[0] == "毎")]  # "毎晩", of which the evening is read with the hours
    return RecurrencePhrase(text.strip(), frozenset(range(7)), start=found.start(), stop=found.end())


def _latin_weekly(found: re.Match[str]) -> RecurrencePhrase:
    days, weeks = names_of(found["days"] or found["only"]), 2 if found["other"] else 1
    return RecurrencePhrase(found[0].strip(), days, weeks=weeks, start=found.start(), stop=found.end())


def _latin_ends(found: re.Match[str]) -> RecurrencePhrase:
    days = frozenset({5, 6} if found["ends"] else range(5))
    return RecurrencePhrase(found[0].strip(), days, start=found.start(), stop=found.end())


def _latin_range(found: re.Match[str]) -> RecurrencePhrase:
    if found["list"]:
        return RecurrencePhrase(found[0].strip(), names_of(found["list"]), start=found.start(), stop=found.end())
    return RecurrencePhrase(found[0].strip(), range_of(found["days"]), start=found.start(), stop=found.end())


def _latin_monthly(found: re.Match[str]) -> RecurrencePhrase:
    nths = frozenset(_ORDINALS[word] for word in re.findall(_ORDINAL, found["nths"].lower()))
    return RecurrencePhrase(found[0].strip(), names_of(found["days"]), nths, start=found.start(), stop=found.end())


_LATIN_FORMS = (
    (_LATIN_MONTHLY, _latin_monthly),
    (_LATIN_WEEKLY, _latin_weekly),
    (_LATIN_DAYS, _latin_range),
    (_LATIN_ENDS, _latin_ends),
)
_FORMS = (
    (_NTHS_OF_MONTH, _monthly_nth),
    (_MONTHLY_NTH, _monthly_nth),
    (_MONTHLY_DAY, _monthly_day),
    (_FORTNIGHTLY, _fortnightly),
    (_DAILY, _daily),
    (_WEEKLY, _weekly),
    (_OF_PERIOD, _weekly),
    (_WORKDAYS, _workdays),
    (_BARE, _bare),
)


def expand(rule: RecurrencePhrase, first: date, last: date) -> tuple[tuple[date, ...], str]:
    """The dates of the rule from the first day to the last, or none and the reason."""
    if rule.doubt:
        return (), Message("The rule {rule} is not expanded: {doubt}.", rule=rule.text, doubt=rule.doubt)
    if (last - first).days > MOST * 7 * rule.weeks:
        return (), Message("The rule {rule} is not expanded: the period is too long.", rule=rule.text)
    candidates = tuple(_dates(rule, first, last))
    if rule.must_begin and (not candidates or candidates[0] != first):
        return (), Message("The weekdays {rule} are not those of the first day.", rule=rule.text)
    if rule.excluded.are_doubtful(candidates):
        return (), Message("The rule {rule} is not expanded: it has an exception near one of its dates.", rule=rule.text)
    dates = tuple(day for day in candidates if day not in rule.excluded)
    if not dates:
        return (), Message("The rule {rule} has no date in the period.", rule=rule.text)
    if rule.count is not None and rule.count != len(dates):
        return (), Message(
            "The rule {rule} is not expanded: it gives {found} dates, and the text says {count}.",
            rule=rule.text,
            found=len(dates),
            count=rule.count,
        )
    if len(dates) > MOST:
        return (), Message("The rule {rule} is not expanded: it gives more than {most} dates.", rule=rule.text, most=MOST)
    return dates, ""


def counted(rule: RecurrencePhrase, first: date) -> tuple[date, ...]:
    """As many dates of the rule as the text says there are, from the first day on; none if the rule does not begin there."""
    count = rule.count or 0
    days = 31 * count if rule.nths or rule.month_days else 7 * rule.weeks * count
    dates = expand(replace(rule, count=None), first, first + timedelta(days=days + 62))[0][:count]
    return dates if len(dates) == count and dates[0] == first else ()


def _dates(rule: RecurrencePhrase, first: date, last: date) -> Iterator[date]:
    begin: date | None = None
    for number in range((last - first).days + 1):
        day = first + timedelta(days=number)
        if not _is_on(rule, day):
            continue
        begin = begin or day - timedelta(days=day.weekday())
        if (day - begin).days // 7 % rule.weeks == 0:
            yield day


def _is_on(rule: RecurrencePhrase, day: date) -> bool:
    is_last_day = (day + timedelta(days=1)).day == 1
    if rule.month_days:
        return day.day in rule.month_days or (-1 in rule.month_days and is_last_day)
    if rule.on_holidays and is_holiday(day):
        return True
    if day.weekday() not in rule.weekdays or day.month not in rule.months or (rule.on_workdays and is_holiday(day)):
        return False
    is_last = (day + timedelta(days=7)).month != day.month
    return not rule.nths or (day.day - 1) // 7 + 1 in rule.nths or (-1 in rule.nths and is_last)
