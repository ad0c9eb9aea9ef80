"""Several processes on one state file are one crawl: as polite, as exact and as hard to lose as one."""

from __future__ import annotations

import os
import select
import signal
import sqlite3
from collections import Counter
from contextlib import closing
from itertools import pairwise
from pathlib import Path

from tests.acceptance.command import Tadoru, finished, pages
from tests.support.site import Site

STATE = ("--state", "crawl.db", "-f", "json")


def test_two_commands_at_once_are_as_polite_as_one_and_ask_for_nothing_twice(tadoru: Tadoru, site: Site) -> None:
    arguments = ("links", site.url("/tree/60/4/0"), "--delay", "0.2", "--depth", "9", *STATE)
    both = [tadoru.start(*arguments, "-u", name) for name in ("one", "two")]
    done = [finished(process) for process in both]
    assert [one.code for one in done] == [0, 0], [one.err for one in done]

    gaps = sorted(after.at - before.at for before, after in pairwise(site.requests))
    # One that the site sees late makes one gap shorter, but not all of them together.
    assert gaps[0] > 0.05
    assert gaps[len(gaps) // 3] >= 0.18
    assert sum(gaps) > 59.5 * 0.2
    assert set(Counter(site.paths).values()) == {1}
    assert len(site.paths) == 61, "sixty pages and robots.txt"
    assert {seen.headers["user-agent"] for seen in site.requests} == {"one", "two"}, "both took part"
    assert all(len(one.result["internal_urls"]) == 60 for one in done)
    # Twelve seconds in a pipe: plain lines with the rate and what is left, no bar.
    assert all("pages, " in one.err and "/s, about " in one.err and "\x1b" not in one.err for one in done)


def test_a_limit_is_exact_for_two_commands_at_once_and_for_the_next(tadoru: Tadoru, site: Site) -> None:
    arguments = ("links", site.url("/dense/400/20/0"), "--delay", "0", "--processes", "2", "--limit", "37", *STATE)
    done = [finished(process) for process in [tadoru.start(*arguments), tadoru.start(*arguments)]]
    assert [one.code for one in done] == [0, 0], [one.err for one in done]
    asked = [path for path in site.paths if path != "/robots.txt"]
    assert (len(asked), len(set(asked))) == (37, 37)
    again = tadoru(*arguments)
    assert (again.code, again.result["total_processed"], again.result["stopped"]) == (0, 37, "limit of 37 pages")
    assert len([path for path in site.paths if path != "/robots.txt"]) == 37


def test_a_live_command_takes_over_the_work_of_a_killed_one_at_once(tadoru: Tadoru, site: Site) -> None:
    held = "/tree/40/3/2"
    site.hold(held)
    arguments = ("--delay", "0", "--processes", "1", "--depth", "9", "--timeout", "50", *STATE)
    first = tadoru.start("links", site.url("/tree/40/3/0"), *arguments, "-u", "first")
    site.wait_for(lambda site: site.hits(held) == 1)
    second = tadoru.start("links", site.url("/tree/40/3/0"), *arguments, "-u", "second", "-v")
    assert second.stderr is not None
    assert "Resuming" in second.stderr.readline()
    first.send_signal(signal.SIGKILL)
    finished(first)
    # A lease lasts a minute and the patience of this wait is half of it: only a death that was noticed gets here.
    site.wait_for(lambda site: site.hits(held) == 2)
    site.hold(held).release()
    done = finished(second)
    assert done.code == 0, done.err
    assert len(pages(done.result)) == 40
    assert {status for _, status in pages(done.result).values()} == {200}
    assert "recovered leases of a dead process" in done.err


def test_two_processes_come_to_the_same_as_one(tadoru: Tadoru, site: Site) -> None:
    one = tadoru.map(site.url("/dense/300/12/0"), "--processes", "1", "--depth", "9")
    two = tadoru.map(site.url("/dense/300/12/0"), "--processes", "2", "--depth", "9")
    assert pages(one) == pages(two)
    assert len(pages(two)) == 300


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_killing_the_parent_leaves_no_orphans_and_nothing_is_lost(tadoru: Tadoru, site: Site) -> None:
    held = ["/tree/30/3/1", "/tree/30/3/2"]
    gates = [site.hold(path) for path in held]
    arguments = ("links", site.url("/tree/30/3/0"), "--delay", "0", "--processes", "2", "--timeout", "50", "--depth", "9", *STATE)
    process = tadoru.start(*arguments)
    site.wait_for(lambda site: all(site.hits(path) for path in held))
    (child,) = children(process.pid)
    watched = os.pidfd_open(child)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert select.select([watched], [], [], 20)[0], "the sibling outlived its parent"
    os.close(watched)
    process.communicate()
    for gate in gates:
        gate.release()
    assert len(pages(tadoru(*arguments).result)) == 30


def test_a_crawl_that_goes_on_alone_goes_at_the_pace_of_its_own_command(tadoru: Tadoru, site: Site) -> None:
    site.page("/", links=["/a", "/b"])
    for path in ("/a", "/b"):
        site.page(path)
    command = ("links", site.url("/"), "--state", "x.db", "-f", "json")
    for delay, limit in (("0.2", 1), ("0.1", 2), ("0", 3)):
        assert tadoru(*command, "--delay", delay, "--limit", str(limit)).result["total_processed"] == limit
        with closing(sqlite3.connect(tadoru.folder / "x.db")) as sql:
            assert sql.execute("SELECT gap, base FROM hosts").fetchall() == [(float(delay), float(delay))]
