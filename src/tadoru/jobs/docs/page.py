"""One page of documentation, read: what of it is the text, that text as Markdown, and what the page says about itself. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from tadoru.jobs.docs.content import Main, find_main
from tadoru.jobs.docs.markdown import ConvertOptions, Markdown, convert
from tadoru.jobs.docs.shown import specifications
from tadoru.jobs.docs.titles import titled
from tadoru.model.web import Link, LinkKind
from tadoru.parse import links as link_parser
from tadoru.parse.html import Document, Element
from tadoru.parse.page_limits import markdown_limit
from tadoru.rules.url import Resolver

_NAMES = {"description": "description", "keywords": "keywords", "author": "author", "og:title": "ogTitle", "og:type": "ogType"}
MAX_TEXT = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class DocPage:
    """A page of documentation."""

    main: Main
    markdown: Markdown
    metadata: dict[str, str | None]
    """The seed's fields: title, description, keywords, author, ogTitle, ogType."""
    links: list[Link]
    alternate: str | None
    """Where the page says its own Markdown is."""
    has_scripts: bool
    has_heading: bool
    """Whether the text has a heading of its own."""
    specifications: list[str]
    """Where the description of an API is that the page shows, or says is its own."""
    left_out: tuple[str, ...]
    """As `Document.left_out`."""


def read_doc_page(body: bytes, content_type: str | None, url: str, resolver: Resolver) -> DocPage:
    """Read a page. Links and metadata first: finding the text takes everything else out of the tree."""
    document = Document.parse(body, content_type)
    links = link_parser.extract(document, url, resolver)
    metadata = _metadata(document)
    alternate = alternate_of(document, url, resolver)
    scripts = document.select("script")
    has_tex = any(_sets_formulas(script) for script in scripts)
    described = specifications(document, url, resolver)
    links += [Link(found, LinkKind.A, "", "", len(links) + at, "") for at, found in enumerate(described)]
    base = document.base_url(url)
    main = find_main(document, url, resolver)
    first = main.root.css_first("h1,h2,h3,h4")
    repeats = first is not None and _words(first).startswith(main.title)
    has_it = any(_words(heading) == main.title for heading in main.root.css("h1"))
    limit = markdown_limit(len(body))
    options = ConvertOptions(title=None if repeats else main.title, has_tex=has_tex, most_characters=limit)
    markdown = convert(main.root, base=base, options=options)
    if markdown.is_cut:
        document.leave_out(f"its Markdown has more than {limit:,} characters")
    markdown = titled(markdown, main.title, begins_with_it=repeats, has_it=has_it)
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


def _words(heading: Element) -> str:
    return " ".join(heading.text().split())


def _sets_formulas(script: Element) -> bool:
    attributes = script.attributes
    return any("mathjax" in (attributes.get(name) or "").lower() for name in ("src", "type", "id"))


def _metadata(document: Document) -> dict[str, str | None]:
    found: dict[str, str | None] = {"title": document.title(), **dict.fromkeys(_NAMES.values())}
    for element in document.select("meta[content]"):
        attributes = element.attributes
        name = _NAMES.get((attributes.get("name") or attributes.get("property") or "").lower())
        if name is not None and found[name] is None:
            found[name] = " ".join((attributes.get("content") or "").split())[:MAX_TEXT] or None
    return found


def alternate_of(document: Document, url: str, resolver: Resolver) -> str | None:
    """Where a page says that it can be had as Markdown."""
    base = document.base_url(url)
    for element in document.select("link[rel]"):
        attributes = element.attributes
        rel, kind = (attributes.get("rel") or "").lower().split(), (attributes.get("type") or "").lower()
        if "alternate" in rel and kind.startswith("text/markdown"):
            resolved = resolver.resolve(attributes.get("href") or "", base)
            if resolved is not None:
                return resolved[0]
    return None
