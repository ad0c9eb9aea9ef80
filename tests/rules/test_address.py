"""The address guard's table: what is refused, under which name, and what a person may exempt."""

from __future__ import annotations

import json
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.rules.address import Exemptions, block_reason

REFUSED = [
    ("0.0.0.0", "unspecified"),
    ("0.1.2.3", "this-network"),
    ("10.0.0.0", "private"),
    ("10.255.255.255", "private"),
    ("100.64.0.1", "carrier-grade NAT"),
    ("100.127.255.255", "carrier-grade NAT"),
    ("100.100.100.200", "metadata"),
    ("127.0.0.1", "loopback"),
    ("127.255.255.255", "loopback"),
    ("168.63.129.16", "metadata"),
    ("169.254.0.1", "link-local"),
    ("169.254.169.254", "metadata"),
    ("169.254.170.2", "metadata"),
    ("172.16.0.1", "private"),
    ("172.31.255.255", "private"),
    ("192.0.0.1", "protocol-assignment"),
    ("192.0.0.192", "metadata"),
    ("192.0.2.1", "documentation"),
    ("192.88.99.1", "6to4"),
    ("192.168.1.1", "private"),
    ("198.18.0.1", "benchmarking"),
    ("198.19.255.255", "benchmarking"),
    ("198.51.100.7", "documentation"),
    ("203.0.113.7", "documentation"),
    ("224.0.0.1", "multicast"),
    ("239.255.255.255", "multicast"),
    ("240.0.0.1", "reserved"),
    ("255.255.255.255", "broadcast"),
    ("::", "unspecified"),
    ("::1", "loopback"),
    ("0:0:0:0:0:0:0:1", "loopback"),
    ("::7f00:1", "IPv4-compatible"),
    ("::ffff:127.0.0.1", "loopback"),
    ("::ffff:7f00:1", "loopback"),
    ("::ffff:10.0.0.1", "private"),
    ("::ffff:169.254.169.254", "metadata"),
    ("::ffff:0:127.0.0.1", "IPv4-translated"),
    ("64:ff9b::127.0.0.1", "loopback"),
    ("64:ff9b::a9fe:a9fe", "metadata"),
    ("64:ff9b:1::1", "NAT64"),
    ("64:ff9b:0:1::1", "reserved"),
    ("100::1", "discard"),
    ("2001::1", "Teredo"),
    ("2001:0:4136:e378:8000:63bf:3fff:fdd2", "Teredo"),
    ("2001:2::1", "benchmarking"),
    ("2001:10::1", "protocol-assignment"),
    ("2001:db8::1", "documentation"),
    ("2002:7f00:1::", "6to4"),
    ("2002:808:808::1", "6to4"),
    ("3fff::1", "documentation"),
    ("5f00::1", "reserved"),
    ("4000::1", "reserved"),
    ("fc00::1", "unique local"),
    ("fd12:3456::1", "unique local"),
    ("fd00:ec2::254", "metadata"),
    ("fd20:ce::254", "metadata"),
    ("fe80::1", "link-local"),
    ("fe80::1%eth0", "link-local"),
    ("fe80::1%1", "link-local"),
    ("fec0::1", "site-local"),
    ("ff02::1", "multicast"),
    ("ff02::1%2", "multicast"),
]


@pytest.mark.parametrize("address, kind", REFUSED, ids=[address for address, _ in REFUSED])
def test_an_address_that_is_not_public_is_refused_by_name(address: str, kind: str) -> None:
    assert kind in (block_reason(address) or "")


@pytest.mark.parametrize(
    "address",
    ["1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1",
     "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.0.3.0", "192.167.255.255",
     "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8",
     "2001:200::1", "2001:4860:4860::8888", "2001:db9::1", "2003::1", "2606:4700::1111", "2a00:1450::1", "2606:4700::1111%eth0",
     "3ffe:ffff::1"],
)  # fmt: skip
def test_a_public_address_is_not_refused(address: str) -> None:
    assert block_reason(address) is None


@pytest.mark.parametrize(
    "text",
    ["", "localhost", "0177.0.0.1", "0x7f.0.0.1", "2130706433", "127.1", "1.2.3.4.5", "1.2.3.4%eth0", "[::1]", "::g", " 8.8.8.8"],
)
def test_what_is_not_an_address_is_refused(text: str) -> None:
    assert "not an IP address" in (block_reason(text) or "")


V4_NETWORKS = [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
]
V6_NETWORKS = [
    "::/96",
    "64:ff9b:1::/48",
    "2001::/23",
    "2001:db8::/32",
    "2002::/16",
    "3fff::/20",
    "fc00::/7",
    "fe80::/10",
    "fec0::/10",
    "ff00::/8",
]


@pytest.mark.parametrize("network", V4_NETWORKS)
@given(data=st.data())
def test_every_address_of_a_v4_network_is_refused(network: str, data: st.DataObject) -> None:
    net = IPv4Network(network)
    number = data.draw(st.integers(int(net.network_address), int(net.broadcast_address)))
    assert block_reason(str(IPv4Address(number)))


@pytest.mark.parametrize("network", V6_NETWORKS)
@given(data=st.data())
def test_every_address_of_a_v6_network_is_refused(network: str, data: st.DataObject) -> None:
    net = IPv6Network(network)
    number = data.draw(st.integers(int(net.network_address), int(net.broadcast_address)))
    assert block_reason(str(IPv6Address(number)))


@given(st.integers(0, 2**32 - 1).map(IPv4Address))
def test_a_v4_address_inside_a_v6_one_gets_its_own_verdict(inner: IPv4Address) -> None:
    verdict = block_reason(str(inner))
    assert block_reason(f"::ffff:{inner}") == verdict
    assert block_reason(str(IPv6Address(0xFFFF << 32 | int(inner)))) == verdict
    assert block_reason(f"64:ff9b::{inner}") == verdict


@given(st.integers(0, 2**32 - 1).map(IPv4Address))
def test_nothing_that_python_knows_to_be_local_passes(address: IPv4Address) -> None:
    if address.is_private or address.is_multicast or address.is_reserved:
        assert block_reason(str(address))


@given(st.integers(0, 2**128 - 1).map(IPv6Address))
def test_no_v6_address_outside_global_unicast_passes(address: IPv6Address) -> None:
    if int(address) >> 125 != 1 and address.ipv4_mapped is None:
        assert block_reason(str(address)) or address in IPv6Network("64:ff9b::/96")


# --- exemptions -----------------------------------------------------------------------------------------------------------

NAMED = Exemptions.for_urls(["http://localhost:8000/a", "https://intra.example/", "http://[::1]:81/?q", "http://127.0.0.1/"])


@pytest.mark.parametrize(
    "host, port, covered",
    [
        ("localhost", 8000, True),
        ("LocalHost", 8000, True),
        ("localhost", 8001, False),
        ("localhost", 80, False),
        ("sub.localhost", 8000, False),
        ("localhost.", 8000, False),
        ("intra.example", 443, True),
        ("intra.example", 80, False),
        ("::1", 81, True),
        ("[::1]", 81, True),
        ("[0:0:0:0:0:0:0:1]", 81, True),
        ("::1", 80, False),
        ("127.0.0.1", 80, True),
        ("127.0.0.1", 8000, False),
        ("::ffff:127.0.0.1", 80, False),
        ("", 80, False),
    ],
)
def test_exactly_the_named_host_and_port_is_exempt(host: str, port: int, covered: bool) -> None:
    assert NAMED.covers(host, port) is covered


def test_nothing_is_exempt_unless_named() -> None:
    assert not Exemptions().covers("localhost", 80)
    assert Exemptions(allow_all=True).covers("localhost", 80)


def test_exemptions_add_up() -> None:
    both = Exemptions.for_urls(["http://a/"]) | Exemptions.for_urls(["http://b/"])
    assert both.covers("a", 80)
    assert both.covers("b", 80)
    assert not both.allow_all
    assert (both | Exemptions(allow_all=True)).allow_all


@pytest.mark.parametrize(
    "exemptions", [Exemptions(), NAMED, Exemptions(NAMED.named, allow_all=True)], ids=["none", "some", "all"]
)
def test_exemptions_survive_being_stored_as_json(exemptions: Exemptions) -> None:
    assert Exemptions.from_list(json.loads(json.dumps(exemptions.to_list()))) == exemptions


def test_the_stored_form_is_readable() -> None:
    assert Exemptions(NAMED.named, allow_all=True).to_list() == [
        "*",
        "127.0.0.1:80",
        "[::1]:81",
        "intra.example:443",
        "localhost:8000",
    ]
