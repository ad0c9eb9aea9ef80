"""The database of one crawl: the frontier, pages, links, findings and runs, on SQLite, PostgreSQL or in memory."""
