"""The kind of an element by its tag and classes: the table of the markup of documentation generators.

Classes are looked up word by word; the result for each class attribute is cached, because a page repeats the same few.
"""

from __future__ import annotations

import re
from functools import lru_cache

DROP, PERMALINK, CALLOUT, PANEL, LABELS, LABEL, GROUP, CODE = "drop permalink callout panel labels label group code".split()
TITLE, MATH, SIGNATURE, FOOTNOTE, BLOCK_MATH, PAGE_TITLE, MERMAID, GRID, ITEMS, CODE_SPAN, METHOD = (
    "title math signature footnote block-math page-title mermaid grid items code-span method".split()
)
CODE_BOX, DRAWN_MATH, EQUATIONS = "code-box drawn-math equations".split()

_CLASS_KINDS: dict[str, str] = {
    word: kind
    for kind, words in {
        DROP: """sr-only visually-hidden screen-reader-text screen-reader-only srclink src-link rightside srcrightside
            viewcode-link viewcode-back copybtn copy-button btn-copy copy-btn clipboard-copy copy-path zeroclipboard-container
            md-clipboard md-code__nav copy-to-clipboard-button toolbar-item code-copy hljs-copy-button material-icons
            material-icons-outlined material-symbols-outlined octicon footnotes-sep
            MathJax_Preview MJX_Assistive_MathML eqno
            footnote-backref footnote-back data-footnote-backref fn-backref backrefs
            linenodiv gutter line-numbers-rows line-numbers-wrapper linenumbers blob-num mw-editsection editsection
            modern-footnotes-footnote source-toolbox
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
            topic-title sidebar-title rubric sd-card-title code-with-filename-file""",
        MATH: "katex arithmatex math-inline",
        DRAWN_MATH: "MathJax MathJax_SVG MathJax_CHTML MathJax_Display MathJax_SVG_Display",
        EQUATIONS: "ltx_eqn_table",
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
    EQUATIONS: frozenset({"table"}),
}
"""The tags that a kind occurs on; on others its classes have no meaning."""

CALLOUTS: dict[str, str] = {
    word: mark
    for mark, words in {
        "NOTE": (
            "note info abstract summary tldr seealso see-also todo question help faq quote cite default example "
            "secondary neutral remark details"
        ),
        "TIP": "tip hint success check done primary best-practice idea",
        "IMPORTANT": "important attention-important key",
        "WARNING": "warning warn attention bug deprecated-warning alert experimental",
        "CAUTION": "caution danger error failure fail missing destructive critical",
    }.items()
    for word in words.split()
}
_CALLOUT_NAMES = frozenset("admonition admonitions admonitionblock admonish callout notecard notebox macro".split())
"""Words in the classes of callouts and of nothing else: `bd-callout-danger`, `admonition_xJq3`."""
_CALLOUT_WORDS = frozenset("hint alert aside message custom-block note-box blockquote-tag book-hint prompt".split())
"""Names of callouts that other boxes have as well: they count as a whole word, or followed by a kind of callout."""
_SEVERITY = ("CAUTION", "WARNING", "IMPORTANT", "TIP", "NOTE")
_NOT_KINDS = frozenset("alert hint default primary secondary key check details".split())
"""Kinds that are also names of anything else; they count only after the name of a callout."""
_COLOUR = re.compile(r"(?:^|:)(?:border|bg|text)-(red|rose|orange|amber|yellow|green|emerald|teal|blue|sky|purple|violet)-\d")
_COLOURS = {
    colour: mark
    for mark, colours in {
        "CAUTION": "red rose",
        "WARNING": "orange amber yellow",
        "TIP": "green emerald teal",
        "IMPORTANT": "purple violet",
        "NOTE": "blue sky",
    }.items()
    for colour in colours.split()
}
_BARE_CALLOUTS = frozenset("note tip important warning caution danger attention hint info".split())
_CODE_BOX_TAGS = frozenset({"div", "figure", "section", "p", "blockquote"})
_CODE_NAME = re.compile(
    r"code-?(?:block|box|snippet|sample|example|listing|content|area)|source-?code|program-?listing|SCodeFlow|"
    r"(?:lang|language)-(?!switch|select|pick|menu|toggle|option|tab|list)[a-z0-9+#]+",
    re.IGNORECASE,
)
_MAYBE_CODE = frozenset("code highlight listing snippet screen terminal console hljs chroma prettyprint verbatim".split())
_CODE_LABEL = re.compile(
    r"(?!code-with-filename$)(?:code|snippet|listing|terminal|example|highlight)[a-z]*(?:[-_]+[a-z]+)*[-_]+"
    r"(?:header|title|title-?bar|toolbar|lang|language|label|file-?name|caption)"
)
_CODE_LABEL_TAGS = frozenset({"div", "span", "header", "figcaption", "p"})
_JOINTS = re.compile("[-_]+")
_MAX_CLASS_LENGTH = 500
"""Characters of a class attribute that are used, so that the cache stays small."""
_CALLOUT_PARTS = frozenset(
    "title heading content contents icon body header container list wrapper collapse inner fold summary link dismissible".split()
)
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
    if tag in {"mjx-container", "math-renderer"}:
        return BLOCK_MATH if "js-display-math" in words else MATH
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
    if tag == "span" and "docutils" in words and "literal" in words:
        return CODE_SPAN
    if tag == "div" and classes == "signature":  # Crystal
        return METHOD
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
    """NOTE, TIP, IMPORTANT, WARNING or CAUTION for a callout; empty if its classes do not have its kind; None for other boxes."""
    words = classes.split()
    kinds: set[str] = set()
    is_callout = False
    for word in words:
        parts = _JOINTS.split(word.lower())
        if (_CALLOUT_NAMES & set(parts) or parts[0] in _CALLOUT_WORDS) and (parts[-1] in _CALLOUT_PARTS):
            return None
        is_named, kind = _callout_name(word.lower(), parts)
        is_callout = is_callout or is_named
        if kind and (is_named or parts[-1] not in _NOT_KINDS):
            kinds.add(kind)
    mark = next((mark for mark in _SEVERITY if mark in kinds), "")
    if not is_callout:
        return _bare_mark(words)
    if not mark and not {"alert", "message", "aside", "prompt", "macro"}.isdisjoint(words):
        return None
    return mark or ("TIP" if "hint" in words else "")


def callout_colour(classes: str) -> str:
    """The kind of a callout that only its colour shows; empty if it has no known colour."""
    return next((_COLOURS[found[1]] for word in classes.split() if (found := _COLOUR.search(word))), "")


def _callout_name(word: str, parts: list[str]) -> tuple[bool, str]:
    """Whether a class names a callout, and the kind that it names."""
    kind = CALLOUTS.get(parts[-1], "") if len(parts) > 1 else CALLOUTS.get(word, "")
    if not _CALLOUT_NAMES.isdisjoint(parts):
        return True, kind if parts[-1] not in _CALLOUT_NAMES else ""
    stem = word if word in _CALLOUT_WORDS else "-".join(parts[:-1]) if kind or parts[-1] == "block" else ""
    if stem in _CALLOUT_WORDS or (kind and {"hint", "alert", "aside"} & set(parts[:-1])):
        return True, kind if stem != word else ""
    return False, kind if len(parts) == 1 else ""


def _bare_mark(words: list[str]) -> str | None:
    """The kind of a box whose classes are only the kind: `note`, `section warning` (Doxygen), `WARNING` (DocFX)."""
    rest = [word.removeprefix("rmd") for word in (words[1:] if words[:1] == ["section"] else words)]  # `rmdwarning`: bookdown
    if not rest or len(rest) > 2 or (rest[0] if not rest[0].isupper() else rest[0].lower()) not in _BARE_CALLOUTS:
        return None
    kinds = {CALLOUTS.get(word.lower()) for word in rest if word.lower() not in _NOT_KINDS or word is rest[0]}
    return next(mark for mark in _SEVERITY if mark in kinds)


_COLLAPSIBLE = ("tab", "panel", "pane", "collaps", "accordion", "callout", "admonition", "expand", "spoiler", "foldable")


def is_collapsible(names: str) -> bool:
    """Whether an element with these names is hidden until a click shows it."""
    lowered = names.lower()
    return any(word in lowered for word in _COLLAPSIBLE)
