"""The links of a page: targets, anchor texts and kinds, and references that cannot be what their author meant.

Links are those that a browser without scripts shows, without comments, templates and scripts. `rules.scope` decides which are
followed; `html` parses pages.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import lru_cache
from string import ascii_lowercase
from typing import NamedTuple
from urllib.parse import unquote

from tadoru.model.web import FOLLOWED, Link, LinkKind
from tadoru.parse.html import Attributes, Element, HtmlDocument, Picked, collapsed, inside, text_of
from tadoru.parse.page_limits import MAX_LINK_CHARACTERS, MAX_LINKS, link_limits
from tadoru.rules.url import LONGEST_URL, UrlResolver

EMPTY = "empty href"
UNPARSABLE = "malformed URL"
MISTYPED_SCHEME = "mistyped scheme"
DOUBLED_SCHEME = "two schemes in one URL"
MISSING_COLON = "the colon after the scheme is missing"
MISSING_SLASHES = "the slashes after the scheme are missing"
LOCAL_FILE = "a file on the computer of its author"
BAD_MAIL = "malformed mail address"
BAD_PHONE = "malformed phone number"

_WEB = frozenset({"http", "https"})
_START = re.compile(r"[\s\0]*+([a-z]{3,7})(:?)([/\\]*+)", re.IGNORECASE)
_LOCAL_FILE = re.compile(r"\s*+(?:file:|[a-z]:\\)", re.IGNORECASE)
_DOUBLED = re.compile(r"\s*+https?:/*(?:https?:|[^/?#]*@?https?(?::|//))", re.IGNORECASE)
_RELATIVE_QUERY = re.compile(r"\s*+https?:\?", re.IGNORECASE)
"""An old spelling of `?…` that browsers still understand."""
_CONTACT = re.compile(r"\s*+(mailto|tel):", re.IGNORECASE)
_MAIL = re.compile(r"[^\s@<>]+@[^\s@<>.]+(?:\.[^\s@<>.]+)*")
_PHONE = re.compile(r"[+*#(]*+[0-9][-0-9.()*# ]*+(?:;.*)?", re.DOTALL)
"""As RFC 3966 has it: digits, signs between them, and parameters."""
_LOOKED_AT = 300
"""Characters of a reference that are looked at."""


class MalformedLink(NamedTuple):
    """A link of a page that leads nowhere, because its reference is wrong."""

    href: str
    """As the page has it."""
    text: str
    position: int
    """The number of links that come before it on the page."""
    problem: str
    kind: LinkKind = LinkKind.A


def reference_problem(reference: str, *, leads: bool) -> str | None:
    """What is wrong with a reference, which `leads` to a URL or not; None when it may be what its author meant."""
    if not reference or reference.isspace():
        return EMPTY
    head = reference[:_LOOKED_AT]
    if _CONTACT.match(head):
        return contact_problem(reference)
    if (start := _START.match(head)) is not None:
        scheme, colon, slashes = start[1].lower(), start[2], start[3]
        if scheme in _WEB:
            return _web_problem(reference, colon, slashes, leads=leads)
        if scheme in _MISTYPED and (colon or slashes[:2] == "//"):
            return MISTYPED_SCHEME
    if _LOCAL_FILE.match(head):
        return LOCAL_FILE
    return UNPARSABLE if not leads and head.lstrip()[:2] in ("//", "\\\\") else None


def contact_problem(reference: str) -> str | None:
    """What is wrong with a `mailto:` or `tel:` reference."""
    scheme, _, rest = reference.strip().partition(":")
    if scheme.lower() == "tel":
        return None if _PHONE.fullmatch(unquote(rest).strip()) else BAD_PHONE
    addresses, _, fields = rest.partition("?")
    if not addresses.strip():
        return None if re.search(r"(?:^|&)(?:to|cc|bcc)=.", fields, re.IGNORECASE) else BAD_MAIL
    return None if all(_MAIL.fullmatch(unquote(address).strip()) for address in addresses.split(",")) else BAD_MAIL


def contact_kind(reference: str, kind: LinkKind) -> LinkKind:
    """The kind of a reference: that of its scheme if it is an address to write to or to call."""
    contact = _CONTACT.match(reference[:_LOOKED_AT])
    return kind if contact is None else LinkKind(contact[1].lower())


def note_problem(found: list[MalformedLink], link: MalformedLink) -> None:
    """Keep a link whose reference is wrong. `#` alone is a reference, and an empty one without text is no link to see."""
    if (link.problem != EMPTY or (link.text and "#" not in link.href)) and len(found) < MAX_LINKS:
        found.append(link._replace(href=link.href[:_LOOKED_AT], kind=contact_kind(link.href, link.kind)))


def _web_problem(reference: str, colon: str, slashes: str, *, leads: bool) -> str | None:
    """The problem of a reference that begins with http or https."""
    if not colon:
        return MISSING_COLON if len(slashes) > 1 else None
    if _DOUBLED.match(reference[:_LOOKED_AT]):
        return DOUBLED_SCHEME
    if len(slashes) < 2 and not _RELATIVE_QUERY.match(reference):
        return MISSING_SLASHES
    return None if leads or len(reference) > LONGEST_URL else UNPARSABLE


def _one_edit_away(word: str) -> Iterator[str]:
    """The words that one mistake makes of a word: a letter is lost, replaced, added or exchanged with the next."""
    for at in range(len(word) + 1):
        before, after = word[:at], word[at:]
        yield before + after[1:]
        yield before + after[1:2] + after[:1] + after[2:]
        for letter in ascii_lowercase:
            yield before + letter + after
            yield before + letter + after[1:]


_MISTYPED = frozenset(edit for scheme in _WEB for edit in _one_edit_away(scheme)) - _WEB - {"shttp"}


MAX_TEXT = 200
"""Characters kept of an anchor's text."""

_TAGS: dict[LinkKind, tuple[str, ...]] = {
    LinkKind.A: ("a[href]",),
    LinkKind.AREA: ("area[href]",),
    LinkKind.LINK: ("link",),
    LinkKind.IMAGE: ("img", "source", "video", "input", "image"),
    LinkKind.SCRIPT: ("script",),
    LinkKind.FRAME: ("iframe", "frame"),
    LinkKind.FORM: ("form",),
    LinkKind.MEDIA: ("audio", "video", "source", "track", "embed", "object"),
    LinkKind.REFRESH: ("meta",),
    LinkKind.PREVIEW: ("meta",),
}
_ATTRIBUTES: dict[str, tuple[tuple[LinkKind, str], ...]] = {
    "link": ((LinkKind.LINK, "href"),),
    "img": ((LinkKind.IMAGE, "src"), (LinkKind.IMAGE, "srcset"), (LinkKind.IMAGE, "data-src"), (LinkKind.IMAGE, "data-srcset")),
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
LINKING = frozenset({"a", "area", "meta", *_ATTRIBUTES})
"""The tags of elements that may carry a link."""

REFERENCE_ATTRIBUTES = frozenset({"href", "content", *(name for places in _ATTRIBUTES.values() for _, name in places)})
"""The attributes that may hold a reference."""
ALL = frozenset(_TAGS)
"""The kinds that an audit reads."""
_ANCHORS = {"a": LinkKind.A, "area": LinkKind.AREA}
_WITH_ALT = frozenset({LinkKind.AREA, LinkKind.IMAGE})
LONGEST_SCHEME = 20
"""Characters of a reference that are looked at for a scheme."""

_REFRESH = re.compile(
    r"""\s*(?:\d+(?:\.[\d.]*)?|\.[\d.]*)(?:\s*[;,]|\s)\s*(?:url\s*=\s*)?(?:"([^"]*)|'([^']*)|(.*))""", re.IGNORECASE | re.DOTALL
)
_PREVIEW = re.compile(r"og:(?:image|video|audio)(?::url|:secure_url)?|twitter:image(?::src)?")
_CSS_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_CSS_REFERENCE = re.compile(
    r"""(?:@(import|namespace)\s*+(?:[\w-]++\s++)?)?url\(\s*+(?:"([^"\n]*+)"|'([^'\n]*+)'|([^\s"'()]*+))\s*+\)"""
    r"""|@(import)\s*+(?:"([^"\n]*+)"|'([^'\n]*+)')""",
    re.IGNORECASE,
)
_RELATION_KINDS = (
    ({"stylesheet"}, LinkKind.STYLE),
    ({"icon", "apple-touch-icon", "apple-touch-icon-precomposed", "mask-icon", "fluid-icon"}, LinkKind.ICON),
    ({"manifest"}, LinkKind.MANIFEST),
    ({"canonical"}, LinkKind.CANONICAL),
    ({"alternate", "amphtml"}, LinkKind.ALTERNATE),
    ({"image_src"}, LinkKind.PREVIEW),
    ({"preload", "modulepreload", "next", "prev", "search", "license", "author", "help"}, LinkKind.LINK),
)
"""What the relations of a `<link>` make it, the first that fits. Others name no document (`preconnect`), or none to read."""
_CANDIDATE = re.compile(r"[\s,]*([^\s,]\S*)")
_DESCRIPTORS = re.compile(r"(?:[^,(]++|\([^)]*+\)?)*+,?")


class PageLinks(NamedTuple):
    """The links of a page, and the anchors whose references are wrong."""

    links: list[Link]
    malformed: list[MalformedLink]


def extract(document: HtmlDocument, page_url: str, resolver: UrlResolver, kinds: frozenset[LinkKind] = FOLLOWED) -> PageLinks:
    """Every http and https link of a page, in document order."""
    found, base = _candidates(document, page_url, kinds)
    reading = LinkReader(document, base, resolver)
    reading.read(found, kinds)
    return PageLinks(reading.links, reading.malformed)


class UnusualLinks(NamedTuple):
    """An anchor without text, or with a scheme in its reference."""

    element: Element
    href: str
    leads: bool
    """Whether it is a link that can be followed."""
    is_blank: bool
    """Whether it holds no text."""


class LinkReader:
    """Reads the links of a page, and other properties of its anchors."""

    def __init__(self, document: HtmlDocument, base: str, resolver: UrlResolver) -> None:
        self.links: list[Link] = []
        self.names: set[str] = set()
        """The names of anchors: fragments can point at them."""
        self.unusual: list[UnusualLinks] = []
        self.malformed: list[MalformedLink] = []
        self._problems: dict[str, str] = {}
        """What is wrong with references, by their parts before the fragment."""
        self._document = document
        self._base = base
        self._resolver = resolver
        self._resolve = resolver.resolve
        self._room = _room(document)

    def read(self, found: Sequence[Picked], kinds: Container[LinkKind] = ALL, landmarks: bytes = b"") -> None:
        """Read these elements, in document order, each in a landmark. Most links of a page are anchors: they are read in line."""
        links, room, anchor, base, resolve = self.links, self._room, LinkKind.A, self._base, self._resolve
        too_long, characters = self._resolver.too_long, MAX_LINK_CHARACTERS
        targets, problems = dict[str, str | None](), self._problems
        new = tuple.__new__  # What a named tuple's own constructor calls: half the price.
        for (tag, element), landmark in zip(found, landmarks or bytes(len(found)), strict=True):
            if tag not in LINKING:
                continue
            attributes = element.attributes
            if tag != "a":
                characters -= self._read_other(tag, attributes, kinds, characters, landmark)
                continue
            if name := attributes.get("name"):
                self.names.add(name)
            if characters < 0 or len(links) >= MAX_LINKS:
                continue
            href = attributes.get("href")
            if href is None and (href := _rare_reference(element, attributes)) is None:
                continue
            # Each reference is resolved once for a page, and once for all its fragments.
            front, mark, fragment = href.partition("#")
            if front in targets:
                url = targets[front]
            else:
                url = targets[front] = self._target(front)
                characters -= len(url or front)
            if mark and url is not None:
                if "%" in fragment or " " in fragment or front[-1:] == " " or len(href) > LONGEST_URL or not href.isprintable():
                    url, fragment = resolve(href, base) or (None, "")
                characters -= len(fragment)
            text, is_blank = "", False
            if room > 0:
                raw = element.text()
                room -= len(raw)
                is_simple = len(raw) <= MAX_TEXT and "{" not in raw and ");" not in raw
                text = " ".join(raw.split()) if is_simple else text_of(element, MAX_TEXT, raw)
                is_blank = not text and not raw.strip()
            if front in problems:
                note_problem(self.malformed, MalformedLink(href, text or _alternative(element), len(links), problems[front]))
            if url is not None:
                rel = _rel(attributes) if "rel" in attributes else ""
                characters -= len(text) + len(rel)
                links.append(new(Link, (url, anchor, text or _alternative(element), rel, len(links), fragment, landmark)))
            if is_blank or (":" in href and ":" in href[:LONGEST_SCHEME]):
                self.unusual.append(UnusualLinks(element, href, url is not None, is_blank))
        self._room = room
        self._document.leave_out(*link_limits(len(links), characters, self._resolver.too_long - too_long))

    def _target(self, front: str) -> str | None:
        """The URL that a reference without fragment leads to; what is wrong with it is kept."""
        target = self._resolve(front, self._base)
        if (problem := reference_problem(front, leads=target is not None)) is not None:
            self._problems[front] = problem
        return None if target is None or problem not in (None, EMPTY) else target[0]

    def _read_other(self, tag: str, attributes: Attributes, kinds: Container[LinkKind], characters: int, landmark: int) -> int:
        """Read what another element than an anchor names, while its links have so many characters left; how many they took."""
        taken = 0
        for kind, reference in element_references(tag, attributes):
            if taken > characters or len(self.links) >= MAX_LINKS:
                break
            if kind not in kinds:
                continue
            target, (text, rel) = self._resolve(reference, self._base), describe_element(kind, attributes)
            if (problem := reference_problem(reference, leads=target is not None)) is not None:
                note_problem(self.malformed, MalformedLink(reference, text, len(self.links), problem, kind))
            if target is not None and problem in (None, EMPTY):
                taken += len(target[0]) + len(text) + len(rel) + len(target[1])
                self.links.append(Link(target[0], kind, text, rel, len(self.links), target[1], landmark))
        return taken

    def read_styles(self, texts: Iterable[str]) -> None:
        """Read what the style sheets in a page name, and those in its attributes."""
        characters = MAX_LINK_CHARACTERS
        for kind, reference, _ in (found for text in texts for found in css_references(text)):
            target = self._resolve(reference, self._base)
            if len(self.links) >= MAX_LINKS or characters < 0:
                break
            if target is not None:
                characters -= len(target[0])
                self.links.append(Link(target[0], kind, "", "", len(self.links), ""))


_OWN_PAGE = "#"


def extract_targets(document: HtmlDocument, page_url: str, resolver: UrlResolver) -> PageLinks:
    """Each page that a page leads to, once, with the first text that leads there. Jumps within the page are none.

    A third of the work of `extract` on pages that link much: a map of a site needs no more.
    """
    found, base = _candidates(document, page_url, FOLLOWED)
    resolve, links, malformed = resolver.resolve, list[Link](), list[MalformedLink]()
    fronts: set[str] = {_OWN_PAGE} if base == page_url else set()
    seen: set[str] = set()
    room, characters, too_long = _room(document), MAX_LINK_CHARACTERS, resolver.too_long
    for tag, element in found:
        if characters < 0 or len(links) >= MAX_LINKS:
            break
        attributes = element.attributes
        kind = _ANCHORS.get(tag, LinkKind.REFRESH)
        if kind is LinkKind.REFRESH:
            named = element_references(tag, attributes) if tag == "meta" else ()
            reference = next((url for found, url in named if found is kind), "")
        else:
            reference = attributes.get("href") or (_reference(attributes) if "xlink:href" in attributes else "")
        front, mark, _ = reference.partition("#")
        if mark and not front.rstrip(" "):
            front = _OWN_PAGE
        elif mark and front[-1] == " ":
            front = reference  # A space that a fragment follows is a part of the path.
        if front in fronts or not (reference or kind is LinkKind.A):
            continue
        fronts.add(front)
        target = resolve(front, base)
        if (problem := reference_problem(front, leads=target is not None)) is not None:
            text = _anchor_text(element, element.text() if room > 0 else "")
            note_problem(malformed, MalformedLink(front, text, len(links), problem, kind))
            if problem == EMPTY and not text:
                fronts.discard(front)  # The next one may have a text.
            if problem != EMPTY or base == page_url:
                continue
        if target is None or target[0] in seen:
            continue
        seen.add(target[0])
        raw = element.text() if room > 0 else ""
        room -= len(raw)
        rel, text = _rel(attributes) if "rel" in attributes else "", _anchor_text(element, raw)
        characters -= len(target[0]) + len(text) + len(rel)
        links.append(Link(target[0], kind, text, rel, len(links), ""))
    document.leave_out(*link_limits(len(links), characters, resolver.too_long - too_long))
    return PageLinks(links, malformed)


def _candidates(document: HtmlDocument, page_url: str, kinds: frozenset[LinkKind]) -> tuple[list[Picked], str]:
    """The elements that may carry a link, and what their references are relative to; found in one walk."""
    found = document.find(_selector(kinds))
    return found, document.base_url(page_url) if any(tag == "base" for tag, _ in found) else page_url


def _room(document: HtmlDocument) -> int:
    """Anchors can be nested (in tables), and the text of each holds that of those inside it: the sum needs a bound too."""
    return 4 * document.size + 100_000


def _rare_reference(element: Element, attributes: Attributes) -> str | None:
    """The reference of an anchor that has no value in its `href`; None when it is no link.

    In a drawing it may stand in `xlink:href`, which in HTML is an attribute like any other: the parser knows which it is.
    """
    if "href" in attributes:
        return ""
    drawn = element.css_first("a[href]") if "xlink:href" in attributes else None
    return attributes["xlink:href"] or "" if drawn is not None and drawn.mem_id == element.mem_id else None


def _reference(attributes: Attributes) -> str:
    return (attributes["href"] if "href" in attributes else attributes.get("xlink:href")) or ""


def _anchor_text(element: Element, raw: str) -> str:
    is_simple = len(raw) <= MAX_TEXT and "{" not in raw and ");" not in raw
    return (" ".join(raw.split()) if is_simple else text_of(element, MAX_TEXT, raw)) or _alternative(element)


def _rel(attributes: Attributes) -> str:
    return collapsed(attributes.get("rel") or "", MAX_TEXT).lower()


@lru_cache
def _selector(kinds: frozenset[LinkKind]) -> str:
    # Each tag once: an element that two selectors match would be found twice.
    return ",".join(dict.fromkeys(["base", *(tag for kind, tags in _TAGS.items() if kind in kinds for tag in tags)]))


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


def describe_element(kind: LinkKind, attributes: Attributes) -> tuple[str, str]:
    """The text of a link that is no anchor, and its relation; of a form, its method."""
    if kind is LinkKind.FORM:
        return "", (attributes.get("method") or "get").strip().lower()
    return _alt(attributes) if kind in _WITH_ALT else "", _rel(attributes)


def element_references(tag: str, attributes: Attributes) -> Iterator[tuple[LinkKind, str]]:
    """The URLs on an element other than `<a>`. An empty one names nothing, but on an `<area>` the page itself."""
    if tag == "meta":
        content = attributes.get("content") or ""
        if is_refresh(attributes):
            if url := refresh_target(content):
                yield LinkKind.REFRESH, url
        elif content.strip() and _PREVIEW.fullmatch((attributes.get("property") or attributes.get("name") or "").strip().lower()):
            yield LinkKind.PREVIEW, content
    elif tag == "area" and "href" in attributes:
        yield LinkKind.AREA, attributes["href"] or ""
    for kind, name in _ATTRIBUTES.get(tag, ()):
        value = attributes.get(name)
        if not value or value.isspace():
            continue
        if name.endswith("srcset"):
            yield from ((kind, url) for url in srcset_urls(value))
        else:
            yield kind, value


def _alternative(element: Element) -> str:
    """What an anchor without text says: its own alt text (of an area), else that of the first image in it that has one."""
    if alt := _alt(element.attributes):
        return alt
    for inner in inside(element):
        if inner.tag == "img" and inner.attributes.get("alt"):
            return _alt(inner.attributes)
    return ""


def _alt(attributes: Attributes) -> str:
    return collapsed(attributes.get("alt") or "", MAX_TEXT)


def relation_kind(relations: str) -> LinkKind | None:
    """What a `<link>` with these relations is; None when it is nothing to check."""
    found = set(relations.split())
    return next((kind for names, kind in _RELATION_KINDS if not names.isdisjoint(found)), None)


def css_references(text: str) -> Iterator[tuple[LinkKind, str, int]]:
    """The URLs in a style sheet, whether each is imported, and their positions. Embedded data and parts of the page are none."""
    if "/*" in text:
        text = _CSS_COMMENT.sub(lambda comment: " " * len(comment[0]), text)
    for found in _CSS_REFERENCE.finditer(text):
        rule = (found[1] or found[5] or "").lower()
        group = next((group for group in (2, 3, 4, 6, 7) if found[group]), None)
        if group is None or rule == "namespace" or found[group].startswith(("#", "data:", "about:")):
            continue
        yield LinkKind.STYLE if rule == "import" else LinkKind.CSS, found[group], found.start(group)
