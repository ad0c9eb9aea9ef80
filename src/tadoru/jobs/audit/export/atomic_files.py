"""Where an export goes: files that appear whole or not at all, or stdout.

All files of one export are written under temporary names beside their own and get them together at the end, so that nobody ever
reads half of one, and what was there before stays when something goes wrong.
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
    """The files of an export. Leave it without an error and they are there."""

    def __init__(self, spared: Path | None = None) -> None:
        self._spared = spared and spared.resolve()
        """What must not be written over, whatever the person says: the database itself."""
        self._files: dict[Path, Path] = {}
        """Where a file belongs → what it is called until then."""
        self._folder: Path | None = None

    def make_folder(self, folder: Path) -> None:
        """Make the folder that the files go to, unless it is there. It goes again when the export fails."""
        if not folder.is_dir():
            folder.mkdir()
            self._folder = folder

    @contextmanager
    def binary(self, path: Path, *, compressed: bool = False) -> Iterator[BinaryIO]:
        """A file to write bytes to; a pipe or a device as it is."""
        with self._reserved(path).open("wb", buffering=_BUFFER) as out:
            if compressed:
                with gzip_stream(out) as inner:
                    yield inner
            else:
                yield out

    @contextmanager
    def text(self, path: Path, *, compressed: bool = False) -> Iterator[TextIO]:
        """A file to write UTF-8 to, line ends as they are given."""
        with self.binary(path, compressed=compressed) as out, text_stream(out) as words:
            yield words

    def rename(self, path: Path, final: Path) -> None:
        """A file of this parcel is to be called otherwise."""
        self._files[final] = self._files.pop(path)

    def _reserved(self, path: Path) -> Path:
        path = path.resolve()
        if path == self._spared:
            raise UsageError(f"{path.name} is the database itself: give -o another name.")
        # Putting a file in the place of a pipe or a device would destroy it.
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
    """Compressed by gzip: the same bytes for the same content, whenever it is written."""
    with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=out, mtime=0) as inner:
        yield cast(BinaryIO, inner)


@contextmanager
def text_stream(out: BinaryIO) -> Iterator[TextIO]:
    """UTF-8 into bytes."""
    # What no text can hold, a foreign database may.
    words = io.TextIOWrapper(cast(BinaryIO, _UnclosedStream(out)), encoding="utf-8", errors="backslashreplace", newline="")
    yield words
    words.flush()


class _UnclosedStream(io.BufferedIOBase):
    """Somebody else's stream: it stays open when the text that was written to it is forgotten, which would close it."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self._out.write(data)
