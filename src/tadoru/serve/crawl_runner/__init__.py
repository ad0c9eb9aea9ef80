"""Crawls that the service runs: who may ask for what, the processes that do the work, and who is told when a site got worse.

A crawl is a row of the service's database (`store.served_crawls`). `control` is what routes and pages call; `dispatcher` is a thread
of each process of the service that takes what is queued and starts `child`, a process of its own for each crawl.
"""
