"""Compares two versions of a page line by line, with the changed words of each line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from tadoru.serve.docs_sites.sites import DocsSite, open_site_history, open_site_index
from tadoru.serve.problems import HttpProblem
from tadoru.store.crawl.documents import DocumentVersion
from tadoru.store.docs_search import IndexedPage

CONTEXT_LINES = 3
"""Unchanged lines that are shown around a change."""
MAX_LINES = 2_000
"""Lines of each version between the first and the last difference that are compared: more would take too long."""
_MAX_LINE_LENGTH = 20_000
_MAX_WORDS = 120
"""Words of a line; longer lines are not compared word by word."""
_MAX_PAIRS = 40
"""Lines that are compared word by word."""
_WORDS = re.compile(r"\w+\s*|[^\w\s]\s*|\s+")

DiffSpan = tuple[str, bool]
"""A piece of a line, and whether it changed."""


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of one version or of both."""

    kind: str
    """` ` in both versions, `-` only in the old one, `+` only in the new one."""
    old: int | None
    new: int | None
    spans: tuple[DiffSpan, ...]

    @property
    def text(self) -> str:
        return "".join(text for text, _ in self.spans)


@dataclass(frozen=True, slots=True)
class DiffHunk:
    """Changed lines with the unchanged lines around them."""

    old_start: int
    new_start: int
    lines: tuple[DiffLine, ...]


@dataclass(frozen=True, slots=True)
class PageDiff:
    """The differences between two versions."""

    hunks: tuple[DiffHunk, ...]
    added: int
    removed: int
    is_cut: bool
    """Whether only the first lines were compared."""


def diff_markdown(before: str, after: str) -> PageDiff:
    """The differences between two versions of a Markdown text."""
    old, new = before.splitlines(), after.splitlines()
    start = _common_prefix(old, new)
    end = _common_prefix(old[start:][::-1], new[start:][::-1])
    first = max(0, start - CONTEXT_LINES)
    last_old, last_new = (min(len(lines), len(lines) - end + CONTEXT_LINES) for lines in (old, new))
    is_cut = max(last_old, last_new) - first > MAX_LINES
    left, right = (lines[first : min(last, first + MAX_LINES)] for lines, last in ((old, last_old), (new, last_new)))
    hunks: list[DiffHunk] = []
    pairs = _MAX_PAIRS
    for group in SequenceMatcher(None, left, right).get_grouped_opcodes(CONTEXT_LINES):
        lines: list[DiffLine] = []
        for code in group:
            marked = min(code[2] - code[1], code[4] - code[3], pairs) if code[0] == "replace" else 0
            pairs -= marked
            lines += _diff_lines(code, (left, right), first, marked)
        if any(line.kind != " " for line in lines):
            hunks.append(DiffHunk(first + group[0][1] + 1, first + group[0][3] + 1, tuple(lines)))
    counts = [line.kind for hunk in hunks for line in hunk.lines]
    return PageDiff(tuple(hunks), counts.count("+"), counts.count("-"), is_cut)


def _common_prefix(old: Sequence[str], new: Sequence[str]) -> int:
    """The number of equal lines at the start."""
    return next((at for at, (left, right) in enumerate(zip(old, new, strict=False)) if left != right), min(len(old), len(new)))


def _diff_lines(
    code: tuple[str, int, int, int, int], versions: tuple[Sequence[str], Sequence[str]], first: int, marked: int
) -> Iterator[DiffLine]:
    """The lines of one opcode; the first `marked` pairs are compared word by word."""
    kind, old_from, old_to, new_from, new_to = code
    old, new = versions
    if kind == "equal":
        for at in range(old_to - old_from):
            yield DiffLine(" ", first + old_from + at + 1, first + new_from + at + 1, ((old[old_from + at], False),))
        return
    pairs = [_diff_words(old[old_from + at], new[new_from + at]) for at in range(marked)]
    for at in range(old_from, old_to):
        place = at - old_from
        yield DiffLine("-", first + at + 1, None, pairs[place][0] if place < len(pairs) else ((old[at], False),))
    for at in range(new_from, new_to):
        place = at - new_from
        yield DiffLine("+", None, first + at + 1, pairs[place][1] if place < len(pairs) else ((new[at], False),))


def _diff_words(left: str, right: str) -> tuple[tuple[DiffSpan, ...], tuple[DiffSpan, ...]]:
    """Two lines with the changed words marked; lines that have little in common are not marked."""
    whole = ((left, False),), ((right, False),)
    if max(len(left), len(right)) > _MAX_LINE_LENGTH:
        return whole
    ours, theirs = _WORDS.findall(left), _WORDS.findall(right)
    if max(len(ours), len(theirs)) > _MAX_WORDS or (matcher := SequenceMatcher(None, ours, theirs)).ratio() < 0.4:
        return whole
    before: list[DiffSpan] = []
    after: list[DiffSpan] = []
    for kind, left_from, left_to, right_from, right_to in matcher.get_opcodes():
        before.append(("".join(ours[left_from:left_to]), kind != "equal"))
        after.append(("".join(theirs[right_from:right_to]), kind != "equal"))
    return tuple(span for span in before if span[0]), tuple(span for span in after if span[0])


@dataclass(frozen=True, slots=True)
class PageComparison:
    """A page compared with an earlier version."""

    number: int
    title: str
    row: IndexedPage | None
    """The current page; None if it was removed."""
    before: DocumentVersion
    after: DocumentVersion | None
    """The current version; None if the page was removed."""
    versions: tuple[DocumentVersion, ...]
    """All earlier versions, newest first."""
    difference: PageDiff


def compare_page(site: DocsSite, number: int, version: int | None) -> PageComparison:
    """Compare a page with an earlier version, by default the newest. Raises HttpProblem if there is none."""
    with open_site_index(site) as index:
        row = index.numbered(number) if index is not None else None
    with open_site_history(site) as history:
        known = history.versions(number)
        present = known[0] if row is not None and known and not known[0].id else None
        earlier = tuple(one for one in known if one is not present)
        if not known and row is None:
            raise HttpProblem(404, "Page {number} not found.", number=number)
        if not earlier:
            raise HttpProblem(
                404, "Page {number} has no earlier version: it has not changed since versions are stored.", number=number
            )
        before = next((one for one in earlier if version in (None, one.id)), None)
        if before is None:
            raise HttpProblem(
                404, "Version {version} of page {number} not found. The page lists its versions.", version=version, number=number
            )
        old = history.text(number, before.id) or ""
        new = (history.text(number, 0) or "") if present is not None else ""
    title = row.title if row is not None else before.title
    return PageComparison(number, title, row, before, present, earlier, diff_markdown(old, new))
