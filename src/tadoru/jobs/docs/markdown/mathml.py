"""TeX from MathML, for formulas that a page has in no other form: MathJax leaves it beside its drawing, some manuals only it.

The text of a fraction or a power is another formula ("P=Et", "x2"), so structure is written: scripts, fractions, roots, tables.
Signs stay as they are, for TeX reads them. Where the source is told, it is taken instead (`math`).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tadoru.parse.html import Element

_DEEPEST = 40
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


def tex(node: Element, depth: int = 0) -> str:
    """A `<math>` element, or one below it, as TeX."""
    if depth > _DEEPEST:
        return _plain(node)
    tag = node.tag or ""
    if write := _LEAVES.get(tag):
        return write(_plain(node))
    parts = [child for child in node.iter() if child.tag not in {"annotation", "annotation-xml", "mphantom", "mprescripts"}]
    if write_parts := _FORMS.get(tag):
        return write_parts([tex(part, depth + 1) for part in parts])
    if tag in {"mtable", "mtr", "mlabeledtr"}:
        joint, inside = (" & ", "{}") if tag != "mtable" else (r" \\ ", r"\begin{{matrix}}{}\end{{matrix}}")
        return inside.format(joint.join(tex(part, depth + 1) for part in parts))
    if tag == "mfenced":
        attributes = node.attributes
        inner = ",".join(tex(part, depth + 1) for part in parts)
        return f"{attributes.get('open') or '('}{inner}{attributes.get('close') or ')'}"
    return _joined([tex(part, depth + 1) for part in parts]) if parts else _plain(node)


def _plain(node: Element) -> str:
    return _UNSEEN.sub("", " ".join((node.text() or "").split()))


def _joined(parts: list[str]) -> str:
    """Parts of a row, a command kept apart from the letters that follow it."""
    out = ""
    for part in parts:
        apart = bool(out and part[:1].isalpha() and _COMMAND.search(out))
        out += f" {part}" if apart else part
    return re.sub(" {2,}", " ", out).strip()


def _name(text: str) -> str:
    if text in _FUNCTIONS:
        return f"\\{text}"
    return text if len(text) < 2 else f"\\mathrm{{{text}}}"


def _sign(text: str) -> str:
    text = text.replace("−", "-")
    if text in _FUNCTIONS:
        return f"\\{text}"
    if text in _RELATIONS:
        return f" {text} "
    return f"\\{text}" if text in _ESCAPED else text


def _grouped(part: str) -> str:
    """What a script or a root takes: one sign as it is, more in braces."""
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
    "mi": _name,
    "mn": str,
    "mo": _sign,
    "mtext": lambda text: f"\\text{{{text}}}" if text else " ",
    "ms": lambda text: f"\\text{{{text}}}",
    "mspace": lambda _: " ",
}
_FORMS: dict[str, Callable[[list[str]], str]] = {
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
