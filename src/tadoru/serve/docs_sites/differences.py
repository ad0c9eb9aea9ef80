"""What is different between two versions of a page, line by line, with the words of a line that changed. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

AROUND = 3
"""Lines that are shown around what changed."""
MOST_LINES = 2_000
"""Of each version, between the first line that differs and the last: comparing more would take longer than anybody waits."""
_LONGEST_LINE = 20_000
_MOST_WORDS = 120
"""Of a line whose words are compared."""
_MOST_PAIRS = 40
"""Lines whose words are compared."""
_WORDS = re.compile(r"\w+\s*|[^\w\s]\s*|\s+")

Span = tuple[str, bool]
"""A piece of a line, and whether it is what changed."""


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of one version or of both."""

    kind: str
    """` ` in both, `-` only before, `+` only after."""
    old: int | None
    new: int | None
    spans: tuple[Span, ...]

    @property
    def text(self) -> str:
        return "".join(text for text, _ in self.spans)


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that belong together, with some around them."""

    old_start: int
    new_start: int
    lines: tuple[DiffLine, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """How one version became the other."""

    hunks: tuple[Hunk, ...]
    added: int
    removed: int
    is_cut: bool
    """Only the first lines were compared."""


def difference(before: str, after: str) -> Difference:
    """From one version to the other."""
    old, new = before.splitlines(), after.splitlines()
    start = _alike(old, new)
    end = _alike(old[start:][::-1], new[start:][::-1])
    first = max(0, start - AROUND)
    last_old, last_new = (min(len(lines), len(lines) - end + AROUND) for lines in (old, new))
    is_cut = max(last_old, last_new) - first > MOST_LINES
    left, right = (lines[first : min(last, first + MOST_LINES)] for lines, last in ((old, last_old), (new, last_new)))
    hunks: list[Hunk] = []
    pairs = _MOST_PAIRS
    for group in SequenceMatcher(None, left, right).get_grouped_opcodes(AROUND):
        lines: list[DiffLine] = []
        for code in group:
            marked = min(code[2] - code[1], code[4] - code[3], pairs) if code[0] == "replace" else 0
            pairs -= marked
            lines += _lines(code, (left, right), first, marked)
        if any(line.kind != " " for line in lines):
            hunks.append(Hunk(first + group[0][1] + 1, first + group[0][3] + 1, tuple(lines)))
    counts = [line.kind for hunk in hunks for line in hunk.lines]
    return Difference(tuple(hunks), counts.count("+"), counts.count("-"), is_cut)


def _alike(old: Sequence[str], new: Sequence[str]) -> int:
    """How many lines are the same before the first that is not."""
    return next((at for at, (left, right) in enumerate(zip(old, new, strict=False)) if left != right), min(len(old), len(new)))


def _lines(
    code: tuple[str, int, int, int, int], versions: tuple[Sequence[str], Sequence[str]], first: int, marked: int
) -> Iterator[DiffLine]:
    """The lines of one step; of the first so many pairs with the words that changed."""
    kind, old_from, old_to, new_from, new_to = code
    old, new = versions
    if kind == "equal":
        for at in range(old_to - old_from):
            yield DiffLine(" ", first + old_from + at + 1, first + new_from + at + 1, ((old[old_from + at], False),))
        return
    pairs = [_words(old[old_from + at], new[new_from + at]) for at in range(marked)]
    for at in range(old_from, old_to):
        place = at - old_from
        yield DiffLine("-", first + at + 1, None, pairs[place][0] if place < len(pairs) else ((old[at], False),))
    for at in range(new_from, new_to):
        place = at - new_from
        yield DiffLine("+", None, first + at + 1, pairs[place][1] if place < len(pairs) else ((new[at], False),))


def _words(left: str, right: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Two lines with the words marked that only one of them has; lines that have little in common are left whole."""
    whole = ((left, False),), ((right, False),)
    if max(len(left), len(right)) > _LONGEST_LINE:
        return whole
    ours, theirs = _WORDS.findall(left), _WORDS.findall(right)
    if max(len(ours), len(theirs)) > _MOST_WORDS or (matcher := SequenceMatcher(None, ours, theirs)).ratio() < 0.4:
        return whole
    before: list[Span] = []
    after: list[Span] = []
    for kind, left_from, left_to, right_from, right_to in matcher.get_opcodes():
        before.append(("".join(ours[left_from:left_to]), kind != "equal"))
        after.append(("".join(theirs[right_from:right_to]), kind != "equal"))
    return tuple(span for span in before if span[0]), tuple(span for span in after if span[0])
