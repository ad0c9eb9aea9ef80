"""A failure as GraphQL tells it: a sentence, and under `extensions` a code and the status that REST would answer with.

What nobody foresaw is told without a word about the inside, and logged without its words, which may hold what somebody typed.
"""

from __future__ import annotations

import traceback
from typing import Any

from graphql import GraphQLError
from pydantic import ValidationError
from starlette.exceptions import HTTPException

from tadoru.errors import StoreError, TadoruError
from tadoru.log import Log

CODES = {
    400: "BAD_REQUEST", 401: "UNAUTHENTICATED", 403: "FORBIDDEN", 404: "NOT_FOUND", 409: "CONFLICT", 422: "BAD_VALUE",
    500: "INTERNAL", 503: "UNAVAILABLE",
}  # fmt: skip
TOO_MUCH, INVALID = "TOO_MUCH", "INVALID_QUERY"
"""The codes of queries that are not begun: they ask for too much, or do not fit the schema."""
_OWN = "Value error, "
_ARGUMENTS = {"limit": "first", "cursor": "after", "updated_since": "updatedSince"}
"""What REST calls a parameter, and what it is called here."""


def told(error: GraphQLError, log: Log) -> dict[str, Any]:
    """One error of an answer."""
    status, sentence = _said(error, log)
    found: dict[str, Any] = {"message": sentence, "extensions": {"code": CODES.get(status, "BAD_REQUEST"), "status": status}}
    if error.locations:
        found["locations"] = [{"line": one.line, "column": one.column} for one in error.locations]
    if error.path:
        found["path"] = error.path
    return found


def refused(message: str, code: str, locations: list[dict[str, int]] | None = None) -> dict[str, Any]:
    """An error of a query that was not begun."""
    found: dict[str, Any] = {"message": message, "extensions": {"code": code, "status": 400}}
    return found | ({"locations": locations} if locations else {})


def _said(error: GraphQLError, log: Log) -> tuple[int, str]:
    match error.original_error:
        case None:
            return 400, error.message
        case GraphQLError() as inner:
            return _said(inner, log)
        case HTTPException(status_code=status, detail=detail):
            return status, detail
        case ValidationError() as wrong:
            return 422, _sentence(wrong)
        case StoreError():
            return 503, "The database does not answer just now: try again later."
        case TadoruError() as known:
            return 400, str(known)
        case unforeseen:
            _log(unforeseen, log)
            return 500, "Something went wrong here. The log has more."


def _sentence(wrong: ValidationError) -> str:
    first = wrong.errors(include_url=False, include_context=False)[0]
    where = ".".join(_ARGUMENTS.get(str(part), str(part)) for part in first["loc"])
    words = first["msg"].removeprefix(_OWN)
    return f"The argument {where} does not fit: {words}" if where else words


def _log(error: BaseException, log: Log) -> None:
    where = traceback.extract_tb(error.__traceback__)[-1] if error.__traceback__ else None
    place = f"{where.filename.rpartition('/')[2]}:{where.lineno}" if where else ""
    log.write("error", f"A field failed: {type(error).__name__}", path="/graphql", where=place)
