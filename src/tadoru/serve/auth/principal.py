"""Who makes a request: anonymous, a user with a session, or a program with an API key; and the audit log of their changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi import Request

from tadoru.serve.roles import Role, Route
from tadoru.serve.service import service_of
from tadoru.store.accounts.audit_log import Actor


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """The user or API key of a request, or an anonymous caller."""

    role: Role = Role.PUBLIC
    name: str = ""
    """The name in histories; empty if anonymous."""
    user_id: int | None = None
    key_id: int | None = None
    scopes: frozenset[str] = frozenset()
    """The scopes of an API key; a user has every scope of the role."""

    @property
    def is_key(self) -> bool:
        return self.key_id is not None

    def may(self, role: Role, scope: str = "") -> bool:
        """Whether the principal has at least this role and, if it is an API key, this scope."""
        return self.role >= role and (not self.is_key or role is Role.PUBLIC or scope in self.scopes)


ANONYMOUS = Principal()


async def current_principal(request: Request) -> Principal:
    """The principal of a request; a FastAPI dependency. The middleware has identified it before."""
    found: Principal = getattr(request.state, "caller", ANONYMOUS)
    return found


SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def client_address(request: Request) -> str:
    """The IP address that a request comes from."""
    return request.client.host if request.client else ""


def actor_of(request: Request) -> Actor:
    """The principal of a request as the actor of a change in the store."""
    caller: Principal = getattr(request.state, "caller", ANONYMOUS)
    return Actor(who=caller.name, user_id=caller.user_id, key_id=caller.key_id, address=client_address(request))


def note_change(request: Request, subject: str, **detail: Any) -> None:
    """Set the subject and details of the audit log entry of this request. Never pass a secret."""
    request.state.noted = (subject, detail)


def record_change(request: Request, route: Route, status: int) -> None:
    """Write the audit log entry of a request that changed something."""
    subject, detail = getattr(request.state, "noted", (request.url.path, {}))
    service_of(request).store.audit.record(actor_of(request), f"{route.method} {route.path}", subject, status=status, **detail)
