"""One suite over every backend of the store: what `tadoru.store.base.CrawlStore` promises."""
