"""The `audit` job: a site's problems, in a database. Here its pure half: what a page is checked for (`catalogue`, `checks`)."""
