"""Rendering pages in a browser.

`browser` runs the browser process and `tab` renders one page in it. All requests of a page pass `request_filter` and `proxy`.
"""
