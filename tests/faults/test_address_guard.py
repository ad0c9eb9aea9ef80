"""A page on a public address cannot make the crawler connect to an address that is not the public's.

The first half runs everywhere: listeners on loopback that nobody named, and a resolver that lies. The second half runs where the
kernel gives us a network namespace: there the loopback interface carries a public address with a real site on it, and private
ones with listeners that would be reached if the guard were not there. `python -m tests.faults.test_address_guard` is what runs
inside the namespace.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from tadoru.clock import SystemClock
from tadoru.fetch.guard import DNS_SECONDS, AddressGuard, BlockedAddress, DnsCache, private_exemptions
from tadoru.fetch.http import CURRENT_ATTEMPT, GuardedConnector, HttpFetcher, RequestAttempt, build_http_fetcher
from tadoru.model.web import Answer, Failure, FailureKind, Request, Response
from tadoru.rules.address import Exemptions
from tadoru.rules.url import canonical
from tests.support.namespaces import run_in_namespace
from tests.support.site import Site

NOBODY_NAMED = Exemptions()


@pytest.fixture
async def trap() -> AsyncIterator[Site]:
    """A site on loopback that nobody named: no connection may reach it."""
    async with Site() as site:
        yield site


async def fetched(url: str, **options: Any) -> Answer:
    fetcher = build_http_fetcher(**{"user_agent": "x", "exemptions": NOBODY_NAMED, **options})
    try:
        return await fetcher.fetch(Request(url=url, timeout=5))
    finally:
        await fetcher.close()


def blocked(answer: Answer) -> bool:
    return isinstance(answer, Failure) and answer.kind == FailureKind.BLOCKED_ADDRESS


SPELLINGS = [
    *("127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "017700000001", "127.0.0.1."),
    *("0.0.0.0", "0", "127.255.255.254", "localhost", "LOCALHOST", "１２７.０.０.１", "①②⑦.0.0.1", "%31%32%37.0.0.1"),
    *("[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]"),
]


@pytest.mark.parametrize("host", SPELLINGS)
async def test_loopback_is_refused_however_it_is_spelled(trap: Site, host: str) -> None:
    url = canonical(f"http://{host}:{trap.port}/")
    assert url is not None
    assert blocked(await fetched(url))
    assert trap.connections == 0


@pytest.mark.parametrize("host", SPELLINGS)
async def test_a_spelling_that_was_not_made_canonical_reaches_nothing_either(trap: Site, host: str) -> None:
    assert isinstance(await fetched(f"http://{host}:{trap.port}/"), Failure)
    assert trap.connections == 0


@pytest.mark.parametrize(
    "url",
    [
        "http://10.0.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://100.64.0.1/",
        "http://[fe80::1]/",
        "https://[fd00::1]/",
    ],
    ids=["private", "metadata", "carrier-grade NAT", "link-local", "unique local"],
)
async def test_other_addresses_that_are_not_public_are_refused_at_once(url: str) -> None:
    assert blocked(await fetched(url))


@pytest.mark.parametrize(
    "answers", [["127.0.0.1"], ["::1", "127.0.0.1"], ["::ffff:127.0.0.1"], ["127.0.0.1", "10.0.0.1"]], ids=str
)
async def test_a_dns_answer_that_leads_to_loopback_is_refused(trap: Site, answers: list[str]) -> None:
    async def lying(host: str) -> list[str]:
        return answers

    assert blocked(await fetched(f"http://public.example:{trap.port}/", resolver=lying))
    assert trap.connections == 0


async def test_a_name_is_asked_once_and_what_it_would_say_next_plays_no_role(trap: Site) -> None:
    answers = iter([["10.0.0.1"], ["127.0.0.1"], ["127.0.0.1"]])

    async def changing(host: str) -> list[str]:
        return next(answers)

    assert blocked(await fetched(f"http://rebind.example:{trap.port}/", resolver=changing))
    assert trap.connections == 0
    assert len(list(answers)) == 2


async def test_a_redirect_to_a_listener_that_was_not_named_is_refused_though_the_page_was_on_loopback_too(trap: Site) -> None:
    async with Site() as site:
        site.misbehave("/", "private", f"127.0.0.1:{trap.port}/")
        named = Exemptions.for_urls([site.url()])
        answer = await fetched(site.url(), exemptions=named)
        assert isinstance(answer, Response)
        location = answer.header("location")
        assert location == trap.url()
        assert blocked(await fetched(location, exemptions=named))
    assert trap.connections == 0


async def test_the_same_address_is_reached_when_the_person_named_it_or_allowed_everything(trap: Site) -> None:
    for exemptions in (Exemptions.for_urls([trap.url()]), Exemptions(allow_all=True)):
        assert isinstance(await fetched(trap.url(), exemptions=exemptions), Response)
    assert trap.connections == 2


async def test_a_public_name_that_the_person_typed_cannot_become_a_private_address_later(trap: Site) -> None:
    async def public(host: str) -> list[str]:
        return [PUBLIC]

    async def loopback(host: str) -> list[str]:
        return ["127.0.0.1"]

    url = f"http://typed.example:{trap.port}/"
    then, private = DnsCache(SystemClock(), public), DnsCache(SystemClock(), loopback)
    assert blocked(await fetched(url, exemptions=await private_exemptions([url], then), resolver=loopback))
    assert trap.connections == 0
    assert isinstance(await fetched(url, exemptions=await private_exemptions([url], private), resolver=loopback), Response)


class UncheckedResolver(AbstractResolver):
    """What a resolver would do that lets a bad answer through."""

    async def resolve(self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET) -> list[ResolveResult]:
        return [ResolveResult(hostname=host, host="127.0.0.1", port=port, family=family, proto=0, flags=0)]

    async def close(self) -> None:
        pass


async def test_the_address_is_checked_again_at_the_moment_of_connecting(trap: Site) -> None:
    url = f"http://public.example:{trap.port}/"
    CURRENT_ATTEMPT.set(visit := RequestAttempt(Request(url=url), None, SystemClock(), fresh=False))
    connector = GuardedConnector(AddressGuard(NOBODY_NAMED), resolver=UncheckedResolver(), use_dns_cache=False)
    async with visit.deadline, aiohttp.ClientSession(connector=connector) as session:
        with pytest.raises(BlockedAddress):
            await session.get(url)
    assert trap.connections == 0


# -- in a network namespace -------------------------------------------------------------------------------------------

PUBLIC = "93.184.216.34"
FORBIDDEN = ["127.0.0.1", "10.0.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "::1"]
NAMES = {f"n{number}.example": [address] for number, address in enumerate(FORBIDDEN)} | {"mixed.example": ["10.0.0.1", PUBLIC]}


def test_a_public_page_reaches_no_other_address_by_link_redirect_or_name(checkout: Path) -> None:
    addresses = [PUBLIC, *(address for address in FORBIDDEN if ":" not in address)]
    seen = run_in_namespace(addresses, "tests.faults.test_address_guard", checkout)
    assert seen["links"] > len(FORBIDDEN) * 3
    assert seen["unguarded"] == seen["links"], "every link leads to a listener, or the test would prove nothing"
    assert seen["reached"] == 0
    assert set(seen["kinds"]) == {"blocked_address"}
    assert seen["mixed"] == PUBLIC
    assert seen["rebound"] == [PUBLIC, PUBLIC, "blocked_address"]


class ManualClock(SystemClock):
    """Monotonic time that can be put forward."""

    ahead = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead


def hostile_links() -> list[str]:
    hosts = [f"[{address}]" if ":" in address else address for address in FORBIDDEN]
    mapped = [f"[::ffff:{address}]" for address in FORBIDDEN if ":" not in address]
    disguised = ["127.1", "2130706433", "0x7f000001", "0177.0.0.1", "localhost"]
    direct = [f"http://{host}/" for host in (*hosts, *mapped, *disguised, *(name for name in NAMES if name != "mixed.example"))]
    return [*direct, *(f"/bad/private/{link.removeprefix('http://')}" for link in direct)]


async def inside() -> dict[str, Any]:
    """What happens in the namespace: a site on the public address, and listeners on all the others."""

    async def resolver(host: str) -> list[str]:
        return NAMES.get(host, ["127.0.0.1"])

    async with AsyncExitStack() as stack:
        site = await stack.enter_async_context(Site(host=PUBLIC, port=80))
        traps = [await stack.enter_async_context(Site(host=address, port=80)) for address in FORBIDDEN]
        site.page("/", links=hostile_links())
        guarded = build_http_fetcher(user_agent="x", exemptions=NOBODY_NAMED, resolver=resolver)
        answers = [await follow(guarded, target) for target in await links_of(guarded)]
        reached = sum(trap.connections for trap in traps)
        mixed = await guarded.fetch(Request(url="http://mixed.example/"))
        await guarded.close()
        unguarded = build_http_fetcher(user_agent="x", exemptions=Exemptions(allow_all=True), resolver=resolver)
        control = [await follow(unguarded, target) for target in await links_of(unguarded)]
        await unguarded.close()
        return {
            "links": len(answers),
            "reached": reached,
            "kinds": [answer.kind if isinstance(answer, Failure) else f"status {answer.status}" for answer in answers],
            "unguarded": sum(isinstance(answer, Response) and answer.address != PUBLIC for answer in control),
            "mixed": mixed.address,
            "rebound": await rebound(),
        }


async def links_of(fetcher: Any) -> list[str]:
    page = await fetcher.fetch(Request(url=f"http://{PUBLIC}/"))
    found = [canonical(href, page.url) for href in re.findall(r'href="([^"]+)"', page.body.decode())]
    return [url for url in found if url]


async def follow(fetcher: Any, url: str) -> Answer:
    answer: Answer = await fetcher.fetch(Request(url=url, timeout=5))
    if isinstance(answer, Response) and answer.is_redirect:
        target = canonical(answer.header("location") or "", url)
        assert target is not None
        answer = await fetcher.fetch(Request(url=target, timeout=5))
    return answer


async def rebound() -> list[str | None]:
    """Three requests for a name that is public when it is asked first and loopback ever after; the last is late."""
    answers = iter([[PUBLIC]])

    async def resolver(host: str) -> list[str]:
        return next(answers, ["127.0.0.1"])

    clock = ManualClock()
    fetcher = HttpFetcher(user_agent="x", exemptions=NOBODY_NAMED, resolver=resolver, clock=clock)
    url, found = "http://rebind.example/", []
    for seconds in (0.0, 0.0, DNS_SECONDS):
        clock.ahead += seconds
        # HTTP/1.0-style, so that every request needs a connection of its own.
        answer = await fetcher.fetch(Request(url=url, headers=(("Connection", "close"),)))
        found.append(answer.kind if isinstance(answer, Failure) else answer.address)
    await fetcher.close()
    return found


if __name__ == "__main__":
    print(json.dumps(asyncio.run(inside())))
