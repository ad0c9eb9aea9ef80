"""Builds the labelled pairs of the linkage model, trains its weights, and compares it with the hand-made rules.

The pairs are made from a corpus of municipal event lists that is not part of the project, and stored by hashes only
(`linkage_labels.csv`). Rules of labelling:

1. Two rows of one list are two events (`different`), unless title, start and venue agree; the pairs that were read one by one
   (`tests/quality/event_pairs.csv`) keep their labels.
2. A row and the same row as another kind of source writes it are one event (`same`). A feed makes a headline of it, writes the
   day into the title and drops the venue and the end; a calendar has other words, the room and UTC; a page cuts,
   reorders, has other words for what it is and knows the hall by another name; an API has the official name with its programme
   and year, no city, another spelling and the performer. In part of the pairs the list has the official name, too. Nothing that
   identifies the event is changed: no number, level, group, name.
3. A row and another row of the same day and town, written by another kind of source, are two events, unless rule 1 says that they
   are one. If what tells them apart was dropped (the time of two sessions, the venue of two branches), only a person can know:
   `ask`.
4. A row and the same row with another name, subject, level, number or place are two events.

Municipalities are split by a hash of their code, and the kinds `html` and `api` are held out of the training too.
"""

from __future__ import annotations

import argparse
import csv
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import blake2b
from itertools import combinations
from math import exp
from pathlib import Path
from typing import NamedTuple

from bench import events_held_out, events_variants
from bench.events_corpus import CORPUS, ZONE, Row, rows
from tadoru.jobs.events.dedupe import MatchVerdict, blocking_keys, compare_events
from tadoru.jobs.events.dedupe.linkage import WEIGHTS
from tadoru.jobs.events.dedupe.matcher import observations
from tadoru.jobs.events.dedupe.similarity import fold_spelling, match_text, normalise_text
from tadoru.model.event import EventDraft, Occurrence

LABELS = Path(__file__).with_name("linkage_labels.csv")
SEED = 23
KINDS = ("feed", "ics", "html", "api")
HELD_OUT_KINDS = frozenset({"html", "api"})
WRITTEN_TIMES = 5
OFFICIAL = 0.4
"""The share of rows that have the official name in the list, too, while the other source has its own words."""
MAX_PER_DAY = 40
"""Pairs of one list and day, so that no town decides alone."""
ReadLabels = dict[frozenset[tuple[str, str, str]], str]


class LinkagePair(NamedTuple):
    """Two events, where they are from, and whether they are one."""

    id: str
    file: str
    kind: str
    how: str
    label: str
    one: EventDraft
    other: EventDraft

    @property
    def is_held_out(self) -> bool:
        """Whether the municipality is held out of the training."""
        return digest(self.file)[0] in "01234567"


def digest(*parts: object) -> str:
    """A stable id."""
    return blake2b("|".join(map(str, parts)).encode(), digest_size=6).hexdigest()


def _title(draft: EventDraft, title: str) -> EventDraft:
    title = title.strip()
    return replace(draft, title=title, title_clean=title) if title else draft


def _venue(draft: EventDraft, venue: str) -> EventDraft:
    return replace(draft, venue=venue, venue_clean=venue)


def _without_end(draft: EventDraft) -> EventDraft:
    return replace(draft, occurrence=replace(draft.occurrence, ends_at=None))


_SUBTITLE = re.compile(r"[~〜～][^~〜～]{2,}[~〜～]?$|[-－―][^-－―]{3,}[-－―]$")
_EDITION = re.compile(r"第\s*\d+\s*回")
_BRACKETS = re.compile(r"[「」『』]")
_SPONSORS = ("ミライ", "サンライズ", "北都", "ひまわり", "アクア", "TOKI")
_GENERIC_ENDS = ("講座", "教室", "体験会", "イベント", "2日間", "のつどい")


def no_brackets(draft: EventDraft, chance: random.Random) -> EventDraft | None:
    """Quotation marks left out."""
    return _title(draft, _BRACKETS.sub(chance.choice((" ", "")), draft.title)) if _BRACKETS.search(draft.title) else None


def no_subtitle(draft: EventDraft, _: random.Random) -> EventDraft | None:
    """Without the subtitle."""
    shorter = _SUBTITLE.sub("", draft.title).strip()
    return _title(draft, shorter) if 4 <= len(shorter) < len(draft.title) else None


def with_subtitle(draft: EventDraft, chance: random.Random) -> EventDraft | None:
    """With a subtitle that the list does not have."""
    extra = (
        "~みんなで集まろう~",
        " 秋の一日を楽しむ",
        "~笑顔の輪を広げて~",
        " 年に一度のお楽しみ",
        " -地域とともに-",
        " 参加者大募集",
    )
    return _title(draft, draft.title + chance.choice(extra))


def with_performer(draft: EventDraft, chance: random.Random) -> EventDraft | None:
    """With who plays or speaks."""
    names = (" 講師:森下実", " with 市民合唱団", " feat. 青空バンド", "(出演:川音楽隊)", " ゲスト 桜井桃子", " 講師 大和先生")
    return _title(draft, draft.title + chance.choice(names))


def with_edition(draft: EventDraft, chance: random.Random) -> EventDraft | None:
    """With the number of the edition that the list does not give."""
    if re.search(r"\d", draft.title):
        return None
    return _title(draft, f"第{chance.randrange(2, 60)}回{draft.title}")


def with_kind(draft: EventDraft, chance: random.Random) -> EventDraft | None:
    """With a word for what it is."""
    return _title(draft, draft.title + chance.choice(_GENERIC_ENDS[:4])) if not re.search(r"[)」]$", draft.title) else None


def renamed_hall(draft: EventDraft, chance: random.Random) -> EventDraft | None:
    """The hall under the name of its sponsor."""
    found = re.search(r"(会館|ホール|アリーナ|体育館|球場|センター)$", draft.venue)
    if not found:
        return None
    end = "ホール" if found[1] == "会館" else "アリーナ" if found[1] == "体育館" else found[1]
    name = f"{chance.choice(_SPONSORS)}{end}"
    return _venue(
        draft, chance.choice((f"{name}{draft.city.rstrip('市区町村')}", f"{name}({draft.venue})", f"{name} {draft.venue}"))
    )


def nearby(draft: EventDraft, chance: random.Random) -> EventDraft | None:
    """The place within or around the venue."""
    if len(draft.venue) < 4:
        return None
    return _venue(
        draft, draft.venue + chance.choice(("前広場", "周辺", "一帯", "駐車場", " ロビー", " エントランス", "(雨天時は体育館)"))
    )


_KINDS_OF_EVENTS = (
    ("講座", "教室"),
    ("教室", "講座"),
    ("講演会", "講演"),
    ("コンサート", "演奏会"),
    ("演奏会", "コンサート"),
    ("観察会", "ウォッチング"),
    ("体験会", "体験"),
    ("説明会", "ガイダンス"),
    ("上映会", "シネマ"),
    ("まつり", "フェスタ"),
    ("展示", "展"),
    ("相談会", "相談"),
    ("セミナー", "勉強会"),
    ("のつどい", "の会"),
)
_SERIES = ("市民講座", "生涯学習講座", "家庭教育学級", "まちなか連続企画", "公民館主催事業", "健康づくり事業", "ふれあい文化事業")
_PIECES = re.compile(r"(?<=[ぁ-ん])(?=[一-龠ァ-ヶ])(?![^(<\[]*[)>\]])|[\s「」『』~〜～!！]+(?![^(<\[]*[)>\]])|(?=[(<\[])")
"""Between words, but not within brackets."""


def _other_kind_word(title: str) -> str:
    """The title with another word for what it is."""
    return next((title.replace(word, other, 1) for word, other in _KINDS_OF_EVENTS if word in title), title)


def officially(draft: EventDraft, chance: random.Random) -> EventDraft | None:
    """As open data has it: the programme that it belongs to, the fiscal year, the name in quotation marks or behind it."""
    year = draft.local_date.year - (draft.local_date.month < 4) - 2018
    form = chance.choice(("{series}「{title}」", "令和{year}年度 {series} {title}", "{title}({series})", "令和{year}年度{title}"))
    return _title(draft, form.format(series=chance.choice(_SERIES), title=_BRACKETS.sub("", draft.title), year=year))


def in_other_words(draft: EventDraft, chance: random.Random) -> EventDraft | None:
    """As a hall announces it: its parts in another order, another word for what it is, and a word of its own."""
    pieces = [piece for piece in _PIECES.split(_other_kind_word(draft.title)) if piece]
    if len(pieces) < 2 or len(draft.title) < 8:
        return None
    if len(pieces) > 2 and chance.random() < 0.5:
        pieces.remove(min(pieces, key=len))
    at = chance.randrange(1, len(pieces))
    extra = chance.choice(("", "", "市民のための", "気軽に参加", "ロビーで楽しむ", "土曜の午後に"))
    return _title(draft, " ".join(filter(None, (*pieces[at:], *pieces[:at], extra))))


def as_headline(draft: EventDraft, chance: random.Random) -> EventDraft | None:
    """As news have it: when, the name or most of it, where or what else, and no end."""
    day = draft.local_date
    pieces = [piece for piece in _PIECES.split(draft.title) if piece]
    name = "".join(pieces[:-1]) if len(pieces) > 2 and len("".join(pieces[:-1])) >= 6 and chance.random() < 0.4 else draft.title
    form = chance.choice(
        (
            "{day}日、「{name}」 家族連れでにぎわいそう",
            "{name}、{month}月{day}日に{city}で",
            "{name} 参加者を募る {day}日",
            "今年も{name} {day}日開催",
            "【{month}/{day}】{name}へ行こう!",
            "「{name}」はじまる {city}",
        )
    )
    title = form.format(day=day.day, month=day.month, name=name, city=draft.city.rstrip("市区町村"))
    return _without_end(_title(draft, title))


_MAKERS: dict[str, events_variants.Maker] = {
    "officially": officially,
    "in other words": in_other_words,
    "headline": as_headline,
    **{name: events_variants.SAME[name] for name in ("reordered", "width", "era", "kana", "decorated", "no edition")},
    "venue alias": events_variants.alias,
    "no time": events_variants.no_time,
    "no venue": events_variants.no_venue,
    "no city": events_variants.no_city,
    "typo": events_variants.typo,
    **{name: events_held_out.SAME[name] for name in ("misread", "shortened", "dated", "hosted", "cut off", "venue as called")},
    "in UTC": events_held_out.in_utc,
    "no brackets": no_brackets,
    "no subtitle": no_subtitle,
    "subtitle": with_subtitle,
    "performer": with_performer,
    "edition": with_edition,
    "word": with_kind,
    "renamed hall": renamed_hall,
    "nearby": nearby,
}
_WRITES: dict[str, tuple[str, ...]] = {
    "feed": (
        "headline",
        "headline",
        "headline",
        "dated",
        "decorated",
        "no venue",
        "no time",
        "subtitle",
        "no edition",
        "hosted",
        "venue alias",
        "word",
        "nearby",
    ),
    "ics": (
        "in other words",
        "in other words",
        "in UTC",
        "venue alias",
        "no brackets",
        "kana",
        "width",
        "no subtitle",
        "no edition",
        "venue as called",
        "reordered",
    ),
    "html": (
        "in other words",
        "in other words",
        "cut off",
        "reordered",
        "renamed hall",
        "decorated",
        "no subtitle",
        "no time",
        "performer",
        "edition",
        "nearby",
        "era",
    ),
    "api": (
        "officially",
        "officially",
        "no city",
        "performer",
        "shortened",
        "kana",
        "typo",
        "misread",
        "venue alias",
        "word",
        "no brackets",
        "subtitle",
    ),
}
"""What each kind of source does to a title, a time and a place."""


def as_written_by(kind: str, draft: EventDraft, chance: random.Random) -> tuple[EventDraft, str]:
    """A draft as another kind of source writes it, and what was changed: one to three things."""
    made, done = events_variants.elsewhere(draft), []
    if kind in {"feed", "html"} and chance.random() < 0.7:
        made = _without_end(made)
    for name in dict.fromkeys(chance.sample(_WRITES[kind], chance.choice((1, 2, 2, 3)))):
        if (changed := _MAKERS[name](made, chance)) is not None:
            made = changed
            done.append(name)
    return made, "+".join(done)


_NAMES = ("田中", "山田", "鈴木", "高橋", "渡辺", "小林", "山本", "中村", "加藤", "吉田")
_SUBJECTS = (
    "陶芸 書道 絵手紙 写真 俳句 短歌 折り紙 生け花 茶道 手話 朗読 料理 園芸 水彩画 体操 ヨガ 太極拳 卓球 水泳 柔道 剣道 囲碁 "
    "将棋 英会話 パソコン ピアノ ギター 合唱 落語 映画 防災 健康 認知症 育児 音楽 科学 歴史 自然 工作 読書"
).split()


def other_subject(draft: EventDraft, chance: random.Random) -> EventDraft | None:
    """Another subject of a programme."""
    found = next((subject for subject in _SUBJECTS if subject in draft.title), None)
    if found is None:
        return None
    return _title(draft, draft.title.replace(found, chance.choice([each for each in _SUBJECTS if each != found]), 1))


def other_name(draft: EventDraft, chance: random.Random) -> tuple[EventDraft, EventDraft]:
    """Two people."""
    one, other = chance.sample(_NAMES, 2)
    form = chance.choice(
        ("{name}{given}{title}", "{title}(講師:{name}{given})", "{name}{given}の{title}", "{title} {name}{given}")
    )
    given = chance.choice(("花子", "太郎", "恵子", "健一"))
    first, second = (_title(draft, form.format(name=name, given=given, title=draft.title)) for name in (one, other))
    return first, second


def _agree(one: EventDraft, other: EventDraft) -> bool:
    return (one.title, one.occurrence.starts_at, one.venue) == (other.title, other.occurrence.starts_at, other.venue)


def _read_labels() -> ReadLabels:
    """The labels of pairs that were read one by one, by title, start and venue."""
    path = Path(__file__).resolve().parent.parent / "tests" / "quality" / "event_pairs.csv"
    with path.open(encoding="utf-8", newline="") as lines:
        return {
            frozenset((c[f"{side}title"], c[f"{side}time"][:5], c[f"{side}venue"]) for side in ("", "other_")): c["label"]
            for c in csv.DictReader(lines)
            if c["label"] != "different"
        }


def _label(one: EventDraft, other: EventDraft, known: ReadLabels) -> str:
    def named(draft: EventDraft) -> tuple[str, str, str]:
        return draft.title, f"{draft.occurrence.starts_at:%H:%M}" if draft.occurrence.has_time else "", draft.venue

    return known.get(frozenset({named(one), named(other)}), "same" if _agree(one, other) else "different")


def _is_told_apart(one: EventDraft, other: EventDraft, made: EventDraft) -> bool:
    """Whether what tells two events apart is still there in the second as it was written."""
    mine, theirs, written = (fold_spelling(normalise_text(title)) for title in (one.title, other.title, made.title))
    rests = match_text(theirs, mine).mine
    if any(rest in written for rest in rests) or (not rests and mine != theirs and mine not in written):
        return True
    if one.occurrence.starts_at != other.occurrence.starts_at and one.occurrence.has_time and made.occurrence.has_time:
        return True
    return one.venue != other.venue and bool(one.venue) and other.venue[:4] in made.venue


def build(found: Sequence[Row], seed: int = SEED) -> Iterator[LinkagePair]:
    """All labelled pairs, in an order that depends on the seed alone."""
    known = _read_labels()
    chance = random.Random(seed)
    lists: defaultdict[tuple[str, object], list[Row]] = defaultdict(list)
    for row in found:
        lists[row.file, row.draft.local_date].append(row)
    for (file, _), day in lists.items():
        yield from _of_one_day(file, day, known, chance)
    halls: defaultdict[str, list[str]] = defaultdict(list)
    for row in found:
        if len(row.draft.venue) > 3:
            halls[row.file].append(row.draft.venue)
    for row in found:
        yield from _of_one_row(row, halls[row.file], chance)


def _of_one_day(file: str, day: list[Row], known: ReadLabels, chance: random.Random) -> Iterator[LinkagePair]:
    couples = [couple for couple in combinations(day, 2) if _share_text(couple[0].draft, couple[1].draft)]
    for one, other in chance.sample(couples, min(MAX_PER_DAY, len(couples))):
        label = _label(one.draft, other.draft, known)
        name = digest(file, one.number, other.number)
        yield LinkagePair(name, file, "csv", "two rows", label, one.draft, events_variants.elsewhere(other.draft))
        if label == "different":
            kind = chance.choice(KINDS)
            made, how = as_written_by(kind, other.draft, chance)
            apart = _is_told_apart(one.draft, other.draft, made)
            label = "different" if apart else "ask"
            yield LinkagePair(digest(name, kind, how), file, kind, f"two rows, {how}", label, one.draft, made)


def _share_text(one: EventDraft, other: EventDraft) -> bool:
    """Whether two titles have two characters in common, so that they could be taken for one another."""
    first, second = one.title, other.title
    return any(first[place : place + 2] in second for place in range(len(first) - 1))


def _of_one_row(row: Row, halls: Sequence[str], chance: random.Random) -> Iterator[LinkagePair]:
    """The row as another kind of source writes it, and another event that looks like it, written by another kind of source."""
    kind = chance.choice(KINDS)
    made, how = as_written_by(kind, row.draft, chance)
    if how:
        one = officially(row.draft, chance) if chance.random() < OFFICIAL else None
        yield LinkagePair(digest(row.file, row.number, kind, how), row.file, kind, how, "same", one or row.draft, made)
    one, other, what = row.draft, row.draft, ""
    match chance.randrange(4):
        case 0:
            other, what = other_subject(row.draft, chance) or row.draft, "other subject"
        case 1:
            (one, other), what = other_name(row.draft, chance), "other name"
        case 2:
            what, maker = chance.choice([*events_variants.OTHER.items(), *events_held_out.OTHER.items()])
            one, other = maker(row.draft, chance) or (one, other)
        case 3 if row.draft.venue and halls:
            hall = chance.choice(halls)
            if not {hall[at : at + 3] for at in range(len(hall) - 2)} & {
                row.draft.venue[at : at + 3] for at in range(len(row.draft.venue) - 2)
            }:
                other, what = _venue(row.draft, hall), "other hall"
    if what and other != one:
        kind = chance.choice(KINDS)
        made, how = as_written_by(kind, other, chance)
        label = "different" if _is_told_apart(one, other, made) else "ask"
        one = (officially(one, chance) if chance.random() < OFFICIAL else None) or one
        yield LinkagePair(digest(row.file, row.number, what), row.file, kind, f"{what}, {how}", label, one, made)


def _triples(text: str) -> set[str]:
    return {text[place : place + 3] for place in range(len(text) - 2)}


class Figures(NamedTuple):
    """Precision and recall of what is merged, and recall with what is asked."""

    pairs: int
    precision: float
    recall: float
    with_asked: float
    asked_in_vain: float
    """The share of pairs of two events on which a person is asked."""
    unknowable: int
    """Merged pairs that only a person can know."""


def measure(pairs: Iterable[LinkagePair], decide: Callable[[EventDraft, EventDraft], MatchVerdict]) -> Figures:
    """Judge labelled pairs. Those that only a person can know are counted apart."""
    counts: Counter[tuple[str, str]] = Counter()
    for pair in pairs:
        met = not set(blocking_keys(pair.one)).isdisjoint(blocking_keys(pair.other))
        counts[pair.label, decide(pair.one, pair.other) if met else MatchVerdict.DIFFERENT] += 1
    merged = sum(counts[label, MatchVerdict.SAME] for label in ("same", "different"))
    same = sum(count for (label, _), count in counts.items() if label == "same")
    different = sum(count for (label, _), count in counts.items() if label == "different")
    right, asked = counts["same", MatchVerdict.SAME], counts["same", MatchVerdict.REVIEW]
    return Figures(
        counts.total(),
        right / max(1, merged),
        right / max(1, same),
        (right + asked) / max(1, same),
        counts["different", MatchVerdict.REVIEW] / max(1, different),
        counts["ask", MatchVerdict.SAME],
    )


def train(pairs: Iterable[LinkagePair], penalty: float = 1.0, rounds: int = 400) -> dict[str, float]:
    """Weights by logistic regression with a penalty on large weights; both labels have the same total weight."""
    examples: list[tuple[tuple[str, ...], int]] = []
    for pair in pairs:
        seen = observations(pair.one, pair.other)
        if seen is not None:  # what only a person can know counts as two events, so that the model doubts it
            examples.append((("prior", *seen), int(pair.label == "same")))
    totals = Counter(answer for _, answer in examples)
    weights: defaultdict[str, float] = defaultdict(float)
    squares: defaultdict[str, float] = defaultdict(lambda: 1e-8)
    for _ in range(rounds):
        slopes: defaultdict[str, float] = defaultdict(float)
        for seen, answer in examples:
            odds = sum(weights[name] for name in seen)
            error = (answer - 1 / (1 + exp(-odds))) * len(examples) / (2 * totals[answer])
            for name in seen:
                slopes[name] += error
        for name, slope in slopes.items():
            penalised = slope - (0.0 if name == "prior" else penalty * weights[name])
            squares[name] += penalised * penalised
            weights[name] += 0.5 * penalised / squares[name] ** 0.5
    return {name: round(weight, 2) for name, weight in sorted(weights.items())}


def written_pairs() -> Iterator[tuple[str, LinkagePair]]:
    """Pairs of our own, as three kinds of sources write them, and the half that they belong to."""
    path = Path(__file__).resolve().parent.parent / "tests" / "quality" / "event_pairs_of_kinds.csv"
    with path.open(encoding="utf-8", newline="") as lines:
        for number, cells in enumerate(csv.DictReader(lines), start=2):
            one, other = (
                EventDraft(
                    title=cells[f"{prefix}title"],
                    title_clean=cells[f"{prefix}title"],
                    occurrence=_when(cells["date"], cells[f"{prefix}time"]),
                    timezone="Asia/Tokyo",
                    venue=cells[f"{prefix}venue"],
                    venue_clean=cells[f"{prefix}venue"],
                    city=cells[f"{prefix}city"],
                )
                for prefix in ("", "other_")
            )
            yield cells["half"], LinkagePair(f"line {number}", "", cells["kinds"], "written", cells["label"], one, other)


_VENUES = (
    ("Proceedings of the 28th Conference on Very Large Data Bases", "Proc. 28th Conf. on Very Large Data Bases"),
    ("ACM Transactions on Database Systems", "ACM Trans. Database Systems"),
    ("SIGMOD Record", "ACM SIGMOD Record"),
    ("IEEE Transactions on Knowledge and Data Engineering", "IEEE Trans. Knowledge and Data Engineering"),
)
_TOPICS = ("join processing", "view maintenance", "record linkage", "stream sampling", "index selection", "schema matching")
_FORMS = ("Adaptive {} in distributed databases", "A survey of {}", "{} revisited: a cost model", "Scalable {} over web data")


def bibliographic_pairs(seed: int = SEED) -> Iterator[LinkagePair]:
    """Records of publications as two libraries write them, the usual test of record linkage: a check of the model on another kind
    of record. A year is the day, and nothing has a time or a city."""
    chance = random.Random(seed)
    for number in range(400):
        form, topic, year = chance.choice(_FORMS), chance.choice(_TOPICS), chance.randrange(1995, 2005)
        long, short = chance.choice(_VENUES)
        title = form.format(topic).capitalize()
        other_topic = chance.choice([each for each in _TOPICS if each != topic])
        match chance.randrange(5):
            case 0:
                label, other = "same", title.upper()
            case 1:
                label, other = "same", title.replace(" of ", " of the ").replace(" in ", " in the ") + "."
            case 2:
                label, other = "same", title.split(":", maxsplit=1)[0] + " (extended abstract)"
            case 3:
                label, other = "different", form.format(other_topic).capitalize()
            case _:
                label, title, other = "different", f"{title}, part I", f"{title}, part II"
        when = Occurrence(starts_at=datetime(year, 1, 1, tzinfo=ZONE), has_time=False)
        one, two = (
            EventDraft(title=text, title_clean=text, occurrence=when, timezone="Asia/Tokyo", venue=venue, venue_clean=venue)
            for text, venue in ((title, long), (other, chance.choice((long, short))))
        )
        yield LinkagePair(f"record {number}", "", "records", "records", label, one, two)


def _when(day: str, time: str) -> Occurrence:
    """`10:00-12:00`, `10:00`, `01:00Z`, or nothing for a day without a time."""
    parts = (time.partition("-")[0], time.partition("-")[2])
    start, end = (
        datetime.fromisoformat(f"{day}T{part.removesuffix('Z')}").replace(tzinfo=UTC if "Z" in part else ZONE) if part else None
        for part in parts
    )
    if start is None:
        return Occurrence(starts_at=datetime.fromisoformat(day).replace(tzinfo=ZONE), has_time=False)
    return Occurrence(starts_at=start, ends_at=end)


def halves(pairs: Iterable[LinkagePair]) -> dict[str, list[LinkagePair]]:
    """The pairs by what is held out of the training."""
    made = list(pairs)
    written = list(written_pairs())
    return {
        "rows of one list": [pair for pair in made if pair.kind == "csv"],
        "municipalities used": [pair for pair in made if not pair.is_held_out and pair.kind != "csv"],
        "municipalities held out": [pair for pair in made if pair.is_held_out and pair.kind != "csv"],
        "municipalities and kinds held out": [pair for pair in made if pair.is_held_out and pair.kind in HELD_OUT_KINDS],
        "written, used": [pair for half, pair in written if half == "dev"],
        "written, held out": [pair for half, pair in written if half == "held"],
        "written later": [pair for half, pair in written if half == "later"],
    }


def training_pairs(sets: dict[str, list[LinkagePair]], without_kinds: frozenset[str] = frozenset()) -> list[LinkagePair]:
    """What the weights are learned from; pairs that were written by hand count several times, because they are few."""
    return [pair for pair in sets["municipalities used"] if pair.kind not in without_kinds] + WRITTEN_TIMES * sets[
        "written, used"
    ]


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--train", action="store_true", help="print new weights")
    parser.add_argument("--labels", action="store_true", help="write the labels by hashes")
    parser.add_argument("--wrong", type=int, default=0, help="show so many wrong results of each set")
    options = parser.parse_args()
    if not options.corpus.is_dir():
        print(f"There is no corpus in {options.corpus}. Give its folder with --corpus.", file=sys.stderr)
        return 2
    found = list(rows(options.corpus))
    sets = halves(build(found)) | {"bibliographic records": list(bibliographic_pairs())}
    if options.labels:
        with LABELS.open("w", encoding="utf-8", newline="") as file:
            file.writelines(f"{pair.id},{pair.kind},{pair.label}\n" for pair in build(found))
    if options.train:
        for name, weight in train(training_pairs(sets)).items():
            print(f'    "{name}": {weight},')
        return 0
    for name, made in sets.items():
        _show(name, made, options.wrong)
    shipped = dict(WEIGHTS)
    WEIGHTS.update(train(training_pairs(sets, HELD_OUT_KINDS)))
    _show("the same, trained without these kinds", sets["municipalities and kinds held out"], options.wrong)
    WEIGHTS.update(shipped)
    return 0


def _show(name: str, made: Sequence[LinkagePair], most: int) -> None:
    labels = Counter(pair.label for pair in made)
    figures = measure(made, lambda one, other: compare_events(one, other, same_source=False).verdict)
    print(
        f"{name}: {figures.pairs} pairs {dict(labels)}: precision {figures.precision:.4f} recall {figures.recall:.3f} "
        f"with asked {figures.with_asked:.3f} asked in vain {figures.asked_in_vain:.3f} unknowable merged {figures.unknowable}"
    )
    for pair in _wrong(made)[:most]:
        one, other = (f"{draft.title} @{draft.venue}" for draft in (pair.one, pair.other))
        print(f"    {pair.label} {pair.kind} {pair.how}: {one} ~ {other}")


def _wrong(made: Iterable[LinkagePair]) -> list[LinkagePair]:
    """Wrong merges first, then pairs of one event that are neither merged nor asked."""
    found = [(pair, compare_events(pair.one, pair.other, same_source=False).verdict) for pair in made]
    merged = [pair for pair, verdict in found if pair.label != "same" and verdict is MatchVerdict.SAME]
    return merged + [pair for pair, verdict in found if pair.label == "same" and verdict is MatchVerdict.DIFFERENT]


if __name__ == "__main__":
    raise SystemExit(main())
