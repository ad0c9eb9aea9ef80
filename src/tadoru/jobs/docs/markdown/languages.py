"""The language of a block of code: what the page says about it, in the classes and attributes of the many highlighters.

The name is the page's own; only names that mean "none" are left out, and names of versions or of sessions of one language are
written as most tools know them. A language is never guessed from the code.
"""

from __future__ import annotations

import re
from functools import lru_cache

from tadoru.parse.html import Element

_ANCESTORS = 4
_ATTRIBUTES = ("data-lang", "data-language", "data-code-language", "language", "syntax")
_CLASS = re.compile(
    r"(?:^|\s)(?:(?:language|lang|highlight-source|highlight-text|mw-highlight-lang|highlight|syntax|src)-|brush:\s*)([A-Za-z0-9+#_.-]+)"
)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9+#_.-]{0,29}$")

_NOT_LANGUAGES = frozenset(
    "default none plain nohighlight no-highlight notranslate highlight highlighter-rouge block wrapper "
    "container inline copy example box "
    "line lines undefined null unknown auto code snippet output txt-plain guess literal wrap title toolbar js-code".split()
)
_NAMES = {
    "python3": "python", "py3": "python", "ipython": "python", "ipython3": "python", "python2": "python", "pycon3": "pycon",
    "plaintext": "text", "txt": "text", "text-plain": "text", "html-basic": "html", "text-html-basic": "html", "c++": "cpp",
    "source-shell": "shell", "viml": "vim", "objc++": "objective-cpp", "js": "js", "golang": "go", "emacs-lisp": "elisp",
    "rust,ignore": "rust", "text-xml": "xml", "text-html": "html", "html+erb": "erb", "git-diff": "diff", "csharp": "csharp",
}  # fmt: skip
KNOWN = frozenset(
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
    """The language of a block, from itself, the code right below it and the elements around it; empty when none is told."""
    # A table of code has the numbers of its lines in the first `code`.
    codes = block.css("code") if block.tag == "table" else ()
    code = codes[-1] if codes else block.css_first("code")
    if code is not None and code.mem_id != block.mem_id and (found := _told(code, bare=True)):
        return found
    if found := _told(block, bare=True):
        return found
    around = block.parent
    for _ in range(_ANCESTORS):
        if around is None or around.tag in {"body", "html", "main", "article", "td", "li"}:
            break
        if found := _told(around, bare=False):
            return found
        around = around.parent
    return ""


def _told(element: Element, *, bare: bool) -> str:
    attributes = element.attributes
    if not attributes:
        return ""
    for name in _ATTRIBUTES:
        value = attributes.get(name)
        if value and (found := named(value)):
            return found
    classes = attributes.get("class")
    return _of_classes(classes[:500], bare) if classes else ""


@lru_cache(maxsize=2048)
def _of_classes(classes: str, bare: bool) -> str:
    for match in _CLASS.finditer(classes):
        if found := named(match.group(1)):
            return found
    words = classes.split()
    if "doctest" in words:  # Sphinx: a session of Python in the text, which has no language in its source
        return "pycon"
    if bare or "sourceCode" in words or "src" in words or "listing" in words:
        return next((named(word) for word in words if word.lower() in KNOWN), "")
    return ""


def named(word: str) -> str:
    """A language as it is written after a fence; empty for words that are none."""
    name = word.strip().lower().split(",")[0].removeprefix("source-").strip()
    if name in _NOT_LANGUAGES or not _NAME.match(name):
        return ""
    return _NAMES.get(name, name)
