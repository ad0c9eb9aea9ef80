"""`tadoru events add | edit | hide | unhide`: what a person writes is read as a source's words are, and is theirs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tadoru.cli.main import run
from tests.acceptance.command import Tadoru
from tests.support.calendar import Calendar, row

Edit = Callable[..., dict[str, Any]]


@pytest.fixture
def calendar(tmp_path: Path) -> Iterator[Calendar]:
    made = Calendar(tmp_path / "events.db")
    made.say(
        made.source(),
        row("さんさ踊り", "2050-08-01 10:00", end="2050-08-01 12:00", url="https://town.example/1", price="500円"),
        row("朝市", "2050-08-02", end="2050-08-05"),
        row("体操教室", "2050年7月6日~2050年8月31日 毎週水曜日 10:00~11:00"),
        row("日時未定の会", ""),
    )
    yield made
    made.close()


@pytest.fixture
def edit(calendar: Calendar, capsys: pytest.CaptureFixture[str]) -> Edit:
    """Edits an event by the command; the event as JSON."""

    def edit(event_id: int, *pairs: str, release: tuple[str, ...] = ()) -> dict[str, Any]:
        sets = [part for pair in pairs for part in ("--set", pair)] + [part for name in release for part in ("--release", name)]
        assert run(["events", "-d", calendar.path, "edit", str(event_id), *sets, "--format", "json"]) == 0
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    return edit


def test_an_event_is_added_and_is_in_the_calendar(tadoru: Tadoru) -> None:
    given = (
        "--title",
        "朝市",
        "--starts",
        "令和32年8月1日(月)6時~8時",
        "--venue",
        "駅前広場",
        "--address",
        "岩手県盛岡市盛岡駅前通1-1",
    )
    done = tadoru("events", "-d", "events.db", "add", *given, "--timezone", "Asia/Tokyo", "--url", "https://town.example/")
    assert done.code == 0, done.err
    assert done.out == "Added event 1: 朝市 · 2050-08-01 Mon 06:00–08:00 Asia/Tokyo · 駅前広場 · 盛岡市\n"
    [found] = json.loads(tadoru("events", "-d", "events.db", "list", "--format", "json").out)
    assert (found["starts_at"], found["source_id"]) == ("2050-08-01T06:00:00+09:00", None)
    assert found["city"] == "盛岡市", "from the address"


def test_the_zone_of_the_installation_is_that_of_what_is_added(tadoru: Tadoru) -> None:
    (tadoru.folder / "tadoru.toml").write_text('[events]\ntimezone = "Asia/Tokyo"\ndatabase = "here.db"\n')
    done = tadoru("events", "add", "--title", "朝市", "--starts", "2050-08-01", "--ends", "2050-08-03", "--all-day", "-f", "json")
    found = done.result
    assert (found["starts_at"], found["ends_at"]) == ("2050-08-01T00:00:00+09:00", "2050-08-04T00:00:00+09:00")
    assert found["all_day"] is True
    assert (tadoru.folder / "here.db").is_file()


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["--title", "x", "--starts", "いつか"], "Cannot create an event: Cannot read the start: “いつか” is not a date"),
        (["--title", " ", "--starts", "2050-08-01"], "Cannot create an event: Title missing. Enter a title."),
        (
            ["--title", "x", "--starts", "2050-08-01", "--url", "javascript:alert(1)"],
            "url javascript:alert(1) is not a web URL. Write it as https://….",
        ),
        (
            ["--title", "x", "--starts", "2050-08-01", "--timezone", "Tokyo"],
            "timezone Tokyo must be a time zone such as Asia/Tokyo or UTC.",
        ),
        (
            ["--title", "x", "--starts", "2050-08-01", "--lat", "north"],
            "Invalid coordinates. Enter both, such as lat=39.70 and lon=141.15.",
        ),
        (
            ["--title", "x", "--starts", "2050-08-01 10:00", "--ends", "?"],
            "The end ? is invalid or not after the start. Write it as 2026-08-01 12:",
        ),
        (["--starts", "2050-08-01"], "“tadoru events add” needs --title, for example `tadoru events add --title 朝市"),
    ],
)
def test_what_can_not_be_read_is_not_added(
    arguments: list[str], sentence: str, calendar: Calendar, capsys: pytest.CaptureFixture[str]
) -> None:
    before = calendar.store.statistics.totals()
    assert run(["events", "-d", calendar.path, "add", *arguments]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert said.err.startswith(f"tadoru: {sentence}"), said.err
    assert calendar.store.statistics.totals() == before


def test_a_field_that_a_person_wrote_stays_whatever_the_source_says(calendar: Calendar, edit: Edit) -> None:
    found = edit(1, "venue=中央公園", "price=")
    assert (found["venue"], found["price"]) == ("中央公園", "")
    source = calendar.store.sources.list()[0]
    calendar.say(
        source, row("さんさ踊り", "2050-08-01 10:00", end="2050-08-01 13:00", price="700円", url="https://town.example/1")
    )
    now = calendar.store.events.get(1)
    assert (now.venue, now.price) == ("中央公園", "")
    assert now.ends_at is not None
    assert now.ends_at.hour == 4, "what the person did not write follows the source"
    assert edit(1, release=("venue", "price"))["price"] == "700円"


def test_another_start_keeps_the_length_and_another_end_the_start(edit: Edit) -> None:
    moved = edit(1, "starts=2050-08-03 18:30")
    assert (moved["starts_at"], moved["ends_at"]) == ("2050-08-03T18:30:00+09:00", "2050-08-03T20:30:00+09:00")
    longer = edit(1, "ends=2050-08-03 22:00")
    assert (longer["starts_at"], longer["ends_at"]) == ("2050-08-03T18:30:00+09:00", "2050-08-03T22:00:00+09:00")
    days = edit(2, "starts=2050-08-10")
    assert (days["starts_at"][:10], days["ends_at"][:10], days["all_day"]) == ("2050-08-10", "2050-08-14", True)
    assert edit(1, release=("starts",))["starts_at"] == "2050-08-01T10:00:00+09:00"


def test_another_zone_keeps_what_the_clocks_show(edit: Edit) -> None:
    assert edit(1, "timezone=Europe/London")["starts_at"] == "2050-08-01T10:00:00+01:00"
    series = edit(3, "timezone=UTC")
    assert series["occurrences"][0]["starts_at"] == "2050-07-06T10:00:00+00:00"
    assert len(series["occurrences"]) == 9


def test_whole_days_and_cancelling(edit: Edit) -> None:
    found = edit(1, "all_day=yes", "cancelled=yes")
    assert (found["starts_at"], found["ends_at"]) == ("2050-08-01T00:00:00+09:00", "2050-08-02T00:00:00+09:00")
    assert found["cancelled_at"] is not None
    assert edit(1, "cancelled=no")["cancelled_at"] is None


def test_html_that_a_person_writes_is_made_safe(edit: Edit) -> None:
    assert edit(1, "description=<p onclick=x()>太鼓</p><script>x()</script>")["description"] == "<p>太鼓</p>"


def test_a_series_with_another_start_is_one_event_and_that_is_said(tadoru: Tadoru, calendar: Calendar) -> None:
    done = tadoru("events", "-d", "events.db", "edit", "3", "--set", "starts=2050-09-01 10:00")
    assert done.err == "Event 3 had 9 dates and now has one.\n"
    assert done.out == "Changed event 3: 体操教室 · 2050-09-01 Thu 10:00–11:00 Asia/Tokyo · 市民会館 · 盛岡市\n"


def test_a_hidden_event_is_not_in_the_calendar_until_it_is_put_back(tadoru: Tadoru, calendar: Calendar) -> None:
    assert tadoru("events", "-d", "events.db", "hide", "1").out.startswith("Hid event 1: さんさ踊り")
    assert "さんさ踊り" not in tadoru("events", "-d", "events.db", "list").out
    calendar.say(calendar.store.sources.list()[0], row("さんさ踊り", "2050-08-01 10:00", url="https://town.example/1"))
    assert calendar.store.events.get(1).status.value == "hidden", "no source brings it back"
    assert "さんさ踊り" in tadoru("events", "-d", "events.db", "list", "--hidden").out
    assert tadoru("events", "-d", "events.db", "unhide", "1").code == 0
    assert calendar.store.events.get(1).status.value == "active"


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["edit", "1"], "Nothing to change. Give --set FIELD=VALUE or --release FIELD."),
        (["edit", "1", "--set", "venue"], "Invalid --set venue. Write it as field=value, such as --set venue=市民会館."),
        (["edit", "1", "--set", "venu=x"], "Unknown field venu of an event. Did you mean venue?"),
        (["edit", "1", "--set", "title="], "Cannot create an event: Title missing. Enter a title."),
        (["edit", "1", "--set", "all_day=perhaps"], "all_day must be true or false."),
        (
            ["edit", "2", "--set", "all_day=no"],
            "An event that is not all day needs a start time, such as 2026-08-01 10:00.",
        ),
        (["edit", "1", "--set", "price=1", "--release", "price"], "Cannot both set and release the field price"),
        (["edit", "1", "--release", "venue"], "The field venue of event 1 was not edited manually: nothing to release."),
        (["edit", "4", "--set", "venue=x"], "Event 4 is in quarantine. Complete it with `tadoru events review fix`."),
        (["edit", "99", "--set", "venue=x"], "Event 99 not found. `tadoru events list --all` lists all events."),
        (["hide", "99"], "Event 99 not found. `tadoru events list --all` lists all events."),
        (["unhide", "4"], "Event 4 is in quarantine. Resolve its review first."),
        (["hide", "one"], "ID must be a whole number."),
    ],
)
def test_bad_input_changes_nothing(
    arguments: list[str], sentence: str, calendar: Calendar, capsys: pytest.CaptureFixture[str]
) -> None:
    before = [calendar.store.events.get(number) for number in range(1, 5)]
    assert run(["events", "-d", calendar.path, *arguments]) == 2
    said = capsys.readouterr()
    assert said.err.startswith(f"tadoru: {sentence}"), said.err
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert [calendar.store.events.get(number) for number in range(1, 5)] == before
