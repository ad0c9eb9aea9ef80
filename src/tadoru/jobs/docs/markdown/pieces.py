"""The pieces of a line and how they become one string of Markdown.

Pieces are gathered first and joined at the end, for only then is it known what stands beside one: two pieces of code become one,
and emphasis that touches a word so that Markdown would not see it gives its outer punctuation away, or its marks.
"""

from __future__ import annotations

import re

from tadoru.jobs.docs.markdown import escape

TEXT, CODE, MARKUP, BREAK = "text", "code", "markup", "break"
Piece = tuple[str, str]
"""A kind and its content. Emphasis has its marks as the kind (`**`) and Markdown as the content."""

_TICKS = re.compile("`+")
_SPACES = re.compile("[ \t\r\n\f]+")
_DISCARDED = re.compile("[\x00-\x08\x0b\x0e-\x1f\u00ad\u200b]")
"""Controls, and where a page says that a long name may be broken: whoever copies the name must not copy them."""
_PUNCTUATION = ".,:;!?、。，．：；！？「」『』（）()【】〈〉《》“”‘’…・％%"
"""What means nothing to Markdown, and may leave the emphasis it stands at the edge of."""


def code_span(raw: str) -> str:
    """Inline code in as many backticks as it takes; empty for empty code."""
    code = _DISCARDED.sub("", _SPACES.sub(" ", raw)).strip(" ")
    if not code:
        return ""
    if "`" not in code:
        return f"`{code}`"
    longest = max(map(len, _TICKS.findall(code)))
    fence = "`" * (longest + 1)
    pad = " " if code[0] == "`" or code[-1] == "`" else ""
    return f"{fence}{pad}{code}{pad}{fence}"


def exact_span(line: str) -> str:
    """A line of a block of code as inline code, its spaces kept: they are columns and indents. Empty for an empty line."""
    code = _DISCARDED.sub("", line).rstrip()
    if not code:
        return ""
    fence = "`" * (1 + max(map(len, _TICKS.findall(code)), default=0))
    pad = " " if code.lstrip()[0] == "`" or code[-1] == "`" else ""
    return f"{fence}{pad}{code}{pad}{fence}"


def joined(pieces: list[Piece], breaks: str, *, bare: bool, in_link: bool) -> str:
    """The pieces as Markdown; `bare` without white space at the ends."""
    merged = _merged(pieces)
    out: list[str] = []
    spaced = bare
    for index, (kind, content) in enumerate(merged):
        if kind == TEXT:
            written = _text(merged, index, spaced=spaced, in_link=in_link)
        elif kind == BREAK:
            if out:
                out[-1] = out[-1].rstrip(" ")
            written = breaks
        elif kind == CODE:
            written = code_span(content)
        elif kind == MARKUP:
            written = content
        else:
            written = _emphasised(kind, content, out[-1] if out else "", _next_sign(merged, index))
        if written:
            out.append(written)
            spaced = kind == BREAK or (kind == TEXT and written[-1] == " ")
    line = "".join(out)
    return line.strip() if bare else line


def _text(pieces: list[Piece], index: int, *, spaced: bool, in_link: bool) -> str:
    """A piece of text, escaped; `spaced` when there is white space before it already."""
    words = escape.seen(pieces[index][1])
    if spaced and words[:1] == " ":
        words = words[1:]
    words = escape.text(words, in_link=in_link)
    if words[-1:] == "!" and index + 1 < len(pieces) and pieces[index + 1][1].startswith("["):
        words = words[:-1] + "\\!"
    return words


def _merged(pieces: list[Piece]) -> list[Piece]:
    """Neighbours of one kind as one piece: only then can text be escaped, and code be told from a longer fence."""
    merged: list[tuple[str, list[str]]] = []
    for kind, content in pieces:
        if merged and kind == merged[-1][0] and kind not in {MARKUP, BREAK}:
            merged[-1][1].append(content)
        elif content or kind == BREAK:
            merged.append((kind, [content]))
    return [(kind, "".join(contents)) for kind, contents in merged]


def _next_sign(pieces: list[Piece], index: int) -> str:
    """The character that follows a piece, as far as it matters to emphasis."""
    if index + 1 >= len(pieces):
        return ""
    kind, content = pieces[index + 1]
    if kind == BREAK:
        return ""
    return content[:1] if kind in {TEXT, MARKUP} else "*"


def _emphasised(mark: str, core: str, before: str, after: str) -> str:
    """Emphasis with its marks where Markdown sees them: not between a word and punctuation, nor right after other emphasis."""
    head = tail = ""
    previous = before[-1:]
    if _is_word(previous):
        core, head = _unpunctuated(core, at_end=False)
    if _is_word(after):
        core, tail = _unpunctuated(core, at_end=True)
    if not core:
        return head + tail
    glued = previous == mark[0] or (after == "*" and mark != "~~")
    if glued or (_is_word(previous) and not _is_word(core[0])) or (_is_word(after) and not _is_word(core[-1])):
        return f"{head}{core}{tail}"
    return f"{head}{mark}{core}{mark}{tail}"


def _is_word(sign: str) -> bool:
    return bool(sign) and sign.isalnum()


def _unpunctuated(core: str, *, at_end: bool) -> tuple[str, str]:
    """What is left of emphasised text when punctuation without a meaning in Markdown is taken off one of its ends."""
    if "](" in core or "`" in core or ">" in core:
        return core, ""
    stripped = core.rstrip(_PUNCTUATION) if at_end else core.lstrip(_PUNCTUATION)
    if at_end:
        return stripped, core[len(stripped) :]
    return stripped, core[: len(core) - len(stripped)]
