"""The whole site at once: every page and link of a crawl as arrays, and the SQL of what needs more than one page.

Arrays are indexed by page id, so a million pages take a few bytes each and every question is a pass over them. What is right or
wrong is said by `jobs.audit.site_checks`.
"""
