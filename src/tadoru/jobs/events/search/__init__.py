"""Syncs the calendar to an external search engine: `index_sync` decides what to send, `engine` defines the documents and the
interface of an engine, `meilisearch_engine` and `typesense_engine` implement it with the official clients."""
