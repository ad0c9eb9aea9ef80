"""The life of a source, in virtual time: the real commands over days and weeks of faults, and that nothing waits too long."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tadoru.clock import to_datetime
from tadoru.jobs.events.collect.collector import STOPPING_GRACE
from tadoru.jobs.events.collect.source_fetch import DETAIL_BUDGET
from tadoru.jobs.events.collect.worker_pool import WORKER_LEASE
from tadoru.store.calendar.schedule import WORKER_STOPPED
from tests.acceptance.calendar import HEADER, ics, meeting
from tests.acceptance.source_life import (
    DAY,
    HOUR,
    START,
    Answer,
    SourceLife,
    Step,
    calendar_of,
    database_with_clock,
    html,
    moved,
    refusal,
    stop_process,
)
from tests.support.clock import FakeClock
from tests.support.exchange import Exchange, Reply
from tests.support.site import Site

FIVE = [meeting(number) for number in range(1, 6)]
TWENTY = [meeting(number) for number in range(1, 21)]
GOOD = {"/a": calendar_of(*FIVE)}
LISTED = {"item": "li", "fields": {"title": "b", "start": "time", "venue": "i", "url": "a::attr(href)"}}
PAGES = {"details": "a.e", "fields": {"title": "h1", "start": "time"}}


class Life(NamedTuple):
    """A source at `/a`, and its steps."""

    kind: str
    steps: list[Step]
    settings: dict[str, Any] = {}  # noqa: RUF012 - not changed
    timeout: float = 20.0
    is_stored: bool = False
    """Whether it is about what is stored, so that it is tried on PostgreSQL, too."""


def failing(world: Answer, why: str, **more: Any) -> Step:
    return Step(world={"/a": world}, code=1, says="1 failed", status="fail", log=why, **more)


def misbehaving(how: str) -> Callable[[SourceLife], object]:
    return lambda life: life.site.misbehave("/a", how)


def robots(line: str) -> Callable[[SourceLife], object]:
    return lambda life: life.site.robots(f"User-agent: *\n{line}\n")


def jumping(hours: float) -> Callable[[SourceLife], object]:
    """The clock jumps while the source is answered."""

    def prepare(life: SourceLife) -> None:
        async def answer(exchange: Exchange, _: str) -> None:
            life.clock.put_back(-hours * HOUR)
            await exchange.send(Reply(body=ics(*FIVE).encode(), content_type="text/calendar"))

        life.site.handle("/a", answer)

    return prepare


def items(*rows: str) -> Answer:
    """A list of HTML: "title|start|venue|link"."""
    row = "<li><b>{}</b><time>{}</time><i>{}</i><a href='{}'>x</a></li>"
    return html(f"<ul>{''.join(row.format(*one.split('|')) for one in rows)}</ul>")


def feed(*rows: str) -> Answer:
    """A feed: "title|text|link#id", without ids if none is given."""
    row = "<item><title>{}</title><description>{}</description><link>{}</link></item>"
    rows = tuple(re.sub(r"#(.+)$", r"</link><guid>\1</guid><link>", one) for one in rows)
    whole = "".join(row.format(*(part.replace("&", "&amp;") for part in one.split("|"))) for one in rows)
    return Answer(f"<rss version='2.0'><channel><title>Town</title>{whole}</channel></rss>", "application/rss+xml")


def sheet(*rows: str, header: str = f"NO,{HEADER}", encoding: str = "utf-8") -> Answer:
    """A municipal table."""
    return Answer("\r\n".join([header, *rows, ""]).encode(encoding), "text/csv")


def links(*paths: str, etag: str = "") -> Answer:
    return html("".join(f'<a class="e" href="{path}">x</a>' for path in paths), etag=etag)


def about(title: str, start: str, etag: str = "") -> Answer:
    return html(f"<h1>{title}</h1><time>{start}</time>", etag=etag)


OTHERS = [f"{title}|2031-03-0{day} 10:00|Hall|/e/{day}" for day, title in enumerate(("Choir", "Chess", "Films", "Books"), 2)]
SHOWN = ["Books, 03-05 10:00, Hall", "Chess, 03-03 10:00, Hall", "Choir, 03-02 10:00, Hall", "Films, 03-04 10:00, Hall"]

LIVES: dict[str, Life] = {
    "a host that asks for a day is left alone for a day and waited for by nobody": Life(
        "ics",
        [
            Step(world={"/a": calendar_of(*FIVE, etag='"1"')}, says="5 new", asked=1, due=12),
            Step(after=6 * HOUR, says="No source is due", asked=0),
            Step(after=6 * HOUR, says="1 unchanged", asked=1, due=12),
            failing(refusal(503, Retry_After="86400"), "asked for a pause until 2030-03-20", asked=1, due=24),
            Step(world=GOOD, says="No source is due", asked=0, status="fail", log="pause"),
            Step(after=HOUR, command="run --all", code=1, says="asked for a pause", asked=0, status="fail", log="pause", due=24),
            Step(after=36 * HOUR, says="0 new", due=12),
        ],
        is_stored=True,
    ),
    "a pause that makes no sense is bounded by a day": Life(
        "ics",
        [
            Step(world=GOOD),
            failing(refusal(503, Retry_After="Thu, 01 Jan 1970 00:00:00 GMT"), "status 503", asked=3, due=12),
            failing(refusal(429, Retry_After="-86400"), "status 429", after=14 * HOUR, asked=4, due=24),
            failing(refusal(503, Retry_After="soon"), "status 503", after=28 * HOUR, asked=3, due=48),
            failing(refusal(503, Retry_After="9" * 300), "pause until", after=56 * HOUR, asked=1, due=96),
            Step(after=110 * HOUR, world=GOOD, due=12),
            failing(refusal(503, Retry_After="Fri, 31 Dec 9999 23:59:59 GMT"), "pause until", asked=1, due=24),
        ],
    ),
    "a source that is gone for six weeks is asked once a week and is whole when it is back": Life(
        "ics",
        [
            Step(world=GOOD, says="5 new"),
            failing(refusal(404), "status 404", asked=1, due=12),
            failing(refusal(404), "status 404", after=14 * HOUR, due=24),
            failing(refusal(404), "status 404", after=28 * HOUR, due=48),
            failing(refusal(404), "status 404", after=56 * HOUR, due=96),
            failing(refusal(404), "status 404", after=8 * DAY, times=5, asked=1, due=168),
            Step(after=8 * DAY, world=GOOD, says="5 events parsed, 0 new", due=12),
        ],
        is_stored=True,
    ),
    "a source that says it is gone for good is disabled, and enabled by a person": Life(
        "ics",
        [
            Step(world=GOOD),
            failing(refusal(410), "status 410", enabled=False),
            Step(after=30 * DAY, says="No source is due", asked=0, status="fail", log="410", enabled=False),
            Step(command="sources history 1", says="410 Gone", status=None, enabled=False),
            Step(command="sources enable 1", status=None),
            Step(world=GOOD, says="0 new", due=12),
        ],
    ),
    "a source that has moved says so each time": Life(
        "ics",
        [
            Step(world={"/a": moved("/b"), "/b": calendar_of(*FIVE, etag='"1"')}, asked=2, log="moved permanently to"),
            Step(says=("1 unchanged", "note  1 Town: The source has moved permanently to"), asked=2, log="moved permanently to"),
            Step(world={"/b": moved("/c", 302), "/c": calendar_of(*FIVE)}, asked=3, log="/b. Edit its URL."),
            Step(world={"/a": moved("/c", 302)}, asked=2),
            Step(world={"/a": moved("/c", 307), "/c": refusal(410)}, code=1, status="fail", log="410", asked=2),
            failing(moved("/a"), "lead back", after=14 * HOUR),
        ],
    ),
    "a source that has moved to a host on hold waits for that host": Life(
        "ics",
        [
            Step(world=GOOD),
            failing(
                moved("{other}/a"), "pause", do=lambda life: life.other.reply("/a", status=503, headers={"Retry-After": "86400"}),
                due=24,
            ),
            Step(after=13 * HOUR, says="No source is due", asked=0, status="fail", log="pause"),
            Step(after=13 * HOUR, world=GOOD, due=12),
        ],
    ),
    "a list that empties suddenly marks nothing until a person accepts it": Life(
        "ics",
        [
            Step(world={"/a": calendar_of(*TWENTY)}, says="20 new"),
            Step(world={"/a": calendar_of()}, says="20 of 20 missing, none marked as vanished"),
            Step(times=8, says="20 of 20 missing, none marked as vanished"),
            Step(command="run --source 1 --accept-drop", says="20 vanished", unlisted=20),
            Step(world={"/a": calendar_of(*TWENTY)}, says="0 new", unlisted=0),
            Step(world={"/a": calendar_of(*TWENTY[:18])}, says="2 vanished", unlisted=2),
            Step(world={"/a": calendar_of(*TWENTY)}, says="0 new", unlisted=0),
        ],
        is_stored=True,
    ),
    "a page with another layout fails and marks nothing": Life(
        "html",
        [
            Step(world={"/a": items("Market|2031-05-01 10:00|Hall|/e/1", *OTHERS)}, says="5 new"),
            failing(html("<table><tr><td>Market<td>2031-05-01</table>"), "item", due=12),
            Step(after=14 * HOUR, world={"/a": items("Market|2031-05-01 10:00|Hall|/e/1", *OTHERS)}, says="0 new, 0 changed"),
        ],
        LISTED,
    ),
    "another encoding of the same text changes nothing": Life(
        "csv",
        [
            Step(world={"/a": sheet("1,盆踊り,2031-08-13,,18:00,公民館")}, says="1 new"),
            *(
                Step(world={"/a": sheet("1,盆踊り,2031-08-13,,18:00,公民館", encoding=encoding)}, says="0 new, 0 changed")
                for encoding in ("shift_jis", "utf-16", "utf-8-sig", "euc-jp")
            ),
        ],
    ),
    "a server that answers nothing or slowly costs a bounded time": Life(
        "ics",
        [
            Step(world=GOOD),
            *(
                Step(after=9 * DAY, do=misbehaving(how), code=1, says="1 failed", status="fail", log=why)
                for how, why in (
                    ("never", "No response from"), ("drop", "127.0.0.1"), ("loop", "redirects"), ("garbage", "127.0.0.1"),
                    ("drip", "127.0.0.1"),
                )
            ),
            Step(after=9 * DAY, world=GOOD, due=12),
        ],
        timeout=0.2,
    ),
    "a clock that is ahead and put back does not stop the source": Life(
        "ics",
        [
            Step(world={"/a": calendar_of(*FIVE, etag='"1"')}, due=12),
            Step(after=365 * DAY, due=12),
            Step(after=-365 * DAY, says="1 source", asked=1, due=12),
            Step(says="1 unchanged", asked=1, due=12),
            Step(after=8 * DAY, says="5 events parsed", asked=1),
        ],
        is_stored=True,
    ),
    "a clock that is put back a year does not stop a source that fails": Life(
        "ics",
        [
            Step(world=GOOD),
            failing(refusal(503, Retry_After="86400"), "pause", due=24),
            Step(after=-365 * DAY, world=GOOD, says="1 source", asked=1, due=12),
        ],
        is_stored=True,
    ),
    "a test of a source stores nothing and makes no run stale": Life(
        "ics",
        [
            Step(world={"/a": calendar_of(*FIVE[:3], etag='"1"')}, command="sources test 1", shows=[], status=None),
            Step(world={"/a": calendar_of(*FIVE, etag='"1"')}, says="5 new"),
            Step(world={"/a": calendar_of(*TWENTY, etag='"2"')}, command="sources test 1", says="20 events", asked=1),
            Step(says="20 events parsed, 15 new"),
        ],
    ),
    "pages about events are asked for while their list stays as it is": Life(
        "html",
        [
            Step(
                world={
                    "/a": links("/e/1", "/e/2", etag='"l"'),
                    "/e/1": about("Market", "2031-05-01 10:00", '"1"'),
                    "/e/2": about("Choir", "2031-05-02 10:00", '"2"'),
                },
                says="2 new", asked=3,
            ),
            Step(says="1 unchanged", asked=3),
            Step(world={"/e/1": about("Market", "2031-05-01 13:30", '"3"')}, says="1 changed", asked=3,
                 shows=["Choir, 05-02 10:00", "Market, 05-01 13:30"]),
            Step(world={"/e/1": moved("/p/1"), "/p/1": about("Market", "2031-05-01 14:00", '"4"')}, says="1 changed", asked=4),
            Step(says="1 unchanged", asked=4, shows=["Choir, 05-02 10:00", "Market, 05-01 14:00"]),
            Step(do=lambda life: [path.unlink() for path in (life.folder / "var/snapshots").rglob("*.html")],
                 says="0 new, 0 changed", asked=5),
            Step(says="1 unchanged", asked=4),
            Step(world={"/e/2": refusal(404)}, status="partial", log="/e/2", asked=4, says="0 new", unlisted=1),
            Step(world={"/e/2": refusal(404)}, status="partial", log="/e/2", asked=4, unlisted=1),
            Step(world={"/e/2": about("Choir", "2031-05-02 10:00", '"2"')}, says="0 new"),
        ],
        PAGES,
        is_stored=True,
    ),
    "a host that asks for a day in the middle of a run is left alone for a day": Life(
        "html",
        [
            Step(
                world={
                    "/a": links("/e/1", "/e/2"), "/e/1": about("Market", "2031-05-01 10:00"),
                    "/e/2": refusal(503, Retry_After="86400"),
                },
                says="1 new", status="partial", log="pause until", asked=3, due=24,
            ),
            Step(says="No source is due", asked=0, status=None),
            Step(after=13 * HOUR, world={"/e/2": about("Choir", "2031-05-02 10:00")}, says="1 new", asked=3, due=12),
        ],
        PAGES,
    ),
    "pages that fail are not waited for one after the other": Life(
        "html",
        [
            Step(world={"/a": links(*(f"/e/{number}" for number in range(60)), etag='"l"'),
                        "/e/*": about("Market", "2031-05-01 10:00")}, asked=61),
            Step(world={"/e/*": refusal(503, Retry_After="80")}, status="partial", log="/e/", shows=["Market, 05-01 10:00"]),
            Step(world={"/e/*": about("Market", "2031-05-01 10:00")}, asked=61),
        ],
        PAGES,
    ),
    "what a list corrects stays one event with one UID": Life(
        "html",
        [
            Step(world={"/a": items(f"Market|2031-{when}|{venue}|{link}", *OTHERS)}, says=says,
                 shows=[*SHOWN, f"Market, {when}, {venue}"])
            for when, venue, link, says in (
                ("05-01 10:00", "Hall", "/e/1", "5 new"),
                ("05-01 13:30", "Hall", "/e/1", "0 new"),
                ("05-08 13:30", "Hall", "/e/1", "0 new"),
                ("05-08 13:30", "Pier", "/e/1", "0 new"),
                ("05-15 15:00", "Town square", "/e/1", "0 new"),
                ("05-15 15:00", "Town square", "/e/1?utm_source=x&utm_campaign=y", "0 new"),
                ("05-15 15:30", "Town square", "/moved/1", "0 new"),
            )
        ],
        LISTED,
        is_stored=True,
    ),
    "what was not listed for weeks and is back on another day is the same event": Life(
        "html",
        [
            Step(world={"/a": items("Market|2031-05-01 10:00|Hall|/e/1", *OTHERS)}, says="5 new"),
            Step(world={"/a": items(*OTHERS)}, says="1 vanished", unlisted=1),
            Step(after=20 * DAY, unlisted=1),
            Step(world={"/a": items("Market|2031-05-08 10:00|Pier|/e/1", *OTHERS)}, says="0 new",
                 shows=[*SHOWN, "Market, 05-08 10:00, Pier"]),
            Step(world={"/a": items("Market|to be announced|Pier|/e/1", *OTHERS)}, says="1 to review", status=None, unlisted=1),
            Step(world={"/a": items("Market|2031-05-15 10:00|Pier|/e/1", *OTHERS)}, says="0 new",
                 shows=[*SHOWN, "Market, 05-15 10:00, Pier"]),
        ],
        LISTED,
        is_stored=True,
    ),
    "a feed that gets ids and loses them again has the same events": Life(
        "rss",
        [
            Step(
                world={"/a": feed(*(f"{title}|2031-{day} 10:00|http://town.example/{path}" for title, day, path in rows))},
                says=says, shows=["Choir, 06-02 10:00", "Market, 05-01 10:00"],
            )
            for rows, says in (
                ((("Market", "05-01", "1"), ("Choir", "06-02", "2")), "2 new"),
                ((("Market", "05-01", "1#a"), ("Choir", "06-02", "2#b")), "0 new"),
                ((("Market", "05-01", "1"), ("Choir", "06-02", "2")), "0 new"),
                ((("Market", "05-01", "1;jsessionid=5"), ("Choir", "06-02", "2;jsessionid=6")), "0 new"),
            )
        ],
    ),
    "a robots.txt that was read while the clock was ahead is read again": Life(
        "ics",
        [
            Step(world=GOOD),
            failing(refusal(404), "robots.txt", after=365 * DAY, do=robots("Disallow: /"), asked=0),
            Step(after=-364 * DAY, world=GOOD, do=robots("Disallow: /b"), asked=1),
        ],
    ),
    "a clock that jumps while the server answers does no harm": Life(
        "ics",
        [
            Step(world=GOOD),
            *(Step(do=jumping(hours), says="0 new", due=12) for hours in (1, -1, 24 * 365, -24 * 365)),
            Step(world=GOOD, due=12),
        ],
        is_stored=True,
    ),
    "what a feed without ids corrects stays one event with one UID": Life(
        "rss",
        [
            Step(world={"/a": feed(f"{title}|{text}|http://town.example{link}", "Choir|2031-06-02 10:00|http://town.example/2")},
                 says=says, shows=["Choir, 06-02 10:00", shown])
            for title, text, link, says, shown in (
                ("Market", "2031-05-01 10:00", "/1", "2 new", "Market, 05-01 10:00"),
                ("Market", "2031-05-01 13:00", "/1?utm_source=rss&utm_medium=feed", "0 new", "Market, 05-01 13:00"),
                ("Market", "2031-05-08 13:00", "/1?utm_source=mail", "0 new", "Market, 05-08 13:00"),
                ("Great Market", "2031-05-08 13:00", "/1", "0 new", "Great Market, 05-08 13:00"),
                ("Great Markt of spring", "2031-05-09 11:00", "/1", "0 new", "Great Markt of spring, 05-09 11:00"),
                ("The great market in spring", "2031-05-10 11:00", "/1", "0 new", "The great market in spring, 05-10 11:00"),
            )
        ],
    ),
    "what a table with numbers corrects stays one event with one UID": Life(
        "csv",
        [
            Step(world={"/a": sheet(f"1,盆踊り,2031-{when},{venue}", "2,花火大会,2031-07-20,2031-07-20,19:00,河原")}, says=says,
                 shows=["花火大会, 07-20 19:00, 河原", shown])
            for when, venue, says, shown in (
                ("08-13,2031-08-13,18:00", "公民館", "2 new", "盆踊り, 08-13 18:00, 公民館"),
                ("08-13,2031-08-13,19:00", "公民館", "0 new", "盆踊り, 08-13 19:00, 公民館"),
                ("08-14,2031-08-14,19:00", "公民館", "0 new", "盆踊り, 08-14 19:00, 公民館"),
                ("08-14,2031-08-14,19:00", "小学校", "0 new", "盆踊り, 08-14 19:00, 小学校"),
            )
        ],
    ),
    "events with one title on one day are corrected each for itself": Life(
        "html",
        [
            Step(world={"/a": items("Tour|2031-05-01 10:00|Hall|/t", "Tour|2031-05-01 14:00|Hall|/t", *OTHERS)}, says="6 new"),
            Step(world={"/a": items("Tour|2031-05-01 10:30|Hall|/t", "Tour|2031-05-01 14:00|Hall|/t", *OTHERS)},
                 says="0 new", shows=[*SHOWN, "Tour, 05-01 10:30, Hall", "Tour, 05-01 14:00, Hall"]),
            Step(world={"/a": items("Tour|2031-05-01 11:00|Hall|/t", "Tour|2031-05-01 15:00|Hall|/t", *OTHERS)},
                 says="0 new", shows=[*SHOWN, "Tour, 05-01 11:00, Hall", "Tour, 05-01 15:00, Hall"]),
        ],
        LISTED,
    ),
}  # fmt: skip


def _cases() -> Iterator[Any]:
    for name, life in LIVES.items():
        for database in ("sqlite", "postgresql") if life.is_stored else ("sqlite",):
            yield pytest.param(name, database, id=f"{database}-{name}")


@pytest.fixture
def life(database: str, tmp_path: Path, site: Site, elsewhere: Site, capsys: pytest.CaptureFixture[str]) -> Iterator[SourceLife]:
    clock = FakeClock(START, background=WORKER_LEASE / 3)
    with database_with_clock(database, tmp_path, clock) as address:
        yield SourceLife(tmp_path, address, clock, (site, elsewhere), capsys)


@pytest.mark.parametrize("name, database", list(_cases()))
def test_the_life_of_a_source(name: str, life: SourceLife) -> None:
    chosen = LIVES[name]
    life.timeout = chosen.timeout
    life.add(chosen.kind, life.site.url("/a"), chosen.settings)
    life.live(*chosen.steps)


@pytest.mark.parametrize("database", ["sqlite"])
def test_retries_after_503_come_later_each_time(life: SourceLife) -> None:
    times: list[float] = []

    async def answer(exchange: Exchange, _: str) -> None:
        times.append(life.clock.monotonic())
        await exchange.send(Reply(503))

    life.add("ics", life.site.url("/a"))
    life.live(Step(world={"/a": answer}, code=1, status="fail", log="status 503", asked=3))
    gaps = [after - before for before, after in pairwise(times)]
    assert gaps[0] > 0.9
    assert gaps[1] > gaps[0]


async def _no_response(exchange: Exchange) -> None:
    await asyncio.Event().wait()


async def _endless_body(exchange: Exchange) -> None:
    await exchange.raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/calendar\r\nContent-Length: 1000\r\n\r\nBEGIN")
    await asyncio.Event().wait()


async def _pause(exchange: Exchange) -> None:
    await exchange.send(Reply(503, headers=(("Retry-After", "80"),)))


async def _error(exchange: Exchange) -> None:
    await exchange.send(Reply(500))


@pytest.mark.parametrize("database", ["sqlite"])
@pytest.mark.parametrize(
    "path, wait",
    [("/a", _no_response), ("/a", _endless_body), ("/a", _pause), ("/a", _error), ("/robots.txt", _no_response)],
    ids=["response", "body", "pause", "retry", "robots.txt"],
)
def test_one_sigterm_ends_a_run_whatever_it_waits_for(
    path: str, wait: Callable[[Exchange], Awaitable[None]], life: SourceLife
) -> None:
    async def answer(exchange: Exchange, _: str) -> None:
        stop_process()
        await wait(exchange)

    life.clock.longest = STOPPING_GRACE
    life.add("ics", life.site.url("/a"))
    life.live(
        Step(world={path: answer}, code=130, says=("Finishing", "Stopped."), status="fail", log=str(WORKER_STOPPED)),
        Step(after=0, world=GOOD | {"/robots.txt": refusal(404)}, says="5 new", due=12),
    )
    assert life.site.hits("/a") == (2 if path == "/a" else 1)


@pytest.mark.parametrize("stage", ["fetch", "normalise", "store"])
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_sigterm_after_a_stage_lets_the_run_finish(stage: str, life: SourceLife) -> None:
    life.add("ics", life.site.url("/a"))
    life.live(
        Step(world=GOOD, stop_at=f"stage {stage}", code=130, says="Finishing in-flight work", due=12),
        Step(says="5 events parsed, 0 new"),
    )


@pytest.mark.parametrize("database", ["sqlite"])
def test_a_name_that_is_gone_is_a_failure_of_its_source(life: SourceLife, monkeypatch: pytest.MonkeyPatch) -> None:
    is_known = True
    real = socket.getaddrinfo

    def look_up(host: str, *arguments: Any, **named: Any) -> Any:
        if host == "town.example" and not is_known:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return real("127.0.0.1" if host == "town.example" else host, *arguments, **named)

    def forget(_: SourceLife) -> None:
        nonlocal is_known
        is_known = not is_known

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    life.add("ics", f"http://town.example:{life.site.port}/a")
    life.live(
        Step(world=GOOD, says="5 new"),
        failing(refusal(404), "cannot be resolved", do=forget, asked=0, due=12),
        failing(refusal(404), "cannot be resolved", after=8 * DAY, times=4, asked=0, due=168),
        Step(after=8 * DAY, world=GOOD, do=forget, says="5 events parsed, 0 new", due=12),
    )


@pytest.mark.parametrize("database", ["sqlite"])
def test_pages_of_an_unchanged_list_are_asked_for_within_a_budget_those_first_that_waited_longest(life: SourceLife) -> None:
    paths = [f"/e/{number}" for number in range(DETAIL_BUDGET + 20)]
    pages = {
        path: about(meeting(number)["SUMMARY"], f"2031-{1 + number // 28:02}-{1 + number % 28:02} 10:00", f'"{number}"')
        for number, path in enumerate(paths)
    }
    life.add("html", life.site.url("/a"), PAGES)
    asked: list[int] = []

    def count(life: SourceLife) -> None:
        asked[:] = [life.site.hits(path) for path in paths]

    life.live(
        Step(world={"/a": links(*paths, etag='"l"'), **pages}, says="120 new", asked=len(paths) + 1),
        Step(asked=DETAIL_BUDGET + 1, says="1 unchanged"),
        Step(do=count, asked=DETAIL_BUDGET + 1, says="1 unchanged"),
    )
    assert all(life.site.hits(path) > before for path, before in zip(paths[DETAIL_BUDGET:], asked[DETAIL_BUDGET:], strict=True))
    # A clock that was ahead for a while makes nobody wait for it.
    life.live(Step(after=300 * DAY, asked=len(paths) + 1), Step(after=-299 * DAY, asked=len(paths) + 1))
    life.live(*[Step(asked=DETAIL_BUDGET + 1)] * 2)


@pytest.mark.parametrize("database", ["sqlite"])
@pytest.mark.parametrize("link", ["/e/1", ""], ids=["with a page of its own", "without"])
def test_a_rule_without_a_period_stays_one_event_whose_dates_move_on(link: str, life: SourceLife) -> None:
    life.add("html", life.site.url("/a"), LISTED)
    world = {"/a": items(f"朗読のつどい|毎週水曜日 10:00～11:00|Hall|{link}", *OTHERS)}
    days = []
    for _ in range(6):
        life.live(Step(after=20 * DAY, world=world, status=None))
        days.append(life.edited().local_date)
        assert 0 <= (days[-1] - to_datetime(life.clock.now()).date()).days <= 7
    assert days == sorted(set(days))


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_worker_that_was_removed_because_the_clock_jumped_joins_again(life: SourceLife) -> None:
    async def answer(exchange: Exchange, _: str) -> None:
        life.site.handle("/a", calendar_of(*FIVE).handler(life.other))
        life.clock.put_back(-2 * HOUR)
        await asyncio.to_thread(remove_workers)  # as any other command does
        await exchange.send(Reply(body=ics(*FIVE).encode(), content_type="text/calendar"))

    def remove_workers() -> None:
        with life.store() as store:
            store.schedule.reap()

    life.add("ics", life.site.url("/a"))
    life.live(Step(world={"/a": answer}, says="5 new", asked=2, due=12))
    assert [run.status for run in life.runs()] == ["success", "fail"]


@pytest.mark.parametrize("database", ["sqlite"])
def test_a_worker_goes_on_when_the_clock_is_set_back(life: SourceLife) -> None:
    times: list[float] = []

    async def answer(exchange: Exchange, _: str) -> None:
        times.append(life.clock.monotonic())
        if len(times) == 2:
            life.clock.put_back(365 * DAY)
        if len(times) == 4:
            stop_process()
        await exchange.send(Reply(body=ics(*FIVE).encode(), content_type="text/calendar"))

    life.add("ics", life.site.url("/a"), frequency="high")
    life.site.handle("/a", answer)
    code, printed = life.command("worker")
    assert code == 0, printed
    assert [round((after - before) / HOUR) for before, after in pairwise(times)] == [3, 3, 3]
    assert [run.status for run in life.runs()][1:] == ["success"] * 3
