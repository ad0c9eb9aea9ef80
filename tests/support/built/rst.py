"""Reads the truth from reStructuredText, as far as our sources use it."""

from __future__ import annotations

import csv
import itertools
import re
from pathlib import Path

from tests.support.built.odd import ODD
from tests.support.built.truth import Code, ExpectedPage, Grid, as_code, body_of, dedented, indent_of, sentences

CALLOUTS = frozenset("note tip hint important warning caution danger attention error seealso todo admonition".split())
_DIRECTIVE = re.compile(r"( *)\.\. ([\w:-]+)::(?: +(.*))?$")
_OPTION = re.compile(r" *:([\w-]+):(?: +(.*))?$")
_CODES = frozenset({"code-block", "code", "sourcecode"})
_TESTS: dict[str, str | None] = {"doctest": "pycon", "testcode": "python", "testoutput": None}
_RULE = re.compile(r"=+(?: +=+)+ *$")
_MARK = re.compile(r"( *)(?:[*-]|#\.|\d+\.|[a-z]\.) +(?=\S)")


def read(file: Path) -> ExpectedPage:
    """The truth of a page."""
    # What docutils does first: tabs become spaces, and spaces at the ends of lines go.
    lines = [line.expandtabs(8).rstrip() for line in file.read_text("utf-8").split("\n")]
    truth = _Reader().page(list(lines))
    truth.sentences = sentences(lines)
    levels = {"=": 1, "-": 2}
    truth.headings = [
        (levels[rule[0]], title)
        for title, rule in itertools.pairwise(lines)
        if title and rule and rule[0] in levels and set(rule) == {rule[0]} and len(rule) == len(title) and title[0].isalnum()
    ]
    return truth


class _Reader:
    """One page under way."""

    def __init__(self) -> None:
        self.truth = ExpectedPage()
        self.language: str | None = None
        """What `highlight` set for the rest of the page."""

    def page(self, lines: list[str]) -> ExpectedPage:
        self._blocks(lines)
        return self.truth

    def _blocks(self, lines: list[str]) -> None:
        at = 0
        while at < len(lines):
            at = self._block(lines, at)

    def _block(self, lines: list[str], at: int) -> int:
        """Read the block that begins at a line; where the next one begins."""
        line = lines[at]
        if mark := _MARK.match(line):
            lines[at] = line = " " * mark.end() + line[mark.end() :]
        if found := _DIRECTIVE.match(line):
            end = body_of(lines, at + 1, len(found[1]))
            self._directive(found[2], found[3] or "", lines[at + 1 : end])
            return end
        if line.lstrip().startswith(">>> "):
            return self._session(lines, at)
        if line.lstrip().startswith("+-"):
            return self._grid(lines, at)
        if _RULE.match(line.lstrip()):
            return self._simple(lines, at)
        if line.endswith("::") and not line.lstrip().startswith(".. "):
            return self._literal(lines, at)
        return at + 1

    def _session(self, lines: list[str], at: int) -> int:
        end = next((here for here in range(at, len(lines)) if not lines[here]), len(lines))
        self.truth.codes.append(Code("pycon", as_code(dedented(lines[at:end]))))
        return end

    def _literal(self, lines: list[str], at: int) -> int:
        first = next(here for here in range(at + 1, len(lines)) if lines[here])
        indent = indent_of(lines[at])
        if indent_of(lines[first]) > indent:
            end = body_of(lines, first, indent)
        else:  # quoted: every line begins with the same sign
            end = next((here for here in range(first, len(lines)) if not lines[here].startswith(lines[first][0])), len(lines))
        self.truth.codes.append(Code(self.language, as_code(dedented(lines[first:end]))))
        return end

    def _directive(self, name: str, argument: str, body: list[str]) -> None:
        options: dict[str, str] = {}
        while body and (found := _OPTION.match(body[0])):
            options[found[1]] = found[2] or ""
            body = body[1:]
        truth = self.truth
        if name in _CODES:
            truth.codes.append(Code(argument or self.language, as_code(dedented(body))))
        elif name in _TESTS:
            truth.codes.append(Code(_TESTS[name], as_code(dedented(body))))
        elif name == "parsed-literal":
            truth.codes.append(Code(None, as_code(dedented(body))))
        elif name == "literalinclude":
            truth.codes.append(Code(options["language"], _included(argument, options)))
        elif name == "highlight":
            self.language = argument
        elif name == "list-table":
            self._listed(dedented(body))
        elif name == "csv-table":
            rows = [*csv.reader([options["header"]], skipinitialspace=True), *csv.reader(dedented(body), skipinitialspace=True)]
            truth.grids.append(Grid(len(rows), max(map(len, rows))))
        else:
            self._container(name, argument, options, body)

    def _container(self, name: str, argument: str, options: dict[str, str], body: list[str]) -> None:
        if name in CALLOUTS:
            self.truth.callouts.append(options.get("class", name) if name == "admonition" else name)
        elif name in {"tab-item", "tab"}:
            self.truth.tabs.append(argument)
        elif name == "tab-set-code":
            self.truth.tabs += [found[3].upper() for line in body if (found := _DIRECTIVE.match(line))]
        if name not in {"math", "toctree", "image", "automodule"}:
            self._blocks(dedented(body))

    def _listed(self, body: list[str]) -> None:
        rows = [line for line in body if line.startswith("* -")]
        columns = next(at for at in range(1, 99) if at >= len(body) or not body[at].startswith("  -"))
        self.truth.grids.append(Grid(len(rows), columns))

    def _grid(self, lines: list[str], at: int) -> int:
        """A table drawn with lines: every position where some line begins a cell is a row or a column."""
        end = next((here for here in range(at, len(lines)) if not lines[here]), len(lines))
        drawn = dedented(lines[at:end])
        edges = {here for line in drawn for here, sign in enumerate(line) if sign == "+"}
        rules = [here for here, line in enumerate(drawn) if "+-" in line or "+=" in line]
        self.truth.grids.append(Grid(len(rules) - 1, len(edges) - 1))
        return end

    def _simple(self, lines: list[str], at: int) -> int:
        """A table between rules of equals signs: two of them when it has no headings, else three."""
        end = next((here for here in range(at, len(lines)) if not lines[here]), len(lines))
        table = lines[at:end]
        rules = [here for here, line in enumerate(table) if _RULE.match(line.lstrip())]
        body = rules[-1] - rules[-2] - 1
        self.truth.grids.append(Grid(body + (len(rules) > 2), len(table[0].split())))
        return end


def _included(name: str, options: dict[str, str]) -> str:
    """The part of a file that is included."""
    lines = ODD[name.removeprefix("_odd/")].splitlines(keepends=True)
    if "lines" in options:
        first, _, last = options["lines"].partition("-")
        lines = lines[int(first) - 1 : int(last)]
    if "start-after" in options:
        lines = lines[1 + next(at for at, line in enumerate(lines) if options["start-after"] in line) :]
    if "end-before" in options:
        lines = lines[: next(at for at, line in enumerate(lines) if options["end-before"] in line)]
    return "".join(lines)
