"""Two commands on one database at once are one crawl: as polite, as exact, and one goes on when the other is killed."""

from __future__ import annotations

import signal
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.acceptance.command import Tadoru, finished
from tests.support.planted_crowd import crowd, everything
from tests.support.site import Site

DELAY = 0.05
LIMIT = 300
WINDOW = 40


def command(site: Site, name: str, limit: int) -> tuple[str, ...]:
    return ("audit", site.url("/tree/2000/4/0"), "-d", "crawl.db", "--limit", str(limit), "--delay", str(DELAY), "-u", name)


def select(folder: Path, what: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(folder / "crawl.db")) as sql:
        return sql.execute(f"SELECT {what}").fetchall()


def test_the_limit_is_exact_the_delay_is_kept_and_no_page_is_asked_for_twice(tadoru: Tadoru, site: Site) -> None:
    both = [tadoru.start(*command(site, name, LIMIT)) for name in ("one", "two")]
    done = [finished(process) for process in both]
    assert [one.code for one in done] == [0, 0], [one.err for one in done]

    asked = [path for path in site.paths if path.startswith("/tree/")]
    assert (len(asked), len(set(asked))) == (LIMIT, LIMIT)
    assert set(Counter(site.paths).values()) == {1}, "robots.txt and the sitemap too"
    assert {seen.headers["user-agent"] for seen in site.requests} == {"one", "two"}, "both took part"
    [(counted,)] = select(tadoru.folder, "value FROM counters WHERE name = 'counted'")
    [(completed,)] = select(tadoru.folder, "count(*) FROM completed_pages")
    assert (counted, completed) == (LIMIT, LIMIT)
    assert select(tadoru.folder, "outcome FROM runs") == [("limit",)]

    # Requests come in with some jitter, so not each gap is measured, but every stretch of them. Twice the pace would take half.
    times = [seen.at for seen in site.requests]
    stretches = [times[at + WINDOW] - times[at] for at in range(len(times) - WINDOW)]
    assert min(stretches) >= 0.8 * WINDOW * DELAY
    assert times[-1] - times[0] >= 0.98 * (len(times) - 1) * DELAY

    again = tadoru(*command(site, "three", LIMIT))
    assert again.code == 0
    assert "page limit of 300 is reached" in again.err
    assert len(site.paths) == len(times), "nothing more is asked for"


def test_one_being_killed_does_not_stop_the_other_nor_lose_its_pages(tadoru: Tadoru, site: Site) -> None:
    limit = 100
    first, second = (tadoru.start(*command(site, name, limit)) for name in ("one", "two"))
    site.wait_for(
        lambda site: len(site.requests) >= 40 and {seen.headers["user-agent"] for seen in site.requests} == {"one", "two"}
    )
    first.send_signal(signal.SIGKILL)
    first.communicate()
    done = finished(second)
    assert (first.returncode, done.code) == (-signal.SIGKILL, 0), done.err
    asked = Counter(path for path in site.paths if path.startswith("/tree/"))
    assert len(asked) == limit
    # What it had asked for and not written; with a delay that is the one page on its way, or two.
    assert sum(asked.values()) <= limit + 2
    assert select(tadoru.folder, "count(*), sum(crawls) FROM completed_pages JOIN pages USING (id)") == [(limit, limit)]
    assert select(tadoru.folder, "count(*) FROM pages WHERE status = 'processing'") == [(0,)]
    assert select(tadoru.folder, "count(*) FROM workers") == [(0,)]
    assert select(tadoru.folder, "count(*) > 0 FROM findings WHERE scope = 'site'") == [(1,)], "the other one said what was found"


def test_two_commands_without_a_limit_come_to_what_one_comes_to(tadoru: Tadoru, site: Site, tmp_path: Path) -> None:
    crowd(site, 200)
    options = ("--delay", "0", "--fragments", "--store-bodies", "-q")
    assert tadoru("audit", site.url("/"), "-d", "alone.db", "--processes", "1", *options).code == 0
    both = [tadoru.start("audit", site.url("/"), "-d", "shared.db", "--processes", "2", *options) for _ in range(2)]
    done = [finished(process) for process in both]
    assert [one.code for one in done] == [0, 0], [one.err for one in done]
    assert everything(tmp_path / "shared.db") == everything(tmp_path / "alone.db")
