"""The crawls of the service: which there are, how each stands, what its runs found, and what is told of them while they run.

What a crawl finds is in a database of its own (`tadoru.store.crawl.open`); here is only what the service has to know of it.
"""
