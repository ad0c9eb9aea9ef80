"""Measures the text of elements within a budget.

Elements are nested, and measuring each of them reads its text again, which is quadratic on deeply nested pages. When the budget
is used up, every element counts as long and without links, so that it stays.
"""

from __future__ import annotations

from tadoru.parse.html import Element

_MAX_READS = 60
"""How many times the text of a page may be read in total."""
_MIN_BUDGET = 2_000_000
_LINK_COST = 50
_ELEMENT_COST = 20


class TextMeasure:
    """Measures elements of one page."""

    def __init__(self, root: Element) -> None:
        self.text = root.text()
        self.whole = max(1, len(self.text))
        self._left = _MAX_READS * self.whole + _MIN_BUDGET

    def text_of(self, part: Element) -> str | None:
        """The text of an element; None if the budget is used up."""
        if self._left < 0:
            return None
        text = part.text()
        self._left -= len(text) + _ELEMENT_COST
        return text

    def length(self, part: Element) -> int:
        """The number of characters in an element."""
        text = self.text_of(part)
        return self.whole if text is None else len(text)

    def linked(self, part: Element) -> int:
        """The number of characters in the links of an element."""
        if self._left < 0:
            return 0
        links = part.css("a")
        self._left -= _LINK_COST * len(links)
        return sum(len(link.text()) for link in links)
