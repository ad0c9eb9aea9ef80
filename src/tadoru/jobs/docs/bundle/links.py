"""Rewrites the links of a page's Markdown: to local files, to short URLs, or to their text.

URLs are a fifth of the characters of a manual. Short ones are relative to the URL of the page, which every output states. Code
stays as it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from tadoru.jobs.docs.bundle.markdown_blocks import find_code_spans, map_prose, replace_outside_code, split_blocks
from tadoru.jobs.docs.bundle.model import DEFINITION_LEVEL, DocHeading

KEEP, SHORT, NONE = "keep", "short", "none"

_LINK_TARGET = re.compile(r"\]\(<?(https?://[^\s()<>]++(?:\([^\s()<>]*+\)[^\s()<>]*+)*+)>?(?=[\s)])")


@dataclass(frozen=True, slots=True)
class LinkedFile:
    """The file of a page, and the fragments that Markdown viewers give its headings by the fragments of the page."""

    name: str
    fragments: Mapping[str, str]


def linked_file(file: str, headings: Iterable[DocHeading]) -> LinkedFile:
    """The target of local links to a page."""
    fragments: dict[str, str] = {}
    seen: Counter[str] = Counter()
    for heading in headings:
        if heading.level == DEFINITION_LEVEL:
            continue
        slug = _NOT_IN_SLUG.sub("", heading.text.lower()).replace(" ", "-")
        repeated = seen[slug]
        seen[slug] += 1
        if heading.anchor:
            fragments.setdefault(heading.anchor, f"{slug}-{repeated}" if repeated else slug)
    return LinkedFile(file.rpartition("/")[2], fragments)


_NOT_IN_SLUG = re.compile(r"[^\w\- ]")


def with_local_links(markdown: str, files: Mapping[str, LinkedFile]) -> str:
    """A page of `pages/` whose links to other pages point to their files; `files` has the file of each page by its URL.

    A fragment is that of the heading in the file. One that no heading has is dropped, because nothing in the file has it.
    """

    def replaced(match: re.Match[str]) -> str:
        url, _, fragment = match[1].partition("#")
        file = files.get(url)
        if file is None:
            return match[0]
        slug = file.fragments.get(fragment) or file.fragments.get(unquote(fragment))
        return f"]({file.name}#{slug}" if slug else f"]({file.name}"

    return replace_outside_code(markdown, _LINK_TARGET, replaced) if "](" in markdown else markdown


def rewrite_links(markdown: str, page_url: str, form: str) -> str:
    """A page with whole URLs (`keep`), with relative ones for its own host (`short`), or without URLs (`none`)."""
    if form == KEEP or ("](" not in markdown and "]:" not in markdown):
        return markdown
    if form == SHORT:
        return replace_outside_code(markdown, _LINK_TARGET, _shortener(page_url))
    prose = (block.text for block in split_blocks(markdown) if block.kind != "code")
    labels = {found[1].casefold() for text in prose for found in _DEFINITION.finditer(text)}
    return map_prose(markdown, lambda text: _without_targets(text, labels))


def _shortener(page_url: str) -> Callable[[re.Match[str]], str]:
    base = urlsplit(page_url)
    origin, folder = f"{base.scheme}://{base.netloc}", base.path.rpartition("/")[0] + "/"
    own = page_url.partition("#")[0]

    def shortened(match: re.Match[str]) -> str:
        url = match[1]
        target, mark, fragment = url.partition("#")
        path = target.removeprefix(origin)
        if path == target or not path.startswith("/") or path.startswith("//"):
            return match[0]
        below = path.removeprefix(folder)
        if target == own and mark:
            path = ""
        elif below and below[0] not in "/?" and ":" not in below.partition("/")[0]:  # It would be the scheme of another URL.
            path = below
        return match[0].replace(url, path + mark + fragment, 1)

    return shortened


_BRACKET = re.compile(
    r"\\.|\[\^[^\[\]\n]*+\]|!?\[|\](?:\((?:<[^<>\n]*+>|[^\s()<>]*+(?:\([^\s()<>]*+\)[^\s()<>]*+)*+)"
    r"""(?:\s++(?:"[^"\n]*+"|'[^'\n]*+'))?\s*+\)|\[([^\[\]\n]*+)\])?""",
    re.DOTALL,
)
"""An escaped character, a footnote, the start of a link or an image, or its end with the target if there is one."""
_DEFINITION = re.compile(r"^ {0,3}\[(?!\^)([^\[\]\n]{1,200})\]:[ \t]++\S[^\n]*+\n?", re.MULTILINE)


def _without_targets(text: str, labels: Container[str]) -> str:
    """Prose whose links and images are their texts; `labels` are those of the links that are defined elsewhere."""
    if "[" not in text:
        return text
    text = _DEFINITION.sub("", text)
    removed: list[tuple[int, int]] = []
    opened: list[re.Match[str]] = []
    for found in _outside_spans(text):
        sign = found[0]
        if sign in ("[", "!["):
            opened.append(found)
        elif sign[0] == "]" and opened:
            start = opened.pop()
            label = found[1] if found[1] else text[start.end() : found.start()]
            if sign.startswith("](") or (len(sign) > 1 and label.casefold() in labels):
                removed += [start.span(), found.span()]
    kept: list[str] = []
    at = 0
    for begin, end in sorted(removed):
        kept.append(text[at:begin])
        at = end
    return "".join([*kept, text[at:]])


def _outside_spans(text: str) -> Iterator[re.Match[str]]:
    spans = find_code_spans(text)
    start = end = 0
    for found in _BRACKET.finditer(text):
        while end <= found.start():
            start, end, _ = next(spans, (len(text), len(text) + 1, 0))
        if found.start() < start:
            yield found


def linked_urls(markdown: str) -> Iterator[str]:
    """The URLs that the text of a page links to, without fragments; once each."""
    yield from dict.fromkeys(match[1].partition("#")[0] for match in _LINK_TARGET.finditer(markdown))


_TEXT_LINK = re.compile(r"(?<!!)\[([^\[\]\n]{1,200})\]\((https?://[^\s()<>#]++)[^\s()<>]*+\)")
_ITEM_START = re.compile(r"[\s>|*+\-\d.)]*+")
_MAX_ITEM = 200


def link_texts(markdown: str) -> Iterator[tuple[str, str]]:
    """What the text calls the pages that it links to, with their URLs without fragments, once each.

    An entry of a list that begins with its only link describes the page behind it.
    """
    found: dict[tuple[str, str], None] = {}
    for line in markdown.splitlines():
        links = list(_TEXT_LINK.finditer(line)) if "](" in line else []
        found.update(((link[1], link[2]), None) for link in links)
        start = _ITEM_START.match(line)
        if len(links) == 1 and start and start.end() == links[0].start():
            found[_TEXT_LINK.sub(r"\1", line[start.end() : links[0].end() + _MAX_ITEM])[:_MAX_ITEM], links[0][2]] = None
    yield from found
