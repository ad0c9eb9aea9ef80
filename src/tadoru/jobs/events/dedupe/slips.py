"""Tells a slip of the pen from another word: single signs, far between, none of which carries a meaning of its own."""

from __future__ import annotations

from rapidfuzz.distance import OSA, Levenshtein

SHORTEST = 6
"""Signs: in shorter texts one other sign makes another word, and only signs swapped or doubled are slips."""
GROUPS = (
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
"""One sign of a group in place of another of it names another thing: 初級 and 中級, 北館 and 南館."""
_TELLING = frozenset("".join(GROUPS[:2]) + "初中上高低前後東西南北男女朝昼夜春夏秋冬甲乙丙")
"""Left out or added, these make another word too: 初級 and 初中級."""

Change = tuple[str, str]
"""What stood there, and what stands there now."""


def is_slip(one: str, other: str, *, most: int = 3) -> bool:
    """Whether two folded texts differ by slips: one in a short text, at most `most` in a long one."""
    shorter, longer = sorted((len(one), len(other)))
    if shorter < 4 or longer - shorter > most:
        return False
    allowed = min(most, 1 + (shorter >= 12) + (shorter >= 24))
    if OSA.distance(one, other, score_cutoff=allowed) > allowed:
        return False
    one, other = sorted((one, other))  # so that the answer does not depend on which comes first
    return all(_harmless(change, one + other, short=longer < SHORTEST) for change in _changes(one, other))


def _changes(one: str, other: str) -> list[Change]:
    """The places where two texts differ; changes with but one sign between them are one change."""
    spans: list[tuple[int, int, int, int]] = []
    for block in Levenshtein.opcodes(one, other):
        if block.tag == "equal":
            continue
        if spans and block.src_start - spans[-1][1] <= 1 and block.dest_start - spans[-1][3] <= 1:
            spans[-1] = (spans[-1][0], block.src_end, spans[-1][2], block.dest_end)
        else:
            spans.append((block.src_start, block.src_end, block.dest_start, block.dest_end))
    return [(one[start:end], other[begin:finish]) for start, end, begin, finish in spans]


def _harmless(change: Change, text: str, *, short: bool) -> bool:
    before, after = change
    if sorted(before) == sorted(after):  # two signs changed places
        return True
    if len(before) > 1 or len(after) > 1:
        return False
    sign = before or after
    if not (before and after) and sign * 2 in text and not sign.isdigit():  # written twice
        return True
    if short:
        return False
    if before and after:
        return not any(before in group and after in group for group in GROUPS)
    return sign not in _TELLING
