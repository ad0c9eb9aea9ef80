"""WARC: read back by warcio with every digest checked, and looked at as bytes."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tadoru.errors import StoreError, UsageError
from tadoru.jobs.audit.export.warc import stored_headers, write_warc
from tadoru.store.crawl.export_reader import StoredPage
from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.contract.crawls import url
from tests.export.crawls import NOW, PAGE_BODY, exported

archive: Any = import_module("warcio.archiveiterator")


class Record:
    """A record with its content read."""

    def __init__(self, record: Any) -> None:
        self.kind = record.rec_type
        self.headers = dict(record.rec_headers.headers)
        self.version = record.rec_headers.protocol
        self.http = record.http_headers
        self.body = record.content_stream().read()
        self.checked = record.digest_checker.passed


def records(data: bytes) -> list[Record]:
    return [Record(record) for record in archive.ArchiveIterator(io.BytesIO(data), check_digests="raise")]


def stored(path: str = "x", body: bytes = b"hello", **more: Any) -> StoredPage:
    values: dict[str, Any] = {
        "url": url(path), "status_code": 200, "headers": [("Content-Type", "text/plain")], "address": None,
        "crawled_at": "2023-11-14 22:13:20.000", "body": zlib.compress(body), "same_url": None, "same_at": None,
    }  # fmt: skip
    return StoredPage(**(values | more))


def written(*pages: StoredPage) -> bytes:
    out = io.BytesIO()
    write_warc(pages, out, name="x.warc.gz", now=NOW)
    return out.getvalue()


def test_stored_answers_are_records_with_digests(store: SqliteStore, tmp_path: Path) -> None:
    wrote, _ = exported(store, "warc", tmp_path / "site.warc.gz")
    info, *rest = records(wrote.files[0].read_bytes())
    assert (info.kind, info.headers["WARC-Filename"], info.headers["WARC-Date"]) == (
        "warcinfo", "site.warc.gz", "2024-02-03T04:05:06Z",
    )  # fmt: skip
    assert b"software: Tadoru/" in info.body
    found = {record.headers["WARC-Target-URI"]: record for record in rest}
    assert list(found) == [url("a"), url("old"), url("same")]
    assert wrote.counts == {"pages": 3}
    page = found[url("a")]
    assert (page.kind, page.version, page.body, page.checked) == ("response", "WARC/1.1", PAGE_BODY, True)
    assert page.http.get_statuscode() == "200"
    assert (page.headers["WARC-Date"], page.headers["WARC-IP-Address"]) == ("2023-11-14T22:13:20.000Z", "192.0.2.1")
    assert page.headers["WARC-Payload-Digest"].startswith("sha1:")


def test_an_equal_body_is_referred_to_and_not_repeated(store: SqliteStore, tmp_path: Path) -> None:
    wrote, _ = exported(store, "warc", tmp_path / "site.warc.gz")
    _, page, _, same = records(wrote.files[0].read_bytes())
    assert (same.kind, same.headers["WARC-Profile"].rpartition("/")[2], same.body) == ("revisit", "identical-payload-digest", b"")
    assert same.headers["WARC-Payload-Digest"] == page.headers["WARC-Payload-Digest"]
    assert same.headers["WARC-Refers-To-Target-URI"] == url("a")
    assert same.headers["WARC-Refers-To-Date"] == page.headers["WARC-Date"]


def test_a_redirect_is_there_without_a_body(store: SqliteStore, tmp_path: Path) -> None:
    wrote, _ = exported(store, "warc", tmp_path / "site.warc.gz")
    redirect = records(wrote.files[0].read_bytes())[2]
    assert (redirect.http.get_statuscode(), redirect.http.get_header("Location"), redirect.body) == ("301", "/a", b"")
    assert redirect.http.get_header("Content-Length") == "0"


def test_without_bodies_there_is_nothing_to_archive(store: SqliteStore, tmp_path: Path) -> None:
    store.sql.execute("DELETE FROM bodies")
    with pytest.raises(UsageError, match="--store-bodies"):
        exported(store, "warc", tmp_path / "site.warc.gz")
    assert list(tmp_path.iterdir()) == []


def test_each_record_is_compressed_by_itself() -> None:
    data = written(stored("x"), stored("y"))
    members = []
    while data:
        inflate = zlib.decompressobj(zlib.MAX_WBITS + 16)
        members.append(inflate.decompress(data))
        data = inflate.unused_data
    kinds = [b"warcinfo", b"response", b"response"]
    assert all(b"\r\nWARC-Type: " + kind in member for member, kind in zip(members, kinds, strict=True))
    assert all(member.startswith(b"WARC/1.1\r\n") and member.endswith(b"\r\n\r\n") for member in members)


def test_fields_about_the_wire_are_renamed_and_the_length_is_true() -> None:
    sent = [
        ("Content-Encoding", "gzip"),
        ("content-length", "3"),
        ("Transfer-Encoding", "chunked"),
        ("ETag", "x"),
        ("Set-Cookie", "a"),
    ]
    assert stored_headers([*sent, ("Set-Cookie", "b")], 5) == [
        ("X-Crawler-Content-Encoding", "gzip"), ("X-Crawler-content-length", "3"), ("X-Crawler-Transfer-Encoding", "chunked"),
        ("ETag", "x"), ("Set-Cookie", "a"), ("Set-Cookie", "b"), ("Content-Length", "5"),
    ]  # fmt: skip


def test_a_field_can_not_break_out_of_its_line() -> None:
    kept = stored_headers([("X-A", "1\r\nX-Evil: 2"), ("X\nB", "3"), ("", "4")], 0)
    assert kept == [("X-A", "1 X-Evil: 2"), ("Content-Length", "0")]
    [_, page] = records(written(stored(headers=[("X-A", "日本\r\n\r\nbody")])))
    assert page.body == b"hello"


@pytest.mark.parametrize("code, words", [(200, "200 OK"), (418, "418 I'm a Teapot"), (599, "599 Unknown")])
def test_the_status_line_is_rebuilt(code: int, words: str) -> None:
    text = gzip.decompress(written(stored(status_code=code)))
    assert f"\r\n\r\nHTTP/1.1 {words}\r\n".encode() in text


@pytest.mark.parametrize("address, kept", [("2001:db8::1", True), ("example.com", False), ("", False)])
def test_an_address_is_kept_when_it_is_one(address: str, kept: bool) -> None:
    [_, page] = records(written(stored(address=address)))
    assert ("WARC-IP-Address" in page.headers) == kept


def test_a_damaged_body_is_a_sentence() -> None:
    with pytest.raises(StoreError, match=r"the stored body of https://a\.example/x cannot be read"):
        written(stored()._replace(body=b"no zlib"))


def test_without_its_library_there_is_a_sentence(store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "warcio.warcwriter", None)
    with pytest.raises(UsageError, match=r"Packages for --format warc are not installed\. .*pip install .*\[warc\]'"):
        exported(store, "warc", tmp_path / "p.warc.gz")
    assert list(tmp_path.iterdir()) == []
