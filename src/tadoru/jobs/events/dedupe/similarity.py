"""Compares texts and URLs: folds spellings, recognises typos, and recognises pages about one event.

Folding unifies width, case, kana, eras and numerals, for comparisons only; the result is never shown. Texts that fold to the same
are spelled differently, but not different. A typo is a single changed character without a meaning of its own. A link to a list
page or a home page is no evidence that two events are the same.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

from rapidfuzz.distance import OSA, Levenshtein

_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925, "r": 2018, "h": 1988}
_ERA = re.compile(r"(令和|平成|昭和|(?<![a-z])[rh](?=\d))\s*(元|\d{1,2})(?=\s*年|[./]\d)")
_DIGITS = {digit: value for value, digit in enumerate("〇一二三四五六七八九")} | {"零": 0}
_COUNTED = (
    "回|日目|日間|歳|才|余?年|月|部|期|級|組|班|号|限|時|分|人|名|丁目|階|周年|週|段|章|話|幕|ヶ月|ヵ月|か月|カ月|ケ月|"
    "会議|研修|学習|集会|体育"
)
_KANJI_NUMBER = re.compile(
    # Bounded: Python cannot convert a number of thousands of digits.
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
"""Characters that OCR confuses with kana: スポ一ツ."""
_SPELLINGS = (
    (re.compile(r"としょかん"), "図書館"),
    (re.compile(r"あかちゃん"), "赤ちゃん"),
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
    (re.compile(r"障がい|障碍"), "障害"),
    (re.compile(r"ひろば|ヒロバ"), "広場"),
    (re.compile(r"祭り"), "まつり"),
    (re.compile(r"遊(?=[ぶびぼ])"), "あそ"),
    (re.compile(r"[作造創](?=[るろ])"), "つく"),
    (re.compile(r"泊まり|泊り"), "とまり"),
    (re.compile(r"灯ろう|燈籠|とうろう"), "灯籠"),
    (re.compile(r"はたち"), "20歳"),
    (re.compile(r"集い"), "つどい"),
    (re.compile(r"高等学校"), "高校"),
    (re.compile(r"苺|イチゴ"), "いちご"),
    (re.compile(r"灯[りかし]{0,2}り|明かり|(?<=[竹雪])灯り"), "あかり"),
    (re.compile(r"(?<=しめ)縄|注連縄"), "なわ"),
)
# Katakana to hiragana, small kana to large ones, long marks removed: コンピューター and こんぴゅーた are one word.
_KANA = {code: code - 0x60 for code in range(0x30A1, 0x30F7)}
_SMALL = dict(zip("ぁぃぅぇぉっゃゅょゎ", "あいうえおつやゆよわ", strict=True))
_VARIANTS = (
    "辺邊邉 斎齋齊斉 高髙 崎﨑 浜濱 沢澤 広廣 国國 学學 会會 県縣 駅驛 竜龍 桜櫻 島嶋嶌 富冨 淵渕 徳德 恵惠 真眞 芸藝 体體 号號 "
    "円圓 万萬 与與 栄榮 実實 寿壽 浅淺 滝瀧 条條 鉄鐵 静靜 黒黑 緒緖 戸戶 吉𠮷 槙槇 桧檜 曽曾 亀龜 礼禮 弥彌 当當 関關 湾灣 鴎鷗"
)
"""Forms of one character; names are written with any of them."""
_TABLE = {code: _SMALL.get(chr(target), chr(target)) for code, target in _KANA.items()} | {
    ord(small): large for small, large in _SMALL.items()
}
_TABLE |= {ord(variant): forms[0] for forms in _VARIANTS.split() for variant in forms[1:] if variant != forms[0]}
_TABLE |= {code: plain for code in range(0xC0, 0x180) if (plain := unicodedata.normalize("NFD", chr(code))[0]) != chr(code)}
_KANA_OR_KANJI = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_KANJI = re.compile(r"[\u3400-\u9fff\U00020000-\U0003ffff]")
_DASHES = re.compile(r"(?<=[ぁ-んァ-ヶ])[ー‐‑–—―−-]+")
_SIGNS = re.compile(r"[\W_ー]+")


def normalise_text(text: str) -> str:
    """The text with one width and case, western years and Arabic numerals; words, spaces and signs stay."""
    plain = unicodedata.normalize("NFKC", text.translate(_ROMAN_SIGNS)).casefold()
    plain = _FORMAL.sub(lambda found: found[0].translate(_FORMAL_DIGITS), plain)
    plain = _BETWEEN_KANA.sub(lambda found: found[0].translate(_LOOKALIKES), plain)
    plain = _ERA.sub(lambda found: str(_ERAS[found[1]] + (1 if found[2] == "元" else int(found[2]))), plain)
    plain = _KANJI_NUMBER.sub(lambda found: str(kanji_number(found[0])), plain)
    return _ROMAN.sub(lambda found: str(_ROMANS[found[1]]), plain)


def fold_spelling(plain: str) -> str:
    """A normalised text without spaces, signs and spelling variants: 子供, 子ども and コドモ are one word."""
    for pattern, spelling in _SPELLINGS:
        plain = pattern.sub(spelling, plain)
    return bare_letters(plain)


def bare_letters(plain: str) -> str:
    """A normalised text without spaces, signs and the difference between hiragana and katakana."""
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


_KANA_SOUNDS = {
    kana: row.partition(":")[0]
    for row in (
        ":あいうえおやゆよわをぁぃぅぇぉゃゅょゎっ k:かきくけこ g:がぎぐげご s:さしすせそ z:ざずぜぞづ j:じぢ t:たつてと "
        "c:ち d:だでど n:なにぬねのん h:はひへほ f:ふ b:ばびぶべぼ p:ぱぴぷぺぽ m:まみむめも r:らりるれろ"
    ).split()
    for kana in row.partition(":")[2]
}
_LATIN_SOUNDS = (
    (re.compile(r"['’]"), ""),
    (re.compile(r"[^a-z]+"), " "),
    (re.compile(r"christ(?=mas)"), "kris"),
    (re.compile(r"ch(?=r)"), "k"),
    (re.compile(r"\b(?:the|a|an)\b"), ""),
    (re.compile(r"tion\b|sion\b"), "sn"),
    (re.compile(r"tch|ch"), "C"),
    (re.compile(r"sh|th|ts(?=e|u|\b)"), lambda found: "t" if found[0] == "ts" else "s"),
    (re.compile(r"ph"), "f"),
    (re.compile(r"gh|\bk(?=n)|\bw(?=r)"), ""),
    (re.compile(r"dge|g(?=[eiy])"), "j"),
    (re.compile(r"c(?=[eiy])"), "s"),
    (re.compile(r"ck|[cq]"), "k"),
    (re.compile(r"x"), "ks"),
    (re.compile(r"(?<=[aeiou])r(?![aeiouyr])"), ""),
    (re.compile(r"l"), "r"),
    (re.compile(r"v"), "b"),
    (re.compile(r"[aeiouyw ]"), ""),
)  # fmt: skip
_DOUBLED = re.compile(r"(.)\1+")


@lru_cache(maxsize=10_000)
def sound_key(plain: str) -> str:
    """The consonants of a normalised text in Latin letters or kana: the same for "Jazz Night" and "ジャズナイト". Kanji stay."""
    text = unicodedata.normalize("NFKC", plain).casefold()
    if not _KANA_OR_KANJI.search(text):
        for pattern, sound in _LATIN_SOUNDS:
            text = pattern.sub(sound, text)
        return _DOUBLED.sub(r"\1", text.lower())
    letters = (chr(code - 0x60) if 0x30A1 <= (code := ord(sign)) < 0x30F7 else sign for sign in text.replace("ヴ", "ブ"))
    return _DOUBLED.sub(r"\1", "".join(_KANA_SOUNDS.get(sign, sign) for sign in letters if sign.isalpha() and sign != "ー"))


def sound_alike(one: str, other: str, shortest: int) -> bool:
    """Whether a text in Latin letters and one in kana are the same words, as far as consonants tell."""
    mine, theirs = sound_key(one), sound_key(other)
    return mine == theirs and len(mine) >= shortest


MAX_MATCHED_LENGTH = 100
"""Characters of a text whose parts are matched in any order."""


_MAX_MATCHED_WORDS = 24
_MARKS, _OTHER_MARKS = 0xE000, 0xE800
"""Private characters that stand for what two texts have in common; other ones in the second text, so that they do not match."""
_TO_MARKS = {_OTHER_MARKS + number: _MARKS + number for number in range(MAX_MATCHED_LENGTH)}
_MARK = re.compile(r"([\ue000-\ue7ff])")
_NAME = 3
_STEM = 5
"""Letters that two forms of one word begin with, or that a part of a compound has."""


class TextMatch(NamedTuple):
    """What two texts have in common in any order, and what is left of each."""

    common: list[str]
    mine: list[str]
    theirs: list[str]
    replaced: list[tuple[str, str, bool]]
    """What is left of both between the same neighbours, so that one stands in the place of the other; and whether that is the
    beginning or the end."""


def match_text(one: str, other: str) -> TextMatch:
    """Take the longest common parts, of two characters or more, out of two texts, one after another."""
    mine, theirs, common = one[:MAX_MATCHED_LENGTH], other[:MAX_MATCHED_LENGTH], list[str]()
    if mine == theirs:
        return TextMatch([mine], [], [], [])
    found = SequenceMatcher(None, autojunk=False)
    while True:
        found.set_seqs(mine, theirs)
        match = found.find_longest_match()
        if match.size < 2:
            return _split_rests(common, mine, theirs)
        number = len(common)
        common.append(mine[match.a : match.a + match.size])
        mine = f"{mine[: match.a]}{chr(_MARKS + number)}{mine[match.a + match.size :]}"
        theirs = f"{theirs[: match.b]}{chr(_OTHER_MARKS + number)}{theirs[match.b + match.size :]}"


def match_words(one: Sequence[str], other: Sequence[str]) -> TextMatch:
    """The same for words in Latin letters: another form of a word is the word, and a compound is its parts."""
    mine, theirs, common = list(one[:_MAX_MATCHED_WORDS]), list(other[:_MAX_MATCHED_WORDS]), list[str]()
    for is_match in (str.__eq__, _is_form, _is_part):
        place = 0
        while place < len(mine):
            if (at := next((at for at, word in enumerate(theirs) if is_match(mine[place], word)), None)) is None:
                place += 1
                continue
            short = min(mine[place], theirs[at], key=len)
            number = len(common)
            common.append(short)
            for words, where, mark in ((mine, place, chr(_MARKS + number)), (theirs, at, chr(_OTHER_MARKS + number))):
                rest = words[where].replace(short, f" {mark} ", 1).split() if is_match is _is_part else [mark]
                words[where : where + 1] = rest
    return _split_rests(common, " ".join(mine), " ".join(theirs))


def _is_form(one: str, other: str) -> bool:
    """Whether two words are forms of one: a plural, a case, a typo."""
    same = next(
        (at for at, (mine, theirs) in enumerate(zip(one, other, strict=False)) if mine != theirs), min(len(one), len(other))
    )
    return (
        (same >= _STEM and same >= 0.6 * max(len(one), len(other)))
        or is_typo(one, other)
        or f"{one}s" == other
        or one == f"{other}s"
    )


def _is_part(one: str, other: str) -> bool:
    """Whether one word is the beginning or the end of a compound."""
    short, long = sorted((one, other), key=len)
    return len(short) >= _STEM and (long.startswith(short) or long.endswith(short))


def _split_rests(common: list[str], mine: str, theirs: str) -> TextMatch:
    sides = []
    for text in (mine, theirs.translate(_TO_MARKS)):
        parts = ["", *_MARK.split(text), ""]  # the rests, and between them the marks
        places = ((parts[at - 1], parts[at].strip(), parts[at + 1]) for at in range(1, len(parts), 2))
        sides.append([place for place in places if place[1]])
    replaced = [
        (one[1], other[1], not (one[0] and one[2])) for one in sides[0] for other in sides[1] if _is_in_place_of(one, other)
    ]
    return TextMatch(common, [rest for _, rest, _ in sides[0]], [rest for _, rest, _ in sides[1]], replaced)


def _is_in_place_of(one: tuple[str, str, str], other: tuple[str, str, str]) -> bool:
    """Whether both have the same neighbours; for two names or words of the same length one is enough: 高橋恵子 and 渡辺恵子."""
    before, after = one[0] == other[0], one[2] == other[2]
    if before and after:
        return True
    is_name = len(one[1]) == len(other[1]) <= _NAME
    return is_name and ((before and bool(one[0])) or (after and bool(one[2])))


def is_abbreviated(one: str, other: str) -> bool:
    """Whether one of two texts leaves out characters of the other: 短大 and 短期大学."""
    short, long = sorted((one, other), key=len)
    rest = iter(long)
    return len(short) > 1 and all(sign in rest for sign in short)


MIN_TYPO_LENGTH = 6
"""Characters: in shorter texts a changed character makes another word, and only swapped or doubled ones are typos."""
SIGN_GROUPS = (
    "0123456789",
    "一二三四五六七八九十百千",
    "甲乙丙丁",
    "初中上下高低",
    "前中後",
    "東西南北中",
    "大中小",
    "男女",
    "父母親子",
    "老若",
    "朝昼夜夕",
    "春夏秋冬",
    "月火水木金土日",
    "内外",
    "新旧",
    "左右",
    "乳幼",
    "赤青黄白黒緑",
)
"""Replacing one character of a group by another names another thing: 初級 and 中級, 北館 and 南館."""
_SIGNIFICANT_SIGNS = frozenset("".join(SIGN_GROUPS[:2]) + "初中上高低前後東西南北男女朝昼夜春夏秋冬甲乙丙")
"""Removing or adding one of these makes another word too: 初級 and 初中級."""

TextChange = tuple[str, str]
"""The text before and after a change."""


def is_typo(one: str, other: str, *, most: int = 3) -> bool:
    """Whether two folded texts differ by typos: one in a short text, at most `most` in a long one."""
    shorter, longer = sorted((len(one), len(other)))
    if shorter < 4 or longer - shorter > most:
        return False
    allowed = min(most, 1 + (shorter >= 12) + (shorter >= 24))
    if OSA.distance(one, other, score_cutoff=allowed) > allowed:
        return False
    one, other = sorted((one, other))  # so that the result does not depend on the order
    return all(_harmless(change, one + other, short=longer < MIN_TYPO_LENGTH) for change in _changes(one, other))


def _changes(one: str, other: str) -> list[TextChange]:
    """The differences of two texts; changes with only one character between them are one change."""
    spans: list[tuple[int, int, int, int]] = []
    for block in Levenshtein.opcodes(one, other):
        if block.tag == "equal":
            continue
        if spans and block.src_start - spans[-1][1] <= 1 and block.dest_start - spans[-1][3] <= 1:
            spans[-1] = (spans[-1][0], block.src_end, spans[-1][2], block.dest_end)
        else:
            spans.append((block.src_start, block.src_end, block.dest_start, block.dest_end))
    return [(one[start:end], other[begin:finish]) for start, end, begin, finish in spans]


def _harmless(change: TextChange, text: str, *, short: bool) -> bool:
    before, after = change
    if sorted(before) == sorted(after):  # two characters swapped
        return True
    if len(before) > 1 or len(after) > 1:
        return False
    sign = before or after
    if not (before and after) and sign * 2 in text and not sign.isdigit():  # doubled
        return True
    if short:
        return False
    if before and after:
        # Another kanji is another word: 柔道 and 剣道, 山田 and 山本. Only kana and letters are mistyped one by one.
        if _KANJI.match(before) and _KANJI.match(after):
            return False
        return not any(before in group and after in group for group in SIGN_GROUPS)
    return sign not in _SIGNIFICANT_SIGNS


_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://(?:www\.)?", re.IGNORECASE)
_TRACKING = re.compile(r"(?<=[?&])(?:utm_[a-z]+|fbclid|gclid|ref|source)=[^&]*&?", re.IGNORECASE)
_LIST_PAGE = re.compile(
    r"(?:index|default|top|home|main|events?|event_?(?:list|calendar|info)|event-calendar|calendar|schedule|lists?|news|info|oshirase|"
    r"topics|category|archive|search|koza|kouza|moyooshi|ibento|library|tosyokan|toshokan)(?:[-_]?\d{1,2})?(?:\.[a-z]{2,5})?",
    re.IGNORECASE,
)
_PAGE_ID = re.compile(r"\d{3,}|[a-z0-9]{4,}[-_][a-z0-9]{2,}|[a-z]{6,}|[^\x00-\x7f]{2,}|%[0-9a-f]{2}", re.IGNORECASE)


@lru_cache(maxsize=20_000)
def event_page_key(url: str) -> str:
    """A normalised URL of a page about one event, or "" if it looks like a page about many."""
    bare = _TRACKING.sub("", _SCHEME.sub("", url.strip()).split("#", 1)[0]).rstrip("?&")
    path, _, query = bare.partition("?")
    host, _, rest = path.partition("/")
    segments = [segment for segment in rest.split("/") if segment]
    if query and re.search(r"=[^&=\d]*+\d", query):
        return f"{host.lower()}/{'/'.join(segments)}?{query}"
    if (
        len(segments) > 1
        and _LIST_PAGE.fullmatch(segments[-1])
        and not _LIST_PAGE.fullmatch(segments[-2])
        and re.search(r"\d{3,}", segments[-2])
    ):
        segments = segments[:-1]
    if not segments or _LIST_PAGE.fullmatch(segments[-1]) or not _PAGE_ID.search(segments[-1].rsplit(".", 1)[0]):
        return ""
    return f"{host.lower()}/{'/'.join(segments)}"


def is_same_page(one: str, other: str) -> bool:
    """Whether both URLs are the same page about one event."""
    return bool(one) and bool(other) and (mine := event_page_key(one)) != "" and mine == event_page_key(other)
