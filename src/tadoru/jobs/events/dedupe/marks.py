"""What in a title says which event of several alike it is: numbers, levels, ages, sessions, groups.

Similar titles on one day are most often different events of one organiser, and these words are what tells them apart. Where two
titles contradict each other in them, no likeness of the rest counts.
"""

from __future__ import annotations

import re
from datetime import date
from typing import NamedTuple


class Number(NamedTuple):
    """A number in a title."""

    value: str
    kind: str
    """edition (第3回, vol.3), total (全3回), year, fiscal, month, day, count (20名, 60分), or nothing for any other."""


_NUMBER = re.compile(
    r"(?P<before>全|第|vol[.,]?\s*|no[.,]?\s*|#|♯|その|パート|part\.?\s*)?"
    r"(?P<value>\d+(?:\.\d+)?(?:[a-z](?![a-z]))?)"  # With a letter: 3b is not 3.
    r"(?P<after>\s*(?:年度|年生|年|月生|月|日目|日間|日|回目|回|期|号|弾|周年|名|人|組|分間?|時間?|歳|才|[かヶヵカケ]月|円|階|部))?"
)
_EDITIONS = frozenset({"回", "回目", "期", "号", "弾", "周年"})
_COUNTS = frozenset({"名", "人", "組", "分", "分間", "円"})

_MARKS = (
    # levels and parts
    "初中級 中上級 初級 中級 上級 初心者 経験者 入門 基礎 基本 応用 実践 発展 初期 中期 後期 前期 前半 後半 前編 後編 "
    "前篇 後篇 上巻 下巻 予選 準決勝 決勝 本選 前夜祭 後夜祭 開会式 閉会式 "
    # sessions
    "午前 午後 昼間 夜間 昼の部 夜の部 朝の部 夕方 早朝 ナイト モーニング デイ 月曜 火曜 水曜 木曜 金曜 土曜 日曜 平日 祝日 "
    # groups
    "新生児 乳児 乳幼児 幼児 未就学児 未就園児 就学前 年少 年中 年長 小学生 中学生 高校生 大学生 低学年 中学年 高学年 "
    "学生 大人 一般 児童 親子 男性 女性 男子 女子 男の子 女の子 シニア 高齢者 ジュニア ユース キッズ ベビー マタニティ "
    "プレママ パパ ママ 父親 母親 祖父母 妊婦 両親 ファミリー ペア 個人 団体 保護者 教員 職員 事業者 従業員 "
    # kinds of the same thing
    "ハーフ フル 車いす リレー クォーター オンライン リモート zoom 対面 配信 収録 説明会 体験会 見学会 発表会 交流会 "
    "懇親会 相談会 面接会 講演会 北部 南部 東部 西部 中部 英語 中国語 韓国語 日本語 フランス語 スペイン語"
).split()
# A direction or a season counts only where it names a thing (北図書館), not in 東京 or 春日; a letter where it stands alone.
_MARK = re.compile(
    "|".join(sorted(map(re.escape, _MARKS), key=len, reverse=True))
    + r"|[北南東西春夏秋冬](?=の部|コース|会場|地区|図書館|公民館|児童館|体育館|センター|支所|分館|小学校|中学校|クラス|部)"
    + r"|(?<![a-z0-9])[a-h](?![a-z0-9])"
)
_WEEKDAYS = "月火水木金土日"


def numbers(plain: str) -> tuple[Number, ...]:
    """The numbers of a normal text, in order."""
    return tuple(_number(found) for found in _NUMBER.finditer(plain))


def _number(found: re.Match[str]) -> Number:
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
    return Number(value, kind)


def telling(found: tuple[Number, ...], day: date) -> tuple[Number, ...]:
    """The numbers that are not just the event's own date written into the title."""
    if not found:
        return found
    fiscal = day.year - (day.month < 4)
    own = {
        ("year", str(day.year)),
        ("year", str(fiscal)),
        ("fiscal", str(fiscal)),
        ("month", str(day.month)),
        ("day", str(day.day)),
    }
    return tuple(number for number in found if (number.kind, number.value) not in own)


def own_day(day: date) -> str:
    """The event's own date as titles write it: 8月1日土曜日."""
    return f"{day.month}月{day.day}日{_WEEKDAYS[day.weekday()]}曜日"


def marks(plain: str) -> frozenset[str]:
    """The words of a normal text that name a level, a group or a session."""
    return frozenset(_MARK.findall(plain))


def spoken_for(mark: str, day: date, hour: int | None) -> bool:
    """Whether the date and time of an event say already what a mark says: 土曜 of an event on a Saturday."""
    if mark.endswith("曜"):
        return _WEEKDAYS[day.weekday()] == mark[0]
    if hour is None:
        return False
    return (mark == "午前" and hour < 12) or (mark == "午後" and hour >= 12)
