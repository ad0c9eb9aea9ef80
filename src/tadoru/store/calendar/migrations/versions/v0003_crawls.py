"""Revision 0003: the crawls of the service, their runs, and live messages. It is never changed; what comes later is another."""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    script = Path(__file__).with_name(f"0003_crawls.{op.get_bind().dialect.name}.sql")
    for statement in script.read_text("utf-8").split(";\n"):
        if statement.strip():
            op.execute(statement)
