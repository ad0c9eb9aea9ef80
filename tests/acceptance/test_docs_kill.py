"""`kill -9` and Ctrl-C while a documentation site is read or written, then the command again: the files of a quiet run."""

from __future__ import annotations

import os
import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.acceptance.command import Tadoru, finished
from tests.support.handbook import Handbook, crawl, index, tree
from tests.support.site import Site

PAGES = 120
CONCURRENCY = 4
PARTS = (0.02, 0.3, 0.7, 0.98)
"""Of all requests: when it is killed."""


def start(tadoru: Tadoru, site: Site, *arguments: str) -> subprocess.Popen[str]:
    options = ("--delay", "0", "-c", str(CONCURRENCY), "--processes", "1", "-o", "out", "-q")
    return tadoru.start("docs", site.url("/"), *options, *arguments, start_new_session=True)


def kill(process: subprocess.Popen[str]) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL, "it was over before it was killed"


def test_a_crawl_that_is_killed_again_and_again_leaves_the_files_of_a_quiet_one(tadoru: Tadoru, site: Site) -> None:
    book = Handbook(site)
    book.write(PAGES)
    crawl(tadoru, site, "-o", "quiet/out")
    total = len(site.requests)
    book.forget()
    for part in PARTS:
        process = start(tadoru, site)
        site.wait_for(lambda site, part=part: len(site.requests) >= part * total)  # type: ignore[misc]
        kill(process)
        assert not (tadoru.folder / "out" / "index.json").exists()
    crawl(tadoru, site)
    assert tree(tadoru.folder / "out") == tree(tadoru.folder / "quiet" / "out")
    pages = Counter(path for path in site.paths if path.startswith("/part-") and not path.endswith(".md"))
    assert len(pages) == PAGES - 1
    assert sum(pages.values()) - len(pages) <= len(PARTS) * CONCURRENCY, "again only what was in flight"


def test_an_update_that_is_killed_tells_in_the_end_what_a_quiet_one_tells(tadoru: Tadoru, site: Site) -> None:
    book = Handbook(site)
    book.write(PAGES)
    for folder in ("quiet/out", "out"):
        crawl(tadoru, site, "-o", folder)
    book.page("/part-7", "Part 7", "<p>Another text for the seventh part of it.</p>")
    site.reply("/part-9", status=410)
    book.forget()
    quiet = crawl(tadoru, site, "-o", "quiet/out", "--diff")
    total = len(site.requests)
    book.forget()
    for part in (0.1, 0.8):
        process = start(tadoru, site, "--diff")
        site.wait_for(lambda site, part=part: len(site.requests) >= part * total)  # type: ignore[misc]
        kill(process)
    done = crawl(tadoru, site, "--diff")
    assert tree(tadoru.folder / "out") == tree(tadoru.folder / "quiet" / "out")
    assert done.out.splitlines()[1:] == quiet.out.splitlines()[1:]
    assert done.out.splitlines()[1] == "0 added, 1 changed, 1 removed."
    assert book.sent.count("/part-7") <= 3


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9])
def test_a_kill_while_the_files_are_written_leaves_nothing_behind(part: float, tadoru: Tadoru, site: Site) -> None:
    book = Handbook(site)
    book.write(60)
    crawl(tadoru, site, "-o", "quiet/out")
    total = len(tree(tadoru.folder / "quiet" / "out"))
    # Killed from inside, at a file of our choosing: from outside it would be luck to meet these few milliseconds.
    program = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom tadoru.__main__ import main\n"
        "written = 0\nreplace = Path.replace\n"
        "def counting(self, target):\n    global written\n    written += 1\n"
        f"    if written > {int(part * total)}:\n        os.kill(os.getpid(), signal.SIGKILL)\n    return replace(self, target)\n"
        "Path.replace = counting\nsys.argv[0] = 'tadoru'\nmain()\n"
    )
    process = tadoru.python(program, "docs", site.url("/"), "-o", "out", "--delay", "0", "--processes", "1", "-q")
    assert process.code == -signal.SIGKILL
    book.forget()
    crawl(tadoru, site)
    assert [path for path in site.paths if path.startswith("/part-")] == [], "everything had been read"
    assert tree(tadoru.folder / "out") == tree(tadoru.folder / "quiet" / "out")
    assert not list((tadoru.folder / "out").rglob("*.part"))


@pytest.mark.parametrize("held", ["/slow", "/later"], ids=["in the middle", "at the last page"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_one_signal_finishes_what_is_in_flight_and_the_same_command_goes_on(
    number: signal.Signals, held: str, tadoru: Tadoru, site: Site
) -> None:
    book = Handbook(site)
    book.page("/", "Start", links=["/slow"])
    book.page("/slow", "Slow", links=["/later"])
    book.page("/later", "Later")
    gate = site.hold(held)
    process = tadoru.start("docs", site.url("/"), "-o", "out", "--delay", "0", "--timeout", "50", "-q")
    site.wait_for(lambda site: site.hits(held) == 1)
    process.send_signal(number)
    gate.release()
    stopped = finished(process)
    assert (stopped.code, stopped.out) == (130, "")
    assert stopped.sentence == "Stopped. To resume, rerun the command (the crawl is in out)."
    resumed = crawl(tadoru, site)
    assert resumed.err.splitlines()[0] == f"Resuming the crawl of {site.url('/')}."
    assert [page["title"] for page in index(tadoru.folder / "out")["pages"]] == ["Start", "Slow", "Later"]
    assert [site.hits(path) for path in ("/slow", "/later")] == [1, 1], "what was finished is not asked for again"


def test_a_time_limit_keeps_what_there_is_and_the_next_run_goes_on(tadoru: Tadoru, site: Site) -> None:
    book = Handbook(site)
    book.write(40)
    done = crawl(tadoru, site, "--delay", "100ms", "--max-time", "1500ms")
    first = index(tadoru.folder / "out")["totalPages"]
    assert 1 <= first < 40
    assert f"{first} page" in done.out
    crawl(tadoru, site)
    assert index(tadoru.folder / "out")["totalPages"] == 40
    assert max(Counter(path for path in site.paths if path.startswith("/part-")).values()) == 1


def test_the_state_is_nowhere_else(tadoru: Tadoru, site: Site) -> None:
    Handbook(site).write(3)
    temporary = tadoru.folder / "tmp"
    temporary.mkdir()
    crawl(tadoru, site, env={"TMPDIR": str(temporary)})
    assert list(temporary.iterdir()) == []
    assert {path.name for path in tadoru.folder.iterdir()} == {"out", "tmp"}
    assert {path.name for path in Path(tadoru.folder / "out" / ".tadoru").iterdir()} == {"bundle.json", "crawl.db", "search.db"}
