"""Which of a name's addresses are used, and how names are asked for."""

from __future__ import annotations

import asyncio
import threading

import pytest

from tadoru.fetch.guard import DNS_SECONDS, AddressGuard, BlockedAddress, DnsCache, UnresolvedHost, private_exemptions
from tadoru.rules.address import Exemptions
from tests.support.clock import FakeClock

PUBLIC = "93.184.216.34"


class ScriptedResolver:
    """A name server that gives its answers one after the other; the last one stays."""

    def __init__(self, *answers: list[str] | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []
        self.was_asked = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()

    async def __call__(self, host: str) -> list[str]:
        self.asked.append(host)
        self.was_asked.set()
        await self.gate.wait()
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


def test_public_addresses_pass_and_the_others_are_left_out() -> None:
    mixed = ["127.0.0.1", PUBLIC, "10.0.0.1", "2606:2800:220:1::1", "::1"]
    assert AddressGuard(Exemptions()).allowed_addresses("a.example", 80, mixed) == [PUBLIC, "2606:2800:220:1::1"]


def test_no_public_address_is_a_refusal_that_says_why() -> None:
    with pytest.raises(BlockedAddress, match=r"a\.example: 10\.0\.0\.1 is a private address"):
        AddressGuard(Exemptions()).allowed_addresses("a.example", 80, ["10.0.0.1", "127.0.0.1"])


EXEMPT = Exemptions.for_urls(["http://dev.example:8000/"])


@pytest.mark.parametrize(
    "host, port, passes",
    [("dev.example", 8000, True), ("dev.example", 80, False), ("x.dev.example", 8000, False), ("127.0.0.1", 8000, False)],
    ids=["what was named", "another port", "a subdomain", "the same address by another name"],
)
def test_an_exemption_is_for_exactly_the_host_and_port_that_were_named(host: str, port: int, passes: bool) -> None:
    guard = AddressGuard(EXEMPT)
    assert guard.is_exempt(host, port) is passes
    if passes:
        assert guard.allowed_addresses(host, port, ["127.0.0.1"]) == ["127.0.0.1"]
    else:
        with pytest.raises(BlockedAddress):
            guard.allowed_addresses(host, port, ["127.0.0.1"])


def test_the_persons_proxy_passes_only_where_connections_are_made() -> None:
    assert AddressGuard(Exemptions(), proxy=("127.0.0.1", 3128)).is_exempt("127.0.0.1", 3128)
    assert not AddressGuard(Exemptions()).is_exempt("127.0.0.1", 3128)


@pytest.mark.parametrize(
    "answer, is_exempt",
    [
        ([PUBLIC], False),
        (["10.0.0.1"], True),
        (["127.0.0.1", "::1"], True),
        (["10.0.0.1", PUBLIC], False),
        (OSError("NXDOMAIN"), False),
        ([], False),
    ],
    ids=["public", "private", "loopback", "both", "unknown", "without an address"],
)
async def test_a_host_that_a_person_named_is_exempt_only_if_it_is_private_then(
    answer: list[str] | Exception, is_exempt: bool
) -> None:
    dns = DnsCache(FakeClock(), ScriptedResolver(answer))
    exempt = await private_exemptions(["http://dev.example:8000/"], dns)
    assert exempt.covers("dev.example", 8000) is is_exempt
    await dns.close()


@pytest.mark.parametrize("first", [OSError("NXDOMAIN"), []], ids=["unknown", "without an address"])
async def test_a_name_that_resolves_only_later_is_connected_to_when_it_is_public_then(first: list[str] | Exception) -> None:
    dns = DnsCache(FakeClock(), ScriptedResolver(first))
    guard = AddressGuard(Exemptions.from_list((await private_exemptions(["http://dev.example:8000/"], dns)).to_list()))
    assert guard.allowed_addresses("dev.example", 8000, [PUBLIC]) == [PUBLIC]
    with pytest.raises(BlockedAddress):
        guard.allowed_addresses("dev.example", 8000, ["127.0.0.1"])
    await dns.close()


async def test_addresses_that_a_person_named_need_no_lookup() -> None:
    server = ScriptedResolver([PUBLIC])
    dns = DnsCache(FakeClock(), server)
    exempt = await private_exemptions(["http://127.0.0.1/", "http://[::1]:8000/", f"http://{PUBLIC}/"], dns)
    assert exempt.to_list() == ["127.0.0.1:80", "[::1]:8000"]
    assert server.asked == []
    await dns.close()


async def test_a_crawl_does_not_wait_for_ever_to_learn_whether_a_name_is_private() -> None:
    server = ScriptedResolver([PUBLIC])
    server.gate.clear()
    dns = DnsCache(FakeClock(), server)
    exempt = await private_exemptions(["http://slow.example/"], dns, timeout=0.01)
    assert not exempt.covers("slow.example", 80)
    await dns.close()


async def test_an_answer_is_kept_for_a_short_while() -> None:
    clock = FakeClock()
    dns = DnsCache(clock, ScriptedResolver([PUBLIC], ["10.0.0.1"]))
    assert dns.cached("a.example") == ()
    assert await dns.resolve("a.example") == [PUBLIC]
    clock.advance(DNS_SECONDS - 1)
    assert dns.cached("a.example") == [PUBLIC]
    clock.advance(1)
    assert dns.cached("a.example") == ()
    assert await dns.resolve("a.example") == ["10.0.0.1"]
    await dns.close()


async def test_those_who_wait_for_one_name_ask_once_and_one_may_give_up() -> None:
    server = ScriptedResolver([PUBLIC])
    server.gate.clear()
    dns = DnsCache(FakeClock(), server)
    first, second = (asyncio.create_task(dns.resolve("a.example")) for _ in range(2))
    await server.was_asked.wait()
    first.cancel()
    server.gate.set()
    assert await second == [PUBLIC]
    assert server.asked == ["a.example"]
    await dns.close()


@pytest.mark.parametrize("answer", [[], OSError("SERVFAIL"), UnicodeError("label too long")], ids=["empty", "failure", "no name"])
async def test_no_answer_is_unresolved_and_asked_again_the_next_time(answer: list[str] | Exception) -> None:
    dns = DnsCache(FakeClock(), ScriptedResolver(answer, [PUBLIC]))
    with pytest.raises(UnresolvedHost):
        await dns.resolve("a.example")
    assert await dns.resolve("a.example") == [PUBLIC]
    await dns.close()


async def test_closing_gives_up_on_names_that_are_being_asked() -> None:
    server = ScriptedResolver([PUBLIC])
    server.gate.clear()
    dns = DnsCache(FakeClock(), server)
    waiting = asyncio.create_task(dns.resolve("slow.example"))
    await server.was_asked.wait()
    await dns.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_a_lookup_that_is_given_up_before_it_begins_is_forgotten() -> None:
    names = DnsCache(FakeClock(), ScriptedResolver([PUBLIC]))
    waiting = asyncio.create_task(names.resolve("a.example"))
    await asyncio.sleep(0)  # One turn of the loop: the lookup was made, and its first step is the next turn.
    await names.close()
    await asyncio.gather(waiting, return_exceptions=True)
    assert await names.resolve("a.example") == [PUBLIC]


async def test_a_system_that_starts_no_more_threads_resolves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(UnresolvedHost):
        await DnsCache(FakeClock()).resolve("localhost")


async def test_the_system_resolves_localhost() -> None:
    dns = DnsCache(FakeClock())
    assert set(await dns.resolve("localhost")) & {"127.0.0.1", "::1"}
    await dns.close()
