"""Finds the main content of a page: in the content area of its generator, or by the structure of the page.

Pages that React streamed are assembled first: the server sends `<template id="B:1">` with a placeholder for a slow part, and the
part itself at the end of the page in `<div hidden id="S:1">`; a script moves it into place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from operator import itemgetter

from tadoru.jobs.docs.content import navigation, noise, page_info, score
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
    resolve_streamed(body)
    noise.remove_invisible(body)
    element_names = ElementNames.collect(document)
    generator = recognise_generator(element_names)
    base = document.base_url(url)
    breadcrumbs = page_info.read_breadcrumbs(element_names)
    version = page_info.read_version(element_names, document.title() or "")
    menu = navigation.read_navigation(document, generator.navigation if generator else _ANY_NAVIGATION, base, resolver)
    next_url, prev_url = navigation.read_next_and_previous(document, url, base, resolver)
    if element_names.has("#content") and element_names.has("#footnotes"):
        _move_footnotes(document)
    is_tool = generator is not None and generator.tools != "" and bool(document.select(generator.tools))
    if takes_all:
        choice = ContentChoice(
            body, _LOW_CONFIDENCE, "the whole page, because almost none of its paragraphs were found otherwise"
        )
    else:
        choice = _generator_content(document, generator) or score.choose_content(document, body)
        noise.remove_noise(choice.element, generator.noise if generator else "")
    headings = choice.element.css(noise.ANY_HEADING)
    if not takes_all:
        noise.unwrap_self_links(headings)
    title = page_info.read_title(document, choice.element, headings, element_names)
    page_info.drop_site_name(document, headings, title)
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
        lengths = [(len(element.text()), element) for element in document.select(selectors)]
        length, element = max(lengths, key=itemgetter(0), default=(0, None))
        if element is not None and length >= _MIN_TEXT_LENGTH:
            return ContentChoice(element, GENERATOR_CONFIDENCE, f"content area of {generator.name} ({selectors})")
    return None


_END_COMMENT = "/$"
"""The comment at the end of a placeholder."""
_MAX_PIECES = 200
_NAME = re.compile(r"[\w-]{1,40}")
_MAX_DEPTH = 300


def resolve_streamed(body: Element) -> None:
    """Move every streamed part into its place. Other pages are not changed."""
    late = [(piece.attributes.get("id") or "")[2:] for piece in body.css('div[hidden][id^="S:"]')]
    for name in late[:_MAX_PIECES]:
        # Looked up each time: moving one part may have removed another one with its placeholder.
        piece = body.css_first(f'div[id="S:{name}"]') if _NAME.fullmatch(name) else None
        place = body.css_first(f'template[id="B:{name}"]') if piece is not None else None
        if piece is not None and place is not None and not _is_within(place, piece):
            _move_piece(piece, place)


def _is_within(place: Element, piece: Element) -> bool:
    """Whether a placeholder is inside its own part, or nested too deeply to check."""
    above: Element | None = place
    for _ in range(_MAX_DEPTH):
        if above is None:
            return False
        if above.mem_id == piece.mem_id:
            return True
        above = above.parent
    return True


def _move_piece(piece: Element, place: Element) -> None:
    _drop_placeholder(place, piece)
    while (child := piece.first_child) is not None:
        place.insert_before(child, move=True)
    place.decompose()
    piece.decompose()


def _drop_placeholder(place: Element, piece: Element) -> None:
    """Remove the placeholder content up to the end comment; nothing if there is no comment or the part is in between."""
    shown: list[Element] = []
    node = place.next
    while node is not None and not (node.is_comment_node and (node.comment_content or "").strip() == _END_COMMENT):
        shown.append(node)
        node = node.next
    if node is not None and not any(_is_within(piece, each) for each in shown):
        for each in shown:
            each.decompose()
