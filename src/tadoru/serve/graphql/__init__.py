"""GraphQL at `/graphql`: the same views as REST, asked for field by field. It only reads; changes are made over REST.

`types` makes the types of the schema from the models of REST, `schema` has the fields one may begin with, `asking` who asks and
what they may (each field names the route of REST whose right it needs), `limits` how much one request may ask for, `faults` how a
failure is told, and `route` the door. There is no page to try it on: the schema answers introspection, for any client.
"""

from __future__ import annotations

from tadoru.serve.graphql.route import router

__all__ = ["router"]
