"""Collects events from sources.

`worker_pool` runs many sources, `collector` one: `source_fetch` requests its documents, `readers` parses them, `normalise` makes
drafts, and the database stores and merges them. `source_settings` and `source_registry` check sources before they are saved, and
`trial` tests one without storing events.
"""
