"""Where the words of a search stand in the events of a list: for REST, GraphQL and the pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tadoru.parse.normal_text import is_html, plain_text
from tadoru.store.events.search_marks import Match, matches

FIELDS = ("title", "venue", "address", "city", "category", "organizer", "description")
"""What is searched, in this order."""


def matches_of(event: Mapping[str, Any], asked: str) -> tuple[Match, ...]:
    """The fields of an event, by their names, in which the words stand; descriptions as plain text."""
    texts = {name: event[name] for name in FIELDS if event[name]}
    if "description" in texts and is_html(texts["description"]):
        texts["description"] = " ".join(plain_text(texts["description"]).split())
    return matches(texts, asked)


def match_json(match: Match) -> dict[str, Any]:
    """A match as it is given out."""
    return {"field": match.field, "text": match.text, "marks": [{"start": start, "end": end} for start, end in match.marks]}
