"""`tadoru events list` and `show`: the calendar in every form, and the story of an event, by the real command."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tadoru.cli.main import run
from tadoru.parse.sources.ics import read_ics
from tests.acceptance.command import Tadoru
from tests.support.calendar import NOW, Calendar, row

SERIES = "2050年7月6日~2050年8月31日 毎週水曜日 10:00~11:00"


@pytest.fixture
def calendar(tmp_path: Path) -> Iterator[Calendar]:
    made = Calendar(tmp_path / "events.db")
    town = made.source(licence="CC BY 4.0", terms_url="https://town.example/terms")
    made.say(
        town,
        row("さんさ踊り", "2050-08-01 10:00", end="2050-08-01 21:00", category="祭り", latitude=39.7, longitude=141.15),
        row("=朝市", "2050-08-02", end="2050-08-05", venue="駅前広場", description="<p>新鮮な<b>野菜</b></p>"),
        row("体操教室", SERIES, venue="体育館"),
        row("古い会", "2001-05-05 10:00"),
        row("【中止】花火", "2050-08-03 19:00", venue="河川敷"),
    )
    made.say(made.source("滝沢市", city="滝沢市"), row("星を見る会", "2050-08-01 19:00", venue="天文台"))
    yield made
    made.close()


def listed(tadoru: Tadoru, *arguments: str) -> list[dict[str, Any]]:
    done = tadoru("events", "-d", "events.db", "list", "--format", "json", *arguments)
    assert (done.code, done.err) == (0, "")
    found: list[dict[str, Any]] = json.loads(done.out)
    return found


def titles(capsys: pytest.CaptureFixture[str], calendar: Calendar, *arguments: str) -> list[str]:
    assert run(["events", "-d", calendar.path, "list", "--format", "json", *arguments]) == 0
    return [one["title"] for one in json.loads(capsys.readouterr().out)]


def test_json_is_a_plain_array_from_today_on_in_the_order_of_time(tadoru: Tadoru, calendar: Calendar) -> None:
    found = listed(tadoru)
    assert [one["title"] for one in found] == ["体操教室", "さんさ踊り", "星を見る会", "=朝市", "【中止】花火"]
    assert (found[1]["starts_at"], found[1]["ends_at"]) == ("2050-08-01T10:00:00+09:00", "2050-08-01T21:00:00+09:00")
    assert (found[1]["lat"], found[1]["licence"], found[1]["source_id"], found[1]["status"]) == (39.7, "CC BY 4.0", 1, "active")
    assert found[3]["all_day"] is True
    assert found[4]["cancelled_at"].endswith("Z")
    assert len(found[0]["occurrences"]) == 9


@pytest.mark.parametrize(
    "arguments, wanted",
    [
        (["--all"], ["古い会", "体操教室", "さんさ踊り", "星を見る会", "=朝市", "【中止】花火"]),
        (["--city", "滝沢市"], ["星を見る会"]),
        (["--city", "滝沢"], ["星を見る会"]),
        (["--from", "2050-08-03", "--to", "2050-08-03"], ["=朝市", "体操教室", "【中止】花火"]),
        (["--to", "2050-08-01"], ["体操教室", "さんさ踊り", "星を見る会"]),
        (["--from", "2001-01-01", "--to", "2001-12-31"], ["古い会"]),
        (["--category", "祭り"], ["さんさ踊り"]),
        (["--q", "野菜 朝市"], ["=朝市"]),
        (["--source", "2"], ["星を見る会"]),
        (["--limit", "2"], ["体操教室", "さんさ踊り"]),
        (["--city", "仙台市"], []),
    ],
)
def test_filters(arguments: list[str], wanted: list[str], calendar: Calendar, capsys: pytest.CaptureFixture[str]) -> None:
    assert titles(capsys, calendar, *arguments) == wanted


def test_archived_events_are_listed_with_all_only(calendar: Calendar, capsys: pytest.CaptureFixture[str]) -> None:
    assert calendar.store.retention.archive() == 1
    assert "古い会" in titles(capsys, calendar, "--all")
    assert titles(capsys, calendar, "--from", "2001-01-01", "--to", "2001-12-31") == []


def test_a_series_is_listed_at_the_first_time_that_fits(tadoru: Tadoru, calendar: Calendar) -> None:
    [found] = listed(tadoru, "--q", "体操", "--from", "2050-08-20")
    assert found["starts_at"] == "2050-08-24T10:00:00+09:00"


def test_a_csv_opens_in_a_spreadsheet_and_runs_nothing(tadoru: Tadoru, calendar: Calendar) -> None:
    done = tadoru("events", "-d", "events.db", "list", "-o", "out.csv", "--bom")
    assert (done.code, done.out, done.err) == (0, "", "Wrote out.csv.\n")
    raw = (tadoru.folder / "out.csv").read_bytes()
    assert raw.startswith(b"\xef\xbb\xbfid,title,")
    assert raw.count(b"\r\n") == raw.count(b"\n") == 6
    rows = list(csv.DictReader(io.StringIO(raw.decode("utf-8-sig"), newline="")))
    assert [one["title"] for one in rows][3] == "'=朝市"


def test_an_ics_is_read_back_whole(tadoru: Tadoru, calendar: Calendar) -> None:
    done = tadoru("events", "-d", "events.db", "list", "--format", "ics", "-o", "out.ics", "--lang", "ja")
    assert done.code == 0
    raw = (tadoru.folder / "out.ics").read_bytes()
    assert raw.count(b"\n") == raw.count(b"\r\n")
    reading = read_ics(raw, None, "https://example.org/", now=NOW)
    assert reading.problems == ()
    assert len(reading.events) == 4 + 9, "each date of the series is an event of its own"
    by_title = {one.title: one for one in reading.events}
    assert by_title["さんさ踊り"].start == datetime.fromisoformat("2050-08-01T10:00:00+09:00")
    assert by_title["【中止】花火"].is_cancelled
    assert "出典: " in (by_title["さんさ踊り"].description or "")
    assert "ライセンス: CC BY 4.0" in (by_title["さんさ踊り"].description or "")


def test_the_same_calendar_is_the_same_bytes(tadoru: Tadoru, calendar: Calendar) -> None:
    command = ("events", "-d", "events.db", "list", "--format", "ics")
    assert tadoru(*command).out == tadoru(*command).out


def width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def test_a_table_stands_in_columns_with_japanese_text_and_fits_the_terminal(tadoru: Tadoru, calendar: Calendar) -> None:
    done = tadoru("events", "-d", "events.db", "list", env={"COLUMNS": "72"})
    heading, *lines = done.out.splitlines()
    assert heading.split() == ["ID", "When", "Title", "Venue", "City"]
    assert max(map(width, lines)) <= 72
    where = width(heading[: heading.index("Venue")])
    starts = {"体育", "駅前", "市民", "天文", "河川"}
    for line in lines:
        cells = [char for char in line for _ in range(width(char))]
        assert "".join(dict.fromkeys(cells[where : where + 4])) in starts, line
    assert any("9 dates" in line for line in lines)
    assert any("cancelled" in line for line in lines)


def test_a_table_in_a_pipe_is_not_cut(tadoru: Tadoru, calendar: Calendar) -> None:
    source = calendar.store.sources.list()[0]
    calendar.say(source, row("とても長い名前の催し" * 12, "2050-09-01 10:00"))
    assert "とても長い名前の催し" * 12 in tadoru("events", "-d", "events.db", "list").out


def test_what_a_source_wrote_steers_no_terminal(tadoru: Tadoru, calendar: Calendar) -> None:
    with calendar.store.db.write() as sql:
        sql.exec_driver_sql("UPDATE events SET title = 'a' || char(27) || '[2Jb' WHERE id = 1")
    for command in (["list"], ["show", "1"]):
        out = tadoru("events", "-d", "events.db", *command).out
        assert "\x1b" not in out
        assert "a\ufffd[2Jb" in out


def test_an_empty_list_says_what_else_there_is(tadoru: Tadoru, calendar: Calendar) -> None:
    done = tadoru("events", "-d", "events.db", "list", "--city", "岡市")
    assert (done.code, done.out, done.err) == (0, "", "No events. There are events in 盛岡市.\n")


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["list", "--from", "soon"], "--from soon is not a date. Write it as 2026-08-01."),
        (["list", "--from", "2050-08-02", "--to", "2050-08-01"], "--to 2050-08-01 is before --from 2050-08-02. Swap them."),
        (["list", "--to", "2001-01-01"], "--to 2001-01-01 is in the past. Add --from or --all."),
        (["list", "--source", "99"], "Source 99 not found. `tadoru events sources list` lists them."),
        (["list", "--bom"], "--bom needs --format csv."),
        (["list", "-o", "nowhere/x.csv"], "--output nowhere/x.csv cannot be written: folder nowhere not found."),
        (["show", "99"], "Event 99 not found. `tadoru events list --all` lists all events."),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: list[str], sentence: str, calendar: Calendar, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["events", "-d", calendar.path, *arguments]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"tadoru: {sentence}\n")


def test_a_database_that_is_not_there_is_not_made(tadoru: Tadoru) -> None:
    done = tadoru("events", "-d", "evnets.db", "list")
    assert done.code == 2
    assert done.sentence.startswith("Database evnets.db not found. ")
    assert list(tadoru.folder.iterdir()) == []


def test_the_story_of_an_event_tells_who_says_what(tadoru: Tadoru, calendar: Calendar) -> None:
    other = calendar.source("観光協会")
    assert calendar.say(other, row("さんさ踊り", "2050-08-01 10:00", price="無料")).merged == 1
    assert tadoru("events", "-d", "events.db", "edit", "1", "--set", "organizer=実行委員会").code == 0
    done = tadoru("events", "-d", "events.db", "show", "1")
    assert done.code == 0
    for words in (
        "Event 1: さんさ踊り", "2050-08-01 Mon 10:00–21:00", "source 1, 盛岡市: seen", f"source {other.id}, 観光協会: seen",
        "無料 [source 3]", "[edited by ", "To undo: tadoru events merges undo 1", "organizer  empty → 実行委員会",
    ):  # fmt: skip
        assert words in done.out, (words, done.out)
    story = json.loads(tadoru("events", "-d", "events.db", "show", "1", "--format", "json").out)
    assert [one["source_id"] for one in story["sightings"]] == [1, 3]
    assert story["owners"]["organizer"]["owner"] == "person"
    assert story["merges"][0]["kept_id"] == 1
    assert story["history"][-1]["changes"]["organizer"] == ["", "実行委員会"]
    assert story["starts_at"] == "2050-08-01T10:00:00+09:00"
