"""How workers share a crawl out: exactly to its limit, again when asked, politely between crawls, and fair to small hosts."""

from __future__ import annotations

from collections import Counter

from tests.acceptance.command import Tadoru
from tests.cluster.hamlets import build, host, host_of
from tests.cluster.harness import ClusterHarness, gaps, until, worker_threads
from tests.cluster.test_identity import access, alone, assert_same
from tests.support.planted_crowd import everything
from tests.support.planted_server import ProxiedSite

BARE = ("--sitemap", "off", "--resources", "0")


def test_a_limit_is_exact_whoever_asks(town: ProxiedSite, harness: ClusterHarness) -> None:
    starts = build(town, hosts=8, pages=5)
    harness.submit("site", *access(town), *BARE, "--limit", "17", *starts)
    with worker_threads(harness.database, workers=3, hosts=3):
        harness.until_done("site")
    pages = [row for row in harness.results("site")["pages"] if row[1] == "completed"]
    assert len(pages) == 17
    assert sum(not seen.path.endswith("/robots.txt") for seen in town.requests) == 17


def test_a_re_crawl_is_handed_over_like_a_crawl(tadoru: Tadoru, town: ProxiedSite, harness: ClusterHarness) -> None:
    given = (*access(town), *build(town, hosts=3, pages=3))
    alone(tadoru, town, "file", *given[len(access(town)) :])
    done = tadoru("audit", "-d", "file.db", "--recrawl", "--processes", "1", "-q", *access(town))
    assert done.code == 0, done.err
    expected = everything(tadoru.folder / "file.db")
    assert any(row[0].endswith("/quiet") for row in expected["pages"]), "what only a sitemap knows"
    assert {row[4] for row in expected["resources"]} == {"completed"}
    with worker_threads(harness.database, workers=2):
        harness.submit("site", *given)
        harness.until_done("site")
        harness.submit("site", *access(town), "--recrawl")
        harness.until_done("site")
    assert_same(harness.results("site"), expected, "the re-crawl")


def test_two_crawls_of_the_same_hosts_ask_each_as_seldom_as_one_would(town: ProxiedSite, harness: ClusterHarness) -> None:
    starts = build(town, hosts=3, pages=2)
    for name, delay in (("quick", "0.3"), ("slow", "0.6")):
        harness.submit(name, "--proxy", town.proxy, "--allow-private", "--delay", delay, *BARE, *starts)
    with worker_threads(harness.database, workers=2, seconds=1.0):
        harness.until_done("quick", "slow")
    asked = Counter(seen.path for seen in town.requests)
    assert {asked[start] for start in starts} == {2}, "each crawl asked for itself"
    shortest = gaps(town.requests, host_of)
    assert min(shortest.values()) > 0.15, shortest


def test_small_hosts_are_done_before_a_large_one_has_had_more_than_its_turns(town: ProxiedSite, harness: ClusterHarness) -> None:
    starts = build(town, hosts=60, pages=3, more=500)
    harness.submit("site", "--proxy", town.proxy, "--allow-private", "--delay", "0.05", *BARE, *starts)
    wanted = {f"http://{host(number)}/{page}" for number in range(1, 60) for page in ("", "1", "2", "gone")}
    with worker_threads(harness.database, hosts=5, seconds=0.5):
        until(lambda: wanted <= {seen.path for seen in list(town.requests)}, "the small hosts")
        large = sum(host_of(seen) == host(0) for seen in list(town.requests))
    # It would have had all its 500 pages if others waited for it, and a fifth of all requests with a place of its own.
    assert large < (len(wanted) + 60) / 5, f"{large} requests of the large host"
