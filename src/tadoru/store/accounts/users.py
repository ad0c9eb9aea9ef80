"""Users, their sessions and API keys: adding and revoking, passwords, one-time sign-in links, and removal of expired data.

A session ends at sign-out, after a week without use, after a month in any case, and with its user. The cookie has its token, the
database the hash. A key is shown once, stored as a hash, limited to scopes, with an expiry date and the time of its last use.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, RowMapping, Select, delete, func, insert, or_, select, update

from tadoru.errors import UsageError, quoted
from tadoru.store.accounts import secrets
from tadoru.store.accounts.audit_log import Actor, ApiKey, User, UserSession, add_audit_entry
from tadoru.store.accounts.schema import api_keys, audit_log, sessions, users
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
    if not secrets.MIN_PASSWORD_LENGTH <= len(password) <= secrets.MAX_PASSWORD_LENGTH:
        raise UsageError(
            "The password must have at least {limit} characters. Four words make a good one.", limit=secrets.MIN_PASSWORD_LENGTH
        )


class Users:
    """The users."""

    def __init__(self, db: CalendarDatabase, password_cost: int = secrets.COST) -> None:
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
        secret = secrets.hash_password(password, self.password_cost) if password is not None else ""
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
        secret = secrets.hash_password(password, self.password_cost)
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
        token = secrets.new_token()
        with self._db.write() as sql:
            user = _by_name(sql, normalize_user_name(name))
            values = {"link_hash": secrets.hash_token(token), "link_until": self._db.now() + holds}
            sql.execute(update(users).where(users.c.id == user.id).values(values))
            add_audit_entry(self._db, sql, by, "user.link", user.name)
        return token

    def of_link(self, token: str) -> User | None:
        """The user of a valid one-time link, or None. This does not use it up."""
        with self._db.read() as sql:
            row = sql.execute(select(users).where(users.c.link_hash == secrets.hash_token(token))).mappings().one_or_none()
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
        return user_from_row(row) if secrets.matches_password(password, stored, self.password_cost) and row else None


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
                users.c.link_hash == secrets.hash_token(token), users.c.link_until > now, users.c.revoked_at.is_(None)
            )
            row = sql.execute(used.values(link_hash=None, link_until=None).returning(users)).mappings().one_or_none()
            if row is None:
                return None
            user = user_from_row(row)
            return user, self._started(sql, user, by, replaces, agent)

    def _started(self, sql: Connection, user: User, by: Actor, replaces: str | None, agent: str) -> str:
        now, token = self._db.now(), secrets.new_token()
        old = or_(sessions.c.expires_at <= now, sessions.c.last_seen_at <= now - SESSION_IDLE_LIMIT)
        if replaces is not None:
            old = or_(old, sessions.c.token_hash == secrets.hash_token(replaces))
        sql.execute(delete(sessions).where(old))
        times = {"created_at": now, "last_seen_at": now, "expires_at": now + SESSION_LIFETIME}
        about = {"address": by.address, "agent": agent[:200]}
        sql.execute(insert(sessions).values(token_hash=secrets.hash_token(token), user_id=user.id, **times, **about))
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

    def end(self, token: str, by: Actor) -> None:
        """End a session."""
        with self._db.write() as sql:
            gone = sql.execute(delete(sessions).where(sessions.c.token_hash == secrets.hash_token(token)))
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
    row = sql.execute(_with_user().where(sessions.c.token_hash == secrets.hash_token(token), holds)).mappings().one_or_none()
    return _session(dict(row)) if row else None


def _session(row: dict[str, Any]) -> UserSession:
    return UserSession(user=user_from_row(row), **{name: row[f"session_{name}"] for name in _SESSION_COLUMNS})


LAST_USE_PRECISION = timedelta(minutes=1)
"""Precision of the time of the last use."""
_UNKNOWN_HASH = secrets.hash_token("")


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
        prefix, secret, whole = secrets.new_key()
        with self._db.write() as sql:
            owner = None
            if user is not None:
                query = select(users.c.id).where(users.c.name == normalize_user_name(user), users.c.revoked_at.is_(None))
                owner = sql.execute(query).scalar_one_or_none()
                if owner is None:
                    raise UsageError("User {name} not found. List the users with `tadoru serve users list`.", name=user)
            about = {"name": name, "prefix": prefix, "secret_hash": secrets.hash_token(secret), "scopes": sorted(set(scopes))}
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
        parts = secrets.split_key(text)
        if parts is None:
            return None
        prefix, secret = parts
        with self._db.read() as sql:
            row = sql.execute(_with_owner().where(api_keys.c.prefix == prefix)).mappings().one_or_none()
        fits = secrets.matches_token(secret, row["secret_hash"] if row else _UNKNOWN_HASH)
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
