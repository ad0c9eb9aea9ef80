"""The site of a small town, Hoshimachi / 星町, served on loopback, to try every job without network access.

    site/       the files of the site: pages, images, feeds, documentation, robots.txt
    server.py   renders the files and serves them, with redirects, an endless calendar, an API and intentional errors

The errors of the site are intentional and listed in `server.py`. The command `tadoru demo` is in `cli/demo.py`.
"""
