"""Converts headings: their level, their text without permalink signs, and their anchor."""

from __future__ import annotations

from tadoru.jobs.docs.markdown import element_kinds, escape, inline, signatures
from tadoru.jobs.docs.markdown.conversion import ConversionContext, MarkdownHeading, classes_of
from tadoru.parse.html import Element, collapsed, is_leaf

_DEEPEST = 6
_METHOD = 4


def heading(context: ConversionContext, node: Element, level: int) -> list[str]:
    """A heading; nothing if it is empty."""
    classes = classes_of(node).split()
    if "memtitle" in classes:  # Doxygen gives a member the level of its group.
        level = min(level + 1, _DEEPEST)
    anchor = _anchor(node)
    signature = signatures.heading_code(node) if classes else None
    if signature is not None:
        text, plain = inline.code_span(signature), signature
    elif is_leaf(node) and not context.options.has_tex and "$" not in (node.text() or ""):
        visible = escape.visible_text(node.text() or "")
        text, plain = escape.text(visible.removeprefix(" "), in_link=context.in_link).strip(), visible.strip()
        context.take(len(text))
    else:
        context.in_heading = level
        text = context.inline(node.iter(include_text=True), " ")
        context.in_heading = 0
        plain = _plain(node)
    if not text:
        return []
    context.headings.append(MarkdownHeading(level, plain, anchor))
    return [f"{'#' * level} {escape.heading_end(text)}"]


def method(context: ConversionContext, node: Element) -> list[str]:
    """The name of a method, which only a style sheet makes a heading (RDoc), as a heading of level 4."""
    name = collapsed(node.text() or "")
    if not name:
        return []
    around = node.parent
    context.headings.append(MarkdownHeading(_METHOD, name, node.id or (around.id if around is not None else None)))
    return [f"{'#' * _METHOD} {inline.code_span(name)}"]


def title(context: ConversionContext, words: str) -> str:
    """The title of a page without a heading of level 1."""
    context.headings.insert(0, MarkdownHeading(1, collapsed(words), None))
    return "# " + escape.heading_end(escape.text(escape.visible_text(words).strip()))


def level_of(text: str | None) -> int:
    """The value of `aria-level`; 2 if it is missing or invalid."""
    return int(text) if text in {"1", "2", "3", "4", "5", "6"} else 2


def _anchor(node: Element) -> str | None:
    """The fragment of a heading: its id, that of its section, or the target of its permalink."""
    if node.id:
        return node.id
    for link in () if is_leaf(node) else node.css("a[href],a[name],[id]"):
        attributes = link.attributes
        if (found := attributes.get("id") or attributes.get("name")) and link.tag not in {"button", "img", "svg"}:
            return found
        href = attributes.get("href") or ""
        if href.startswith("#") and len(href) > 1:
            return href[1:]
    around = node.parent
    if around is not None and around.tag in {"section", "div"} and around.id:
        return around.id
    return None


def _plain(node: Element) -> str:
    """The plain text of a heading. Permalinks are removed from the tree, because the heading has been written already."""
    length = len(collapsed(node.text() or ""))
    for element in node.css("a,span,button,br"):
        if element.tag == "br":
            element.replace_with(" ")
            continue
        kind = element_kinds.element_kind(element.tag or "", classes_of(element))
        signs = kind in {element_kinds.PERMALINK, element_kinds.DROP} or inline.is_permalink(
            element, element.attributes.get("href") or ""
        )
        if signs and length > (own := len(collapsed(element.text() or ""))):
            length -= own
            element.decompose()
    return escape.visible_text(node.text() or "").strip()
