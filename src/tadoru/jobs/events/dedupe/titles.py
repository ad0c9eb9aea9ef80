"""Compares two titles: the parts that identify an event, and the similarity of the rest.

Similar titles on one day are usually different events of one organiser, told apart by numbers, levels, ages, sessions or groups.
If these contradict each other, no similarity of the rest counts. A title is split once (`split_title`, cached) and compared
often.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from rapidfuzz import fuzz

from tadoru.jobs.events.dedupe.reasons import ReasonCode
from tadoru.jobs.events.dedupe.similarity import (
    MIN_TYPO_LENGTH,
    bare_letters,
    fold_spelling,
    is_typo,
    normalise_text,
    sound_alike,
)
from tadoru.parse.dates.vocabulary import MONTHS


class TitleNumber(NamedTuple):
    """A number in a title."""

    value: str
    kind: str
    """edition (第3回, vol.3), total (全3回), year, fiscal, month, day, count (20名, 60分), or empty for any other."""


_NUMBER = re.compile(
    r"(?P<before>全|第|vol[.,]?\s*|no[.,]?\s*|#|♯|その|パート|part\.?\s*)?"
    r"(?P<value>\d+(?:\.\d+)?(?:[a-z](?![a-z]))?)"  # With a letter: 3b is not 3.
    r"(?P<after>\s*(?:年度|年生|年|月生|月|日目|日間|日|回目|回|期|号|弾|節|周年|名|人|組|分間?|時間?|歳|才|[かヶヵカケ]月|円|階|部|\.(?=\s[a-z])|(?:st|nd|rd|th)\b))?"
)
_EDITIONS = frozenset({"回", "回目", "期", "号", "弾", "節", "周年", ".", "st", "nd", "rd", "th"})
_COUNTS = frozenset({"名", "人", "組", "分", "分間", "円"})

_MARKS = (
    # levels and parts
    "初中級 中上級 初級 中級 上級 初心者 未経験者 経験者 ビギナー エキスパート 入門 基礎 基本 応用 "
    "実践 発展 初期 中期 後期 前期 前半 後半 前編 後編 "
    "前篇 後篇 上巻 下巻 予選 準決勝 決勝 本選 前夜祭 後夜祭 開会式 閉会式 "
    # sessions
    "午前 午後 昼間 夜間 昼の部 夜の部 朝の部 夕方 早朝 ナイト モーニング デイ 月曜 火曜 水曜 木曜 金曜 土曜 日曜 平日 祝日 "
    # groups
    "新生児 乳児 乳幼児 幼児 園児 未就学児 未就園児 就学前 年中 年長 小学生 中学生 高校生 大学生 低学年 中学年 高学年 "
    "学生 大人 一般 児童 親子 男性 女性 男子 女子 男の子 女の子 シニア 高齢者 ジュニア ユース キッズ ベビー マタニティ "
    "プレママ パパ ママ 父親 母親 祖父母 妊婦 両親 ファミリー ペア 個人 団体 保護者 教員 職員 事業者 従業員 "
    # variants
    "ハーフ フル 車いす リレー クォーター オンライン リモート zoom 対面 配信 収録 説明会 体験会 見学会 発表会 交流会 "
    "懇親会 相談会 面接会 講演会 北部 南部 東部 西部 中部 英語 中国語 韓国語 日本語 フランス語 スペイン語"
).split()
# A direction or a season counts only if it names a thing (北図書館), not in 東京 or 春日; a letter only on its own.
_MARK = re.compile(
    "(?<!少)年少|"
    + "|".join(sorted(map(re.escape, _MARKS), key=len, reverse=True))
    + r"|[北南東西春夏秋冬](?=の部|コース|会場|地区|図書館|公民館|児童館|体育館|センター|支所|分館|小学校|中学校|クラス|部)"
    + r"|(?<![a-z0-9'’])(?:[b-h]|a(?! [a-z]))(?![a-z0-9'’])"
    + r"|\b(?:beginner|intermediate|advanced|adult|kid|child(?=ren)|teen|tween|toddler|bab(?=y|ies)|preschool|senior|junior|"
    r"youth|famil(?=y|ies)|m[ae]n|wom[ae]n|boy|girl|ladies|online|virtual|in-person|anfänger|fortgeschrittene|kinder|jugendliche|"
    r"erwachsene|frauen|männer|débutant|enfant|adulte|femme|homme)(?=(?:s|e?n|ren|y|ies|innen|[’']s)?\b)"
)
_WEEKDAYS = "月火水木金土日"


def find_numbers(plain: str) -> tuple[TitleNumber, ...]:
    """The numbers of a normalised text, in order."""
    return tuple(_number(found) for found in _NUMBER.finditer(plain))


def _number(found: re.Match[str]) -> TitleNumber:
    before, after = found["before"], (found["after"] or "").strip()
    value = found["value"].lstrip("0") or "0"
    if before == "全":
        kind = "total"
    elif after == "年度":
        kind = "fiscal"
    elif len(value) == 4 and value[:2] in {"19", "20"}:
        kind = "year"
    elif after in {"月", "日"}:
        kind = "month" if after == "月" else "day"
    elif after in _EDITIONS or (before and after not in _COUNTS):
        kind = "edition"
    else:
        kind = "count" if after in _COUNTS else ""
    return TitleNumber(value, kind)


@lru_cache(maxsize=10_000)
def significant_numbers(found: tuple[TitleNumber, ...], day: date, last: date | None = None) -> tuple[TitleNumber, ...]:
    """The numbers that are not just the date of the event."""
    if not found:
        return found
    fiscal = day.year - (day.month < 4)
    own = {
        ("year", str(day.year)),
        ("year", str(fiscal)),
        ("fiscal", str(fiscal)),
        ("month", str(day.month)),
        ("day", str(day.day)),
        ("", f"{day.day}.{day.month}"),
        ("", f"{day.month}.{day.day}"),
    }
    if last is not None:
        own |= {("month", str(last.month)), ("day", str(last.day))}
    return tuple(number for number in found if (number.kind, number.value) not in own)


def format_own_day(day: date) -> str:
    """The date of the event as titles write it: 8月1日土曜日."""
    return f"{day.month}月{day.day}日{_WEEKDAYS[day.weekday()]}曜日"


def find_markers(plain: str) -> frozenset[str]:
    """The words of a normalised text that name a level, a group or a session."""
    return frozenset(_MARK.findall(plain))


def is_implied_by_time(mark: str, day: date, hour: int | None) -> bool:
    """Whether a marker only repeats the date and time of the event: 土曜 for an event on a Saturday."""
    if mark.endswith("曜"):
        return _WEEKDAYS[day.weekday()] == mark[0]
    if hour is None:
        return False
    return (mark == "午前" and hour < 12) or (mark == "午後" and hour >= 12)


_OPEN, _CLOSE = r"(\[{【〔〈《<", r")\]}】〕〉》>"
_ASIDE = re.compile(rf"[{_OPEN}]([^{_OPEN}{_CLOSE}]*)[{_CLOSE}]")
_NOISE_ASIDE = re.compile(
    r"[\s・,、/]*(?:(?:要|事前)?(?:予約|申込み?|申し込み)(?:制|不要|必要|必須|が必要です|受付中)?|参加?無料|入場無料|無料|有料|先着順?|定員(?:あり|\d{1,4}[名人組])?|先着\d{1,4}[名人組]|雨天(?:中止|決行|順延)|"
    r"ハイブリッド|(?:会場|対面)[・&＆と]オンライン|オンライン(?=併用|同時|[・&＆と](?:会場|対面))|(?<=オンライン)[・&＆と](?:会場|対面)|併用|同時(?:開催|配信)?|"
    r"参加者募集中?|募集中?|受付(?:中|終了|開始)|満員(?:御礼)?|締切|開催(?:中止|延期|決定)?|中止|延期|再掲|更新|新着|new|"
    r"仮称|予定|お知らせ|イベント|終了(?:しました)?|抽選|当日(?:受付|参加可?))*[\s!・]*"
)
_NOISE = re.compile(
    r"(?:(?:を|が|の|は)?(?:開催(?:いた)?(?:します|しました|されます|中|決定)?|実施(?:いた)?します|行います)|"
    r"(?:の|参加者?の?|受講生?者?の?)?(?:開催|実施)?の?(?:お知らせ|ご案内|ご紹介)|"
    r"(?:の)?(?:参加者|受講者|受講生|出演者|出展者)(?:を)?(?:大)?募集(?:中|します)?(?:のお知らせ)?|について|参加者?募集中?)(?:[\W_]*$|(?=\s))"
)
_OPENING = re.compile(r"^[\s☆★♪◎●■◆▼▲※・!]*(?:イベント|お知らせ|ご案内|催し|講座案内)[::]\s*")
_SUBTITLE = re.compile(r"[~〜\-–—―－][^~〜]{2,}$|[~〜][^~〜]{2,}[~〜]")
_COUNTED = re.compile(r"[第全]\s*\d+\s*[回期]目?(?!食)|vol\.?\s*\d+|(?:19|20)\d\d\s*年度?|(?<!\d)20\d\d(?!\d)")
"""Editions and years, which are compared as numbers; a title without them is the same text."""
_SHORT_DATE = re.compile(
    r"(?<!\d)(1[0-2]|0?[1-9])\s*[/.]\s*(3[01]|[12]\d|0?[1-9])(?!\d)"
    r"(?=\s*\([月火水木金土日]|\s*[\]】)~～〜]|(?:公演|開催|実施)|$)"
)
"""1/28(金), [01.28], 12/3 at the end; not 1/2 elsewhere, which may be a half."""
_DAYS = re.compile(r"(?<![\d.:])(\d{1,2})[~～〜・-](\d{1,2})日(?!間)")
_MONTH = "(" + "|".join(sorted(MONTHS.keys() - {"out", "set", "ago", "gen", "mag"}, key=len, reverse=True)) + ")"
"""The names of months without those that are other words too."""
_DAY = r"(3[01]|[12]\d|0?[1-9])"
_LATIN_DATE = re.compile(rf"\b(?:{_DAY}(?:st|nd|rd|th|\.)?\s(?:of\s)?{_MONTH}|{_MONTH}\.?\s{_DAY}(?:st|nd|rd|th)?)\b")
_DATE = re.compile(r"\d{1,2}月\d{1,2}日(?:\s*\([月火水木金土日](?:曜日?)?(?:[・,]?祝日?)?\))?(?:に?(?:開催|実施))?")
"""A date, which is also compared as numbers, and ignored if it is the date of the event."""
_AROUND = re.compile(r"^(?:会場|場所|於|主催)\s*:?\s*|^(?:in|at)\s+")
_FOR_WHOM = re.compile(r"(?:の方)?(?:向け?|対象|限定|のみ)$")
_PIECE = re.compile(r"[\W_]+")
_LATIN_PIECE = re.compile(r"[’'](?=s\b)|[^\w’']+")
_JOINING = frozenset(
    "the an of in at on by to for with and or from de du des la le et en au der die das dem den und im am mit für von zu al del "
    "della delle dei di il lo gli el los las con por para da do van het een och".split()
)
_UNLIKE = 0.45
_SHARED_PAIRS = 0.6
"""Of the pairs of letters of the shorter title: it may be in the longer one, with other words between."""
_CLOSE_ENOUGH = 0.64
_CLOCK = r"\d{1,2}(?::\d\d|時(?:\d{1,2}分|半)?)"
_TIME_OF_DAY = re.compile(rf"(\d日(?:\s?\([^()]{{1,5}}\))?)\s?{_CLOCK}(?:\s?[~～〜-]\s?(?:{_CLOCK})?|から)?")
"""The time behind a date in a title: when the event is, not which one."""
_OPENS = "(?:開場|開演|開会|開始|受付|集合)"
_DOORS = re.compile(
    rf"{_OPENS}\s?:?\s?{_CLOCK}(?:\s?[~～〜-])?|{_CLOCK}\s?(?:{_OPENS}|スタート)"
    r"|\b(?:ore|um|at|à)\s\d{1,2}(?:[:.h]\d\d)?(?:\s?(?:uhr|h|am|pm))?\b"
)
_ANNOUNCEMENT = re.compile(
    "|".join(
        (
            "のお知らせ 開きます 参加無料 入場無料 参加者 受講者 出演者 募集中 受付中 要予約 お知らせ presents ぷれぜんつ "
            "開催 開講 募集 参加 受付 予約 申込 無料 定員 先着 講師 先生 出演 主催 共催 後援 案内 します 年度 令和 周年 "
            "のための 向け による さん さま feat with the of in at 第 回 目 年 氏 名 ん 市 町 区 村 立 県"
        ).split()
    )
    + r"|\d+[月日]?"
)
"""What announces an event, repeats its year or names people in it, folded: it does not say which event it is."""
_COMMON = (
    "体験教室|わくすつぷ|市民公開|無料開放|体験会|講習会|講演会|演奏会|いべんと|ふえすた|夏休み|冬休み|春休み|はじめて|初めて|みんな|楽しむ|楽しい|せみな|まつり|"
    "らいぶ|live|ふえす|全年齢のかた|対象|体験|講演|講座|教室|大会|競走|催し|学ぶ|公開|一般|市民|恒例|年末|年始|連続|特別|企画|記念"
)
_COMMON_WORDS = re.compile(rf"{_COMMON}|[展会編員者]|[秋春夏冬](?![\u3400-\u9fff])")
"""Words that many events have, folded: they do not say which event it is unless the other title has another one."""
_SHORTEST_SOUND = 4
"""Consonants: fewer are those of many words."""
_PARTICLES = re.compile(r"[のをでとにはがへやおごもさ]{0,3}")
_KINDS = (
    "会(?![館場議])|展|式|祭|つどい|まつり|講座|教室|講習|講演|公演|体験|見学|引換|引き換え|受付|販売|即売|抽選|配布|上映|相談|練習|準備|交流|発表|実演|撮影|表彰|"
    "つあ|とく|とくしよ|こんてすと|らいぶ|こんさと|わくしよつぷ|ぱれど|せみな|りはさる|くいず|(?<!ず)らり|ふえすた|ふえあ|ふえす|ふえすていばる|まらそん|まるしえ|"
    "まけつと|ぱてい"
)
_KIND = re.compile(_KINDS)
_KIND_AT_END = re.compile(f"(?:{_KINDS}|市|展示|募集)$")
"""The kind of an event, folded; at the end of a title it is that of the whole."""
_JAPANESE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_QUOTED = (re.compile(r"[「『]([^「『」』]{1,60})[」』]"), re.compile(r"[~〜～]([^~〜～]{3,60})[~〜～]"))
_LATIN = re.compile(r"[A-Za-z]{3}")
_TWO_KANJI = re.compile(r"[\u3400-\u9fff]{2}")


_MANY_HAVE = re.compile(f"{_ANNOUNCEMENT.pattern}|{_COMMON}|{_KINDS}")


class TitleSimilarity(IntEnum):
    """How similar two titles are, apart from their identifying parts."""

    FAR = 0
    CLOSE = 1
    """Similar, but words differ."""
    PART = 2
    """One is a part of the other."""
    SPELLING = 3
    """A typo, or another order of words."""
    SAME = 4


@dataclass(frozen=True, slots=True)
class TitleParts:
    """The parts of a title."""

    text: str
    """Folded, without boilerplate."""
    body: str
    """Folded, without text in brackets."""
    head: str
    """Folded, without brackets and subtitle."""
    pairs: frozenset[str]
    """The pairs of letters of `text`."""
    letters: str
    """The sorted characters of `text`: equal for two orders of the same words."""
    ordered: str
    """The sorted words of `text`."""
    written: str
    """`text` without spelling variants folded: a typo may be in a word that folding changes."""
    words: tuple[str, ...]
    """The words of a title without Japanese, apart from those that join others."""
    lone: frozenset[str]
    """Words of one character: another character there is another word, not a typo."""
    asides: frozenset[str]
    numbers: tuple[TitleNumber, ...]
    years: tuple[frozenset[str], frozenset[str]]
    """Among the numbers: calendar years, and fiscal years."""
    marks: frozenset[str]


@lru_cache(maxsize=10_000)
def split_title(title: str) -> TitleParts:
    """Split a title into its parts."""
    plain = _DAYS.sub(r"\1日~\2日", _OPENING.sub("", normalise_text(title)))
    plain = _SHORT_DATE.sub(lambda found: f"{int(found[1])}月{int(found[2])}日", plain)
    plain = _LATIN_DATE.sub(_japanese_date, plain)
    plain = _DOORS.sub(" ", _TIME_OF_DAY.sub(r"\1", plain))
    asides: set[str] = set()

    def put_aside(found: re.Match[str]) -> str:
        if not _NOISE_ASIDE.fullmatch(found[1]):
            asides.add(_FOR_WHOM.sub("", _AROUND.sub("", found[1])))
        return " "

    plain = _ASIDE.sub(lambda found: " " if _NOISE_ASIDE.fullmatch(found[1]) else found[0], plain)
    bare = _DATE.sub(" ", plain)
    while (shorter := _ASIDE.sub(put_aside, bare)) != bare:
        bare = shorter
    kept = _COUNTED.sub(" ", bare).strip()
    while (shorter := _NOISE.sub("", kept).strip()) not in {kept, ""}:
        kept = shorter
    beside = sorted({rest for aside in asides if (rest := _COUNTED.sub(" ", aside).strip()) and rest not in {"大会", "公演"}})
    whole = " ".join([kept, *beside])
    text = fold_spelling(whole) or fold_spelling(plain) or title.strip()
    numbers = find_numbers(plain)
    return TitleParts(
        text=text,
        body=fold_spelling(kept),
        head=fold_spelling(_SUBTITLE.sub(" ", kept)),
        pairs=frozenset(text[place : place + 2] for place in range(len(text) - 1)),
        letters="".join(sorted(text)),
        ordered="".join(sorted(fold_spelling(piece) for piece in _PIECE.split(whole))),
        written=bare_letters(whole),
        words=_latin_words(whole),
        lone=frozenset(piece for piece in _PIECE.split(whole) if len(piece) == 1),
        asides=frozenset(filter(None, map(fold_spelling, beside))),
        numbers=numbers,
        years=(_years(numbers, "year"), _years(numbers, "fiscal")),
        marks=find_markers(plain),
    )


def _japanese_date(found: re.Match[str]) -> str:
    """5 December as 12月5日, which is compared and left out like any date."""
    return f" {MONTHS[found[2] or found[3]]}月{int(found[1] or found[4])}日 "


def _latin_words(whole: str) -> tuple[str, ...]:
    if _JAPANESE.search(whole):
        return ()
    words = (word for word in map(bare_letters, _LATIN_PIECE.split(whole)) if len(word) > 1 and word not in _JOINING)
    return tuple(dict.fromkeys(words))


def _years(numbers: tuple[TitleNumber, ...], kind: str) -> frozenset[str]:
    return frozenset(number.value for number in numbers if number.kind == kind)


def dissimilarity(one: TitleParts, other: TitleParts) -> float | None:
    """The similarity of two titles if it is so low that nothing else needs to be compared, otherwise None."""
    if one.text == other.text or one.text in other.text or other.text in one.text:
        return None
    alike = max(fuzz.ratio(one.text, other.text), fuzz.ratio(one.ordered, other.ordered)) / 100
    if alike >= _UNLIKE:
        return None
    short = min(one, other, key=lambda title: (len(title.text), title.text))
    shared = len(one.pairs & other.pairs)
    return None if shared >= 4 and shared >= _SHARED_PAIRS * len(short.pairs) else alike


def title_similarity(one: TitleParts, other: TitleParts, explained: Callable[[], str]) -> tuple[TitleSimilarity, float, str]:
    """How similar two titles are: a level, a share from 0 to 1, and what the longer one adds.

    `explained` returns the folded venue, city and organiser: a title that only adds one of these adds nothing.
    """
    if one.text == other.text or (one.letters == other.letters and one.ordered == other.ordered):
        return TitleSimilarity.SAME, 1.0, ""
    if one.letters == other.letters and len(one.text) >= 4:
        return TitleSimilarity.SPELLING, 0.98, ""
    alike = max(fuzz.ratio(one.text, other.text), fuzz.ratio(one.ordered, other.ordered)) / 100
    if alike >= 0.75 and _differ_by_typo(one, other):
        return TitleSimilarity.SPELLING, alike, ""
    short, long = sorted((one, other), key=lambda title: (len(title.text), title.text))
    found = _part(short, long, explained)
    if found is not None:
        return found
    return (TitleSimilarity.CLOSE if alike >= _CLOSE_ENOUGH else TitleSimilarity.FAR), alike, ""


def have_same_edition(one: TitleParts, other: TitleParts) -> bool:
    """Whether both titles have the same number of an edition, as 第14節."""
    return any(number.kind == "edition" and number in other.numbers for number in one.numbers)


def share_content(one: TitleParts, other: TitleParts, explained: str) -> bool:
    """Whether both have an edition, or a word that neither many events nor the place have: two kanji or four other letters."""
    if have_same_edition(one, other):
        return True
    mine, theirs = _own_text(one.body), _own_text(other.body)
    words = {mine[place : place + length] for place in range(len(mine) - 1) for length in (2, 4)}
    return any(
        "\0" not in word and word in theirs and word not in explained and (len(word) == 4 or _TWO_KANJI.fullmatch(word))
        for word in words
    )


@lru_cache(maxsize=10_000)
def _own_text(body: str) -> str:
    return _MANY_HAVE.sub("\0", body)


def have_one_frame(one: TitleParts, other: TitleParts) -> bool:
    """Whether titles begin or end alike, so that what stands between tells two events apart: 卓球教室 and 水泳教室."""
    return one.text[:2] == other.text[:2] or one.text[-2:] == other.text[-2:]


def have_other_quotes(one: str, other: str) -> bool:
    """Whether both titles quote something else or have another subtitle: two films, two subjects of one course."""
    return any(
        mine and theirs and not any(mine[place : place + 2] in theirs for place in range(len(mine) - 1))
        for mine, theirs in zip(_quotes(one), _quotes(other), strict=True)
    )


def have_same_quote(one: str, other: str) -> bool:
    """Whether both titles quote the same: the name of a film or a book."""
    mine, theirs = (_quotes(title)[0] for title in (one, other))
    return min(len(mine), len(theirs)) >= 4 and (mine in theirs or theirs in mine)


@lru_cache(maxsize=10_000)
def _quotes(title: str) -> tuple[str, ...]:
    return tuple("\0".join(quoted.findall(title)) for quoted in _QUOTED)


def content_length(rest: str, explained: str = "", *, with_common: bool = False) -> int:
    """The characters of a part of a folded title that say which event it is, with or without words that many events have."""
    return 0 if len(rest) > 1 and rest in explained else _bare_length(rest, with_common)


@lru_cache(maxsize=20_000)
def _bare_length(rest: str, with_common: bool) -> int:
    bare = _ANNOUNCEMENT.sub("", rest if with_common else _COMMON_WORDS.sub("", rest))
    return 0 if _PARTICLES.fullmatch(bare) else len(bare)


def is_within(one: TitleParts, other: TitleParts) -> bool:
    """Whether one title has a kind of event behind the whole of the other: a talk in an exhibition, a draw at a festival."""
    short, long = sorted((one.head, other.head), key=len)
    if not short or not long.startswith(short) or not _KIND.search(short):
        return False
    rest = _ANNOUNCEMENT.sub("", long[len(short) :])
    return rest not in {"講座", "教室"} and _KIND_AT_END.search(rest) is not None


def has_other_script(one: str, other: str) -> bool:
    """Whether one title is in Latin letters and the other in Japanese."""
    return _is_latin(one) is not _is_latin(other)


@lru_cache(maxsize=10_000)
def is_transliterated(one: str, other: str) -> bool:
    """Whether one title writes in kana what the other has in Latin letters."""
    if not has_other_script(one, other):
        return False
    plain = [_COUNTED.sub(" ", normalise_text(title)) for title in (one, other)]
    return sound_alike(plain[0], plain[1], _SHORTEST_SOUND)


@lru_cache(maxsize=10_000)
def _is_latin(title: str) -> bool:
    return not _JAPANESE.search(title) and _LATIN.search(title) is not None


def _differ_by_typo(one: TitleParts, other: TitleParts) -> bool:
    """Whether two titles differ only by typos."""
    if one.lone != other.lone and one.lone and other.lone:
        return False
    return is_typo(one.text, other.text) or is_typo(one.ordered, other.ordered) or is_typo(one.written, other.written)


def _part(short: TitleParts, long: TitleParts, explained: Callable[[], str]) -> tuple[TitleSimilarity, float, str] | None:
    """Whether the shorter title is a part of the longer one."""
    if len(short.text) < 4:
        return None
    if short.body in long.body and short.asides <= long.asides:
        words = (long.body.replace(short.body, "", 1), *(long.asides - short.asides))
        if all(_explained(word, explained()) for word in words if word):
            return TitleSimilarity.SPELLING, 0.97, "".join(words)
    if short.text not in long.text:
        return None
    beyond = long.text.replace(short.text, "", 1)
    if len(short.text) >= MIN_TYPO_LENGTH and short.text in {long.head, long.body}:
        return TitleSimilarity.PART, 0.9, beyond
    return TitleSimilarity.CLOSE, max(_CLOSE_ENOUGH, len(short.text) / len(long.text)), beyond


def _explained(word: str, names: str) -> bool:
    """Whether the added word is a known name, possibly after a word like “in”."""
    bare = word.removeprefix("in").removeprefix("at").removeprefix("会場")
    return len(bare) >= 2 and bare in names


class TitleAgreement(NamedTuple):
    """How the identifying parts of two titles agree: the worst result."""

    code: ReasonCode | None = None
    """None: no contradiction."""
    values: tuple[str, ...] = ()


_AGREED = TitleAgreement()
_YEARS = frozenset({"year", "fiscal"})
_DATES = frozenset({"month", "day"})
_PLAIN_NUMBERS = frozenset({"", "count"})
_TOTAL_OR_EDITION = frozenset({"total", "edition"})
_WORST_FIRST = (
    ReasonCode.MARKS_DIFFER,
    ReasonCode.ASIDES_DIFFER,
    ReasonCode.DATES_DIFFER,
    ReasonCode.NUMBERS_MISSING,
    ReasonCode.MARKS_MISSING,
    ReasonCode.ASIDES_MISSING,
    ReasonCode.ASIDES_SPELLING,
    ReasonCode.EDITION_MISSING,
)


def compare_identity(
    one: TitleParts, other: TitleParts, when: tuple[date, int | None], explained: Callable[[], str], last: date | None = None
) -> TitleAgreement:
    """Compare numbers, markers and brackets. `when` and `last`: day, hour and last day of the event, which titles may repeat."""
    if one.numbers == other.numbers and one.marks == other.marks and one.asides == other.asides:
        return _AGREED
    numbers = _numbers(one, other, when[0], last)
    if numbers.code is ReasonCode.NUMBERS_DIFFER:
        return numbers
    found = {result.code: result for result in (numbers, _marks(one, other, when, explained), _asides(one, other, explained))}
    return next((found[code] for code in _WORST_FIRST if code in found), _AGREED)


def differing_number(one: TitleParts, other: TitleParts) -> tuple[str, str] | None:
    """The only numbers of two titles if they differ and are no part of a date: nothing else can make these one event."""
    if len(one.numbers) != 1 or len(other.numbers) != 1:
        return None
    (mine,), (theirs,) = one.numbers, other.numbers
    is_plain = mine.kind in _PLAIN_NUMBERS and theirs.kind in _PLAIN_NUMBERS
    return (mine.value, theirs.value) if is_plain and mine.value != theirs.value else None


def _numbers(one: TitleParts, other: TitleParts, day: date, last: date | None) -> TitleAgreement:
    if one.numbers == other.numbers:
        return _AGREED
    for mine_years, their_years in zip(one.years, other.years, strict=True):
        # 2021年度 and 2022 may be the same date, 2021 and 2022 are two years
        if mine_years and their_years and mine_years != their_years:
            return TitleAgreement(ReasonCode.NUMBERS_DIFFER, (min(mine_years), min(their_years)))
    mine, theirs = _unmatched(significant_numbers(one.numbers, day, last), significant_numbers(other.numbers, day, last))
    if mine and theirs:  # 第632回 and マーラー5番 do not contradict each other
        couples = [(one.value, other.value) for one in mine for other in theirs if one.kind == other.kind]
        code = ReasonCode.NUMBERS_DIFFER if couples else ReasonCode.NUMBERS_MISSING
        return TitleAgreement(code, couples[0] if couples else (mine[0].value, theirs[0].value))
    left = mine or theirs
    if not left:
        return _AGREED
    if any(
        number.kind in _YEARS for number in left
    ):  # not the year of the event: another edition, if the other title has a year too
        both = all(any(number.kind in _YEARS for number in title.numbers) for title in (one, other))
        values = [number.value for title in (one, other) for number in title.numbers if number.kind in _YEARS]
        return (
            TitleAgreement(ReasonCode.NUMBERS_DIFFER, (values[0], values[-1]))
            if both
            else TitleAgreement(ReasonCode.NUMBERS_MISSING, (left[0].value,))
        )
    if left[0].kind in _DATES and (dates := [each for each in (other if mine else one).numbers if each.kind == left[0].kind]):
        return TitleAgreement(ReasonCode.DATES_DIFFER, tuple(sorted((left[0].value, dates[0].value))))
    soft = all(number.kind in _TOTAL_OR_EDITION for number in left)
    return TitleAgreement(ReasonCode.EDITION_MISSING if soft else ReasonCode.NUMBERS_MISSING, (left[0].value,))


def _unmatched(one: tuple[TitleNumber, ...], other: tuple[TitleNumber, ...]) -> tuple[list[TitleNumber], list[TitleNumber]]:
    """The numbers that only one title has: matched by kind and value first, then by value."""
    mine, theirs = sorted(one), sorted(other)
    for same_kind in (True, False):
        for number in mine[:]:
            match = next(
                (each for each in theirs if each.value == number.value and (each.kind == number.kind or not same_kind)), None
            )
            if match is not None:
                mine.remove(number)
                theirs.remove(match)
    return mine, theirs


def _marks(one: TitleParts, other: TitleParts, when: tuple[date, int | None], explained: Callable[[], str]) -> TitleAgreement:
    if one.marks == other.marks:
        return _AGREED
    mine, theirs = one.marks - other.marks, other.marks - one.marks
    mine = frozenset(mark for mark in mine if not _is_gathering_of(mark, other.text))
    theirs = frozenset(mark for mark in theirs if not _is_gathering_of(mark, one.text))
    if not (mine and theirs):  # Against another mark, a word of the venue is a mark too: (一般) and (児童) in a 児童センター.
        known = explained()
        mine, theirs = (
            frozenset(mark for mark in marks if len(mark) < 2 or fold_spelling(mark) not in known) for marks in (mine, theirs)
        )
    left = [mark for mark in sorted(mine | theirs) if not is_implied_by_time(mark, *when)]
    if not left or one.letters == other.letters:  # the same characters in another order make other words at the seams
        return _AGREED
    if mine and theirs:
        return TitleAgreement(ReasonCode.MARKS_DIFFER, (min(mine), min(theirs)))
    return TitleAgreement(ReasonCode.MARKS_MISSING, (left[0],))


def _is_gathering_of(mark: str, text: str) -> bool:
    """Whether the other title has 体験 for 体験会."""
    return len(mark) == 3 and mark.endswith("会") and mark[:-1] in text


def _asides(one: TitleParts, other: TitleParts, explained: Callable[[], str]) -> TitleAgreement:
    if one.asides == other.asides:
        return _AGREED
    if one.letters == other.letters:
        return _AGREED
    mine, theirs = sorted(one.asides - other.asides), sorted(other.asides - one.asides)
    if mine and len(mine) == len(theirs) and all(map(is_typo, mine, theirs)):
        return TitleAgreement(ReasonCode.ASIDES_SPELLING, (mine[0], theirs[0]))
    known = explained()
    mine = [aside for aside in mine if aside not in other.body and aside not in known]
    theirs = [aside for aside in theirs if aside not in one.body and aside not in known]
    if mine and theirs:
        return TitleAgreement(ReasonCode.ASIDES_DIFFER, (mine[0], theirs[0]))
    return TitleAgreement(ReasonCode.ASIDES_MISSING, ((mine or theirs)[0],)) if mine or theirs else _AGREED
