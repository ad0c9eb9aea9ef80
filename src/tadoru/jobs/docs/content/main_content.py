"""Finds the main content of a page: in the content area of its generator, or by the structure of the page."""

from __future__ import annotations

from dataclasses import dataclass

from tadoru.jobs.docs.content import navigation, noise, page_info, react_streaming, score
from tadoru.jobs.docs.content.generators import DocsGenerator, ElementNames, recognise_generator
from tadoru.jobs.docs.content.navigation import NavItem
from tadoru.jobs.docs.content.score import ContentChoice
from tadoru.parse.html import Element, HtmlDocument
from tadoru.rules.url import UrlResolver

_MIN_TEXT_LENGTH = 25
"""Characters; a content area with less is empty, or the text of this page is elsewhere."""
_ANY_NAVIGATION = "nav,[role=navigation]"
_LOW_CONFIDENCE = 0.2
GENERATOR_CONFIDENCE = 0.95
"""The confidence for text in the content area of a known generator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MainContent:
    """The main content of a page. `root` is valid as long as the page's tree exists."""

    root: Element
    generator: str | None
    title: str
    breadcrumbs: tuple[str, ...]
    navigation: tuple[NavItem, ...]
    """The pages in the order of this page's menu."""
    next_url: str | None
    prev_url: str | None
    language: str | None
    version: str | None
    confidence: float
    """From 0 to 1."""
    reason: str
    """Why this element was chosen."""
    is_tool: bool = False
    """Whether the page is a tool of the generator, such as its search page."""


def find_main_content(
    document: HtmlDocument, url: str, resolver: UrlResolver | None = None, *, takes_all: bool = False
) -> MainContent:
    """The main content of a page. The page's tree is changed: everything that is not content is removed from the result.

    `resolver` may be shared between the pages of a site. `takes_all`: the whole page is content, except what is never shown; for
    pages whose markup misleads the other rules.
    """
    resolver = resolver or UrlResolver()
    body = document.tree.body or document.tree.root
    assert body is not None  # The parser always creates one.
    react_streaming.resolve_streamed(body)
    noise.remove_invisible(body)
    element_names = ElementNames.collect(document)
    generator = recognise_generator(element_names)
    base = document.base_url(url)
    breadcrumbs = page_info.read_breadcrumbs(element_names)
    version = page_info.read_version(element_names, document.title() or "")
    menu = navigation.read_navigation(document, generator.navigation if generator else _ANY_NAVIGATION, base, resolver)
    next_url, prev_url = navigation.read_next_and_previous(document, url, base, resolver)
    _move_footnotes(document)
    is_tool = generator is not None and generator.tools != "" and bool(document.select(generator.tools))
    if takes_all:
        choice = ContentChoice(
            body, _LOW_CONFIDENCE, "the whole page, because almost none of its paragraphs were found otherwise"
        )
    else:
        choice = _generator_content(document, generator) or score.choose_content(document, body)
        noise.remove_noise(choice.element, generator.noise if generator else "")
    title = page_info.read_title(document, choice.element)
    page_info.drop_site_name(document, choice.element, title)
    return MainContent(
        root=choice.element,
        generator=generator.name if generator else None,
        title=title,
        breadcrumbs=breadcrumbs,
        navigation=navigation.drop_if_only_steps(menu, next_url, prev_url),
        next_url=next_url,
        prev_url=prev_url,
        language=page_info.read_language(document),
        version=version,
        confidence=choice.confidence,
        reason=choice.reason,
        is_tool=is_tool,
    )


def _move_footnotes(document: HtmlDocument) -> None:
    """Move footnotes that directly follow the content area (Asciidoctor) to its end."""
    places, notes = document.select("#content"), document.select("#content + #footnotes")
    if places and notes:
        places[0].insert_child(notes[0])
        notes[0].decompose()


def _generator_content(document: HtmlDocument, generator: DocsGenerator | None) -> ContentChoice | None:
    """The content area of this generator; None if it is missing or empty, as on handwritten pages."""
    if generator is None:
        return None
    for selectors in generator.content:
        found = [element for element in document.select(selectors) if len(element.text()) >= _MIN_TEXT_LENGTH]
        if found:
            return ContentChoice(max(found, key=_length), GENERATOR_CONFIDENCE, f"content area of {generator.name} ({selectors})")
    return None


def _length(element: Element) -> int:
    return len(element.text())
