"""Renders untrusted Markdown as safe HTML. Pure.

Markdown may contain HTML, so the result is sanitised at the end: only what `nh3` allows remains, which is text with a little
structure. Nothing is loaded: an image becomes a link to it. Every link passes a `LinkResolver`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape, unescape
from itertools import islice

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tadoru.jobs.docs.bundle.markdown_blocks import split_blocks

ANCHOR_PREFIX = "at-"
"""Prefix of the id of every heading, so that no page can use an id of the site's own pages."""
MAX_CHARACTERS = 250_000
"""Characters of a page that are rendered; more would take seconds."""
MAX_LINES = 30_000
"""Lines of a page that are rendered, without empty ones. Long manuals have 8,000 in as many characters."""
MAX_MARKS = 40_000
"""Characters with a meaning in Markdown that are rendered. Long manuals have 18,000 in as many characters."""
CALLOUTS = ("note", "tip", "important", "warning", "caution")
LINK_REL = "noopener noreferrer nofollow"
_TAGS = frozenset(
    "a abbr b blockquote br caption cite code dd del details div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i ins kbd li "
    "mark ol p pre q s samp small strong sub summary sup table tbody td tfoot th thead tr u ul var".split()
)
_REMOVED_TAGS = frozenset(
    "script style iframe noscript noembed noframes object template textarea select title xmp svg math audio video canvas".split()
)
_ATTRIBUTES = {
    "a": {"href"}, "td": {"colspan", "rowspan"}, "th": {"colspan", "rowspan"}, "ol": {"start"}, "pre": {"tabindex"},
    "div": {"tabindex", "role", "aria-label"}, **{f"h{level}": {"id"} for level in range(1, 7)},
}  # fmt: skip
_CLASSES = {
    "a": {"picture"}, "blockquote": {"callout", *CALLOUTS}, "p": {"callout-name"}, "div": {"scroll"},
    "td": {"right", "center"}, "th": {"right", "center"},
}  # fmt: skip
_LINE = re.compile(r"\n[^\n]")
_MARK = re.compile(r"[*_`\[\]<>&\\!~]|[-+](?=[ \t])")
_CALLOUT = re.compile(r"\[!([A-Za-z]{1,20})\]$")
_ELEMENT = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9-]*)")
_IMAGE = re.compile(r"<img(?=[\s/>])[^<>]{0,5000}>", re.IGNORECASE)
_ALT = re.compile(r"""\salt\s{0,9}=\s{0,9}(?:"([^"<>]{0,500})"|'([^'<>]{0,500})')""", re.IGNORECASE)
_EMPTY_LINK = re.compile(r"<a(?: [^<>]*)?>\s*</a>")
_MAX_HTML_DEPTH = 300
_SMALL = re.compile(r"\d{1,4}$", re.ASCII)

LinkResolver = Callable[[str], str | None]
"""Returns the target of a page's link in the rendered page; None to drop the target."""


@dataclass(frozen=True, slots=True)
class HtmlHeading:
    """A heading of a rendered page and its id."""

    level: int
    text: str
    id: str


@dataclass(frozen=True, slots=True)
class HtmlPage:
    """A page as HTML, without its title."""

    html: str
    """Sanitised HTML."""
    headings: tuple[HtmlHeading, ...]
    is_cut: bool


def render_markdown(
    markdown: str, resolve_link: LinkResolver, *, anchors: Sequence[str | None] = (), words: Mapping[str, str] | None = None
) -> HtmlPage:
    """Render a page.

    `anchors` are the fragments of its headings on the original site, in order; `words` are the names of callouts, `image` and
    `table` in the reader's language.
    """
    labels = words or {}
    text, is_cut = _truncate(markdown.replace("\x00", "\ufffd"))
    tokens = _parser().parse(text)
    if _html_depth(tokens) > _MAX_HTML_DEPTH:
        tokens = _parser(html=False).parse(text)
    headings = list(_headings(tokens, anchors))
    if headings and headings[0].level == 1 and tokens[0].type == "heading_open":
        del tokens[:3]
        headings = headings[1:]
    _replace_images(tokens, labels)
    tokens = list(_adapt_tokens(tokens, labels))
    written: str = _parser().renderer.render(tokens, _parser().options, {})
    return HtmlPage(_sanitise(written, resolve_link, frozenset(heading.id for heading in headings)), tuple(headings), is_cut)


@cache
def _parser(*, html: bool = True) -> MarkdownIt:
    """The parser; without `html`, HTML in Markdown is shown as text."""
    return MarkdownIt("commonmark", {"html": html}).enable(["table", "strikethrough"])


def _html_depth(tokens: Sequence[Token]) -> int:
    """The nesting depth of the HTML in a text: the sanitiser is slow for thousands of levels."""
    found = (one for token in tokens for one in (token, *(token.children or ())) if one.type in ("html_block", "html_inline"))
    still_open: Counter[str] = Counter()
    depth = deepest = 0
    for token in found:
        for closes, name in _ELEMENT.findall(token.content):
            if not closes:
                still_open[name] += 1
                depth += 1
                deepest = max(deepest, depth)
            elif still_open[name]:
                still_open[name] -= 1
                depth -= 1
    return deepest


def _truncate(markdown: str) -> tuple[str, bool]:
    """As many whole blocks as are rendered, and whether the text was cut."""
    end = _rendered_length(markdown)
    if end == len(markdown):
        return markdown, False
    kept, length = [], 0
    for block in split_blocks(markdown[: 2 * end]):
        length += len(block.text)
        if length > end:
            break
        kept.append(block.text)
    return "".join(kept) or markdown[:end], True


def _rendered_length(markdown: str) -> int:
    """How many characters of a text are within the limits."""
    end = min(len(markdown), MAX_CHARACTERS)
    for limited, most in ((_LINE, MAX_LINES), (_MARK, MAX_MARKS)):
        beyond = next(islice(limited.finditer(markdown, 0, end), most, None), None)
        end = beyond.start() if beyond is not None else end
    return end


def _headings(tokens: Sequence[Token], anchors: Sequence[str | None]) -> Iterator[HtmlHeading]:
    """The top-level headings, each with an id: the fragment of the original site if it is known."""
    found = [(token, tokens[at + 1]) for at, token in enumerate(tokens) if token.type == "heading_open" and token.level == 0]
    own: Sequence[str | None] = anchors if len(anchors) == len(found) else ()
    taken: set[str] = set()
    repeats: Counter[str] = Counter()
    for at, (token, inline) in enumerate(found):
        text = _plain(inline)
        name = _fragment((own[at] if own else None) or text) or "part"
        unique = name
        while unique in taken:
            repeats[name] += 1
            unique = f"{name}-{repeats[name] + 1}"
        taken.add(unique)
        token.attrSet("id", f"{ANCHOR_PREFIX}{unique}")
        yield HtmlHeading(int(token.tag[1]), text, f"{ANCHOR_PREFIX}{unique}")


def _fragment(name: str) -> str:
    return re.sub(r"[^\w.:()%-]+", "-", name).strip("-")[:200]


def local_fragment(name: str) -> str:
    """The id in the rendered page for a fragment of the original site."""
    return f"{ANCHOR_PREFIX}{_fragment(name)}" if _fragment(name) else ""


def _plain(inline: Token) -> str:
    kinds = {"text", "code_inline"}
    parts = [
        child.content if child.type in kinds else " " for child in inline.children or () if child.type in {*kinds, "softbreak"}
    ]
    return " ".join("".join(parts).split())


def _adapt_tokens(tokens: Sequence[Token], words: Mapping[str, str]) -> Iterator[Token]:
    """The tokens with callouts, images as links, and tables and code that scroll."""
    for at, token in enumerate(tokens):
        match token.type:
            case "blockquote_open":
                yield token
                yield from _callout(token, tokens[at + 1 : at + 3], words)
                continue
            case "inline":
                token.children = list(_inline(token.children or [], words))
                if at >= 2 and tokens[at - 2].type == "list_item_open":
                    _break_after_term(token.children)
            case "th_open" | "td_open":
                side = str(token.attrs.pop("style", "")).removeprefix("text-align:")
                if side in ("right", "center"):
                    token.attrSet("class", side)
            case "table_open":
                name = words.get("table", "Table")
                yield Token("div_open", "div", 1, {"class": "scroll", "tabindex": "0", "role": "region", "aria-label": name})
        yield token
        if token.type == "table_close":
            yield Token("div_close", "div", -1)


def _replace_images(tokens: Sequence[Token], words: Mapping[str, str]) -> None:
    """Replace HTML images by their alternative texts: a link around an image would otherwise be empty."""

    def alternative_text(found: re.Match[str]) -> str:
        alt = _ALT.search(found[0])
        return escape(unescape(alt[1] or alt[2] or "").strip() if alt else "") or escape(words.get("image", "Image"))

    for token in tokens:
        for one in (token, *(token.children or ())):
            if one.type in ("html_block", "html_inline"):
                one.content = _IMAGE.sub(alternative_text, one.content)


def _callout(quote: Token, after: Sequence[Token], words: Mapping[str, str]) -> Iterator[Token]:
    """A blockquote that starts with `[!NOTE]` as a box with a label."""
    if len(after) < 2 or after[1].type != "inline" or not (children := after[1].children):
        return
    if (found := _CALLOUT.match(children[0].content)) is None or (len(children) > 1 and children[1].type != "softbreak"):
        return
    kind = found[1].lower()
    after[1].children = children[2:]
    quote.attrSet("class", f"callout {kind if kind in CALLOUTS else 'note'}")
    yield Token("paragraph_open", "p", 1, {"class": "callout-name"})
    yield _text(words.get(kind, kind.capitalize()))
    yield Token("paragraph_close", "p", -1)


def _inline(children: Sequence[Token], words: Mapping[str, str]) -> Iterator[Token]:
    """Images as links to them; inside a link as their alternative text, because links cannot be nested."""
    depth = 0
    for child in children:
        depth += child.nesting if child.type in ("link_open", "link_close") else 0
        if child.type != "image":
            yield child
            continue
        alt = child.content.strip()
        name = words.get("image", "Image")
        if depth:
            yield _text(alt or name)
            continue
        yield Token("link_open", "a", 1, {"href": str(child.attrs.get("src", "")), "class": "picture"})
        yield _text(f"{name}: {alt}" if alt else name)
        yield Token("link_close", "a", -1)


def _break_after_term(children: list[Token]) -> None:
    """Add a line break after the term of a definition list, which is written as items that start with a bold term."""
    seen = [child for child in children if child.type != "text" or child.content.strip()]
    ends = next((at for at, child in enumerate(seen) if child.type == "strong_close"), None)
    if ends is None or seen[0].type != "strong_open" or ends + 1 >= len(seen):
        return
    if seen[ends + 1].type == "softbreak":
        seen[ends + 1].type = "hardbreak"
        seen[ends + 1].tag = "br"


def _text(content: str) -> Token:
    token = Token("text", "", 0)
    token.content = content
    return token


def _sanitise(html: str, resolve_link: LinkResolver, ids: frozenset[str]) -> str:
    """The HTML with only the tags, attributes and classes listed above."""

    def allowed(tag: str, name: str, value: str) -> str | None:
        match name:
            case "href":
                return resolve_link(value)
            case "id":
                return value if value in ids else None
            case "tabindex":
                return value if value == "0" else None
            case "role":
                return value if value == "region" else None
            case "colspan" | "rowspan" | "start":
                return value if _SMALL.match(value) else None
        return value

    safe = nh3.clean(
        html.replace("<pre>", '<pre tabindex="0">'),
        tags=set(_TAGS),
        clean_content_tags=set(_REMOVED_TAGS),
        attributes={tag: set(names) for tag, names in _ATTRIBUTES.items()},
        allowed_classes={tag: set(names) for tag, names in _CLASSES.items()},
        attribute_filter=allowed,
        url_schemes={"http", "https", "mailto"},
        link_rel=LINK_REL,
    )
    return _EMPTY_LINK.sub("", safe)  # A link without text cannot be read aloud or followed.
