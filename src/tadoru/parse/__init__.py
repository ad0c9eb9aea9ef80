"""From bytes to values: charset, HTML, links, the head of a page, sitemaps. No I/O; whatever the bytes are, nothing hangs."""
