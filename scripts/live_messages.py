"""The page about live messages, from their types."""

from __future__ import annotations

from typing import Any, get_args

from pydantic import BaseModel

from tadoru.serve.live.messages import ASKED, MOST_SUBJECTS, SAID, TOLD
from tadoru.serve.live.talk import CODES, THIN
from tadoru.serve.live.wire import LARGEST

_ABOUT = f"""# Live messages

`GET /ws` opens a WebSocket that tells what happens while it happens. A browser is known by its session and has to come from a
page of the service; a program sends a key as `Authorization: Bearer …` with at least one of the scopes `crawls:read`, `runs:read`
and `sources:read`, and hears of what they allow. Each message is one JSON object in a text frame; one that you send has at most
{LARGEST // 1024} KiB.

Listen to subjects: `crawl/12`, `source/3`, or all of them with `crawl/*` and `source/*`; {MOST_SUBJECTS} at most. Remember the
`id` of the last message you saw. After a break, subscribe with it as `after`, and you get what came since, in order and each
message once, and then what is new. Messages are kept for a day. When yours is older, `gap` says so: read the present state over
REST. Who is so slow, or was away for so long, that {THIN} messages or more wait, gets only the newest progress of each crawl, and
everything else.

A process of the service holds 2,000 connections, 50 of one person or key, 200 from one address, and takes 120 messages a minute
on each. With `--workers` these bounds hold for each process; rate limits, which count the opening of a connection too, hold for
all of them together.

```json
{{"kind": "subscribe", "subjects": ["crawl/12", "source/*"], "after": 4711}}
```
"""


def page() -> str:
    lines = [_ABOUT, "## What you may send\n"]
    for one in ASKED:
        lines += _described(one)
    lines += ["## What the service says of the connection\n"]
    for said in SAID:
        lines += _described(said)
    lines += ["## What is told of crawls and sources\n", "Each of these has `kind`, `id`, `at`, `subject` and a `body` with:\n"]
    for told in TOLD:
        lines += _described(told, told.model_fields["body"].annotation)
    lines += ["## Why a connection is closed\n", "| code | why |", "|---|---|"]
    lines += [f"| {code} | {why} |" for code, why in CODES.items()]
    lines += ["", "The service pings every 20 seconds; whoever does not answer within 20 more is disconnected.", ""]
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
