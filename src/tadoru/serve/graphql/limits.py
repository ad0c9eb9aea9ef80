"""Limits of the size of a query, measured before anything is read. Pure.

Every field costs 1; fields below a list cost as many times as the list may have entries: `first` of a page, or a fixed number for
other lists. A fragment is measured once, so nested fragments, which multiply, cost nothing to measure. Queries that do not fit
the schema are left to validation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import graphql

from tadoru.errors import UsageError

MAX_QUERY_LENGTH = 20_000
"""Maximum characters of a query."""
MAX_TOKENS = 2_000
"""Maximum tokens of a query."""
MAX_DEPTH = 8
"""Maximum nesting of fields."""
MAX_ALIASES = 10
MAX_FIELDS = 400
"""Maximum fields in the text, fragments counted once."""
MAX_COST = 10_000
DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE = 20, 200
ASSUMED_LIST_SIZE = 10
"""Assumed entries of a list without a page size."""
NODES_FIELD = "nodes"
"""The field of a page with its entries."""


@dataclass(frozen=True, slots=True)
class QueryMeasure:
    """The measured size of a part of a query."""

    cost: int = 0
    depth: int = 0
    aliases: int = 0

    def __add__(self, other: QueryMeasure) -> QueryMeasure:
        return QueryMeasure(self.cost + other.cost, max(self.depth, other.depth), self.aliases + other.aliases)


class QueryTooLarge(UsageError):
    """A query exceeds a limit."""


def check_query_limits(schema: graphql.GraphQLSchema, document: graphql.DocumentNode, variables: Mapping[str, Any]) -> None:
    """Check a query against all limits. Raises QueryTooLarge."""
    counting = _QueryCounter(schema, document, variables)
    if counting.written > MAX_FIELDS:
        raise QueryTooLarge(
            "The query has {count} fields; the maximum is {limit}. Split it into several requests.",
            count=counting.written,
            limit=MAX_FIELDS,
        )
    for operation in document.definitions:
        if isinstance(operation, graphql.OperationDefinitionNode):
            _check_measure(counting.operation(operation))


def _check_measure(found: QueryMeasure) -> None:
    if found.depth > MAX_DEPTH:
        raise QueryTooLarge(
            "The query is {count} levels deep; the maximum is {limit}. Query deeper objects by their ID.",
            count=found.depth,
            limit=MAX_DEPTH,
        )
    if found.aliases > MAX_ALIASES:
        raise QueryTooLarge(
            "The query has {count} aliases; the maximum is {limit}. Split it into several requests.",
            count=found.aliases,
            limit=MAX_ALIASES,
        )
    if found.cost > MAX_COST:
        raise QueryTooLarge(
            "The query costs {count}; the maximum is {limit}. Select fewer fields, or a smaller page with first.",
            count=f"{found.cost:,}",
            limit=f"{MAX_COST:,}",
        )


class _QueryCounter:
    """Measures one document."""

    def __init__(self, schema: graphql.GraphQLSchema, document: graphql.DocumentNode, variables: Mapping[str, Any]) -> None:
        self._schema, self._variables = schema, variables
        self._fragments = {one.name.value: one for one in document.definitions if isinstance(one, graphql.FragmentDefinitionNode)}
        self._known: dict[str, QueryMeasure] = {}
        self._under_way: set[str] = set()
        self.written = sum(_written(getattr(one, "selection_set", None)) for one in document.definitions)

    def operation(self, operation: graphql.OperationDefinitionNode) -> QueryMeasure:
        kind = self._schema.get_root_type(graphql.OperationType(operation.operation))
        return self._below(operation.selection_set, kind)

    def _below(self, chosen: graphql.SelectionSetNode | None, kind: Any) -> QueryMeasure:
        found = QueryMeasure()
        for one in chosen.selections if chosen is not None else ():
            match one:
                case graphql.FieldNode():
                    found += self._field(one, kind)
                case graphql.InlineFragmentNode():
                    named = self._schema.get_type(one.type_condition.name.value) if one.type_condition else kind
                    found += self._below(one.selection_set, named)
                case graphql.FragmentSpreadNode():
                    found += self._fragment(one.name.value)
        return found

    def _fragment(self, name: str) -> QueryMeasure:
        if name in self._known:
            return self._known[name]
        fragment = self._fragments.get(name)
        if fragment is None or name in self._under_way:
            return QueryMeasure()  # Unknown or recursive: validation rejects it.
        self._under_way.add(name)
        self._known[name] = self._below(fragment.selection_set, self._schema.get_type(fragment.type_condition.name.value))
        self._under_way.discard(name)
        return self._known[name]

    def _field(self, node: graphql.FieldNode, kind: Any) -> QueryMeasure:
        is_own = node.name.value.startswith("__")  # Validation limits the depth of introspection.
        field = (
            kind.fields.get(node.name.value)
            if isinstance(kind, graphql.GraphQLObjectType | graphql.GraphQLInterfaceType)
            else None
        )
        below = self._below(node.selection_set, _named(field.type) if field is not None else None)
        times = 1 if field is None or node.selection_set is None else self._times(node, field)
        return QueryMeasure(
            cost=1 + times * below.cost,
            depth=0 if is_own else 1 + below.depth,
            aliases=below.aliases + (node.alias is not None),
        )

    def _times(self, node: graphql.FieldNode, field: graphql.GraphQLField) -> int:
        """The maximum number of entries of a list."""
        if "first" in field.args:
            given = next((one.value for one in node.arguments or () if one.name.value == "first"), None)
            return max(1, min(self._number(given), MAX_PAGE_SIZE))
        # The entries of a page were counted at the page.
        return ASSUMED_LIST_SIZE if _is_list(field.type) and node.name.value != NODES_FIELD else 1

    def _number(self, given: Any) -> int:
        match given:
            case None:
                return DEFAULT_PAGE_SIZE
            case graphql.IntValueNode(value=text):
                return int(text[:9])
            case graphql.VariableNode():
                value = self._variables.get(given.name.value, MAX_PAGE_SIZE)
                return value if isinstance(value, int) else MAX_PAGE_SIZE
        return MAX_PAGE_SIZE


def _written(chosen: graphql.SelectionSetNode | None) -> int:
    return sum(
        isinstance(one, graphql.FieldNode) + _written(getattr(one, "selection_set", None))
        for one in (chosen.selections if chosen else ())
    )


def _named(kind: Any) -> Any:
    while isinstance(kind, graphql.GraphQLList | graphql.GraphQLNonNull):
        kind = kind.of_type
    return kind


def _is_list(kind: Any) -> bool:
    return isinstance(kind.of_type if isinstance(kind, graphql.GraphQLNonNull) else kind, graphql.GraphQLList)
