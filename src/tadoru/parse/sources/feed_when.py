"""A written date in the words of a feed's item: where it begins and ends, not what it means.

What is found is handed on as it stands ("8月1日(土)午後1時30分～3時"); it is read by `parse.dates`. Of several dates the first is
taken. A date of publication ("投稿日: 2026年7月1日") is no date of an event and is passed over.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from tadoru.parse.linear_regex import LinearRegex

LONGEST_TEXT = 10_000
"""So much of a description is looked at."""

_DIGIT = "[0-9０-９]"
_KANJI = "[0-9０-９一二三四五六七八九十元]"
_WEEKDAY = r"[(（［〔][月火水木金土日][^)）］〕]{0,8}[)）］〕]|[月火水木金土日]曜日?"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)
_YEAR = rf"(?:(?:令和|平成|昭和|大正|明治){_KANJI}{{1,3}}年|(?:{_DIGIT}{{2}}){{1,2}}年)"
_DATE = "|".join(
    (
        rf"{_YEAR}度?\s?{_KANJI}{{1,3}}月\s?{_KANJI}{{1,3}}日",
        rf"{_KANJI}{{1,3}}月\s?{_KANJI}{{1,3}}日",
        rf"(?<![0-9A-Za-z])[RHS]\s?{_DIGIT}{{1,2}}[./]{_DIGIT}{{1,2}}[./]{_DIGIT}{{1,2}}(?!{_DIGIT})",
        rf"(?<!{_DIGIT}){_DIGIT}{{4}}[-/.．／]{_DIGIT}{{1,2}}[-/.．／]{_DIGIT}{{1,2}}(?!{_DIGIT})(?:T[0-9:.]{{4,15}}(?:Z|[+-][0-9:]{{4,6}})?)?",
        rf"(?<!{_DIGIT}){_DIGIT}{{1,2}}[./]{_DIGIT}{{1,2}}[./]{_DIGIT}{{4}}(?!{_DIGIT})",
        rf"(?<![\w]){_MONTH}\s{{1,2}}[0-9]{{1,2}}(?:st|nd|rd|th)?(?:,?\s{{1,2}}[0-9]{{4}})?(?!\w)",
        rf"(?<![\w])[0-9]{{1,2}}(?:st|nd|rd|th|\.)?\s{{1,2}}(?:of\s)?{_MONTH}(?:,?\s{{1,2}}[0-9]{{4}})?(?!\w)",
        rf"(?<!{_DIGIT}|[/.．／]){_DIGIT}{{1,2}}[/／]{_DIGIT}{{1,2}}(?=\s?(?:{_WEEKDAY}))",
    )
)
_TIME = "|".join(
    (
        rf"(?:午前|午後|夜|朝|AM|PM)?\s?{_DIGIT}{{1,2}}時(?:半|{_DIGIT}{{1,2}}分)?",
        rf"(?:午前|午後|AM|PM)?\s?{_DIGIT}{{1,2}}[:：]{_DIGIT}{{2}}(?:[:：]{_DIGIT}{{2}})?(?:\s?[ap]\.?m\.?(?!\w))?",
        r"[0-9]{1,2}\s?[ap]\.?m\.?(?!\w)",
        r"正午|終日|noon|midnight",
    )
)
_MORE = (
    rf"{_DATE}|{_TIME}|{_WEEKDAY}|{_KANJI}{{1,3}}日(?![本間])|[〜～~\-–—－−・,、,／]|から|より|まで|に|開場|開演|開始|終了|受付|(?:at|to|from|until|and)\s"
    r"|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,?(?!\w)|[(（][^)）]{0,6}[祝休][^)）]{0,4}[)）]"
)
_WRITTEN = re.compile(rf"(?:{_DATE})(?:[\s　]{{0,3}}(?:{_MORE})){{0,16}}", re.IGNORECASE)
_HINT = re.compile(rf"{_DIGIT}+|月")
_HINT_WITHIN = 11
"""So many signs stand before the first number or 月 of a date, at most: "September " and a space more, 昭和六十三年十二月."""
_DANGLING = re.compile(
    r"(?<![\s　〜～~\-–—－−・,、／])[\s　〜～~\-–—－−・,、／]++$"
    r"|(?<=[日)）0-9分時])(?:に|から|より|at|to|from|until|and)?\s*$",
    re.IGNORECASE,
)
_PUBLISHED = re.compile(
    r"(?:投稿|更新|掲載|公開|登録|作成|発信|posted(?:\s+on)?|published(?:\s+on)?|updated(?:\s+on)?)(?:日時?)?\s*+(?:[:：]\s*+)?$",
    re.IGNORECASE,
)
_TAG = re.compile(r"<[A-Za-z/!][^>]{0,2000}>")
_END = "\n" * 4
"""More than may stand between the parts of a date."""
_DATETIME = re.compile(r"""<time\b[^>]{0,500}?\sdatetime\s*=\s*["']?([0-9T:.Z+\-]{8,35})""", re.IGNORECASE)


def written_date(text: str) -> str | None:
    """The first written date of a text, or of HTML, with the times and the end that go with it."""
    text = text[:LONGEST_TEXT]
    if marked := _DATETIME.search(text):
        return marked[1]
    plain = html.unescape(_TAG.sub(_gap, text)) if "<" in text else html.unescape(text)
    for match in _dates(plain):
        if not _PUBLISHED.search(plain[max(0, match.start() - 20) : match.start()]):
            return _DANGLING.sub("", match[0]).strip()
    return None


def _dates(text: str) -> Iterator[re.Match[str]]:
    """All written dates. There is a number or a month in each, near its start: elsewhere none is tried, which takes long."""
    at = 0
    for hint in _HINT.finditer(text):
        for start in range(max(at, hint.start() - _HINT_WITHIN), hint.end()):
            if match := _WRITTEN.match(text, start):
                yield match
                at = match.end()
                break
        at = max(at, hint.end())


def picked(text: str, pattern: LinearRegex) -> str | None:
    """What a person's own pattern finds: its first group that took part, else all of the match."""
    whole, *groups = pattern.search(text[:LONGEST_TEXT]) or ("",)
    return next((found.strip() for found in (*groups, whole) if found and found.strip()), None)


def _gap(tag: re.Match[str]) -> str:
    """The end of a paragraph ends a date, too; other tags may stand in the middle of one, or between it and its time."""
    return _END if tag[0].startswith("</") and tag[0][2:].lower().startswith(("p", "div", "li", "tr", "h")) else " "
