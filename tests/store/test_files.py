"""Files by key, in a folder and on object storage: one suite over both."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tadoru.errors import StoreError, UsageError
from tadoru.store.files import FileStore, FolderFiles, open_files


@pytest.fixture(scope="module")
def storage() -> Iterator[str]:
    """The address of a server that speaks S3's language."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(storage: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A bucket of its own, and the variables that lead to it."""
    keys = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1"}
    for name, value in {**keys, "AWS_ENDPOINT_URL": storage}.items():
        monkeypatch.setenv(name, value)
    import boto3

    name = f"b-{os.urandom(6).hex()}"
    boto3.client("s3").create_bucket(Bucket=name)
    return name


@pytest.fixture(params=["folder", "s3"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> FileStore:
    if request.param == "folder":
        return open_files(str(tmp_path))
    return open_files(f"s3://{request.getfixturevalue('bucket')}/city/events")


def test_what_was_put_is_there_and_nothing_else(files: FileStore) -> None:
    files.put("var/snapshots/1/2026-08-01/a.ics", b"\x00body\xff")
    assert files.get("var/snapshots/1/2026-08-01/a.ics") == b"\x00body\xff"
    assert files.exists("var/snapshots/1/2026-08-01/a.ics")
    assert files.get("var/snapshots/1/2026-08-01/b.ics") is None
    assert not files.exists("var/snapshots/1/2026-08-01/a")


def test_putting_again_replaces(files: FileStore) -> None:
    files.put("var/a", b"1")
    files.put("var/a", b"2")
    assert files.get("var/a") == b"2"


def test_keys_are_listed_by_their_beginning(files: FileStore) -> None:
    for key in ("var/runlogs/2026-08-01/2.json", "var/runlogs/2026-08-01/1.json", "var/runlogs/2026-09-01/3.json", "var/other/4"):
        files.put(key, b"x")
    assert list(files.keys("var/runlogs/2026-08")) == ["var/runlogs/2026-08-01/1.json", "var/runlogs/2026-08-01/2.json"]
    assert len(list(files.keys("var/"))) == 4
    assert list(files.keys("nothing/")) == []


def test_deleting_what_is_not_there_is_no_error(files: FileStore) -> None:
    files.put("var/a/1", b"x")
    files.put("var/a/2", b"x")
    files.delete(["var/a/1", "var/a/9"])
    assert list(files.keys("var/")) == ["var/a/2"]


def test_a_folder_that_became_empty_goes_too(tmp_path: Path) -> None:
    files = FolderFiles(tmp_path)
    files.put("var/snapshots/1/2026-08-01/a", b"x")
    files.delete(["var/snapshots/1/2026-08-01/a"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("key", ["", "../x", "var/../../x", "/etc/passwd", "var//x", "./x"])
def test_a_key_that_leads_out_of_the_folder_is_none(tmp_path: Path, key: str) -> None:
    with pytest.raises(ValueError, match="is no key"):
        FolderFiles(tmp_path / "inner").put(key, b"x")


def test_a_folder_that_can_not_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "var").write_bytes(b"a file is in the way")
    with pytest.raises(StoreError, match="Cannot write"):
        FolderFiles(tmp_path).put("var/a", b"x")


def test_a_bucket_that_is_not_there_is_said(bucket: str) -> None:
    assert open_files(f"s3://{bucket}").get("var/a") is None
    with pytest.raises(StoreError, match="Cannot use"):
        open_files("s3://there-is-no-such-bucket/x").put("var/a", b"x")


@pytest.mark.parametrize("place", ["ftp://x/y", "s3:///x"])
def test_a_place_that_can_not_be_used_is_refused(place: str) -> None:
    with pytest.raises(UsageError):
        open_files(place)


def test_object_storage_without_its_package_is_refused_before_anything_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)
    with pytest.raises(UsageError, match=r"Packages for object storage are not installed\. .*pip install .*\[s3\]'"):
        open_files("s3://bucket/prefix")
