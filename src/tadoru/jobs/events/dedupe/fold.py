"""Brings spellings of one word together: width, case, kana, eras, numerals. For comparing only; nobody is ever shown the result.

Two texts that fold alike are written differently, not different. What a folded text means is judged in `titles` and `places`.
"""

from __future__ import annotations

import re
import unicodedata

_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925, "r": 2018, "h": 1988}
_ERA = re.compile(r"(令和|平成|昭和|(?<![a-z])[rh](?=\d))\s*(元|\d{1,2})(?=\s*年|[./]\d)")
_DIGITS = {digit: value for value, digit in enumerate("〇一二三四五六七八九")} | {"零": 0}
_COUNTED = (
    "回|日目|日間|歳|才|年|月|部|期|級|組|班|号|限|時|分|人|名|丁目|階|周年|週|段|章|話|幕|ヶ月|ヵ月|か月|カ月|ケ月|"
    "会議|研修|学習|集会|体育"
)
_KANJI_NUMBER = re.compile(
    # Bounded: Python reads no number of thousands of digits.
    r"(?<=第)[〇零一二三四五六七八九十百]{1,20}|(?<=その)[一二三四五六七八九十]{1,20}"
    rf"|(?<![一二三四五六七八九十百])[一二三四五六七八九十百]{{1,20}}+(?={_COUNTED})"
)
_ROMAN = re.compile(r"(?<![a-z])(viii|vii|iii|vi|iv|ix|ii|i|v|x)(?![a-z])")
_ROMANS = {name: value for value, name in enumerate("i ii iii iv v vi vii viii ix x".split(), start=1)}
_ROMAN_SIGNS = {start + value: f" {value + 1} " for start in (0x2160, 0x2170) for value in range(12)}
_FORMAL = re.compile(r"[壱弐]|(?<=第)参|(?<=その)参|(?<!\w)参(?!\w)")
_FORMAL_DIGITS = str.maketrans("壱弐参", "一二三")
_LOOKALIKES = {ord(sign): kana for sign, kana in zip("一口力二工八夕卜", "ーロカニエハタト", strict=True)}
_BETWEEN_KANA = re.compile(r"(?<=[ァ-ヶー])[一口力二工八夕卜](?=[ァ-ヶー])")
"""Signs that a scanner, or a tired eye, takes for kana: スポ一ツ."""
_SPELLINGS = (
    (re.compile(r"としょかん"), "図書館"),
    (re.compile(r"舘"), "館"),
    (re.compile(r"コミセン"), "コミュニティセンター"),
    (re.compile(r"スマホ"), "スマートフォン"),
    (re.compile(r"子供|子ども|コドモ|子ども達"), "こども"),
    (re.compile(r"[作造創](?=り)"), "づく"),
    (re.compile(r"づくり|つくり"), "づくり"),
    (re.compile(r"御(?=[\u3041-\u3096])"), "お"),
    (re.compile(r"[ヶヵ]|(?<=[一-龠])ケ(?=[一-龠])"), "が"),
    (re.compile(r"ヴァ"), "バ"),
    (re.compile(r"ヴィ"), "ビ"),
    (re.compile(r"ヴェ"), "ベ"),
    (re.compile(r"ヴォ"), "ボ"),
    (re.compile(r"ヴ"), "ブ"),
    (re.compile(r"見よう|観よう"), "みよう"),
    (re.compile(r"出来る"), "できる"),
    (re.compile(r"お話し?|御話し?"), "おはなし"),
    (re.compile(r"グランド"), "グラウンド"),
)
# Katakana to hiragana, small kana to large ones, and the long mark away: コンピューター and こんぴゅーた are one word.
_KANA = {code: code - 0x60 for code in range(0x30A1, 0x30F7)}
_SMALL = dict(zip("ぁぃぅぇぉっゃゅょゎ", "あいうえおつやゆよわ", strict=True))
_TABLE = {code: _SMALL.get(chr(target), chr(target)) for code, target in _KANA.items()} | {
    ord(small): large for small, large in _SMALL.items()
}
_DASHES = re.compile(r"(?<=[ぁ-んァ-ヶ])[ー‐‑–—―−-]+")
_SIGNS = re.compile(r"[\W_ー]+")


def normal(text: str) -> str:
    """One width and case, western years, Arabic numerals; words, spaces and signs stay where they are."""
    plain = unicodedata.normalize("NFKC", text.translate(_ROMAN_SIGNS)).casefold()
    plain = _FORMAL.sub(lambda found: found[0].translate(_FORMAL_DIGITS), plain)
    plain = _BETWEEN_KANA.sub(lambda found: found[0].translate(_LOOKALIKES), plain)
    plain = _ERA.sub(lambda found: str(_ERAS[found[1]] + (1 if found[2] == "元" else int(found[2]))), plain)
    plain = _KANJI_NUMBER.sub(lambda found: str(kanji_number(found[0])), plain)
    return _ROMAN.sub(lambda found: str(_ROMANS[found[1]]), plain)


def fold(plain: str) -> str:
    """A normal text without spaces, signs and the differences in spelling: 子供, 子ども and コドモ are one word."""
    for pattern, spelling in _SPELLINGS:
        plain = pattern.sub(spelling, plain)
    return letters(plain)


def letters(plain: str) -> str:
    """A normal text without spaces, signs and the difference between kinds of kana."""
    return _SIGNS.sub("", _DASHES.sub("", plain)).translate(_TABLE)


def kanji_number(text: str) -> int:
    """二十七 and 二七 are both 27."""
    if "十" not in text and "百" not in text:
        return int("".join(str(_DIGITS[sign]) for sign in text))
    total = current = 0
    for sign in text:
        if sign in _DIGITS:
            current = _DIGITS[sign]
        else:
            total += (current or 1) * (100 if sign == "百" else 10)
            current = 0
    return total + current
