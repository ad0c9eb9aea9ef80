"""Queries of every kind, made from the schema and against it: never a fault of ours, always JSON, always in one of two forms."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from hypothesis_graphql import nodes, queries

from tadoru.serve.graphql import graphql_schema
from tests.support.properties import examples
from tests.support.serving import ServiceHarness

SCHEMA = graphql_schema().as_str()
SCALARS = {
    "Date": st.dates().map(lambda day: nodes.String(day.isoformat())),
    "DateTime": st.datetimes().map(lambda at: nodes.String(at.isoformat())),
    "JSON": st.just(nodes.String("{}")),
}
NAMES = st.sampled_from([
    "events", "event", "nodes", "pageInfo", "id", "title", "source", "sources", "state", "reviews", "runs", "status", "totals",
    "__typename", "__schema", "types", "fields", "nonsense", "cities", "a: cities", "b: events", "...f", "...g", "... on Event",
    "... on Query", "@skip(if: true)", 'event(id: "1")', "events(first: 200)", "events(first: -1)", 'events(q: "%_\\"")',
    "query", "mutation", "fragment f on Query", "fragment g on Event", "$v",
    "(", ")", "[", "]", ":", "\u0000", "\U0001f389", "#",
    '"""', "9e999", "-", "null",
])  # fmt: skip
BRACES = st.recursive(
    NAMES, lambda inner: st.lists(inner, min_size=1, max_size=5).map(lambda parts: "{ " + " ".join(parts) + " }"), max_leaves=25
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
QUIETLY = examples(40, deadline=None, suppress_health_check=list(HealthCheck))


def check(harness: ServiceHarness, body: Any) -> dict[str, Any]:
    """The one thing that holds for every request."""
    told = harness.viewer.post("/graphql", content=json.dumps(body).encode(), headers={"content-type": "application/json"})
    assert told.status_code in (200, 400), told.text
    found: dict[str, Any] = told.json()
    if told.headers["content-type"] == "application/problem+json":
        assert found["detail"]
        return found
    assert found.keys() <= {"data", "errors"}
    assert (told.status_code == 200) is ("data" in found)
    for error in found.get("errors", ()):
        assert error["message"]
        assert error["extensions"]["code"] not in ("INTERNAL", "UNAVAILABLE"), error
    return found


@QUIETLY
@given(query=queries(SCHEMA, custom_scalars=SCALARS, allow_x00=False))
def test_a_query_that_fits_the_schema_is_answered_or_refused_with_its_reason(harness: ServiceHarness, query: str) -> None:
    found = check(harness, {"query": query})
    for error in found.get("errors", ()):
        assert error["extensions"]["code"] != "INVALID_QUERY" or "represent" in error["message"], (query, error)


@QUIETLY
@given(
    query=st.lists(BRACES, min_size=1, max_size=4).map(" ".join),
    variables=st.dictionaries(st.text(max_size=3), VALUES, max_size=2),
)
def test_a_query_that_is_almost_one_is_refused(harness: ServiceHarness, query: str, variables: dict[str, Any]) -> None:
    check(harness, {"query": query, "variables": variables})


@QUIETLY
@given(body=VALUES)
def test_a_body_of_any_kind_is_told_what_it_lacks(harness: ServiceHarness, body: Any) -> None:
    assert check(harness, body)["status"] == 400


VALUED = """query ($city: String, $first: Int! = 20, $after: String, $source: ID, $all: Boolean! = false, $near: String,
                  $since: String, $id: ID!) {
  events(city: $city, first: $first, after: $after, source: $source, all: $all, near: $near, updatedSince: $since) {
    nodes { id } }
  event(id: $id) { id source { id } } runs(source: $source, first: $first, after: $after) { nodes { id } } }"""
OPTIONAL = {
    "city": st.text(max_size=20), "first": st.integers(-5, 300), "after": st.text(max_size=20), "all": st.booleans(),
    "source": st.integers() | st.text(max_size=3), "near": st.text(max_size=20),
    "since": st.text(max_size=20) | st.datetimes().map(str),
}  # fmt: skip


@QUIETLY
@given(variables=st.fixed_dictionaries({"id": st.text(max_size=5) | st.integers()}, optional=OPTIONAL))
def test_variables_of_any_value_are_read_or_refused(harness: ServiceHarness, variables: dict[str, Any]) -> None:
    check(harness, {"query": VALUED, "variables": variables})
