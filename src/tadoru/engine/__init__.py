"""The crawl loop and what surrounds it: lanes, gates, robots, redirects, flows, processes. Knows no job and no library."""
