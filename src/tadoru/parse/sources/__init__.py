"""The readers of event sources: bytes of a feed, a calendar, an API, a page or a table in, raw events and problems out.

They decide nothing about events: what a date means, which city it is, whether two are one is said elsewhere (`parse.dates`,
`jobs.events`). They fetch nothing, and whatever a site sends makes them neither raise nor run for long.
"""
