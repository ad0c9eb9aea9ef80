"""Pages of crawls: the list, the forms, one crawl, and what it found."""
