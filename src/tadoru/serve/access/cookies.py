"""The cookie of a session, the token of its forms, and where to go after signing in."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from urllib.parse import urlsplit

from fastapi import Request, Response

from tadoru.serve.service import service_of
from tadoru.store.access.sessions import LASTS
from tadoru.store.access.values import User

SECURE_NAME, PLAIN_NAME = "__Host-tadoru", "tadoru"
"""A browser takes the first only over https, for this very host, and from nobody else."""


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A session that was just started: who, and what the cookie says."""

    user: User
    token: str


def is_secure(request: Request) -> bool:
    """Does the browser speak https, to us or to what stands in front of us?"""
    configured = service_of(request).options.base_url
    return urlsplit(configured).scheme == "https" if configured else request.scope["scheme"] == "https"


def session_token(request: Request) -> str | None:
    """What the browser's cookie says."""
    return request.cookies.get(SECURE_NAME if is_secure(request) else PLAIN_NAME) or None


def start(response: Response, request: Request, signed_in: SignedIn) -> None:
    """Put a session into the browser."""
    secure = is_secure(request)
    response.set_cookie(
        SECURE_NAME if secure else PLAIN_NAME, signed_in.token, max_age=int(LASTS.total_seconds()), path="/",
        secure=secure, httponly=True, samesite="lax",
    )  # fmt: skip


def forget(response: Response, request: Request) -> None:
    """Take the session out of the browser."""
    secure = is_secure(request)
    response.delete_cookie(SECURE_NAME if secure else PLAIN_NAME, path="/", secure=secure, httponly=True, samesite="lax")


def csrf_token(request: Request) -> str:
    """What every form of a signed-in person must send back as `csrf`; nothing for somebody who is not signed in.

    It is made of the session's own token, so that it ends with it, and tells nothing about it.
    """
    token = session_token(request)
    return hmac.new(token.encode(), b"csrf", hashlib.sha256).hexdigest() if token else ""


def is_csrf_token(request: Request, given: str) -> bool:
    expected = csrf_token(request)
    return bool(expected) and hmac.compare_digest(expected.encode(), given.encode("utf-8", "surrogatepass"))


def safe_next(target: str | None) -> str:
    """Where to go after signing in: an address on this service, whatever was asked for."""
    given = target or ""
    if not given.startswith("/") or given.startswith(("//", "/\\")) or "\\" in given or not given.isprintable():
        return "/"
    return given
