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
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from starlette.testclient import TestClient

from tests.serve.rest.conftest import fill
from tests.serve.rest.test_reviews import asked
from tests.support.serving import Desk

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
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    desk = Desk(tmp_path_factory.mktemp("openapi") / "events.db")
    fill(desk)
    asked(desk, 4, 5)
    yield desk
    desk.close()


@pytest.fixture(scope="module")
def described(whole: Desk) -> dict[str, Any]:
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


def test_every_body_has_an_example_that_fits(described: dict[str, Any]) -> None:
    schemas = described["components"]["schemas"]
    for method, path, one in operations(described):
        if "requestBody" in one:
            schema = one["requestBody"]["content"]["application/json"]["schema"]
            name = schema["$ref"].rpartition("/")[2]
            examples = schemas[name].get("examples", [{}])
            for example in examples:
                _check(described, schema, example, f"{method} {path}")


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
@settings(max_examples=40, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32))
def test_no_call_fails_and_no_answer_is_other_than_described(whole: Desk, seed: int) -> None:
    chance, described = Random(seed), whole.app.openapi()
    every = [one for one in operations(described) if not one[1].endswith(LEFT_OUT)]
    for _ in range(15):
        _try(whole, described, *chance.choice(every), chance)


def _try(whole: Desk, described: dict[str, Any], method: str, path: str, one: dict[str, Any], chance: Random) -> None:
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


def test_a_body_that_is_no_json_is_refused(whole: Desk) -> None:
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
