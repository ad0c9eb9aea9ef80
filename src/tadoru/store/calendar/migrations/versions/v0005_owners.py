"""Revision 0005: crawls and keys have owners. It is never changed; what comes later is another.

Who made a key or a crawl is in the audit log, or by name beside the key. A key of somebody who was revoked since is revoked with
them; one that nobody is known for belongs to the operator, as those that are made on the command line without a user.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from alembic import op
from sqlalchemy import text

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_LINES = "SELECT subject, user_id, key_id FROM audit_log WHERE what = :what AND (user_id IS NOT NULL OR key_id IS NOT NULL)"
_BY_LOG = "UPDATE api_keys SET user_id = :user WHERE prefix = :prefix AND user_id IS NULL"
_BY_NAME = """UPDATE api_keys SET user_id = (SELECT id FROM users WHERE users.name = api_keys.created_by)
    WHERE user_id IS NULL AND created_by <> ''"""
_OVER = """FROM users WHERE users.id = api_keys.user_id
    AND (users.revoked_at IS NOT NULL OR users.created_at > api_keys.created_at)"""
_REVOKE = f"""UPDATE api_keys SET revoked_at = (SELECT COALESCE(users.revoked_at, users.created_at) {_OVER})
    WHERE revoked_at IS NULL AND EXISTS (SELECT 1 {_OVER})"""
_CRAWLS = "UPDATE crawls SET owner = :owner, queued_by = :owner WHERE id = :crawl"


def upgrade() -> None:
    """Make the columns, and find the owners."""
    script = Path(__file__).with_name(f"0005_owners.{op.get_bind().dialect.name}.sql")
    for statement in script.read_text("utf-8").split(";\n"):
        if statement.strip():
            op.execute(statement)
    sql = op.get_bind()
    users = set(sql.execute(text("SELECT id FROM users")).scalars())
    made = [(subject, user) for subject, user, _ in _lines("key.add") if user in users]
    _each(_BY_LOG, [{"prefix": subject.removeprefix("tdr_"), "user": user} for subject, user in made])
    sql.execute(text(_BY_NAME))
    sql.execute(text(_REVOKE))
    known = set(sql.execute(text("SELECT id FROM crawls")).scalars())
    numbers = {f"crawl/{number}": number for number in known}
    owners = [(numbers[subject], user, key) for subject, user, key in _lines("crawl.add") if subject in numbers]
    _each(_CRAWLS, [{"crawl": crawl, "owner": f"key {key}" if user is None else f"user {user}"} for crawl, user, key in owners])


def _lines(what: str) -> Sequence[tuple[str, int | None, int | None]]:
    return [(row[0], row[1], row[2]) for row in op.get_bind().execute(text(_LINES), {"what": what})]


def _each(statement: str, rows: list[dict[str, object]]) -> None:
    if rows:
        op.get_bind().execute(text(statement), rows)
