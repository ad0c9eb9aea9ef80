"""The metadata of a page: title, description, canonical, language, robots, headings.

Values are as the page states them, white space collapsed, URLs resolved; the audit decides what they mean for indexing.
Elements are taken from the whole page, because one wrong tag in the head makes a parser move what follows into the body.
"""

from __future__ import annotations

from dataclasses import dataclass

from tadoru.model.web import EVERY_BOT, SEARCH_BOTS
from tadoru.parse.html import Attributes, Element, HtmlDocument, collapsed, text_of
from tadoru.parse.links import is_refresh, refresh_target
from tadoru.parse.page_limits import MAX_STATEMENTS, too_many
from tadoru.rules.url import UrlResolver

MAX_TEXT = 2_000
"""Characters kept of a title, a description or a heading."""

MAX_LANGUAGE = 100
"""Characters kept of the name of a language."""
_MOST_HEADINGS = 50
_MOST_RELATIONS = 20
"""Of one `<link>`: there are not so many that go together."""
_NAMED = frozenset({"description", "viewport"})
_ROBOTS = frozenset({EVERY_BOT, *SEARCH_BOTS})


@dataclass(frozen=True, slots=True, kw_only=True)
class PageHead:
    """The metadata of a page; None or empty where it is missing."""

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


def read_head(document: HtmlDocument, page_url: str) -> PageHead:
    """Read them all in one walk over the page."""
    reading = HeadReader(document, document.base_url(page_url), UrlResolver())
    for element in document.select("html,title,meta,link[rel],base[href],h1"):
        reading.take(element.tag or "", element, element.attributes)
    return reading.head(document.encoding)


class HeadReader:
    """Collects the metadata element by element, in document order; of metas with the same name the first one counts."""

    def __init__(self, document: HtmlDocument, base: str, resolver: UrlResolver) -> None:
        self._document = document
        self.base = base
        self._resolve = resolver.uncleaned.resolve
        self.relations: list[tuple[str, str]] = []
        """(relation, URL) of each `<link>`."""
        self._has_base = False
        self._titles = 0
        self._title: str | None = None
        self._named: dict[str, str] = {}
        self._robots: list[tuple[str, str]] = []
        self._hreflang: list[tuple[str, str]] = []
        self._lang: str | None = None
        self._refresh: str | None = None
        self._h1: list[str] = []

    def head(self, charset: str) -> PageHead:
        """What has been read."""
        canonicals = self.linked("canonical")
        return PageHead(
            title=self._title,
            titles=self._titles,
            meta_description=self._named.get("description"),
            meta_robots=tuple(self._robots),
            canonical=canonicals[0] if canonicals else None,
            canonicals=canonicals,
            lang=self._lang,
            hreflang=tuple(self._hreflang),
            base=self.base if self._has_base else None,
            viewport=self._named.get("viewport"),
            refresh=self._refresh,
            refresh_url=self._resolved(refresh_target(self._refresh)) if self._refresh else None,
            next=next(iter(self.linked("next")), None),
            prev=next(iter(self.linked("prev", "previous")), None),
            h1=tuple(self._h1),
            charset=charset,
        )

    def linked(self, *names: str) -> tuple[str, ...]:
        """The URLs of the links with these relations, those of the first relation first."""
        return tuple(url for name in names for relation, url in self.relations if relation == name)

    def take(self, tag: str, element: Element, attributes: Attributes) -> None:
        match tag:
            case "link":
                self.take_link(attributes)
            case "meta":
                self.take_meta(attributes)
            case "title" if not _is_of_drawing(element):
                self._title = text_of(element, MAX_TEXT) if self._title is None else self._title
                self._titles += 1
            case "h1" if len(self._h1) < _MOST_HEADINGS:
                self._h1.append(text_of(element, MAX_TEXT))
            case "html":
                self._lang = (_clean(attributes.get("lang")) or "")[:MAX_LANGUAGE] or None
            case "base" if "href" in attributes:
                self._has_base = True

    def take_meta(self, attributes: Attributes) -> None:
        name = collapsed(attributes.get("name") or "").lower()
        content = collapsed(attributes.get("content") or "", MAX_TEXT)
        if self._refresh is None and is_refresh(attributes):
            self._refresh = content
        if name in _ROBOTS:
            if len(self._robots) < MAX_STATEMENTS:
                self._robots.append((name, content.lower()))
            else:
                self._document.leave_out(too_many("robots directives"))
        elif name in _NAMED:
            self._named.setdefault(name, content)

    def take_link(self, attributes: Attributes) -> None:
        tokens = relations_of(attributes)
        if tokens and len(self.relations) >= MAX_STATEMENTS:
            self._document.leave_out(too_many("statements in link elements"))
            return
        url = self._resolved(_clean(attributes.get("href"))) if tokens else None
        if url is None:
            return
        self.relations.extend((token, url) for token in tokens)
        if "alternate" in tokens and (language := _clean(attributes.get("hreflang"))):
            self._hreflang.append((language[:MAX_LANGUAGE].lower(), url))

    def _resolved(self, reference: str | None) -> str | None:
        target = self._resolve(reference, self.base) if reference else None
        return None if target is None else target[0]


def relations_of(attributes: Attributes) -> list[str]:
    """The tokens in the `rel` of a `<link>`, in lower case, each once."""
    return list(dict.fromkeys(collapsed(attributes.get("rel") or "", MAX_TEXT).lower().split()))[:_MOST_RELATIONS]


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
