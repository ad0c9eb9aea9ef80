"""Compares two titles: what of them is identity, and whether the rest is one text written twice.

A title is taken apart once (`view`, cached) and compared often. Only words are judged here; what follows from them for the
events is decided in `compare`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from enum import IntEnum
from functools import lru_cache

from rapidfuzz import fuzz

from tadoru.jobs.events.dedupe.explain import Code
from tadoru.jobs.events.dedupe.fold import fold, letters, normal
from tadoru.jobs.events.dedupe.marks import Number, marks, numbers, spoken_for, telling
from tadoru.jobs.events.dedupe.slips import SHORTEST, is_slip

_OPEN, _CLOSE = r"(\[{【〔〈《<", r")\]}】〕〉》>"
_ASIDE = re.compile(rf"[{_OPEN}]([^{_OPEN}{_CLOSE}]*)[{_CLOSE}]")
_NOISE_ASIDE = re.compile(
    r"[\s・,、/]*(?:(?:要|事前)?(?:予約|申込み?|申し込み)(?:制|不要|必要|必須|が必要です|受付中)?|参加?無料|入場無料|無料|有料|先着順|定員あり|雨天(?:中止|決行|順延)|"
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
"""Editions and years: they are compared as numbers, and a title that leaves one out is the same text."""
_SHORT_DATE = re.compile(r"(?<!\d)(1[0-2]|0?[1-9])\s*[/.]\s*(3[01]|[12]\d|0?[1-9])(?!\d)(?=\s*\([月火水木金土日]|\s*[\]】)])")
"""1/28(金), [01.28]; not 1/2, which may be a half."""
_DATE = re.compile(r"\d{1,2}月\d{1,2}日(?:\s*\([月火水木金土日](?:曜日?)?(?:[・,]?祝日?)?\))?(?:に?(?:開催|実施))?")
"""A date, too, is compared as numbers, and left out when it is the event's own."""
_AROUND = re.compile(r"^(?:会場|場所|於|主催)\s*:?\s*|^(?:in|at)\s+")
_PIECE = re.compile(r"[\W_]+")
_UNLIKE = 0.45
_CLOSE_ENOUGH = 0.64


class Likeness(IntEnum):
    """How two titles stand to each other, identity aside."""

    FAR = 0
    CLOSE = 1
    """Alike, but words differ."""
    PART = 2
    """One goes on where the other ends."""
    SPELLING = 3
    """A slip of the pen, or the order of words."""
    SAME = 4


CODES = {
    Likeness.FAR: Code.TITLE_FAR,
    Likeness.CLOSE: Code.TITLE_CLOSE,
    Likeness.PART: Code.TITLE_PART,
    Likeness.SPELLING: Code.TITLE_SPELLING,
    Likeness.SAME: Code.TITLE_SAME,
}


@dataclass(frozen=True, slots=True)
class TitleView:
    """A title taken apart."""

    text: str
    """Folded, everything in it but noise."""
    body: str
    """Folded, without what stands in brackets."""
    head: str
    """Folded, without brackets and without a subtitle."""
    letters: str
    """The signs of `text`, sorted: the same for two orders of the same words."""
    ordered: str
    """The words of `text`, sorted."""
    written: str
    """`text` in the letters it is written in: a slip may fall into a word that folding changes."""
    lone: frozenset[str]
    """Words of one sign: another sign there is another word, not a slip."""
    asides: frozenset[str]
    numbers: tuple[Number, ...]
    marks: frozenset[str]


@lru_cache(maxsize=100_000)
def view(title: str) -> TitleView:
    """Take a title apart."""
    plain = _SHORT_DATE.sub(lambda found: f"{int(found[1])}月{int(found[2])}日", _OPENING.sub("", normal(title)))
    asides: set[str] = set()

    def put_aside(found: re.Match[str]) -> str:
        if not _NOISE_ASIDE.fullmatch(found[1]):
            asides.add(_AROUND.sub("", found[1]))
        return " "

    bare = _DATE.sub(" ", plain)
    while (shorter := _ASIDE.sub(put_aside, bare)) != bare:
        bare = shorter
    kept = _COUNTED.sub(" ", bare).strip()
    while (shorter := _NOISE.sub("", kept).strip()) not in {kept, ""}:
        kept = shorter
    beside = sorted(filter(None, (_COUNTED.sub(" ", aside).strip() for aside in asides)))
    whole = " ".join([kept, *beside])
    text = fold(whole) or fold(plain) or title.strip()
    return TitleView(
        text=text,
        body=fold(kept),
        head=fold(_SUBTITLE.sub(" ", kept)),
        letters="".join(sorted(text)),
        ordered="".join(sorted(fold(piece) for piece in _PIECE.split(whole))),
        written=letters(whole),
        lone=frozenset(piece for piece in _PIECE.split(whole) if len(piece) == 1),
        asides=frozenset(filter(None, map(fold, beside))),
        numbers=numbers(plain),
        marks=marks(plain),
    )


def unlike(one: TitleView, other: TitleView) -> float | None:
    """The share that two titles have in common when it is so small that nothing else needs to be looked at."""
    if one.text == other.text or one.text in other.text or other.text in one.text:
        return None
    alike = max(fuzz.ratio(one.text, other.text), fuzz.ratio(one.ordered, other.ordered)) / 100
    return alike if alike < _UNLIKE else None


def likeness(one: TitleView, other: TitleView, explained: Callable[[], str]) -> tuple[Likeness, float, str]:
    """How alike two titles are, as a level, a share from 0 to 1, and what the longer one says beyond the shorter.

    `explained` gives the folded text of venue, city and organiser: a title that goes on with one of them says nothing new.
    """
    if one.text == other.text or (one.letters == other.letters and one.ordered == other.ordered):
        return Likeness.SAME, 1.0, ""
    if one.letters == other.letters and len(one.text) >= 4:
        return Likeness.SPELLING, 0.98, ""
    alike = max(fuzz.ratio(one.text, other.text), fuzz.ratio(one.ordered, other.ordered)) / 100
    if alike >= 0.75 and _slipped(one, other):
        return Likeness.SPELLING, alike, ""
    short, long = sorted((one, other), key=lambda title: (len(title.text), title.text))
    found = _part(short, long, explained)
    if found is not None:
        return found
    return (Likeness.CLOSE if alike >= _CLOSE_ENOUGH else Likeness.FAR), alike, ""


def share_a_word(one: TitleView, other: TitleView) -> bool:
    """Whether a stretch of five signs stands in both, brackets aside."""
    return any(one.body[place : place + 5] in other.body for place in range(len(one.body) - 4))


def _slipped(one: TitleView, other: TitleView) -> bool:
    """Whether two titles differ by slips of the pen only."""
    if one.lone != other.lone and one.lone and other.lone:
        return False
    return is_slip(one.text, other.text) or is_slip(one.ordered, other.ordered) or is_slip(one.written, other.written)


def _part(short: TitleView, long: TitleView, explained: Callable[[], str]) -> tuple[Likeness, float, str] | None:
    """Whether the shorter title is what the longer one begins with, ends with or names."""
    if len(short.text) < 4:
        return None
    if short.body in long.body and short.asides <= long.asides:
        words = (long.body.replace(short.body, "", 1), *(long.asides - short.asides))
        if all(_explained(word, explained()) for word in words if word):
            return Likeness.SPELLING, 0.97, "".join(words)
    if short.text not in long.text:
        return None
    beyond = long.text.replace(short.text, "", 1)
    if len(short.text) >= SHORTEST and short.text in {long.head, long.body}:
        return Likeness.PART, 0.9, beyond
    return Likeness.CLOSE, max(_CLOSE_ENOUGH, len(short.text) / len(long.text)), beyond


def _explained(word: str, names: str) -> bool:
    """Whether what a title says more is a name that is known anyway, and perhaps a word like “in” before it."""
    bare = word.removeprefix("in").removeprefix("at").removeprefix("会場")
    return len(bare) >= 2 and bare in names


@dataclass(frozen=True, slots=True)
class Identity:
    """How two titles agree in what is identity: the worst of it."""

    code: Code | None = None
    """None: nothing contradicts."""
    values: tuple[str, ...] = ()


_AGREED = Identity()
_YEARS = frozenset({"year", "fiscal"})


def identity(one: TitleView, other: TitleView, when: tuple[date, int | None], explained: Callable[[], str]) -> Identity:
    """Compare numbers, marks and brackets. `when`: the day and the hour, for what a title says of them."""
    if one.numbers == other.numbers and one.marks == other.marks and one.asides == other.asides:
        return _AGREED
    found = [_numbers(one, other, when[0]), _marks(one, other, when), _asides(one, other, explained)]
    for code in (Code.NUMBERS_DIFFER, Code.MARKS_DIFFER, Code.ASIDES_DIFFER):
        for result in found:
            if result.code is code:
                return result
    return next((result for result in reversed(found) if result.code is not None), _AGREED)


def _numbers(one: TitleView, other: TitleView, day: date) -> Identity:
    if one.numbers == other.numbers:
        return _AGREED
    for kind in _YEARS:  # 2021年度 and 2022 may be one day's two years, 2021 and 2022 are two years
        years = [{number.value for number in title.numbers if number.kind == kind} for title in (one, other)]
        if years[0] and years[1] and years[0] != years[1]:
            return Identity(Code.NUMBERS_DIFFER, (min(years[0]), min(years[1])))
    mine, theirs = _unmatched(telling(one.numbers, day), telling(other.numbers, day))
    if mine and theirs:
        kinds = [{number.kind for number in left} for left in (mine, theirs)]
        apart = kinds[0] | kinds[1] == {"total", "edition"} and kinds[0].isdisjoint(kinds[1])
        return Identity(Code.NUMBERS_MISSING if apart else Code.NUMBERS_DIFFER, (mine[0].value, theirs[0].value))
    left = mine or theirs
    if not left:
        return _AGREED
    if any(number.kind in _YEARS for number in left):  # not the year of the event: of another edition, if the other names one
        both = all(any(number.kind in _YEARS for number in title.numbers) for title in (one, other))
        values = [number.value for title in (one, other) for number in title.numbers if number.kind in _YEARS]
        return (
            Identity(Code.NUMBERS_DIFFER, (values[0], values[-1])) if both else Identity(Code.NUMBERS_MISSING, (left[0].value,))
        )
    soft = all(number.kind in {"edition", "total"} for number in left)
    return Identity(Code.EDITION_MISSING if soft else Code.NUMBERS_MISSING, (left[0].value,))


def _unmatched(one: tuple[Number, ...], other: tuple[Number, ...]) -> tuple[list[Number], list[Number]]:
    """The numbers that only one title has: the same of a kind are matched first, then the same of any kind."""
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


def _marks(one: TitleView, other: TitleView, when: tuple[date, int | None]) -> Identity:
    if one.marks == other.marks:
        return _AGREED
    mine, theirs = one.marks - other.marks, other.marks - one.marks
    left = [mark for mark in sorted(mine | theirs) if not spoken_for(mark, *when)]
    if not left or one.letters == other.letters:  # the same signs in another order make other words at the seams
        return _AGREED
    if mine and theirs:
        return Identity(Code.MARKS_DIFFER, (min(mine), min(theirs)))
    return Identity(Code.MARKS_MISSING, (left[0],))


def _asides(one: TitleView, other: TitleView, explained: Callable[[], str]) -> Identity:
    if one.asides == other.asides:
        return _AGREED
    if one.letters == other.letters:
        return _AGREED
    mine, theirs = sorted(one.asides - other.asides), sorted(other.asides - one.asides)
    if mine and len(mine) == len(theirs) and all(map(is_slip, mine, theirs)):
        return Identity(Code.ASIDES_SPELLING, (mine[0], theirs[0]))
    known = explained()
    mine = [aside for aside in mine if aside not in other.body and aside not in known]
    theirs = [aside for aside in theirs if aside not in one.body and aside not in known]
    if mine and theirs:
        return Identity(Code.ASIDES_DIFFER, (mine[0], theirs[0]))
    return Identity(Code.ASIDES_MISSING, ((mine or theirs)[0],)) if mine or theirs else _AGREED
