"""`kill -9` at any moment of an audit, then the command again, with its URL or without: the database of one quiet crawl."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
from collections import Counter
from pathlib import Path

from tests.acceptance.command import Tadoru, finished
from tests.support.planted_crowd import crowd, everything
from tests.support.site import Site

KILLS = 20
PAGES = 400
CONCURRENCY = 4
PROCESSES = 2
OPTIONS = ("--delay", "0", "-c", str(CONCURRENCY), "--fragments", "--store-bodies", "-q")


def audit(site: Site, run: int | str) -> list[str]:
    """The command; every second time without the URL, once there is something to go on with."""
    url = [] if isinstance(run, int) and run % 2 else [site.url("/")]
    return ["audit", *url, "-d", "crawl.db", "--processes", str(PROCESSES), *OPTIONS, "-u", f"run-{run}"]


def kill(process: subprocess.Popen[str]) -> None:
    """Both processes at once, at whatever each of them is."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def test_twenty_kills_leave_the_database_of_an_uninterrupted_crawl(tadoru: Tadoru, site: Site, tmp_path: Path) -> None:
    crowd(site, PAGES)
    quiet = tadoru("audit", site.url("/"), "-d", "quiet.db", "--processes", "1", *OPTIONS)
    assert quiet.code == 0, quiet.err
    expected = everything(tmp_path / "quiet.db")
    first = len(site.requests)

    images = [5, 15, 30]  # The last kills: once so many of these were tried.
    moments = sorted(random.Random(20).sample(range(1, first - 50), KILLS - len(images)))
    for run, moment in enumerate([*moments, *images]):
        process = tadoru.start(*audit(site, run), start_new_session=True)
        kind = ".png" if run >= len(moments) else ""
        site.wait_for(lambda site, kind=kind, moment=moment: _asked(site, first, kind) >= moment)  # type: ignore[misc]
        kill(process)
        assert process.returncode == -signal.SIGKILL, f"run {run} was over before it was killed: {process.returncode}"
    last = tadoru(*audit(site, "last"))
    assert last.code == 0, last.err

    found = everything(tmp_path / "crawl.db")
    assert found.keys() == expected.keys()
    for name, rows in expected.items():
        assert found[name] == rows, name
    assert len(expected["pages"]) > PAGES
    assert {row[1] for row in expected["pages"]} == {"completed", "skipped", "discovered"}
    _asked_for_little_more_than_once(site, first)


def _asked(site: Site, first: int, kind: str) -> int:
    """How many requests there were since then for URLs that end so."""
    return sum(seen.path.endswith(kind) for seen in site.requests[first:])


def test_a_re_crawl_that_is_killed_again_and_again_is_that_of_one_that_was_not(
    tadoru: Tadoru, site: Site, tmp_path: Path
) -> None:
    crowd(site, 150)
    assert tadoru("audit", site.url("/"), "-d", "quiet.db", "--processes", "1", *OPTIONS).code == 0
    shutil.copy(tmp_path / "quiet.db", tmp_path / "crawl.db")
    crowd(site, 150, edition=2)
    first = len(site.requests)
    quiet = tadoru("audit", "-d", "quiet.db", "--recrawl", "--processes", "1", *OPTIONS)
    assert quiet.code == 0, quiet.err
    total = len(site.requests) - first
    for run, part in enumerate((0.05, 0.3, 0.6, 0.95)):
        process = tadoru.start(*audit(site, run), "--recrawl", start_new_session=True)
        site.wait_for(lambda site, part=part: len(site.requests) >= first + total + part * total)  # type: ignore[misc]
        kill(process)
        assert process.returncode == -signal.SIGKILL
    last = tadoru(*audit(site, 1))
    assert last.code == 0, last.err
    expected, found = everything(tmp_path / "quiet.db"), everything(tmp_path / "crawl.db")
    for name, rows in expected.items():
        assert found[name] == rows, name
    assert expected["runs"] == [(1, "crawl", "complete"), (2, "recrawl", "complete")]
    assert {row[0] for row in expected["past pages"]} == {1}
    assert any(("status:304", count) in expected["counters"] for count in range(100, 150))


def _asked_for_little_more_than_once(site: Site, first: int) -> None:
    """Nothing twice in one run, and again only what was in flight when a run was killed."""
    asked = [(seen.headers["user-agent"], seen.path) for seen in site.requests[first:] if seen.path.startswith("/p/")]
    assert max(Counter(asked).values()) == 1, "twice in one run"
    again = Counter(path for _, path in asked)
    assert sum(again.values()) - len(again) <= KILLS * CONCURRENCY


def test_a_kill_while_the_crawl_is_analysed_loses_nothing(tadoru: Tadoru, site: Site, tmp_path: Path) -> None:
    crowd(site, 60)
    quiet = tadoru("audit", site.url("/"), "-d", "quiet.db", "--processes", "1", *OPTIONS)
    assert quiet.code == 0, quiet.err
    total = len(site.requests)
    process = tadoru.start(*audit(site, 0), start_new_session=True)
    site.wait_for(lambda site: len(site.requests) >= 2 * total)
    kill(process)
    done = finished(tadoru.start(*audit(site, 1)))
    assert done.code == 0, done.err
    assert everything(tmp_path / "crawl.db") == everything(tmp_path / "quiet.db")
    assert len([seen for seen in site.requests[2 * total :] if seen.path.startswith("/p/")]) <= CONCURRENCY
