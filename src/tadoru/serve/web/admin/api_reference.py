"""`/api/docs`: the reference of the REST API, rendered from its OpenAPI document."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Request
from fastapi.responses import Response

from tadoru.i18n.translation import N_
from tadoru.serve.api.openapi import TAGS, problem_example
from tadoru.serve.service import request_origin, service_of
from tadoru.serve.web.rendering import formatter_of, render

router = APIRouter(include_in_schema=False)
_MAX_EXAMPLE = 4000
"""Characters of an example that are shown at most."""
Content = tuple[str, dict[str, Any]]
_WHERE = {"path": N_("in path"), "query": N_("in query"), "header": N_("in header")}


@router.get("/api/docs")
def api_reference(request: Request) -> Response:
    """Every operation with its parameters, an example request and its responses."""
    document: dict[str, Any] = request.app.openapi()
    parts: dict[str, list[dict[str, Any]]] = {tag: [] for tag in TAGS}
    for path, operations in document["paths"].items():
        for method, one in operations.items():
            tag = (one.get("tags") or ["events"])[0]
            parts.setdefault(tag, []).append(
                _operation(request_origin(request), method, path, one, document["components"]["schemas"])
            )
    return render(
        request, "admin/api_reference.html", place="/api/docs",
        description=formatter_of(request).gettext(
            "Reference of the API of {site}: every operation with its parameters, permissions, responses and examples.",
            site=service_of(request).options.site_name,
        ),
        canonical=f"{request_origin(request)}/api/docs",
        about=document["info"]["description"].split("\n\n"),
        version=document["info"]["version"], problem_example=_written(problem_example(422)),
        parts=[(tag, TAGS.get(tag, ""), found) for tag, found in parts.items() if found],
    )  # fmt: skip


def _operation(site: str, method: str, path: str, one: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    body = _content(one.get("requestBody", {}))
    name = body[1].get("schema", {}).get("$ref", "").rpartition("/")[2]
    return {
        "id": f"{method}{path.replace('/', '-').replace('{', '').replace('}', '')}", "method": method.upper(), "path": path,
        "summary": one.get("summary", ""), "description": one.get("description", ""), "role": one.get("x-role", ""),
        "scope": one.get("x-scope", ""), "parameters": [_parameter(each) for each in one.get("parameters", ())],
        "fields": list(_fields(schemas.get(name, {}))), "call": _call(site, method, path, one, body),
        "answers": list(_answers(one)),
    }  # fmt: skip


def _content(holder: dict[str, Any]) -> Content:
    """The first media type of a body or a response, and its description."""
    found: Content = next(iter(holder.get("content", {}).items()), ("", {}))
    return found


def _parameter(one: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": one["name"], "where": _WHERE[one["in"]], "required": one.get("required", False), "kind": _kind(one["schema"]),
        "words": one.get("description", ""), "example": _written(one.get("example", "")),
    }  # fmt: skip


def _fields(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    required = schema.get("required", ())
    for name, one in schema.get("properties", {}).items():
        yield {"name": name, "required": name in required, "kind": _kind(one), "words": one.get("description", "")}


def _kind(schema: dict[str, Any]) -> str:
    """The type of a value: `integer 1…200`, `active | hidden`."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in schema:
            return " | ".join(dict.fromkeys(_kind(one) for one in schema[choice]))
    if "enum" in schema:
        return " | ".join(str(one) for one in schema["enum"])
    if "const" in schema:
        return str(schema["const"])
    kind = str(schema.get("format") or schema.get("type") or "any")
    if kind == "array":
        return f"[{_kind(schema.get('items', {}))}]"
    least, most = schema.get("minimum"), schema.get("maximum")
    return f"{kind} {least}…{most}" if least is not None and most is not None and most < 2**53 - 1 else kind


def _call(site: str, method: str, path: str, one: dict[str, Any], body: Content) -> str:
    """An example request with curl."""
    query = []
    for each in one.get("parameters", ()):
        value = _written(each.get("example", ""))
        if each["in"] == "path":
            path = path.replace(f"{{{each['name']}}}", quote(value))
        elif each["in"] == "query" and each["name"] in _SHOWN_IN_CALLS:
            query.append((each["name"], value))
    url = f"{site}{path}" + (f"?{urlencode(query)}" if query else "")
    lines = [f"curl '{url}'" if method == "get" else f"curl -X {method.upper()} '{url}'"]
    if one.get("x-role"):
        lines.append("  -H 'Authorization: Bearer tdr_…'")
    if body[0]:
        data = json.dumps(body[1].get("example", {}), ensure_ascii=False).replace("'", "'\\''")
        lines += [f"  -H 'Content-Type: {body[0]}'", f"  -d '{data}'"]
    return " \\\n".join(lines)


_SHOWN_IN_CALLS = frozenset({"city", "limit", "lang", "state"})
"""Query parameters of example requests; with all parameters at once a request would find nothing."""


def _answers(one: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for status, answer in sorted(one["responses"].items()):
        media, body = _content(answer)
        example = body.get("example", "")
        yield {
            "status": status, "words": answer.get("description", ""), "media": media, "example": _written(example)[:_MAX_EXAMPLE],
            "is_good": status.startswith("2"),
        }  # fmt: skip


def _written(example: Any) -> str:
    return example if isinstance(example, str) else json.dumps(example, ensure_ascii=False, indent=2)
