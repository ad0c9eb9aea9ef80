"""Secrets reach the origins they were given for, from pages of those origins, and nobody else: hop by hop."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from tadoru.fetch.browser.browser import Browser
from tadoru.fetch.browser.request_filter import BrowserPolicy
from tadoru.fetch.credentials import Credentials
from tadoru.rules.address import Exemptions
from tests.browser.pages import render, rendered, shown
from tests.support.site import Site

CORS = {"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "*"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser(site: Site, elsewhere: Site) -> AsyncIterator[Browser]:
    """A browser with secrets for the first site, which may visit both."""
    credentials = Credentials().with_bearer([site.base], "t0ken").with_api_key([site.base], "X-Key", "k3y")
    credentials = credentials.with_cookies([site.base], ["given=1", "both=person"])
    running = Browser(
        user_agent="x",
        exemptions=Exemptions.for_urls([site.url(), elsewhere.url()]),
        policy=BrowserPolicy(credentials=credentials),
    )
    yield running
    await running.close()


def secrets(site: Site, path: str) -> tuple[str | None, str | None, str | None]:
    """What the last request for a path brought along."""
    seen = [request for request in site.requests if request.path == path][-1]
    assert "proxy-authorization" not in seen.headers
    return seen.headers.get("authorization"), seen.headers.get("x-key"), seen.headers.get("cookie")


ALL = ("Bearer t0ken", "k3y", "given=1; both=person")
NONE = (None, None, None)


async def test_the_page_and_what_it_loads_from_its_own_origin(site: Site, elsewhere: Site, browser: Browser) -> None:
    site.html("/own", f"<script src=/own.js></script><script src={elsewhere.url('/foreign.js')}></script>")
    site.reply("/own.js", body="fetch('/own.json', {method: 'POST', body: 'x'})", content_type="text/javascript")
    site.reply("/own.json", body="{}")
    elsewhere.reply("/foreign.js", body="1", content_type="text/javascript")
    rendered(await render(browser, site.url("/own")))
    assert secrets(site, "/own") == secrets(site, "/own.js") == secrets(site, "/own.json") == ALL
    assert secrets(elsewhere, "/foreign.js") == NONE


async def test_they_do_not_survive_a_redirect_to_another_origin(site: Site, elsewhere: Site, browser: Browser) -> None:
    site.redirect("/leave", elsewhere.url("/arrived"))
    site.redirect("/leave.json", elsewhere.url("/arrived.json"))
    elsewhere.html("/arrived", "<p>other", headers=CORS)
    elsewhere.reply("/arrived.json", body="{}", headers=CORS)
    site.html("/asks", "<script>fetch('/leave.json')</script>")
    assert "<p>other" in shown(await render(browser, site.url("/leave")))
    assert secrets(site, "/leave") == ALL
    assert secrets(elsewhere, "/arrived") == NONE
    rendered(await render(browser, site.url("/asks")))
    assert secrets(site, "/leave.json") == ALL
    assert secrets(elsewhere, "/arrived.json") == NONE


async def test_they_do_not_survive_a_script_that_leaves(site: Site, elsewhere: Site, browser: Browser) -> None:
    site.html("/goes", f"<script>location.href = {elsewhere.url('/gone-to')!r}</script>")
    elsewhere.html("/gone-to", "<p>other<script>fetch('/more')</script>")
    assert "<p>other" in shown(await render(browser, site.url("/goes")))
    assert secrets(elsewhere, "/gone-to") == secrets(elsewhere, "/more") == NONE


async def test_a_strangers_page_does_not_act_in_the_persons_name(site: Site, elsewhere: Site, browser: Browser) -> None:
    order = f"fetch({site.url('/transfer')!r}, {{method: 'POST', mode: 'no-cors', body: 'x'}})"
    elsewhere.html("/forgery", f"<script>{order}</script>")
    site.reply("/transfer", body="{}")
    rendered(await render(browser, elsewhere.url("/forgery")))
    assert secrets(site, "/transfer") == NONE


async def test_a_stranger_that_leads_back_has_not_earned_them(site: Site, elsewhere: Site, browser: Browser) -> None:
    order = f"fetch({site.url('/meanwhile')!r}, {{method: 'POST', mode: 'no-cors', keepalive: true, body: 'x'}})"
    elsewhere.html("/and-back", f"<script>location.href = {site.url('/back-again')!r}; {order}</script>")
    site.html("/back-again", "<p>back<script>fetch('/after')</script>")
    for path in ("/meanwhile", "/after"):
        site.reply(path, body="{}")
    assert "<p>back" in shown(await render(browser, elsewhere.url("/and-back")))
    assert secrets(site, "/back-again") == secrets(site, "/meanwhile") == secrets(site, "/after") == NONE


async def test_a_frame_does_not_get_them(site: Site, browser: Browser) -> None:
    site.html("/framed", "<iframe src=/frame></iframe><iframe srcdoc='<script>fetch(`/from-srcdoc`)</script>'></iframe>")
    site.html("/frame", "<script>fetch('/from-frame')</script>")
    rendered(await render(browser, site.url("/framed")))
    assert secrets(site, "/framed") == ALL
    assert secrets(site, "/frame") == secrets(site, "/from-frame") == secrets(site, "/from-srcdoc") == NONE


async def test_cookies_of_the_site_join_those_of_the_person_and_win(site: Site, browser: Browser) -> None:
    cookies = (("Set-Cookie", "mine=2; HttpOnly"), ("Set-Cookie", "both=site"))
    site.html("/sets", "<script>fetch('/back')</script>", headers=cookies)
    site.reply("/back", body="{}")
    rendered(await render(browser, site.url("/sets")))
    assert set((secrets(site, "/back")[2] or "").split("; ")) == {"given=1", "mine=2", "both=site"}


async def test_headers_of_one_page_go_to_its_origin_only(site: Site, elsewhere: Site, browser: Browser) -> None:
    elsewhere.html("/extra", f"<script src={site.url('/extra.js')}></script><script src=/extra.js></script>")
    elsewhere.reply("/extra.js", body="1", content_type="text/javascript")
    site.reply("/extra.js", body="1", content_type="text/javascript")
    rendered(await render(browser, elsewhere.url("/extra"), headers=(("X-Key", "other"),)))
    assert secrets(elsewhere, "/extra") == secrets(elsewhere, "/extra.js") == (None, "other", None)
    rendered(await render(browser, elsewhere.url("/extra")))
    assert secrets(elsewhere, "/extra") == NONE


async def test_a_site_that_asks_for_a_password_gets_none(site: Site, browser: Browser) -> None:
    site.html("/login", "<p>who are you", status=401, headers={"WWW-Authenticate": "Basic realm=x"})
    page = rendered(await render(browser, site.url("/login")))
    assert page.status == 401
    assert site.hits("/login") == 1
