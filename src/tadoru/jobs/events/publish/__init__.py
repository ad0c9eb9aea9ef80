"""Output formats of a calendar: `json_documents` (JSON and JSON-LD), `ics` and `rss_and_csv`; `list_pages` serves lists page by
page.

Each takes the events of `EventQueries.iterate` one by one and yields text, so calendars of any size can be streamed to a
file or a connection.
"""
