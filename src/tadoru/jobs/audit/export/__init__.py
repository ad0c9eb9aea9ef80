"""Exports of a crawl as CSV, JSONL, Parquet, XLSX, sitemap, WARC and DOT.

`exporter` checks and runs an export, `atomic_files` writes its files. Each format is imported when it is used: some need large
optional libraries.
"""
