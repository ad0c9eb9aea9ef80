"""The description of the interface (OpenAPI): what FastAPI gathers, and what it can not know.

Who may call an operation is read from the table of `roles`; every parameter, body and answer gets an example (`examples`); what
an answer says in its headers is told once for all. `/api/docs` shows this document to people; the tests hold the service to it.
"""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from tadoru.serve.problems import MEDIA_TYPE
from tadoru.serve.rest.asked import Chosen, Exactly
from tadoru.serve.rest.examples import content_example, example_of, problem_example
from tadoru.serve.rest.models import Problem
from tadoru.version import VERSION

_ABOUT = """Events, collected from many sources: cleaned, without duplicates, each with its source and licence.

Lists have `items` and `next`; errors are `application/problem+json` (RFC 9457). Reads carry an ETag and answer If-None-Match.
Reading events is open to anybody; everything else needs a key: `Authorization: Bearer tdr_…`."""
_KEY = {"type": "http", "scheme": "bearer", "description": "A key that an admin made."}
TAGS = {
    "events": "The calendar: lists, one event, and what a person does to them.",
    "feeds": "The calendar for programs that subscribe to it or take it away.",
    "sources": "Where events are collected from.",
    "runs": "The log of collecting, and how the sources do.",
    "reviews": "Questions that only a person can answer.",
    "crawls": "Crawls of sites: start, watch, stop and read them.",
    "cluster": "Several machines that crawl together: workers, crawls, queue.",
    "docs-sites": "Documentation sites that were made into Markdown.",
    "search": "Finding things by their words.",
}
"""What each part of the interface is about. A tag that is not here is told without words."""
_NO_WORDS = "Successful Response"
"""What FastAPI says of an answer that nobody described."""
LISTS = ("/events", "/api/v1/events")
"""These read their parameters by themselves."""
_LENIENT = frozenset({field.alias or name for name, field in Chosen.model_fields.items()})
"""Parameters of lists and feeds that may be left empty, as a form does."""


def _header(words: str, example: str, **schema: Any) -> dict[str, Any]:
    return {"description": words, "schema": {"type": "string", **schema}, "example": example}


_TAG = _header("What this answer is; send it as If-None-Match.", '"5f0c2b7a9d1e4c30aa11bb22"')
_NEXT = _header("Where the list goes on, with rel=next; not at its end.", '</api/v1/events?cursor=…>; rel="next"')
_PLACE = _header("Where it is.", "/api/v1/events/12")
_WAIT = _header("Seconds until it is worth trying again.", "5", pattern=r"^\d+$")
_SIGN_IN = _header("How to say who you are.", "Bearer")


def install(app: FastAPI) -> None:
    """Let the application describe itself this way."""

    def describe() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = described(app)
        return app.openapi_schema

    app.openapi = describe  # type: ignore[method-assign]


def described(app: FastAPI) -> dict[str, Any]:
    """The whole document."""
    from tadoru.serve.roles import ROUTES

    found = get_openapi(title=app.title, version=VERSION, description=_ABOUT, routes=app.routes)
    parts = found.setdefault("components", {})
    schemas: dict[str, Any] = parts.setdefault("schemas", {})
    own = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas.update(own.pop("$defs", {}))
    schemas["Problem"] = own
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    _name_bounds(schemas)
    parts["securitySchemes"] = {"key": _KEY}
    rows = {(row.method.lower(), row.path.replace(":int}", "}")): row for row in ROUTES}
    for path, operations in found["paths"].items():
        for method, operation in operations.items():
            if path in LISTS and method == "get":
                operation["parameters"] = _list_parameters()
            _say_who(operation, rows.get((method, path)))
            _give_parameters(operation, schemas)
            _give_answers(operation, method, schemas)
    used = {tag for operations in found["paths"].values() for one in operations.values() for tag in one.get("tags", ())}
    found["tags"] = [{"name": tag, "description": words} for tag, words in TAGS.items() if tag in used]
    return found


def _name_bounds(node: Any) -> None:
    """Bounds of values that are looked at before they are read have the names of Python; here they get those of JSON Schema."""
    if isinstance(node, dict):
        if node.get("type") in ("integer", "number"):
            node.update({new: node.pop(old) for old, new in (("ge", "minimum"), ("le", "maximum")) if old in node})
        for inner in node.values():
            _name_bounds(inner)
    elif isinstance(node, list):
        for inner in node:
            _name_bounds(inner)


def _list_parameters() -> list[dict[str, Any]]:
    """The parameters of a list of events, as FastAPI would write them."""
    every = Exactly.model_json_schema(by_alias=True)["properties"]
    return [
        {"name": name, "in": "query", "required": False, "description": schema.pop("description", name), "schema": schema}
        for name, schema in every.items()
    ]


def _say_who(operation: dict[str, Any], row: Any) -> None:
    """Who may call it. What is open to anybody may still show more to who has a key."""
    if row is None or not row.role:
        operation["security"] = [{}, {"key": []}]
        return
    operation["security"] = [{"key": []}] if row.scope else []
    operation["x-role"], operation["x-scope"] = row.role.label, row.scope


def _give_parameters(operation: dict[str, Any], schemas: dict[str, Any]) -> None:
    for parameter in operation.get("parameters", ()):
        schema = parameter["schema"]
        if parameter["in"] == "query":
            _without_null(schema)
            if parameter["name"] in _LENIENT and {"events", "feeds"} & set(operation.get("tags", ())):
                parameter["allowEmptyValue"] = True
        parameter.setdefault("description", schema.get("title", parameter["name"]))
        parameter.setdefault("example", example_of(schema, schemas, parameter["name"]))
    for media, body in operation.get("requestBody", {}).get("content", {}).items():
        if "examples" not in body:
            body.setdefault("example", content_example(media, body.get("schema", {}), schemas))


def _without_null(schema: dict[str, Any]) -> None:
    """An address has no null: what is not said is left out. Its title is its name again."""
    schema.pop("title", None)
    if schema.get("default", "") is None:
        del schema["default"]
    said = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    if len(said) == 1:
        schema.pop("anyOf")
        schema.update({**said[0], **schema})
    elif said:
        schema["anyOf"] = said


def _give_answers(operation: dict[str, Any], method: str, schemas: dict[str, Any]) -> None:
    for code, answer in operation["responses"].items():
        status = int(code)
        if answer["description"] == _NO_WORDS:
            answer["description"] = schemas.get(_name(answer), {}).get("description", "Done.")
        for media, body in answer.get("content", {}).items():
            if media == MEDIA_TYPE:
                body.setdefault("example", problem_example(status))
            elif "examples" not in body:
                body.setdefault("example", content_example(media, body.get("schema", {}), schemas))
        headers = answer.setdefault("headers", {}) if status in _HEADERS or (status == 200 and method == "get") else {}
        for name, words in (_HEADERS.get(status, {}) if status != 200 or method == "get" else {}).items():
            if name != "Link" or _is_list(answer, schemas):
                headers.setdefault(name, words)
        if answer.get("headers") == {}:
            del answer["headers"]


_HEADERS: dict[int, dict[str, dict[str, Any]]] = {
    200: {"ETag": _TAG, "Link": _NEXT}, 201: {"Location": _PLACE}, 202: {"Location": _PLACE}, 304: {"ETag": _TAG},
    307: {"Location": _PLACE}, 401: {"WWW-Authenticate": _SIGN_IN}, 429: {"Retry-After": _WAIT}, 503: {"Retry-After": _WAIT},
}  # fmt: skip
"""What an answer says in its headers, by its status; of those with 200, what reading says."""


def _is_list(answer: dict[str, Any], schemas: dict[str, Any]) -> bool:
    fields: dict[str, Any] = schemas.get(_name(answer), {}).get("properties", {})
    return {"items", "next"} <= fields.keys()


def _name(answer: dict[str, Any]) -> str:
    """What the model of a JSON answer is called."""
    reference: str = answer.get("content", {}).get("application/json", {}).get("schema", {}).get("$ref", "")
    return reference.rpartition("/")[2]
