"""The same engine on any number of machines: PostgreSQL holds the crawls, Procrastinate hands out the work.

A piece of work is a slice: one host of one crawl, for a bounded time. Its lock is the host, so that no two workers ask one host
at a time, whichever crawl they do it for. Queue, locks, heartbeats, retries and periodic tasks are Procrastinate's.
"""
