"""Reads the menu of a page and its links to the next and previous page.

They are read before `noise` removes them. URLs are absolute and without fragments; links within the page are ignored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tadoru.jobs.docs.content.phrases import is_phrase
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
