"""Converts footnotes and citations: `[^1]` for a reference, `[^1]: …` for the note.

A reference has the label that the page shows; its note is found by its id and gets the same label.
"""

from __future__ import annotations

import re

from tadoru.jobs.docs.markdown.conversion import ConversionContext, child_elements, classes_of
from tadoru.parse.html import Element

_REFERENCES = frozenset({"footnote-ref", "footnote-reference", "citation-reference", "footnoteref", "footnote"})
_LABEL = re.compile(r"[\[\](){}\s^]+")
_NOTE_ID = re.compile(r"(?:(?:user-content-)?fn[-:_]?[\w.-]+|foot\d+)$", re.IGNORECASE)
_NUMBER = re.compile(r"#{1,6} \(?([\w.*-]+)\)?")


def reference(context: ConversionContext, node: Element, href: str) -> str | None:
    """`[^1]` for a link to a footnote; None for any other link."""
    page, _, note = href.partition("#")
    if not note:
        return None
    attributes = node.attributes
    known = not _REFERENCES.isdisjoint((attributes.get("class") or "").split()) or "data-footnote-ref" in attributes
    known = known or attributes.get("role") == "doc-noteref"
    if page and not (known and (context.absolute_url(href) or "").partition("#")[0] == context.here):
        return None
    if not known and not (_is_raised(node) and _NOTE_ID.match(note)) and not _is_citation(context, node, note):
        return None
    label = _LABEL.sub("", node.text() or "")[:60]
    if not label:
        return None
    context.notes[note] = label
    return f"[^{label}]"


def _is_raised(node: Element) -> bool:
    inside = node.first_child
    return (node.parent is not None and node.parent.tag == "sup") or (
        inside is not None and inside.tag == "sup" and inside.next is None
    )


def inline_note(context: ConversionContext, node: Element) -> str | None:
    """`[^1]` for a note in brackets in the text, or for a reference to such a note (AsciiDoc)."""
    words = classes_of(node)
    if words == "footnoteref":
        link = node.css_first("a[href]")
        known = context.notes.get((link.attributes.get("href") or "")[1:]) if link is not None else None
        return f"[^{known}]" if known else None
    text = (node.text() or "").strip() if words == "footnote" else ""
    if text[:1] != "[" or text[-1:] != "]":
        return None
    label = str(len(context.asides) + 1)
    for line_break in node.css("br"):
        line_break.decompose()
    context.asides.append(f"[^{label}]: {context.inline(node.iter(include_text=True), ' ')[1:-1]}")
    context.notes[node.id or ""] = label
    return f"[^{label}]"


def _is_citation(context: ConversionContext, node: Element, target: str) -> bool:
    """Whether a link `[Tea]` points to a citation of the page, which is written as a note."""
    words = node.text(strip=True) or ""
    return words[:1] == "[" and words[-1:] == "]" and target in context.citations


def notes(context: ConversionContext, node: Element) -> list[str] | None:
    """The notes in an element with footnotes; None if they cannot be separated."""
    items = [item for item in node.css("li[id]") if item.parent is not None and item.parent.tag == "ol"]
    if items:
        return [_note(context, item, context.notes.get(item.id or "", str(at))) for at, item in enumerate(items, 1)]
    if node.tag == "dl":
        return _definitions(context, node)
    _remove_separators(node)
    if node.css_first("h5 a[href^='#DOC']") is not None:
        return _notes_under_headings(context, node)
    label = node.css_first(".label,.fn-bracket")
    if label is None:
        label = _back_link(node)
    if label is None or any(inner.mem_id != node.mem_id for inner in node.css(".footnote,.citation")):
        return None
    name = _LABEL.sub("", label.text() or "")[:60]
    label.decompose()
    return [_note(context, node, name).replace("]: . ", "]: ", 1)] if name else None


def _remove_separators(node: Element) -> None:
    """Remove separators and headings of the footnotes, which Markdown shows in its own way."""
    for child in child_elements(node):
        if child.tag in {"hr", "br"} or "footnotes-heading" in classes_of(child).split():
            child.decompose()


def _back_link(node: Element) -> Element | None:
    """The number of a note of DocBook or Asciidoctor: the link back to the text, sometimes in superscript brackets."""
    link = node.css_first("a.para,a[href^='#_footnoteref']")
    return link.parent if link is not None and link.parent is not None and link.parent.tag == "sup" else link


def _notes_under_headings(context: ConversionContext, node: Element) -> list[str]:
    """Notes of Texinfo: each below a small heading with its number."""
    before = len(context.headings)
    written: list[tuple[str, list[str]]] = []
    for block in context.blocks(node):
        if number := _NUMBER.fullmatch(block):
            written.append((number[1], []))
        elif written:
            written[-1][1].append(block)
    del context.headings[before:]
    return [_format_note(context, label, blocks) for label, blocks in written if blocks]


def _definitions(context: ConversionContext, node: Element) -> list[str] | None:
    """Notes of older Sphinx: a definition list with the labels as terms."""
    written: list[str] = []
    label = ""
    for child in child_elements(node):
        if child.tag == "dt":
            brackets = child.css_first(".brackets")
            label = _LABEL.sub("", (child if brackets is None else brackets).text() or "")[:60]
        elif child.tag == "dd" and label:
            written.append(_note(context, child, label))
    return written or None


def _note(context: ConversionContext, node: Element, label: str) -> str:
    for back in node.css(".footnote-backref,.footnote-back,.backrefs,.fn-backref,[data-footnote-backref],a[rev=footnote]"):
        back.decompose()
    for link in node.css("a[href]"):
        if (link.text(strip=True) or "") in {"↩", "↩︎", "^", "↑"}:
            link.decompose()
    return _format_note(context, label, context.blocks(node))


def _format_note(context: ConversionContext, label: str, blocks: list[str]) -> str:
    return f"[^{label}]: " + context.indented("\n\n".join(blocks), 4)
