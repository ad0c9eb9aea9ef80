"""Crawls in processes of their own: each kind to its end, paused, killed, stopped, shut down, and gone on with, as if nothing had
been."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

from tadoru.serve.crawl_runner import control
from tadoru.store.served_crawls.schema import CrawlState
from tests.serve.crawl_runner.runner import BY, RunnerHarness
from tests.support.planted_crowd import crowd, everything
from tests.support.site import Site

PAGES = 24
LENGTH = 8


def small(site: Site, *pages: str) -> None:
    site.page("/", links=pages)
    for page in pages:
        site.page(page, links=["/"], body="<p>Some words to read here, and some more.</p>")


def chain(site: Site) -> str:
    """Pages one behind the other; the path of the last."""
    site.page("/", links=["/1"])
    for number in range(1, LENGTH):
        site.page(f"/{number}", links=[f"/{number + 1}"] if number + 1 < LENGTH else [])
    return f"/{LENGTH - 1}"


def test_every_kind_of_crawl_runs_to_its_end_and_says_so(runner: RunnerHarness, site: Site) -> None:
    small(site, "/a", "/b")
    runner.dispatch()
    audit, links, docs = (
        control.add(runner.service, BY, name="", job=job, starts=[site.base], options={"delay": 0.1}).id
        for job in ("audit", "links", "docs")
    )
    for number in (audit, links, docs):
        done = runner.wait(number, CrawlState.FINISHED, CrawlState.FAILED)
        assert (done.state, done.error) == (CrawlState.FINISHED, "")
        assert {name: done.progress[name] for name in ("pages", "errors", "queued", "known")} == {
            "pages": 3, "errors": 0, "queued": 0, "known": 3,
        }  # fmt: skip
        states = [one.body["state"] for one in runner.store.messages.list(0, limit=999) if one.kind == "crawl.state"
            and one.body["crawl_id"] == number]  # fmt: skip
        assert states == ["queued", "running", "finished"]
        assert runner.store.crawls.runs(number)[0].figures["pages"] == 3
    assert runner.path(audit) == Path(runner.database).parent / "crawls" / str(audit) / "crawl.db"
    assert json.loads(runner.path(links).with_name("result.json").read_text())["total_processed"] == 3
    assert len(json.loads((runner.path(docs) / "index.json").read_text())["pages"]) == 3
    assert runner.store.crawls.runs(audit)[0].figures["status.2xx"] == 3


def test_a_crawl_that_is_paused_and_killed_on_its_way_comes_to_the_same(
    runner: RunnerHarness, site: Site, tmp_path: Path
) -> None:
    crowd(site, PAGES)
    options = {"store_bodies": True, "fragments": True, "concurrency": 1}
    quiet = runner.add("audit", site.url("/"), **options).id
    runner.run_here(quiet)
    expected = everything(runner.crawl_database(quiet))
    first = len(site.requests)

    gates = [site.hold("/p/1"), site.hold("/p/14")]
    number = runner.add("audit", site.url("/"), **options).id
    runner.dispatch()
    site.wait_for(lambda site: site.paths[first:].count("/p/1") > 0)
    assert control.pause(runner.service, BY, number).wanted == "pause"
    runner.heard(number)
    gates[0].release()
    assert runner.wait(number, CrawlState.PAUSED).error == ""
    assert "/p/14" not in site.paths[first:], "nothing new is begun"

    control.run(runner.service, BY, number)
    site.wait_for(lambda site: site.paths[first:].count("/p/14") > 0)
    os.kill(runner.child(number), signal.SIGKILL)
    gates[1].release()
    runner.wait(number, CrawlState.FINISHED)
    assert [run.outcome for run in runner.store.crawls.runs(number)] == ["finished", "failed", "paused"]
    found = everything(runner.crawl_database(number))
    for name, rows in expected.items():
        assert found[name] == rows, name
    assert len(expected["pages"]) > PAGES
    assert max(site.paths[first:].count(f"/p/{page}") for page in range(PAGES)) <= 2, "only what was in flight is asked again"


def test_a_stopped_crawl_keeps_what_it_found_until_it_is_removed(runner: RunnerHarness, site: Site) -> None:
    small(site, "/a", "/b")
    gate = site.hold("/b")
    number = runner.add("audit", site.url("/"), concurrency=1).id
    runner.dispatch()
    site.wait_for(lambda site: site.hits("/b") > 0)
    control.stop(runner.service, BY, number)
    runner.heard(number)
    gate.release()
    assert runner.wait(number, CrawlState.STOPPED).progress["pages"] == 3
    folder = runner.path(number).parent
    assert folder.is_dir()
    control.remove(runner.service, BY, number)
    assert not folder.exists()
    assert runner.store.crawls.list() == ()


def test_when_the_service_ends_its_crawls_wait_for_the_next_start(runner: RunnerHarness, site: Site, tmp_path: Path) -> None:
    last = chain(site)
    gate = site.hold(last)
    number = runner.add("links", site.url("/"), delay=0.3, concurrency=1, depth=LENGTH).id
    runner.dispatch()
    site.wait_for(lambda site: site.hits("/1") > 0)
    pid = runner.child(number)
    runner.close()
    assert not Path(f"/proc/{pid}").exists(), "its process is gone, and was waited for"
    gate.release()

    after = RunnerHarness(tmp_path, site)
    try:
        assert after.state(number) is CrawlState.QUEUED
        after.run_here(number)
        assert after.state(number) is CrawlState.FINISHED
        assert after.store.crawls.runs(number)[0].figures["pages"] == LENGTH
        hits = [site.hits(f"/{page}") for page in range(1, LENGTH - 1)]
        assert hits == [1] * (LENGTH - 2), "nothing is asked for twice"
    finally:
        after.close()
