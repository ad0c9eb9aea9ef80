"""`tadoru events runs` and `status`: the log of collecting, and how the sources do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tadoru.cli.main import run
from tadoru.model.event import RunStatus
from tests.acceptance.command import Tadoru
from tests.support.calendar import Calendar, row

SEED = "id source_id started_at finished_at status fetched_count parsed_count upserted_count error_summary"


@pytest.fixture
def calendar(tmp_path: Path) -> Iterator[Calendar]:
    made = Calendar(tmp_path / "events.db")
    town, tourism = made.source(), made.source("観光協会")
    made.say(town, row("さんさ踊り"), row("朝市", "2050-08-02"), row("日時未定の会", ""))
    made.say(tourism, row("さんさ踊り"))
    made.say(tourism, status=RunStatus.FAIL, error="The server returned status 503.")
    made.store.incidents.open(tourism.id, "failure", {"error": "The server returned status 503."})
    made.store.sources.disable(made.source("休止").id, "test")
    yield made
    made.close()


def test_the_log_is_a_plain_array_with_the_names_of_the_data_model(tadoru: Tadoru, calendar: Calendar) -> None:
    found = json.loads(tadoru("events", "-d", "events.db", "runs", "--format", "json").out)
    assert [one["id"] for one in found] == [3, 2, 1], "the newest first"
    assert set(SEED.split()) <= set(found[0])
    assert (found[0]["status"], found[0]["error_summary"]) == ("fail", "The server returned status 503.")
    assert (found[2]["fetched_count"], found[2]["parsed_count"], found[2]["upserted_count"]) == (1, 3, 2)
    assert (found[2]["counts"]["quarantined"], found[2]["counts"]["review"], found[1]["counts"]["merged"]) == (1, 1, 1)
    assert found[2]["snapshot_paths"] == []
    assert found[2]["started_at"].endswith("Z")


def test_the_log_of_one_source_as_a_table(tadoru: Tadoru, calendar: Calendar) -> None:
    done = tadoru("events", "-d", "events.db", "runs", "--source", "2", "--limit", "1")
    heading, line = done.out.splitlines()
    assert heading.split() == "ID Source Started Duration Status Fetched Parsed Stored Error".split()
    assert "2 観光協会" in line
    assert line.endswith("The server returned status 503.")


def test_a_run_that_is_under_way_has_no_status(calendar: Calendar, capsys: pytest.CaptureFixture[str]) -> None:
    calendar.store.runs.start(1)
    assert run(["events", "-d", calendar.path, "runs", "--limit", "1", "--format", "json"]) == 0
    [found] = json.loads(capsys.readouterr().out)
    assert (found["status"], found["finished_at"]) == (None, None)
    assert run(["events", "-d", calendar.path, "runs", "--limit", "1"]) == 0
    assert "running" in capsys.readouterr().out


def test_the_state_of_every_source_in_figures(tadoru: Tadoru, calendar: Calendar) -> None:
    found = json.loads(tadoru("events", "-d", "events.db", "status", "--format", "json").out)
    town, tourism, off = found["sources"]
    assert [one["state"] for one in found["sources"]] == ["ok", "failing", "disabled"]
    assert (tourism["runs"], tourism["failure_rate"], tourism["failures_in_a_row"]) == (2, 0.5, 1)
    assert (town["rows"], town["duplicate_rate"]) == (3, 0.3333), (
        "one of its three rows is about an event that another row is about"
    )
    assert (tourism["open_incidents"], tourism["last_error"]) == (["failure"], "The server returned status 503.")
    assert (town["lag_seconds"] >= 0, off["next_run_at"]) == (True, None)
    totals = found["totals"]
    assert totals["events"] == {"active": 2, "hidden": 0, "quarantine": 1}
    assert (totals["open_reviews"], totals["sources"], totals["rows"], totals["duplicate_rows"]) == (1, 3, 4, 1)


def test_the_state_as_a_table(tadoru: Tadoru, calendar: Calendar) -> None:
    out = tadoru("events", "-d", "events.db", "status").out
    assert "2 in the calendar, 1 in quarantine" in out
    assert "1 open" in out
    assert any(
        "failing" in line and "50%" in line and "failure: The server returned status 503." in line for line in out.splitlines()
    )


def test_a_database_without_anything_says_what_to_do(tadoru: Tadoru) -> None:
    Calendar(tadoru.folder / "new.db").close()
    done = tadoru("events", "-d", "new.db", "runs")
    assert (done.code, done.out, done.err) == (0, "", "No runs yet. Collect with `tadoru events run --all`.\n")
    assert tadoru("events", "-d", "new.db", "runs", "--format", "json").out == "[]\n"
    assert "No sources yet. Add one with" in tadoru("events", "-d", "new.db", "status").err


def test_a_source_that_is_not_there(calendar: Calendar, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["events", "-d", calendar.path, "runs", "--source", "99"]) == 2
    assert capsys.readouterr().err.startswith("tadoru: Source 99 not found. `tadoru events sources list` lists them.")
