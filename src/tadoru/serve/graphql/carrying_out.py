"""A query carried out: read, counted, held to the schema, answered. What is refused before it begins is told with 400.

The library's own counters follow each fragment wherever it is named, which a short query can make last for ever; ours (`limits`)
runs before validation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import strawberry
from graphql import DocumentNode, GraphQLError, GraphQLSchema, OperationDefinitionNode, build_schema, parse
from strawberry.types import ExecutionContext

from tadoru.serve.graphql.asking import Asking
from tadoru.serve.graphql.faults import INVALID, TOO_MUCH, refused, told
from tadoru.serve.graphql.limits import LONGEST, TOKENS, TooMuch, check
from tadoru.serve.graphql.schema import Query
from tadoru.serve.graphql.types import CONFIG

MOST_ERRORS = 50
"""Errors that an answer tells."""


class _Schema(strawberry.Schema):
    """The library writes what failed into a log of its own, with all that was typed; `faults` writes ours."""

    def process_errors(self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None) -> None:
        """Nothing."""


@cache
def the_schema() -> strawberry.Schema:
    """The schema, made once."""
    return _Schema(Query, config=CONFIG)


@cache
def _counted() -> GraphQLSchema:
    """The schema as the counter reads it."""
    return build_schema(the_schema().as_str())


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a request asks for."""

    query: str
    variables: dict[str, Any]
    operation: str | None = None


def answer(wanted: Wanted, asking: Asking) -> tuple[int, dict[str, Any]]:
    """The status and the body of the answer."""
    try:
        document = _read(wanted.query)
        _one_operation(document, wanted.operation)
        check(_counted(), document, wanted.variables)
    except TooMuch as error:
        return 400, {"errors": [refused(str(error), TOO_MUCH)]}
    except GraphQLError as error:
        return 400, {"errors": [_invalid(error)]}
    except RecursionError:
        return 400, {"errors": [refused("The query is nested too deeply: ask for less at a time.", TOO_MUCH)]}
    return _carried_out(wanted, asking)


def _read(query: str) -> DocumentNode:
    if len(query) > LONGEST:
        raise TooMuch(f"The query has {len(query):,} characters, at most {LONGEST:,} are taken: ask in several requests.")
    try:
        return parse(query, max_tokens=TOKENS)
    except GraphQLError as error:
        if "token" in error.message and str(TOKENS) in error.message:
            raise TooMuch(f"The query has more than {TOKENS:,} words and signs: ask in several requests.") from None
        raise


def _one_operation(document: DocumentNode, name: str | None) -> None:
    found = [one for one in document.definitions if isinstance(one, OperationDefinitionNode)]
    chosen = [one for one in found if name is None or (one.name is not None and one.name.value == name)]
    if not chosen:
        raise GraphQLError("There is no such operation in the query: give it, or leave out operationName.")
    if len(chosen) > 1:
        raise GraphQLError("The query has several operations: say with operationName which is meant.")
    if chosen[0].operation.value != "query":
        raise GraphQLError("Here is only reading: changes are made over REST, see /api/docs.")


def _carried_out(wanted: Wanted, asking: Asking) -> tuple[int, dict[str, Any]]:
    result = the_schema().execute_sync(
        wanted.query, variable_values=wanted.variables, context_value=asking, operation_name=wanted.operation
    )
    errors = result.errors or []
    if result.data is None and not any(error.path for error in errors):
        return 400, {"errors": [_invalid(error) for error in errors[:MOST_ERRORS]]}
    body: dict[str, Any] = {"data": result.data}
    if errors:
        body["errors"] = [told(error, asking.service.log) for error in errors[:MOST_ERRORS]]
    return 200, body


def _invalid(error: GraphQLError) -> dict[str, Any]:
    return refused(error.message, INVALID, [{"line": one.line, "column": one.column} for one in error.locations or ()])
