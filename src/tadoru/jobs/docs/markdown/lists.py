"""Converts lists: bullets, numbers, tasks, and definition lists.

A list is tight if each item is one line, possibly with lists below it, and otherwise loose, with empty lines between the items.
A definition is an item that starts with its term in bold.
"""

from __future__ import annotations

import re

from tadoru.jobs.docs.markdown.conversion import ConversionContext, child_elements
from tadoru.parse.html import Element, is_leaf

_LINK = re.compile(r"(?:\*\*)?\[[^\]]*\]\([^)]*\)(?:\*\*)?")
_HEADING = re.compile("#{1,6} ")
_LARGEST_NUMBER = 999_999_999


def item_list(context: ConversionContext, node: Element) -> list[str]:
    """A `<ul>`, `<ol>` or `<menu>` as one block."""
    items: list[tuple[Element, list[str]]] = []
    for child in _items(node):
        blocks = _item(context, child)
        if blocks and items and child.tag in {"ul", "ol"}:
            items[-1][1].extend(blocks)  # A list directly in a list is shown below the previous item.
        elif blocks:
            items.append((child, blocks))
    if not items:
        return []
    if all(_is_section(blocks) for _, blocks in items):
        return [block for _, blocks in items for block in blocks]  # Sections that are a list only for the style sheet.
    numbers = _numbers(node, [child for child, _ in items]) if node.tag == "ol" else None
    written: list[str] = []
    loose = False
    for at, (child, blocks) in enumerate(items):
        if numbers is None and len(blocks) == 1 and blocks[0].startswith("- ") and _is_definition(child):
            written.append(blocks[0])  # An item that is a definition: the term is the item.
            loose = loose or "\n\n" in blocks[0]
            continue
        marker = f"{numbers[at]}. " if numbers else "- "
        tight = _is_tight(blocks)
        loose = loose or not tight
        written.append(marker + context.indented(("\n" if tight else "\n\n").join(blocks), len(marker)))
    return [("\n\n" if loose else "\n").join(written)]


def _items(node: Element) -> list[Element]:
    """The children of a list; for unclosed anchors around several items (XHTML), those items."""
    found: list[Element] = []
    for child in node.iter():
        if child.tag == "a" and not is_leaf(child) and child.css_first("li,dt,dd") is not None:
            found.extend(child_elements(child))
        else:
            found.append(child)
    return found


def _is_section(blocks: list[str]) -> bool:
    """Whether an item starts with a heading, or is a table with its title."""
    return _HEADING.match(blocks[0]) is not None or (blocks[0].startswith("**") and blocks[-1].startswith("| "))


def _item(context: ConversionContext, child: Element) -> list[str]:
    """The blocks of an item, with its checkbox."""
    if child.tag in {"ul", "ol"}:
        return item_list(context, child)
    if child.tag in {"script", "template", "style"}:
        return []
    box = _tick_box(child)
    blocks = context.blocks(child)
    if box:
        blocks = [f"{box} {blocks[0]}", *blocks[1:]] if blocks else [box]
    return blocks


def _is_definition(item: Element) -> bool:
    """Whether an item contains only a definition list, which would become a nested list."""
    inside = child_elements(item)
    if len(inside) != 1 or inside[0].tag != "dl":
        return False
    return (item.text() or "").strip() == (inside[0].text() or "").strip()


def _tick_box(item: Element) -> str:
    """`[x]` or `[ ]` if an item starts with a checkbox."""
    node = item.first_child
    for _ in range(6):
        if node is None:
            return ""
        if node.tag == "input":
            attributes = node.attributes
            if attributes.get("type") != "checkbox":
                return ""
            return "[x]" if "checked" in attributes else "[ ]"
        blank = node.is_text_node and not (node.text_content or "").strip()
        if not blank and node.tag not in {"p", "label", "span", "div"}:
            return ""
        node = node.next if blank else node.first_child
    return ""


def _is_tight(blocks: list[str]) -> bool:
    """Whether an item is one paragraph, possibly with lists below it."""
    return all(block.startswith(("- ", "1. ")) and "\n\n" not in block for block in blocks[1:]) and "\n\n" not in blocks[0]


def _numbers(node: Element, items: list[Element]) -> list[int]:
    """The numbers of the items; a reversed list starts with its `start` value or the number of items."""
    attributes = node.attributes
    down = "reversed" in attributes
    number = _number(attributes.get("start"), len(items) if down else 1)
    numbers: list[int] = []
    for item in items:
        number = _number(item.attributes.get("value"), number)
        numbers.append(min(max(number, 0), _LARGEST_NUMBER))
        number += -1 if down else 1
    return numbers


def _number(text: str | None, otherwise: int) -> int:
    try:
        return int(text or "")
    except ValueError:
        return otherwise


def definitions(context: ConversionContext, node: Element) -> list[str]:
    """A `<dl>` as a list: each term in bold, its description below it, indented."""
    pairs = _pairs(node)
    if _is_outline(pairs):
        return _outline(context, pairs)
    entries: list[tuple[list[str], list[str], Element]] = []
    described = True
    for child in pairs:
        if child.tag == "dt":
            for classifier in () if is_leaf(child) else child.css("span.classifier"):
                classifier.insert_before(" : ")
            term = " ".join(context.blocks(child))
            if term:
                if described:
                    entries.append(([], [], child))
                entries[-1][0].append(term if _is_marked(term) else f"**{term}**")
                described = False
            continue
        described = True
        if blocks := context.blocks(child):
            if not entries or not entries[-1][0]:
                entries.append(([], [], child))
            entries[-1][1].extend(blocks)
    written: list[str] = []
    for terms, blocks, element in entries:
        items = _entry(context, terms, blocks)
        context.define(items[0][2:], element)
        written += items
    loose = any("\n\n" in item for item in written)
    return [("\n\n" if loose else "\n").join(written)] if written else []


def _is_outline(pairs: list[Element]) -> bool:
    """Whether a definition list is an outline: a table of contents or an index with nested entries."""
    below = [child for child in pairs if child.tag == "dd"]
    return all(map(_holds_only_lists, below)) and any(map(_has_link, pairs))


def _has_link(child: Element) -> bool:
    return not is_leaf(child) and child.css_first("a[href]") is not None


def _holds_only_lists(child: Element) -> bool:
    node = child.first_child
    while node is not None:
        if node.is_text_node and not (node.text_content or "").isspace():
            return False
        if node.is_element_node and node.tag != "dl":
            return False
        node = node.next
    return True


def _outline(context: ConversionContext, pairs: list[Element]) -> list[str]:
    """Entries as items, with nested entries as nested lists."""
    items: list[list[str]] = []
    for child in pairs:
        blocks = context.blocks(child)
        if child.tag == "dt" and blocks:
            items.append([" ".join(blocks)])
        elif blocks and items:
            items[-1].extend(blocks)
        elif blocks:
            items.append(blocks)
    return ["\n".join("- " + context.indented("\n".join(blocks), 2) for blocks in items)] if items else []


_PAIR = frozenset({"dt", "dd"})


def has_pairs(node: Element) -> bool:
    """Whether a `<dl>` has a term or a description: some have neither and are only boxes."""
    return any(child.tag in _PAIR for child in _pairs(node))


def items(context: ConversionContext, node: Element) -> list[str]:
    """The items of a module in rustdoc, one row each: name and description."""
    written: list[str] = []
    for row in child_elements(node):
        cells = child_elements(row)
        for badge in cells[0].css(".stab") if cells else ():
            badge.insert_before(" ")
        if terms := context.blocks(cells[0] if cells else row):
            written.append(_definition(context, " ".join(terms), [block for cell in cells[1:] for block in context.blocks(cell)]))
    loose = any("\n\n" in item for item in written)
    return [("\n\n" if loose else "\n").join(written)] if written else []


def _entry(context: ConversionContext, terms: list[str], blocks: list[str]) -> list[str]:
    """Terms that share a description are one item. Without a description, or if each is a link, each is an item."""
    if len(terms) < 2 or (blocks and not all(map(_is_link, terms))):
        return [_definition(context, ", ".join(terms), blocks)]
    return [*(f"- {context.indented(term, 2)}" for term in terms[:-1]), _definition(context, terms[-1], blocks)]


def _is_link(term: str) -> bool:
    return _LINK.fullmatch(term) is not None


def _pairs(node: Element) -> list[Element]:
    """The terms and descriptions, including those grouped in a `<div>`; other elements are read as descriptions."""
    found: list[Element] = []
    for child in _items(node):
        grouped = [inner for inner in child.iter() if inner.tag in _PAIR] if child.tag == "div" else []
        found += grouped or [child]
    return found


def _is_marked(term: str) -> bool:
    """Whether a term is emphasised already, or has content that bold marks cannot enclose."""
    return term.startswith(("**", "`", "```", "- ", "> ", "|")) or "**" in term or "\n" in term


def _definition(context: ConversionContext, head: str, blocks: list[str]) -> str:
    if not head:
        return "- " + context.indented("\n\n".join(blocks), 2)
    if len(blocks) == 1 and "\n" not in blocks[0] and not blocks[0].startswith(("- ", "|", "> ", "#", "!", "$$")):
        return "- " + context.indented(f"{head}\n{blocks[0]}", 2)
    return "- " + context.indented("\n\n".join([head, *blocks]), 2)
