"""A second kind of noise, to see whether the rules hold where they were not made: how other people write, not how letters slip.

Written after the rules and without a look at them, and not changed to suit them. Here a second source misreads signs, picks the
wrong word for a sound, shortens, adds the day or the host, cuts off, and knows only the moment in UTC; and the events that only
look alike differ in ways that `events_variants` does not have.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC

from bench.events_variants import Maker, Pair, elsewhere, marked
from tadoru.model.event import EventDraft

_TOPIC = re.compile(r"「[^」]{3,}」")
_WEEKDAYS = "月火水木金土日"
_MISREAD = {
    "ロ": "口",
    "ニ": "二",
    "カ": "力",
    "ー": "一",
    "エ": "工",
    "ハ": "八",
    "タ": "夕",
    "ト": "卜",
    "へ": "ヘ",
    "り": "リ",
    "十": "+",
    "0": "O",
}
_SOUNDS = {
    "会": "回",
    "講座": "講坐",
    "体験": "体検",
    "観察": "観測",
    "作": "造",
    "製": "制",
    "支援": "志援",
    "健康": "健廉",
    "対": "体",
    "親子": "母子",
    "育": "行",
    "映": "英",
    "演": "縁",
    "記": "紀",
    "暖": "温",
    "初": "始",
    "絵": "画",
    "撮": "取",
    "聴": "聞",
    "探": "捜",
}
_SHORT = {
    "コミュニティセンター": "コミセン",
    "センター": "C",
    "フェスティバル": "フェス",
    "コンサート": "コンサ",
    "プロジェクト": "PJ",
    "ワークショップ": "WS",
    "スマートフォン": "スマホ",
    "パーソナルコンピュータ": "PC",
    "オリンピック": "五輪",
    "株式会社": "(株)",
    "子育て支援": "子育て",
    "ボランティア": "ボラ",
    "マンション": "MS",
    "トレーニング": "トレ",
}
_VENUES = {
    "コミュニティセンター": "コミセン",
    "総合体育館": "体育館",
    "生涯学習センター": "学習センター",
    "市立": "",
    "区立": "",
    "総合福祉センター": "福祉センター",
    "地区センター": "センター",
    "公民館": "公民舘",
    "センター": "センタ",
    "プラザ": "ぷらざ",
    "図書館": "としょかん",
}


def _titled(draft: EventDraft, title: str) -> EventDraft | None:
    title = title.strip()
    return replace(draft, title=title, title_clean=title) if title and title != draft.title else None


def _replaced(text: str, table: dict[str, str], chance: random.Random) -> str:
    usable = [old for old in table if old in text]
    if not usable:
        return text
    old = chance.choice(usable)
    return text.replace(old, table[old], 1)


def misread(draft: EventDraft, chance: random.Random) -> EventDraft | None:
    """One sign taken for one that looks like it, as a scanner does."""
    return _titled(draft, _replaced(draft.title, _MISREAD, chance))


def homophone(draft: EventDraft, chance: random.Random) -> EventDraft | None:
    """The wrong word for a sound, as an input method offers it."""
    return _titled(draft, _replaced(draft.title, _SOUNDS, chance))


def shortened(draft: EventDraft, chance: random.Random) -> EventDraft | None:
    """A long word made short."""
    return _titled(draft, _replaced(draft.title, _SHORT, chance))


def dated(draft: EventDraft, chance: random.Random) -> EventDraft | None:
    """The day written before or after the title."""
    day = draft.local_date
    name = _WEEKDAYS[day.weekday()]
    forms = (
        f"{day.month}/{day.day}({name}) {{}}",
        f"{{}} {day.month}月{day.day}日({name})",
        f"【{day.month}月{day.day}日開催】{{}}",
        f"[{day:%m.%d}] {{}}",
    )
    return _titled(draft, chance.choice(forms).format(draft.title))


def hosted(draft: EventDraft, chance: random.Random) -> EventDraft | None:
    """The host or the town before the title."""
    if not draft.city or draft.title.startswith(draft.city):
        return None
    forms = [
        f"{draft.city}「{draft.title}」",
        f"【{draft.city}】{draft.title}",
        f"{draft.title}({draft.city})",
        f"{draft.title} in {draft.city}",
    ]
    if draft.venue:
        forms += [f"{draft.title}@{draft.venue}", f"{draft.title} <会場:{draft.venue}>"]
    return _titled(draft, chance.choice(forms))


def cut(draft: EventDraft, chance: random.Random) -> EventDraft | None:
    """A title cut off where a list has no more room."""
    return _titled(draft, draft.title[: chance.randrange(18, 26)] + "…") if len(draft.title) > 30 else None


def in_utc(draft: EventDraft, _: random.Random) -> EventDraft | None:
    """The same moment, written in UTC, and no end."""
    if not draft.occurrence.has_time:
        return None
    when = replace(draft.occurrence, starts_at=draft.occurrence.starts_at.astimezone(UTC), ends_at=None)
    return replace(draft, occurrence=when, timezone="UTC")


def other_venue_name(draft: EventDraft, chance: random.Random) -> EventDraft | None:
    """The venue as people call it, or with its address."""
    if len(draft.venue) < 5:
        return None
    called = _replaced(draft.venue, _VENUES, chance)
    name = chance.choice((called, f"{draft.venue}({draft.city}中央1-2-3)", f"会場:{draft.venue}", f"{draft.venue}にて"))
    return replace(draft, venue=name, venue_clean=name) if name != draft.venue else None


SAME: dict[str, Maker] = {
    "misread": misread,
    "homophone": homophone,
    "shortened": shortened,
    "dated": dated,
    "hosted": hosted,
    "cut off": cut,
    "in UTC": in_utc,
    "venue as called": other_venue_name,
}
OTHER = {
    "other showing": marked(
        [
            ("{} 10時の回", "{} 14時の回"),
            ("{}(昼公演)", "{}(夜公演)"),
            ("{} 1組", "{} 2組"),
            ("{} Day1", "{} Day2"),
            ("{} 前編", "{} 後編"),
            ("{} 〈1部〉", "{} 〈2部〉"),
            ("{} その壱", "{} その弐"),
            ("{}・壱", "{}・弐"),
        ]
    ),
    "other public": marked(
        [
            ("{} Beginner", "{} Advanced"),
            ("{} ビギナー", "{} エキスパート"),
            ("パパの{}", "ママの{}"),
            ("{}(園児の部)", "{}(児童の部)"),
            ("{}(未経験者)", "{}(経験者)"),
            ("{}~初めての方~", "{}~2回目以降の方~"),
            ("4か月児の{}", "10か月児の{}"),
            ("{} 小学生コース", "{} シニアコース"),
        ]
    ),
    "other corner": marked(
        [
            ("{} 赤組", "{} 白組"),
            ("{}(本館)", "{}(別館)"),
            ("{} in 駅前", "{} in 港"),
            ("{}@第一会場", "{}@第二会場"),
            ("{}(対面)", "{}(オンライン)"),
            ("{} 月曜クラス", "{} 水曜クラス"),
            ("{}(山コース)", "{}(海コース)"),
            ("{}<書道>", "{}<茶道>"),
        ]
    ),
}


def pairs(drafts: Sequence[EventDraft], seed: int) -> Iterator[Pair]:
    """For every event one pair of each kind that it allows, in an order that depends on the seed alone."""
    chance = random.Random(seed)
    topics = [found[0] for draft in drafts if (found := _TOPIC.search(draft.title))]
    for draft in drafts:
        twin = elsewhere(draft)
        for kind, maker in SAME.items():
            if (made := maker(twin, chance)) is not None:
                yield Pair(kind, draft, made, same=True)
        for kind, marker in OTHER.items():
            if (both := marker(draft, chance)) is not None:
                yield Pair(kind, both[0], elsewhere(both[1]), same=False)
        if (found := _TOPIC.search(draft.title)) and (topic := chance.choice(topics)) != found[0]:
            made = _titled(twin, draft.title.replace(found[0], topic))
            if made is not None:
                yield Pair("other topic", draft, made, same=False)
