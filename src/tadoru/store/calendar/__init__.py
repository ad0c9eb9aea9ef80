"""The calendar database: sources, their sightings, the events made of them, and the state of collecting.

`schema` defines the tables, `migrations` and `migrate` create them, `database` opens connections and transactions, and `records`
holds the values that the methods take and return. Each other module is one subject: `sources`, `schedule` and `runs` for
collecting; `apply` and `apply_chunk` for storing a run; `merge_candidates` and `merging` for merging;
`review_items`, `review_queue` and `manual_edits` for people; `listing`, `page_rows` and the `search_*` modules for reading;
`backup` for whole databases. `store` combines them into one class.

Whether two descriptions are one event is not decided here but in `jobs.events.dedupe.matcher`, which callers pass in as a
`records.Matcher`.
"""
