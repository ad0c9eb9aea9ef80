"""The reference page of GraphQL, from its schema and limits."""

from __future__ import annotations

from tadoru.serve.graphql import ERROR_CODES, INVALID, TOO_MUCH, graphql_schema
from tadoru.serve.graphql.context import FIELD_ROUTES, route_for
from tadoru.serve.graphql.limits import (
    ASSUMED_LIST_SIZE,
    DEFAULT_PAGE_SIZE,
    MAX_ALIASES,
    MAX_COST,
    MAX_DEPTH,
    MAX_FIELDS,
    MAX_PAGE_SIZE,
    MAX_QUERY_LENGTH,
    MAX_TOKENS,
)

_ABOUT = """# `/graphql`

The views of the REST API, field by field. GraphQL is read-only; changes are made over REST. Send a query by POST as
`application/json` (`{"query": "…", "variables": {…}}`), or by GET in the URL. Authenticate with an API key or a session; a POST
with a session needs the CSRF token of a form (`X-CSRF-Token`). One query per request, no batches.

```console
$ curl 'http://127.0.0.1:8000/graphql' -H 'Content-Type: application/json' \\
    -d '{"query": "{ events(city: \\"盛岡市\\", first: 20) { nodes { title startsAt venue } pageInfo { endCursor } } }"}'
```

A list is returned in pages: `nodes`, and `pageInfo` with `endCursor`, which the next request passes as `after`. The arguments of
`events` are the parameters of `GET /api/v1/events`."""


def page() -> str:
    """The whole page."""
    lines = [_ABOUT, "\n## Permissions\n"]
    lines.append("A field needs the permission of a route ([access](access.md)). Without it the field is null, with an error.\n")
    lines += ["| field | permission of route | role | API key scope |", "|---|---|---|---|"]
    for field, path in FIELD_ROUTES.items():
        row = route_for(path)
        lines.append(f"| `{field}` | `GET {path}` | {row.role.label} | {f'`{row.scope}`' if row.scope else ''} |")
    lines += ["\n## Limits\n", *_limits(), "\n## Errors\n", *_errors(), "\n## Schema\n"]
    return "\n".join([*lines, "```graphql", graphql_schema().as_str(), "```", ""])


def _limits() -> list[str]:
    return [
        "Limits are checked before anything is read; a query over a limit is refused with 400.\n",
        "| limit | |", "|---|---|",
        f"| cost | {MAX_COST:,} |", f"| nesting depth | {MAX_DEPTH} |", f"| aliases | {MAX_ALIASES} |",
        f"| fields in the query text | {MAX_FIELDS} |",
        f"| tokens | {MAX_TOKENS:,} |", f"| characters | {MAX_QUERY_LENGTH:,} |",
        f"| page size (`first`) | {DEFAULT_PAGE_SIZE}, at most {MAX_PAGE_SIZE} |",
        "",
        "Every field costs 1. Fields of the entries of a page cost `first` times as much, those of the entries of other lists",
        f"{ASSUMED_LIST_SIZE} times. So a page of 100 events with 36 fields each costs about 3,600.",
    ]  # fmt: skip


def _errors() -> list[str]:
    codes = {status: code for status, code in ERROR_CODES.items() if status not in (400,)}
    rows = [f"| `{code}` | {status} |" for status, code in codes.items()]
    return [
        "An error has a `message` in the language of `Accept-Language` or of the session and, under `extensions`, a `code`, the",
        "`status` and the code (`problem`) that the REST API would have, and the values in the message (`params`).\n",
        "| code | status |", "|---|---|",
        f"| `{INVALID}` | 400: the query is invalid for the schema |",
        f"| `{TOO_MUCH}` | 400: the query is over a limit |",
        *rows,
    ]  # fmt: skip
