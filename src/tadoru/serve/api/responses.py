"""Operations of the API, and their responses: JSON with an entity tag, 304 if the client has it, the link to the next page,
and streams.

The tag is a hash of the body, so it is always right; it costs microseconds. Streams (`feeds`) have a tag that is known before
they are written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from hashlib import blake2b
from operator import attrgetter
from typing import Annotated, Any, TypeVar
from urllib.parse import urlencode

import anyio
from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import StreamingResponse
from pydantic_core import to_json
from starlette.concurrency import run_in_threadpool
from starlette.types import Receive, Scope, Send

from tadoru.errors import UsageError
from tadoru.jobs.events.publish.list_pages import DocumentPage
from tadoru.serve.auth.principal import Principal, actor_of, current_principal, note_change
from tadoru.serve.problems import MEDIA_TYPE, HttpProblem
from tadoru.serve.roles import Role
from tadoru.serve.service import Service, service_of
from tadoru.store.accounts.audit_log import Actor
from tadoru.store.service import ServiceStore

VARY = "Accept, Authorization, Cookie"
_PLAIN = re.compile(r"[A-Za-z0-9%=&_.~+-]*")
_DESCRIPTIONS = {
    304: "Not modified.", 400: "Bad request.", 401: "Not signed in.", 403: "Not permitted.",
    404: "Not found.", 405: "Method not allowed.", 409: "Conflict.",
    413: "The request is too large.", 415: "Unsupported media type.", 422: "Some values are invalid.",
    429: "Rate limit exceeded.", 500: "Internal error.", 503: "Temporarily unavailable.",
}  # fmt: skip


def problem_responses(*statuses: int) -> Responses:
    """The error responses of an operation for OpenAPI, including those of every operation; 304 for what can be cached."""
    content = {"content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
    every = sorted({400, 401, 403, 422, 429, 500, 503, *statuses})
    return {status: {"description": _DESCRIPTIONS[status], **(content if status >= 400 else {})} for status in every}


def entity_tag(*parts: bytes) -> str:
    """The entity tag of these bytes."""
    digest = blake2b(digest_size=12)
    for part in parts:
        digest.update(part)
    return f'"{digest.hexdigest()}"'


@dataclass(frozen=True, slots=True)
class ListPart:
    """A page of a list, and the cursor of the next page."""

    items: list[Any]
    next_cursor: str | int | None


def list_part(
    found: Sequence[Any], limit: int, document: Callable[[Any], Any], cursor: Callable[[Any], int] = attrgetter("id")
) -> ListPart:  # fmt: skip
    """The first page of what was found, of which one more than the limit was read."""
    return ListPart([document(one) for one in found[:limit]], cursor(found[limit - 1]) if len(found) > limit else None)


@dataclass(frozen=True, slots=True)
class ApiCall:
    """A request to the API, with its principal and the service."""

    request: Request
    caller: Principal
    service: Service

    @property
    def store(self) -> ServiceStore:
        return self.service.store

    @property
    def actor(self) -> Actor:
        """The principal as the actor of a change in the store."""
        return actor_of(self.request)

    def note(self, subject: str, **detail: Any) -> None:
        """Set the subject and details of the audit log entry of this request. Never pass a secret."""
        note_change(self.request, subject, **detail)

    def content(self, data: bytes, media_type: str, headers: Mapping[str, str]) -> Response:
        """A response with an entity tag, or 304."""
        return content_response(self.request, self.caller, data, media_type, headers)

    def json(self, body: Any, *, modified: datetime | None = None, next_url: str | None = None) -> Response:
        """A JSON response with an entity tag, or 304."""
        link = {} if next_url is None else {"Link": f'<{next_url}>; rel="next"'}
        return content_response(self.request, self.caller, to_json(body), "application/json", link, modified)

    def list(self, part: ListPart | DocumentPage) -> Response:
        """A page of a list, with the URL of the next one."""
        next_url = next_page_url(self.request, part.next_cursor)
        modified = part.modified if isinstance(part, DocumentPage) else None
        return self.json({"items": part.items, "next": next_url}, modified=modified, next_url=next_url)


async def api_call(request: Request) -> ApiCall:
    """A FastAPI dependency; async, since FastAPI runs a plain function in a thread."""
    return ApiCall(request, await current_principal(request), service_of(request))


Call = Annotated[ApiCall, Depends(api_call)]
Responses = dict[int | str, dict[str, Any]]
"""Descriptions of responses for OpenAPI."""
Operation = TypeVar("Operation", bound=Callable[..., Any])


class ApiRouter(APIRouter):
    """A router whose operations state their model, their summary and the errors they can return."""

    def read(
        self, path: str, model: Any, summary: str, *errors: int, other: Responses | None = None
    ) -> Callable[[Operation], Operation]:
        """A GET operation, whose response has an entity tag. `other` describes responses that are neither JSON nor errors."""
        return self.get(path, response_model=model, responses=problem_responses(304, *errors) | (other or {}), summary=summary)

    def change(
        self, method: str, path: str, model: Any, summary: str, *errors: int, status: int = 200
    ) -> Callable[[Operation], Operation]:
        """An operation that changes something and returns a model."""
        responses = problem_responses(*errors)
        return self.api_route(
            path, methods=[method], status_code=status, response_model=model, responses=responses, summary=summary
        )


def content_response(
    request: Request,
    caller: Principal,
    data: bytes,
    media_type: str,
    more: Mapping[str, str] | None = None,
    modified: datetime | None = None,
) -> Response:
    """A response with an entity tag, or 304 if the client has it."""
    headers = cache_headers(caller, entity_tag(data), modified) | dict(more or {})
    if is_not_modified(request, headers["ETag"], None):
        return Response(status_code=304, headers=headers)
    return Response(data, headers=headers, media_type=media_type)


def uncached_response(body: Any, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """The JSON response to a change, which must not be cached."""
    return Response(
        to_json(body), status, headers={"Cache-Control": "no-store", **(headers or {})}, media_type="application/json"
    )


def cache_headers(caller: Principal, tag: str, modified: datetime | None) -> dict[str, str]:
    """Cache headers: revalidate each time; responses to signed-in principals are private."""
    kept = "no-cache" if caller.role is Role.PUBLIC else "private, no-cache"
    headers = {"ETag": tag, "Cache-Control": kept, "Vary": VARY}
    if modified is not None:
        headers["Last-Modified"] = format_datetime(modified.astimezone(UTC), usegmt=True)
    return headers


def is_not_modified(request: Request, tag: str, modified: datetime | None) -> bool:
    """Whether the client has this version. A tag takes precedence over a date (RFC 9110)."""
    known = request.headers.get("if-none-match")
    if known is not None:
        tags = {one.strip().removeprefix("W/") for one in known.split(",")}
        return tag.removeprefix("W/") in tags or "*" in tags
    since = request.headers.get("if-modified-since")
    if since is None or modified is None:
        return False
    try:
        then = parsedate_to_datetime(since)
    except ValueError:
        return False
    return modified.replace(microsecond=0) <= (then if then.tzinfo else then.replace(tzinfo=UTC))


def next_page_url(request: Request, cursor: str | int | None) -> str | None:
    """The URL of the next page, or None."""
    if cursor is None:
        return None
    query: str = request.scope["query_string"].decode("latin-1")
    if "cursor" not in query and _PLAIN.fullmatch(query):  # Nothing needs to be escaped again.
        return f"{request.scope['path']}?{query}{'&' if query else ''}cursor={cursor}"
    rest = [(name, value) for name, value in request.query_params.multi_items() if name != "cursor"]
    return f"{request.url.path}?{urlencode([*rest, ('cursor', str(cursor))])}"


@contextmanager
def usage_errors_as(status: int, message: str | None = None, **values: Any) -> Iterator[None]:
    """Turn a UsageError into an HttpProblem with this status, and its own message or another."""
    try:
        yield
    except UsageError as error:
        raise HttpProblem(status, error if message is None else message, **values) from None


class StreamResponse(StreamingResponse):
    """A streamed response that closes its source at the end, also if the client disconnects: it may hold a database snapshot."""

    def __init__(self, pieces: Iterator[bytes], *, media_type: str, headers: Mapping[str, str]) -> None:
        super().__init__(pieces, media_type=media_type, headers=headers)
        self._pieces = pieces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            if isinstance(self._pieces, Generator):
                with anyio.CancelScope(shield=True):
                    await run_in_threadpool(self._pieces.close)
