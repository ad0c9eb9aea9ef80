"""Where a report is written to."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


def in_colour(out: TextIO) -> bool:
    """Whether whoever reads this sees colours, and wants to."""
    return out.isatty() and not os.environ.get("NO_COLOR")


@contextmanager
def opened_output(name: str | None) -> Iterator[TextIO]:
    """stdout, or a file that appears whole or not at all."""
    if name is None:
        yield sys.stdout
        sys.stdout.flush()
        return
    path = Path(name).resolve()
    # A pipe or a device is written to; putting a file in its place would destroy it.
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
