"""`tadoru serve`: one ASGI service over the events database.

`roles` has the table of every route and who may call it; `access` finds out who calls, and holds every request to that table;
`service` is what the routes work with; `app` puts the rooms together: `rest` (JSON), `feeds` (calendars), `pages` (HTML).
"""
