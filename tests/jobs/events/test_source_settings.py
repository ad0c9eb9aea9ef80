"""The settings of sources: checked when they are saved, each mistake in one sentence."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tadoru.errors import ConfigError, UsageError
from tadoru.jobs.events.collect.readers import SourceDocument
from tadoru.jobs.events.collect.source_registry import check_source, parse_source_file
from tadoru.jobs.events.collect.source_settings import parse_source_settings, settings_from_pairs
from tadoru.model.event import SourceType
from tests.support.packages import declare


def test_pairs_become_nested_settings() -> None:
    pairs = ["items=data.events[]", "fields.title=name", "fields.start=at", 'columns={"title": ["a", "b"]}', "most_pages=3"]
    assert settings_from_pairs(pairs) == {
        "items": "data.events[]",
        "fields": {"title": "name", "start": "at"},
        "columns": {"title": ["a", "b"]},
        "most_pages": "3",
    }


def test_an_empty_value_takes_a_setting_away_and_leaves_the_old_ones_alone() -> None:
    before = {"fields": {"title": "name", "start": "at"}, "items": "x"}
    assert settings_from_pairs(["fields.start=", "items=y"], before) == {"fields": {"title": "name"}, "items": "y"}
    assert before == {"fields": {"title": "name", "start": "at"}, "items": "x"}


@pytest.mark.parametrize("pair", ["items", "=x", "a..b=x"])
def test_a_pair_that_is_none_is_refused(pair: str) -> None:
    with pytest.raises(UsageError, match="key=value"):
        settings_from_pairs([pair])


@pytest.mark.parametrize(
    "kind, settings, words",
    [
        ("api", {"items": "["}, "items"),
        ("api", {}, "fields.title"),
        ("html", {"item": "div["}, "item"),
        ("ics", {"days_ahead": "many"}, "days_ahead"),
        ("csv", {"encoding": "klingon"}, "encoding"),
        ("rss", {"nonsense": 1}, "nonsense"),
        ("ics", {"auth": {"type": "magic"}}, "auth.type"),
        ("ics", {"auth": {"type": "bearer"}}, "--secret"),
        ("ics", {"headers": {"Authorization": "Bearer x"}}, "auth"),
        ("ics", {"headers": {"X-A": "a\r\nB: c"}}, "headers.X-A"),
        ("ics", {"date_order": "martian"}, "date_order"),
        ("ics", {"reader": "no-such-plugin"}, "no-such-plugin"),
    ],
)
def test_a_mistake_is_named(kind: str, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words.replace(".", r"\.")):
        parse_source_settings(SourceType(kind), settings)


@pytest.mark.parametrize(
    "values, words",
    [
        ({"type": "xls"}, "rss, ics, api, html, csv"),
        ({"url": "ftp://town.example/"}, "ftp"),
        ({"timezone": "Tokyo"}, "Asia/Tokyo"),
        ({"secret": "Bearer abc"}, "name of an environment variable"),
    ],
)
def test_a_source_that_can_not_be_saved_is_said_in_a_sentence(values: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        check_source({"name": "a", "type": "ics", "url": "https://town.example/"} | values)


def test_yaml_opml_and_csv_give_the_same_sources() -> None:
    yaml = """
    sources:
      - {name: Town, type: rss, url: 'https://town.example/feed', city: 盛岡市, settings: {limit: 5}}
      - {name: Club, type: ics, url: 'https://club.example/a.ics', depends-on: Town}
    """
    table = (
        "name,type,url,city,settings.limit\nTown,rss,https://town.example/feed,盛岡市,5\nClub,ics,https://club.example/a.ics,,\n"
    )
    opml = """<?xml version="1.0"?><opml version="2.0"><body><outline text="News">
      <outline type="rss" text="Town" xmlUrl="https://town.example/feed"/>
      <outline type="rss" text="Club" xmlUrl="https://club.example/a.ics"/></outline></body></opml>"""
    found = {name: parse_source_file(text, name) for name, text in (("a.yml", yaml), ("a.csv", table), ("a.opml", opml))}
    for entries in found.values():
        assert [(one.values["name"], one.values["type"], one.values["url"]) for one in entries] == [
            ("Town", "rss", "https://town.example/feed"),
            ("Club", "ics", "https://club.example/a.ics"),
        ]
    assert found["a.yml"][0].values["city"] == found["a.csv"][0].values["city"] == "盛岡市"
    assert found["a.yml"][1].depends_on == "Town"


@pytest.mark.parametrize(
    "name, text, words",
    [
        ("a.yml", "[" * 5_000, "Cannot read a.yml: its lists and mappings are nested too deep"),
        ("a.csv", "name,type,url\n" + "x" * 200_000, "Cannot read a.csv as CSV"),
        ("a.csv", "name,type,url\na\rb,c,d", "Cannot read a.csv as CSV"),
        ("a.txt", "x", "must end in"),
        ("a.yml", "a: [", "not valid YAML"),
        ("a.yml", "a: 1", "list of sources"),
        ("a.yml", "- {name: a, type: ics}", "url is missing"),
        ("a.yml", "- {name: a, type: ics, url: x, colour: red}", "colour"),
        ("a.yml", "- {name: a, type: ics, url: x, priority: high}", "priority"),
        ("a.yml", "[]", "contains no sources"),
        ("a.csv", "a,b\n1,2\n", "columns name, type and url"),
        ("a.opml", "<opml>", "not valid OPML"),
        ("a.opml", '<!DOCTYPE x [<!ENTITY a "b">]><opml/>', "entities"),
    ],
)
def test_a_file_that_can_not_be_imported_is_said_in_a_sentence(name: str, text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        parse_source_file(text, name)


def test_a_reader_of_a_plugin_is_chosen_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = """
from tadoru.model.event import RawEvent, ParsedSource

class Lines:
    def prepare(self, mapping):
        return mapping.get("sign", "-")

    def first(self, url, settings):
        return url

    def read(self, document, settings):
        lines = [line for line in document.body.decode().splitlines() if settings in line]
        return ParsedSource(events=tuple(RawEvent(position="line", title=line) for line in lines))
"""
    (tmp_path / "lines_of_events.py").write_text(source, "utf-8")
    declare(tmp_path, "lines-of-events", {"tadoru.readers": {"lines": "lines_of_events:Lines"}})
    monkeypatch.syspath_prepend(tmp_path)
    found = parse_source_settings(SourceType.CSV, {"reader": "lines", "sign": "*"})
    now = datetime(2026, 8, 1, tzinfo=UTC)
    body = SourceDocument(
        body=b"* fair\nno", content_type=None, url="https://x.example/", headers=(), page=1, is_detail=False, now=now, zone="UTC"
    )
    assert [event.title for event in found.reader.read(body, found.own).events] == ["* fair"]


def test_a_plugin_that_is_no_reader_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "no_reader_at_all.py").write_text("class Nothing:\n    pass\n", "utf-8")
    declare(tmp_path, "no-reader-at-all", {"tadoru.readers": {"nothing": "no_reader_at_all:Nothing"}})
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match="no method prepare"):
        parse_source_settings(SourceType.CSV, {"reader": "nothing"})
