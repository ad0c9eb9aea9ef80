"""Log lines on stderr or in a file, as text or JSON. Never on stdout, and never with secrets."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from tadoru.clock import Clock, iso, to_datetime
from tadoru.errors import without_passwords

LEVELS = ("error", "warning", "info", "debug")


class LineSink(Protocol):
    """What log lines are written to."""

    def write(self, text: str, /) -> object: ...


class LogFile:
    """A file that is opened for each line, so that it can be rotated at any time."""

    def __init__(self, path: Path) -> None:
        """Raises OSError if it cannot be written."""
        self._path = path
        self.write("")

    def write(self, text: str, /) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(text)


class Log:
    """Writes log lines of a level and above to a stream."""

    def __init__(self, stream: LineSink, clock: Clock, *, form: str = "text", level: str = "warning") -> None:
        self._stream = stream
        self._clock = clock
        self.form, self.level = form, level
        self._rank = LEVELS.index(level)

    def is_enabled(self, level: str) -> bool:
        """Whether a line of this level is written."""
        return LEVELS.index(level) <= self._rank

    def write(self, level: str, what: str, **fields: Any) -> None:
        """Write an event with its fields."""
        if not self.is_enabled(level):
            return
        if self.form == "json":
            stamp = iso(to_datetime(self._clock.now()), "milliseconds")
            record = {"time": stamp, "level": level, "worker": os.getpid(), "event": what, **fields}
            self.line(json.dumps(record, ensure_ascii=False, default=str))
        else:
            tail = "".join(f" {name}={_shown(value)}" for name, value in fields.items())
            self.line(f"{printable(what)}{tail}" if level == "info" else f"{level}: {printable(what)}{tail}")

    def line(self, text: str) -> None:
        """Write a line unchanged. An error, such as a full disk or a closed terminal, is ignored: it must not stop a crawl."""
        with suppress(OSError):
            self._stream.write(f"{without_passwords(text)}\n")


def printable(text: str) -> str:
    """The text without control characters, which a terminal would interpret."""
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


def _shown(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else printable(str(value))
