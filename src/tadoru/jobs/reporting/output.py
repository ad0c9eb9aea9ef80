"""Where reports are written: stdout, a file that appears only when it is complete, or annotations of a GitHub workflow."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


def supports_colour(out: TextIO) -> bool:
    """Whether the output is a terminal and NO_COLOR is not set."""
    return out.isatty() and not os.environ.get("NO_COLOR")


@contextmanager
def open_output(name: str | None) -> Iterator[TextIO]:
    """stdout, or a file that appears only when it is complete."""
    if name is None:
        yield sys.stdout
        sys.stdout.flush()
        return
    path = Path(name).resolve()
    # Replacing a pipe or a device by a file would destroy it.
    is_special = path.exists() and not path.is_file()
    unfinished = path if is_special else path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with unfinished.open("w", encoding="utf-8", newline="") as out:
            yield out
        if not is_special:
            unfinished.replace(path)
    finally:
        if not is_special:
            unfinished.unlink(missing_ok=True)


MAX_ANNOTATIONS = 10
"""GitHub shows ten errors and ten warnings of a step and ignores the rest."""


def workflow_command(level: str, title: str, message: str) -> str:
    """A workflow command that GitHub turns into an annotation."""
    return f"::{level} title={_property(title)}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
