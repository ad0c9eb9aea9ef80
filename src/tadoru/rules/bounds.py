"""What keeps a crawl of very many hosts within bounds: pages of one host, hosts of one domain, URLs that wait.

Who counts is the store, in the transaction that writes, so that any number of workers together keep to it.
"""

from __future__ import annotations

from dataclasses import dataclass

SHARE_OF_QUEUE = 10
"""One host may have this part of the places in the queue: a host with a million pages leaves room for the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Each 0 is no bound."""

    pages_per_host: int = 0
    """Requests for pages of one host in a run; robots.txt and the parts of pages do not count."""
    hosts_per_domain: int = 0
    """Hosts of one registrable domain whose pages are asked for."""
    queued: int = 0
    """URLs that wait at a time."""

    def __bool__(self) -> bool:
        return bool(self.pages_per_host or self.hosts_per_domain or self.queued)

    def room_at_host(self, asked: int, leased: int, wanted: int) -> int:
        """How many of the wanted pages of a host may be leased, so that even if all in flight count the bound is exact."""
        if not self.pages_per_host:
            return wanted
        return max(0, min(wanted, self.pages_per_host - asked - leased))

    def is_spent(self, asked: int) -> bool:
        """Whether a host was asked as often as it may be."""
        return 0 < self.pages_per_host <= asked

    @property
    def queued_per_host(self) -> int:
        """URLs of one host that wait at a time."""
        return max(1, self.queued // SHARE_OF_QUEUE) if self.queued else 0
