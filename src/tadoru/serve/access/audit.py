"""The audit log of the service: every change that a request made is in it, whether its route thought of it or not."""

from __future__ import annotations

from typing import Any

from fastapi import Request

from tadoru.serve.access.who import NOBODY, Caller
from tadoru.serve.roles import Route
from tadoru.serve.service import service_of
from tadoru.store.access.values import By

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


def address_of(request: Request) -> str:
    """Where a request comes from."""
    return request.client.host if request.client else ""


def by(request: Request) -> By:
    """Who makes the change, as the store takes it."""
    caller: Caller = getattr(request.state, "caller", NOBODY)
    return By(who=caller.name, user_id=caller.user_id, key_id=caller.key_id, address=address_of(request))


def note(request: Request, subject: str, **detail: Any) -> None:
    """Tell the audit log what was changed, beyond the path of the request. Never a secret."""
    request.state.noted = (subject, detail)


def record_change(request: Request, route: Route, status: int) -> None:
    """Write the line of a request that changed something."""
    subject, detail = getattr(request.state, "noted", (request.url.path, {}))
    service_of(request).store.record(by(request), f"{route.method} {route.path}", subject, status=status, **detail)
