"""Where the text of a page is when its generator is not known.

Two opinions. What the page says of itself: `<main>`, `role=main`, `<article>`, and the names authors give to the place of the
text, each scored by how much of the running text it holds and how little else. And what its shape says: from the body down,
always into the child that holds nearly all of the running text. When what is named holds less than half of that, the shape wins.
"""

from __future__ import annotations

from dataclasses import dataclass

from tadoru.jobs.docs.content.class_names import NameRating, rate_names
from tadoru.parse.html import Document, Element

_CONTENT_NAMES = (
    "[itemprop=articleBody],.markdown-body,.markdown,.prose,.doc-content,.docs-content,.documentation-content,.page-content,.article-content,"
    ".main-content,.entry-content,.post-content,#main-content,#content,#doc-content,#docs-content,.content,#main,#article,.article-body"
)
_PROSE = frozenset(
    {"p", "pre", "blockquote", "dd", "dt", "li", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "figcaption", "summary"}
)
_INLINE = frozenset("abbr b cite code em font i kbd mark q s samp small span strong sub sup time tt u var".split())
_LEAF_TAGS = (_PROSE | {"ul", "ol", "dl"}) - {"td", "th"}
"""Where the way down ends. Tables are walked through: old pages are laid out in them."""
_BETWEEN_CELLS = frozenset({"table", "thead", "tbody", "tfoot", "tr"})
_MIN_SHARE = 0.85
"""Of the running text above: a child with so much of it is where the text is."""
_MIN_PARAGRAPH = 60
"""Characters: a box with so many beside its parts and links holds a paragraph."""
_OUTSIDE_TAGS = frozenset({"nav", "footer", "aside", "button", "select"})
_OUTSIDE_ROLES = frozenset({"navigation", "contentinfo", "banner", "search", "dialog", "menu", "complementary"})
_MAX_LOOKUPS = 300
"""How many parts with the name of a menu are searched for the text all the same."""


@dataclass(frozen=True, slots=True)
class ContentChoice:
    """A container, how sure the choice is from 0 to 1, and why."""

    element: Element
    confidence: float
    reason: str


class TextWeights:
    """How much running text each element of a page holds: text in paragraphs and their like, links left out."""

    def __init__(self, body: Element) -> None:
        self.of: dict[int, int] = {}
        outside = _NonContent()
        # From the end, each element hands what it holds to its parent: one step an element, however deep they are nested.
        for element in reversed(body.css("*")):
            key = element.mem_id
            if (own := _own_weight(element)) and not outside.holds(element):
                self.of[key] = self.of.get(key, 0) + own
            held = self.of.get(key)
            parent = element.parent
            if held and parent is not None and key != body.mem_id:
                self.of[parent.mem_id] = self.of.get(parent.mem_id, 0) + held
        self.whole = self.of.get(body.mem_id, 0)

    def share(self, element: Element) -> float:
        """How much of the page's running text an element holds, from 0 to 1."""
        return self.of.get(element.mem_id, 0) / self.whole if self.whole else 0.0


def _own_weight(element: Element) -> int:
    """What an element itself holds of the running text. Some makers write paragraphs as `<div>`, and all use it for boxes."""
    if element.tag in _PROSE:
        return _weight(element)
    return own if element.tag == "div" and (own := _weight(element)) >= _MIN_PARAGRAPH else 0


def _weight(block: Element) -> int:
    """What stands in a block itself or in a line of it: blocks within it speak for themselves."""
    if block.tag == "pre":
        return len(block.text())
    length = 0
    child = block.first_child
    while child is not None:
        if child.is_text_node:
            length += len((child.text_content or "").strip())
        elif child.tag in _INLINE:
            length += len(child.text())
        child = child.next
    return length


class _NonContent:
    """Which elements are in a menu, a footer or another part that says it is not the text."""

    def __init__(self) -> None:
        self._known: dict[int, bool] = {}
        self._looks = _MAX_LOOKUPS

    def holds(self, block: Element) -> bool:
        path: list[int] = []
        element = block.parent
        answer = False
        while element is not None:
            key = element.mem_id
            if key in self._known:
                answer = self._known[key]
                break
            path.append(key)
            if self._says(element):
                answer = True
                break
            element = element.parent
        self._known.update(dict.fromkeys(path, answer))
        return answer

    def _says(self, element: Element) -> bool:
        tag = element.tag
        if tag in _OUTSIDE_TAGS:
            return True
        attributes = element.attributes
        if attributes.get("role") in _OUTSIDE_ROLES:
            return True
        if tag in {"body", "html", "main", "article"} or not attributes:
            return False
        if NameRating.STRONG not in (rate_names(attributes.get("class") or ""), rate_names(attributes.get("id") or "")):
            return False
        self._looks -= 1
        return self._looks < 0 or element.css_first("main,article,h1") is None


def choose_content(document: Document, body: Element) -> ContentChoice:
    """The container of the text."""
    weights = TextWeights(body)
    if not weights.whole:
        return ContentChoice(body, 0.1, "the page has no running text")
    said = _named_content(document, weights)
    shaped = _descend(body, weights)
    if said is None:
        return ContentChoice(shaped, 0.5, "by where the text is dense")
    if weights.share(said) >= 0.5:
        return ContentChoice(said, 0.5 + weights.share(said) / 2, "named as the content")
    return ContentChoice(shaped, 0.4, "what is named as the content holds little of the text")


def _named_content(document: Document, weights: TextWeights) -> Element | None:
    best: Element | None = None
    best_score = 0.0
    for bonus, selectors in ((0.12, "article,[role=article]"), (0.1, "main,[role=main]"), (0.05, _CONTENT_NAMES)):
        for element in document.select(selectors):
            if element.tag in {"body", "html", "a", "span"}:
                continue
            share = weights.share(element)
            text = len(element.text()) or 1
            density = weights.of.get(element.mem_id, 0) / text
            score = share + bonus + 0.3 * min(1.0, density)
            if score > best_score:
                best, best_score = element, score
    return best


def _descend(body: Element, weights: TextWeights) -> Element:
    here = body
    for _ in range(200):
        child = here.first_child
        nearly_all: Element | None = None
        while child is not None:
            if child.is_element_node and weights.of.get(child.mem_id, 0) >= _MIN_SHARE * weights.of[here.mem_id]:
                nearly_all = child
                break
            child = child.next
        if nearly_all is None or nearly_all.tag in _LEAF_TAGS:
            break
        here = nearly_all
    # A way that ends between the cells of a table has come into one that is text.
    while here.tag in _BETWEEN_CELLS and here.parent is not None:
        here = here.parent
    return here
