"""Defects of the service that nobody should meet again, in a real Chromium: what a refusal names, what an import shows, how a run
ends, and what an address without encoding gives."""

from __future__ import annotations

import shutil
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, expect

from tadoru.config.options import ServeOptions
from tadoru.serve.crawl_runner.control import import_crawl
from tadoru.serve.crawl_runner.crawl_files import crawl_database
from tests.serve.web.crawl_harness import PATIENCE, crawled
from tests.serve.web.test_appearance import window
from tests.serve.web.web_harness import BY, WebHarness


def test_a_refused_private_address_names_the_option_that_allows_it(browser: Browser, shop: WebHarness) -> None:
    with window(browser, shop, role="editor", locale="en", java_script_enabled=False) as (page, _):
        page.goto(shop.url("/manage/crawls/new"))
        page.get_by_label("Start URLs").fill("http://127.0.0.1:9/")
        page.get_by_role("button", name="Start crawl").click()
        assert "--crawl-private" in page.locator("main").inner_text()
    assert "crawl_private" in {one.name for one in fields(ServeOptions)}, "the option is there"


def test_an_imported_crawl_shows_its_run_and_how_long_it_took(browser: Browser, shop: WebHarness, tmp_path: Path) -> None:
    found = crawled(shop, name="Original")
    shutil.copy(crawl_database(shop.service, found), tmp_path / "elsewhere.db")
    with ThreadPoolExecutor(1) as threads:  # The browser has a loop in this one.
        imported = threads.submit(import_crawl, shop.store, str(tmp_path / "elsewhere.db"), BY, "Imported").result()
    with window(browser, shop, role="viewer", locale="en", java_script_enabled=False) as (page, wrong):
        page.goto(shop.url(f"/manage/crawls/{imported.id}"))
        history = page.get_by_role("region", name="Run history")
        assert history.get_by_role("row").count() == 2, "the head and the run"
        assert "sec" in history.inner_text(), "a crawl of some pages takes seconds"
        assert "Not run yet" not in page.locator("main").inner_text()
    assert wrong == []


def test_a_run_that_is_ended_is_not_paused(browser: Browser, shop: WebHarness) -> None:
    gate = shop.site.hold("/shoes")
    crawl = shop.store.crawls.add("Ended", "audit", [shop.site.url("/")], {"delay": 0.0, "resources": 0}, BY)
    with window(browser, shop, role="editor", locale="en") as (page, wrong):
        page.set_default_timeout(PATIENCE * 1000)
        page.goto(shop.url(f"/manage/crawls/{crawl.id}"))
        expect(page.locator("#crawl-chip")).to_have_text("Running", timeout=PATIENCE * 1000)
        page.get_by_role("button", name="End run").click()
        gate.release()
        expect(page.locator("#crawl-chip")).to_have_text("Stopped", timeout=PATIENCE * 1000)
        expect(page.get_by_role("button", name="Run again")).to_be_visible()
        assert page.get_by_role("button", name="Resume").count() == 0
    assert wrong == []


def test_a_city_that_is_not_encoded_is_understood(web_harness: WebHarness) -> None:
    place = urlsplit(web_harness.address)
    with socket.create_connection((place.hostname or "", place.port or 80), timeout=PATIENCE) as connection:
        connection.sendall(f"GET /?city=盛岡 HTTP/1.1\r\nHost: {place.netloc}\r\nConnection: close\r\n\r\n".encode())
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 200")
    assert "盛岡市" in answer.decode()
