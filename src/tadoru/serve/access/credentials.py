"""From what a request shows to who it is: a key, or a session. The database is asked in a thread, and only when there is
something to ask."""

from __future__ import annotations

from dataclasses import dataclass, field

from fastapi import Request
from starlette.concurrency import run_in_threadpool

from tadoru.serve.access.audit import address_of
from tadoru.serve.access.cookies import session_token
from tadoru.serve.access.limits import Limits, neighbourhood
from tadoru.serve.access.who import NOBODY, Caller
from tadoru.serve.problems import Refused
from tadoru.serve.roles import Role, role_of
from tadoru.serve.service import service_of
from tadoru.store.service import ServiceStore

_BAD_KEY = "This key is not known, or it is over: ask an admin for a new one."


@dataclass(frozen=True, slots=True)
class Credential:
    """What a request shows. Not to be written down anywhere."""

    key: str | None = field(default=None, repr=False)
    session: str | None = field(default=None, repr=False)


def shown_by(request: Request) -> Credential:
    """A key, or else the cookie of a session."""
    scheme, _, shown = request.headers.get("authorization", "").partition(" ")
    return Credential(key=shown.strip()) if scheme.lower() == "bearer" else Credential(session=session_token(request))


async def identify(request: Request, limits: Limits) -> Caller:
    """Who it is. A key that is shown must hold; a session that does not is nobody's."""
    shown = shown_by(request)
    if shown.key is not None:
        return await _by_key(request, shown, limits)
    if shown.session is None:
        return NOBODY
    return await run_in_threadpool(holder, service_of(request).store, shown)


async def _by_key(request: Request, shown: Credential, limits: Limits) -> Caller:
    here = neighbourhood(address_of(request))
    before = limits.failures.take(here, 0)
    if not before.allowed:
        raise Refused(429, "Too many keys were wrong: wait a little, then try again.", {"Retry-After": str(before.retry)})
    found = await run_in_threadpool(holder, service_of(request).store, shown)
    if found is NOBODY:
        limits.failures.take(here)
        expired = await run_in_threadpool(service_of(request).store.expiry_of, shown.key or "")
        why = f"This key expired on {expired:%Y-%m-%d}: ask an admin for a new one." if expired is not None else _BAD_KEY
        raise Refused(401, why, {"WWW-Authenticate": 'Bearer error="invalid_token"'})
    return found


def holder(store: ServiceStore, shown: Credential) -> Caller:
    """Whose it is; nobody's when it does not hold, or no longer. For a thread."""
    if shown.key is None:
        session = store.session(shown.session) if shown.session is not None else None
        if session is None:
            return NOBODY
        return Caller(role=Role[session.user.role.upper()], name=session.user.name, user_id=session.user.id)
    key = store.key_of(shown.key)
    if key is None:
        return NOBODY
    scopes = frozenset(key.scopes)
    role = role_of(scopes)
    if key.user_role:
        role = min(role, Role[key.user_role.upper()])
    return Caller(role=role, name=f"key:{key.name}", user_id=key.user_id, key_id=key.id, scopes=scopes)
