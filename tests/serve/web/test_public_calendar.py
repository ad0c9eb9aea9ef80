"""The public calendar as its readers and search engines meet it, in a real Chromium where they would use one."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from xml.etree import ElementTree

import httpx
import pytest
from playwright.sync_api import Browser, Page

from tadoru.config.parsers import parse_accent, parse_logo, parse_paragraph
from tadoru.errors import UsageError
from tadoru.jobs.events.dedupe.matcher import EventMatcher
from tadoru.jobs.events.event_input import parse_new_event
from tests.serve.web.test_appearance import PHONE, public_pages, window
from tests.serve.web.web_harness import WebHarness, serving
from tests.support.site import Site

HTML = {"accept": "text/html", "accept-language": "en"}


@pytest.fixture(scope="module")
def priced(web_harness: WebHarness) -> WebHarness:
    """The town with three prices."""
    for title, price in (("Free walk", "無料"), ("Dinner", "大人500円、子ども無料"), ("Open garden", "0円")):
        values = {"title": title, "starts": "2026-08-08 10:00", "timezone": "Asia/Tokyo", "city": "盛岡市", "price": price}
        draft = parse_new_event(values, "Asia/Tokyo", web_harness.store.db.now())
        web_harness.store.edits.create(draft, EventMatcher(), "test")
    return web_harness


def titles(page: Page) -> list[str]:
    return page.locator(".card h3").all_inner_texts()


def test_filters_are_one_click_away_and_a_second_click_removes_them(browser: Browser, priced: WebHarness) -> None:
    with window(browser, priced, locale="en", java_script_enabled=False) as (page, wrong):
        page.goto(priced.url("/"))
        assert page.get_by_role("button", name="Near me").count() == 0, "it needs a script"
        page.get_by_role("link", name="Next weekend").click()
        assert page.get_by_role("heading", level=1).inner_text() == "Events next weekend"
        assert {"Free walk", "Dinner", "野外上映会"} <= set(titles(page))
        page.get_by_role("button", name="Free", exact=True).click()
        assert sorted(titles(page)) == ["Free walk", "Open garden"]
        page.get_by_label("City", exact=True).fill("仙台市")
        page.get_by_role("button", name="Apply").click()
        assert page.get_by_text("No events found.").is_visible()
        page.get_by_label("City", exact=True).fill("盛岡")
        page.get_by_label("City", exact=True).press("Enter")
        assert sorted(titles(page)) == ["Free walk", "Open garden"]
        page.get_by_role("button", name="This weekend").click()
        assert titles(page) == []
        page.get_by_role("button", name="This weekend").click()
        page.get_by_role("button", name="Free", exact=True).click()
        assert "Dinner" in titles(page)
        assert page.get_by_role("heading", level=1).inner_text() == "Events in 盛岡市"
        page.get_by_role("link", name="Clear filters").click()
        assert page.get_by_role("heading", level=1).inner_text() == "Upcoming events"
    assert wrong == []


def test_dates_replace_a_quick_filter(browser: Browser, priced: WebHarness) -> None:
    with window(browser, priced, locale="en", java_script_enabled=False) as (page, _):
        page.goto(priced.url("/?when=today"))
        page.get_by_text("Dates and order").click()
        page.get_by_label("From").fill("2026-08-11")
        page.get_by_label("To", exact=True).fill("2026-08-11")
        page.get_by_role("button", name="Apply").click()
        assert "盛岡花火の祭典" in titles(page)
        page.get_by_role("button", name="Today").click()
        assert "盛岡花火の祭典" not in titles(page)


def test_events_near_the_reader(browser: Browser, priced: WebHarness) -> None:
    place = {"latitude": 39.65, "longitude": 141.16}
    with window(browser, priced, locale="en", geolocation=place, permissions=["geolocation"]) as (page, wrong):
        page.goto(priced.url("/"))
        page.get_by_role("button", name="Near me").click()
        page.wait_for_url("**/?near=39.65*")
        assert "盛岡花火の祭典" in titles(page)
        assert "神子田朝市" not in titles(page)
        page.get_by_role("button", name="Near me").click()
        page.get_by_role("link", name="神子田朝市").wait_for()
    assert wrong == []


def test_a_month_and_a_day_are_filtered_by_free_and_near(browser: Browser, priced: WebHarness) -> None:
    place = {"latitude": 39.65, "longitude": 141.16}
    with window(browser, priced, locale="en", geolocation=place, permissions=["geolocation"]) as (page, wrong):
        page.goto(priced.url("/month/2026-08"))
        page.get_by_role("button", name="Free", exact=True).click()
        page.wait_for_url("**/month/2026-08?*free=true*")
        assert page.get_by_role("link", name="Free walk").count() > 0
        assert page.get_by_role("link", name="盛岡花火の祭典").count() == 0
        page.goto(priced.url("/month/2026-08"))
        page.get_by_role("button", name="Near me").click()
        page.wait_for_url("**/month/2026-08?near=39.65*")
        assert page.get_by_role("link", name="盛岡花火の祭典").count() > 0
        assert page.get_by_role("link", name="Free walk").count() == 0
        page.goto(priced.url("/day/2026-08-08?free=true"))
        assert sorted(titles(page)) == ["Free walk", "Open garden"]
    assert wrong == []


def test_an_event_of_several_days_is_drawn_across_them(browser: Browser, priced: WebHarness) -> None:
    with window(browser, priced, locale="en") as (page, _):
        page.goto(priced.url("/month/2026-08"))
        whole = page.locator(".month").bounding_box()
        bar = page.locator(".span.d7").first.bounding_box()
        assert whole is not None
        assert bar is not None
        assert bar["width"] >= whole["width"] - 12
        assert page.locator(".span").count() == 5, "one bar a week"
        assert page.locator(".span.to").count() == 1


def test_lists_and_pages_say_until_when_an_exhibition_goes_on(client: httpx.Client, priced: WebHarness) -> None:
    values = {"title": "Prints", "starts": "2026-08-20 09:00", "ends": "2026-08-20 17:00", "timezone": "Asia/Tokyo"}
    draft = parse_new_event(values, "Asia/Tokyo", priced.store.db.now())
    first = draft.occurrence
    assert first.ends_at is not None
    days = tuple(
        replace(first, starts_at=first.starts_at + step, ends_at=first.ends_at + step) for step in map(timedelta, range(20))
    )
    event = priced.store.edits.create(replace(draft, occurrences=days), EventMatcher(), "test")
    page = client.get(priced.url(f"/events/{event.id}"), headers=HTML).text
    assert "19 dates · until Tue 8 Sept</summary>" in page
    assert "<span>until Tue 8 Sept</span>" in client.get(priced.url("/?q=Prints"), headers=HTML).text
    assert "until " not in client.get(priced.url("/day/2026-09-08"), headers=HTML).text


def test_a_phone_shows_an_event_without_scrolling(browser: Browser, priced: WebHarness) -> None:
    with window(browser, priced, locale="en", viewport=PHONE) as (page, _):
        page.goto(priced.url("/"))
        header = page.locator("header").bounding_box()
        first = page.locator(".card").first.bounding_box()
        assert header is not None
        assert first is not None
        assert header["height"] <= 110
        assert first["y"] < PHONE["height"] * 0.8
        page.get_by_role("button", name="Deutsch").click()
        assert page.get_by_role("heading", level=1).inner_text() == "Kommende Veranstaltungen"


def test_addresses_are_copied(browser: Browser, priced: WebHarness) -> None:
    with window(browser, priced, locale="en", permissions=["clipboard-read", "clipboard-write"]) as (page, _):
        page.goto(priced.url("/subscribe?city=盛岡"))
        page.get_by_role("button", name="Copy URL Calendar (ICS)").click()
        page.get_by_role("button", name="Copied").wait_for()
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied == page.locator("code.address").first.inner_text()
        assert page.get_by_text("Embed in a website").count() == 0, "no site may embed this calendar"


def test_a_page_is_small_and_needs_few_requests(browser: Browser, priced: WebHarness) -> None:
    for path in public_pages(priced):
        with window(browser, priced, locale="en") as (page, _):
            sizes: list[int] = []
            page.on("requestfinished", lambda one: sizes.append(one.sizes()["responseBodySize"]))  # noqa: B023
            page.goto(priced.url(path), wait_until="networkidle")
            assert (len(sizes) <= 5, sum(sizes) < 60 * 1024) == (True, True), (path, sizes)


def test_search_engines_and_previews_learn_what_a_page_is(client: httpx.Client, priced: WebHarness) -> None:
    event = client.get(f"/events/{priced.event_id('花火')}").text
    assert f'<link rel="canonical" href="{priced.address}/events/' in event
    assert '<meta property="og:title" content="盛岡花火の祭典">' in event
    assert '<meta name="description" content="盛岡花火の祭典 · Tue, 11 Aug 2026 19:00–20:30 · 都南大橋下流' in event
    for path in ("/", "/?city=盛岡市", "/?when=weekend", "/month/2026-08", "/day/2026-08-11", "/about", "/subscribe"):
        page = client.get(path).text
        assert 'name="robots"' not in page, path
        assert 'rel="canonical"' in page, path
        assert 'property="og:description"' in page, path
    for path in (
        "/?city=盛岡市&q=ヨガ",
        "/?sort=-starts",
        "/month/2199-12",
        "/month/1999-01",
        "/day/2031-01-01",
        "/search?q=花火",
    ):
        assert '<meta name="robots" content="noindex' in client.get(path).text, path


def test_months_and_days_end_where_the_events_end(client: httpx.Client, priced: WebHarness) -> None:
    assert 'rel="next"' in client.get("/month/2026-08").text
    last = client.get("/month/2026-09").text
    assert ('rel="next"' in last, 'rel="prev"' in last) == (False, True)
    assert 'rel="prev"' in client.get("/month/2031-01").text, "the way back"
    far = client.get("/day/2031-01-01").text
    assert 'href="/day/2026-09-11"' in far
    assert 'rel="next"' not in far


def test_robots_and_the_sitemap_lead_to_the_events(client: httpx.Client, priced: WebHarness) -> None:
    robots = client.get("/robots.txt")
    assert robots.headers["content-type"].startswith("text/plain")
    assert f"Sitemap: {priced.address}/sitemap.xml" in robots.text
    assert "Disallow: /manage" in robots.text
    answer = client.get("/sitemap.xml")
    urls = [one.text or "" for one in ElementTree.fromstring(answer.content).iter() if one.tag.endswith("}loc")]
    assert f"{priced.address}/events/{priced.event_id('花火')}" in urls
    assert f"{priced.address}/month/2026-08" in urls
    assert all(client.get(url).status_code == 200 for url in urls[:12])


def test_what_is_the_same_for_everyone_is_compressed(client: httpx.Client, priced: WebHarness) -> None:
    assert client.get("/").headers["content-encoding"] == "gzip"
    assert client.get("/static/style.css").headers["content-encoding"] == "gzip"
    signed_in = {"cookie": f"tadoru={priced.cookie('viewer')}"}
    assert "content-encoding" not in client.get("/manage", headers=signed_in).headers


@pytest.fixture
def own_look(tmp_path: Path) -> Iterator[WebHarness]:
    """A calendar with the operator's logo, colour and texts, that a site may embed."""
    logo = tmp_path / "logo.svg"
    logo.write_text('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect width="9" height="9"/></svg>')
    more = {"logo": str(logo), "accent": "#8a1c4a", "intro": "Welcome.\nHave fun.", "about": "Run by <us>.", "embed": ("*",)}
    with Site() as site, serving(tmp_path, site, "en", site_name="Hoshimachi", **more) as found:
        yield found


def test_the_operator_sets_logo_colour_and_texts(browser: Browser, own_look: WebHarness) -> None:
    for scheme in ("light", "dark"):
        with window(browser, own_look, locale="en", color_scheme=scheme) as (page, wrong):
            page.goto(own_look.url("/"))
            assert page.locator(".brand img").evaluate("one => one.naturalWidth") > 0
            assert page.get_by_text("Have fun.").is_visible()
            colour = page.get_by_role("button", name="Apply").evaluate("one => getComputedStyle(one).backgroundColor")
            assert (colour == "rgb(138, 28, 74)") == (scheme == "light")
            page.goto(own_look.url("/about"))
            assert page.get_by_text("Run by <us>.").is_visible()
            page.goto(own_look.url("/subscribe"))
            assert f'<iframe src="{own_look.address}/embed"' in page.locator("pre").inner_text()
        assert wrong == []


def test_a_look_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    for given in ("#ffcc00", "teal", "#12345", "#fff; }"):
        with pytest.raises(UsageError):
            parse_accent.parse(given)
    assert parse_accent.parse("#1C5D5A") == "#1c5d5a"
    (tmp_path / "large.png").write_bytes(b"x" * 300_000)
    for given in (str(tmp_path / "large.png"), str(tmp_path / "none.png"), "http://x.example/a.png", "/etc/passwd"):
        with pytest.raises(UsageError):
            parse_logo.parse(given)
    with pytest.raises(UsageError):
        parse_paragraph.parse("x" * 2_001)


def test_tadorus_own_audit_gives_the_calendar_95_points(priced: WebHarness, tmp_path: Path) -> None:
    database = str(tmp_path / "audit.db")

    def tadoru(*arguments: str) -> str:
        line = [sys.executable, "-m", "tadoru", *arguments]
        return subprocess.run(line, capture_output=True, encoding="utf-8", timeout=120, check=False).stdout

    # How fast a busy test machine answers does not count.
    patience = [part for check in ("ttfb-slow", "response-slow-for-site") for part in ("--threshold", f"{check}=1000")]
    tadoru("audit", f"{priced.address}/", "-d", database, "--delay", "0", "-q", *patience)
    report = json.loads(tadoru("report", database, "-q", "--format", "json"))
    assert report["score"] >= 95, report
