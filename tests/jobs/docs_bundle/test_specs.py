"""What is a description of an API is told from what it says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.docs.bundle.api_specs import detect_spec, name_specs
from tadoru.jobs.docs.bundle.model import StoredSpec

SDL = b'"""A schema"""\ntype Query {\n  # a user\n  user(id: ID!): User\n}\n\ntype User { name: String }\n'


@pytest.mark.parametrize(
    "body, expected",
    [
        pytest.param(b'{"openapi": "3.1.0", "info": {}, "paths": {}}', ("openapi", "json"), id="OpenAPI in JSON"),
        pytest.param(b'{"swagger": "2.0", "info": {}}', ("openapi", "json"), id="Swagger 2"),
        pytest.param(b'\xef\xbb\xbfopenapi: "3.0.3"\ninfo:\n  title: x\n', ("openapi", "yaml"), id="OpenAPI in YAML"),
        pytest.param(b"# c\n'openapi': 3.1.0 # v\ninfo: {title: x}\n", ("openapi", "yaml"), id="quoted keys and comments"),
        pytest.param(b"asyncapi: 3.0.0\ninfo:\n  title: x\n", ("asyncapi", "yaml"), id="AsyncAPI"),
        pytest.param(b'{"$schema": "http://json-schema.org/s#", "type": "object"}', ("jsonSchema", "json"), id="JSON Schema"),
        pytest.param(SDL, ("graphql", "graphql"), id="GraphQL"),
        pytest.param(b'{"data": {"__schema": {"types": []}}}', ("graphql", "json"), id="an introspection result"),
        pytest.param(b'{"openapi": "3.1.0"}', None, id="no info: about OpenAPI, not one"),
        pytest.param(b'{"$schema": "https://json.schemastore.org/package", "name": "x"}', None, id="a file that has a schema"),
        pytest.param(b'{"$schema": "https://json-schema.org/x", "name": "x"}', None, id="an instance"),
        pytest.param(b"text:\n  openapi: 3.0.0\n  info: x\n", None, id="not at the margin"),
        pytest.param(b"openapi: soon\ninfo: x\n", None, id="no version"),
        pytest.param(b"interface A { b: string; }\ntype Query = { c: D }\n", None, id="TypeScript"),
        pytest.param(b"type User { name: String }\n", None, id="too little to tell"),
        pytest.param(b"A schema { is a thing }, said type Query.", None, id="prose"),
        pytest.param(b"<html>openapi: 3.0.0\ninfo: x</html>", None, id="a page"),
        pytest.param(b'{"a":' * 100_000, None, id="too deep"),
        pytest.param(b"\xff\xfe\x00", None, id="no text"),
        pytest.param(b"", None, id="nothing"),
        pytest.param(b"[1]", None, id="a list"),
    ],
)  # fmt: skip
def test_the_kind_of_a_body(body: bytes, expected: tuple[str, str] | None) -> None:
    assert detect_spec(body) == expected


def test_a_file_called_graphql_needs_no_root_type() -> None:
    assert detect_spec(b"type User { name: String }\n", "https://x.example/user.graphqls") == ("graphql", "graphql")


@given(st.binary() | st.text().map(str.encode))
def test_any_bytes_are_judged(body: bytes) -> None:
    assert detect_spec(body) is None or len(body) > 5


def test_a_specification_keeps_its_file_when_another_of_its_name_appears() -> None:
    body = b"openapi: 3.0.0\ninfo:\n  title: x\n"
    first = list(name_specs([StoredSpec("https://x.example/v2/openapi.yaml", body)], {}))
    files = {spec.url: spec.file for spec in first}
    both = [StoredSpec("https://x.example/v1/openapi.yaml", body), StoredSpec("https://x.example/v2/openapi.yaml", body)]
    after = {spec.url: spec.file for spec in name_specs(both, files)}
    assert after["https://x.example/v2/openapi.yaml"] == "specs/openapi.yaml"
    assert after["https://x.example/v1/openapi.yaml"] != "specs/openapi.yaml"
