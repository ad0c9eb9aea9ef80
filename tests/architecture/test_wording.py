"""The words that are retired are used nowhere: in code, pages, messages and documents."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "tadoru"
DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "bench").glob("*.md"), *(ROOT / "examples").rglob("*.md")]
)
TEMPLATES = sorted(PACKAGE.rglob("templates/**/*.html"))
MODULES = sorted(PACKAGE.rglob("*.py"))

RETIRED = re.compile(
    r"\b(?:mend(?:s|ed|ing)?|can not|tidings|errands?|gravest|went well|addresses elsewhere|the same as a table|"
    r"no such thing|that was too often|grown old|the fault is ours|is not whole|how the site hangs together|where to read on|"
    r"scouts?|weavers?|tellers?)\b",
    re.IGNORECASE,
)
"""Words of no text, whether people or programmers read it."""
METAPHORS = re.compile(r"\b(?:rooms?|doors?|walls?|floors?|houses?|chores?|judges?|shifts?|voices?)\b", re.IGNORECASE)
"""Words that are no names for parts of a program; docstrings and comments do without them."""
PLAIN_USES = {
    "parse/": ("shift", "shifts", "wall", "room", "floor", "house"),  # wall-clock times, and what an address is made of
    "jobs/events/": ("room", "rooms", "floor", "house", "houses", "doors"),  # venues, and the field `doors`
    "demo/": ("house", "room"),
}
"""Where a metaphor is the thing itself: the beginning of a path, and the words."""


def texts(source: str) -> Iterator[tuple[int, str, bool]]:
    """Line, text and whether it is a comment or a docstring, of every comment and string of a module."""
    before = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string, True
        elif token.type == tokenize.STRING:
            statement = before in {tokenize.NEWLINE, tokenize.INDENT, tokenize.NL, tokenize.ENCODING, tokenize.DEDENT}
            yield token.start[0], token.string, statement and token.string.startswith('"""')
        elif token.type == getattr(tokenize, "FSTRING_MIDDLE", -1):
            yield token.start[0], token.string, False
        if token.type not in {tokenize.COMMENT}:
            before = token.type


def retired_words(path: str, source: str) -> list[str]:
    """What a module uses that is retired, with file and line."""
    allowed = {word for beginning, words in PLAIN_USES.items() if path.startswith(beginning) for word in words}
    found = []
    for line, text, is_prose in texts(source):
        words = [match[0] for match in RETIRED.finditer(text)]
        if is_prose:
            words += [match[0] for match in METAPHORS.finditer(text) if match[0].lower() not in allowed]
        found += [f"{path}:{line}: {word}" for word in words]
    return found


def test_no_module_uses_a_retired_word() -> None:
    found = [word for file in MODULES for word in retired_words(file.relative_to(PACKAGE).as_posix(), file.read_text("utf-8"))]
    assert found == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_no_document_uses_a_retired_word(document: Path) -> None:
    assert [match[0] for match in RETIRED.finditer(document.read_text("utf-8"))] == []


def test_no_page_uses_a_retired_word() -> None:
    assert TEMPLATES
    found = [(file.name, match[0]) for file in TEMPLATES for match in RETIRED.finditer(file.read_text("utf-8"))]
    assert found == []


def test_a_retired_word_is_found_in_strings_and_a_metaphor_in_prose() -> None:
    source = '"""The door of the house."""\n\nx = "can not"  # mended\nroom = "a room with a door"\n'
    assert retired_words("engine/crawl.py", source) == [
        "engine/crawl.py:1: door", "engine/crawl.py:1: house", "engine/crawl.py:3: can not", "engine/crawl.py:3: mended",
    ]  # fmt: skip
    assert retired_words("demo/server.py", '"""A house."""\n') == []
