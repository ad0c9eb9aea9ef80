"""A crawl on PostgreSQL: a schema of its own, leases with SKIP LOCKED, the clock of the database."""
