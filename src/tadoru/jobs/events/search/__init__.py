"""Telling a search engine what the calendar holds: `documents` is what it is told, `sync` when and in which order, `engine` what
is asked of any engine, and `meilisearch_engine` and `typesense_engine` know one each, with its official client.
"""
