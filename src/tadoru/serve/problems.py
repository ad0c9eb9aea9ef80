"""What went wrong, said the same way everywhere: `application/problem+json` (RFC 9457), or a page for a browser.

A route raises `HttpProblem` (or FastAPI's HTTPException) with a sentence for the caller; errors of Tadoru become 400, and whatever is
not foreseen becomes 500 without a word about the inside. The room of pages may provide `error_page(request, status, detail)`.
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

from tadoru.errors import StoreError, TadoruError

MEDIA_TYPE = "application/problem+json"
_WEIGHT = re.compile(r"[0-9]{1,9}\.?[0-9]{0,9}|\.[0-9]{1,9}")


class HttpProblem(HTTPException):
    """A request that is not carried out: the status, and a sentence about what to do."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status, detail, headers)


def problem_response(status: int, detail: str = "", headers: Mapping[str, str] | None = None, **more: Any) -> Response:
    """One problem as JSON."""
    body = {"type": "about:blank", "title": _title(status), "status": status, **({"detail": detail} if detail else {}), **more}
    return JSONResponse(body, status, headers=dict(headers or {}), media_type=MEDIA_TYPE)


def error_response(request: Request, status: int, detail: str, headers: Mapping[str, str] | None = None, **more: Any) -> Response:
    """A problem in the form that the caller can read."""
    from tadoru.serve import web

    if prefers_html(request) and (page := getattr(web, "error_page", None)) is not None:
        shown: Response = page(request, status, detail)
        shown.headers.update(dict(headers or {}))
        return shown
    return problem_response(status, detail, headers, **more)


def prefers_html(request: Request) -> bool:
    """Does the caller name HTML, and before JSON? `*/*` names neither."""
    weights = {"text/html": 0.0, "application/json": 0.0}
    for part in request.headers.get("accept", "").split(","):
        kind, *parameters = (piece.strip().lower() for piece in part.split(";"))
        if kind in weights:
            weights[kind] = quality_of(parameters)
    return weights["text/html"] > weights["application/json"]


def quality_of(parameters: Iterable[str]) -> float:
    """The weight among the parameters of a preference (`q=0.8`): 1 without one, 0 for one that cannot be read."""
    given = next((one.removeprefix("q=") for one in parameters if one.startswith("q=")), "1")
    return float(given) if _WEIGHT.fullmatch(given) else 0.0


def _title(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Problem"


def install_error_handlers(app: FastAPI) -> None:
    """Let every error of the application be told this way."""

    async def http(request: Request, error: HTTPException) -> Response:
        from tadoru.serve.auth.guard import allowed_methods

        if (refused := await _not_let_in(request)) is not None:
            error = refused
        detail = "" if error.detail == _title(error.status_code) else str(error.detail)
        headers = dict(error.headers or {})
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            headers["Allow"] = ", ".join(allowed_methods(request))
        return error_response(request, error.status_code, detail or _SENTENCES.get(error.status_code, ""), headers)

    async def invalid(request: Request, error: RequestValidationError) -> Response:
        if (refused := await _not_let_in(request)) is not None:
            return await http(request, refused)
        errors = [{"where": [str(part) for part in one["loc"]], "what": str(one["msg"])} for one in error.errors()[:50]]
        return error_response(request, 422, "Some of the values do not fit: see errors.", errors=errors)

    async def own(request: Request, error: TadoruError) -> Response:
        if isinstance(error, StoreError):
            return error_response(request, 503, "The database does not answer just now: try again later.", {"Retry-After": "5"})
        return error_response(request, 400, str(error))

    handlers: dict[type[Exception], Any] = {
        HTTPException: http, RequestValidationError: invalid, TadoruError: own,
    }  # fmt: skip
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)


async def _not_let_in(request: Request) -> HTTPException | None:
    """What the guard says of a request whose body could not even be read: bodies are read before the guard is asked, and who may
    not send one is told that, and not what is wrong with it."""
    from tadoru.serve.auth.guard import guard

    is_a_route = (request.scope.get("endpoint"), request.method) in request.app.state.rows
    if not is_a_route or getattr(request.state, "row", None) is not None:
        return None
    try:
        await guard(request)
    except HTTPException as error:
        return error
    return None


_SENTENCES = {
    404: "There is nothing at this address.",
    405: "This address does not take that method: see the header Allow.",
    413: "The request is too large.",
}
