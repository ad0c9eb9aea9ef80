"""A crawl in a SQLite file: one connection per process, on the event loop."""
