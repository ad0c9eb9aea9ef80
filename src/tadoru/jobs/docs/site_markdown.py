"""The site's own Markdown: where it may be, what is in it, and whether it holds what the page holds. Pure.

Sites that offer their pages as Markdown (a `.md` beside each page, `<link rel=alternate>`, `Accept: text/markdown`,
llms-full.txt) have written it themselves, which no extraction matches; but some of them make it from HTML, and lose code and
tables on the way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urljoin, urlsplit, urlunsplit

from tadoru.jobs.docs.bundle.markdown_blocks import MarkdownBlock, replace_outside_code, split_blocks
from tadoru.jobs.reporting.formatting import format_count
from tadoru.model.web import Link, LinkKind
from tadoru.parse.page_limits import MAX_LINK_CHARACTERS, MAX_LINKS, link_limits, markdown_limit
from tadoru.rules.url import LONGEST_URL, UrlResolver
from tadoru.store.crawl.records import OfferedPage

_CELL = r"[^\S\n]*+:?-{2,}+:?[^\S\n]*+"
_TABLE = re.compile(rf"^[ >]*+\|?{_CELL}(?:\|{_CELL})++\|?[^\S\n]*+$", re.MULTILINE)
_ONE_COLUMN = re.compile(rf"^[ >]*+\|{_CELL}\|[^\S\n]*+$", re.MULTILINE)
_HTML_TABLE = re.compile(r"<table[\s>]", re.IGNORECASE)
_HTML_CODE = re.compile(r"<(?:pre|code-block|codeblock)[\s>]", re.IGNORECASE)
_FENCE = re.compile(r"^[ >]*+(?:(?:[-*+]|\d++[.)])[^\S\n]++)*+(?:`{3,}|~{3,})", re.MULTILINE)
_HTML = re.compile(r"\s*(?:<!doctype html|<html|<head|<body)", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_FRONTMATTER = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"^(title|url|source|permalink|canonical_url):[ \t]*+[\"']?(.*)$", re.MULTILINE)
_URL = r"[^\s<>()]++(?:\([^\s<>()]*+\)[^\s<>()]*+)*+"
_LINK = re.compile(
    rf"(?<!!)\[([^\]\n]{{0,300}}+)\]\(\s*+<?({_URL})>?(?:\s++[\"'(][^\n)]{{0,1000}}+)?+\s*+\)|<(https?://[^\s<>]+)>"
)
_TARGET = re.compile(rf"(\]\(\s*+<?)({_URL})(?=>?[\s)])|^( {{0,3}}\[[^\]\n]++\]:[ \t]++<?)([^\s<>]++)", re.MULTILINE)
_SOURCE = re.compile(r"^(?:>\s*)?(?:source|url)\s*:\s*<?(https?://[^\s<>]+)>?\s*$", re.IGNORECASE)
MIN_WORD_SHARE = 0.6
"""Of the words that the page has."""
MARKDOWN_TYPES = ("text/markdown", "text/x-markdown")


def markdown_url(url: str) -> str | None:
    """Where a page's Markdown usually is: `/guide.md` of `/guide`, `/guide.html` and `/guide/`; None for anything else."""
    parts = urlsplit(url)
    path = parts.path
    if path.endswith("/"):
        path = f"{path}index" if path == "/" else path[:-1]
    name = path.rpartition("/")[2]
    stem, dot, ending = name.rpartition(".")
    if dot and ending.lower() in ("html", "htm"):
        path = path[: -len(ending) - 1]
    elif dot and stem and ending.isalpha() and len(ending) <= 4:
        return None
    return urlunsplit((parts.scheme, parts.netloc, f"{path}.md", "", ""))


def is_markdown(media_type: str, text: str) -> bool:
    """Whether an answer is Markdown, and not the site's page for everything it does not know."""
    return media_type in (*MARKDOWN_TYPES, "text/plain") and bool(text.strip()) and not _HTML.match(text)


def missing_content(own: str, made: str) -> str | None:
    """Why the site's Markdown is not taken: what it lacks of the page as we read it. None when it lacks nothing."""
    theirs, ours = _ContentCounts(strip_frontmatter(own)), _ContentCounts(made)
    if theirs.code < ours.code:
        return f"it has {theirs.code} of {format_count(ours.code, 'block')} of code"
    if theirs.tables < ours.tables:
        return f"it has {theirs.tables} of {format_count(ours.tables, 'table')}"
    if theirs.words < MIN_WORD_SHARE * ours.words:
        return f"it has {theirs.words} of {format_count(ours.words, 'word')}"
    return None


class _ContentCounts:
    """What a Markdown text holds, counted."""

    def __init__(self, text: str) -> None:
        self.words = len(_WORD.findall(text))
        self.code = self.tables = 0
        for block in split_blocks(text):
            if block.kind == "code":
                self.code += max(1, len(_FENCE.findall(block.text)) // 2)
            else:
                self.code += len(_HTML_CODE.findall(block.text))
                self.tables += sum(len(find.findall(block.text)) for find in (_TABLE, _ONE_COLUMN, _HTML_TABLE))


def strip_frontmatter(own: str) -> str:
    """As it is kept: without frontmatter, ending in one line break."""
    text = _FRONTMATTER.sub("", own.replace("\r\n", "\n").removeprefix("\ufeff")).strip("\n")
    return f"{text}\n" if text else ""


def normalise_markdown(own: str, base: str) -> str:
    """As it is kept, with links and pictures that lead somewhere from anywhere; `base` is where it was. Code is left alone."""

    room = markdown_limit(len(own))

    def replaced(match: re.Match[str]) -> str:
        nonlocal room
        before, target = (match[1], match[2]) if match[1] else (match[3], match[4])
        room -= len(base)
        # Each link grows by the base: where that is too much, the others stay as they are.
        return match[0] if target.startswith("#") or room < 0 else f"{before}{_absolute_url(base, target)}"

    return replace_outside_code(strip_frontmatter(own), _TARGET, replaced)


def _absolute_url(base: str, target: str) -> str:
    try:
        return urljoin(base, target) if len(target) <= LONGEST_URL else target
    except ValueError:
        return target  # It is no URL at all.


def title_of(own: str) -> str | None:
    """What a Markdown file calls itself: in its first heading of level 1, or in its frontmatter."""
    for block in split_blocks(strip_frontmatter(own)):
        if block.kind == "heading" and block.level == 1:
            return block.title or None
    return _frontmatter_fields(own).get("title") or None


def headings_of(own: str) -> list[tuple[int, str, None]]:
    """Its headings, as a reader sees them."""
    return [(block.level, block.title, None) for block in split_blocks(own) if block.kind == "heading"]


def links_of(own: str, base: str, resolver: UrlResolver) -> tuple[list[Link], tuple[str, ...]]:
    """Its links, but not those in code; and what of them is over a limit (`Document.left_out`)."""
    found: list[Link] = []
    characters, too_long = MAX_LINK_CHARACTERS, resolver.too_long
    for block in split_blocks(strip_frontmatter(own)):
        if block.kind == "code":
            continue
        for match in _LINK.finditer(block.text):
            resolved = resolver.resolve(match[2] or match[3], base)
            if resolved is not None:
                found.append(Link(resolved[0], LinkKind.A, match[1] or "", "", len(found), ""))
                characters -= len(resolved[0]) + len(match[1] or "")
            if characters < 0 or len(found) >= MAX_LINKS:
                return found, tuple(link_limits(len(found), characters, resolver.too_long - too_long))
    return found, tuple(link_limits(len(found), characters, resolver.too_long - too_long))


def split_llms_full(text: str, base: str, resolver: UrlResolver) -> list[OfferedPage]:
    """The pages of an llms-full.txt that say where they are: by `Source:` under their title, or in a frontmatter of their own."""
    found: dict[str, str] = {}
    for part in _llms_full_pages(list(split_blocks(text.replace("\r\n", "\n").removeprefix("\ufeff")))):
        address, markdown = part
        resolved = resolver.resolve(address, base)
        if resolved is not None and markdown.strip() and resolved[0] not in found:
            found[resolved[0]] = markdown.strip("\n") + "\n"
    return [OfferedPage(url, markdown) for url, markdown in found.items()]


def _llms_full_pages(text: list[MarkdownBlock]) -> Iterator[tuple[str, str]]:
    """Address and Markdown of each page. A page begins at a title that a `Source:` follows, and ends where the next begins."""
    starts = [(at, address) for at in range(len(text)) if (address := _source_url(text, at))]
    for number, (at, address) in enumerate(starts):
        end = starts[number + 1][0] if number + 1 < len(starts) else len(text)
        yield address, _strip_source_line("".join(block.text for block in text[at:end]))


def _source_url(text: list[MarkdownBlock], at: int) -> str | None:
    block = text[at]
    if block.kind == "heading" and block.level == 1 and at + 1 < len(text):
        match = _SOURCE.match(text[at + 1].text.strip().partition("\n")[0])
        return match[1] if match else None
    if block.text.startswith("---\n"):
        fields = _frontmatter_fields(block.text.rstrip("\n") + "\n")
        return fields.get("url") or fields.get("source")
    return None


def _strip_source_line(text: str) -> str:
    text = _FRONTMATTER.sub("", text)
    head, line, rest = text.partition("\n")
    lines = rest.lstrip("\n").split("\n")
    if head.startswith("# ") and lines and _SOURCE.match(lines[0]):
        rest = "\n".join(lines[1:]).lstrip("\n")
        return f"{head}\n\n{rest.removesuffix('---') if rest.rstrip().endswith('---') else rest}"
    return head + line + rest


def _frontmatter_fields(text: str) -> dict[str, str]:
    match = _FRONTMATTER.match(text.replace("\r\n", "\n"))
    found = {name: value.rstrip(" \t") for name, value in _FIELD.findall(match[1])} if match else {}
    return {name: value[:-1] if value.endswith(("'", '"')) else value for name, value in found.items()}
