"""Images that tell a reader nothing: icons, avatars, badges, and of two that differ only in the darkness of the screen one."""

from __future__ import annotations

import re

from tadoru.parse.html import Attributes, Element

_ICON = re.compile(r"(?:.*\b)?(?:icon|logo|avatar|emoji|badge|spinner)s?", re.IGNORECASE)
_ICON_CLASS = re.compile(r"(?:^|[\s_-])(?:icon|avatar|emoji|logo)s?(?:$|[\s_-])", re.IGNORECASE)
_ICON_SOURCE = re.compile(r"gravatar\.com/|/avatars?[/.]|//avatars\.|//img\.shields\.io/|/badge\.svg|/emoji/", re.IGNORECASE)
_FOLDING = frozenset({"+", "-"})
"""What signs are called that a click unfolds something with."""
_STEPS = frozenset("up top home prev previous next back contents index toc".split())
"""What arrows are called that lead to other pages."""
_SMALL = 32
"""Pixels on each side."""
_LEAST_ALT = 8
"""Characters: shorter descriptions repeat by chance."""


def find_idle(root: Element) -> list[Element]:
    """The images to leave out."""
    idle: list[Element] = []
    last: Element | None = None
    last_alt = ""
    for image in root.css("img"):
        attributes = image.attributes
        alt = (attributes.get("alt") or "").strip()
        if _is_icon(attributes, alt.strip("[]() ")) or _is_arrow(image, alt):
            idle.append(image)
            continue
        if last is not None and alt == last_alt and len(alt) >= _LEAST_ALT:
            dark = _is_dark(last)
            if dark != _is_dark(image):
                idle.append(last if dark else image)
        last, last_alt = image, alt
    return idle


def _is_icon(attributes: Attributes, alt: str) -> bool:
    if alt in _FOLDING:
        return True
    if alt and (_ICON.fullmatch(alt) or _ICON_CLASS.search(attributes.get("class") or "")):
        return True
    if _ICON_SOURCE.search((attributes.get("src") or "")[:300]):
        return True
    return _is_small(attributes.get("width")) and _is_small(attributes.get("height"))


def _is_arrow(image: Element, alt: str) -> bool:
    return alt.lower().strip("[]() ") in _STEPS and image.parent is not None and image.parent.tag == "a"


def _is_small(side: str | None) -> bool:
    return side is not None and side.removesuffix("px").isdecimal() and int(side.removesuffix("px")[:6]) <= _SMALL


def _is_dark(image: Element) -> bool:
    """Whether an image, or the element it stands in, is marked as the one for a dark screen."""
    parent = image.parent
    own = image.attributes
    marks = (own.get("class"), own.get("src"), own.get("srcset"), parent.attributes.get("class") if parent else None)
    return any(mark and "dark" in mark.replace("dark:hidden", "") for mark in marks)
