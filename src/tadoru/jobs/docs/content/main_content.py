"""Finds the main content of a page: in the content area of its generator, or by the structure of the page.

Pages that React streamed are assembled first: the server sends `<template id="B:1">` with a placeholder for a slow part, and the
part itself at the end of the page in `<div hidden id="S:1">`; a script moves it into place.

The menu of a page and its links to the next and previous page are read before `noise` removes them. URLs are absolute and without
fragments; links within the page are ignored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from operator import itemgetter

from tadoru.jobs.docs.content import noise, page_info, score
from tadoru.jobs.docs.content.generators import DocsGenerator, ElementNames, recognise_generator
from tadoru.jobs.docs.content.phrases import is_phrase
from tadoru.jobs.docs.content.score import ContentChoice
from tadoru.parse.html import Element, HtmlDocument, text_of
from tadoru.rules.url import UrlResolver, origin

_MAX_ITEMS = 5_000
_LISTS = frozenset({"ul", "ol", "dl"})
_STEPS = "link[rel],a[rel],a[class*=next],a[class*=prev],a[accesskey]"
_STEP_CLASS = re.compile(r"(?:^|[\s_-])(next|prev|previous)(?:$|[\s_-])")
_ACCESS_KEYS = {"n": "next", "p": "prev"}
_DIRECTIONS = {"next": "next", "prev": "prev", "previous": "prev"}


@dataclass(frozen=True, slots=True)
class NavItem:
    """One item of a site's menu. Level 0 is the outermost; items without a URL, which only group others, are left out."""

    title: str
    url: str
    level: int


def read_navigation(document: HtmlDocument, selectors: str, base: str, resolver: UrlResolver) -> tuple[NavItem, ...]:
    """The items of the largest menu, each URL once, with their nesting levels."""
    candidates = [menu for menu in document.select(selectors) if not _is_breadcrumb(menu)] if selectors else []
    menus = [(menu, links) for menu in candidates if (links := menu.css("a[href]"))]
    if not menus:
        return ()
    menu, links = max(menus, key=lambda found: len(found[1]))
    levels = {menu.mem_id: 0 if menu.tag in _LISTS else -1}
    site = origin(base)
    items: dict[str, NavItem] = {}
    for link in links[:_MAX_ITEMS]:
        href = (link.attributes.get("href") or "").strip()
        resolved = resolver.resolve(href, base) if href and not href.startswith("#") else None
        if resolved is None or resolved[0] in items or origin(resolved[0]) != site:
            continue
        title = text_of(link, 300)
        if title and not is_phrase(title):
            items[resolved[0]] = NavItem(title, resolved[0], _level(link, levels))
    return _from_zero(tuple(items.values()))


def _is_breadcrumb(menu: Element) -> bool:
    """Whether a menu consists of breadcrumbs."""
    return any("breadcrumb" in (menu.attributes.get(name) or "").lower() for name in ("class", "aria-label", "id"))


def drop_if_only_steps(navigation: tuple[NavItem, ...], *steps: str | None) -> tuple[NavItem, ...]:
    """The menu; empty if it has only links to the next and previous page."""
    return navigation if any(item.url not in steps for item in navigation) else ()


def _level(link: Element, levels: dict[int, int]) -> int:
    """The number of lists around a link within the menu. Each element is visited once."""
    path: list[tuple[int, bool]] = []
    element = link.parent
    level = -1
    while element is not None:
        known = levels.get(element.mem_id)
        if known is not None:
            level = known
            break
        path.append((element.mem_id, element.tag in _LISTS))
        element = element.parent
    for key, is_list in reversed(path):
        level += is_list
        levels[key] = level
    return max(0, level)


def _from_zero(items: tuple[NavItem, ...]) -> tuple[NavItem, ...]:
    lowest = min((item.level for item in items), default=0)
    return tuple(NavItem(item.title, item.url, item.level - lowest) for item in items) if lowest else items


def read_next_and_previous(document: HtmlDocument, url: str, base: str, resolver: UrlResolver) -> tuple[str | None, str | None]:
    """The URLs of the next and previous page. `rel` takes precedence over classes and access keys."""
    found: dict[tuple[str, int], str] = {}
    for element in document.select(_STEPS):
        attributes = element.attributes
        href = attributes.get("href") or ""
        direction, rank = _direction(attributes)
        if not direction or not href or href.startswith("#") or (direction, rank) in found:
            continue
        resolved = resolver.resolve(href, base)
        if resolved is not None and resolved[0] != url:
            found[direction, rank] = resolved[0]
    return found.get(("next", 0)) or found.get(("next", 1)), found.get(("prev", 0)) or found.get(("prev", 1))


def _direction(attributes: dict[str, str | None]) -> tuple[str, int]:
    for word in (attributes.get("rel") or "").lower().split():
        if word in _DIRECTIONS:
            return _DIRECTIONS[word], 0
    if key := _ACCESS_KEYS.get(attributes.get("accesskey") or ""):
        return key, 1
    match = _STEP_CLASS.search((attributes.get("class") or "").lower())
    return (_DIRECTIONS[match[1]], 1) if match else ("", 1)


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
    menu = read_navigation(document, generator.navigation if generator else _ANY_NAVIGATION, base, resolver)
    next_url, prev_url = read_next_and_previous(document, url, base, resolver)
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
        navigation=drop_if_only_steps(menu, next_url, prev_url),
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
            _drop_placeholder(place, piece)
            while (child := piece.first_child) is not None:
                place.insert_before(child, move=True)
            place.decompose()
            piece.decompose()


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
