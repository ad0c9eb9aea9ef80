"""The reference page of live messages, from their types."""

from __future__ import annotations

from typing import Any, get_args

from pydantic import BaseModel

from tadoru.serve.live.connection import CLOSE_CODES, MAX_MESSAGE_BYTES, THIN_THRESHOLD
from tadoru.serve.live.messages import CLIENT_REQUESTS, CONNECTION_MESSAGES, EVENT_MESSAGES, MAX_SUBJECTS

_ABOUT = f"""# Live messages

`GET /ws` opens a WebSocket for live messages about crawls, runs and sources. A browser uses its session and must connect from a
page of the service; a program sends an API key as `Authorization: Bearer …` with at least one of the scopes `crawls:read`,
`runs:read` and `sources:read`, and receives the messages of its scopes. Each message is one JSON object in a text frame; a
request has at most {MAX_MESSAGE_BYTES // 1024} KiB.

Subscribe to subjects: `crawl/12`, `source/3`, or all of them with `crawl/*` and `source/*`; at most {MAX_SUBJECTS}. Remember
the `id` of the last message you received. After a break, subscribe with it as `after`: you get the messages since then, in order
and each once, and then new ones. Messages are stored for a day. If yours is older, you get `gap`: read the current state over
REST. If {THIN_THRESHOLD} or more messages are pending for a client, it gets only the newest progress of each crawl, and all other
messages.

A process of the service accepts 2,000 connections, 50 per user or API key, 200 per address, and 120 requests per minute on each.
With `--workers` these limits apply to each process; rate limits, which also count new connections, apply to all processes
together.

```json
{{"kind": "subscribe", "subjects": ["crawl/12", "source/*"], "after": 4711}}
```
"""


def page() -> str:
    lines = [_ABOUT, "## Requests\n"]
    for one in CLIENT_REQUESTS:
        lines += _described(one)
    lines += ["## Messages about the connection\n"]
    for message in CONNECTION_MESSAGES:
        lines += _described(message)
    lines += ["## Messages about crawls and sources\n", "Each of these has `kind`, `id`, `at`, `subject` and a `body` with:\n"]
    for event in EVENT_MESSAGES:
        lines += _described(event, event.model_fields["body"].annotation)
    lines += ["## Close codes\n", "| code | reason |", "|---|---|"]
    lines += [f"| {code} | {why} |" for code, why in CLOSE_CODES.items()]
    lines += ["", "The service pings every 20 seconds and disconnects clients that do not answer within another 20 seconds.", ""]
    return "\n".join(lines)


def _described(message: type[BaseModel], of: Any = None) -> list[str]:
    fields = (of or message).model_json_schema()
    rows = [
        f"| `{name}` | {_type(schema)} | {schema.get('description', '')} |"
        for name, schema in fields["properties"].items()
        if name != "kind"
    ]
    kind = get_args(message.model_fields["kind"].annotation)[0]
    return [f"### `{kind}`\n", (message.__doc__ or "").strip() + "\n", "| field | type | |", "|---|---|---|", *rows, ""]


def _type(schema: dict[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(_type(one) for one in schema["anyOf"])
    name = str(schema.get("type", ""))
    if name == "array":
        return f"list of {_type(schema['items'])}s"
    if name == "object":
        return "names to integers"
    return name
