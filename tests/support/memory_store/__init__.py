"""The contract of a crawl store in plain Python: short enough to be read and believed."""
