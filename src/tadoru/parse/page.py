"""Everything that the checks of an audit need about one page: `PageView`.

It holds facts as the page states them; the checks (`jobs.audit.checks`) evaluate them. The tree is walked once (`walk`) for
everything that depends on element names; `content` reads the text, `structured` and this module look for attributes that any
element may have.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from tadoru.model.web import Link, Response
from tadoru.parse.content import ContentParts, PageContent, normalise_content
from tadoru.parse.decode import header_charset
from tadoru.parse.head import PageHead
from tadoru.parse.header_fields import HeaderLink, ResponseCookie, RobotsDirective, cookies, directives, robots_tags
from tadoru.parse.header_fields import links as header_links
from tadoru.parse.html import HtmlDocument, text_of
from tadoru.parse.page_limits import MAX_STATEMENTS
from tadoru.parse.page_structure import template_of
from tadoru.parse.structured import StructuredData, structured
from tadoru.parse.walk import MAX_TEXT, ElementWalk, FormElement, HeadingElement, ImageElement, UnnamedControl
from tadoru.rules.minhash import sketch
from tadoru.rules.url import UrlResolver

_OPAQUE = re.compile(
    rb"<!--.*?(?:-->|\Z)|<(script|style|template|textarea|title|iframe|svg|xmp|noembed|noframes)\b[^>]*+(?:>.*?(?:</\1\s*+>|\Z)|\Z)",
    re.DOTALL,
)
_VALUE = re.compile(rb"""=\s*+(?:"[^"]*+"|'[^']*+')""")
_TAG = re.compile(rb"<([a-z][a-z0-9:-]*+)")
_HEAD = re.compile(rb"<head(?=[\s/>])")
_OUTER = re.compile(rb"<([hHbB](?:[eE][aA][dD]|[oO][dD][yY]))(?=[\s/>])")
_BELONGS = frozenset({"title", "meta", "link", "base", "script", "style", "noscript", "template"})
_LONGEST_HEAD = 256 * 1024


class MarkupFaults(NamedTuple):
    """Faults of the markup that only the bytes show."""

    heads: int
    bodies: int
    """One also when the tag is left out: the element is there all the same."""
    strays: tuple[str, ...]
    """Names of the elements in the head that do not belong there, each once."""


def read_markup_faults(data: bytes) -> MarkupFaults:
    """Look at a page in an encoding that contains ASCII."""
    if b"</head" not in data[:_LONGEST_HEAD]:
        # Tags in capitals, or left out.
        data = data.lower()
    strays = dict.fromkeys(name.decode("ascii") for name in _TAG.findall(_plain(_head(data))))
    heads, bodies = _outer(data)
    if heads > 1 or bodies > 1:
        # Only when there seem to be several is it worth a close look at comments, scripts and values.
        heads, bodies = _outer(_plain(data.lower()))
    return MarkupFaults(max(1, heads), max(1, bodies), tuple(name for name in strays if name not in _BELONGS))


def _outer(data: bytes) -> tuple[int, int]:
    """The numbers of tags that begin a head, and a body."""
    found = [name.lower() for name in _OUTER.findall(data)]
    return found.count(b"head"), found.count(b"body")


def _head(data: bytes) -> bytes:
    """What stands between the tags of the head, in lower case; nothing when one of them is left out."""
    lowered = data[: max(data.find(b"</head", 0, _LONGEST_HEAD), 0)].lower()
    opened = _HEAD.search(lowered)
    return lowered[lowered.find(b">", opened.end()) + 1 :] if opened else b""


def _plain(data: bytes) -> bytes:
    return _VALUE.sub(b"", _OPAQUE.sub(b"", data))


SAMPLE_TEXT = b"lorem ipsum"
_APP_ROOTS = frozenset({"root", "app", "__next", "__nuxt", "___gatsby", "app-root", "svelte"})
"""Ids of the element that scripts fill, as the usual frameworks name it."""
_META_WITHIN = 1024
"""Bytes in which a declared charset is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageView:
    """A parsed page, to be checked and dropped: it holds the page's text."""

    url: str
    head: PageHead
    titles_in_head: int
    descriptions: tuple[str, ...]
    keywords: str | None
    referrer: str | None
    """The policy in a `<meta name=referrer>`."""
    csp: str | None
    """The policy in a `<meta http-equiv=content-security-policy>`."""
    outside_head: frozenset[str]
    """Which of `description`, `robots`, `canonical`, `hreflang` stand in the body."""
    canonical_references: tuple[str, ...]
    """The href of each `<link rel=canonical>` as written; empty when it has none."""
    hreflang_references: tuple[str, ...]
    nexts: tuple[str, ...]
    prevs: tuple[str, ...]
    amphtml: str | None
    icons: tuple[str, ...]
    directives: tuple[RobotsDirective, ...]
    """Robots directives of the page."""
    header_directives: tuple[RobotsDirective, ...]
    """Robots directives of the `X-Robots-Tag` fields."""
    header_links: tuple[HeaderLink, ...]
    cookies: tuple[ResponseCookie, ...]
    has_doctype: bool
    charset_source: str
    """`header`, `bom`, `meta`, `late` (a meta too far down to be found) or `none`."""
    markup: MarkupFaults
    headings: tuple[HeadingElement, ...]
    images: tuple[ImageElement, ...]
    empty_pictures: int
    """`<picture>` elements without an `<img>`."""
    links: tuple[Link, ...]
    nameless: tuple[UnnamedControl, ...]
    """Links that say nothing: no text, no alternative text, no label."""
    script_references: tuple[str, ...]
    """The href of each `<a>` that only runs a script."""
    malformed_references: tuple[str, ...]
    """The href of each `<a>` that is a broken web address or leads to a file of somebody's machine."""
    protocol_relative: tuple[str, ...]
    """Resources whose address begins with `//`."""
    forms: tuple[FormElement, ...]
    has_password_field: bool
    blocking_scripts: tuple[str, ...]
    """External scripts in the head that stop the page from being shown until they have run."""
    inline_script_bytes: int
    inline_style_bytes: int
    data_uri_bytes: int
    ids: frozenset[str]
    duplicate_ids: tuple[str, ...]
    anchors: frozenset[str]
    """What a fragment can point at."""
    deprecated: tuple[str, ...]
    elements: int
    app_root: str
    """The id of an element that scripts fill; empty when there is none."""
    noscript: str
    """What visitors without scripts are told."""
    content: PageContent
    code: bytes
    """What of `content` stands in code, in the same form; read only where the text has the words of a sample text."""
    content_hash: str | None
    sketch: bytes
    """See `rules.minhash`."""
    text_share: float
    """Bytes of the text that matters for each byte of the page."""
    size: int
    structured: StructuredData
    template: str
    """See `page_structure.template_of`."""


def read_page(document: HtmlDocument, response: Response, resolver: UrlResolver) -> PageView:
    """Read a parsed page once and for all checks."""
    url = response.url
    marked = document.find("[role],[itemscope],[typeof]")
    walk = ElementWalk(document, url, resolver, marked)
    head, linked = walk.head.head(document.encoding), walk.head.linked
    parts = ContentParts(document, [*walk.parts, *marked])
    content = parts.content()
    ids = [element.id for element in document.select("[id]")]
    known = frozenset(filter(None, ids))
    return PageView(
        url=url,
        head=head,
        titles_in_head=walk.titles_in_head,
        descriptions=tuple(walk.descriptions),
        keywords=walk.named.get("keywords"),
        referrer=walk.named.get("referrer"),
        csp=walk.csp,
        outside_head=frozenset(walk.outside_head),
        canonical_references=tuple(walk.canonicals),
        hreflang_references=tuple(walk.hreflangs),
        nexts=linked("next"),
        prevs=linked("prev", "previous"),
        amphtml=next(iter(linked("amphtml")), None),
        icons=linked("icon", "apple-touch-icon"),
        directives=tuple(
            islice((directive for agent, content in head.meta_robots for directive in directives(agent, content)), MAX_STATEMENTS)
        ),
        header_directives=robots_tags(response.header_all("x-robots-tag"))[:MAX_STATEMENTS],
        header_links=header_links(response.header_all("link"), url),
        cookies=cookies(response.header_all("set-cookie")),
        has_doctype=_has_doctype(document),
        charset_source=_charset_source(response, walk.has_charset),
        markup=read_markup_faults(response.body),
        headings=tuple(heading._replace(is_aside=True) if parts.leaves_out(at) else heading for heading, at in walk.headings),
        images=tuple(walk.images),
        empty_pictures=walk.empty_pictures,
        links=tuple(walk.links.links),
        nameless=tuple(walk.nameless),
        script_references=tuple(walk.script_references),
        malformed_references=tuple(walk.malformed),
        protocol_relative=tuple(walk.protocol_relative),
        forms=tuple(walk.forms),
        has_password_field=walk.has_password,
        blocking_scripts=tuple(walk.blocking_scripts),
        inline_script_bytes=walk.script_bytes,
        inline_style_bytes=walk.style_bytes,
        data_uri_bytes=walk.data_uri_bytes,
        ids=known,
        duplicate_ids=_twice(ids)[:MAX_STATEMENTS] if len(known) < len(ids) else (),
        anchors=known | walk.links.names,
        deprecated=tuple(walk.deprecated),
        elements=walk.elements,
        app_root=next(iter(_APP_ROOTS & known), ""),
        noscript=" ".join(text_of(element, 200) for tag, element in walk.parts if tag == "noscript")[:MAX_TEXT],
        content=content,
        code=_code(document) if SAMPLE_TEXT in content.normal else b"",
        content_hash=content.hash,
        sketch=sketch(content.shingles()),
        text_share=len(content.normal) / max(1, document.size),
        size=len(response.body),
        structured=structured(document, walk.scripts, (element for _, element in marked)),
        template=template_of(document),
    )


def _code(document: HtmlDocument) -> bytes:
    return normalise_content("\n".join(element.text() for element in document.select("pre,:not(pre)>code"))).normal


def _has_doctype(document: HtmlDocument) -> bool:
    node = document.tree.root.prev if document.tree.root is not None else None
    for _ in range(20):
        if node is None:
            return False
        if node.tag == "-doctype":
            return True
        node = node.prev
    return False


def _charset_source(response: Response, has_meta: bool) -> str:
    if response.body.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        return "bom"
    if header_charset(response.header("content-type") or ""):
        return "header"
    start = response.body[:_META_WITHIN].lower()
    if has_meta:
        return "meta" if b"charset" in start else "late"
    return "meta" if start.startswith(b"<?xml") and b"encoding" in start else "none"


def _twice(ids: list[str | None]) -> tuple[str, ...]:
    seen: set[str] = set()
    again: dict[str, None] = {}
    for name in ids:
        if name and name in seen:
            again[name] = None
        elif name:
            seen.add(name)
    return tuple(again)
