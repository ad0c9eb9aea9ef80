"""Reads the truth from Markdown as MkDocs (Material) and VitePress know it, as far as our sources use it."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.built.odd import ODD
from tests.support.built.truth import Code, ExpectedPage, Grid, as_code, body_of, dedented, indent_of, sentences

_FENCE = re.compile(r"([ >]*)(`{3,}|~{3,})\s*([^`]*)$")
_SNIPPET = re.compile(r'--8<-- "_odd/([^"]+)"$')
_IMPORT = re.compile(r"<<< \./_odd/([^{ ]+)\{(\w+)\}(?: \[(.+)\])?$")
_BOX = re.compile(r' *(?:!!!|\?\?\?\+?) ([\w-]+)(?: inline end)?(?: "(.*)")?$')
_CONTAINER = re.compile(r" *:{3,} *(info|tip|warning|danger|details)\b")
_ALERT = re.compile(r"> \[!(\w+)\]$")
_TAB = re.compile(r' *=== "(.+)"$')
_RULE = re.compile(r" *\|?(?: *:?-+:? *\|)+(?: *:?-+:?)? *$|^--- \| ---$")
_LABEL = re.compile(r"\[(.+)\]$")
_MARK = re.compile(r"// \[!code ([^\]]+)\]$")
_SIGNS = {"++": "+", "--": "-"}
_HEADING = re.compile(r"(#{1,6}) (.+?)(?: \{#[\w-]+\})?$")
_CLASS = re.compile(r"\{ *\.([\w+-]+)")


def read_mkdocs(file: Path) -> ExpectedPage:
    """The truth of a page of MkDocs: Python-Markdown makes spaces of tabs and empties lines of white space before all else."""
    truth = _read(file)
    truth.codes = [
        Code(language, as_code([line.expandtabs(4) if line.strip() else "" for line in text.splitlines()]))
        for language, text in truth.codes
    ]
    return truth


def read_vitepress(file: Path) -> ExpectedPage:
    """The truth of a page of VitePress: it drops empty lines at the end, and draws signs before lines marked as changed."""
    truth = _read(file)
    truth.codes = [_shown_by_vitepress(code) for code in truth.codes]
    return truth


def _read(file: Path) -> ExpectedPage:
    truth = ExpectedPage()
    lines = file.read_text("utf-8").split("\n")
    truth.sentences = sentences(lines)
    at = 0
    while at < len(lines):
        at = _block(lines, at, truth)
    return truth


def _shown_by_vitepress(code: Code) -> Code:
    lines = code.text.rstrip("\n").split("\n") if code.text.strip() else [""]
    if not any(_MARK.search(line) for line in lines):
        return Code(code.language, as_code(lines))
    marks = [found[1] if (found := _MARK.search(line)) else "" for line in lines]
    return Code("diff", as_code([_SIGNS.get(mark, " ") + _MARK.sub("", line) for line, mark in zip(lines, marks, strict=True)]))


def _block(lines: list[str], at: int, truth: ExpectedPage) -> int:
    """Read the block that begins at a line; where the next one begins."""
    line = lines[at]
    if fence := _FENCE.match(line):
        return _fenced(lines, at, fence, truth)
    if found := _IMPORT.match(line):
        truth.codes.append(Code(found[2], ODD[found[1]]))
        truth.tabs += [found[3]] if found[3] else []
    elif found := _BOX.match(line) or _CONTAINER.match(line) or _ALERT.match(line):
        truth.callouts.append(found[1].lower())
    elif found := _HEADING.match(line):
        truth.headings.append((len(found[1]), found[2].replace("`", "")))
    elif found := _TAB.match(line):
        truth.tabs.append(found[1].replace("*", ""))
    elif _RULE.match(line) and "|" in lines[at - 1]:
        return _table(lines, at, truth)
    elif _is_indented_code(lines, at):
        end = body_of(lines, at, 3 if indent_of(line) < 8 else 7)
        truth.codes.append(Code(None, as_code(dedented(lines[at:end]))))
        return end
    return at + 1


def _fenced(lines: list[str], at: int, fence: re.Match[str], truth: ExpectedPage) -> int:
    margin, marks, info = fence[1], fence[2], fence[3].strip()
    end = next(here for here in range(at + 1, len(lines)) if lines[here].strip("> ") == marks)
    code = [line[len(margin) :] for line in lines[at + 1 : end]]
    if (label := _LABEL.search(info)) is not None:
        truth.tabs.append(label[1])
    snippet = _SNIPPET.match(code[0]) if len(code) == 1 else None
    text = ODD[snippet[1]] if snippet else as_code(code)
    named = _CLASS.match(info)
    language = named[1] if named else re.split(r"[\s:{]", info)[0]
    truth.codes.append(Code(language or None, text))
    return end + 1


def _table(lines: list[str], rule: int, truth: ExpectedPage) -> int:
    """A table, found by the line under its headings."""
    end = next((here for here in range(rule, len(lines)) if "|" not in lines[here]), len(lines))
    cells = lines[rule].strip().strip("|").split("|")
    truth.grids.append(Grid(end - rule, len(cells)))
    return end


def _is_indented_code(lines: list[str], at: int) -> bool:
    """Code that only its indentation makes code: after an empty line, below text that is not a list, a box or a definition."""
    indent = indent_of(lines[at])
    if indent < 4 or not lines[at].strip() or (at and lines[at - 1].strip()):
        return False
    above = next((line for line in reversed(lines[:at]) if line.strip() and indent_of(line) < indent), "")
    if indent == 8:
        return bool(re.match(r"\d+\. {2}", above))
    return indent == 4 and not re.match(r"[-*:]|\d+\.|!!!|\?\?\?|===|\[\^", above)
