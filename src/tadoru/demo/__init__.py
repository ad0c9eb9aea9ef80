"""The site of a small town, Hoshimachi / 星町, served on loopback, to try every job without network access.

    site/       the town's files as they are written: pages, pictures, feeds, documentation, robots.txt
    pages.py    a file and its layout become an answer
    routes.py   which address is answered how: files, redirects, the endless calendar, the paged API, what is broken on purpose
    changes.py  files of a person that take the place of the town's own
    dates.py    days in the files are counted from next Monday, so that the town always has something coming up
    site.py     the server, and the process it runs in

What is wrong with the site is wrong on purpose and listed in `routes.py`. The command `tadoru demo` is in `cli/demo.py`.
"""
