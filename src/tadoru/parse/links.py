"""The links of a page: where they lead, what they say, and what kind they are.

Links are what a browser without scripts would see: not what stands in comments, templates or scripts. Which of them are
followed is decided elsewhere (`rules.scope`); pages are parsed in `html`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from tadoru.model.web import FOLLOWED, Link, LinkKind
from tadoru.parse.html import Document, Element, collapsed, text_of
from tadoru.rules.url import Resolver

MAX_TEXT = 200
"""Characters kept of an anchor's text."""

_SELECTORS: dict[LinkKind, str] = {
    LinkKind.A: "a[href]",
    LinkKind.AREA: "area[href]",
    LinkKind.LINK: "link[href]",
    LinkKind.IMAGE: "img,source[srcset],video[poster],input[src],image[href]",
    LinkKind.SCRIPT: "script[src]",
    LinkKind.FRAME: "iframe[src],frame[src]",
    LinkKind.FORM: "form[action]",
    LinkKind.MEDIA: "audio[src],video[src],source[src],track[src],embed[src],object[data]",
    LinkKind.REFRESH: "meta[http-equiv]",
}
_ATTRIBUTES: dict[str, tuple[tuple[LinkKind, str], ...]] = {
    "link": ((LinkKind.LINK, "href"),),
    "img": ((LinkKind.IMAGE, "src"), (LinkKind.IMAGE, "srcset")),
    "image": ((LinkKind.IMAGE, "href"), (LinkKind.IMAGE, "xlink:href")),
    "input": ((LinkKind.IMAGE, "src"),),
    "source": ((LinkKind.IMAGE, "srcset"), (LinkKind.MEDIA, "src")),
    "video": ((LinkKind.MEDIA, "src"), (LinkKind.IMAGE, "poster")),
    "audio": ((LinkKind.MEDIA, "src"),),
    "track": ((LinkKind.MEDIA, "src"),),
    "embed": ((LinkKind.MEDIA, "src"),),
    "object": ((LinkKind.MEDIA, "data"),),
    "script": ((LinkKind.SCRIPT, "src"),),
    "iframe": ((LinkKind.FRAME, "src"),),
    "frame": ((LinkKind.FRAME, "src"),),
    "form": ((LinkKind.FORM, "action"),),
}
"""Where the URLs of resources stand."""

Attributes = dict[str, str | None]

_REFRESH = re.compile(
    r"""\s*(?:\d+(?:\.[\d.]*)?|\.[\d.]*)(?:\s*[;,]|\s)\s*(?:url\s*=\s*)?(?:"([^"]*)|'([^']*)|(.*))""", re.IGNORECASE | re.DOTALL
)
_CANDIDATE = re.compile(r"[\s,]*([^\s,]\S*)")
_DESCRIPTORS = re.compile(r"(?:[^,(]++|\([^)]*+\)?)*+,?")


def extract(document: Document, page_url: str, resolver: Resolver, kinds: frozenset[LinkKind] = FOLLOWED) -> list[Link]:
    """Every http and https link of a page, in document order."""
    elements, tags, base = _candidates(document, page_url, kinds)
    resolve, resolved = resolver.resolve, dict[str, tuple[str, str] | None]()
    links: list[Link] = []
    room = _room(document)
    for element, tag in zip(elements, tags, strict=True):
        attributes = element.attributes
        if tag not in _ANCHORS:
            for kind, reference in _resources(tag or "", attributes):
                if kind in kinds and (target := resolve(reference, base)) is not None:
                    text = _alt(attributes) if kind is LinkKind.IMAGE else ""
                    links.append(Link(target[0], kind, text, _rel(attributes), len(links), target[1]))
            continue
        reference = _reference(attributes)
        if reference in resolved:
            target = resolved[reference]
        else:
            target = resolved[reference] = resolve(reference, base)
        if target is not None:
            raw = element.text() if room > 0 else ""
            room -= len(raw)
            rel = _rel(attributes) if "rel" in attributes else ""
            links.append(Link(target[0], _ANCHORS[tag], _anchor_text(element, raw), rel, len(links), target[1]))
    return links


def extract_targets(document: Document, page_url: str, resolver: Resolver) -> list[Link]:
    """Each page that a page leads to, once, with the first text that leads there. Jumps within the page are none.

    A third of the work of `extract` on pages that link much: a map of a site needs no more.
    """
    elements, tags, base = _candidates(document, page_url, FOLLOWED)
    resolve, links = resolver.resolve, list[Link]()
    fronts: set[str] = {""} if base == page_url else set()
    seen: set[str] = set()
    room = _room(document)
    for element, tag in zip(elements, tags, strict=True):
        attributes = element.attributes
        kind = _ANCHORS.get(tag or "", LinkKind.REFRESH)
        if kind is LinkKind.REFRESH:
            reference = next((url for _, url in _resources(tag or "", attributes)), "") if tag == "meta" else ""
        else:
            reference = attributes.get("href") or (_reference(attributes) if "xlink:href" in attributes else "")
        front = reference.partition("#")[0]
        if front in fronts:
            continue
        fronts.add(front)
        target = resolve(front, base)
        if target is None or target[0] in seen:
            continue
        seen.add(target[0])
        raw = element.text() if room > 0 else ""
        room -= len(raw)
        rel = _rel(attributes) if "rel" in attributes else ""
        links.append(Link(target[0], kind, _anchor_text(element, raw), rel, len(links), ""))
    return links


def _candidates(document: Document, page_url: str, kinds: frozenset[LinkKind]) -> tuple[list[Element], list[str | None], str]:
    """The elements that may carry a link, their tags, and what their references are relative to; found in one walk."""
    elements = document.select(_selector(kinds))
    tags = [element.tag for element in elements]
    return elements, tags, document.base_url(page_url) if "base" in tags else page_url


def _room(document: Document) -> int:
    """Anchors can be nested (in tables), and the text of each holds that of those inside it: the sum needs a bound too."""
    return 4 * document.size + 100_000


def _reference(attributes: Attributes) -> str:
    return (attributes["href"] if "href" in attributes else attributes.get("xlink:href")) or ""


def _anchor_text(element: Element, raw: str) -> str:
    is_simple = len(raw) <= MAX_TEXT and "{" not in raw and ");" not in raw
    return (" ".join(raw.split()) if is_simple else text_of(element, MAX_TEXT, raw)) or _alternative(element)


_ANCHORS = {"a": LinkKind.A, "area": LinkKind.AREA}


def _rel(attributes: Attributes) -> str:
    return " ".join((attributes.get("rel") or "").lower().split())


@lru_cache
def _selector(kinds: frozenset[LinkKind]) -> str:
    return ",".join(["base[href]", *(_SELECTORS[kind] for kind in LinkKind if kind in kinds)])


def is_refresh(attributes: Attributes) -> bool:
    """Whether a `<meta>` with these attributes sends the visitor on, or reloads the page."""
    return (attributes.get("http-equiv") or "").strip().lower() == "refresh"


def refresh_target(content: str) -> str | None:
    """The URL in the content of a `<meta http-equiv=refresh>`, read as browsers do; None when it only reloads its own page."""
    match = _REFRESH.match(content)
    return (match[match.lastindex or 0].strip() or None) if match else None


def srcset_urls(value: str) -> Iterator[str]:
    """The URLs of a `srcset`: commas separate candidates, but belong to a URL when no space comes before or after them."""
    position = 0
    while match := _CANDIDATE.match(value, position):
        url = match[1].rstrip(",")
        position = match.end()
        if url == match[1] and (descriptors := _DESCRIPTORS.match(value, position)):
            position = descriptors.end()
        yield url


def _resources(tag: str, attributes: Attributes) -> Iterator[tuple[LinkKind, str]]:
    """The URLs on an element other than an anchor. An empty one names nothing."""
    if tag == "meta":
        if is_refresh(attributes) and (url := refresh_target(attributes.get("content") or "")):
            yield LinkKind.REFRESH, url
        return
    for kind, name in _ATTRIBUTES.get(tag, ()):
        value = attributes.get(name)
        if not value or value.isspace():
            continue
        if name == "srcset":
            yield from ((kind, url) for url in srcset_urls(value))
        else:
            yield kind, value


def _alternative(element: Element) -> str:
    """What an anchor without text says: its own alt text (of an area), else that of the first image in it that has one."""
    if alt := _alt(element.attributes):
        return alt
    image = element.css_first('img[alt]:not([alt=""])')
    return _alt(image.attributes) if image else ""


def _alt(attributes: Attributes) -> str:
    return collapsed(attributes.get("alt") or "")[:MAX_TEXT]
