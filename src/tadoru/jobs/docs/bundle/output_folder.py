"""The output folder of a site: writes files atomically and only if their bytes changed, and chooses their names.

Written files are listed in `.tadoru/bundle.json`, with what the next run needs. Only files listed there are ever removed. During
a run, new names are in a journal, so that the files of a killed run are known too.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import unicodedata
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO
from urllib.parse import unquote, urlsplit

from tadoru.errors import UsageError
from tadoru.store.crawl.workers import process_exists

STATE_FOLDER = ".tadoru"
OWNER_LINE = '  "writtenBy": "tadoru",\n'
"""The line of index.json that marks a folder as written by Tadoru."""
_OUTPUT_NAMES = (
    "index.json", "full.md", "llms.txt", "llms-full.txt", "SKILL.md", "changes.md", "chunks.jsonl", "pages", "chunks", "specs"
)  # fmt: skip
_COPY_SIZE = 1 << 20


def crawl_database_path(root: Path) -> Path:
    """The path of the crawl database in a site's folder."""
    return root / STATE_FOLDER / "crawl.db"


@dataclass(slots=True)
class ManifestPage:
    """What the previous run wrote for a page."""

    number: int
    hash: str
    title: str
    crawled_at: str
    tokens: int


@dataclass(slots=True)
class BundleManifest:
    """What the previous run wrote into the folder."""

    fingerprint: str = ""
    crawled_at: str = ""
    files: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Each file with its size and modification time, to detect changes by others."""
    pages: dict[str, ManifestPage] = field(default_factory=dict)
    specs: dict[str, str] = field(default_factory=dict)
    repeated: int = 0
    left_out: int = 0


def check_folder(root: Path) -> None:
    """Raises UsageError if the folder has files of the same names that Tadoru did not write."""
    if root.exists() and not root.is_dir():
        raise UsageError("{path} is a file. Choose a folder with -o.", path=root)
    if (
        (root / STATE_FOLDER / "bundle.json").exists()
        or (root / STATE_FOLDER / "bundle.new").exists()
        or _is_ours(root / "index.json")
    ):
        return
    for name in _OUTPUT_NAMES:
        if os.path.lexists(root / name):
            raise UsageError(
                "{path} was not written by Tadoru and would be overwritten. Choose another folder with -o.", path=root / name
            )


def _is_ours(index: Path) -> bool:
    with suppress(OSError, UnicodeDecodeError), index.open(encoding="utf-8") as lines:
        return OWNER_LINE in takewhile(lambda line: '"pages": [' not in line, lines)
    return False


class OutputFolder:
    """Writes the files of one run into a folder. Call `finish` at the end; otherwise no old file is removed."""

    def __init__(self, root: Path) -> None:
        check_folder(root)
        self.root = root
        self.earlier = _read_manifest(root / STATE_FOLDER / "bundle.json")
        self.rewritten = 0
        self._files: dict[str, tuple[int, int]] = {}
        self._journal = root / STATE_FOLDER / "bundle.new"
        self._safe: set[Path] = set()
        self._leftover = set(self._journal.read_text("utf-8").splitlines()) if self._journal.exists() else set()
        self._make(root / STATE_FOLDER)
        _remove_leftovers(root / STATE_FOLDER)

    def is_intact(self) -> bool:
        """Whether every file is as the previous run wrote it."""
        return bool(self.earlier.files) and not self._leftover and all(
            _size_and_time(self.root / path) == mark for path, mark in self.earlier.files.items()
        )  # fmt: skip

    def write(self, path: str, data: bytes) -> None:
        """Write a file unless it has these bytes already."""
        target = self._target(path)
        size, at = _size_and_time(target)
        if size == len(data) and not target.is_symlink() and target.is_file() and target.read_bytes() == data:
            self._files[path] = (size, at)
            return
        with self.stream(path) as out:
            out.write(data)

    @contextmanager
    def stream(self, path: str, *, counts: bool = True) -> Iterator[BinaryIO]:
        """A file to write to; it replaces the target at the end if its bytes differ."""
        target = self._target(path)
        unfinished = self.root / STATE_FOLDER / f"{target.name}.{os.getpid()}.part"
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
        self._files[path] = _size_and_time(target)

    def keep(self, path: str) -> None:
        """Keep a file of the previous run."""
        if path in self.earlier.files and (self.root / path).is_file():
            self._files[path] = _size_and_time(self.root / path)

    @contextmanager
    def scratch(self) -> Iterator[IO[bytes]]:
        """A temporary file for data that does not fit into memory."""
        path = self.root / STATE_FOLDER / f"scratch.{os.getpid()}.part"
        try:
            with path.open("w+b") as out:
                yield out
        finally:
            path.unlink(missing_ok=True)

    def finish(self, manifest: BundleManifest) -> None:
        """Remove files that earlier runs wrote and this one did not, and save the manifest."""
        for path in sorted((self.earlier.files.keys() | self._leftover) - self._files.keys()):
            if is_inside(path) and not self._crosses_a_link(path):
                (self.root / path).unlink(missing_ok=True)
        for name in ("pages", "chunks", "specs"):
            with suppress(OSError):  # Not empty, or missing.
                (self.root / name).rmdir()
        manifest.files = self._files
        self._save(manifest)
        self._journal.unlink(missing_ok=True)

    def touch(self, old_line_start: str, new_line: str) -> None:
        """Replace one line of index.json."""
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

    def _save(self, manifest: BundleManifest) -> None:
        unfinished = self.root / STATE_FOLDER / f"bundle.json.{os.getpid()}.part"
        unfinished.write_text(json.dumps(asdict(manifest)), "utf-8")  # As ASCII, in which lone surrogates are escaped.
        unfinished.replace(self.root / STATE_FOLDER / "bundle.json")

    def _target(self, path: str) -> Path:
        assert is_inside(path)
        target = self.root / path
        self._make(target.parent)
        if target.is_dir() and not target.is_symlink():
            raise UsageError(
                "{path} is a folder, but a file is needed there. Remove it or choose another folder with -o.", path=target
            )
        return target

    def _make(self, folder: Path) -> None:
        if folder not in self._safe:
            if folder != self.root and folder.is_symlink():
                raise UsageError("{path} is a symbolic link. Remove it or choose another folder with -o.", path=folder)
            folder.mkdir(parents=True, exist_ok=True)
            self._safe.add(folder)

    def _crosses_a_link(self, path: str) -> bool:
        return any((self.root / parent).is_symlink() for parent in PurePosixPath(path).parents if parent.name)


def _remove_leftovers(state: Path) -> None:
    """Remove unfinished files of killed processes."""
    for unfinished in state.glob("*.part"):
        owner = unfinished.name.split(".")[-2]
        if owner.isdigit() and not process_exists(int(owner)):
            unfinished.unlink(missing_ok=True)


def is_inside(path: str) -> bool:
    """Whether a listed path can have been written by a run: inside the folder, outside the state folder."""
    parts = PurePosixPath(path).parts
    return 1 <= len(parts) <= 2 and not path.startswith("/") and not {"..", ".", STATE_FOLDER} & set(parts) and "\\" not in path


def _size_and_time(path: Path) -> tuple[int, int]:
    try:
        found = path.lstat()
    except OSError:
        return (-1, 0)
    return (found.st_size, found.st_mtime_ns)


def _is_same(new: Path, old: Path) -> bool:
    if old.is_symlink() or not old.is_file() or new.stat().st_size != old.stat().st_size:
        return False
    with new.open("rb") as left, old.open("rb") as right:
        while block := left.read(_COPY_SIZE):
            if block != right.read(_COPY_SIZE):
                return False
    return True


def _read_manifest(path: Path) -> BundleManifest:
    """The manifest of the previous run; if it cannot be read, an empty one, so that nothing is removed."""
    try:
        raw = json.loads(path.read_text("utf-8"))
        return BundleManifest(
            fingerprint=str(raw["fingerprint"]), crawled_at=str(raw["crawled_at"]), repeated=int(raw["repeated"]),
            left_out=int(raw.get("left_out", 0)),
            files={str(name): (int(mark[0]), int(mark[1])) for name, mark in raw["files"].items()},
            pages={str(url): ManifestPage(**kept) for url, kept in raw["pages"].items()},
            specs={str(url): str(file) for url, file in raw["specs"].items()},
        )  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError):
        return BundleManifest()


def copy_scratch(source: IO[bytes], target: BinaryIO) -> None:
    """Copy a whole scratch file into another file."""
    source.seek(0)
    shutil.copyfileobj(source, target, _COPY_SIZE)


_MAX_NAME_BYTES = 72
_PAGE_EXTENSIONS = re.compile(r"\.(?:html?|xhtml|md|mdx|markdown|php|aspx?|jsp)$", re.I)
_RESERVED_NAMES = frozenset("con prn aux nul conin$ conout$".split()) | {
    f"{port}{n}" for port in ("com", "lpt") for n in "0123456789¹²³"
}


def slugify(text: str, most_bytes: int = _MAX_NAME_BYTES) -> str:
    """Letters and digits of any script in lower case, joined by hyphens; empty if there are none."""
    kept = "".join(char if _is_letter(char) else "-" for char in unicodedata.normalize("NFKC", text).lower())
    # Lower case may decompose a letter (İ); composed again, the name has the same bytes everywhere.
    name = re.sub(r"-{2,}", "-", unicodedata.normalize("NFC", kept)).strip("-")
    return name.encode()[:most_bytes].decode(errors="ignore").strip("-")


def _is_letter(char: str) -> bool:
    return unicodedata.category(char) in {"Lu", "Ll", "Lt", "Lm", "Lo", "Nd", "Mn", "Mc"}


def page_file_name(number: int, url: str) -> str:
    """The file of a page, named by its number, which is unique, and its path, which is readable."""
    parts = urlsplit(url)
    path = _PAGE_EXTENSIONS.sub("", unquote(parts.path).rstrip("/")).removesuffix("/index")
    name = slugify(f"{path} {unquote(parts.query)}") or "index"
    return f"pages/page-{number:03}-{name}.md"


def spec_file_name(url: str, ending: str, taken: Collection[str]) -> str:
    """The file of a specification, named by its URL, with a short hash of the URL if the name is taken."""
    last = unquote(urlsplit(url).path).rstrip("/").rpartition("/")[2]
    name = slugify(re.sub(r"\.(?:json|ya?ml|graphqls?|gql)$", "", last, flags=re.I)) or "spec"
    if name.split("-")[0] in _RESERVED_NAMES:
        name = f"spec-{name}"
    plain = f"specs/{name}.{ending}"
    return plain if plain not in taken else f"specs/{name}-{hashlib.sha256(url.encode()).hexdigest()[:8]}.{ending}"


def skill_name(folder: str) -> str:
    """The name of a skill: lower-case ASCII letters, digits and hyphens, at most 64, never empty."""
    ascii_only = unicodedata.normalize("NFKD", folder).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", ascii_only)[:64].strip("-") or "documentation"
