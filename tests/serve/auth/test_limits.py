"""Counting requests, and which names and addresses are one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tadoru.config.options import ServeOptions
from tadoru.errors import UsageError
from tadoru.serve.auth.authentication import create_api_key
from tadoru.serve.auth.http_security import is_allowed_host, public_url
from tadoru.serve.auth.rate_limits import RateLimit, TokenBuckets, client_network, shared_bucket_file
from tadoru.store.accounts import secrets
from tests.serve.auth.conftest import BY, AuthHarness
from tests.support.clock import FakeClock


@example(count=1, gaps=[0.0, 9.0, 30.0, 29.8530035045281])
@given(st.integers(1, 20), st.lists(st.floats(0, 30), max_size=60))
def test_never_more_than_a_full_bucket_and_what_has_flowed_in_since(count: int, gaps: list[float]) -> None:
    clock = FakeClock()
    limit, allowed, passed = RateLimit(count, 60, clock), 0, 0.0
    for gap in gaps:
        clock.advance(gap)
        passed += gap
        taken = limit.take("a")
        allowed += taken.allowed
        assert allowed <= count + passed * count / 60 + 1e-6
        assert 0 <= taken.remaining < count
        assert (taken.retry == 0) == taken.allowed
    clock.advance(60)
    assert limit.take("a").allowed


def test_who_waits_as_long_as_told_is_let_in() -> None:
    clock = FakeClock()
    limit = RateLimit(7, 60, clock)
    while (taken := limit.take("a")).allowed:
        pass
    clock.advance(taken.retry)
    assert limit.take("a").allowed


def test_what_is_given_back_can_be_taken_again_and_no_more() -> None:
    with shared_bucket_file() as path:
        assert path is not None
        shared = TokenBuckets(path)
        for buckets in (TokenBuckets(), shared):
            limit = RateLimit(2, 60, FakeClock(), buckets=buckets, kind="guess")
            assert [limit.take("a").allowed for _ in range(3)] == [True, True, False]
            limit.refund("a")
            assert [limit.take("a").allowed for _ in range(2)] == [True, False]
            for _ in range(9):
                limit.refund("a")
            limit.refund("nobody")
            assert [limit.take("a").allowed for _ in range(3)] == [True, True, False]
        shared.close()


def test_looking_counts_nothing() -> None:
    limit = RateLimit(1, 60, FakeClock())
    assert [limit.take("a", 0).allowed for _ in range(5)] == [True] * 5
    assert limit.take("a").allowed


@pytest.mark.parametrize(
    "address, whom",
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8::ffff:1", "2001:db8::/64"),
        ("2001:db8:0:1::1", "2001:db8:0:1::/64"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("a socket", "a socket"),
    ],
)
def test_a_customer_of_ipv6_is_one_caller(address: str, whom: str) -> None:
    assert client_network(address) == whom


@given(st.text(max_size=40))
def test_no_host_header_is_too_strange(host: str) -> None:
    if is_allowed_host(host, frozenset({"events.example"})):
        assert host.isascii()
        assert not set(host) & set("/\\@ \r\n\t<>\"'")


@pytest.mark.parametrize(
    "options, where",
    [
        ({}, "http://127.0.0.1:8000"),
        ({"host": "0.0.0.0", "port": 80}, "http://127.0.0.1:80"),
        ({"host": "::"}, "http://[::1]:8000"),
        ({"host": "2001:db8::1"}, "http://[2001:db8::1]:8000"),
        ({"host": "0.0.0.0", "base_url": "https://events.example"}, "https://events.example"),
    ],
)
def test_where_a_person_finds_the_service(options: dict[str, Any], where: str) -> None:
    assert public_url(ServeOptions(**options)) == where


@given(st.text(max_size=30), st.text(max_size=30))
def test_only_the_very_token_fits(token: str, other: str) -> None:
    assert secrets.matches_token(token, secrets.hash_token(token))
    assert secrets.matches_token(other, secrets.hash_token(token)) == (other == token)


@given(st.text(max_size=80))
def test_what_is_no_key_is_taken_for_none(text: str) -> None:
    parts = secrets.split_key(text)
    assert parts is None or text == f"tdr_{parts[0]}_{parts[1]}"


def test_a_key_that_is_made_can_be_read() -> None:
    prefix, secret, whole = secrets.new_key()
    assert secrets.split_key(whole) == (prefix, secret)
    assert len({secrets.new_key()[1] for _ in range(100)}) == 100


def test_a_password_is_hashed_with_its_cost_and_never_alike() -> None:
    one, other = secrets.hash_password("パスワード\ud800"), secrets.hash_password("パスワード\ud800")
    assert one != other
    assert one.startswith("scrypt$32768$8$3$")
    assert secrets.matches_password("パスワード\ud800", one)
    assert not secrets.matches_password("パスワード", one)
    assert not secrets.matches_password("x" * 2000, one)
    assert not secrets.matches_password("", "")


def test_a_key_gets_only_scopes_that_there_are_and_that_its_owner_has(harness: AuthHarness) -> None:
    harness.user("viewer", "mia")
    with pytest.raises(UsageError, match="Unknown scope “everything”"):
        create_api_key(harness.store, "a", ["everything"], BY)
    with pytest.raises(UsageError, match=r"The role of mia \(viewer\) does not include all of these scopes"):
        create_api_key(harness.store, "a", ["events:read", "events:write"], BY, user="mia")
    key, _ = create_api_key(harness.store, "a", ["events:read"], BY, user="mia")
    assert key.user_name == "mia"
