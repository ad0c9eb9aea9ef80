"""What a page says about itself: title, description, canonical, language, robots, headings.

Values are as the page states them, white space collapsed, URLs resolved; what they mean for indexing is judged by the audit.
Elements are taken from the whole page, because one wrong tag in the head makes a parser move what follows into the body.
"""

from __future__ import annotations

from dataclasses import dataclass

from tadoru.parse.html import Document, Element, collapsed, text_of
from tadoru.parse.links import Attributes, is_refresh, refresh_target
from tadoru.rules.url import canonical

MAX_TEXT = 2_000
"""Characters kept of a title, a description or a heading."""

_MOST_HEADINGS = 50
_NAMED = frozenset({"description", "viewport"})
_ROBOTS = frozenset({"robots", "googlebot", "googlebot-news", "bingbot"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """A page's statements about itself; None or empty where it makes none."""

    title: str | None
    titles: int
    """How many there are: one is right."""
    meta_description: str | None
    meta_robots: tuple[tuple[str, str], ...]
    """(name, content) of every robots `<meta>`, both in lower case."""
    canonical: str | None
    canonicals: tuple[str, ...]
    lang: str | None
    hreflang: tuple[tuple[str, str], ...]
    """(language, URL) of each alternate."""
    base: str | None
    viewport: str | None
    refresh: str | None
    """The content of a `<meta>` refresh, as written."""
    refresh_url: str | None
    next: str | None
    prev: str | None
    h1: tuple[str, ...]
    charset: str


def read_head(document: Document, page_url: str) -> Head:
    """Read them all in one walk over the page."""
    reading = _Reading(document.base_url(page_url))
    for element in document.select("html,title,meta,link[rel],base[href],h1"):
        reading.take(element)
    return Head(
        title=reading.titles[0] if reading.titles else None,
        titles=len(reading.titles),
        meta_description=reading.named.get("description"),
        meta_robots=tuple(reading.robots),
        canonical=next(iter(reading.linked("canonical")), None),
        canonicals=tuple(reading.linked("canonical")),
        lang=reading.lang,
        hreflang=tuple(reading.hreflang),
        base=reading.base if reading.has_base else None,
        viewport=reading.named.get("viewport"),
        refresh=reading.refresh,
        refresh_url=reading.resolved(refresh_target(reading.refresh or "")),
        next=next(iter(reading.linked("next")), None),
        prev=next(iter([*reading.linked("prev"), *reading.linked("previous")]), None),
        h1=tuple(reading.h1),
        charset=document.encoding,
    )


class _Reading:
    """What has been read so far. Of metas with the same name the first one counts."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.has_base = False
        self.titles: list[str] = []
        self.named: dict[str, str] = {}
        self.robots: list[tuple[str, str]] = []
        self.links: list[tuple[str, str]] = []
        self.hreflang: list[tuple[str, str]] = []
        self.lang: str | None = None
        self.refresh: str | None = None
        self.h1: list[str] = []

    def take(self, element: Element) -> None:
        match element.tag:
            case "html":
                self.lang = _clean(element.attributes.get("lang"))
            case "title" if not _is_of_drawing(element):
                self.titles.append(text_of(element, MAX_TEXT))
            case "h1" if len(self.h1) < _MOST_HEADINGS:
                self.h1.append(text_of(element, MAX_TEXT))
            case "base":
                self.has_base = True
            case "meta":
                self._take_meta(element.attributes)
            case "link":
                self._take_link(element.attributes)

    def _take_meta(self, attributes: Attributes) -> None:
        name = collapsed(attributes.get("name") or "").lower()
        content = collapsed(attributes.get("content") or "")[:MAX_TEXT]
        if self.refresh is None and is_refresh(attributes):
            self.refresh = content
        if name in _ROBOTS:
            self.robots.append((name, content.lower()))
        elif name in _NAMED:
            self.named.setdefault(name, content)

    def _take_link(self, attributes: Attributes) -> None:
        url = self.resolved(_clean(attributes.get("href")))
        if url is None:
            return
        tokens = (attributes.get("rel") or "").lower().split()
        self.links.extend((token, url) for token in tokens)
        if "alternate" in tokens and (language := _clean(attributes.get("hreflang"))):
            self.hreflang.append((language.lower(), url))

    def resolved(self, reference: str | None) -> str | None:
        return canonical(reference, self.base) if reference else None

    def linked(self, rel: str) -> list[str]:
        """The URLs of the links with this relation."""
        return [url for token, url in self.links if token == rel]


def _is_of_drawing(title: Element) -> bool:
    """Whether a `<title>` names an SVG drawing or a part of one; parts are not nested deeper than this."""
    ancestor = title.parent
    for _ in range(20):
        if ancestor is None or ancestor.tag in ("head", "body", "html"):
            return False
        if ancestor.tag == "svg":
            return True
        ancestor = ancestor.parent
    return False


def _clean(value: str | None) -> str | None:
    return (value.strip() or None) if value else None
