"""Accounts for all of a written date: whatever looks like a date or a time, or changes what one means, has to be read.

A text that says more than was read from it is refused with the words that were not understood, or read with a note if only its
hours are in doubt. A date that is no event's (a birthday, an edition, a day of reference) is refused as well.
"""

from __future__ import annotations

import re
from datetime import date
from itertools import pairwise

from tadoru.parse.dates.recurrence import RecurrencePhrase
from tadoru.parse.dates.scan import place_weekdays, rest_of
from tadoru.parse.dates.tokens import NotADate, Token
from tadoru.parse.dates.vocabulary import DayMonthOrder

_DAY_END = r"(?:\d日|\d/\d{1,2}|\d(?=\())(?:\s?\([^()]{1,8}\))?\s?"
_NO_EVENT = (
    (
        re.compile(rf"{_DAY_END}(?:以[前後降])?(?:に|から)?(?:[^\d。、]{{0,12}}まで)?に?(?:生まれ|出生|誕生)"),
        "is about a date of birth",
    ),
    (
        re.compile(rf"{_DAY_END}(?:現在|時点|[^。、\d]{{0,10}}にちな[みん]|を?基準日?|付け?で|付の|以前)|基準日"),
        "is about a day of reference",
    ),
    (
        re.compile(
            r"当初[、,は]|予定(?:でし|だっ|と?して(?:い|おり)(?:まし)?|されて(?:い|おり)(?:まし)?)た|originally|ursprünglich|initialement"
            r"|(?:から|より|→|~)[^。]{0,20}[にへ](?:変更|延期|順延|振替)",
            re.IGNORECASE,
        ),
        "is about a date that was changed",
    ),
    (
        re.compile(
            rf"{_DAY_END}(?:に|から|を|より)?[^。、\d]{{0,12}}(?:施行され|制定|創立|創業|設立|竣工|就任|発足|着工|着手)"
            r"|(?:開[校館店設業園]|オープン)し(?:た|まし)"
        ),
        "is about the past",
    ),
    (
        re.compile(rf"{_DAY_END}(?:に|付け?)?(?:掲載|更新|公開|投稿|発行)(?![^。]{{0,4}}(?:開始|講座|録))"),
        "is about when it was published",
    ),
    (
        re.compile(r"(?:は|が|~|から|より|のみ|だけ)[^。\d、]{0,14}(?:休[館講業園演止](?!日)|お?休み)"),
        "is about when it is closed",
    ),
    (re.compile(r"\d日?(?:・\d{1,2}日?)?(?:合併)?号"), "is about an edition"),
    (
        re.compile(r"毎年[^。]{0,20}\d月|every year|each year|jedes Jahr|chaque année", re.IGNORECASE),
        "is about a day of every year",
    ),
    (re.compile(r"いずれか(?:の日)?(?:1日|一日)|どちらか1日"), "leaves open on which of the days"),
)
"""What a sentence is about, if it is not about when an event takes place."""
_MOVED = re.compile(
    r"延期|順延(?!な)|変更(?!の?場合)|繰り?[上下]げ|振り?替え?(?!休)|→|postponed|rescheduled|moved (?:to|from)|verschoben|"
    "reporté",
    re.IGNORECASE,
)
_UNREAD = re.compile(
    r"\d{1,2}月(?!号|分|齢|の)|\d{1,2}日(?![間目制分以程前後本数])|\d{1,2}時(?!間)|\d{1,2}:\d\d|[月火水木金土日]曜|平日|"
    r"(?:^|\s)[.・]\d{1,2}(?!\d)|毎[週月日](?!新聞)|隔[週月]|第\d[月火水木金土日週]|除[くき]|初日|最終日|\d日目|"
    r"(?<![a-zà-ÿ])(?:except|excluding|other than|außer|ausgenommen|sauf|excepté|every|each|jeden?|jede[mrns]|chaque|"
    r"tou(?:s|tes) les|alternate|fortnightly|täglich|wöchentlich|monatlich)(?![a-zà-ÿ])",
    re.IGNORECASE,
)
"""What must not be left over."""
_OFFICE_HOURS = re.compile(r"(?<=電話)[^。、,\d()]{0,6}\([^()]{1,60}\)|(?<=[直窓][接口])[^。、,\d()]{0,6}\([^()]{1,60}\)")
"""When the office can be called or visited."""
_BESIDE = re.compile(
    r"(?:時|分|半|:\d\d|正午)を?除|休憩|平日の?み?(?=\s?[午\d])|電話|窓口|問い?合わ?せ|要予約|入替|except|postponed|rescheduled",
    re.IGNORECASE,
)
_PARENTHESIS = re.compile(r"\([^()]{1,100}\)")
_CLOSED = re.compile(
    r"休[館園業演場]日?[:は]?\s?(?:毎週)?(?:[月火水木金土日][・、,]){0,6}[月火水木金土日]曜日?(?:[・、,][月火水木金土日]曜日?){0,6}"
    r"(?:\((?:但し|ただし)[^()]{1,60}開[館園]\))?(?:[と及びおよび、,・\s]{1,4}(?:\d{1,2}月)?\d{1,2}(?:日|/\d{1,2})(?:\([^()]{1,8}\))?){0,6}"
    r"|(?:毎週)?[月火水木金土日]曜日?(?:[・、,][月火水木金土日]曜日?){0,6}[はが]?\s?(?:定?休[館園業演場みま]?日?|お休み|閉[館園])"
)
_DAY = r"(?:(?:令和|平成)?\s?[\d元]{1,4}年)?\s?(?:\d{1,2}月)?\d{1,2}日(?:\([^()]{1,8}\))?"
_CLOSED_PERIOD = re.compile(rf"{_DAY}\s?(?:から|~|-)\s?{_DAY}(?:まで)?[はが][^。\d()]{{0,6}}(?:休[館園業講演止]|お?休み|閉館)")
_TIMES = re.compile(r"(?:全|計)\s?(\d{1,3})\s?回|(?<![\d第])(\d{1,3})回(?:シリーズ|連続|コース)")
_MOST_BEFORE = 24
"""Characters before the day: in a longer sentence it is not clear what the day is about."""
_MORE_DATES = re.compile(rf"{_DAY_END}(?:から)?(?:ほか|他|など|等(?![々級])|以外にも|and more|u\.\s?a\.)")
_LONGEST_GAP = 183
"""Days between two dates of a list: more is hardly one list."""


def without_asides(plain: str) -> str:
    """A prepared text without the parentheses, and the closed days, that say nothing of when it takes place."""
    plain = _OFFICE_HOURS.sub(" ", _CLOSED.sub(" ", _CLOSED_PERIOD.sub(" ", plain)))
    return _PARENTHESIS.sub(lambda found: " " if _BESIDE.search(found[0]) else found[0], plain)


def unread_words(plain: str, tokens: list[Token], *, order: DayMonthOrder, today: date) -> str:
    """The words of a prepared text that look like dates or times and are in no token, or the weekdays of no day."""
    rest, before = rest_of(plain, order=order, today=today)
    if found := _UNREAD.search(rest):
        return found[0]
    if before > _MOST_BEFORE:
        return plain[:_MOST_BEFORE].strip()
    left = place_weekdays(tokens)[1]
    return left[0].text if left else ""


def account(shown: str, plain: str, unread: str, dates: list[tuple[date, date | None]]) -> None:
    """Raise `NotADate` if a prepared text is not about when an event takes place, or if that is not all that it says."""
    for pattern, subject in _NO_EVENT:
        if pattern.search(plain):
            raise NotADate(f"“{shown}” {subject}.")
    if unread:
        raise NotADate(f"“{shown}” says more than could be read: “{unread}” has no place in it.")
    if len(dates) > 1 and _MOVED.search(plain):
        raise NotADate(f"“{shown}” says that a date was changed, and names more than one.")
    for (one, last), (other, other_last) in pairwise(dates):
        is_twice = one == other and (last is None) != (other_last is None)
        if other < one or is_twice or (other - (last or one)).days > _LONGEST_GAP:
            raise NotADate(f"“{shown}” names dates of different things: they are out of order, or too far apart.")


def doubts(plain: str, rule: RecurrencePhrase | None, days: set[date]) -> list[str]:
    """What a reader should know of dates that a prepared text counts or leaves out."""
    counted = _TIMES.search(plain)
    if counted and (count := int(counted[1] or counted[2])) != len(days):
        return [f"The text says {count} times, and {len(days)} could be read."]
    if _MORE_DATES.search(plain):
        return ["There are more dates than those that are written."]
    if rule is not None and len(days) == 1:
        return [f"Only one date of {rule.text} could be read."]
    return []
