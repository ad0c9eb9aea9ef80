CREATE TABLE block_formats (
    source_id BIGINT NOT NULL,
    format BIGINT DEFAULT 0 NOT NULL,
    PRIMARY KEY (source_id),
    FOREIGN KEY(source_id) REFERENCES sources (id) ON DELETE CASCADE
);
