"""Crawls of older formats: the first format as it was, and the steps of the program up to a later one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tadoru.store.crawl.postgres.connection import PgConnection
from tadoru.store.crawl.sqlite.database import APPLICATION_ID, SQL

FIRST = Path(__file__).parent / "first_format"


def scripts_up_to(database: str, version: int) -> list[str]:
    """What made a crawl of this format, on `sqlite` or `postgresql`."""
    steps = sorted(SQL.joinpath("upgrade", database).iterdir(), key=lambda step: step.name)
    first = (FIRST / f"{database}.sql").read_text("utf-8")
    return [first, *(step.read_text("utf-8") for step in steps if int(step.name[:4]) <= version)]


def make_file(path: Path, version: int, rows: str = "") -> None:
    """A crawl of an older format in a file, with these rows."""
    with closing(sqlite3.connect(path, isolation_level=None)) as sql:
        for script in scripts_up_to("sqlite", version):
            sql.executescript(script)
        sql.executescript(rows)
        sql.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        sql.execute(f"PRAGMA user_version = {version}")


def make_schema(link: PgConnection, schema: str, version: int) -> None:
    """A crawl of an older format on PostgreSQL."""
    link.run(f'CREATE SCHEMA "{schema}"')
    for script in scripts_up_to("postgresql", version):
        link.run(script)
    link.run("UPDATE crawl_format SET version = %s", [version])
