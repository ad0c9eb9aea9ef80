-- Format 5: limits and fairness for crawls of very many hosts.

ALTER TABLE hosts ADD COLUMN asked INTEGER NOT NULL DEFAULT 0; -- Requests for its pages in this run.
ALTER TABLE hosts ADD COLUMN leased INTEGER NOT NULL DEFAULT 0; -- Its pages that somebody holds now.
ALTER TABLE hosts ADD COLUMN turn_at REAL NOT NULL DEFAULT 0; -- When it became known, and later: when it last gave URLs away.
ALTER TABLE hosts ADD COLUMN standing INTEGER; -- 1: one of the hosts of its domain that are asked; 0: one too many.

UPDATE hosts SET leased = (SELECT count(*) FROM pages WHERE owner IS NOT NULL AND host_id = hosts.id AND purpose = 'page');
CREATE TEMP TABLE answered AS SELECT host_id, count(*) AS pages FROM pages
    WHERE purpose = 'page' AND (status = 'completed' OR status = 'error') GROUP BY host_id;
UPDATE hosts SET asked = answered.pages FROM answered WHERE answered.host_id = hosts.id;
DROP TABLE answered;

-- Hosts take turns: the one that has been ready for the longest time comes first.
DROP INDEX hosts_waiting;
CREATE INDEX hosts_waiting ON hosts(max(next_at, turn_at)) WHERE queued > 0;
