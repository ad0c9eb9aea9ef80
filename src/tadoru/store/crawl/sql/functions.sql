-- The time of leases and of pacing, in seconds since 1970: the same for every worker, whatever its own clock says.
CREATE OR REPLACE FUNCTION shared_now() RETURNS DOUBLE PRECISION LANGUAGE sql VOLATILE
    AS $$ SELECT extract(epoch FROM clock_timestamp())::double precision $$;

-- Whether a text fits a pattern with * and ?.
CREATE OR REPLACE FUNCTION glob_matches(subject TEXT, pattern TEXT) RETURNS BOOLEAN LANGUAGE sql IMMUTABLE
    AS $$ SELECT subject ~ (
        '^' || replace(replace(regexp_replace(pattern, '([.+^$(){}|\\])', '\\\1', 'g'), '*', '.*'), '?', '.') || '$') $$;

-- The items of a JSON list with their places.
CREATE OR REPLACE FUNCTION json_list(list TEXT) RETURNS TABLE(key BIGINT, value TEXT) LANGUAGE sql IMMUTABLE
    AS $$ SELECT place - 1, item #>> '{}' FROM json_array_elements(list::json) WITH ORDINALITY AS items(item, place) $$;

-- The fields of a JSON object.
CREATE OR REPLACE FUNCTION json_fields(fields TEXT) RETURNS TABLE(key TEXT, value TEXT, place BIGINT) LANGUAGE sql IMMUTABLE
    AS $$ SELECT f.key, f.value #>> '{}', f.place FROM json_each(fields::json) WITH ORDINALITY AS f(key, value, place) $$;

-- One item of a JSON list.
CREATE OR REPLACE FUNCTION json_item(list TEXT, place INTEGER) RETURNS TEXT LANGUAGE sql IMMUTABLE
    AS $$ SELECT list::json ->> place $$;
