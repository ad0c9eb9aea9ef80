"""GraphQL described for people, from the schema and the limits themselves: docs/reference/graphql.md is made of it."""

from __future__ import annotations

from tadoru.serve.graphql.context import FIELD_ROUTES, route_for
from tadoru.serve.graphql.execution import ERROR_CODES, INVALID, TOO_MUCH, graphql_schema
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

The views of the REST interface, field by field. It only reads: changes are made over REST. Send a query by POST as
`application/json` (`{"query": "…", "variables": {…}}`), or by GET in the address. Who asks is known by a key or a session, as
everywhere; somebody who is signed in sends the token of a form with a POST (`X-CSRF-Token`). One query a request, no batches.

```console
$ curl 'http://127.0.0.1:8000/graphql' -H 'Content-Type: application/json' \\
    -d '{"query": "{ events(city: \\"盛岡市\\", first: 20) { nodes { title startsAt venue } pageInfo { endCursor } } }"}'
```

A list is a page: `nodes`, and `pageInfo` with `endCursor`, which the next request passes as `after`. The arguments of `events`
are the parameters of `GET /api/v1/events`."""


def page() -> str:
    """The whole page."""
    lines = [_ABOUT, "\n## Who may read what\n"]
    lines.append(
        "A field asks for the right of a route ([access](access.md)). Without it the field is null, and an error says why.\n"
    )
    lines += ["| field | route whose right it needs | role | scope of a key |", "|---|---|---|---|"]
    for field, path in FIELD_ROUTES.items():
        row = route_for(path)
        lines.append(f"| `{field}` | `GET {path}` | {row.role.label} | {f'`{row.scope}`' if row.scope else ''} |")
    lines += ["\n## How much one request may ask for\n", *_limits(), "\n## Errors\n", *_errors(), "\n## The schema\n"]
    return "\n".join([*lines, "```graphql", graphql_schema().as_str(), "```", ""])


def _limits() -> list[str]:
    return [
        "Counted before anything is read; what is over a limit is refused with 400 and a sentence about what to do.\n",
        "| limit | |", "|---|---|",
        f"| cost | {MAX_COST:,} |", f"| fields within fields | {MAX_DEPTH} |", f"| aliases | {MAX_ALIASES} |",
        f"| fields as they are written | {MAX_FIELDS} |",
        f"| words and signs | {MAX_TOKENS:,} |", f"| characters | {MAX_QUERY_LENGTH:,} |",
        f"| page size (`first`) | {DEFAULT_PAGE_SIZE}, at most {MAX_PAGE_SIZE} |",
        "",
        "Every field costs 1. What is asked of a page's entries costs `first` times as much, and what is asked of the entries of",
        f"another list {ASSUMED_LIST_SIZE} times. So a page of 100 events with 36 fields each costs some 3,600.",
    ]  # fmt: skip


def _errors() -> list[str]:
    codes = {status: code for status, code in ERROR_CODES.items() if status not in (400,)}
    rows = [f"| `{code}` | {status} |" for status, code in codes.items()]
    return [
        "An error has a sentence (`message`) and under `extensions` a code and the status that REST would answer with.\n",
        "| code | status |", "|---|---|",
        f"| `{INVALID}` | 400: the query does not fit the schema |", f"| `{TOO_MUCH}` | 400: it asks for too much |", *rows,
    ]  # fmt: skip
