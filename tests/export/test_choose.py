"""What may be asked of an export: tables, filters, and sentences for what makes no sense."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tadoru.errors import UsageError
from tadoru.jobs.audit.export.exporter import ExportRequest, parse_statuses, parse_tables
from tadoru.store.crawl.export_reader import ExportSelection
from tadoru.store.crawl.export_tables import TABLES
from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.contract.crawls import url
from tests.export.crawls import exported


def paths(store: SqliteStore, table: str, column: str = "url", **filters: Any) -> list[str]:
    text = exported(store, "jsonl", tables=(table,), chosen=ExportSelection(**filters))[1].decode()
    return [json.loads(line)[column].removeprefix(url("")) for line in text.splitlines()]


CHOSEN = [
    pytest.param("pages", {"codes": ((404, 404),)}, ["gone"], id="a status code"),
    pytest.param("pages", {"codes": ((300, 499),)}, ["gone", "old"], id="a range of them"),
    pytest.param("pages", {"statuses": ("error",)}, ["down"], id="a state"),
    pytest.param("pages", {"statuses": ("error",), "codes": ((301, 301),)}, ["down", "old"], id="a state or a code"),
    pytest.param("pages", {"internal": False}, [url("x", "b.example")], id="external"),
    pytest.param("pages", {"checks": ("client-error",)}, ["gone"], id="pages with a finding"),
    pytest.param("pages", {"severities": ("warning", "error")}, ["a", "gone"], id="pages with grave findings"),
    pytest.param("pages", {"checks": ("title-long",), "severities": ("error",)}, [], id="no check is both"),
    pytest.param("pages", {"url": "https://a.example/*d*"}, ["doc.pdf", "down", "hidden", "old"], id="a pattern of URLs"),
    pytest.param("pages", {"url": "https://a.example/*d*", "codes": ((200, 299),)}, ["doc.pdf", "hidden"], id="two filters"),
    pytest.param("findings", {"severities": ("notice",)}, ["stray"], id="findings about no page"),
    pytest.param("findings", {"checks": ("title-long",)}, ["a"], id="findings of a check"),
    pytest.param("findings", {"codes": ((404, 404),)}, ["gone"], id="findings by how the page answered"),
    pytest.param("findings", {"url": "*stray"}, ["stray"], id="findings by what they are about"),
    pytest.param("headings", {"checks": ("title-long",)}, ["a", "a"], id="headings of pages with a finding"),
    pytest.param("headings", {"codes": ((404, 404),)}, [], id="headings of other pages"),
    pytest.param("resources", {"statuses": ("discovered",), "internal": True}, ["i.png"], id="resources"),
    pytest.param("errors", {"url": "*down"}, ["down"], id="errors by URL"),
]


@pytest.mark.parametrize("table, filters, expected", CHOSEN)
def test_only_what_was_chosen(table: str, filters: dict[str, Any], expected: list[str], store: SqliteStore) -> None:
    assert paths(store, table, **filters) == expected


def test_links_are_chosen_by_their_targets_and_by_where_they_are(store: SqliteStore) -> None:
    assert paths(store, "links", "target_url", codes=((404, 404),)) == ["gone"]
    assert paths(store, "links", "target_url", internal=False) == [url("x", "b.example")]
    assert paths(store, "links", "target_url", url="*/a") == [""]
    assert paths(store, "links", "target_url", checks=("title-long",)) == [""]
    assert paths(store, "links", "source_url", statuses=("error",)) == ["hidden"]


def test_checks_are_chosen_by_name(store: SqliteStore) -> None:
    assert paths(store, "checks", "id", severities=("error",)) == ["client-error"]


@pytest.mark.parametrize("name", TABLES)
def test_a_filter_works_or_is_refused_but_never_ignored(name: str, store: SqliteStore) -> None:
    full = len(paths(store, name, next(column.name for column in TABLES[name].columns if column.kind.value == "text")))
    assert full
    filters = ({"codes": ((999, 999),)}, {"internal": False, "statuses": ("queued",)}, {"url": "nowhere"}, {"checks": ("x",)})
    for filters_of_one in filters:
        chosen = ExportSelection(**filters_of_one)
        try:
            ExportRequest(form="csv", tables=(name,), chosen=chosen).check()
        except UsageError:
            continue
        assert list(store.export.dump(name, chosen).rows) == []


REFUSED = [
    pytest.param({"form": "jsonl", "raw": True}, "--raw does not apply to --format jsonl", id="raw JSON"),
    pytest.param({"form": "csv", "base_url": "https://x/"}, "--base-url does not apply to --format csv", id="a base for CSV"),
    pytest.param({"form": "csv", "limit_nodes": 5}, "--limit-nodes does not apply to --format csv", id="nodes of CSV"),
    pytest.param({"form": "parquet", "output": "x", "gzip": True}, "--gzip does not apply", id="packing what is packed"),
    pytest.param({"form": "xlsx"}, "--format xlsx is binary. Write it to a file", id="a workbook to stdout"),
    pytest.param({"form": "warc", "output": "-"}, "--format warc is binary. Write it to a file", id="an archive to stdout"),
    pytest.param({"form": "csv", "tables": ("pages", "links")}, "Several tables need several files", id="two tables to stdout"),
    pytest.param({"form": "dot", "tables": ("links",)}, "Remove --table", id="tables of a graph"),
    pytest.param({"form": "sitemap", "chosen": ExportSelection(url="x")}, "Remove --table and", id="a chosen sitemap"),
    pytest.param(
        {"form": "csv", "tables": ("runs",), "chosen": ExportSelection(url="x")},
        "--url does not apply to the table runs", id="runs"
    ),
    pytest.param(
        {"form": "xlsx", "output": "x", "tables": tuple(TABLES), "chosen": ExportSelection(internal=True)},
        "--internal does not apply to the table checks", id="a filter that not every table has",
    ),
]  # fmt: skip


@pytest.mark.parametrize("order, sentence", REFUSED)
def test_what_makes_no_sense_is_refused_in_a_sentence(order: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        ExportRequest(**order).check()


def test_an_unknown_check_is_refused_with_the_one_that_was_meant(store: SqliteStore) -> None:
    with pytest.raises(UsageError, match=r"Unknown check “title-lnog”\. Did you mean “title-long”"):
        exported(store, "csv", chosen=ExportSelection(checks=("title-lnog",)))
    store.sql.execute("DELETE FROM checks")
    with pytest.raises(UsageError, match="is not an audit"):
        exported(store, "csv", chosen=ExportSelection(checks=("title-long",)))


@pytest.mark.parametrize(
    "words, expected",
    [
        (["404"], (((404, 404),), ())),
        (["4xx,5XX"], (((400, 499), (500, 599)), ())),
        (["300..399", "error, skipped"], (((300, 399),), ("error", "skipped"))),
        ([], ((), ())),
    ],
    ids=str,
)
def test_statuses_are_codes_ranges_and_states(words: list[str], expected: object) -> None:
    assert parse_statuses(words) == expected


@pytest.mark.parametrize("word", ["4x", "40", "0xx", "404-499", "broken", "4004", "４０４"])
def test_other_statuses_are_refused(word: str) -> None:
    with pytest.raises(UsageError, match=f"Invalid --status “{word}”"):
        parse_statuses([word])


def test_tables_are_named_one_by_one_or_with_commas_or_all() -> None:
    assert parse_tables([]) == ("pages",)
    assert parse_tables(["links,pages", "links"]) == ("links", "pages")
    assert parse_tables(["all"]) == tuple(TABLES)
    with pytest.raises(UsageError, match=r"Unknown table “link”\. Did you mean “links”"):
        parse_tables(["link"])


def test_several_tables_are_not_written_into_a_file(store: SqliteStore, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("mine")
    with pytest.raises(UsageError, match="Choose a folder"):
        exported(store, "csv", tmp_path / "x", tables=("pages", "links"))
    assert (tmp_path / "x").read_text() == "mine"
