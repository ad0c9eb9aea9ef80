"""The writing of a date made uniform: width, numerals, dashes, brackets, enumerators, and units shared by two numbers.

Nothing is decided here: what the text means is found by `scan` and `phrase`.
"""

from __future__ import annotations

import re
import unicodedata

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
        **dict.fromkeys("，､", "、"),
        "･": "・",
        "时": "時",
        "點": "時",
    }
)
_NUMERALS = {sign: value for value, sign in enumerate("〇一二三四五六七八九")} | {"零": 0}
_TENS = {"十": 10, "百": 100, "千": 1000}
_KANJI_NUMBER = re.compile(
    r"[〇零一二三四五六七八九十百千]{1,8}(?=\s?[年月日時分]|\s?[・、~\-]\s?[一二三四五六七八九十]{1,3}[日時])"
)
_KANJI_NTH = re.compile(r"(?<=第)[一二三四五](?=[\s・、,と~土日月火水木金週第])")
_ENUMERATOR = re.compile(r"\(\d{1,2}\)(?!年)")
_UNITS_APART = re.compile(r"(?<=\d)\s{1,3}(?=[年月日時分])|(?<=[年月])\s{1,3}(?=\d)")
_LONG_VOWEL_AS_DASH = re.compile(r"(?<=[\d時分日半)])\s?ー\s?(?=[\d午正翌])")
_LOST_RANGE = re.compile(r"(?<=[\d月日時分半旬)])\s?\?\s?(?=[\d午正翌令平])")
"""A wave dash that a charset did not have."""
_EXCLUDED = re.compile(
    r"[(、,]?\s?(?:(?:\d{1,2}月)?\d{1,2}日(?:\([^()]{1,6}\))?[・、,と]?){1,6}(?:\s?を?除く|以外|は?(?:お?休み|休[館園業演場](?!日)))\)?"
)
"""Days on which it does not take place."""
_BOTH_YEARS = re.compile(r"((?:19|20)\d\d)\s?\((?:令和|平成|昭和|[RHS])\s?(?:\d{1,2}|元)年?\)\s?年")
_BOTH_YEARS_TURNED = re.compile(r"((?:令和|平成|昭和|[RHS])\s?(?:\d{1,2}|元))\s?\((?:19|20)\d\d年?\)\s?年")
_HOURS_SHARED = re.compile(r"(?<![\d:/月])(\d{1,2})\s?([~\-・、])\s?((?:午前|午後)?\s?\d{1,2}時)(?!間)")
_DAYS_SHARED = re.compile(r"(?<=月)(\d{1,2})((?:\s?[~\-・、,]\s?\d{1,2}(?![月\d])){1,9})日")
_KOREAN = re.compile(r"(?<=\d)\s?([년월일시분])")
_KOREAN_UNITS = dict(zip("년월일시분", "年月日時分", strict=True))
_CHINESE_HOUR = re.compile(r"(?<=[前後]\d)点|(?<=[前後]\d\d)点")
_ISO_INTERVAL = re.compile(r"(?<=[\dZ])/(?=\d{4}-\d\d-\d\d)")
_SPACES = re.compile(r"[^\S\n]{1,50}")


def prepare(text: str) -> str:
    """The text as the scanner expects it."""
    text = text[:LONGEST].translate(_CIRCLED_DAYS).translate(_CIRCLED_NUMBERS)
    text = unicodedata.normalize("NFKC", text).translate(_SIGNS)
    text = _SPACES.sub(" ", text)
    text = _KOREAN.sub(lambda found: _KOREAN_UNITS[found[1]], text).replace("오전", "午前").replace("오후", "午後")
    text = _CHINESE_HOUR.sub("時", text.replace("上午", "午前").replace("下午", "午後"))
    text = _LOST_RANGE.sub("~", _LONG_VOWEL_AS_DASH.sub("~", text))
    text = _KANJI_NUMBER.sub(lambda found: _digits(found[0]), text)
    text = _KANJI_NTH.sub(lambda found: str(_NUMERALS[found[0]]), text)
    text = _BOTH_YEARS_TURNED.sub(r"\1年", _BOTH_YEARS.sub(r"\1年", text))
    text = _ENUMERATOR.sub("、", text)
    text = _ISO_INTERVAL.sub("~", text)
    text = _UNITS_APART.sub("", text)
    text = _HOURS_SHARED.sub(r"\1時\2\3", text)
    return _EXCLUDED.sub("(除く)", _DAYS_SHARED.sub(_share_day, text))


def _share_day(found: re.Match[str]) -> str:
    """`1・2・8日` as `1日・2日・8日`."""
    return found[1] + "日" + re.sub(r"(\d{1,2})", r"\1日", found[2])


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
