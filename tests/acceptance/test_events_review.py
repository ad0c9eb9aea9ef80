"""`tadoru events review` and `merges`: the five answers, and taking a merge back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tadoru.cli.main import run
from tadoru.i18n.translation import translator
from tadoru.model.event import QuarantinedEvent, ReviewReason
from tests.acceptance.command import Tadoru
from tests.support.calendar import Calendar, row

Asked = Callable[..., str]


@pytest.fixture
def calendar(tmp_path: Path) -> Iterator[Calendar]:
    """Review 1 is about a row without a date, 2 about one with a date nobody can read, 3 about two events that may be one."""
    made = Calendar(tmp_path / "events.db")
    made.say(
        made.source(), row("日時未定の会", "", venue="公民館"), row("謎の会", "八月のどこか"), row("読書会", "2050-08-03 14:00")
    )
    made.say(made.source("観光協会"), row("読書会", "2050-08-03 15:00", price="無料"))
    yield made
    made.close()


@pytest.fixture
def say(calendar: Calendar, capsys: pytest.CaptureFixture[str]) -> Asked:
    """Runs a command that goes well; what it says on stdout."""

    def say(*arguments: str, code: int = 0) -> str:
        assert run(["events", "-d", calendar.path, *arguments]) == code
        said = capsys.readouterr()
        return said.err if code else said.out

    return say


def test_a_review_is_explained_in_the_language_of_the_terminal(tadoru: Tadoru, calendar: Calendar) -> None:
    english = "Start date missing."
    for arguments in (("list",), ("show", "1")):
        assert english in tadoru("events", "-d", "events.db", "review", *arguments).out
        japanese = tadoru("events", "-d", "events.db", "review", *arguments, env={"LC_ALL": "ja_JP.UTF-8"}).out
        assert english not in japanese
        assert translator("ja").gettext(english) in japanese


def titles(calendar: Calendar) -> list[str]:
    return [one.event.title for one in calendar.store.events.list(limit=100).items]


def test_questions_are_listed_with_what_they_are_about(tadoru: Tadoru, calendar: Calendar) -> None:
    lines = tadoru("events", "-d", "events.db", "review", "list").out.splitlines()
    assert len(lines) == 4
    assert "missing_required" in lines[1]
    assert "日時未定の会" in lines[1]
    assert "Start date missing." in lines[1]
    assert "parse_error" in lines[2]
    assert "dedupe_conflict" in lines[3]
    assert "Probability that both are one event: " in lines[3]
    found = json.loads(tadoru("events", "-d", "events.db", "review", "list", "--format", "json").out)
    assert [one["reason"] for one in found] == ["missing_required", "parse_error", "dedupe_conflict"]
    assert found[2]["candidate_ids"] == [1, 4]
    assert (found[0]["resolved_at"], found[0]["created_at"][-1]) == (None, "Z")


def test_a_pair_is_shown_side_by_side_with_the_reasons(tadoru: Tadoru, calendar: Calendar) -> None:
    out = tadoru("events", "-d", "events.db", "review", "show", "3").out
    lines = {line.split()[0]: line for line in out.splitlines() if line.strip()}
    assert "14:00" in lines["when"]
    assert "15:00" in lines["when"]
    assert lines["when"].endswith("differs")
    assert not lines["title"].endswith("differs")
    assert "Start times differ: 15:00 and 14:00" in out
    assert "tadoru events review merge 3" in out
    found = json.loads(tadoru("events", "-d", "events.db", "review", "show", "3", "--format", "json").out)
    assert [one["id"] for one in found["events"]] == [1, 4]
    assert 0 < found["detail"]["score"] < 1
    assert out.count(" %") == 1, "one figure that means one thing"


def test_a_row_that_lacks_something_is_shown_with_what_it_says(say: Asked) -> None:
    out = say("review", "show", "1")
    assert "Start date missing." in out
    assert "Data of source 1, 盛岡市 in row 1" in out
    assert "公民館" in out
    assert "tadoru events review fix 1 --set 'starts=2026-08-01 10:00'" in out


def test_merging_and_taking_it_back(calendar: Calendar, say: Asked) -> None:
    assert "Merged into event 4: 読書会" in say("review", "merge", "3", "--keep", "4")
    assert titles(calendar) == ["読書会"]
    assert "event 1 into event 4" in say("merges")
    [record] = json.loads(say("merges", "--event", "1", "--format", "json"))
    assert (record["kept_id"], record["absorbed_id"], record["undone_at"]) == (4, 1, None)
    assert record["reasons"]
    assert say("merges", "undo", str(record["id"])) == "Split into events 4 and 1; they are kept separate from now on.\n"
    assert titles(calendar) == ["読書会", "読書会"]
    assert "Undone" in say("merges")
    assert "Merge 1 is already undone." in say("merges", "undo", str(record["id"]), code=2)


def test_keeping_apart_is_not_asked_again(calendar: Calendar, say: Asked) -> None:
    assert say("review", "keep-apart", "3") == "Kept separate: events 1, 4.\n"
    calendar.say(calendar.store.sources.list()[1], row("読書会", "2050-08-03 15:00", price="100円"))
    assert [one.id for one in calendar.store.reviews.list()] == [1, 2]
    assert "keep-apart" in say("review", "list", "--all")


def test_fixing_a_row_makes_an_event_of_it_in_which_only_the_fixed_field_is_a_persons(calendar: Calendar, say: Asked) -> None:
    out = say("review", "fix", "1", "--set", "starts=2050年9月1日 10時")
    assert out == "Published event 2: 日時未定の会 · 2050-09-01 Thu 10:00.\n"
    story = calendar.store.events.provenance(2)
    assert story.event.city == "盛岡市"
    assert story.owners["occurrence"].owner == "person"
    assert "title" not in story.owners
    assert "venue" not in story.owners
    assert "is already resolved (fix)" in say("review", "fix", "1", "--set", "starts=2050-09-01", code=2)


def test_a_row_that_still_lacks_something_stays_in_the_queue(calendar: Calendar, say: Asked) -> None:
    assert "The item is still incomplete: Start date missing. Complete it with" in say("review", "retry", "1")
    assert say("review", "retry", "--all") == "Completed 0 of 2 incomplete items. 2 remain.\n"
    assert [one.id for one in calendar.store.reviews.list()] == [1, 2, 3]


def test_a_row_is_read_again_with_the_settings_that_its_source_has_now(calendar: Calendar, say: Asked) -> None:
    source = calendar.store.sources.list()[0]
    raw = row("外国の会", "04/05/2050 10:00")
    calendar.say(source, bad=[QuarantinedEvent(raw=raw, reason=ReviewReason.PARSE_ERROR, why="It could not be read then.")])
    calendar.store.sources.edit(source.id, {"settings": {"date_order": "day"}}, "test")
    assert say("review", "retry", "--all") == "Completed 1 of 3 incomplete items. 2 remain.\n"
    [found] = [one.event for one in calendar.store.events.list(limit=100).items if one.event.title == "外国の会"]
    assert str(found.local_date) == "2050-05-04", "the day comes first now"


def test_a_dismissed_question_is_not_asked_again(calendar: Calendar, say: Asked) -> None:
    assert say("review", "dismiss", "1") == "Dismissed review 1.\n"
    assert "日時未定の会" not in say("review", "list")
    assert titles(calendar) == ["読書会", "読書会"]


def test_several_questions_are_answered_at_once_and_opened_again(calendar: Calendar, say: Asked) -> None:
    assert say("review", "dismiss", "1", "2") == "Dismissed review 1.\nDismissed review 2.\n"
    assert say("review", "keep-apart", "3") == "Kept separate: events 1, 4.\n"
    assert calendar.store.reviews.list() == ()
    assert say("review", "undo", "2", "3") == "Review 2 is open again.\nReview 3 is open again.\n"
    assert [one.id for one in calendar.store.reviews.list()] == [2, 3]


def test_nothing_waits(tadoru: Tadoru, calendar: Calendar) -> None:
    for number in (1, 2, 3):
        calendar.store.reviews.dismiss(number, "test")
    done = tadoru("events", "-d", "events.db", "review", "list")
    assert (done.out, done.err) == ("", "No open reviews.\n")
    assert tadoru("events", "-d", "events.db", "review", "list", "--format", "json").out == "[]\n"


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["review", "show", "99"], "Review 99 not found. `tadoru events review list` lists them."),
        (["review", "merge", "3", "--keep", "2"], "Review 3 is not about event 2, but about 1, 4."),
        (["review", "fix", "3", "--set", "title=x"], "Review 3 is not about an incomplete item. Use merge"),
        (
            ["review", "fix", "1", "--set", "starts=いつか"],
            "Cannot create an event: Cannot read the start: “いつか” is not a date",
        ),
        (["review", "fix", "1"], "“tadoru events review fix” needs --set, for example `tadoru events review fix 3"),
        (["review", "retry"], "Give the ID of a review, or --all."),
        (["review", "retry", "1", "--all"], "Give the ID of a review, or --all."),
        (["merges", "undo", "99"], "Merge 99 not found. `tadoru events show ID` lists the merges of an event."),
        (["merges", "--event", "99"], "Event 99 not found. `tadoru events list --all` lists all events."),
    ],
)
def test_bad_input_is_one_sentence(arguments: list[str], sentence: str, say: Asked) -> None:
    said = say(*arguments, code=2)
    assert said.startswith(f"tadoru: {sentence}"), said
    assert said.count("\n") == 1
