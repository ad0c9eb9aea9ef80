"""The database door. A crawl is a namespace: one SQLite file (or, for tests and small uses, memory). SQL lives only here."""
