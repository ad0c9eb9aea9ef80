"""JSONL: one object a line, nested values nested, nothing lost."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.audit.export.csv_jsonl import write_jsonl
from tadoru.store.crawl.export_reader import ExportGrid, ExportSelection
from tadoru.store.crawl.export_tables import TABLES, ColumnKind, ExportColumn
from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.contract.crawls import url
from tests.export.crawls import GONE, LONG, NASTY, STRAY, exported


def lines(store: SqliteStore, table: str = "pages") -> list[dict[str, Any]]:
    text = exported(store, "jsonl", tables=(table,))[1].decode("utf-8")
    assert text.endswith("\n") or not text
    return [json.loads(line) for line in text.split("\n")[:-1]]


def test_a_page_is_an_object_with_typed_values(store: SqliteStore) -> None:
    [page] = [line for line in lines(store) if line["url"] == url("a")]
    assert page["title"] == NASTY
    assert (page["internal"], page["indexable"], page["status_code"], page["ttfb_ms"]) == (True, True, 200, 12.5)
    assert (page["last_modified"], page["crawled_at"]) == ("2024-01-02T03:04:05Z", "2023-11-14T22:13:20.000Z")
    assert (page["extract_price"], page["extract_sku code"]) == (["=1+1"], [])
    assert page["redirect_url"] is None


def test_nested_values_are_values_and_not_strings(store: SqliteStore) -> None:
    [item] = lines(store, "structured_data")
    assert item["properties"] == {"name": ["日本"], "depth": {"n": 1}}
    assert lines(store, "runs")[0]["config"] == {"depth": 3}
    assert {line["check_id"]: line["data"] for line in lines(store, "findings")} == {
        STRAY.id: None, LONG.id: {"length": 70, "examples": ["x", "y"]}, GONE.id: None,
    }  # fmt: skip


def test_findings_about_no_page_come_first_under_what_they_are_about(store: SqliteStore) -> None:
    assert [(line["url"], line["check_id"], line["title_ja"]) for line in lines(store, "findings")] == [
        (url("stray"), STRAY.id, "迷子"), (url("a"), LONG.id, "長い題名"), (url("gone"), GONE.id, "消えた"),
    ]  # fmt: skip


EXPECTED: dict[str, tuple[int, dict[str, Any]]] = {
    "headings": (2, {"url": url("a"), "level": 1, "text": "見出し", "position": 0}),
    "images": (
        2, {"url": url("a"), "src": "/i.png", "alt": None, "width": "10", "height": "", "loading": "lazy", "position": 0}
    ),
    "directives": (
        1, {"url": url("a"), "source": "meta", "agent": "", "name": "max-snippet", "value": "-1", "position": 0}
    ),
    "extractions": (3, {"url": url(""), "name": "price", "value": "10", "position": 0}),
    "hreflang": (2, {"url": url("a"), "language": "ja", "alternate_url": url("a"), "source": "html", "position": 0}),
    "redirects": (
        1,
        {"url": url("old"), "status_code": 301, "target_url": url("a"), "target_status": "completed", "target_status_code": 200},
    ),
    "redirect_hops": (
        1, {"start_url": url("old"), "hop": 1, "url": url("old"), "status_code": 301, "target_url": url("a")}
    ),
    "sitemap_urls": (
        1,
        {"sitemap_url": url("s.xml"), "url": url("a"), "lastmod": "2024-01", "status": "completed", "status_code": 200},
    ),
    "errors": (
        1,
        {"url": url("down"), "error_type": "timeout", "error_message": "no answer", "occurred_at": "2023-11-14T22:13:20.000Z"},
    ),
    "page_resources": (
        7,
        {
            "url": url(""), "resource_url": url("i.png"), "kind": "img", "status": "discovered", "status_code": None,
            "content_length": None, "position": 0,
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("table", EXPECTED)
def test_each_table_has_its_rows(table: str, store: SqliteStore) -> None:
    number, first = EXPECTED[table]
    found = lines(store, table)
    assert (len(found), found[0]) == (number, first)


def test_a_link_knows_how_its_target_answered(store: SqliteStore) -> None:
    found = lines(store, "links")
    assert len(found) == 10
    [gone] = [link for link in found if link["target_url"] == url("gone")]
    assert (gone["source_url"], gone["target_status"], gone["target_status_code"]) == (url(""), "completed", 404)
    [other] = [link for link in found if link["link_type"] == "external"]
    assert (other["target_url"], other["target_status"]) == (url("x", "b.example"), "discovered")
    [marked] = [link for link in found if link["rel_attribute"]]
    assert (marked["rel_attribute"], marked["anchor_text"], marked["fragment"]) == ("nofollow", "+1", "part")


def test_every_table_has_the_same_columns_with_and_without_rows(store: SqliteStore) -> None:
    for table in TABLES:
        found = lines(store, table)
        assert {tuple(line) for line in found} == {tuple(column.name for column in store.export.dump(table, _ALL).columns)}


_ALL = ExportSelection()


@given(st.text(), st.recursive(st.none() | st.booleans() | st.text(), lambda inner: st.dictionaries(st.text(), inner)))
def test_any_text_and_any_json_comes_back_on_one_line(text: str, value: object) -> None:
    columns = (ExportColumn("a", ColumnKind.TEXT), ExportColumn("b", ColumnKind.JSON))
    out = StringIO(newline="")
    write_jsonl(ExportGrid("t", columns, iter([(text, json.dumps(value))])), out)
    line = out.getvalue()
    assert line.splitlines() == [line.removesuffix("\n")]
    assert all(char.isprintable() or char.isspace() for char in line.removesuffix("\n") if ord(char) < 0xA0)
    assert json.loads(line) == {"a": text, "b": value}


def test_what_is_no_json_stays_text() -> None:
    out = StringIO()
    write_jsonl(ExportGrid("t", (ExportColumn("a", ColumnKind.JSON),), iter([("{",), (None,)])), out)
    assert out.getvalue() == '{"a":"{"}\n{"a":null}\n'
