"""What the documents show: the commands of their examples, the options they name in passing, and their configuration.

Read from the text as a person would read it, so that an example counts wherever it stands: after a prompt, in a script, in a line
of cron, in the file of a build.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import yaml

from tadoru.cli.docs import SUBCOMMANDS, docs
from tadoru.cli.main import tadoru
from tadoru.errors import UsageError

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "bench/*.md", "examples/**/*.md", "deploy/*.md")
    for path in ROOT.glob(pattern)
    if path.name != "CHANGELOG.md"  # It tells of options that were.
)
_FENCED = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"^    (tadoru .*)$", re.MULTILINE)
_INLINE = re.compile(r"`((?:\./)?tadoru [^`\n]+)`")
_BEFORE = frozenset({"|", "||", "&", "&&", ";", "("})
"""After these a command begins."""
_BREAKS = _BEFORE | {")", ">", ">>", "<"}
"""At these it ends."""


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """A piece of a document, and where it stands."""

    document: str
    line: int
    text: str
    language: str = ""

    def __str__(self) -> str:
        return f"{self.document}:{self.line} {' '.join(self.text.split())[:60]}"


def blocks(name: str, text: str) -> Iterator[DocumentPart]:
    """What stands between fences, with the language that is named."""
    for match in _FENCED.finditer(text):
        yield DocumentPart(name, text[: match.start(3)].count("\n") + 1, match[3], match[2])


def lines_of(block: DocumentPart) -> Iterator[DocumentPart]:
    """The lines of a block in which a person would type or run something, those that go on with a backslash put together."""
    number, waiting = block.line, ""
    for offset, line in enumerate(block.text.splitlines()):
        prompt = re.match(r" *[$#] (?=.)", line) if block.language == "console" else None
        if waiting or prompt or block.language not in ("console", "text", ""):
            number = number if waiting else block.line + offset
            waiting += line[prompt.end() if prompt else 0 :]
        if waiting.endswith("\\"):
            waiting = waiting[:-1] + " "
        elif waiting:
            yield DocumentPart(block.document, number, waiting, block.language)
            waiting = ""


def commands(name: str, text: str) -> Iterator[tuple[DocumentPart, list[str]]]:
    """Every `tadoru …` of the examples, as the words behind its name."""
    for block in blocks(name, text):
        for place in lines_of(block):
            yield from ((place, words) for words in words_of(place.text))
    rest = _FENCED.sub(lambda match: re.sub(r"[^\n]", "", match[0]), text)
    for match in _INDENTED.finditer(rest):
        place = DocumentPart(name, rest[: match.start()].count("\n") + 1, match[1])
        yield from ((place, words) for words in words_of(place.text))


def words_of(line: str) -> Iterator[list[str]]:
    """The arguments of each `tadoru` in a line of shell."""
    if not re.search(r"\btadoru\b", line):
        return
    line = re.sub(r"(^|\s)#\s.*$|\s2>+ ?\S+", "", line)  # Without remarks, and wherever errors go.
    lexer = shlex.shlex(line, posix=True, punctuation_chars="();<>|&")
    lexer.whitespace_split = True
    lexer.commenters = ""
    words = list(lexer)
    for at, word in enumerate(words):
        begins = at == 0 or words[at - 1] in _BEFORE or re.search(r"^(run:|exec|service|-|\*)$|^\w+=", words[at - 1])
        if re.search(r"(^|/|=)tadoru$", word) and begins:
            end = next((after for after in range(at + 1, len(words)) if words[after] in _BREAKS), len(words))
            yield words[at + 1 : end]


def mentions(name: str, text: str) -> Iterator[tuple[DocumentPart, list[str]]]:
    """Every `tadoru …` within a sentence: it may leave things out, but what it names has to be there."""
    rest = _FENCED.sub(lambda match: re.sub(r"[^\n]", "", match[0]), text)
    for match in _INLINE.finditer(rest):
        yield DocumentPart(name, rest[: match.start()].count("\n") + 1, match[1]), match[1].replace("'", "").split()[1:]


def parse(words: list[str]) -> click.Context:
    """Let the real commands read their arguments, down to the last one, and call none of them."""
    context = tadoru.make_context("tadoru", list(words))
    while isinstance(context.command, click.Group):
        left = [*context._protected_args, *context.args]
        if not left:
            break
        name, command, left = context.command.resolve_command(context, left)
        assert command is not None
        context = command.make_context(name, left, parent=context)
    return context


def unknown_of(words: list[str]) -> list[str]:
    """Which words of a mention are no command, or no option of the command before them."""
    command: click.Command = tadoru
    options = _flags(command)
    lost = []
    for word in words:
        if word.startswith("-") and word.strip("-"):
            lost += [word] if word.partition("=")[0] not in options else []
        elif isinstance(command, click.Group) and re.fullmatch(r"[a-z-]+", word):
            try:
                found = command.get_command(click.Context(command), word)
            except UsageError:
                found = None
            if found is None:
                return [word]
            command = found
            options |= _flags(command)
        elif command is docs and word in SUBCOMMANDS:
            command = SUBCOMMANDS[word]
            options |= _flags(command)
    return lost


def _flags(command: click.Command) -> set[str]:
    found = [name for one in command.params for name in (*one.opts, *one.secondary_opts)]
    return {*found, "-h", "--help"}


def loaded(block: DocumentPart) -> Any:
    """A block of YAML or TOML as values."""
    if block.language == "toml":
        import tomllib

        return tomllib.loads(block.text)
    return yaml.safe_load(block.text)
