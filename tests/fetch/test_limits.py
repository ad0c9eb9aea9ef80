"""Decompression within bounds: every encoding, every way it can be cut, and bombs."""

from __future__ import annotations

import gzip
import sys
import tracemalloc
import zlib
from collections.abc import Callable
from contextlib import suppress

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.fetch.limits import STEP, BadContentEncoding, BodyDecoder, BodyTooLarge

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MEBIBYTE = 1024 * 1024


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


ENCODINGS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "nothing": ("", lambda data: data),
    "identity": ("identity", lambda data: data),
    "an encoding nobody knows": ("utf-8", lambda data: data),
    "gzip": ("gzip", gzip.compress),
    "gzip in capitals": ("GZip", gzip.compress),
    "x-gzip": ("x-gzip", gzip.compress),
    "gzip of several members": ("gzip", lambda data: gzip.compress(data[:7]) + gzip.compress(data[7:])),
    "gzip with padding": ("gzip", lambda data: gzip.compress(data) + b"\0" * 20),
    "deflate": ("deflate", zlib.compress),
    "raw deflate": ("deflate", raw_deflate),
    "br": ("br", brotli.compress),
    "zstd": ("zstd", zstd.compress),
    "zstd of several frames": ("zstd", lambda data: zstd.compress(data[:7]) + zstd.compress(data[7:])),
    "gzip, then br": ("gzip, br", lambda data: brotli.compress(gzip.compress(data))),
    "three layers": ("zstd,deflate ,gzip", lambda data: gzip.compress(zlib.compress(zstd.compress(data)))),
}
COMPRESSED = ["gzip", "deflate", "raw deflate", "br", "zstd", "gzip, then br"]


def decode(encoding: str, packed: bytes, cap: int = 100 * MEBIBYTE, step: int = MEBIBYTE) -> bytes:
    body = BodyDecoder(encoding, cap)
    for start in range(0, len(packed), step):
        body.feed(packed[start : start + step])
    assert body.transferred == len(packed)
    return body.finish()


@pytest.mark.parametrize("case", ENCODINGS)
@given(data=st.binary(max_size=3000), step=st.integers(1, 700))
def test_what_was_encoded_comes_back_however_it_is_cut(case: str, data: bytes, step: int) -> None:
    encoding, encode = ENCODINGS[case]
    assert decode(encoding, encode(data), step=step) == data


@pytest.mark.parametrize("case", ENCODINGS)
def test_a_body_larger_than_many_steps_comes_back_whole(case: str) -> None:
    encoding, encode = ENCODINGS[case]
    data = bytes(range(256)) * (20 * STEP // 256) + b"the end"
    assert decode(encoding, encode(data)) == data


@pytest.mark.parametrize("case", ENCODINGS)
def test_the_cap_is_exact(case: str) -> None:
    encoding, encode = ENCODINGS[case]
    data = b"ab" * 5000
    assert decode(encoding, encode(data), cap=10_000) == data
    with pytest.raises(BodyTooLarge):
        decode(encoding, encode(data), cap=9_999)


@pytest.mark.parametrize("case", COMPRESSED)
def test_a_bomb_never_expands_past_the_cap(case: str) -> None:
    encoding, encode = ENCODINGS[case]
    bomb = encode(bytes(64 * MEBIBYTE))
    tracemalloc.start()
    try:
        with pytest.raises(BodyTooLarge):
            decode(encoding, bomb, cap=MEBIBYTE)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 6 * MEBIBYTE


def test_layers_that_grow_and_shrink_again_are_cut_off_in_between() -> None:
    # Endless empty blocks of deflate: a huge layer in the middle that holds nothing.
    hollow = b"\x00\x00\x00\xff\xff" * (4 * MEBIBYTE)
    with pytest.raises(BodyTooLarge):
        decode("deflate, gzip", gzip.compress(hollow), cap=MEBIBYTE)


def test_compressed_data_that_yields_nothing_ends_at_the_cap_too() -> None:
    with pytest.raises(BodyTooLarge):
        decode("deflate", b"\x00\x00\x00\xff\xff" * MEBIBYTE, cap=MEBIBYTE)


def test_a_frame_that_asks_for_much_memory_is_refused() -> None:
    options = {zstd.CompressionParameter.window_log: 27, zstd.CompressionParameter.enable_long_distance_matching: 1}
    packer = zstd.ZstdCompressor(options=options)
    packed = packer.compress(bytes(9 * MEBIBYTE)) + packer.flush()
    with pytest.raises(BadContentEncoding):
        decode("zstd", packed)


@pytest.mark.parametrize("case", COMPRESSED)
@pytest.mark.parametrize(
    "damage", [lambda packed: packed[:-3], lambda packed: b"<h1>plain</h1>"], ids=["cut short", "plain text"]
)
def test_a_body_that_is_not_what_it_says_is_named(case: str, damage: Callable[[bytes], bytes]) -> None:
    encoding, encode = ENCODINGS[case]
    with pytest.raises(BadContentEncoding):
        decode(encoding, damage(encode(b"some text" * 100)))


@pytest.mark.parametrize("case", COMPRESSED)
@given(junk=st.binary(min_size=1, max_size=400), step=st.integers(1, 100))
def test_junk_raises_nothing_else(case: str, junk: bytes, step: int) -> None:
    encoding, _ = ENCODINGS[case]
    with suppress(BadContentEncoding, BodyTooLarge):
        decode(encoding, junk, cap=10 * MEBIBYTE, step=step)


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
def test_an_empty_body_needs_no_decoding(encoding: str) -> None:
    assert BodyDecoder(encoding, 10).finish() == b""


def test_too_many_layers_are_refused() -> None:
    with pytest.raises(BadContentEncoding):
        BodyDecoder("gzip, gzip, gzip, gzip, gzip", 10)
