"""Rates class names and ids: whether an element with that name is content or noise.

Names are normalised and each distinct one is rated once (a site uses the same few hundred on every page). What is done with an
element, also depending on its size, is decided in `noise` and `score`.
"""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache


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


_CONTENT_NAMES = r"""
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

_CONTENT_PATTERN = _name_pattern(_CONTENT_NAMES)
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
