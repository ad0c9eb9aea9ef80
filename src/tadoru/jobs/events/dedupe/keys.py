"""Keys of an event: the dedupe key, the identity of a source's row, and the blocking keys that select what is compared.

The dedupe key is exact and cheap. Two events with the same one may still differ (in start times): `matcher` decides.

Blocking keys are strings that duplicates share and few other events do; the store indexes them. An event with d days has

- one key of its first day and its city, and one of its first day and its venue,
- one key of its uid, if no other calendar has it by chance,
- for its first day three keys of day and title signature, for rows without a city or with another name for it; one without a
  city has up to 64, so that any of the three of another event is among them,
- two keys of its minute and its venue, if it has a time; one without a city has up to 64,
- two keys of day and title signature for each further day: the day in UTC if it differs (one instant in two zones has the same
  day in UTC), the other days of a longer event, the dates of a series. At most 4 and 12 of them.

The signature of a title is, without brackets, its three bigrams with the lowest hash among those that are not common in titles.
Two orders of the same words have the same bigrams except at the seams, and one typo changes two of them. So similar titles nearly
always share at least one of the three, and different titles hardly ever do.

A new event costs keys × block size comparisons. With N events over D days and C cities, the block of a day and a city holds
N / (D·C) events, and that of a day and a signature N·p / D, where p is the share of titles with that bigram in their signature
(under 1 % without common bigrams). More years cost nothing; twice the events per day cost twice as much. `bench/EVENTS.md` has
the figures.
"""

from __future__ import annotations

import re
from datetime import UTC, date
from functools import lru_cache
from hashlib import blake2b

from tadoru.jobs.events.dedupe.times import event_days
from tadoru.jobs.events.dedupe.titles import TitleSimilarity, compare_identity, split_title, title_similarity
from tadoru.jobs.events.dedupe.venues import bare_city_name, split_venue, without_area
from tadoru.model.event import EventDraft

_ENDING = re.compile(r";?(?:UNTIL|COUNT)=[^;]*", re.IGNORECASE)


def dedupe_key(draft: EventDraft) -> str:
    """`title|date|venue`, each cleaned for comparison: stable as long as the source does not change.

    The date is the local one. A series has its rule instead of a date, without its end, because its next date moves on and it is
    prolonged every year.
    """
    if not draft.occurrences:
        when = draft.local_date.isoformat()
    elif draft.recurrence:
        when = _ENDING.sub("", draft.recurrence).strip(";").upper()
    else:
        when = min(each.starts_at for each in draft.occurrences).date().isoformat()
    return "|".join(part.replace("|", " ") for part in (draft.title_clean or draft.title, when, draft.venue_clean))


def is_same_row(known: EventDraft, read: EventDraft) -> bool:
    """Whether a row is an update of a known row: the same uid, and title or start agree.

    A uid is only a hint: some sources renumber their rows, and the next row often starts at the same time. So if the uid is a
    number, a row with another title is another event. Call it only for a uid that occurs once in a run; one that several rows
    share names a page or a series, not a row.
    """
    if not known.uid or known.uid != read.uid:
        return False
    one, other = split_title(known.title), split_title(read.title)
    level = title_similarity(one, other, str)[0]
    agreed = compare_identity(one, other, (read.local_date, None), str).code is None
    if known.occurrence.starts_at != read.occurrence.starts_at:
        return agreed and level >= TitleSimilarity.SPELLING
    if known.uid.isdecimal():
        return agreed and level > TitleSimilarity.FAR
    return level > TitleSimilarity.FAR or known.occurrence.has_time


BLOCK_FORMAT = 4
"""Another number when `blocking_keys` returns other keys: those of stored events are written anew then."""
_SIGNATURE = 3
_FULL_SIGNATURE = 64
"""Bigrams of an event without a city: nothing else would bring a headline together with the short title that it contains."""
_VENUE_SIGNATURE = 2
_COMMON_IN_VENUES = frozenset(
    "会館 ほる んた せん 文化 小学 学校 中学 公園 体育 育館 総合 会議 議室 研修 修室 大ほ 小ほ 1階 2階 3階 役所 児童".split()
)
_OWN_VENUE = 5
"""Characters: shorter names (図書館) are those of many venues."""
COMMON_BIGRAMS = frozenset(
    (
        "講座 教室 くり はな なし おは し会 こん ども こど 育て 子育 相談 せみ ふえ ちや てい すま らい さと "
        "民館 公民 かわ んさ んと んぐ ます 市民 つと 体験 づく 親子 ひろ ろば 図書 大会 くら まつ つり すぽ "
        "しよ りす つぷ んた にす いん つく えく 講習 書館 こと 楽し てに ぽつ す教 みな つて じめ みん やん "
        "習会 ため 支援 よう さん いず めの でい から 事業 企画 大学 ぷろ のた さい らん んの おん はじ めて "
        "にあ in ぐら わく 健康 える する のお さぽ ての すた ろう んな すこ らし んす たい 文化 地域 交流 "
        "たち のば くと しい まま 音楽 くす おき 演会 講演 障害 すと れん あと いぶ 広場 しむ 就職 そう 中央 "
        "うお 展示 害者 かる ぷら んて よが すて 子で きん 養成 成講 性の もの ない まれ みに 考え いこ ふあ "
        "あみ せん ゆに あ講 暮ら んじ まほ めん えす いす のと あつ えあ べん ふれ 料理 いき よる によ ぼう "
        "さま しや みつ もち けん 女性 本の 小学 学生 しの 生活 いし いち きや 認知 ぽた 学習 わい 栄養 いべ "
        "おひ 記念 して おも 見学 を知 にん 作品 基礎 入門 んら とれ りん 自然 まち とら 知症 のこ 防災 いつ "
        "た養 あれ しに"
    ).split()
)
"""Bigrams that at least one in a hundred titles has: they say what kind of event it is, not which."""


_UNIQUE_UID = re.compile(r"[^@\s]{8,}@[^@\s]{3,}|[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}|[0-9a-z_]{20,}", re.IGNORECASE)


def is_unique_uid(uid: str) -> bool:
    """Whether a uid is one that no other calendar makes by chance, as those of ICS are, and not the number of a row."""
    return _UNIQUE_UID.fullmatch(uid) is not None


def blocking_keys(draft: EventDraft) -> tuple[str, ...]:
    """The blocking keys of an event. Two events that share none need not be compared."""
    first = draft.occurrences[0].starts_at if draft.occurrences else draft.occurrence.starts_at
    signature = title_signature(draft.title, _SIGNATURE if draft.city else _FULL_SIGNATURE)
    days = dict.fromkeys((*event_days(draft), draft.local_date, first.astimezone(UTC).date()))
    found = [f"c|{draft.local_date}|{bare_city_name(draft.city)}"] if draft.city else []
    if is_unique_uid(draft.uid):
        found.append(f"u|{blake2b(draft.uid.encode(errors='replace'), digest_size=8).hexdigest()}")
    venue = split_venue(draft.venue)
    names = (venue.building,) if draft.city else (venue.building, venue.text)
    found += [f"v|{draft.local_date}|{name}" for name in map(without_area, names) if len(name) >= _OWN_VENUE]
    if draft.occurrence.has_time:
        minute = f"{draft.occurrence.starts_at.astimezone(UTC):%Y-%m-%dT%H:%M}"
        found += [
            f"w|{minute}|{part}" for part in _venue_signature(venue.text, _VENUE_SIGNATURE if draft.city else _FULL_SIGNATURE)
        ]
    for number, day in enumerate(days):
        found += _signed(day, signature if number == 0 else signature[: _SIGNATURE - 1])
    return tuple(dict.fromkeys(found))


def _signed(day: date, signature: tuple[str, ...]) -> list[str]:
    return [f"t|{day}|{part}" for part in signature]


@lru_cache(maxsize=10_000)
def _venue_signature(text: str, size: int) -> tuple[str, ...]:
    return tuple(
        sorted({text[at : at + 2] for at in range(len(text) - 1)} - COMMON_BIGRAMS - _COMMON_IN_VENUES, key=_rank)[:size]
    )


@lru_cache(maxsize=10_000)
def title_signature(title: str, size: int = _SIGNATURE) -> tuple[str, ...]:
    """Some bigrams of a title, selected by hash; for a title of common words the whole title."""
    seen = split_title(title)
    text = seen.text if size == _FULL_SIGNATURE else seen.body or seen.text
    bigrams = {text[place : place + 2] for place in range(len(text) - 1)} - COMMON_BIGRAMS
    chosen = sorted(bigrams, key=_rank)[:size]
    return tuple(chosen) if len(chosen) >= _SIGNATURE else (*chosen, text)


@lru_cache(maxsize=100_000)
def _rank(bigram: str) -> bytes:
    return blake2b(bigram.encode(), digest_size=8).digest()
