"""Examples for the description of the interface: what stands in for a value wherever nobody wrote one. Pure.

A model may bring an example of its own (`examples` of its schema), which is taken first. Of all others one is put together from
their fields, each by its name, else by its kind, so that a new route is never without one; a test holds every example to its
schema.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

Json = dict[str, Any]
_DEEPEST = 8
_MOMENT, _DAY, _WEB = "2026-08-01T00:00:00Z", "2026-08-01", "https://town.example/"
_PLACE_IN_A_LIST = "WyIyMDI2LTA4LTAxVDAxOjAwOjAwKzAwOjAwIiwgMTJd"
_NAMED: dict[str, Any] = {
    "name": "盛岡市の催し", "title": "星まつり", "url": f"{_WEB}events.ics", "source_url": f"{_WEB}events.ics", "q": "音楽",
    "city": "盛岡市", "venue": "市民会館", "category": "祭り", "timezone": "Asia/Tokyo", "licence": "CC BY 4.0", "lang": "ja",
    "by": "mia", "who": "mia", "position": "row 3", "row_key": "a1", "field": "frequency", "near": "39.70,141.15,10",
    "cursor": _PLACE_IN_A_LIST, "release": ["price"], "event_ids": [12], "candidate_ids": [12, 13], "lat": 39.7, "lon": 141.15,
    "score": 0.97, "failure_rate": 0.0, "duplicate_rate": 0.12,
}  # fmt: skip
"""By the name of a field; taken when it fits the field's kind."""
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
_SAYS = {
    400: "The request can not be carried out.",
    401: "Sign in, or send a key as “Authorization: Bearer …”.",
    403: "This key lacks the scope events:write: use one that has it.",
    404: "There is no event 12.",
    405: "This address does not take that method: see the header Allow.",
    409: "Event 12 was merged into 11: use that one, or undo the merge.",
    413: "The request is too large: at most 2,048 KiB are taken.",
    415: "Send the body as application/json.",
    422: "Some of the values do not fit: see errors.",
    429: "That was too often: wait a little, then go on.",
    500: "Something went wrong here. The log has more under 5f0c2b7a9d1e4c30.",
    503: "The database does not answer just now: try again later.",
}


def problem_example(status: int) -> Json:
    """What an answer with this status says."""
    title = HTTPStatus(status).phrase
    found: Json = {"type": "about:blank", "title": title, "status": status, "detail": _SAYS.get(status, f"{title}.")}
    if status == HTTPStatus.UNPROCESSABLE_ENTITY:
        found["errors"] = [{"where": ["query", "limit"], "what": "Input should be less than or equal to 200"}]
    return found


def content_example(media: str, schema: Json, schemas: Json) -> Any:
    """What a body of this type may look like."""
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
    """An example with what it lacks: nulls are lost on its way here, and a model that is made from another has more fields."""
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
    said = [one for one in choices if one.get("type") != "null"] or choices
    return example_of(said[0], schemas, name, depth)


def _by_kind(schema: Json, schemas: Json, name: str, depth: int) -> Any:
    kind = schema.get("type")
    if isinstance(known := _NAMED.get(name), _KINDS.get(str(kind), ())) and "format" not in schema:
        return known
    match kind:
        case "object":
            return _object(schema, schemas, depth)
        case "array":
            return [] if depth > _DEEPEST else [example_of(schema.get("items", {}), schemas, name.removesuffix("s"), depth + 1)]
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
    if depth > _DEEPEST:
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
        return f"/api/v1/events?cursor={_PLACE_IN_A_LIST}"
    if name.endswith("_url"):
        return f"{_WEB}terms"
    return "x" * int(schema.get("minLength", 0))
