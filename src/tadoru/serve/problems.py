"""Errors of the service: `application/problem+json` (RFC 9457) for programs, a page for browsers.

A route raises `HttpProblem`: a status, an English message with `{name}` for its values, and a code that programs can rely on.
A `TadoruError` becomes 400, a `StoreError` 503. Any other exception becomes 500 without details; the log has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from tadoru.errors import Message, StoreError, TadoruError
from tadoru.i18n.translation import N_, SOURCE_LANGUAGE, translator

MEDIA_TYPE = "application/problem+json"
LANGUAGE_VARY = "Accept, Accept-Language, Cookie"
"""What the language and the form of an error depend on."""
CODES = {
    400: "bad_request", 401: "unauthenticated", 403: "forbidden", 404: "not_found", 405: "method_not_allowed", 409: "conflict",
    413: "too_large", 415: "unsupported_media_type", 421: "wrong_host", 422: "invalid_value", 429: "rate_limited",
    500: "internal_error", 503: "unavailable",
}  # fmt: skip
"""The code of a problem that has no code of its own, by its status."""
_GENERAL_CODES = frozenset({TadoruError.code, "usage"})
_WEIGHT = re.compile(r"[0-9]{1,9}\.?[0-9]{0,9}|\.[0-9]{1,9}")


_BOT = re.compile(r"bot\b|externalhit|whatsapp|line-poker|preview|embedly|crawler|spider", re.IGNORECASE | re.ASCII)
"""User agents that read pages to preview or index them."""


class HttpProblem(HTTPException):
    """A request that is refused: `HttpProblem(404, "Event {id} not found.", id=event_id)`.

    `detail` is the message as a `Message`, so that a page can translate it. The message may also be an error, which keeps its
    code.
    """

    def __init__(
        self,
        status: int,
        message: str | TadoruError = "",
        headers: Mapping[str, str] | None = None,
        *,
        code: str = "",
        **values: object,
    ) -> None:
        if isinstance(message, TadoruError):
            own_code = "" if message.code in _GENERAL_CODES else message.code
            text = Message(message.message, **message.values)
        else:
            own_code = ""
            text = message if isinstance(message, Message) else Message(message, **values)
        super().__init__(status, text, headers)
        self.code = code or own_code or CODES.get(status, "error")


def database_unavailable() -> HttpProblem:
    """The problem of a request during which the database did not respond."""
    return HttpProblem(503, "The database is unavailable. Try again later.", {"Retry-After": "5"}, code="database_unavailable")


def internal_error(request_id: str) -> HttpProblem:
    """The problem of a request that failed because of a bug."""
    return HttpProblem(
        500, "Something went wrong on our side. If it keeps happening, report request ID {id}.", id=request_id
    )  # fmt: skip


def rate_limit_exceeded(headers: Mapping[str, str], seconds: int) -> HttpProblem:
    """The problem of a request that is one too many."""
    return HttpProblem(429, "Rate limit exceeded. Retry after {seconds} seconds.", headers, seconds=seconds)


def message_params(message: str) -> dict[str, str]:
    """The values in a message, for programs."""
    return {name: str(value) for name, value in message.values.items()} if isinstance(message, Message) else {}


def problem_response(problem: HTTPException, lang: str = SOURCE_LANGUAGE, **more: Any) -> Response:
    """A problem as JSON, its detail in a language."""
    status, detail = problem.status_code, problem.detail
    code = problem.code if isinstance(problem, HttpProblem) else CODES.get(status, "error")
    body: dict[str, Any] = {"type": "about:blank", "title": _title(status), "status": status, "code": code}
    if detail and detail != _title(status):
        body["detail"] = translator(lang).text(detail)
    if params := message_params(detail):
        body["params"] = params
    headers = {"Vary": LANGUAGE_VARY, **(problem.headers or {})}
    return JSONResponse(body | more, status, headers=headers, media_type=MEDIA_TYPE)


def error_response(request: Request, problem: HTTPException, **more: Any) -> Response:
    """A problem as a page for a browser, as JSON for anything else."""
    from tadoru.serve.web import error_page
    from tadoru.serve.web.request_input import api_language

    if not prefers_html(request):
        return problem_response(problem, api_language(request), **more)
    page = error_page(request, problem.status_code, "" if problem.detail == _title(problem.status_code) else problem.detail)
    page.headers.update(dict(problem.headers or {}))
    return page


def prefers_html(request: Request) -> bool:
    """Whether the request accepts HTML with more weight than JSON; `*/*` counts for neither, except for bots that preview or
    index pages."""
    weights = {"text/html": 0.0, "application/json": 0.0}
    for part in request.headers.get("accept", "").split(","):
        kind, *parameters = (piece.strip().lower() for piece in part.split(";"))
        if kind in weights:
            weights[kind] = quality_of(parameters)
    if not any(weights.values()):
        return _BOT.search(request.headers.get("user-agent", "")) is not None
    return weights["text/html"] > weights["application/json"]


def quality_of(parameters: Iterable[str]) -> float:
    """The weight in the parameters of an accepted type (`q=0.8`): 1 if there is none, 0 if it is invalid."""
    given = next((one.removeprefix("q=") for one in parameters if one.startswith("q=")), "1")
    return float(given) if _WEIGHT.fullmatch(given) else 0.0


def _title(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Problem"


def install_error_handlers(app: FastAPI) -> None:
    """Make the application respond to every error in this format."""

    async def http(request: Request, error: HTTPException) -> Response:
        from tadoru.serve.auth.guard import allowed_methods

        problem = await _denied_access(request) or error
        status = problem.status_code
        if not isinstance(problem, HttpProblem) and problem.detail == _title(status) and status in _MESSAGES:
            problem = HttpProblem(status, _MESSAGES[status], problem.headers)
        if status == HTTPStatus.METHOD_NOT_ALLOWED:
            problem.headers = {**(problem.headers or {}), "Allow": ", ".join(allowed_methods(request))}
        return error_response(request, problem)

    async def invalid(request: Request, error: RequestValidationError) -> Response:
        if (problem := await _denied_access(request)) is not None:
            return error_response(request, problem)
        errors = [{"where": [str(part) for part in one["loc"]], "what": str(one["msg"])} for one in error.errors()[:50]]
        return error_response(request, HttpProblem(422, "Some values are invalid. See errors."), errors=errors)

    async def own(request: Request, error: TadoruError) -> Response:
        return error_response(request, database_unavailable() if isinstance(error, StoreError) else HttpProblem(400, error))

    handlers: dict[type[Exception], Any] = {
        HTTPException: http, RequestValidationError: invalid, TadoruError: own,
    }  # fmt: skip
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)


async def _denied_access(request: Request) -> HTTPException | None:
    """The guard's refusal of a request whose body is invalid, or None.

    FastAPI reads the body before the guard runs, and someone without access must not learn what is wrong with a body.
    """
    from tadoru.serve.auth.guard import guard

    is_a_route = (request.scope.get("endpoint"), request.method) in request.app.state.rows
    if not is_a_route or getattr(request.state, "row", None) is not None:
        return None
    try:
        await guard(request)
    except HTTPException as error:
        return error
    return None


_MESSAGES = {
    404: N_("Not found. Check the URL."),
    405: N_("Method not allowed. The Allow header lists the methods of this URL."),
    413: N_("The request is too large."),
}
"""The message of a problem that the framework raised, by its status."""
