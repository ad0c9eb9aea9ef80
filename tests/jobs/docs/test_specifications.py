"""Descriptions of APIs are kept whichever way a page names them: by a link, in its head, or in the settings of a viewer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tadoru.jobs.docs.job import find_specifications
from tadoru.parse.html import HtmlDocument
from tadoru.rules.url import UrlResolver
from tests.support.handbook import Handbook, entries, index, read
from tests.support.site import Site

OPENAPI = json.dumps({"openapi": "3.1.0", "info": {"title": "Kettle", "version": "1"}, "paths": {}})
OPENAPI_YAML = 'openapi: "3.0.3"\ninfo:\n  title: Kettle\n  version: "1"\npaths: {}\n'
ASYNCAPI = "asyncapi: 3.0.0\ninfo:\n  title: Steam\n  version: '1'\nchannels: {}\n"
SCHEMA = json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "properties": {}})
GRAPHQL = '"""A kettle."""\ntype Query {\n  kettle: String\n}\n'


def test_each_kind_is_kept_as_it_was_sent_under_its_name(site: Site, book: Handbook, out: Path) -> None:
    files = {
        "/api/openapi.yaml": (OPENAPI_YAML, "application/yaml", "openapi"),
        "/api/events.yml": (ASYNCAPI, "text/plain", "asyncapi"),
        "/kettle.schema.json": (SCHEMA, "application/schema+json", "jsonSchema"),
        "/schema.graphql": (GRAPHQL, "text/plain", "graphql"),
    }
    book.page("/", "Start", links=[*files, "/data.json", "/notes.txt"])
    for path, (text, kind, _) in files.items():
        book.file(path, text, kind)
    book.file("/data.json", '{"kettles": 3}', "application/json")
    book.file("/notes.txt", "Nothing in particular.", "text/plain")
    done = read(site, out)
    found = {spec["url"].removeprefix(site.base): spec for spec in index(out)["specs"]}
    assert {path: spec["type"] for path, spec in found.items()} == {path: kind for path, (_, _, kind) in files.items()}
    for path, spec in found.items():
        assert (out / spec["file"]).read_text("utf-8") == files[path][0]
    assert (done.pages, list(entries(out, site))) == (1, ["/"])


NAMED = {
    "an element of Redoc": '<redoc spec-url="../api/v1.json"></redoc><script src="/redoc.js"></script>',
    "an element of RapiDoc": '<rapi-doc spec-url="/api/v1.json"></rapi-doc><script src="/r.js"></script>',
    "an element of Elements": '<elements-api apiDescriptionUrl="/api/v1.json"></elements-api><script src="/e.js"></script>',
    "Scalar's script": '<script id="api-reference" data-url="/api/v1.json"></script>',
    "the settings of Swagger UI": """<div id="ui"></div><script>
        window.onload = () => { window.ui = SwaggerUIBundle({ url: "/api/v1.json", dom_id: "#ui" }) }</script>""",
    "one of several in Swagger UI": """<script>SwaggerUIBundle({urls: [{"url": "\\/api\\/v1.json", "name": "one"}]})</script>""",
    "a call of Redoc": "<script>Redoc.init('/api/v1.json', {}, document.body)</script>",
    "the head": '<link rel="service-desc" href="/api/v1.json" type="application/json">',
}


@pytest.mark.parametrize("markup", NAMED.values(), ids=NAMED)
def test_a_page_names_one(markup: str) -> None:
    document = HtmlDocument.parse(f"<title>API</title><body>{markup}".encode(), "text/html; charset=utf-8")
    assert find_specifications(document, "https://e.example/docs/", UrlResolver()) == ["https://e.example/api/v1.json"]


@pytest.mark.parametrize(
    "script", ["fetch({url: '/data.json'})", "var url = 'x'; SwaggerUIBundle", "SwaggerUIBundle({url: `x`})"]
)
def test_another_script_names_none(script: str) -> None:
    document = HtmlDocument.parse(f"<script>{script}</script>".encode(), "text/html")
    assert find_specifications(document, "https://e.example/", UrlResolver()) == []


def test_a_page_that_only_shows_a_specification_needs_no_browser(site: Site, book: Handbook, out: Path) -> None:
    book.page("/", "Start", links=["/api/"])
    site.html("/api/", f"<!doctype html><title>API</title>{NAMED['the settings of Swagger UI']}")
    book.file("/api/v1.json", OPENAPI, "application/json")
    read(site, out, render="auto")
    assert [spec["file"] for spec in index(out)["specs"]] == ["specs/v1.json"]


def test_a_specification_keeps_its_file_and_is_dropped_when_it_is_gone(site: Site, book: Handbook, out: Path) -> None:
    book.page("/", "Start", links=["/v1/openapi.json", "/v2/openapi.json"])
    book.file("/v1/openapi.json", OPENAPI, "application/json")
    book.file("/v2/openapi.json", OPENAPI.replace("Kettle", "Pot"), "application/json")
    read(site, out, variants=["version"])
    files = {spec["url"]: spec["file"] for spec in index(out)["specs"]}
    assert len(set(files.values())) == 2
    site.reply("/v1/openapi.json", status=500)
    read(site, out, diff=True, variants=["version"])
    assert {spec["url"]: spec["file"] for spec in index(out)["specs"]} == files, "it may be back tomorrow"
    site.reply("/v1/openapi.json", status=404)
    read(site, out, diff=True, variants=["version"])
    assert {spec["url"]: spec["file"] for spec in index(out)["specs"]} == {
        site.url("/v2/openapi.json"): files[site.url("/v2/openapi.json")]
    }
    assert len(list((out / "specs").iterdir())) == 1
