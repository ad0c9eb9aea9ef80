"""What a command is given, checked before anything is requested: seed files, and files that will be written."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tadoru.errors import UsageError


def read_seeds(name: str | None) -> Iterator[str]:
    """The URLs of a seed file, one a line; `-` is stdin. Raises UsageError."""
    if name is None:
        return
    try:
        text = sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"The seed file {name} can not be read (not UTF-8 text).") from None
    except OSError as error:
        raise UsageError(f"The seed file {name} can not be read ({error.strerror}).") from None
    for line in text.removeprefix("\ufeff").splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            yield line.strip()


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
