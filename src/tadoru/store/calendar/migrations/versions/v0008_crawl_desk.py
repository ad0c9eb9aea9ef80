"""Revision 0008: saved views, ignored findings and shared reports of crawls, and their schedule. It is never changed; what comes
later is another."""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0008"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the columns and tables."""
    script = Path(__file__).with_name(f"0008_crawl_desk.{op.get_bind().dialect.name}.sql")
    for statement in script.read_text("utf-8").split(";\n"):
        if statement.strip():
            op.execute(statement)
