"""Reads the title, breadcrumbs, language and version of a page. Description and other metadata are read in `page`."""

from __future__ import annotations

import re

from tadoru.jobs.docs.bundle.markdown_blocks import comparable
from tadoru.jobs.docs.content.generators import ElementNames
from tadoru.jobs.docs.content.phrases import is_phrase
from tadoru.parse.html import Element, HtmlDocument, collapsed, is_leaf, text_of

_SIGNS = " ¶#§🔗⚓\uf0c1\u200b"
_NUMBER = re.compile(r"(?:[A-Z]\.|(?<![\d.]))[\d.]++\s++|[A-Z]\s++(?=[A-Z])")
_CHAPTER = re.compile(r"(?:chapter|section|part|appendix) +[\dA-Z][\d.]*+ *+[-–—:.]? *+", re.IGNORECASE)
_MAX_LOWER_HEADINGS = 3
_VERSION_FIRST = re.compile(r"(?:v|(?<!\d)(?<!\d\.))\d++(?:\.\d++)++:\s++(?=\S)")
_SEPARATORS = (" — ", " – ", " | ", " · ", " :: ", " - ")
_PARTS = re.compile("|".join(map(re.escape, (*_SEPARATORS, ": "))))
_CRUMB_SIGNS = re.compile(r"^[/»›>→·|•\u200b]++(?:\s++|$)|(?<!\s)\s++[/»›>→·|•\u200b]++$")
_MAX_HEADINGS = 1_000
"""Headings of level 1 that can be the title."""
_MOST_CRUMBS = 12
_MOST_BEFORE = 2_000
_VERSION_NAMES = ("docsearch:version", "readthedocs-version-slug", "docs_version", "version")
_VERSION_IN_TITLE = re.compile(
    r"\bv?(\d++\.\d[\w.]{0,30})\b(?=[^\n]{0,20}\b(?:documentation|docs|manual|reference)\b)", re.IGNORECASE
)
_VERSION_BADGES = ("theme-doc-version-badge", "version")
_VERSION = re.compile(r"v?\d+(?:\.\d+)*(?:\.x)?[\w.+-]{0,20}")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")


def read_title(document: HtmlDocument, root: Element, elements: list[Element], names: ElementNames) -> str:
    """The heading of the main content; else the part of the page's title or headings that names the page, not the site.

    `elements` are the headings in the main content.
    """
    title = document.title() or ""
    # Doxygen and Haddock have the title above sections that may have headings of level 1.
    module = root.css_first("#module-header") if names.has("#module-header") else None
    if module is not None:
        heading_box = module.css_first(".caption")
    else:
        heading_box = root.css_first("div.headertitle") if names.has(".headertitle") else None
    if heading_box is not None and (text := _heading_text(heading_box)):
        return text
    headings = [text for heading in _of_level(elements, "h1")[:_MAX_HEADINGS] if (text := _heading_text(heading))]
    stated = next(
        (
            text
            for heading in (document.select("h1.title")[:_MAX_HEADINGS] if names.has(".title") else ())
            if comparable(text := _heading_text(heading)) == comparable(title)
        ),
        "",
    )
    if len(headings) == 1:
        if page_part(title) and _is_last_section(headings[0], title, elements):
            return page_part(title)
        return _below_site_name(title, headings[0], elements) or stated or headings[0]
    if headings:  # Every section has one, or the site name is one.
        return _named_in_title(title, headings) or stated or page_part(title) or headings[0]
    others = document.select("h1") or document.select("h2.title,div.title")
    outside = [text for heading in others[:_MAX_HEADINGS] if (text := _heading_text(heading))]
    lower = _of_level(elements, "h2", "h3", "h4")[:1]
    first = next((text for heading in lower if (text := _heading_text(heading)) and not _is_letter(text)), "")
    named = _named_in_title(title, [first, *outside] if first else outside)
    if named in outside and _is_site_name(named, title) and first and collapsed(root.text()[:_MOST_BEFORE]).startswith(first):
        return first  # The text starts with its own heading, below that of the site.
    return named or (outside[0] if outside else _opening_heading(root, elements)) or page_part(title) or first


def _of_level(headings: list[Element], *tags: str) -> list[Element]:
    return [heading for heading in headings if heading.tag in tags]


def _is_last_section(name: str, title: str, elements: list[Element]) -> bool:
    """Whether the only heading of level 1 is below all others and no part of the page's title: an index at its end."""
    is_named = comparable(name) in comparable(title)
    return not is_named and len(elements) > 1 and elements[-1].tag == "h1"


def _is_letter(heading: str) -> bool:
    """Whether a heading is a letter of an index (Doxygen)."""
    return heading.startswith("- ") and heading.endswith(" -")


def _below_site_name(title: str, name: str, elements: list[Element]) -> str:
    """The heading below a heading of level 1 that the page's title does not have: that one names the site."""
    own, whole = _without_chapter(page_part(title)), comparable(title)
    if not own or comparable(name) in whole or comparable(title) in comparable(name):
        return ""
    lower = (_heading_text(heading) for heading in _of_level(elements, "h2", "h3")[:_MAX_LOWER_HEADINGS])
    return next((text for text in lower if _without_chapter(text) == own), "")


def _without_chapter(text: str) -> str:
    """The letters and digits of a title without the number of its chapter."""
    return comparable(_NUMBER.sub("", _CHAPTER.sub("", text), count=1))


def _opening_heading(root: Element, elements: list[Element]) -> str:
    """The heading that the text starts with if no other has its level: a chapter that is a page (Texinfo)."""
    headings = _of_level(elements, "h2", "h3", "h4", "h5")
    if not headings or any((other.tag or "") <= (headings[0].tag or "") for other in headings[1:]):
        return ""
    title = _heading_text(headings[0])
    if _is_letter(title):
        return ""
    return title if root.text().lstrip().startswith(headings[0].text().strip()) else ""


def _is_site_name(name: str, title: str) -> bool:
    """Whether a name is the last part of a page's title, after the name of the page."""
    parts = title_parts(title)
    return len(parts) > 1 and comparable(parts[-1]) == comparable(name)


def _named_in_title(title: str, headings: list[str]) -> str:
    """The heading that the page's title starts with or contains as a part: the page comes before the site.

    Chapter numbers are ignored; but a numbered heading below another one is a section, even if it has the name of the page.
    """
    bare, parts = (
        comparable(_NUMBER.sub("", title)),
        [comparable(_NUMBER.sub("", part)) for part in _PARTS.split(title)],
    )
    named = [
        (bare.find(name), -len(name), text)
        for at, text in enumerate(headings)
        if (name := comparable(_NUMBER.sub("", text))) and not (at and _NUMBER.match(headings[0]) and _NUMBER.match(text))
        if bare.startswith(name) or name in parts
    ]
    return min(named, default=(0, 0, ""))[2]


def drop_site_name(document: HtmlDocument, headings: list[Element], title: str) -> None:
    """Remove the headings above the title that only name the site and link to its first page."""
    names = (document.title() or "").casefold()
    is_lower = any(_heading_text(heading) == title for heading in _of_level(headings, "h2", "h3")[:_MAX_LOWER_HEADINGS])
    for heading in _of_level(headings, "h1")[:_MAX_HEADINGS]:
        text = _heading_text(heading)
        if not text or text == title:
            return
        link = heading.css_first("a[href]")
        if is_lower and text.casefold() not in names:
            heading.decompose()
            continue
        if link is not None and text.casefold() in names and _heading_text(link) == text:
            heading.decompose()


def _heading_text(heading: Element) -> str:
    has_breaks = not is_leaf(heading) and (heading.css_first("br") is not None or _has_labels(heading))
    return text_of(heading, 500, heading.text(separator=" ") if has_breaks else None).strip(_SIGNS)


def _has_labels(heading: Element) -> bool:
    """Whether a heading consists of parts that only the style sheet puts apart, such as the name and the claim of a product."""
    parts = [child for child in heading.iter() if child.is_element_node]
    if len(parts) < 2 or any(part.tag != "span" or not part.attributes.get("class") for part in parts):
        return False
    whole, own = heading.text().strip(), "".join(part.text() for part in parts).strip()
    return whole == own and all(part.text()[-1:].isalnum() for part in parts[:-1])


def page_part(title: str) -> str:
    """The part of a page's `<title>` that names the page and not the site."""
    first, found, rest = title.partition(": ")
    if found and first == rest:  # The first page of a manual, named after the manual.
        return first
    for separator in _SEPARATORS:
        first, found, rest = title.partition(separator)
        if found and first.count("(") == first.count(")"):
            return first.strip() if len(first.strip()) > 3 else _VERSION_FIRST.sub("", rest.strip(), count=1)
    return title


def title_parts(title: str) -> list[str]:
    """The parts of a page's `<title>`, which names the page and the site."""
    return [part.strip() for part in _PARTS.split(title)]


def read_breadcrumbs(element_names: ElementNames) -> tuple[str, ...]:
    """The breadcrumbs of the page, outermost first."""
    for name, place in (*element_names.classes.items(), *element_names.ids.items()):
        if "breadcrumb" not in name.lower() or place.tag in {"body", "html", "main"}:
            continue
        crumbs = [_CRUMB_SIGNS.sub("", text_of(crumb, 200)) for crumb in (place.css("li") or place.css("a,span[aria-current]"))]
        crumbs = [crumb for crumb in crumbs if crumb and not is_phrase(crumb)]
        if 0 < len(crumbs) <= _MOST_CRUMBS:
            return tuple(dict.fromkeys(crumbs))
    return ()


def read_language(document: HtmlDocument) -> str | None:
    """The declared language of the page, such as `en` or `pt-BR`."""
    for element in (document.tree.root, document.tree.body):
        stated = (element.attributes.get("lang") or "").strip() if element is not None else ""
        if _LANGUAGE.fullmatch(stated):
            return stated.replace("_", "-")
    return None


def read_version(element_names: ElementNames, title: str) -> str | None:
    """The documented version, if the page states it; it is not guessed from the URL."""
    for name in _VERSION_NAMES:
        if version := element_names.metas.get(name):
            return version.split(",")[0][:40]
    for name in _VERSION_BADGES:
        if (badge := element_names.classes.get(name)) is not None:
            text = text_of(badge, 60).removeprefix("Version:").strip()
            if _VERSION.fullmatch(text):
                return text
    match = _VERSION_IN_TITLE.search(title)
    return match[1] if match else None
