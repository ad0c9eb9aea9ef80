"""What is on a page, counted in one walk: which ids, classes and notes about itself it has, and where.

Recognising a generator asks for some hundred names; asking the tree for each of them would be a walk each. The names are only
collected here; what they mean is said in `generators` and `about`. The elements must not be used once `noise` has cleaned the
page.
"""

from __future__ import annotations

from dataclasses import dataclass

from tadoru.parse.html import Document, Element

_NAMED = ":not(span)"
"""Spans are most of a page with code, and no generator is known by one."""


@dataclass(frozen=True, slots=True)
class Census:
    """The names on a page, each with the first element that bears it; and what its `<meta>` elements say, by lower-case name."""

    ids: dict[str, Element]
    classes: dict[str, Element]
    metas: dict[str, str]

    @classmethod
    def take(cls, document: Document) -> Census:
        """Walk over a page once."""
        ids: dict[str, Element] = {}
        groups: dict[str, Element] = {}
        metas: dict[str, str] = {}
        for element in document.select(_NAMED):
            attributes = element.attributes
            if not attributes:
                continue
            names = attributes.get("class")
            if names and names not in groups:
                groups[names] = element
            if "id" in attributes:
                ids.setdefault(attributes["id"] or "", element)
            if "content" in attributes and element.tag == "meta":
                metas.setdefault((attributes.get("name") or "").lower(), (attributes["content"] or "").strip())
        classes: dict[str, Element] = {}
        for names, element in groups.items():
            for name in names.split():
                classes.setdefault(name, element)
        return cls(ids, classes, metas)

    def has(self, mark: str) -> bool:
        """Whether `#an-id` or `.a-class` is on the page."""
        return mark[1:] in (self.ids if mark[0] == "#" else self.classes)
