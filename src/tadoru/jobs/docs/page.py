"""Reads one page of documentation: its main content as Markdown, its metadata, links and API descriptions. Pure."""

from __future__ import annotations

import re
from contextlib import nullcontext
from dataclasses import dataclass

from tadoru.jobs.docs.content import MainContent, find_main_content
from tadoru.jobs.docs.markdown import ConvertOptions, MarkdownDocument, convert
from tadoru.jobs.docs.titles import apply_title
from tadoru.model.web import Link, LinkKind
from tadoru.parse import links as link_parser
from tadoru.parse.gc_pause import paused_gc
from tadoru.parse.html import Element, HtmlDocument
from tadoru.parse.page_limits import MAX_DOC_LINKS, MAX_DOC_TAGS, markdown_limit
from tadoru.rules.url import UrlResolver

_META_NAMES = {
    "description": "description",
    "keywords": "keywords",
    "author": "author",
    "og:title": "ogTitle",
    "og:type": "ogType",
}
MAX_METADATA_LENGTH = 2_000
_LARGE_PAGE = 20_000
"""Tags."""
_MAX_READ_AGAIN = 2_000_000
"""Bytes of a page that is parsed a second time: both trees are in memory for a moment."""
_MIN_PARAGRAPH_WORDS = 200
"""Words in paragraphs; if less than a tenth of more of them is found, the page is read again with fewer rules."""
_PARAGRAPH = re.compile(rb"<p[\s>](?:[^<]++|<(?!/?p[\s>]))*+", re.IGNORECASE)
"""The markup from the start of a paragraph to its end, or to the start of the next one."""
_MAX_HEADINGS = 1_000
"""Headings of level 1 that are compared with the title."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocPage:
    """A page of documentation."""

    main: MainContent
    markdown: MarkdownDocument
    metadata: dict[str, str | None]
    """title, description, keywords, author, ogTitle and ogType; and `canonical` if that is another URL."""
    links: list[Link]
    alternate: str | None
    """The URL of the page's Markdown version (`<link rel=alternate>`)."""
    has_scripts: bool
    has_heading: bool
    """Whether the main content has a heading."""
    specifications: list[str]
    """URLs of API descriptions that the page displays or declares."""
    left_out: tuple[str, ...]
    """As `Document.left_out`."""


def read_doc_page(body: bytes, content_type: str | None, url: str, resolver: UrlResolver) -> DocPage:
    """Read a page. Raises PageTooComplex."""
    with paused_gc() if body.count(b"<") > _LARGE_PAGE else nullcontext():
        return _read_doc_page(body, content_type, url, resolver)


def _read_doc_page(body: bytes, content_type: str | None, url: str, resolver: UrlResolver) -> DocPage:
    """Read a page. Links and metadata are read first, because finding the main content removes everything else from the tree."""
    document = HtmlDocument.parse(body, content_type, MAX_DOC_TAGS, MAX_DOC_LINKS)
    is_partial = bool(document.left_out)
    links = link_parser.extract(document, url, resolver).links
    alternate, canonical = _declared_urls(document, url, resolver)
    metadata = _metadata(document) | ({"canonical": canonical} if canonical is not None and canonical != url else {})
    scripts = document.select("script")
    has_tex = any(map(_renders_tex, scripts))
    described = find_specifications(document, url, resolver)
    links += [Link(found, LinkKind.A, "", "", len(links) + at, "") for at, found in enumerate(described)]
    base = document.base_url(url)
    main = find_main_content(document, url, resolver)
    words = len(main.root.text().split(None, _MIN_PARAGRAPH_WORDS))
    if words < _MIN_PARAGRAPH_WORDS and len(body) <= _MAX_READ_AGAIN:
        enough = max(_MIN_PARAGRAPH_WORDS, 10 * words)
        if _may_have_words(body, enough):
            again = HtmlDocument.parse(body, content_type, MAX_DOC_TAGS, MAX_DOC_LINKS)
            if _paragraph_words(again) > enough:
                document, main = again, find_main_content(again, url, resolver, takes_all=True)
    first = main.root.css_first("h1,h2,h3,h4")
    repeats = first is not None and _collapsed_text(first).startswith(main.title)
    has_it = any(_collapsed_text(heading) == main.title for heading in main.root.css("h1")[:_MAX_HEADINGS])
    limit = markdown_limit(len(body))
    options = ConvertOptions(title=None if repeats else main.title, has_tex=has_tex, most_characters=limit, is_partial=is_partial)
    markdown = convert(main.root, base=base, options=options)
    document.leave_out(*markdown.left_out)
    markdown = apply_title(markdown, main.title, begins_with_it=repeats, has_it=has_it)
    return DocPage(
        main=main,
        markdown=markdown,
        metadata=metadata,
        links=links,
        alternate=alternate,
        has_scripts=bool(scripts),
        has_heading=first is not None,
        specifications=described,
        left_out=tuple(document.left_out),
    )


def _may_have_words(body: bytes, number: int) -> bool:
    """Whether the paragraphs of a page may have more words than this: a quick check, which counts words of tags too."""
    if b"\0" in body[:1_000]:  # Not in an encoding that extends ASCII.
        return True
    return sum(len(found.group().split()) for found in _PARAGRAPH.finditer(body)) > number


def _paragraph_words(document: HtmlDocument) -> int:
    """The number of words in the paragraphs of a page, outside its navigation and footer."""
    count = 0
    for paragraph in document.select("p"):
        around = paragraph.parent
        if around is None or around.tag not in {"nav", "footer", "aside", "noscript", "template"}:
            count += len(paragraph.text().split())
    return count


def _collapsed_text(heading: Element) -> str:
    return " ".join(heading.text().split())


def _renders_tex(script: Element) -> bool:
    """Whether a script renders formulas in the text: MathJax, or the extension of KaTeX that does so."""
    attributes = script.attributes
    names = " ".join(attributes.get(name) or "" for name in ("src", "type", "id")).lower()
    return "mathjax" in names or ("katex" in names and "auto-render" in names)


def _metadata(document: HtmlDocument) -> dict[str, str | None]:
    found: dict[str, str | None] = {"title": document.title(), **dict.fromkeys(_META_NAMES.values())}
    for element in document.select("meta[content]"):
        attributes = element.attributes
        name = _META_NAMES.get((attributes.get("name") or attributes.get("property") or "").lower())
        if name is not None and found[name] is None:
            found[name] = " ".join((attributes.get("content") or "").split())[:MAX_METADATA_LENGTH] or None
    return found


def alternate_url(document: HtmlDocument, url: str, resolver: UrlResolver) -> str | None:
    """The URL of the Markdown version that a page declares."""
    return _declared_urls(document, url, resolver)[0]


def _declared_urls(document: HtmlDocument, url: str, resolver: UrlResolver) -> tuple[str | None, str | None]:
    """The URL of the Markdown version and the canonical URL that a page declares."""
    base = document.base_url(url)
    found: dict[str, str] = {}
    for element in document.select("link[rel]"):
        attributes = element.attributes
        rel, kind = (attributes.get("rel") or "").lower().split(), (attributes.get("type") or "").lower()
        name = "alternate" if "alternate" in rel and kind.startswith("text/markdown") else "canonical"
        if name in rel and name not in found:
            resolved = resolver.resolve(attributes.get("href") or "", base)
            if resolved is not None:
                found[name] = resolved[0]
    return found.get("alternate"), found.get("canonical")


_SPEC_ATTRIBUTES = {
    "redoc": "spec-url",
    "rapi-doc": "spec-url",
    "elements-api": "apidescriptionurl",
    "asyncapi-component": "schemaurl",
    "link": "href",
}
_SPEC_ELEMENTS = (
    "script,redoc[spec-url],rapi-doc[spec-url],elements-api[apidescriptionurl],asyncapi-component[schemaurl],"
    "link[rel~='service-desc'][href]"
)
_VIEWER = re.compile(r"SwaggerUIBundle\s*\(|Redoc\.init\s*\(|createApiReference\s*\(|AsyncApiStandalone\.render\s*\(")
_SPEC_URL = re.compile(r"""(?:\burl["']?\s*:|Redoc\.init\s*\()\s*(["'])((?:(?!\1)[^\\\n]|\\/){1,2000})\1""")
MAX_SPECIFICATIONS = 20
_MAX_SPEC_URLS = 1_000
_MAX_SCRIPT_LENGTH = 200_000


def find_specifications(document: HtmlDocument, url: str, resolver: UrlResolver) -> list[str]:
    """URLs of API descriptions that a page displays or declares without a link, each once, in document order.

    They are in the attributes of elements that a script replaces, in the settings of such a script, or in the head.
    """
    base = document.base_url(url)
    named: list[str] = []
    for element in document.select(_SPEC_ELEMENTS):
        attributes = element.attributes
        if (attribute := _SPEC_ATTRIBUTES.get(element.tag or "")) is not None:
            named.append(attributes.get(attribute) or "")
        elif attributes.get("id") == "api-reference" and attributes.get("data-url"):
            named.append(attributes["data-url"] or "")
        elif "src" not in attributes:
            text = element.text(deep=True)[:_MAX_SCRIPT_LENGTH]
            if _VIEWER.search(text):
                named += [found[2].replace("\\/", "/") for found in _SPEC_URL.finditer(text)]
    resolved = (resolver.resolve(name, base) for name in named[:_MAX_SPEC_URLS] if name.strip())
    return list(dict.fromkeys(found[0] for found in resolved if found is not None))[:MAX_SPECIFICATIONS]
