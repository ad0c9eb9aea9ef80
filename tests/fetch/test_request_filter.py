"""Which requests of a page leave the browser, judged as the browser shows them."""

from __future__ import annotations

from typing import Any

import pytest

from tadoru.fetch.browser import request_filter as filters
from tadoru.fetch.credentials import Credentials

PAGE = "https://www.site.example/page"
MAIN, CHILD = "main", "child"


def event(url: str, kind: str = "Script", frame: str = MAIN, **headers: str) -> dict[str, Any]:
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return {"requestId": "1", "frameId": frame, "resourceType": kind, "request": {"url": url, "headers": fields}}


def request_filter(**options: Any) -> filters.RequestFilter:
    policy = filters.BrowserPolicy(**options)
    return filters.RequestFilter(policy, filters.RequestAdmission(policy), MAIN, PAGE)


@pytest.mark.parametrize(
    "shown, verdict",
    [
        (event(PAGE, "Document"), filters.RequestDecision.GO),
        (event("https://cdn.example/a.js"), filters.RequestDecision.GO),
        (event("https://api.example/x", "XHR"), filters.RequestDecision.GO),
        (event("data:text/css,x", "Stylesheet"), filters.RequestDecision.GO),
        (event("blob:https://www.site.example/1"), filters.RequestDecision.GO),
        (event("https://www.site.example/worker.js", "Other", Accept="*/*"), filters.RequestDecision.GO),
        (event("https://www.site.example/a.png", "Image"), filters.RequestDecision.BLANK),
        (event("https://www.site.example/favicon.ico", "Other", Accept="image/avif,*/*"), filters.RequestDecision.BLANK),
        (event("https://www.site.example/a.woff2", "Font"), filters.RequestDecision.SKIP),
        (event("https://www.site.example/a.mp4", "Media"), filters.RequestDecision.SKIP),
        (event("https://www.site.example/beacon", "Ping"), filters.RequestDecision.SKIP),
        (event("https://www.site.example/next", "Other", Sec_Purpose="prefetch;prerender"), filters.RequestDecision.SKIP),
        (event("https://blog.site.example/frame", "Document", CHILD), filters.RequestDecision.GO),
        (event("https://ads.example/frame", "Document", CHILD), filters.RequestDecision.REFUSE),
        (event("http://www.site.example/frame", "Document", CHILD), filters.RequestDecision.REFUSE),
        (event("ftp://www.site.example/a"), filters.RequestDecision.REFUSE),
        (event("chrome-extension://abc/a.js"), filters.RequestDecision.REFUSE),
    ],
    ids=lambda value: f"{value['resourceType']} {value['request']['url']}" if isinstance(value, dict) else value.value,
)
async def test_what_happens_to_a_request(shown: dict[str, Any], verdict: filters.RequestDecision) -> None:
    judged = request_filter()
    assert await judged.decide(shown) is verdict
    assert (shown["request"]["url"] in judged.refused) == (verdict is filters.RequestDecision.REFUSE)


async def test_pictures_are_loaded_when_they_are_asked_for() -> None:
    for kind in ("Image", "Media", "Font"):
        assert (
            await request_filter(load_media=True).decide(event("https://www.site.example/a", kind)) is filters.RequestDecision.GO
        )


async def test_a_page_has_so_many_requests_and_no_more() -> None:
    judged = request_filter()
    verdicts = [await judged.decide(event(f"https://a.example/{n}")) for n in range(filters.MAX_REQUESTS + 1)]
    assert verdicts == [filters.RequestDecision.GO] * filters.MAX_REQUESTS + [filters.RequestDecision.REFUSE]


async def test_a_page_that_goes_on_and_on_stays_in_the_end() -> None:
    judged = request_filter()
    verdicts = [await judged.decide(event(f"{PAGE}?{n}", "Document")) for n in range(filters.MAX_NAVIGATIONS + 1)]
    assert verdicts == [filters.RequestDecision.GO] * filters.MAX_NAVIGATIONS + [filters.RequestDecision.ABORT]
    assert judged.page == f"{PAGE}?{filters.MAX_NAVIGATIONS - 1}"


async def test_leave_is_asked_by_canonical_url_and_turns_are_taken_by_host() -> None:
    asked: list[str] = []
    turns: list[str] = []

    async def allow(url: str) -> bool:
        asked.append(url)
        return "private" not in url

    async def before(host: str) -> None:
        turns.append(host)

    judged = request_filter(may_request=allow, wait_for_turn=before)
    assert await judged.decide(event("HTTPS://API.example:443/%7ea?#x", "XHR")) is filters.RequestDecision.GO
    assert await judged.decide(event("https://api.example:8443/private", "XHR")) is filters.RequestDecision.REFUSE
    assert asked == ["https://api.example/~a", "https://api.example:8443/private"]
    assert turns == ["api.example"]


async def test_what_was_asked_for_in_the_browser_is_not_asked_for_again_as_a_connection() -> None:
    asked: list[str] = []
    turns: list[str] = []

    async def allow(url: str) -> bool:
        asked.append(url)
        return True

    async def before(host: str) -> None:
        turns.append(host)

    admission = filters.RequestAdmission(filters.BrowserPolicy(may_request=allow, wait_for_turn=before))
    assert await admission.admit_request("https://a.example/x")
    for _ in range(filters.CONNECTIONS_PER_REQUEST):
        assert await admission.admit_connection("https://a.example/")
    assert (asked, turns) == (["https://a.example/x"], ["a.example"])
    assert await admission.admit_connection("https://a.example/")
    assert await admission.admit_connection("https://a.example:80/")
    assert asked[1:] == ["https://a.example/", "https://a.example:80/"]
    assert turns == ["a.example"] * 3


async def test_secrets_only_for_the_named_and_only_until_the_page_has_been_elsewhere() -> None:
    credentials = Credentials().with_bearer(["https://www.site.example", "https://api.example"], "t")
    judged = request_filter(credentials=credentials)
    await judged.decide(event(PAGE, "Document"))
    assert judged.secrets(event("https://api.example/x")) == (("Authorization", "Bearer t"),)
    assert judged.secrets(event("https://other.example/x")) == ()
    assert judged.secrets(event("https://api.example/x", frame=CHILD)) == ()
    assert judged.secrets(event("data:,x")) == ()
    await judged.decide(event("https://other.example/", "Document"))
    await judged.decide(event(PAGE, "Document"))
    assert judged.secrets(event(PAGE, "Document")) == judged.secrets(event("https://api.example/x")) == ()
