"""Converts headings (their level, their text without permalink signs, their anchor) and signatures of an API reference.

Sphinx and Texinfo write signatures as terms of a list, Doxygen as a table, Javadoc as spans, rustdoc as headings. They become
code; their descriptions follow as ordinary text.
"""

from __future__ import annotations

import re

from tadoru.jobs.docs.markdown import element_kinds, escape, inline
from tadoru.jobs.docs.markdown.code import fence
from tadoru.jobs.docs.markdown.conversion import ConversionContext, MarkdownHeading, child_elements, classes_of
from tadoru.parse.html import Element, collapsed, is_leaf

_DOMAINS = {"py": "python", "c": "c", "cpp": "cpp", "js": "javascript", "php": "php", "rb": "ruby", "go": "go", "rust": "rust"}
_OTHER_DOMAINS = frozenset({"std", "rst", "http", "option", "cmdoption", "describe", "object"})
_NOT_SIGNATURES = frozenset({"field-list", "simple", "glossary", "footnote", "citation", "option-list", "docutils-simple"})
_DROPPED = (
    ".headerlink,.viewcode-link,.viewcode-back,.copy-path,.srclink,span.mlabels,.memtitle-permalink,button,"
    ".copiable-anchor,.copiable-link"
)
_TEXINFO = "span.category,span.category-def"
"""The category of a Texinfo definition, before its name."""
_DOXYGEN = frozenset({"memproto", "compoundTemplParams"})
_HEADINGS = frozenset({"code-header", "signature"})
_BEFORE = re.compile(r"(?<! ) ++(?=[,;)\]])|(?<=[(\[]) ++")


def is_signature_list(node: Element) -> bool:
    """Whether a `<dl>` describes objects of an API, as Sphinx and Texinfo do."""
    words = classes_of(node).split()
    if not words or not _NOT_SIGNATURES.isdisjoint(words):
        return False
    if words[0] in _DOMAINS or words[0] in _OTHER_DOMAINS:
        return True
    first = next((child for child in child_elements(node) if child.tag == "dt"), None)
    if first is not None and (words[0] == "def" or words[0].startswith("first-def")):
        return first.css_first(_TEXINFO) is not None
    return first is not None and "sig" in classes_of(first).split()


def signature_entries(context: ConversionContext, node: Element) -> list[str]:
    """The entries of a signature list: signatures that share a description in one code block, then the description."""
    language = _DOMAINS.get((classes_of(node).split() or [""])[0], "")
    blocks: list[str] = []
    lines: list[str] = []
    for child in child_elements(node):
        if child.tag == "dt":
            # Without a category, Texinfo leaves its colon.
            line = _python_arrow(_sphinx_line(child).removeprefix(": "), language)
            if line and not lines:
                context.define(line, child)
            if line:
                lines.append(line)
        elif child.tag == "dd":
            blocks.extend(_signature_code(lines, language))
            lines = []
            blocks.extend(context.blocks(child))
    return blocks + _signature_code(lines, language)


def _python_arrow(line: str, language: str) -> str:
    """A line with the arrow that Sphinx displays replaced by that of Python."""
    return line.replace(" → ", " -> ") if language == "python" else line


def _signature_code(lines: list[str], language: str) -> list[str]:
    return [fence("\n".join(lines), language)] if lines else []


def _sphinx_line(term: Element) -> str:
    """The text of a term; parameters on separate lines stay there."""
    found = term.css(_DROPPED + ",br,dd")
    if dropped := [element for element in found if element.tag not in {"br", "dd"}]:
        for element in reversed(dropped):  # An inner one first.
            element.decompose()
        found = term.css("br,dd")
    for element in found:
        if element.tag == "br":
            element.replace_with(" ")
    params = [element for element in found if element.tag == "dd"]
    if not params:
        return " ".join((term.text() or "").split())
    listed = [" ".join((param.text() or "").split()) for param in params]
    for inner in term.css("dl"):
        inner.replace_with("\x01")
    before, _, after = " ".join((term.text() or "").split()).partition("\x01")
    return "\n".join([before.rstrip(), *(f"    {line}" for line in listed), after.strip()])


def signature_block(node: Element) -> list[str]:
    """A signature in a separate element (Doxygen, Javadoc)."""
    for added in node.css(_DROPPED):
        added.decompose()
    words = classes_of(node).split()
    language = "haskell" if "src" in words else "java" if _DOXYGEN.isdisjoint(words) else "cpp"
    cells = [cell for cell in node.css("td") if cell.css_first("table") is None]
    if not cells:
        return _signature_code([" ".join((node.text() or "").split())], language)
    lines = [line.text() or "" for line in node.css(".memtemplate")] + [" ".join(cell.text() or "" for cell in cells)]
    return _signature_code(
        [_BEFORE.sub("", " ".join(line.split())).replace("< ", "<").replace(" >", ">") for line in lines], language
    )


def heading_code(node: Element) -> str | None:
    """The code of a heading that is a signature (rustdoc, Scaladoc); None for any other heading."""
    if _HEADINGS.isdisjoint(classes_of(node).split()):
        return None
    for added in node.css(_DROPPED + ",.anchor"):
        added.decompose()
    return _BEFORE.sub("", " ".join((node.text() or "").split()))


_DEEPEST = 6
_METHOD = 4


def heading(context: ConversionContext, node: Element, level: int) -> list[str]:
    """A heading; nothing if it is empty."""
    classes = classes_of(node).split()
    if "memtitle" in classes:  # Doxygen gives a member the level of its group.
        level = min(level + 1, _DEEPEST)
    anchor = _anchor(node)
    signature = heading_code(node) if classes else None
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
