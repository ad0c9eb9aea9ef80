"""Converts notes, tips and warnings of every generator to `> [!NOTE]` blockquotes, `<details>` elements, and tabs.

Each panel of tabs stands below its label, including hidden panels. Labels precede their panels, so they are stored until the
panels are reached, and matched by id if the page has ids, otherwise in order: one label before each panel, or a row before all.
"""

from __future__ import annotations

import re

from tadoru.jobs.docs.markdown import element_kinds
from tadoru.jobs.docs.markdown.conversion import ConversionContext, child_elements, classes_of
from tadoru.parse.html import Attributes, Element, collapsed, is_leaf

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
_LABEL = re.compile(r"\*\*([A-Za-z ]{3,20}):?\*\*:? ++(?=\S)")
"""The title of a callout that is written as the first words of its text."""
_COMMON_TITLES = frozenset((*element_kinds.CALLOUTS, *"notes warnings tips info information hints examples".split(), "pro tip"))


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
    label = _LABEL.match(blocks[0]) if blocks and not title else None
    if label and label[1].lower() in _COMMON_TITLES:  # The title is the first words of the text (Qt).
        title, blocks[0] = label[1], blocks[0][label.end() :]
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


_ALERT = re.compile(r"\\\[!([A-Za-z]{3,12})\\?\][+-]?[ \n]*+")


def with_mark(quoted: str) -> str:
    """A quotation whose first words are the mark of a callout, which the generator did not know, as that callout."""
    found = _ALERT.match(quoted)
    mark = element_kinds.CALLOUTS.get(found[1].lower()) if found else None
    return f"[!{mark}]\n{quoted[found.end() :]}" if found and mark else quoted


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


_MAX_LABELS = 200
_CONTENTS = frozenset({"tabbed-content", "tab-content"})
_LABELS = "[role=tab],label,.nav-link,.tab-label,.sphinx-tabs-tab,.tab"


def keep_labels(context: ConversionContext, row: Element) -> None:
    """Store the labels of a row of tabs."""
    found = [label for label in row.css(_LABELS) if label.mem_id != row.mem_id] or [
        item for item in child_elements(row) if item.tag in {"li", "button", "a"}
    ]
    numbers = frozenset(element.mem_id for element in found)
    context.labels = [_label(element) for element in found[:_MAX_LABELS] if not _contains_label(element, numbers)]


def keep_label(context: ConversionContext, label: Element) -> None:
    """Store one label."""
    context.labels.append(_label(label))


def _label(element: Element) -> tuple[str | None, str]:
    text = collapsed(element.text() or "")
    # Signs of an icon font have no meaning as text; the title has it.
    is_words = any(char.isalnum() for char in text)
    return element.id, text if is_words else element.attributes.get("title") or text


def _contains_label(element: Element, found: frozenset[int]) -> bool:
    """Whether an item contains the actual label, as in `<li class="tab"><a role="tab">`."""
    return element.tag == "li" and any(child.mem_id in found for child in child_elements(element))


def panel(context: ConversionContext, node: Element) -> list[str]:
    """A panel with its label in bold before it."""
    label = _take_label(context, node.attributes.get("aria-labelledby"))
    others, context.labels = context.labels, []
    blocks = context.blocks(node)
    context.labels = others
    return [f"**{label}**", *blocks] if label and blocks else blocks


def _take_label(context: ConversionContext, labelled_by: str | None) -> str:
    for at, (name, label) in enumerate(context.labels):
        if labelled_by and name == labelled_by:
            del context.labels[at]
            return label
    return context.labels.pop(0)[1] if context.labels else ""


def group(context: ConversionContext, node: Element) -> list[str] | None:
    """A group of tabs whose labels and panels are matched by position; None if it is not one.

    VitePress, sphinx-inline-tabs, Django's documentation and MkDocs before 2022 use such groups.
    """
    rows = [child for child in child_elements(node) if child.tag == "div" and "tabs" in classes_of(child).split()]
    panels = [child for child in child_elements(node) if "blocks" in classes_of(child).split()]
    if rows and panels:
        keep_labels(context, rows[0])
        return [block for child in child_elements(panels[0]) for block in panel(context, child)]
    labels = [child for child in child_elements(node) if child.tag == "label"]
    contents = [child for child in child_elements(node) if not _CONTENTS.isdisjoint(classes_of(child).split())] or [
        child for child in child_elements(node) if child.tag == "section"
    ]
    if labels and len(labels) == len(contents):
        context.labels = [_label(label) for label in labels]
        return [block for child in contents for block in panel(context, child)]
    return None
