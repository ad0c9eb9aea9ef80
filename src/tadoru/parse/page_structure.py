"""The structure of a page: which of its landmarks each link stands in, and the skeleton that pages of one template share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from hashlib import blake2b

from tadoru.parse.content import is_in_article
from tadoru.parse.html import Element, HtmlDocument, Picked
from tadoru.rules.url import split_url

CONTENT, NAV, HEADER, FOOTER, ASIDE = range(1, 6)
"""Numbers of `LANDMARKS`."""
_TAGS = {"nav": NAV, "header": HEADER, "footer": FOOTER, "aside": ASIDE, "main": CONTENT}
_ROLES = {"navigation": NAV, "banner": HEADER, "contentinfo": FOOTER, "complementary": ASIDE, "main": CONTENT, "search": NAV}
_MAX_LANDMARKS = 100
_HIGHEST = 60
"""How far up an element is looked for."""


def landmarks_of(found: Sequence[Picked], marked: Iterable[Picked]) -> bytes:
    """The number of the landmark around each of these elements, which are in document order. `marked`: elements with a role."""
    numbers = bytearray(bytes([CONTENT])) * len(found)
    for start, element, number in sorted(_landmarks(found, marked), key=lambda one: one[0]):
        low, high = start, len(found)
        while low < high:  # What is inside an element follows it without a gap.
            middle = (low + high) // 2
            if _is_inside(found[middle][1], element.mem_id):
                low = middle + 1
            else:
                high = middle
        numbers[start:low] = bytes([number]) * (low - start)
    return bytes(numbers)


def _landmarks(found: Sequence[Picked], marked: Iterable[Picked]) -> list[tuple[int, Element, int]]:
    """Each landmark with the index of the first element after its beginning."""
    places = [
        (at + 1, element, _TAGS[tag])
        for at, (tag, element) in enumerate(found)
        if tag in _TAGS and not (tag in ("header", "footer") and is_in_article(element))
    ][:_MAX_LANDMARKS]
    others = [(element, role) for tag, element in marked if tag not in _TAGS and (role := _role(element)) in _ROLES]
    if others:
        index = {element.mem_id: at for at, (tag, element) in enumerate(found) if tag == "a"}
        for element, role in others[:_MAX_LANDMARKS]:
            first = element.css_first("a")
            if first is not None and first.mem_id in index:
                places.append((index[first.mem_id], element, _ROLES[role]))
    return places


def _role(element: Element) -> str:
    return (element.attributes.get("role") or "").strip().lower()


def _is_inside(element: Element, ancestor: int) -> bool:
    node = element.parent
    for _ in range(_HIGHEST):
        if node is None:
            return False
        if node.mem_id == ancestor:
            return True
        node = node.parent
    return False


_DEEPEST = 8
_MOST_NODES = 120
_ENOUGH = 6
"""Parts of a layout after which no deeper level is read: below them pages differ by what they are about."""
_UNREAD = frozenset({"main", "article", "section", "form", "table"})
"""What is not looked into."""
_SKELETON = frozenset("div main header footer nav aside section article form table frameset center".split())
"""The elements that layouts are made of."""
_CHANGING = re.compile(r"\d|active|current|open|selected|hidden|loaded|js\b", re.IGNORECASE)
"""Parts of class names that differ between pages of one template."""


def template_of(document: HtmlDocument) -> str:
    """A short name that pages of the same layout share: of the tags, ids of landmarks and classes near the top of the body."""
    body = document.tree.body
    if body is None:
        return ""
    skeleton: dict[str, None] = {}
    level: list[tuple[Element, str]] = [(body, "body")]
    nodes = 0
    for depth in range(_DEEPEST):
        below: list[tuple[Element, str]] = []
        for parent, path in level:
            child = parent.child
            while child is not None and nodes < _MOST_NODES:
                tag = child.tag or ""
                if tag in _SKELETON:
                    nodes += 1
                    step = f"{path}>{tag}{_classes(child)}"
                    if step not in skeleton:
                        # Of siblings that look alike only the first is followed: lists are longer on one page than on another.
                        skeleton[step] = None
                        if depth + 1 < _DEEPEST and tag not in _UNREAD:
                            below.append((child, step))
                child = child.next
        level = below
        if len(skeleton) >= _ENOUGH:
            break
    return blake2b("\n".join(sorted(skeleton)).encode("utf-8", "replace"), digest_size=4).hexdigest()


def _classes(element: Element) -> str:
    names = (element.attributes.get("class") or "")[:500].split()
    return "".join(sorted(f".{name}" for name in names[:6] if not _CHANGING.search(name)))


_MOST_FOLDERS = 2
_LONGEST_SEGMENT = 100
_NUMBER = re.compile(r"\d+(?:[-_.]\d+)*")


def segment_of(url: str) -> str:
    """The part of a site that a URL belongs to: its first folders, numbers left out, as in `/blog/{number}/*`."""
    folders = split_url(url).path.split("/")[1:-1]
    named = ["{number}" if _NUMBER.fullmatch(name) else name[:_LONGEST_SEGMENT] for name in folders[:_MOST_FOLDERS]]
    is_root = not folders and split_url(url).path in ("", "/")
    return "/" if is_root else "/".join(("", *named, "*"))
