"""What is said of a crawl: numbers that a page can show, a bounded number of notices, and why a crawl failed, in a sentence."""

from __future__ import annotations

import json
from collections import deque
from pathlib import Path
from typing import Any

import pytest

from tadoru.config.options import AuditOptions
from tadoru.engine.notifications import (
    CrawlNotification,
    HostSlowed,
    LeasesRecovered,
    PageDone,
    PageHandlerFailed,
    PageNotRendered,
    PageTruncated,
    SitemapRead,
    SiteMoved,
)
from tadoru.jobs.service_crawl import options_for
from tadoru.serve.crawl_runner.control import import_crawl
from tadoru.serve.crawl_runner.process_messages import (
    MAX_NOTICE_LENGTH,
    MAX_NOTICES,
    NOTICES_PER_HEARTBEAT,
    NoticeSender,
    progress_of,
)
from tadoru.store.crawl.metrics import CrawlMetrics
from tadoru.store.crawl.records import CrawlCounts
from tadoru.store.served_crawls.schema import CrawlState
from tests.serve.crawl_runner.runner import BY, RunnerHarness
from tests.support.site import Site


def test_progress_is_what_was_counted_and_how_fast() -> None:
    seen: deque[tuple[float, int]] = deque(maxlen=30)
    first = CrawlMetrics(counts=CrawlCounts(queued=5, completed=10, error=2, counted=12))
    later = CrawlMetrics(counts=CrawlCounts(queued=1, processing=2, completed=30, error=2, counted=32))
    assert progress_of(None, 0.52, seen, 100.0) == {"seconds": 0.5}
    assert progress_of(first, 1.0, seen, 101.0)["rate"] == 0.0
    assert progress_of(later, 3.0, seen, 103.0) == {
        "pages": 32, "errors": 2, "queued": 3, "known": 35, "rate": 10.0, "seconds": 3.0,
    }  # fmt: skip


@pytest.mark.parametrize(
    "notice, words",
    [
        (HostSlowed(host="a.example", gap=1, pause=60), "a.example requests a pause of 60 seconds. Waiting."),
        (HostSlowed(host="a.example", gap=2, pause=0), "Slowing down for a.example."),
        (HostSlowed(host="a.example", gap=2, pause=30, silent=True), "Slowing down for a.example."),
        (SiteMoved(old="http://a.example/", new="http://b.example/"), "redirects to http://b.example/. Crawling that site."),
        (SitemapRead(url="http://a.example/s.xml", urls=0, problem="It is no XML."), "has a problem: It is no XML."),
        (LeasesRecovered(count=1200), "Resumed URLs of a process that ended early: 1,200"),
        (
            PageTruncated(url="http://a.example/", reasons=("it has too many links",)),
            "Skipped a part of http://a.example/: it has too many links.",
        ),
        (PageNotRendered(url="http://a.example/", reason="There is no browser.", browser_missing=True), "There is no browser."),
        (
            PageHandlerFailed(url="http://a.example/", trace="secret trace"),
            "Bug in Tadoru on http://a.example/. Please report it",
        ),
    ],
)  # fmt: skip
def test_what_a_person_should_hear_is_a_sentence(strict: RunnerHarness, notice: CrawlNotification, words: str) -> None:
    notices = NoticeSender(strict.store.messages, 1)
    notices.add(notice)
    notices.add(PageDone(url="http://a.example/", status=200, depth=0, links=0, seconds=0.1))
    notices.send_pending()
    (said,) = strict.notices(1)
    assert words in said
    assert "secret" not in said


def test_a_hostile_site_can_not_fill_the_database_with_notices(strict: RunnerHarness) -> None:
    notices = NoticeSender(strict.store.messages, 1)
    for beat in range(MAX_NOTICES):
        for number in range(100):
            notices.add(SitemapRead(url=f"http://a.example/{beat}/{number}\x1b[31m{'x' * 5000}", urls=0, problem="bad"))
        before = len(strict.notices(1))
        notices.send_pending()
        assert len(strict.notices(1)) - before <= NOTICES_PER_HEARTBEAT
        if before > MAX_NOTICES:
            break
    said = strict.notices(1)
    assert len(said) == MAX_NOTICES + 1
    assert said[-1].startswith("Further notices are omitted.")
    assert all(len(one) <= MAX_NOTICE_LENGTH and one.isprintable() for one in said)


def test_a_host_that_is_slowed_down_for_again_and_again_is_told_of_once(strict: RunnerHarness) -> None:
    notices = NoticeSender(strict.store.messages, 1)
    for _ in range(5):
        notices.add(HostSlowed(host="a.example", gap=2, pause=0))
    notices.send_pending()
    assert strict.notices(1) == ["Slowing down for a.example."]


@pytest.mark.parametrize("job", ["audit", "links", "docs"])
def test_a_crawl_that_can_not_be_stored_fails_with_a_sentence_and_no_path(runner: RunnerHarness, site: Site, job: str) -> None:
    site.page("/")
    number = runner.add(job, site.url("/")).id
    path = runner.crawl_database(number)
    path.mkdir(parents=True)
    assert runner.run_here(number).outcome == "failed"
    crawl = runner.store.crawls.get(number)
    assert crawl.state is CrawlState.FAILED
    assert crawl.error.endswith(".")
    assert str(path.parent.parent) not in crawl.error


def test_a_fault_of_our_own_fails_one_crawl_and_is_in_the_log(runner: RunnerHarness, site: Site) -> None:
    number = runner.add("audit", site.url("/"), concurrency="many").id
    runner.run_here(number)
    assert "Please report it" in runner.store.crawls.get(number).error
    line = next(json.loads(line) for line in runner.said.getvalue().splitlines() if "crawl failed" in line)
    assert (line["crawl_id"], line["error"]) == (number, "TypeError")
    assert "crawl.py:" in line["at"]
    assert "many" not in line["at"]


@pytest.mark.parametrize(
    "prepare, words",
    [
        (lambda site: site.robots("User-agent: *\nDisallow: /\n"), "robots.txt"),
        (lambda site: site.misbehave("/", "drop"), "could not be reached"),
    ],
)
def test_a_start_that_can_not_be_read_says_why(runner: RunnerHarness, site: Site, prepare: Any, words: str) -> None:
    prepare(site)
    number = runner.add("docs", site.url("/")).id
    runner.run_here(number)
    crawl = runner.store.crawls.get(number)
    assert (crawl.state, words in crawl.error) == (CrawlState.FAILED, True), crawl.error
    assert runner.store.crawls.runs(number)[0].changes == {"regression": False, "reasons": [], "reason_codes": []}, (
        "it was never well"
    )


def test_what_a_crawl_of_the_command_line_was_allowed_is_not_allowed_here(
    runner: RunnerHarness, site: Site, tmp_path: Path
) -> None:
    """Its database remembers that somebody at the machine named a private host. Over the web nobody did."""
    import tadoru

    site.page("/")
    tadoru.links(site.url("/"), state=str(tmp_path / "mine.db"), delay=0.0)
    asked = len(site.requests)
    strict = RunnerHarness(tmp_path / "strict")
    try:
        number = import_crawl(strict.store, str(tmp_path / "mine.db"), BY).id
        assert strict.run_again(number).outcome == "failed"
        assert "loopback" in strict.store.crawls.get(number).error
        assert len(site.requests) == asked
    finally:
        strict.close()


def test_operators_set_manners_and_never_credentials_or_files() -> None:
    operators = {
        "user_agent": "Ours/1", "delay": 2.0, "proxy": "http://p:1", "header": ("X: y",), "auth_token": "t", "cookies": "c.txt",
        "database": "x.db", "seed_urls": ("http://x/",), "allow_private": True, "ignore_robots": True, "report": "r.html",
        "suppress": "s.txt", "processes": 8, "follow_external_hosts": True,
    }  # fmt: skip
    found = options_for("audit", operators, {"delay": 0.5, "include": ["a"]})
    assert found == AuditOptions(user_agent="Ours/1", delay=0.5, proxy="http://p:1", include=("a",), processes=1)
