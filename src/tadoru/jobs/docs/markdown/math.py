"""Converts formulas of MathJax, KaTeX, MathML, Sphinx and pandoc to `$…$` and `$$…$$`.

The TeX source is used if the page has it (an annotation, a script, an attribute, delimiters in the text, the alternative text of
an image). From MathML alone, and from the glyphs that MathJax draws, it is reconstructed with its structure (scripts, fractions,
roots, tables), because the mere text would be another formula ("P=Et", "x2").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from tadoru.parse.html import Element, HtmlDocument, PageTooComplex, collapsed

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
    "―": "overline",
    "_": "overline",
    "⏞": "overbrace",
    "ˇ": "check",
    "˘": "breve",
    "^": "hat",
    "ˆ": "hat",
    "→": "vec",
    "⃗": "vec",
    "~": "tilde",
    "˜": "tilde",
    "˙": "dot",
    "¨": "ddot",
}
_BELOW = {"_": "underline", "―": "underline", "̲": "underline", "⏟": "underbrace"}
_ENCLOSED = {"top": "overline", "bottom": "underline", "box": "boxed", "radical": "sqrt", "updiagonalstrike": "cancel"}
_LARGE = frozenset("∑ ∏ ∫ ∬ ∮ ⋃ ⋂ ⨁ ⨂ lim max min sup inf".split())
_COMMAND = re.compile(r"\\[A-Za-z]+$")


def mathml_to_tex(node: Element, depth: int = 0) -> str:
    """A `<math>` element, or one below it, as TeX."""
    if depth > _MAX_DEPTH:
        return _plain(node)
    tag = _mathml_tag(node)
    if write := _LEAVES.get(tag):
        return write(_plain(node))
    parts = _mathml_parts(node, tag)
    if write_parts := _ELEMENTS.get(tag):
        return write_parts([mathml_to_tex(part, depth + 1) for part in parts])
    if tag in {"mtable", "mtr", "mlabeledtr"}:
        joint, inside = (" & ", "{}") if tag != "mtable" else (r" \\ ", r"\begin{{matrix}}{}\end{{matrix}}")
        return inside.format(joint.join(mathml_to_tex(part, depth + 1) for part in parts))
    if tag == "menclose" and (command := _ENCLOSED.get((node.attributes.get("notation") or "").split(" ")[0])):
        return f"\\{command}{{{_joined([mathml_to_tex(part, depth + 1) for part in parts])}}}"
    if tag == "mfenced":
        attributes = node.attributes
        inner = ",".join(mathml_to_tex(part, depth + 1) for part in parts)
        return f"{attributes.get('open') or '('}{inner}{attributes.get('close') or ')'}"
    return _joined([mathml_to_tex(part, depth + 1) for part in parts]) if parts else _plain(node)


def _mathml_tag(node: Element) -> str:
    """The MathML element that an element is or that MathJax draws with it: `mjx-mi` and `<g data-mml-node="mi">` are `mi`."""
    tag = node.tag or ""
    return tag.removeprefix("mjx-") if tag.startswith("mjx-") else node.attributes.get("data-mml-node") or tag


_NO_PARTS = frozenset(
    "annotation annotation-xml mphantom mprescripts mjx-surd mjx-nstrut mjx-dstrut mjx-line mjx-spacer mjx-strut mjx-tstrut defs "
    "path rect use".split()
)
_DRAWN_PARTS = {
    "mjx-mfrac": ("mjx-num", "mjx-den"),
    "mjx-msqrt": ("mjx-box",),
    "mjx-mroot": ("mjx-box", "mjx-root"),
    "mjx-mover": ("mjx-base", "mjx-over"),
    "mjx-munder": ("mjx-base", "mjx-under"),
    "mjx-munderover": ("mjx-base", "mjx-under", "mjx-over"),
}
"""The arguments of elements that MathJax draws in more boxes than MathML has."""


def _mathml_parts(node: Element, tag: str) -> list[Element]:
    """The arguments of an element in the order of MathML."""
    if names := _DRAWN_PARTS.get(node.tag or ""):
        return [part for name in names if (part := node.css_first(name)) is not None]
    parts = [child for child in node.iter() if child.tag not in _NO_PARTS]
    if tag == "msubsup" and node.tag != tag:  # MathJax draws the superscript first.
        if len(parts) == 2:
            parts[1:] = [child for child in parts[1].iter() if child.tag not in _NO_PARTS]
        parts[1:] = reversed(parts[1:])
    if tag in {"msqrt", "mroot"} and node.tag == "g":
        parts = [part for part in parts if part.attributes.get("data-mml-node") != "mo"]
    return parts


_GLYPH = re.compile(r"(?:^|\s)mjx-c([0-9A-F]{2,6})(?:\s|$)")


def _plain(node: Element) -> str:
    """The text of an element, or of the glyphs that are drawn for it."""
    if (text := node.text() or "").strip():
        return _UNSEEN.sub("", " ".join(text.split()))
    codes: list[str] = []
    for glyph in node.css("mjx-c,[data-c]"):
        attributes = glyph.attributes
        found = _GLYPH.search(attributes.get("class") or "")
        codes.append(attributes.get("data-c") or (found[1] if found else ""))
    signs = (chr(number) for code in codes if code and (number := int(code[:6], 16)) < 0x110000)
    return _UNSEEN.sub("", unicodedata.normalize("NFKC", "".join(signs)).strip())


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
        if accent := (_ABOVE if mark == "^" else _BELOW).get(script.strip().removeprefix("\\")):
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


_OPENING = re.compile(r"\\[(\[]|(?<!\\)\$\$?")
_CLOSINGS = {"\\(": ("\\)", "$"), "\\[": ("\\]", "$$"), "$$": ("$$", "$$"), "$": ("$", "$")}
_DELIMITERS = (("\\(", "\\)"), ("\\[", "\\]"), ("$$", "$$"), ("$", "$"))
_MAX_INLINE = 1_000
"""Characters of a formula between dollar signs; two signs further apart are prices."""
_TEX = re.compile(r"\\[A-Za-z]+|(?<![A-Za-z0-9])[A-Za-z0-9][_^]|[})\]][_^]|[_^]\{")
"""Syntax of TeX that does not occur in prices, variables of a shell, and paths."""
_SURELY_TEX = re.compile(r"\\[A-Za-z]+ ?\{|[_^]\{|\\(?:alpha|beta|gamma|lambda|sum|int|infty|cdot|times|leq|geq|partial)\b")
_MATH_IMAGE = re.compile(r"(?:^|[\s_-])(?:math|tex|latex|formula|equation|katex|mathjax)(?:$|[\s_-])", re.IGNORECASE)
_MATH_SERVICE = re.compile(r"latex\.codecogs\.com/|/latex\.php\?|[?&]cht=tx&|/math/render/|/cgi-bin/mathtex")
_TEX_ATTRIBUTES = ("data-tex", "data-latex", "data-math", "data-formula", "data-equation")
ATTRIBUTES = frozenset({*_TEX_ATTRIBUTES, "data-mathml", "data-math-style"})
"""Attributes with the source of a formula."""


def split_formulas(raw: str, *, has_tex: bool = True) -> list[tuple[bool, str]]:
    """Text with formulas that a script would render, in pieces: whether it is a formula, and the text or the Markdown.

    Without such a script on the page (`has_tex`), a formula is between dollar signs and has syntax that only TeX has.
    """
    pieces: list[tuple[bool, str]] = []
    at = 0
    unclosed: set[str] = set()  # Opening delimiters without a closing one in the rest.
    for found in _OPENING.finditer(raw):
        opening = found[0]
        if found.start() < at or opening in unclosed or (opening[0] == "\\" and not has_tex):
            continue
        closing, mark = _CLOSINGS[opening]
        if (end := raw.find(closing, found.end() + 1)) < 0:
            unclosed.add(opening)
            continue
        inside = raw[found.end() : end]
        if opening[0] == "$" and not _is_between_dollars(
            inside, raw[end + len(closing) : end + len(closing) + 1], opening, has_tex=has_tex
        ):
            continue
        pieces += [(False, raw[at : found.start()]), (True, f"{mark}{collapsed(inside).strip()}{mark}")]
        at = end + len(closing)
    return [*pieces, (False, raw[at:])]


def _is_between_dollars(inside: str, after: str, opening: str, *, has_tex: bool) -> bool:
    """Whether a text between dollar signs is a formula, and not what is between two prices or variables."""
    if opening == "$$":
        return has_tex or _TEX.search(inside) is not None
    is_close = len(inside) <= _MAX_INLINE and not inside[0].isspace() and not inside[-1].isspace() and not after.isalnum()
    return is_close and _TEX.search(inside) is not None


def image_math(image: Element) -> str | None:
    """The formula that an image shows, from its alternative text or attributes; None for any other image."""
    attributes = image.attributes
    if stated := next((value for name in _TEX_ATTRIBUTES if (value := attributes.get(name))), None):
        return f"${_strip_delimiters(stated, lines=False)}$"
    alt = (attributes.get("alt") or "").strip()
    if not alt:
        return None
    is_formula = "math" in (attributes.get("class") or "").split() or _SURELY_TEX.search(alt) is not None
    if not is_formula and (_TEX.search(alt) or (alt[0] == "$" == alt[-1] and len(alt) > 2)):
        is_formula = bool(_MATH_IMAGE.search(attributes.get("class") or "") or _MATH_SERVICE.search(attributes.get("src") or ""))
    return f"${_strip_delimiters(alt, lines=False)}$" if is_formula else None


def has_script(node: Element) -> bool:
    """Whether the source of a formula that MathJax has drawn follows in a script."""
    around: Element | None = node
    for _ in range(3):
        if around is None:
            return False
        after = around.next
        while after is not None and (not after.is_element_node or after.tag == "span"):
            if after.is_text_node and (after.text_content or "").strip():
                break
            after = after.next
        if after is not None and is_math_script(after, after.tag or ""):
            return True
        around = around.parent
    return False


def is_math_script(node: Element, tag: str) -> bool:
    """Whether a `<script>` has the source of a formula (MathJax)."""
    return tag == "script" and (node.attributes.get("type") or "").startswith("math/tex")


def inline_math(node: Element, *, display: bool = False) -> str | None:
    """An inline formula; None if the element has none."""
    source = _source(node)
    if not source:
        return None
    attributes = node.attributes
    stated = f"{attributes.get('type') or ''} {attributes.get('data-math-style') or ''}"
    if "display" in stated or attributes.get("display") in {"block", "true"}:
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
    if stored := node.attributes.get("data-mathml"):
        return _stored_mathml(stored)
    inner = node if node.tag == "math" else node.css_first("math")
    if inner is not None and inner.css_first("mi,mn,mo") is not None:
        return mathml_to_tex(inner)
    drawn = node.css_first("mjx-math,[data-mml-node=math]") if inner is None else None
    if drawn is not None:
        return mathml_to_tex(drawn)
    shown = node if inner is None else inner
    raw = _raised_text(shown) if shown.css_first("sup,sub") is not None else shown.text() or ""
    return _strip_delimiters(raw, lines=lines)


def _raised_text(node: Element, depth: int = 0) -> str:
    """The text of a formula that is laid out with superscripts and subscripts (Pandoc), as TeX."""
    parts: list[str] = []
    for child in node.iter(include_text=True):
        if child.is_text_node:
            parts.append(child.text_content or "")
        elif depth < _MAX_DEPTH:
            inner = _raised_text(child, depth + 1)
            mark = {"sup": "^", "sub": "_"}.get(child.tag or "", "")
            parts.append(f"{mark}{_grouped(inner)}" if mark else inner)
    return "".join(parts)


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
    return next((value for name in _TEX_ATTRIBUTES if (value := attributes.get(name))), None)


def _stored_mathml(markup: str) -> str:
    """The TeX of MathML in an attribute."""
    try:
        document = HtmlDocument.parse(markup.encode(), "text/html; charset=utf-8")
    except PageTooComplex:
        return ""
    found = document.tree.css_first("math")
    return mathml_to_tex(found) if found is not None else ""


def equations(node: Element) -> list[str]:
    """The formulas of a table that only lays out numbered equations (LaTeXML)."""
    found = (_source(formula, lines=True) for formula in node.css("math"))
    return [f"$$\n{source}\n$$" for source in found if source]


def _strip_delimiters(raw: str, *, lines: bool) -> str:
    tex = raw.strip()
    for opening, closing in _DELIMITERS:
        if tex.startswith(opening) and tex.endswith(closing) and len(tex) >= len(opening) + len(closing):
            tex = tex[len(opening) : -len(closing)].strip()
            break
    if not lines:
        return collapsed(tex)
    return "\n".join(line.rstrip() for line in tex.split("\n") if line.strip())
