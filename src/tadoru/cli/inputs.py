"""What a command is given, checked before anything is requested: seed files, and files that will be written."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tadoru.errors import UsageError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


MAX_LISTED_LINES = 10
"""Lines that can not be read as URLs and are named; of the others it is told how many they are."""


def read_seed_urls(name: str | None) -> Iterator[str]:
    """The URLs of a seed file, one a line and each once; `-` is stdin. Raises UsageError, with the numbers of bad lines."""
    if name is None:
        return
    from tadoru.rules.url import parse_typed_url  # Late: a command without a seed file has no use for it.

    seen: set[str] = set()
    bad: list[tuple[int, UsageError]] = []
    for number, line in _seed_lines(name):
        try:
            url = parse_typed_url(line)
        except UsageError as error:
            bad.append((number, error))
            continue
        if url not in seen:
            seen.add(url)
            if not bad:
                yield url
    if bad:
        raise UsageError(_bad_lines(name, bad))


def _seed_lines(name: str) -> Iterator[tuple[int, str]]:
    """The lines that say something, with their numbers."""
    try:
        with nullcontext(sys.stdin) if name == "-" else Path(name).open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                text = (line.removeprefix("\ufeff") if number == 1 else line).strip()
                if text and not text.startswith("#"):
                    yield number, text
    except UnicodeDecodeError:
        raise UsageError(f"The seed file {name} can not be read (not UTF-8 text): save it as UTF-8.") from None
    except OSError as error:
        raise UsageError(f"The seed file {name} can not be read ({error.strerror}): check its name.") from None


def _bad_lines(name: str, bad: list[tuple[int, UsageError]]) -> str:
    first, error = bad[0]
    if len(bad) == 1:
        return f"Line {first} of the seed file {name} is no URL: {error}"
    numbers = ", ".join(str(number) for number, _ in bad[:MAX_LISTED_LINES])
    more = f" and {len(bad) - MAX_LISTED_LINES} more" if len(bad) > MAX_LISTED_LINES else ""
    return f"{len(bad)} lines of the seed file {name} are no URLs: {numbers}{more}. The first: {error}"


def check_database_name(name: str, flag: str = "--database") -> None:
    """Raises UsageError for the address of a kind of database that we do not know: it would become a file with an odd name."""
    scheme, is_address, _ = name.partition("://")
    if is_address and not scheme.startswith("postgres"):
        raise UsageError(f"{flag} {scheme}://… can not be used: give the name of a file, or postgresql://user@host/name.")


def check_writable(path: Path, flag: str) -> None:
    """Raises UsageError when the file could not be written."""
    folder = path.parent
    if path.is_dir():
        raise UsageError(f"{flag} {path} is a folder: give the name of a file.")
    if not folder.is_dir():
        raise UsageError(f"{flag} {path} can not be written: there is no folder {folder}.")
    if not _can_write(path):
        raise UsageError(f"{flag} {path} can not be written: check its permissions.")


def _can_write(path: Path) -> bool:
    if path.exists():
        return os.access(path, os.W_OK)
    try:
        # Tried, not asked: root may do everything, and still make no file in /proc.
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".tadoru-"):
            return True
    except OSError:
        return False


_FILES, _FOLDERS = frozenset({"FILE", "DB"}), "DIR"


def complete_value(metavar: str, incomplete: str) -> list[CompletionItem]:
    """What may stand where the help writes this."""
    from click.shell_completion import CompletionItem

    words = _metavar_words(metavar)
    if _FILES & set(words):
        return [CompletionItem(incomplete, type="file")]
    if _FOLDERS in words:
        return [CompletionItem(incomplete, type="dir")]
    return [CompletionItem(word) for word in metavar.split("|") if word.islower() and word.startswith(incomplete)]


def takes_file_name(parameter: click.Parameter) -> bool:
    """Whether a parameter takes the name of a file or a folder, as far as its help says."""
    words = _metavar_words(parameter.metavar or "")
    return parameter.type is click.STRING and bool({*_FILES, _FOLDERS} & set(words))


class FileName(click.ParamType[str]):
    """Any text, that a shell completes as the name of a file or a folder."""

    name = "file"

    def __init__(self, metavar: str) -> None:
        self._metavar = metavar

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return complete_value(self._metavar, incomplete)


def _metavar_words(metavar: str) -> list[str]:
    return re.findall(r"[A-Z]+", metavar)
