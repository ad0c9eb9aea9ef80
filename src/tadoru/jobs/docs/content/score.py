"""Where the text of a page is when its generator is not known.

Two opinions. What the page says of itself: `<main>`, `role=main`, `<article>`, and the names authors give to the place of the
text, each scored by how much of the running text it holds and how little else. And what its shape says: from the body down, always into the
child that holds nearly all of the running text. Where the two disagree, the one that holds the text without the menus wins.
"""

from __future__ import annotations

from dataclasses import dataclass

from tadoru.jobs.docs.content.words import Verdict, judge
from tadoru.parse.html import Document, Element

_BEST = (
    "[itemprop=articleBody],.markdown-body,.markdown,.prose,.doc-content,.docs-content,.documentation-content,.page-content,.article-content,"
    ".main-content,.entry-content,.post-content,#main-content,#content,#doc-content,#docs-content,.content,#main,#article,.article-body"
)
_TEXT = "p,pre,table,dl,blockquote,ul,ol,h1,h2,h3,h4,h5,h6,section,div"
_PROSE = frozenset({"p", "pre", "blockquote", "dd", "dt", "li", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "figcaption", "summary"})
_TAGS = ",".join(sorted(_PROSE))
_HOLDS = 0.75
"""Of the running text above: a child with so much of it is where the text is."""
_OUTSIDE = frozenset({"nav", "footer", "header", "aside", "form", "button", "select"})


@dataclass(frozen=True, slots=True)
class Choice:
    """A container, how sure the choice is from 0 to 1, and why."""

    element: Element
    confidence: float
    reason: str


class Weights:
    """How much running text each element of a page holds: text in paragraphs and their like, links left out."""

    def __init__(self, body: Element) -> None:
        self.of: dict[int, float] = {}
        self.whole = 0.0
        path_known: dict[int, bool] = {}
        for block in body.css(_TAGS):
            weight = self._weight(block)
            if weight > 0 and not _is_outside(block, path_known):
                self._add(block, weight)

    @staticmethod
    def _weight(block: Element) -> float:
        if block.tag == "pre":
            return len(block.text())
        # Only what stands in it directly or in inline elements: nested blocks speak for themselves.
        length = 0
        child = block.first_child
        while child is not None:
            if child.is_text_node:
                length += len((child.text_content or "").strip())
            elif child.tag not in _PROSE and child.tag not in {"a", "ul", "ol", "table", "dl", "div", "script", "style", "nav", "button"}:
                length += len(child.text())
            child = child.next
        return length

    def _add(self, block: Element, weight: float) -> None:
        self.whole += weight
        element: Element | None = block
        while element is not None:
            self.of[element.mem_id] = self.of.get(element.mem_id, 0.0) + weight
            element = element.parent

    def share(self, element: Element) -> float:
        return self.of.get(element.mem_id, 0.0) / self.whole if self.whole else 0.0


def _is_outside(block: Element, known: dict[int, bool]) -> bool:
    """Whether a block is in a menu, a footer or another part that says it is not the text."""
    path: list[int] = []
    element = block.parent
    answer = False
    while element is not None:
        key = element.mem_id
        if key in known:
            answer = known[key]
            break
        path.append(key)
        if _says_outside(element):
            answer = True
            break
        element = element.parent
    for key in path:
        known[key] = answer
    return answer


def _says_outside(element: Element) -> bool:
    if element.tag in _OUTSIDE:
        return element.tag != "form" and element.tag != "header"
    attributes = element.attributes
    if attributes.get("role") in {"navigation", "contentinfo", "banner", "search", "dialog", "menu", "complementary"}:
        return True
    if element.tag in {"body", "html", "main", "article"}:
        return False
    named = Verdict.STRONG in (judge(attributes.get("class") or ""), judge(attributes.get("id") or ""))
    return named and element.css_first("main,article,h1") is None


def choose(document: Document) -> Choice:
    """The container of the text."""
    body = document.tree.body or document.tree.root
    assert body is not None
    weights = Weights(body)
    if not weights.whole:
        return Choice(body, 0.1, "the page has no running text")
    said = _said(document, weights)
    shaped = _descend(body, weights)
    if said is None:
        return Choice(shaped, 0.5, "by where the text is dense")
    if weights.share(said) >= 0.5:
        return Choice(said, 0.5 + weights.share(said) / 2, "named as the content")
    return Choice(shaped, 0.4, "what is named as the content holds little of the text")


def _said(document: Document, weights: Weights) -> Element | None:
    best: Element | None = None
    best_score = 0.0
    for bonus, selectors in ((0.12, "article,[role=article]"), (0.1, "main,[role=main]"), (0.05, _BEST)):
        for element in document.select(selectors):
            if element.tag in {"body", "html", "a", "span"}:
                continue
            share = weights.share(element)
            text = len(element.text()) or 1
            density = weights.of.get(element.mem_id, 0.0) / text
            score = share + bonus + 0.3 * min(1.0, density)
            if score > best_score:
                best, best_score = element, score
    return best


def _descend(body: Element, weights: Weights) -> Element:
    here = body
    for _ in range(200):
        child = here.first_child
        nearly_all: Element | None = None
        while child is not None:
            if child.is_element_node and weights.of.get(child.mem_id, 0.0) >= _HOLDS * weights.of[here.mem_id]:
                nearly_all = child
                break
            child = child.next
        if nearly_all is None or nearly_all.tag in _PROSE or nearly_all.tag in {"table", "ul", "ol", "dl", "tbody"}:
            return here
        here = nearly_all
    return here
