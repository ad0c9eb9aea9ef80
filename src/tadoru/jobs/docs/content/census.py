"""What is on a page, counted in one walk: which ids, classes and generator notes it has, and where.

Recognising a generator asks for some hundred names; asking the tree for each of them would be a walk each. The names are only
collected here; what they mean is said in `generators`.
"""

from __future__ import annotations

from dataclasses import dataclass

from tadoru.parse.html import Document, Element

_NAMED = "[class],[id]"


@dataclass(frozen=True, slots=True)
class Census:
    """The names on a page, each with the first element that bears it."""

    ids: dict[str, Element]
    classes: dict[str, Element]
    generators: tuple[str, ...]
    """The notes of `<meta name="generator">`, lower case."""

    @classmethod
    def take(cls, document: Document) -> Census:
        """Walk over a page once."""
        ids: dict[str, Element] = {}
        groups: dict[str, Element] = {}
        for element in document.select(_NAMED):
            attributes = element.attributes
            if name := attributes.get("id"):
                ids.setdefault(name, element)
            if names := attributes.get("class"):
                groups.setdefault(names, element)
        classes: dict[str, Element] = {}
        for names, element in groups.items():
            for name in names.split():
                classes.setdefault(name, element)
        return cls(ids, classes, _generator_notes(document))

    def has(self, mark: str) -> bool:
        """Whether `#an-id` or `.a-class` is on the page."""
        return mark[1:] in (self.ids if mark[0] == "#" else self.classes)


def _generator_notes(document: Document) -> tuple[str, ...]:
    notes = []
    for meta in document.select("meta[name][content]"):
        attributes = meta.attributes
        if (attributes.get("name") or "").lower() == "generator":
            notes.append((attributes.get("content") or "").lower())
    return tuple(notes)
