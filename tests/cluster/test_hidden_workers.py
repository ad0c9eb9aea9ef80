"""Workers on one machine that cannot see each other, as with `hidepid` or as different users."""

from __future__ import annotations

from collections import Counter

from tests.cluster.hamlets import build
from tests.cluster.harness import ClusterHarness
from tests.support.planted_server import ProxiedSite
from tests.support.process_views import NOBODY, with_proc


def test_workers_that_cannot_see_each_other_repeat_nothing(town: ProxiedSite, harness: ClusterHarness) -> None:
    starts = build(town, hosts=6, pages=6)
    polite = ("--proxy", town.proxy, "--allow-private", "--delay", "0.1", "--sitemap", "off", "--resources", "0")
    harness.submit("site", *polite, *starts)
    for user in (None, NOBODY):
        harness.start_timed_worker(hosts=3, prefix=with_proc("hidepid=2", user=user))
    harness.until_done("site")
    asked = Counter(seen.path for seen in town.requests)
    assert {path: times for path, times in asked.items() if times > 1} == {}
