"""The main text of a page: without menus and scripts, counted, and normalised for the comparison of duplicates.

`content_hash` covers the text of `<main>` (or `role=main`), or of the body when there is none, without navigation, site header
and footer, asides, scripts, styles, noscript and drawings; ASCII letters in lower case, ASCII punctuation and white space as
one space, apostrophes removed, each Chinese or Japanese character as a word. It is a SHA-256 of the UTF-8 text.

Similarity of two texts is computed in `rules.minhash`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from tadoru.parse.html import Element, HtmlDocument, Picked
from tadoru.rules import minhash

_UNSEEN = frozenset({"script", "style", "template", "noscript", "svg", "nav", "aside", "iframe"})
_SITE_PARTS = frozenset({"header", "footer"})
"""Of the site when they stand by themselves; within an article they are part of it."""
_ARTICLES = frozenset({"article", "main", "section", "li", "blockquote"})
_ROLES = frozenset({"navigation", "banner", "contentinfo", "complementary", "search"})
PARTS = tuple(sorted(_UNSEEN | _SITE_PARTS | {"main"}))
_HIGHEST = 60
"""How far up an element looks for the article it belongs to."""

_CJK = re.compile("[\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003134f]+")
_SLICE = 100_000
_BLOCK = 1_000_000
"""Bytes of a text that are collapsed at a time."""
_LEADS = bytes(range(0xE3, 0xEA))
"""The first bytes of nearly all of them in UTF-8: enough to tell whether there are any."""
_PUNCTUATION = b'!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n\r\x0b\x0c'
_UPPER = bytes(range(ord("A"), ord("Z") + 1))
_PLAIN = bytes.maketrans(_PUNCTUATION + _UPPER, b" " * len(_PUNCTUATION) + _UPPER.lower())
_SPACES = "\xa0\u2013\u2014¶“”"
_WIDE_SPACES = "\u3000、。「」・（），：！？"
_APOSTROPHE = "\u2019"


@dataclass(frozen=True, slots=True)
class PageContent:
    """The text of a page, normalised."""

    normal: bytes
    """Its words in order, as described above, with one space between them: what is hashed."""
    words: int
    """Two Chinese or Japanese characters count as one word: they have no spaces to count by."""
    characters: int = 0
    """How many such characters were set apart to be words."""

    @property
    def hash(self) -> str | None:
        """None when there is no text at all: empty pages are no duplicates of each other."""
        return sha256(self.normal).hexdigest() if self.normal else None

    def shingles(self) -> NDArray[np.uint32]:
        """See `rules.minhash`."""
        return minhash.shingles(self.normal)


class ContentParts:
    """The parts of a page that are read: the main one if it is marked, without those that belong to the site."""

    def __init__(self, document: HtmlDocument, candidates: Iterable[Picked]) -> None:
        """`candidates` are the elements with one of the tags `PARTS` or with a role."""
        self._body = document.tree.body
        self._unseen: set[int] = set()
        self._above: set[int] = set()
        main: dict[int, Element] = {}
        for tag, element in candidates:
            role = (element.attributes.get("role") or "").strip().lower()
            if tag == "main" or role == "main":
                main[element.mem_id] = element
            elif tag in _UNSEEN or role in _ROLES or (tag in _SITE_PARTS and not is_in_article(element)):
                self._unseen.add(element.mem_id)
                self._mark_above(element)
        self._main = next(iter(main.values())) if len(main) == 1 else None

    def content(self) -> PageContent:
        """The text that matters. A main part that is empty says nothing, so the body is read."""
        content = normalise_content(self._text(self._main)) if self._main is not None else None
        if content is None or not content.normal:
            content = normalise_content(self._text(self._body)) if self._body is not None else PageContent(b"", 0)
        return content

    def leaves_out(self, element: Element) -> bool:
        """Whether an element is in a part of the page that is not read."""
        ancestor = element.parent
        for _ in range(_HIGHEST):
            if ancestor is None:
                return False
            if ancestor.mem_id in self._unseen:
                return True
            ancestor = ancestor.parent
        return False

    def _mark_above(self, element: Element) -> None:
        """Mark all ancestors; those of a marked one are marked already."""
        ancestor = element.parent
        while ancestor is not None and ancestor.mem_id not in self._above:
            self._above.add(ancestor.mem_id)
            ancestor = ancestor.parent

    def _text(self, root: Element) -> str:
        """The text below an element. A branch with nothing unseen in it is read at once, which most are."""
        pieces: list[str] = []
        unread: list[Element | None] = [root]
        while unread:
            node = unread.pop()
            if node is None:
                continue
            if node is not root:
                unread.append(node.next)
            if node.mem_id in self._unseen:
                continue
            if node.mem_id in self._above:
                unread.append(node.first_child)
            elif node.is_text_node:
                pieces.append(node.text_content or "")
            elif node.is_element_node:
                # A space between all pieces: without one, the last word of a block would grow into the first of the next.
                pieces.append(node.text(separator=" "))
        return " ".join(pieces)


def normalise_content(text: str) -> PageContent:
    """A text as words."""
    characters = 0
    if not text.isascii():
        text = _blanked(text, _SPACES).replace(_APOSTROPHE, "")
    data = text.encode("utf-8", "replace")
    if len(data) > len(text) and any(lead in data for lead in _LEADS):
        runs: list[int] = []
        # In slices: the expression holds an object for each run, of which a text may have millions.
        slices = (text[start : start + _SLICE] for start in range(0, len(text), _SLICE))
        text = "".join(_CJK.sub(lambda run: _apart(run, runs), one) for one in slices)
        characters = sum(runs)
        data = _blanked(text, _WIDE_SPACES).encode("utf-8", "replace")
    del text  # Of tens of megabytes, on the largest pages.
    data = data.translate(_PLAIN, b"'")
    normal, tokens = _collapsed(data)
    return PageContent(normal, tokens - characters + (characters + 1) // 2, characters)


def _blanked(text: str, signs: str) -> str:
    for sign in signs:
        text = text.replace(sign, " ")
    return text


def _collapsed(data: bytes) -> tuple[bytes, int]:
    """A text with one space between its words, and how many they are."""
    pieces: list[bytes] = []
    words, is_after_word = 0, False
    for start in range(0, len(data), _BLOCK):
        letters = np.frombuffer(data, np.uint8, count=min(_BLOCK, len(data) - start), offset=start)
        in_word = letters != ord(" ")
        kept = in_word.copy()
        # Of the spaces the one that follows a word.
        kept[1:] |= in_word[:-1]
        kept[0] |= is_after_word
        is_after_word = bool(in_word[-1])
        words += int(np.count_nonzero(kept)) - int(np.count_nonzero(in_word))
        # Not by `compress`, which makes eight bytes of an index for each letter.
        pieces.append(letters[kept].tobytes())
    normal = b"".join(pieces)
    return (normal, words + 1) if is_after_word else (normal[:-1], words)


def _apart(run: re.Match[str], runs: list[int]) -> str:
    signs = run[0]
    runs.append(len(signs))
    return f" {' '.join(signs)} "


def is_in_article(element: Element) -> bool:
    ancestor = element.parent
    for _ in range(_HIGHEST):
        if ancestor is None:
            return False
        if ancestor.tag in _ARTICLES:
            return True
        ancestor = ancestor.parent
    return False
