"""Formulas: `$…$` and `$$…$$` from what MathJax, KaTeX, MathML, Sphinx and pandoc leave in a page, once, and not escaped.

The source is taken where the page has it (an annotation, a script, delimiters in the text); it is written anew where the page has
MathML alone (`mathml`).
"""

from __future__ import annotations

import re

from tadoru.jobs.docs.markdown import mathml
from tadoru.parse.html import Element, collapsed

_OPENING = re.compile(r"\\[(\[]")
_CLOSINGS = {"\\(": ("\\)", "$"), "\\[": ("\\]", "$$")}
_DELIMITERS = (("\\(", "\\)"), ("\\[", "\\]"), ("$$", "$$"), ("$", "$"))


def parted(raw: str) -> list[tuple[bool, str]]:
    """Text whose formulas a script would set, in pieces: whether one is a formula, and the text or the formula as Markdown."""
    pieces: list[tuple[bool, str]] = []
    at = 0
    unclosed: set[str] = set()  # what has no end now has none later
    for found in _OPENING.finditer(raw):
        if found.start() < at or found[0] in unclosed:
            continue
        closing, mark = _CLOSINGS[found[0]]
        if (end := raw.find(closing, found.end() + 1)) < 0:
            unclosed.add(found[0])
            continue
        source = collapsed(raw[found.end() : end]).strip()
        pieces += [(False, raw[at : found.start()]), (True, f"{mark}{source}{mark}")]
        at = end + len(closing)
    return [*pieces, (False, raw[at:])]


def is_script(node: Element, tag: str) -> bool:
    """Whether a `<script>` is MathJax's way to keep the source of a formula."""
    return tag == "script" and (node.attributes.get("type") or "").startswith("math/tex")


def inline_math(node: Element, *, display: bool = False) -> str | None:
    """A formula within a line; None when the element is none after all."""
    source = _source(node)
    if not source:
        return None
    attributes = node.attributes
    if "display" in (attributes.get("type") or "") or attributes.get("display") in {"block", "true"}:
        display = True
    return f"$${source}$$" if display else f"${source}$"


def block_math(node: Element) -> str | None:
    """A formula on lines of its own."""
    for number in node.css(".eqno"):
        number.decompose()
    source = _source(node, lines=True)
    return f"$$\n{source}\n$$" if source else None


def _source(node: Element, *, lines: bool = False) -> str:
    """The TeX of a formula, without delimiters and white space around it."""
    for element in (node, *node.css("annotation,math,img,script")):
        if tex := _told(element):
            return _tidy(tex, lines=lines)
    inner = node if node.tag == "math" else node.css_first("math")
    if inner is not None and inner.css_first("mi,mn,mo") is not None:
        return mathml.tex(inner)
    return _tidy((node if inner is None else inner).text() or "", lines=lines)


def _told(element: Element) -> str | None:
    """The source that one element tells, if it is of the kind that does."""
    tag, attributes = element.tag, element.attributes
    if tag == "annotation":
        return element.text() if "tex" in (attributes.get("encoding") or "").lower() else None
    if tag == "math":
        return attributes.get("alttext") if element.css_first("annotation") is None else None
    if tag == "img":
        return attributes.get("alt")
    if tag == "script":
        return element.text() if is_script(element, tag) else None
    return attributes.get("data-tex") or attributes.get("data-latex")


def _tidy(raw: str, *, lines: bool) -> str:
    tex = raw.strip()
    for opening, closing in _DELIMITERS:
        if tex.startswith(opening) and tex.endswith(closing) and len(tex) >= len(opening) + len(closing):
            tex = tex[len(opening) : -len(closing)].strip()
            break
    if not lines:
        return collapsed(tex)
    return "\n".join(line.rstrip() for line in tex.split("\n") if line.strip())
