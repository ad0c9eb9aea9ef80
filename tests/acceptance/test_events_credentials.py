"""Credentials of a source stay at the origin of its URL, whatever follow-up request the source asks for."""

from __future__ import annotations

import json

import pytest

from tests.acceptance.calendar import Calendar, ics, meeting
from tests.support.exchange import Exchange, Reply
from tests.support.site import Site

SECRET = "s3cret"
API = ("items=events", "fields.title=name", "fields.start=at", "pagination.kind=link")
SIGN_IN: dict[str, tuple[str, ...]] = {
    "bearer": ("auth.type=bearer",),
    "basic": ("auth.type=basic", "auth.username=me"),
    "header": ("auth.type=header", "auth.header=X-Key"),
    "query": ("auth.type=query", "auth.parameter=key"),
    "custom header": ("headers.X-Key=s3cret",),
}
EXPECTED = {
    "bearer": ("authorization", "Bearer s3cret"),
    "basic": ("authorization", "Basic bWU6czNjcmV0"),
    "header": ("x-key", SECRET),
    "custom header": ("x-key", SECRET),
}


def atom(following: str) -> str:
    return (
        '<feed xmlns="http://www.w3.org/2005/Atom"><id>a</id><title>t</title>'
        f'<link rel="next" href="{following}"/><entry><id>1</id><title>Fair 2031-05-01</title></entry></feed>'
    )


def events(**more: str) -> str:
    return json.dumps({"events": [{"name": "Fair", "at": "2031-05-01"}], **more})


def add_every_follow_up(calendar: Calendar, site: Site, elsewhere: Site, settings: tuple[str, ...], secret: str) -> set[str]:
    """Add one source for each way to ask for another request, each leading to the other origin; the paths requested there."""

    def add(path: str, kind: str, *own: str) -> None:
        calendar.add(site.url(path), kind, *settings, *own, name=path, secret=secret, allow_private=True)

    def answer(path: str, body: str, content_type: str = "application/json", **headers: str) -> None:
        async def reply(exchange: Exchange, _: str) -> None:
            pairs = tuple((name.replace("_", "-"), value) for name, value in headers.items())
            await exchange.send(Reply(body=body.encode(), content_type=content_type, headers=pairs))

        site.handle(path, reply)

    async def redirect_with_its_query(exchange: Exchange, _: str) -> None:
        query = exchange.seen.path.partition("?")[2]
        target = elsewhere.url("/redirect-query") + (f"?{query}" if query else "")
        await exchange.send(Reply(status=302, headers=(("Location", target),)))

    async def details_with_its_query(exchange: Exchange, _: str) -> None:
        link = f'<a class=e href="{elsewhere.url("/details")}?{exchange.seen.path.partition("?")[2]}">Fair</a>'
        await exchange.send(Reply(body=link.encode()))

    site.redirect("/robots.txt", elsewhere.url("/robots-redirect"))
    site.handle("/redirect", lambda exchange, _: exchange.send(Reply(301, headers=(("Location", elsewhere.url("/redirect")),))))
    site.handle("/redirect-query", redirect_with_its_query)
    answer("/feed", atom(elsewhere.url("/feed-next")), "application/atom+xml")
    answer("/json-feed", json.dumps({"version": "https://jsonfeed.org/version/1.1", "title": "t", "items": [],
                                     "next_url": elsewhere.url("/json-feed-next")}), "application/feed+json")  # fmt: skip
    answer("/api-next", events(next=elsewhere.url("/api-next")))
    answer("/api-header", events(), Link=f'<{elsewhere.url("/api-header")}>; rel="next"')
    answer("/html-next", f'<p class=e>Fair 2031-05-01</p><a class=n href="{elsewhere.url("/html-next")}">next</a>', "text/html")
    site.handle("/details", details_with_its_query)
    elsewhere.redirect("/feed-next", elsewhere.url("/feed-next-hop"))
    add("/redirect", "ics")
    add("/redirect-query", "ics")
    add("/feed", "rss")
    add("/json-feed", "rss")
    add("/api-next", "api", *API, "pagination.path=next")
    add("/api-header", "api", *API)
    add("/html-next", "html", "item=.e", "fields.title=.", "next=a.n")
    add("/details", "html", "details=a.e")
    return {
        "/robots-redirect", "/redirect", "/redirect-query", "/feed-next", "/feed-next-hop", "/json-feed-next", "/api-next",
        "/api-header", "/html-next", "/details",
    }  # fmt: skip


@pytest.mark.parametrize("way", SIGN_IN)
def test_no_follow_up_request_takes_a_credential_to_another_origin(
    calendar: Calendar, site: Site, elsewhere: Site, way: str
) -> None:
    secret = "TOWN_KEY" if way != "custom header" else ""
    expected = add_every_follow_up(calendar, site, elsewhere, SIGN_IN[way], secret)
    calendar.run(env={"TOWN_KEY": SECRET})
    reached = {seen.path.partition("?")[0] for seen in elsewhere.requests}
    assert expected <= reached
    leaks = [seen.path for seen in elsewhere.requests if _carries_secret(seen.path, seen.headers)]
    assert leaks == []
    own = [seen for seen in site.requests if seen.path != "/robots.txt"]
    if way == "query":
        assert {seen.path.partition("?")[2] for seen in own} == {f"key={SECRET}"}
    else:
        name, value = EXPECTED[way]
        assert {seen.headers.get(name) for seen in own} == {value}


def _carries_secret(path: str, headers: dict[str, str]) -> bool:
    return SECRET in path or "authorization" in headers or "x-key" in headers or SECRET in str(headers)


@pytest.mark.parametrize("way", SIGN_IN)
def test_follow_up_requests_to_the_own_origin_carry_the_credential(calendar: Calendar, site: Site, way: str) -> None:
    site.handle("/api", lambda exchange, _: exchange.send(Reply(body=events(next="/moved?page=2").encode())))
    site.handle("/moved", lambda exchange, _: exchange.send(Reply(302, headers=(("Location", "/page2?page=2"),))))
    site.handle("/page2", lambda exchange, _: exchange.send(Reply(body=events().encode())))
    calendar.add(site.url("/api"), "api", *SIGN_IN[way], *API, "pagination.path=next",
                 secret="TOWN_KEY" if way != "custom header" else "")  # fmt: skip
    done = calendar.run(env={"TOWN_KEY": SECRET})
    assert done.code == 0, done.out
    own = [seen for seen in site.requests if seen.path != "/robots.txt"]
    assert [seen.path.partition("?")[0] for seen in own] == ["/api", "/moved", "/page2"]
    assert all(_carries_secret(seen.path, seen.headers) for seen in own)


def test_a_key_in_the_query_is_stored_nowhere_when_the_server_repeats_it(calendar: Calendar, site: Site) -> None:
    async def echo(exchange: Exchange, _: str) -> None:
        query = exchange.seen.path.partition("?")[2]
        await exchange.send(Reply(302, headers=(("Location", f"/a.ics?{query}"),)))

    site.handle("/old.ics", echo)
    site.handle("/a.ics", lambda exchange, _: exchange.send(Reply(body=ics(meeting(1)).encode(), content_type="text/calendar")))
    calendar.add(site.url("/old.ics"), "ics", *SIGN_IN["query"], secret="TOWN_KEY")
    assert calendar.run(env={"TOWN_KEY": SECRET}).code == 0
    assert site.hits(f"/a.ics?key={SECRET}") == 1
    files = [*calendar.files("runlogs"), *(calendar.folder / "var").glob("tadoru.db*")]
    assert all(SECRET.encode() not in file.read_bytes() for file in files)
