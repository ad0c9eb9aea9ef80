"""The SQL scripts of a crawl: what creates a new one, and what brings one of an older format to the present one.

Tables are generated from `schema.py` and migrated step by step. Views and functions hold no data, so they are no part of a step:
each migration replaces them by the present ones.
"""

from __future__ import annotations

import re
from importlib import resources
from importlib.resources.abc import Traversable

from tadoru.store.crawl.connection import POSTGRESQL, SqlDialect

SQL: Traversable = resources.files("tadoru.store.crawl").joinpath("sql")
"""The scripts of both databases."""
_ITEM = re.compile(r"\{json_item\}\(([\w.]+), (\d)\)")
_VIEW = re.compile(r"^CREATE VIEW (\w+)", re.MULTILINE)


def pending_scripts(dialect: SqlDialect, found: int, folder: Traversable = SQL) -> list[str]:
    """The scripts that a crawl of format `found` needs (0: there is none), in order."""
    functions = [_read(folder, "functions.sql")] if dialect is POSTGRESQL else []
    text = _ITEM.sub(lambda item: dialect.json_item(item[1], int(item[2])), _read(folder, "views.sql"))
    views = text.replace("{json_list}", dialect.json_list).replace("{json_fields}", dialect.json_fields)
    if not found:
        return [*functions, _read(folder, f"{dialect.name}.sql"), views]
    steps = [step for number, step in migration_steps(dialect, folder) if number > found]
    if not steps:
        return []
    return [*functions, "".join(f"DROP VIEW IF EXISTS {name};\n" for name in _VIEW.findall(views)), *steps, views]


def migration_steps(dialect: SqlDialect, folder: Traversable = SQL) -> list[tuple[int, str]]:
    """Each format after the first with the script that leads to it from the one before."""
    steps = folder.joinpath("upgrade", dialect.name).iterdir()
    return sorted((int(step.name[:4]), step.read_text(encoding="utf-8")) for step in steps)


def _read(folder: Traversable, name: str) -> str:
    return folder.joinpath(name).read_text(encoding="utf-8")
