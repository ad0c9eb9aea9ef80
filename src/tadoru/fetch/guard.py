"""The address guard: which addresses may be connected to, asked with the addresses themselves and not with names.

A name is looked up once, its answers are filtered here, and `fetch.http` connects to exactly those answers and asks again
at the last moment, so a DNS answer that changes between check and connect changes nothing. Which addresses are refused is
`rules.address`; connecting is `fetch.http`.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address

from tadoru.clock import Clock
from tadoru.rules.address import Exemptions, block_reason

ResolveHost = Callable[[str], Awaitable[Sequence[str]]]
"""Host name to addresses; raises OSError when there are none."""

DNS_SECONDS = 60.0
"""How long an answer is reused. Every use is checked again."""
DNS_CACHE_SIZE = 10_000
DNS_THREADS = 16
DNS_TIMEOUT = 5.0
"""How long a crawl waits, before it begins, to learn whether the hosts it was given are public."""


class BlockedAddress(Exception):
    """No address of the host may be connected to; the text says why."""


class UnresolvedHost(OSError):
    """The name has no address that we can find."""


class AddressGuard:
    """Decides on addresses, given the hosts the person named themselves."""

    def __init__(self, exemptions: Exemptions, proxy: tuple[str, int] | None = None) -> None:
        self._exemptions = exemptions
        self._proxy = proxy

    def exempt(self, host: str, port: int) -> bool:
        """Whether the person named this host and port themselves, as a place to crawl or as their proxy."""
        return (host, port) == self._proxy or self._exemptions.covers(host, port)

    def may_pass_to_proxy(self, host: str, port: int) -> bool:
        """Whether a proxy may be asked for a name that has no address here: only when the person named it themselves."""
        return (host, port) in self._exemptions.unresolved

    def allowed(self, host: str, port: int, addresses: Sequence[str]) -> list[str]:
        """The addresses of `host` that may be connected to; BlockedAddress when none may."""
        if self.exempt(host, port):
            return list(addresses)
        reasons = {address: block_reason(address) for address in addresses}
        allowed = [address for address, reason in reasons.items() if reason is None]
        if not allowed:
            reason = next(iter(reasons.values()), "it has no address")
            raise BlockedAddress(f"Refused to connect to {host}: {reason}.")
        return allowed


async def private_exemptions(urls: Iterable[str], names: DnsCache, patience: float = DNS_TIMEOUT) -> Exemptions:
    """The hosts of these URLs, which a person named, as far as each of their addresses is private now.

    A name that is public, or that has no address yet, must not become a private address later, by another answer of its DNS.
    """
    every = Exemptions.for_urls(urls).named
    asking = {asyncio.create_task(_addresses(host, names)): host for host in {host for host, _ in every}}
    done, late = await asyncio.wait(asking, timeout=patience) if asking else (set(), set())
    for task in late:
        task.cancel()
    answers = {asking[task]: task.result() for task in done}
    private = {host for host, addresses in answers.items() if addresses and all(block_reason(address) for address in addresses)}
    return Exemptions(
        named=frozenset(pair for pair in every if pair[0] in private),
        unresolved=frozenset(pair for pair in every if not answers.get(pair[0])),
    )


async def _addresses(host: str, names: DnsCache) -> Sequence[str]:
    """The addresses of a host; none when it cannot be resolved."""
    if is_literal(host):
        return (host,)
    try:
        return await names.ask(host)
    except UnresolvedHost:
        return ()


def is_literal(host: str) -> bool:
    """Whether this is an address and not a name."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


class DnsCache:
    """DNS answers, asked once for everybody who waits and kept for a short time."""

    def __init__(self, clock: Clock, resolver: ResolveHost | None = None) -> None:
        self._clock = clock
        self._threads = None if resolver else ThreadPoolExecutor(DNS_THREADS, thread_name_prefix="dns")
        self._resolver = resolver or self._ask_system
        self._known: dict[str, tuple[float, Sequence[str]]] = {}
        self._asking: dict[str, asyncio.Task[Sequence[str]]] = {}

    def known(self, host: str) -> Sequence[str]:
        """The addresses of a name that was asked for a short while ago; empty when it has to be asked."""
        expiry, answer = self._known.get(host, (0.0, ()))
        return answer if expiry > self._clock.monotonic() else ()

    async def ask(self, host: str) -> Sequence[str]:
        """The addresses of a name, asked now; Unresolved when it has none."""
        task = self._asking.get(host)
        if task is None:
            task = self._asking[host] = asyncio.create_task(self._ask_once(host))
            task.add_done_callback(_retrieve)
        # One request that gives up must not take the answer from the others.
        return await asyncio.shield(task)

    async def _ask_once(self, host: str) -> Sequence[str]:
        try:
            answer = await self._resolver(host)
        except (OSError, UnicodeError) as error:
            raise UnresolvedHost(f"{host} can not be resolved") from error
        finally:
            del self._asking[host]
        if not answer:
            raise UnresolvedHost(f"{host} has no address")
        self._known.pop(host, None)
        self._known[host] = (self._clock.monotonic() + DNS_SECONDS, answer)
        if len(self._known) > DNS_CACHE_SIZE:
            del self._known[next(iter(self._known))]
        return answer

    async def _ask_system(self, host: str) -> Sequence[str]:
        # Threads of our own: the loop's default ones are few, and slow names would hold up everything else that uses them.
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, _look_up, host)

    async def close(self) -> None:
        """Give up on names that are still being asked for."""
        asking = list(self._asking.values())
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
        if self._threads is not None:
            # Threads that have nothing left to do end at once; one that hangs in a lookup is not waited for.
            self._threads.shutdown(wait=not asking, cancel_futures=True)


def _look_up(host: str) -> list[str]:
    answers = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    return list(dict.fromkeys(str(answer[4][0]) for answer in answers))


def _retrieve(task: asyncio.Task[Sequence[str]]) -> None:
    """Mark the outcome as seen: everybody who asked may have given up by now."""
    if not task.cancelled():
        task.exception()
