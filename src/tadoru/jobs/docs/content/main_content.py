"""Finds the documentation on a page: in the generator's own place for it, or where the page's shape says; without furniture."""

from __future__ import annotations

from dataclasses import dataclass

from tadoru.jobs.docs.content import navigation, noise, page_info, react_streaming, score
from tadoru.jobs.docs.content.generators import DocsGenerator, ElementNames, recognise_generator
from tadoru.jobs.docs.content.navigation import NavItem
from tadoru.jobs.docs.content.score import ContentChoice
from tadoru.parse.html import Document, Element
from tadoru.rules.url import UrlResolver

_MIN_TEXT_LENGTH = 25
"""Characters: a place with less has not been filled, or the text of this page is elsewhere."""
_ANY_NAVIGATION = "nav,[role=navigation]"
GENERATOR_CONFIDENCE = 0.95
"""How sure we are of text that stands where the generator puts it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MainContent:
    """The documentation on a page. `root` lives as long as the page's tree does; everything else is text."""

    root: Element
    generator: str | None
    title: str
    breadcrumbs: tuple[str, ...]
    navigation: tuple[NavItem, ...]
    """The site's reading order as this page's menu has it."""
    next_url: str | None
    prev_url: str | None
    language: str | None
    version: str | None
    confidence: float
    """From 0 to 1."""
    reason: str
    """Why this part was taken."""
    is_tool: bool = False
    """Whether the page is one that the generator adds for its own use, such as its search."""


def find_main_content(document: Document, url: str, resolver: UrlResolver | None = None) -> MainContent:
    """The documentation on a page. The page's tree is changed: what is not text is taken out of the part that is returned.

    `resolver` is one that remembers the links of a site, when there is one.
    """
    resolver = resolver or UrlResolver()
    body = document.tree.body or document.tree.root
    assert body is not None  # the parser always makes one
    react_streaming.resolve_streamed(body)
    noise.remove_invisible(body)
    census = ElementNames.take(document)
    generator = recognise_generator(census)
    base = document.base_url(url)
    breadcrumbs = page_info.read_breadcrumbs(census)
    version = page_info.read_version(census, document.title() or "")
    menu = navigation.read_navigation(document, generator.navigation if generator else _ANY_NAVIGATION, base, resolver)
    next_url, prev_url = navigation.read_next_and_previous(document, url, base, resolver)
    _move_footnotes(document)
    is_tool = generator is not None and generator.tools != "" and bool(document.select(generator.tools))
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


def _move_footnotes(document: Document) -> None:
    """Put footnotes that stand right behind the place of the text (Asciidoctor) at its end."""
    places, notes = document.select("#content"), document.select("#content + #footnotes")
    if places and notes:
        places[0].insert_child(notes[0])
        notes[0].decompose()


def _generator_content(document: Document, generator: DocsGenerator | None) -> ContentChoice | None:
    """Where this generator puts the text; None when nothing is there, as on pages that a site has made by hand."""
    if generator is None:
        return None
    for selectors in generator.content:
        found = [element for element in document.select(selectors) if len(element.text()) >= _MIN_TEXT_LENGTH]
        if found:
            return ContentChoice(
                max(found, key=_length), GENERATOR_CONFIDENCE, f"the place where {generator.name} puts the text ({selectors})"
            )
    return None


def _length(element: Element) -> int:
    return len(element.text())
