"""Converts signatures of an API reference to code.

Sphinx and Texinfo write them as terms of a list, Doxygen as a table, Javadoc as spans, rustdoc as headings. Their descriptions
follow as ordinary text.
"""

from __future__ import annotations

import re

from tadoru.jobs.docs.markdown.code import fence
from tadoru.jobs.docs.markdown.conversion import ConversionContext, child_elements, classes_of
from tadoru.parse.html import Element

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
