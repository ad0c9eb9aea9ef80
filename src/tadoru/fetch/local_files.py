"""Local files as a site: reads them by the rules of a web server, and finds the files that arguments name.

`LocalFileFetcher` answers requests for the folder from the disk and passes all others on, so that a crawl of a folder is a crawl.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import Path
from stat import S_ISREG

from tadoru.fetch.base import Fetcher, RequestTurn
from tadoru.model.web import Answer, Failure, FailureKind, Request, Response
from tadoru.rules.static_site import DOCUMENT_SUFFIXES, StaticSite, content_type

_PATH_STARTS = ("./", "../", "/", "~")
"""How an argument begins that can only be the name of a file."""
_FILE_SUFFIXES = tuple(suffix for suffix in DOCUMENT_SUFFIXES if suffix != ".md")
_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__"})


@dataclass(frozen=True, slots=True)
class LocalSite:
    """A folder and the URLs of its files."""

    root: str
    """The absolute path of the folder."""
    urls: StaticSite

    def file(self, url: str) -> str | None:
        """The absolute path of the file that is sent for a URL; None if there is none."""
        path = self.urls.path(url)
        found = None if path is None else _first_file(self.root, self.urls.candidates(path))
        return None if found is None else str(found[0])


class LocalFileFetcher:
    """Answers requests for a local site, and passes the others to another fetcher, which is built when it is first needed."""

    def __init__(self, site: LocalSite, build_other: Callable[[], Fetcher]) -> None:
        self._site = site
        self._build_other = build_other
        self._other: Fetcher | None = None

    async def fetch(self, request: Request, turn: RequestTurn | None = None) -> Answer:
        """Answer a request."""
        if self._site.urls.holds(request.url) or request.url == self._site.urls.robots_url:
            if turn is not None:
                turn.sent()
            return read_local(self._site, request)
        if self._other is None:
            self._other = self._build_other()
        return await self._other.fetch(request, turn)

    async def close(self) -> None:
        """Close the connections of the other fetcher."""
        if self._other is not None:
            await self._other.close()


def read_local(site: LocalSite, request: Request) -> Answer:
    """The answer of a web server of this folder."""
    if request.url == site.urls.robots_url:
        # The folder is the user's own: what its robots.txt forbids to crawlers is checked too.
        return _status(request, 200 if Path(site.root, "robots.txt").is_file() else 404)
    path = site.urls.path(request.url)
    if path is None:
        return _status(request, 404)
    found = _first_file(site.root, site.urls.candidates(path))
    if found is None:
        return _folder(site, request, path)
    file, size = found
    media_type = content_type(file.name)
    headers = (("Content-Type", media_type), ("Content-Length", str(size)))
    is_read = request.method != "HEAD" and (request.body_types is None or media_type.startswith(request.body_types))
    if not is_read:
        return Response(url=request.url, status=200, headers=headers, body_read=False)
    if size > request.max_bytes:
        message = f"The file has more than {request.max_bytes:,} bytes."
        return Failure(url=request.url, kind=FailureKind.TOO_LARGE, message=message)
    try:
        body = file.read_bytes()
    except OSError as error:
        return Failure(url=request.url, kind=FailureKind.NETWORK, message=f"Cannot read the file: {error.strerror}.")
    return Response(url=request.url, status=200, headers=headers, body=body)


def _first_file(root: str, names: tuple[str, ...]) -> tuple[Path, int] | None:
    """The first of these files that exists, and its size."""
    for name in names:
        file = Path(root, name)
        try:
            found = file.stat()
        except (OSError, ValueError):
            continue
        if S_ISREG(found.st_mode):
            return file, found.st_size
    return None


def _folder(site: LocalSite, request: Request, path: str) -> Response:
    """The answer for a path that is no file: a redirect to the URL of a folder, its list of files, or 404."""
    if not Path(site.root, path).is_dir():
        return _status(request, 404)
    if site.urls.listings:
        return _status(request, 200)
    if path and not path.endswith("/"):
        return Response(url=request.url, status=301, headers=(("Location", f"{request.url.partition('?')[0]}/"),))
    return _status(request, 404)


def _status(request: Request, status: int) -> Response:
    return Response(url=request.url, status=status, headers=(("Content-Type", "text/plain"),))


def file_exists(name: str) -> bool:
    """Whether there is a file or a folder of this name, which may be any text that a user typed."""
    try:
        return Path(name).exists()
    except OSError:  # Before Python 3.12, of a name that is too long.
        return False


def is_local_name(argument: str) -> bool:
    """Whether an argument names a file or a folder, or is a pattern of file names. A file that exists wins over a host name.

    One that is missing is recognised by its ending, so that a mistyped name is not requested from a host of that name.
    """
    if not argument or "://" in argument:
        return False
    # `?` and `[` are signs of URLs too.
    if argument.startswith(_PATH_STARTS) or "*" in argument or file_exists(argument):
        return True
    folder, slash, _ = argument.partition("/")
    is_folder = bool(slash) and "." not in folder and ":" not in folder and folder.lower() != "localhost"
    # `.md` ends host names too.
    return argument.lower().endswith(DOCUMENT_SUFFIXES if is_folder else () if slash else _FILE_SUFFIXES)


def matching_files(argument: str) -> list[str]:
    """The names of the files of an argument, in order: of a pattern (`docs/**/*.md`) those that match, else the file itself."""
    if file_exists(argument):
        return [argument]
    top = Path(argument).expanduser()
    parts = [part for part, _ in groupby(top.relative_to(top.anchor).parts)]  # `**/**` is `**`.
    return sorted({str(file) for file in _below(Path(top.anchor), parts) if file.is_file()})


def _below(folder: Path, parts: Sequence[str]) -> Iterator[Path]:
    """What matches the parts of a pattern. Not `glob`, whose `**` follows links to folders, which may lead back without end."""
    if not parts:
        yield folder
        return
    part, rest = parts[0], parts[1:]
    if part == "**":
        yield from _below(folder, rest)
        for entry in _entries(folder):
            if entry.is_dir(follow_symlinks=False) and _is_read(entry.name):
                yield from _below(folder / entry.name, parts)
    elif any(sign in part for sign in "*?["):
        for entry in _entries(folder):
            if fnmatchcase(entry.name, part) and (part[0] == "." or entry.name[0] != "."):
                yield from _below(folder / entry.name, rest)
    else:
        yield from _below(folder / part, rest)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """What is in a folder; nothing if it is none or cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _is_read(name: str) -> bool:
    """Whether the files of a folder of this name are read: not those of hidden folders, packages and caches."""
    return not name.startswith(".") and name not in _SKIPPED_FOLDERS


def documents_below(folder: str) -> Iterator[str]:
    """The files of a folder whose links are read, by their names below it with slashes, in order. Hidden folders are left out.

    So are links to folders, which may lead out of the folder, or back into it without end.
    """
    for path, folders, files in os.walk(folder):
        folders[:] = sorted(filter(_is_read, folders))
        below = os.path.relpath(path, folder).replace(os.sep, "/")
        prefix = "" if below == "." else f"{below}/"
        yield from (prefix + name for name in sorted(files) if name.lower().endswith(DOCUMENT_SUFFIXES))


def repository_root(folder: Path) -> Path:
    """The nearest folder, from this one upwards, that is the top of a Git repository; else this one."""
    return next((above for above in (folder, *folder.parents) if (above / ".git").exists()), folder)
