"""`tadoru events`: collects calendar events from many sources, normalises and deduplicates them, and publishes a calendar.

`collect` runs sources, `normalise` turns what they wrote into drafts, `dedupe` decides which drafts are one event
(`dedupe.matcher`), `enrich` fills in categories and summaries, `publish` writes calendars and JSON, `search` syncs external
search engines. The database is `store.calendar`.
"""
