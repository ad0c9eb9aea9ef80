"""The page about the cluster: read as text, and in a real Chromium, on a PostgreSQL that holds the calendar and the cluster."""

from __future__ import annotations

import time
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser

from tests.serve.web import axe
from tests.serve.web.screenshots import keep_picture
from tests.serve.web.test_appearance import PHONE, window
from tests.serve.web.web_harness import EVIL, WebHarness, opened, serving
from tests.support.clusters import SampleCluster, cluster_on, fill
from tests.support.postgres import server
from tests.support.programs import needs_node
from tests.support.site import Site

PAGE = "/manage/cluster"
PATIENCE = 60.0


@pytest.fixture(scope="module")
def seen() -> Iterator[SampleCluster]:
    with cluster_on(server()) as made:
        fill(made)
        made.cluster.put_crawl("broken", "audit", {})
        made.cluster.end_crawl("broken", "failed", f"ValueError: {EVIL}")
        yield made


@pytest.fixture(scope="module")
def cluster_web(seen: SampleCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebHarness]:
    """A service whose database has a cluster."""
    with Site() as site, serving(tmp_path_factory.mktemp("house"), site, "en", database=seen.database) as made:
        yield made


def page(web_harness: WebHarness, path: str = PAGE, *, role: str = "viewer", lang: str = "en") -> httpx.Response:
    cookie = {"cookie": f"tadoru={web_harness.cookie(role)}"} if role else {}
    headers = {"accept": "text/html", "accept-language": lang, **cookie}
    return httpx.get(web_harness.url(path), headers=headers, follow_redirects=False)


def test_the_page_tells_of_workers_crawls_queue_and_hosts(cluster_web: WebHarness) -> None:
    told = page(cluster_web)
    assert told.status_code == 200
    for words in ("den-1", "attic-1", "Lost", "1,234", "shops", "failed 5 times", "robots.txt does not respond", "32 secs"):
        assert words in told.text, words
    assert "実行中" in page(cluster_web, lang="ja").text


def test_the_overview_has_a_line_about_the_cluster_and_leads_to_it(cluster_web: WebHarness) -> None:
    told = page(cluster_web, "/manage").text
    assert "Active workers: 2 of 3." in told
    assert "Running crawls: 1." in told
    assert told.count('href="/manage/cluster"') == 2


def test_nobody_sees_the_cluster_without_signing_in(cluster_web: WebHarness) -> None:
    told = page(cluster_web, role="")
    assert (told.status_code, told.headers["location"].split("?")[0]) == (303, "/sign-in")


def test_on_sqlite_the_page_says_what_a_cluster_is_and_nothing_leads_there(tmp_path_factory: pytest.TempPathFactory) -> None:
    with opened(tmp_path_factory.mktemp("plain"), filled=False) as web_harness:
        told = page(web_harness)
        assert told.status_code == 200
        assert "A cluster is several machines that crawl together with one PostgreSQL database" in told.text
        assert 'href="/manage/cluster"' not in page(web_harness, "/manage").text


@needs_node
@pytest.mark.parametrize("scheme,lang", [("light", "ja"), ("dark", "en")])
def test_nothing_keeps_anybody_out_of_the_page(browser: Browser, cluster_web: WebHarness, scheme: str, lang: str) -> None:
    with window(browser, cluster_web, role="viewer", color_scheme=scheme, locale=lang) as (view, wrong):
        for path in (PAGE, "/manage"):
            assert view.goto(cluster_web.url(path)).status == 200  # type: ignore[union-attr]
            keep_picture(view, f"{lang}-{scheme}-cluster-{path}")
            assert axe.violations(view) == []
        assert view.locator("main img, main script").count() == 0
    assert wrong == []


def test_the_page_is_no_wider_than_a_phone_and_follows_what_happens(
    browser: Browser, cluster_web: WebHarness, seen: SampleCluster
) -> None:
    with window(browser, cluster_web, role="viewer", viewport=PHONE, locale="en") as (view, wrong):
        view.clock.install()
        view.goto(cluster_web.url(PAGE))
        keep_picture(view, "en-phone-cluster")
        assert view.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        number = seen.worker("newcomer", "shed")
        try:
            row = view.locator("th", has_text="newcomer")
            assert row.count() == 0
            # A look at the cluster is kept for a while, the longer the more it cost: on a busy machine for many seconds.
            until = time.monotonic() + PATIENCE
            while not row.count() and time.monotonic() < until:
                view.clock.run_for(5000)
            assert row.count() == 1
        finally:
            seen.cluster.leave(number)
    assert wrong == []
