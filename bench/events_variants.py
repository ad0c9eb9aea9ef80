"""Pairs of events with a known answer, made from real ones by a seeded script.

Some are one event as a second source would write it, some are others that look like it.

Each maker takes an event and a source of chance and returns the second event, or None when it has nothing to change. Makers
know nothing of the rules they measure: a slip of the pen falls on any letter.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import NamedTuple

from tadoru.model.event import EventDraft

Maker = Callable[[EventDraft, random.Random], EventDraft | None]
Marker = Callable[[EventDraft, random.Random], tuple[EventDraft, EventDraft] | None]
_LETTER = re.compile(r"[^\W\d_]")
_NUMBER = re.compile(r"\d+")
_ERA = re.compile(r"令和(\d+|元)年")
_WORDS = re.compile(r"([\s　]+|(?<=[^(])(?=[(「【~])|(?<=[)」】])(?=.))")
_OWNER = re.compile(r"立?(?!役所|民|内|[市区町村])")


class Pair(NamedTuple):
    """Two events, how the second was made, and whether they are one. `asked`: by the settled rules a person decides."""

    kind: str
    one: EventDraft
    other: EventDraft
    same: bool
    asked: bool = False


def _title(draft: EventDraft, title: str) -> EventDraft | None:
    title = title.strip()
    return replace(draft, title=title, title_clean=title) if title and title != draft.title else None


def _venue(draft: EventDraft, venue: str) -> EventDraft | None:
    return replace(draft, venue=venue, venue_clean=venue) if venue != draft.venue else None


def typo(draft: EventDraft, chance: random.Random) -> EventDraft | None:
    """One slip in every fifteen letters: left out, doubled, swapped with its neighbour, or another of the same script."""
    title = draft.title
    for _ in range(1 + len(title) // 30):
        places = [found.start() for found in _LETTER.finditer(title)]
        if len(places) < 5:
            return None
        place = chance.choice(places[:-1])
        letter, after = title[place], title[place + 1]
        match chance.randrange(4):
            case 0:
                title = title[:place] + title[place + 1 :]
            case 1:
                title = title[:place] + letter + title[place:]
            case 2 if _LETTER.match(after):
                title = title[:place] + after + letter + title[place + 2 :]
            case _:
                title = title[:place] + chr(ord(letter) + chance.choice((-1, 1))) + title[place + 1 :]
    return _title(draft, title)


def reordered(draft: EventDraft, chance: random.Random) -> EventDraft | None:
    """The parts of the title in another order."""
    parts = [part for part in (piece.strip() for piece in _WORDS.split(draft.title)) if part]
    if len(parts) < 2:
        return None
    chance.shuffle(parts)
    return _title(draft, " ".join(parts))


def width(draft: EventDraft, chance: random.Random) -> EventDraft | None:
    """Full width, half width, other dashes and spaces."""
    wide = "".join(chr(ord(sign) + 0xFEE0) if "!" <= sign <= "~" else sign for sign in draft.title)
    narrow = unicodedata.normalize("NFKC", draft.title).replace("・", "･").replace("ー", "ｰ")
    return _title(draft, chance.choice((wide, narrow, wide.replace("～", "〜"), "　".join(_WORDS.split(draft.title)))))


def era(draft: EventDraft, chance: random.Random) -> EventDraft | None:
    """The year in another era, or where none was."""
    if found := _ERA.search(draft.title):
        year = 2018 + (1 if found[1] == "元" else int(found[1]))
        return _title(draft, draft.title.replace(found[0], chance.choice((f"{year}年", f"R{year - 2018}年"))))
    year = draft.local_date.year - (draft.local_date.month < 4)
    japanese = f"令和{year - 2018}年度" if year > 2018 else f"平成{year - 1988}年度"
    return _title(draft, chance.choice((f"{japanese} {draft.title}", f"{draft.title} {draft.local_date.year}")))


def kana(draft: EventDraft, chance: random.Random) -> EventDraft | None:
    """The same words in other letters."""
    swaps = [
        ("子ども", "こども"),
        ("子ども", "子供"),
        ("こども", "子ども"),
        ("づくり", "作り"),
        ("作り", "づくり"),
        ("ヴァ", "バ"),
        ("ター", "タ"),
        ("ヶ", "ケ"),
        ("ケ", "ヶ"),
        ("お話", "おはなし"),
        ("おはなし", "お話"),
        ("はじめて", "ハジメテ"),
        ("ため", "タメ"),
    ]
    usable = [(old, new) for old, new in swaps if old in draft.title]
    return _title(draft, draft.title.replace(*chance.choice(usable))) if usable else None


def decorated(draft: EventDraft, chance: random.Random) -> EventDraft | None:
    """What an editor puts around a title."""
    forms = (
        "【参加者募集】{}",
        "☆{}☆",
        "{}を開催します!",
        "{}のお知らせ",
        "{}(要予約)",
        "【無料】{}",
        "「{}」の開催について",
        "{}♪",
        "{} 参加者募集中",
        "★{}",
    )
    return _title(draft, chance.choice(forms).format(draft.title))


def alias(draft: EventDraft, chance: random.Random) -> EventDraft | None:
    """The venue with or without its city, with a room, without its room."""
    if not draft.venue or not draft.city:
        return None
    owned = _OWNER.match(draft.venue, len(draft.city)) if draft.venue.startswith(draft.city) else None
    bare = draft.venue[owned.end() :] if owned else draft.venue
    if not owned and draft.venue.startswith(draft.city[:2]):
        return None
    head = re.split(r"[\s　(]|\d階", draft.venue)[0].rstrip("0123456789")
    forms = [f"{draft.city}{bare}", f"{draft.venue}(駐車場あり)", head, draft.venue.replace(" ", "").replace("　", "")]
    if bare == draft.venue == head:
        forms += [f"{draft.venue} 2階", f"{draft.venue}　第1会議室", f"{draft.venue}大ホール"]
    return _venue(draft, chance.choice([form for form in forms if len(form) > 3 and form != draft.venue] or [draft.venue]))


def no_time(draft: EventDraft, _: random.Random) -> EventDraft | None:
    """Only the day is given."""
    when = draft.occurrence
    if not when.has_time:
        return None
    start = when.starts_at.replace(hour=0, minute=0)
    return replace(draft, occurrence=replace(when, starts_at=start, ends_at=None, has_time=False))


def no_venue(draft: EventDraft, _: random.Random) -> EventDraft | None:
    """Only the city is given."""
    return _venue(draft, "") if draft.venue and draft.occurrence.has_time else None


def no_city(draft: EventDraft, _: random.Random) -> EventDraft | None:
    """Without the city: only the title can bring the two together."""
    return replace(draft, city="") if draft.city and draft.venue else None


def no_edition(draft: EventDraft, _: random.Random) -> EventDraft | None:
    """Without the number of the edition."""
    return _title(draft, re.sub(r"第\d+回", "", draft.title)) if draft.occurrence.has_time and draft.venue else None


def moved(draft: EventDraft, chance: random.Random) -> EventDraft | None:
    """Another start time: doors or beginning, or a mistake."""
    if not draft.occurrence.has_time:
        return None
    shift = timedelta(minutes=chance.choice((-60, -30, -15, 15, 30, 60)))
    return replace(draft, occurrence=replace(draft.occurrence, starts_at=draft.occurrence.starts_at + shift, ends_at=None))


def marked(forms: Sequence[tuple[str, str]]) -> Marker:
    """Makes two events of one by writing something else on each."""

    def make(draft: EventDraft, chance: random.Random) -> tuple[EventDraft, EventDraft] | None:
        one, other = (_title(draft, form.format(draft.title)) for form in chance.choice(forms))
        return (one, other) if one and other else None

    return make


EDITIONS = marked(
    [
        ("第3回{}", "第4回{}"),
        ("{} 第1回", "{} 第2回"),
        ("{} vol.2", "{} vol.3"),
        ("{}その1", "{}その2"),
        ("{}①", "{}②"),
        ("{}Ⅰ", "{}Ⅱ"),
        ("第十回{}", "第十一回{}"),
        ("{}#3", "{}#4"),
        ("{}(1日目)", "{}(2日目)"),
    ]
)
AGES = marked(
    [
        ("{}(0・1歳)", "{}(2・3歳)"),
        ("{}(1・2年生)", "{}(3・4年生)"),
        ("{}(小学生)", "{}(中学生)"),
        ("{}(年中・年長)", "{}(1年生)"),
        ("親子{}", "大人の{}"),
        ("{}(乳児)", "{}(幼児)"),
        ("{}(一般向け)", "{}(児童向け)"),
    ]
)
SESSIONS = marked(
    [
        ("{} 午前の部", "{} 午後の部"),
        ("{}(初級)", "{}(中級)"),
        ("{}(Aコース)", "{}(Bコース)"),
        ("{}(前期)", "{}(後期)"),
        ("{} 昼の部", "{} 夜の部"),
        ("{}(土曜コース)", "{}(日曜コース)"),
        ("{}(男子)", "{}(女子)"),
        ("{} 入門編", "{} 応用編"),
    ]
)
BRANCHES = marked(
    [
        ("{}(江東図書館)", "{}(城東図書館)"),
        ("{}(北分館)", "{}(南分館)"),
        ("{}(大石公民館)", "{}(原市公民館)"),
        ("北図書館の{}", "南図書館の{}"),
        ("{}(あおば支援センター)", "{}(めばえ支援センター)"),
        ("{}【東口】", "{}【西口】"),
    ]
)


def number(draft: EventDraft, chance: random.Random) -> EventDraft | None:
    """Another number where the title has one."""
    found = list(_NUMBER.finditer(draft.title))
    if not found:
        return None
    place = chance.choice(found)
    return _title(draft, f"{draft.title[: place.start()]}{int(place[0]) + chance.choice((1, 2))}{draft.title[place.end() :]}")


def day(draft: EventDraft, chance: random.Random) -> EventDraft | None:
    """The next one of a row of the same."""
    when, shift = draft.occurrence, timedelta(days=chance.choice((1, 7, 14)))
    ends = when.ends_at + shift if when.ends_at else None
    return replace(draft, occurrence=replace(when, starts_at=when.starts_at + shift, ends_at=ends))


SAME: dict[str, Maker] = {
    "typo": typo,
    "reordered": reordered,
    "width": width,
    "era": era,
    "kana": kana,
    "decorated": decorated,
    "venue alias": alias,
    "no time": no_time,
    "no venue": no_venue,
    "no city": no_city,
    "no edition": no_edition,
}
OTHER: dict[str, Marker] = {
    "other edition": EDITIONS,
    "other age": AGES,
    "other session": SESSIONS,
    "other branch": BRANCHES,
}
_SECOND = ("width", "decorated", "venue alias", "no time", "no city", "kana")


def elsewhere(draft: EventDraft) -> EventDraft:
    """The event as another source would have it: its own page and number, no description."""
    return replace(draft, url="", uid="", position="", description="", organizer="", price="")


def pairs(drafts: Sequence[EventDraft], seed: int) -> Iterator[Pair]:
    """For every event one pair of each kind that it allows, in an order that depends on the seed alone."""
    chance = random.Random(seed)
    for place, draft in enumerate(drafts):
        twin = elsewhere(draft)
        for kind, maker in SAME.items():
            if (made := maker(twin, chance)) is not None:
                yield Pair(kind, draft, made, same=True)
        first, second = chance.choice(list(SAME)), chance.choice(_SECOND)
        if first != second and (made := SAME[first](twin, chance)) and (twice := SAME[second](made, chance)):
            yield Pair("two changes", draft, twice, same=True)
        if (made := moved(twin, chance)) is not None:
            yield Pair("other time", draft, made, same=True, asked=True)
        yield from _others(draft, twin, chance)
        neighbour = drafts[place - 1]
        if neighbour.city == draft.city and _elsewhere(neighbour.venue, draft.venue):
            yield Pair("other venue", draft, replace(twin, venue=neighbour.venue, venue_clean=neighbour.venue), same=False)


def _elsewhere(one: str, other: str) -> bool:
    """Whether two names of venues share nothing: then they are certainly not names of one."""
    first, second = (unicodedata.normalize("NFKC", name) for name in (one, other))
    return min(len(first), len(second)) > 2 and not {first[at : at + 3] for at in range(len(first) - 2)} & {
        second[at : at + 3] for at in range(len(second) - 2)
    }


def _others(draft: EventDraft, twin: EventDraft, chance: random.Random) -> Iterator[Pair]:
    for kind, marker in OTHER.items():
        if (both := marker(draft, chance)) is not None:
            yield Pair(kind, both[0], elsewhere(both[1]), same=False)
    if (made := number(twin, chance)) is not None:
        yield Pair("other number", draft, made, same=False)
    if (made := day(twin, chance)) is not None:
        yield Pair("other day", draft, made, same=False)
