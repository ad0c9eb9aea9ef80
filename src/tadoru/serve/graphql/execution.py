"""Runs queries and formats errors. Neither queries nor variables are logged.

A query is parsed, measured (`limits`), validated and executed; a query that is rejected before execution gets status 400. The
measuring of the library follows each fragment wherever it is used, which a short query can make take forever; ours runs before
validation. An error has a message in the language of the request and, under `extensions`, a code, the status and the code of the
REST API for it (`status`, `problem`), and the values in the message (`params`). Unexpected errors are reported without details
and logged without their message, which may contain user input.
"""

from __future__ import annotations

import traceback
from functools import cache
from typing import Any

import strawberry
from graphql import DocumentNode, GraphQLError, GraphQLSchema, OperationDefinitionNode, build_schema, parse
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from strawberry.types import ExecutionContext

from tadoru.errors import Message, StoreError, TadoruError, message_of
from tadoru.i18n.translation import Translator
from tadoru.log import Log
from tadoru.serve.graphql import GraphqlRequest
from tadoru.serve.graphql.context import GraphqlContext
from tadoru.serve.graphql.limits import MAX_QUERY_LENGTH, MAX_TOKENS, QueryTooLarge, check_query_limits
from tadoru.serve.graphql.schema import Query
from tadoru.serve.graphql.types import CONFIG
from tadoru.serve.problems import HttpProblem, database_unavailable, message_params

ERROR_CODES = {
    400: "BAD_REQUEST", 401: "UNAUTHENTICATED", 403: "FORBIDDEN", 404: "NOT_FOUND", 409: "CONFLICT", 422: "BAD_VALUE",
    500: "INTERNAL", 503: "UNAVAILABLE",
}  # fmt: skip
TOO_MUCH, INVALID = "TOO_MUCH", "INVALID_QUERY"
"""The codes of rejected queries: too large, or invalid for the schema."""
_OWN = "Value error, "
_ARGUMENTS = {"limit": "first", "cursor": "after", "updated_since": "updatedSince"}
"""Parameters of the REST API → arguments here."""


def format_error(error: GraphQLError, log: Log, messages: Translator) -> dict[str, Any]:
    """One error of a response, in a language."""
    problem = _problem(error, log)
    code = ERROR_CODES.get(problem.status_code, "BAD_REQUEST")
    found = _document(problem.detail, code, messages, status=problem.status_code, problem=problem.code)
    if error.locations:
        found["locations"] = [{"line": one.line, "column": one.column} for one in error.locations]
    if error.path:
        found["path"] = error.path
    return found


def rejected_query(
    message: str, code: str, messages: Translator, locations: list[dict[str, int]] | None = None
) -> dict[str, Any]:
    """The error of a rejected query, in a language."""
    return _document(message, code, messages) | ({"locations": locations} if locations else {})


def _document(message: str, code: str, messages: Translator, *, status: int = 400, problem: str = "") -> dict[str, Any]:
    """The message, the code and the status of an error, the code that the REST API has for it, and the values in the message."""
    extensions: dict[str, Any] = {"code": code, "status": status}
    if problem:
        extensions["problem"] = problem
    if params := message_params(message):
        extensions["params"] = params
    return {"message": messages.text(message), "extensions": extensions}


def _problem(error: GraphQLError, log: Log) -> HttpProblem:
    match error.original_error:
        case None:
            return HttpProblem(400, error.message)
        case GraphQLError() as inner:
            return _problem(inner, log)
        case HttpProblem() as known:
            return known
        case HTTPException(status_code=status, detail=detail):
            return HttpProblem(status, detail)
        case ValidationError() as wrong:
            return HttpProblem(422, _validation_message(wrong))
        case StoreError():
            return database_unavailable()
        case TadoruError() as known:
            return HttpProblem(400, known)
        case unforeseen:
            _log(unforeseen, log)
            return HttpProblem(500, "Something went wrong on our side. The service log has the details.")


def _validation_message(wrong: ValidationError) -> str:
    first = wrong.errors(include_url=False, include_context=False)[0]
    where = ".".join(_ARGUMENTS.get(str(part), str(part)) for part in first["loc"])
    words = first["msg"].removeprefix(_OWN)
    return Message("Invalid argument {argument}: {problem}", argument=where, problem=words) if where else words


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


def execute_query(request: GraphqlRequest, context: GraphqlContext) -> tuple[int, dict[str, Any]]:
    """The status and the body of the response."""
    try:
        document = _parse_query(request.query)
        _check_operation(document, request.operation)
        check_query_limits(_core_schema(), document, request.variables)
    except QueryTooLarge as error:
        return 400, {"errors": [rejected_query(message_of(error), TOO_MUCH, context.messages)]}
    except GraphQLError as error:
        return 400, {"errors": [_invalid(error, context.messages)]}
    except RecursionError:
        message = Message("The query is nested too deeply. Split it into several requests.")
        return 400, {"errors": [rejected_query(message, TOO_MUCH, context.messages)]}
    return _execute(request, context)


def _parse_query(query: str) -> DocumentNode:
    if len(query) > MAX_QUERY_LENGTH:
        raise QueryTooLarge(
            "The query has {count} characters; the maximum is {limit}. Split it into several requests.",
            count=f"{len(query):,}",
            limit=f"{MAX_QUERY_LENGTH:,}",
        )
    try:
        return parse(query, max_tokens=MAX_TOKENS)
    except GraphQLError as error:
        if "token" in error.message and str(MAX_TOKENS) in error.message:
            raise QueryTooLarge(
                "The query has more than {limit} tokens. Split it into several requests.", limit=f"{MAX_TOKENS:,}"
            ) from None
        raise


def _check_operation(document: DocumentNode, name: str | None) -> None:
    found = [one for one in document.definitions if isinstance(one, OperationDefinitionNode)]
    chosen = [one for one in found if name is None or (one.name is not None and one.name.value == name)]
    if not chosen:
        raise GraphQLError(Message("The query has no operation of that name. Check operationName."))
    if len(chosen) > 1:
        raise GraphQLError(Message("The query has several operations. Choose one with operationName."))
    if chosen[0].operation.value != "query":
        raise GraphQLError(Message("GraphQL is read-only here. Make changes with the REST API; see /api/docs."))


def _execute(request: GraphqlRequest, context: GraphqlContext) -> tuple[int, dict[str, Any]]:
    result = graphql_schema().execute_sync(
        request.query, variable_values=request.variables, context_value=context, operation_name=request.operation
    )
    errors = result.errors or []
    if result.data is None and not any(error.path for error in errors):
        return 400, {"errors": [_invalid(error, context.messages) for error in errors[:MAX_ERRORS]]}
    body: dict[str, Any] = {"data": result.data}
    if errors:
        body["errors"] = [format_error(error, context.service.log, context.messages) for error in errors[:MAX_ERRORS]]
    return 200, body


def _invalid(error: GraphQLError, messages: Translator) -> dict[str, Any]:
    locations = [{"line": one.line, "column": one.column} for one in error.locations or ()]
    return rejected_query(error.message, INVALID, messages, locations)
