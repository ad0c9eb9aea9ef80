"""Which events are compared with which: strings that true duplicates share and few others do. The store indexes them.

An event with d days has
- one block of its first day and its city,
- for its first day three blocks of day and title signature, for rows that lack the city or name it differently,
- two such blocks for each further day: the day in UTC when it is another (one moment written in two zones has the same day in
  UTC), the other days of an event that lasts longer, the dates of a series. At most 4 and 12 of them.

The signature of a title is, brackets aside, its three bigrams with the lowest hash among those that are not common in titles of
events. Two orders of the same words have the same bigrams but for the seams, and one slip changes two of them, so that like
titles share at least one of the three nearly always, and unlike titles hardly ever.

Cost. A new event costs blocks × size of a block comparisons. With N events spread over D days and C cities, the block of a day
and a city holds N / (D·C), and one of a day and a signature N·p / D, where p is the share of titles with that bigram in their
signature (under 1 % when common bigrams are left out). Doubling the years costs nothing; doubling the events of a day doubles it.
`bench/EVENTS.md` has the figures.
"""

from __future__ import annotations

from datetime import UTC, date
from functools import lru_cache
from hashlib import blake2b

from tadoru.jobs.events.dedupe.days import days_of
from tadoru.jobs.events.dedupe.places import city_name
from tadoru.jobs.events.dedupe.titles import view
from tadoru.model.event import EventDraft

_SIGNATURE = 3
_COMMON = frozenset(
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
"""Bigrams that one in a hundred titles has: they say what kind of event it is, not which."""


def blocks(draft: EventDraft) -> tuple[str, ...]:
    """The blocks of an event. Two events that share none need not be compared."""
    first = draft.occurrences[0].starts_at if draft.occurrences else draft.occurrence.starts_at
    signature = title_signature(draft.title)
    days = dict.fromkeys((*days_of(draft), draft.local_date, first.astimezone(UTC).date()))
    found = [f"c|{draft.local_date}|{city_name(draft.city)}"] if draft.city else []
    for number, day in enumerate(days):
        found += _signed(day, signature if number == 0 else signature[:2])
    return tuple(dict.fromkeys(found))


def _signed(day: date, signature: tuple[str, ...]) -> list[str]:
    return [f"t|{day}|{part}" for part in signature]


@lru_cache(maxsize=50_000)
def title_signature(title: str) -> tuple[str, ...]:
    """Three bigrams of a title, chosen the same way for every title; of a title made of common words the whole of it."""
    seen = view(title)
    text = seen.body or seen.text
    bigrams = {text[place : place + 2] for place in range(len(text) - 1)} - _COMMON
    chosen = sorted(bigrams, key=_rank)[:_SIGNATURE]
    return tuple(chosen) if len(chosen) == _SIGNATURE else (*chosen, text)


@lru_cache(maxsize=100_000)
def _rank(bigram: str) -> bytes:
    return blake2b(bigram.encode(), digest_size=8).digest()
