"""Documentation sites of the service: their files, pages, search and comparison of versions (`sites`), and Markdown as HTML
(`markdown_html`).

The crawls that make them are in `serve.crawl_runner`. The REST API, GraphQL and the web pages use these functions.
"""
