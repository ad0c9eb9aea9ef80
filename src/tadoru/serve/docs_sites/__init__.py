"""Documentation sites of the service, read: which there are (`sites`), their pages and what is found in them (`reading`), their
contents (`contents`), what changed (`history`, `differences`), their files (`downloads`), and Markdown as HTML (`markup`).

The crawls that make them are `serve.crawl_runner`; REST and pages both read through here.
"""
