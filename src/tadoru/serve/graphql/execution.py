"""Runs queries and formats errors.

A query is parsed, measured (`limits`), validated and executed; a query that is rejected before execution gets status 400. The
measuring of the library follows each fragment wherever it is used, which a short query can make take forever; ours runs before
validation. An error has a message and, under `extensions`, a code and the status that the REST API would have. Unexpected errors
are reported without details and logged without their message, which may contain user input.
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from functools import cache
from typing import Any

import strawberry
from graphql import DocumentNode, GraphQLError, GraphQLSchema, OperationDefinitionNode, build_schema, parse
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from strawberry.types import ExecutionContext

from tadoru.errors import StoreError, TadoruError
from tadoru.log import Log
from tadoru.serve.graphql.context import GraphqlContext
from tadoru.serve.graphql.limits import MAX_QUERY_LENGTH, MAX_TOKENS, QueryTooLarge, check_query_limits
from tadoru.serve.graphql.schema import Query
from tadoru.serve.graphql.types import CONFIG

ERROR_CODES = {
    400: "BAD_REQUEST", 401: "UNAUTHENTICATED", 403: "FORBIDDEN", 404: "NOT_FOUND", 409: "CONFLICT", 422: "BAD_VALUE",
    500: "INTERNAL", 503: "UNAVAILABLE",
}  # fmt: skip
TOO_MUCH, INVALID = "TOO_MUCH", "INVALID_QUERY"
"""The codes of rejected queries: too large, or invalid for the schema."""
_OWN = "Value error, "
_ARGUMENTS = {"limit": "first", "cursor": "after", "updated_since": "updatedSince"}
"""Parameters of the REST API → arguments here."""


def format_error(error: GraphQLError, log: Log) -> dict[str, Any]:
    """One error of a response."""
    status, sentence = _status_and_message(error, log)
    found: dict[str, Any] = {
        "message": sentence,
        "extensions": {"code": ERROR_CODES.get(status, "BAD_REQUEST"), "status": status},
    }
    if error.locations:
        found["locations"] = [{"line": one.line, "column": one.column} for one in error.locations]
    if error.path:
        found["path"] = error.path
    return found


def rejected_query(message: str, code: str, locations: list[dict[str, int]] | None = None) -> dict[str, Any]:
    """The error of a rejected query."""
    found: dict[str, Any] = {"message": message, "extensions": {"code": code, "status": 400}}
    return found | ({"locations": locations} if locations else {})


def _status_and_message(error: GraphQLError, log: Log) -> tuple[int, str]:
    match error.original_error:
        case None:
            return 400, error.message
        case GraphQLError() as inner:
            return _status_and_message(inner, log)
        case HTTPException(status_code=status, detail=detail):
            return status, detail
        case ValidationError() as wrong:
            return 422, _validation_message(wrong)
        case StoreError():
            return 503, "The database is unavailable. Try again later."
        case TadoruError() as known:
            return 400, str(known)
        case unforeseen:
            _log(unforeseen, log)
            return 500, "Something went wrong on our side. The service log has the details."


def _validation_message(wrong: ValidationError) -> str:
    first = wrong.errors(include_url=False, include_context=False)[0]
    where = ".".join(_ARGUMENTS.get(str(part), str(part)) for part in first["loc"])
    words = first["msg"].removeprefix(_OWN)
    return f"Invalid argument {where}: {words}" if where else words


def _log(error: BaseException, log: Log) -> None:
    where = traceback.extract_tb(error.__traceback__)[-1] if error.__traceback__ else None
    place = f"{where.filename.rpartition('/')[2]}:{where.lineno}" if where else ""
    log.write("error", f"field failed: {type(error).__name__}", path="/graphql", where=place)


MAX_ERRORS = 50
"""Maximum errors of a response."""


class _Schema(strawberry.Schema):
    """Without the library's own logging of errors, which includes user input."""

    def process_errors(self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None) -> None:
        """Log nothing; `format_error` does."""


@cache
def graphql_schema() -> strawberry.Schema:
    """The schema, built once."""
    return _Schema(Query, config=CONFIG)


@cache
def _core_schema() -> GraphQLSchema:
    """The schema for measuring queries."""
    return build_schema(graphql_schema().as_str())


@dataclass(frozen=True, slots=True)
class GraphqlRequest:
    """A GraphQL request."""

    query: str
    variables: dict[str, Any]
    operation: str | None = None


def execute_query(request: GraphqlRequest, context: GraphqlContext) -> tuple[int, dict[str, Any]]:
    """The status and the body of the response."""
    try:
        document = _parse_query(request.query)
        _check_operation(document, request.operation)
        check_query_limits(_core_schema(), document, request.variables)
    except QueryTooLarge as error:
        return 400, {"errors": [rejected_query(str(error), TOO_MUCH)]}
    except GraphQLError as error:
        return 400, {"errors": [_invalid(error)]}
    except RecursionError:
        return 400, {"errors": [rejected_query("The query is nested too deeply. Split it into several requests.", TOO_MUCH)]}
    return _execute(request, context)


def _parse_query(query: str) -> DocumentNode:
    if len(query) > MAX_QUERY_LENGTH:
        raise QueryTooLarge(
            f"The query has {len(query):,} characters; the maximum is {MAX_QUERY_LENGTH:,}. Split it into several requests."
        )
    try:
        return parse(query, max_tokens=MAX_TOKENS)
    except GraphQLError as error:
        if "token" in error.message and str(MAX_TOKENS) in error.message:
            raise QueryTooLarge(f"The query has more than {MAX_TOKENS:,} tokens. Split it into several requests.") from None
        raise


def _check_operation(document: DocumentNode, name: str | None) -> None:
    found = [one for one in document.definitions if isinstance(one, OperationDefinitionNode)]
    chosen = [one for one in found if name is None or (one.name is not None and one.name.value == name)]
    if not chosen:
        raise GraphQLError("The query has no operation of that name. Check operationName.")
    if len(chosen) > 1:
        raise GraphQLError("The query has several operations. Choose one with operationName.")
    if chosen[0].operation.value != "query":
        raise GraphQLError("GraphQL is read-only here. Make changes with the REST API; see /api/docs.")


def _execute(request: GraphqlRequest, context: GraphqlContext) -> tuple[int, dict[str, Any]]:
    result = graphql_schema().execute_sync(
        request.query, variable_values=request.variables, context_value=context, operation_name=request.operation
    )
    errors = result.errors or []
    if result.data is None and not any(error.path for error in errors):
        return 400, {"errors": [_invalid(error) for error in errors[:MAX_ERRORS]]}
    body: dict[str, Any] = {"data": result.data}
    if errors:
        body["errors"] = [format_error(error, context.service.log) for error in errors[:MAX_ERRORS]]
    return 200, body


def _invalid(error: GraphQLError) -> dict[str, Any]:
    return rejected_query(error.message, INVALID, [{"line": one.line, "column": one.column} for one in error.locations or ()])
