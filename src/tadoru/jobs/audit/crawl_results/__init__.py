"""Reads a crawl by the path of its database, for web pages, REST and GraphQL, also while the crawl runs.

Each function opens the file, reads everything in one transaction, and closes it; nothing is written. It returns frozen values of
limited size: lists continue by cursors. Values that a crawl of links or documentation does not have are None or empty.

All raise `CrawlNotReadable` if the file contains no crawl, `StoreError` if it cannot be read, and `UsageError` for invalid
arguments, such as a cursor of another list.
"""
