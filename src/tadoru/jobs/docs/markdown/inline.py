"""What stands in a line: text, emphasis, code, links, images.

This is the walk over the elements of a line. It gathers pieces, which `pieces` joins to one string of Markdown.
"""

from __future__ import annotations

from collections.abc import Iterable

from tadoru.jobs.docs.markdown import escape, footnotes, kinds, math, media
from tadoru.jobs.docs.markdown.context import DEEPEST, Context
from tadoru.jobs.docs.markdown.pieces import BREAK, CODE, MARKUP, TEXT, Piece, code_span, joined
from tadoru.parse.html import Element, has_words

_EMPHASIS = {
    "em": "*",
    "i": "*",
    "cite": "*",
    "dfn": "*",
    "var": "*",
    "strong": "**",
    "b": "**",
    "del": "~~",
    "s": "~~",
    "strike": "~~",
}
_CODES = frozenset({"code", "tt", "samp", "kbd"})
_RAISED = frozenset({"sub", "sup"})
_MEDIA = frozenset({"img", "picture", "video", "audio", "iframe"})
_SYMBOLS = frozenset({"¶", "#", "🔗", "§", "", "◆", "◆\u00a0", "⚓", "⚓︎", "∞", "\uf0c1", "link", "Link"})


def render(context: Context, nodes: Iterable[Element], breaks: str) -> str:
    """The nodes, one after the other, as one string without white space at its ends."""
    line = Line(context)
    for node in nodes:
        line.add(node)
    return line.joined(breaks)


def is_permalink(node: Element, href: str) -> bool:
    """Whether a link is only the sign that leads to the place where it stands."""
    words = node.text(strip=True) or ""
    if "#" not in href or words not in _SYMBOLS or node.css_first("img") is not None:
        return False
    return not (words.isalpha() and has_words(node.next))


class Line:
    """The pieces of one line, in order: their kind, and text, code, Markdown, or emphasis with its marks as the kind."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.pieces: list[Piece] = []

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
                self._text(node.text_content or "")
            elif node.is_element_node and self._opened(node):
                waiting.append(following)
                node = node.first_child
                if node is None:
                    node = waiting.pop()
                continue
            node = following

    def _text(self, raw: str) -> None:
        if self.context.options.has_tex and "\\" in raw:
            self.pieces.extend((MARKUP if is_formula else TEXT, piece) for is_formula, piece in math.parted(raw) if piece)
        else:
            self.pieces.append((TEXT, raw))

    def _opened(self, node: Element) -> bool:
        """Write an element; True when it is to be walked through instead."""
        tag = node.tag or ""
        attributes = node.attributes
        if tag in kinds.UNWRITTEN and not math.is_script(node, tag) and not self._is_folding(node, tag):
            return False
        if attributes:
            kind = kinds.kind_of(tag, attributes.get("class") or "")
            if kind and not self._ordinary(node, tag, kind):
                return False
            if "hidden" in attributes or attributes.get("aria-hidden") == "true":
                return (
                    tag in {"a", "code", "b", "strong"}
                    and bool((node.text() or "").strip())
                    and "hidden" not in attributes
                    and tag != "a"
                )
        if tag == "span" and (label := footnotes.aside(self.context, node)):
            self.pieces.append((MARKUP, label))
            return False
        if tag == "span" or (tag not in _HANDLED and tag not in kinds.BLOCKS):
            if _are_badges(node.prev, node, tag, attributes):
                self.pieces.append((TEXT, " "))
            return True
        return self._meant(node, tag)

    def _is_folding(self, node: Element, tag: str) -> bool:
        """A button that is the heading of what it unfolds, and not one that copies it."""
        return tag == "button" and self.context.in_heading > 0 and "copy" not in (node.html or "")[:300].lower()

    def _ordinary(self, node: Element, tag: str, kind: str) -> bool:
        """Whether the kind leaves the element to its tag; what it does not leave is written here."""
        if kind is kinds.DROP or (kind is kinds.PERMALINK and not (tag == "a" and self._is_wording(node))):
            return False
        if kind is kinds.CODE_SPAN and node.css_first("a[href]") is None:
            self._code(node)
            return False
        if kind in {kinds.MATH, kinds.BLOCK_MATH}:
            written = math.inline_math(node, display=kind is kinds.BLOCK_MATH)
            if written is None:
                return True
            self.pieces.append((MARKUP, written))
            return False
        return True

    @staticmethod
    def _is_wording(node: Element) -> bool:
        """A link that has the class of a permalink but holds the wording: some themes wrap the heading in it."""
        alone = all(near is None or (near.is_text_node and near.is_empty_text_node) for near in (node.prev, node.next))
        return alone and len(node.text(strip=True) or "") > 2

    def _meant(self, node: Element, tag: str) -> bool:
        if tag in _EMPHASIS:
            self._emphasis(node, _EMPHASIS[tag])
        elif tag in _CODES:
            self._code(node)
        elif tag == "a":
            return self._link(node)
        elif tag == "br":
            self.pieces.append((BREAK, ""))
        elif tag in _MEDIA:
            self.pieces.append((MARKUP, media.written(self.context, node, tag)))
        elif tag in _RAISED:
            self._raised(node, tag)
        elif tag in {"math", "script"}:
            self.pieces.append((MARKUP, math.inline_math(node) or ""))
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
        self.pieces.append((TEXT, before))
        self.pieces.extend(self._inside(node).pieces)
        self.pieces.append((TEXT, after))

    def _inside(self, node: Element) -> Line:
        """The pieces below an element; too deep down, only its text."""
        context = self.context
        inside = Line(context)
        if context.depth > DEEPEST:
            inside.pieces.append((TEXT, node.text() or ""))
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
        while inside.pieces and inside.pieces[-1][0] == BREAK:
            inside.pieces.pop()
        written = inside.joined("  \n", bare=False)
        core = written.strip()
        if core:
            if written[0].isspace():
                self.pieces.append((TEXT, " "))
            self.pieces.append((mark, core))
            if written[-1].isspace():
                self.pieces.append((TEXT, " "))

    def _code(self, node: Element) -> None:
        only = node.first_child
        if only is not None and only.next is None and only.tag == "a" and not self.context.in_link:
            target = self._target_of(only)
            code = code_span(node.text() or "")
            if target and code:
                self.pieces.append((MARKUP, f"[{code}]({target})"))
                return
        raw = node.text() or ""
        if only is not None and only.next is not None and node.css_first("br") is not None:
            raw = node.text(separator=" ") or ""
        self.pieces.append((CODE, raw))

    def _target_of(self, node: Element) -> str | None:
        href = node.attributes.get("href")
        context = self.context
        if not href:
            return None
        target = context.target(href)
        if context.in_heading and (target or "").partition("#")[0] == context.here:
            return None
        # The title of a page is one thing: links to the parts of its path (rustdoc) only blur it.
        return None if context.in_heading == 1 else target

    def _link(self, node: Element) -> bool:
        """A link; True when it is to be walked through as text."""
        context = self.context
        href = node.attributes.get("href")
        if href is None:
            return True
        if label := footnotes.reference(context, node, href):
            self.pieces.append((MARKUP, label))
            return False
        if is_permalink(node, href):
            return False
        target = self._target_of(node)
        if target is None or context.in_link:
            return True
        context.in_link = True
        only = node.first_child
        if only is not None and only.is_text_node and only.next is None:
            written = escape.text(escape.seen(only.text_content or ""), in_link=True)
        else:
            written = self._inside(node).joined(" ", bare=False)
        context.in_link = False
        core = written.strip()
        if not core:
            return False
        if written[0].isspace():
            self.pieces.append((TEXT, " "))
        self.pieces.append((MARKUP, f"<{target}>" if core == target else f"[{core}]({target})"))
        if written[-1].isspace():
            self.pieces.append((TEXT, " "))
        return False

    def _raised(self, node: Element, tag: str) -> None:
        inside = self._inside(node)
        written = inside.joined(" ")
        if not written:
            return
        if written.startswith(("[^", "[[^")) and written.endswith("]"):
            self.pieces.append((MARKUP, written[1:-1] if written.startswith("[[") and written.endswith("]]") else written))
        else:
            self.pieces.append((MARKUP, f"<{tag}>{written}</{tag}>"))

    def joined(self, breaks: str, *, bare: bool = True) -> str:
        """The line as Markdown; `bare` without white space at its ends."""
        return joined(self.pieces, breaks, bare=bare, in_link=self.context.in_link)


def _are_badges(before: Element | None, node: Element, tag: str, attributes: dict[str, str | None]) -> bool:
    """Whether two spans are words that only the style sheet keeps apart, such as a name and its type."""
    if before is None or tag != "span" or before.tag != "span":
        return False
    own, other = attributes.get("class"), before.attributes.get("class")
    if not own or not other or own == other:
        return False
    first, last = node.first_child, before.last_child
    if first is None or last is None or not first.is_text_node or not last.is_text_node:
        return False
    return (last.text_content or "")[-1:].isalnum() and (first.text_content or "")[:1].isalnum()


_HANDLED = frozenset(_EMPHASIS) | _CODES | _RAISED | _MEDIA | {"a", "br", "math", "script", "q", "rt", "svg"}
