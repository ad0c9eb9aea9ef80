"""`tadoru events run`: what is asked for, what is kept, and what a fault of a source does to the others."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from dataclasses import replace
from itertools import pairwise

import pytest

from tadoru.clock import SystemClock
from tadoru.config.options import EventsOptions
from tadoru.jobs.events.collect.source_settings import settings_from_pairs
from tadoru.jobs.events.collect.trial import preview_settings
from tadoru.store.calendar.records import CollectionState, RunLog
from tadoru.store.files import beside, open_files
from tests.acceptance.calendar import Calendar, ics, meeting, table, with_validator
from tests.support.exchange import Exchange, Reply
from tests.support.site import Site


def test_a_source_is_fetched_read_and_stored_with_its_snapshot_and_run_log(calendar: Calendar, site: Site) -> None:
    body = ics(meeting(1), meeting(2))
    site.reply("/a.ics", body=body, content_type="text/calendar")
    number = calendar.add(site.url("/a.ics"), "ics", name="Town")
    done = calendar.run()
    assert done.code == 0, done.err
    assert done.out.startswith("1 source: 2 events parsed, 2 new")
    assert calendar.titles() == ["Chess club 2", "Market 1"]
    [snapshot] = calendar.files("snapshots")
    assert snapshot.read_bytes() == body.encode()
    where = snapshot.relative_to(calendar.folder).as_posix()
    digest = hashlib.sha256(body.encode()).hexdigest()
    assert re.fullmatch(rf"var/snapshots/{number}/\d{{4}}-\d\d-\d\d/{digest}\.ics", where)
    [log] = calendar.files("runlogs")
    assert re.fullmatch(r"var/runlogs/\d{4}-\d\d-\d\d/1\.json", log.relative_to(calendar.folder).as_posix())
    record = json.loads(log.read_text("utf-8"))
    assert record["source_id"] == number
    assert record["status"] == "success"
    assert record["snapshot_paths"] == [where]
    assert {"fetched": 1, "parsed": 2, "upserted": 2, "quarantined": 0, "merged": 0, "review": 0}.items() <= record[
        "counts"
    ].items()
    assert record["error_summary"] == ""
    assert record["started_at"] <= record["finished_at"]


def test_what_did_not_change_is_not_fetched_again_and_leaves_no_snapshot(calendar: Calendar, site: Site) -> None:
    site.handle("/a.ics", with_validator(ics(meeting(1)), '"one"'))
    calendar.add(site.url("/a.ics"), "ics")
    calendar.run()
    again = calendar.run()
    assert "1 unchanged" in again.out
    assert len(calendar.files("snapshots")) == 1
    assert len(calendar.files("runlogs")) == 2
    asked = [seen.headers.get("if-none-match") for seen in site.requests if seen.path == "/a.ics"]
    assert asked == [None, '"one"']
    assert calendar.runs()[0].status == "success"


def test_both_validators_go_back_as_they_came(calendar: Calendar, site: Site) -> None:
    stamp = "Sat, 01 Aug 2026 09:00:00 +0900 (JST)"
    headers = {"ETag": 'W/"a b;c"', "Last-Modified": stamp}
    site.reply("/a.ics", body=ics(meeting(1)), content_type="text/calendar", headers=headers)
    calendar.add(site.url("/a.ics"), "ics")
    calendar.run()
    calendar.run()
    last = next(seen for seen in reversed(site.requests) if seen.path == "/a.ics")
    assert last.headers["if-none-match"] == 'W/"a b;c"'
    assert last.headers["if-modified-since"] == stamp


def test_other_settings_read_the_whole_source_again(calendar: Calendar, site: Site) -> None:
    site.handle("/a.ics", with_validator(ics(meeting(1)), '"one"'))
    number = calendar.add(site.url("/a.ics"), "ics")
    calendar.run()
    calendar("sources", "edit", str(number), "--set", "days_ahead=30")
    assert "1 event parsed" in calendar.run().out
    assert "if-none-match" not in site.requests[-1].headers


def test_a_source_of_several_pages_is_read_whole_each_time(calendar: Calendar, site: Site) -> None:
    def page(number: int, following: str | None) -> str:
        return json.dumps({"events": [{"name": f"Concert {number}", "at": f"2031-05-0{number}T18:00"}], "next": following})

    for number, following in ((1, "/api?page=2"), (2, "/api?page=3"), (3, None)):
        site.reply(f"/api?page={number}", body=page(number, following), content_type="application/json", headers={"ETag": '"x"'})
    settings = ("items=events", "fields.title=name", "fields.start=at")
    paging = ("pagination.kind=link", "pagination.path=next")
    calendar.add(site.url("/api?page=1"), "api", *settings, *paging)
    assert "3 events parsed, 3 new" in calendar.run().out
    site.reply("/api?page=2", body=page(9, None).replace("2031-05-09", "2031-06-09"), content_type="application/json")
    assert "2 events parsed" in calendar.run().out
    assert not any("if-none-match" in seen.headers for seen in site.requests)


def test_a_page_that_can_not_be_had_makes_the_run_partial_and_marks_nothing(calendar: Calendar, site: Site) -> None:
    first = json.dumps({"events": [{"name": "Concert", "at": "2031-05-01"}], "next": "/api?page=2"})
    second = json.dumps({"events": [{"name": "Market", "at": "2031-05-02"}]})
    site.reply("/api", body=first, content_type="application/json")
    site.reply("/api?page=2", body=second, content_type="application/json", times=1)
    site.reply("/api?page=2", status=404)
    settings = ("items=events", "fields.title=name", "fields.start=at")
    calendar.add(site.url("/api"), "api", *settings, "pagination.kind=link", "pagination.path=next")
    calendar.run()
    assert calendar.run().code == 0
    newest = calendar.runs()[0]
    assert newest.status == "partial"
    assert "page 2" in newest.error_summary
    assert calendar.vanished() == 0


def test_pages_about_single_events_are_followed_and_asked_for_by_their_own_validators(calendar: Calendar, site: Site) -> None:
    def about(name: str, day: int) -> str:
        data = {"@context": "https://schema.org", "@type": "Event", "name": name, "startDate": f"2031-05-0{day}T19:00+09:00"}
        return f'<script type="application/ld+json">{json.dumps(data)}</script>'

    site.html("/list", '<a class="e" href="/e/1">1</a><a class="e" href="/e/2">2</a><a href="/other">no</a>')
    site.handle("/e/1", with_validator(about("Recital", 1), '"1"', "text/html"))
    site.handle("/e/2", with_validator(about("Ballet", 2), '"2"', "text/html"))
    calendar.add(site.url("/list"), "html", "details=a.e")
    assert "2 events parsed, 2 new" in calendar.run().out
    assert "2 events parsed, 0 new" in calendar.run().out
    assert [seen.headers.get("if-none-match") for seen in site.requests if seen.path == "/e/1"] == [None, '"1"']
    assert site.hits("/other") == 0
    assert calendar.titles() == ["Ballet", "Recital"]


def test_a_failing_source_hurts_no_other_and_waits_longer_each_time(calendar: Calendar, site: Site) -> None:
    site.reply("/good.ics", body=ics(meeting(1)), content_type="text/calendar")
    site.reply("/bad.ics", status=404)
    good = calendar.add(site.url("/good.ics"), "ics", name="good")
    bad = calendar.add(
        site.url("/bad.ics"),
        "ics",
        name="bad",
    )
    done = calendar.run()
    assert done.code == 0
    assert "1 failed" in done.out
    waits = []
    for failures in (1, 2, 3):
        state = calendar.state(bad)
        assert state.failures == failures
        newest = next(run for run in calendar.runs() if run.source_id == bad)
        assert newest.status == "fail"
        assert newest.error_summary == "The server returned status 404."
        waits.append(_hours(newest, state))
        assert calendar.run("--source", str(bad)).code == 1
    assert [round(wait / 12) for wait in waits] == [1, 2, 4]
    assert calendar.state(good).failures == 0


def _hours(run: RunLog, state: CollectionState) -> float:
    assert run.finished_at is not None
    return (state.next_run_at - run.finished_at).total_seconds() / 3600


def test_a_passing_fault_is_asked_again_within_the_run(calendar: Calendar, site: Site) -> None:
    site.reply("/a.ics", status=500, times=1)
    site.reply("/a.ics", body=ics(meeting(1)), content_type="text/calendar")
    calendar.add(site.url("/a.ics"), "ics")
    assert calendar.run().code == 0
    assert site.hits("/a.ics") == 2


def test_robots_txt_is_obeyed_and_asked_once(calendar: Calendar, site: Site) -> None:
    site.robots("User-agent: *\nDisallow: /private/\n")
    site.reply("/private/a.ics", body=ics(meeting(1)), content_type="text/calendar")
    site.reply("/b.ics", body=ics(meeting(2)), content_type="text/calendar")
    calendar.add(site.url("/private/a.ics"), "ics")
    calendar.add(site.url("/b.ics"), "ics")
    calendar.run()
    calendar.run()
    assert site.hits("/private/a.ics") == 0
    assert site.hits("/robots.txt") == 1
    assert any("Disallowed by robots.txt" in run.error_summary for run in calendar.runs())


def test_a_host_is_asked_one_at_a_time_with_a_gap(calendar: Calendar, site: Site) -> None:
    open_now, most = 0, 0

    async def answer(exchange: Exchange, rest: str) -> None:
        nonlocal open_now, most
        open_now += 1
        most = max(most, open_now)
        await exchange.send(Reply(body=ics(meeting(int(rest))).encode(), content_type="text/calendar"))
        open_now -= 1

    site.handle("/c/*", answer)
    for number in range(5):
        calendar.add(site.url(f"/c/{number}"), "ics")
    assert calendar.run("--delay", "300ms").code == 0
    sent = [seen.at for seen in site.requests]
    assert len(sent) == 6
    assert most == 1
    assert min(later - earlier for earlier, later in pairwise(sent)) > 0.15
    assert sent[-1] - sent[0] > 4.5 * 0.3


def test_a_source_that_can_not_be_read_fails_with_its_snapshot_and_a_question(calendar: Calendar, site: Site) -> None:
    site.reply("/a.ics", body="<html>We are down for maintenance.</html>")
    calendar.add(site.url("/a.ics"), "ics")
    done = calendar.run()
    assert done.code == 1
    run = calendar.runs()[0]
    assert run.status == "fail"
    assert "BEGIN:VCALENDAR" in run.error_summary
    assert len(run.snapshot_paths) == 1
    assert calendar.reviews() == [], "what is wrong with a document is no event without a title"


def test_rows_that_lack_something_are_quarantined_and_counted(calendar: Calendar, site: Site) -> None:
    body = table(["盆踊り", "花火"]) + "\r\n".join([",2031-05-03,,,公民館", "夏祭り,そのうち,,,広場", ""])
    site.reply("/e.csv", body=body, content_type="text/csv")
    calendar.add(site.url("/e.csv"), "csv")
    calendar.run()
    run = calendar.runs()[0]
    assert (run.parsed_count, run.upserted_count, run.counts["quarantined"]) == (4, 2, 2)
    assert calendar.reviews() == ["missing_required", "parse_error"]
    assert calendar.titles() == ["盆踊り", "花火"] or calendar.titles() == ["花火", "盆踊り"]


def test_a_warning_about_an_event_that_was_read_is_reported_and_not_asked(calendar: Calendar, site: Site) -> None:
    site.reply("/a.ics", body=ics(meeting(1, DTEND="soon")), content_type="text/calendar")
    calendar.add(site.url("/a.ics"), "ics")
    calendar.run()
    run = calendar.runs()[0]
    assert (run.status, run.counts["quarantined"]) == ("partial", 0)
    assert "DTEND" in run.error_summary
    assert calendar.reviews() == []


def test_two_sources_of_one_event_make_one_with_both_as_witnesses(calendar: Calendar, site: Site) -> None:
    site.reply("/a.csv", body=table(["第3回 納涼盆踊り大会"]), content_type="text/csv")
    site.reply("/b.csv", body=table(["第３回　納涼盆踊り大会"]), content_type="text/csv")
    calendar.add(site.url("/a.csv"), "csv", city="盛岡市")
    calendar.add(site.url("/b.csv"), "csv", city="盛岡市")
    calendar.run()
    [event] = calendar.events()
    with calendar.store() as store:
        assert {said.source_id for said in store.events.provenance(event.id).sightings} == {1, 2}


@pytest.mark.parametrize(
    "auth, expected",
    [
        (("auth.type=bearer",), ("authorization", "Bearer s3cret")),
        (("auth.type=header", "auth.header=X-Key"), ("x-key", "s3cret")),
        (("auth.type=basic", "auth.username=me"), ("authorization", "Basic bWU6czNjcmV0")),
    ],
)
def test_a_secret_goes_to_the_source_and_nowhere_else(
    calendar: Calendar, site: Site, elsewhere: Site, auth: tuple[str, ...], expected: tuple[str, str]
) -> None:
    site.redirect("/a.ics", elsewhere.url("/b.ics"))
    elsewhere.reply("/b.ics", body=ics(meeting(1)), content_type="text/calendar")
    calendar.add(site.url("/a.ics"), "ics", *auth, secret="TOWN_KEY", allow_private=True)
    assert calendar.run(env={"TOWN_KEY": "s3cret"}).code == 0
    name, value = expected
    assert next(seen for seen in site.requests if seen.path == "/a.ics").headers[name] == value
    assert all("s3cret" not in str(seen) and "Basic" not in str(seen) for seen in elsewhere.requests)
    files = [*calendar.files("runlogs"), calendar.folder / calendar.database]
    assert all(b"s3cret" not in file.read_bytes() for file in files)


def test_a_key_in_the_query_is_in_no_log_and_no_database(calendar: Calendar, site: Site) -> None:
    site.reply("/a.ics?key=s3cret", body=ics(meeting(1)), content_type="text/calendar")
    auth = ("auth.type=query", "auth.parameter=key")
    calendar.add(site.url("/a.ics"), "ics", *auth, secret="TOWN_KEY")
    assert calendar.run(env={"TOWN_KEY": "s3cret"}).code == 0
    assert site.hits("/a.ics?key=s3cret") == 1
    files = [*calendar.files("runlogs"), *(calendar.folder / "var").glob("tadoru.db*")]
    assert all(b"s3cret" not in file.read_bytes() for file in files)


def test_a_missing_secret_is_said_and_nothing_is_requested(calendar: Calendar, site: Site) -> None:
    calendar.add(site.url("/a.ics"), "ics", "auth.type=bearer", secret="TOWN_KEY")
    done = calendar.run()
    assert done.code == 1
    assert "TOWN_KEY" in done.out
    assert site.requests == []


def test_a_source_waits_for_the_one_it_depends_on(calendar: Calendar, site: Site) -> None:
    site.reply("/first.ics", body=ics(meeting(1)), content_type="text/calendar")
    site.reply("/second.ics", body=ics(meeting(2)), content_type="text/calendar")
    first = calendar.add(site.url("/first.ics"), "ics", priority=0)
    calendar.add(site.url("/second.ics"), "ics", priority=9, depends_on=first)
    calendar.run()
    assert [path for path in site.paths if path.endswith(".ics")] == ["/first.ics", "/second.ics"]


def test_only_what_is_due_is_collected(calendar: Calendar, site: Site) -> None:
    site.reply("/a.ics", body=ics(meeting(1)), content_type="text/calendar")
    calendar.add(site.url("/a.ics"), "ics")
    assert calendar.run("--due").out.startswith("1 source")
    assert calendar.run("--due").out == "No source is due. `tadoru events status` shows when each will be.\n"
    assert site.hits("/a.ics") == 1


def test_a_test_shows_what_would_be_read_and_stores_nothing(calendar: Calendar, site: Site) -> None:
    site.reply("/a.ics", body=ics(meeting(1)), content_type="text/calendar", headers={"ETag": '"1"'})
    number = calendar.add(site.url("/a.ics"), "ics")
    done = calendar("sources", "test", str(number), "--delay", "0")
    assert done.code == 0, done.err
    assert "/a.ics: 1 event, 0 incomplete, in 1 document." in done.out
    assert "Market 1" in done.out
    assert calendar.events() == []
    assert not list(calendar.folder.rglob("var/snapshots/**/*.ics"))
    site.reply("/a.ics", body=ics(meeting(1), meeting(2)), content_type="text/calendar", headers={"ETag": '"1"'})
    assert "2 events parsed, 2 new" in calendar.run().out
    assert site.hits("/a.ics") == 2
    calendar.run()
    assert site.requests[-1].headers["if-none-match"] == '"1"'


def test_a_preview_reads_the_saved_pages_of_events(calendar: Calendar, site: Site) -> None:
    site.reply("/list", body="<a class=e href=/1>1</a><a class=e href=/2>2</a><a class=n href=/3>3</a>", content_type="text/html")
    for number in (1, 2):
        site.reply(f"/{number}", body=f"<h1>Fair {number}</h1><i>2050-08-0{number}</i><b>Hall</b>", content_type="text/html")
    given = ("details=a.e", "fields.title=h1", "fields.start=i")
    number = calendar.add(site.url("/list"), "html", *given)
    calendar.run()
    asked = len(site.requests)
    with calendar.store() as store:
        source = store.sources.get(number)
        files = open_files(beside(str(calendar.folder / calendar.database)))
        for selector, titles, said in (("a.e", ["Fair 1", "Fair 2"], []), ("a", ["Fair 1", "Fair 2"], ["3 pages of events; 2"])):
            settings = settings_from_pairs([f"details={selector}", *given[1:], "fields.venue=b"])
            trial = preview_settings(store, files, EventsOptions(), replace(source, settings=settings), SystemClock())
            assert [(one.title, one.venue) for one in trial.drafts] == [(title, "Hall") for title in titles]
            assert [one for one in said if not any(one in sentence for sentence in trial.missing)] == []
    assert len(site.requests) == asked


def test_a_test_of_a_page_names_what_to_add_instead(calendar: Calendar, site: Site) -> None:
    site.reply("/page", body="<!doctype html><a href=/a.ics>Calendar</a>", content_type="text/html")
    for kind in ("html", "rss"):
        done = calendar("sources", "test", str(calendar.add(site.url("/page"), kind, name=kind)), "--delay", "0")
        assert f"{site.url('/a.ics')} (ics)" in done.out


@pytest.mark.parametrize("times", [1, 2])
def test_a_compressed_file_is_read_whatever_its_server_does_to_it(calendar: Calendar, site: Site, times: int) -> None:
    body = ics(meeting(1)).encode()
    for _ in range(times):
        body = gzip.compress(body)
    headers = {"Content-Encoding": "gzip"} if times == 2 else {}
    site.reply("/a.ics.gz", body=body, content_type="application/gzip", headers=headers)
    calendar.add(site.url("/a.ics.gz"), "ics")
    assert "1 event parsed" in calendar.run().out


def test_titles_with_commas_and_formulas_come_through_unharmed(calendar: Calendar, site: Site) -> None:
    site.reply("/e.csv", body=table(['"=HYPERLINK(""http://x"",""a"")"', "+1 夏の集い"]), content_type="text/csv")
    calendar.add(site.url("/e.csv"), "csv")
    calendar.run()
    assert '=HYPERLINK("http://x","a")' in calendar.titles()
    listed = calendar("list", "--all", "--format", "csv").out
    assert "'=HYPERLINK" in listed
    assert "'+1 夏の集い" in listed


def test_storage_that_can_not_be_reached_is_one_sentence_however_many_sources_there_are(calendar: Calendar, site: Site) -> None:
    for name in ("a", "b", "c"):
        site.reply(f"/{name}.ics", body=ics(meeting(1)), content_type="text/calendar")
        calendar.add(site.url(f"/{name}.ics"), "ics")
    keys = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_DEFAULT_REGION": "us-east-1", "AWS_MAX_ATTEMPTS": "1"}
    done = calendar.run("--files", "s3://bucket/prefix", env=keys | {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"})
    assert done.code == 1
    assert done.sentence.startswith("Cannot use s3://bucket/prefix (")
