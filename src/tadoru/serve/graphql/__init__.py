"""GraphQL at `/graphql`: the views of the REST API, field by field. It is read-only; changes are made over REST.

There is one query per request, by GET, or by POST as `application/json`, which a form of another site cannot send. It is
read-only, so GET is safe and nothing is recorded in the audit log. There is no query page: any client can use introspection.

`types` builds the schema's types from the models of the API, `schema` has the root fields, `context` the request context and the
permission of each field (that of a REST route), `limits` the maximum size of a query.

A query is parsed, measured (`limits`), validated and executed; one that is rejected before execution gets status 400. The
measuring of the library follows each fragment wherever it is used, which a short query can make take forever; ours runs before
validation. Neither queries nor variables are logged.

An error has a message in the language of the request and, under `extensions`, a code, the status and the code of the REST API for
it (`status`, `problem`), and the values in the message (`params`). Unexpected errors are reported without details and logged
without their message, which may contain user input.
"""

from __future__ import annotations

import json
import traceback
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

import strawberry
from fastapi import APIRouter, Depends, Request, Response
from graphql import DocumentNode, GraphQLError, GraphQLSchema, OperationDefinitionNode, build_schema, parse
from pydantic import ValidationError
from pydantic_core import to_json
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from strawberry.types import ExecutionContext

from tadoru.errors import Message, StoreError, TadoruError, message_of, quoted
from tadoru.i18n.translation import Translator
from tadoru.log import Log
from tadoru.serve.auth.principal import Principal, current_principal
from tadoru.serve.graphql.context import GraphqlContext
from tadoru.serve.graphql.limits import MAX_QUERY_LENGTH, MAX_TOKENS, QueryTooLarge, check_query_limits
from tadoru.serve.graphql.schema import Query
from tadoru.serve.graphql.types import CONFIG
from tadoru.serve.problems import LANGUAGE_VARY, HttpProblem, database_unavailable, message_params
from tadoru.serve.service import Service, service_of
from tadoru.serve.web.request_input import api_language

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
            where = traceback.extract_tb(unforeseen.__traceback__)[-1] if unforeseen.__traceback__ else None
            place = f"{where.filename.rpartition('/')[2]}:{where.lineno}" if where else ""
            log.write("error", f"field failed: {type(unforeseen).__name__}", path="/graphql", where=place)
            return HttpProblem(500, "Something went wrong on our side. The service log has the details.")


def _validation_message(wrong: ValidationError) -> str:
    first = wrong.errors(include_url=False, include_context=False)[0]
    where = ".".join(_ARGUMENTS.get(str(part), str(part)) for part in first["loc"])
    words = first["msg"].removeprefix(_OWN)
    return Message("Invalid argument {argument}: {problem}", argument=where, problem=words) if where else words


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
    return _run_query(request, context)


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


def _run_query(request: GraphqlRequest, context: GraphqlContext) -> tuple[int, dict[str, Any]]:
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


router = APIRouter(include_in_schema=False)
OWN_TYPE, JSON_TYPE = "application/graphql-response+json", "application/json"
_FIELDS = frozenset({"query", "variables", "operationName", "extensions"})


@dataclass(frozen=True, slots=True)
class GraphqlRequest:
    """A GraphQL request."""

    query: str
    variables: dict[str, Any]
    operation: str | None = None


@router.get("/graphql")
async def query_by_get(request: Request, who: Annotated[Principal, Depends(current_principal)]) -> Response:
    """A query in the URL."""
    given = dict(request.query_params)
    return await _respond(request, who, _request_from(given | {"variables": _object(given.get("variables"))}))


@router.post("/graphql")
async def query_by_post(request: Request, who: Annotated[Principal, Depends(current_principal)]) -> Response:
    """A query in the body."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON_TYPE:
        raise HttpProblem(415, "Send the query as application/json, in the field “query”.")
    body = _parsed(await request.body())
    if isinstance(body, list):
        raise HttpProblem(400, "Batches are not supported. Send one query per request.")
    if not isinstance(body, dict):
        raise HttpProblem(400, "The body must be a JSON object with the field “query”.")
    return await _respond(request, who, _request_from(body))


def _request_from(given: dict[str, Any]) -> GraphqlRequest:
    if unknown := sorted(given.keys() - _FIELDS):
        raise HttpProblem(
            400, "Unknown field {name}. A request has query, variables and operationName.", name=quoted(unknown[0][:100])
        )
    query, variables, name = given.get("query"), given.get("variables"), given.get("operationName")
    if not isinstance(query, str) or not query.strip():
        raise HttpProblem(400, "Missing “query”.")
    if not isinstance(variables, dict | None):
        raise HttpProblem(400, "“variables” must be an object.")
    if not isinstance(name, str | None):
        raise HttpProblem(400, "“operationName” must be a string.")
    return GraphqlRequest(query=query, variables=variables or {}, operation=name or None)


def _object(text: str | None) -> Any:
    return _parsed(text) if text else None


def _parsed(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise HttpProblem(400, "The request is not valid JSON.") from None


async def _respond(request: Request, who: Principal, wanted: GraphqlRequest) -> Response:
    status, body = await run_in_threadpool(_execute, wanted, service_of(request), who, api_language(request))
    media = OWN_TYPE if OWN_TYPE in request.headers.get("accept", "") else JSON_TYPE
    return Response(_dump_json(body), status, headers={"Cache-Control": "no-store", "Vary": LANGUAGE_VARY}, media_type=media)


def _execute(wanted: GraphqlRequest, service: Service, who: Principal, lang: str) -> tuple[int, dict[str, Any]]:
    # Imported with the first query: the libraries and the schema take an eighth of the start of the service.
    from tadoru.serve.graphql.context import GraphqlContext

    return execute_query(wanted, GraphqlContext(service, who, lang))


def _dump_json(body: dict[str, Any]) -> bytes:
    try:
        return to_json(body)
    except ValueError:  # A lone surrogate of the query in an error message.
        return json.dumps(body).encode()
