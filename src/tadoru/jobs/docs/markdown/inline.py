"""What stands in a line: text, emphasis, code, links, images, as one string of Markdown.

Pieces are gathered first and joined at the end, for only then is it known what stands beside a piece: two pieces of code become one,
and emphasis that would touch a word so that Markdown can not see it gives its outer punctuation away, or its marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tadoru.jobs.docs.markdown import escape, footnotes, kinds, math, media
from tadoru.jobs.docs.markdown.context import DEEPEST, Context
from tadoru.parse.html import Element

_TEXT, _CODE, _MARKUP, _BREAK = "text", "code", "markup", "break"
_EMPHASIS = {"em": "*", "i": "*", "cite": "*", "dfn": "*", "var": "*", "strong": "**", "b": "**", "del": "~~", "s": "~~", "strike": "~~"}
_CODES = frozenset({"code", "tt", "samp", "kbd"})
_RAISED = frozenset({"sub", "sup"})
_MEDIA = frozenset({"img", "picture", "video", "audio", "iframe"})
_SYMBOLS = frozenset({"¶", "#", "🔗", "§", "", "◆", "◆\u00a0", "⚓", "⚓︎", "∞", "\uf0c1", "link", "Link"})
_TICKS = re.compile("`+")
_SPACES = re.compile("[ \t\r\n\f]+")
_DISCARDED = re.compile("[\x00-\x08\x0b\x0e-\x1f]")


def render(context: Context, nodes: Iterable[Element], breaks: str) -> str:
    """The nodes, one after the other, as one string without white space at its ends."""
    line = Line(context)
    for node in nodes:
        line.add(node)
    return line.joined(breaks)


def code_span(raw: str) -> str:
    """Inline code in as many backticks as it takes; empty for empty code."""
    code = _DISCARDED.sub("", _SPACES.sub(" ", raw)).strip(" ")
    if not code:
        return ""
    if "`" not in code:
        return f"`{code}`"
    longest = max(map(len, _TICKS.findall(code)))
    fence = "`" * (longest + 1)
    pad = " " if code[0] == "`" or code[-1] == "`" else ""
    return f"{fence}{pad}{code}{pad}{fence}"


class Line:
    """The pieces of one line, in order: their kind, and text, code, Markdown, or emphasis with its marks as the kind."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.pieces: list[tuple[str, str]] = []

    def add(self, top: Element) -> None:
        """A node and what is below it. Elements without a meaning are walked through without a call, however deep they are."""
        node: Element | None = top
        waiting: list[Element | None] = []
        while True:
            if node is None:
                if not waiting:
                    return
                node = waiting.pop()
                continue
            following = node.next if waiting else None
            if node.is_text_node:
                self.pieces.append((_TEXT, node.text_content or ""))
            elif node.is_element_node and self._opened(node):
                waiting.append(following)
                node = node.first_child
                if node is None:
                    node = waiting.pop()
                continue
            node = following

    def _opened(self, node: Element) -> bool:
        """Write an element; True when it is to be walked through instead."""
        tag = node.tag or ""
        attributes = node.attributes
        if tag in kinds.UNWRITTEN and not (tag == "button" and self.context.in_heading) and not math.is_script(node, tag):
            return False
        if attributes:
            kind = kinds.kind_of(tag, attributes.get("class") or "")
            if kind and not self._ordinary(node, tag, kind):
                return False
            if "hidden" in attributes or attributes.get("aria-hidden") == "true":
                return tag in {"a", "code", "b", "strong"} and bool((node.text() or "").strip()) and "hidden" not in attributes and tag != "a"
        if tag == "span" or (tag not in _HANDLED and tag not in kinds.BLOCKS):
            return True
        return self._meant(node, tag)

    def _ordinary(self, node: Element, tag: str, kind: str) -> bool:
        """Whether the kind leaves the element to its tag; what it does not leave is written here."""
        if kind is kinds.DROP or (kind is kinds.PERMALINK and not (tag == "a" and self._is_wording(node))):
            return False
        if kind in {kinds.MATH, kinds.BLOCK_MATH}:
            written = math.inline_math(node)
            if written is None:
                return True
            self.pieces.append((_MARKUP, written))
            return False
        return True

    @staticmethod
    def _is_wording(node: Element) -> bool:
        """A link that has the class of a permalink but holds the wording: some themes wrap the heading in it."""
        return len(node.text(strip=True) or "") > 2 and node.parent is not None and node.parent.text(strip=True) == node.text(strip=True)

    def _meant(self, node: Element, tag: str) -> bool:
        if tag in _EMPHASIS:
            self._emphasis(node, _EMPHASIS[tag])
        elif tag in _CODES:
            self._code(node)
        elif tag == "a":
            return self._link(node)
        elif tag == "br":
            self.pieces.append((_BREAK, ""))
        elif tag in _MEDIA:
            if written := media.written(self.context, node, tag):
                self.pieces.append((_MARKUP, written))
        elif tag in _RAISED:
            self._raised(node, tag)
        elif tag in {"math", "script"}:
            if written := math.inline_math(node):
                self.pieces.append((_MARKUP, written))
        elif tag == "q":
            self._around(node, "“", "”")
        elif tag == "rt":
            self._around(node, "(", ")")
        elif tag == "svg":
            return False
        elif tag in kinds.BLOCKS:
            # A block inside a line: its words must not run into their neighbours.
            self._around(node, " ", " ")
        return False

    def _around(self, node: Element, before: str, after: str) -> None:
        self.pieces.append((_TEXT, before))
        self.pieces.extend(self._inside(node).pieces)
        self.pieces.append((_TEXT, after))

    def _inside(self, node: Element) -> Line:
        """The pieces below an element; too deep down, only its text."""
        context = self.context
        inside = Line(context)
        if context.depth > DEEPEST:
            inside.pieces.append((_TEXT, node.text() or ""))
            return inside
        context.depth += 1
        child = node.first_child
        while child is not None:
            inside.add(child)
            child = child.next
        context.depth -= 1
        return inside

    def _emphasis(self, node: Element, mark: str) -> None:
        context = self.context
        if mark in context.emphasis:
            self.pieces.extend(self._inside(node).pieces)
            return
        before = context.emphasis
        context.emphasis = before | {mark}
        inside = self._inside(node)
        context.emphasis = before
        self._spaced(mark, inside)

    def _spaced(self, mark: str, inside: Line) -> None:
        """Emphasis whose white space at the ends is moved outside, where Markdown wants it."""
        while inside.pieces and inside.pieces[-1][0] == _BREAK:
            inside.pieces.pop()
        written = inside.joined("  \n", bare=False)
        core = written.strip()
        if core:
            if written[0].isspace():
                self.pieces.append((_TEXT, " "))
            self.pieces.append((mark, core))
            if written[-1].isspace():
                self.pieces.append((_TEXT, " "))

    def _code(self, node: Element) -> None:
        only = node.first_child
        if only is not None and only.next is None and only.tag == "a" and not self.context.in_link:
            target = self._target_of(only)
            code = code_span(node.text() or "")
            if target and code:
                self.pieces.append((_MARKUP, f"[{code}]({target})"))
                return
        raw = node.text() or ""
        if only is not None and only.next is not None and node.css_first("br") is not None:
            raw = node.text(separator=" ") or ""
        self.pieces.append((_CODE, raw))

    def _target_of(self, node: Element) -> str | None:
        href = node.attributes.get("href")
        if not href or (self.context.in_heading and (href.startswith("#") or href.partition("#")[0] == self.context.here)):
            return None
        return self.context.target(href)

    def _link(self, node: Element) -> bool:
        """A link; True when it is to be walked through as text."""
        context = self.context
        href = node.attributes.get("href")
        if href is None:
            return True
        if label := footnotes.reference(context, node, href):
            self.pieces.append((_MARKUP, label))
            return False
        if "#" in href and (node.text(strip=True) or "") in _SYMBOLS and node.css_first("img") is None:
            return False
        target = self._target_of(node)
        if target is None or context.in_link:
            return True
        context.in_link = True
        inside = self._inside(node)
        context.in_link = False
        written = inside.joined(" ", bare=False)
        core = written.strip()
        if not core:
            return False
        if written[0].isspace():
            self.pieces.append((_TEXT, " "))
        self.pieces.append((_MARKUP, f"<{target}>" if core == target else f"[{core}]({target})"))
        if written[-1].isspace():
            self.pieces.append((_TEXT, " "))
        return False

    def _raised(self, node: Element, tag: str) -> None:
        inside = self._inside(node)
        written = inside.joined(" ")
        if not written:
            return
        if written.startswith("[^") and written.endswith("]"):
            self.pieces.append((_MARKUP, written))
        else:
            self.pieces.append((_MARKUP, f"<{tag}>{written}</{tag}>"))

    def joined(self, breaks: str, *, bare: bool = True) -> str:
        """The line as Markdown; `bare` without white space at its ends."""
        pieces = _merged(self.pieces)
        out: list[str] = []
        last = len(pieces) - 1
        spaced = bare
        for index, (kind, content) in enumerate(pieces):
            if kind == _TEXT:
                words = escape.seen(content)
                if spaced and words[:1] == " ":
                    words = words[1:]
                if not words:
                    continue
                spaced = words[-1] == " "
                words = escape.text(words, in_link=self.context.in_link)
                if words[-1] == "!" and index < last and pieces[index + 1][1].startswith("["):
                    words = words[:-1] + "\\!"
                out.append(words)
            elif kind == _BREAK:
                if out:
                    out[-1] = out[-1].rstrip(" ")
                out.append(breaks)
                spaced = True
            else:
                if kind == _CODE:
                    content = code_span(content)  # noqa: PLW2901
                elif kind != _MARKUP:
                    content = _emphasised(kind, content, out[-1] if out else "", _next_sign(pieces, index))  # noqa: PLW2901
                if content:
                    out.append(content)
                    spaced = False
        written = "".join(out)
        return written.strip() if bare else written


_HANDLED = frozenset(_EMPHASIS) | _CODES | _RAISED | _MEDIA | {"a", "br", "math", "script", "q", "rt", "svg"}


def _merged(pieces: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Neighbours of one kind as one piece: only then can text be escaped, and code be told from a longer fence."""
    merged: list[tuple[str, str]] = []
    for kind, content in pieces:
        if merged and kind == merged[-1][0] and kind not in {_MARKUP, _BREAK}:
            merged[-1] = (kind, merged[-1][1] + content)
        elif content or kind == _BREAK:
            merged.append((kind, content))
    return merged


def _next_sign(pieces: list[tuple[str, str]], index: int) -> str:
    """The character that follows a piece, as far as it matters to emphasis."""
    if index + 1 >= len(pieces):
        return ""
    kind, content = pieces[index + 1]
    if kind == _BREAK:
        return ""
    return content[:1] if kind in {_TEXT, _MARKUP} else "*"


def _emphasised(mark: str, core: str, before: str, after: str) -> str:
    """Emphasis with its marks where Markdown sees them: not between a word and punctuation, nor right after other emphasis."""
    head = tail = ""
    previous = before[-1:]
    if _is_word(previous):
        core, head = _unpunctuated(core, at_end=False)
    if _is_word(after):
        core, tail = _unpunctuated(core, at_end=True)
    if not core:
        return head + tail
    glued = previous == mark[0] or (after == "*" and mark != "~~")
    if glued or (_is_word(previous) and not _is_word(core[0])) or (_is_word(after) and not _is_word(core[-1])):
        return f"{head}{core}{tail}"
    return f"{head}{mark}{core}{mark}{tail}"


def _is_word(sign: str) -> bool:
    return bool(sign) and sign.isalnum()


def _unpunctuated(core: str, *, at_end: bool) -> tuple[str, str]:
    """What is left of emphasised text when punctuation without a meaning in Markdown is taken off one of its ends."""
    if "](" in core or "`" in core or ">" in core:
        return core, ""
    plain = ".,:;!?、。，．：；！？「」『』（）()【】〈〉《》“”‘’…・％%"
    stripped = core.rstrip(plain) if at_end else core.lstrip(plain)
    if at_end:
        return stripped, core[len(stripped) :]
    return stripped, core[: len(core) - len(stripped)]
