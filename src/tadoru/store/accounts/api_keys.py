"""API keys: shown once, stored as a hash, limited to scopes, with an expiry date and the time of their last use."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Select, insert, select, update

from tadoru.errors import UsageError
from tadoru.store.accounts.audit_log import Actor, ApiKey, add_audit_entry
from tadoru.store.accounts.schema import api_keys, users
from tadoru.store.accounts.secrets import hash_token, matches_token, new_key, split_key
from tadoru.store.accounts.users import normalize_user_name
from tadoru.store.calendar.database import CalendarDatabase

LAST_USE_PRECISION = timedelta(minutes=1)
"""Precision of the time of the last use."""
_UNKNOWN_HASH = hash_token("")


class ApiKeys:
    """Creates, checks and revokes API keys."""

    def __init__(self, db: CalendarDatabase) -> None:
        self._db = db

    def list(self) -> tuple[ApiKey, ...]:
        """Every key, newest first, including revoked and expired ones."""
        with self._db.read() as sql:
            return tuple(_key_from_row(dict(row)) for row in sql.execute(_with_owner().order_by(api_keys.c.id.desc())).mappings())

    def add(
        self, name: str, scopes: tuple[str, ...], by: Actor, *, user: str | None = None, expires_at: datetime | None = None
    ) -> tuple[ApiKey, str]:
        """A new key, and its full text, which is shown only once. Raises UsageError."""
        name = " ".join(name.split())[:100]
        if not name or not name.isprintable():
            raise UsageError("An API key needs a name. Use one that describes its purpose.")
        if not scopes:
            raise UsageError("An API key needs at least one scope, such as events:read.")
        if expires_at is not None and expires_at <= self._db.now():
            raise UsageError("The expiry date is in the past. Choose a later one.")
        prefix, secret, whole = new_key()
        with self._db.write() as sql:
            owner = None
            if user is not None:
                query = select(users.c.id).where(users.c.name == normalize_user_name(user), users.c.revoked_at.is_(None))
                owner = sql.execute(query).scalar_one_or_none()
                if owner is None:
                    raise UsageError("User {name} not found. List the users with `tadoru serve users list`.", name=user)
            about = {"name": name, "prefix": prefix, "secret_hash": hash_token(secret), "scopes": sorted(set(scopes))}
            times = {"created_at": self._db.now(), "created_by": by.who, "expires_at": expires_at}
            sql.execute(insert(api_keys).values(**about, **times, user_id=owner))
            until = expires_at.isoformat(timespec="seconds") if expires_at else None
            detail = {"name": name, "scopes": sorted(set(scopes)), "owner": user, "expires_at": until}
            add_audit_entry(self._db, sql, by, "key.add", f"tdr_{prefix}", **detail)
            row = sql.execute(_with_owner().where(api_keys.c.prefix == prefix)).mappings().one()
            return _key_from_row(dict(row)), whole

    def revoke(self, key: int | str, by: Actor) -> ApiKey:
        """Revoke a key by its ID or prefix. Raises UsageError."""
        prefix = str(key).removeprefix("tdr_").partition("_")[0]
        is_id = isinstance(key, int) or (key.isascii() and key.isdigit() and len(key) < 19)
        is_it = api_keys.c.id == int(key) if is_id else api_keys.c.prefix == prefix
        with self._db.write() as sql:
            row = sql.execute(_with_owner().where(is_it)).mappings().one_or_none()
            if row is None:
                raise UsageError("API key {key} not found. List the keys with `tadoru serve keys list`.", key=prefix)
            if row["revoked_at"] is None:
                sql.execute(update(api_keys).where(is_it).values(revoked_at=self._db.now()))
                add_audit_entry(self._db, sql, by, "key.revoke", f"tdr_{row['prefix']}", name=row["name"])
            return _key_from_row(dict(sql.execute(_with_owner().where(is_it)).mappings().one()))

    def find(self, text: str) -> ApiKey | None:
        """The valid key of this text, or None. Its use is recorded."""
        now, key = self._db.now(), self._find(text)
        if key is None or not key.is_valid(now):
            return None
        if key.last_used_at is None or now - key.last_used_at >= LAST_USE_PRECISION:
            with self._db.write() as sql:
                sql.execute(update(api_keys).where(api_keys.c.id == key.id).values(last_used_at=now))
        return key

    def expiry_of(self, text: str) -> datetime | None:
        """When the key of this text expired, if it is otherwise valid."""
        key = self._find(text)
        return key.expires_at if key is not None and key.revoked_at is None and not key.is_valid(self._db.now()) else None

    def _find(self, text: str) -> ApiKey | None:
        """The key of this text, valid or not; None if its user is revoked. A wrong secret takes as long as an unknown key."""
        parts = split_key(text)
        if parts is None:
            return None
        prefix, secret = parts
        with self._db.read() as sql:
            row = sql.execute(_with_owner().where(api_keys.c.prefix == prefix)).mappings().one_or_none()
        fits = matches_token(secret, row["secret_hash"] if row else _UNKNOWN_HASH)
        if row is None or not fits or (row["user_id"] is not None and row["owner_revoked"] is not None):
            return None
        return _key_from_row(dict(row))


def _with_owner() -> Select[Any]:
    owner = (users.c.name.label("user_name"), users.c.role.label("user_role"), users.c.revoked_at.label("owner_revoked"))
    return select(api_keys, *owner).outerjoin(users, users.c.id == api_keys.c.user_id)


_KEY_COLUMNS = ("id", "name", "prefix", "user_id", "created_at", "created_by", "expires_at", "last_used_at", "revoked_at")


def _key_from_row(row: dict[str, Any]) -> ApiKey:
    kept: dict[str, Any] = {name: row[name] for name in _KEY_COLUMNS}
    return ApiKey(**kept, user_name=row["user_name"] or "", user_role=row["user_role"] or "", scopes=tuple(row["scopes"]))
