"""docs/reference/database.md: every table and view of a crawl, from its SQL script and the descriptions in columns.toml."""

from __future__ import annotations

import re
import sqlite3
import tomllib
from pathlib import Path
from typing import Any

from tadoru.store.crawl.connection import SQLITE
from tadoru.store.crawl.scripts import pending_scripts

SQL = "\n".join(pending_scripts(SQLITE, 0))
WORDS = Path(__file__).parent / "columns.toml"
BEGIN_HERE = ("audited_pages", "findings", "links")
COMMENTED = re.compile(r"((?:^-- .*\n)*)^CREATE (TABLE|VIEW) (\w+)", re.MULTILINE)


def columns() -> dict[str, dict[str, str]]:
    """The description of each column: table or view → column → sentence. Raises SystemExit if one is missing or unused."""
    words: dict[str, Any] = tomllib.loads(WORDS.read_text("utf-8"))
    internal, general = words.pop("internal"), words.pop("any")
    schema = _schema()
    missing, used = [], set()
    found: dict[str, dict[str, str]] = {}
    for name in schema:
        found[name] = {}
        for column in schema[name]:
            own = words.get(name, {}).get(column)
            if own is None:
                used.add(column)
            sentence = own or general.get(column)
            if sentence is None:
                missing.append(f"{name}.{column}")
            found[name][column] = sentence or ""
    left = [f"{name}.{column}" for name in words for column in words[name] if column not in schema.get(name, [])]
    left += [name for name in (*words, *internal) if name not in schema] + sorted(general.keys() - used)
    if missing or left:
        raise SystemExit(f"scripts/columns.toml: no description for {missing}; not in the database: {left}")
    return found


def page() -> str:
    """The text of database.md, without its note."""
    described, sentences, kinds = columns(), _sentences(), _kinds()
    internal = tomllib.loads(WORDS.read_text("utf-8"))["internal"]
    views = sorted((name for name in described if kinds[name] == "view"), key=lambda name: (*BEGIN_HERE, name).index(name))
    tables = [name for name in described if kinds[name] == "table" and name not in internal]
    lines = [
        "# Crawl database\n",
        "A crawl is one SQLite file. Times are UTC texts that SQLite's date functions understand. For examples see",
        "[query a crawl](../how-to/query.md).\n",
    ]
    for heading, names in (
        ("Views: start here", views),
        ("Tables", tables),
        ("Internal tables, which may change in any version", internal),
    ):
        lines.append(f"## {heading}\n")
        for name in names:
            lines += [f"### `{name}`\n", f"{sentences[name]}\n", "| column | description |", "|---|---|"]
            lines += [f"| `{column}` | {words} |" for column, words in described[name].items()]
            lines.append("")
    return "\n".join(lines)


def public() -> dict[str, set[str]]:
    """The public columns: table or view → its columns."""
    internal = tomllib.loads(WORDS.read_text("utf-8"))["internal"]
    return {name: set(found) for name, found in columns().items() if name not in internal}


def _schema() -> dict[str, list[str]]:
    sql = sqlite3.connect(":memory:")
    try:
        sql.executescript(SQL)
        names = [row[0] for row in sql.execute(_OBJECTS)]
        return {name: [row[1] for row in sql.execute(f"PRAGMA table_info({name})")] for name in names}
    finally:
        sql.close()


_OBJECTS = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%' ORDER BY rowid"


def _kinds() -> dict[str, str]:
    return {name: kind.lower() for _, kind, name in COMMENTED.findall(SQL)}


def _sentences() -> dict[str, str]:
    """The comment above each table and view."""
    found = {
        name: " ".join(line.removeprefix("-- ") for line in comment.splitlines()) for comment, _, name in COMMENTED.findall(SQL)
    }
    if missing := [name for name, text in found.items() if not text]:
        raise SystemExit(f"store/crawl/sql: no comment above {missing}")
    return found
