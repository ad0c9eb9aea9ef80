"""Converts tabs: each panel below its label, including hidden panels.

Labels precede their panels, so they are stored until the panels are reached, and matched by id if the page has ids, otherwise in
order. This works for all generators, with one label before each panel or a row of labels before all of them.
"""

from __future__ import annotations

from tadoru.jobs.docs.markdown.conversion import ConversionContext, child_elements, classes_of
from tadoru.parse.html import Element, collapsed

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
