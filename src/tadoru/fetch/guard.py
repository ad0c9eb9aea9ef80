"""The address guard: which IP addresses may be connected to.

A name is resolved once, its addresses are filtered here, and `fetch.http` connects to exactly these addresses and checks them
again when it connects, so a DNS answer that changes in between has no effect. The rules are in `rules.address`.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import Future
from ipaddress import ip_address

from tadoru.clock import Clock
from tadoru.errors import Message
from tadoru.rules.address import Exemptions, block_reason

ResolveHost = Callable[[str], Awaitable[Sequence[str]]]
"""Host name to addresses; raises OSError when there are none."""

DNS_SECONDS = 60.0
"""Seconds for which an answer is cached. Each use is checked again."""
DNS_CACHE_SIZE = 10_000
DNS_THREADS = 16
DNS_TIMEOUT = 5.0
"""Seconds that a crawl waits at its start to learn whether the given hosts are public."""


class BlockedAddress(Exception):
    """No address of the host may be connected to; the message is the reason."""

    def __init__(self, message: Message) -> None:
        super().__init__(message)
        self.message = message


class UnresolvedHost(OSError):
    """The name cannot be resolved."""


class AddressGuard:
    """Decides about addresses. The hosts that the user named are exempt."""

    def __init__(self, exemptions: Exemptions, proxy: tuple[str, int] | None = None) -> None:
        self._exemptions = exemptions
        self._proxy = proxy

    def is_exempt(self, host: str, port: int) -> bool:
        """Whether the user named this host and port, as a start URL or as the proxy."""
        return (host, port) == self._proxy or self._exemptions.covers(host, port)

    def may_pass_to_proxy(self, host: str, port: int) -> bool:
        """Whether a proxy may resolve a name that cannot be resolved here: only when the user named it."""
        return (host, port) in self._exemptions.unresolved

    def allowed_addresses(self, host: str, port: int, addresses: Sequence[str]) -> list[str]:
        """The addresses of `host` that may be connected to; BlockedAddress when none may."""
        if self.is_exempt(host, port):
            return list(addresses)
        reasons = {address: block_reason(address) for address in addresses}
        allowed = [address for address, reason in reasons.items() if reason is None]
        if not allowed:
            reason = next(iter(reasons.values()), Message("it has no address"))
            if host in addresses:
                raise BlockedAddress(Message("Blocked: {reason}.", reason=reason))
            raise BlockedAddress(Message("Blocked {host}: {reason}.", host=host, reason=reason))
        return allowed


async def private_exemptions(urls: Iterable[str], dns: DnsCache, timeout: float = DNS_TIMEOUT) -> Exemptions:
    """Exemptions for the hosts of these URLs, which the user named, if all their addresses are private now.

    A name that is public now, or cannot be resolved, must not become a private address later by another DNS answer.
    """
    every = Exemptions.for_urls(urls).named
    lookups = {asyncio.create_task(_addresses(host, dns)): host for host in {host for host, _ in every}}
    done, late = await asyncio.wait(lookups, timeout=timeout) if lookups else (set(), set())
    for task in late:
        task.cancel()
    answers = {lookups[task]: task.result() for task in done}
    private = {host for host, addresses in answers.items() if addresses and all(block_reason(address) for address in addresses)}
    return Exemptions(
        named=frozenset(pair for pair in every if pair[0] in private),
        unresolved=frozenset(pair for pair in every if not answers.get(pair[0])),
    )


async def _addresses(host: str, dns: DnsCache) -> Sequence[str]:
    """The addresses of a host; none when it cannot be resolved."""
    if is_literal(host):
        return (host,)
    try:
        return await dns.resolve(host)
    except UnresolvedHost:
        return ()


def is_literal(host: str) -> bool:
    """Whether this is an IP address and not a name."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


class DnsCache:
    """DNS answers, requested once for all that wait and cached for a short time."""

    def __init__(self, clock: Clock, resolver: ResolveHost | None = None) -> None:
        self._clock = clock
        self._slots = asyncio.Semaphore(DNS_THREADS)
        self._resolver = resolver or self._resolve_by_system
        self._cache: dict[str, tuple[float, Sequence[str]]] = {}
        self._lookups: dict[str, asyncio.Task[Sequence[str]]] = {}

    def cached(self, host: str) -> Sequence[str]:
        """The cached addresses of a name; empty when it has to be resolved."""
        expiry, answer = self._cache.get(host, (0.0, ()))
        return answer if expiry > self._clock.monotonic() else ()

    async def resolve(self, host: str) -> Sequence[str]:
        """The addresses of a name. Raises UnresolvedHost."""
        task = self._lookups.get(host)
        if task is None:
            task = self._lookups[host] = asyncio.create_task(self._resolve_once(host))
            task.add_done_callback(lambda done: self._forget(host, done))
        # A request that is cancelled must not cancel the lookup for the others.
        return await asyncio.shield(task)

    async def _resolve_once(self, host: str) -> Sequence[str]:
        try:
            answer = await self._resolver(host)
        except (OSError, UnicodeError, RuntimeError) as error:  # RuntimeError: the system starts no more threads.
            raise UnresolvedHost(f"{host} cannot be resolved") from error
        if not answer:
            raise UnresolvedHost(f"{host} has no address")
        self._cache.pop(host, None)
        self._cache[host] = (self._clock.monotonic() + DNS_SECONDS, answer)
        if len(self._cache) > DNS_CACHE_SIZE:
            del self._cache[next(iter(self._cache))]
        return answer

    def _forget(self, host: str, task: asyncio.Task[Sequence[str]]) -> None:
        """Forget a lookup that is over, also one that was cancelled before it began."""
        del self._lookups[host]
        if not task.cancelled():
            task.exception()  # All that waited for it may have been cancelled by now.

    async def _resolve_by_system(self, host: str) -> Sequence[str]:
        # Threads of our own: the default executor has few, and slow lookups would block everything else that uses it. Nobody
        # joins them, so that one which hangs in a lookup does not hold up the end of the process.
        async with self._slots:
            answer: Future[Sequence[str]] = Future()
            answer.set_running_or_notify_cancel()  # From now on it cannot be cancelled: the thread sets it in any case.
            threading.Thread(target=_look_up, args=(host, answer), name="dns", daemon=True).start()
            return await asyncio.wrap_future(answer)

    async def close(self) -> None:
        """Cancel the lookups that are under way."""
        lookups = list(self._lookups.values())
        for task in lookups:
            task.cancel()
        await asyncio.gather(*lookups, return_exceptions=True)


def _look_up(host: str, answer: Future[Sequence[str]]) -> None:
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
        answer.set_result(list(dict.fromkeys(str(one[4][0]) for one in found)))
    except Exception as error:
        answer.set_exception(error)
