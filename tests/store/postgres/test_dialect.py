"""Statements of the store in the other dialect: what is written for SQLite means the same on PostgreSQL."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.store.crawl.postgres.dialect import KEYS, plain, translated, values

SAME_MEANING = {
    "SELECT 1 FROM a WHERE b = ?": "SELECT 1 FROM a WHERE b = %s",
    "UPDATE a SET b = ?2 WHERE c = ?1": "UPDATE a SET b = %(p2)s WHERE c = %(p1)s",
    "SELECT :run": "SELECT %(run)s",
    "SELECT a::bigint": "SELECT a::bigint",
    "SELECT '? :run %' || ?": "SELECT '? :run %%' || %s",
    "SELECT 7 % 2": "SELECT 7 %% 2",
    "SELECT 1 FROM pages p INDEXED BY some_index WHERE true": "SELECT 1 FROM pages p WHERE true",
    "SELECT 1 FROM a CROSS JOIN b ON b.x = a.x": "SELECT 1 FROM a JOIN b ON b.x = a.x",
    "SELECT 1 FROM a CROSS JOIN json_each(a.list) i": "SELECT 1 FROM a CROSS JOIN json_list(a.list) i",
    "SELECT 1 FROM d CROSS JOIN json_each(d.extracted) e": "SELECT 1 FROM d CROSS JOIN json_fields(d.extracted) e",
    "SELECT json_extract(i.value, '$[2]')": "SELECT json_item(i.value, 2)",
    "SELECT json_extract(d.rendering, '$.failed')": "SELECT (d.rendering::json ->> 'failed')",
    "SELECT max(a, b), max(c)": "SELECT GREATEST(a, b), max(c)",
    "SELECT min(max(a, f(b, c)), d)": "SELECT LEAST(GREATEST(a, f(b, c)), d)",
    "SELECT 1 WHERE a IS NOT b AND c IS NOT NULL": "SELECT 1 WHERE a IS DISTINCT FROM b AND c IS NOT NULL",
    "SELECT 1 WHERE a GLOB 'x*'": "SELECT 1 WHERE glob_matches(a, 'x*')",
    "SELECT 1 WHERE a LIKE 'x%'": "SELECT 1 WHERE a ILIKE 'x%%'",
    "SELECT 1 FROM sqlite_schema WHERE name = 'an_index'": "SELECT 1 FROM pg_class WHERE oid = to_regclass('an_index')",
    "DELETE FROM temp.aside": "DELETE FROM pg_temp.aside",
    "SELECT id FROM pages WHERE url = ?": "SELECT id FROM pages WHERE md5(url)::uuid = md5(%s)::uuid",
    "INSERT OR IGNORE INTO a VALUES (?) RETURNING b": "INSERT INTO a VALUES (%s) ON CONFLICT DO NOTHING RETURNING b",
    "INSERT OR REPLACE INTO crawl_meta VALUES (?, ?)": "INSERT INTO crawl_meta VALUES (%s, %s) ON CONFLICT (key) DO UPDATE SET"
    " value = EXCLUDED.value",
}


@pytest.mark.parametrize("statement", SAME_MEANING)
def test_a_statement_says_the_same_in_the_other_dialect(statement: str) -> None:
    assert translated(statement) == SAME_MEANING[statement]


@pytest.mark.parametrize("table", KEYS)
def test_a_row_that_replaces_another_replaces_all_of_it(table: str) -> None:
    text = translated(f"INSERT OR REPLACE INTO {table} VALUES (?)")
    assert f"ON CONFLICT ({', '.join(KEYS[table])}) DO UPDATE SET " in text


def test_values_have_the_names_that_the_statement_gives_them() -> None:
    assert values((1, "a"), "SELECT ?, ?") == [1, "a"]
    assert values((1, "a"), "SELECT ?2, ?1") == {"p1": 1, "p2": "a"}
    assert values({"run": 3}, "SELECT :run") == {"run": 3}


@given(st.text())
def test_any_text_becomes_one_that_the_database_can_hold(text: str) -> None:
    kept = plain(text)
    assert isinstance(kept, str)
    assert "\x00" not in kept
    kept.encode()
    if "\x00" not in text and not any("\ud800" <= char <= "\udfff" for char in text):
        assert kept == text
