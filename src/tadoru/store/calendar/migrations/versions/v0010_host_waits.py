"""Revision 0010: since when a host is left alone. It is never changed; what comes later is another."""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the column, which programs of earlier versions do not fill in."""
    script = Path(__file__).with_name(f"0010_host_waits.{op.get_bind().dialect.name}.sql")
    for statement in script.read_text("utf-8").split(";\n"):
        if statement.strip():
            op.execute(statement)
