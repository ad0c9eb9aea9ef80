"""Revision 0009: in which format the blocking keys of a source's events are stored. It is never changed; what comes later is
another."""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table: the next run of each source writes the keys of its events anew."""
    script = Path(__file__).with_name(f"0009_block_format.{op.get_bind().dialect.name}.sql")
    op.execute(script.read_text("utf-8").strip().removesuffix(";"))
