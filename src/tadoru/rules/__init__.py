"""Decisions: what a URL is, whether it belongs to the crawl, when a host may be asked again, what is a trap.

Pure functions and frozen values: they take `now` and data and return a verdict with its reason. Nothing here opens a
connection, reads a file, asks the time or logs; the engine does, and acts on what it is told here.
"""
