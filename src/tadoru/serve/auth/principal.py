"""Who calls: nobody known, a person with a session, or a program with a key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi import Request

from tadoru.serve.roles import Role, Route
from tadoru.serve.service import service_of
from tadoru.store.accounts.audit_log import Actor


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """The one who made a request."""

    role: Role = Role.PUBLIC
    name: str = ""
    """The user's or the key's, for histories; nothing when nobody signed in."""
    user_id: int | None = None
    key_id: int | None = None
    scopes: frozenset[str] = frozenset()
    """Of a key; a person has all that the role has."""

    @property
    def is_key(self) -> bool:
        return self.key_id is not None

    def may(self, role: Role, scope: str = "") -> bool:
        """Has the caller at least this role, and, when it is a key, this scope?"""
        return self.role >= role and (not self.is_key or role is Role.PUBLIC or scope in self.scopes)


ANONYMOUS = Principal()


async def current_principal(request: Request) -> Principal:
    """A FastAPI dependency. The guard has found out by then."""
    found: Principal = getattr(request.state, "caller", ANONYMOUS)
    return found


SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def client_address(request: Request) -> str:
    """Where a request comes from."""
    return request.client.host if request.client else ""


def actor_of(request: Request) -> Actor:
    """Who makes the change, as the store takes it."""
    caller: Principal = getattr(request.state, "caller", ANONYMOUS)
    return Actor(who=caller.name, user_id=caller.user_id, key_id=caller.key_id, address=client_address(request))


def note_change(request: Request, subject: str, **detail: Any) -> None:
    """Tell the audit log what was changed, beyond the path of the request. Never a secret."""
    request.state.noted = (subject, detail)


def record_change(request: Request, route: Route, status: int) -> None:
    """Write the line of a request that changed something."""
    subject, detail = getattr(request.state, "noted", (request.url.path, {}))
    service_of(request).store.record(actor_of(request), f"{route.method} {route.path}", subject, status=status, **detail)
