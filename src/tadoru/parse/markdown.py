"""Markdown files as HTML pages, so that their links are read as those of any page; and where in the file each link stands.

The dialect is CommonMark with tables, strikethrough and bare URLs. Headings get the ids that code hosts give them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from html import unescape

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tadoru.parse.scan import ReferencePlace, line_starts, place_at

_FRONT_MATTER = re.compile(r"(---|\+\+\+)[ \t]*\n.*?\n(?:\1)[ \t]*(?=\n|\Z)", re.DOTALL)
_NOT_IN_ID = re.compile(r"[^\w\- ]")
_DEFINITION = re.compile(r"^ {0,3}\[[^\]\n]+\]:[ \t]*+\n?[ \t]*+(?:<([^<>\n]+)>|([^\s<]\S*+))", re.MULTILINE)
_BARE_URL = re.compile(r"\bhttps?://(?:[\w-]+\.)+[\w-]+[^\s<>\"`]*", re.IGNORECASE)
"""What GitHub makes a link of without any sign: its host has a dot. `https://` and `http://localhost:8000` are examples."""
_AFTER_URL = "?!.,:*_~'"
"""Signs at the end of a bare URL that belong to the sentence."""


class _MarkdownParser(MarkdownIt):
    """Keeps references as they are written: what is wrong with them is for others to tell."""

    def normalizeLink(self, url: str) -> str:  # noqa: N802 - the name of the library
        return url

    def validateLink(self, url: str) -> bool:  # noqa: N802 - the name of the library
        return True


@cache
def _parser() -> MarkdownIt:
    return _MarkdownParser("commonmark").enable(["table", "strikethrough"])


def markdown_to_html(text: str) -> str:
    """A Markdown file as an HTML document."""
    tokens = _tokens(_with_line_feeds(text))
    ids: Counter[str] = Counter()
    title = ""
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            content = _plain_text(tokens[at + 1])
            token.attrSet("id", _heading_id(content, ids))
            title = title or content
    parser = _parser()
    body: str = parser.renderer.render(tokens, parser.options, {})
    head = _parser().renderer.render([Token("text", "", 0, content=title)], parser.options, {}) if title else ""
    return f"<title>{head}</title>{body}"


def markdown_places(text: str, in_html: Callable[[str], Iterator[str]]) -> Iterator[ReferencePlace]:
    """Where each reference of a Markdown file stands, in order. `in_html` reads the references in a piece of HTML."""
    text = _with_line_feeds(text)
    starts, definitions = line_starts(text), _definitions(text)
    for token in _tokens(text):
        if token.map is None or token.type not in ("inline", "html_block"):
            continue
        first, last = token.map
        position, end = starts[first], starts[last] if last < len(starts) else len(text)
        for reference in _references(token, in_html):
            found = _find(text, reference, position, end)
            if found >= 0:
                position = found + len(reference)
            else:
                found = definitions.get(reference, -1)
            at = starts[first] if found < 0 else found
            yield place_at(reference, at, starts)


def _with_line_feeds(text: str) -> str:
    """The text with the line breaks that the parser counts."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _tokens(text: str) -> list[Token]:
    # The lines of the front matter stay, empty: the others keep their numbers.
    front = _FRONT_MATTER.match(text)
    if front is not None:
        text = "\n" * front[0].count("\n") + text[front.end() :]
    tokens = _parser().parse(text)
    for token in tokens:
        if token.children:
            token.children = list(_with_bare_urls(token.children))
    return tokens


def _with_bare_urls(tokens: list[Token]) -> Iterator[Token]:
    """The tokens of a paragraph, with the URLs in its text as links."""
    depth = 0
    for token in tokens:
        depth += token.nesting if token.type in ("link_open", "link_close") else 0
        if token.type != "text" or depth or "://" not in token.content:
            yield token
            continue
        position = 0
        for match in _BARE_URL.finditer(token.content):
            url = match[0].rstrip(_AFTER_URL)
            while url.endswith(")") and url.count(")") > url.count("("):
                url = url[:-1].rstrip(_AFTER_URL)
            yield Token("text", "", 0, content=token.content[position : match.start()])
            yield Token("link_open", "a", 1, attrs={"href": url})
            yield Token("text", "", 0, content=url)
            yield Token("link_close", "a", -1)
            position = match.start() + len(url)
        yield Token("text", "", 0, content=token.content[position:])


def _references(token: Token, in_html: Callable[[str], Iterator[str]]) -> Iterator[str]:
    if token.type == "html_block":
        yield from in_html(token.content)
        return
    for child in token.children or ():
        if child.type == "link_open":
            yield str(child.attrGet("href") or "")
        elif child.type == "image":
            yield str(child.attrGet("src") or "")
            yield from _references(child, in_html)
        elif child.type == "html_inline":
            yield from in_html(child.content)


def _find(text: str, reference: str, start: int, end: int) -> int:
    """Where a reference is written in a part of the text; -1 if it is not, or only with character references."""
    if not reference:
        return -1
    for opening in ("](", "](<", ""):  # The text of a link may be its URL too.
        if (found := text.find(opening + reference, start, end)) >= 0:
            return found + len(opening)
    return -1


def _definitions(text: str) -> dict[str, int]:
    """Where the references of `[name]: reference` are written, each by its first place."""
    found: dict[str, int] = {}
    for match in _DEFINITION.finditer(text):
        group = match.lastindex or 1
        found.setdefault(match[group], match.start(group))
    return found


def _plain_text(inline: Token) -> str:
    """The text of a heading."""
    parts = (child.content for child in inline.children or () if child.type in ("text", "code_inline", "image"))
    return unescape("".join(parts))


def _heading_id(text: str, used: Counter[str]) -> str:
    """The id of a heading as code hosts make it, or the one that it names itself: `Title {#own-id}`."""
    text = text.strip()
    if text.endswith("}"):
        words = text[text.rfind("{") + 1 : -1].split()
        if (own := next((word[1:] for word in words if word.startswith("#")), "")) != "":
            return own
    name = _NOT_IN_ID.sub("", text.lower()).replace(" ", "-")
    number = used[name]
    used[name] += 1
    return f"{name}-{number}" if number else name
