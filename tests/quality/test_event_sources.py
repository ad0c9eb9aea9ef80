"""Whole sources as they are found in the wild: nothing of them is lost, and nothing is made up.

The files in `event_sources/` are our own. The corpora of municipal tables and of schema.org pages are read when they are beside
the project; what must come out is counted there by other means: the standard library's `csv`, and the expected JSON of a page.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tadoru.model.event import RawEvent
from tadoru.parse.lenient_json import loads
from tadoru.parse.sources.api import ApiSettings, read_api
from tadoru.parse.sources.html_page import HtmlSettings, read_html
from tadoru.parse.sources.schema_org import EVENT_TYPES, read_schema_org
from tadoru.parse.sources.table import read_csv
from tests.support.corpora import corpus, needs_corpus

OWN = Path(__file__).parent / "event_sources"
TABLES, PAGES = corpus("event-japan"), corpus("schema-event")
URL = "https://town.test/"

needs_tables, needs_pages = needs_corpus("event-japan"), needs_corpus("schema-event")


def told(events: tuple[RawEvent, ...]) -> list[tuple[object, ...]]:
    return [(event.title, event.start, event.venue, event.price) for event in events]


def test_a_page_whose_json_is_broken_in_five_ways_tells_all_its_events() -> None:
    reading = read_html((OWN / "graph.html").read_bytes(), "text/html", URL)
    assert reading.problems == ()
    assert told(reading.events) == [
        ("夏祭り", "2026-08-01", "公民館", None),
        ("花火", "2026-08-01T19:30:00+09:00", "川原", None),
        ("盆踊り", "2026-08-02T18:00:00+09:00", "公民館", None),
        ('星の「読み方」 "講座"', "2026-09-05T10:00:00+09:00", "公民館", "300 JPY"),
    ]
    assert reading.events[0].url == "https://town.test/events/summer.html"


def test_a_page_of_microdata_and_rdfa_tells_all_its_events() -> None:
    reading = read_html((OWN / "marked.html").read_bytes(), "text/html", URL)
    assert reading.problems == ()
    assert told(reading.events) == [
        ("Quiet Concert", "2026-08-01T17:00+09:00", "Old Observatory", "12 EUR"),
        ("Maps of the Night", "2026-08-03", "Library", None),
    ]


def test_a_page_without_any_of_it_is_read_by_what_a_person_selects() -> None:
    fields = {"title": "./td[2]", "start": "./td[1]", "venue": "./td[3]/text()[1]", "url": "./td[2]/a/@href"}
    settings = HtmlSettings.from_mapping(
        {"item": "//table[@id='calendar']/tr[td]", "fields": fields, "next": "//a[@class='more']"}
    )
    reading = read_html((OWN / "selected.html").read_bytes(), "text/html", URL, settings)
    assert reading.problems == ()
    assert told(reading.events) == [
        ("町民運動会", "８月１日（土）", "町営グラウンド", None),
        ("川の清掃", "８月２３日（日）", "川原", None),
    ]
    assert reading.next_url == "https://town.test/?p=2"


def test_an_answer_is_read_by_its_mapping() -> None:
    mapping = {
        "items": "data",
        "epoch": "seconds",
        "fields": {
            "uid": "id",
            "title": "attributes.title.ja",
            "start": "attributes.begin",
            "venue": "attributes.places[].name",
            "price": {"path": "attributes.free", "map": {"true": "無料", "false": "有料"}},
        },
        "pagination": {"kind": "cursor", "path": "meta.next"},
    }
    reading = read_api((OWN / "answer.json").read_bytes(), None, URL, ApiSettings.from_mapping(mapping))
    assert reading.problems == ()
    assert told(reading.events) == [
        ("星まつり", datetime(2026, 8, 1, 8, tzinfo=UTC), "広場, 川原", "無料"),
        ("茶会", "2026-08-02", None, "有料"),
    ]
    assert (reading.events[0].uid, reading.next_url) == ("9007199254740993", "https://town.test/?cursor=c2")


def test_a_table_in_shift_jis_with_titles_above_its_header_is_read_row_by_row() -> None:
    reading = read_csv((OWN / "recommended.csv").read_bytes(), "text/csv", URL)
    assert reading.problems == ()
    assert told(reading.events) == [
        ("①星まつり\n（前夜祭）", "令和8年8月1日", "役場前広場", "無料"),
        ("おはなし会（０・１歳）", "R8.8.2", "髙﨑図書館", "５００円"),
        ("おはなし会（２・３歳）", "R8.8.2", "髙﨑図書館", None),
    ]
    assert {event.city for event in reading.events} == {"千代田区"}
    assert [event.description for event in reading.events] == ['"静かに"、とのこと', '=HYPERLINK("x")', None]


def test_a_table_in_utf_16_with_tabs_is_read_row_by_row() -> None:
    reading = read_csv((OWN / "registry.csv").read_bytes(), "text/tab-separated-values", URL)
    assert reading.problems == ()
    assert told(reading.events) == [("茶会", "2026/08/02", "公民館", None), ("清掃", "2026/08/23", "川原", None)]
    assert [event.is_cancelled for event in reading.events] == [True, False]


@needs_tables
def test_every_row_of_every_municipal_table_becomes_an_event() -> None:
    files = sorted(TABLES.glob("*.csv"))
    counted: Counter[str] = Counter()
    for file in files:
        body = file.read_bytes()
        header, *rows = csv.reader(io.StringIO(body.decode("utf-8-sig"), newline=""))
        rows = [row for row in rows if any(cell.strip() for cell in row)]
        reading = read_csv(body, "text/csv", URL)
        positions = [event.position for event in reading.events] + [problem.position for problem in reading.problems]
        assert len(set(positions)) == len(positions) == len(rows), file.name
        for event, row in zip(reading.events, rows, strict=True):
            cells = dict(zip(header, map(_lines, row), strict=True))
            assert (_lines(event.title or ""), str(event.start or ""), event.start_time or "") == (
                cells["名称"],
                cells["開始日"],
                cells["開始時刻"],
            )
            assert _lines(event.venue or "") == (cells["場所名称"] or cells["集合場所"] or cells["建物名等"])
        counted += Counter(rows=len(rows), events=len(reading.events), problems=len(reading.problems))
    assert len(files) == 96
    assert counted == Counter(rows=2899, events=2899)


def _lines(text: str) -> str:
    """A cell with the line ends that a table keeps."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


@needs_tables
def test_a_municipal_table_is_the_same_in_every_charset() -> None:
    file = min(TABLES.glob("*.csv"), key=lambda path: path.stat().st_size)
    text = file.read_text("utf-8-sig")
    expected = read_csv(text.encode(), None, URL).events
    assert expected
    for codec in ("utf-8-sig", "cp932", "utf-16", "utf-16-be"):
        assert read_csv(text.encode(codec), None, URL).events == expected, codec


def _expected(data: object) -> Iterator[tuple[str, str]]:
    """Name and start of every event in the JSON that goes with a page, in whichever form it is written."""
    if isinstance(data, dict):
        kinds = data.get("@type") or data.get("type") or []
        names = {re.split(r"[/:]", kind)[-1] for kind in ([kinds] if isinstance(kinds, str) else kinds)}
        if names & EVENT_TYPES:
            said = {re.split(r"[/:]", key)[-1]: value for key, value in data.get("properties", data).items()}
            yield _plain(said.get("name")), _plain(said.get("startDate"))
    inner = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    for value in inner:
        yield from _expected(value)


def _plain(value: object) -> str:
    while isinstance(value, list | dict):
        value = (value[0] if value else "") if isinstance(value, list) else value.get("@value", "")
    return " ".join(str(value or "").split())


def _answer(page: Path) -> Path:
    """The expected JSON of a page: of the same name, or of the next number."""
    number = re.fullmatch(r"songkick-([0-9]+)", page.stem)
    stem = f"songkick-{int(number[1]) + 1:02}" if number else page.stem
    return next(path for suffix in (".json", ".jsonld") if (path := page.with_name(stem + suffix)).exists())


@needs_pages
def test_every_event_that_is_expected_of_a_page_is_found_and_no_other() -> None:
    pages = sorted(PAGES.glob("*.html"))
    total = 0
    for page in pages:
        reading = read_schema_org(page.read_bytes(), "text/html; charset=utf-8", URL)
        found = Counter((_plain(event.title), _plain(str(event.start or ""))) for event in reading.events)
        assert found == Counter(_expected(json.loads(_answer(page).read_text()))), page.name
        assert reading.problems == (), page.name
        total += found.total()
    assert (len(pages), total) == (16, 87)


@needs_pages
@pytest.mark.parametrize("before, after", [("// made by hand\n", ""), ("", ";"), ("", ","), ("/* <![CDATA[ */", "/* ]]> */")])
def test_json_that_was_damaged_means_what_it_meant_before(before: str, after: str) -> None:
    files = sorted(path for path in PAGES.glob("*.jsonld") if "invalid" in path.name)
    assert len(files) == 7
    for file in files:
        text = file.read_text()
        damaged = before + re.sub(r"\}\s*\]\s*$", ",},]", text.replace("\\n", "\n")) + after
        with pytest.raises(ValueError, match=r"line \d+ column \d+"):
            json.loads(damaged)
        assert loads(damaged) == json.loads(text), file.name
