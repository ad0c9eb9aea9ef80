"""Crawls of the real service: of two processes one runs each of them; it is stopped or killed, and the next one goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from tadoru.store.served_crawls.schema import CrawlState
from tadoru.store.service import ServiceStore, open_service
from tests.acceptance.command import Tadoru
from tests.serve.crawl_runner.runner import BY, FAST, PATIENCE, RunnerHarness, place_of, until
from tests.serve.crawl_runner.test_processes import LENGTH, chain
from tests.support.site import Site


def pid_of(store: ServiceStore, number: int) -> int:
    with store.db.read() as sql:
        return int(sql.exec_driver_sql(f"SELECT pid FROM crawls WHERE id = {number}").scalar_one())


def is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


@contextmanager
def serving(tadoru: Tadoru, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """The real command. Whatever becomes of the test, none of its processes is left."""
    process = tadoru.start("serve", "-d", "events.db", "--port", "0", "--no-collector", *arguments, start_new_session=True)
    try:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("Serving on http")
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def test_a_crawl_outlives_the_service_that_began_it(tmp_path: Path, site: Site) -> None:
    last = chain(site)
    gate, tadoru, database = site.hold(last), Tadoru(tmp_path), str(tmp_path / "events.db")
    private = ("--crawl-private", place_of(site))
    with serving(tadoru, "--workers", "2", "--log-format", "json", *private) as service, closing(open_service(database)) as store:
        options = FAST | {"delay": 0.3, "concurrency": 1, "depth": LENGTH}
        number = store.crawls.add("x", "links", [site.url("/")], options, BY).id
        until(lambda: site.hits("/2") > 0, "the crawl")
        child = pid_of(store, number)
        service.send_signal(signal.SIGTERM)
        _, err = service.communicate(timeout=PATIENCE)
        assert service.returncode == 0
        assert store.crawls.get(number).state is CrawlState.QUEUED
        assert not is_there(child)
        assert len(store.crawls.runs(number)) == 1, "of two processes one ran it"
    lines = [json.loads(line) for line in err.splitlines() if line.startswith("{")]
    assert [line["event"] for line in lines if line.get("crawl_id")] == ["crawl started", "crawl queued"]

    asked = len(site.requests)
    with serving(tadoru, *private) as service, closing(open_service(database)) as store:
        until(lambda: len(site.requests) > asked, "the crawl")
        child = pid_of(store, number)
        service.kill()
        until(lambda: not is_there(child), "the process of the crawl")
        assert store.crawls.get(number).state is CrawlState.QUEUED, "it saw that nobody is left, and said so"
    gate.release()

    runner = RunnerHarness(tmp_path, site, database=database)
    try:
        run = runner.run_here(number)
        assert (run.outcome, run.figures["pages"]) == ("finished", LENGTH)
        hits = [site.hits(f"/{page}") for page in range(1, LENGTH - 1)]
        assert hits == [1] * (LENGTH - 2), "nothing was asked for twice"
    finally:
        runner.close()


def test_what_is_on_the_command_line_of_a_crawl_tells_no_secret(runner: RunnerHarness, site: Site) -> None:
    site.page("/", links=["/a"])
    gate = site.hold("/a")
    site.page("/a")
    number = runner.add("links", site.url("/")).id
    runner.dispatch()
    site.wait_for(lambda site: site.hits("/a") > 0)
    pid = runner.child(number)
    shown = Path(f"/proc/{pid}/cmdline").read_bytes() + Path(f"/proc/{pid}/environ").read_bytes()
    assert runner.database.encode() not in shown
    assert os.getpgid(pid) == pid, "Ctrl-C at a terminal is for the service"
    gate.release()
    runner.wait(number, CrawlState.FINISHED)
