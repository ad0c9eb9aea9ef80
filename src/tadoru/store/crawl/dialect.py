"""The words in which SQLite and PostgreSQL differ, for statements that are otherwise the same.

A statement is composed of these when a part of the store is made; nothing rewrites SQL afterwards. What needs more than a word is
written twice, side by side.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SqlDialect:
    """One database's words."""

    name: str
    join_in_order: str
    """A join that keeps the order of its tables. Without it, SQLite may choose a worse one."""
    by_id: str
    """After a table: it is read by its primary key."""
    by_url: str
    """After `pages`: it is read in the order of its URLs."""
    greatest: str
    least: str
    json_list: str
    """A table function: key and value of each item of a JSON array."""
    json_fields: str
    """A table function: key and value of each field of a JSON object."""
    json_array: str
    json_group_array: str

    def indexed_by(self, index: str) -> str:
        """After a table: it is read by this index."""
        return f"INDEXED BY {index}" if self.name == "sqlite" else ""

    def is_text(self, column: str, value: str) -> str:
        """Whether a text of any length is the given one. PostgreSQL finds long texts by their hash."""
        return f"{column} = {value}" if self.name == "sqlite" else f"md5({column})::uuid = md5({value})::uuid"

    def unique_text(self, column: str) -> str:
        """A column of long texts in the target of ON CONFLICT."""
        return column if self.name == "sqlite" else f"(md5({column})::uuid)"

    def matches_glob(self, column: str, pattern: str) -> str:
        """Whether a text fits a pattern with * and ?."""
        return f"{column} GLOB {pattern}" if self.name == "sqlite" else f"glob_matches({column}, {pattern})"

    def json_field(self, column: str, name: str) -> str:
        """A field of a JSON object as text."""
        return f"json_extract({column}, '$.{name}')" if self.name == "sqlite" else f"({column}::json ->> '{name}')"

    def json_item(self, column: str, place: int) -> str:
        """An item of a JSON array as text."""
        return f"json_extract({column}, '$[{place}]')" if self.name == "sqlite" else f"json_item({column}, {place})"

    @property
    def all_rows(self) -> str:
        """At the end of a subquery: SQLite runs it once, and does not merge it into the outer query."""
        return "LIMIT -1" if self.name == "sqlite" else ""

    @property
    def locked_rows(self) -> str:
        """At the end of a query: its rows are locked, after waiting for those that another transaction has locked."""
        return "" if self.name == "sqlite" else "FOR UPDATE"

    @property
    def unlocked_rows(self) -> str:
        """At the end of a subquery: its rows are locked, and those that another transaction has locked are left out."""
        return "" if self.name == "sqlite" else "FOR UPDATE SKIP LOCKED"

    @property
    def update_statistics(self) -> str:
        """A statement for the planner, after many rows have changed."""
        return "PRAGMA optimize" if self.name == "sqlite" else "ANALYZE"

    def take_turn(self, name: str) -> str:
        """A query that waits while another transaction of this crawl has asked the same. SQLite has only one that writes."""
        if self.name == "sqlite":
            return "SELECT 1"
        return f"SELECT pg_advisory_xact_lock(hashtext('tadoru {name}'), hashtext(current_schema()))"

    @property
    def like(self) -> str:
        """Whether a text fits a pattern with % and _; the case of ASCII letters does not matter."""
        return "LIKE" if self.name == "sqlite" else "ILIKE"

    @property
    def without_rowid(self) -> str:
        """After a new table: its rows are stored in its primary key."""
        return "WITHOUT ROWID" if self.name == "sqlite" else ""

    @property
    def columns(self) -> str:
        """A query for table and column of every column, in their order."""
        if self.name == "sqlite":
            return """SELECT m.name, c.name FROM sqlite_schema m CROSS JOIN pragma_table_info(m.name) c
                WHERE m.type = 'table' AND m.name NOT GLOB 'sqlite_*' ORDER BY m.name, c.cid"""
        return """SELECT t.table_name, c.column_name FROM information_schema.tables t
            JOIN information_schema.columns c ON c.table_schema = t.table_schema AND c.table_name = t.table_name
            WHERE t.table_schema = current_schema() AND t.table_type = 'BASE TABLE' ORDER BY t.table_name, c.ordinal_position"""

    def index_exists(self, index: str) -> str:
        """A query with one row if an index exists."""
        if self.name == "sqlite":
            return f"SELECT 1 FROM sqlite_schema WHERE name = '{index}'"
        return f"SELECT 1 FROM pg_class WHERE oid = to_regclass('{index}')"


SQLITE = SqlDialect(
    "sqlite", "CROSS JOIN", "NOT INDEXED", "INDEXED BY sqlite_autoindex_pages_1", "max", "min", "json_each", "json_each",
    "json_array", "json_group_array",
)  # fmt: skip
POSTGRESQL = SqlDialect(
    "postgresql", "JOIN", "", "", "greatest", "least", "json_list", "json_fields", "json_build_array", "json_agg"
)
