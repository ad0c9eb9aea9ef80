"""Crawls on PostgreSQL: the rooms of the store as they are, over a connection that speaks the other dialect.

What is written by thousands of rows (`learning`) is said in PostgreSQL's own words; everything else is one statement for both
databases, translated where they differ (`dialect`). A crawl is a schema, and the clock is the database's.
"""
