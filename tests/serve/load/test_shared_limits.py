"""A service of several processes counts as one."""

from __future__ import annotations

import multiprocessing
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.clock import SystemClock
from tadoru.serve.auth.rate_limits import WAYS, RateLimit, RateLimits, TokenBuckets, shared_bucket_file
from tests.support.clock import FakeClock


def _takes(path: str, count: int, each: int) -> int:
    limit = RateLimit(count, 10**9, SystemClock(), buckets=TokenBuckets(path))
    return sum(limit.take("somebody").allowed for _ in range(each))


def test_processes_that_count_at_once_let_in_exactly_as_many_as_one() -> None:
    with shared_bucket_file() as path, multiprocessing.get_context("spawn").Pool(2) as pool:
        assert path is not None
        let_in = pool.starmap(_takes, [(path, 500, 400)] * 2)
    assert sum(let_in) == 500


@given(st.integers(1, 5), st.lists(st.tuples(st.sampled_from("ab\ud800"), st.integers(0, 1), st.floats(0, 30)), max_size=40))
def test_the_shared_table_counts_as_the_memory_of_one_process_does(count: int, asked: list[tuple[str, int, float]]) -> None:
    clock = FakeClock()
    with shared_bucket_file() as path:
        assert path is not None
        shared = TokenBuckets(path)
        one, other = RateLimit(count, 60, clock, buckets=shared), RateLimit(count, 60, clock)
        for name, cost, gap in asked:
            clock.advance(gap)
            assert one.take(name, cost) == other.take(name, cost)
        shared.close()


def test_limits_of_one_table_do_not_count_each_other() -> None:
    with shared_bucket_file() as path:
        limits = RateLimits(FakeClock(), per_address=1, per_key=1, table=path)
        assert limits.addresses is not None
        assert limits.known is not None
        assert [limit.take("a").allowed for limit in (limits.addresses, limits.known, limits.failures, limits.guesses)] == [
            True
        ] * 4
        assert not limits.addresses.take("a").allowed
        assert not limits.known.take("a").allowed
        limits.close()


@pytest.mark.parametrize("in_file", [True, False])
def test_a_crowd_pushes_out_who_was_not_seen_for_longest_and_takes_no_memory(in_file: bool) -> None:
    clock, sets = FakeClock(), 16
    with shared_bucket_file(sets) as path:
        assert path is not None
        before = Path(path).stat().st_size
        buckets = TokenBuckets(path if in_file else None, sets)
        limit = RateLimit(1, 10**9, clock, buckets=buckets)
        for number in range(4 * sets * WAYS):
            clock.advance(1)
            limit.take(str(number))
        assert Path(path).stat().st_size == before
        assert not limit.take(str(4 * sets * WAYS - 1)).allowed
        assert limit.take("0").allowed
        buckets.close()


@pytest.mark.parametrize("in_file", [True, False])
def test_requests_from_many_addresses_do_not_restore_attempts_at_passwords(in_file: bool) -> None:
    clock, sets = FakeClock(), 16
    with shared_bucket_file(sets) as path:
        limits = RateLimits(clock, per_address=60, per_key=60, table=path if in_file else None, sets=sets)
        assert limits.addresses is not None
        assert limits.known is not None
        guarded = (limits.failures, limits.guesses)
        for limit in guarded:
            while limit.take("somebody").allowed:
                pass
        for number in range(4 * sets * WAYS):
            limits.addresses.take(str(number))
            limits.known.take(str(number))
        assert [limit.take("somebody").allowed for limit in guarded] == [False, False]
        limits.close()


def test_a_place_that_was_half_written_is_one_that_nobody_has() -> None:
    with shared_bucket_file() as path:
        assert path is not None
        buckets = TokenBuckets(path)
        limit = RateLimit(3, 60, FakeClock(), buckets=buckets)
        assert limit.take("a").remaining == 2
        whole = Path(path).read_bytes()
        for torn in (struct.pack("<d", float("nan")), struct.pack("<d", -1e300), struct.pack("<d", 1e300)):
            place = next(at for at in range(16, len(whole), 32) if whole[at : at + 16] != bytes(16))
            with Path(path).open("r+b") as file:
                file.seek(place + 16)
                file.write(torn)
            assert limit.take("a", 0).remaining == 3
        buckets.close()


def test_the_table_is_gone_with_the_service() -> None:
    with shared_bucket_file() as path:
        assert path is not None
        assert (Path(path).stat().st_mode & 0o777) == 0o600
    assert not Path(path).exists()
