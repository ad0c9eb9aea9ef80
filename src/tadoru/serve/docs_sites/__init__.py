"""Documentation sites of the service: list, files and refresh (`sites`), pages, contents and search (`pages`), changes of a page
(`page_diff`), and Markdown as HTML (`markdown_html`).

The crawls that make them are in `serve.crawl_runner`. The REST API, GraphQL and the web pages use these functions.
"""
