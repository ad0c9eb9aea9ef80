"""`tadoru events enrich`, and collecting with it: what is filled in, what it costs, and that it never stands in the way."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tadoru.jobs.events.enrich.category_model import load_model
from tests.acceptance.calendar import Calendar, ics, meeting, with_validator
from tests.support.language_model import SILENCE, LanguageModel, RawResponse, says
from tests.support.site import Site

LONG = "We sing old songs in the hall. All are welcome. " + "There is much more to say about this evening and all it brings " * 3


@pytest.fixture
def llm() -> Iterator[LanguageModel]:
    with LanguageModel(lambda event: says("Music", "An evening of songs.")) as serving:
        yield serving


@pytest.fixture
def examples(calendar: Calendar) -> Path:
    """Events whose category is known."""
    rows = [
        f"{word} {number},{kind},town {number % 6}"
        for number in range(12)
        for word, kind in (("Choir", "Music"), ("Market", "Trade"))
    ]
    path = calendar.folder / "examples.csv"
    path.write_text("\n".join(["title,category,town", *rows, ""]), encoding="utf-8")
    return path


@pytest.fixture
def model(calendar: Calendar, examples: Path) -> str:
    done = calendar("enrich", "train", str(examples), "--group", "town", "-o", "model.npz")
    assert done.code == 0, done.err
    return "model.npz"


def serve(site: Site, *numbers: int, **more: str) -> None:
    site.reply("/a.ics", body=ics(*(meeting(number, **more) for number in numbers)), content_type="text/calendar")


def with_llm(llm: LanguageModel, *more: str) -> tuple[str, ...]:
    return ("--enrich", "llm", "--llm-url", llm.url, "--llm-model", "small", "--llm-category", "Music", *more)


def test_a_model_is_trained_described_and_used(calendar: Calendar, site: Site, model: str) -> None:
    shown = calendar("enrich", "show", model)
    assert "Macro-F1" in shown.out
    assert "examples.csv" in shown.out
    described = json.loads(calendar("enrich", "show", model, "--format", "json").out)
    assert described["counts"] == {"Music": 12, "Trade": 12}
    assert described["macro_f1"] == 1.0
    serve(site, 0, 1)
    calendar.add(site.url("/a.ics"), "ics")
    done = calendar.run("--enrich", "category", "--category-model", model)
    assert done.code == 0, done.err
    digest = load_model(calendar.folder / model).digest
    assert {one.title: one.category for one in calendar.events()} == {"Choir 0": "Music", "Market 1": "Trade"}
    assert {one.extra["category_from"] for one in calendar.events()} == {f"model {digest}"}
    assert [one["title"] for one in calendar.json("list", "--all", "--category", "Music")] == ["Choir 0"]


def test_training_twice_makes_the_same_file(calendar: Calendar, examples: Path, model: str) -> None:
    calendar("enrich", "train", str(examples), "--group", "town", "-o", "again.npz")
    one, other = (load_model(calendar.folder / name) for name in (model, "again.npz"))
    assert one.digest == other.digest


def test_a_run_without_it_fills_in_nothing(calendar: Calendar, site: Site) -> None:
    serve(site, 1, DESCRIPTION=LONG)
    calendar.add(site.url("/a.ics"), "ics")
    calendar.run()
    [event] = calendar.events()
    assert event.category == ""
    assert not {"summary", "summary_from", "category_from"} & set(event.extra)


def test_an_unchanged_event_is_stored_once(calendar: Calendar, site: Site, model: str) -> None:
    serve(site, 0, 1, DESCRIPTION=LONG)
    calendar.add(site.url("/a.ics"), "ics")
    options = ("--enrich", "category", "--enrich", "summary", "--category-model", model)
    assert "2 new, 0 changed" in calendar.run(*options).out
    assert "0 new, 0 changed" in calendar.run(*options).out
    [event, _] = calendar.events()
    assert (event.extra["summary"], event.extra["summary_from"]) == ("We sing old songs in the hall. All are welcome.", "extract")


def test_events_are_filled_in_when_it_is_switched_on_later(calendar: Calendar, site: Site, model: str) -> None:
    site.handle("/a.ics", with_validator(ics(meeting(1)), '"one"'))
    calendar.add(site.url("/a.ics"), "ics")
    calendar.run()
    options = ("--enrich", "category", "--category-model", model)
    assert "1 changed" in calendar.run(*options).out
    assert [one.category for one in calendar.events()] == ["Trade"]
    assert "1 unchanged" in calendar.run(*options).out


def test_a_model_learns_from_what_sources_said_and_not_from_itself(calendar: Calendar, site: Site, model: str) -> None:
    site.reply("/a.ics", content_type="text/calendar", body=ics(*(meeting(n, CATEGORIES=f"Kind {n % 2}") for n in range(24))))
    site.reply("/b.ics", content_type="text/calendar", body=ics(*(meeting(n) for n in range(30, 34))))
    calendar.add(site.url("/a.ics"), "ics")
    calendar.add(site.url("/b.ics"), "ics")
    calendar.run("--enrich", "category", "--category-model", model)
    assert sum("category_from" in one.extra for one in calendar.events()) > 0
    done = calendar("enrich", "train", "--from-database", "--no-trial", "-o", "own.npz")
    assert done.code == 0, done.err
    assert load_model(calendar.folder / "own.npz").training.counts == {"Kind 0": 12, "Kind 1": 12}


def test_evaluating_tells_how_good_a_model_would_be(calendar: Calendar, examples: Path) -> None:
    done = calendar("enrich", "evaluate", str(examples), "--group", "town")
    assert done.code == 0, done.err
    assert "Macro-F1  " in done.out
    assert "1.000 over all categories" in done.out
    assert json.loads(calendar("enrich", "evaluate", str(examples), "--format", "json").out)["groups"] == 24


@pytest.mark.parametrize(
    "arguments, why",
    [
        (("train", "-o", "m.npz"), "Training data missing"),
        (("train", "--from-database", "-o", "m.npz"), "not found"),
        (
            ("train", "--from-database", "--group", "x", "-o", "m.npz"),
            "--text, --category and --group are columns of a table. Omit them with --from-database.",
        ),
        (("train", "examples.csv", "--text", "a,b,c,d", "-o", "m.npz"), "up to three columns"),
        (("evaluate", "examples.csv", "--category", "kind"), "no column “kind”"),
        (("show", "examples.csv"), "is not a category model"),
    ],
)
def test_bad_input_gets_one_sentence(calendar: Calendar, examples: Path, arguments: tuple[str, ...], why: str) -> None:
    done = calendar("enrich", *arguments)
    assert done.code == 2
    assert why in done.sentence


def test_an_endpoint_fills_in_and_is_asked_once(calendar: Calendar, site: Site, llm: LanguageModel) -> None:
    serve(site, 1, 2, DESCRIPTION=LONG)
    calendar.add(site.url("/a.ics"), "ics")
    options = with_llm(llm, "--llm-key", "LLM_KEY", "-vv")
    done = calendar.run(*options, env={"LLM_KEY": "s3cret"})
    assert done.code == 0, done.err
    for event in calendar.events():
        assert event.category == "Music"
        assert event.extra["category_from"] == event.extra["summary_from"] == "llm small"
        assert event.extra["summary"] == "An evening of songs."
    assert "0 changed" in calendar.run(*options, env={"LLM_KEY": "s3cret"}).out
    assert [asked.headers["authorization"] for asked in llm.asked] == ["Bearer s3cret"] * 2
    assert len(calendar.files("enriched")) == 2
    everything = [path for path in (calendar.folder / "var").rglob("*") if path.is_file()]
    assert all(b"s3cret" not in path.read_bytes() for path in everything)
    assert "s3cret" not in done.out + done.err


@pytest.mark.parametrize(
    "answer", [RawResponse(status=500), SILENCE, says("Politics", "<b>x</b>")], ids=["500", "silence", "not allowed"]
)
def test_an_endpoint_that_fails_costs_no_event(
    calendar: Calendar, site: Site, llm: LanguageModel, answer: str | RawResponse
) -> None:
    llm.answer = lambda event: answer
    serve(site, 1, 2, DESCRIPTION=LONG)
    calendar.add(site.url("/a.ics"), "ics")
    done = calendar.run(*with_llm(llm, "--llm-timeout", "200ms"))
    assert done.code == 0, done.err
    assert "2 events parsed, 2 new" in done.out
    assert [(one.category, dict(one.extra)) for one in calendar.events()] == [("", {}), ("", {})]
    assert calendar.runs()[0].status == "success"


def test_what_the_budget_left_over_is_asked_about_in_the_next_run(calendar: Calendar, site: Site, llm: LanguageModel) -> None:
    site.handle("/a.ics", with_validator(ics(*(meeting(number) for number in range(5))), '"one"'))
    calendar.add(site.url("/a.ics"), "ics")
    filled = []
    for _ in range(3):
        done = calendar.run(*with_llm(llm, "--llm-budget", "2"))
        filled.append(sum(one.category == "Music" for one in calendar.events()))
    assert filled == [2, 4, 5]
    assert len(llm.asked) == 5
    assert "budget" not in done.err
    assert "1 unchanged" in calendar.run(*with_llm(llm, "--llm-budget", "2")).out


def test_what_a_person_or_a_source_said_is_not_touched(calendar: Calendar, site: Site, llm: LanguageModel) -> None:
    site.reply("/a.ics", content_type="text/calendar", body=ics(meeting(1), meeting(2, CATEGORIES="Chess")))
    calendar.add(site.url("/a.ics"), "ics")
    calendar.run()
    number = next(one.id for one in calendar.events() if one.title == "Market 1")
    assert calendar("edit", str(number), "--set", "category=By hand").code == 0
    calendar.run(*with_llm(llm))
    by_title = {one.title: one for one in calendar.events()}
    assert by_title["Chess club 2"].category == "Chess"
    assert by_title["Market 1"].category == "By hand"
    assert "category_from" not in by_title["Market 1"].extra


@pytest.mark.parametrize(
    "arguments, why",
    [
        (("--enrich", "category"), "--category-model FILE"),
        (("--enrich", "llm"), "--llm-url and --llm-model"),
        (("--enrich", "llm", "--llm-url", "http://127.0.0.1:9", "--llm-model", "m", "--llm-key", "NO_SUCH_KEY"), "NO_SUCH_KEY"),
    ],
)
def test_what_can_not_work_is_said_at_once(calendar: Calendar, site: Site, arguments: tuple[str, ...], why: str) -> None:
    serve(site, 1)
    calendar.add(site.url("/a.ics"), "ics")
    done = calendar.run(*arguments)
    assert done.code == 2
    assert why in done.sentence
    assert site.requests == []


def test_a_file_that_was_merely_found_can_not_say_where_a_key_is_sent(calendar: Calendar, site: Site, llm: LanguageModel) -> None:
    serve(site, 1)
    calendar.add(site.url("/a.ics"), "ics")
    settings = {"enrich": ["llm"], "llm_url": llm.url, "llm_model": "small", "llm_category": ["Music"], "llm_key": "HOME_KEY"}
    (calendar.folder / "tadoru.yml").write_text(json.dumps({"events": settings}))
    done = calendar.run(env={"HOME_KEY": "s3cret"})
    assert done.code == 2
    assert "Pass --llm-url on the command line" in done.sentence
    assert llm.asked == []
    named = calendar.tadoru(
        "events", "-d", calendar.database, "--config", "tadoru.yml", "run", "--all", env={"HOME_KEY": "s3cret"}
    )
    assert named.code == 0, named.err
    assert len(llm.asked) == 1
