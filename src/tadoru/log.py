"""Lines on stderr while a command works: for people, or as JSON for machines. Never on stdout, never with secrets."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import Any, TextIO

from tadoru.clock import Clock, iso, to_datetime
from tadoru.errors import without_passwords

LEVELS = ("error", "warning", "info", "debug")


class Log:
    """A stream, a form and a level."""

    def __init__(self, stream: TextIO, clock: Clock, *, form: str = "text", level: str = "warning") -> None:
        self._stream = stream
        self._clock = clock
        self.form, self.level = form, level
        self._rank = LEVELS.index(level)

    def hears(self, level: str) -> bool:
        """Is a line of this level written? For who would have to gather what it says."""
        return LEVELS.index(level) <= self._rank

    def write(self, level: str, what: str, **fields: Any) -> None:
        """One line: what happened, and its particulars."""
        if not self.hears(level):
            return
        if self.form == "json":
            stamp = iso(to_datetime(self._clock.now()), "milliseconds")
            record = {"time": stamp, "level": level, "worker": os.getpid(), "event": what, **fields}
            self.line(json.dumps(record, ensure_ascii=False, default=str))
        else:
            tail = "".join(f" {name}={_shown(value)}" for name, value in fields.items())
            self.line(f"{printable(what)}{tail}" if level == "info" else f"{level}: {printable(what)}{tail}")

    def line(self, text: str) -> None:
        """A line as it is. That it can not be written, because a disk is full or a terminal gone, stops no crawl."""
        with suppress(OSError):
            self._stream.write(f"{without_passwords(text)}\n")


def printable(text: str) -> str:
    """Crawled text must not steer a terminal."""
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


def _shown(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else printable(str(value))
