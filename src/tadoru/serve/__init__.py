"""`tadoru serve`: one ASGI service over the calendar database.

`roles` has the table of every route and the role it needs, `auth` identifies callers and enforces the table, `service` is what
routes work with, `app` assembles the application: `api` (REST and feeds), `graphql`, `live` (WebSocket) and `web` (pages).
`crawl_runner` runs crawls.
"""
