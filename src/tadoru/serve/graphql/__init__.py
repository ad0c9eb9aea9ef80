"""GraphQL at `/graphql`: the views of the REST API, field by field. It is read-only; changes are made over REST.

There is one query per request, by GET, or by POST as `application/json`, which a form of another site cannot send. It is
read-only, so GET is safe and nothing is recorded in the audit log. There is no query page: any client can use introspection.

`types` builds the schema's types from the models of the API, `schema` has the root fields, `context` the request context and the
permission of each field (that of a REST route), `limits` the maximum size of a query, `execution` runs queries and formats
errors.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from pydantic_core import to_json
from starlette.concurrency import run_in_threadpool

from tadoru.errors import quoted
from tadoru.serve.auth.principal import Principal, current_principal
from tadoru.serve.problems import LANGUAGE_VARY, HttpProblem
from tadoru.serve.service import Service, service_of
from tadoru.serve.web.request_input import api_language

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
    from tadoru.serve.graphql.execution import execute_query

    return execute_query(wanted, GraphqlContext(service, who, lang))


def _dump_json(body: dict[str, Any]) -> bytes:
    try:
        return to_json(body)
    except ValueError:  # A lone surrogate of the query in an error message.
        return json.dumps(body).encode()
