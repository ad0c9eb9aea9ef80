"""How a query comes in, and what is told of one that fails."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from tadoru.log import Log
from tadoru.store.accounts.audit_log import Actor
from tests.support.serving import ServiceHarness

QUERY = "{ cities }"


def test_a_query_comes_in_the_address_or_in_the_body(harness: ServiceHarness) -> None:
    in_address = harness.anybody.get(
        "/graphql", params={"query": "query ($a: ID!) { event(id: $a) { id } }", "variables": '{"a": 1}'}
    )
    in_body = harness.anybody.post("/graphql", json={"query": QUERY, "operationName": None, "variables": None})
    assert in_address.json() == {"data": {"event": {"id": "1"}}}
    assert in_body.json() == {"data": {"cities": ["盛岡市", "花巻市"]}}
    assert in_body.headers["content-type"] == "application/json"
    assert in_body.headers["cache-control"] == "no-store"
    named = harness.anybody.post("/graphql", json={"query": QUERY}, headers={"accept": "application/graphql-response+json"})
    assert named.headers["content-type"] == "application/graphql-response+json"


@pytest.mark.parametrize(
    "content, kind, status",
    [
        (b"query={cities}", "application/x-www-form-urlencoded", 415),
        (b'{"query": "{ cities }"}', "text/plain", 415),
        (b"{ cities }", "application/graphql", 415),
        (b'{"query": "{ cities }"}', "", 415),
        (b"{", "application/json", 400),
        (b"\xff", "application/json", 400),
        (b"[" * 100_000, "application/json", 400),
        (b'[{"query": "{ cities }"}]', "application/json", 400),
        (b'"a"', "application/json", 400),
        (b"{}", "application/json", 400),
        (b'{"query": 1}', "application/json", 400),
        (b'{"query": "{ cities }", "variables": []}', "application/json", 400),
        (b'{"query": "{ cities }", "operationName": 1}', "application/json", 400),
        (b'{"query": "{ cities }", "more": 1}', "application/json", 400),
    ],
)
def test_what_is_no_query_is_refused_with_a_sentence(harness: ServiceHarness, content: bytes, kind: str, status: int) -> None:
    told = harness.anybody.post("/graphql", content=content, headers={"content-type": kind})
    assert (told.status_code, told.headers["content-type"]) == (status, "application/problem+json")
    assert told.json()["detail"].endswith(".")


def test_a_page_of_somebody_else_can_not_ask_with_our_cookie(harness: ServiceHarness) -> None:
    user = harness.store.users.add("mia", "viewer", Actor(who="test"))
    cookie = {"cookie": f"tadoru={harness.store.sessions.start(user, Actor(who='test'))}"}
    sources = {"query": "{ sources { nodes { name } } }"}
    assert harness.anybody.post("/graphql", json=sources, headers=cookie).status_code == 403
    stranger = cookie | {"origin": "https://evil.example"}
    assert harness.anybody.post("/graphql", json=sources, headers=stranger).status_code == 403
    read = harness.anybody.get("/graphql", params=sources, headers=cookie)
    assert read.json()["data"]["sources"]["nodes"][0]["name"] == "盛岡市"
    assert "access-control-allow-origin" not in read.headers


def test_neither_queries_nor_variables_are_in_the_log_and_nothing_is_in_the_audit_log(harness: ServiceHarness) -> None:
    before, said = harness.store.audit.entries(), io.StringIO()
    harness.service.log = Log(said, harness.service.clock, form="json", level="debug")
    harness.viewer.post(
        "/graphql", json={"query": "query ($q: String) { events(q: $q) { nodes { id } } }", "variables": {"q": "geheim"}}
    )
    harness.viewer.get("/graphql", params={"query": '{ events(q: "geheim") { nodes { id } } }'})
    harness.viewer.post("/graphql", json={"query": "{ geheim }", "variables": {"geheim": "geheim"}})
    assert "geheim" not in said.getvalue()
    assert said.getvalue().count('"path": "/graphql"') == 3
    assert harness.store.audit.entries() == before


def test_a_fault_of_ours_is_told_without_a_word_about_the_inside(
    harness: ServiceHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fall(*_: Any, **__: Any) -> None:
        raise KeyError("the password is geheim")

    said = io.StringIO()
    harness.service.log = Log(said, harness.service.clock, form="json", level="debug")
    monkeypatch.setattr(type(harness.store.events), "cities", fall)
    told = harness.anybody.post("/graphql", json={"query": "{ cities categories }"})
    assert told.status_code == 200
    assert told.json()["data"] == {"cities": None, "categories": ["music", "展示", "祭り"]}
    assert told.json()["errors"][0]["extensions"] == {"code": "INTERNAL", "status": 500, "problem": "internal_error"}
    assert "geheim" not in told.text + said.getvalue()
    assert "field failed: KeyError" in said.getvalue()


def test_half_a_character_is_an_error_and_no_fault(harness: ServiceHarness) -> None:
    for body in (
        b'{"query": "query ($q: String) { events(q: $q) { nodes { id } } }", "variables": {"q": "\\ud800"}}',
        b'{"query": "query ($q: Int) { events(first: $q) { nodes { id } } }", "variables": {"q": "\\ud800"}}',
        b'{"query": "{ \\ud800 }"}',
    ):
        told = harness.anybody.post("/graphql", content=body, headers={"content-type": "application/json"})
        assert told.status_code in (200, 400)
        assert json.loads(told.content)["errors"][0]["extensions"]["status"] in (400, 422)


@pytest.mark.parametrize(
    "arguments, words",
    [
        ("first: 0", "first"), ("first: 201", "first"), ('after: "x"', "Start again without"), ('near: "1"', "near"),
        ('source: "x"', "source"), ('status: "gone"', "status"), ('sort: "title"', "sort"), ('from: "1"', "Date"),
        ('to: "2000-01-01"', "past"), ('updatedSince: "0.5"', "updatedSince"), ('source: "99999999999999999999"', "source"),
    ],
)  # fmt: skip
def test_an_argument_that_does_not_fit_is_named(harness: ServiceHarness, arguments: str, words: str) -> None:
    told = harness.anybody.post("/graphql", json={"query": f"{{ events({arguments}) {{ nodes {{ id }} }} }}"}).json()
    assert words in told["errors"][0]["message"]
    assert told["errors"][0]["extensions"]["status"] in (400, 422)


@pytest.mark.parametrize(
    "field",
    [
        'event(id: "x") { id }', 'event(id: "0") { id }', 'event(id: "-1") { id }', 'event(id: "1e3") { id }',
        "event(id: 99999999999999999999) { id }", 'event(id: "٣") { id }', "sources(first: 0) { nodes { id } }",
        'sources(after: "x") { nodes { id } }', 'runs(source: "x") { nodes { id } }', 'runs(after: "0") { nodes { id } }',
        'reviews(state: "x") { nodes { id } }', 'reviews(reason: "x") { nodes { id } }', "status(days: 0) { totals { rows } }",
        "status(days: 91) { totals { rows } }",
    ],
)  # fmt: skip
def test_a_number_or_a_word_that_does_not_fit_is_told(harness: ServiceHarness, field: str) -> None:
    told = harness.viewer.post("/graphql", json={"query": f"{{ {field} }}"}).json()
    assert told["errors"][0]["extensions"]["code"] == "BAD_VALUE"
    assert told["errors"][0]["message"].endswith(".")


@pytest.mark.parametrize(
    "field", ["source(id: 99) { id }", "run(id: 99) { id }", "review(id: 99) { id }", "event(id: 99) { id }"]
)
def test_what_is_not_there_is_null_with_a_word_about_it(harness: ServiceHarness, field: str) -> None:
    told = harness.viewer.post("/graphql", json={"query": f"{{ {field} }}"}).json()
    extensions = told["errors"][0]["extensions"]
    assert (extensions["code"], extensions["status"], extensions["problem"]) == ("NOT_FOUND", 404, "not_found")
    assert extensions["params"] == {"id": "99"}
    assert list(told["data"].values()) == [None]
