"""The folder of a site as the place where files are written: whole or not at all, only when their bytes are new, only its own.

What was written is listed in `.tadoru/bundle.json`, with what the next run needs to know of it. Only what is listed there is ever
removed; while a run is at work the names that are new are in a journal, so that a run that was killed leaves nothing unknown.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO

from tadoru.errors import UsageError

STATE = ".tadoru"
MARK = '  "writtenBy": "tadoru",\n'
"""A line of index.json by which the folder is known to be ours."""
_TOP = ("index.json", "full.md", "llms.txt", "llms-full.txt", "SKILL.md", "changes.md", "pages", "chunks", "specs")
_AT_ONCE = 1 << 20


@dataclass(slots=True)
class Kept:
    """What the run before wrote of a page."""

    number: int
    hash: str
    title: str
    crawled_at: str
    tokens: int


@dataclass(slots=True)
class Manifest:
    """What the run before left in the folder."""

    fingerprint: str = ""
    crawled_at: str = ""
    files: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Each file with its size and the time of its last change: whether anybody has touched it since."""
    pages: dict[str, Kept] = field(default_factory=dict)
    specs: dict[str, str] = field(default_factory=dict)
    repeated: int = 0


def claim(root: Path) -> None:
    """Raises UsageError when the folder holds files of somebody else under the names of ours."""
    if root.exists() and not root.is_dir():
        raise UsageError(f"{root} is a file: give a folder with -o.")
    if (root / STATE / "bundle.json").exists() or (root / STATE / "bundle.new").exists() or _is_ours(root / "index.json"):
        return
    for name in _TOP:
        if os.path.lexists(root / name):
            raise UsageError(f"{root / name} is not from tadoru and would be overwritten: give another folder with -o.")


def _is_ours(index: Path) -> bool:
    with suppress(OSError, UnicodeDecodeError), index.open(encoding="utf-8") as lines:
        return MARK in takewhile(lambda line: '"pages": [' not in line, lines)
    return False


class Folder:
    """One run's writing into a folder. Call `finish` at the end; without it nothing old is removed."""

    def __init__(self, root: Path) -> None:
        claim(root)
        self.root = root
        self.earlier = _read(root / STATE / "bundle.json")
        self.rewritten = 0
        self._files: dict[str, tuple[int, int]] = {}
        self._journal = root / STATE / "bundle.new"
        self._safe: set[Path] = set()
        self._leftover = set(self._journal.read_text("utf-8").splitlines()) if self._journal.exists() else set()
        self._make(root / STATE)
        _sweep(root / STATE)

    def is_intact(self) -> bool:
        """Whether every file is as the run before left it."""
        return bool(self.earlier.files) and not self._leftover and all(
            _mark(self.root / path) == mark for path, mark in self.earlier.files.items()
        )  # fmt: skip

    def write(self, path: str, data: bytes) -> None:
        """Put a file in its place, unless it is there already."""
        target = self._target(path)
        size, at = _mark(target)
        if size == len(data) and not target.is_symlink() and target.is_file() and target.read_bytes() == data:
            self._files[path] = (size, at)
            return
        with self.stream(path) as out:
            out.write(data)

    @contextmanager
    def stream(self, path: str, *, counts: bool = True) -> Iterator[BinaryIO]:
        """A file to write to, put in its place at the end unless it is there already."""
        target = self._target(path)
        unfinished = self.root / STATE / f"{target.name}.{os.getpid()}.part"
        try:
            with unfinished.open("wb") as out:
                yield out
            if not _is_same(unfinished, target):
                if path not in self.earlier.files:
                    with self._journal.open("a", encoding="utf-8") as journal:
                        journal.write(path + "\n")
                unfinished.replace(target)
                self.rewritten += counts
        finally:
            unfinished.unlink(missing_ok=True)
        self._files[path] = _mark(target)

    def keep(self, path: str) -> None:
        """Leave a file of the run before as it is."""
        if path in self.earlier.files and (self.root / path).is_file():
            self._files[path] = _mark(self.root / path)

    @contextmanager
    def scratch(self) -> Iterator[IO[bytes]]:
        """A file for what does not fit into memory; it is gone afterwards."""
        path = self.root / STATE / f"scratch.{os.getpid()}.part"
        try:
            with path.open("w+b") as out:
                yield out
        finally:
            path.unlink(missing_ok=True)

    def finish(self, manifest: Manifest) -> None:
        """Remove what earlier runs wrote and this one did not, and remember what there is."""
        for path in sorted((self.earlier.files.keys() | self._leftover) - self._files.keys()):
            if is_inside(path) and not self._crosses_a_link(path):
                (self.root / path).unlink(missing_ok=True)
        for name in ("pages", "chunks", "specs"):
            with suppress(OSError):  # it is not empty, or not there
                (self.root / name).rmdir()
        manifest.files = self._files
        self._save(manifest)
        self._journal.unlink(missing_ok=True)

    def touch(self, old_line_start: str, new_line: str) -> None:
        """Replace one line of index.json and nothing else."""
        with (
            (self.root / "index.json").open(encoding="utf-8", newline="") as lines,
            self.stream("index.json", counts=False) as out,
        ):
            for line in lines:
                if line.startswith(old_line_start):
                    out.write(new_line.encode())
                    break
                out.write(line.encode())
            out.writelines(line.encode() for line in lines)
        self.earlier.files |= self._files
        self._save(self.earlier)

    def _save(self, manifest: Manifest) -> None:
        unfinished = self.root / STATE / f"bundle.json.{os.getpid()}.part"
        unfinished.write_text(json.dumps(asdict(manifest)), "utf-8")  # as ASCII: half a surrogate pair survives it
        unfinished.replace(self.root / STATE / "bundle.json")

    def _target(self, path: str) -> Path:
        assert is_inside(path)
        target = self.root / path
        self._make(target.parent)
        if target.is_dir() and not target.is_symlink():
            raise UsageError(f"{target} is a folder where a file belongs: remove it, or give another folder with -o.")
        return target

    def _make(self, folder: Path) -> None:
        if folder not in self._safe:
            if folder != self.root and folder.is_symlink():
                raise UsageError(f"{folder} is a link to another place: remove it, or give another folder with -o.")
            folder.mkdir(parents=True, exist_ok=True)
            self._safe.add(folder)

    def _crosses_a_link(self, path: str) -> bool:
        return any((self.root / parent).is_symlink() for parent in PurePosixPath(path).parents if parent.name)


def _sweep(state: Path) -> None:
    """Remove what runs that were killed had begun to write; where it can not be told who lives, it stays."""
    if Path("/proc/self").is_dir():
        for unfinished in state.glob("*.part"):
            owner = unfinished.name.split(".")[-2]
            if owner.isdigit() and not Path(f"/proc/{owner}").exists():
                unfinished.unlink(missing_ok=True)


def is_inside(path: str) -> bool:
    """Whether a listed path is one a run can have written: below the folder, and not the state."""
    parts = PurePosixPath(path).parts
    return 1 <= len(parts) <= 2 and not path.startswith("/") and not {"..", ".", STATE} & set(parts) and "\\" not in path


def _mark(path: Path) -> tuple[int, int]:
    try:
        found = path.lstat()
    except OSError:
        return (-1, 0)
    return (found.st_size, found.st_mtime_ns)


def _is_same(new: Path, old: Path) -> bool:
    if old.is_symlink() or not old.is_file() or new.stat().st_size != old.stat().st_size:
        return False
    with new.open("rb") as left, old.open("rb") as right:
        while block := left.read(_AT_ONCE):
            if block != right.read(_AT_ONCE):
                return False
    return True


def _read(path: Path) -> Manifest:
    """The list of the run before; one that can not be read is as good as none: files are compared, and nothing is removed."""
    try:
        raw = json.loads(path.read_text("utf-8"))
        return Manifest(
            fingerprint=str(raw["fingerprint"]), crawled_at=str(raw["crawled_at"]), repeated=int(raw["repeated"]),
            files={str(name): (int(mark[0]), int(mark[1])) for name, mark in raw["files"].items()},
            pages={str(url): Kept(**kept) for url, kept in raw["pages"].items()},
            specs={str(url): str(file) for url, file in raw["specs"].items()},
        )  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError):
        return Manifest()


def copy(source: IO[bytes], target: BinaryIO) -> None:
    """All of a scratch file into another."""
    source.seek(0)
    shutil.copyfileobj(source, target, _AT_ONCE)
