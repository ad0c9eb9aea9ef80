"""Signing in and out: by a password, by a link that works once. Functions for a thread; the pages around them are elsewhere.

A new session is started each time, and what the browser showed before is worth nothing afterwards. Whoever tries too often is
refused before any password is looked at.
"""

from __future__ import annotations

from fastapi import Request

from tadoru.errors import UsageError
from tadoru.serve.access.audit import address_of, by
from tadoru.serve.access.cookies import SignedIn, session_token
from tadoru.serve.access.limits import Limits, Taken, neighbourhood
from tadoru.serve.problems import Refused
from tadoru.serve.service import service_of
from tadoru.store.access.users import check_password, user_name
from tadoru.store.access.values import User


def sign_in(request: Request, name: str, password: str) -> SignedIn | None:
    """Sign in with a name and a password; nothing when they do not fit."""
    store, limits, here = service_of(request).store, limits_of(request), neighbourhood(address_of(request))
    try:
        name = user_name(name)
    except UsageError:
        name = ""
    for limit, whom in ((limits.failures, here), (limits.names, name)):
        _refuse_if_over(limit.take(whom, 0))
    user = store.user_with_password(name, password)
    if user is None:
        limits.failures.take(here)
        limits.names.take(name)
        return None
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
    failures, here = limits_of(request).failures, neighbourhood(address_of(request))
    _refuse_if_over(failures.take(here, 0))
    user = service_of(request).store.user_of_link(token)
    if user is None:
        failures.take(here)
    return user


def _refuse_if_over(taken: Taken) -> None:
    if not taken.allowed:
        raise Refused(429, "That was tried too often: wait a little, then try again.", {"Retry-After": str(taken.retry)})


def _agent(request: Request) -> str:
    return request.headers.get("user-agent", "")
