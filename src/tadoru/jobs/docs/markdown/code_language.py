"""Reads the language of a code block from its markup, its label or its file name, and guesses it where the code leaves no doubt.

The language is the page's own name, except that names for "none" are dropped and names of versions or sessions are mapped to
usual ones.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from functools import lru_cache

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

_FRAMES_WITH_LANGUAGE = frozenset({"sourceCode", "src", "listing", "highlight", "codehilite"})
"""Classes of frames that have the bare name of a language beside them."""


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
    if any(word in {"RktBlk", "SCodeFlow"} for word in words):
        return "racket"
    if bare or not _FRAMES_WITH_LANGUAGE.isdisjoint(words):
        return next((language_name(word) for word in words if word.lower() in KNOWN_LANGUAGES), "")
    return ""


def language_name(word: str) -> str:
    """The name of a language as it is written after a fence; empty for other words."""
    name = word.strip().lower().split(",")[0].removeprefix("source-").strip()
    if name in _NOT_LANGUAGES or not _LANGUAGE_NAME.match(name):
        return ""
    return "diff" if name.startswith("diff-") else _ALIASES.get(name, name)


_FILE_NAME = re.compile(r"(?:[\w.@~\[\]()-]+/)*+[\w.@\[\]()-]*\.([A-Za-z0-9+]{1,12})")
_FILE_LANGUAGES = {
    "bash": "bash", "bat": "bat", "c": "c", "cc": "cpp", "clj": "clojure", "cmake": "cmake", "cpp": "cpp", "cs": "csharp",
    "css": "css", "cxx": "cpp", "dart": "dart", "diff": "diff", "erb": "erb", "ex": "elixir", "exs": "elixir", "fs": "fsharp",
    "go": "go", "gradle": "gradle", "graphql": "graphql", "groovy": "groovy", "hcl": "hcl", "hpp": "cpp", "hs": "haskell",
    "html": "html", "ini": "ini", "java": "java", "js": "js", "json": "json", "json5": "json5", "jsonc": "jsonc", "jsx": "jsx",
    "kt": "kotlin", "kts": "kotlin", "less": "less", "lua": "lua", "md": "md", "mdx": "mdx", "mjs": "js", "cjs": "js",
    "ml": "ocaml", "nix": "nix", "patch": "diff", "php": "php", "pl": "perl", "proto": "proto", "ps1": "powershell",
    "py": "python", "pyi": "python", "rb": "ruby", "rkt": "racket", "rs": "rust", "rst": "rst", "sass": "sass", "scala": "scala",
    "scss": "scss", "sh": "sh", "sql": "sql", "svelte": "svelte", "swift": "swift", "tex": "latex", "tf": "hcl", "toml": "toml",
    "ts": "ts", "tsx": "tsx", "vim": "vim", "vue": "vue", "xml": "xml", "yaml": "yaml", "yml": "yaml", "zig": "zig",
}  # fmt: skip
_FILES = {"dockerfile": "dockerfile", "makefile": "makefile", "gemfile": "ruby", "rakefile": "ruby", "cmakelists.txt": "cmake"}


def is_language(label: str) -> bool:
    """Whether a label is the name of a language and nothing else."""
    return label.strip(" :").lower() in KNOWN_LANGUAGES


def language_of_label(label: str) -> str:
    """The language that a label names or that its file name implies; empty if there is none."""
    name = label.strip(" :`")
    if not name or " " in name:
        return ""
    if is_language(name):
        return language_name(name)
    if (found := _FILES.get(name.rpartition("/")[2].lower())) is not None:
        return found
    match = _FILE_NAME.fullmatch(name)
    return _FILE_LANGUAGES.get(match[1].lower(), "") if match else ""


_SPHINX_DEFAULT = frozenset({"highlight-default"})
"""The default language of a Sphinx site, which is Python unless the code is not."""
_NO_LANGUAGE = frozenset("highlight-none nohighlight no-highlight language-none lang-none language-plain lang-plain".split())
"""Classes by which a page states that a block has no language."""
_MAX_GUESSED = 20_000
"""Characters; a longer block is not parsed to guess its language."""
_HTTP = re.compile(r"(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) \S+ HTTP/\d|HTTP/\d(?:\.\d)? \d{3}\b")
_SQL = re.compile(
    r"SELECT\s[^;]{1,400}\sFROM\s|INSERT INTO\s|DELETE FROM\s|UPDATE \S+ SET\s|"
    r"(?:CREATE(?: OR REPLACE| UNIQUE| TEMPORARY| TEMP)?|ALTER|DROP) (?:TABLE|INDEX|VIEW|DATABASE|FUNCTION|TRIGGER|SEQUENCE)\s"
)
_BEGINNINGS = {
    ">": ((re.compile(r">>> "), "pycon"),),
    "$": ((re.compile(r"\$ (?![^\n$]{0,200}\$\n?$)[A-Za-z./~_]"), "console"),),
    "P": ((re.compile(r"PS(?: [A-Za-z]:[^\n>]{0,80})?> "), "powershell"), (_HTTP, "http")),
    "i": ((re.compile(r"irb(?:\([^)\n]{0,40}\))?(?::\d{1,5}){0,2}> "), "irb"), (re.compile(r"iex(?:\(\d+\))?> "), "iex")),
    "j": ((re.compile(r"julia> "), "jlcon"),),
    "<": (
        (re.compile(r"<\?php\b"), "php"),
        (re.compile(r"<\?xml "), "xml"),
        (re.compile(r"<!doctype html", re.IGNORECASE), "html"),
    ),
    "d": ((re.compile(r"diff --git "), "diff"),),
    "-": ((re.compile(r"--- [^\n]{0,500}\n\+\+\+ [^\n]{0,500}\n@@ "), "diff"), (re.compile(r"-module\(\w+\)\.\n"), "erlang")),
    "a": ((re.compile(r"apiVersion: \S+\nkind: "), "yaml"),),
    "p": ((re.compile(r"package \w+\n\s*(?:import|func|type|var|const|//)\b"), "go"),),
    "#": ((re.compile(r"#include <(?:algorithm|iostream|fstream|map|memory|string|utility|vector)>"), "cpp"),),
    "D": ((_HTTP, "http"), (_SQL, "sql")),
    **dict.fromkeys("GHO", ((_HTTP, "http"),)),
    **dict.fromkeys("SCIAU", ((_SQL, "sql"),)),
}
"""Beginnings that only one language has, by their first sign."""
_PROMPT = re.compile(r"[\w.-]{1,40}@[\w.-]{1,40}[: ][^\s$#]{0,80}[$#] [A-Za-z./~_]")
"""A prompt with user and host."""
_COMMAND = re.compile(
    r"(?:sudo |npx |pnpm |npm (?:install|i|ci|run|init|create|start|test)\b|yarn (?:add|install|create)\b|pip3? install "
    r"|git (?:clone|add|commit|checkout|push|pull|init|fetch|switch) |docker (?:run|build|pull|compose|exec) |brew install "
    r"|apt(?:-get)? (?:install|update)|cargo (?:add|build|install|new|run)\b|go (?:get|install|mod) |kubectl |helm |gem install "
    r"|composer require )"
)
"""Command lines of a shell: a block of nothing else is one."""
_CONTINUED = re.compile(r"\\\n[^\n]*")
_SHEBANG = re.compile(r"#!\s*\S*/(?:env\s+(?:-S\s+)?)?(bash|sh|zsh|fish|python|perl|ruby|node|php|lua|awk)[\d.]*\b")
_INTERPRETERS = {"node": "js"}
_MARKUP = re.compile(r"<([A-Za-z][\w:.-]*)(?:\s[^<>]*)?/?>")
_TAGS = re.compile(r"</?([A-Za-z][\w:.-]*)")
_TEMPLATE = re.compile(r"\{[{%]|[{}]|<%|\s[:@#*(\[]\w|\sv-\w|\$\{")
_TEMPLATE_SIGN = re.compile(r"\{[{%]|<%")
_HTML_TAGS = frozenset(
    "a abbr address article aside audio b blockquote body br button canvas caption code col datalist dd del details dfn dialog "
    "div dl dt em fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hr html i iframe img input ins kbd label "
    "legend li link main map mark meta meter nav noscript ol optgroup option p picture pre progress q s samp script section "
    "select small source span strong style sub summary sup table tbody td template textarea tfoot th thead time title tr u ul "
    "video".split()
)


def guess_language(code: str, block: Element) -> str:
    """The language of a block that states none, if its first line or its syntax leaves no doubt; else empty."""
    start = code.lstrip("\n\r \t")
    if len(code) > _MAX_GUESSED or len(start) < 3 or _has_class_around(block, _NO_LANGUAGE):
        return ""
    for beginning, language in _BEGINNINGS.get(start[0], ()):
        if beginning.match(start):
            is_sure = _SURE[language](start) if language in _SURE else True
            return language if is_sure else ""
    if "@" in start[:41] and _PROMPT.match(start):
        return "console"
    if start.startswith("#!"):
        found = _SHEBANG.match(start)
        return _INTERPRETERS.get(found[1], found[1]) if found else ""
    if start[0] in "{[":
        return "json" if _is_json(start) else ""
    if start[0] == "<":
        return _markup_language(start)
    if _COMMAND.match(start):
        lines = _CONTINUED.sub("", start).split("\n")
        return "sh" if all(_COMMAND.match(line) or not line.strip() or line.startswith("# ") for line in lines) else ""
    return "python" if _is_python(code, is_default=_has_class_around(block, _SPHINX_DEFAULT)) else ""


def _is_json(code: str) -> bool:
    """Whether code is an object with names or a list of such objects; shorter values are written alike in many languages."""
    try:
        value = json.loads(code)
    except (ValueError, RecursionError):
        return False
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict) and bool(first)


def _markup_language(code: str) -> str:
    """`html` for markup of HTML elements only, `xml` for markup of others; empty for templates and components."""
    if _MARKUP.match(code) is None or not code.rstrip().endswith(">") or _TEMPLATE.search(code):
        return ""
    names = {name.lower() if name.lower() in _HTML_TAGS else name for name in _TAGS.findall(code)}
    if names <= _HTML_TAGS:
        return "html" if "</" in code or "/>" in code or "=" in code else ""  # `<Figure with 1 axis>` is an object.
    return "xml" if "xmlns" in code[:1_000] and not names & _HTML_TAGS else ""


def _has_class_around(block: Element, names: frozenset[str]) -> bool:
    """Whether a block, its `<code>` element or one of the two elements around it has one of these classes."""
    around: Element | None = block
    for _ in range(3):
        if around is None:
            return False
        if not names.isdisjoint((around.attributes.get("class") or "").split()):
            return True
        around = around.parent
    inner = block.first_child
    return inner is not None and inner.tag == "code" and not names.isdisjoint((inner.attributes.get("class") or "").split())


def _is_session(code: str) -> bool:
    """Whether a session after `>>>` is one of Python: Haskell has the same prompt, but calls functions without brackets."""
    entered = _ENTERED.findall(_ESCAPED.sub("x", code))
    source = "\n".join(line[4:].rstrip() for line in entered)
    return any(map(_PYTHON_CALL.search, entered)) and _parsed(source) is not None


_ENTERED = re.compile(r"^(?:>>> |\.\.\. ?)[^\n]*", re.MULTILINE)
_ESCAPED = re.compile(r"\\[^\n]")
_PYTHON_CALL = re.compile(r"\w[(\[]|>>> (?:import|from) [a-z_]|>>> \w+ \+?= \S*\.")
_NUMBER = re.compile(r"(?<![\w.])\d[\w.]*+")
_JOINED_WORD = re.compile("and|else|for|i[fns]|not|or")
_SURE: dict[str, Callable[[str], bool]] = {
    "pycon": _is_session,
    "html": lambda code: _TEMPLATE_SIGN.search(code) is None,
    "sql": lambda code: (
        not any(sign in code for sign in ("[", "...", " | "))
    ),  # Not the grammar of a statement, nor a table of results.
}
"""What else has to be true of code that begins so."""


def _parsed(code: str) -> ast.Module | None:
    """The syntax of Python code; None if it is something else."""
    if any(map(_JOINED_WORD.search, _NUMBER.findall(code))):
        return None  # Python prints a warning for `3in`.
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_python(code: str, *, is_default: bool) -> bool:
    """Whether code is Python: it parses, and has statements that no other language has."""
    if "\\" in code or not ("def " in code or "import " in code or "class " in code or (is_default and "(" in code)):
        return False
    module = _parsed(code)
    if module is None:
        return False
    if any(
        isinstance(statement, (ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) for statement in module.body
    ):
        return True
    return is_default and any(map(_is_statement_of_python, module.body))


def _is_statement_of_python(statement: ast.stmt) -> bool:
    if isinstance(statement, (ast.Import, ast.For, ast.With)):
        return True
    return isinstance(statement, (ast.Expr, ast.Assign)) and isinstance(statement.value, ast.Call)
