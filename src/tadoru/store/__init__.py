"""Databases: one crawl each (`crawl`), the calendar, accounts, crawls of the service, the state of a cluster. All SQL is here."""
