"""Users and their sessions: adding and revoking users, passwords, one-time sign-in links, and removal of expired data.

A session ends at sign-out, after a week without use, after a month in any case, and with its user. The cookie has its token, the
database the hash.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, RowMapping, Select, delete, func, insert, or_, select, update

from tadoru.errors import UsageError, quoted
from tadoru.store.accounts.audit_log import Actor, User, UserSession, add_audit_entry
from tadoru.store.accounts.schema import api_keys, audit_log, sessions, users
from tadoru.store.accounts.secrets import (
    COST,
    MAX_PASSWORD_LENGTH,
    MIN_PASSWORD_LENGTH,
    hash_password,
    hash_token,
    matches_password,
    new_token,
)
from tadoru.store.calendar.database import CalendarDatabase

ROLES = ("viewer", "editor", "admin")
LINK_LIFETIME = timedelta(hours=1)
MAX_USER_NAME = 64


def normalize_user_name(text: str) -> str:
    """A user name as it is stored and compared (Ａnna is anna). Raises UsageError."""
    name = unicodedata.normalize("NFKC", text).casefold().strip()
    if not name or len(name) > MAX_USER_NAME or not name.isprintable() or any(char.isspace() for char in name):
        raise UsageError("A user name has 1 to {limit} characters and no spaces. Choose another name.", limit=MAX_USER_NAME)
    return name


def validate_password(password: str) -> None:
    """Check the length of a password. Raises UsageError."""
    if not MIN_PASSWORD_LENGTH <= len(password) <= MAX_PASSWORD_LENGTH:
        raise UsageError(
            "The password must have at least {limit} characters. Four words make a good one.", limit=MIN_PASSWORD_LENGTH
        )


class Users:
    """The users."""

    def __init__(self, db: CalendarDatabase, password_cost: int = COST) -> None:
        self._db = db
        self.password_cost = password_cost
        """The scrypt cost of new passwords."""

    def list(self) -> tuple[User, ...]:
        """All users by name, including revoked ones."""
        with self._db.read() as sql:
            return tuple(user_from_row(row) for row in sql.execute(select(users).order_by(users.c.name)).mappings())

    def get(self, name: str) -> User | None:
        with self._db.read() as sql:
            row = sql.execute(select(users).where(users.c.name == normalize_user_name(name))).mappings().one_or_none()
            return user_from_row(row) if row else None

    def has_any(self) -> bool:
        """Whether there is a user who can sign in."""
        with self._db.read() as sql:
            return bool(sql.execute(select(func.count()).where(users.c.revoked_at.is_(None))).scalar_one())

    def add(self, name: str, role: str, by: Actor, *, password: str | None = None) -> User:
        """Add a user, or restore a revoked one without their old password and keys. Raises UsageError."""
        name = normalize_user_name(name)
        _check_role(role)
        if password is not None:
            validate_password(password)
        secret = hash_password(password, self.password_cost) if password is not None else ""
        with self._db.write() as sql:
            found = sql.execute(select(users.c.id, users.c.revoked_at).where(users.c.name == name)).one_or_none()
            if found is not None and found.revoked_at is None:
                raise UsageError("User {name} already exists. Choose another name.", name=name)
            values = {"role": role, "password": secret, "created_at": self._db.now(), "revoked_at": None, "last_sign_in": None}
            if found is None:
                sql.execute(insert(users).values(name=name, **values))
            else:
                sql.execute(update(users).where(users.c.id == found.id).values(values))
                self._revoke_keys(sql, found.id)
            add_audit_entry(self._db, sql, by, "user.add", name, role=role)
            return _by_name(sql, name)

    def set_role(self, name: str, role: str, by: Actor) -> User:
        """Change the role of a user. The last administrator keeps the role. Raises UsageError."""
        _check_role(role)
        with self._db.write_events() as sql:
            user = _by_name(sql, normalize_user_name(name))
            if user.role == "admin" and role != "admin":
                _keep_one_admin(sql, user)
            sql.execute(update(users).where(users.c.id == user.id).values(role=role))
            add_audit_entry(self._db, sql, by, "user.role", user.name, before=user.role, role=role)
            return _by_name(sql, user.name)

    def set_password(self, name: str, password: str, by: Actor) -> None:
        """Set a password; every session of the user ends."""
        validate_password(password)
        secret = hash_password(password, self.password_cost)
        with self._db.write() as sql:
            user = _by_name(sql, normalize_user_name(name))
            sql.execute(update(users).where(users.c.id == user.id).values(password=secret, link_hash=None, link_until=None))
            sql.execute(delete(sessions).where(sessions.c.user_id == user.id))
            add_audit_entry(self._db, sql, by, "user.password", user.name)

    def revoke(self, name: str, by: Actor) -> User:
        """Revoke a user with all sessions, keys, links and the password. The last administrator cannot be revoked."""
        with self._db.write_events() as sql:
            user = _by_name(sql, normalize_user_name(name))
            if user.role == "admin":
                _keep_one_admin(sql, user)
            gone = {"revoked_at": self._db.now(), "password": "", "link_hash": None, "link_until": None}
            sql.execute(update(users).where(users.c.id == user.id).values(gone))
            sql.execute(delete(sessions).where(sessions.c.user_id == user.id))
            add_audit_entry(self._db, sql, by, "user.revoke", user.name, keys=self._revoke_keys(sql, user.id))
            return user

    def _revoke_keys(self, sql: Connection, user_id: int) -> Sequence[str]:
        """Revoke every key of a user; their prefixes."""
        held = (api_keys.c.user_id == user_id) & api_keys.c.revoked_at.is_(None)
        ended = sql.execute(update(api_keys).where(held).values(revoked_at=self._db.now()).returning(api_keys.c.prefix)).scalars()
        return sorted(f"tdr_{prefix}" for prefix in ended)

    def make_link(self, name: str, by: Actor, holds: timedelta = LINK_LIFETIME) -> str:
        """The token of a one-time sign-in link; it replaces an earlier one."""
        token = new_token()
        with self._db.write() as sql:
            user = _by_name(sql, normalize_user_name(name))
            values = {"link_hash": hash_token(token), "link_until": self._db.now() + holds}
            sql.execute(update(users).where(users.c.id == user.id).values(values))
            add_audit_entry(self._db, sql, by, "user.link", user.name)
        return token

    def of_link(self, token: str) -> User | None:
        """The user of a valid one-time link, or None. This does not use it up."""
        with self._db.read() as sql:
            row = sql.execute(select(users).where(users.c.link_hash == hash_token(token))).mappings().one_or_none()
            return user_from_row(row) if row and row["link_until"] > self._db.now() else None

    def with_password(self, name: str, password: str) -> User | None:
        """The user with this name and password, or None. An unknown name takes as long."""
        try:
            name = normalize_user_name(name)
        except UsageError:
            name = ""
        with self._db.read() as sql:
            row = sql.execute(select(users).where(users.c.name == name)).mappings().one_or_none()
        stored = row["password"] if row and row["revoked_at"] is None else ""
        return user_from_row(row) if matches_password(password, stored, self.password_cost) and row else None


def _check_role(role: str) -> None:
    if role not in ROLES:
        raise UsageError("Unknown role {role}. Use one of {roles}.", role=quoted(role), roles=", ".join(ROLES))


def _by_name(sql: Connection, name: str) -> User:
    """The user of this name who is not revoked. Raises UsageError."""
    row = sql.execute(select(users).where(users.c.name == name, users.c.revoked_at.is_(None))).mappings().one_or_none()
    if row is None:
        raise UsageError("User {name} not found. List the users with `tadoru serve users list`.", name=name)
    return user_from_row(row)


def _keep_one_admin(sql: Connection, user: User) -> None:
    others = (users.c.role == "admin") & users.c.revoked_at.is_(None) & (users.c.id != user.id)
    if not sql.execute(select(func.count()).where(others)).scalar_one():
        raise UsageError("{name} is the only administrator. Make another user an administrator first.", name=user.name)


def user_from_row(row: RowMapping | dict[str, Any]) -> User:
    """The user of a row, without secrets."""
    kept = {name: row[name] for name in ("id", "name", "role", "created_at", "last_sign_in", "revoked_at")}
    return User(**kept, has_password=bool(row["password"]))


SESSION_LIFETIME = timedelta(days=30)
SESSION_IDLE_LIMIT = timedelta(days=7)
LAST_SEEN_PRECISION = timedelta(minutes=5)
"""Precision of the time of the last use: a write per request would be too many."""


SERVICE_ACTOR = Actor(who="service")


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneResult:
    """The number of removed records."""

    lines: int = 0
    sessions: int = 0
    links: int = 0


class Sessions:
    """Sessions: start, look up, end, and removal of what has expired."""

    def __init__(self, db: CalendarDatabase) -> None:
        self._db = db

    def start(self, user: User, by: Actor, *, replaces: str | None = None, agent: str = "") -> str:
        """Start a session; its token. The session `replaces` ends."""
        with self._db.write() as sql:
            return self._started(sql, user, by, replaces, agent)

    def start_by_link(self, token: str, by: Actor, *, replaces: str | None = None, agent: str = "") -> tuple[User, str] | None:
        """Start a session by a one-time link, which is used up: of two parallel uses only one succeeds."""
        now = self._db.now()
        with self._db.write() as sql:
            used = update(users).where(
                users.c.link_hash == hash_token(token), users.c.link_until > now, users.c.revoked_at.is_(None)
            )
            row = sql.execute(used.values(link_hash=None, link_until=None).returning(users)).mappings().one_or_none()
            if row is None:
                return None
            user = user_from_row(row)
            return user, self._started(sql, user, by, replaces, agent)

    def _started(self, sql: Connection, user: User, by: Actor, replaces: str | None, agent: str) -> str:
        now, token = self._db.now(), new_token()
        old = or_(sessions.c.expires_at <= now, sessions.c.last_seen_at <= now - SESSION_IDLE_LIMIT)
        if replaces is not None:
            old = or_(old, sessions.c.token_hash == hash_token(replaces))
        sql.execute(delete(sessions).where(old))
        times = {"created_at": now, "last_seen_at": now, "expires_at": now + SESSION_LIFETIME}
        about = {"address": by.address, "agent": agent[:200]}
        sql.execute(insert(sessions).values(token_hash=hash_token(token), user_id=user.id, **times, **about))
        sql.execute(update(users).where(users.c.id == user.id).values(last_sign_in=now))
        who = Actor(who=user.name, user_id=user.id, address=by.address)
        add_audit_entry(self._db, sql, who, "session.start", user.name)
        return token

    def get(self, token: str) -> UserSession | None:
        """The valid session of a token with its current user, or None. Its use is recorded."""
        now = self._db.now()
        with self._db.read() as sql:
            found = _valid_session(sql, token, now)
        if found is not None and now - found.last_seen_at >= LAST_SEEN_PRECISION:
            with self._db.write() as sql:
                sql.execute(update(sessions).where(sessions.c.id == found.id).values(last_seen_at=now))
        return found

    def of_user(self, user_id: int) -> tuple[UserSession, ...]:
        """The sessions of a user, newest first."""
        with self._db.read() as sql:
            query = _with_user().where(sessions.c.user_id == user_id).order_by(sessions.c.id.desc())
            return tuple(_session(dict(row)) for row in sql.execute(query).mappings())

    def end(self, token: str, by: Actor) -> None:
        """End a session."""
        with self._db.write() as sql:
            gone = sql.execute(delete(sessions).where(sessions.c.token_hash == hash_token(token)))
            if gone.rowcount:
                add_audit_entry(self._db, sql, by, "session.end", by.who)

    def prune(self, keep: timedelta | None) -> PruneResult:
        """Remove expired sessions and links, and audit log entries older than `keep` (None keeps all). The removal of entries is
        recorded as an entry."""
        now = self._db.now()
        ended = or_(sessions.c.expires_at <= now, sessions.c.last_seen_at <= now - SESSION_IDLE_LIMIT)
        unused = users.c.link_until <= now
        old = audit_log.c.at < now - keep if keep is not None else None
        with self._db.read() as sql:  # Usually there is nothing to do, and no write lock is needed.
            wanted = [select(func.count()).select_from(sessions).where(ended), select(func.count()).where(unused)]
            if old is not None:
                wanted.append(select(func.count()).select_from(audit_log).where(old))
            if not any(sql.execute(query).scalar_one() for query in wanted):
                return PruneResult()
        with self._db.write() as sql:
            gone = sql.execute(delete(sessions).where(ended)).rowcount
            links = sql.execute(update(users).where(unused).values(link_hash=None, link_until=None)).rowcount
            lines = sql.execute(delete(audit_log).where(old)).rowcount if old is not None else 0
            if lines:
                add_audit_entry(self._db, sql, SERVICE_ACTOR, "audit.prune", "", lines=lines)
        return PruneResult(lines=lines, sessions=gone, links=links)


_SESSION_COLUMNS = ("id", "created_at", "last_seen_at", "expires_at", "address", "agent")


def _with_user() -> Select[Any]:
    own = [sessions.c[name].label(f"session_{name}") for name in _SESSION_COLUMNS]
    return select(users, *own).join(sessions, sessions.c.user_id == users.c.id)


def _valid_session(sql: Connection, token: str, now: datetime) -> UserSession | None:
    holds = (sessions.c.expires_at > now) & (sessions.c.last_seen_at > now - SESSION_IDLE_LIMIT) & users.c.revoked_at.is_(None)
    row = sql.execute(_with_user().where(sessions.c.token_hash == hash_token(token), holds)).mappings().one_or_none()
    return _session(dict(row)) if row else None


def _session(row: dict[str, Any]) -> UserSession:
    return UserSession(user=user_from_row(row), **{name: row[f"session_{name}"] for name in _SESSION_COLUMNS})
