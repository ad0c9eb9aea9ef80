"""Decides whether an element is a block of code, whatever markup its generator uses, and which of its parts are not code.

Besides `<pre>`, code is written as `<code>` on lines of its own, as a box with a name for code, as a box whose style keeps white
space, and as a table with line numbers beside the lines. Line numbers and prompts in a column are recognised by their shape:
numbers that count, or the same sign on each line.
"""

from __future__ import annotations

import re

from tadoru.jobs.docs.markdown import element_kinds
from tadoru.jobs.docs.markdown.conversion import child_elements, classes_of
from tadoru.parse.html import Attributes, Element, is_leaf, tag_ids

_FILE_NAME = re.compile(r"[\w./@~\[\]()-]*\w\.[A-Za-z][A-Za-z0-9+]{0,11}")
PREFORMATTED = frozenset({"pre", "listing", "xmp", "plaintext"})
CODE_TAGS = frozenset({"code", "samp", "tt", "kbd"})
_LANGUAGE_ATTRIBUTES = ("data-lang", "data-language", "data-code-language")
_NOT_CODE = "p,pre,ul,ol,dl,table,h1,h2,h3,h4,h5,h6,blockquote,details,img,form"
"""Elements that do not occur in code outside `<pre>`: a box that has one is a frame around code, or it is not code."""
_LINES = "br,pre,table,div,p,li"
_LINE_TAGS = frozenset(tag_ids(_LINES.split(",")))
_BLOCK_CODE = re.compile(r"(?:^|\s)(?:block|code-?block|(?:lang|language)-\S+|hljs|shiki|prettyprint)(?:\s|$)", re.IGNORECASE)
_CODE_CELL = re.compile(r"(?<![a-z])(?:code|line|blob|hljs)(?![a-z])", re.IGNORECASE)
_INDENTED = re.compile(r"\n(?: {2}|\t|\xa0)")
_PROMPTS = frozenset({"$", "#", ">", "%", ">>>", "...", "…"})
_MAX_NUMBER = 7
"""Digits of a line number."""
_MAX_LABEL = 80
_LABEL_DEPTH = 3


def is_code_block(node: Element, tag: str, attributes: Attributes) -> bool:
    """Whether an element is a block of code as a whole."""
    if tag in PREFORMATTED:
        return True
    if tag in CODE_TAGS:
        return is_code_in_lines(node, attributes)
    if tag == "table":
        return _is_code_table(node)
    if not attributes:
        return False
    kind = element_kinds.element_kind(tag, attributes.get("class") or "")
    if kind is element_kinds.CODE:
        return True
    if kind is element_kinds.CODE_BOX or any(name in attributes for name in _LANGUAGE_ATTRIBUTES):
        return _is_code_box(node, attributes)
    return "white-space" in (attributes.get("style") or "") and _keeps_lines(node, attributes)


def is_code_in_lines(node: Element, attributes: Attributes) -> bool:
    """Whether inline code is displayed as several lines, and is therefore a block."""
    if is_leaf(node):
        if "\n" not in (text := (node.text() or "").strip("\n")):
            return False
    else:
        inner = next((element for element in node.traverse() if element.tag_id in _LINE_TAGS), None)
        if inner is not None and (inner.tag != "br" or _is_alone(node)):
            return inner.tag in {"pre", "table", "br"} or len(node.css(_LINES)) > 1
        text = (node.text() or "").strip("\n")
        if "\n" not in text:
            return False
    classes = attributes.get("class") or ""
    if _BLOCK_CODE.search(classes) or _keeps_lines(node, attributes):
        return True
    around = node.parent
    if around is None or not _is_alone(node):
        return False
    is_named = element_kinds.element_kind(around.tag or "", classes_of(around)) is element_kinds.CODE_BOX
    return is_named or (text.count("\n") > 1 and _INDENTED.search(text) is not None)


def _is_alone(node: Element) -> bool:
    """Whether nothing else is on the lines of an element."""
    around = node.parent
    if around is None or around.tag not in element_kinds.BLOCK_TAGS:
        return False
    return _ends_line(node.prev, forward=False) and _ends_line(node.next, forward=True)


def _ends_line(node: Element | None, *, forward: bool) -> bool:
    while node is not None:
        if node.is_element_node and node.tag not in element_kinds.SKIPPED_TAGS:
            return node.tag == "br" or node.tag in element_kinds.BLOCK_TAGS
        if node.is_text_node and (node.text_content or "").strip():
            return False
        node = node.next if forward else node.prev
    return True


def _keeps_lines(node: Element, attributes: Attributes) -> bool:
    """Whether the style of an element keeps its line breaks, as for code: prose may keep them too, but not in a fixed width."""
    style = "".join((attributes.get("style") or "").lower().split())
    if "white-space:pre" not in style or "white-space:pre-line" in style:
        return False
    if "white-space:pre-wrap" in style and "mono" not in style and node.tag not in CODE_TAGS:
        return False
    return "\n" in (node.text() or "").strip("\n") and (is_leaf(node) or node.css_first(_NOT_CODE) is None)


def _is_code_box(node: Element, attributes: Attributes) -> bool:
    """Whether a box with a name for code is the code itself, and not a frame around it."""
    classes = (attributes.get("class") or "").split()
    if "SCodeFlow" in classes:  # Scribble; the lines are paragraphs or a table.
        return True
    text = (node.text() or "").strip()
    if "\n" not in text and is_label_of_code(node):
        return False
    if not text or (not is_leaf(node) and node.css_first(_NOT_CODE) is not None):
        return False
    if any(name in attributes for name in _LANGUAGE_ATTRIBUTES) or element_kinds.is_code_name(" ".join(classes)):
        return True
    # `highlight` and the like are also names of prose: the code must be marked as such.
    inner = None if is_leaf(node) else node.css_first("code,tt,samp")
    if inner is None or (inner.text() or "").strip() != text:
        return False
    return "\n" in text or inner.css_first("br") is not None


def _is_code_table(node: Element) -> bool:
    """Whether a table has line numbers in its first column and code in its second."""
    if not (classes := classes_of(node)):
        pass
    elif element_kinds.element_kind("table", classes) is element_kinds.CODE:
        return True
    row = node.css_first("tr")
    cells = child_elements(row) if row is not None else []
    if len(cells) != 2 or not is_gutter(cells[0]) or not _is_code_cell(cells[1]):
        return False
    rows = [child_elements(row) for row in node.css("tr")]
    if any(len(row) != 2 for row in rows):
        return False
    # The numbers of all rows count, or they are data; some are attributes and no text.
    words = [word for row in rows for word in (row[0].text(separator=" ") or "").split()]
    return not words or _is_column(words)


def _is_code_cell(cell: Element) -> bool:
    block = None if is_leaf(cell) else cell.css_first("pre")
    if block is not None:
        return (block.text() or "").strip() == (cell.text() or "").strip()
    return _CODE_CELL.search(classes_of(cell)) is not None


def is_gutter(node: Element) -> bool:
    """Whether an element has only line numbers that count, or the same prompt on each line."""
    if "data-line-number" in node.attributes:
        return True
    return _is_column((node.text(separator=" ") or "").split())


def _is_column(words: list[str]) -> bool:
    if not words:
        return False
    if words[0] in _PROMPTS:
        return _PROMPTS.issuperset(words)
    if not words[0].isdecimal() or len(words[0]) > _MAX_NUMBER:
        return False
    first = int(words[0])
    return words == [str(first + at) for at in range(len(words))]


def is_gutter_beside_code(block: Element) -> bool:
    """Whether a block has the line numbers of the block after it."""
    text = (block.text() or "").strip()
    if not text[:1].isdecimal() or len(words := text.split()) < 2 or not _is_column(words):
        return False
    beside = block.next
    while beside is not None and not beside.is_element_node:
        beside = beside.next
    if beside is None:
        return False
    code = beside if beside.tag in PREFORMATTED else beside.css_first("pre,code")
    return code is not None and len((code.text() or "").strip("\n").split("\n")) == len(words)


def take_label(block: Element) -> str:
    """The label that a page writes into a block before its first line (a language, a file name), which is removed from it."""
    node = block.first_child
    for _ in range(_LABEL_DEPTH):
        while node is not None and node.is_text_node and not (node.text_content or "").strip():
            node = node.next
        if node is None or not node.is_element_node:
            return ""
        if element_kinds.element_kind(node.tag or "", classes_of(node)) is element_kinds.TITLE:
            label = _label_text(node)
            node.decompose()
            return label
        node = node.first_child
    return ""


def _label_text(label: Element) -> str:
    """The text of a label without its buttons."""
    for button in () if is_leaf(label) else label.css("button"):
        button.decompose()
    return " ".join((label.text(separator=" ") or "").split())[:_MAX_LABEL]


def label_before(block: Element) -> str:
    """The label of a block in an element before it or before the frames around it; empty if there is none."""
    node: Element | None = block
    for _ in range(_LABEL_DEPTH):
        if node is None or node.tag in {"body", "main", "article", "li", "td"}:
            return ""
        before = node.prev
        while before is not None and not before.is_element_node:
            if (before.text_content or "").strip():
                return ""
            before = before.prev
        if before is not None:
            kind = element_kinds.element_kind(before.tag or "", classes_of(before))
            is_label = before.tag == "figcaption" or kind is element_kinds.TITLE or _is_file_name(before)
            return _label_text(before) if is_label else ""
        node = node.parent
    return ""


def _is_file_name(node: Element) -> bool:
    """Whether an element has nothing but the name of a file."""
    text = (node.text() or "").strip() if node.tag in {"div", "p", "span"} else ""
    return len(text) <= _MAX_LABEL and _FILE_NAME.fullmatch(text) is not None


def is_label_of_code(label: Element) -> bool:
    """Whether a block of code follows a label."""
    after = label.next
    while after is not None and not after.is_element_node:
        after = after.next
    return after is not None and (after.tag in PREFORMATTED or after.css_first("pre,code") is not None)
