"""Converts formulas of MathJax, KaTeX, MathML, Sphinx and pandoc to `$…$` and `$$…$$`.

The TeX source is used if the page has it (an annotation, a script, delimiters in the text). From MathML alone it is reconstructed
with its structure (scripts, fractions, roots, tables), because the mere text would be another formula ("P=Et", "x2").
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tadoru.parse.html import Element, collapsed

_MAX_DEPTH = 40
_FUNCTIONS = frozenset(
    "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh log ln lg exp lim sup inf max min arg det dim gcd".split()
)
_UNSEEN = re.compile("[\u2061-\u2064\u200b\u00ad\ufe00-\ufe0f]")
_RELATIONS = frozenset("= < > ≤ ≥ ≠ ≈ ≡ ∼ ≃ ≅ ∝ + - ± ∓ × ÷ · → ← ↔ ⇒ ⇐ ⇔ ↦ ∈ ∉ ⊂ ⊆ ⊃ ⊇ ∪ ∩ ∧ ∨ := ≔ ∣ ∥".split())
_ESCAPED = frozenset("{}%#&_$")
_ABOVE = {
    "¯": "overline",
    "‾": "overline",
    "^": "hat",
    "ˆ": "hat",
    "→": "vec",
    "⃗": "vec",
    "~": "tilde",
    "˜": "tilde",
    "˙": "dot",
    "¨": "ddot",
}
_LARGE = frozenset("∑ ∏ ∫ ∬ ∮ ⋃ ⋂ ⨁ ⨂ lim max min sup inf".split())
_COMMAND = re.compile(r"\\[A-Za-z]+$")


def mathml_to_tex(node: Element, depth: int = 0) -> str:
    """A `<math>` element, or one below it, as TeX."""
    if depth > _MAX_DEPTH:
        return _plain(node)
    tag = node.tag or ""
    if write := _LEAVES.get(tag):
        return write(_plain(node))
    parts = [child for child in node.iter() if child.tag not in {"annotation", "annotation-xml", "mphantom", "mprescripts"}]
    if write_parts := _ELEMENTS.get(tag):
        return write_parts([mathml_to_tex(part, depth + 1) for part in parts])
    if tag in {"mtable", "mtr", "mlabeledtr"}:
        joint, inside = (" & ", "{}") if tag != "mtable" else (r" \\ ", r"\begin{{matrix}}{}\end{{matrix}}")
        return inside.format(joint.join(mathml_to_tex(part, depth + 1) for part in parts))
    if tag == "mfenced":
        attributes = node.attributes
        inner = ",".join(mathml_to_tex(part, depth + 1) for part in parts)
        return f"{attributes.get('open') or '('}{inner}{attributes.get('close') or ')'}"
    return _joined([mathml_to_tex(part, depth + 1) for part in parts]) if parts else _plain(node)


def _plain(node: Element) -> str:
    return _UNSEEN.sub("", " ".join((node.text() or "").split()))


def _joined(parts: list[str]) -> str:
    """Parts of a row, with a space between a command and letters that follow it."""
    out = ""
    for part in parts:
        apart = bool(out and part[:1].isalpha() and _COMMAND.search(out))
        out += f" {part}" if apart else part
    return re.sub(" {2,}", " ", out).strip()


def _identifier(text: str) -> str:
    if text in _FUNCTIONS:
        return f"\\{text}"
    return text if len(text) < 2 else f"\\mathrm{{{text}}}"


def _operator(text: str) -> str:
    text = text.replace("−", "-")
    if text in _FUNCTIONS:
        return f"\\{text}"
    if text in _RELATIONS:
        return f" {text} "
    return f"\\{text}" if text in _ESCAPED else text


def _grouped(part: str) -> str:
    """The argument of a script or root: one character as it is, more in braces."""
    return part if len(part) == 1 else f"{{{part}}}"


def _base(part: str) -> str:
    simple = len(part) < 2 or part.isalnum() or _COMMAND.fullmatch(part) or re.fullmatch(r"\\[a-z]+\{[^{}]*\}", part)
    return part if simple else f"{{{part}}}"


def _scripts(marks: str) -> Callable[[list[str]], str]:
    def write(parts: list[str]) -> str:
        base, *rest = parts or [""]
        return _base(base) + "".join(
            f"{mark}{_grouped(part.strip())}" for mark, part in zip(marks, rest, strict=False) if part.strip()
        )

    return write


def _stacked(command: str, mark: str) -> Callable[[list[str]], str]:
    def write(parts: list[str]) -> str:
        base, script = (*parts, "", "")[:2]
        if base.strip().removeprefix("\\") in _LARGE:
            return f"{base.strip()}{mark}{_grouped(script.strip())}"
        if mark == "^" and (accent := _ABOVE.get(script.strip())):
            return f"\\{accent}{{{base}}}"
        return f"\\{command}{{{script.strip()}}}{{{base.strip()}}}"

    return write


def _both(parts: list[str]) -> str:
    return _scripts("_^")([part.strip() for part in parts])


def _fraction(parts: list[str]) -> str:
    above, below = (*parts, "", "")[:2]
    return f"\\frac{{{above}}}{{{below}}}"


def _root(parts: list[str]) -> str:
    inside, index = (*parts, "", "")[:2]
    return f"\\sqrt[{index}]{{{inside}}}"


_LEAVES: dict[str, Callable[[str], str]] = {
    "mi": _identifier,
    "mn": str,
    "mo": _operator,
    "mtext": lambda text: f"\\text{{{text}}}" if text else " ",
    "ms": lambda text: f"\\text{{{text}}}",
    "mspace": lambda _: " ",
}
_ELEMENTS: dict[str, Callable[[list[str]], str]] = {
    "msup": _scripts("^"),
    "msub": _scripts("_"),
    "msubsup": _both,
    "munderover": _both,
    "mfrac": _fraction,
    "msqrt": lambda parts: f"\\sqrt{{{_joined(parts)}}}",
    "mroot": _root,
    "mover": _stacked("overset", "^"),
    "munder": _stacked("underset", "_"),
    "semantics": lambda parts: parts[0] if parts else "",
}


_OPENING = re.compile(r"\\[(\[]")
_CLOSINGS = {"\\(": ("\\)", "$"), "\\[": ("\\]", "$$")}
_DELIMITERS = (("\\(", "\\)"), ("\\[", "\\]"), ("$$", "$$"), ("$", "$"))


def split_formulas(raw: str) -> list[tuple[bool, str]]:
    """Text with formulas that a script would render, in pieces: whether it is a formula, and the text or the Markdown."""
    pieces: list[tuple[bool, str]] = []
    at = 0
    unclosed: set[str] = set()  # Opening delimiters without a closing one in the rest.
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


def is_math_script(node: Element, tag: str) -> bool:
    """Whether a `<script>` has the source of a formula (MathJax)."""
    return tag == "script" and (node.attributes.get("type") or "").startswith("math/tex")


def inline_math(node: Element, *, display: bool = False) -> str | None:
    """An inline formula; None if the element has none."""
    source = _source(node)
    if not source:
        return None
    attributes = node.attributes
    if "display" in (attributes.get("type") or "") or attributes.get("display") in {"block", "true"}:
        display = True
    return f"$${source}$$" if display else f"${source}$"


def block_math(node: Element) -> str | None:
    """A display formula; None if the element has none."""
    for number in node.css(".eqno"):
        number.decompose()
    source = _source(node, lines=True)
    return f"$$\n{source}\n$$" if source else None


def _source(node: Element, *, lines: bool = False) -> str:
    """The TeX of a formula, without delimiters and surrounding white space."""
    for element in (node, *node.css("annotation,math,img,script")):
        if tex := _stated_source(element):
            return _strip_delimiters(tex, lines=lines)
    inner = node if node.tag == "math" else node.css_first("math")
    if inner is not None and inner.css_first("mi,mn,mo") is not None:
        return mathml_to_tex(inner)
    return _strip_delimiters((node if inner is None else inner).text() or "", lines=lines)


def _stated_source(element: Element) -> str | None:
    """The TeX source in an element, if it has one."""
    tag, attributes = element.tag, element.attributes
    if tag == "annotation":
        return element.text() if "tex" in (attributes.get("encoding") or "").lower() else None
    if tag == "math":
        return attributes.get("alttext") if element.css_first("annotation") is None else None
    if tag == "img":
        return attributes.get("alt")
    if tag == "script":
        return element.text() if is_math_script(element, tag) else None
    return attributes.get("data-tex") or attributes.get("data-latex")


def _strip_delimiters(raw: str, *, lines: bool) -> str:
    tex = raw.strip()
    for opening, closing in _DELIMITERS:
        if tex.startswith(opening) and tex.endswith(closing) and len(tex) >= len(opening) + len(closing):
            tex = tex[len(opening) : -len(closing)].strip()
            break
    if not lines:
        return collapsed(tex)
    return "\n".join(line.rstrip() for line in tex.split("\n") if line.strip())
