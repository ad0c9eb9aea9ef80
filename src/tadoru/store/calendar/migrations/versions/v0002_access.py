"""Revision 0002: users, keys, sessions and the audit log. It is never changed; what comes later is a revision of its own."""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    script = Path(__file__).with_name(f"0002_access.{op.get_bind().dialect.name}.sql")
    for statement in script.read_text("utf-8").split(";\n"):
        if statement.strip():
            op.execute(statement)
