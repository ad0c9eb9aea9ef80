"""Crawls of older formats: the first format as it was, and the steps of the program up to a later one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tadoru.store.crawl.connection import POSTGRESQL, SQLITE, SqlDialect
from tadoru.store.crawl.postgres.connection import PgConnection
from tadoru.store.crawl.scripts import migration_steps
from tadoru.store.errors import CRAWL_FILE

FIRST = Path(__file__).parent / "first_format"


def scripts_up_to(dialect: SqlDialect, version: int) -> list[str]:
    """What made the tables of a crawl of this format. Views are those of the first format: each migration replaces them."""
    first = [(FIRST / name).read_text("utf-8") for name in (f"{dialect.name}.sql", "views.sql")]
    return [*first, *(step for number, step in migration_steps(dialect) if number <= version)]


def make_file(path: Path, version: int, rows: str = "") -> None:
    """A crawl of an older format in a file, with these rows."""
    with closing(sqlite3.connect(path, isolation_level=None)) as sql:
        for script in scripts_up_to(SQLITE, version):
            sql.executescript(script)
        sql.executescript(rows)
        sql.execute(f"PRAGMA application_id = {CRAWL_FILE}")
        sql.execute(f"PRAGMA user_version = {version}")


def make_schema(link: PgConnection, schema: str, version: int) -> None:
    """A crawl of an older format on PostgreSQL."""
    link.run(f'CREATE SCHEMA "{schema}"')
    for script in scripts_up_to(POSTGRESQL, version):
        link.run(script)
    link.run("UPDATE crawl_format SET version = %s", [version])
