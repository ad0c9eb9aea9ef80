"""What the sources of a page say: its code, tables, callouts and tabs. Values, and how sources are cut into blocks.

The pages themselves are never read here: what a generator made of the sources is what is being tested. `rst` and `marked` read
the two languages that the sources are written in. They know as much of them as our sources use.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple


class Code(NamedTuple):
    """A block of code. `language` is None when the source names none, so that any is right that the generator may have put."""

    language: str | None
    text: str


class Grid(NamedTuple):
    """A table: how many rows and columns. Several rows of headings count as one, for Markdown has one."""

    rows: int
    columns: int


@dataclass(slots=True)
class ExpectedPage:
    """What is on one page, in the order of the source."""

    codes: list[Code] = field(default_factory=list)
    grids: list[Grid] = field(default_factory=list)
    callouts: list[str] = field(default_factory=list)
    """Kinds, as the source names them."""
    tabs: list[str] = field(default_factory=list)
    """Labels."""
    headings: list[tuple[int, str]] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    """Lines that are words and nothing else: each must be found again."""


_SENTENCE = re.compile(r"[A-Z][A-Za-z0-9 ,]+\.$")


def sentences(lines: list[str]) -> list[str]:
    """The lines of a source that are words and nothing else."""
    return [line.strip() for line in lines if _SENTENCE.match(line.strip())]


def indent_of(line: str) -> int:
    """Spaces at the beginning of a line."""
    return len(line) - len(line.lstrip(" "))


def body_of(lines: list[str], at: int, indent: int) -> int:
    """The line after the block that begins at `at` and stands further right than `indent`; empty lines belong to it."""
    end = at
    while end < len(lines) and (not lines[end].strip() or indent_of(lines[end]) > indent):
        end += 1
    return end


def dedented(lines: list[str], by: int | None = None) -> list[str]:
    """The lines moved left, by what the least indented of them has unless told; empty lines at both ends are dropped."""
    if by is None:
        by = min((indent_of(line) for line in lines if line.strip()), default=0)
    moved = [line[by:] for line in lines]
    while moved and not moved[0].strip():
        del moved[0]
    while moved and not moved[-1].strip():
        del moved[-1]
    return moved


def as_code(lines: list[str]) -> str:
    """Lines as the text of a block, with a line break at the end."""
    return "".join(f"{line}\n" for line in lines)
