"""How SQLite finds what the analysis of a site asks for: by an index, or in one pass over one table; never a pass in a pass."""

from __future__ import annotations

import re

from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.jobs.sample_sites import crawled, judge
from tests.jobs.site_triggers import TRIGGERS

NOT_PLANNED = ("BEGIN", "COMMIT", "CREATE", "DROP", "--")
SORTED = (
    "SELECT severity, count(*) FROM checks",  # a hundred rows
    "SELECT worst, count(*)",  # four
    "SELECT h.page_id, h.url FROM page_hreflang h",  # only within a page
)


async def statements() -> dict[str, tuple[SqliteStore, str]]:
    """Everything the analysis asks a settled crawl that SQLite knows well, each form of it once."""
    found: dict[str, tuple[SqliteStore, str]] = {}
    for case in TRIGGERS.values():
        store = await crawled(case.sample)
        await store.graph.settle()
        store.sql.execute("ANALYZE")
        seen: list[str] = []
        store.sql.set_trace_callback(seen.append)
        await judge(store)
        store.sql.set_trace_callback(None)
        for statement in seen:
            if not statement.startswith(NOT_PLANNED):
                found.setdefault(re.sub(r"'[^']*'|\d+", "?", statement), (store, statement))
    return found


def plan(store: SqliteStore, statement: str) -> list[str]:
    return [row[3] for row in store.sql.execute(f"EXPLAIN QUERY PLAN {statement}")]


def faults(statement: str, steps: list[str]) -> list[str]:
    """What would not be linear: a second pass, an index made on the way, a sort of everything."""
    # Texts are looked through once, for a list of those that ask not to follow a link.
    small = ("SCAN checks", "SCAN sitemaps", "SCAN v VIRTUAL TABLE", "SCAN (subquery", "SCAN worst_of_pages", "SCAN texts")
    passes = [step for step in steps if step.startswith("SCAN") and not step.startswith(small)]
    made = [step for step in steps if "AUTOMATIC" in step and not step.startswith("SEARCH checks")]
    sorts = [step for step in steps if "TEMP B-TREE" in step and not statement.startswith(SORTED)]
    return passes[1:] + made + sorts


async def test_every_question_is_answered_by_an_index_or_in_one_pass() -> None:
    asked = await statements()
    assert len(asked) > 25
    told = {statement: faults(statement, plan(store, statement)) for store, statement in asked.values()}
    assert {statement: found for statement, found in told.items() if found} == {}


async def test_urls_that_pages_name_are_looked_up_by_the_index_of_urls() -> None:
    asked = await statements()
    (reading,) = (given for given in asked.values() if given[1].startswith("SELECT p.id, CASE WHEN p.purpose"))
    steps = plan(*reading)
    for alias in "cnb":
        assert any(step.startswith(f"SEARCH {alias} USING") and "autoindex_pages_1 (url=?)" in step for step in steps), steps


def test_a_pass_in_a_pass_would_be_seen() -> None:
    assert faults("SELECT", ["SCAN p", "SEARCH d", "SCAN r"]) == ["SCAN r"]
    assert faults("SELECT", ["SCAN p", "SEARCH d USING AUTOMATIC COVERING INDEX (x=?)"]) != []
    assert faults("SELECT", ["SCAN p", "USE TEMP B-TREE FOR ORDER BY"]) != []
    assert faults("SELECT worst, count(*)", ["SCAN (subquery-1)", "USE TEMP B-TREE FOR GROUP BY"]) == []
