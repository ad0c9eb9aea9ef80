"""How the words of others stand in our sentences."""

from __future__ import annotations

import pytest

from tadoru.errors import quoted


@pytest.mark.parametrize("words, wanted", [
    ("星町", "“星町”"),
    ("it's “so”", "“it's “so””"),
    ("two\nlines\x1b[31m", r"“two\nlines\x1b[31m”"),
    ("half a \udcff letter", r"“half a \udcff letter”"),
    (None, "“None”"),
])  # fmt: skip
def test_what_somebody_said_is_marked_and_can_be_printed_anywhere(words: object, wanted: str) -> None:
    assert quoted(words) == wanted
