"""Converts code blocks: the exact text of a block in a fence that nothing in it can close, with its language.

Tabs, trailing spaces, empty lines and unusual spaces stay. What the page added is left out: line numbers, buttons, anchors, lines
that a theme hides. Most blocks are read at once; only those with more than highlighted text are walked through.

Which elements are blocks of code is decided in `code_layout`, their language in `code_language`.
"""

from __future__ import annotations

import re
from itertools import pairwise, takewhile

from tadoru.jobs.docs.markdown import code_language, code_layout, element_kinds, escape
from tadoru.jobs.docs.markdown.conversion import ConversionContext
from tadoru.parse.html import Element, is_leaf

_OTHER_TAG = re.compile(r"<(?!/?(?:span|code|pre|a|em|strong|b|i|var|samp|kbd|mark|u|font|small|ins|del|tt)[ >])")
_DECORATED_TAG = re.compile(
    r'<[^<>]*(?: class="[^"]*(?:line|lno|gutter|boring|copy|ln\b|lnt|headerlink|anchor|conum|hidden|twoslash|annottext|blob)'
    r'| data-l| style="[^"]*user-select)'
)
_DECORATIONS = "line lno gutter boring copy ln anchor conum hidden twoslash annottext blob data-l user-select".split()
"""One of them is in each decorated tag: looking for them is faster than the expression."""
_LINE_NUMBER_CLASSES = frozenset(
    "linenos lineno linenumber linenumbers line-number line-numbers ln lnt lnlinks gutter rouge-gutter "
    "hljs-ln-numbers line-numbers-rows "
    "listing_lines blob-num react-code-text-number boring hide linenodiv cl-number line-numbers-wrapper "
    "twoslash-popup-container twoslash-meta-line annottext headerlink".split()
)
_NUMBERED_LINE = re.compile(r"(?:<[a-z]++(?: [^<>]*+)?>)++([ \t]*+(\d{1,7})[ \t]*+[:|]?[ \t]*+)</")
"""A line whose number is in an element of its own."""
_MIN_NUMBERED = 3
_SKIPPED = element_kinds.SKIPPED_TAGS | {"svg"}
_LINE_TAGS = frozenset({"div", "tr", "li", "p"})
_LINE_CLASSES = frozenset({"line", "token-line", "code-line", "ec-line", "view-line", "react-code-text"})
_COLLAPSING = code_layout.CODE_TAGS | {"table", "blockquote"}
_FRAME_TAGS = frozenset({"table", "tbody", "thead", "tr", "ol", "ul"})
_CHANGE_SIGNS = {
    word: sign
    for sign, words in {
        "-": "remove removed del delete deleted deletion minus",
        "+": "add added addition ins insert inserted plus",
    }.items()
    for word in words.split()
}
_CHANGED = re.compile(
    r'<(?:ins|del)[ >]|(?:class|data-line-diff|data-diff)="(?:[^"]*[ _-])?'
    r'(?:(?:remove|del|minus)(?:d|ed|ete|eted|etion)?|(?:add|ins|plus)(?:ed|ition|ert|erted)?)(?:-line)?[ "]'
)
_SIGNED = re.compile("^[+-]", re.MULTILINE)
_LINE_SELECTORS = "span.line,.ec-line,.token-line,.code-line,[data-line]"
_EMPTY_LINE = re.compile("^\xa0+$", re.MULTILINE)
_INDENTED = re.compile("^ *\xa0[\xa0 ]*[^\xa0 \n]", re.MULTILINE)
_SOURCE_BREAK = re.compile(r"[ \t]*+\n[ \t]*+")
_TERMINAL_COLOUR = re.compile(r"</?(?:font|span|u|b|i)(?: (?:color|style)=\"[^\"<>\n]{0,200}\")?>")
"""The colours of a terminal as the output of a session has them as text, for a script that shows it (Termynal)."""
_LONG_TICKS = re.compile("`{3,}")


def fence(code: str, language: str = "") -> str:
    """Code in a fence that is longer than any run of backticks in it."""
    ticks = 3
    if "```" in code:
        ticks = 1 + max(map(len, _LONG_TICKS.findall(code)))
    marks = "`" * ticks
    end = "" if code.endswith("\n") else "\n"
    return f"{marks}{language}\n{code}{end}{marks}"


def code_block(context: ConversionContext, node: Element) -> list[str]:
    """A code block with its file name before it; nothing if it is empty or only has the line numbers of another."""
    title = _file_name(node) if node.tag == "table" else code_layout.take_label(node)
    markup = "" if is_leaf(node) else node.inner_html or ""
    code = code_text(node, markup)
    if not code.strip() or code_layout.is_gutter_beside_code(node):
        return []
    context.code_blocks += 1
    label = title or code_layout.label_before(node)
    language = code_language.language_of(node) or code_language.language_of_label(label)
    if changes := _diff_text(node, markup, code, language):
        written = fence(changes, "diff")
    else:
        written = fence(code, language or code_language.guess_language(code, node))
    context.take(len(written))
    return [f"**{escape.text(title)}**", written] if title and not code_language.is_language(title) else [written]


def maybe_code_block(context: ConversionContext, node: Element) -> list[str] | None:
    """A box with a name for code, if it is code; None if it is a frame around code or prose."""
    return code_block(context, node) if code_layout.is_code_block(node, node.tag or "", node.attributes) else None


def _diff_text(node: Element, markup: str, code: str, language: str) -> str:
    """A block with lines that the page marks as added or removed, with `+` and `-`; empty for any other block."""
    if "line" not in markup and "<ins" not in markup and "<del" not in markup:
        return ""
    if _CHANGED.search(markup) is None or (language == "diff" and _SIGNED.search(code)):
        return ""
    lines: list[str] = []
    left = 2 * len(code)
    for line in node.css(_LINE_SELECTORS):
        lines.append(_sign(line) + code_text(line).rstrip("\n") + "\n")
        left -= len(lines[-1]) - 2
        if left < 0:  # They are within each other: these are no lines.
            return ""
    if not lines and ("<del" in markup or "<ins" in markup):
        lines = _edited_lines(node)
    return "".join(lines) if any(line[0] != " " for line in lines) else ""


def _sign(line: Element) -> str:
    """`+` for a line that is marked as added, `-` for one that is removed, else a space."""
    if line.tag in {"ins", "del"}:
        return "+" if line.tag == "ins" else "-"
    attributes = line.attributes
    marks = " ".join(attributes.get(name) or "" for name in ("class", "data-line-diff", "data-diff")).lower()
    words = re.split(r"[\s_-]+", marks)
    if found := next((_CHANGE_SIGNS[word] for word in words if word in _CHANGE_SIGNS), ""):
        return found
    only = line.first_child
    return _sign(only) if only is not None and only.next is None and only.tag in {"ins", "del"} else " "


def _edited_lines(node: Element) -> list[str]:
    """The lines of a block with `<del>` and `<ins>`: a line that is changed in part is written before and after the change."""
    inner = node.css_first("code")
    edited = _EditedLines()
    for part in (inner if inner is not None else node).iter(include_text=True):
        if part.is_text_node:
            edited.add(" ", part.text_content or "")
        else:
            edited.add(_sign(part), code_text(part))
    return edited.end()


class _EditedLines:
    """The lines before and after a change, side by side; each piece is read once."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._done: dict[str, list[str]] = {"-": [], "+": []}
        """The lines since the last one that is the same before and after the change."""
        self._open: dict[str, list[str]] = {"-": [], "+": []}
        """The pieces of the line that has not ended."""
        self._lacks: dict[str, bool] = {"-": False, "+": False}
        """Whether this line has a piece of the other side."""

    def add(self, sign: str, text: str) -> None:
        """Read a piece that is removed (`-`), added (`+`) or neither (a space)."""
        for at, part in enumerate(text.split("\n")):
            if at:
                self._end_line(sign)
            for side, pieces in self._open.items() if part else ():
                if sign in {" ", side}:
                    pieces.append(part)
                else:
                    self._lacks[side] = True

    def end(self) -> list[str]:
        """All lines with their signs."""
        if any(self._open.values()):
            self._end_line(" ")
        self._write_changed()
        return self._lines

    def _end_line(self, sign: str) -> None:
        before, after = ("".join(pieces) for pieces in self._open.values())
        if sign == " " and before == after:
            self._write_changed()
            self._lines.append(f" {before}\n")
        else:
            for side, line in (("-", before), ("+", after)):
                # A line of which only the other side has something is none of this side.
                if sign in {" ", side} and (line or not self._lacks[side]):
                    self._done[side].append(line)
        for side, pieces in self._open.items():
            self._lacks[side] = False
            if sign in {" ", side}:
                pieces.clear()

    def _write_changed(self) -> None:
        before, after = self._done.values()
        start = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))
        self._lines += [f" {line}\n" for line in before[:start]]
        self._lines += [f"-{line}\n" for line in before[start:]] + [f"+{line}\n" for line in after[start:]]
        before.clear()
        after.clear()


def _file_name(table: Element) -> str:
    """The file name in the first row of a table of code, which is removed from it."""
    cell = table.css_first("th.filename")
    if cell is None:
        return ""
    title = escape.visible_text(cell.text() or "").strip()
    row = cell.parent if cell.parent is not None else cell
    row.decompose()
    return title


def code_text(node: Element, markup: str | None = None) -> str:
    """The text of a block, line breaks as `\\n`; `markup` is the HTML in it, if it is known."""
    if (inner := _innermost(node)) is not node or markup is None:
        node, markup = inner, "" if is_leaf(inner) else inner.inner_html or ""
    raw = _collect_text(node) if _needs_walk(markup) else node.text() or ""
    if raw[:1] == "\n" and 'class="boring"' in markup:
        # Lines that mdBook hides start on the line after the tag.
        raw = raw[1:]
    if markup and raw[:12].lstrip()[:1].isdecimal():
        raw = _without_numbers(raw, markup)
    if "\xa0" in raw:
        raw = _EMPTY_LINE.sub("", raw)  # Doxygen has one in each empty line.
        # Where white space collapses they stand for spaces; rustdoc indents with them, which compilers do not accept.
        if node.tag in _COLLAPSING or _INDENTED.search(raw):
            raw = raw.replace("\xa0", " ")
    if "\r" in raw:
        raw = raw.replace("\r\n", "\n").replace("\r", "\n")
    if "</font>" in raw and node.css_first("span.go") is not None:
        raw = _TERMINAL_COLOUR.sub("", raw)
    return raw.replace("\x00", "") if "\x00" in raw else raw


def _without_numbers(raw: str, markup: str) -> str:
    """Code without line numbers that are elements before its lines: they count, and only empty lines may lack one."""
    lines, marked = raw.strip("\n").split("\n"), markup.strip("\n").split("\n")
    numbered = [_NUMBERED_LINE.match(line) for line in marked]
    found = [(at, int(number[2])) for at, number in enumerate(numbered) if number]
    if len(lines) != len(marked) or len(found) < _MIN_NUMBERED or not _is_counted(found, marked):
        return raw
    if any(number is None and line.strip() for line, number in zip(lines, numbered, strict=True)):
        return raw
    return "\n".join(line.removeprefix(number[1]) if number else "" for line, number in zip(lines, numbered, strict=True))


def _is_counted(found: list[tuple[int, int]], marked: list[str]) -> bool:
    """Whether the numbers of lines count; those that are anchors may leave out some."""
    if len({number - at for at, number in found}) == 1:
        return True
    return all(one < other for (_, one), (_, other) in pairwise(found)) and all(marked[at].startswith("<a ") for at, _ in found)


def _needs_walk(markup: str) -> bool:
    """Whether a block has more than highlighted text."""
    if _OTHER_TAG.search(markup) is not None:
        return True
    return any(word in markup for word in _DECORATIONS) and _DECORATED_TAG.search(markup) is not None


def _innermost(node: Element) -> Element:
    """The inner block of a block that contains only another one and empty lines (gi-docgen)."""
    inner = node.css_first("pre pre") if node.tag == "pre" and not is_leaf(node) else None
    return inner if inner is not None and (inner.text() or "").strip() == (node.text() or "").strip() else node


class _CodeText:
    """Text that is collected line by line."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.last_break = -1
        """The place of the last piece with a line break."""

    def add(self, piece: str) -> None:
        if piece:
            if "\n" in piece:
                self.last_break = len(self.pieces)
            self.pieces.append(piece)

    def new_line(self) -> None:
        if self.pieces and not self.pieces[-1].endswith("\n"):
            self.add("\n")


def _collect_text(top: Element) -> str:
    """The text of an element without decorations of the page, with a line break where the page shows one."""
    text = _CodeText()
    framed, collapses = top.tag != "pre", top.tag in code_layout.CODE_TAGS
    waiting: list[tuple[Element | None, str, bool]] = []
    node = top.first_child
    closing = ""
    while True:
        if node is None:
            if not waiting:
                return "".join(text.pieces)
            node, closing, framed = waiting.pop()
            if closing and not (top.tag == "pre" and _has_own_break(text, closing, node)):
                _end_line(text, closing)
            continue
        following = node.next
        if node.is_text_node:
            piece = node.text_content or ""
            if collapses and text.pieces and text.pieces[-1] == "\n":
                # The line break is the `<br>` before it.
                piece = piece[found.end() :] if (found := _SOURCE_BREAK.match(piece)) else piece
            if not (piece.isspace() and (framed or _is_between_lines(node))):
                text.add(piece)
        elif node.tag == "br":
            text.add("\n")
        elif node.tag == "img":
            text.add(_callout_number(node))
        elif node.is_element_node and not _is_decoration(node):
            tag = node.tag or ""
            line = _line_kind(node, tag)
            if line:
                text.new_line()
                line = f"{line} {len(text.pieces)}"
            waiting.append((following, line, framed))
            holds_block = tag == "td" and node.css_first("pre") is not None  # Hugo has line breaks around it.
            framed = tag in _FRAME_TAGS or (framed and (holds_block or tag not in {"pre", "code", "span", "td"}) and not line)
            node = node.first_child
            continue
        node = following


def _is_between_lines(space: Element) -> bool:
    """Whether white space is between paragraphs that are the lines of a block (LibreOffice)."""
    return any(beside is not None and beside.tag == "p" for beside in (space.prev, space.next))


def _callout_number(image: Element) -> str:
    """The number of an explanation that the page shows as an image (DocBook); empty for other images."""
    number = (image.attributes.get("alt") or "").strip("() ")
    return f"({number})" if number.isdecimal() else ""


def _line_kind(node: Element, tag: str) -> str:
    """`block` for an element that is displayed as a line, `line` for one that is a line by its class, else empty."""
    if tag in _LINE_TAGS:
        return "" if _is_emptied_box(node) else "block"
    if tag == "span":
        attributes = node.attributes
        if "data-line" in attributes or not _LINE_CLASSES.isdisjoint((attributes.get("class") or "").split()):
            return "line"
    return ""


def _is_emptied_box(node: Element) -> bool:
    """Whether an element is the box of buttons, which are removed, beside the code and not an empty line of it."""
    beside = (node.next, node.prev)
    return node.first_child is None and any(other is not None and other.tag == "code" for other in beside)


def _end_line(text: _CodeText, line: str) -> None:
    """End a line: a block ends with a line break, also an empty one."""
    kind, _, begun = line.partition(" ")
    if kind == "block" and (len(text.pieces) == int(begun) or not text.pieces[-1].endswith("\n")):
        text.add("\n")


def _has_own_break(text: _CodeText, line: str, after: Element | None) -> bool:
    """Whether the break after a box of several lines is in the text after it (Sphinx, around the parts of a module)."""
    if after is None or not after.is_text_node or not (after.text_content or "").startswith("\n"):
        return False
    return text.last_break >= int(line.partition(" ")[2])


def _is_decoration(node: Element) -> bool:
    """Whether an element is a decoration of the code: a line number, a button, a popup."""
    if node.tag in _SKIPPED:
        return True
    if node.tag in {"td", "th"}:
        return _is_number_cell(node)
    attributes = node.attributes
    if not attributes:
        return False
    words = (attributes.get("class") or "").split()
    numbers = _LINE_NUMBER_CLASSES.intersection(words)
    if numbers and node.tag in {"code", "pre"} and not code_layout.is_gutter(node):
        numbers = frozenset()  # Code that a script numbers (Prism).
    if numbers and (_LINE_CLASSES.isdisjoint(words) or numbers != {"line-number"}):  # Some lines are named for their numbers.
        return True
    kind = element_kinds.element_kind(node.tag or "", " ".join(words))
    if kind in {element_kinds.DROP, element_kinds.TITLE, element_kinds.PERMALINK}:
        return True
    return "user-select" in (attributes.get("style") or "") and (node.text() or "").strip().isdigit()


def _is_number_cell(cell: Element) -> bool:
    """Whether a cell has the line numbers of the cell after it."""
    beside = cell.next
    while beside is not None and not beside.is_element_node:
        beside = beside.next
    return beside is not None and (code_layout.is_gutter(cell) or not (cell.text() or "").strip())
