"""Secrets stay with the origin they were given for: not on another host, not behind a redirect, not in a resumed crawl."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.crawling import crawl, set_up
from tests.support.site import Site

GIVEN: list[tuple[str, dict[str, Any], str, str]] = [
    ("header", {"header": ("X-Secret: s3cret",)}, "x-secret", "s3cret"),
    ("cookie header", {"header": ("Cookie: id=s3cret",)}, "cookie", "id=s3cret"),
    ("basic", {"auth_type": "basic", "auth_username": "me", "auth_password": "pw"}, "authorization", "Basic bWU6cHc="),
    ("bearer", {"auth_type": "bearer", "auth_token": "s3cret"}, "authorization", "Bearer s3cret"),
    ("api key", {"auth_type": "api-key", "auth_header": "X-Key", "auth_value": "s3cret"}, "x-key", "s3cret"),
]


@pytest.mark.parametrize("options, header, value", [case[1:] for case in GIVEN], ids=[case[0] for case in GIVEN])
async def test_secrets_go_to_the_typed_origin_and_nowhere_else(options: dict[str, Any], header: str, value: str) -> None:
    async with Site() as site, Site(host="127.0.0.2") as other, Site() as port:
        site.page("/", links=["/a", "/away", other.url("/x"), port.url("/y")])
        site.page("/a")
        site.redirect("/away", other.url("/landing"))
        await crawl(site, check=True, allow_private=True, **options)
    assert {seen.headers.get(header) for seen in site.requests} == {value}
    assert {seen.path for seen in other.requests} == {"/robots.txt", "/x", "/landing"}
    assert {seen.path for seen in port.requests} == {"/robots.txt", "/y"}
    assert {seen.headers.get(header) for seen in other.requests + port.requests} == {None}


async def test_secrets_do_not_follow_a_start_that_moves_to_another_host(tmp_path: Path) -> None:
    secret = {"auth_type": "bearer", "auth_token": "s3cret"}
    async with Site() as site, Site(host="127.0.0.2") as other:
        site.redirect("/", other.url("/tree/9/2/0"))
        setup = await set_up(site, tmp_path, allow_private=True, limit=3, **secret)
        await setup.run()
        # The crawl is stored as one of the other host now; the secret was not given for that one.
        again = await set_up(site, tmp_path, allow_private=True, **secret)
        await again.run()
    assert len(other.requests) == 10
    assert {seen.headers.get("authorization") for seen in other.requests} == {None}


async def test_cookies_of_a_file_go_to_the_hosts_they_name(tmp_path: Path) -> None:
    jar = tmp_path / "cookies.txt"
    jar.write_text("# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\tid\ts3cret\n")
    async with Site() as site, Site(host="127.0.0.2") as other:
        site.page("/", links=[other.url("/x")])
        await crawl(site, check=True, allow_private=True, cookies=str(jar))
    assert {seen.headers.get("cookie") for seen in site.requests} == {"id=s3cret"}
    assert {seen.headers.get("cookie") for seen in other.requests} == {None}


async def test_cookies_that_a_site_sets_are_not_kept() -> None:
    async with Site() as site:
        site.page("/", links=["/a"], headers={"Set-Cookie": "id=1; Path=/"})
        site.page("/a")
        await crawl(site)
    assert all("cookie" not in seen.headers for seen in site.requests)


async def test_the_user_agent_says_who_we_are() -> None:
    async with Site() as site:
        await crawl(site)
        await crawl(site, user_agent="Mine/1.0 (+https://example.com/bot)")
    agents = [seen.headers["user-agent"] for seen in site.requests]
    assert agents[0].startswith("Tadoru/")
    assert "(+https://" in agents[0]
    assert agents[-1] == "Mine/1.0 (+https://example.com/bot)"
