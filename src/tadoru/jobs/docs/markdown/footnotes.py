"""Converts footnotes and citations: `[^1]` for a reference, `[^1]: …` for the note.

A reference has the label that the page shows; its note is found by its id and gets the same label. References and notes are
matched before the page is converted, whatever their markup: a short link to a part of the page that links back to it, that starts
with the same label, or that has the number of the link in a list.
"""

from __future__ import annotations

import re

from tadoru.jobs.docs.markdown.conversion import ConversionContext, NoteIndex, child_elements, classes_of
from tadoru.parse.html import Attributes, Element

_REFERENCES = frozenset({"footnote-ref", "footnote-reference", "citation-reference", "footnoteref", "footnote"})
_LABEL = re.compile(r"[\[\](){}\s^]+")
_NOTE_ID = re.compile(r"(?:(?:user-content-)?fn[-:_]?[\w.-]+|foot\d+)$", re.IGNORECASE)
_SIDENOTES = frozenset("sidenote marginnote margin-note side-note modern-footnotes-footnote__note ltx_note NoteBox".split())
_LEFT_OVER = re.compile(r"^(?:\\?\[\\?\]|[.:^)]|\\[.)])? *+")
_SIDENOTE_MARKS = ".ltx_note_mark,.ltx_tag_note,.sidenote-number"
_REFERENCE_LABEL = re.compile(r"\d{1,3}|[a-z]{1,2}|[ivx]{1,5}|[*†‡§]{1,3}", re.IGNORECASE)
_MAX_REFERENCE_TEXT = 8
"""Characters of a reference with its brackets."""
_MAX_NOTE_TEXT = 6_000
_NOTE_TAGS = frozenset({"li", "p", "div", "aside", "dd", "dt", "section", "tr"})
_NOTE_NAME = re.compile(r"note|fn|foot|cite|ref", re.IGNORECASE)
_BOXES_WITH_MORE = "h1,h2,h3,h4,h5,h6,main,article"
_NUMBER = re.compile(r"#{1,6} \(?([\w.*-]+)\)?")


def match_notes(root: Element) -> NoteIndex:
    """The references and notes of a page."""
    index = NoteIndex()
    candidates = [(link, label) for link in root.css('a[href^="#"]') if (label := _reference_label(link))]
    if not candidates:
        return index
    wanted = {(link.attributes.get("href") or "")[1:] for link, _ in candidates}
    unread = {link.mem_id for link, _ in candidates}
    passed: set[tuple[int, str]] = set()
    targets: dict[str, Element] = {}
    for element in root.css('[id],a[name],a[href^="#"]'):
        attributes = element.attributes
        if element.mem_id in unread and (name := (attributes.get("href") or "")[1:]) in targets:
            passed.add((element.mem_id, name))  # A link to a part above it leads back.
        for anchor in (attributes.get("id"), attributes.get("name")):
            if anchor in wanted:
                targets.setdefault(anchor, element)
    for link, label in candidates:
        name = (link.attributes.get("href") or "")[1:]
        if (link.mem_id, name) not in passed:
            _match(index, link, label, targets.get(name))
    return index


def _reference_label(link: Element) -> str:
    """The label of a link that is as short as a reference; else empty."""
    text = (link.text() or "").strip()
    if not 0 < len(text) <= _MAX_REFERENCE_TEXT:
        return ""
    label = _LABEL.sub("", text)
    return label if _REFERENCE_LABEL.fullmatch(label) else ""


def _match(index: NoteIndex, link: Element, label: str, target: Element | None) -> None:
    """Add a link and its target, if they are a reference and its note."""
    note = _note_around(target) if target is not None else None
    if target is None or note is None or link.mem_id in index.inside:
        return
    own = _names_around(link)
    backs = [
        back for back in note.css("a[href]") if (back.attributes.get("href") or "")[1:] in own and back.mem_id != link.mem_id
    ]
    text = (note.text() or "").strip()
    if len(text) > _MAX_NOTE_TEXT or any(inner.mem_id == link.mem_id for inner in note.css("a[href]")):
        return
    if not backs and not _is_noted(link, label, target, text):
        return
    known = index.notes.get(note.mem_id)
    if known is None and label in index.notes.values():
        label = f"{label}-{len(index.notes) + 1}"  # Each page of a book in one file starts with 1 again.
    index.references[link.mem_id] = index.notes.setdefault(note.mem_id, label)
    index.back.update(back.attributes.get("href") or "" for back in backs)
    index.inside.update(inner.mem_id for inner in note.css("a[href]"))


def _note_around(target: Element) -> Element | None:
    """The block that is the note if this element is the target of its reference; None if it cannot be one."""
    block: Element | None = target
    for _ in range(4):
        if block is None or block.tag in {"h1", "h2", "h3", "h4", "h5", "h6", "body", "main", "article"}:
            return None
        if block.tag in {"td", "th"}:
            return block.parent
        if block.tag in _NOTE_TAGS or (block.tag == "blockquote" and block.mem_id == target.mem_id):
            return block if block.css_first(_BOXES_WITH_MORE) is None else None
        block = block.parent
    return None


def _names_around(link: Element) -> frozenset[str]:
    """The ids and names of a link, its child and the inline elements around it."""
    names: set[str | None] = set()
    around: Element | None = link
    for _ in range(3):
        if around is None or around.tag in {"p", "li", "div", "td", "body"}:
            break
        names |= {around.attributes.get("id"), around.attributes.get("name")}
        around = around.parent
    inner = link.first_child
    if inner is not None and inner.is_element_node:
        names.add(inner.attributes.get("id"))
    return frozenset(name for name in names if name)


def _is_noted(link: Element, label: str, target: Element, text: str) -> bool:
    """Whether a target without a link back is a note: the reference is raised or in brackets, and the note has its label."""
    is_bracketed = (link.text() or "").strip()[:1] in {"[", "("}
    if not _is_raised(link) and not is_bracketed:
        return False
    if _LABEL.sub("", text.partition(" ")[0]).strip(".:)") == label or _LABEL.sub("", text[:6]).startswith(f"{label}."):
        return True
    first = next(iter(child_elements(target)), None)
    if first is not None and _LABEL.sub("", first.text() or "").strip(".:)") == label:
        return True
    is_item = target.tag == "li" and target.parent is not None and target.parent.tag == "ol"
    return is_item and _NOTE_NAME.search(target.id or "") is not None


def reference(context: ConversionContext, node: Element, href: str, attributes: Attributes) -> str | None:
    """`[^1]` for a link to a footnote; None for any other link."""
    page, _, note = href.partition("#")
    if not note:
        return None
    if matched := context.note_index.references.get(node.mem_id):
        context.notes[note] = matched
        return f"[^{matched}]"
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


def inline_note(context: ConversionContext, node: Element, words: str) -> str | None:
    """`[^1]` for a note in brackets in the text, or for a reference to such a note (AsciiDoc); `words` are its classes."""
    if words == "footnoteref":
        link = node.css_first("a[href]")
        known = context.notes.get((link.attributes.get("href") or "")[1:]) if link is not None else None
        return f"[^{known}]" if known else None
    if not _SIDENOTES.isdisjoint(words.split()):
        return _sidenote(context, node)
    text = (node.text() or "").strip() if words == "footnote" else ""
    if text[:1] != "[" or text[-1:] != "]":
        return None
    label = str(len(context.asides) + 1)
    for line_break in node.css("br"):
        line_break.decompose()
    context.asides.append(f"[^{label}]: {context.inline(node.iter(include_text=True), ' ')[1:-1]}")
    context.notes[node.id or ""] = label
    return f"[^{label}]"


def raised_note(context: ConversionContext, node: Element) -> str | None:
    """`[^1]` for a raised number that contains its note, which a pointer shows; None for other raised text."""
    number = node.first_child
    note = number.next if number is not None and number.is_text_node else None
    if number is None or note is None or note.tag != "span" or note.next is not None:
        return None
    is_note = (number.text_content or "").strip().isdecimal() and " " in (note.text() or "").strip()
    return _sidenote(context, note) if is_note else None


def _sidenote(context: ConversionContext, node: Element) -> str | None:
    """`[^1]` for a note in the text that a style sheet puts into the margin."""
    for mark in node.css(_SIDENOTE_MARKS):
        mark.decompose()
    if not (text := context.inline(node.iter(include_text=True), " ")):
        return None
    taken = {*context.notes.values(), *context.note_index.notes.values()}
    number = len(context.asides) + 1
    while str(number) in taken:
        number += 1
    context.asides.append(f"[^{number}]: {text}")
    context.notes[f"\x00{number}"] = str(number)
    return f"[^{number}]"


def _is_citation(context: ConversionContext, node: Element, target: str) -> bool:
    """Whether a link `[Tea]` points to a citation of the page, which is written as a note."""
    words = node.text(strip=True) or ""
    return words[:1] == "[" and words[-1:] == "]" and target in context.citations


def notes(context: ConversionContext, node: Element) -> list[str] | None:
    """The notes in an element with footnotes; None if they cannot be separated, or are converted one by one."""
    matched = context.note_index.notes
    if matched and any(inner.mem_id in matched for inner in node.css("p,div")):
        _remove_separators(node)
        return None
    items = [item for item in node.css("li[id]") if item.parent is not None and item.parent.tag == "ol"]
    if items:
        return [_note(context, item, context.notes.get(item.id or "", str(at))) for at, item in enumerate(items, 1)]
    if node.tag == "dl":
        return _definitions(context, node)
    _remove_separators(node)
    if node.css_first("h5 a[href^='#DOC']") is not None:
        return _notes_under_headings(context, node)
    label = node.css_first(".label:not(col),.fn-bracket")
    if label is None:
        label = _back_link(node)
    if label is None or any(inner.mem_id != node.mem_id for inner in node.css(".footnote,.citation")):
        return None
    name = _LABEL.sub("", label.text() or "")[:60]
    label.decompose()
    if node.tag == "table" and (cell := node.css_first("td")) is not None:  # docutils, and Sphinx before version 2
        node = cell
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


def note_blocks(context: ConversionContext, node: Element) -> list[str] | None:
    """The notes that an element is or lists, matched by their references; None if it has none."""
    if label := context.note_index.notes.get(node.mem_id):
        return [_matched_note(context, node, label)]
    if node.tag in {"table", "tbody"}:
        rows = node.css("tr")
        labels = [context.note_index.notes.get(row.mem_id) for row in rows]
        return (
            [_matched_note(context, row, label or "") for row, label in zip(rows, labels, strict=True)] if all(labels) else None
        )
    if node.tag not in {"ol", "ul", "dl"}:
        return None
    children = [child for child in child_elements(node) if child.tag in {"li", "dt", "dd"}]
    labels = [context.note_index.notes.get(child.mem_id) for child in children]
    if not any(labels):
        return None
    if node.tag == "dl":
        return _described_notes(context, children, labels)
    # Notes without a reference have the number of their item.
    return [
        _matched_note(context, child, label or str(at)) for at, (child, label) in enumerate(zip(children, labels, strict=True), 1)
    ]


def _described_notes(context: ConversionContext, children: list[Element], labels: list[str | None]) -> list[str]:
    written: list[str] = []
    label = ""
    for child, found in zip(children, labels, strict=True):
        if child.tag == "dt":
            label = found or _LABEL.sub("", child.text() or "")[:60]
        elif label:
            written.append(_matched_note(context, child, found or label))
    return written


def _matched_note(context: ConversionContext, node: Element, label: str) -> str:
    """A note without its links back and without its label."""
    back = context.note_index.back
    for element in node.css("a[href],.mw-cite-backlink"):
        if element.tag != "a" or element.attributes.get("href") in back:
            element.decompose()
    first = next(iter(child_elements(node)), None)
    for _ in range(3):
        if first is None:
            break
        if _LABEL.sub("", first.text() or "").strip(".:") in {label, ""} and first.css_first("img") is None:
            first.decompose()
            break
        first = next(iter(child_elements(first)), None)
    if node.tag in {"td", "tr"}:
        blocks = [block for cell in child_elements(node) for block in context.blocks(cell)]
    else:
        blocks = context.blocks(node)
    if blocks:
        blocks[0] = _without_label(blocks[0], label)
    return _format_note(context, label, [block for block in blocks if block])


def _without_label(text: str, label: str) -> str:
    """The text of a note without its label at the start, and without the signs that were around it or its link back."""
    for shown in (f"\\[{label}\\]", f"[{label}]", label):
        rest = text.removeprefix(shown)
        if rest != text and rest.lstrip("\\.):")[:1] == " ":
            text = rest.lstrip("\\.):").lstrip()
            break
    return _LEFT_OVER.sub("", text, count=1)


def _note(context: ConversionContext, node: Element, label: str) -> str:
    for back in node.css(".footnote-backref,.footnote-back,.backrefs,.fn-backref,[data-footnote-backref],a[rev=footnote]"):
        back.decompose()
    for link in node.css("a[href]"):
        if (link.text(strip=True) or "") in {"↩", "↩︎", "^", "↑"}:
            link.decompose()
    return _format_note(context, label, context.blocks(node))


def _format_note(context: ConversionContext, label: str, blocks: list[str]) -> str:
    return f"[^{label}]: " + context.indented("\n\n".join(blocks), 4)
