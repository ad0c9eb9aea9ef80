CREATE TABLE block_formats (
    source_id INTEGER NOT NULL,
    format INTEGER DEFAULT 0 NOT NULL,
    PRIMARY KEY (source_id),
    FOREIGN KEY(source_id) REFERENCES sources (id) ON DELETE CASCADE
)
 STRICT;
