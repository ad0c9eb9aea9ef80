"""From bytes to values: charsets, HTML, links, page heads, sitemaps, dates, event sources. No I/O, and bounded time on any
input.
"""
