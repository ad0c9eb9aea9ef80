"""Exports of a crawl: csv, jsonl, parquet, xlsx, sitemap, warc, dot.

`choose` knows the forms and what may be asked of them, `run` writes an export, `output` is where it goes; each form is in a file
of its own, which is imported when it is asked for: some bring large libraries along, and those are optional.
"""
