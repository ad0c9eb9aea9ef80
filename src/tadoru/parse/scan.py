"""The pages that a page leads to, read from its bytes without building a tree: all that a map of links needs, for less.

Only for *plain* pages: those where a look at the bytes proves that every `<a …>` is a start tag, and not part of a comment, a
script or an attribute. A `Scanner` takes comments and raw text (script, style, title…) out, and gives up, for the tree to be
built, as soon as anything is left that would need the rules of a parser: a `<` or `>` within an attribute, tags in capitals,
`<base>`, `<template>`, a refresh. `tests/parse/test_scan.py` holds it against the tree: on plain pages they agree.
"""

from __future__ import annotations

import html
import re
from html.entities import html5
from typing import NamedTuple

from tadoru.model.web import Link, LinkKind
from tadoru.rules.url import Resolver

MAX_TEXT = 200
MAX_TITLE = 2_000
_LONGEST_KEPT = 400
_MOST_KEPT = 100_000

_RAW = rb"s(?:cript|tyle)|t(?:itle|extarea)|xmp|iframe|no(?:embed|frames)"
_SPECIAL = re.compile(rb"<(?:[!?A-Z]|(" + _RAW + rb")[\s/>]|(?:base|template|plaintext|frameset|select)[\s/>])")
"""Where the bytes stop being plain: comments and the like, raw text, and what only a parser can read."""
_RAW_END = {
    name: re.compile(rb"</" + name + rb"[\s/>]", re.IGNORECASE)
    for name in (b"script", b"style", b"title", b"textarea", b"xmp", b"iframe", b"noembed", b"noframes")
}
_RAW_START = re.compile(rb"""<[a-z]+(?:[^<>"'=]++|=\s*+(?:"[^"<>]*+"|'[^'<>]*+'|[^\s<>"'=`]++))*+>""")
_ODD_VALUE = re.compile(rb"""=\s*+(?:"[^"<>]*+[<>]|'[^'<>]*+[<>])""")
"""A value that holds a `<` or `>`; also text that only looks like one, which costs a tree and no more."""
_REFRESH = re.compile(rb"http-equiv\s*=\s*[\"']?\s*refresh", re.IGNORECASE)
_ANCHOR = re.compile(
    rb"""<a(?:rea)?(?=[\s/>])(?:\s++(?:(?!href[\s=])[^\s=<>"'/]++(?:="[^"<>]*+")?\s++)*+href="([^"<>]*+)"[^<>]*+|[^<>]*+)>"""
)
"""An anchor; its href is found at once in the usual spelling, and looked for closely in any other."""
_ATTRIBUTE = re.compile(rb"""([^\s=<>"'/]++)(?:\s*+=\s*+(?:"([^"<>]*+)"|'([^'<>]*+)'|([^\s<>"'=`]++)))?""")
_TAG = re.compile(rb"<[^<>]*+>")
_IMAGE = re.compile(rb"<img(?=[\s/])[^<>]*+>")
_DEPENDS_ON_FOLDER = re.compile(rb"https?://|[\w./~-][^:]*+\Z", re.ASCII)
"""References that mean the same on every page of a folder."""
_REFERENCE = re.compile(r"&(?:#[xX]?[0-9a-fA-F]+;?|([A-Za-z][A-Za-z0-9]*)(;?)(=?))")


class Scanned(NamedTuple):
    """What a plain page says."""

    links: list[Link]
    """Each target once, with the first text that leads there."""
    title: str | None


class _Known(NamedTuple):
    """What an anchor came to, the last time its bytes were met in this folder."""

    url: str | None
    kind: LinkKind
    text: str
    rel: str


class Scanner:
    """Scans pages, remembering anchors across them: the menus of a site are the same bytes on most of its pages."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._folders: dict[str, dict[bytes, _Known]] = {}
        self._kept = 0

    def scan(self, body: bytes, page_url: str) -> Scanned | None:
        """Links and title of a page in UTF-8; None when it is not plain and takes a tree."""
        found = _plain(body)
        if found is None:
            return None
        plain, title = found
        if _ODD_VALUE.search(plain) or (b"efresh" in plain and _REFRESH.search(plain)) or b"REFRESH" in plain:
            return None
        return Scanned(self._links(plain, page_url), None if title is None else _text(title)[:MAX_TITLE].rstrip())

    def _links(self, plain: bytes, page_url: str) -> list[Link]:
        links: list[Link] = []
        fronts: set[bytes] = {b""}
        seen: set[str] = set()
        known = self._folder(page_url)
        for match in _ANCHOR.finditer(plain):
            reference = match[1]
            if reference is None:
                attributes = _attributes(match[0])
                reference = attributes.get(b"href", attributes.get(b"xlink:href"))
                if reference is None:
                    continue
            if b"&" in reference:
                reference = _decoded(reference).encode("utf-8", "replace")  # Its hash may be that of `&#64;`.
            front = reference.partition(b"#")[0]
            if front in fronts:
                continue
            fronts.add(front)
            begin, inside = match.span()
            end = plain.find(b"</a", inside)
            raw = plain[begin:end] if 0 <= end - begin <= _LONGEST_KEPT else b""
            anchor = known.get(raw)
            if anchor is None:
                anchor = self._read(plain, match[0], inside, end, reference, page_url)
                if raw and _DEPENDS_ON_FOLDER.match(front):
                    known[raw] = anchor
                    self._kept += 1
            if anchor.url is not None and anchor.url not in seen:
                seen.add(anchor.url)
                links.append(Link(anchor.url, anchor.kind, anchor.text, anchor.rel, len(links), ""))
        return links

    def _read(self, plain: bytes, tag: bytes, inside: int, end: int, reference: bytes, page_url: str) -> _Known:
        target = self._resolver.resolve(reference.decode("utf-8", "replace"), page_url)
        kind = LinkKind.AREA if tag.startswith(b"<area") else LinkKind.A
        if target is None:
            return _Known(None, kind, "", "")
        rel = _value(_attributes(tag).get(b"rel")).lower() if b"rel" in tag else ""
        text = _value(_attributes(tag).get(b"alt"))[:MAX_TEXT] if kind is LinkKind.AREA else _anchor_text(plain, inside, end, tag)
        return _Known(target[0], kind, text, rel)

    def _folder(self, page_url: str) -> dict[bytes, _Known]:
        if self._kept > _MOST_KEPT:
            self._folders.clear()
            self._kept = 0
        query = page_url.find("?")
        folder = page_url[: page_url.rindex("/", 0, query if query > 0 else None)]
        table = self._folders.get(folder)
        if table is None:
            table = self._folders[folder] = {}
            self._kept += 1
        return table


def _plain(body: bytes) -> tuple[bytes, bytes | None] | None:
    """The page without comments and raw text, and its title; None when that is not simple to say."""
    if b"\0" in body or b"<![CDATA[" in body:
        return None
    pieces: list[bytes] = []
    title: bytes | None = None
    start = 0
    while (special := _SPECIAL.search(body, start)) is not None:
        begin = special.start()
        if special[1] is not None:
            raw = _raw_text(body, begin, special[1])
            if raw is None:
                return None
            content, end = raw
            if special[1] == b"title" and title is None and not _is_in_svg(body, begin):
                title = content
        elif body.startswith(b"<!--", begin):
            end = body.find(b"-->", begin + 4) + 3
            if end < 3 or body.startswith((b">", b"->"), begin + 4) or body.find(b"--!>", begin, end) >= 0:
                return None
        elif body.startswith((b"<!", b"<?"), begin):
            end = body.find(b">", begin) + 1
            if not end:
                return None
        else:
            return None
        pieces.append(body[start:begin])
        start = end
    pieces.append(body[start:])
    return b"".join(pieces), title


def _raw_text(body: bytes, begin: int, name: bytes) -> tuple[bytes, int] | None:
    """The content of a raw text element, and where its end tag ends; None when that is not simple to say."""
    opened = _RAW_START.match(body, begin)
    closed = _RAW_END[name].search(body, opened.end()) if opened else None
    if opened is None or closed is None:
        return None
    content = body[opened.end() : closed.start()]
    end = body.find(b">", closed.start()) + 1
    # A script may hold a comment that holds a script; within an svg none of these is raw text.
    odd = b"<!--" in content if name == b"script" else b"<" in content
    if odd or not end or (b"<" in content and _is_in_svg(body, begin)):
        return None
    return content, end


def _is_in_svg(body: bytes, position: int) -> bool:
    return body.rfind(b"<svg", 0, position) > body.rfind(b"</svg", 0, position)


def _anchor_text(plain: bytes, start: int, end: int, tag: bytes) -> str:
    """The text up to the end of an anchor, or to the next one; else the alternative text of an image in it, or its own."""
    segment = plain[start : end if 0 <= end < start + 8 * MAX_TEXT else start + 8 * MAX_TEXT]
    if b"<" not in segment:
        text = _text(segment)[:MAX_TEXT].rstrip()
        return text or _value(_attributes(tag).get(b"alt"))[:MAX_TEXT]
    segment = re.split(rb"<a[\s>]", segment, maxsplit=1)[0]
    text = _text(_TAG.sub(b"", segment).partition(b"<")[0])[:MAX_TEXT].rstrip()
    if text:
        return text
    alternatives = (_value(_attributes(image).get(b"alt")) for image in (tag, *_IMAGE.findall(segment)))
    return next(filter(None, alternatives), "")[:MAX_TEXT]


def _text(raw: bytes) -> str:
    text = raw.decode("utf-8", "replace")
    return " ".join((html.unescape(text) if "&" in text else text).split())


def _attributes(tag: bytes) -> dict[bytes, bytes]:
    """The attributes of a start tag; of those with one name the first."""
    found: dict[bytes, bytes] = {}
    for name, double, single, bare in _ATTRIBUTE.findall(tag)[1:]:
        found.setdefault(name.lower(), double or single or bare)
    return found


def _value(raw: bytes | None) -> str:
    return " ".join(_decoded(raw).split()) if raw else ""


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
