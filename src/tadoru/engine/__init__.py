"""The crawl loop: host queues, URL filter, robots.txt, redirects, request flows. It knows no job and no third-party library."""
