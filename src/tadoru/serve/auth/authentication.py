"""Authentication: session cookies and CSRF tokens, identification by API key or session, signing in and out.

Signing in always starts a new session, and the session that the browser had before ends. An attempt is counted before the
password is checked, so that parallel attempts are limited like sequential ones; a successful attempt is refunded.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import urlsplit

from fastapi import Request, Response
from starlette.concurrency import run_in_threadpool

from tadoru.errors import UsageError, quoted
from tadoru.serve.auth.principal import ANONYMOUS, Principal, actor_of, client_address
from tadoru.serve.auth.rate_limits import RateLimit, RateLimits, client_network
from tadoru.serve.problems import HttpProblem
from tadoru.serve.roles import SCOPES, Role, role_for_scopes
from tadoru.serve.service import service_of
from tadoru.store.accounts.audit_log import Actor, ApiKey, User
from tadoru.store.accounts.users import SESSION_LIFETIME, normalize_user_name, validate_password
from tadoru.store.service import ServiceStore


def create_api_key(
    store: ServiceStore,
    name: str,
    scopes: Iterable[str],
    by: Actor,
    *,
    user: str | None = None,
    expires_at: datetime | None = None,
) -> tuple[ApiKey, str]:
    """A new API key, and its full text, which is shown only once. Raises UsageError."""
    wanted = tuple(scopes)
    for scope in wanted:
        if scope not in SCOPES:
            raise UsageError("Unknown scope {scope}. Use one of {scopes}.", scope=quoted(scope), scopes=", ".join(SCOPES))
    owner = store.users.get(user) if user is not None else None
    if owner is not None and role_for_scopes(frozenset(wanted)) > Role[owner.role.upper()]:
        raise UsageError(
            "The role of {user} ({role}) does not include all of these scopes. Choose fewer.", user=owner.name, role=owner.role
        )
    return store.keys.add(name, wanted, by, user=user, expires_at=expires_at)


SECURE_COOKIE, PLAIN_COOKIE = "__Host-tadoru", "tadoru"
"""A browser accepts the first only over https, for exactly this host."""


@dataclass(frozen=True, slots=True)
class SignInResult:
    """A new session: its user, and the token for the cookie."""

    user: User
    token: str


def is_secure(request: Request) -> bool:
    """Whether the browser uses https, to this service or to a proxy in front of it."""
    configured = service_of(request).options.base_url
    return urlsplit(configured).scheme == "https" if configured else request.scope["scheme"] == "https"


def session_token(request: Request) -> str | None:
    """The token in the session cookie, or None."""
    return request.cookies.get(SECURE_COOKIE if is_secure(request) else PLAIN_COOKIE) or None


def set_session_cookie(response: Response, request: Request, signed_in: SignInResult) -> None:
    """Set the session cookie on a response."""
    secure = is_secure(request)
    response.set_cookie(
        SECURE_COOKIE if secure else PLAIN_COOKIE, signed_in.token, max_age=int(SESSION_LIFETIME.total_seconds()), path="/",
        secure=secure, httponly=True, samesite="lax",
    )  # fmt: skip


def clear_session_cookie(response: Response, request: Request) -> None:
    """Delete the session cookie on a response."""
    secure = is_secure(request)
    response.delete_cookie(SECURE_COOKIE if secure else PLAIN_COOKIE, path="/", secure=secure, httponly=True, samesite="lax")


def csrf_token(request: Request) -> str:
    """The token that every form of a signed-in user must send as `csrf`; empty without a session.

    It is derived from the session token, so it expires with the session and does not reveal it.
    """
    token = session_token(request)
    return hmac.new(token.encode(), b"csrf", hashlib.sha256).hexdigest() if token else ""


def is_valid_csrf_token(request: Request, given: str) -> bool:
    expected = csrf_token(request)
    return bool(expected) and hmac.compare_digest(expected.encode(), given.encode("utf-8", "surrogatepass"))


def safe_redirect(target: str | None) -> str:
    """The target of a redirect after signing in: a path on this service; `/` for anything else."""
    given = target or ""
    if not given.startswith("/") or given.startswith(("//", "/\\")) or "\\" in given or not given.isprintable():
        return "/"
    return given


@dataclass(frozen=True, slots=True)
class Credential:
    """The credential of a request. It must never be logged or stored."""

    key: str | None = field(default=None, repr=False)
    session: str | None = field(default=None, repr=False)


def credential_of(request: Request) -> Credential:
    """The API key of a request, or else its session cookie."""
    scheme, _, shown = request.headers.get("authorization", "").partition(" ")
    return Credential(key=shown.strip()) if scheme.lower() == "bearer" else Credential(session=session_token(request))


async def identify(request: Request, limits: RateLimits) -> Principal:
    """The principal of a request. An invalid API key raises HttpProblem; an invalid session is anonymous."""
    shown = credential_of(request)
    if shown.key is not None:
        return await _identify_by_key(request, shown, limits)
    if shown.session is None:
        return ANONYMOUS
    return await run_in_threadpool(principal_of, service_of(request).store, shown)


async def _identify_by_key(request: Request, shown: Credential, limits: RateLimits) -> Principal:
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
        expired = await run_in_threadpool(service_of(request).store.keys.expiry_of, shown.key or "")
        headers = {"WWW-Authenticate": 'Bearer error="invalid_token"'}
        if expired is not None:
            raise HttpProblem(
                401, "The API key expired on {date}. Ask an administrator for a new one.", headers, code="key_expired",
                date=f"{expired:%Y-%m-%d}",
            )  # fmt: skip
        raise HttpProblem(401, "Invalid API key. Ask an administrator for a new one.", headers, code="key_invalid")
    return found


def principal_of(store: ServiceStore, shown: Credential) -> Principal:
    """The principal of a credential; anonymous if it is not or no longer valid. Blocking: run it in a thread."""
    if shown.key is None:
        session = store.sessions.get(shown.session) if shown.session is not None else None
        if session is None:
            return ANONYMOUS
        return Principal(role=Role[session.user.role.upper()], name=session.user.name, user_id=session.user.id)
    key = store.keys.find(shown.key)
    if key is None:
        return ANONYMOUS
    scopes = frozenset(key.scopes)
    role = role_for_scopes(scopes)
    if key.user_role:
        role = min(role, Role[key.user_role.upper()])
    return Principal(role=role, name=f"key:{key.name}", user_id=key.user_id, key_id=key.id, scopes=scopes)


SignInAttempt = tuple[tuple[RateLimit, str], ...]
"""The rate limits that an attempt counts for, each with the name it counts under."""


def sign_in(request: Request, name: str, password: str) -> SignInResult | None:
    """Sign in with a name and a password; None if they are wrong."""
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
        user = store.users.with_password(name, password)
    finally:
        limits.hashing.release()
    if user is None:
        return None
    _refund_attempt(attempt)
    return SignInResult(
        user, store.sessions.start(user, actor_of(request), replaces=session_token(request), agent=_agent(request))
    )


def open_link(request: Request, token: str) -> User | None:
    """The user of a one-time link while it is valid. Opening does not use it up: mail programs open links too."""
    return _user_of_link(request, token)


def use_link(request: Request, token: str, password: str = "") -> SignInResult | None:
    """Sign in with a one-time link and set a password if one is given; None if the link is not valid."""
    store = service_of(request).store
    if _user_of_link(request, token) is None:
        return None
    if password:
        validate_password(password)  # Before the link is used up.
    started = store.sessions.start_by_link(token, actor_of(request), replaces=session_token(request), agent=_agent(request))
    if started is None:
        return None
    user, session = started
    if password:
        store.users.set_password(user.name, password, actor_of(request))
        session = store.sessions.start(user, actor_of(request), agent=_agent(request))
    return SignInResult(user, session)


def sign_out(request: Request) -> None:
    """End the session of the request."""
    token = session_token(request)
    if token:
        service_of(request).store.sessions.end(token, actor_of(request))


def rate_limits_of(request: Request) -> RateLimits:
    limits: RateLimits = request.app.state.limits
    return limits


def _user_of_link(request: Request, token: str) -> User | None:
    attempt = ((rate_limits_of(request).failures, client_network(client_address(request))),)
    _count_attempt(attempt)
    user = service_of(request).store.users.of_link(token)
    if user is not None:
        _refund_attempt(attempt)
    return user


def _count_attempt(attempt: SignInAttempt) -> None:
    """Count the attempt in every limit, or in none if one is exceeded. Raises HttpProblem."""
    for index, (limit, whom) in enumerate(attempt):
        taken = limit.take(whom)
        if not taken.allowed:
            _refund_attempt(attempt[:index])
            headers = {"Retry-After": str(taken.retry)}
            raise HttpProblem(429, "Too many attempts. Retry after {seconds} seconds.", headers, seconds=taken.retry)


def _refund_attempt(attempt: SignInAttempt) -> None:
    for limit, whom in attempt:
        limit.refund(whom)


def _agent(request: Request) -> str:
    return request.headers.get("user-agent", "")
