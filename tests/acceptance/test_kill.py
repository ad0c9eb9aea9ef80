"""`kill -9` at any moment, then the same command again: nothing is lost, and nothing is asked for twice without need."""

from __future__ import annotations

import random
import signal
from collections import Counter, defaultdict

from tests.acceptance.command import CommandResult, Tadoru, finished, pages
from tests.support.site import Site

KILLS = 20
PAGES = 1200
CONCURRENCY = 4
START = f"/tree/{PAGES}/4/0"


def crawl(run: str) -> tuple[str, ...]:
    """The arguments; each run introduces itself by its own name, so that the site can tell them apart."""
    return ("--depth", "50", "--limit", "0", "-c", str(CONCURRENCY), "-f", "json", "--state", "crawl.db", "-u", run, "-q")


def killed_and_resumed(tadoru: Tadoru, site: Site, moments: list[int]) -> CommandResult:
    """Kill the crawl at each of these numbers of requests, and let it end after the last."""
    for number, moment in enumerate(moments):
        process = tadoru.start("links", site.url(START), "--delay", "0", "--processes", "1", *crawl(f"run-{number}"))
        site.wait_for(lambda site, moment=moment: len(site.requests) >= moment)  # type: ignore[misc]
        process.send_signal(signal.SIGKILL)
        finished(process)
        assert process.returncode == -signal.SIGKILL, "the crawl was over before it was killed"
    return tadoru.links(site.url(START), *crawl("run-last"))


def test_twenty_kills_lose_nothing_and_cost_no_more_than_what_was_in_flight(tadoru: Tadoru, site: Site) -> None:
    moments = sorted(random.Random(20).sample(range(1, PAGES - 100), KILLS))
    last = killed_and_resumed(tadoru, site, moments)
    assert last.code == 0, last.err
    assert pages(last.result) == pages(tadoru.map(site.url(START), "--depth", "50", "--limit", "0"))
    assert len(last.result["internal_urls"]) == PAGES

    runs: dict[str, list[str]] = defaultdict(list)
    for seen in site.requests:
        if seen.path.startswith("/tree/") and seen.headers["user-agent"].startswith("run-"):
            runs[seen.headers["user-agent"]].append(seen.path)
    assert sum(map(len, runs.values())) <= PAGES + KILLS * CONCURRENCY
    assert all(count == 1 for run in runs.values() for count in Counter(run).values()), "twice in one run"
    # What a run had asked for and a later one asked for again can only be what was in flight when it was killed.
    asked_in: dict[str, str] = {}
    again: Counter[str] = Counter()
    for run, requested in runs.items():
        again.update(asked_in[path] for path in requested if path in asked_in)
        asked_in |= dict.fromkeys(requested, run)
    assert max(again.values(), default=0) <= CONCURRENCY
