"""Limits on the size of responses: headers, and bodies that grow when they are decompressed.

Bodies are decompressed here and not by the HTTP client, in small steps, so that a decompression bomb is stopped one step past the
limit, before it fills the memory. Reading from the network is in `fetch.http`.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator, Sequence
from typing import Protocol

import brotli  # type: ignore[import-untyped]

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

from tadoru.errors import Message

ACCEPT_ENCODING = "gzip, deflate, br, zstd"
HEADER_LINE_BYTES = 64 * 1024
HEADER_COUNT = 256
HEADER_TOTAL_BYTES = 256 * 1024
STEP = 64 * 1024
"""The maximum output of one decompression step, and so by how much a body can exceed its limit."""
MAX_LAYERS = 4
ZSTD_WINDOW_LOG = 23
"""8 MiB, as RFC 9659 allows for HTTP: a frame that needs more memory is rejected."""


class BodyTooLarge(Exception):
    """The body exceeds its limit."""


class HeadersTooLarge(Exception):
    """The response headers together exceed `HEADER_TOTAL_BYTES`."""


class BadContentEncoding(Exception):
    """The body does not match its Content-Encoding; the message is the reason."""

    def __init__(self, message: Message) -> None:
        super().__init__(message)
        self.message = message


class _Layer(Protocol):
    def feed(self, data: bytes) -> Iterator[bytes]: ...

    def complete(self) -> bool: ...


class _Zlib:
    """gzip (one or several members) and deflate (with the zlib header, or raw as some servers send it)."""

    def __init__(self, gzip: bool) -> None:
        self._gzip = gzip
        self._stream = zlib.decompressobj(zlib.MAX_WBITS | 16) if gzip else None
        self._undecided = b""
        """The first byte of a stream: two bytes are needed to detect the format."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data:
            if self._stream is None or self._stream.eof:
                data, self._undecided = self._undecided + data, b""
                if len(data) < 2:
                    self._undecided = data
                    return
                if not self._begin(data):
                    return
            assert self._stream is not None
            piece = self._stream.decompress(data, STEP)
            data = self._stream.unconsumed_tail or self._stream.unused_data
            if piece:
                yield piece
            # A full last step may leave output inside the decompressor with no input left to push it out.
            while piece and not data and not self._stream.eof:
                piece = self._stream.decompress(b"", STEP)
                yield piece

    def _begin(self, data: bytes) -> bool:
        """Start a stream; False for padding after a complete one, which browsers ignore too."""
        if self._stream is None:
            zlib_header = data[0] & 0x0F == 8 and (data[0] << 8 | data[1]) % 31 == 0
            self._stream = zlib.decompressobj(zlib.MAX_WBITS if zlib_header else -zlib.MAX_WBITS)
            return True
        if self._gzip and data.startswith(b"\x1f\x8b"):
            self._stream = zlib.decompressobj(zlib.MAX_WBITS | 16)
            return True
        return False

    def complete(self) -> bool:
        return self._stream is not None and self._stream.eof


class _Brotli:
    def __init__(self) -> None:
        self._stream = brotli.Decompressor()

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._stream.is_finished():
            return
        piece = self._stream.process(data, output_buffer_limit=STEP)
        yield piece
        while not self._stream.is_finished() and (piece or not self._stream.can_accept_more_data()):
            piece = self._stream.process(b"", output_buffer_limit=STEP)
            yield piece

    def complete(self) -> bool:
        return bool(self._stream.is_finished())


class _Zstd:
    def __init__(self) -> None:
        self._stream = self._new()

    @staticmethod
    def _new() -> zstd.ZstdDecompressor:
        return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: ZSTD_WINDOW_LOG})

    def feed(self, data: bytes) -> Iterator[bytes]:
        while True:
            if self._stream.eof:
                if not data:
                    return
                self._stream = self._new()
            yield self._stream.decompress(data, STEP)
            data = self._stream.unused_data if self._stream.eof else b""
            if not self._stream.eof and self._stream.needs_input:
                return

    def complete(self) -> bool:
        return self._stream.eof


def _layers(content_encoding: str) -> list[_Layer]:
    """The decoders in the order they are applied; with an unknown encoding ("utf-8", "none") the body is not encoded."""
    names = [name.strip().lower() for name in content_encoding.split(",")]
    layers: list[_Layer] = []
    for name in reversed(names):
        if name in ("gzip", "x-gzip"):
            layers.append(_Zlib(gzip=True))
        elif name == "deflate":
            layers.append(_Zlib(gzip=False))
        elif name == "br":
            layers.append(_Brotli())
        elif name == "zstd":
            layers.append(_Zstd())
    if len(layers) > MAX_LAYERS:
        raise BadContentEncoding(Message("the body is compressed {count} times over", count=len(layers)))
    return layers


class BodyDecoder:
    """Decodes a body as it arrives, and raises BodyTooLarge when it exceeds `cap` bytes before, between or after the decoders."""

    def __init__(self, content_encoding: str, cap: int) -> None:
        self._layers: Sequence[_Layer] = _layers(content_encoding)
        self._cap = cap
        self._pieces: list[bytes] = []
        self._sizes = [0] * (len(self._layers) + 1)

    @property
    def transferred(self) -> int:
        """Bytes received over the network."""
        return self._sizes[0]

    def feed(self, data: bytes) -> None:
        """Decode a chunk of the body. Raises BodyTooLarge and BadContentEncoding."""
        try:
            self._push(data, 0)
        except (zlib.error, brotli.error, zstd.ZstdError) as error:
            raise BadContentEncoding(Message("the body does not match its Content-Encoding")) from error

    def finish(self) -> bytes:
        """The whole decoded body. Raises BadContentEncoding when the compressed data is incomplete."""
        if self.transferred and not all(layer.complete() for layer in self._layers):
            raise BadContentEncoding(Message("the compressed body is incomplete"))
        return b"".join(self._pieces)

    def partial(self) -> bytes:
        """The body up to the limit."""
        return b"".join(self._pieces)

    def _push(self, data: bytes, depth: int) -> None:
        self._sizes[depth] += len(data)
        if depth == len(self._layers):
            over = self._sizes[depth] - self._cap
            if over > 0:
                self._pieces.append(data[: max(0, len(data) - over)])
                raise BodyTooLarge
            self._pieces.append(data)
            return
        # Compressed data can be slightly larger than its content; data without any output must end too.
        if self._sizes[depth] > self._cap + STEP:
            raise BodyTooLarge
        for piece in self._layers[depth].feed(data):
            self._push(piece, depth + 1)
