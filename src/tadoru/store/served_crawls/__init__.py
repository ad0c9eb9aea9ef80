"""The crawls of the service: their registry, states, run history and live messages.

The results of a crawl are in a database of its own (`store.crawl`).
"""
