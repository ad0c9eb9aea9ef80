"""Writes the files of a documentation site from a stored crawl. The entry point is `writer.write_bundle`."""
