"""Removes from a page what is not content: menus, tables of contents, edit links, banners, copy buttons, icons.

Elements are rated by tag, role and name (`score`), and by size: an element with a large part of the text is content,
whatever its name. Hidden tab panels stay, other hidden elements are removed. Noise of a single generator is listed in
`generators`.
"""

from __future__ import annotations

import re

from tadoru.jobs.docs.content.phrases import (
    MAX_PHRASE_LENGTH,
    PARTS,
    PageParts,
    find_phrases,
    is_closing,
    is_code,
    is_in_a_sentence,
    is_one_word,
    is_phrase,
    is_step,
    leads_to_source,
    page_furniture,
)
from tadoru.jobs.docs.content.score import NameRating, TextMeasure, rate_names
from tadoru.parse.html import Attributes, Element, has_words, is_leaf, tag_ids

_NOISE_TAGS = frozenset(
    "script style template noscript iframe object embed canvas audio video dialog select textarea svg nav".split()
)
_MEDIA = frozenset({"iframe", "video", "audio"})
_PLAYERS = re.compile(
    r"youtube(?:-nocookie)?\.com/|youtu\.be/|vimeo\.com/|loom\.com/|wistia\.|asciinema\.org/|codepen\.io/|codesandbox\.io/|"
    r"stackblitz\.com/|jsfiddle\.net/|dailymotion\.com/|bilibili\.com/|nicovideo\.jp/"
)
"""Frames that show a film or an example."""
_NOISE_ROLES = frozenset(
    "navigation search banner contentinfo dialog alertdialog menu menubar toolbar tooltip doc-toc doc-pagefooter".split()
)
_SUSPECT_SPANS = "span:is([aria-hidden],[hidden],[class*=hidden],[class*=sr-],[class*=screen],[class*=edit])"
"""Highlighted code has thousands of spans: only those that can be noise are checked."""
_BLOCKS = "pre,table,h1,h2,h3,p,img,dl"
_MAX_TAB_ROWS = 100
"""Rows of tabs that are checked; they may be nested."""
_BOXES = frozenset({"div", "section", "header", "footer", "aside", "ul", "ol"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "summary", "dt"})
_CONTENT_TAGS = _HEADINGS | frozenset("body html main article pre code table tr td th tbody span".split())
"""Tags that are content whatever their class."""
_TITLES = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
ANY_HEADING = ",".join(sorted(_TITLES))
_MAX_ANCESTORS = 60
"""Ancestors that are checked; real pages are not nested deeper."""
_MIN_LETTERS = 30
"""Letters besides headings and noise; a page with fewer has no content of its own."""
_LINES = frozenset({"p", "li", "dt", "dd", "td"})
_MIN_SENTENCE_LETTERS = 20
"""Letters besides the links of a line that make it more than a row of links."""
_SECTIONS = frozenset({"h2", "h3", "h4", "h5", "h6"})
_CONTENTS_HEADINGS = tuple("content|in this|on this|table of|jump to|quick|topics|overview|index|navigat|menu|目次".split("|"))
"""Starts of the headings of tables of contents."""
_MAX_CONTENTS_WORDS = 3
"""Words; a line with at most as many is the title of a table of contents."""
_SIGNS = frozenset({"¶", "#", "§", "🔗", "", "link", "permalink", "⚓", "anchor", "¶¶", "\uf0c1", "[¶]", "copy link"})
_HANDLES = " ¶#§🔗⚓\uf0c1"
"""Signs of permalinks after the text of a heading."""
_TOP_TARGETS = frozenset({"#", "#top", "#_top"})
_CHECKED_TAGS = frozenset(tag_ids([*_NOISE_TAGS, "button", "a", "footer", "form", "aside"]))
"""Tags that are checked even without attributes."""
_LINK, _NOSCRIPT, _SPAN = tag_ids(["a", "noscript", "span"])
_MAX_SIGNS = 3
_MAX_TITLE_DEPTH = 10
_NOISE_ATTRIBUTES = frozenset({"role", "hidden", "aria-hidden", "style", "class", "id"})
"""Attributes that can make an element of another tag noise."""
_LARGE_SHARE = 0.4
"""The share of the text from which an element is content, whatever its name."""
_SHORT = 300
_LAYOUT = frozenset({"td", "tr", "tbody", "table"})
_MIN_SENTENCE_WORDS = 4
"""Words; titles such as "Contents:" have fewer."""
_DISPLAY_VALUES = frozenset({"block", "flex", "grid", "inline", "table", "contents", "inline-block", "inline-flex"})
_LONG = 800
"""Characters; no menu, banner or footer has more outside its links."""


def remove_invisible(body: Element) -> None:
    """Remove scripts, styles and drawings. Formulas in scripts stay.

    Separators in titles that only the style sheet draws (gi-docgen) are replaced by a point.
    """
    unseen = body.css("script,style,template,noscript,svg,span.sep")
    for element in unseen:
        if element.tag_id == _NOSCRIPT:
            _use_fallback_image(element)
    for element in reversed(unseen):
        if element.tag_id == _SPAN:
            if not element.text().strip() and _is_in_title(element):
                element.replace_with(".")
        elif not _is_formula(element):
            element.decompose()


def _is_in_title(element: Element) -> bool:
    """Whether an element is in a heading of level 1, not far below it."""
    above = element.parent
    for _ in range(_MAX_TITLE_DEPTH):
        if above is None or above.tag == "h1":
            break
        above = above.parent
    return above is not None and above.tag == "h1"


def _use_fallback_image(noscript: Element) -> None:
    """Give an image that a script loads the source of the same image in the `<noscript>` element after it."""
    image = noscript.css_first("img")
    source = image.attributes.get("src") if image is not None else None
    if image is None or not source or not image.attributes.get("alt"):
        return
    lazy = _neighbour(noscript.prev, forward=False)
    if lazy is None or lazy.tag != "img":
        noscript.insert_before(image)
    elif not (own := lazy.attributes.get("src") or "") or own.startswith("data:"):
        lazy.attrs["src"] = source


def _is_formula(element: Element) -> bool:
    """Whether a script has the source of a formula, or a drawing is one (MathJax)."""
    if element.tag == "script":
        return (element.attributes.get("type") or "").startswith("math/")
    return element.tag == "svg" and element.parent is not None and element.parent.tag == "mjx-container"


def remove_noise(root: Element, extra: str = "") -> None:
    """Remove the noise from a part of a page. `extra`: selectors of further noise."""
    measure = TextMeasure(root)
    parts = PageParts()
    found: list[Element] = []
    for element in root.css(":not(span)"):
        tag, attributes = element.tag_id, element.attributes
        if tag in PARTS:
            parts.add(tag, element, attributes)
        if not _is_plain(tag, attributes) and _is_noise(element, attributes, measure):
            found.append(element)
    found += [element for element in root.css(_SUSPECT_SPANS) if _is_noise(element, element.attributes, measure)]
    if extra:
        found += [element for element in root.css(extra) if not _is_large(element, measure) and not _is_whole_heading(element)]
    found += find_phrases(root, parts.phrases, measure)
    found += [
        listing
        for listing in _lists_of_fragments(root, parts.fragment_links)
        if _is_table_of_contents(listing, measure) and not _is_announced(listing)
    ]
    found += find_decorative_images(parts.images)
    found += page_furniture(root, parts, found, measure)
    doomed = {element.mem_id for element in found} - {root.mem_id, *_tab_labels(root)}
    doomed -= _only_contents(root, found, doomed)
    _remove(root, found, doomed)


def _remove(root: Element, found: list[Element], doomed: set[int]) -> None:
    """Remove these elements, and headings above them that nothing follows any more."""
    # Only the outermost ones: descendants of a removed element must not be accessed.
    below: dict[int, bool] = {}
    outer = {each.mem_id: each for each in found if each.mem_id in doomed and not _is_below(each, doomed, below)}
    emptied: set[int] = set()
    lines: dict[int, Element] = {}
    for element in outer.values():
        if element.tag_id == _LINK and (line := element.parent) is not None and line.tag in {"p", "div"}:
            lines[line.mem_id] = line
        before = _neighbour(element.prev, forward=False)
        if before is not None and before.tag in _SECTIONS and before.mem_id not in doomed:
            emptied.add(before.mem_id)
        element.decompose()
    # Judged before any of them is removed: one may stand in another.
    bare = {place for place, line in lines.items() if place != root.mem_id and _is_separator(line)}
    inner: dict[int, bool] = {}
    for line in [line for place, line in lines.items() if place in bare and not _is_below(line, bare, inner)]:
        line.decompose()
    for heading in reversed(root.css("h2,h3,h4,h5,h6") if emptied else []):
        if heading.mem_id in emptied and _is_empty_section(heading):
            heading.decompose()


def _is_separator(line: Element) -> bool:
    """Whether only a sign between removed links is left of a line."""
    signs = line.text().strip()
    is_sign = 0 < len(signs) <= _MAX_SIGNS and not any(map(str.isalnum, signs))
    return is_sign and line.css_first("img,video,pre,code") is None


def _is_below(element: Element, doomed: set[int], below: dict[int, bool]) -> bool:
    """Whether an element is in one of the doomed ones; `below` has what is known of others, so that each is visited once."""
    path: list[int] = []
    answer = False
    above = element.parent
    while above is not None and (answer := above.mem_id in doomed) is False:
        if (known := below.get(above.mem_id)) is not None:
            answer = known
            break
        path.append(above.mem_id)
        above = above.parent
    below.update(dict.fromkeys(path, answer))
    return answer


def _is_empty_section(heading: Element) -> bool:
    """Whether nothing is left below a heading whose text was removed."""
    after = heading.next
    while after is not None and not after.is_element_node:
        if (after.text_content or "").strip():
            return False
        after = after.next
    if after is None:
        return heading.parent is not None and heading.parent.tag in {"main", "article", "section", "body"}
    return after.tag in _TITLES and (after.tag or "") <= (heading.tag or "")


def _only_contents(root: Element, found: list[Element], doomed: set[int]) -> set[int]:
    """The tables of contents of a page without other content: the page of a chapter that lists its sections."""
    listings = [each for each in found if each.mem_id in doomed and "toc" in (each.attributes.get("class") or "")]
    if not any(_leads_on(listing) for listing in listings):
        return set()
    left = _letters(root)
    for element in root.css("*"):
        is_taken = element.mem_id in doomed or element.tag in _TITLES
        if is_taken and not _is_inside(element, doomed):
            left -= _letters(element)
    return {listing.mem_id for listing in listings} if left < _MIN_LETTERS else set()


def _leads_on(listing: Element) -> bool:
    """Whether a list has links to other pages."""
    return sum(not (link.attributes.get("href") or "#").startswith("#") for link in listing.css("a")) > 1


def _is_inside(element: Element, doomed: set[int]) -> bool:
    """Whether an element is in a removed element or in a heading, and is counted with it."""
    above = element.parent
    for _ in range(_MAX_ANCESTORS):
        if above is None:
            return False
        if above.mem_id in doomed or above.tag in _TITLES:
            return True
        above = above.parent
    return False


def _letters(element: Element) -> int:
    return len("".join(element.text().split()))


def _tab_labels(root: Element) -> list[int]:
    """The labels of tabs. Some have the classes and targets of a menu (Bootstrap)."""
    rows = root.css(".nav-tabs,[role=tablist]")
    labels = [element for row in rows[:_MAX_TAB_ROWS] for element in row.css("li,a")]
    lists = [row for row in rows if "nav-tabs" in (row.attributes.get("class") or "").split()]
    return [element.mem_id for element in (*labels, *lists)]


def unwrap_self_links(headings: list[Element]) -> None:
    """Unwrap the links of headings that consist of a link to themselves."""
    for heading in headings:
        link = None if is_leaf(heading) else heading.css_first("a")
        if link is None or not _is_whole_heading(link):
            continue
        attributes = link.attributes
        if (attributes.get("href") or "").startswith("#") and not attributes.get("id") and not attributes.get("name"):
            link.unwrap()


def _is_large(element: Element, measure: TextMeasure) -> bool:
    return measure.length(element) > _LARGE_SHARE * measure.whole


def _is_plain(tag: int, attributes: Attributes) -> bool:
    """A quick check that passes most elements: no attributes that matter, or only a class with a neutral name."""
    if tag in _CHECKED_TAGS:
        return False
    if not attributes:
        return True
    if _NOISE_ATTRIBUTES.isdisjoint(attributes):
        return True
    names = attributes.get("class")
    return len(attributes) == 1 and names is not None and rate_names(names) is NameRating.NEUTRAL and "hidden" not in names


def _is_noise(element: Element, attributes: Attributes, measure: TextMeasure) -> bool:
    tag = element.tag or ""
    if tag in _NOISE_TAGS:
        return not _is_formula(element) and not (tag in _MEDIA and _is_media(element, attributes))
    role = attributes.get("role")
    if role in _NOISE_ROLES:
        return not _is_large(element, measure)
    if tag == "button":
        return not _is_label(element, attributes, role)
    if tag == "a":
        return _is_permalink(element, attributes)
    if tag == "footer":
        in_quote = element.parent is not None and element.parent.tag == "blockquote"
        return not in_quote and (measure.length(element) < _SHORT or _looks_empty(element, measure))
    if tag == "form":
        return _looks_empty(element, measure)
    return _is_hidden(element, attributes, role, measure) or _is_named_noise(element, attributes, tag, measure)


def _is_media(element: Element, attributes: Attributes) -> bool:
    """Whether an element plays a film or a sound, or shows an example of another site."""
    source = attributes.get("src") or attributes.get("data-src") or ""
    if element.tag == "iframe":
        return _PLAYERS.search(source[:300]) is not None
    return bool(source) or element.css_first("source[src]") is not None


def _is_label(element: Element, attributes: Attributes, role: str | None) -> bool:
    """Whether a button is the label of a tab or of an expandable part."""
    if role == "tab" or "aria-controls" in attributes or "tab" in (attributes.get("class") or "").lower():
        return True
    parent = element.parent
    return parent is not None and (parent.tag in _HEADINGS or parent.attributes.get("role") == "tablist")


def _is_permalink(element: Element, attributes: Attributes) -> bool:
    """Whether a link is a permalink of its heading or another tool of the page."""
    href = attributes.get("href")
    text = element.text().strip()
    if href in _TOP_TARGETS and text.lower().strip("[]()↑ ") in {"", "top"} and _has_no_blocks(element):
        return True
    if len(text) <= 12 and text.lower() in _SIGNS and (text or href is not None) and _has_no_blocks(element):
        # An empty anchor with a name is a target of links and stays.
        return (not href or "#" in href) and not (text.isalpha() and has_words(element.next))
    if leads_to_source(text, href or ""):
        return True
    if len(text) <= MAX_PHRASE_LENGTH and text and (is_phrase(text) or is_step(element, text)):
        is_word = is_one_word(text) and is_in_a_sentence(element)
        return not is_code(element) and not is_word and not _is_word_of_a_line(element)
    names = attributes.get("class") or ""
    if "tooltip" in names.lower():
        names = " ".join(name for name in names.split() if "tooltip" not in name.lower())
    if rate_names(names) is not NameRating.STRONG or len(text) >= _SHORT or not _has_no_blocks(element):
        return False
    return not _is_whole_heading(element)


def _is_word_of_a_line(link: Element) -> bool:
    """Whether a link is a word of a longer line: `COPY` in a list of commands is not a button."""
    line = link.parent
    if line is None or line.tag not in _LINES:
        return False
    return _letters(line) - sum(_letters(other) for other in line.css("a")) >= _MIN_SENTENCE_LETTERS


def _is_whole_heading(element: Element) -> bool:
    """Whether an element has all the text of its heading: a heading that links to itself."""
    parent = element.parent
    if parent is None or parent.tag not in _HEADINGS:
        return False
    text = element.text().strip()
    return text not in _SIGNS and len(parent.text().strip().rstrip(_HANDLES)) <= len(text)


def _is_hidden(element: Element, attributes: Attributes, role: str | None, measure: TextMeasure) -> bool:
    style = attributes.get("style") or ""
    hidden = (
        ("hidden" in attributes and attributes["hidden"] != "until-found")
        or attributes.get("aria-hidden") == "true"
        or ("none" in style and "display:none" in style.replace(" ", ""))
        or (element.tag != "pre" and _is_hidden_by_class(attributes.get("class")))
    )
    if not hidden or role == "tabpanel" or rate_names(attributes.get("class") or "") is NameRating.KEEP:
        return False
    return not _is_panel(element, attributes) and not _is_large(element, measure)


def _is_hidden_by_class(names: str | None) -> bool:
    """Whether an element has the class `hidden` and none that shows it on wider screens (`hidden lg:block`)."""
    if names is None or "hidden" not in names or "hidden" not in (parts := names.split()):
        return False
    return not any(":" in part and part.rpartition(":")[2] in _DISPLAY_VALUES for part in parts)


def _is_panel(element: Element, attributes: Attributes) -> bool:
    """Whether a hidden element is a tab panel without a role: one of several similar siblings."""
    if "tab" in (attributes.get("id") or "") or "tab" in (attributes.get("class") or ""):
        return True
    if "aria-labelledby" in attributes or "aria-hidden" in attributes or element.tag in {"span", "a", "p"}:
        return "aria-labelledby" in attributes
    names = {name for name in (attributes.get("class") or "").split() if name != "hidden"}
    return any(
        other is not None and other.tag == element.tag and names & set((other.attributes.get("class") or "").split())
        for other in (_neighbour(element.prev, forward=False), _neighbour(element.next, forward=True))
    )


def _neighbour(node: Element | None, *, forward: bool) -> Element | None:
    """The first element from here on, skipping text and comments."""
    while node is not None and not node.is_element_node:
        node = node.next if forward else node.prev
    return node


def _is_named_noise(element: Element, attributes: Attributes, tag: str, measure: TextMeasure) -> bool:
    names, own_id = attributes.get("class"), attributes.get("id")
    by_class = rate_names(names) if names else NameRating.NEUTRAL
    if by_class is NameRating.KEEP or tag in _CONTENT_TAGS:
        return tag == "span" and by_class is NameRating.STRONG and measure.length(element) < 60
    rating = max(by_class, _rate_id(element, own_id) if own_id else NameRating.NEUTRAL)
    if rating is NameRating.STRONG:
        length = measure.length(element)
        if length > _LARGE_SHARE * measure.whole or (length > _LONG and measure.linked(element) < 0.25 * length):
            return False
        return element.css_first("h1,pre") is None
    if rating is NameRating.WEAK or tag == "aside":
        if tag == "p" and (above := _neighbour(element.prev, forward=False)) is not None and above.tag == "h1":
            return False  # What a page says below its title is about the page.
        return _looks_empty(element, measure) or is_closing(measure.text_of(element) or "")
    return False


def _rate_id(element: Element, own_id: str) -> NameRating:
    """The rating of an id. Ids of sections are made from their headings: a section on cookies is not a cookie banner."""
    if element.tag not in _BOXES and (is_leaf(element) or element.css_first(ANY_HEADING) is None):
        return NameRating.NEUTRAL
    rating = rate_names(own_id)
    if rating is NameRating.STRONG and element.css_first(ANY_HEADING) is not None:
        return NameRating.WEAK
    return rating if element.tag in _BOXES else NameRating.NEUTRAL


def _looks_empty(element: Element, measure: TextMeasure) -> bool:
    """Whether an element is short or consists of links, and has no content."""
    length = measure.length(element)
    if length > _LARGE_SHARE * measure.whole or element.css_first("h1,pre") is not None:
        return False
    return not length or measure.linked(element) > 0.5 * length or (length < _SHORT and _has_no_blocks(element))


def _lists_of_fragments(root: Element, links: list[Element]) -> list[Element]:
    """The lists with one of these links to fragments of the same page. Each ancestor of such a link is visited once."""
    found: list[Element] = []
    seen = {root.mem_id}
    for link in links:
        above = link.parent
        while above is not None and above.mem_id not in seen:
            seen.add(above.mem_id)
            if above.tag in {"ul", "ol"}:
                found.append(above)
            above = above.parent
    return found


def _is_table_of_contents(listing: Element, measure: TextMeasure) -> bool:
    """Whether a list has only links to fragments of the same page and does not continue a sentence."""
    text = None if _continues_sentence(listing) else measure.text_of(listing)
    if text is None or measure.linked(listing) < 0.85 * len("".join(text.split())):
        return False
    near = [(link.attributes.get("href") or "").startswith("#") for link in listing.css("a")]
    return len(near) >= 3 and near[0] and sum(near) >= 0.9 * len(near)


def _is_announced(listing: Element) -> bool:
    """Whether a sentence or heading before a list introduces it: then the list is content, whatever its links."""
    before = _neighbour(listing.prev, forward=False)
    if before is None or is_phrase(text := " ".join(before.text().split())):
        return False
    if before.tag in _SECTIONS:
        return not text.strip(" :").lower().startswith(_CONTENTS_HEADINGS)
    return before.tag == "p" and text.endswith((":", "：")) and len(text.split()) > _MAX_CONTENTS_WORDS


def _continues_sentence(listing: Element) -> bool:
    """Whether a list continues an unfinished sentence before it, or before the layout table that contains it."""
    while (around := listing.parent) is not None and around.tag in _LAYOUT:
        listing = around
    before = _neighbour(listing.prev, forward=False)
    words = before.text().split() if before is not None and before.tag == "p" else []
    return len(words) >= _MIN_SENTENCE_WORDS and words[-1][-1] not in ".!?。"


def _has_no_blocks(element: Element) -> bool:
    return is_leaf(element) or element.css_first(_BLOCKS) is None


_ICON = re.compile(r"(?:.*\b)?(?:icon|logo|avatar|emoji|badge|spinner)s?", re.IGNORECASE)
_ICON_CLASS = re.compile(r"(?:^|[\s_-])(?:icon|avatar|emoji|logo)s?(?:$|[\s_-])", re.IGNORECASE)
_ICON_SOURCE = re.compile(r"gravatar\.com/|/avatars?[/.]|//avatars\.|//img\.shields\.io/|/badge\.svg|/emoji/", re.IGNORECASE)
_FOLD_SIGNS = frozenset({"+", "-"})
"""Alternative texts of icons that expand something."""
_ARROW_NAMES = frozenset("up top home prev previous next back contents index toc".split())
"""Alternative texts of arrows that link to other pages."""
_MAX_ICON_SIZE = 32
"""Pixels."""
_MIN_ALT_LENGTH = 8
"""Characters; shorter alternative texts repeat by chance."""


def find_decorative_images(images: list[Element]) -> list[Element]:
    """Images without information: icons, avatars, badges, and the dark one of two variants."""
    idle: list[Element] = []
    last: Element | None = None
    last_alt = ""
    for image in images:
        attributes = image.attributes
        alt = (attributes.get("alt") or "").strip()
        if _is_icon(attributes, alt.strip("[]() ")) or _is_arrow(image, alt):
            idle.append(image)
            continue
        if last is not None and alt == last_alt and len(alt) >= _MIN_ALT_LENGTH:
            dark = _is_dark(last)
            if dark != _is_dark(image):
                idle.append(last if dark else image)
        last, last_alt = image, alt
    return idle


def _is_icon(attributes: Attributes, alt: str) -> bool:
    if alt in _FOLD_SIGNS:
        return True
    if alt and (_ICON.fullmatch(alt) or _ICON_CLASS.search(attributes.get("class") or "")):
        return True
    if _ICON_SOURCE.search((attributes.get("src") or "")[:300]):
        return True
    return _is_small(attributes.get("width")) and _is_small(attributes.get("height"))


def _is_arrow(image: Element, alt: str) -> bool:
    return alt.lower().strip("[]() ") in _ARROW_NAMES and image.parent is not None and image.parent.tag == "a"


def _is_small(side: str | None) -> bool:
    return side is not None and side.removesuffix("px").isdecimal() and int(side.removesuffix("px")[:6]) <= _MAX_ICON_SIZE


def _is_dark(image: Element) -> bool:
    """Whether an image or its parent is marked as the variant for dark mode."""
    parent = image.parent
    own = image.attributes
    marks = (own.get("class"), own.get("src"), own.get("srcset"), parent.attributes.get("class") if parent else None)
    return any(mark and "dark" in mark.replace("dark:hidden", "") for mark in marks)
