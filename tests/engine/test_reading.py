"""From bytes to the result: charsets, bases, what is no link, and bodies that are not read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tadoru.engine.job import FetchedPage, PageResult
from tadoru.jobs.links.job import LinksJob
from tests.support.crawling import by_path, crawl, set_up
from tests.support.site import Site

TITLE = "リンクを辿る"
BODY = f'<title>{TITLE}</title><a href="/next?q=辿">次</a>'


@pytest.mark.parametrize(
    "body, content_type",
    [
        pytest.param(BODY.encode("shift_jis"), "text/html; charset=Shift_JIS", id="as the header says"),
        pytest.param(b'<meta charset="euc-jp">' + BODY.encode("euc-jp"), "text/html", id="as the page says"),
        pytest.param(b'<meta charset="latin1">' + BODY.encode("shift_jis"), "text/html; charset=sjis", id="header before page"),
        pytest.param(BODY.encode("utf-8-sig"), "text/html; charset=iso-8859-1", id="a byte order mark before the header"),
        pytest.param(BODY.encode("utf-16"), "text/html", id="UTF-16 by its mark"),
        pytest.param(BODY.encode(), "text/html; charset=no-such-thing", id="a charset nobody knows"),
        pytest.param(BODY.encode(), "text/html", id="no word about it"),
    ],
)
async def test_titles_and_links_are_right_in_any_charset(body: bytes, content_type: str) -> None:
    async with Site() as site:
        site.reply("/", body=body, content_type=content_type)
        pages = by_path(site, await crawl(site, depth=0, ignore_robots=True))
    assert pages["/"].title == TITLE
    assert any(path.startswith("/next?q=") for path in pages)


async def test_links_are_found_in_a_page_whose_charset_is_a_lie() -> None:
    async with Site() as site:
        site.reply("/", body='<meta charset="utf-8"><a href="/a">辿る</a><a href="/b">日本</a>'.encode("shift_jis"))
        pages = by_path(site, await crawl(site, depth=0, ignore_robots=True))
    assert set(pages) == {"/", "/a", "/b"}


async def test_the_base_element_counts_and_what_is_hidden_is_no_link() -> None:
    async with Site() as site:
        site.html(
            "/dir/page",
            """<base href="/other/"><a href="relative">x</a>
            <!-- <a href="/comment">no</a> --><template><a href="/template">no</a></template>
            <script>var s = '<a href="/script">no</a>'</script><noscript><a href="/noscript">yes</a></noscript>
            <map><area href="area"></map><a href="javascript:void(0)">no</a><a href="">self</a><a>none</a>""",
        )
        pages = by_path(site, await crawl(site, "/dir/page", depth=0, ignore_robots=True))
    assert set(pages) - {"/noscript"} == {"/dir/page", "/other/relative", "/other/area", "/other/"}


async def test_images_scripts_and_styles_are_not_pages() -> None:
    async with Site() as site:
        site.html("/", '<link rel="stylesheet" href="/s.css"><img src="/i.png"><script src="/s.js"></script><a href="/a">a</a>')
        site.page("/a")
        assert set(by_path(site, await crawl(site))) == {"/", "/a"}


class Recorder(LinksJob):
    """Remembers what it was given to read."""

    def handle(self, page: FetchedPage) -> PageResult:
        SEEN[page.url] = (page.response.body_read, len(page.response.body))
        return super().handle(page)


SEEN: dict[str, tuple[bool, int]] = {}


async def test_only_bodies_that_may_hold_links_are_read(tmp_path: Path) -> None:
    from dataclasses import replace

    async with Site() as site:
        site.page("/", links=["/p.pdf", "/x.xhtml", "/data.json"])
        site.reply("/p.pdf", body=b"%PDF" * 1000, content_type="application/pdf")
        site.reply("/x.xhtml", body=b"<a href='/leaf/1'>x</a>", content_type="application/xhtml+xml")
        site.reply("/data.json", body=b'{"a": "<a href=/no>"}', content_type="application/json")
        setup = await set_up(site, tmp_path, ignore_robots=True)
        plan = setup.prepared.plan
        setup.prepared = replace(setup.prepared, plan=replace(plan, job=Recorder(scope=plan.job.scope)))
        SEEN.clear()
        await setup.run()
        pages = by_path(site, await setup.result())
    assert SEEN[site.url("/p.pdf")] == SEEN[site.url("/data.json")] == (False, 0)
    assert SEEN[site.url("/x.xhtml")] == (True, 23)
    assert pages["/leaf/1"].status_code == 200
    assert (pages["/p.pdf"].status_code, pages["/p.pdf"].content_type) == (200, "application/pdf")


async def test_a_body_over_the_cap_is_a_failure_and_one_just_below_is_a_page() -> None:
    async with Site() as site:
        site.page("/", links=["/over", "/below"])
        site.html("/over", "<title>over</title>" + "x" * 10_000)
        site.html("/below", "<title>below</title>".ljust(10_000, "x"))
        result = await crawl(site, max_response_size=10_000)
    assert by_path(site, result)["/below"].title == "below"
    assert [(failed.url, failed.error_type) for failed in result.failed_urls] == [(site.url("/over"), "response_too_large")]


async def test_tracking_parameters_and_session_ids_are_removed_on_request() -> None:
    async with Site() as site:
        site.page("/", links=["/a?utm_source=x", "/a?utm_source=y", "/a?id=1&utm_medium=z", "/a?id=1", "/a;jsessionid=0AB1"])
        kept = await crawl(site, depth=0, ignore_robots=True)
        stripped = await crawl(site, depth=0, ignore_robots=True, strip_tracking=True, strip_sessions=True)
    assert len(kept.internal_urls) == 6
    assert set(by_path(site, stripped)) == {"/", "/a", "/a?id=1"}


async def test_the_menu_of_an_error_page_is_not_followed() -> None:
    async with Site() as site:
        site.page("/", links=["/gone"])
        site.page("/gone", links=["/only-there"], title="Not here", status=404)
        result = await crawl(site)
    assert {info.url: info.title for info in result.internal_urls} == {site.url("/"): "Page /", site.url("/gone"): "Not here"}


async def test_a_length_beyond_all_measure_is_no_length() -> None:
    async with Site() as site:
        site.page("/", links=["/huge"])
        site.reply("/huge", headers={"Content-Length": "9" * 30}, content_type="application/pdf")
        pages = by_path(site, await crawl(site))
    assert pages["/"].status_code == 200


@pytest.mark.parametrize("moment", ["Mon, 01 Jan 99999999999 00:00:00 GMT", "Mon, 99 Foo", "0" * 5000, "\u00ff", ""])
async def test_a_date_that_is_none_costs_nothing_but_the_date(moment: str) -> None:
    async with Site() as site:
        site.page("/", links=["/odd", "/moved"])
        site.page("/odd", links=["/behind"], headers={"Last-Modified": moment})
        site.reply("/moved", status=302, headers={"Location": "/behind", "Last-Modified": moment})
        site.page("/behind")
        pages = by_path(site, await crawl(site))
    assert {path: page.status_code for path, page in pages.items()} == {"/": 200, "/odd": 200, "/moved": 302, "/behind": 200}


async def test_html_that_does_not_say_what_it_is_is_read_as_browsers_read_it() -> None:
    async with Site() as site:
        site.page("/", links=["/page", "/data"])
        site.reply("/page", body=b"\n<!DOCTYPE html><title>Mute</title><a href='/found'>x</a>", content_type="")
        site.reply("/data", body=b"a,b\n<a href='/not-this'>x</a>", content_type="")
        site.page("/found")
        pages = by_path(site, await crawl(site))
    assert set(pages) == {"/", "/page", "/data", "/found"}
    assert pages["/page"].title == "Mute"
