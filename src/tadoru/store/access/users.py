"""Users: added with a role, signed in by a password or by a link that works once, and revoked."""

from __future__ import annotations

import unicodedata
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, RowMapping, delete, func, insert, select, update

from tadoru.errors import UsageError
from tadoru.store.access.audit import AuditLog
from tadoru.store.access.schema import api_keys, sessions, users
from tadoru.store.access.secrets import COST, LEAST_PASSWORD, MOST_PASSWORD, fits, hash_password, hashed, new_token
from tadoru.store.access.values import By, User

ROLES = ("viewer", "editor", "admin")
LINK_HOLDS = timedelta(hours=1)
LONGEST_NAME = 64


def user_name(text: str) -> str:
    """A name as it is stored and compared: Ａnna and anna are one."""
    name = unicodedata.normalize("NFKC", text).casefold().strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable() or any(char.isspace() for char in name):
        raise UsageError(f"A user's name has 1 to {LONGEST_NAME} characters and no spaces: choose another one.")
    return name


def check_password(password: str) -> None:
    """Refuse a password that is too short to be one."""
    if not LEAST_PASSWORD <= len(password) <= MOST_PASSWORD:
        raise UsageError(f"A password has at least {LEAST_PASSWORD} characters: choose a longer one, such as four words.")


class Users(AuditLog):
    """The people."""

    password_cost = COST
    """Of scrypt, for passwords that are set from now on."""

    def users(self) -> tuple[User, ...]:
        """Everybody, by name; also those whose access was revoked."""
        with self.read() as sql:
            return tuple(user_of(row) for row in sql.execute(select(users).order_by(users.c.name)).mappings())

    def user(self, name: str) -> User | None:
        with self.read() as sql:
            row = sql.execute(select(users).where(users.c.name == user_name(name))).mappings().one_or_none()
            return user_of(row) if row else None

    def has_users(self) -> bool:
        """Can anybody sign in at all?"""
        with self.read() as sql:
            return bool(sql.execute(select(func.count()).where(users.c.revoked_at.is_(None))).scalar_one())

    def add_user(self, name: str, role: str, by: By, *, password: str | None = None) -> User:
        """Somebody new, or somebody who had been revoked, who gets in again with nothing of what was."""
        name = user_name(name)
        _check_role(role)
        if password is not None:
            check_password(password)
        secret = hash_password(password, self.password_cost) if password is not None else ""
        with self.write() as sql:
            found = sql.execute(select(users.c.id, users.c.revoked_at).where(users.c.name == name)).one_or_none()
            if found is not None and found.revoked_at is None:
                raise UsageError(f"There is a user {name} already: choose another name.")
            values = {"role": role, "password": secret, "created_at": self.now(), "revoked_at": None, "last_sign_in": None}
            if found is None:
                sql.execute(insert(users).values(name=name, **values))
            else:
                sql.execute(update(users).where(users.c.id == found.id).values(values))
                self._revoke_keys(sql, found.id)
            self.recorded(sql, by, "user.add", name, role=role)
            return _by_name(sql, name)

    def set_role(self, name: str, role: str, by: By) -> User:
        """Let somebody do more, or less. The last admin stays one."""
        _check_role(role)
        with self.write_events() as sql:
            user = _by_name(sql, user_name(name))
            if user.role == "admin" and role != "admin":
                _keep_one_admin(sql, user)
            sql.execute(update(users).where(users.c.id == user.id).values(role=role))
            self.recorded(sql, by, "user.role", user.name, before=user.role, role=role)
            return _by_name(sql, user.name)

    def set_password(self, name: str, password: str, by: By) -> None:
        """A new password; every session of the user ends."""
        check_password(password)
        secret = hash_password(password, self.password_cost)
        with self.write() as sql:
            user = _by_name(sql, user_name(name))
            sql.execute(update(users).where(users.c.id == user.id).values(password=secret, link_hash=None, link_until=None))
            sql.execute(delete(sessions).where(sessions.c.user_id == user.id))
            self.recorded(sql, by, "user.password", user.name)

    def revoke_user(self, name: str, by: By) -> User:
        """Nobody gets in by this name any more: no session, no key, no link, no password. The last admin can not be revoked."""
        with self.write_events() as sql:
            user = _by_name(sql, user_name(name))
            if user.role == "admin":
                _keep_one_admin(sql, user)
            gone = {"revoked_at": self.now(), "password": "", "link_hash": None, "link_until": None}
            sql.execute(update(users).where(users.c.id == user.id).values(gone))
            sql.execute(delete(sessions).where(sessions.c.user_id == user.id))
            self.recorded(sql, by, "user.revoke", user.name, keys=self._revoke_keys(sql, user.id))
            return user

    def _revoke_keys(self, sql: Connection, user_id: int) -> list[str]:
        """End every key of a user; what they begin with."""
        held = (api_keys.c.user_id == user_id) & api_keys.c.revoked_at.is_(None)
        ended = sql.execute(update(api_keys).where(held).values(revoked_at=self.now()).returning(api_keys.c.prefix)).scalars()
        return sorted(f"tdr_{prefix}" for prefix in ended)

    def make_link(self, name: str, by: By, holds: timedelta = LINK_HOLDS) -> str:
        """The token of a link that signs a user in, once; an earlier one is void."""
        token = new_token()
        with self.write() as sql:
            user = _by_name(sql, user_name(name))
            values = {"link_hash": hashed(token), "link_until": self.now() + holds}
            sql.execute(update(users).where(users.c.id == user.id).values(values))
            self.recorded(sql, by, "user.link", user.name)
        return token

    def user_of_link(self, token: str) -> User | None:
        """Whose link this is, while it holds. It is not used up by asking."""
        with self.read() as sql:
            row = sql.execute(select(users).where(users.c.link_hash == hashed(token))).mappings().one_or_none()
            return user_of(row) if row and row["link_until"] > self.now() else None

    def user_with_password(self, name: str, password: str) -> User | None:
        """The user whose name and password these are. It takes as long when there is no such user."""
        try:
            name = user_name(name)
        except UsageError:
            name = ""
        with self.read() as sql:
            row = sql.execute(select(users).where(users.c.name == name)).mappings().one_or_none()
        stored = row["password"] if row and row["revoked_at"] is None else ""
        return user_of(row) if fits(password, stored, self.password_cost) and row else None


def _check_role(role: str) -> None:
    if role not in ROLES:
        raise UsageError(f"There is no role {role}: it is one of {', '.join(ROLES)}.")


def _by_name(sql: Connection, name: str) -> User:
    """A user who is not revoked."""
    row = sql.execute(select(users).where(users.c.name == name, users.c.revoked_at.is_(None))).mappings().one_or_none()
    if row is None:
        raise UsageError(f"There is no user {name}: `tadoru serve users list` lists them.")
    return user_of(row)


def _keep_one_admin(sql: Connection, user: User) -> None:
    others = (users.c.role == "admin") & users.c.revoked_at.is_(None) & (users.c.id != user.id)
    if not sql.execute(select(func.count()).where(others)).scalar_one():
        raise UsageError(f"{user.name} is the only admin: make somebody else an admin first.")


def user_of(row: RowMapping | dict[str, Any]) -> User:
    """A row of the table as a value, without its secrets."""
    kept = {name: row[name] for name in ("id", "name", "role", "created_at", "last_sign_in", "revoked_at")}
    return User(**kept, has_password=bool(row["password"]))
