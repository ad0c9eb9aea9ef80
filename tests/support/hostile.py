"""What sites do wrong, each behaviour under its name: `/bad/<name>` or `/bad/<name>/<argument>` at the programmable site.

`site.misbehave("/robots.txt", "drop")` puts one of them at any other path.
"""

from __future__ import annotations

import asyncio
import zlib

from tests.support.exchange import Exchange, Handler, Reply

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
MEBIBYTE = 1024 * 1024
DRIP_SECONDS = 0.01


async def drop(exchange: Exchange, _: str) -> None:
    """Close without a word."""
    exchange.drop()


async def reset(exchange: Exchange, _: str) -> None:
    """RST without a word."""
    exchange.reset()


async def never(exchange: Exchange, _: str) -> None:
    """Accept the request and stay silent."""
    exchange.drop()
    await asyncio.Event().wait()


async def partial(exchange: Exchange, _: str) -> None:
    """Announce a thousand bytes, send a few, close."""
    await exchange.raw(OK + b"Content-Length: 1000\r\n\r\n<h1>half a pa")
    exchange.drop()


async def partial_reset(exchange: Exchange, _: str) -> None:
    """Announce a thousand bytes, send a few, reset."""
    await exchange.raw(OK + b"Content-Length: 1000\r\n\r\n<h1>half a pa")
    exchange.reset()


async def chunks(exchange: Exchange, _: str) -> None:
    """A chunk whose size is not a number."""
    await exchange.raw(OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\nnot a chunk")
    exchange.drop()


async def cut_chunks(exchange: Exchange, _: str) -> None:
    """Chunks without the last one."""
    await exchange.raw(OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
    exchange.drop()


async def endless(exchange: Exchange, _: str) -> None:
    """A body without an end."""
    await exchange.raw(OK + b"Transfer-Encoding: chunked\r\n\r\n")
    while True:
        await exchange.raw(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")


async def drip(exchange: Exchange, _: str) -> None:
    """A body that comes byte by byte, for ever."""
    await exchange.raw(OK + b"Content-Length: 1000000\r\n\r\n")
    while True:
        await exchange.raw(b"x")
        await asyncio.sleep(DRIP_SECONDS)


async def drip_headers(exchange: Exchange, _: str) -> None:
    """Headers that come byte by byte, for ever."""
    await exchange.raw(OK + b"X-Slow: ")
    while True:
        await exchange.raw(b"x")
        await asyncio.sleep(DRIP_SECONDS)


async def bomb(exchange: Exchange, argument: str) -> None:
    """Gzip that grows to so many MiB (64)."""
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    packed = b"".join(packer.compress(bytes(MEBIBYTE)) for _ in range(int(argument or 64))) + packer.flush()
    await exchange.send(Reply(body=packed, headers=(("Content-Encoding", "gzip"),)))


async def not_gzip(exchange: Exchange, _: str) -> None:
    """Plain text that calls itself gzip."""
    await exchange.send(Reply(body=b"<h1>plain</h1>", headers=(("Content-Encoding", "gzip"),)))


async def long_header(exchange: Exchange, _: str) -> None:
    """One header of a mebibyte."""
    await exchange.raw(OK + b"X-Long: " + b"x" * MEBIBYTE + b"\r\nContent-Length: 0\r\n\r\n")


async def many_headers(exchange: Exchange, _: str) -> None:
    """A hundred thousand headers."""
    await exchange.raw(OK + b"".join(b"X-%d: x\r\n" % number for number in range(100_000)) + b"Content-Length: 0\r\n\r\n")


async def heavy_headers(exchange: Exchange, _: str) -> None:
    """Headers that are each acceptable and too much together."""
    await exchange.raw(OK + b"".join(b"X-%d: %s\r\n" % (n, b"x" * 30_000) for n in range(20)) + b"Content-Length: 0\r\n\r\n")


async def loop(exchange: Exchange, argument: str) -> None:
    """Two pages that redirect to each other."""
    await exchange.send(Reply(status=302, headers=(("Location", "/bad/loop/" + ("a" if argument == "b" else "b")),)))


async def chain(exchange: Exchange, argument: str) -> None:
    """So many redirects (20), then a page."""
    left = int(argument or 20)
    if left == 0:
        await exchange.send(Reply(body=b"<h1>the end of the chain</h1>"))
    else:
        await exchange.send(Reply(status=301, headers=(("Location", f"/bad/chain/{left - 1}"),)))


async def private(exchange: Exchange, argument: str) -> None:
    """A redirect to an address that is not the public's: the metadata service, or `host:port/path` as given."""
    target = argument or "169.254.169.254/latest/meta-data/"
    await exchange.send(Reply(status=302, headers=(("Location", f"http://{target}"),)))


async def no_location(exchange: Exchange, _: str) -> None:
    """A redirect to nowhere."""
    await exchange.send(Reply(status=302))


async def busy(exchange: Exchange, argument: str) -> None:
    """`busy/<times>/<seconds>`: 429 so many times (1) with a Retry-After of so many seconds (1), then a page."""
    times, _, seconds = argument.partition("/")
    if exchange.hits <= int(times or 1):
        await exchange.send(Reply(status=429, headers=(("Retry-After", seconds or "1"),)))
    else:
        await exchange.send(Reply(body=b"<h1>at last</h1>"))


async def flap(exchange: Exchange, argument: str) -> None:
    """503 so many times (1), then a page, then again."""
    failures = int(argument or 1)
    works = exchange.hits % (failures + 1) == 0
    await exchange.send(Reply(body=b"<h1>up</h1>") if works else Reply(status=503, body=b"<h1>down</h1>"))


async def charset(exchange: Exchange, _: str) -> None:
    """Shift_JIS that calls itself UTF-8, in its meta element too."""
    text = '<meta charset="utf-8"><title>辿る</title><h1>リンクを辿る</h1>'
    await exchange.send(Reply(body=text.encode("shift_jis")))


async def duplicates(exchange: Exchange, _: str) -> None:
    """Every header twice, with other values."""
    head = OK + b"Content-Type: text/plain\r\nX-Twice: one\r\nX-Twice: two\r\nLocation: /a\r\nLocation: /b\r\n"
    await exchange.raw(head + b"Content-Length: 2\r\n\r\nok")


async def garbage(exchange: Exchange, _: str) -> None:
    """Something that is not HTTP."""
    await exchange.raw(b"SSH-2.0-OpenSSH_9.9\r\n\x00\x01\x02\x03 you have the wrong door\r\n\r\n")
    exchange.drop()


async def no_content(exchange: Exchange, _: str) -> None:
    """204 that announces a body and sends none."""
    await exchange.raw(b"HTTP/1.1 204 No Content\r\nContent-Length: 500\r\n\r\n")


async def not_modified(exchange: Exchange, _: str) -> None:
    """304 to a question nobody asked, with a body's length."""
    await exchange.raw(b'HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\nETag: "x"\r\n\r\n')


async def continues(exchange: Exchange, _: str) -> None:
    """Interim answers and then the real one."""
    await exchange.raw(b"HTTP/1.1 100 Continue\r\n\r\n" * 3 + OK + b"Content-Length: 2\r\n\r\nok")


async def old(exchange: Exchange, _: str) -> None:
    """HTTP/1.0 without a length: the end of the connection is the end of the body."""
    await exchange.raw(b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<h1>old but well</h1>")
    exchange.drop()


async def huge(exchange: Exchange, argument: str) -> None:
    """A proper text of so many KiB (1024)."""
    await exchange.send(Reply(body=b"User-agent: *\n" * (int(argument or 1024) * 1024 // 14), content_type="text/plain"))


BEHAVIOURS: dict[str, Handler] = {
    handler.__name__.replace("_", "-"): handler
    for handler in (
        *(drop, reset, never, partial, partial_reset, chunks, cut_chunks, endless, drip, drip_headers, bomb, not_gzip),
        *(long_header, many_headers, heavy_headers, loop, chain, private, no_location, busy, flap, charset, duplicates),
        *(garbage, no_content, not_modified, continues, old, huge),
    )
}


async def bad(exchange: Exchange, rest: str) -> None:
    """`/bad/<name>/<argument>`."""
    name, _, argument = rest.partition("?")[0].partition("/")
    if name in BEHAVIOURS:
        await BEHAVIOURS[name](exchange, argument)
    else:
        await exchange.send(Reply(status=404))
