"""The description of the interface (OpenAPI): what FastAPI gathers, and what it can not know."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from tadoru.serve.rest.asked import Exactly
from tadoru.serve.rest.models import Problem
from tadoru.version import VERSION

_ABOUT = """Events, collected from many sources: cleaned, without duplicates, each with its source and licence.

Lists have `items` and `next`; errors are `application/problem+json` (RFC 9457). Reads carry an ETag and answer If-None-Match.
Reading events is open to anybody; everything else needs a key: `Authorization: Bearer tdr_…`."""
_KEY = {"type": "http", "scheme": "bearer", "description": "A key that an admin made."}


def install(app: FastAPI) -> None:
    """Let the application describe itself this way."""

    def describe() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _described(app)
        return app.openapi_schema

    app.openapi = describe  # type: ignore[method-assign]


def _described(app: FastAPI) -> dict[str, Any]:
    from tadoru.serve.roles import ROUTES, Role

    found = get_openapi(title="Tadoru", version=VERSION, description=_ABOUT, routes=app.routes)
    parts = found.setdefault("components", {})
    parts.setdefault("schemas", {})["Problem"] = Problem.model_json_schema()
    for unused in ("HTTPValidationError", "ValidationError"):
        parts["schemas"].pop(unused, None)
    parts["securitySchemes"] = {"key": _KEY}
    rows = {(row.method.lower(), row.path.replace(":int}", "}")): row for row in ROUTES}
    for path, operations in found["paths"].items():
        for method, operation in operations.items():
            row = rows.get((method, path))
            if row is not None and row.role is not Role.PUBLIC:
                operation["security"] = [{"key": []}]
                operation["x-role"], operation["x-scope"] = row.role.label, row.scope
    for path in ("/events", "/api/v1/events"):  # these read their parameters by themselves
        if path in found["paths"]:
            found["paths"][path]["get"]["parameters"] = _list_parameters()
    return found


def _list_parameters() -> list[dict[str, Any]]:
    """The parameters of a list of events, as FastAPI would write them."""
    every = Exactly.model_json_schema(by_alias=True)["properties"]
    return [
        {"name": name, "in": "query", "required": False, "description": schema.pop("description", name), "schema": schema}
        for name, schema in every.items()
    ]
