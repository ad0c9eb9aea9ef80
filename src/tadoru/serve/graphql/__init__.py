"""GraphQL at `/graphql`: the views of the REST API, field by field. It is read-only; changes are made over REST.

`types` builds the schema's types from the models of the API, `schema` has the root fields, `context` the request context and the
permission of each field (that of a REST route), `limits` the maximum size of a query, `execution` runs queries and formats
errors, and is the HTTP endpoint. There is no query page: any client can use introspection.
"""

from __future__ import annotations

from tadoru.serve.graphql.execution import router

__all__ = ["router"]
