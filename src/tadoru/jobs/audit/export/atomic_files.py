"""The files of an export: they appear together when all are complete, or not at all.

They are written under temporary names beside their own and renamed at the end, so that nobody reads an incomplete file, and
existing files stay if something fails.
"""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self, TextIO, cast

from tadoru.errors import UsageError

_BUFFER = 1 << 20


class AtomicFiles:
    """The files of an export, as a context manager: they appear when it ends without an error."""

    def __init__(self, protected: Path | None = None) -> None:
        self._protected = protected and protected.resolve()
        """The database, which must not be overwritten."""
        self._files: dict[Path, Path] = {}
        """The final path of each file → its temporary path."""
        self._folder: Path | None = None

    def make_folder(self, folder: Path) -> None:
        """Creates the folder of the files unless it exists. It is removed again if the export fails."""
        if not folder.is_dir():
            folder.mkdir()
            self._folder = folder

    @contextmanager
    def binary(self, path: Path, *, compressed: bool = False) -> Iterator[BinaryIO]:
        """A file for bytes; a pipe or a device is written to directly."""
        with self._reserved(path).open("wb", buffering=_BUFFER) as out:
            if compressed:
                with gzip_stream(out) as inner:
                    yield inner
            else:
                yield out

    @contextmanager
    def text(self, path: Path, *, compressed: bool = False) -> Iterator[TextIO]:
        """A file for UTF-8 text; line ends stay as they are."""
        with self.binary(path, compressed=compressed) as out, text_stream(out) as text:
            yield text

    def rename(self, path: Path, final: Path) -> None:
        """Changes the final path of a file."""
        self._files[final] = self._files.pop(path)

    def _reserved(self, path: Path) -> Path:
        path = path.resolve()
        if path == self._protected:
            raise UsageError("{name} is the database of the crawl. Choose another name for -o.", name=path.name)
        # Replacing a pipe or a device by a file would destroy it.
        if path.exists() and not path.is_file():
            return path
        self._files[path] = path.with_name(f".{path.name}.{os.getpid()}.part")
        return self._files[path]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if kind is None:
                for path, unfinished in self._files.items():
                    unfinished.replace(path)
                self._folder = None
        finally:
            for unfinished in self._files.values():
                unfinished.unlink(missing_ok=True)
            if self._folder is not None:
                with suppress(OSError):
                    self._folder.rmdir()


@contextmanager
def gzip_stream(out: BinaryIO) -> Iterator[BinaryIO]:
    """A stream that compresses by gzip; the same content always makes the same bytes."""
    with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=out, mtime=0) as inner:
        yield cast(BinaryIO, inner)


@contextmanager
def text_stream(out: BinaryIO) -> Iterator[TextIO]:
    """A text stream that writes UTF-8 to a stream of bytes."""
    # A foreign database may contain characters that UTF-8 cannot encode.
    text = io.TextIOWrapper(cast(BinaryIO, _UnclosedStream(out)), encoding="utf-8", errors="backslashreplace", newline="")
    yield text
    text.flush()


class _UnclosedStream(io.BufferedIOBase):
    """A stream that stays open when the text stream around it is garbage collected."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self._out.write(data)
