"""Converts code blocks: the exact text of a block in a fence that nothing in it can close, with its language.

Tabs, trailing spaces, empty lines and unusual spaces stay. What the page added is left out: line numbers, buttons, anchors, lines
that a theme hides. Most blocks are read at once; only those with more than highlighted text are walked through.

The language is read from the classes and attributes of the various highlighters. It is the page's own name, except that names for
"none" are dropped and names of versions or sessions are mapped to usual ones. A language is never guessed from the code.
"""

from __future__ import annotations

import re
from functools import lru_cache

from tadoru.jobs.docs.markdown import element_kinds, escape
from tadoru.jobs.docs.markdown.conversion import ConversionContext, classes_of
from tadoru.parse.html import Element, is_leaf

_MAX_ANCESTORS = 4
_ATTRIBUTES = ("data-lang", "data-language", "data-code-language", "language", "syntax")
_LANGUAGE_CLASS = re.compile(
    r"(?:^|\s)(?:(?:language|lang|highlight-source|highlight-text|mw-highlight-lang|highlight|syntax|src)-|brush:\s*)([A-Za-z0-9+#_.-]+)"
)
_LANGUAGE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9+#_.-]{0,29}$")

_NOT_LANGUAGES = frozenset(
    "default none plain nohighlight no-highlight notranslate highlight highlighter-rouge block wrapper "
    "container inline copy example box "
    "line lines undefined null unknown auto code snippet output txt-plain guess literal wrap title toolbar js-code".split()
)
_ALIASES = {
    "python3": "python", "py3": "python", "ipython": "python", "ipython3": "python", "python2": "python", "pycon3": "pycon",
    "plaintext": "text", "txt": "text", "text-plain": "text", "html-basic": "html", "text-html-basic": "html", "c++": "cpp",
    "source-shell": "shell", "viml": "vim", "objc++": "objective-cpp", "js": "js", "golang": "go", "emacs-lisp": "elisp",
    "rust,ignore": "rust", "text-xml": "xml", "text-html": "html", "html+erb": "erb", "git-diff": "diff", "csharp": "csharp",
}  # fmt: skip
KNOWN_LANGUAGES = frozenset(
    "ada asciidoc asm awk bash bat batch c clojure cmake coffeescript console cpp cs csharp css csv cuda "
    "cypher d dart diff docker dockerfile "
    "elixir elm erb erlang fish fortran fsharp gherkin glsl go gradle graphql groovy haskell hcl html "
    "http ini java javascript js json json5 jsonc jsx "
    "julia kotlin kt latex less lisp lua make makefile markdown md matlab mdx mermaid nginx nim nix objc "
    "objectivec ocaml pascal perl php plaintext "
    "powershell prolog properties proto protobuf ps1 pycon py python python3 r rb regex rs rst ruby rust "
    "sass scala scheme scss sh shell sol solidity sql "
    "svelte swift tcl terraform tex text toml ts tsx typescript txt v vb verilog vhdl vim vue wasm xml yaml yml zig zsh".split()
)


def language_of(block: Element) -> str:
    """The language of a block, from itself, its `<code>` element and its ancestors; empty if none is stated."""
    # A table of code has the line numbers in the first `code`.
    codes = block.css("code") if block.tag == "table" else ()
    code = codes[-1] if codes else None if is_leaf(block) else block.css_first("code")
    if code is not None and code.mem_id != block.mem_id and (found := _stated_language(code, bare=True)):
        return found
    if found := _stated_language(block, bare=True):
        return found
    around = block.parent
    for _ in range(_MAX_ANCESTORS):
        if around is None or around.tag in {"body", "html", "main", "article", "td", "li"}:
            break
        if found := _stated_language(around, bare=False):
            return found
        around = around.parent
    return ""


def _stated_language(element: Element, *, bare: bool) -> str:
    attributes = element.attributes
    if not attributes:
        return ""
    for name in _ATTRIBUTES:
        value = attributes.get(name)
        if value and (found := language_name(value)):
            return found
    classes = attributes.get("class")
    return _language_of_classes(classes[:500], bare) if classes else ""


@lru_cache(maxsize=2048)
def _language_of_classes(classes: str, bare: bool) -> str:
    for match in _LANGUAGE_CLASS.finditer(classes):
        if found := language_name(match.group(1)):
            return found
    words = classes.split()
    if "doctest" in words:  # Sphinx: a Python session in the text, which has no language in the source.
        return "pycon"
    if bare or "sourceCode" in words or "src" in words or "listing" in words:
        return next((language_name(word) for word in words if word.lower() in KNOWN_LANGUAGES), "")
    return ""


def language_name(word: str) -> str:
    """The name of a language as it is written after a fence; empty for other words."""
    name = word.strip().lower().split(",")[0].removeprefix("source-").strip()
    if name in _NOT_LANGUAGES or not _LANGUAGE_NAME.match(name):
        return ""
    return _ALIASES.get(name, name)


_NEEDS_WALK = re.compile(
    r"<(?!/?(?:span|code|pre|a|em|strong|b|i|var|samp|kbd|mark|u|font|small|ins|del|tt)[ >])"
    r'|<[^>]*(?: class="[^"]*(?:line|lno|gutter|boring|copy|ln\b|lnt|headerlink|anchor|conum|hidden|twoslash|blob)'
    r'| data-l| style="[^"]*user-select)'
)
_LINE_NUMBER_CLASSES = frozenset(
    "linenos lineno linenumber linenumbers line-number line-numbers ln lnt lnlinks gutter rouge-gutter "
    "hljs-ln-numbers line-numbers-rows "
    "listing_lines blob-num react-code-text-number boring hide linenodiv cl-number line-numbers-wrapper "
    "twoslash-popup-container twoslash-meta-line headerlink".split()
)
_SKIPPED = element_kinds.SKIPPED_TAGS | {"svg"}
_LINE_TAGS = frozenset({"div", "tr", "li", "p"})
_LINE_CLASSES = frozenset({"line", "token-line", "code-line", "ec-line", "view-line", "react-code-text"})
_FRAME_TAGS = frozenset({"table", "tbody", "thead", "tr", "ol", "ul"})
_CHANGED = re.compile(r'class="(?:line diff (?:add|remove)|[^"]*ec-line (?:ins|del|[^"]* (?:ins|del)))\b')
_EMPTY_LINE = re.compile("^\xa0+$", re.MULTILINE)
_INDENTED = re.compile("^ *\xa0[\xa0 ]*[^\xa0 \n]", re.MULTILINE)
_LONG_TICKS = re.compile("`{3,}")


def fence(code: str, language: str = "") -> str:
    """Code in a fence that is longer than any run of backticks in it."""
    ticks = 3
    if "```" in code:
        ticks = 1 + max(map(len, _LONG_TICKS.findall(code)))
    marks = "`" * ticks
    end = "" if code.endswith("\n") else "\n"
    return f"{marks}{language}\n{code}{end}{marks}"


def code_block(context: ConversionContext, node: Element) -> list[str]:
    """A code block with its file name before it; nothing if it is empty."""
    title = _file_name(node) if node.tag == "table" else ""
    code = code_text(node)
    if not code.strip():
        return []
    context.code_blocks += 1
    written = fence(changes, "diff") if (changes := _diff_text(node)) else fence(code, language_of(node))
    context.take(len(written))
    return [f"**{escape.text(title)}**", written] if title else [written]


def _diff_text(node: Element) -> str:
    """A block with lines that the page marks as added or removed, with `+` and `-`; empty for any other block."""
    if _CHANGED.search(node.inner_html or "") is None:
        return ""
    lines = []
    for line in node.css("span.line,.ec-line"):
        words = frozenset(classes_of(line).split())
        sign = "+" if words & {"add", "ins"} else "-" if words & {"remove", "del"} else " "
        lines.append(sign + code_text(line).rstrip("\n") + "\n")
    return "".join(lines)


def _file_name(table: Element) -> str:
    """The file name in the first row of a table of code, which is removed from it."""
    cell = table.css_first("th.filename")
    if cell is None:
        return ""
    title = escape.visible_text(cell.text() or "").strip()
    row = cell.parent if cell.parent is not None else cell
    row.decompose()
    return title


def code_text(node: Element) -> str:
    """The text of a block, line breaks as `\\n`."""
    node = _innermost(node)
    markup = node.inner_html or ""
    raw = _collect_text(node) if _NEEDS_WALK.search(markup) else node.text() or ""
    if raw[:1] == "\n" and 'class="boring"' in markup:
        # Lines that mdBook hides start on the line after the tag.
        raw = raw[1:]
    if "\xa0" in raw:
        raw = _EMPTY_LINE.sub("", raw)  # Doxygen has one in each empty line.
        if _INDENTED.search(raw):  # rustdoc indents with them, which compilers do not accept.
            raw = raw.replace("\xa0", " ")
    if "\r" in raw:
        raw = raw.replace("\r\n", "\n").replace("\r", "\n")
    return raw.replace("\x00", "") if "\x00" in raw else raw


def _innermost(node: Element) -> Element:
    """The inner block of a block that contains only another one and empty lines (gi-docgen)."""
    inner = node.css_first("pre pre") if node.tag == "pre" and not is_leaf(node) else None
    return inner if inner is not None and (inner.text() or "").strip() == (node.text() or "").strip() else node


class _CodeText:
    """Text that is collected line by line."""

    def __init__(self) -> None:
        self.pieces: list[str] = []

    def add(self, piece: str) -> None:
        if piece:
            self.pieces.append(piece)

    def new_line(self) -> None:
        if self.pieces and not self.pieces[-1].endswith("\n"):
            self.pieces.append("\n")


def _collect_text(top: Element) -> str:
    """The text of an element without decorations of the page, with a line break where the page shows one."""
    text = _CodeText()
    framed = top.tag != "pre"
    waiting: list[tuple[Element | None, str, bool]] = []
    node = top.first_child
    closing = ""
    while True:
        if node is None:
            if not waiting:
                return "".join(text.pieces)
            node, closing, framed = waiting.pop()
            if closing:
                _end_line(text, closing)
            continue
        following = node.next
        if node.is_text_node:
            piece = node.text_content or ""
            if not (framed and piece.isspace()):
                text.add(piece)
        elif node.tag == "br":
            text.add("\n")
        elif node.tag == "img":
            text.add(_callout_number(node))
        elif node.is_element_node and not _is_decoration(node):
            tag = node.tag or ""
            line = _line_kind(node, tag)
            if line:
                text.new_line()
                line = f"{line} {len(text.pieces)}"
            waiting.append((following, line, framed))
            framed = tag in _FRAME_TAGS or (framed and tag not in {"pre", "code", "span", "td"} and not line)
            node = node.first_child
            continue
        node = following


def _callout_number(image: Element) -> str:
    """The number of an explanation that the page shows as an image (DocBook); empty for other images."""
    number = (image.attributes.get("alt") or "").strip("() ")
    return f"({number})" if number.isdecimal() else ""


def _line_kind(node: Element, tag: str) -> str:
    """`block` for an element that is displayed as a line, `line` for one that is a line by its class, else empty."""
    if tag in _LINE_TAGS:
        return "block"
    if tag == "span":
        attributes = node.attributes
        if "data-line" in attributes or not _LINE_CLASSES.isdisjoint((attributes.get("class") or "").split()):
            return "line"
    return ""


def _end_line(text: _CodeText, line: str) -> None:
    """End a line: a block ends with a line break, also an empty one."""
    kind, _, begun = line.partition(" ")
    if kind == "block" and (len(text.pieces) == int(begun) or not text.pieces[-1].endswith("\n")):
        text.add("\n")


def _is_decoration(node: Element) -> bool:
    """Whether an element is a decoration of the code: a line number, a button, a popup."""
    if node.tag in _SKIPPED:
        return True
    attributes = node.attributes
    if not attributes:
        return False
    words = (attributes.get("class") or "").split()
    if not _LINE_NUMBER_CLASSES.isdisjoint(words) or element_kinds.element_kind(node.tag or "", " ".join(words)) in {
        element_kinds.DROP,
        element_kinds.TITLE,
        element_kinds.PERMALINK,
    }:
        return True
    if "user-select" in (attributes.get("style") or "") and (node.text() or "").strip().isdigit():
        return True
    return node.tag == "td" and ("data-line-number" in attributes or "lntd" in words) and _is_numbers(node)


def _is_numbers(cell: Element) -> bool:
    return all(word.isdigit() for word in (cell.text() or "").split())
