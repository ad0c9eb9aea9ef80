"""Crawls on several machines: PostgreSQL stores the crawls, Procrastinate distributes the tasks.

The unit of work is a slice: one host of one crawl, for a limited time. Its lock is the host, so that no two workers send requests
to one host at a time, for any crawl. Queue, locks, heartbeats, retries and periodic tasks are of Procrastinate.
"""
