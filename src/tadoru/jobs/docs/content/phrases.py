"""Recognises noise by its text: "Edit this page", "Was this helpful?", "On this page".

For sites with meaningless class names (`css-1a2b3c`). Only the whole text of a small element is compared, so a sentence that
contains such words is not affected. `page_furniture` finds larger parts by what they consist of: tables of links to the next and
previous page, menus of languages, lists of other articles, banners about the version.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from tadoru.jobs.docs.content.score import TextMeasure
from tadoru.parse.html import Attributes, Element, collapsed, has_words, tag_ids

_ONE_WORD = frozenset({"copy", "copied"})
"""The phrases of one English word."""
MAX_PHRASE_LENGTH = 80
"""Characters; longer texts are not phrases."""

_PAGE = "(?:this|the) (?:page|article|document|docs?|section|topic|guide|content|tutorial|file|chapter|information)"
_PHRASES = re.compile(
    "|".join(
        (
            f"(?:edit|improve|fix|translate|print|share|rate|bookmark|download) {_PAGE}(?: (?:on|in|at|via) [a-z ]+)?",
            "(?:edit|view|improve)(?: it)? on (?:github|gitlab|bitbucket)",
            "(?:view|show|page|see) (?:page )?source",
            "(?:view|copy|open|download) (?:this )?(?:page )?(?:as|in) (?:markdown|md|pdf|[a-z]+gpt|[a-z]+ ai)",
            "suggest (?:an )?(?:edit|change|improvement)s?(?: to .*)?",
            "(?:report|raise|open|file) (?:an? )?(?:issue|bug|problem)(?: (?:with|on|for) .*)?",
            r"(?:was|is|did) (?:this|the)(?: \w+){0,3} (?:helpful|useful|help|help you)(?: to you)?",
            "(?:give|send|provide|leave|share) (?:us )?(?:your )?feedback(?: .*)?",
            "thank(?:s| you) for your feedback",
            "(?:(?:this )?page (?:was )?)?last (?:updated?|modified|edited|changed|reviewed)(?:[ :].{0,50})?",
            "updated (?:on|at) .{1,30}",
            "(?:on|in) this (?:page|article|section|guide|topic)",
            "table of contents",
            "page (?:contents|outline|navigation)",
            "jump to (?:section|navigation|search)",
            "copy(?: (?:page|link|url|code|snippet|to clipboard|item path|markdown))?",
            "copied",
            "(?:back|return|scroll|go) to (?:the )?top",
            "skip to .{1,30}",
            "(?:expand|collapse) (?:all|description)",
            "[0-9]+ min(?:ute)?s? (?:read|to read)",
            "(?:sign|log) (?:in|up)",
            "このページの(?:内容|目次)|目次|このページを編集(?:する)?|(?:このページ|この記事)は(?:役に立ち|参考になり)ましたか",
            "(?:ページの)?(?:トップ|先頭)(?:へ|に)戻る|最終更新(?:日)?.{0,30}",
            "本页(?:目录|内容)|编辑(?:此|本)页.*|上次更新.*",
            "auf dieser seite|sur cette page|en esta página|nesta página|in questa pagina|на этой странице",
        )
    )
)
_STARTS = tuple(
    "previous prev next ← → « » ‹ › 前へ 次へ 上一页 下一页 suivant précédent weiter zurück siguiente anterior".split()
)
_STEPS = frozenset(_STARTS)
_HINTS = tuple(
    (
        "pdate|odified|seful?|minute|elpful|this section|"
        "this page|this article|this doc|this guide|this topic|this file|this chapter|"
        "table of contents|on git|page source|page contents|page outline|page navigation|show source|"
        "view source|eedback|uggest|report a|opied|opy page|opy link|opy code|"
        "to top|kip to|xpand all|expand description|ollapse all|min read|ign in|og in|ign up|ump to|"
        "ieser seite|ette page|esta página|uesta pagina|этой|このページ|この記事|目次|戻る|最終更新|本页|编辑|上次更新"
    ).split("|")
)
"""Substrings of the phrases in lower case: a text without any of them has no phrase."""
_CLOSING = re.compile(r"(?:copyright\b|©|\(c\)).{0,150}", re.IGNORECASE)
_SOURCES = frozenset({"source", "src", "edit", "view source", "view on github"})
_REPOSITORY = re.compile(r"/(?:edit|blob|tree|raw|src)/.+|#L\d+$")
_CODE_TAGS = frozenset({"pre", "code", "samp", "kbd", "tt"})
_CODE_NAMES = frozenset("code-header member-signature type-signature methodSignature memproto sig src signature".split())
"""Classes of code that has no code element: signatures of rustdoc, Javadoc, Doxygen, Sphinx, Haddock, Scaladoc."""
_TERMS = frozenset({"h2", "h3", "h4", "h5", "h6", "dt"})
_MAX_ANCESTORS = 12
"""Ancestors of an element that are checked for code."""
_PHRASE_TAGS = frozenset(tag_ids("p h2 h3 h4 h5 h6 div summary strong b label li dt".split()))
"""The tags of elements that can be a phrase, besides links and spans."""
_LINK, _IMAGE, _TABLE = tag_ids(["a", "img", "table"])
_SECTION_HEADINGS = frozenset(tag_ids(["h2", "h3", "h4"]))
PARTS = _PHRASE_TAGS | {_LINK, _IMAGE, _TABLE}
"""The tags of `PageParts`."""
_SPANS = "span:not(pre>span,code>span,.sig>span,pre>span>span,code>span>span,.sig>span>span)"
"""Most spans that are not in code, which has most of all and no phrases (`is_code`). Without "pre span": each span would be
compared with all elements around it, which takes seconds where thousands are nested."""
_STEP_SIGNS = " \t\n\xa0.:<>-…→←»«"
_TRIM = " \t\n.:!?…¶#→←»«↑>?？：。！✏📝🔗"


@dataclass(slots=True)
class PageParts:
    """The elements of a page that rules are about, in document order, gathered in one walk: each selector would be a walk."""

    phrases: list[Element] = field(default_factory=list)
    """Those that can be a phrase, besides links and spans."""
    headings: list[Element] = field(default_factory=list)
    fragment_links: list[Element] = field(default_factory=list)
    """Links to a part of the same page."""
    links: list[Element] = field(default_factory=list)
    """Links to other pages."""
    language_links: list[Element] = field(default_factory=list)
    tooltips: list[Element] = field(default_factory=list)
    """Links with a tooltip."""
    images: list[Element] = field(default_factory=list)
    tables: list[Element] = field(default_factory=list)

    def add(self, tag: int, element: Element, attributes: Attributes) -> None:
        """Add an element with one of the tags in `PARTS`."""
        if tag == _LINK:
            if (href := attributes.get("href") or "").startswith("#"):
                self.fragment_links.append(element)
            elif href:
                self.links.append(element)
            if "hreflang" in attributes:
                self.language_links.append(element)
            if "tooltip" in (attributes.get("class") or "").split():
                self.tooltips.append(element)
        elif tag in _PHRASE_TAGS:
            self.phrases.append(element)
            if tag in _SECTION_HEADINGS:
                self.headings.append(element)
        else:
            (self.images if tag == _IMAGE else self.tables).append(element)


def is_phrase(text: str) -> bool:
    """Whether a whole text is one of the phrases."""
    if " " not in text and text.isascii() and text.isprintable():  # Most texts of links and of highlighted code are one word.
        return text.strip(_TRIM).lower() in _ONE_WORD
    return _is_phrase(text)


@lru_cache(maxsize=8_192)
def _is_phrase(text: str) -> bool:
    return _PHRASES.fullmatch(" ".join(text.split()).strip(_TRIM).lower()) is not None


def is_step(link: Element, text: str) -> bool:
    """Whether a link starts with a word for the next or previous page as a separate caption."""
    if not text.lower().startswith(_STARTS):
        return text[:1] == "<" and text.lower().strip(_STEP_SIGNS) in {"next", "previous", "prev"}
    if text.lower().strip(_STEP_SIGNS) in {"next", "previous", "prev"} or text.strip() in {"←", "→", "«", "»"}:
        return True
    node: Element | None = link.first_child
    for _ in range(12):
        if node is None:
            return False
        if node.is_text_node:
            own = (node.text_content or "").strip()
            if own:
                # Alone in its node, followed by more text: a caption above the title of the page.
                return own.lower().strip(" :") in _STEPS and len(text.strip()) > len(own)
            node = node.next
        else:
            node = node.first_child or node.next
    return False


def find_phrases(root: Element, parts: list[Element], measure: TextMeasure) -> list[Element]:
    """The spans and the given elements, in document order, whose text is a phrase. Many pages have none: a quick check."""
    text = measure.text.lower()
    if not any(hint in text for hint in _HINTS):
        return []
    found: list[Element] = []
    long: set[int] = set()
    for part in (*reversed(parts), *reversed(root.css(_SPANS))):
        if part.mem_id in long:
            continue
        length = len(own := part.text())
        if length > MAX_PHRASE_LENGTH:
            # What contains it is longer: no text is read twice.
            above = part.parent
            while above is not None and above.mem_id not in long:
                long.add(above.mem_id)
                above = above.parent
        elif length and is_phrase(own):
            found.append(part)
    return [part for part in found if not (part.tag in _TERMS and is_one_word(part.text())) and not is_code(part)]


def is_one_word(text: str) -> bool:
    """Whether a text is one word, such as `copy` or `next`: alone it is a button, in a heading or sentence it is a name."""
    return len(text.split()) == 1


def leads_to_source(text: str, href: str) -> bool:
    """Whether a link points to the source of a part of the page in a repository."""
    return text.lower().strip("[]() ") in _SOURCES and _REPOSITORY.search(href) is not None


def is_in_a_sentence(link: Element) -> bool:
    """Whether there is text right before or after a link."""
    return has_words(link.prev) or has_words(link.next)


def is_closing(text: str) -> bool:
    """Whether a text is only a copyright notice."""
    return len(text) <= 4 * MAX_PHRASE_LENGTH and _CLOSING.fullmatch(collapsed(text)) is not None


def is_code(part: Element) -> bool:
    """Whether an element is in code or contains code: a command or method called `copy` is not a button."""
    above: Element | None = part
    for _ in range(_MAX_ANCESTORS):
        if above is None:
            break
        if above.tag in _CODE_TAGS or not _CODE_NAMES.isdisjoint((above.attributes.get("class") or "").split()):
            return True
        above = above.parent
    return part.css_first("pre,code,samp,kbd") is not None


_MAX_ROW_TEXT = 400
"""Characters of a row of links; a longer one has descriptions."""
_STEP = re.compile(
    r"[\[(]?\s*(?:<|«|←|‹|&lt;|prev\b|previous\b|next\b|up\b|up:|top\b|home\b|contents\b)|.*(?:>|»|→|›)\s*[\])]?$", re.IGNORECASE
)
_ROW_STEP = re.compile(
    r"[\[(<«←‹\s-]*+(?:prev|previous|next|up|top|home|contents|index|bib|ind|\d{1,3}|table of contents)\b"
    r"(?: (?:page|chapter|section|of book|topic))?[\])>»→›\s-]*+$",
    re.IGNORECASE,
)
_ROW_WORD = re.compile(r"(?<!\w)(?:prev|previous|next|up|top|home|contents|index)(?!\w)", re.IGNORECASE)
_ROW_LABEL = re.compile(r"(?:[A-Za-z]+ ){0,2}[A-Za-z]{1,12}:")
_ROW_TAGS = frozenset({"div", "p", "span", "center", "b", "small", "form"})
_MAX_ROWS = 5
"""Elements with links at the start and at the end of a page that are looked at."""
_MAX_ROW_DEPTH = 4
_MAX_ROW_WORD = 24
"""Characters of a step."""
_MAX_TRIED = 2
"""Links of a row of which one has to be a step."""
_BETWEEN_LINKS = " \t\n\xa0[]()|<>«»←→‹›·•/-–—:,"
_LANGUAGE_MENU = re.compile(r"(?:available )?languages?|translations?|read (?:this )?in|in other languages", re.IGNORECASE)
_OTHER_ARTICLES = re.compile(
    r"(?:related|recommended|more|similar|popular|latest) (?:articles|posts|stories|blog posts)|you (?:might|may) also like|"
    r"(?:read|up) next|keep reading|recommended for you",
    re.IGNORECASE,
)
_BANNER_END = (
    r"\s[^.]{0,80}?(?:docs|documentation|manual|version)\b[^.]{0,120}?"
    r"\b(?:old|older|outdated|previous|unreleased|development|unsupported|archived|no\s+longer\s+(?:supported|maintained))"
)
_BANNER_STARTS = (
    r"you(?:'|’|\s+a)re\s+(?:viewing|reading|looking\s+at|browsing)",
    r"this\s+(?:is|page\s+is|document\s+is)",
)
_BANNER_TEXTS = tuple(re.compile(start + _BANNER_END) for start in _BANNER_STARTS)
"""In lower case, as all texts that are compared with them; one by one, because they are found faster by their first word."""
_VERSION_BANNER = re.compile(rf"(?:warning|note|attention|important)?[:!]?\s*(?:{'|'.join(_BANNER_STARTS)}){_BANNER_END}\b")
_BANNER_HINTS = "older|old version|outdated|unreleased|unsupported|archived|no longer |development version".split("|")
_MAX_BANNER = 400
_MIN_LINKS = 2
_UPPER_HEADINGS = frozenset({"h1", "h2", "h3", "h4"})


def page_furniture(root: Element, parts: PageParts, noise: list[Element], measure: TextMeasure) -> list[Element]:
    """All such parts of a page, on which this noise is already found."""
    return [
        *(table for table in parts.tables if _is_step_table(table)),
        *_rows_of_steps(root, parts.links),
        *_language_menus(parts.language_links),
        *_other_articles(parts.headings, measure),
        *_version_banners(root, measure),
        *_link_extras(parts.tooltips, noise),
    ]


def _is_step_table(table: Element) -> bool:
    """Whether a table has only links, some of them to the next, previous or upper page."""
    if len(whole := table.text()) > _MAX_ROW_TEXT or table.css_first("td table,th,img,pre,code") is not None:
        return False
    links = [link.text() for link in table.css("a[href]")]
    if len(links) < _MIN_LINKS or not any(_STEP.match(text.strip()) for text in links):
        return False
    rest = whole
    for text in links:
        rest = rest.replace(text, "", 1)
    return not rest.strip(_BETWEEN_LINKS)


def _rows_of_steps(root: Element, links: list[Element]) -> list[Element]:
    """The rows of links to the next, previous, upper or numbered pages among the first and last links of a page."""
    found: dict[int, Element] = {}
    for link in (*_in_rows(links), *_in_rows(reversed(links))):
        around: Element | None = link
        row: Element | None = None
        for _ in range(_MAX_ROW_DEPTH):
            around = around.parent if around is not None else None
            if around is None or around.mem_id == root.mem_id or around.tag not in _ROW_TAGS or not _is_step_row(around, root):
                break
            row = around
        if row is not None:
            found[row.mem_id] = row
    return list(found.values())


def _in_rows(links: Iterable[Element]) -> Iterator[Element]:
    """Links of the first rows that are steps themselves or stand after such a word."""
    tried: dict[int, int] = {}
    for link in links:
        if (around := link.parent) is None:
            continue
        times = tried[around.mem_id] = tried.get(around.mem_id, 0) + 1
        if len(tried) > _MAX_ROWS:
            return
        if times <= _MAX_TRIED and around.tag in _ROW_TAGS and _is_step_link(link):
            yield link


def _is_step_link(link: Element) -> bool:
    text = link.text()
    if len(text) <= _MAX_ROW_WORD and _ROW_STEP.match(text.strip()):
        return True
    before = link.prev
    while before is not None and before.is_text_node and not (before.text_content or "").strip():
        before = before.prev
    return before is not None and len(word := before.text().strip(_BETWEEN_LINKS)) <= 8 and _ROW_WORD.fullmatch(word) is not None


def _is_step_row(row: Element, root: Element) -> bool:
    """Whether an element has only links, at least two of which are steps or have such a word before them; or also the title."""
    if len(whole := row.text()) > _MAX_ROW_TEXT or row.css_first("h1,h2,h3,h4,pre,code,li") is not None:
        return False
    texts = [text for link in row.css("a") if (text := link.text())]
    rest = whole
    for text in texts:
        rest = rest.replace(text, " ", 1)
    words = _ROW_WORD.findall(rest)
    steps = sum(_ROW_STEP.match(text.strip()) is not None for text in texts)
    if left := _ROW_WORD.sub("", rest).strip(_BETWEEN_LINKS):
        if steps == len(texts):
            return len(texts) > _MIN_LINKS and _ROW_LABEL.fullmatch(rest.strip()) is not None
        title = root.css_first("h1")  # Breadcrumbs: from the first page to this one.
        return title is not None and collapsed(left) == collapsed(title.text()).strip(_BETWEEN_LINKS)
    return bool(texts) and steps + len(words) >= _MIN_LINKS


def _language_menus(links_to_languages: list[Element]) -> list[Element]:
    """The elements that consist of links to the same page in other languages."""
    found: dict[int, Element] = {}
    for link in links_to_languages:
        around = link.parent
        if around is None or around.mem_id in found:
            continue
        if around.tag == "li" and around.parent is not None:
            around = around.parent
        links = around.css("a")
        beside = collapsed(around.text())
        for each in links:
            beside = beside.replace(collapsed(each.text()), "", 1)
        if len(links) >= _MIN_LINKS and (
            not beside.strip(_BETWEEN_LINKS) or _LANGUAGE_MENU.fullmatch(beside.strip(_BETWEEN_LINKS))
        ):
            found[around.mem_id] = around
    return list(found.values())


def _other_articles(headings: list[Element], measure: TextMeasure) -> list[Element]:
    """A heading such as "Related articles" and the links below it, up to the next heading."""
    found: list[Element] = []
    for heading in headings:
        if len(text := collapsed(heading.text())) > 40 or _OTHER_ARTICLES.fullmatch(text.strip(" :")) is None:
            continue
        below: list[Element] = []
        after = heading.next
        while after is not None and not (
            after.is_element_node and after.tag in _UPPER_HEADINGS and (after.tag or "") <= (heading.tag or "")
        ):
            if after.is_element_node:
                below.append(after)
            after = after.next
        length = sum(measure.length(part) for part in below)
        if not below or sum(measure.linked(part) for part in below) >= 0.5 * length:
            found += [heading, *below]
    return found


def _version_banners(root: Element, measure: TextMeasure) -> list[Element]:
    """Banners on pages of another version than the current one, if they start with the usual words."""
    text = measure.text
    if "ersion" not in text or not any(hint in text for hint in _BANNER_HINTS):
        return []
    lowered = text.lower()
    if not any(banner.search(lowered) for banner in _BANNER_TEXTS):
        return []
    return [
        part
        for part in root.css("div,aside,p,section")
        if len(text := collapsed(measure.text_of(part) or "", _MAX_BANNER + 1)) <= _MAX_BANNER
        and _VERSION_BANNER.match(text.lower())
    ]


def _link_extras(tooltips: list[Element], noise: list[Element]) -> list[Element]:
    """Tooltips in links that have a text beside them, and brackets around links to the source, which are noise."""
    found: list[Element] = []
    for link in tooltips:
        first = link.first_child
        if first is not None and first.tag == "span" and first.next is not None and (first.next.text_content or "").strip():
            found.append(first)
    for link in noise:
        href = (link.attributes.get("href") or "") if link.tag_id == _LINK else "#"
        if href.startswith("#") or not leads_to_source(text := link.text().strip(), href):
            continue
        around = link.parent
        if around is not None and around.text().strip() == f"[{text}]":
            found.append(around)
    return found
