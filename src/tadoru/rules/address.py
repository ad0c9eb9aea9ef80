"""Which IP addresses may be connected to. The guard that asks, after DNS and on each redirect hop, is in `fetch.guard`.

The networks are listed here by name because `ipaddress.is_global` differs between versions of Python, and because a refusal needs
a reason. Addresses that are not known to be public are blocked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

from tadoru.errors import Message, quoted

# In both tables the first network that contains the address decides.
_V4 = tuple(
    (IPv4Network(network), kind)
    for network, kind in (
        ("169.254.169.254/32", "cloud metadata"),
        ("169.254.170.2/32", "cloud metadata"),
        ("169.254.170.23/32", "cloud metadata"),
        ("100.100.100.200/32", "cloud metadata"),
        ("192.0.0.192/32", "cloud metadata"),
        ("168.63.129.16/32", "cloud metadata"),
        ("0.0.0.0/32", "unspecified"),
        ("0.0.0.0/8", "this-network"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "carrier-grade NAT"),
        ("127.0.0.0/8", "loopback"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "protocol-assignment"),
        ("192.0.2.0/24", "documentation"),
        ("192.88.99.0/24", "6to4 relay"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "benchmarking"),
        ("198.51.100.0/24", "documentation"),
        ("203.0.113.0/24", "documentation"),
        ("224.0.0.0/4", "multicast"),
        ("255.255.255.255/32", "broadcast"),
        ("240.0.0.0/4", "reserved"),
    )
)
_V6 = tuple(
    (IPv6Network(network), kind)
    for network, kind in (
        ("fd00:ec2::254/128", "cloud metadata"),
        ("fd20:ce::254/128", "cloud metadata"),
        ("::/128", "unspecified"),
        ("::1/128", "loopback"),
        ("::/96", "IPv4-compatible"),
        ("::ffff:0:0:0/96", "IPv4-translated"),
        ("64:ff9b:1::/48", "local NAT64"),
        ("100::/64", "discard-only"),
        ("2001::/32", "Teredo"),
        ("2001:2::/48", "benchmarking"),
        ("2001::/23", "protocol-assignment"),
        ("2001:db8::/32", "documentation"),
        ("2002::/16", "6to4"),
        ("3fff::/20", "documentation"),
        ("fc00::/7", "unique local"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "site-local"),
        ("ff00::/8", "multicast"),
    )
)
_GLOBAL_UNICAST = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
_EVERYTHING = "*"
_UNRESOLVED = "?"
_PORTS = {"http": 80, "https": 443}


def block_reason(address: str) -> str | None:
    """Why this address (IPv4 or IPv6 text, a zone id allowed) must not be connected to; None when it is public."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return Message("{address} is not an IP address", address=quoted(address))
    if isinstance(parsed, IPv6Address):
        inner = parsed.ipv4_mapped
        if inner is None and parsed in _NAT64:
            inner = IPv4Address(int(parsed) & 0xFFFFFFFF)
        if inner is None:
            return _block_reason_v6(parsed)
        parsed = inner
    for network, kind in _V4:
        if parsed in network:
            return _reason(parsed, kind, network)
    return None


def _block_reason_v6(address: IPv6Address) -> str | None:
    for network, kind in _V6:
        if address in network:
            return _reason(address, kind, network)
    return None if address in _GLOBAL_UNICAST else Message("{address} is a reserved address", address=address)


def _reason(address: IPv4Address | IPv6Address, kind: str, network: IPv4Network | IPv6Network) -> str:
    return Message("{address} is a {kind} address ({network})", address=address, kind=kind, network=network)


@dataclass(frozen=True, slots=True)
class Exemptions:
    """The hosts and ports that the user named, which the guard allows. Stored with the crawl."""

    named: frozenset[tuple[str, int]] = frozenset()
    allow_all: bool = False
    unresolved: frozenset[tuple[str, int]] = frozenset()
    """Named too, but could not be resolved: they may not be private addresses, but a proxy may resolve them."""

    def covers(self, host: str, port: int) -> bool:
        """Whether exactly this host and port is exempt; not its other names, ports or subdomains."""
        return self.allow_all or (_host(host), port) in self.named

    def __or__(self, other: Exemptions) -> Exemptions:
        named = self.named | other.named
        return Exemptions(named, self.allow_all or other.allow_all, (self.unresolved | other.unresolved) - named)

    def to_list(self) -> list[str]:
        """As JSON: `host:port`, IPv6 in brackets, `*` for everything, and `?` before names that could not be resolved."""
        named = sorted(f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in self.named)
        unresolved = sorted(f"{_UNRESOLVED}{host}:{port}" for host, port in self.unresolved)
        return [*([_EVERYTHING] if self.allow_all else []), *named, *unresolved]

    @classmethod
    def from_list(cls, stored: Iterable[str]) -> Exemptions:
        """The inverse of `to_list`."""
        entries = set(stored)
        parts = [entry.rpartition(":") for entry in entries - {_EVERYTHING}]
        pairs = frozenset((_host(host), int(port)) for host, _, port in parts)
        unresolved = frozenset((host[1:], port) for host, port in pairs if host.startswith(_UNRESOLVED))
        named = frozenset(pair for pair in pairs if not pair[0].startswith(_UNRESOLVED))
        return cls(named, _EVERYTHING in entries, unresolved)

    @classmethod
    def for_urls(cls, urls: Iterable[str]) -> Exemptions:
        """Exempt the hosts of these canonical http(s) URLs."""
        parts = [urlsplit(url) for url in urls]
        return cls(frozenset((_host(part.hostname or ""), part.port or _PORTS[part.scheme]) for part in parts))


def _host(host: str) -> str:
    """One spelling for each host: lower case, IPv6 compressed and without brackets."""
    host = host.removeprefix("[").removesuffix("]").lower()
    try:
        return str(ip_address(host))
    except ValueError:
        return host
