"""GraphQL gives out what REST gives out, to whom REST gives it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event as listening
from sqlalchemy.engine import Engine

from tadoru.serve.api import models
from tadoru.serve.auth.principal import Principal
from tadoru.serve.graphql import graphql_schema
from tadoru.serve.graphql.context import FIELD_ROUTES, route_for
from tadoru.serve.roles import SCOPES, Role, role_for_scopes
from tests.serve.graphql.conftest import ask
from tests.support.calendar import row
from tests.support.serving import ServiceHarness


def camel(name: str) -> str:
    return re.sub(r"_(.)", lambda found: found.group(1).upper(), name)


def plain_fields() -> str:
    names = [camel(name) for name in models.EventOut.model_fields if name != "occurrences"]
    return " ".join([*names, "occurrences { startsAt endsAt allDay hasTime } matches { field text marks { start end } }"])


def as_rest(value: Any) -> Any:
    """An answer of GraphQL with the names of REST; ids are numbers again."""
    if isinstance(value, list):
        return [as_rest(one) for one in value]
    if isinstance(value, dict):
        return {re.sub(r"([A-Z])", lambda found: "_" + found.group(1).lower(), name): as_rest(one) for name, one in value.items()}
    return value


def without_ids(item: dict[str, Any]) -> dict[str, Any]:
    return {name: str(value) if name in ("id", "source_id") else value for name, value in item.items()}


@pytest.mark.parametrize(
    "arguments, query",
    [
        ("first: 3", "limit=3"),
        ('city: "盛岡", all: true', "city=盛岡&all=true"),
        ('from: "2050-08-02", to: "2050-08-05"', "from=2050-08-02&to=2050-08-05"),
        ('category: "music", sort: "updated"', "category=music&sort=updated"),
        ('sort: "-starts", first: 2', "sort=-starts&limit=2"),
        ('sort: "relevance", q: "音楽会"', "sort=relevance&q=音楽会"),
        ('near: "39.70,141.15,10"', "near=39.70,141.15,10"),
        ('source: "2", updatedSince: "2000-01-01"', "source=2&updated_since=2000-01-01"),
        ('status: "hidden"', "status=hidden"),
        ('status: "quarantine"', "status=quarantine"),
    ],
)
def test_a_list_is_the_list_of_rest(harness: ServiceHarness, arguments: str, query: str) -> None:
    rest = harness.viewer.get(f"/api/v1/events?{query}").json()
    told = ask(harness.viewer, f"{{ events({arguments}) {{ nodes {{ {plain_fields()} }} pageInfo {{ hasNextPage }} }} }}")
    assert "errors" not in told
    assert as_rest(told["data"]["events"]["nodes"]) == [without_ids(one) for one in rest["items"]]
    assert told["data"]["events"]["pageInfo"]["hasNextPage"] is (rest["next"] is not None)
    assert rest["items"]


def test_somebody_pages_through_a_list(harness: ServiceHarness) -> None:
    seen, after = [], None
    while True:
        query = "query ($after: String) { events(first: 2, after: $after) { nodes { id } pageInfo { hasNextPage endCursor } } }"
        found = ask(harness.anybody, query, after=after)["data"]["events"]
        seen += [one["id"] for one in found["nodes"]]
        after = found["pageInfo"]["endCursor"]
        assert found["pageInfo"]["hasNextPage"] is (after is not None)
        if after is None:
            break
    assert len(seen) == len(set(seen)) == 5


def test_the_desk_reads_its_lists(harness: ServiceHarness) -> None:
    query = """{ sources(first: 1) { nodes { id name state { failures } } pageInfo { endCursor } }
                 runs(source: "2") { nodes { id sourceId source { name } } } run(id: "1") { status }
                 reviews(state: "all") { nodes { id reason events { title source { name } } } } review(id: "1") { reason }
                 source(id: "2") { name } status(days: 7) { totals { rows } sources { name } } }"""
    data = ask(harness.viewer, query)["data"]
    assert data["sources"] == {
        "nodes": [{"id": "1", "name": "盛岡市", "state": {"failures": 0}}],
        "pageInfo": {"endCursor": "1"},
    }
    assert data["runs"]["nodes"] == [{"id": "2", "sourceId": "2", "source": {"name": "花巻市"}}]
    assert data["reviews"]["nodes"][1]["events"] == [
        {"title": "音楽会", "source": {"name": "花巻市"}},
        {"title": "夜の音楽会", "source": {"name": "花巻市"}},
    ]
    assert (data["run"], data["review"]["reason"], data["source"]) == (
        {"status": "success"},
        "missing_required",
        {"name": "花巻市"},
    )
    assert data["status"] == {"totals": {"rows": 7}, "sources": [{"name": "盛岡市"}, {"name": "花巻市"}]}


def test_crawls_and_what_they_found_are_read(harness: ServiceHarness) -> None:
    query = """{ crawls(first: 2) { nodes { id job state } pageInfo { endCursor } }
                 crawl(id: 1) { state progress createdAt runs { nodes { outcome figures } } overview { pages score }
                   findings(severity: "error") { severity title } pages(q: "/gone") { nodes { url statusCode } }
                   all: pages(first: 3, sort: "depth") { nodes { url } pageInfo { hasNextPage endCursor } } }
                 docsSites { nodes { id pages lastChecked } } docsSite(id: 2) { title contents { nodes { title url } } } }"""
    told = ask(harness.viewer, query)
    assert "errors" not in told
    data, rest = told["data"], harness.viewer.get("/api/v1/crawls/1").json()
    assert data["crawls"] == {
        "nodes": [{"id": "3", "job": "links", "state": "finished"}, {"id": "2", "job": "docs", "state": "finished"}],
        "pageInfo": {"endCursor": "2"},
    }
    one = data["crawl"]
    assert (one["state"], one["createdAt"], one["progress"]) == ("finished", rest["created_at"], rest["progress"])
    assert one["runs"]["nodes"][0]["outcome"] == "finished"
    assert one["overview"]["pages"] == harness.viewer.get("/api/v1/crawls/1/overview").json()["pages"]
    listed = harness.viewer.get("/api/v1/crawls/1/findings?severity=error").json()["items"]
    assert one["findings"] == [{"severity": found["severity"], "title": found["title"]} for found in listed] != []
    assert [found["statusCode"] for found in one["pages"]["nodes"]] == [404]
    assert one["all"]["pageInfo"]["hasNextPage"] is True
    sites = harness.viewer.get("/api/v1/docs-sites").json()["items"]
    assert data["docsSites"]["nodes"] == [{"id": "2", "pages": sites[0]["pages"], "lastChecked": sites[0]["lastChecked"]}]
    contents = harness.viewer.get("/api/v1/docs-sites/2/pages").json()["items"]
    assert data["docsSite"]["contents"]["nodes"] == [{"title": found["title"], "url": found["url"]} for found in contents] != []


@pytest.mark.parametrize(
    "field, code",
    [
        ("crawl(id: 99) { id }", "NOT_FOUND"),
        ("docsSite(id: 1) { id }", "NOT_FOUND"),
        ('crawls(job: "x") { nodes { id } }', "BAD_VALUE"),
        ('crawl(id: 1) { findings(severity: "x") { title } }', "BAD_VALUE"),
        ('crawl(id: 1) { findings(lang: "x") { title } }', "BAD_VALUE"),
        ('crawl(id: 1) { pages(sort: "x") { nodes { url } } }', "BAD_VALUE"),
        ('crawl(id: 1) { pages(after: "x") { nodes { url } } }', "BAD_VALUE"),
        ('docsSite(id: 2) { contents(after: "x") { nodes { url } } }', "BAD_VALUE"),
    ],
)
def test_what_makes_no_sense_of_a_crawl_is_told(harness: ServiceHarness, field: str, code: str) -> None:
    assert codes(ask(harness.viewer, f"{{ {field} }}")) == {code}


def test_what_is_hidden_is_there_for_those_who_may_see_it(harness: ServiceHarness) -> None:
    hidden = "{ event(id: 6) { title status } }"
    assert ask(harness.viewer, hidden)["data"]["event"] == {"title": "内覧会", "status": "hidden"}
    told = ask(harness.anybody, hidden)
    assert told["data"]["event"] is None
    assert told["errors"][0]["message"] == "Event 6 not found."
    assert told["errors"][0]["extensions"]["code"] == "NOT_FOUND"
    refused = ask(harness.anybody, '{ events(status: "hidden") { nodes { id } } cities }')
    assert refused["errors"][0]["extensions"]["code"] == "FORBIDDEN"
    assert refused["data"] == {"events": None, "cities": ["盛岡市", "花巻市"]}


FIELDS = {
    "events": "events { pageInfo { hasNextPage } }",
    "event": "event(id: 1) { id }",
    "cities": "cities",
    "categories": "categories",
    "sources": "sources { nodes { id } }",
    "source": "source(id: 1) { id }",
    "runs": "runs { nodes { id } }",
    "run": "run(id: 1) { id }",
    "reviews": "reviews { nodes { id } }",
    "review": "review(id: 1) { id }",
    "status": "status { totals { rows } }",
    "Event.source": "event(id: 1) { source { id } }",
    "crawls": "crawls { nodes { id } }",
    "crawl": "crawl(id: 1) { id }",
    "docsSites": "docsSites { nodes { id } }",
    "docsSite": "docsSite(id: 2) { id }",
}


def codes(told: dict[str, Any]) -> set[str]:
    return {one["extensions"]["code"] for one in told.get("errors", ())}


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_is_for_those_whom_the_table_names(harness: ServiceHarness, field: str) -> None:
    row = route_for(FIELD_ROUTES[field])
    query = f"{{ {FIELDS[field]} }}"
    assert codes(ask(harness.anybody, query)) == (set() if row.role is Role.PUBLIC else {"UNAUTHENTICATED"})
    for scope in SCOPES:
        caller = Principal(role=role_for_scopes(frozenset({scope})), key_id=1, scopes=frozenset({scope}))
        told = ask(harness.client(Role.VIEWER, scope), query)
        assert codes(told) == (set() if caller.may(row.role, row.scope) else {"FORBIDDEN"}), (scope, told)


def test_every_field_to_begin_with_names_its_right() -> None:
    beginnings = re.search(r"^type Query \{(.*?)^\}", graphql_schema().as_str(), re.M | re.S)
    assert beginnings is not None
    names = set(re.findall(r"^  (\w+)[(:]", beginnings.group(1), re.M))
    assert names == {name for name in FIELD_ROUTES if "." not in name}
    for path in FIELD_ROUTES.values():
        route_for(path)


@contextmanager
def counted() -> Iterator[list[str]]:
    """The statements that the database is sent."""
    sent: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        sent.append(statement)

    listening.listen(Engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        listening.remove(Engine, "before_cursor_execute", note)


def test_a_page_of_events_with_their_sources_is_a_few_questions_however_many_they_are(tmp_path: Path) -> None:
    harness = ServiceHarness(tmp_path / "many.db")
    sources = [harness.calendar.source(f"source {n}", url=f"https://{n}.example/") for n in range(5)]
    for source in sources:
        harness.calendar.say(source, *(row(f"第{n}回 {source.name}", f"2050-08-{n + 1:02} 10:00", uid=f"{n}") for n in range(20)))
    query = "query ($n: Int!) { events(first: $n) { nodes { title source { name state { failures } } } } }"
    sizes = {}
    ask(harness.viewer, query, n=1)
    for size in (1, 100):
        with counted() as sent:
            found = ask(harness.viewer, query, n=size)["data"]["events"]["nodes"]
        assert len([one for one in found if one["source"]["name"]]) == size
        sizes[size] = len(sent)
    harness.close()
    assert sizes[100] == sizes[1]
    assert sizes[100] < 15


def test_a_list_of_sources_is_a_few_questions_over_rest_too(tmp_path: Path) -> None:
    harness = ServiceHarness(tmp_path / "many.db")
    for n in range(30):
        harness.calendar.source(f"source {n}", url=f"https://{n}.example/")
    with counted() as sent:
        assert len(harness.viewer.get("/api/v1/admin/sources").json()["items"]) == 30
    harness.close()
    assert len(sent) < 15
