"""The site of a small town, Hoshimachi / 星町, served on loopback, to try every job without network access.

    site/       the files of the site: pages, images, feeds, documentation, robots.txt
    pages.py    renders a file and its layout; dates are relative to next Monday, so that events are always upcoming
    routes.py   maps URLs to responses: files, redirects, the endless calendar, the paginated API, intentional errors
    server.py   the server and its process; files in a folder of the user replace those of the site

The errors of the site are intentional and listed in `routes.py`. The command `tadoru demo` is in `cli/demo.py`.
"""
