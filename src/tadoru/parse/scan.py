"""The pages that a page leads to, read from its bytes without building a tree: all that a map of links needs, for less.

Only for *plain* pages, where every `<a …>` is known to be a start tag: see `plain`. Any other is left to the tree (`links`).
`tests/parse/test_scan.py` holds one against the other: on plain pages they agree.
"""

from __future__ import annotations

import html
import re
from html.entities import html5
from typing import NamedTuple

from tadoru.model.web import Link, LinkKind
from tadoru.parse.page_limits import MAX_LINK_CHARACTERS, MAX_LINKS, link_limits
from tadoru.parse.plain import plain
from tadoru.rules.url import Resolver

MAX_TEXT = 200
MAX_TITLE = 2_000
_LONGEST_KEPT = 400
_MOST_KEPT = 100_000
_LONG_PAGE = 1_000_000
_LONGEST_TAG = 64 * 1024

_ANCHOR = re.compile(
    rb"""<a(?:(\s++(?:[a-gi-z][a-z-]*+="[^"<>]*+"\s++)*+href="([^"<>#&]*+(?:&[^"<>]*+)?)[^<>]*+)"""
    rb"""|((?:rea)?(?=[\s/>])[^<>]*+))>([^<]*+(?:<(?!/?a(?:rea)?[\s/>])[^<]*+)*+)"""
)
"""An anchor: in the usual spelling its attributes and its reference, in any other all that follows `<a`; and what it holds.

The reference ends at its fragment, but one with an `&` comes whole, because that may be the beginning of a hash. What the anchor
holds ends where it is closed or the next one begins.
"""
_ATTRIBUTE = re.compile(rb"""(=?[^\s/=<>]++)(?:\s*+=\s*+(?:"([^"<>]*+)"|'([^'<>]*+)'|([^\s<>]*+)))?""")
_TAG = re.compile(rb"<[a-z/][^<>]*+>?")
_IMAGE = re.compile(rb"<img(?=[\s/])[^<>]*+>")
_PATH_START = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789./_~-")
_WHOLE = (b"http://", b"https://")
_REFERENCE = re.compile(r"&(?:#[xX]?[0-9a-fA-F]+;?|([A-Za-z][A-Za-z0-9]*)(;?)(=?))")


class Scanned(NamedTuple):
    """What a plain page says."""

    links: list[Link]
    """Each target once, with the first text that leads there."""
    title: str | None
    left_out: tuple[str, ...] = ()
    """As `Document.left_out`."""


class Scanner:
    """Scans pages, remembering across them: the menus of a site are the same bytes on most of its pages."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._folders: dict[str, dict[bytes, str]] = {}
        """For each folder, what references on its pages lead to: a URL, or nothing."""
        self._texts: dict[bytes, str] = {}
        self._kept = 0

    def scan(self, body: bytes, page_url: str) -> Scanned | None:
        """Links and title of a page in UTF-8; None when it is not plain and takes a tree."""
        page = plain(body)
        if page is None:
            return None
        title = None if page.title is None else _text(page.title[: 8 * MAX_TITLE])[:MAX_TITLE].rstrip()
        too_long = self._resolver.too_long
        links, characters = self._links(page.markup, page_url)
        return Scanned(links, title, tuple(link_limits(len(links), characters, self._resolver.too_long - too_long)))

    def _links(self, markup: bytes, page_url: str) -> tuple[list[Link], int]:
        """The links, and how many characters they might still have."""
        links: list[Link] = []
        characters = MAX_LINK_CHARACTERS
        fronts, urls = {b""}, {""}
        known, texts, anchor = self._folder(page_url), self._texts, LinkKind.A
        # All at once is faster, and takes memory for as many as there are.
        is_long = len(markup) > _LONG_PAGE
        anchors = (found.groups(b"") for found in _ANCHOR.finditer(markup)) if is_long else _ANCHOR.findall(markup)
        for attributes, reference, unusual, inner in anchors:
            front = reference
            if unusual:
                front = _reference(unusual)
            elif b"&" in reference:
                front = _front(reference)
            elif reference.endswith(b" "):
                front = _reference(attributes)
            if front in fronts:
                continue
            fronts.add(front)
            url = known.get(front)
            if url is None:
                url = self._resolved(front, page_url, known)
            if url in urls:
                continue
            urls.add(url)
            tag, text, kind, rel = attributes or unusual, texts.get(inner), anchor, ""
            if text is None:
                text = self._text(inner)
            if tag.startswith(b"rea"):
                text, kind = "", LinkKind.AREA
            if not text:
                text = _alternative(tag, inner if kind is anchor else b"")
            if b"rel" in tag.lower():
                rel = _value(_attributes(tag).get(b"rel")).lower()
            links.append(Link(url, kind, text, rel, len(links), ""))
            characters -= len(url) + len(text) + len(rel)
            if characters < 0 or len(links) >= MAX_LINKS:
                break
        return links, characters

    def _resolved(self, front: bytes, page_url: str, known: dict[bytes, str]) -> str:
        target = self._resolver.resolve(front.decode("utf-8", "replace"), page_url)
        url = "" if target is None else target[0]
        # Paths and whole URLs mean the same on every page of a folder; `?a=b` and `http:?a=b` do not.
        is_short = len(front) <= _LONGEST_KEPT >= len(url)
        if is_short and front[0] in _PATH_START and (b":" not in front or front.startswith(_WHOLE)):
            known[front] = url
            self._kept += 1
        return url

    def _text(self, inner: bytes) -> str:
        text = _anchor_text(inner)
        if len(inner) <= _LONGEST_KEPT:
            self._texts[inner] = text
            self._kept += 1
        return text

    def _folder(self, page_url: str) -> dict[bytes, str]:
        if self._kept > _MOST_KEPT:
            self._folders.clear()
            self._texts.clear()
            self._kept = 0
        query = page_url.find("?")
        folder = page_url[: page_url.rindex("/", 0, query if query > 0 else None)]
        table = self._folders.get(folder)
        if table is None:
            table = self._folders[folder] = {}
            self._kept += 1
        return table


def _front(reference: bytes) -> bytes:
    """A reference without its fragment, as it is with its character references resolved.

    With its fragment after a space, which is a part of the path then and not stripped.
    """
    whole = _decoded(reference)
    front = whole.partition("#")[0]
    return (whole if front.endswith(" ") else front).encode("utf-8", "replace")


def _reference(tag: bytes) -> bytes:
    attributes = _attributes(tag)
    return _front(attributes.get(b"href", attributes.get(b"xlink:href", b"")))


def _anchor_text(inner: bytes) -> str:
    """The text within an anchor."""
    inner = inner[: 8 * MAX_TEXT]
    return _text(_TAG.sub(b"", inner) if b"<" in inner else inner)[:MAX_TEXT].rstrip()


def _alternative(tag: bytes, inner: bytes) -> str:
    """What an anchor without text says: its own alternative text, else that of the first image in it that has one."""
    alternatives = (_value(_attributes(element).get(b"alt")) for element in (tag, *_IMAGE.findall(inner[: 8 * MAX_TEXT])))
    return next(filter(None, alternatives), "")


def _text(raw: bytes) -> str:
    text = raw.decode("utf-8", "replace")
    return " ".join((html.unescape(text) if "&" in text else text).split())


def _attributes(tag: bytes) -> dict[bytes, bytes]:
    """The attributes in a start tag; of those with one name the first. The tag's own name is one too, and does not matter."""
    found: dict[bytes, bytes] = {}
    for name, double, single, bare in _ATTRIBUTE.findall(tag[:_LONGEST_TAG]):
        found.setdefault(name.lower(), double or single or bare)
    return found


def _value(raw: bytes | None) -> str:
    return " ".join(_decoded(raw[: 8 * MAX_TEXT]).split())[:MAX_TEXT].rstrip() if raw else ""


def _decoded(raw: bytes) -> str:
    """An attribute's value as text, its character references resolved as in attributes: `&copy=1` stays as it is."""
    text = raw.decode("utf-8", "replace")
    return _REFERENCE.sub(_character, text) if "&" in text else text


def _character(found: re.Match[str]) -> str:
    name, closed, equals = found[1], found[2], found[3]
    if name is None:
        return html.unescape(found[0])
    if closed:
        return html.unescape(f"&{name};") + equals
    return found[0] if equals or name not in html5 else html5[name]
