"""Documentation sites in the service: their files, pages, search and comparison of versions (`sites`), and Markdown as HTML
(`markdown_html`)."""
