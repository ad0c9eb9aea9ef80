"""Sessions: a browser that somebody signed in with. The cookie has the token, the database its hash.

A session ends when it is signed out of, when it was not used for a while, after a month in any case, and with its user.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Select, delete, insert, or_, select, update

from tadoru.store.access.schema import sessions, users
from tadoru.store.access.secrets import hashed, new_token
from tadoru.store.access.users import Users, user_of
from tadoru.store.access.values import By, Session, User

LASTS = timedelta(days=30)
IDLE = timedelta(days=7)
NOTED = timedelta(minutes=5)
"""How exactly the last use is known: a write for every page would be too many."""


class Sessions(Users):
    """Signing in, being signed in, signing out."""

    def start_session(self, user: User, by: By, *, replaces: str | None = None, agent: str = "") -> str:
        """Sign a user in; the new session's token. The session that the browser had before ends: its token is worth nothing."""
        with self.write() as sql:
            return self._started(sql, user, by, replaces, agent)

    def start_by_link(self, token: str, by: By, *, replaces: str | None = None, agent: str = "") -> tuple[User, str] | None:
        """Sign in by a link, and use it up. Of two who use it at once only one gets in."""
        now = self.now()
        with self.write() as sql:
            used = update(users).where(users.c.link_hash == hashed(token), users.c.link_until > now, users.c.revoked_at.is_(None))
            row = sql.execute(used.values(link_hash=None, link_until=None).returning(users)).mappings().one_or_none()
            if row is None:
                return None
            user = user_of(row)
            return user, self._started(sql, user, by, replaces, agent)

    def _started(self, sql: Connection, user: User, by: By, replaces: str | None, agent: str) -> str:
        now, token = self.now(), new_token()
        old = or_(sessions.c.expires_at <= now, sessions.c.last_seen_at <= now - IDLE)
        if replaces is not None:
            old = or_(old, sessions.c.token_hash == hashed(replaces))
        sql.execute(delete(sessions).where(old))
        times = {"created_at": now, "last_seen_at": now, "expires_at": now + LASTS}
        about = {"address": by.address, "agent": agent[:200]}
        sql.execute(insert(sessions).values(token_hash=hashed(token), user_id=user.id, **times, **about))
        sql.execute(update(users).where(users.c.id == user.id).values(last_sign_in=now))
        who = By(who=user.name, user_id=user.id, address=by.address)
        self.recorded(sql, who, "session.start", user.name)
        return token

    def session(self, token: str) -> Session | None:
        """The session of a cookie, with its user as they are now. Its use is noted."""
        now = self.now()
        with self.read() as sql:
            found = _found(sql, token, now)
        if found is not None and now - found.last_seen_at >= NOTED:
            with self.write() as sql:
                sql.execute(update(sessions).where(sessions.c.id == found.id).values(last_seen_at=now))
        return found

    def sessions_of(self, user_id: int) -> tuple[Session, ...]:
        """Where a user is signed in, the newest first."""
        with self.read() as sql:
            query = _joined().where(sessions.c.user_id == user_id).order_by(sessions.c.id.desc())
            return tuple(_session(dict(row)) for row in sql.execute(query).mappings())

    def end_session(self, token: str, by: By) -> None:
        """Sign out."""
        with self.write() as sql:
            gone = sql.execute(delete(sessions).where(sessions.c.token_hash == hashed(token)))
            if gone.rowcount:
                self.recorded(sql, by, "session.end", by.who)


_OWN = ("id", "created_at", "last_seen_at", "expires_at", "address", "agent")


def _joined() -> Select[Any]:
    own = [sessions.c[name].label(f"session_{name}") for name in _OWN]
    return select(users, *own).join(sessions, sessions.c.user_id == users.c.id)


def _found(sql: Connection, token: str, now: datetime) -> Session | None:
    holds = (sessions.c.expires_at > now) & (sessions.c.last_seen_at > now - IDLE) & users.c.revoked_at.is_(None)
    row = sql.execute(_joined().where(sessions.c.token_hash == hashed(token), holds)).mappings().one_or_none()
    return _session(dict(row)) if row else None


def _session(row: dict[str, Any]) -> Session:
    return Session(user=user_of(row), **{name: row[f"session_{name}"] for name in _OWN})
