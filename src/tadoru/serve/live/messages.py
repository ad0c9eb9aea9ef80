"""The types of all messages on the WebSocket `/ws` (those of the service, and the requests of clients), and their reader.

The reference documentation is generated from here, and only valid messages are sent: a message in the database that another
version of Tadoru wrote, and that is unknown here, is skipped.

One reader of the database serves all connections of a process, with a cache of the newest messages. There are no queues per
connection: it remembers the last message it sent and takes later ones from the cache, or from the database if it is far behind;
so many or slow connections take no memory. A message is serialized once for each language.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Literal, Protocol, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError
from starlette.concurrency import run_in_threadpool

from tadoru.errors import TadoruError, UsageError
from tadoru.i18n.translation import LANGUAGES, SOURCE_LANGUAGE, Translator, translator
from tadoru.serve.auth.principal import Principal
from tadoru.serve.problems import message_params
from tadoru.serve.roles import Role
from tadoru.serve.service import Service
from tadoru.store.served_crawls.live_messages import message_texts
from tadoru.store.served_crawls.schema import LiveMessage

MAX_SUBJECTS = 200
"""Maximum subscriptions of one connection."""
SUBJECT = r"^(crawl|source)/(\*|[1-9][0-9]{0,17})$"
Subject = Annotated[str, StringConstraints(pattern=SUBJECT)]
Number = Annotated[int, Field(ge=0, lt=2**62)]


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


# ---- Messages about crawls and sources -------------------------------------------------------------------------------
class CrawlStateBody(_Message):
    crawl_id: Number
    job: str = Field(description="`audit`, `links` or `docs`.")
    name: str
    state: str = Field(description="`queued`, `running`, `paused`, `stopped`, `finished` or `failed`.")
    wanted: str = Field("", description="`pause` or `stop`, if it was requested and the crawl still runs.")
    error: str = Field("", description="Reason of the failure.")


class CrawlProgressBody(_Message):
    crawl_id: Number
    pages: Number = Field(0, description="Finished pages.")
    errors: Number = Field(0, description="Pages without a response.")
    queued: Number = Field(0, description="Queued pages.")
    known: Number = Field(0, description="Known URLs.")
    rate: float = Field(0.0, description="Pages per second.")
    seconds: float = Field(0.0, description="Duration of the run so far.")


class CrawlNoticeBody(_Message):
    crawl_id: Number
    level: str = Field("info", description="`info`, `warning` or `error`.")
    text: str


class CrawlRemovedBody(_Message):
    crawl_id: Number


class RunBody(_Message):
    run_id: Number
    source_id: Number
    status: str = Field(description="`running`; at the end `success`, `partial` or `fail`.")
    counts: dict[str, int] = Field(
        default_factory=dict, description="Numbers of documents fetched, items parsed, events stored and so on."
    )
    error: str = Field("", description="Error message.")


class SourceHealthBody(_Message):
    source_id: Number
    name: str
    status: str = Field(description="`well`, `failing`, `new` or `off`.")
    failures: Number = Field(0, description="Consecutive failed runs.")
    incidents: Number = Field(0, description="Open incidents.")
    error: str = Field("", description="Last error message.")


class _EventMessage(_Message):
    id: Number = Field(description="Increases with every message: a client resumes after the last one it received.")
    at: datetime
    subject: Subject


class CrawlStateMessage(_EventMessage):
    """A crawl was added or renamed, or its state changed."""

    kind: Literal["crawl.state"]
    body: CrawlStateBody


class CrawlProgressMessage(_EventMessage):
    """The progress of a running crawl, about once per second. Slow clients and clients that catch up get only the newest."""

    kind: Literal["crawl.progress"]
    body: CrawlProgressBody


class CrawlNoticeMessage(_EventMessage):
    """A notice about a running crawl."""

    kind: Literal["crawl.notice"]
    body: CrawlNoticeBody


class CrawlRemovedMessage(_EventMessage):
    """A crawl was removed."""

    kind: Literal["crawl.removed"]
    body: CrawlRemovedBody


class RunStartedMessage(_EventMessage):
    """The run of a source started."""

    kind: Literal["run.started"]
    body: RunBody


class RunEndedMessage(_EventMessage):
    """The run of a source ended."""

    kind: Literal["run.ended"]
    body: RunBody


class SourceHealthMessage(_EventMessage):
    """The health of a source changed, or it was enabled, disabled or renamed."""

    kind: Literal["source.health"]
    body: SourceHealthBody


# ---- Messages about the connection --------------------------------------------------------------------------------------
class HelloMessage(_Message):
    """The first message of a connection."""

    kind: Literal["hello"] = "hello"
    version: str
    last_id: Number = Field(description="ID of the newest message.")
    kinds: tuple[str, ...] = Field(description="Kinds of messages that you may receive.")


class SubscribedMessage(_Message):
    """The response to `subscribe` and `unsubscribe`: the current subscriptions."""

    kind: Literal["subscribed"] = "subscribed"
    subjects: tuple[Subject, ...]
    after: Number = Field(description="Messages after this ID follow.")


class GapMessage(_Message):
    """The requested messages are no longer stored, or too many: read the current state over REST. Messages continue after
    `last_id`."""

    kind: Literal["gap"] = "gap"
    last_id: Number


class ErrorMessage(_Message):
    """A request is invalid or not permitted."""

    kind: Literal["error"] = "error"
    code: str = Field("bad_request", description="What a program recognises the error by.")
    text: str = Field(description="The message, in the language of the handshake.")
    params: dict[str, str] = Field(default_factory=dict, description="The values in the message.")


# ---- Requests of clients ----------------------------------------------------------------------------------------------
class _ClientRequest(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class SubscribeRequest(_ClientRequest):
    """Subscribe to subjects."""

    kind: Literal["subscribe"]
    subjects: list[Subject] = Field(max_length=MAX_SUBJECTS, description="Such as `crawl/12`, `crawl/*`, `source/*`.")
    after: Number | None = Field(
        None, description="ID of the last message you received: later ones follow first. Without it, messages start now."
    )


class UnsubscribeRequest(_ClientRequest):
    """Unsubscribe from subjects."""

    kind: Literal["unsubscribe"]
    subjects: list[Subject] = Field(max_length=MAX_SUBJECTS, description="Subjects as in `subscribe`.")


EVENT_MESSAGES: tuple[type[_EventMessage], ...] = (
    CrawlStateMessage,
    CrawlProgressMessage,
    CrawlNoticeMessage,
    CrawlRemovedMessage,
    RunStartedMessage,
    RunEndedMessage,
    SourceHealthMessage,
)
CONNECTION_MESSAGES: tuple[type[_Message], ...] = (HelloMessage, SubscribedMessage, GapMessage, ErrorMessage)
CLIENT_REQUESTS: tuple[type[_ClientRequest], ...] = (SubscribeRequest, UnsubscribeRequest)
ClientRequest = SubscribeRequest | UnsubscribeRequest
ConnectionMessage = HelloMessage | SubscribedMessage | GapMessage | ErrorMessage

_SCOPES = {"crawl": "crawls:read", "run": "runs:read", "source": "sources:read"}
"""The first word of a kind → the scope that an API key needs to receive it."""
_EVENT_MESSAGES: dict[str, type[_EventMessage]] = {
    get_args(one.model_fields["kind"].annotation)[0]: one for one in EVENT_MESSAGES
}
_CLIENT_REQUEST: TypeAdapter[ClientRequest] = TypeAdapter(Annotated[ClientRequest, Field(discriminator="kind")])
PROGRESS_KIND = "crawl.progress"


def visible_kinds(caller: Principal) -> frozenset[str]:
    """The kinds of messages that a principal may receive: an API key by its scopes, a user those of a viewer."""
    return frozenset(kind for kind in _EVENT_MESSAGES if caller.may(Role.VIEWER, _SCOPES[kind.partition(".")[0]]))


def error_message(text: str, code: str, messages: Translator) -> ErrorMessage:
    """An error in a language."""
    return ErrorMessage(code=code, text=messages.text(text), params=message_params(text))


def serialize_message(message: LiveMessage, lang: str = SOURCE_LANGUAGE) -> str | None:
    """A message of the database as JSON, its texts in a language; None if it is unknown or invalid."""
    kind = _EVENT_MESSAGES.get(message.kind)
    if kind is None:
        return None
    texts = message_texts(message.body) if lang != SOURCE_LANGUAGE else {}
    body = {**message.body, **{name: translator(lang).text(text) for name, text in texts.items()}}
    given = {"kind": message.kind, "id": message.id, "at": message.at, "subject": message.subject, "body": body}
    try:
        return kind.model_validate(given).model_dump_json()
    except ValidationError:
        return None


def parse_request(text: str) -> ClientRequest:
    """The request in a text. Raises UsageError."""
    try:
        return _CLIENT_REQUEST.validate_json(text)
    except ValidationError as error:
        first: Any = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"][:4])
        if where:
            raise UsageError("Invalid request ({field}): {problem}.", field=where, problem=first["msg"]) from None
        raise UsageError("Invalid request: {problem}.", problem=first["msg"]) from None
    except RecursionError:
        raise UsageError("Invalid request: it is nested too deeply.") from None


def message_schema() -> dict[str, Any]:
    """The JSON schema of every message of the service."""
    sent: TypeAdapter[Any] = TypeAdapter(
        Annotated[
            CrawlStateMessage
            | CrawlProgressMessage
            | CrawlNoticeMessage
            | CrawlRemovedMessage
            | RunStartedMessage
            | RunEndedMessage
            | SourceHealthMessage
            | ConnectionMessage,
            Field(discriminator="kind"),
        ]
    )
    return sent.json_schema(mode="serialization")


CACHED_MESSAGES = 2000
"""Messages in the cache."""
READ_BATCH = 500
"""Messages per query."""
MAX_BACKLOG = 5000
"""Maximum messages that a client can catch up on."""
WAKE_BATCH = 25
"""Listeners woken in a row before other tasks run."""
RETRY_SECONDS = 5.0
"""Seconds before a retry after a database error."""


@dataclass(frozen=True, slots=True)
class OutgoingMessage:
    """A message as it is sent."""

    id: int
    kind: str
    subject: str
    every: str
    """The wildcard of its subject, such as `crawl/*`."""
    text: str
    translations: Mapping[str, str] = field(default_factory=dict)
    """The text in other languages, if it has messages for people."""

    def text_in(self, lang: str) -> str:
        """The text in a language."""
        return self.translations.get(lang, self.text)

    @property
    def is_progress(self) -> bool:
        return self.kind == PROGRESS_KIND


class FeedListener(Protocol):
    """A connection that is woken when there are new messages."""

    def wake(self) -> None: ...


class MessageFeed:
    """The newest messages."""

    def __init__(self, service: Service, *, every: float, upkeep: Callable[[], Awaitable[None]]) -> None:
        self._service = service
        self.every = every
        """Seconds between two polls of the database while someone listens."""
        self._upkeep = upkeep
        self._listeners: set[FeedListener] = set()
        self._lines: deque[OutgoingMessage] = deque(maxlen=CACHED_MESSAGES)
        self._known_from = self.last = 0
        """The cache has every message after the first ID up to the second."""
        self._reader: asyncio.Task[None] | None = None
        self._looking = asyncio.Lock()
        self._has_begun = False

    @property
    def listening(self) -> int:
        return len(self._listeners)

    async def join(self, listener: FeedListener) -> None:
        """Add a listener."""
        if not self._listeners:
            await self.look()  # First, so that older messages are not sent.
        self._listeners.add(listener)
        if self._reader is None or self._reader.done():
            self._reader = asyncio.create_task(self._read())

    def leave(self, listener: FeedListener) -> None:
        """Remove a listener; the reader stops with the last one."""
        self._listeners.discard(listener)
        if not self._listeners and self._reader is not None:
            self._reader.cancel()
            self._reader = None

    async def look(self) -> None:
        """Read new messages now."""
        async with self._looking:
            if not self._has_begun:
                await self._begin()
            while True:
                found = await run_in_threadpool(self._service.store.messages.list, self.last, limit=READ_BATCH)
                if found:
                    self._add(found)
                    await self._wake()
                if len(found) < READ_BATCH:
                    return

    async def since(self, after: int, until: int) -> list[OutgoingMessage] | None:
        """The messages after one ID up to another; None if they are no longer stored, or too many."""
        if after >= self._known_from:
            return [line for line in self._lines if after < line.id <= until]
        first, last = await run_in_threadpool(self._service.store.messages.span)
        if after < first - 1 or until - after > MAX_BACKLOG or last < after:
            return None
        lines: list[OutgoingMessage] = []
        while after < until:
            found = await run_in_threadpool(self._service.store.messages.list, after, limit=READ_BATCH)
            lines += (line for one in found if one.id <= until and (line := self._line(one)) is not None)
            if len(found) < READ_BATCH:
                break
            after = found[-1].id
        return lines

    def newer(self, after: int) -> list[OutgoingMessage] | None:
        """The cached messages after an ID, oldest first; None if the cache does not reach back so far."""
        if after < self._known_from:
            return None
        found: list[OutgoingMessage] = []
        for line in reversed(self._lines):
            if line.id <= after:
                break
            found.append(line)
        found.reverse()
        return found

    async def _begin(self) -> None:
        first, last = await run_in_threadpool(self._service.store.messages.span)
        self._known_from = self.last = max(0, first - 1, last - CACHED_MESSAGES)
        self._has_begun = True

    def _add(self, found: tuple[LiveMessage, ...]) -> None:
        for one in found:
            self.last = one.id
            line = self._line(one)
            if line is not None:
                if len(self._lines) == CACHED_MESSAGES:
                    self._known_from = self._lines[0].id
                self._lines.append(line)

    async def _wake(self) -> None:
        for number, listener in enumerate(list(self._listeners), 1):
            listener.wake()
            if number % WAKE_BATCH == 0:
                await asyncio.sleep(0)

    def _line(self, one: LiveMessage) -> OutgoingMessage | None:
        text = serialize_message(one)
        if text is None:
            self._service.log.write("warning", "unknown live message", kind=one.kind, message=one.id)
            return None
        others = {lang: serialize_message(one, lang) or text for lang in LANGUAGES[1:]} if message_texts(one.body) else {}
        return OutgoingMessage(one.id, one.kind, one.subject, f"{one.subject.partition('/')[0]}/*", text, others)

    async def _read(self) -> None:
        while self._listeners:
            try:
                await self.look()
                await self._upkeep()
            except Exception as error:  # All listeners depend on this loop.
                why = str(error) if isinstance(error, TadoruError) else type(error).__name__
                self._service.log.write("error", "live messages cannot be read", why=why)
                await asyncio.sleep(RETRY_SECONDS)
            await asyncio.sleep(self.every)
