"""Inputs of commands, checked before any request: seed files, database names, files to write; completion of file names."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from tadoru.errors import UsageError, reading_errors

if TYPE_CHECKING:
    from pathlib import Path

    from click.shell_completion import CompletionItem


MAX_LISTED_LINES = 10
"""Invalid lines of a seed file that are listed by number; of the others only the count is shown."""


def read_start_arguments(arguments: Sequence[str], seed_file: str | None, *, files: bool = False) -> tuple[tuple[str, ...], bool]:
    """The arguments of a command with the URLs of a seed file and, for `-`, of stdin; and whether they are a list of URLs.

    A seed file of one URL is a start URL like any other. With `files`, lines may name local files.
    """
    from_stdin = read_seed_urls("-" if "-" in (*arguments, seed_file) else None, files=files)
    from_file = read_seed_urls(seed_file if seed_file != "-" else None, files=files)
    given = tuple(dict.fromkeys((*(each for each in arguments if each != "-"), *from_stdin, *from_file)))
    return given, "-" in arguments or (seed_file is not None and len(given) > 1)


def read_seed_urls(name: str | None, *, files: bool = False) -> Iterator[str]:
    """The URLs of a seed file, one per line and each once; `-` is stdin. Raises UsageError with the numbers of invalid lines."""
    if name is None:
        return
    from tadoru.fetch.local_files import is_local_name  # Late: a command without a seed file does not need them.
    from tadoru.rules.url import parse_typed_url

    seen: set[str] = set()
    bad: list[tuple[int, UsageError]] = []
    for number, line in _seed_lines(name):
        try:
            url = line if files and is_local_name(line) else parse_typed_url(line)
        except UsageError as error:
            bad.append((number, error))
            continue
        if url not in seen:
            seen.add(url)
            if not bad:
                yield url
    if bad:
        raise _invalid_lines(name, bad)


def _seed_lines(name: str) -> Iterator[tuple[int, str]]:
    """The lines that are neither empty nor a comment, with their numbers."""
    from pathlib import Path  # Late: help and completion do not need it.

    with reading_errors(name), nullcontext(sys.stdin) if name == "-" else Path(name).open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            text = (line.removeprefix("\ufeff") if number == 1 else line).strip()
            if text and not text.startswith("#"):
                yield number, text


def _invalid_lines(name: str, bad: list[tuple[int, UsageError]]) -> UsageError:
    first, error = bad[0]
    if len(bad) == 1:
        return UsageError("Line {line} of the seed file {file} is not a URL: {error}", line=first, file=name, error=error)
    numbers = ", ".join(str(number) for number, _ in bad[:MAX_LISTED_LINES]) + (" …" if len(bad) > MAX_LISTED_LINES else "")
    return UsageError(
        "{count} lines of the seed file {file} are not URLs: {lines}. The first: {error}",
        count=len(bad), file=name, lines=numbers, error=error,
    )  # fmt: skip


def check_database_name(name: str, flag: str = "--database") -> None:
    """Raises UsageError for the URL of an unsupported kind of database: it would become a file of that name."""
    scheme, is_url, _ = name.partition("://")
    if is_url and not scheme.startswith("postgres"):
        raise UsageError(
            "{option} {scheme}://… is not supported. Give a file name or postgresql://user@host/name.", option=flag, scheme=scheme
        )


def check_writable(path: Path, flag: str) -> None:
    """Raises UsageError if the file cannot be written."""
    folder = path.parent
    if path.is_dir():
        raise UsageError("{option} {path} is a folder. Give a file name.", option=flag, path=path)
    if not folder.is_dir():
        raise UsageError("{option} {path} cannot be written: folder {folder} not found.", option=flag, path=path, folder=folder)
    if not _can_write(path):
        raise UsageError("{option} {path} cannot be written. Check its permissions.", option=flag, path=path)


def _can_write(path: Path) -> bool:
    if path.exists():
        return os.access(path, os.W_OK)
    import tempfile

    try:
        # Tried: the permissions of root allow everything, and still no file can be created in /proc.
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".tadoru-"):
            return True
    except OSError:
        return False


_FILES, _FOLDERS = frozenset({"FILE", "DB"}), "DIR"


def complete_value(metavar: str, incomplete: str) -> list[CompletionItem]:
    """The completions of a value that the help shows as this metavar: `FILE`, `DB`, `DIR`, or words (`auto|only|off`)."""
    from click.shell_completion import CompletionItem

    words = _metavar_words(metavar)
    if _FILES & set(words):
        return [CompletionItem(incomplete, type="file")]
    if _FOLDERS in words:
        return [CompletionItem(incomplete, type="dir")]
    return [CompletionItem(word) for word in metavar.split("|") if word.islower() and word.startswith(incomplete)]


def takes_file_name(parameter: click.Parameter) -> bool:
    """Whether a parameter takes the name of a file or a folder, by its metavar."""
    words = _metavar_words(parameter.metavar or "")
    return parameter.type is click.STRING and bool({*_FILES, _FOLDERS} & set(words))


class FileName(click.ParamType[str]):
    """A text that a shell completes as the name of a file or a folder."""

    name = "file"

    def __init__(self, metavar: str) -> None:
        self._metavar = metavar

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return complete_value(self._metavar, incomplete)


def _metavar_words(metavar: str) -> list[str]:
    return re.findall(r"[A-Z]+", metavar)
