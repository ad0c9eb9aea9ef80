"""Decisions: what a URL is, whether it belongs to the crawl, when a host may be requested again, what is a crawler trap.

Pure functions and frozen values: they take `now` and data, and return a decision with its reason. Nothing here opens a
connection, reads a file, reads the clock or logs; the engine does, and acts on the decisions.
"""
