"""What a reader of Markdown finds in it: the counterpart of `truth`, read with a parser of CommonMark and tables."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.support.built.truth import Code, Grid

_READER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
_MARK = re.compile(r"\[!([A-Z]+)\]")
_BOLD = re.compile(r"\*\*(.+)\*\*$")


@dataclass(slots=True)
class MarkdownContent:
    """What stands in one Markdown text, in order, however deep it is nested."""

    codes: list[Code] = field(default_factory=list)
    grids: list[Grid] = field(default_factory=list)
    callouts: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    """Paragraphs that are bold from end to end."""
    prose: list[str] = field(default_factory=list)
    """The text of each line that is not code, as Markdown."""


def read(markdown: str) -> MarkdownContent:
    """What a reader finds."""
    found = MarkdownContent()
    tokens = _READER.parse(markdown)
    for at, token in enumerate(tokens):
        if token.type == "fence":
            found.codes.append(Code(token.info, token.content))
        elif token.type == "table_open":
            found.grids.append(_grid(tokens, at))
        elif token.type == "inline":
            found.prose.append(token.content)
            if tokens[at - 2].type == "blockquote_open" and (mark := _MARK.match(token.content)):
                found.callouts.append(mark[1])
            if bold := _BOLD.match(token.content):
                found.labels.append(bold[1])
    return found


def _grid(tokens: list[Token], at: int) -> Grid:
    """The size of a table. A row of headings that is empty stands for none."""
    rows: list[list[str]] = []
    for here in range(at, len(tokens)):
        kind = tokens[here].type
        if kind == "table_close":
            break
        if kind == "tr_open":
            rows.append([])
        elif kind in {"th_open", "td_open"}:
            rows[-1].append(tokens[here + 1].content)
    if rows and not any(rows[0]):
        del rows[0]
    return Grid(len(rows), max(map(len, rows), default=0))
