"""The files of a documentation site: everything in its folder, written from a stored crawl. `write.py` is the way in."""
