"""One suite over every backend of the store: what `tadoru.store.crawl.interface.CrawlStore` promises."""
