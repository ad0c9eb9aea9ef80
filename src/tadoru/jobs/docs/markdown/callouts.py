"""Converts notes, tips and warnings of every generator to `> [!NOTE]` blockquotes, and `<details>` elements."""

from __future__ import annotations

from tadoru.jobs.docs.markdown import element_kinds
from tadoru.jobs.docs.markdown.conversion import ConversionContext, child_elements, classes_of
from tadoru.parse.html import Element, is_leaf

_TITLES = (
    ".admonition-title,.sidebar-title,.custom-block-title,.starlight-aside__title,.markdown-alert-title,.alert-heading,.callout-title,.callout-heading,"
    ".admonition-heading,.title,.notecard-title,[class*=admonitionHeading],div.label,summary"
)
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


def callout(context: ConversionContext, node: Element) -> list[str]:
    """A callout as a blockquote."""
    classes = classes_of(node)
    mark = element_kinds.callout_mark(classes) or element_kinds.CALLOUTS.get(classes, "NOTE")
    title, content = "", None
    if not is_leaf(node):
        title = _title(context, node)
        content = node.css_first("td.content") if "admonitionblock" in classes.split() else _beside_icon(node)
    blocks = context.blocks(content if content is not None else node)
    if title and title.lower().strip(" :!.") not in _COMMON_TITLES:
        blocks.insert(0, title if "**" in title else f"**{title}**")
    if not blocks:
        return []
    return [context.quoted(f"[!{mark}]\n" + "\n\n".join(blocks))]


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
