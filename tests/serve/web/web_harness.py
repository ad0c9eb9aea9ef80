"""A small town with two calendars, and a service that collects them: what the tests of pages look at.

It is 1 August 2026, nine in the morning in Tokyo, when a world begins; from then on its time passes as real time does.
"""

from __future__ import annotations

import asyncio
import io
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from tadoru.clock import Clock
from tadoru.config.options import EventsOptions, ServeOptions
from tadoru.jobs.events.collect.worker_pool import WorkerPool
from tadoru.jobs.launch import run_loop
from tadoru.log import Log
from tadoru.serve.app import build_app
from tadoru.serve.live import connection
from tadoru.serve.server import RequestLineProtocol
from tadoru.serve.service import Service
from tadoru.store.accounts.audit_log import Actor
from tadoru.store.calendar.listing import EventFilter
from tadoru.store.files import beside, open_files
from tadoru.store.service import ServiceStore, open_service
from tests.support.listening import listening
from tests.support.site import Site

BEGINS = datetime(2026, 8, 1, 0, 0, tzinfo=UTC)
PASSWORD = "four words for everybody"
LEFT_EARLY = "WebSocket is closed before the connection is established"
"""What Chromium says of a page that is left before it listens."""
BY = Actor(who="test")
EVIL = '<img src=x onerror="document.title=1"><script>document.title=2</script>'


class OffsetClock:
    """Real time, counted from a day of the test's own."""

    def __init__(self, begins: datetime = BEGINS) -> None:
        self._begins, self._since = begins.timestamp(), time.monotonic()

    def now(self) -> float:
        return self._begins + time.monotonic() - self._since

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def vevent(uid: str, title: str, start: str, end: str = "", **more: str) -> str:
    """One event of a calendar; times are Tokyo's, whole days are eight digits."""
    lines = ["BEGIN:VEVENT", f"UID:{uid}", "DTSTAMP:20260701T000000Z", f"SUMMARY:{title}"]
    for name, value in (("DTSTART", start), ("DTEND", end)):
        if value:
            lines.append(f"{name};VALUE=DATE:{value}" if len(value) == 8 else f"{name};TZID=Asia/Tokyo:{value}")
    lines += [f"{name.upper()}:{value}" for name, value in more.items()]
    return "\r\n".join([*lines, "END:VEVENT"])


def ics(*events: str) -> str:
    return "\r\n".join(["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//test//EN", *events, "END:VCALENDAR", ""])


def town_events() -> list[str]:
    """The town's own calendar."""
    found = [
        vevent(
            "fireworks", "盛岡花火の祭典", "20260811T190000", "20260811T203000", location="都南大橋下流", categories="祭り",
            description=f"北上川の夏の夜。<b>雨天順延</b>{EVIL}\\n詳しくは <a href='javascript:alert(1)'>こちら</a>",
            url="https://town.example/fireworks", geo="39.650000;141.160000",
        ),
        vevent("market", "神子田朝市", "20260802T050000", "20260802T083000", location="神子田", categories="市場"),
        vevent("art", "夏の企画展「岩手の版画」", "20260720", "20260831", location="市民ギャラリー", categories="展覧会"),
        vevent(
            "lecture", "市民講座 “Reading the river” & friends", "20260805T140000", "20260805T153000", location="中央公民館",
            categories="講座",
        ),
        vevent("off", "野外上映会", "20260808T190000", "20260808T210000", location="城跡公園", status="CANCELLED"),
        vevent("day", "市制記念日", "20260810", "20260811", location="盛岡市役所"),
        vevent("evil", f"Concert {EVIL}", "20260815T180000", "20260815T200000", location="マリオス", categories="音楽"),
        vevent("dance", "盆踊り大会", "20260814T180000", "20260814T210000", location="もりおか中央公園"),
        vevent("undated", "日程の決まらない集い", "", "", location="未定"),
    ]  # fmt: skip
    return found + [
        vevent(f"yoga{n}", f"朝ヨガ 第{n}回", f"{day}T070000", f"{day}T080000", location="高松公園", categories="健康")
        for n, day in ((n, f"{date(2026, 8, 3) + timedelta(days=n):%Y%m%d}") for n in range(1, 40))
    ]


class WebHarness:
    """A service, its site of sources, and those who use it."""

    def __init__(self, site: Site, store: ServiceStore, service: Service, address: str) -> None:
        self.site, self.store, self.service, self.address = site, store, service, address

    def url(self, path: str) -> str:
        return self.address + path

    def cookie(self, role: str) -> str:
        """The cookie of somebody who is signed in."""
        user = self.store.users.get(role) or self.store.users.add(role, role, BY)
        return self.store.sessions.start(user, BY)

    def event_id(self, title: str) -> int:
        found = self.store.events.list(EventFilter(q=title, archived=None), limit=1).items
        return found[0].event.id

    def collect(self, *source_ids: int) -> None:
        """What `tadoru events run` does."""

        async def work() -> None:
            files = open_files(self.service.events.files or beside(self.store.db.database))
            pool = WorkerPool(self.store, files, self.service.clock, self.service.events, lambda *_, **__: None)
            async with pool.running():
                await pool.run([self.store.sources.get(one) for one in source_ids])

        # In a thread of its own: a browser that tests drive has a loop in this one.
        with ThreadPoolExecutor(1) as threads:
            threads.submit(lambda: run_loop(work())).result()

    def add_source(self, **values: object) -> int:
        return self.store.sources.add({"frequency": "normal", "type": "ics", "city": "盛岡市", **values}, "test").id


@contextmanager
def opened(folder: Path, *, filled: bool = True, lang: str = "ja") -> Iterator[WebHarness]:
    """A service that listens on loopback, and the site that its sources are on."""
    with Site() as site, serving(folder, site, lang) as web_harness:
        site.reply("/town.ics", body=ics(*town_events()), content_type="text/calendar; charset=utf-8")
        rival = vevent("f", "盛岡花火の祭典", "20260811T193000", "20260811T210000", location="都南大橋下流")
        site.reply("/hall.ics", body=ics(rival), content_type="text/calendar; charset=utf-8")
        site.reply("/gone.rss", status=404)
        if filled:
            licence = {"licence": "CC BY 4.0", "terms_url": "https://town.example/terms"}
            town = web_harness.add_source(name="盛岡市の催し", url=site.url("/town.ics"), **licence)
            hall = web_harness.add_source(name="都南の会館", url=site.url("/hall.ics"))
            gone = web_harness.add_source(name="Old feed", url=site.url("/gone.rss"), type="rss")
            for one in (town, hall, gone):
                web_harness.collect(one)
        yield web_harness


@contextmanager
def serving(folder: Path, site: Site, lang: str, clock: Clock | None = None, **more: Any) -> Iterator[WebHarness]:
    """A service; `more` are options of it. Crawls are processes of their own: with these the clock is the machine's."""
    clock = clock or OffsetClock()
    database = more.pop("database", str(folder / "events.db"))
    store = open_service(database, clock)
    events = EventsOptions(database=database, timezone="Asia/Tokyo", delay=0.0, allow_private=True)
    options = ServeOptions(database=database, timezone="Asia/Tokyo", lang=lang, rate_limit=0, key_rate_limit=0, **more)
    service = Service(store=store, options=options, events=events, clock=clock, log=Log(io.StringIO(), clock))
    with listening(build_app(service), more.get("port", 0), http=RequestLineProtocol, **connection.WEBSOCKET_OPTIONS) as (
        port,
        _,
    ):
        yield WebHarness(site, store, service, f"http://127.0.0.1:{port}")
