"""Finds the main content of a page whose generator is not known.

There are two candidates. By markup: `<main>`, `role=main`, `<article>` and usual names of content areas, each scored by its share
of the running text and its text density. By structure: from the body down, always into the child that has nearly all of the
running text. If the first has less than half of the running text, the second is chosen.

Class names and ids are normalised, and each distinct one is rated once: a site uses the same few hundred on every page. What is
done with an element, also depending on its size, is decided here and in `noise`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from tadoru.parse.html import Element, HtmlDocument, tag_ids


class NameRating(IntEnum):
    """How strongly a name indicates noise."""

    NEUTRAL = 0
    KEEP = 1
    """Always content: an admonition, a tab panel."""
    WEAK = 2
    """Often noise: removed if other properties confirm it."""
    STRONG = 3
    """Noise."""


def _name_pattern(text: str) -> re.Pattern[str]:
    """Matches these names, with at most one word before them and one word for a box after them."""
    return re.compile(rf"(?:(?!no-|has-|with-|is-|not-)[a-z0-9]+-)?(?:{'|'.join(text.split())})(?:-(?:{_BOXES}))?")


_BOXES = (
    "container|wrapper|wrap|inner|outer|list|items?|links?|section|block|box|bar|area|content|mobile|desktop|widget|panel|component|"
    "root|body|row|col|group|main|top|bottom|left|right|[0-9]+|(?=[a-z]*[0-9])[a-z0-9]{3,8}"
)


_CLASS_CONTENT_NAMES = r"""
    admonition admonitions callout alert note warning tip caution important danger theme-admonition starlight-aside
    custom-block tabpanel tab-panel tab-pane tab-content tabs-content tabbed-content tabbed-block tabbed-set tabs-panel
    tab-panels nav-tabs sidebar-title footnotes? footnote-definition katex math mathjax highlight codehilite code-block prism-code
    topic accordion-body accordion-content collapse details expandable-content api-metadata
    figure-contents table-contents example-contents equation-contents
"""
_NAVIGATION_NAMES = r"""
    breadcrumbs? bread-crumbs? breadcrumbs?-[a-z-]+ crumbs? nav navbar navigation site-nav page-nav nav-links nav-menu
    navmenu sidenav side-nav table-of-contents tableofcontents toc toc-(?!backref)[a-z]+ page-toc local-toc toc-container
    toc-wrapper inline-toc mini-toc on-?this-?page in-this-article onthispage doc-toc doc-outline page-outline page-contents
    page-navigation pagination[a-z-]* paginator pager prev-?next prevnext next-?prev previous-next page-turner next-page
    prev-page next-article prev-article nextprev read-next next-link prev-link skip-link skip-links skip-to-[a-z-]+
    skip-nav skip-main skiplink back-to-top backtotop scroll-to-top go-to-top jump-to-top
"""
"""Navigation."""
_REQUEST_NAMES = r"""
    edit-?link edit-?page[a-z-]* edit-this-page edit-on-github edit-page-link edit-section page-edit improve-this-page
    page-actions page-options article-actions doc-actions feedback feedback-[a-z-]+ [a-z]+-feedback
    was-this-[a-z-]*helpful page-helpful helpful rating ratings rate-this-page star-rating thumb-rating survey
    report-issue report-a-problem suggest-edits? cookie cookies cookie-[a-z-]+ cookies-[a-z-]+ [a-z]+-cookie-[a-z-]+
    consent consent-[a-z-]+ gdpr gdpr-[a-z-]+ onetrust[a-z-]* cc-window cc-banner newsletter newsletter-[a-z-]+ subscribe
    subscribe-[a-z-]+ subscription-form signup sign-up sign-up-[a-z-]+ email-form mailing-list share share-[a-z-]+ sharing
    social social-[a-z-]+ sharedaddy addtoany addthis[a-z-]* comments comment-list comments-area comment-form disqus
    disqus-[a-z-]+ giscus utterances search search-box searchbox search-form searchform search-bar searchbar search-field
    search-input search-modal search-results site-search docsearch[a-z-]* algolia-(?:search|autocomplete)
"""
"""Requests to the reader: edit, rate, subscribe, share, comment, search."""
_TOOL_NAMES = r"""
    copy-?button copybtn copy-btn btn-copy copy-code[a-z-]* code-copy[a-z-]* copy-to-clipboard[a-z-]* clipboard[a-z-]*
    clipboard-copy copy-link copy-page[a-z-]* headerlink header-?link permalink heading-anchor header-anchor anchor-?link
    anchorjs-link hash-link anchor-icon heading-link autolink-headings?-link sl-anchor-link direct-link self-link selflink
    section-link copiable-link copiable-anchor version-[a-z-]*(?:picker|selector|switcher|select|switch|dropdown|menu)
    versions-(?:menu|list|dropdown) rst-versions lang-(?:picker|selector|switcher|select|switch|menu)
    language-(?:picker|selector|switcher|select|selection|switch|menu|chooser) locale-[a-z]+
    theme-(?:toggle|switch|switcher|picker|selector) dark-mode-toggle color-mode-[a-z]+ console-tabs? modal modal-[a-z]+
    dialog popup popover tooltip tooltips toast dropdown-menu menu menubar megamenu mega-menu offcanvas hamburger toolbar
"""
"""Controls of the page."""
_AD_NAMES = r"""
    ad ads adsbygoogle ad-[a-z-]+ ads-[a-z-]+ advert advertisement[a-z-]* sponsor sponsors sponsored sponsor-[a-z-]+ promo
    promo-[a-z-]+ promotion cta call-to-action ethical-[a-z-]+ carbonads? carbon-ads? bsa-[a-z-]+
"""
"""Advertising."""
_META_NAMES = r"""
    avatars? avatar-(?:group|stack|list) version-(?:warning|banner|notice|alert) outdated-[a-z-]+ old-version-[a-z-]+
    last-?updated last-?modified lastmod page-metadata page-meta article-meta doc-meta post-meta entry-meta contributors
    contributor-list page-contributors byline author-bio author-box reading-time read-time git-revision-date[a-z-]*
    doc-?footer page-footer article-footer site-footer footer-nav post-footer content-footer copyright license-notice
    colophon legal-notice printfooter catlinks navbox mw-editsection
    related-(?:articles|posts|pages|content|links|topics|resources) see-also-links recommended[a-z-]* recommendations
    also-see you-may-also-like more-articles
"""
"""Metadata of the page."""
_HIDDEN_NAMES = r"""
    sr-only visually-hidden visuallyhidden screen-reader-text screen-reader-only screenreader show-for-sr a11y-hidden
    print-only d-print-block mobile-?only
"""
"""Not visible on screen."""
_WEAK_NAMES = r"""
    sidebar side-bar sidebar-[a-z-]+ aside secondary footer masthead banner announcement[a-z-]*
    tagline slogan
    related tags tag-list taxonomy categories meta metadata actions buttons button-group btn-group links
    quick-links quicklinks widget widgets overlay drawer drawer-[a-z]+ outline nav-[a-z-]+ menu-[a-z-]+
    [a-z-]+-(?:banner|promo|ad|ads|share|comments|rating|pagination|pager|newsletter|signup|footer) contents
"""

_CONTENT_PATTERN = _name_pattern(_CLASS_CONTENT_NAMES)
_STRONG_PATTERN = _name_pattern(" ".join((_NAVIGATION_NAMES, _REQUEST_NAMES, _TOOL_NAMES, _AD_NAMES, _META_NAMES, _HIDDEN_NAMES)))
_WEAK_PATTERN = _name_pattern(_WEAK_NAMES)
_MAX_NAME_LENGTH = 60
"""Characters; longer names are generated and not rated."""
_HASH = re.compile(r"(?<!_)_++[A-Za-z0-9]{4,6}$")
"""The suffix that a build tool adds to a class name."""
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_JOINTS = re.compile(r"[_-]+")


@lru_cache(maxsize=20_000)
def rate_names(names: str) -> NameRating:
    """The rating of a class attribute or id. `tableOfContents_bqdL` and `table-of-contents` have the same rating."""
    rating = NameRating.NEUTRAL
    for name in names[:1_000].split():
        found = _rate_name(name)
        if found is NameRating.KEEP:
            return found
        rating = max(rating, found)
    return rating


@lru_cache(maxsize=20_000)
def _rate_name(name: str) -> NameRating:
    if ":" in name or "[" in name or len(name) > _MAX_NAME_LENGTH:  # Utility classes describe the appearance, not the meaning.
        return NameRating.NEUTRAL
    if (unhashed := _HASH.sub("", name)) != name and (found := _rate_name(unhashed)) is not NameRating.NEUTRAL:
        return found
    plain = _JOINTS.sub("-", _CAMEL.sub("-", name)).lower().strip("-")
    for pattern, rating in (
        (_CONTENT_PATTERN, NameRating.KEEP),
        (_STRONG_PATTERN, NameRating.STRONG),
        (_WEAK_PATTERN, NameRating.WEAK),
    ):
        if pattern.fullmatch(plain):
            return rating
    return NameRating.NEUTRAL


_MAX_READS = 60
"""How many times the text of a page may be read in total."""
_MIN_BUDGET = 2_000_000
_LINK_COST = 50
_ELEMENT_COST = 20


class TextMeasure:
    """Measures elements of one page."""

    def __init__(self, root: Element) -> None:
        self.text = root.text()
        self.whole = max(1, len(self.text))
        self._left = _MAX_READS * self.whole + _MIN_BUDGET

    def text_of(self, part: Element) -> str | None:
        """The text of an element; None if the budget is used up."""
        if self._left < 0:
            return None
        text = part.text()
        self._left -= len(text) + _ELEMENT_COST
        return text

    def length(self, part: Element) -> int:
        """The number of characters in an element."""
        text = self.text_of(part)
        return self.whole if text is None else len(text)

    def linked(self, part: Element) -> int:
        """The number of characters in the links of an element."""
        if self._left < 0:
            return 0
        links = part.css("a")
        self._left -= _LINK_COST * len(links)
        return sum(len(link.text()) for link in links)


_CONTENT_NAMES = (
    "[itemprop=articleBody],.markdown-body,.markdown,.prose,.doc-content,.docs-content,.documentation-content,.page-content,.article-content,"
    ".main-content,.entry-content,.post-content,#main-content,#content,#doc-content,#docs-content,.content,#main,#article,.article-body"
)
_PROSE = frozenset(
    {"p", "pre", "blockquote", "dd", "dt", "li", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "figcaption", "summary"}
)
_TEXT_TAGS = frozenset(tag_ids([*_PROSE, "div"]))
_INLINE = frozenset("abbr b cite code em font i kbd mark q s samp small span strong sub sup time tt u var".split())
_LEAF_TAGS = (_PROSE | {"ul", "ol", "dl"}) - {"td", "th"}
"""Tags at which the descent ends. It continues through tables, because old pages use them for layout."""
_BETWEEN_CELLS = frozenset({"table", "thead", "tbody", "tfoot", "tr"})
_MIN_SHARE = 0.85
"""The share of its parent's running text from which a child is descended into."""
_MIN_PARAGRAPH = 60
"""Characters; a `<div>` with as many directly in it is a paragraph."""
_OUTSIDE_TAGS = frozenset({"nav", "footer", "aside", "button", "select"})
_OUTSIDE_ROLES = frozenset({"navigation", "contentinfo", "banner", "search", "dialog", "menu", "complementary"})
_MAX_LOOKUPS = 300
"""Elements with the name of a menu that are still searched for content."""


@dataclass(frozen=True, slots=True)
class ContentChoice:
    """The chosen element, a confidence from 0 to 1, and the reason."""

    element: Element
    confidence: float
    reason: str


class TextWeights:
    """The amount of running text in each element of a page: text in paragraphs and similar elements, without links."""

    def __init__(self, body: Element) -> None:
        self.of: dict[int, int] = {}
        outside = _NonContent()
        top = body.mem_id
        # From the end, each element adds its amount to its parent: one step per element, however deep they are nested.
        for element in reversed(body.css("*")):
            key = element.mem_id
            held = self.of.get(key, 0)
            if element.tag_id in _TEXT_TAGS and (own := _own_weight(element)) and not outside.holds(element):
                held += own
                self.of[key] = held
            if held and key != top and (parent := element.parent) is not None:
                above = parent.mem_id
                self.of[above] = self.of.get(above, 0) + held
        self.whole = self.of.get(body.mem_id, 0)

    def share(self, element: Element) -> float:
        """The share of the page's running text in an element, from 0 to 1."""
        return self.of.get(element.mem_id, 0) / self.whole if self.whole else 0.0


def _own_weight(element: Element) -> int:
    """The running text directly in an element. Some generators write paragraphs as `<div>`, and all use it for boxes."""
    weight = _weight(element)
    return weight if weight >= _MIN_PARAGRAPH or element.tag != "div" else 0


def _weight(block: Element) -> int:
    """The text directly in a block or in inline elements of it; nested blocks are counted separately."""
    if block.tag == "pre":
        return len(block.text())
    length = 0
    child = block.first_child
    while child is not None:
        if child.is_text_node:
            length += len((child.text_content or "").strip())
        elif child.tag in _INLINE:
            length += len(child.text())
        child = child.next
    return length


class _NonContent:
    """Knows which elements are in a menu, a footer or another part that is not content."""

    def __init__(self) -> None:
        self._known: dict[int, bool] = {}
        self._looks = _MAX_LOOKUPS

    def holds(self, block: Element) -> bool:
        """Whether an element is in such a part."""
        element = block.parent
        if element is not None and (known := self._known.get(element.mem_id)) is not None:
            return known
        path: list[int] = []
        answer = False
        while element is not None:
            key = element.mem_id
            if key in self._known:
                answer = self._known[key]
                break
            path.append(key)
            if self._says(element):
                answer = True
                break
            element = element.parent
        self._known.update(dict.fromkeys(path, answer))
        return answer

    def _says(self, element: Element) -> bool:
        tag = element.tag
        if tag in _OUTSIDE_TAGS:
            return True
        attributes = element.attributes
        if attributes.get("role") in _OUTSIDE_ROLES:
            return True
        if tag in {"body", "html", "main", "article"} or not attributes:
            return False
        if NameRating.STRONG not in (rate_names(attributes.get("class") or ""), rate_names(attributes.get("id") or "")):
            return False
        self._looks -= 1
        return self._looks < 0 or element.css_first("main,article,h1") is None


def choose_content(document: HtmlDocument, body: Element) -> ContentChoice:
    """The element with the main content."""
    weights = TextWeights(body)
    if not weights.whole:
        return ContentChoice(body, 0.1, "the page has no running text")
    named = _named_content(document, weights)
    structural = _descend(body, weights)
    if named is None:
        return ContentChoice(structural, 0.5, "by where the text is dense")
    if weights.share(named) >= 0.5:
        return ContentChoice(named, 0.5 + weights.share(named) / 2, "named as the content")
    return ContentChoice(structural, 0.4, "what is named as the content holds little of the text")


def _named_content(document: HtmlDocument, weights: TextWeights) -> Element | None:
    best: Element | None = None
    best_score = 0.0
    for bonus, selectors in ((0.12, "article,[role=article]"), (0.1, "main,[role=main]"), (0.05, _CONTENT_NAMES)):
        for element in document.select(selectors):
            if element.tag in {"body", "html", "a", "span"}:
                continue
            share = weights.share(element)
            text = len(element.text()) or 1
            density = weights.of.get(element.mem_id, 0) / text
            score = share + bonus + 0.3 * min(1.0, density)
            if score > best_score:
                best, best_score = element, score
    return best


def _descend(body: Element, weights: TextWeights) -> Element:
    here = body
    for _ in range(200):
        child = here.first_child
        nearly_all: Element | None = None
        while child is not None:
            if child.is_element_node and weights.of.get(child.mem_id, 0) >= _MIN_SHARE * weights.of[here.mem_id]:
                nearly_all = child
                break
            child = child.next
        if nearly_all is None or nearly_all.tag in _LEAF_TAGS:
            break
        here = nearly_all
    # A descent that ends between the cells of a table has entered a table that is content.
    while here.tag in _BETWEEN_CELLS and here.parent is not None:
        here = here.parent
    return here
