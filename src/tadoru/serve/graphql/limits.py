"""How much one request may ask for, counted before anything is read. Pure.

Every field costs 1; what stands below a list costs so many times as the list may have entries: `first` of a page, and a few for
the lists that have none. A fragment is counted once and then remembered, so that fragments within fragments, which multiply, cost
nothing to count. What does not fit the schema is not judged here: validation says that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
    InlineFragmentNode,
    IntValueNode,
    OperationDefinitionNode,
    OperationType,
    SelectionSetNode,
    VariableNode,
)

LONGEST = 20_000
"""Characters of a query."""
TOKENS = 2_000
"""Words and signs of a query."""
DEEPEST = 8
"""Fields within fields."""
ALIASES = 10
FIELDS = 400
"""Fields as they are written, fragments counted once."""
COST = 10_000
A_PAGE, LARGEST_PAGE = 20, 200
A_LIST = 10
"""What a list counts for that has no page size."""
ENTRIES = "nodes"
"""The field of a page that has its entries."""


@dataclass(frozen=True, slots=True)
class Measure:
    """What a part of a query asks for."""

    cost: int = 0
    depth: int = 0
    aliases: int = 0

    def __add__(self, other: Measure) -> Measure:
        return Measure(self.cost + other.cost, max(self.depth, other.depth), self.aliases + other.aliases)


class TooMuch(Exception):
    """A query asks for more than one request may."""


def check(schema: GraphQLSchema, document: DocumentNode, variables: Mapping[str, Any]) -> None:
    """Raises TooMuch, with what to do."""
    counting = _Counting(schema, document, variables)
    if counting.written > FIELDS:
        raise TooMuch(f"The query writes {counting.written} fields, at most {FIELDS} are taken: ask in several requests.")
    for operation in document.definitions:
        if isinstance(operation, OperationDefinitionNode):
            _judge(counting.operation(operation))


def _judge(found: Measure) -> None:
    if found.depth > DEEPEST:
        raise TooMuch(f"The query is {found.depth} fields deep, at most {DEEPEST} are taken: ask for the rest by its id.")
    if found.aliases > ALIASES:
        raise TooMuch(f"The query has {found.aliases} aliases, at most {ALIASES} are taken: ask in several requests.")
    if found.cost > COST:
        raise TooMuch(
            f"The query costs {found.cost:,}, at most {COST:,} is taken: ask for fewer fields, or for a smaller page with first."
        )


class _Counting:
    """One document, counted."""

    def __init__(self, schema: GraphQLSchema, document: DocumentNode, variables: Mapping[str, Any]) -> None:
        self._schema, self._variables = schema, variables
        self._fragments = {one.name.value: one for one in document.definitions if isinstance(one, FragmentDefinitionNode)}
        self._known: dict[str, Measure] = {}
        self._under_way: set[str] = set()
        self.written = sum(_written(getattr(one, "selection_set", None)) for one in document.definitions)

    def operation(self, operation: OperationDefinitionNode) -> Measure:
        kind = self._schema.get_root_type(OperationType(operation.operation))
        return self._below(operation.selection_set, kind)

    def _below(self, chosen: SelectionSetNode | None, kind: Any) -> Measure:
        found = Measure()
        for one in chosen.selections if chosen is not None else ():
            match one:
                case FieldNode():
                    found += self._field(one, kind)
                case InlineFragmentNode():
                    named = self._schema.get_type(one.type_condition.name.value) if one.type_condition else kind
                    found += self._below(one.selection_set, named)
                case FragmentSpreadNode():
                    found += self._fragment(one.name.value)
        return found

    def _fragment(self, name: str) -> Measure:
        if name in self._known:
            return self._known[name]
        fragment = self._fragments.get(name)
        if fragment is None or name in self._under_way:
            return Measure()  # Unknown, or within itself: validation says so.
        self._under_way.add(name)
        self._known[name] = self._below(fragment.selection_set, self._schema.get_type(fragment.type_condition.name.value))
        self._under_way.discard(name)
        return self._known[name]

    def _field(self, node: FieldNode, kind: Any) -> Measure:
        is_own = node.name.value.startswith("__")  # How deep introspection goes is a rule of validation.
        field = kind.fields.get(node.name.value) if isinstance(kind, GraphQLObjectType | GraphQLInterfaceType) else None
        below = self._below(node.selection_set, _named(field.type) if field is not None else None)
        times = 1 if field is None or node.selection_set is None else self._times(node, field)
        return Measure(
            cost=1 + times * below.cost,
            depth=0 if is_own else 1 + below.depth,
            aliases=below.aliases + (node.alias is not None),
        )

    def _times(self, node: FieldNode, field: GraphQLField) -> int:
        """How many entries a list may have."""
        if "first" in field.args:
            given = next((one.value for one in node.arguments or () if one.name.value == "first"), None)
            return max(1, min(self._number(given), LARGEST_PAGE))
        # The entries of a page were counted where the page was asked for.
        return A_LIST if _is_list(field.type) and node.name.value != ENTRIES else 1

    def _number(self, given: Any) -> int:
        match given:
            case None:
                return A_PAGE
            case IntValueNode(value=text):
                return int(text[:9])
            case VariableNode():
                value = self._variables.get(given.name.value, LARGEST_PAGE)
                return value if isinstance(value, int) else LARGEST_PAGE
        return LARGEST_PAGE


def _written(chosen: SelectionSetNode | None) -> int:
    return sum(
        isinstance(one, FieldNode) + _written(getattr(one, "selection_set", None))
        for one in (chosen.selections if chosen else ())
    )


def _named(kind: Any) -> Any:
    while isinstance(kind, GraphQLList | GraphQLNonNull):
        kind = kind.of_type
    return kind


def _is_list(kind: Any) -> bool:
    return isinstance(kind.of_type if isinstance(kind, GraphQLNonNull) else kind, GraphQLList)
