"""The crawl loop and what surrounds it: queues, URL filter, robots, redirects, flows, processes. Knows no job and no library."""
