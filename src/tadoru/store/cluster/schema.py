"""The tables of a cluster, ours and the task engine's: created, and migrated while workers of the older version run.

Older formats are migrated in order; newer ones are used if they declare that this program can. The task engine declares it in the
names of its migrations: those before an update (`_pre_`) keep older programs working, those after it (`_post_`) do not, and wait
until no such worker is left.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tadoru.errors import NewerFormat, StoreError
from tadoru.store.crawl.postgres.connection import PgConnection

SCHEMA = "tadoru_cluster"
PREPARING = 0x7AD0_0012
"""The advisory lock of whoever makes the tables."""
READABLE_BY = 1
"""The oldest format whose programs can work with the tables of this one."""
_FORMATS = (
    """
CREATE TABLE IF NOT EXISTS crawls (
    name TEXT PRIMARY KEY, job TEXT NOT NULL, options TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'open',
    error TEXT NOT NULL DEFAULT '',
    added_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(), ended_at TIMESTAMPTZ
);
CREATE TABLE IF NOT EXISTS workers (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name TEXT NOT NULL, machine TEXT NOT NULL, pid BIGINT NOT NULL,
    version TEXT NOT NULL, hosts BIGINT NOT NULL DEFAULT 0, pages BIGINT NOT NULL DEFAULT 0,
    rate DOUBLE PRECISION NOT NULL DEFAULT 0,
    started_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(), seen_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp()
);
ALTER TABLE workers ADD COLUMN IF NOT EXISTS engine TEXT NOT NULL DEFAULT '';
""",
)
"""One script for each format, each applied to what the one before it left."""
_FORMAT_TABLE = """CREATE TABLE cluster_format (
    version INTEGER NOT NULL, readable_by INTEGER NOT NULL, engine TEXT NOT NULL, engine_needs TEXT NOT NULL)"""
_AFTER = "_post_"
_OLDER_WORKERS = """SELECT count(*) FROM workers WHERE engine < %s AND seen_at > clock_timestamp() - interval '30 seconds'"""


class TaskEngineSchema(NamedTuple):
    """The task engine's tables, as this version of it needs them."""

    whole: str
    """All of them, for a new cluster."""
    changes: tuple[str, ...]
    """The names of all changes that led there, in order."""
    read: Callable[[str], str]
    """The change of a name."""

    @property
    def last(self) -> str:
        return self.changes[-1]


class _Found(NamedTuple):
    """What the database has now."""

    version: int
    readable_by: int
    engine: str
    """The last change that was made to the task engine's tables."""
    engine_needs: str
    """The last of those after which older programs cannot work."""


def prepare(link: PgConnection, engine: TaskEngineSchema) -> None:
    """Make the tables that are missing, and bring older ones up, all or nothing. Raises StoreError."""
    found = _found(link)
    if found is not None:
        _refuse_newer(link, found, engine)
        if found.version >= len(_FORMATS) and found.engine >= engine.last and found.engine_needs >= _last_after(engine.changes):
            return
    with link.transaction():
        link.run("SELECT pg_advisory_xact_lock(%s)", [PREPARING])
        _bring_up(link, engine)


def _found(link: PgConnection) -> _Found | None:
    if link.run("SELECT to_regclass(%s)", [f"{SCHEMA}.cluster_format"]).fetchall()[0][0] is None:
        return None
    return _Found(*link.run(f"SELECT version, readable_by, engine, engine_needs FROM {SCHEMA}.cluster_format").fetchall()[0])


def _refuse_newer(link: PgConnection, found: _Found, engine: TaskEngineSchema) -> None:
    if found.readable_by > len(_FORMATS) or found.engine_needs > engine.last:
        raise NewerFormat("The cluster in {path} was set up by a newer Tadoru. Upgrade Tadoru to work for it.", path=link.shown)


def _bring_up(link: PgConnection, engine: TaskEngineSchema) -> None:
    if link.run("SELECT to_regnamespace(%s)", [SCHEMA]).fetchall()[0][0] is None:
        link.run(f"CREATE SCHEMA {SCHEMA}")
    found = _found(link)
    if found is None:
        link.run(_FORMAT_TABLE)
        if link.run("SELECT to_regclass(%s)", [f"{SCHEMA}.procrastinate_jobs"]).fetchall()[0][0] is None:
            link.run(engine.whole)
        found = _Found(0, 0, engine.last, _last_after(engine.changes))
        link.run("INSERT INTO cluster_format VALUES (%s, %s, %s, %s)", found)
    _refuse_newer(link, found, engine)
    for script in _FORMATS[found.version :]:
        link.run(script)
    made = _change_engine(link, found, engine)
    last = max(found.version, len(_FORMATS))
    readable_by = READABLE_BY if found.version < len(_FORMATS) else found.readable_by
    values = [last, readable_by, max(found.engine, *made), max(found.engine_needs, _last_after(made))]
    link.run("UPDATE cluster_format SET version = %s, readable_by = %s, engine = %s, engine_needs = %s", values)


def _change_engine(link: PgConnection, found: _Found, engine: TaskEngineSchema) -> tuple[str, ...]:
    """Make the changes that are missing, as far as the workers that live allow it; which."""
    # A change for after an update may have been left out while the one before the next was made.
    missing = [one for one in engine.changes if one > (found.engine_needs if _AFTER in one else found.engine)]
    older: int = link.run(_OLDER_WORKERS, [engine.last]).fetchall()[0][0]
    made = []
    for at, name in enumerate(missing):
        if older and _AFTER in name:
            if any(_AFTER not in later for later in missing[at:]):
                raise StoreError(
                    "The cluster in {path} has workers of an older, incompatible Tadoru. Stop them, then start this one.",
                    path=link.shown,
                )
            break
        link.run(engine.read(name))
        made.append(name)
    return tuple(made) or ("",)


def _last_after(changes: tuple[str, ...]) -> str:
    return max((one for one in changes if _AFTER in one), default="")
