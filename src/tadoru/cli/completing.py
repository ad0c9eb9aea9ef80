"""What a shell may complete after an option or in the place of an argument, told by what the help calls its value: `FILE`, `DB`,
`DIR`, or the words that can stand there (`auto|only|off`)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_FILES, _FOLDERS = frozenset({"FILE", "DB"}), "DIR"


def values(metavar: str, incomplete: str) -> list[CompletionItem]:
    """What may stand where the help writes this."""
    from click.shell_completion import CompletionItem

    words = _words(metavar)
    if _FILES & set(words):
        return [CompletionItem(incomplete, type="file")]
    if _FOLDERS in words:
        return [CompletionItem(incomplete, type="dir")]
    return [CompletionItem(word) for word in metavar.split("|") if word.islower() and word.startswith(incomplete)]


def names_a_file(parameter: click.Parameter) -> bool:
    """Whether a parameter takes the name of a file or a folder, as far as its help says."""
    words = _words(parameter.metavar or "")
    return parameter.type is click.STRING and bool({*_FILES, _FOLDERS} & set(words))


class FileName(click.ParamType[str]):
    """Any text, that a shell completes as the name of a file or a folder."""

    name = "file"

    def __init__(self, metavar: str) -> None:
        self._metavar = metavar

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return values(self._metavar, incomplete)


def _words(metavar: str) -> list[str]:
    return re.findall(r"[A-Z]+", metavar)
