"""The links of a page: where they lead, what they say, and what kind they are.

Links are what a browser without scripts would see: not what stands in comments, templates or scripts. Which of them are
followed is decided elsewhere (`rules.scope`); pages are parsed in `html`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

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
    """The http and https links of a page, in document order."""
    elements = document.select(",".join(["base[href]", *(_SELECTORS[kind] for kind in kinds)]))
    tags = [element.tag for element in elements]
    found = _Found(resolver, document.base_url(page_url) if "base" in tags else page_url)
    # Anchors can be nested (in tables), and the text of each holds that of those inside it: the sum needs a bound too.
    room = 4 * document.size + 100_000
    for element, tag in zip(elements, tags, strict=True):
        attributes = element.attributes
        if tag in ("a", "area"):
            raw = element.text() if room > 0 else ""
            room -= len(raw)
            found.add(
                LinkKind.A if tag == "a" else LinkKind.AREA,
                attributes.get("href") or attributes.get("xlink:href") or "",
                text_of(element, MAX_TEXT, raw) or _alternative(element),
                attributes.get("rel"),
            )
        else:
            for kind, reference in _resources(tag or "", attributes):
                if kind in kinds:
                    found.add(kind, reference, _alt(attributes) if kind is LinkKind.IMAGE else "", attributes.get("rel"))
    return found.links


class _Found:
    """The links so far; each distinct reference of a page is resolved once."""

    __slots__ = ("_base", "_resolve", "_resolved", "links")

    def __init__(self, resolver: Resolver, base: str) -> None:
        self.links: list[Link] = []
        self._base = base
        self._resolve = resolver.resolve
        self._resolved: dict[str, tuple[str, str] | None] = {}

    def add(self, kind: LinkKind, reference: str, text: str, rel: str | None) -> None:
        """Take a link, unless it leads nowhere that a crawler could go."""
        try:
            target = self._resolved[reference]
        except KeyError:
            target = self._resolved[reference] = self._resolve(reference, self._base)
        if target is not None:
            rel = " ".join(rel.lower().split()) if rel else ""
            self.links.append(Link(target[0], kind, text, rel, len(self.links), target[1]))


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
