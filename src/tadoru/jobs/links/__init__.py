"""`tadoru links`: map the links of a site.

`job` handles a page, `run` runs the crawl, `result_reader` reads its `result` from the store. `broken` and `suppressions` decide
which links do not work and what fails a build; `report` shows the result.
"""
