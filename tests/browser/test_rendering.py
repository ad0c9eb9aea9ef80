"""What rendering brings back of a page, and when it thinks the page is done."""

from __future__ import annotations

import asyncio

import pytest

from tadoru.fetch.browser.browser import Browser
from tadoru.model.web import FailureKind
from tests.browser.pages import kind, render, rendered, shown
from tests.support.site import Site

SHELL = "<!DOCTYPE html><title>Shop</title><div id=app></div>"


async def test_the_page_that_scripts_made_of_an_empty_shell(site: Site, browser: Browser) -> None:
    site.html("/shell", SHELL + "<script src=/app.js></script>")
    site.reply("/app.js", content_type="text/javascript", body="fetch('/api').then(a => a.json()).then(a => {"
        "document.title = a.title; app.innerHTML = `<h1>${a.title}</h1><a href=/x>辿る</a>` })")  # fmt: skip
    site.reply("/api", content_type="application/json", body='{"title": "Tea & cups"}')
    page = rendered(await render(browser, site.url("/shell")))
    assert page.status == 200
    assert page.url == site.url("/shell")
    assert page.html.decode().startswith("<!DOCTYPE html>\n<html><head><title>Tea &amp; cups</title>")
    assert '<h1>Tea &amp; cups</h1><a href="/x">辿る</a>' in page.html.decode()
    assert page.loaded is not None
    assert page.settled is not None
    assert 0 < page.loaded <= page.settled


async def test_a_slow_answer_is_waited_for(site: Site, browser: Browser) -> None:
    gate = site.hold("/slow.json")
    site.reply("/slow.json", body="{}", content_type="application/json")
    site.html("/slow", SHELL + "<script>fetch('/slow.json').then(() => { app.textContent = 'came' })</script>")
    rendering = asyncio.create_task(render(browser, site.url("/slow"), wait=0.5))
    await site.requested("/slow.json")
    await asyncio.wait([rendering], timeout=1.0)
    assert not rendering.done()
    gate.release()
    assert '<div id="app">came</div>' in shown(await rendering)


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("setInterval(() => fetch('/poll.json'), 100)", id="a page that polls"),
        pytest.param("let n = 0; setInterval(() => { app.textContent = n++ }, 100)", id="a carousel"),
        pytest.param("new EventSource('/bad/never')", id="a stream of news"),
        pytest.param("new Worker('data:text/javascript,setInterval(()=>0,1)')", id="a worker"),
    ],
)
async def test_a_page_that_never_stands_still_counts_as_settled(site: Site, browser: Browser, script: str) -> None:
    site.html("/restless", f"{SHELL}<p>text<script>{script}</script>")
    page = rendered(await render(browser, site.url("/restless"), timeout=60))
    assert page.settled is not None
    assert "text" in page.html.decode()


async def test_a_page_that_never_settles_is_taken_as_it_is_when_its_time_is_up(site: Site, browser: Browser) -> None:
    site.html("/never", SHELL + "<script>setInterval(() => { fetch('/poll.json'); app.append('x') }, 50)</script>")
    page = rendered(await render(browser, site.url("/never"), timeout=1.5))
    assert page.settled is None
    assert '<div id="app">xx' in page.html.decode()


async def test_a_page_whose_reading_is_cut_short_is_taken_all_the_same(site: Site, browser: Browser) -> None:
    site.html("/cut", "<p>text</p><script>window.stop()</script><p>more")
    page = rendered(await render(browser, site.url("/cut"), timeout=60))
    assert page.settled is not None
    assert "<p>text</p>" in page.html.decode()


async def test_a_longer_wait_sees_what_a_timer_brings_late(site: Site, browser: Browser) -> None:
    site.html("/late", SHELL + "<script>setTimeout(() => { app.textContent = 'late' }, 900)</script>")
    assert "late</div>" not in shown(await render(browser, site.url("/late")))
    assert "late</div>" in shown(await render(browser, site.url("/late"), wait=1.4))


async def test_what_scripts_and_resources_complain_about_is_told(site: Site, browser: Browser) -> None:
    site.html("/broken", "<script>console.error('no', 7, {a: 1}); console.log('fine')</script><script src=/gone.js></script>"
        "<script>nothing.there()</script><script>Promise.reject(new Error('alone'))</script>")  # fmt: skip
    page = rendered(await render(browser, site.url("/broken")))
    assert page.console_errors == ("no 7 Object",)
    assert page.page_errors == ("ReferenceError: nothing is not defined", "Error: alone")
    assert page.failed_resources == (f"404 {site.url('/gone.js')}",)
    assert page.refused_resources == ()


async def test_pictures_fonts_and_icons_are_not_requested_and_do_not_look_broken(site: Site, browser: Browser) -> None:
    site.html("/album", "<link rel=icon href=/icon.png><link rel=preload as=font href=/f.woff2 crossorigin>"
        "<link rel=prefetch href=/next><video src=/v.mp4></video>"
        "<img src=/a.png onload=\"document.title='loaded'\" onerror=\"document.title='broken'\">"
        "<script>navigator.sendBeacon('/beacon')</script>")  # fmt: skip
    before = len(site.paths)
    page = rendered(await render(browser, site.url("/album")))
    assert site.paths[before:] == ["/album"]
    assert "<title>loaded</title>" in page.html.decode()
    assert page.failed_resources == page.refused_resources == ()


async def test_what_stands_in_shadow_trees_stands_in_its_place(site: Site, browser: Browser) -> None:
    site.html("/shadow", "<x-card><b slot=name>Tadoru</b>unseen</x-card><script>customElements.define('x-card',"
        "class extends HTMLElement { connectedCallback() { this.attachShadow({mode: 'open'}).innerHTML ="
        " '<p>in the <i>shadow</i></p><slot name=name>nobody</slot><slot name=other>rest</slot>' } })</script>")  # fmt: skip
    html = shown(await render(browser, site.url("/shadow")))
    assert '<p>in the <i>shadow</i></p><slot name="name"><b slot="name">Tadoru</b></slot><slot name="other">rest</slot>' in html
    assert "unseen" not in html


async def test_a_page_cannot_forge_what_is_taken(site: Site, browser: Browser) -> None:
    site.html("/forger", "<p>real<script>Object.defineProperty(Element.prototype, 'outerHTML', {get: () => 'forged'});"
        "XMLSerializer.prototype.serializeToString = () => 'forged'; JSON.stringify = () => 'forged'</script>")  # fmt: skip
    assert shown(await render(browser, site.url("/forger"))).startswith("<html><head></head><body><p>real<script>")


async def test_where_it_ended_up_and_with_which_answer(site: Site, browser: Browser) -> None:
    site.redirect("/old", "/new")
    site.html("/new", "<script>location.replace('/newest')</script>")
    site.html("/newest", "<script>history.pushState(0, '', '/here?a=1#top')</script><p>here", status=404,
        headers=(("X-Robots-Tag", "noindex"), ("X-Robots-Tag", "nofollow")))  # fmt: skip
    page = rendered(await render(browser, site.url("/old")))
    assert page.url == site.url("/here?a=1")
    assert page.status == 404
    assert [value for name, value in page.headers if name.lower() == "x-robots-tag"] == ["noindex", "nofollow"]
    assert b"<p>here</p>" in page.html


async def test_a_page_in_an_old_charset_comes_back_in_utf_8(site: Site, browser: Browser) -> None:
    site.reply("/sjis", body="<title>辿る</title>".encode("shift_jis"), content_type="text/html; charset=Shift_JIS")
    page = rendered(await render(browser, site.url("/sjis")))
    assert "<title>辿る</title>" in page.html.decode()


async def test_it_says_who_it_is(site: Site, browser: Browser) -> None:
    site.html("/who", "<p id=p><script>p.textContent = navigator.userAgent</script>")
    assert '<p id="p">Tadoru/9 (test)' in shown(await render(browser, site.url("/who")))
    assert {seen.headers["user-agent"] for seen in site.requests} == {"Tadoru/9 (test)"}


async def test_nothing_is_remembered_from_one_page_to_the_next(site: Site, browser: Browser) -> None:
    site.html("/memory", "<p id=p><script>p.textContent = document.cookie + (localStorage.seen || ' new');"
        "document.cookie = 'a=1'; localStorage.seen = 1</script>", headers={"Set-Cookie": "b=2; HttpOnly"})  # fmt: skip
    for _ in range(2):
        assert '<p id="p"> new</p>' in shown(await render(browser, site.url("/memory")))
    assert "cookie" not in site.requests[-1].headers


async def test_several_pages_at_a_time(site: Site, browser: Browser) -> None:
    for number in range(6):
        site.html(f"/many/{number}", f"<p>page {number}")
    answers = await asyncio.gather(*(render(browser, site.url(f"/many/{number}")) for number in range(6)))
    assert [f"<p>page {number}" in shown(answer) for number, answer in enumerate(answers)] == [True] * 6


@pytest.mark.parametrize(
    "path, expected",
    [
        ("/bad/never", FailureKind.RESPONSE_TIMEOUT),
        ("/bad/drop", FailureKind.NETWORK),
        ("/bad/reset", FailureKind.NETWORK),
        ("/bad/partial", FailureKind.INCOMPLETE),
        ("/bad/cut-chunks", FailureKind.INCOMPLETE),
        ("/bad/chunks", FailureKind.PROTOCOL),
        ("/bad/garbage", FailureKind.PROTOCOL),
        ("/bad/no-content", FailureKind.UNPARSABLE),
        ("/away/loop", FailureKind.TOO_MANY_REDIRECTS),
        ("/away/file", FailureKind.BAD_REDIRECT),
        ("/away/empty", FailureKind.UNPARSABLE),
        ("/away/download", FailureKind.UNPARSABLE),
        ("/away/pdf", FailureKind.UNPARSABLE),
        ("/away/407", FailureKind.PROXY),
    ],
)
async def test_what_is_no_page_is_a_failure_with_a_name(site: Site, browser: Browser, path: str, expected: FailureKind) -> None:
    site.redirect("/away/loop", "/away/loop")
    site.redirect("/away/file", "file:///etc/passwd")
    site.reply("/away/empty", status=404)
    site.reply("/away/download", body="zip", content_type="application/zip")
    site.reply("/away/pdf", body="%PDF-1.4", content_type="application/pdf")
    site.reply("/away/407", status=407, headers={"Proxy-Authenticate": "Basic realm=x"})
    answer = await render(browser, site.url(path), timeout=1.5 if path == "/bad/never" else 30)
    assert kind(answer) == expected


@pytest.mark.parametrize("url", ["file:///etc/passwd", "chrome://version/", "data:text/html,x", "javascript:1", "x"])
async def test_only_web_pages_are_rendered(browser: Browser, url: str) -> None:
    assert kind(await render(browser, url)) == FailureKind.PROTOCOL
