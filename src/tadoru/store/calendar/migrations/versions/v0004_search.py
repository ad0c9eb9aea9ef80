"""Revision 0004: the index of searched texts, and what search engines were not told yet. It is never changed.

The index is kept by triggers, in the transaction of whoever writes an event, so that no writer can forget it. Texts of an older
form are written anew first, because the index is made of them.
"""

from __future__ import annotations

from pathlib import Path

from alembic import op
from sqlalchemy import text

from tadoru.store.calendar.search_text import search_line

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_AT_ONCE = 2000
_OLD = text(
    "SELECT id, title, venue, address, city, category, organizer, description FROM events"
    " WHERE id > :after AND search_text <> '' ORDER BY id LIMIT :most"
)
_NEW = text("UPDATE events SET search_text = :line WHERE id = :number")


def upgrade() -> None:
    """Make the texts, the tables and the index."""
    _write_texts()
    script = Path(__file__).with_name(f"0004_search.{op.get_bind().dialect.name}.sql")
    for statement in script.read_text("utf-8").split(";\n"):
        if statement.strip():
            op.get_bind().exec_driver_sql(_whole(statement))


def _whole(statement: str) -> str:
    """A body of several statements ends in one of its own."""
    return f"{statement};" if statement.endswith(("END", "END $$")) else statement


def _write_texts() -> None:
    sql, after = op.get_bind(), 0
    while rows := sql.execute(_OLD, {"after": after, "most": _AT_ONCE}).all():
        sql.execute(_NEW, [{"number": row[0], "line": search_line(row[1:])} for row in rows])
        after = rows[-1][0]
