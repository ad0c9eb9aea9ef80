"""Files that belong to a database: snapshots and run logs, by key, in a folder or on object storage.

A key is a path such as `var/snapshots/7/2026-08-01/ab12.ics`. A file is complete or absent. Only this module imports boto3.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from tadoru.errors import StoreError, UsageError
from tadoru.extras import not_installed

_AT_ONCE = 1000
"""Keys that object storage deletes in one request."""


class FileStore(Protocol):
    """Bytes by key."""

    name: str
    """As messages show it."""

    def put(self, key: str, data: bytes) -> None: ...

    def get(self, key: str) -> bytes | None:
        """None when it is not there."""
        ...

    def exists(self, key: str) -> bool: ...

    def delete(self, keys: Iterable[str]) -> None:
        """What is not there is no error."""
        ...

    def keys(self, prefix: str) -> Iterator[str]:
        """Every key that begins so, in order."""
        ...


def open_files(place: str) -> FileStore:
    """A folder, or `s3://bucket/prefix`."""
    if place.startswith("s3://"):
        return ObjectStorage(place)
    if "://" in place:
        raise UsageError("Cannot store files at {place}. Use a folder, or s3://bucket/prefix.", place=place)
    return FolderFiles(Path(place))


def beside(database: str) -> str:
    """The folder that holds `var`: the database's own, or the working folder when that is on a server."""
    if "://" in database:
        return "."
    folder = Path(database).absolute().parent
    return str(folder.parent if folder.name == "var" else folder)


class FolderFiles:
    """A folder on this machine."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.name = str(root)

    def path(self, key: str) -> Path:
        """Where the file of a key is."""
        parts = key.split("/")
        if not key or any(part in ("", ".", "..") for part in parts):
            raise ValueError(f"{key!r} is no key")
        return self.root.joinpath(*parts)

    def put(self, key: str, data: bytes) -> None:
        path = self.path(key)
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, unfinished = tempfile.mkstemp(dir=path.parent, prefix=".unfinished-")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                Path(unfinished).replace(path)
            except BaseException:
                with contextlib.suppress(OSError):
                    Path(unfinished).unlink()
                raise
        except OSError as error:
            raise StoreError(
                "Cannot write {path} ({reason}). Check its permissions and the disk.", path=path, reason=error.strerror
            ) from error

    def get(self, key: str) -> bytes | None:
        try:
            return self.path(key).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise StoreError(
                "Cannot read {path} ({reason}). Check its permissions.", path=self.path(key), reason=error.strerror
            ) from error

    def exists(self, key: str) -> bool:
        return self.path(key).is_file()

    def delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            path = self.path(key)
            path.unlink(missing_ok=True)
            for folder in path.parents:  # Days that are empty now.
                if folder == self.root:
                    break
                try:
                    folder.rmdir()
                except OSError:
                    break

    def keys(self, prefix: str) -> Iterator[str]:
        start = self.root / prefix.rpartition("/")[0]
        found = (path.relative_to(self.root).as_posix() for path in sorted(start.rglob("*")) if path.is_file())
        return (key for key in found if key.startswith(prefix) and "/.unfinished-" not in key)


class ObjectStorage:
    """A bucket of S3 or a compatible service; keys and the endpoint come from the usual AWS variables and files."""

    def __init__(self, place: str) -> None:
        parts = urlsplit(place)
        self._bucket, self._prefix = parts.netloc, parts.path.strip("/")
        if not self._bucket:
            raise UsageError("Bucket missing in {place}. Use s3://bucket/prefix.", place=place)
        # Looked for before anything begins, and imported, which takes long, when there is something to put or get.
        if find_spec("boto3") is None:
            raise UsageError(not_installed("object storage", "s3"))
        self.name = place

    @cached_property
    def _client(self) -> Any:
        import boto3

        return boto3.client("s3")

    def _key(self, key: str) -> str:
        return f"{self._prefix}/{key}" if self._prefix else key

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            yield
        except (BotoCoreError, ClientError) as error:
            raise StoreError(
                "Cannot use {place} ({reason}). Check the bucket and the AWS variables.", place=self.name, reason=error
            ) from error

    def put(self, key: str, data: bytes) -> None:
        with self._translated():
            self._client.put_object(Bucket=self._bucket, Key=self._key(key), Body=data)

    def get(self, key: str) -> bytes | None:
        from botocore.exceptions import ClientError

        with self._translated():
            try:
                body: bytes = self._client.get_object(Bucket=self._bucket, Key=self._key(key))["Body"].read()
            except ClientError as error:
                if error.response["Error"]["Code"] in ("NoSuchKey", "404"):
                    return None
                raise
            return body

    def exists(self, key: str) -> bool:
        with self._translated():
            listed = self._client.list_objects_v2(Bucket=self._bucket, Prefix=self._key(key), MaxKeys=1)
            return any(item["Key"] == self._key(key) for item in listed.get("Contents", ()))

    def delete(self, keys: Iterable[str]) -> None:
        every = [{"Key": self._key(key)} for key in keys]
        with self._translated():
            for start in range(0, len(every), _AT_ONCE):
                self._client.delete_objects(
                    Bucket=self._bucket, Delete={"Objects": every[start : start + _AT_ONCE], "Quiet": True}
                )

    def keys(self, prefix: str) -> Iterator[str]:
        cut = len(self._prefix) + 1 if self._prefix else 0
        with self._translated():
            for page in self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=self._key(prefix)):
                yield from (item["Key"][cut:] for item in page.get("Contents", ()))
