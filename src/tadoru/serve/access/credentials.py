"""From what a request shows to who it is: a key, or a session. The database is asked in a thread, and only when there is
something to ask."""

from __future__ import annotations

from fastapi import Request
from starlette.concurrency import run_in_threadpool

from tadoru.serve.access.audit import address_of
from tadoru.serve.access.cookies import session_token
from tadoru.serve.access.limits import Limits, neighbourhood
from tadoru.serve.access.who import NOBODY, Caller
from tadoru.serve.problems import Refused
from tadoru.serve.roles import Role, role_of
from tadoru.serve.service import service_of

_BAD_KEY = "This key is not known, or it is over: ask an admin for a new one."


async def identify(request: Request, limits: Limits) -> Caller:
    """Who it is. A key that is shown must hold; a session that does not is nobody's."""
    scheme, _, shown = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return await _by_key(request, shown.strip(), limits)
    token = session_token(request)
    if token is None:
        return NOBODY
    session = await run_in_threadpool(service_of(request).store.session, token)
    if session is None:
        return NOBODY
    return Caller(role=Role[session.user.role.upper()], name=session.user.name, user_id=session.user.id)


async def _by_key(request: Request, shown: str, limits: Limits) -> Caller:
    here = neighbourhood(address_of(request))
    before = limits.failures.take(here, 0)
    if not before.allowed:
        raise Refused(429, "Too many keys were wrong: wait a little, then try again.", {"Retry-After": str(before.retry)})
    key = await run_in_threadpool(service_of(request).store.key_of, shown)
    if key is None:
        limits.failures.take(here)
        raise Refused(401, _BAD_KEY, {"WWW-Authenticate": 'Bearer error="invalid_token"'})
    scopes = frozenset(key.scopes)
    role = role_of(scopes)
    if key.user_role:
        role = min(role, Role[key.user_role.upper()])
    return Caller(role=role, name=f"key:{key.name}", user_id=key.user_id, key_id=key.id, scopes=scopes)
