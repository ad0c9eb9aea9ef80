"""Converts inline content: text, emphasis, code, links, images and other media.

`InlineBuilder` walks over the elements of a line and collects pieces. They are joined at the end, when the neighbours of each
piece are known: adjacent code spans become one, and emphasis that touches a word in a way that Markdown would not recognise loses
its outer punctuation or its marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tadoru.jobs.docs.markdown import element_kinds, escape, footnotes, math
from tadoru.jobs.docs.markdown.conversion import MAX_DEPTH, ConversionContext
from tadoru.parse.html import Attributes, Element, has_words, is_leaf

TEXT, CODE, MARKUP, BREAK = "text", "code", "markup", "break"
InlinePiece = tuple[str, str]
"""A kind and its content. For emphasis, the kind is its mark (`**`) and the content is Markdown."""

_TICKS = re.compile("`+")
_SPACES = re.compile("[ \t\r\n\f]+")
_DISCARDED = re.compile("[\x00-\x08\x0b\x0e-\x1f\u00ad\u200b]")
"""Control characters and invisible break opportunities in long names, which must not be copied with them."""
_PUNCTUATION = ".,:;!?、。，．：；！？「」『』（）()【】〈〉《》“”‘’…・％%"
"""Punctuation without a meaning in Markdown, which may be moved out of emphasis."""


def code_span(raw: str) -> str:
    """Inline code in as many backticks as needed; empty for empty code."""
    is_plain = raw.isprintable() and "  " not in raw  # Soft hyphens and the like are not printable.
    code = (raw if is_plain else _DISCARDED.sub("", _SPACES.sub(" ", raw))).strip(" ")
    if not code:
        return ""
    if "`" not in code:
        return f"`{code}`"
    longest = max(map(len, _TICKS.findall(code)))
    fence = "`" * (longest + 1)
    pad = " " if code[0] == "`" or code[-1] == "`" else ""
    return f"{fence}{pad}{code}{pad}{fence}"


def exact_span(line: str) -> str:
    """A line of a code block as inline code with all spaces; empty for an empty line."""
    code = _DISCARDED.sub("", line).rstrip()
    if not code:
        return ""
    fence = "`" * (1 + max(map(len, _TICKS.findall(code)), default=0))
    pad = " " if code.lstrip()[0] == "`" or code[-1] == "`" else ""
    return f"{fence}{pad}{code}{pad}{fence}"


def join_pieces(pieces: list[InlinePiece], breaks: str, *, bare: bool, in_link: bool) -> str:
    """The pieces as Markdown; with `bare`, without surrounding white space."""
    merged = _merge_pieces(pieces) if len(pieces) > 1 else pieces
    out: list[str] = []
    spaced = bare
    for index, (kind, content) in enumerate(merged):
        if kind == TEXT:
            written = _text(merged, index, spaced=spaced, in_link=in_link)
        elif kind == BREAK:
            if out:
                out[-1] = out[-1].rstrip(" ")
            written = breaks
        elif kind == CODE:
            written = code_span(content)
        elif kind == MARKUP:
            written = content
        else:
            written = _emphasise(kind, content, out[-1] if out else "", _next_sign(merged, index))
        if written:
            out.append(written)
            spaced = kind == BREAK or (kind == TEXT and written[-1] == " ")
    line = "".join(out)
    return line.strip() if bare else line


def _text(pieces: list[InlinePiece], index: int, *, spaced: bool, in_link: bool) -> str:
    """A piece of text, escaped; `spaced`: white space precedes it."""
    words = escape.visible_text(pieces[index][1])
    if spaced and words[:1] == " ":
        words = words[1:]
    words = escape.text(words, in_link=in_link)
    if words[-1:] == "!" and index + 1 < len(pieces) and pieces[index + 1][1].startswith("["):
        words = words[:-1] + "\\!"
    return words


def _merge_pieces(pieces: list[InlinePiece]) -> list[InlinePiece]:
    """Adjacent pieces of one kind as one piece, so that text is escaped and code is delimited as a whole."""
    merged: list[tuple[str, list[str]]] = []
    for kind, content in pieces:
        if merged and kind == merged[-1][0] and kind not in {MARKUP, BREAK}:
            merged[-1][1].append(content)
        elif content or kind == BREAK:
            merged.append((kind, [content]))
    return [(kind, "".join(contents)) for kind, contents in merged]


def _next_sign(pieces: list[InlinePiece], index: int) -> str:
    """The character that follows a piece, as far as emphasis depends on it."""
    if index + 1 >= len(pieces):
        return ""
    kind, content = pieces[index + 1]
    if kind == BREAK:
        return ""
    return content[:1] if kind in {TEXT, MARKUP} else "*"


def _emphasise(mark: str, core: str, before: str, after: str) -> str:
    """Emphasis with its marks where Markdown recognises them: not between a word and punctuation or after other emphasis."""
    head = tail = ""
    previous = before[-1:]
    if _is_word(previous):
        core, head = _strip_punctuation(core, at_end=False)
    if _is_word(after):
        core, tail = _strip_punctuation(core, at_end=True)
    if not core:
        return head + tail
    glued = previous == mark[0] or (after == "*" and mark != "~~")
    if glued or (_is_word(previous) and not _is_word(core[0])) or (_is_word(after) and not _is_word(core[-1])):
        return f"{head}{core}{tail}"
    return f"{head}{mark}{core}{mark}{tail}"


def _is_word(sign: str) -> bool:
    return bool(sign) and sign.isalnum()


def _strip_punctuation(core: str, *, at_end: bool) -> tuple[str, str]:
    """Emphasised text without the punctuation at one of its ends, and that punctuation."""
    if "](" in core or "`" in core or ">" in core:
        return core, ""
    stripped = core.rstrip(_PUNCTUATION) if at_end else core.lstrip(_PUNCTUATION)
    if at_end:
        return stripped, core[len(stripped) :]
    return stripped, core[: len(core) - len(stripped)]


def convert_media(context: ConversionContext, node: Element, tag: str) -> str:
    """The Markdown of an image or embedded media; empty if it has no alternative text or source."""
    if tag == "picture":
        image, other = node.css_first("img"), node.css_first("source[srcset]")
        if image is not None and other is not None and not image.attributes.get("src"):
            image.attrs["src"] = _first_source(other.attributes.get("srcset") or "")
        return _image(context, image) if image is not None else ""
    return _image(context, node) if tag == "img" else _embedded(context, node)


def _image(context: ConversionContext, node: Element) -> str:
    attributes = node.attributes
    alt = escape.text(escape.visible_text(attributes.get("alt") or "").strip(), in_link=True)
    if (formula := math.image_math(node)) is not None:
        return formula
    if not alt and not context.options.decorative_images:
        return ""
    source = attributes.get("src") or ""
    if not source or source.startswith("data:"):
        source = attributes.get("data-src") or attributes.get("data-original") or ""
        source = source or _first_source(attributes.get("srcset") or attributes.get("data-srcset") or "")
    url = context.absolute_url(source) if source else None
    if url is None:
        return alt
    context.images += 1
    return f"![{alt}]({url.replace('(', '%28').replace(')', '%29')})"


def _first_source(srcset: str) -> str:
    """The first image of a `srcset`."""
    return srcset.strip().partition(" ")[0].rstrip(",")


def _embedded(context: ConversionContext, node: Element) -> str:
    attributes = node.attributes
    source = attributes.get("src") or attributes.get("data-src")
    if not source:
        inner = node.css_first("source")
        source = inner.attributes.get("src") if inner is not None else None
    target = context.target(source) if source else None
    if not target:
        return ""
    title = escape.text(escape.visible_text(attributes.get("title") or attributes.get("aria-label") or "").strip(), in_link=True)
    return f"[{title}]({target})" if title else f"<{target}>"


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
_CODE_TAGS = frozenset({"code", "tt", "samp", "kbd"})
_SCRIPT_TAGS = frozenset({"sub", "sup"})
_MAX_LABEL_DEPTH = 3
"""Spans in a span that may be around the text of a label."""
_MEDIA_TAGS = frozenset({"img", "picture", "video", "audio", "iframe"})
_PERMALINK_SIGNS = frozenset({"¶", "#", "🔗", "§", "", "◆", "◆\u00a0", "⚓", "⚓︎", "∞", "\uf0c1", "link", "Link"})


def render_inline(context: ConversionContext, nodes: Iterable[Element], breaks: str) -> str:
    """The nodes as one string of Markdown without surrounding white space."""
    line = InlineBuilder(context)
    for node in nodes:
        line.add(node)
    return line.joined(breaks)


def is_permalink(node: Element, href: str) -> bool:
    """Whether a link is only a permalink sign."""
    if "#" not in href:
        return False
    words = node.text(strip=True) or ""
    if words not in _PERMALINK_SIGNS or (not is_leaf(node) and node.css_first("img") is not None):
        return False
    return not (words.isalpha() and has_words(node.next))


class InlineBuilder:
    """Collects the pieces of a line."""

    def __init__(self, context: ConversionContext) -> None:
        self.context = context
        self.pieces: list[InlinePiece] = []

    def add(self, top: Element) -> None:
        """Add a node and its descendants. Elements without a meaning are traversed without recursion, however deep they are."""
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
        has_tex = self.context.options.has_tex
        if "$" in raw or (has_tex and "\\" in raw):
            pieces = math.split_formulas(raw, has_tex=has_tex)
            self.pieces.extend((MARKUP if is_formula else TEXT, piece) for is_formula, piece in pieces if piece)
        else:
            self.pieces.append((TEXT, raw))

    def _opened(self, node: Element) -> bool:
        """Write an element; True if it is to be traversed instead."""
        tag = node.tag or ""
        attributes = node.attributes
        if tag in element_kinds.SKIPPED_TAGS and not math.is_math_script(node, tag) and not self._is_folding(node, tag):
            return False
        if attributes:
            kind = element_kinds.element_kind(tag, attributes.get("class") or "")
            if not kind and not math.ATTRIBUTES.isdisjoint(attributes) and tag != "img":
                kind = element_kinds.MATH
            if kind and not self._ordinary(node, tag, kind):
                return False
            if "hidden" in attributes or attributes.get("aria-hidden") == "true":
                return (
                    tag in {"a", "code", "b", "strong"}
                    and bool((node.text() or "").strip())
                    and "hidden" not in attributes
                    and tag != "a"
                )
        if tag == "span":
            if not (classes := attributes.get("class")):
                return True
            if label := footnotes.inline_note(self.context, node, classes):
                self.pieces.append((MARKUP, label))
                return False
            if _are_adjacent_labels(node.prev, node, classes):
                self.pieces.append((TEXT, " "))
            return True
        if tag not in _HANDLED and tag not in element_kinds.BLOCK_TAGS:
            return True
        return self._link(node, attributes) if tag == "a" else self._meant(node, tag)

    def _is_folding(self, node: Element, tag: str) -> bool:
        """Whether a button is the heading of what it expands, and not a copy button."""
        return tag == "button" and self.context.in_heading > 0 and "copy" not in (node.html or "")[:300].lower()

    def _ordinary(self, node: Element, tag: str, kind: str) -> bool:
        """Whether an element of this kind is converted by its tag; otherwise it is written here."""
        if kind is element_kinds.DROP or (kind is element_kinds.PERMALINK and not (tag == "a" and self._is_wording(node))):
            return False
        if kind is element_kinds.CODE_SPAN and (is_leaf(node) or node.css_first("a[href]") is None):
            self._code(node)
            return False
        if kind is element_kinds.DRAWN_MATH and math.has_script(node):
            return False
        if kind in {element_kinds.MATH, element_kinds.BLOCK_MATH, element_kinds.DRAWN_MATH}:
            written = math.inline_math(node, display=kind is element_kinds.BLOCK_MATH)
            if written is None:
                return True
            self.pieces.append((MARKUP, written))
            return False
        return True

    @staticmethod
    def _is_wording(node: Element) -> bool:
        """Whether a link with the class of a permalink contains the text of the heading, as in some themes."""
        alone = all(near is None or (near.is_text_node and near.is_empty_text_node) for near in (node.prev, node.next))
        return alone and len(node.text(strip=True) or "") > 2

    def _meant(self, node: Element, tag: str) -> bool:
        if tag in _EMPHASIS:
            self._emphasis(node, _EMPHASIS[tag])
        elif tag in _CODE_TAGS:
            self._code(node)
        elif tag == "br":
            self.pieces.append((BREAK, ""))
        elif tag in _MEDIA_TAGS:
            self.pieces.append((MARKUP, convert_media(self.context, node, tag)))
        elif tag in _SCRIPT_TAGS:
            self._raised(node, tag)
        elif tag in {"math", "script"}:
            self.pieces.append((MARKUP, math.inline_math(node) or ""))
        elif tag == "q":
            self._around(node, "“", "”")
        elif tag == "rt":
            self._around(node, "(", ")")
        elif tag == "svg":
            return False
        elif tag in element_kinds.BLOCK_TAGS:
            # A block in a line: its words are separated from their neighbours.
            self._around(node, " ", " ")
        return False

    def _around(self, node: Element, before: str, after: str) -> None:
        self.pieces.append((TEXT, before))
        self.pieces.extend(self._inside(node).pieces)
        self.pieces.append((TEXT, after))

    def _inside(self, node: Element) -> InlineBuilder:
        """The pieces in an element; beyond the maximum depth, only its text."""
        context = self.context
        inside = InlineBuilder(context)
        if context.depth > MAX_DEPTH:
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

    def _spaced(self, mark: str, inside: InlineBuilder) -> None:
        """Add emphasis with its surrounding white space moved outside, as Markdown requires."""
        while inside.pieces and inside.pieces[-1][0] == BREAK:
            inside.pieces.pop()
        written = inside.joined("  \n", bare=False)
        core = written.strip()
        if core:
            if written[0].isspace():
                self.pieces.append((TEXT, " "))
            is_reference = core.startswith("[^") and core.endswith("]") and " " not in core
            self.pieces.append((MARKUP if is_reference else mark, core))
            if written[-1].isspace():
                self.pieces.append((TEXT, " "))

    def _code(self, node: Element) -> None:
        only = node.first_child
        if only is not None and only.next is None and only.tag == "a" and not self.context.in_link:
            target = self._target_of(only.attributes.get("href"))
            code = code_span(node.text() or "")
            if target and code:
                self.pieces.append((MARKUP, f"[{code}]({target})"))
                return
        raw = node.text() or ""
        if only is not None and only.next is not None and node.css_first("br") is not None:
            raw = node.text(separator=" ") or ""
        self.pieces.append((CODE, raw) if raw.strip() else (TEXT, " " if raw else ""))

    def _target_of(self, href: str | None) -> str | None:
        context = self.context
        if not href:
            return None
        target = context.target(href)
        if context.in_heading and (target or "").partition("#")[0] == context.here:
            return None
        # Titles have no links: those to parts of the path (rustdoc) are dropped.
        return None if context.in_heading == 1 else target

    def _link(self, node: Element, attributes: Attributes) -> bool:
        """Write a link; True if it is to be traversed as text."""
        context = self.context
        href = attributes.get("href")
        if href is None or context.links_left < 0:
            return True
        if "#" in href:
            if label := footnotes.reference(context, node, href, attributes):
                self.pieces.append((MARKUP, label))
                return False
            if is_permalink(node, href):
                return False
        context.links_left -= 1
        if context.links_left < 0:
            return True
        target = self._target_of(href)
        if target is None or context.in_link:
            return True
        context.in_link = True
        only = node.first_child
        if only is not None and only.is_text_node and only.next is None:
            written = escape.text(escape.visible_text(only.text_content or ""), in_link=True)
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
        if note := footnotes.raised_note(self.context, node):
            self.pieces.append((MARKUP, note))
            return
        inside = self._inside(node)
        written = inside.joined(" ")
        if not written:
            return
        if written.startswith(("[^", "[[^")) and written.endswith("]"):
            self.pieces.append((MARKUP, written[1:-1] if written.startswith("[[") and written.endswith("]]") else written))
        else:
            self.pieces.append((MARKUP, f"<{tag}>{written}</{tag}>"))

    def joined(self, breaks: str, *, bare: bool = True) -> str:
        """The line as Markdown; with `bare`, without surrounding white space."""
        return join_pieces(self.pieces, breaks, bare=bare, in_link=self.context.in_link)


def _are_adjacent_labels(before: Element | None, node: Element, classes: str) -> bool:
    """Whether two spans are words that only the style sheet separates, such as a name and its type."""
    if before is None or before.tag != "span" or (before.attributes.get("class") or classes) == classes:
        return False
    first, last = node.first_child, before.last_child
    for _ in range(_MAX_LABEL_DEPTH):
        first = first.first_child if first is not None and first.tag == "span" else first
        last = last.last_child if last is not None and last.tag == "span" else last
    if first is None or last is None or not first.is_text_node or not last.is_text_node:
        return False
    return (last.text_content or "")[-1:].isalnum() and (first.text_content or "")[:1].isalnum()


_HANDLED = frozenset(_EMPHASIS) | _CODE_TAGS | _SCRIPT_TAGS | _MEDIA_TAGS | {"a", "br", "math", "script", "q", "rt", "svg"}
