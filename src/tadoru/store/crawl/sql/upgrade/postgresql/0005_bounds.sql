-- Format 5: limits and fairness for crawls of very many hosts.

ALTER TABLE hosts ADD COLUMN asked BIGINT NOT NULL DEFAULT 0;
ALTER TABLE hosts ADD COLUMN leased BIGINT NOT NULL DEFAULT 0;
ALTER TABLE hosts ADD COLUMN turn_at DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE hosts ADD COLUMN standing BIGINT;

UPDATE hosts SET leased = (SELECT count(*) FROM pages WHERE owner IS NOT NULL AND host_id = hosts.id AND purpose = 'page');
UPDATE hosts SET asked = answered.pages FROM (
    SELECT host_id, count(*) AS pages FROM pages
    WHERE purpose = 'page' AND (status = 'completed' OR status = 'error') GROUP BY host_id
) AS answered WHERE answered.host_id = hosts.id;

-- Hosts take turns: the one that has been ready for the longest time comes first.
DROP INDEX hosts_waiting;
CREATE INDEX hosts_waiting ON hosts(GREATEST(next_at, turn_at)) WHERE queued > 0;
