"""Footnotes and citations: `[^1]` where the text refers to one, `[^1]: …` where it is written.

A reference has the label that the page shows; the note it points at is found by its id, so that both sides agree.
"""

from __future__ import annotations

import re

from tadoru.jobs.docs.markdown import code
from tadoru.jobs.docs.markdown.context import Context, classes_of, direct, indented
from tadoru.parse.html import Element

_REFERENCES = frozenset({"footnote-ref", "footnote-reference", "citation-reference", "footnoteref", "footnote"})
_LABEL = re.compile(r"[\[\](){}\s^]+")
_NOTE_ID = re.compile(r"(?:user-content-)?fn[-:_]?[\w.-]+$|FOOT\d+$", re.IGNORECASE)


def reference(context: Context, node: Element, href: str) -> str | None:
    """`[^1]` for a link to a footnote; None for any other."""
    if not href.startswith("#"):
        return None
    attributes = node.attributes
    known = not _REFERENCES.isdisjoint(classes_of(node).split()) or "data-footnote-ref" in attributes
    if not known and attributes.get("role") != "doc-noteref":
        raised = (node.parent is not None and node.parent.tag == "sup") or _holds_only_raised(node)
        if not (raised and _NOTE_ID.match(href[1:])) and not _is_citation(context, node, href[1:]):
            return None
    label = _LABEL.sub("", node.text() or "")[:60]
    if not label:
        return None
    context.notes[href[1:]] = label
    return f"[^{label}]"


def _holds_only_raised(node: Element) -> bool:
    only = node.first_child
    return only is not None and only.next is None and only.tag == "sup"


def _is_citation(context: Context, node: Element, target: str) -> bool:
    """Whether a link `[Tea]` leads to a citation of the page, which is written as a note."""
    words = node.text(strip=True) or ""
    return words[:1] == "[" and words[-1:] == "]" and target in context.citations


def notes(context: Context, node: Element) -> list[str] | None:
    """The notes below an element that holds footnotes; None when it holds none that can be told apart."""
    items = [item for item in node.css("li[id]") if item.parent is not None and item.parent.tag == "ol"]
    if items:
        return [_note(context, item, context.notes.get(item.id or "", str(at))) for at, item in enumerate(items, 1)]
    if node.tag == "dl":
        return _definitions(context, node)
    if node.css_first("h5") is not None:
        return _headed(context, node)
    label = node.css_first(".label,.fn-bracket,a.para")
    if label is None or any(inner.mem_id != node.mem_id for inner in node.css(".footnote,.citation")):
        return None
    name = _LABEL.sub("", label.text() or "")[:60]
    label.decompose()
    return [_note(context, node, name)] if name else None


def _headed(context: Context, node: Element) -> list[str] | None:
    """The form of Texinfo: a small heading with the label before each note."""
    written: list[tuple[str, list[str]]] = []
    for child in direct(node):
        if child.tag == "h5":
            written.append((_LABEL.sub("", child.text() or "")[:60], []))
        elif written:
            written[-1][1].extend(code.code_block(context, child) if child.tag == "pre" else context.blocks(child))
    return [_written(label, blocks) for label, blocks in written if label and blocks] or None


def _definitions(context: Context, node: Element) -> list[str] | None:
    """The form of older Sphinx: a list of definitions, the label as its term."""
    written: list[str] = []
    label = ""
    for child in direct(node):
        if child.tag == "dt":
            brackets = child.css_first(".brackets")
            label = _LABEL.sub("", (child if brackets is None else brackets).text() or "")[:60]
        elif child.tag == "dd" and label:
            written.append(_note(context, child, label))
    return written or None


def _note(context: Context, node: Element, label: str) -> str:
    for back in node.css(".footnote-backref,.footnote-back,.backrefs,.fn-backref,[data-footnote-backref],a[rev=footnote]"):
        back.decompose()
    for link in node.css("a[href]"):
        if (link.text(strip=True) or "") in {"↩", "↩︎", "^", "↑"}:
            link.decompose()
    return _written(label, context.blocks(node))


def _written(label: str, blocks: list[str]) -> str:
    return f"[^{label}]: " + indented("\n\n".join(blocks), 4)
