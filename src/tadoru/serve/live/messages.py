"""Every message of a WebSocket at `/ws`, as types: what the service says, and what it understands.

The documentation is generated from here, and nothing is sent that does not fit: a message that another version of Tadoru wrote
into the database, and that has no place here, is left out.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from tadoru.serve.auth.principal import Principal
from tadoru.serve.roles import Role
from tadoru.store.served_crawls.schema import LiveMessage

MAX_SUBJECTS = 200
"""Subjects that one connection may listen to."""
SUBJECT = r"^(crawl|source)/(\*|[1-9][0-9]{0,17})$"
Subject = Annotated[str, StringConstraints(pattern=SUBJECT)]
Number = Annotated[int, Field(ge=0, lt=2**62)]


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


# ---- What is told of crawls and sources ------------------------------------------------------------------------------
class CrawlStateBody(_Message):
    crawl_id: Number
    job: str = Field(description="`audit`, `links` or `docs`.")
    name: str
    state: str = Field(description="`queued`, `running`, `paused`, `stopped`, `finished` or `failed`.")
    wanted: str = Field("", description="`pause` or `stop`, when somebody asked for it and it has not come about yet.")
    error: str = Field("", description="Why it failed.")


class CrawlProgressBody(_Message):
    crawl_id: Number
    pages: Number = Field(0, description="Pages that are done.")
    errors: Number = Field(0, description="Pages without an answer.")
    queued: Number = Field(0, description="Pages that wait.")
    known: Number = Field(0, description="Addresses that are known.")
    rate: float = Field(0.0, description="Pages a second.")
    seconds: float = Field(0.0, description="How long the run has taken so far.")


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
    counts: dict[str, int] = Field(default_factory=dict, description="What was fetched, read, stored and so on.")
    error: str = Field("", description="What went wrong.")


class SourceHealthBody(_Message):
    source_id: Number
    name: str
    status: str = Field(description="`well`, `failing`, `new` or `off`.")
    failures: Number = Field(0, description="Failed runs in a row.")
    incidents: Number = Field(0, description="Troubles that are not over.")
    error: str = Field("", description="What went wrong last.")


class _EventMessage(_Message):
    id: Number = Field(description="Grows with every message: who was away asks for what came after the last one they saw.")
    at: datetime
    subject: Subject


class CrawlStateMessage(_EventMessage):
    """A crawl was added or renamed, or it is in another state."""

    kind: Literal["crawl.state"]
    body: CrawlStateBody


class CrawlProgressMessage(_EventMessage):
    """How a running crawl goes; about once a second. Who is slow, or was away for long, gets the newest only."""

    kind: Literal["crawl.progress"]
    body: CrawlProgressBody


class CrawlNoticeMessage(_EventMessage):
    """Something about a running crawl that people may want to know."""

    kind: Literal["crawl.notice"]
    body: CrawlNoticeBody


class CrawlRemovedMessage(_EventMessage):
    """A crawl is gone."""

    kind: Literal["crawl.removed"]
    body: CrawlRemovedBody


class RunStartedMessage(_EventMessage):
    """A source is being collected."""

    kind: Literal["run.started"]
    body: RunBody


class RunEndedMessage(_EventMessage):
    """A source was collected, or could not be."""

    kind: Literal["run.ended"]
    body: RunBody


class SourceHealthMessage(_EventMessage):
    """A source does better or worse than before, was switched on or off, or has another name."""

    kind: Literal["source.health"]
    body: SourceHealthBody


# ---- What the service says of the connection itself ---------------------------------------------------------------------
class HelloMessage(_Message):
    """The first message of a connection."""

    kind: Literal["hello"] = "hello"
    version: str
    last_id: Number = Field(description="The newest message there is.")
    kinds: tuple[str, ...] = Field(description="What you may hear of.")


class SubscribedMessage(_Message):
    """The answer to `subscribe` and `unsubscribe`: what is listened to from here on."""

    kind: Literal["subscribed"] = "subscribed"
    subjects: tuple[Subject, ...]
    after: Number = Field(description="What came after this message follows.")


class GapMessage(_Message):
    """What you asked for is no longer kept, or too much: read the present state anew. The messages go on after `last_id`."""

    kind: Literal["gap"] = "gap"
    last_id: Number


class ErrorMessage(_Message):
    """Something you sent was not understood, or is not for you."""

    kind: Literal["error"] = "error"
    text: str


# ---- What the service understands -------------------------------------------------------------------------------------
class _ClientRequest(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class SubscribeRequest(_ClientRequest):
    """Listen to more subjects."""

    kind: Literal["subscribe"]
    subjects: list[Subject] = Field(max_length=MAX_SUBJECTS, description="Such as `crawl/12`, `crawl/*`, `source/*`.")
    after: Number | None = Field(None, description="The last message you saw: what came since follows first. Else from now on.")


class UnsubscribeRequest(_ClientRequest):
    """Listen to these no longer."""

    kind: Literal["unsubscribe"]
    subjects: list[Subject] = Field(max_length=MAX_SUBJECTS, description="As they were subscribed to.")


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
"""The first word of a kind → what a key must have to hear of it."""
_EVENT_MESSAGES: dict[str, type[_EventMessage]] = {
    get_args(one.model_fields["kind"].annotation)[0]: one for one in EVENT_MESSAGES
}
_CLIENT_REQUEST: TypeAdapter[ClientRequest] = TypeAdapter(Annotated[ClientRequest, Field(discriminator="kind")])
PROGRESS_KIND = "crawl.progress"


def visible_kinds(caller: Principal) -> frozenset[str]:
    """What somebody may hear of: a key by its scopes, a person whatever a viewer sees."""
    return frozenset(kind for kind in _EVENT_MESSAGES if caller.may(Role.VIEWER, _SCOPES[kind.partition(".")[0]]))


def serialize_message(message: LiveMessage) -> str | None:
    """A message of the database as it is sent; nothing when it is none of ours."""
    kind = _EVENT_MESSAGES.get(message.kind)
    if kind is None:
        return None
    given = {"kind": message.kind, "id": message.id, "at": message.at, "subject": message.subject, "body": dict(message.body)}
    try:
        return kind.model_validate(given).model_dump_json()
    except ValidationError:
        return None


def parse_request(text: str) -> ClientRequest:
    """What somebody asks for. Raises ValueError with a sentence."""
    try:
        return _CLIENT_REQUEST.validate_json(text)
    except ValidationError as error:
        first: Any = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"][:4])
        raise ValueError(f"That was not understood{f' ({where})' if where else ''}: {first['msg']}.") from None
    except RecursionError:
        raise ValueError("That was not understood: it is nested too deeply.") from None


def message_schema() -> dict[str, Any]:
    """Every message that the service sends, as a JSON schema."""
    told: TypeAdapter[Any] = TypeAdapter(
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
    return told.json_schema(mode="serialization")
