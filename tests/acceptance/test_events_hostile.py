"""Sources that mean harm: addresses that are none of theirs, bombs, endless pages, markup and formulas. Each is harmless."""

from __future__ import annotations

import inspect
import json
from contextlib import ExitStack
from dataclasses import replace

import pytest

from tadoru.clock import SystemClock
from tadoru.config.options import EventsOptions
from tadoru.jobs.events.collect.trial import PREVIEW_SECONDS, preview_settings
from tadoru.store.files import open_files
from tests.acceptance.calendar import Calendar, ics, meeting, table
from tests.support.exchange import Exchange, Reply
from tests.support.site import Site

BILLION = "".join(
    [
        '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a0 "lol">',
        *(f'<!ENTITY a{number} "{f"&a{number - 1};" * 10}">' for number in range(1, 10)),
        "]><rss version='2.0'><channel><item><title>&a9;</title><link>http://x/1</link></item></channel></rss>",
    ]
)
EXTERNAL = (
    '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/hostname">]>'
    "<rss version='2.0'><channel><item><title>&x; 2031-05-01</title></item></channel></rss>"
)


def test_a_source_may_not_lead_to_addresses_inside(calendar: Calendar, site: Site, elsewhere: Site) -> None:
    site.redirect("/a.ics", elsewhere.url("/secret.ics"))
    calendar.add(site.url("/a.ics"), "ics")
    assert calendar.run().code == 1
    assert elsewhere.requests == []
    assert "address" in calendar.runs()[0].error_summary


def test_neither_may_its_pages_nor_its_details(calendar: Calendar, site: Site, elsewhere: Site) -> None:
    page = json.dumps({"events": [{"name": "Fair", "at": "2031-05-01"}], "next": elsewhere.url("/secret")})
    site.reply("/api", body=page, content_type="application/json")
    site.html("/list", f'<a class="e" href="{elsewhere.url("/secret")}">x</a>')
    settings = ("items=events", "fields.title=name", "fields.start=at", "pagination.kind=link", "pagination.path=next")
    calendar.add(site.url("/api"), "api", *settings)
    calendar.add(site.url("/list"), "html", "details=a.e")
    calendar.run()
    assert elsewhere.requests == []


def test_what_a_person_named_is_permitted_and_stays_so_for_later_runs(calendar: Calendar, site: Site) -> None:
    site.reply("/a.ics", body=ics(meeting(1)), content_type="text/calendar")
    done = calendar("sources", "add", "--name", "a", "--type", "ics", "--url", site.url("/a.ics"))
    assert done.code == 0, done.err
    assert calendar.run().code == 0
    assert calendar.source(1).named_host == f"127.0.0.1:{site.port}"


@pytest.mark.parametrize("body", [BILLION, EXTERNAL], ids=["entities", "external entity"])
def test_an_xml_bomb_is_a_problem_of_its_source(calendar: Calendar, site: Site, body: str) -> None:
    site.reply("/feed", body=body, content_type="application/rss+xml")
    site.reply("/good.ics", body=ics(meeting(1)), content_type="text/calendar")
    calendar.add(site.url("/feed"), "rss")
    calendar.add(site.url("/good.ics"), "ics")
    calendar.run()
    assert "Market 1" in calendar.titles()
    assert set(calendar.titles()) <= {"Market 1", "&x; 2031-05-01"}, "an entity was filled in"


def test_a_calendar_bomb_loses_its_series_and_nothing_else(calendar: Calendar, site: Site) -> None:
    bombs = [
        meeting(1, RRULE="FREQ=SECONDLY"),
        meeting(2, RRULE="FREQ=SECONDLY;COUNT=2000000000"),
        meeting(3, RRULE="FREQ=MINUTELY;INTERVAL=1;BYMONTH=2;BYMONTHDAY=30"),
        meeting(4),
    ]
    site.reply("/a.ics", body=ics(*bombs), content_type="text/calendar")
    calendar.add(site.url("/a.ics"), "ics")
    assert calendar.run().code == 0
    assert "Swimming gala 4" in calendar.titles()
    assert len(calendar.titles()) <= 4


def test_endless_pages_end(calendar: Calendar, site: Site) -> None:
    async def page(exchange: Exchange, rest: str) -> None:
        number = int(rest or "1")
        body = {"events": [{"name": f"Fair {number}", "at": "2031-05-01"}], "next": f"/api/{number + 1}"}
        await exchange.send(Reply(body=json.dumps(body).encode(), content_type="application/json"))

    site.handle("/api/*", page)
    settings = ("items=events", "fields.title=name", "fields.start=at", "pagination.kind=link", "pagination.path=next")
    calendar.add(site.url("/api/1"), "api", *settings, "most_pages=7")
    calendar.run()
    assert sum(path.startswith("/api/") for path in site.paths) == 7


def endless_feed(site: Site, entries: int = 1, padding: int = 0) -> None:
    """A feed whose every page names another one."""

    async def page(exchange: Exchange, rest: str) -> None:
        number = int(rest)
        items = "".join(
            f"<entry><id>{number}-{one}</id><title>Fair {number}-{one} 2031-05-01</title></entry>" for one in range(entries)
        )
        body = (
            f'<feed xmlns="http://www.w3.org/2005/Atom"><link rel="next" href="/feed/{number + 1}"/>{items}'
            f"<!--{number:>{padding}}--></feed>"
        )
        await exchange.send(Reply(body=body.encode(), content_type="application/atom+xml"))

    site.handle("/feed/*", page)


def requested_pages(site: Site) -> int:
    return sum(path.startswith("/feed/") for path in site.paths)


def test_an_endless_feed_ends_at_its_page_limit_and_the_run_is_partial(calendar: Calendar, site: Site) -> None:
    endless_feed(site)
    calendar.add(site.url("/feed/1"), "rss")
    calendar.run()
    assert requested_pages(site) == 50
    assert len(calendar.titles()) == 50
    [run] = calendar.runs()
    assert run.status == "partial"
    assert "limits.pages" in run.error_summary


@pytest.mark.parametrize("limit", ["limits.bytes=30000", "limits.events=30"])
def test_bytes_and_events_of_one_run_are_limited(calendar: Calendar, site: Site, limit: str) -> None:
    endless_feed(site, entries=10, padding=10_000)
    calendar.add(site.url("/feed/1"), "rss", limit)
    calendar.run()
    assert requested_pages(site) == 3
    assert len(calendar.files("snapshots")) == 3
    [run] = calendar.runs()
    assert run.counts["parsed"] == 30
    assert run.status == "partial"
    assert limit.partition("=")[0] in run.error_summary


def test_events_over_the_limit_are_left_out_of_a_single_document(calendar: Calendar, site: Site) -> None:
    site.reply("/a.ics", body=ics(*map(meeting, range(1, 5))), content_type="text/calendar")
    calendar.add(site.url("/a.ics"), "ics", "limits.events=3")
    calendar.run()
    assert len(calendar.titles()) == 3
    assert "limits.events" in calendar.runs()[0].error_summary


def test_events_with_the_same_start_are_limited_and_the_run_is_partial(calendar: Calendar, site: Site) -> None:
    rows = "".join(f"Fair {number},2031-05-01\n" for number in range(5))
    site.reply("/a.csv", body=f"title,start\n{rows}Market,2031-05-02\n", content_type="text/csv")
    calendar.add(site.url("/a.csv"), "csv", "limits.same_start=3")
    calendar.run()
    assert len(calendar.titles()) == 4
    [run] = calendar.runs()
    assert run.status == "partial"
    assert "limits.same_start" in run.error_summary
    assert "2031-05-01" in run.error_summary


def test_pages_about_single_events_count_towards_the_bytes_of_a_run(calendar: Calendar, site: Site) -> None:
    site.html("/list", "".join(f'<a class="e" href="/e/{number}">x</a>' for number in range(20)))
    page = b"<h1>Fair</h1><time>2031-05-01</time><p>" + b"x" * 10_000
    site.handle("/e/*", lambda exchange, _: exchange.send(Reply(body=page)))
    calendar.add(site.url("/list"), "html", "details=a.e", "fields.title=h1", "fields.start=time", "limits.bytes=30000")
    calendar.run()
    assert sum(path.startswith("/e/") for path in site.paths) == 3
    assert "limits.bytes" in calendar.runs()[0].error_summary


def test_pages_that_lead_back_end(calendar: Calendar, site: Site) -> None:
    body = json.dumps({"events": [{"name": "Fair", "at": "2031-05-01"}], "next": "/api"})
    site.reply("/api", body=body, content_type="application/json")
    settings = ("items=events", "fields.title=name", "fields.start=at", "pagination.kind=link", "pagination.path=next")
    calendar.add(site.url("/api"), "api", *settings)
    calendar.run()
    assert site.hits("/api") == 1
    assert calendar.titles() == ["Fair"]


SLOW = "div:has(~ div:has(~ div:has(~ div .none)))"
"""On a page of 2,000 `div` elements this takes hours, and nothing interrupts it from within."""


def test_a_selector_that_takes_too_long_is_stopped_and_hurts_no_other_source(calendar: Calendar, site: Site) -> None:
    site.html("/slow", "<div><p>x</p></div>" * 2_000)
    site.html("/list", "".join(f'<a class="e" href="/slow?{number}">x</a>' for number in range(5)))
    site.handle("/slow", lambda exchange, _: exchange.send(Reply(body=b"<div><p>x</p></div>" * 2_000)))
    site.html("/good", "<p class=e><b>Fair</b> <i>2031-05-01</i></p>")
    calendar.add(site.url("/slow"), "html", f"item={SLOW}", "fields.title=p", name="slow")
    calendar.add(site.url("/list"), "html", "details=a.e", f"fields.title={SLOW}", name="details")
    calendar.add(site.url("/good"), "html", "item=.e", "fields.title=b", "fields.start=i", name="good")
    calendar.run("--timeout", "4")
    assert calendar.titles() == ["Fair"]
    summaries = {calendar.source(run.source_id).name: run.error_summary for run in calendar.runs()}
    assert "took more than 4 seconds" in summaries["slow"]
    assert "took more than 4 seconds" in summaries["details"]
    assert summaries["good"] == ""
    assert sum(path.startswith("/slow?") for path in site.paths) == 1


@pytest.mark.parametrize("timeout, seconds", [(0.5, PREVIEW_SECONDS), (30.0, 0.5)], ids=["the timeout", "its own limit"])
def test_a_preview_that_takes_too_long_is_stopped(timeout: float, seconds: float, calendar: Calendar, site: Site) -> None:
    site.html("/slow", "<div><p>x</p></div>" * 2_000)
    number = calendar.add(site.url("/slow"), "html", "item=.none", "fields.title=p")
    calendar.run()
    files = open_files(str(calendar.folder))
    with calendar.store() as store:
        typed = replace(store.sources.get(number), settings={"item": SLOW, "fields": {"title": "p"}})
        trial = preview_settings(store, files, EventsOptions(timeout=timeout), typed, SystemClock(), seconds=seconds)
    assert "took more than 0.5 seconds" in trial.error
    assert trial.drafts == []


def test_a_preview_may_parse_for_five_seconds_unless_it_is_given_another_limit() -> None:
    assert inspect.signature(preview_settings).parameters["seconds"].default == PREVIEW_SECONDS == 5


def test_a_body_without_end_is_cut_off(calendar: Calendar, site: Site) -> None:
    site.reply("/a.ics", body=b"x" * 300_000, content_type="text/calendar")
    calendar.add(site.url("/a.ics"), "ics")
    assert calendar.run("--max-response-size", "100k").code == 1
    assert calendar.files("snapshots") == []


def test_script_in_a_description_is_gone(calendar: Calendar, site: Site) -> None:
    evil = "<p onclick=x()>Come <script>alert(1)</script><a href='javascript:x()'>here</a> <b>all</b></p><img src=x onerror=y()>"
    site.reply("/a.ics", body=ics(meeting(1, DESCRIPTION=evil)), content_type="text/calendar")
    calendar.add(site.url("/a.ics"), "ics")
    calendar.run()
    [event] = calendar.events()
    assert all(word not in event.description for word in ("script", "onclick", "javascript", "onerror"))
    assert "all" in event.description


def test_control_characters_of_a_source_do_not_reach_the_terminal(calendar: Calendar, site: Site) -> None:
    site.reply("/e.csv", body=table(["赤\x1b[31m文字\x07"]), content_type="text/csv")
    calendar.add(site.url("/e.csv"), "csv", name="town\x1b]0;x\x07")
    done = calendar.run("-v")
    listed = calendar("list", "--all")
    assert all(sign not in text for text in (done.out, done.err, listed.out) for sign in ("\x1b[31m", "\x1b]0", "\x07"))


FAULTS = (
    "drop",
    "reset",
    "never",
    "partial",
    "cut-chunks",
    "endless",
    "drip",
    "bomb",
    "not-gzip",
    "loop",
    "garbage",
    "not-modified",
)


def test_servers_that_misbehave_are_failed_runs_and_hurt_no_other(calendar: Calendar, site: Site) -> None:
    with ExitStack() as stack:
        for fault in FAULTS:  # A server each: one alone would have to be asked one after the other.
            other = stack.enter_context(Site())
            other.misbehave("/a.ics", fault)
            calendar.add(other.url("/a.ics"), "ics", name=fault)
        site.reply("/good.ics", body=ics(meeting(1)), content_type="text/calendar")
        good = calendar.add(site.url("/good.ics"), "ics", name="good")
        assert calendar.run("--timeout", "500ms", "--max-response-size", "1MB").code == 0
    runs = calendar.runs()
    assert len(runs) == len(FAULTS) + 1
    assert {run.source_id for run in runs if run.status == "success"} == {good}
    assert all(run.error_summary for run in runs if run.source_id != good)
