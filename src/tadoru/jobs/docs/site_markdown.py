"""Markdown that a site publishes itself: its URL, its title, headings and links, and whether it is complete. Pure.

Sites that publish their pages as Markdown (a `.md` beside each page, `<link rel=alternate>`, `Accept: text/markdown`,
llms-full.txt) usually have the original text, which no extraction matches; but some generate it from HTML and lose code and
tables.
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
"""The share of the page's words that published Markdown must have."""
MARKDOWN_TYPES = ("text/markdown", "text/x-markdown")


def markdown_url(url: str) -> str | None:
    """The usual URL of a page's Markdown: `/guide.md` for `/guide`, `/guide.html` and `/guide/`; None for other files."""
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
    """Whether a response is Markdown, and not the HTML that a site sends for unknown URLs."""
    return media_type in (*MARKDOWN_TYPES, "text/plain") and bool(text.strip()) and not _HTML.match(text)


def missing_content(source: str, made: str) -> str | None:
    """What published Markdown lacks compared with the Markdown made of the page; None if it is complete."""
    theirs, ours = _ContentCounts(strip_frontmatter(source)), _ContentCounts(made)
    if theirs.code < ours.code:
        return f"it has {theirs.code} of {format_count(ours.code, 'block')} of code"
    if theirs.tables < ours.tables:
        return f"it has {theirs.tables} of {format_count(ours.tables, 'table')}"
    if theirs.words < MIN_WORD_SHARE * ours.words:
        return f"it has {theirs.words} of {format_count(ours.words, 'word')}"
    return None


class _ContentCounts:
    """The number of words, code blocks and tables of a Markdown text."""

    def __init__(self, text: str) -> None:
        self.words = len(_WORD.findall(text))
        self.code = self.tables = 0
        for block in split_blocks(text):
            if block.kind == "code":
                self.code += max(1, len(_FENCE.findall(block.text)) // 2)
            else:
                self.code += len(_HTML_CODE.findall(block.text))
                self.tables += sum(len(find.findall(block.text)) for find in (_TABLE, _ONE_COLUMN, _HTML_TABLE))


def strip_frontmatter(source: str) -> str:
    """The Markdown without frontmatter, ending in one line break."""
    text = _FRONTMATTER.sub("", source.replace("\r\n", "\n").removeprefix("\ufeff")).strip("\n")
    return f"{text}\n" if text else ""


def normalise_markdown(source: str, base: str) -> str:
    """The Markdown as it is stored: without frontmatter and with absolute URLs, but for those in code; `base` is its URL."""

    remaining = markdown_limit(len(source))

    def replaced(match: re.Match[str]) -> str:
        nonlocal remaining
        before, target = (match[1], match[2]) if match[1] else (match[3], match[4])
        remaining -= len(base)
        # Each link grows by the length of the base URL. Beyond the limit, links stay relative.
        return match[0] if target.startswith("#") or remaining < 0 else f"{before}{_absolute_url(base, target)}"

    return replace_outside_code(strip_frontmatter(source), _TARGET, replaced)


def _absolute_url(base: str, target: str) -> str:
    try:
        return urljoin(base, target) if len(target) <= LONGEST_URL else target
    except ValueError:
        return target  # Not a URL.


def title_of(source: str) -> str | None:
    """The title of a Markdown file: its first heading of level 1, or the title in its frontmatter."""
    for block in split_blocks(strip_frontmatter(source)):
        if block.kind == "heading" and block.level == 1:
            return block.title or None
    return _frontmatter_fields(source).get("title") or None


def headings_of(source: str) -> list[tuple[int, str, None]]:
    """The headings of a Markdown file as plain text."""
    return [(block.level, block.title, None) for block in split_blocks(source) if block.kind == "heading"]


def links_of(source: str, base: str, resolver: UrlResolver) -> tuple[list[Link], tuple[str, ...]]:
    """The links of a Markdown file, but for those in code, and which limits they exceed (`Document.left_out`)."""
    found: list[Link] = []
    characters, too_long = MAX_LINK_CHARACTERS, resolver.too_long
    for block in split_blocks(strip_frontmatter(source)):
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
    """The pages of an llms-full.txt whose URL is given, by `Source:` below their title or in a frontmatter."""
    found: dict[str, str] = {}
    for part in _llms_full_pages(list(split_blocks(text.replace("\r\n", "\n").removeprefix("\ufeff")))):
        url, markdown = part
        resolved = resolver.resolve(url, base)
        if resolved is not None and markdown.strip() and resolved[0] not in found:
            found[resolved[0]] = markdown.strip("\n") + "\n"
    return [OfferedPage(url, markdown) for url, markdown in found.items()]


def _llms_full_pages(text: list[MarkdownBlock]) -> Iterator[tuple[str, str]]:
    """URL and Markdown of each page. A page starts at a title that is followed by `Source:`, and ends where the next starts."""
    starts = [(at, url) for at in range(len(text)) if (url := _source_url(text, at))]
    for number, (at, url) in enumerate(starts):
        end = starts[number + 1][0] if number + 1 < len(starts) else len(text)
        yield url, _strip_source_line("".join(block.text for block in text[at:end]))


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
