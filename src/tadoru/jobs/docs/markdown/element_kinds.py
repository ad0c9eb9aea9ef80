"""The kind of an element by its tag and classes: the table of the markup of documentation generators.

Classes are looked up word by word; the result for each class attribute is cached, because a page repeats the same few.
"""

from __future__ import annotations

import re
from functools import lru_cache

DROP, PERMALINK, CALLOUT, PANEL, LABELS, LABEL, GROUP, CODE = "drop permalink callout panel labels label group code".split()
TITLE, MATH, SIGNATURE, FOOTNOTE, BLOCK_MATH, PAGE_TITLE, MERMAID, GRID, ITEMS, CODE_SPAN, METHOD, CODE_BOX = (
    "title math signature footnote block-math page-title mermaid grid items code-span method code-box".split()
)

_CLASS_KINDS: dict[str, str] = {
    word: kind
    for kind, words in {
        DROP: """sr-only visually-hidden screen-reader-text screen-reader-only srclink src-link rightside srcrightside
            viewcode-link viewcode-back copybtn copy-button btn-copy copy-btn clipboard-copy copy-path zeroclipboard-container
            md-clipboard md-code__nav copy-to-clipboard-button toolbar-item code-copy hljs-copy-button material-icons
            material-icons-outlined material-symbols-outlined octicon footnotes-sep
            MathJax MathJax_Preview MathJax_SVG MathJax_CHTML MathJax_Display MJX_Assistive_MathML eqno
            footnote-backref footnote-back data-footnote-backref fn-backref backrefs
            linenodiv gutter line-numbers-rows line-numbers-wrapper linenumbers blob-num mw-editsection editsection
            collapse-toggle twoslash-popup-container test-arrow out-of-band hideme""",
        PERMALINK: """headerlink hash-link header-anchor anchor-link anchorjs-link direct-link permalink heading-anchor
            heading-link header-link anchor hashlink docs-heading-link autolink-header sl-anchor-link headline-link""",
        PANEL: "sd-tab-content sphinx-tabs-panel tabbed-block tab-pane tabpanel tab-panel tabs-panel tabbed-panel",
        LABELS: "tabbed-labels nav-tabs tablist tab-list tabs-nav",
        LABEL: "sd-tab-label",
        GROUP: "vp-code-group code-group code-tabs tabbed-set tab-set console-block",
        CODE: """fragment highlighttable codehilitetable lntable rouge-table hljs-ln js-file-line-container listing_frame
            SVerbatim RktBlk linenums""",
        TITLE: """code-block-caption filename code-title code-block-title codeblock-title file-name code-header-title title-bar
            topic-title sidebar-title rubric sd-card-title""",
        MATH: "katex arithmatex math-inline",
        BLOCK_MATH: "katex-display math-display",
        SIGNATURE: """memproto compoundTemplParams member-signature type-signature package-signature module-signature
            methodSignature src""",
        FOOTNOTE: "footnote citation footnotes footnote-list footnotes-segment",
        MERMAID: "mermaid",
        GRID: "summary-table",
        ITEMS: "item-table",
        METHOD: "method-heading",
        CODE_SPAN: "code bold_code inline-code",
    }.items()
    for word in words.split()
}

_CLASS_PREFIXES: tuple[tuple[str, str], ...] = (
    ("codeBlockTitle", TITLE),
    ("buttonGroup", DROP),
    ("copyButton", DROP),
    ("hashLink", PERMALINK),
)

_KIND_TAGS: dict[str, frozenset[str]] = {
    PERMALINK: frozenset({"a", "span", "button"}),
    LABELS: frozenset({"div", "ul", "nav", "ol"}),
    FOOTNOTE: frozenset({"aside", "div", "dl", "section", "table", "ol"}),
    TITLE: frozenset({"div", "span", "p", "figcaption", "th", "caption"}),
    GRID: frozenset({"div"}),
    ITEMS: frozenset({"div", "ul"}),
    METHOD: frozenset({"div"}),
    CODE_SPAN: frozenset({"span"}),
    CODE: frozenset({"div", "table", "ol"}),
}
"""The tags that a kind occurs on; on others its classes have no meaning."""

CALLOUTS: dict[str, str] = {
    word: mark
    for mark, words in {
        "NOTE": (
            "note info abstract summary tldr seealso see-also todo question help faq quote cite default example "
            "secondary neutral remark details"
        ),
        "TIP": "tip hint success check done primary best-practice",
        "IMPORTANT": "important attention-important key",
        "WARNING": "warning warn attention bug deprecated-warning alert experimental",
        "CAUTION": "caution danger error failure fail missing destructive critical",
    }.items()
    for word in words.split()
}
_CALLOUT_MARKS = frozenset(
    "admonition custom-block admonitionblock theme-admonition hint notecard callout nextra-callout "
    "starlight-aside markdown-alert alert "
    "docs-callout admonition-block note-box aside message".split()
)
_BARE_CALLOUTS = frozenset("note tip important warning caution danger attention hint info".split())
_CODE_BOX_TAGS = frozenset({"div", "figure", "section", "p", "blockquote"})
_CODE_NAME = re.compile(
    r"code-?(?:block|box|snippet|sample|example|listing|content|area)|source-?code|program-?listing|SCodeFlow|"
    r"(?:lang|language)-(?!switch|select|pick|menu|toggle|option|tab|list)[a-z0-9+#]+",
    re.IGNORECASE,
)
_MAYBE_CODE = frozenset("code highlight listing snippet screen terminal console hljs chroma prettyprint verbatim".split())
_CODE_LABEL = re.compile(
    r"(?:code|snippet|listing|terminal|example|highlight)[a-z]*(?:[-_]+[a-z]+)*[-_]+"
    r"(?:header|title|title-?bar|toolbar|lang|language|label|file-?name|caption)"
)
_CODE_LABEL_TAGS = frozenset({"div", "span", "header", "figcaption", "p"})
_JOINTS = re.compile("[-_]+")
_MAX_CLASS_LENGTH = 500
"""Characters of a class attribute that are used, so that the cache stays small."""
_CALLOUT_PARTS = frozenset("title heading content icon body header container list wrapper".split())
_CALLOUT_TAGS = frozenset({"div", "aside", "section", "blockquote", "details", "p", "dl"})

BLOCK_TAGS = frozenset(
    "address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption "
    "figure footer form h1 h2 h3 h4 h5 h6 "
    "header hgroup hr legend li listing main menu nav ol optgroup option p pre search section summary "
    "table tbody td tfoot th thead tr "
    "ul xmp plaintext caption html".split()
)
SKIPPED_TAGS = frozenset(
    "script style template noscript head link meta title base button input select textarea datalist "
    "output progress meter canvas map area "
    "param track source dialog object embed applet frame frameset noframes colgroup col clipboard-copy rp copy-button".split()
)


def element_kind(tag: str, classes: str) -> str:
    """The kind of an element with these classes; empty if it has none."""
    return _kind(tag, classes if len(classes) < _MAX_CLASS_LENGTH else classes[:_MAX_CLASS_LENGTH])


@lru_cache(maxsize=8192)
def _kind(tag: str, classes: str) -> str:
    words = classes.split()
    if tag in _CALLOUT_TAGS and (callout_mark(classes) is not None or (tag == "details" and classes in CALLOUTS)):
        return CALLOUT
    if tag in {"div", "aside"} and classes == "sidebar":  # A box beside the text in DocBook and Docutils.
        return CALLOUT
    if tag == "mjx-container":
        return MATH
    for word in words:
        if (kind := _CLASS_KINDS.get(word)) and (refined := _refined_kind(kind, tag, words)):
            return refined
        for beginning, found in _CLASS_PREFIXES:
            if word.startswith(beginning):
                return found
    return _rarer_kind(tag, classes, words)


def _rarer_kind(tag: str, classes: str, words: list[str]) -> str:
    """The kind of an element without a class of the table."""
    if "math" in words:
        return BLOCK_MATH if tag == "div" or "display" in words else MATH
    if tag == "div" and classes in {"title", "caption"}:
        return TITLE
    if tag == "span" and classes == "lang":
        return DROP
    if tag == "div" and "headertitle" in words:
        return PAGE_TITLE
    if tag in _CODE_LABEL_TAGS and any(_CODE_LABEL.fullmatch(word) for word in words):
        return TITLE
    if tag in _CODE_BOX_TAGS and (is_code_name(classes) or not _MAYBE_CODE.isdisjoint(words)):
        return CODE_BOX
    return ""


@lru_cache(maxsize=2048)
def is_code_name(classes: str) -> bool:
    """Whether one of the classes is a name that only code has."""
    return any(_CODE_NAME.fullmatch(_JOINTS.sub("-", word)) for word in classes.split())


def _refined_kind(kind: str, tag: str, words: list[str]) -> str:
    """The kind, or another one, depending on the tag; empty if the class has no meaning there."""
    if kind is MATH and (tag == "div" or "display" in words):
        return BLOCK_MATH
    if kind in _KIND_TAGS and tag not in _KIND_TAGS[kind]:
        return ""
    if kind is SIGNATURE and "src" in words and tag != "p":  # Haddock
        return ""
    if kind is CODE and (("fragment" in words and tag != "div") or ("linenums" in words and tag != "ol")):
        return ""
    return kind


def callout_mark(classes: str) -> str | None:
    """NOTE, TIP, IMPORTANT, WARNING or CAUTION for a callout, else None."""
    words = classes.split()
    marked = False
    mark = None
    for word in words:
        stem, _, end = word.rpartition("-")
        stem = stem.rstrip("-")
        if end in _CALLOUT_PARTS or word.endswith("__title"):
            return None
        lowered = word.lower()
        if word in _CALLOUT_MARKS or stem in _CALLOUT_MARKS or word.startswith(("theme-admonition", "admonition_")):
            marked = True
            mark = mark or CALLOUTS.get(end.lower()) if stem in _CALLOUT_MARKS else mark
        if lowered not in {"alert", "hint", "default", "primary", "secondary", "key", "check"}:
            mark = mark or CALLOUTS.get(lowered)
    if not marked:
        if words[:1] == ["section"]:  # Doxygen
            del words[0]
        return CALLOUTS[words[0]] if words and words[0] in _BARE_CALLOUTS and len(words) < 3 else None
    if mark is None and ("alert" in words or "message" in words or "aside" in words):
        return None
    return mark or ("TIP" if "hint" in words else "NOTE")
