"""`tadoru links`: map a site's links.

`result` holds the values, `broken`, `suppress` and `gates` the rules that judge them, `report` the forms they are shown in.
All of these are pure; what runs the crawl is in `job`.
"""
