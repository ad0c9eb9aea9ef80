"""Migrates a crawl on PostgreSQL while others work on it.

One process migrates, in one transaction; the others continue to read, wait to write, or find it done. A statement that needs a
table exclusively waits only briefly, because others queue behind it; then everything is rolled back and repeated.
`docs/explanation/formats.md` describes what a new format may contain.
"""

from __future__ import annotations

from importlib.resources.abc import Traversable

from tadoru.errors import NewerFormat, StoreError
from tadoru.store.crawl.connection import POSTGRESQL
from tadoru.store.crawl.postgres.connection import PgConnection
from tadoru.store.crawl.postgres.crawl_url import CrawlUrl
from tadoru.store.crawl.scripts import SQL, pending_scripts
from tadoru.store.errors import DeadlockVictim

FORMAT = 8
"""The format of a crawl: that of `schema.py`, and of the last step in `sql/upgrade/postgresql`."""
READABLE_BY = 6
"""The oldest format whose programs can work on a crawl of this one. Before format 6, programs numbered pages themselves."""
WRITING, MIGRATING = 0x7AD0_0010, 0x7AD0_0011
"""Advisory locks: who writes to a crawl, who brings it to another format."""
ATTEMPTS = 60
"""How often it is tried, about a second each with the pause after it, while others hold what it needs."""
_LONGEST_WAIT = "500ms"
_PAUSE = 0.5
_BUSY = "55P03"


def format_of(link: PgConnection, schema: str, known: int = FORMAT) -> int | None:
    """The format of a crawl, None when there is none. Raises StoreError when programs of format `known` cannot work on it."""
    there = link.run("SELECT to_regclass(%s)", [f'"{schema}".crawl_format']).fetchone()
    if there is None or there[0] is None:
        return None
    version, readable_by = link.run(f'SELECT version, readable_by FROM "{schema}".crawl_format').fetchone() or (0, 0)
    if readable_by > known:
        raise NewerFormat(
            "{path} was written by a newer Tadoru (format {format}). Upgrade Tadoru to read it.", path=link.shown, format=version
        )
    return int(version)


def format_at(address: CrawlUrl) -> int | None:
    """The format of the crawl at an address, None when there is none."""
    link = PgConnection(address)
    try:
        return format_of(link, address.schema)
    finally:
        link.close()


def migrate(
    link: PgConnection,
    schema: str,
    *,
    version: int = FORMAT,
    readable_by: int = READABLE_BY,
    folder: Traversable = SQL,
    attempts: int = ATTEMPTS,
) -> None:
    """Bring a new or an older crawl to the present format, all or nothing, unless another process was faster. Tests pass scripts
    of a later format."""
    for left in reversed(range(attempts)):
        try:
            _migrate_once(link, schema, version, readable_by, folder)
            return
        except StoreError as error:
            is_busy = isinstance(error, DeadlockVictim) or getattr(error.__cause__, "sqlstate", None) == _BUSY
            if not is_busy:
                raise
            if not left:
                raise StoreError(
                    "Cannot migrate {path} to format {format}: it is in use. Stop long-running readers and rerun the command.",
                    path=link.shown,
                    format=version,
                ) from error
        link.run("SELECT pg_sleep(%s * (0.5 + random()))", [_PAUSE])  # Those who waited have their turn.


def _migrate_once(link: PgConnection, schema: str, version: int, readable_by: int, folder: Traversable) -> None:
    run = link.run
    with link.transaction():
        run(f"SET LOCAL lock_timeout TO '{_LONGEST_WAIT}'")
        for key in (MIGRATING, WRITING):
            run("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", [key, schema])
        run(f'CREATE SCHEMA IF NOT EXISTS "{schema}"')
        found = format_of(link, schema, version)
        for script in pending_scripts(POSTGRESQL, found or 0, folder):
            run(script)
        if found is None:
            run("INSERT INTO crawl_format VALUES (%s, %s)", [version, readable_by])
        else:
            run("UPDATE crawl_format SET version = %s, readable_by = %s WHERE version < %s", [version, readable_by, version])
