"""Renders pages in a browser. Everything that a page requests passes `request_filter` and `proxy`."""
