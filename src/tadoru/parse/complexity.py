"""Refuses markup that would cost the HTML parser far more than its size suggests.

Building a tree is quadratic in the worst case: each tag may walk the open elements, unclosed formatting (`<b x=1><p><b x=2>…`)
is copied into every block that follows (25 KB of it make two million elements), and each attribute is compared with those
before it on its tag. `check` estimates these costs from the tags alone. Nearly every page passes a quick test; the others are
read tag by tag. What the estimate misses is left to the limits of the process.
"""

from __future__ import annotations

import re

FEW_TAGS = 2_000
"""So many cannot pass `MAX_COPIES` in any order."""
MANY_TAGS = 30_000
"""Up to here depth alone costs a second or so at worst."""
MAX_COPIES = 1_000_000
"""Elements made by copying unclosed formatting."""
MAX_STEPS = 250_000_000
"""Open elements walked over, summed over all tags."""
LARGE_PAGE = 1024 * 1024
"""Bytes up to which the nodes of a page need no count: of each byte at most some hundred are made."""
MAX_NODES = 800_000
"""Elements, texts between them and attributes of one page: each takes some 180 bytes in the tree."""
LONG_TAG = 64 * 1024
MAX_ATTRIBUTES = 10_000
"""On one tag."""

_FORMATTING = frozenset(b"b big code em font i nobr s small strike strong tt u".split())
_LIKE_FORMATTING = re.compile(rb"<[bceifnstuBCEIFNSTU][\s/>imotIMOT][^>]*")
"""Every formatting tag and some others, at two thirds of the price."""
_FORMATTING_TAG = re.compile(rb"<(?:[biu][\s/>]|s(?:[\s/>]|mall|tr(?:ong|ike))|em|tt|code|font|big|nobr)[^>]*")
_ATTRIBUTES = rb"""((?:[^>"'=]++|=\s*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))?|["'])*+)"""
_TOKEN = re.compile(
    rb"<(?:!--(?:-?>|.*?(?:--!?>|\Z))"
    rb"|(?:script|style|textarea|title|xmp|iframe|noembed|noframes)(?=[\s/>]).*?(?:</(?=script|style|text|titl|xmp|ifr|noe|nof)|\Z)"
    rb"|/([a-z][^\s/>]*+)|([a-z][^\s/>]*+)" + _ATTRIBUTES + rb")",
    re.DOTALL,
)
_PARAGRAPH_END = re.compile(rb"</(?:(?:p|br)[\s/>]|[^a-z])", re.IGNORECASE)
"""An end tag that may make an element, or a comment."""
_START_TAG = re.compile(rb"<[a-zA-Z][^\s/<>]*+([^<>]*+)")
_INNERMOST = re.compile(
    rb"<([a-z][a-z0-9]*+)"
    rb"""(?:[ \t\r\n\f]++[a-z][a-z0-9:_-]*+(?:=(?:"[^"<>]*+"|'[^'<>]*+'|[^\s"'<>`]++))?+)*+[ \t\r\n\f]*+>"""
    rb"[^<]*+</\1>"
)
"""An element that contains no others, and whose attributes cannot be read in two ways."""
_OPENED = re.compile(rb"<[a-z]")
_QUOTED = re.compile(rb""""[^"]*+"|'[^']*+'""")
_SPACED = bytes(32 if byte in b" \t\n\v\f\r" else 46 for byte in range(256))
"""White space becomes a space, everything else a full stop."""
_CHILDLESS = frozenset(b"area base br col embed hr img input link meta param source track wbr".split())
_CLOSED_BY_THE_NEXT = frozenset(b"p li dt dd option optgroup tr td th thead tbody tfoot caption colgroup rp rt".split())


class PageTooComplex(ValueError):
    """The markup of a page exceeds the limits."""


def check(body: bytes) -> None:
    """Raise `PageTooComplex` when building the tree of this page would take too long or too much memory."""
    tags = body.count(b"<")
    is_long = _has_long_tag(body)
    if is_long:  # First: the attributes of one tag are counted with little memory, those of a page are not.
        _read_closely(body.lower())
    if len(body) > LARGE_PAGE and _may_have_too_many_nodes(body, tags):
        _count_nodes(body.lower())
    if is_long or tags <= FEW_TAGS or (tags <= MANY_TAGS and _most_open(_LIKE_FORMATTING, body) * tags <= MAX_COPIES):
        return
    lowered = body.lower()
    is_flat = _is_flat(lowered, tags) if tags > MANY_TAGS else _most_open(_FORMATTING_TAG, lowered) * tags <= MAX_COPIES
    if not is_flat:
        _read_closely(lowered)


def _is_flat(lowered: bytes, tags: int) -> bool:
    """Whether so little is left of a page without its innermost elements, twice, that the rest cannot be nested too deep."""
    for removed in (1, 2):
        lowered = _INNERMOST.sub(b"", lowered)
        left = len(_OPENED.findall(lowered))
        # A table, a cell and a row may be left to the parser to add.
        is_shallow = 3 * (left + removed) * tags <= MAX_STEPS
        if is_shallow and (_most_open(_FORMATTING_TAG, lowered) + removed) * tags <= MAX_COPIES:
            return True
    return False


def _may_have_too_many_nodes(body: bytes, tags: int) -> bool:
    """Whether there may be so many: whatever looks like a tag is taken for one, also in scripts and comments."""
    if 2 * tags - body.count(b"</") - body.count(b"><") > 2 * MAX_NODES:
        return True
    nodes = body.count(b">") - body.count(b"><") + len(_PARAGRAPH_END.findall(body))  # Texts first.
    starts = _START_TAG.findall(body)
    nodes += tags - body.count(b"</")  # Start tags and comments.
    if nodes > MAX_NODES:
        return True
    attributes = b" ".join(starts)
    if nodes + len(attributes) // 2 <= MAX_NODES:
        return False
    return nodes + _count_attributes(attributes) > MAX_NODES


def _count_attributes(attributes: bytes) -> int:
    """The number of attributes, or one too many: they are separated by white space or a slash, or have a value."""
    unquoted, values = _QUOTED.subn(b" ", attributes, MAX_NODES)
    return max(_count_words(unquoted.replace(b"/", b" ")), unquoted.count(b"="), values)


def _count_words(text: bytes) -> int:
    """The number of words between white space, without a list of them."""
    spaced = text.translate(_SPACED)
    return spaced.count(b" .") + spaced.startswith(b".")


def _count_nodes(lowered: bytes) -> None:
    """Count the nodes that the tags of a page make, and the texts between them, and stop at one too many."""
    nodes = paragraphs = end = 0
    for match in _TOKEN.finditer(lowered):
        closed, name, attributes = match.groups()
        nodes += match.start() > end + 1  # A text.
        end = match.end()
        if closed is None:
            nodes += 1
            paragraphs += name == b"p"
        elif closed in (b"p", b"br"):  # A stray one makes an element.
            nodes += paragraphs <= 0
            paragraphs -= 1
        if attributes:
            nodes += _count_attributes(attributes)
        if nodes > MAX_NODES:
            raise PageTooComplex(f"it has more than {MAX_NODES:,} elements, texts and attributes")


def _most_open(formatting: re.Pattern[bytes], body: bytes) -> int:
    """How many formatting elements can be open at once, at most: the parser keeps three of those that are alike."""
    tags = formatting.findall(body)
    return min(len(tags), 3 * len(set(tags)))


def _has_long_tag(body: bytes) -> bool:
    """Whether so many bytes are without a `>`: looked at from the end of each stretch, most bytes need no look."""
    position = 0
    while position + LONG_TAG < len(body):
        position = body.rfind(b">", position, position + LONG_TAG) + 1
        if not position:
            return True
    return False


def _read_closely(body: bytes) -> None:
    """Follow the tags as the parser would, as far as the sums need it, and stop at the first one that goes over."""
    open_elements: dict[bytes, int] = {}
    depth = steps = copies = 0
    formatting = _Formatting()
    for match in _TOKEN.finditer(body):
        closed, name, attributes = match.groups()
        steps += depth
        copies += formatting.size
        if steps > MAX_STEPS:
            raise PageTooComplex(f"elements nested {depth} deep")
        if copies > MAX_COPIES:
            raise PageTooComplex(f"{formatting.size} formatting elements open at once")
        if name is not None:
            if len(attributes) > LONG_TAG and _has_too_many_attributes(attributes):
                raise PageTooComplex("too many attributes on one tag")
            if name in _CHILDLESS or name in _CLOSED_BY_THE_NEXT:
                continue
            if name in _FORMATTING:
                formatting.opened(name, attributes)
            open_elements[name] = open_elements.get(name, 0) + 1
            depth += 1
        elif closed is not None and open_elements.get(closed):
            open_elements[closed] -= 1
            depth -= 1
            if closed in _FORMATTING:
                formatting.closed(closed)


def _has_too_many_attributes(attributes: bytes) -> bool:
    unquoted, values = _QUOTED.subn(b" ", attributes, MAX_ATTRIBUTES + 1)
    return values > MAX_ATTRIBUTES or _count_words(unquoted) > MAX_ATTRIBUTES


class _Formatting:
    """The formatting elements that are open: of those with the same attributes the parser keeps three."""

    def __init__(self) -> None:
        self.size = 0
        self._open: dict[bytes, list[bytes]] = {}
        self._alike: dict[tuple[bytes, bytes], int] = {}

    def opened(self, name: bytes, attributes: bytes) -> None:
        alike = self._alike.get((name, attributes), 0)
        if alike < 3:
            self._alike[name, attributes] = alike + 1
            self._open.setdefault(name, []).append(attributes)
            self.size += 1

    def closed(self, name: bytes) -> None:
        if of_this_name := self._open.get(name):
            self._alike[name, of_this_name.pop()] -= 1
            self.size -= 1
