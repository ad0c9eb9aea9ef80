"""How long the parts of a page are, within a budget.

Parts nest, and measuring each of them reads what is in it again: on a page made of boxes in boxes that would never end. When the
budget is used up every part counts as long and without links, which means that it stays.
"""

from __future__ import annotations

from tadoru.parse.html import Element

_MAX_READS = 60
"""How often the text of a page may be read again, in all."""
_MIN_BUDGET = 2_000_000
_LINK_COST = 50
_ELEMENT_COST = 20


class TextMeasure:
    """Measures parts of one page."""

    def __init__(self, root: Element) -> None:
        self.text = root.text()
        self.whole = max(1, len(self.text))
        self._left = _MAX_READS * self.whole + _MIN_BUDGET

    def text_of(self, part: Element) -> str | None:
        """The text of a part; None when the budget is used up."""
        if self._left < 0:
            return None
        text = part.text()
        self._left -= len(text) + _ELEMENT_COST
        return text

    def length(self, part: Element) -> int:
        """Characters in a part."""
        text = self.text_of(part)
        return self.whole if text is None else len(text)

    def linked(self, part: Element) -> int:
        """Characters in the links of a part."""
        if self._left < 0:
            return 0
        links = part.css("a")
        self._left -= _LINK_COST * len(links)
        return sum(len(link.text()) for link in links)
