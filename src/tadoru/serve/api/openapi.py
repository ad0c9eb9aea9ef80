"""The OpenAPI description: what FastAPI collects, with permissions, headers and examples.

Permissions come from the table of `roles`. Every parameter, body and response gets an example: that of its model, or one composed
from its fields by their names and types. `/api/docs` shows this document; tests check the service against it.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from tadoru.serve.api.event_queries import EventQuery, StrictQuery
from tadoru.serve.api.models import ProblemOut, field_descriptions
from tadoru.serve.problems import CODES, MEDIA_TYPE
from tadoru.store.crawl.browse import PublishedRecord
from tadoru.version import VERSION

_ABOUT = """Events from many sources: cleaned, deduplicated, each with its source and licence.

Lists have `items` and `next`. All errors use one format, `application/problem+json` (RFC 9457). Reads have an ETag and support
If-None-Match. Reading events is public; everything else needs an API key: `Authorization: Bearer tdr_…`."""
_KEY = {"type": "http", "scheme": "bearer", "description": "An API key, created by an administrator."}
TAGS = {
    "events": "The calendar: list, read, add and edit events.",
    "feeds": "The calendar as ICS, RSS, CSV and JSON-LD.",
    "sources": "Sources of events.",
    "runs": "Runs of sources, and source health.",
    "reviews": "The review queue: uncertain cases for a person.",
    "crawls": "Crawls of sites: start, stop, and read their results.",
    "cluster": "The cluster: workers, crawls, queue.",
    "docs-sites": "Documentation sites as Markdown.",
    "search": "Full-text search.",
}
"""Descriptions of the tags."""
_DEFAULT_DESCRIPTION = "Successful Response"
"""FastAPI's description of a response without one."""
LIST_PATHS = ("/events", "/api/v1/events")
"""Routes that validate their parameters themselves."""
_LENIENT = frozenset({field.alias or name for name, field in EventQuery.model_fields.items()})
"""Parameters of lists and feeds that may be empty, as in a form."""


def _header(words: str, example: str, **schema: Any) -> dict[str, Any]:
    return {"description": words, "schema": {"type": "string", **schema}, "example": example}


_TAG = _header("Entity tag of the response, for If-None-Match.", '"5f0c2b7a9d1e4c30aa11bb22"')
_NEXT = _header("URL of the next page with rel=next, unless it is the last.", '</api/v1/events?cursor=…>; rel="next"')
_LOCATION = _header("URL of the resource.", "/api/v1/events/12")
_WAIT = _header("Seconds to wait before a retry.", "5", pattern=r"^\d+$")
_SIGN_IN = _header("Authentication scheme.", "Bearer")


def install_openapi(app: FastAPI) -> None:
    """Use this description for an application."""

    def describe() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = build_openapi(app)
        return app.openapi_schema

    app.openapi = describe  # type: ignore[method-assign]


def build_openapi(app: FastAPI) -> dict[str, Any]:
    """The whole document."""
    from tadoru.serve.roles import ROUTES

    found = get_openapi(title=app.title, version=VERSION, description=_ABOUT, routes=app.routes)
    parts = found.setdefault("components", {})
    schemas: dict[str, Any] = parts.setdefault("schemas", {})
    own = ProblemOut.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas.update(own.pop("$defs", {}))
    schemas["Problem"] = own
    for record in PublishedRecord.__subclasses__():
        for field, text in field_descriptions(record).items() if record.__qualname__ in schemas else ():
            schemas[record.__qualname__]["properties"][field]["description"] = text
    for (name, field), example in _RECORD_EXAMPLES.items():
        if name in schemas:
            schemas[name]["properties"][field]["examples"] = [example]
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    _name_bounds(schemas)
    parts["securitySchemes"] = {"key": _KEY}
    rows = {(row.method.lower(), row.path.replace(":int}", "}")): row for row in ROUTES}
    for path, operations in found["paths"].items():
        for method, operation in operations.items():
            if path in LIST_PATHS and method == "get":
                operation["parameters"] = _list_parameters()
            _add_permission(operation, rows.get((method, path)))
            _add_parameter_examples(operation, schemas)
            _complete_responses(operation, method, schemas)
    used = {tag for operations in found["paths"].values() for one in operations.values() for tag in one.get("tags", ())}
    found["tags"] = [{"name": tag, "description": words} for tag, words in TAGS.items() if tag in used]
    return found


def _name_bounds(node: Any) -> None:
    """Rename the bounds of values with a validator (`ge`, `le`) to those of JSON Schema."""
    if isinstance(node, dict):
        if node.get("type") in ("integer", "number"):
            node.update({new: node.pop(old) for old, new in (("ge", "minimum"), ("le", "maximum")) if old in node})
        for inner in node.values():
            _name_bounds(inner)
    elif isinstance(node, list):
        for inner in node:
            _name_bounds(inner)


def _list_parameters() -> list[dict[str, Any]]:
    """The parameters of a list of events in FastAPI's format."""
    every = StrictQuery.model_json_schema(by_alias=True)["properties"]
    return [
        {"name": name, "in": "query", "required": False, "description": schema.pop("description", name), "schema": schema}
        for name, schema in every.items()
    ]


def _add_permission(operation: dict[str, Any], row: Any) -> None:
    """Add the required permission. A public operation may still return more with a key."""
    if row is None or not row.role:
        operation["security"] = [{}, {"key": []}]
        return
    operation["security"] = [{"key": []}] if row.scope else []
    operation["x-role"], operation["x-scope"] = row.role.label, row.scope


def _add_parameter_examples(operation: dict[str, Any], schemas: dict[str, Any]) -> None:
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
    """Remove null, which a URL cannot express, and the redundant title."""
    schema.pop("title", None)
    if schema.get("default", "") is None:
        del schema["default"]
    choices = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    if len(choices) == 1:
        schema.pop("anyOf")
        schema.update({**choices[0], **schema})
    elif choices:
        schema["anyOf"] = choices


def _complete_responses(operation: dict[str, Any], method: str, schemas: dict[str, Any]) -> None:
    for code, answer in operation["responses"].items():
        status = int(code)
        if answer["description"] == _DEFAULT_DESCRIPTION:
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
    200: {"ETag": _TAG, "Link": _NEXT}, 201: {"Location": _LOCATION}, 202: {"Location": _LOCATION}, 304: {"ETag": _TAG},
    307: {"Location": _LOCATION}, 401: {"WWW-Authenticate": _SIGN_IN}, 429: {"Retry-After": _WAIT}, 503: {"Retry-After": _WAIT},
}  # fmt: skip
"""Response headers by status; those of 200 for GET only."""


def _is_list(answer: dict[str, Any], schemas: dict[str, Any]) -> bool:
    fields: dict[str, Any] = schemas.get(_name(answer), {}).get("properties", {})
    return {"items", "next"} <= fields.keys()


def _name(answer: dict[str, Any]) -> str:
    """The model name of a JSON response."""
    reference: str = answer.get("content", {}).get("application/json", {}).get("schema", {}).get("$ref", "")
    return reference.rpartition("/")[2]


Json = dict[str, Any]
_RECORD_EXAMPLES: dict[tuple[str, str], Any] = {
    ("CrawlCharts", "classes"): {"2xx": 412, "4xx": 3}, ("CrawlCharts", "depths"): [[0, 1], [1, 12]],
    ("CrawlComparison", "totals"): {"broken": 2, "title": 14}, ("CrawlGraph", "edges"): [[1, 2], [2, 3]],
    ("CrawlOverview", "codes"): {"200": 409, "404": 3}, ("CrawlOverview", "states"): {"completed": 412, "queued": 230},
    ("CrawledPageDetail", "facts"): {
        "meta_description": "All about us.", "h1": "About us", "ttfb_ms": 41.5, "server": "nginx", "word_count": 380
    },
}  # fmt: skip
"""Examples of fields whose types do not show what they hold, by record and field."""
_MAX_DEPTH = 8
_MOMENT, _DAY, _WEB = "2026-08-01T00:00:00Z", "2026-08-01", "https://town.example/"
_CURSOR = "WyIyMDI2LTA4LTAxVDAxOjAwOjAwKzAwOjAwIiwgMTJd"
_NAMED: dict[str, Any] = {
    "name": "盛岡市の催し", "title": "星まつり", "url": f"{_WEB}events.ics", "source_url": f"{_WEB}events.ics", "q": "音楽",
    "city": "盛岡市", "venue": "市民会館", "category": "祭り", "timezone": "Asia/Tokyo", "licence": "CC BY 4.0", "lang": "ja",
    "by": "mia", "who": "mia", "position": "row 3", "row_key": "a1", "field": "frequency", "near": "39.70,141.15,10",
    "cursor": _CURSOR, "release": ["price"], "event_ids": [12], "candidate_ids": [12, 13], "lat": 39.7, "lon": 141.15,
    "score": 0.97, "failure_rate": 0.0, "duplicate_rate": 0.12,
}  # fmt: skip
"""Examples by field name, used if they have the field's type."""
_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,), "integer": (int,), "number": (int, float), "array": (list,), "boolean": (bool,), "object": (dict,),
}  # fmt: skip
_TEXTS = {
    "text/calendar": "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nSUMMARY:星まつり\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
    "application/rss+xml": '<?xml version="1.0"?>\n<rss version="2.0"><channel><title>Tadoru</title></channel></rss>\n',
    "text/csv": "id,title,starts_at\r\n12,星まつり,2026-08-01T10:00:00+09:00\r\n",
    "application/ld+json": {"@context": "https://schema.org", "@graph": [{"@type": "Event", "name": "星まつり"}]},
    "text/markdown": "# Title\n\nText.\n",
    "text/html": "<!doctype html>",
}  # fmt: skip
_DETAILS = {
    400: "Some values are invalid.",
    401: "Sign in, or send an API key as “Authorization: Bearer …”.",
    403: "The API key needs the scope events:write. Use a key with that scope.",
    404: "Event 12 not found.",
    405: "Method not allowed. The Allow header lists the methods of this URL.",
    409: "Event 12 was merged into event 11. Use that event, or undo the merge.",
    413: "The request is too large. The maximum is 2,048 KiB.",
    415: "Send the body as application/json.",
    422: "Some values are invalid. See errors.",
    429: "Rate limit exceeded. Retry after 12 seconds.",
    500: "Something went wrong on our side. If it keeps happening, report request ID 5f0c2b7a9d1e4c30.",
    503: "The database is unavailable. Try again later.",
}


def problem_example(status: int) -> Json:
    """The example of a problem with this status."""
    title = HTTPStatus(status).phrase
    code = CODES.get(status, "error")
    found: Json = {
        "type": "about:blank",
        "title": title,
        "status": status,
        "code": code,
        "detail": _DETAILS.get(status, f"{title}."),
    }
    if status == HTTPStatus.UNPROCESSABLE_ENTITY:
        found["errors"] = [{"where": ["query", "limit"], "what": "Input should be less than or equal to 200"}]
    return found


def content_example(media: str, schema: Json, schemas: Json) -> Any:
    """The example of a body of this media type."""
    return example_of(schema, schemas) if media == "application/json" else _TEXTS.get(media, "…")


def example_of(schema: Json, schemas: Json, name: str = "", depth: int = 0) -> Any:
    """A value that fits a schema."""
    if "$ref" in schema:
        schema = schemas[schema["$ref"].rpartition("/")[2]]
    for key in ("example", "const", "default"):
        if schema.get(key) is not None:
            return schema[key]
    if schema.get("examples"):
        return _whole(schema["examples"][0], schema, schemas, depth)
    if schema.get("enum"):
        return schema["enum"][0]
    for choice in ("anyOf", "oneOf", "allOf"):
        if schema.get(choice):
            return _first_of(schema[choice], schemas, name, depth)
    return _by_kind(schema, schemas, name, depth)


def _whole(example: Any, schema: Json, schemas: Json, depth: int) -> Any:
    """Complete an example: nulls are dropped before, and a derived model has more fields."""
    missing = [name for name in schema.get("required", ()) if isinstance(example, dict) and name not in example]
    if not missing:
        return example
    fields: Json = schema["properties"]
    filled = example | {name: _lacking(fields[name], schemas, name, depth) for name in missing}
    return {name: filled[name] for name in fields if name in filled}


def _lacking(schema: Json, schemas: Json, name: str, depth: int) -> Any:
    may_be_null = any(one.get("type") == "null" for one in schema.get("anyOf", ()))
    return None if may_be_null else example_of(schema, schemas, name, depth + 1)


def _first_of(choices: list[Json], schemas: Json, name: str, depth: int) -> Any:
    choices = [one for one in choices if one.get("type") != "null"] or choices
    return example_of(choices[0], schemas, name, depth)


def _by_kind(schema: Json, schemas: Json, name: str, depth: int) -> Any:
    kind = schema.get("type")
    if isinstance(known := _NAMED.get(name), _KINDS.get(str(kind), ())) and "format" not in schema:
        return known
    match kind:
        case "object":
            return _object(schema, schemas, depth)
        case "array":
            return [] if depth > _MAX_DEPTH else [example_of(schema.get("items", {}), schemas, name.removesuffix("s"), depth + 1)]
        case "integer" | "number":
            least = schema.get("minimum", 0)
            return max(least, 12 if name.endswith("id") else 3) if schema.get("maximum", 12) >= 12 else least
        case "boolean":
            return True
        case "string":
            return _text(schema, name)
    return None if kind == "null" else {}


def _object(schema: Json, schemas: Json, depth: int) -> Json:
    fields: Json = schema.get("properties", {})
    if depth > _MAX_DEPTH:
        fields = {name: one for name, one in fields.items() if name in schema.get("required", ())}
    return {name: example_of(one, schemas, name, depth + 1) for name, one in fields.items()}


def _text(schema: Json, name: str) -> str:
    match schema.get("format"):
        case "date-time":
            return _MOMENT
        case "date":
            return _DAY
        case "uri" | "url":
            return _WEB
    if name == "next":
        return f"/api/v1/events?cursor={_CURSOR}"
    if name.endswith("_url"):
        return f"{_WEB}terms"
    return "x" * int(schema.get("minLength", 0))
