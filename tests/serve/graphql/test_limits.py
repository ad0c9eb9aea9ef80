"""What one request may ask for: counted before anything is read, whatever shape the query has."""

from __future__ import annotations

from itertools import pairwise

import pytest
from graphql import build_schema, get_introspection_query, parse
from hypothesis import given
from hypothesis import strategies as st

from tadoru.serve.graphql import graphql_schema
from tadoru.serve.graphql.limits import (
    MAX_ALIASES,
    MAX_COST,
    MAX_DEPTH,
    MAX_FIELDS,
    MAX_QUERY_LENGTH,
    MAX_TOKENS,
    QueryTooLarge,
    check_query_limits,
)
from tests.serve.graphql.conftest import ask
from tests.support.serving import ServiceHarness

SCHEMA = build_schema(
    """type Query { things(first: Int! = 20): Page, one: Thing, names: [String!]! }
       type Page { nodes: [Thing!]! }
       type Thing { id: ID!, name: String, parts: [Thing!]!, whole: Thing, more(first: Int! = 20): Page }"""
)


def fits(query: str, **variables: object) -> bool:
    try:
        check_query_limits(SCHEMA, parse(query), variables)
    except QueryTooLarge:
        return False
    return True


def test_what_a_query_costs_is_its_fields_times_the_pages_they_are_on() -> None:
    # things 1 + 200 * (nodes 1 + fields)
    assert fits("{ things(first: 200) { nodes { " + "name " * 48 + "} } }")
    assert not fits("{ things(first: 200) { nodes { " + "name " * 50 + "} } }")
    assert fits("{ things { nodes { " + "name " * 300 + "} } }")
    assert not fits("{ things(first: 20) { nodes { more(first: 20) { nodes { more(first: 20) { nodes { id name } } } } } } }")
    assert not fits("{ one { parts { parts { parts { parts { id } } } } } }")


def test_a_page_size_in_a_variable_counts_as_what_it_is() -> None:
    query = "query ($n: Int!) { things(first: $n) { nodes { " + "name " * 60 + "} } }"
    assert fits(query, n=100)
    assert not fits(query, n=200)
    assert not fits(query)
    assert not fits(query, n="many")
    assert fits(query, n=-1)


def test_fragments_are_counted_wherever_they_are_named() -> None:
    many = "fragment f on Page { nodes { " + "name " * 30 + "} } { things(first: 100) { ...f } other: things(first: 100) { ...f "
    assert fits(many + "} }")
    assert not fits(many + "} again: things(first: 200) { ... on Page { ...f } } }")


def test_fragments_that_multiply_are_counted_at_once() -> None:
    """Each names the next twice: followed one by one they would take longer than the universe has."""
    names = [f"f{n}" for n in range(80)]
    query = " ".join(f"fragment {one} on Thing {{ ...{two} ...{two} }}" for one, two in pairwise(names))
    assert not fits(f"{query} fragment f79 on Thing {{ id }} {{ one {{ ...f0 }} }}")


def test_fragments_within_themselves_end() -> None:
    assert fits("fragment a on Thing { ...b } fragment b on Thing { ...a id } { one { ...a } }")


def test_depth_aliases_and_the_number_of_fields_have_their_limits() -> None:
    deep = "{ one " + "{ whole " * (MAX_DEPTH - 2) + "{ id }" + " }" * (MAX_DEPTH - 2) + " }"
    assert fits(deep)
    assert not fits(deep.replace("{ id }", "{ whole { id } }"))
    assert fits("{ " + " ".join(f"a{n}: names" for n in range(MAX_ALIASES)) + " }")
    assert not fits("{ " + " ".join(f"a{n}: names" for n in range(MAX_ALIASES + 1)) + " }")
    assert fits("{ one { " + "id " * (MAX_FIELDS - 1) + "} }")
    assert not fits("{ one { " + "id " * MAX_FIELDS + "} }")


FIELDS_IN_FIELDS = st.recursive(
    st.just("id"), lambda inner: st.lists(inner, min_size=1, max_size=4).map(lambda every: f"whole {{ {' '.join(every)} }}")
)


@given(FIELDS_IN_FIELDS)
def test_a_query_never_costs_less_than_the_fields_it_writes(inner: str) -> None:
    query = "{ one { " + inner + " } }"
    fields = query.count("id") + query.count("whole") + query.count("one")
    if fits(query):
        assert fields <= min(MAX_COST, MAX_FIELDS)


def test_the_service_says_what_to_do(harness: ServiceHarness) -> None:
    for query, words in (
        ("{ events(first: 200) { nodes { " + "id " * 60 + "} } }", "a smaller page"),
        ("{ " + "id " * (MAX_TOKENS + 1) + "}", "tokens"),
        ("{ cities }" + " " * MAX_QUERY_LENGTH, "characters"),
    ):
        told = ask(harness.viewer, query, 400)["errors"][0]
        assert words in told["message"]
        assert (told["extensions"]["code"], told["extensions"]["status"]) == ("TOO_MUCH", 400)
        assert set(told["extensions"]["params"]) <= {"count", "limit"}


@pytest.mark.parametrize(
    "query",
    [
        "query ($a: " + "[" * 950 + "Int" + "]" * 950 + ") { cities }",
        "{ events(q: " + "[" * 950 + "]" * 950 + ") { nodes { id } } }",
        "{ events(q: " + "[" * 150 + "]" * 150 + ") { nodes { id } } }",
        "{ a" * 600 + "}" * 600,
        "{ a" * 190 + "}" * 190,
    ],
    ids=lambda query: query[:12],
)
def test_what_is_nested_too_deeply_is_refused_and_no_fault(harness: ServiceHarness, query: str) -> None:
    assert ask(harness.viewer, query, 400)["errors"][0]["extensions"]["status"] == 400


def test_the_schema_answers_introspection_once_and_not_at_any_depth(harness: ServiceHarness) -> None:
    told = ask(harness.anybody, get_introspection_query())
    assert "errors" not in told
    names = {one["name"] for one in told["data"]["__schema"]["types"]}
    assert {"Query", "Event", "EventPage", "Source", "Run", "Review", "Status", "DateTime", "JSON"} <= names
    assert told["data"]["__schema"]["mutationType"] is None
    deep = "{ __schema { types { fields { type { fields { type { fields { type { fields { name } } } } } } } } } }"
    assert ask(harness.anybody, deep, 400)["errors"][0]["extensions"]["code"] == "INVALID_QUERY"
    many = "{ " + " ".join(f"a{n}: __schema {{ types {{ name fields {{ name }} }} }}" for n in range(MAX_ALIASES + 1)) + " }"
    assert ask(harness.anybody, many, 400)["errors"][0]["extensions"]["code"] == "TOO_MUCH"


def test_the_schema_holds_together() -> None:
    assert build_schema(graphql_schema().as_str()).query_type is not None


@pytest.mark.parametrize(
    "query",
    [
        "mutation { a }", "subscription { a }", "{ a } mutation b { a }", "query a { cities } query b { cities }",
        "fragment a on Query { cities }",
    ],
)  # fmt: skip
def test_there_is_one_operation_and_it_reads(harness: ServiceHarness, query: str) -> None:
    assert ask(harness.viewer, query, 400)["errors"][0]["extensions"]["code"] == "INVALID_QUERY"
