"""Converts notes, tips and warnings of every generator to `> [!NOTE]` blockquotes, and `<details>` elements."""

from __future__ import annotations

import re

from tadoru.jobs.docs.markdown import element_kinds
from tadoru.jobs.docs.markdown.conversion import ConversionContext, child_elements, classes_of
from tadoru.parse.html import Attributes, Element, is_leaf

_TITLES = (
    ".admonition-title,.sidebar-title,.custom-block-title,.starlight-aside__title,.markdown-alert-title,.alert-heading,.callout-title,"
    ".callout-heading,.callout-header,.blockquote-tag-title,.details-summary,.admonition-heading,.title,.notecard-title,"
    "[class*=admonitionHeading],div.label,summary"
)
_KIND_ATTRIBUTES = ("data-callout-type", "data-callout", "data-admonition", "data-intent", "data-type", "data-variant")
ATTRIBUTES = frozenset(_KIND_ATTRIBUTES)
"""Attributes that have the kind of a callout."""
_BOXES = frozenset({"div", "aside", "blockquote", "section"})
_CALLOUT_COLOUR = re.compile(r"--callout-color:[^;]{0,60}\b(info|warn|warning|error|success|danger|tip|idea)\b")
_ICONS = {
    icon: mark
    for mark, icons in {"CAUTION": "🚫❌❗🛑☠⛔🔥", "WARNING": "⚠🚧", "TIP": "💡👍✅🎉✨", "NOTE": "ℹ📘📝🗒"}.items()
    for icon in icons
}
_MAX_ICON = 4
"""Characters: a sign with its modifiers."""
_COMMON_TITLES = frozenset(element_kinds.CALLOUTS) | {
    "notes",
    "warnings",
    "tips",
    "info",
    "information",
    "hints",
    "pro tip",
    "examples",
}


def is_marked(tag: str, attributes: Attributes) -> bool:
    """Whether the attributes of a box have the kind of a callout."""
    if tag not in _BOXES:
        return False
    if "data-callout" in attributes or "data-callout-type" in attributes or "data-admonition" in attributes:
        return True
    return (tag == "aside" or "callout" in (attributes.get("class") or "").lower()) and bool(_stated_mark(attributes))


def _stated_mark(attributes: Attributes) -> str:
    """The kind that the attributes of a callout have; empty if they have none."""
    for name in _KIND_ATTRIBUTES:
        if mark := element_kinds.CALLOUTS.get((attributes.get(name) or "").lower()):
            return mark
    colour = _CALLOUT_COLOUR.search(attributes.get("style") or "")
    return element_kinds.CALLOUTS.get(colour[1], "") if colour else ""


def callout(context: ConversionContext, node: Element) -> list[str]:
    """A callout as a blockquote."""
    classes = classes_of(node)
    title, content, icon = "", None, ""
    if not is_leaf(node):
        icon = _take_icon(node)
        title = _title(context, node)
        content = node.css_first("td.content") if "admonitionblock" in classes.split() else _beside_icon(node)
    blocks = context.blocks(content if content is not None else node)
    if title[:1] in _ICONS:
        icon, title = icon or _ICONS[title[0]], title[1:].lstrip("\ufe0f ")
    name = title.lower().strip(" :!.*")
    mark = (
        _stated_mark(node.attributes)
        or element_kinds.callout_mark(classes)
        or element_kinds.CALLOUTS.get(classes)
        or icon
        or element_kinds.callout_colour(classes)
        or element_kinds.CALLOUTS.get(name, "NOTE")
    )
    if title and name not in _COMMON_TITLES:
        blocks.insert(0, title if "**" in title else f"**{title}**")
    elif blocks and blocks[0].lower().strip("*: ") in _COMMON_TITLES and len(blocks) > 1:
        del blocks[0]
    if not blocks:
        return []
    return [context.quoted(f"[!{mark}]\n" + "\n\n".join(blocks))]


def _take_icon(node: Element) -> str:
    """The kind that the sign at the start of a callout stands for; the sign is removed, if it is alone in its element."""
    first: Element | None = node
    for _ in range(3):
        first = next(iter(child_elements(first)), None) if first is not None else None
        text = (first.text() or "").strip() if first is not None else ""
        if first is not None and 0 < len(text) <= _MAX_ICON and text[0] in _ICONS and is_leaf(first):
            first.decompose()
            return _ICONS[text[0]]
    return ""


def _title(context: ConversionContext, node: Element) -> str:
    """The title of a callout, which is removed from it."""
    if node.tag == "dl":
        found = node.css_first("dt")
    elif _beside_icon(node) is not None and (above := node.css_first("th")) is not None:
        found = above
    else:
        found = next((element for element in node.css(_TITLES) if _is_near(element, node)), None)
    if found is None:
        first = next(iter(child_elements(node)), None)
        found = first if first is not None and first.tag in {"h4", "h5", "h6"} else None
    if found is None:
        return ""
    title = context.inline(found.iter(include_text=True), " ")
    found.decompose()
    return title


def _beside_icon(node: Element) -> Element | None:
    """The text of a callout that is laid out as a table with an icon and perhaps a title (DocBook)."""
    inside = child_elements(node)
    if len(inside) != 1 or inside[0].tag != "table":
        return None
    cells = [cell for cell in inside[0].css("td") if (cell.text() or "").strip()]
    pictures = [cell for cell in inside[0].css("td") if cell.css_first("img") is not None and not (cell.text() or "").strip()]
    return cells[0] if pictures and cells else None


def _is_near(element: Element, box: Element) -> bool:
    """Whether a title belongs to this callout and not to a nested one."""
    around = element.parent
    for _ in range(6):
        if around is None or around.mem_id == box.mem_id:
            return around is not None
        if element_kinds.element_kind(around.tag or "", classes_of(around)) == element_kinds.CALLOUT:
            return False
        around = around.parent
    return False


def details(context: ConversionContext, node: Element) -> list[str]:
    """A `<details>` element: its summary in bold, then its content."""
    blocks: list[str] = []
    summary = next((child for child in child_elements(node) if child.tag == "summary"), None)
    if summary is not None and element_kinds.element_kind("summary", classes_of(summary)) is element_kinds.DROP:
        summary.decompose()
    elif summary is not None:
        heading = summary.css_first("h1,h2,h3,h4,h5,h6,section,pre")
        if heading is not None:
            blocks.extend(context.blocks(summary))
        elif title := context.inline(summary.iter(include_text=True), " "):
            blocks.append(title if "**" in title else f"**{title}**")
        summary.decompose()
    return blocks + context.blocks(node)
