"""Sitemaps: read back by our own reader, split where the protocol splits them, and only what belongs in one."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.errors import UsageError
from tadoru.jobs.audit.export.atomic_files import AtomicFiles
from tadoru.jobs.audit.export.sitemap import numbered_path, write_sitemaps
from tadoru.parse.sitemap import MAX_BYTES, MAX_URLS, Sitemap, read
from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.contract.crawls import url
from tests.export.crawls import exported
from tests.support.properties import examples

BASE = "https://a.example/maps"


def written(
    folder: Path, pages: Sequence[tuple[str, str | None]], name: str = "sitemap.xml", **options: int | bool
) -> list[Path]:
    with AtomicFiles() as parcel:
        return write_sitemaps(iter(pages), parcel, folder / name, BASE, **options)  # type: ignore[arg-type]


def sitemap(path: Path) -> Sitemap:
    found = read(path.read_bytes(), f"{BASE}/{path.name}")
    assert found.problems == ()
    return found


def test_what_is_indexable_html_of_the_site_is_in_it_and_nothing_else(store: SqliteStore) -> None:
    wrote, text = exported(store, "sitemap")
    found = read(text, url("sitemap.xml"))
    assert (found.kind, found.problems) == ("urlset", ())
    assert [tuple(entry) for entry in found.entries] == [
        (url(""), "2023-12-31T23:59:59Z"), (url("a"), "2024-01-02T03:04:05Z"), (url("b?x=1&y=2"), None), (url("same"), None),
    ]  # fmt: skip
    assert b"x=1&amp;y=2" in text
    assert wrote.counts == {"pages": 4}


def test_a_folder_gets_a_file_of_the_usual_name(store: SqliteStore, tmp_path: Path) -> None:
    wrote, _ = exported(store, "sitemap", f"{tmp_path}/", gzip=True)
    assert [path.name for path in wrote.files] == ["sitemap.xml.gz"]
    assert len(sitemap(wrote.files[0]).entries) == 4


def test_too_many_urls_make_several_files_and_an_index(tmp_path: Path) -> None:
    pages = [(f"https://a.example/{number}", None) for number in range(7)]
    files = written(tmp_path, pages, max_urls=3)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sitemap-1.xml", "sitemap-2.xml", "sitemap-3.xml", "sitemap.xml"]
    index = sitemap(files[0])
    assert (index.kind, index.sitemaps) == ("index", tuple(f"{BASE}/sitemap-{number}.xml" for number in (1, 2, 3)))
    parts = [[entry.url for entry in sitemap(path).entries] for path in files[1:]]
    assert [len(part) for part in parts] == [3, 3, 1]
    assert [found for part in parts for found in part] == [page for page, _ in pages]


def test_too_many_bytes_do_the_same_and_count_before_compression(tmp_path: Path) -> None:
    pages = [(f"https://a.example/{number}/{'x' * 500}", None) for number in range(10)]
    files = written(tmp_path, pages, "map.xml.gz", max_bytes=2000, compressed=True)
    assert [path.name for path in files] == ["map.xml.gz", *[f"map-{number}.xml.gz" for number in range(1, 5)]]
    sizes = [len(gzip.decompress(path.read_bytes())) for path in files[1:]]
    assert max(sizes) <= 2000 < min(sizes[:-1]) + 600
    assert sum(len(sitemap(path).entries) for path in files[1:]) == 10


def test_exactly_full_is_one_file(tmp_path: Path) -> None:
    assert written(tmp_path, [("https://a.example/", None)] * 3, max_urls=3) == [tmp_path / "sitemap.xml"]
    assert [path.name for path in tmp_path.iterdir()] == ["sitemap.xml"]


def test_a_site_without_pages_has_no_sitemap(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no indexable HTML page"):
        written(tmp_path, [])
    assert list(tmp_path.iterdir()) == []


def test_the_limits_are_those_of_the_protocol() -> None:
    assert (MAX_URLS, MAX_BYTES) == (50_000, 50 * 1024 * 1024)


@pytest.mark.parametrize(
    "name, part", [("sitemap.xml", "sitemap-2.xml"), ("a.xml.gz", "a-2.xml.gz"), ("map", "map-2")], ids=lambda name: name
)
def test_parts_are_named_after_the_whole(name: str, part: str) -> None:
    assert numbered_path(Path("x", name), 2) == Path("x", part)


@pytest.mark.parametrize("when", ["not a date", ""])
def test_a_date_that_is_none_is_left_out(when: str, tmp_path: Path) -> None:
    [path] = written(tmp_path, [("https://a.example/", when)])
    assert sitemap(path).entries[0].lastmod is None


@examples(30)
@given(
    paths=st.lists(
        st.text(st.characters(codec="ascii", min_codepoint=33, exclude_characters="#?\\"), min_size=1), min_size=1, max_size=8
    ),
    max_urls=st.integers(1, 4),
)
def test_whatever_the_urls_each_is_there_once_and_in_order(
    paths: list[str], max_urls: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    pages = [(f"https://a.example/{number}?{path}", None) for number, path in enumerate(paths)]
    files = written(tmp_path_factory.mktemp("maps"), pages, max_urls=max_urls)
    parts = files[1:] or files
    assert [raw for path in parts for raw in _locations(path)] == [page for page, _ in pages]


def _locations(path: Path) -> list[str]:
    return [element.text or "" for element in ElementTree.parse(path).iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc")]
