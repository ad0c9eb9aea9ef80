"""What is said over a connection: every message as its type says, in order, once, whatever the other side does."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from tadoru.errors import Message, UsageError
from tadoru.i18n.translation import LANGUAGES, translator
from tadoru.serve.live import connection, messages
from tadoru.serve.live.connection import LiveLimits
from tadoru.serve.live.messages import (
    CACHED_MESSAGES,
    OutgoingMessage,
    SubscribeRequest,
    UnsubscribeRequest,
    parse_request,
    serialize_message,
)
from tadoru.store.crawl.workers import current
from tadoru.store.served_crawls.live_messages import add_live_message
from tadoru.store.served_crawls.schema import CrawlState, LiveMessage
from tadoru.store.service import ServiceStore, open_service
from tests.serve.live.conftest import BY, Client, LiveServer, opened
from tests.support.postgres import server
from tests.support.properties import examples

SCHEMA = jsonschema.Draft202012Validator(messages.message_schema())


async def test_every_message_that_is_sent_is_valid_by_its_schema(database: str) -> None:
    with closing(open_service(database)) as store:
        last = everything(store)
    with opened(database) as live_server:
        async with live_server.client() as client:
            heard = [await client.hear()]
            await client.say(kind="subscribe", subjects=["crawl/*", "source/*"], after=0)
            heard += await client.hear_until(last)
            await client.say(kind="nonsense")
            await client.say(kind="subscribe", subjects=["crawl/7"], after=99)
            heard += [await client.hear() for _ in range(3)]
    for one in heard:
        SCHEMA.validate(one)
    assert {one["kind"] for one in heard} == {
        "hello", "subscribed", "error", "gap", "crawl.state", "crawl.progress", "crawl.notice", "crawl.removed", "run.started",
        "run.ended", "source.health",
    }  # fmt: skip


def everything(store: ServiceStore) -> int:
    """All that there is to tell, told by those who tell it."""
    me = current()
    crawl = store.crawls.add("Site", "audit", ["https://site.example/"], {}, BY)
    assert store.claims.claim(me, at_once=1) is not None
    store.claims.beat(crawl.id, me, {"pages": 3, "errors": 1, "queued": 2, "known": 6, "rate": 1.5, "seconds": 2.0})
    store.messages.publish("crawl.notice", f"crawl/{crawl.id}", {"crawl_id": crawl.id, "level": "warning", "text": "<b>slow</b>"})
    store.claims.end(crawl.id, me, CrawlState.FAILED, error="It broke.")
    store.crawls.remove(crawl.id, BY)
    source = store.sources.add({"name": "Town", "type": "ics", "url": "https://town.example/"}, "test")
    store.runs.finish(store.runs.start(source.id), "fail", counts={}, error="404")  # type: ignore[arg-type]
    store.runs.finish(store.runs.start(source.id), "success", counts={"parsed": 4})  # type: ignore[arg-type]
    return store.messages.span()[1]


def test_what_another_version_wrote_is_left_out() -> None:
    from datetime import UTC, datetime

    def message(kind: str, body: dict[str, Any], subject: str = "crawl/1") -> LiveMessage:
        return LiveMessage(id=1, at=datetime(2026, 8, 1, tzinfo=UTC), kind=kind, subject=subject, body=body)

    assert serialize_message(message("crawl.unheard-of", {})) is None
    assert serialize_message(message("crawl.removed", {})) is None
    assert serialize_message(message("crawl.removed", {"crawl_id": 1}, "elsewhere")) is None
    told = serialize_message(message("crawl.removed", {"crawl_id": 1, "secret": "s"}))
    assert told is not None
    assert json.loads(told)["body"] == {"crawl_id": 1}


def wanting(**more: Any) -> str:
    return json.dumps({"kind": "subscribe", "subjects": ["crawl/*"]} | more)


WRONG = [
    "", "x", "[]", "null", "{}", "[" * 16000, '{"kind":' * 2000, "\\ud800", "\x00",
    '{"kind": "subscribe"}',
    '{"kind": ["subscribe"]}', '{"kind": "hello"}', '{"kind": "subscribe", "subjects": [], "after": 1e99}',
    wanting(subjects="crawl/*"), wanting(subjects=["crawl"]), wanting(subjects=["crawl/-1"]), wanting(subjects=["../etc"]),
    wanting(subjects=["crawl/1\n"]), wanting(subjects=["crawl/1"] * 201), wanting(subjects=[[]] * 3),
    wanting(after=-1), wanting(after="1"), wanting(after=10**30), wanting(more=1),
]  # fmt: skip


async def test_what_is_not_understood_is_answered_in_a_sentence(shared: LiveServer) -> None:
    async with shared.client() as client:
        await client.hear()
        for text in WRONG:
            await client.connection.send(text)
            told = await client.hear()
            assert told["kind"] == "error", text[:80]
            assert told["text"].startswith("Invalid request"), told
            assert len(told["text"]) < 400
        await client.subscribe()
        last = shared.tell(1)
        assert (await client.hear())["id"] == last  # It goes on as if nothing had been.
    assert "failed" not in shared.said.getvalue()


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_errors_and_texts_are_in_the_language_of_the_handshake(database: str, lang: str) -> None:
    with opened(database) as live_server:
        async with live_server.client(live_server.key("crawls:read") | {"accept-language": lang}) as client:
            await client.subscribe()
            await client.say(kind="subscribe", subjects=["source/*"])
            refused = await client.hear()
            live_server.tell(1, text=Message("Slowing down for {host}.", host="site.example"))
            told = await client.hear()
    english = Message("No permission for {subject}. Use an API key with the scope for it.", subject="source/*")
    assert refused == {
        "kind": "error", "code": "forbidden", "text": translator(lang).text(english), "params": {"subject": "source/*"},
    }  # fmt: skip
    assert told["body"]["text"] == translator(lang).gettext("Slowing down for {host}.", host="site.example")
    assert set(told["body"]) == {"crawl_id", "level", "text"}


async def test_the_language_of_the_session_is_the_one_that_was_chosen(shared: LiveServer) -> None:
    headers = shared.person()
    async with shared.client({"cookie": headers["cookie"] + "; lang=ja", "accept-language": "en"}) as client:
        await client.hear()
        await client.say(kind="nonsense")
        assert (await client.hear())["text"].startswith("リクエストが無効です")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_reason_to_close_fits_into_a_frame_in_every_language(lang: str) -> None:
    for reason in connection.CLOSE_CODES.values():
        assert len(translator(lang).gettext(reason).encode()) <= 123, reason


@given(
    st.text(max_size=200) | st.recursive(st.none() | st.integers() | st.text(max_size=5), st.lists, max_leaves=20).map(json.dumps)
)
def test_any_text_is_understood_or_refused(text: str) -> None:
    try:
        found: object = parse_request(text)
    except UsageError as error:
        found = str(error)
    assert isinstance(found, SubscribeRequest | UnsubscribeRequest) or str(found).startswith("Invalid request")


@pytest.mark.parametrize("sent,code", [(b"{}", 1003), ("x" * 17_000, 1009), (["x" * 9000, "x" * 9000], 1009)])
async def test_what_can_not_be_taken_ends_the_connection(shared: LiveServer, sent: Any, code: int) -> None:
    async with shared.client() as client:
        await client.hear()
        await client.connection.send(sent)
        assert await client.closed() == code


async def test_who_sends_too_much_is_disconnected(database: str) -> None:
    with opened(database, LiveLimits(every=0.01, messages=5)) as live_server:
        async with live_server.client() as client, live_server.client() as other:
            for _ in range(6):
                await client.say(kind="unsubscribe", subjects=[])
            assert await client.closed() == 1008
            assert (await other.subscribe())["kind"] == "subscribed"


async def test_a_connection_hears_only_what_it_listens_to(live_server: LiveServer) -> None:
    async with live_server.client() as one, live_server.client() as other:
        await one.subscribe("crawl/1", "crawl/3")
        await other.subscribe("crawl/*")
        for number in (1, 2, 3):
            last = live_server.tell(number)
        assert [told["subject"] for told in await one.hear_until(last)] == ["crawl/1", "crawl/3"]
        assert [told["subject"] for told in await other.hear_until(last)] == ["crawl/1", "crawl/2", "crawl/3"]
        await one.say(kind="unsubscribe", subjects=["crawl/1"])
        assert (await one.hear())["subjects"] == ["crawl/3"]
        live_server.tell(1)
        last = live_server.tell(3)
        assert [told["id"] for told in await one.hear_until(last)] == [last]


async def test_too_many_subjects_are_refused(shared: LiveServer) -> None:
    async with shared.client() as client:
        assert (await client.subscribe(*(f"crawl/{n}" for n in range(1, 201))))["kind"] == "subscribed"
        assert (await client.subscribe("source/1"))["kind"] == "error"


async def test_who_asks_for_more_than_is_kept_is_told_to_read_anew(database: str) -> None:
    with opened(database) as live_server:
        for number in range(1, 6):
            live_server.tell(number)
        live_server.store.messages.delete_old(live_server.store.db.now())
        async with live_server.client() as client:
            assert await client.subscribe(after=2) == {"kind": "subscribed", "subjects": ["crawl/*"], "after": 5}
            assert await client.hear() == {"kind": "gap", "last_id": 5}
            last = live_server.tell(1)
            assert (await client.hear())["id"] == last
        async with live_server.client() as client:  # What was never told is no past either: another database, say.
            await client.subscribe(after=99)
            assert await client.hear() == {"kind": "gap", "last_id": 6}
        async with live_server.client() as client:
            await client.subscribe(after=4)
            assert [one["id"] for one in await client.hear_until(6)] == [5, 6]


def line(number: int, kind: str, subject: str = "crawl/1") -> OutgoingMessage:
    return OutgoingMessage(number, kind, subject, "crawl/*", "{}")


@given(
    st.lists(st.tuples(st.sampled_from(["crawl.progress", "crawl.state"]), st.sampled_from(["crawl/1", "crawl/2"])), max_size=300)
)
def test_of_many_messages_only_progress_that_is_out_of_date_is_left_out(told: list[tuple[str, str]]) -> None:
    lines = [line(n, *one) for n, one in enumerate(told, 1)]
    kept = connection.thin_progress(lines)
    if len(lines) < connection.THIN_THRESHOLD:
        assert kept == lines
        return
    assert kept == sorted(kept, key=lambda one: one.id)
    assert [one for one in kept if not one.is_progress] == [one for one in lines if not one.is_progress]
    newest = {one.subject: one for one in lines if one.is_progress}
    assert {one.subject: one for one in kept if one.is_progress} == newest
    assert len([one for one in kept if one.is_progress]) == len(newest)


def listen_without_reading(live_server: LiveServer, slow: socket.socket) -> None:
    """Ask for messages with as little room for them as there can be."""
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    slow.settimeout(30)
    slow.connect(("127.0.0.1", live_server.port))
    headers = live_server.person() | {
        "host": f"127.0.0.1:{live_server.port}", "origin": live_server.origin, "upgrade": "websocket", "connection": "upgrade",
        "sec-websocket-version": "13", "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
    }  # fmt: skip
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    asked = wanting().encode()
    slow.sendall(f"GET /ws HTTP/1.1\r\n{head}\r\n".encode())
    heard_until(slow, b"\r\n\r\n")  # Nobody may say anything before the greeting is over.
    slow.sendall(bytes([0x81, 0x80 | len(asked), 0, 0, 0, 0]) + asked)
    heard_until(slow, b"subscribed")


def heard_until(slow: socket.socket, words: bytes) -> None:
    """Read until these words have come, in pieces perhaps."""
    heard = b""
    while words not in heard:
        piece = slow.recv(4096)
        assert piece, heard
        heard += piece


async def hear_many(client: Client, count: int) -> list[dict[str, Any]]:
    return [await client.hear() for _ in range(count)]


async def test_somebody_who_does_not_read_is_cut_off_and_nobody_waits_for_them(database: str) -> None:
    with opened(database, LiveLimits(every=0.01, read_timeout=1.0)) as live_server, socket.socket() as slow:
        await asyncio.to_thread(listen_without_reading, live_server, slow)
        async with live_server.client() as quick:
            await quick.subscribe()
            # Told by a thread: who tells and listens in one loop does not read meanwhile either.
            telling = asyncio.to_thread(lambda: [live_server.tell(1, text="x" * 8000) for _ in range(60)])
            told, heard = await asyncio.gather(telling, hear_many(quick, 60))
            assert [one["id"] for one in heard] == told
            await asyncio.to_thread(live_server.said.wait_for, '"code": 1013')
            last = live_server.tell(1)
            assert (await quick.hear())["id"] == last


@examples(25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 6), st.booleans(), st.integers(0, 6)), min_size=1, max_size=6))
def test_however_often_a_connection_breaks_each_message_comes_once_and_in_order(
    shared: LiveServer, steps: list[tuple[int, bool, int]]
) -> None:
    """Some are told while nobody listens, some while somebody does; each time a few are read and the connection breaks."""
    begin = shared.store.messages.span()[1]
    headers = shared.person()

    async def watch() -> tuple[list[int], list[int]]:
        told, seen = list[int](), list[int]()
        for count, before, read in [*steps, (0, True, 10**6)]:
            if before:
                told += [shared.tell(5) for _ in range(count)]
            async with shared.client(headers) as client:
                await client.subscribe("crawl/5", after=seen[-1] if seen else begin)
                if not before:
                    told += [shared.tell(5) for _ in range(count)]
                shared.tell(6)  # Somebody else's.
                for _ in range(min(read, len(told) - len(seen))):
                    seen.append((await client.hear())["id"])
                client.connection.transport.abort()
        return told, seen

    told, seen = asyncio.run(watch())
    assert seen == told


async def test_listening_to_more_does_not_repeat_what_was_heard(live_server: LiveServer) -> None:
    first = [live_server.tell(number) for number in (1, 2, 1)]
    async with live_server.client() as client:
        await client.subscribe("crawl/1", after=0)
        assert [(await client.hear())["id"] for _ in range(2)] == [first[0], first[2]]
        await client.subscribe("crawl/*", after=0)
        assert (await client.hear())["id"] == first[1]
        await client.subscribe("crawl/*", after=0)
        last = live_server.tell(2)
        assert (await client.hear())["id"] == last


@pytest.fixture(params=["sqlite", "postgresql"])
def either(request: pytest.FixtureRequest, database: str) -> Iterator[str]:
    """A database of each kind."""
    if request.param == "sqlite":
        yield database
        return
    made = server().new_database()
    yield made
    server().drop(made)


async def test_what_several_tell_at_once_is_heard_once_and_in_one_order(either: str) -> None:
    with opened(either) as live_server:
        headers = live_server.person()
        async with live_server.client(headers) as one, live_server.client(headers) as other:
            await one.subscribe()
            await other.subscribe()
            start = live_server.store.messages.span()[1]
            tellers = [asyncio.to_thread(lambda: [live_server.tell(1) for _ in range(20)]) for _ in range(4)]
            told = asyncio.gather(*tellers)
            found = [[(await client.hear())["id"] for _ in range(80)] for client in (one, other)]
            await told
            kept = [message.id for message in live_server.store.messages.list(start)]
            assert len(kept) == 80
            assert found == [kept, kept]


async def test_two_processes_of_a_service_tell_the_same(either: str) -> None:
    """A connection that breaks may come back to the other one, which may not have read as far."""
    database = either
    with opened(database) as one, opened(database, LiveLimits(every=3600)) as other:
        headers = one.person()
        async with other.client(headers) as lazy:
            await lazy.subscribe()
            async with one.client(headers) as client:
                await client.subscribe()
                last = other.tell(1)
                assert (await client.hear())["id"] == last
            async with other.client(headers) as client:
                await client.subscribe(after=last)
                last = one.tell(2)
                told = await client.subscribe("source/*", after=last)  # It has to look now.
                assert told["id"] == last
                assert (await client.hear())["kind"] == "subscribed"


async def test_what_is_far_back_is_read_from_the_database(database: str) -> None:
    with opened(database) as live_server:
        with live_server.store.db.write() as sql:
            for number in range(CACHED_MESSAGES + 50):
                body = {"crawl_id": 1, "text": str(number)}
                add_live_message(live_server.store.db, sql, "crawl.notice", "crawl/1", body)
        async with live_server.client() as client:
            await client.subscribe(after=3)
            assert [one["id"] for one in await client.hear_until(CACHED_MESSAGES + 50)] == list(range(4, CACHED_MESSAGES + 51))


async def test_when_the_service_stops_it_says_so_and_does_not_wait(database: str) -> None:
    with opened(database) as live_server:
        async with live_server.client() as client:
            await client.subscribe()
            live_server.stop()
            assert await client.closed() == 1001
    assert "failed" not in live_server.said.getvalue()


async def test_nothing_is_read_while_nobody_listens(live_server: LiveServer) -> None:
    async with live_server.client() as client:
        await client.subscribe()
        assert live_server.live.feed.listening == 1
    live_server.said.wait_for('"code": 1000')
    assert live_server.live.feed.listening == 0
    assert live_server.live.feed._reader is None
