"""The description of the interface, and a run over all of it: every operation with values of every kind, looking for answers
that the description does not know."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from random import Random
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from starlette.testclient import TestClient

from tadoru.serve.api.openapi import example_of
from tadoru.serve.roles import ROUTES, Role
from tests.serve.api.conftest import fill
from tests.serve.api.test_reviews import asked
from tests.support.properties import examples
from tests.support.serving import ServiceHarness

METHODS = ("get", "post", "patch", "put", "delete")
LEFT_OUT = ("/run", "/test")
"""What goes out to the network; these have tests of their own."""
ODD = [
    "",
    " ",
    "\0",
    "盛岡市",
    "%",
    "_",
    "'",
    '"',
    "\\",
    "-1",
    "0",
    "1e400",
    "NaN",
    "\u202e",
    "\U0001f389",
    "x" * 300,
    "2050-08-01",
]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceHarness]:
    harness = ServiceHarness(tmp_path_factory.mktemp("openapi") / "events.db")
    fill(harness)
    asked(harness, 4, 5)
    yield harness
    harness.close()


@pytest.fixture(scope="module")
def described(whole: ServiceHarness) -> dict[str, Any]:
    document: dict[str, Any] = whole.anybody.get("/openapi.json").json()
    return document


def operations(document: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (method, path, one) for path, every in document["paths"].items() for method, one in every.items() if method in METHODS
    ]


def test_every_operation_says_what_it_does_and_what_it_answers(described: dict[str, Any]) -> None:
    found = operations(described)
    assert len(found) > 40
    for method, path, one in found:
        assert one.get("summary"), (method, path)
        assert one.get("description"), (method, path)
        good = [status for status in one["responses"] if status.startswith("2")]
        assert len(good) == 1, (method, path)
        assert {"422", "429", "500"} <= one["responses"].keys(), (method, path)
        for status, answer in one["responses"].items():
            if status.startswith(("4", "5")):
                assert list(answer["content"]) == ["application/problem+json"], (method, path, status)
        for parameter in one.get("parameters", ()):
            assert parameter["schema"], (method, path, parameter)


def test_every_reference_of_the_description_leads_somewhere(described: dict[str, Any]) -> None:
    for reference in set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(described))):
        assert reference in described["components"]["schemas"]


def test_every_operation_says_who_may_call_it(described: dict[str, Any]) -> None:
    rows = {(row.method.lower(), row.path.replace(":int}", "}")): row for row in ROUTES}
    for method, path, one in operations(described):
        row = rows[method, path]
        anybody = row.role is Role.PUBLIC
        assert one["security"] == ([{}, {"key": []}] if anybody else [{"key": []}]), (method, path)
        assert (one.get("x-role", "public"), one.get("x-scope", "")) == (row.role.label, row.scope), (method, path)
        assert {"401", "403"} <= one["responses"].keys(), (method, path)
        assert one["tags"][0] in {tag["name"] for tag in described["tags"]}, (method, path)


def test_every_parameter_body_and_answer_has_an_example_that_fits(described: dict[str, Any]) -> None:
    for method, path, one in operations(described):
        what = f"{method} {path}"
        for parameter in one.get("parameters", ()):
            assert parameter["description"], (what, parameter)
            _check(described, parameter["schema"], parameter["example"], f"{what} {parameter['name']}")
        for body in one.get("requestBody", {}).get("content", {}).values():
            _check(described, body["schema"], body["example"], what)
        for status, answer in one["responses"].items():
            assert answer["description"], (what, status)
            assert answer.get("content") or status in ("204", "304", "307"), (what, status)
            for media, body in answer.get("content", {}).items():
                assert "example" in body, (what, status)
                _check(described, body.get("schema", {}), body["example"], f"{what} {status} {media}")
            for name, header in answer.get("headers", {}).items():
                assert header["description"] and header["example"], (what, name)  # noqa: PT018


def test_an_example_is_put_together_for_any_schema() -> None:
    schemas = {
        "Part": {"type": "object", "properties": {"whole": {"$ref": "#/components/schemas/Whole"}}},
        "Whole": {
            "type": "object",
            "required": ["id"],
            "properties": {"id": {"type": "integer"}, "parts": {"type": "array", "items": {"$ref": "#/components/schemas/Part"}}},
        },
    }
    made = example_of({"$ref": "#/components/schemas/Whole"}, schemas)
    assert made["parts"][0]["whole"]["id"] == 12
    for schema, expected in (
        ({"type": "integer", "minimum": 3, "maximum": 5}, 3),
        ({"enum": ["a", "b"]}, "a"),
        ({"anyOf": [{"type": "null"}, {"type": "string", "format": "date"}]}, "2026-08-01"),
        ({"type": "string", "minLength": 2}, "xx"),
        ({"type": "null"}, None),
        ({"const": 7}, 7),
        ({"type": "string", "default": "d"}, "d"),
    ):
        assert example_of(schema, {}) == expected


def _check(document: dict[str, Any], schema: dict[str, Any], value: Any, what: str) -> None:
    validator = Draft202012Validator({**schema, "components": document["components"]})
    problem = next(validator.iter_errors(value), None)
    assert problem is None, (what, problem.message if problem else "", str(value)[:500])


def scalar(chance: Random) -> Any:
    numbers = (chance.randint(-5, 12), 2**63 - 1, 2**63, -(2**63) - 1, 10**30, 1.5, -1e300)
    return chance.choice([chance.choice(ODD), chance.choice(numbers), True, None, chr(chance.randrange(0x20, 0xD7FF)) * 3])


def value_of(document: dict[str, Any], schema: dict[str, Any], chance: Random) -> Any:  # noqa: PLR0911 - a case a line
    """A value that often fits a schema, and sometimes does not."""
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    if chance.random() < 0.1:
        return scalar(chance)
    if "anyOf" in schema:
        return value_of(document, chance.choice(schema["anyOf"]), chance)
    if "enum" in schema:
        return chance.choice(schema["enum"])
    match schema.get("type"), schema.get("format"):
        case "integer", _:
            least = int(max(schema.get("minimum", 0), 0))
            return chance.randint(least, int(min(schema.get("maximum", least + 9), least + 9)))
        case "number", _:
            return chance.uniform(schema.get("minimum", -9), schema.get("maximum", 9))
        case "boolean", _:
            return chance.random() < 0.5
        case "null", _:
            return None
        case "array", _:
            return [value_of(document, schema.get("items", {}), chance) for _ in range(chance.randrange(3))]
        case "object", _:
            fields = schema.get("properties", {"a": {}, "headers": {"type": "object"}})
            chosen = [name for name in fields if name in schema.get("required", ()) or chance.random() < 0.3]
            return {name: value_of(document, fields[name], chance) for name in chosen}
        case _, "date":
            return f"{chance.randint(1, 9999):04}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"
        case _, "date-time":
            return f"{chance.randint(1, 9999):04}-01-01T00:00:00{chance.choice(['Z', '', '+14:00', '-12:00'])}"
    return scalar(chance)


def call_of(document: dict[str, Any], path: str, one: dict[str, Any], chance: Random) -> tuple[str, list[tuple[str, str]], Any]:
    query = []
    for parameter in one.get("parameters", ()):
        if parameter["in"] == "path":
            value = chance.choice([*range(1, 9), "0", "x", "9" * 19, "-1"])
            path = path.replace(f"{{{parameter['name']}}}", str(value))
        elif chance.random() < 0.3:
            query.append((parameter["name"], str(value_of(document, parameter["schema"], chance))))
    body = None
    if "requestBody" in one:
        body = value_of(document, one["requestBody"]["content"]["application/json"]["schema"], chance)
    return path, query, body


def call(client: TestClient, method: str, path: str, query: list[tuple[str, str]], body: Any) -> Any:
    address = path + (
        "?" + "&".join(f"{name}={quote(value.encode('utf-8', 'replace'))}" for name, value in query) if query else ""
    )
    data = json.dumps(body).encode() if body is not None else None
    headers = {"content-type": "application/json"} if data is not None else {}
    return client.request(method, address, content=data, headers=headers)


# What one call changes the next one finds: a failure is told as it is, and not made smaller. Hypothesis chooses the seeds.
@examples(40, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32))
def test_no_call_fails_and_no_answer_is_other_than_described(whole: ServiceHarness, seed: int) -> None:
    chance, described = Random(seed), whole.app.openapi()
    every = [one for one in operations(described) if not one[1].endswith(LEFT_OUT)]
    for _ in range(15):
        _try(whole, described, *chance.choice(every), chance)


def _try(whole: ServiceHarness, described: dict[str, Any], method: str, path: str, one: dict[str, Any], chance: Random) -> None:
    client = chance.choice([whole.editor, whole.editor, whole.viewer, whole.anybody])
    address, query, body = call_of(described, path, one, chance)
    answer = call(client, method, address, query, body)
    what = f"{method} {address} {query} {body}: {answer.status_code} {answer.text[:300]}"
    assert answer.status_code < 500, what
    status = str(answer.status_code)
    assert status in one["responses"] or (status == "404" and "{" in path), what
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == "application/problem+json", what
        _check(described, {"$ref": "#/components/schemas/Problem"}, answer.json(), what)
    elif answer.status_code in {200, 201, 202}:
        content = one["responses"][status]["content"]
        kind = answer.headers["content-type"].partition(";")[0]
        assert kind in content, what
        if kind == "application/json":
            _check(described, content[kind]["schema"], answer.json(), what)


def test_a_body_that_is_no_json_is_refused(whole: ServiceHarness) -> None:
    for content, kind in (
        (b"{", "application/json"),
        (b"\xff", "application/json"),
        (b"a=1", "text/plain"),
        (b'"\\ud800"', "application/json"),
    ):
        answer = whole.editor.post("/api/v1/events", content=content, headers={"content-type": kind})
        assert answer.status_code in {400, 422}
        assert answer.headers["content-type"] == "application/problem+json"
    lone = whole.editor.post(
        "/api/v1/events", content=b'{"title": "\\ud800", "starts_at": "2050-01-01"}', headers={"content-type": "application/json"}
    )
    assert lone.status_code in {201, 422}


def test_a_body_that_can_not_be_read_is_told_only_to_who_may_send_one(whole: ServiceHarness) -> None:
    for content in (b"{", b"\xff", b'{"title": 1}'):
        told = [
            client.post("/api/v1/events", content=content, headers={"content-type": "application/json"}).status_code
            for client in (whole.anybody, whole.viewer, whole.editor)
        ]
        assert told[:2] == [401, 403]
        assert told[2] in {400, 422}


def test_a_method_that_an_address_does_not_take_is_answered_with_those_it_takes(whole: ServiceHarness) -> None:
    for path, methods in (
        ("/api/v1/events", "GET, HEAD, POST"),
        ("/api/v1/admin/sources/1", "DELETE, GET, HEAD, PATCH"),
        ("/api/v1/events/1/hide", "POST"),
        ("/events/1", "GET, HEAD"),
    ):
        for method in ("OPTIONS", "TRACE", "PUT"):
            told = whole.anybody.request(method, path)
            assert (told.status_code, told.headers["allow"]) == (405, methods), (method, path)


def test_a_bare_number_is_no_time_and_no_day(whole: ServiceHarness) -> None:
    for query in ("updated_since=0.5", "updated_since=1700000000", "from=0", "to=86400"):
        told = whole.anybody.get(f"/api/v1/events?{query}")
        assert (told.status_code, "2026-08-01" in told.text) == (422, True), query
    assert whole.anybody.get("/api/v1/events?updated_since=&from=&to=").status_code == 200


@pytest.mark.parametrize("field, value", [("all_day", "yes"), ("lat", "1.5"), ("lat", True), ("cancelled", 1)])
def test_a_value_of_another_kind_is_not_taken_for_the_right_one(whole: ServiceHarness, field: str, value: Any) -> None:
    told = whole.editor.post("/api/v1/events", json={"title": "a", "starts_at": "2050-01-01", field: value})
    assert (told.status_code, told.json()["errors"][0]["where"][:2]) == (422, ["body", field])


def test_a_whole_number_may_be_written_with_a_point_and_nothing_else_is_one(whole: ServiceHarness) -> None:
    fields = whole.app.openapi()["components"]["schemas"]["SourceEdit"]["properties"]
    assert {"type": "integer", "minimum": 24, "maximum": 72} in fields["low_hours"]["anyOf"]
    for value, status in ((36.0, 200), (36, 200), (36.5, 422), ("36", 422), (True, 422), (False, 422), (73, 422)):
        assert whole.editor.patch("/api/v1/admin/sources/1", json={"low_hours": value}).status_code == status, value


def test_null_says_nothing_where_there_is_only_yes_or_no(whole: ServiceHarness) -> None:
    body = {"title": "名前のない会", "starts_at": "2050-01-01 10:00", "all_day": None, "cancelled": None, "venue": None}
    made = whole.editor.post("/api/v1/events", json=body)
    assert (made.status_code, made.json()["all_day"], made.json()["cancelled_at"]) == (201, False, None)


def test_a_source_that_is_there_already_stands_against_another(whole: ServiceHarness) -> None:
    same = {"name": "Twice", "type": "ics", "url": "https://twice.example/a.ics"}
    assert whole.editor.post("/api/v1/admin/sources", json=same).status_code == 201
    told = whole.editor.post("/api/v1/admin/sources", json=same | {"name": "Again"})
    assert (told.status_code, "already" in told.json()["detail"]) == (409, True)
