"""Readers of event sources: bytes of a feed, calendar, API response, page or table in, raw events and problems out.

They do not interpret events: dates, cities and duplicates are handled elsewhere (`parse.dates`, `jobs.events`). They fetch
nothing, never raise because of the content, and take bounded time.
"""
