CREATE TABLE search_targets (
    id BIGSERIAL NOT NULL,
    name TEXT NOT NULL,
    since TIMESTAMP WITH TIME ZONE NOT NULL,
    synced_at TIMESTAMP WITH TIME ZONE,
    form TEXT DEFAULT '' NOT NULL,
    worker_id BIGINT,
    PRIMARY KEY (id),
    UNIQUE (name),
    FOREIGN KEY(worker_id) REFERENCES workers (id) ON DELETE SET NULL
);

CREATE TABLE search_changes (
    target_id BIGINT NOT NULL,
    event_id BIGINT NOT NULL,
    number BIGINT DEFAULT 1 NOT NULL,
    PRIMARY KEY (target_id, event_id),
    FOREIGN KEY(target_id) REFERENCES search_targets (id) ON DELETE CASCADE
);

CREATE INDEX events_search_words ON events USING gin (array_to_tsvector(string_to_array(btrim(search_text), ' ')));

CREATE FUNCTION events_search_tell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO search_changes AS known (target_id, event_id) SELECT id, CASE WHEN TG_OP = 'DELETE' THEN OLD.id ELSE NEW.id END FROM search_targets ON CONFLICT (target_id, event_id) DO UPDATE SET number = known.number + 1; RETURN NULL; END $$;

CREATE TRIGGER events_search_told AFTER INSERT OR DELETE OR UPDATE OF uid, title, description, starts_at, ends_at, all_day, local_date, timezone, venue, address, city, lat, lon, category, price, organizer, url, source_url, licence, status, updated_at, cancelled_at, vanished_at, archived_at, merged_into, times ON events FOR EACH ROW EXECUTE FUNCTION events_search_tell();
