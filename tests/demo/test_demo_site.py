"""The demo town: everything in it works except what is broken on purpose, and its server behaves like a good one."""

from __future__ import annotations

import csv
import http.client
import io
import json
import os
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from urllib.parse import urldefrag, urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser, LexborNode

from tadoru.demo.server import EVENTS, DemoSite, fill_dates, next_monday, running_site
from tadoru.errors import UsageError

BASE = "http://town.example"
MONDAY = date(2026, 11, 16)


@dataclass
class LinkWalk:
    """What a visitor who clicks every link finds, the calendar's other months left alone."""

    pages: dict[str, LexborHTMLParser] = field(default_factory=dict)
    statuses: dict[str, int] = field(default_factory=dict)
    links: list[tuple[str, str]] = field(default_factory=list)
    external: set[str] = field(default_factory=set)


@pytest.fixture(scope="module")
def town() -> DemoSite:
    return DemoSite.build(BASE, MONDAY)


@pytest.fixture(scope="module")
def walk(town: DemoSite) -> LinkWalk:
    found, waiting = LinkWalk(), ["/"]
    while waiting:
        path = waiting.pop()
        if path in found.statuses or "month=" in path:
            continue
        answer = town.respond(path)
        found.statuses[path] = answer.status
        if answer.location:
            waiting.append(answer.location)
        elif answer.status == 200 and answer.type.startswith("text/html"):
            page = found.pages[path] = LexborHTMLParser(answer.body.decode(answer.type.partition("charset=")[2]))
            for link in page.css("a[href]"):
                target = urljoin(BASE + path, link.attributes["href"])
                if target.startswith(BASE):
                    found.links.append((path, target[len(BASE) :]))
                    waiting.append(urldefrag(target[len(BASE) :])[0])
                else:
                    found.external.add(target)
    return found


def first(page: LexborHTMLParser | LexborNode, selector: str) -> LexborNode:
    found = page.css_first(selector)
    assert found is not None
    return found


def test_every_link_works_but_the_ones_broken_on_purpose(walk: LinkWalk) -> None:
    failing = {path: status for path, status in walk.statuses.items() if status >= 400}
    assert failing == {"/town/map-1998.html": 404, "/docs/rate-limits.html": 404, "/town/statistics": 500}
    assert len(walk.pages) >= 35


def test_every_fragment_exists_but_the_ones_missing_on_purpose(walk: LinkWalk) -> None:
    missing = set()
    for source, target in walk.links:
        path, fragment = urldefrag(target)
        if fragment and path in walk.pages and not walk.pages[path].css(f'[id="{fragment}"]'):
            missing.add((source, target))
    assert missing == {
        ("/town/moving.html", "/town/offices.html#sunday"),
        ("/news/bus-winter.html", "/access.html#boat"),
        ("/docs/changelog.html", "/docs/getting-started.html#moving-from-1-x"),
    }


def test_one_redirect_is_a_chain_and_one_is_a_loop(town: DemoSite) -> None:
    def hops(path: str) -> list[str]:
        seen: list[str] = []
        while (location := town.respond(path).location) and location not in seen:
            seen.append(location)
            path = location
        return seen

    assert hops("/old/") == ["/old/index.html", "/town/"]
    assert hops("/mobile/") == ["/mobile/top", "/mobile/"]
    assert hops("/news") == ["/news/"]


def test_what_leads_out_of_the_town_stays_on_this_machine(walk: LinkWalk) -> None:
    web = {url for url in walk.external if urlsplit(url).scheme in ("http", "https")}
    assert web == {"http://192.168.10.4/garage/"}


def test_the_faults_of_single_pages_are_where_they_are_said_to_be(walk: LinkWalk) -> None:
    def pages_without(selector: str) -> set[str]:
        return {path for path, page in walk.pages.items() if not page.css_first(selector)}

    titles: dict[str, set[str]] = {}
    for path, page in walk.pages.items():
        if title := page.css_first("head title"):
            titles.setdefault(title.text(), set()).add(path)
    assert pages_without("head title") == {"/town/history.html"}
    assert [paths for paths in titles.values() if len(paths) > 1] == [{"/news/bus.html", "/news/bus-winter.html"}]
    assert pages_without("meta[name=description]") == {"/town/mayor.html", "/private/press.html"}
    assert pages_without("h1") == set()
    assert {path for path, page in walk.pages.items() if page.css("img:not([alt])")} == {"/access.html"}
    assert {path for path, page in walk.pages.items() if page.css("meta[name=robots][content*=noindex]")} == {
        "/drafts/budget.html"
    }


def test_every_resource_of_a_page_is_there(town: DemoSite, walk: LinkWalk) -> None:
    resources = {
        element.attributes[name] or ""
        for page in walk.pages.values()
        for selector, name in (("img[src]", "src"), ("link[rel=stylesheet]", "href"), ("link[rel=icon]", "href"))
        for element in page.css(selector)
    }
    assert len(resources) >= 4
    assert [path for path in resources if town.respond(path).status != 200] == []


def test_the_sitemap_lists_one_page_that_nobody_links(town: DemoSite, walk: LinkWalk) -> None:
    tree = ET.fromstring(town.respond("/sitemap.xml").body)
    listed = {
        (element.text or "").removeprefix(BASE) for element in tree.iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc")
    }
    assert {town.respond(path).status for path in listed} == {200}
    assert listed - set(walk.pages) == {"/festival-archive.html"}


def test_robots_forbids_a_page_that_is_linked(town: DemoSite, walk: LinkWalk) -> None:
    lines = town.respond("/robots.txt").body.decode().splitlines()
    assert "Disallow: /private/" in lines
    assert f"Sitemap: {BASE}/sitemap.xml" in lines
    assert "/private/press.html" in walk.pages


def test_nothing_is_left_unfilled(town: DemoSite, walk: LinkWalk) -> None:
    marks = [path for path, answer in town.responses.items() if b"{{" in answer.body or b"[[" in answer.body]
    assert marks == []
    assert "[[" not in town.respond("/calendar").body.decode()
    assert first(walk.pages["/"], "link[rel=canonical]").attributes["href"] == f"{BASE}/"


def test_the_oldest_page_is_in_shift_jis(town: DemoSite) -> None:
    answer = town.respond("/archive/")
    assert answer.type == "text/html; charset=shift_jis"
    assert "町の記憶" in answer.body.decode("shift_jis")
    with pytest.raises(UnicodeDecodeError):
        answer.body.decode("utf-8")


# The event sources.


@pytest.mark.parametrize("offset, slug, title", EVENTS, ids=[slug for _, slug, _ in EVENTS])
def test_an_event_page_states_its_event_for_machines(offset: int, slug: str, title: str, walk: LinkWalk) -> None:
    event = json.loads(first(walk.pages[f"/events/{slug}.html"], 'script[type="application/ld+json"]').text())
    start = datetime.fromisoformat(event["startDate"])
    assert event["@type"] == "Event"
    assert event["name"].startswith(title)
    assert start.date() == MONDAY + timedelta(days=offset)
    assert start < datetime.fromisoformat(event["endDate"])


def test_the_calendar_shows_the_events_of_its_month(town: DemoSite) -> None:
    text = town.respond("/calendar?month=2026-12").body.decode()
    grid = text[text.index("<tbody>") : text.index("</tbody>")]
    assert '<span>6</span><a href="/events/concert.html">' in grid
    assert "star-festival" not in grid


@pytest.mark.parametrize("month", ["2026-13", "2026-00", "0000-05", "26-01", "x", "２０２６-01x"])
def test_a_month_that_is_none_is_not_found(month: str, town: DemoSite) -> None:
    assert town.respond(f"/calendar?month={month}").status == 404


@given(year=st.integers(1, 9999), month=st.integers(1, 12))
def test_the_calendar_has_no_end(year: int, month: int, town: DemoSite) -> None:
    def neighbour(of: str, rel: str) -> str:
        answer = town.respond(of)
        assert answer.status == 200
        return first(LexborHTMLParser(answer.body), f"a[rel={rel}]").attributes["href"] or ""

    here = f"/calendar?month={year:04}-{month:02}"
    after = neighbour(here, "next")
    assert after != here
    assert neighbour(after, "prev") == here


def test_the_api_has_two_pages(town: DemoSite) -> None:
    first = json.loads(town.respond("/api/events").body)
    second = json.loads(town.respond(first["next"].removeprefix(BASE)).body)
    assert town.respond("/api/events?page=1").body == town.respond("/api/events").body
    assert second["next"] is None
    assert len(first["events"]) + len(second["events"]) == first["total"] == second["total"]
    assert town.respond("/api/events?page=3").status == 404


def test_the_ics_keeps_to_its_form(town: DemoSite) -> None:
    body = town.respond("/events.ics").body
    lines = body.split(b"\r\n")
    assert b"\n" not in body.replace(b"\r\n", b"")
    assert max(len(line) for line in lines) <= 75
    assert lines.count(b"BEGIN:VEVENT") == lines.count(b"END:VEVENT") == 5
    assert b"RRULE:FREQ=WEEKLY;BYDAY=SA;COUNT=8" in lines
    assert b"DTSTART;TZID=Asia/Tokyo:20261121T190000" in lines


def test_the_csv_has_the_columns_of_the_municipal_event_list(town: DemoSite) -> None:
    rows = list(csv.DictReader(io.StringIO(town.respond("/opendata/events.csv").body.decode("utf-8-sig"), newline="")))
    assert len(rows[0]) == 32
    assert [row["イベント名"] for row in rows] == ["星まつり", "もちつき大会", "朝市", "子育て相談会", "冬の写真展"]
    assert [row["開始日"] for row in rows[:3]] == ["2026/11/21", "2026/11/28", "令和8年11月22日（日）"]
    assert all(None not in row and None not in row.values() for row in rows)


def test_the_feed_is_well_formed_and_leads_to_pages(town: DemoSite) -> None:
    items = list(ET.fromstring(town.respond("/feed.xml").body).iter("item"))
    assert len(items) == 4
    assert {town.respond((item.findtext("link") or "").removeprefix(BASE)).status for item in items} == {200}


def test_the_documentation_shows_code_in_many_languages(walk: LinkWalk) -> None:
    blocks = [
        block for path, page in walk.pages.items() if path.startswith("/docs/") for block in page.css("div[class^=highlight-]")
    ]
    languages = {(block.attributes["class"] or "").split()[0].removeprefix("highlight-") for block in blocks}
    assert {"bash", "python", "javascript", "json", "sql", "go", "yaml", "html", "pycon"} <= languages
    python = next(block for block in blocks if "highlight-python" in (block.attributes["class"] or ""))
    compile(first(python, "pre").text(), "the example", "exec")


# Days.


@pytest.mark.parametrize(
    "token, shown",
    [
        ("{{day+5}}", "2026-11-21"),
        ("{{month+20}}", "2026-12"),
        ("{{slash+20}}", "2026/12/6"),
        ("{{ics-14}}", "20261102"),
        ("{{rss-9}}", "Sat, 07 Nov 2026 09:00:00 +0900"),
        ("{{en+5}}", "Saturday, 21 November 2026"),
        ("{{ja+5}}", "2026年11月21日（土）"),
        ("{{era+5}}", "令和8年11月21日（土）"),
        ("{{other+5}} {{day}}", "{{other+5}} {{day}}"),
    ],
)
def test_a_day_is_shown_in_each_form(token: str, shown: str) -> None:
    assert fill_dates(f"<{token}>", MONDAY) == f"<{shown}>"


@given(st.dates(date(2020, 1, 1), date(2200, 1, 1)))
def test_days_are_counted_from_the_next_monday(day: date) -> None:
    monday = next_monday(day)
    assert monday.weekday() == 0
    assert timedelta(0) < monday - day <= timedelta(7)


# The server.


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with running_site() as url:
        yield url


@pytest.fixture
def connection(address: str) -> Iterator[http.client.HTTPConnection]:
    with connected(address) as opened:
        yield opened


def connected(address: str) -> closing[http.client.HTTPConnection]:
    return closing(http.client.HTTPConnection(address.removeprefix("http://"), timeout=20))


def ask(
    connection: http.client.HTTPConnection, path: str, method: str = "GET", **headers: str
) -> tuple[int, http.client.HTTPMessage, bytes]:
    connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    response = connection.getresponse()
    return response.status, response.headers, response.read()


@pytest.mark.parametrize(
    "path, kind",
    [
        ("/", "text/html; charset=utf-8"),
        ("/style.css", "text/css; charset=utf-8"),
        ("/images/logo.svg", "image/svg+xml"),
        ("/robots.txt", "text/plain; charset=utf-8"),
        ("/feed.xml", "application/xml"),
        ("/events.ics", "text/calendar; charset=utf-8"),
        ("/api/events?page=2", "application/json"),
        ("/opendata/events.csv", "text/csv; charset=utf-8"),
    ],
)
def test_a_file_comes_with_its_type(path: str, kind: str, connection: http.client.HTTPConnection) -> None:
    status, headers, body = ask(connection, path)
    assert (status, headers["Content-Type"], headers["Content-Length"]) == (200, kind, str(len(body)))


def test_one_connection_carries_many_requests(connection: http.client.HTTPConnection) -> None:
    ask(connection, "/")
    socket = connection.sock
    assert socket is not None
    assert [ask(connection, path)[0] for path in ("/old/", "/town/statistics", "/nowhere", "/news/")] == [301, 500, 404, 200]
    assert connection.sock is socket


def test_what_the_client_has_is_not_sent_again(connection: http.client.HTTPConnection) -> None:
    _, headers, _ = ask(connection, "/docs/")
    tag, changed = headers["ETag"], headers["Last-Modified"]
    for condition in ({"If_None_Match": f'"other", W/{tag}'}, {"If_None_Match": "*"}, {"If_Modified_Since": changed}):
        status, headers, body = ask(connection, "/docs/", **condition)
        assert (status, headers["ETag"], body) == (304, tag, b"")


@pytest.mark.parametrize(
    "condition",
    [
        {"If_None_Match": '"other"'},
        {"If_None_Match": '"other"', "If_Modified_Since": "Fri, 01 Jan 2100 00:00:00 GMT"},
        {"If_Modified_Since": "Thu, 01 Jan 1970 00:00:00 GMT"},
        {"If_Modified_Since": "yesterday"},
        {"If_Modified_Since": "Fri, 01 Jan 2100 00:00:00 -0000"},
    ],
    ids=["another tag", "a tag is asked before a date", "an old date", "no date", "a date without a zone"],
)
def test_what_the_client_lacks_is_sent(condition: dict[str, str], connection: http.client.HTTPConnection) -> None:
    assert ask(connection, "/docs/", **condition)[0] == 200


def test_head_is_get_without_a_body(connection: http.client.HTTPConnection) -> None:
    _, got, body = ask(connection, "/")
    status, headed, nothing = ask(connection, "/", "HEAD")
    assert (status, nothing, headed["Content-Length"], headed["ETag"]) == (200, b"", str(len(body)), got["ETag"])


@pytest.mark.parametrize(
    "path", ["/../routes.py", "/%2e%2e/routes.py", "/_layout/town.html", "/town/%00", "/%ff", "/town//", "*"]
)
def test_only_the_town_is_served(path: str, connection: http.client.HTTPConnection) -> None:
    status, _, body = ask(connection, path)
    assert status == 404
    assert "ページが見つかりません" in body.decode()


def test_the_server_is_gone_after_its_block() -> None:
    with running_site() as url, connected(url) as connection:
        assert ask(connection, "/")[0] == 200
    with connected(url) as connection, pytest.raises(ConnectionRefusedError):
        ask(connection, "/")


def test_the_server_ends_when_its_parent_is_killed() -> None:
    code = "from tadoru.demo.server import running_site\nwith running_site() as url:\n    print(url, flush=True)\n    input()"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    parent = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert parent.stdout is not None
    url = parent.stdout.readline().strip()
    assert url.startswith("http://127.0.0.1:")
    parent.send_signal(signal.SIGKILL)
    # The server holds the same stderr: the pipe ends when both are gone.
    assert parent.communicate(timeout=20)[1] == ""
    with connected(url) as connection, pytest.raises(ConnectionRefusedError):
        ask(connection, "/")


def test_a_taken_port_is_told_in_a_sentence(address: str) -> None:
    port = int(address.rpartition(":")[2])
    with pytest.raises(UsageError, match=rf"Cannot use port {port} of 127\.0\.0\.1"), running_site(port):
        pass
