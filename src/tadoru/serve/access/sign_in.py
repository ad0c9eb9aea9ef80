"""Signing in and out: by a password, by a link that works once. Functions for a thread; the pages around them are elsewhere.

A new session is started each time, and what the browser showed before is worth nothing afterwards. An attempt is counted before
the password is looked at, so that many at the same time are no more than one after another; who gets in is given it back.
"""

from __future__ import annotations

from fastapi import Request

from tadoru.errors import UsageError
from tadoru.serve.access.audit import address_of, by
from tadoru.serve.access.cookies import SignedIn, session_token
from tadoru.serve.access.limits import Limit, Limits, neighbourhood
from tadoru.serve.problems import Refused
from tadoru.serve.service import service_of
from tadoru.store.access.users import check_password, user_name
from tadoru.store.access.values import User

Attempt = tuple[tuple[Limit, str], ...]
"""The limits that an attempt counts for, and whom it counts for."""


def sign_in(request: Request, name: str, password: str) -> SignedIn | None:
    """Sign in with a name and a password; nothing when they do not fit."""
    store, limits, here = service_of(request).store, limits_of(request), neighbourhood(address_of(request))
    try:
        name = user_name(name)
    except UsageError:
        name = ""
    attempt = ((limits.guesses, f"{here} {name}"), (limits.failures, here))
    _count(attempt)
    if not limits.hashing.acquire(blocking=False):
        _give_back(attempt)
        raise Refused(503, "Too many sign-ins at the same time. Retry in a few seconds.", {"Retry-After": "2"})
    try:
        user = store.user_with_password(name, password)
    finally:
        limits.hashing.release()
    if user is None:
        return None
    _give_back(attempt)
    return SignedIn(user, store.start_session(user, by(request), replaces=session_token(request), agent=_agent(request)))


def open_link(request: Request, token: str) -> User | None:
    """Whose one-time link this is, while it holds. Opening it does not use it up: mail programs open links too."""
    return _with_link(request, token)


def use_link(request: Request, token: str, password: str = "") -> SignedIn | None:
    """Sign in with a one-time link, and choose a password if one is given; nothing when the link does not hold."""
    store = service_of(request).store
    if _with_link(request, token) is None:
        return None
    if password:
        check_password(password)  # Before the link is used up.
    started = store.start_by_link(token, by(request), replaces=session_token(request), agent=_agent(request))
    if started is None:
        return None
    user, session = started
    if password:
        store.set_password(user.name, password, by(request))
        session = store.start_session(user, by(request), agent=_agent(request))
    return SignedIn(user, session)


def sign_out(request: Request) -> None:
    """End the session of this browser."""
    token = session_token(request)
    if token:
        service_of(request).store.end_session(token, by(request))


def limits_of(request: Request) -> Limits:
    limits: Limits = request.app.state.limits
    return limits


def _with_link(request: Request, token: str) -> User | None:
    attempt = ((limits_of(request).failures, neighbourhood(address_of(request))),)
    _count(attempt)
    user = service_of(request).store.user_of_link(token)
    if user is not None:
        _give_back(attempt)
    return user


def _count(attempt: Attempt) -> None:
    """Take from every limit, or from none of them. Raises Refused."""
    for place, (limit, whom) in enumerate(attempt):
        taken = limit.take(whom)
        if not taken.allowed:
            _give_back(attempt[:place])
            detail = f"Too many attempts. Retry after {taken.retry} seconds."
            raise Refused(429, detail, {"Retry-After": str(taken.retry)})


def _give_back(attempt: Attempt) -> None:
    for limit, whom in attempt:
        limit.give_back(whom)


def _agent(request: Request) -> str:
    return request.headers.get("user-agent", "")
