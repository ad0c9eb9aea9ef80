"""The cookie of a session, the token of its forms, and where to go after signing in."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from fastapi import Request, Response
from starlette.concurrency import run_in_threadpool

from tadoru.errors import UsageError
from tadoru.serve.auth.principal import ANONYMOUS, Principal, actor_of, client_address
from tadoru.serve.auth.rate_limits import RateLimit, RateLimits, client_network
from tadoru.serve.problems import HttpProblem
from tadoru.serve.roles import Role, role_for_scopes
from tadoru.serve.service import service_of
from tadoru.store.accounts.audit_log import User
from tadoru.store.accounts.users import SESSION_LIFETIME, normalize_user_name, validate_password
from tadoru.store.service import ServiceStore

SECURE_COOKIE, PLAIN_COOKIE = "__Host-tadoru", "tadoru"
"""A browser takes the first only over https, for this very host, and from nobody else."""


@dataclass(frozen=True, slots=True)
class SignInResult:
    """A session that was just started: who, and what the cookie says."""

    user: User
    token: str


def is_secure(request: Request) -> bool:
    """Does the browser speak https, to us or to what stands in front of us?"""
    configured = service_of(request).options.base_url
    return urlsplit(configured).scheme == "https" if configured else request.scope["scheme"] == "https"


def session_token(request: Request) -> str | None:
    """What the browser's cookie says."""
    return request.cookies.get(SECURE_COOKIE if is_secure(request) else PLAIN_COOKIE) or None


def set_session_cookie(response: Response, request: Request, signed_in: SignInResult) -> None:
    """Put a session into the browser."""
    secure = is_secure(request)
    response.set_cookie(
        SECURE_COOKIE if secure else PLAIN_COOKIE, signed_in.token, max_age=int(SESSION_LIFETIME.total_seconds()), path="/",
        secure=secure, httponly=True, samesite="lax",
    )  # fmt: skip


def clear_session_cookie(response: Response, request: Request) -> None:
    """Take the session out of the browser."""
    secure = is_secure(request)
    response.delete_cookie(SECURE_COOKIE if secure else PLAIN_COOKIE, path="/", secure=secure, httponly=True, samesite="lax")


def csrf_token(request: Request) -> str:
    """What every form of a signed-in person must send back as `csrf`; nothing for somebody who is not signed in.

    It is made of the session's own token, so that it ends with it, and tells nothing about it.
    """
    token = session_token(request)
    return hmac.new(token.encode(), b"csrf", hashlib.sha256).hexdigest() if token else ""


def is_valid_csrf_token(request: Request, given: str) -> bool:
    expected = csrf_token(request)
    return bool(expected) and hmac.compare_digest(expected.encode(), given.encode("utf-8", "surrogatepass"))


def safe_redirect(target: str | None) -> str:
    """Where to go after signing in: an address on this service, whatever was asked for."""
    given = target or ""
    if not given.startswith("/") or given.startswith(("//", "/\\")) or "\\" in given or not given.isprintable():
        return "/"
    return given


@dataclass(frozen=True, slots=True)
class Credential:
    """What a request shows. Not to be written down anywhere."""

    key: str | None = field(default=None, repr=False)
    session: str | None = field(default=None, repr=False)


def credential_of(request: Request) -> Credential:
    """A key, or else the cookie of a session."""
    scheme, _, shown = request.headers.get("authorization", "").partition(" ")
    return Credential(key=shown.strip()) if scheme.lower() == "bearer" else Credential(session=session_token(request))


async def identify(request: Request, limits: RateLimits) -> Principal:
    """Who it is. A key that is shown must hold; a session that does not is nobody's."""
    shown = credential_of(request)
    if shown.key is not None:
        return await _by_key(request, shown, limits)
    if shown.session is None:
        return ANONYMOUS
    return await run_in_threadpool(principal_of, service_of(request).store, shown)


async def _by_key(request: Request, shown: Credential, limits: RateLimits) -> Principal:
    here = client_network(client_address(request))
    before = limits.failures.take(here, 0)
    if not before.allowed:
        raise HttpProblem(
            429,
            "Too many invalid API keys. Retry after {seconds} seconds.",
            {"Retry-After": str(before.retry)},
            seconds=before.retry,
        )
    found = await run_in_threadpool(principal_of, service_of(request).store, shown)
    if found is ANONYMOUS:
        limits.failures.take(here)
        expired = await run_in_threadpool(service_of(request).store.expiry_of, shown.key or "")
        headers = {"WWW-Authenticate": 'Bearer error="invalid_token"'}
        if expired is not None:
            raise HttpProblem(
                401, "The API key expired on {date}. Ask an administrator for a new one.", headers, code="key_expired",
                date=f"{expired:%Y-%m-%d}",
            )  # fmt: skip
        raise HttpProblem(401, "Invalid API key. Ask an administrator for a new one.", headers, code="key_invalid")
    return found


def principal_of(store: ServiceStore, shown: Credential) -> Principal:
    """Whose it is; nobody's when it does not hold, or no longer. For a thread."""
    if shown.key is None:
        session = store.session(shown.session) if shown.session is not None else None
        if session is None:
            return ANONYMOUS
        return Principal(role=Role[session.user.role.upper()], name=session.user.name, user_id=session.user.id)
    key = store.key_of(shown.key)
    if key is None:
        return ANONYMOUS
    scopes = frozenset(key.scopes)
    role = role_for_scopes(scopes)
    if key.user_role:
        role = min(role, Role[key.user_role.upper()])
    return Principal(role=role, name=f"key:{key.name}", user_id=key.user_id, key_id=key.id, scopes=scopes)


SignInAttempt = tuple[tuple[RateLimit, str], ...]
"""The limits that an attempt counts for, and whom it counts for."""


def sign_in(request: Request, name: str, password: str) -> SignInResult | None:
    """Sign in with a name and a password; nothing when they do not fit."""
    store, limits, here = service_of(request).store, rate_limits_of(request), client_network(client_address(request))
    try:
        name = normalize_user_name(name)
    except UsageError:
        name = ""
    attempt = ((limits.guesses, f"{here} {name}"), (limits.failures, here))
    _count_attempt(attempt)
    if not limits.hashing.acquire(blocking=False):
        _refund_attempt(attempt)
        raise HttpProblem(503, "Too many sign-ins at the same time. Retry in a few seconds.", {"Retry-After": "2"})
    try:
        user = store.user_with_password(name, password)
    finally:
        limits.hashing.release()
    if user is None:
        return None
    _refund_attempt(attempt)
    return SignInResult(
        user, store.start_session(user, actor_of(request), replaces=session_token(request), agent=_agent(request))
    )


def open_link(request: Request, token: str) -> User | None:
    """Whose one-time link this is, while it holds. Opening it does not use it up: mail programs open links too."""
    return _with_link(request, token)


def use_link(request: Request, token: str, password: str = "") -> SignInResult | None:
    """Sign in with a one-time link, and choose a password if one is given; nothing when the link does not hold."""
    store = service_of(request).store
    if _with_link(request, token) is None:
        return None
    if password:
        validate_password(password)  # Before the link is used up.
    started = store.start_by_link(token, actor_of(request), replaces=session_token(request), agent=_agent(request))
    if started is None:
        return None
    user, session = started
    if password:
        store.set_password(user.name, password, actor_of(request))
        session = store.start_session(user, actor_of(request), agent=_agent(request))
    return SignInResult(user, session)


def sign_out(request: Request) -> None:
    """End the session of this browser."""
    token = session_token(request)
    if token:
        service_of(request).store.end_session(token, actor_of(request))


def rate_limits_of(request: Request) -> RateLimits:
    limits: RateLimits = request.app.state.limits
    return limits


def _with_link(request: Request, token: str) -> User | None:
    attempt = ((rate_limits_of(request).failures, client_network(client_address(request))),)
    _count_attempt(attempt)
    user = service_of(request).store.user_of_link(token)
    if user is not None:
        _refund_attempt(attempt)
    return user


def _count_attempt(attempt: SignInAttempt) -> None:
    """Take from every limit, or from none of them. Raises Refused."""
    for place, (limit, whom) in enumerate(attempt):
        taken = limit.take(whom)
        if not taken.allowed:
            _refund_attempt(attempt[:place])
            headers = {"Retry-After": str(taken.retry)}
            raise HttpProblem(429, "Too many attempts. Retry after {seconds} seconds.", headers, seconds=taken.retry)


def _refund_attempt(attempt: SignInAttempt) -> None:
    for limit, whom in attempt:
        limit.give_back(whom)


def _agent(request: Request) -> str:
    return request.headers.get("user-agent", "")
