"""Splits Markdown into blocks and sections: headings, code, tables and text. Whatever splits a page uses this module.

It knows as much of CommonMark as is needed never to see a heading inside code: fences of backticks and tildes, also in lists and
quotes, unclosed fences, indented code, both forms of headings. It does not render and does not change a byte.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, NamedTuple

from tadoru.jobs.docs.bundle.model import DEFINITION_LEVEL, DocHeading

BlockKind = Literal["heading", "code", "table", "text"]

_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_SLICE = 100_000
"""Characters, at least, whose lines are held at a time."""
_PREFIX = re.compile(r"[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t]+[^ \t]))?")
_QUOTE = re.compile(r"[ \t]*+>")
FENCES = ("```", "~~~")
_FENCE = re.compile(r"(`{3,})[^`]*$|(~{3,})")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
_PARAGRAPH = re.compile(r" {0,3}[^\s>#|`~=+*-]")
_LINK = re.compile(r"!?\[((?:[^\[\]\\]|\\.)*+)\](?:\((?:[^()\s]|\([^()\s]*+\))*+(?:\s++\"[^\"]*+\")?\)|\[[^\[\]]*+\])")
_STRONG = re.compile(r"(\*{1,3}|(?<!\w)_{1,3}(?=\S))(\S(?:.{0,300}?\S)?)\1(?!\w)")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_BACKTICKS = re.compile(r"`+")
_CONTAINER_STARTS = ("", *" \t>-*+`~0123456789")
"""First characters of lines that may belong to a list, a quote or a fence; other lines need no further check."""
_HEADING_STARTS = ("#", " ")
_DIGITS = frozenset("0123456789")
_MAX_HEADING_LENGTH = 1_000
_MAX_NAME_LENGTH = 120


class MarkdownBlock(NamedTuple):
    """Lines that belong together, with the empty lines after them; they are moved or dropped as a whole."""

    kind: BlockKind
    text: str
    """With line ends: the blocks of a text, joined, are the text."""
    level: int = 0
    title: str = ""


@dataclass(frozen=True, slots=True)
class MarkdownSection:
    """A heading with the text up to the next heading of any level."""

    path: tuple[str, ...]
    """The parent headings and its own, outermost first."""
    level: int
    """0 for the text before the first heading."""
    blocks: tuple[MarkdownBlock, ...]

    @property
    def text(self) -> str:
        return "".join(block.text for block in self.blocks)


class _FenceState:
    """Tracks the open code fence, if any, and whether the text is in a list."""

    def __init__(self, *, in_list: bool = False) -> None:
        self._sign = ""
        self._quotes = 0
        self._indent = 0
        self._in_list = in_list

    @property
    def is_open(self) -> bool:
        """Whether a fence is open."""
        return bool(self._sign)

    @property
    def in_list(self) -> bool:
        """Whether the last line is part of a list."""
        return self._in_list

    def leave_list(self) -> None:
        """Note a line that is not part of a list."""
        self._in_list = False

    def feed(self, line: str) -> bool:
        """Whether a line is code or a code fence."""
        if self._sign:
            rest = _strip_quotes(line, self._quotes)
            if rest is not None:
                self._close(rest)
                return True
            self._sign = ""  # The quote that contains the fence has ended, and the fence with it.
        if line[:1] in _CONTAINER_STARTS:
            return self._open(line)
        self._in_list = False
        return False

    def _close(self, rest: str) -> None:
        bare = rest.strip(" \t")
        if len(bare) >= len(self._sign) and not bare.strip(self._sign[0]) and _indent(rest) < self._indent + 4:
            self._sign = ""

    def _open(self, line: str) -> bool:
        if _ITEM.match(line):
            self._in_list = True
        elif line.strip() and not _indent(line):
            self._in_list = False
        quotes, at = 0, 0
        while (found := _PREFIX.match(line, at)) and found.end() > at:
            quotes += found[0].endswith(">")
            at = found.end()
        fence = _FENCE.match(line, at)
        if not fence or (_indent(line) >= 4 and not self._in_list):
            return False
        self._sign, self._quotes = fence[1] or fence[2], quotes
        self._indent = _indent(line) if not quotes else 4
        return True


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _strip_quotes(line: str, quotes: int) -> str | None:
    """A line without the given number of quote marks, or None if it has fewer."""
    at = 0
    for _ in range(quotes):
        if (found := _QUOTE.match(line, at)) is None:
            return None
        at = found.end()
    return line[at:]


def _lines(text: str) -> Iterator[str]:
    """The lines of a text, of which only some are held at a time: a text may have millions."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + _SLICE) + 1 or len(text)
        yield from _LINES.findall(text, start, end)
        start = end


def split_blocks(text: str) -> Iterator[MarkdownBlock]:
    """The blocks of a text; joined again they are the text, byte for byte."""
    fence = _FenceState()
    kept: list[str] = []
    has_code = gap = is_heading = in_list = False
    for whole in _lines(text):
        if not fence.is_open and (whole == "\n" or _is_plain(whole)):  # Most lines: neither code nor the start of a heading.
            if whole == "\n":
                gap = True
            else:
                fence.leave_list()
                if kept and (gap or is_heading):
                    yield _block(kept, has_code, in_list=in_list)
                    kept, has_code = [], False
                gap = is_heading = in_list = False
            kept.append(whole)
            continue
        line = whole.rstrip("\r\n")
        is_code, is_empty = fence.feed(line), not line.strip()
        begins_heading = not is_code and line[:1] in _HEADING_STARTS and _atx_heading(line) is not None
        if kept and not is_empty and (gap or is_heading or begins_heading):
            yield _block(kept, has_code, in_list=in_list)
            kept, has_code = [], False
        in_list = fence.in_list
        kept.append(whole)
        has_code = has_code or is_code
        is_heading = not has_code and (begins_heading or (is_heading and is_empty) or (len(kept) == 2 and _is_underlined(kept)))
        gap = is_empty and not is_code
    if kept:
        yield _block(kept, has_code, in_list=in_list)


def _is_plain(line: str) -> bool:
    """Whether a line starts with a letter, or with a digit that is not a list marker."""
    first = line[0]
    return first.isalpha() or (first in _DIGITS and _ITEM.match(line.rstrip("\r\n")) is None)


def _atx_heading(line: str) -> tuple[int, str] | None:
    """Level and text of an ATX heading (`## Title`)."""
    bare = line.lstrip(" ")
    rest = bare.lstrip("#")
    level = len(bare) - len(rest)
    if len(line) - len(bare) > 3 or not 1 <= level <= 6 or (rest and rest[0] not in " \t"):
        return None
    words = rest.strip()
    shorter = words.rstrip("#")
    return level, shorter.rstrip() if not shorter or shorter[-1] in " \t" else words


def _is_underlined(kept: Sequence[str]) -> bool:
    return (
        len(kept) > 1 and bool(_UNDERLINE.match(kept[1].rstrip("\r\n"))) and bool(_PARAGRAPH.match(kept[0]))
        and not _ITEM.match(kept[0])
    )  # fmt: skip


def _block(kept: list[str], has_code: bool, *, in_list: bool) -> MarkdownBlock:
    text = "".join(kept)
    if has_code:
        return MarkdownBlock("code", text)
    if kept[0][0].isalpha() and (len(kept) == 1 or kept[1] == "\n"):
        return MarkdownBlock("text", text)
    if found := _atx_heading(kept[0].rstrip("\r\n")):
        return MarkdownBlock("heading", text, found[0], plain_text(found[1]))
    if _is_underlined(kept):
        return MarkdownBlock("heading", text, 1 if "=" in kept[1] else 2, plain_text(kept[0]))
    filled = [line for line in kept if line.strip()]
    if filled and all(line.lstrip().startswith("|") for line in filled):
        return MarkdownBlock("table", text)
    if filled and not in_list and all(line.startswith(("    ", "\t")) for line in filled):
        return MarkdownBlock("code", text)
    return MarkdownBlock("text", text)


def split_sections(text: str, title: str = "") -> Iterator[MarkdownSection]:
    """The sections of a page, each with the path of its headings, which starts with the page's title."""
    path: list[tuple[int, str]] = [(0, title)] if title else []
    held: list[MarkdownBlock] = []
    level = 0
    for block in split_blocks(text):
        if block.kind == "heading":
            if held:
                yield MarkdownSection(tuple(name for _, name in path), level, tuple(held))
            held, level = [], block.level
            path = [step for step in path if step[0] < block.level]
            if path != [(0, block.title)]:
                path.append((block.level, block.title))
        held.append(block)
    if held:
        yield MarkdownSection(tuple(name for _, name in path), level, tuple(held))


def anchored_sections(text: str, title: str, headings: Sequence[DocHeading]) -> list[tuple[MarkdownSection, str | None]]:
    """The sections of a page, each with the fragment of its heading; `headings` are those of the page, in order.

    A heading that the text does not have is passed over, as is one of the text that is not among them. A definition begins a
    section of its own, below that of its heading.
    """
    definitions = [heading for heading in headings if heading.level == DEFINITION_LEVEL]
    found = _headed_sections(
        list(split_sections(text, title)), [heading for heading in headings if heading.level < DEFINITION_LEVEL]
    )
    return list(_split_at_definitions(found, definitions)) if definitions else found


def _headed_sections(sections: list[MarkdownSection], headings: Sequence[DocHeading]) -> list[tuple[MarkdownSection, str | None]]:
    levels = [section.level for section in sections if section.level]
    if levels == [heading.level for heading in headings]:
        anchors = iter(headings)
        return [(section, next(anchors).anchor if section.level else None) for section in sections]
    known = _OrderedHeadings((heading.level, comparable(heading.text)) for heading in headings)
    found: list[tuple[MarkdownSection, str | None]] = []
    for section in sections:
        at = known.next((section.level, comparable(section.path[-1]))) if section.level and section.path else None
        found.append((section, None if at is None else headings[at].anchor))
    return found


class _OrderedHeadings:
    """Finds headings or definitions in the order of the page."""

    def __init__(self, keys: Iterable[Hashable]) -> None:
        self._places: dict[Hashable, list[int]] = {}
        for at, key in reversed(list(enumerate(keys))):
            self._places.setdefault(key, []).append(at)
        self._last = -1

    def next(self, key: Hashable) -> int | None:
        """The place of the next one with this key behind the last that was found."""
        places = self._places.get(key, [])
        while places and places[-1] <= self._last:
            places.pop()
        if not places:
            return None
        self._last = places.pop()
        return self._last


def _split_at_definitions(
    sections: Iterable[tuple[MarkdownSection, str | None]], definitions: Sequence[DocHeading]
) -> Iterator[tuple[MarkdownSection, str | None]]:
    """The sections, with one more for each definition that begins a block or an item in them."""
    known = _OrderedHeadings(_definition_key(one.text) for one in definitions)
    for section, heading_anchor in sections:
        path, level, anchor = section.path, section.level, heading_anchor
        held: list[MarkdownBlock] = []
        for block in section.blocks:
            for part in _definition_parts(block):
                name = _defined_name(part)
                at = known.next(_definition_key(name)) if name else None
                if at is not None:
                    if held:
                        yield MarkdownSection(path, level, tuple(held)), anchor
                    held, path, level = [], (*section.path, plain_text(name)[:_MAX_NAME_LENGTH]), DEFINITION_LEVEL
                    anchor = definitions[at].anchor
                held.append(part)
        yield MarkdownSection(path, level, tuple(held)), anchor


def _definition_parts(block: MarkdownBlock) -> Iterator[MarkdownBlock]:
    """A block, or the items of a list without empty lines."""
    if block.kind != "text" or not block.text.startswith("- ") or "\n- " not in block.text:
        yield block
        return
    at = 0
    while at < len(block.text):
        end = block.text.find("\n- ", at) + 1 or len(block.text)
        yield MarkdownBlock("text", block.text[at:end])
        at = end


def _defined_name(block: MarkdownBlock) -> str:
    """The signature or term that a block may begin with."""
    if block.text.startswith("- "):
        return block.text[2 : 2 + _MAX_HEADING_LENGTH].partition("\n")[0]
    if block.kind == "code" and block.text.startswith(FENCES):
        return block.text[: 2 * _MAX_HEADING_LENGTH].partition("\n")[2].partition("\n")[0]
    return ""


def _definition_key(text: str) -> str | None:
    return comparable(plain_text(text))[:_MAX_NAME_LENGTH] or None


def comparable(text: str) -> str:
    """The letters and digits of a name: `Kettle.Lid` and `KettleLid` are equal."""
    return "".join(char for char in text.casefold() if char.isalnum())


def strip_title(text: str) -> str:
    """A page without the heading of level 1 that it starts with."""
    at = 0
    for block in split_blocks(text):
        at += len(block.text)
        if block.text.strip():
            return text[at:] if block.kind == "heading" and block.level == 1 else text
    return text


def find_code_spans(text: str) -> Iterator[tuple[int, int, int]]:
    """Start, end and number of backticks of each code span; a span ends at the next run of as many backticks."""
    runs = [found.span() for found in _BACKTICKS.finditer(text)]
    following: dict[int, int] = {}
    closing: list[int | None] = []
    for at in reversed(range(len(runs))):
        ticks = runs[at][1] - runs[at][0]
        closing.append(following.get(ticks))
        following[ticks] = at
    closing.reverse()
    at = 0
    while at < len(runs):
        if (end := closing[at]) is not None:
            yield runs[at][0], runs[end][1], runs[at][1] - runs[at][0]
            at = end
        at += 1


def replace_outside_code(text: str, pattern: re.Pattern[str], replaced: Callable[[re.Match[str]], str]) -> str:
    """A text with the matches of a pattern replaced, except those that start in a code block or code span."""
    return map_prose(text, lambda prose: _replace_outside_spans(prose, pattern, replaced))


def map_prose(text: str, change: Callable[[str], str]) -> str:
    """A text with everything changed that is no code block; of an item or a quotation with code, the lines beside it."""
    parts: list[str] = []
    for block in split_blocks(text):
        if block.kind != "code":
            parts.append(change(block.text))
        elif block.text.startswith(FENCES) or not any(fence in block.text for fence in FENCES):
            parts.append(block.text)
        else:
            parts += _mapped_beside_fences(block.text, change)
    return "".join(parts)


def _mapped_beside_fences(text: str, change: Callable[[str], str]) -> Iterator[str]:
    fence = _FenceState(in_list=text[:1].isspace())
    for is_code, lines in groupby(_lines(text), lambda line: fence.feed(line.rstrip("\r\n"))):
        joined = "".join(lines)
        yield joined if is_code else change(joined)


def _replace_outside_spans(text: str, pattern: re.Pattern[str], replaced: Callable[[re.Match[str]], str]) -> str:
    if pattern.search(text) is None:
        return text
    spans = find_code_spans(text)
    start = end = 0

    def checked(match: re.Match[str]) -> str:
        nonlocal start, end
        while end <= match.start():
            start, end, _ = next(spans, (len(text), len(text) + 1, 0))
        return match[0] if start <= match.start() else replaced(match)

    return pattern.sub(checked, text)


def plain_text(text: str) -> str:
    """A line of Markdown as plain text: without link targets, emphasis marks and escapes."""
    text = text[:_MAX_HEADING_LENGTH]
    parts: list[str] = []
    at = 0
    for start, end, ticks in find_code_spans(text):
        code = text[start + ticks : end - ticks]
        parts += [_plain_prose(text[at:start]), code[code.startswith(" ") : len(code) - code.endswith(" ")] or code]
        at = end
    return " ".join("".join([*parts, _plain_prose(text[at:])]).split())


def _plain_prose(text: str) -> str:
    text = _LINK.sub(r"\1", text)
    for _ in range(2):
        text = _STRONG.sub(r"\2", text)
    return _ESCAPED.sub(r"\1", text)
