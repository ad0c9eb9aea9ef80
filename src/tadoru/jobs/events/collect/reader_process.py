"""Runs the reader of a source in a separate process, which is killed if a document takes too long.

A large document is parsed there, because one call of a parser may block all threads of a process for half a second, and because
what it allocates is returned when the process ends. So is a document of any size for which expressions were entered: users enter
them, and strangers write the pages, so together they can keep a parser busy for hours (`div:has(~ div:has(~ div a))` on a page of
2,000 `div` elements: 24 s), in code that blocks the whole process and that no thread can interrupt.
"""

from __future__ import annotations

import contextlib
import pickle
import subprocess
import sys
import threading
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any

from tadoru.errors import TadoruError
from tadoru.jobs.events.collect.readers import BUILT_IN, SourceDocument
from tadoru.model.event import ParsedSource, SourceType
from tadoru.parse.decode import unzipped
from tadoru.signals import yield_cores

if TYPE_CHECKING:  # The process itself gets the settings of its reader only.
    from tadoru.jobs.events.collect.source_settings import SourceSettings

LARGE_DOCUMENT = 1024 * 1024
"""Bytes of a document from which a separate process is worth its start."""
MOST_UNZIPPED = 20 * 1024 * 1024
"""Bytes of a compressed document; no reader reads more."""
_COMMAND = (sys.executable, "-P", "-m", "tadoru.jobs.events.collect.reader_process")


class ReaderTimeout(TadoruError):
    """A document could not be parsed in time."""


class ReaderProcess:
    """Parses the documents of one source, one at a time. The process starts with the first document and ends with `close`."""

    def __init__(self, kind: SourceType, settings: SourceSettings, seconds: float) -> None:
        self._kind = kind
        self._settings = settings
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None

    def read(self, document: SourceDocument) -> ParsedSource:
        """Parse a document with the reader of the source. Raises ReaderTimeout."""
        # A file that is compressed itself, or twice by its server.
        document = replace(document, body=unzipped(document.body, MOST_UNZIPPED))
        if not self._needs_process(document):
            return self._settings.reader.read(document, self._settings.own)
        if self._process is None:
            self._process = subprocess.Popen(_COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603 - our own program
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        timer = threading.Timer(self._seconds, process.kill)
        timer.start()
        try:
            _write(process.stdin, (self._kind, self._settings.own, document))
            result = _read(process.stdout)
        except (OSError, EOFError):
            self.close()
            raise self._timeout(document) from None
        finally:
            timer.cancel()
        if len(document.body) >= LARGE_DOCUMENT:
            self.close()
        if isinstance(result, Exception):
            raise result
        reading: ParsedSource = result
        return reading

    def _needs_process(self, document: SourceDocument) -> bool:
        """Whether a document may block the others. A plugin runs where it was loaded."""
        is_large = len(document.body) >= LARGE_DOCUMENT and self._settings.reader is BUILT_IN[self._kind]
        return is_large or self._settings.has_typed_expressions

    def _timeout(self, document: SourceDocument) -> ReaderTimeout:
        values = {"seconds": f"{self._seconds:g}", "url": document.url}
        if not self._settings.has_typed_expressions:
            return ReaderTimeout("Parsing {url} took more than {seconds} seconds. Raise --timeout.", **values)
        return ReaderTimeout(
            "The selectors or expressions of this source took more than {seconds} seconds for {url}. "
            "Simplify them, or raise --timeout.",
            **values,
        )

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            with contextlib.suppress(OSError):  # Data that was not sent yet.
                process.communicate()


def _write(stream: IO[bytes], value: object) -> None:
    pickle.dump(value, stream, pickle.HIGHEST_PROTOCOL)
    stream.flush()


def _read(stream: IO[bytes]) -> Any:
    # Both ends are this program, and a document within the value is bytes.
    return pickle.load(stream)  # noqa: S301


def main() -> None:
    """Parse documents from standard input until it ends."""
    yield_cores()
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            kind, settings, document = _read(sys.stdin.buffer)
            try:
                result: ParsedSource | Exception = BUILT_IN[kind].read(document, settings)
            except Exception as error:  # The parent process reports bugs of a reader.
                result = error
            _write(sys.stdout.buffer, result)


if __name__ == "__main__":
    main()
