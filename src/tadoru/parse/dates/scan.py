"""From text to tokens: the writing is made uniform, then days, times, years, weekdays and words between them are found."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date

from tadoru.parse.dates import vocabulary
from tadoru.parse.dates.clocks import clocks_at
from tadoru.parse.dates.exact import as_tokens, read_exact
from tadoru.parse.dates.tokens import DateMark, DayToken, MarkToken, MonthToken, NotADate, Token, WeekdaysToken, YearToken
from tadoru.parse.dates.vocabulary import DayMonthOrder, word_at
from tadoru.parse.dates.weekdays import ALL_NAMES, LATIN, WEEKDAYS, either

LONGEST = 1000
"""Characters that are read; nobody writes a date in more."""

_CIRCLED_DAYS = {ord(sign): f"({day})" for sign, day in zip("㊊㊋㊌㊍㊎㊏㊐㊗", "月火水木金土日祝", strict=True)}
_CIRCLED_NUMBERS = {
    code: "、" for first, last in ((0x2460, 0x2474), (0x3251, 0x3260), (0x2776, 0x2780)) for code in range(first, last)
}
_SIGNS = str.maketrans(
    {
        **dict.fromkeys("〜～∼∽→⇒➡➔", "~"),
        **dict.fromkeys("‐‑‒–—―−─", "-"),
        **dict.fromkeys("【〔〈《［[{", "("),
        **dict.fromkeys("】〕〉》］]}", ")"),
        **dict.fromkeys("’‘´`", "'"),
        "ı": "i",  # To expressions that ignore case these two are an i, to tables of names they are not.
        "İ": "I",
        **dict.fromkeys("，､", "、"),
        "･": "・",
        "时": "時",
        "點": "時",
    }
)
_NUMERALS = {sign: value for value, sign in enumerate("〇一二三四五六七八九")} | {"零": 0}
_TENS = {"十": 10, "百": 100, "千": 1000}
_HIRAGANA_CLOCK = re.compile(r"(?P<half>ごぜん|ごご)?\s?(?P<hour>\d{1,2})じ(?:(?P<minute>\d{1,2})[ふぷ]ん|(?P<thirty>はん))?")
_LABEL_SIGN = re.compile(
    r"(?<=期日|日時|日程|時間|時刻|受付|開始|集合|開演|開場|曜日|期間|会期|館日)\s?[/▷▶=|]\s?(?=[\d令平午毎正月火水木金土日])"
)
"""A sign between the name of a time and the time: "期日／4月25日"."""
_KANJI_NUMBER = re.compile(
    r"[〇零一二三四五六七八九十百千]{1,8}(?=\s?[年月時分](?!市|町|村|場(?!所)|保育|預か|休止|閉鎖|的)|\s?日(?=[(\s・、,~はにのよかま午]|$)|(?<=月[〇零一二三四五六七八九十])日|\s?[・、~\-]\s?[一二三四五六七八九十]{1,3}[日時])"
)
_KANJI_NTH = re.compile(r"(?<=第)[一二三四五](?=[\s・、,と~土日月火水木金週第])")
_ENUMERATOR = re.compile(r"\(\d{1,2}\)(?!年)")
_UNITS_APART = re.compile(r"(?<=\d)[^\S\n]{1,3}(?=[年月日時分](?![間刻曜時程]))|(?<=[年月])[^\S\n]{1,3}(?=\d)")
_LONG_VOWEL_AS_DASH = re.compile(r"(?<=[\d時分日半)])\s?ー\s?(?=[\d午正翌])")
_LOST_RANGE = re.compile(r"(?<=[\d月日時分半旬)])\s?\?\s?(?=[\d午正翌令平])")
"""A wave dash that a charset did not have."""
_BOTH_YEARS = re.compile(r"((?:19|20)\d\d)\s?\((?:令和|平成|昭和|[RHS])\s?(?:\d{1,2}|元)年?\)\s?年")
_BOTH_YEARS_TURNED = re.compile(r"((?:令和|平成|昭和|[RHS])\s?(?:\d{1,2}|元))\s?\((?:19|20)\d\d年?\)\s?年")
_HOURS_SHARED = re.compile(r"(?<![\d:/月])(\d{1,2})\s?([~\-・、])\s?((?:午前|午後)?\s?\d{1,2}時)(?!間)")
_WEST_HOURS_SHARED = re.compile(
    r"(?<![\d:/.\-h])(\d{1,2}(?:[.:]\d\d)?)\s?(-|~|bis|à|a|tot|to|y|und|and|et|e|en)\s?(\d{1,2}(?:[.:]\d\d)?)\s?"
    r"(?:Uhr|uur|hrs|horas|heures|[hu](?![a-zà-ÿ\d]))",
    re.IGNORECASE,
)
_WEST_HOURS_NAMED = re.compile(
    r"(?<![^\W_])(?:(?:dalle|alle)(?: ore)?|ore|de las|a las|a la|desde las|kl\.?)\s(\d{1,2})(?:[.:,](\d\d))?(?!\d|"
    r"[.:]\d)(?:\s?(?:h|horas)(?![a-zà-ÿ]))?"
    r"(?:\s?(?:-|~|/|alle(?: ore)?|fino alle|a|a las|hasta las|y las)\s?(?:las )?(\d{1,2})(?:[.:,](\d\d))?(?!\d|"
    r"[.:]\d)(?:\s?(?:h|horas)(?![a-zà-ÿ]))?)?",
    re.IGNORECASE,
)
"""Hours of languages that name them before the number: "dalle 10 alle 19", "a las 19.30 h"."""
_HALF_DAY_STOP = re.compile(r"(?<![A-Za-z])([apAP])\.\s?[mM]\.(?=\s[A-ZÀ-Ü])")
_HALF_DAY = re.compile(r"(?<![a-z])([ap])\.\s?m\b\.?", re.IGNORECASE)
_BETWEEN = re.compile(
    r"(?<![^\W_])(?:between|zwischen|entre|tra|tussen)\s((?:[^.;()\n]|\.\d){1,16}?\d(?:[^.;()\n]|\.\d){0,12}?)\s(?:and|und|et|y|e|en)\s(?=\d)",
    re.IGNORECASE,
)
_FOR = re.compile(r"(\d{1,2}(?:[:.]\d\d)?\s?(?:[ap]\.?m\.?)?)\sfor\s(?=\d{1,2}(?:[:.]\d\d)?\s?(?:[ap]\.?m|$|\)))", re.IGNORECASE)
"""Guests arrive at the first of two times: "7:00 for 7:30 pm"."""
_DOTTED_RANGE = re.compile(
    r"(?<![\d:/.\-])(\d{1,2})\.(00|[1-5]\d)\s?-\s?(\d{1,2})\.(00|[1-5]\d)(?![\d:/\-]|\.\d)(?=[^\d]{0,3}(?:$|[^\d.]))"
)
"""9.30-18.30: no month has these numbers."""
_BARE_HOURS = re.compile(
    r"(?<![\d/.:\-~])(?<!\d )([7-9]|1[0-2])\s?(?:-|til(?=\s)|till(?=\s))\s?([1-9])(?![\d/:%\-~]|\.\d|\s?[A-Za-zà-ÿ])"
)
"""11-6: no days and no ages, which do not count down."""
_NEW_YEAR = re.compile("(?<![一-龠])元[日旦](?=[\\s(、午0-9])")
_ONLY_UNTIL = re.compile(r"は\s?[~\-]\s?(\d{1,2}(?::\d\d|時(?:半|\d{1,2}分)?))(?![\d~\-]|\s?(?:から|~|-))")
"""23日は~19:00"""
_COLON_HOUR = re.compile(r"(?<=\d:\d\d)\s?(?:h|hrs|uhr|uur|horas)(?![a-zà-ÿ\d])", re.IGNORECASE)
_DAYS_SHARED = re.compile(r"(?<=[月(])(\d{1,2})((?:\s?[~\-・、,]\s?\d{1,2}(?![月\d])){1,9})日")
_SLASHES_SHARED = re.compile(
    r"(?<![\d/])(\d{1,2}/)\d{1,2}(?:\([^()]{1,6}\))?((?:[、・]\d{1,2}(?:\([^()]{1,6}\))?(?![\d/月日時分:%~\-])){1,9})"
)
_ELSEWHERE = re.compile(
    r"https?://[!-~]{1,2000}|[\w.+-]{1,60}@[\w.-]{1,60}|(?<!\d)(?:0\d-\d{4}-\d{4}|0\d{2,4}-\d{1,4}-\d{3,4})(?!\d)"
)
"""Digits in URLs, mail addresses and telephone numbers are no dates."""
_KOREAN = re.compile(r"(?<=\d)\s?([년월일시분])")
_KOREAN_UNITS = dict(zip("년월일시분", "年月日時分", strict=True))
_CHINESE_HOUR = re.compile(r"(?<=[前後]\d)点|(?<=[前後]\d\d)点")
_ISO_INTERVAL = re.compile(r"(?<=[\dZ])/(?=\d{4}-\d\d-\d\d)|(?<=T\d\d:\d\d)/(?=\d\d:\d\d)")
_SPACES = re.compile(r"[^\S\n]{1,50}")


_NEXT_YEAR = re.compile(r"(?:(?<=[~らり])\s?(?:来年|翌年)の?|(?:来年|翌年)の?(?=\d{1,2}月\d{1,2}日[^。\d]{0,8}まで))(?=\d)")
"""The year of an end, which is the next one anyway."""
_MORE_HOURS = re.compile(
    r"(?<=\d:\d\d)\s{0,2}(?:e|y|et|und|and|en|,)\s(\d{1,2})\s?-\s?(\d{1,2})(?![\d:.]|\s?[ap]\.?m)", re.IGNORECASE
)
_LABELLED_HOURS = re.compile(
    r"(?<![a-zà-ÿ])((?:hours|orari[oa]?|öffnungszeiten|horaires?|horarios?|openingstijden)(?: continuato)?:?\s)"
    r"(\d{1,2})\s?[-~]\s?(\d{1,2})(?![\d:.]|\s?[ap]\.?m)",
    re.IGNORECASE,
)


def prepare(text: str) -> str:
    """The text as the scanner expects it."""
    text = text[:LONGEST].translate(_CIRCLED_DAYS).translate(_CIRCLED_NUMBERS)
    text = _ELSEWHERE.sub(" ", unicodedata.normalize("NFKC", text).translate(_SIGNS))
    text = _SPACES.sub(" ", text)
    text = _KOREAN.sub(lambda found: _KOREAN_UNITS[found[1]], text).replace("오전", "午前").replace("오후", "午後")
    text = _CHINESE_HOUR.sub("時", text.replace("上午", "午前").replace("下午", "午後"))
    text = _LOST_RANGE.sub("~", _LONG_VOWEL_AS_DASH.sub("~", text))
    text = _HIRAGANA_CLOCK.sub(_in_kanji, text)
    text = _LABEL_SIGN.sub(":", text)
    text = _KANJI_NUMBER.sub(lambda found: _digits(found[0]), text)
    text = _KANJI_NTH.sub(lambda found: str(_NUMERALS[found[0]]), text)
    text = _BOTH_YEARS_TURNED.sub(r"\1年", _BOTH_YEARS.sub(r"\1年", text))
    text = _ENUMERATOR.sub("、", text)
    text = _NEXT_YEAR.sub("", _ISO_INTERVAL.sub("~", text))
    text = _UNITS_APART.sub("", text)
    text = _HOURS_SHARED.sub(r"\1時\2\3", text)
    text = _ONLY_UNTIL.sub(r"は\1まで", text)
    text = _NEW_YEAR.sub("1月1日", text).replace("大晦日", "12月31日")
    if LATIN.search(text):
        text = _prepare_latin(text)
    return _SLASHES_SHARED.sub(_share_month, _DAYS_SHARED.sub(_share_day, text))


def _in_kanji(found: re.Match[str]) -> str:
    """ "ごご6じ30ぷん" as "午後6時30分"."""
    half = {"ごぜん": "午前", "ごご": "午後"}.get(found["half"] or "", "")
    return f"{half}{found['hour']}時" + (f"{found['minute']}分" if found["minute"] else "半" if found["thirty"] else "")


def _prepare_latin(text: str) -> str:
    """Hours in words of European languages as `10:00~19:00`."""
    text = _BETWEEN.sub(r"\1 ~ ", _FOR.sub(" ", _HALF_DAY.sub(r"\1m", _HALF_DAY_STOP.sub(r"\1m.", text))))
    text = _WEST_HOURS_NAMED.sub(lambda found: f" {_range(*found.groups())} ", text)
    text = _WEST_HOURS_SHARED.sub(_shared_hours, text)
    text = _MORE_HOURS.sub(r" , \1:00~\2:00", text)
    text = _LABELLED_HOURS.sub(r"\1\2:00~\3:00", text)
    text = _BARE_HOURS.sub(_afternoon, text)
    text = _DOTTED_RANGE.sub(r"\1:\2~\3:\4", text)
    return _COLON_HOUR.sub("", text)


def _afternoon(found: re.Match[str]) -> str:
    first, last = int(found[1]), int(found[2])
    return f"{first}:00~{last + 12}:00" if last < first else found[0]


def _shared_hours(found: re.Match[str]) -> str:
    """`10-12 Uhr` as a range, `11 y 13 h` as two times."""
    if found[2].lower() in {"y", "und", "and", "et", "e", "en"}:
        return f"{_range(*_parts(found[1]), None, None)}, {_range(*_parts(found[3]), None, None)}"
    return _range(*_parts(found[1]), *_parts(found[3]))


def _parts(clock: str) -> tuple[str, str | None]:
    hour, _, minute = clock.replace(".", ":").partition(":")
    return hour, minute or None


def _range(hour: str, minute: str | None, last_hour: str | None, last_minute: str | None) -> str:
    first = f"{hour}:{minute or '00'}"
    return f"{first}~{last_hour}:{last_minute or '00'}" if last_hour else first


def _share_day(found: re.Match[str]) -> str:
    """`1・2・8日` as `1日・2日・8日`."""
    return found[1] + "日" + re.sub(r"(\d{1,2})", r"\1日", found[2])


def _share_month(found: re.Match[str]) -> str:
    """`5/10、17、24` as `5/10、5/17、5/24`."""
    return found[0][: found.start(2) - found.start()] + re.sub("[、・]", lambda sign: sign[0] + found[1], found[2])


def _digits(numeral: str) -> str:
    """A kanji numeral in digits: by place (二〇二六) or by units (二千二十六)."""
    if not any(sign in _TENS for sign in numeral):
        return "".join(str(_NUMERALS[sign]) for sign in numeral)
    total = pending = 0
    for sign in numeral:
        if sign in _TENS:
            total += max(pending, 1) * _TENS[sign]
            pending = 0
        else:
            pending = pending * 10 + _NUMERALS[sign]
    return str(total + pending)


_ERA_SHORT = r"(?:明治|大正|昭和|平成|令和|[明大昭平令](?=\s?\d)|(?<![A-Za-z])[MTSHR])"
_MONTH = rf"{either(vocabulary.MONTHS)}(?![^\W\d_])\.?"
_SHORT_MONTHS = frozenset("sept janv févr juil mars".split())
_LONG_MONTH = (
    "(?:"
    + "|".join(sorted((name for name in vocabulary.MONTHS if len(name) > 3 and name not in _SHORT_MONTHS), key=len, reverse=True))
    + r"|mai(?=\s|$))(?![^\W_])"
)
_ORDINAL = r"(?:st|nd|rd|th|er|º|ª|°|\.)?"
_D = rf"\d{{1,2}}(?!\d|:\d|\s?[ap]\.?m\b|\s?h\d|\s?Uhr){_ORDINAL}"
_D2 = rf"(?!\d{{1,2}}\s?(?:[-~]|to\s)\s?\d{{1,2}}(?::\d\d|\s?[ap]\.?m)){_D}"
"""A day of a list, which is not the first of two hours: "Nov. 9, 4-5:30 p.m."."""
_AND = r"\s?(?:-|~|–|,|、|/|&|\+|\bto\b|\bbis\b|\bau\b|\bal?\b|\band\b|\bund\b|\bet\b|\by\b|\be\b|\ben\b|\bt/m\b|\bthrough\b)\s?"
_RANGES = re.compile(r"-|~|\b(?:to|bis|au|al?|t/m|through)\b", re.IGNORECASE)
_WEST_YEAR = r"(?:,?\s?(?:de\s|del\s|of\s)?(?P<year>(?:19|20)\d\d)(?!\d|:\d))?"
_DAY_NAMES = either(ALL_NAMES)
_W = "[月火水木金土日]"
_SKIP = re.compile(
    r"(?:[^\S\n]|は、|[:…*「」!！いうえくけこさしすせそたつてでにぬねのはひふへほみむめもゆらりるれろわをんア-オカ-コサシセソタツ-ヺ]){1,50}"
)
"""Signs and kana with which no word that counts begins."""

Maker = Callable[[re.Match[str], DayMonthOrder], tuple[Token, ...]]


def scan(text: str, *, order: DayMonthOrder, today: date) -> list[Token]:
    """Every token of a prepared text, in order."""
    return [token for tokens, _, _ in scan_places(text, order=order, today=today) for token in tokens]


Places = list[tuple[tuple[Token, ...], int, int]]
"""Tokens that stand in one place of a text, and where it begins and ends."""


def scan_places(text: str, *, order: DayMonthOrder, today: date) -> Places:
    """Every token of a prepared text with its place."""
    return list(_scan(text, order, today))


def _scan(text: str, order: DayMonthOrder, today: date) -> Iterator[tuple[tuple[Token, ...], int, int]]:
    position = 0
    while position < len(text):
        if found := _SKIP.match(text, position):
            position = found.end()
            continue
        tokens, end = _day_at(text, position, order) or clocks_at(text, position)
        if not tokens:
            tokens, end = word_at(text, position, today)
        end = max(end, position + 1)
        if tokens:
            yield tokens, position, end
        position = end


def _day_at(text: str, position: int, order: DayMonthOrder) -> tuple[tuple[Token, ...], int] | None:
    for pattern, make in _DAYS:
        if found := pattern.match(text, position):
            tokens = make(found, order)
            if tokens:
                return tokens, found.end()
    return None


def _from_parts(found: re.Match[str], _: DayMonthOrder) -> tuple[Token, ...]:
    """A day by the parts that are written: its year, month and day, or only some of them."""
    year, month, day = (int(text) if (text := found.groupdict().get(part)) else None for part in ("year", "month", "day"))
    return (DayToken(found[0], year, month, day),)


def _from_iso(found: re.Match[str], _: DayMonthOrder) -> tuple[Token, ...]:
    exact = read_exact(found[0])
    return as_tokens(exact, found[0]) if exact is not None else ()


def _from_era_numbers(found: re.Match[str], _: DayMonthOrder) -> tuple[Token, ...]:
    number = found["number"]
    year = vocabulary.ERA_NAMES[found["era"].upper()] + (1 if number == "元" else int(number))
    return (DayToken(found[0], year, int(found["month"]), int(found["day"])),)


def _from_year(found: re.Match[str], _: DayMonthOrder) -> tuple[Token, ...]:
    number, fiscal = found["number"], bool(found["fiscal"])
    if found["era"]:
        base = vocabulary.ERA_NAMES[found["era"].upper()]
        count = 1 if number == "元" else int(number)
        if not count:
            raise NotADate("{year} is not a year: eras begin with their first.", year=found[0].strip())
        return (YearToken(found[0], base + count, fiscal, era=base),)
    if len(number) == 3 and re.match(r"\d{1,2}月", found.string[found.end() :]):
        raise NotADate("{year} is not a year that can be meant.", year=found[0].strip())
    if number == "元" or len(number) == 3:
        return ()  # "生誕100年"
    return (YearToken(found[0], int(number), fiscal, short=len(number) < 4),)


def _from_month_nth(found: re.Match[str], _: DayMonthOrder) -> tuple[Token, ...]:
    weekday = frozenset({WEEKDAYS[found["weekday"]]})
    nth = -1 if found["nth"].startswith("最") else int(found["nth"][-1])
    return (DayToken(found[0], None, int(found["month"]), None, nth, weekday),)


def _from_month(found: re.Match[str], _: DayMonthOrder) -> tuple[Token, ...]:
    return (MonthToken(found[0], int(found["month"])),)


def _from_three(found: re.Match[str], order: DayMonthOrder) -> tuple[Token, ...]:
    first, second, year = int(found["first"]), int(found["second"]), int(found["year"])
    # Points are European; and a number over twelve is no month.
    turned = (order is not DayMonthOrder.DAY and found["by"] != "." and first <= 12) or second > 12
    month, day = (first, second) if turned else (second, first)
    return (DayToken(found[0], year, month, day),)


def _from_short_year(found: re.Match[str], order: DayMonthOrder) -> tuple[Token, ...]:
    first, second, third = int(found["first"]), int(found["second"]), int(found["third"])
    if found["by"] == "-" and len(found[0].lstrip("'")) < len("26-08-01"):
        return ()  # the numbers of an address: 2-7-16
    if found["mark"] or order is DayMonthOrder.YEAR:
        return (DayToken(found[0], 2000 + first, second, third),)
    if len(found["third"]) < 2:
        return ()
    month, day = (first, second) if order is DayMonthOrder.MONTH else (second, first)
    return (DayToken(found[0], 2000 + third, month, day),)


def _from_slash(found: re.Match[str], order: DayMonthOrder) -> tuple[Token, ...]:
    first, second = int(found["first"]), int(found["second"])
    month, day = (first, second) if order is not DayMonthOrder.DAY else (second, first)
    if month > 12 and day <= 12:
        month, day = day, month
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return ()
    days: list[Token] = [DayToken(found[0], None, month, day)]
    if found["last"] and order is not DayMonthOrder.DAY and day < int(found["last"]) <= 31:
        days += [MarkToken("-", DateMark.RANGE), DayToken(found[0], None, month, int(found["last"]))]
    elif found["last"]:
        return ()
    return tuple(days)


def _from_day_and_month(found: re.Match[str], order: DayMonthOrder) -> tuple[Token, ...]:
    """`30.08.` where the day comes first."""
    return _from_parts(found, order) if order is DayMonthOrder.DAY and 1 <= int(found["month"]) <= 12 else ()


def _from_names(found: re.Match[str], _: DayMonthOrder) -> tuple[Token, ...]:
    """`1 August 2026`, `August 1-3, 2026`, `1st, 2nd and 8th of August`."""
    month = vocabulary.MONTHS[found["name"].lower().rstrip(".")]
    year = int(found["year"]) if found["year"] else None
    tokens: list[Token] = []
    end = 0
    for number in re.finditer(r"\d{1,2}", found["days"]):
        if tokens:
            between = found["days"][end : number.start()]
            tokens.append(MarkToken(between, DateMark.RANGE if _RANGES.search(between) else DateMark.LIST))
        tokens.append(DayToken(found[0], year, month, int(number[0])))
        end = number.end()
    return tuple(tokens)


def _from_month_name(found: re.Match[str], _: DayMonthOrder) -> tuple[Token, ...]:
    year = int(found["year"]) if found["year"] else None
    return (MonthToken(found[0], vocabulary.MONTHS[found["name"].lower().rstrip(".")], year),)


def _from_weekday_and_day(found: re.Match[str], _: DayMonthOrder) -> tuple[Token, ...]:
    """`Sat 11` of "Sat 11 & Sun 12 July"."""
    weekday = ALL_NAMES[found["weekday"].lower()]
    return (DayToken(found[0], None, None, int(found["day"]), weekdays=frozenset({weekday})),)


_YMD = r"(?P<month>\d{1,2})\s?(?P=by)\s?(?P<day>\d{1,2})(?!\d)"
_SHORT_YEAR = re.compile(
    r"(?<![\d/.\-])(?<!\d:)(?P<mark>')?(?P<first>\d{1,2})(?P<by>[/.\-])(?P<second>\d{1,2})(?P=by)(?P<third>\d{1,2})(?![\d/.:])"
)
_DAYS: tuple[tuple[re.Pattern[str], Maker], ...] = (
    (
        re.compile(r"(?<!\d)\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?(?![\d:])", re.IGNORECASE),
        _from_iso,
    ),
    (re.compile(rf"(?<!\d)(?P<year>(?:18|19|20|21)\d\d)\s?(?P<by>[/.\-])\s?{_YMD}"), _from_parts),
    (re.compile(r"(?<!\d)(?P<year>(?:19|20)\d\d)(?P<month>\d\d)(?P<day>\d\d)(?!\d)"), _from_parts),
    (re.compile(r"(?<!\d)(?P<year>20\d\d)[. ]\s?(?P<month>\d{1,2})/(?P<day>\d{1,2})(?![\d/])"), _from_parts),
    (
        re.compile(rf"(?P<era>{_ERA_SHORT})\.?\s?(?P<number>\d{{1,2}}|元)\s?(?P<by>[/.\-])\s?{_YMD}", re.IGNORECASE),
        _from_era_numbers,
    ),
    (
        re.compile(
            rf"(?P<era>{_ERA_SHORT})?\.? ?(?<!\d)(?<![誕立業設没後周])(?P<number>\d{{1,4}}|元)\s?年"
            r"(?!間|生|齢|前|後|ぶり|目|以|祭|記念)(?P<fiscal>度)?",
            re.IGNORECASE,
        ),
        _from_year,
    ),
    (re.compile(rf"(?<!\d)(?P<month>\d{{1,2}})月の?\s?(?P<nth>第\s?\d|最終)\s?週?の?(?P<weekday>{_W})曜日?"), _from_month_nth),
    (
        re.compile(r"(?<!\d)(?P<month>\d{1,2})月\s?(?P<day>\d{1,2})(?:日(?!間|目)|(?=\s?[(~・、,\-]|$))"),
        _from_parts,
    ),
    (re.compile(r"(?<!\d)(?P<month>\d{1,2})月"), _from_month),
    (re.compile(r"(?<![\d泊第])(?P<day>\d{1,2})日(?!間|目|程|曜|分|本|数|以|前|後|\d(?!\d?月))"), _from_parts),
    (
        re.compile(r"(?<![\d/.])(?<!\d-)(?P<first>\d{1,2})(?P<by>[/.\-])(?P<second>\d{1,2})(?P=by)(?P<year>(?:19|20)\d\d)(?!\d)"),
        _from_three,
    ),
    (_SHORT_YEAR, _from_short_year),
    (
        re.compile(
            r"(?<![\d/.])(?<!\d:)(?P<first>\d{1,2})/(?P<second>\d{1,2})(?![\d/:月時分]|\s?(?:以[上下]|未満|程度|ずつ))(?:\s?[\-~]\s?(?P<last>\d{1,2})(?![\d/:.時月日]|\s?[ap]\.?m))?"
        ),
        _from_slash,
    ),
    (
        re.compile(
            rf"(?<![\d/.])(?<!\d:)(?P<month>\d{{1,2}})\.(?P<day>\d{{1,2}})(?=\s?\.?\(?(?:{_W}[)曜・]|(?:mon|tue|wed|thu|fri|sat|sun)))",
            re.IGNORECASE,
        ),
        _from_parts,
    ),
    (re.compile(rf"(?<![\d/.])(?<!\d:)(?P<day>\d{{1,2}})(?=\({_W}[)曜・祝])"), _from_parts),
    (re.compile(r"(?<![\d/.:])(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?!\s?\d)"), _from_day_and_month),
    (
        re.compile(
            rf"(?<![\d:./])(?P<days>{_D}(?:{_AND}{_D2}){{0,9}})\s?(?:de\s|of\s)?(?P<name>{_MONTH}){_WEST_YEAR}", re.IGNORECASE
        ),
        _from_names,
    ),
    (
        re.compile(
            rf"(?<![^\W_])(?P<name>{_MONTH})\s?(?P<days>{_D}(?:{_AND}{_D2}){{0,9}})(?!\s?(?:de\s)?{_MONTH}){_WEST_YEAR}",
            re.IGNORECASE,
        ),
        _from_names,
    ),
    (re.compile(rf"(?<![^\W_])(?P<name>{_MONTH}),?\s?(?:de\s)?(?P<year>(?:19|20)\d\d)(?!\d)", re.IGNORECASE), _from_month_name),
    (re.compile(rf"(?<![^\W_])(?P<name>{_LONG_MONTH})(?!\s?\d)(?P<year>)", re.IGNORECASE), _from_month_name),
    (
        re.compile(
            rf"(?<![^\W_])(?P<weekday>{_DAY_NAMES})[.,]{{0,2}}\s(?P<day>\d{{1,2}})(?:st|nd|rd|th|er|e|\.)?(?={_AND}{_DAY_NAMES}[.,]{{0,2}}\s\d)",
            re.IGNORECASE,
        ),
        _from_weekday_and_day,
    ),
)


def with_weekdays(tokens: list[Token]) -> list[Token]:
    """Each weekday given to its day: the one just before it, or the one that follows; those of no day are left out."""
    return place_weekdays(tokens)[0]


def place_weekdays(tokens: list[Token]) -> tuple[list[Token], list[WeekdaysToken]]:
    """The tokens with each weekday given to its day, and the weekdays of no day."""
    out: list[Token] = []
    left: list[WeekdaysToken] = []
    waiting: WeekdaysToken | None = None
    more: list[int] = []
    """Weekdays of the days that follow: "Sa/So 28./29. November"."""
    for token in tokens:
        last = out[-1] if out else None
        if isinstance(token, WeekdaysToken):
            if isinstance(last, DayToken) and not last.weekdays:
                _give(out, token.days)
            elif len(out) > 1 and _is_open(last, token) and isinstance(day := out[-2], DayToken) and not day.weekdays:
                out[-2] = replace(day, weekdays=frozenset(token.days))  # "17日(月曜日・午前9時から)", "17日・月曜日"
            else:
                left += [waiting] if waiting else []
                waiting = token
        elif isinstance(token, DayToken) and waiting and not token.weekdays:
            weekday, *more = waiting.days
            out.append(replace(token, weekdays=frozenset({weekday})))
            waiting = None
        elif isinstance(token, DayToken) and more and not token.weekdays:
            out.append(replace(token, weekdays=frozenset({more.pop(0)})))
        else:
            if waiting and not isinstance(token, YearToken) and not (isinstance(token, MarkToken) and token.text in {",", "("}):
                left.append(waiting)
                waiting = None
            out.append(token)
    return out, left + ([waiting] if waiting else [])


def _is_open(token: Token | None, weekday: WeekdaysToken) -> bool:
    """What may stand between a day and its weekday."""
    return isinstance(token, MarkToken) and (token.text == "(" or (token.text == "・" and weekday.text.endswith("曜日")))


def _give(tokens: list[Token], weekdays: tuple[int, ...]) -> None:
    """ "1日・2日(土・日)": as many weekdays as days, each its own; otherwise all of them to the last day."""
    places = [place for place in range(len(tokens) - 1, -1, -1) if isinstance(tokens[place], DayToken)][: len(weekdays)][::-1]
    days = [day for place in places if isinstance(day := tokens[place], DayToken) and not day.weekdays]
    if len(days) == len(weekdays):
        for place, day, weekday in zip(places, days, weekdays, strict=True):
            tokens[place] = replace(day, weekdays=frozenset({weekday}))
    else:
        tokens[-1] = replace(days[-1], weekdays=frozenset(weekdays))
