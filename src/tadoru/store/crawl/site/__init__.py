"""A crawled site in memory, as arrays of pages and links, for the checks that need the whole site."""
