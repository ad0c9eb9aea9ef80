"""Users, keys and the audit log, for administrators. What is secret is shown once, when it is made."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import Response

from tadoru.errors import UsageError
from tadoru.serve.access.audit import by
from tadoru.serve.access.keys import make_key
from tadoru.serve.pages.desk import A_PAGE, number_in
from tadoru.serve.pages.forms import Given
from tadoru.serve.pages.rendering import caller_of, render, seen, telling_of
from tadoru.serve.problems import Refused
from tadoru.serve.roles import PEOPLE, SCOPES
from tadoru.serve.service import origin, service_of
from tadoru.store.access.values import User

router = APIRouter(include_in_schema=False)
LONGEST_DAYS, USUAL_DAYS = 3650, 365


@router.get("/manage/users")
def users_page(request: Request) -> Response:
    """Everybody who may sign in."""
    return _users(request)


def _users(
    request: Request, *, problem: str = "", link: str = "", link_for: str = "", given: dict[str, str] | None = None
) -> Response:
    say = telling_of(request).say
    return render(
        request, "users.html", status=400 if problem else 200, place="/manage/users", problem=problem, link=link,
        link_for=link_for, users=service_of(request).store.users(), given=given or {"name": "", "role": "viewer"},
        roles=[(one.label, say(f"role.{one.label}")) for one in PEOPLE],
    )  # fmt: skip


@router.post("/manage/users")
def add_user(request: Request) -> Response:
    """Somebody new, and the link to hand over."""
    service, given = service_of(request), Given(request)
    typed = given.texts(("name", "role"))
    try:
        user = service.store.add_user(typed["name"], typed["role"], by(request))
    except UsageError as error:
        return _users(request, problem=str(error), given=typed)
    return _linked(request, user)


@router.post("/manage/users/{user_id}/link")
def link_user(request: Request, user_id: int) -> Response:
    """A new link for somebody who forgot the password."""
    return _linked(request, _user(request, user_id))


@router.post("/manage/users/{user_id}/revoke")
def revoke_user(request: Request, user_id: int) -> Response:
    """Nobody gets in by this name any more."""
    user = _user(request, user_id)
    if user.id == caller_of(request).user_id:
        return _users(request, problem=telling_of(request).say("users.self"))
    try:
        service_of(request).store.revoke_user(user.name, by(request))
    except UsageError as error:
        return _users(request, problem=str(error))
    return seen("/manage/users", "user_revoked")


def _linked(request: Request, user: User) -> Response:
    token = service_of(request).store.make_link(user.name, by(request))
    return _users(request, link=f"{origin(request)}/welcome?token={quote(token)}", link_for=user.name)


def _user(request: Request, user_id: int) -> User:
    found = [one for one in service_of(request).store.users() if one.id == user_id and one.revoked_at is None]
    if not found:
        raise Refused(404, "")
    return found[0]


@router.get("/manage/keys")
def keys_page(request: Request) -> Response:
    """The keys of programs."""
    return _keys(request)


def _keys(request: Request, *, problem: str = "", secret: str = "", given: dict[str, object] | None = None) -> Response:
    store = service_of(request).store
    return render(
        request, "keys.html", status=400 if problem else 200, place="/manage/keys", problem=problem, secret=secret,
        keys=store.keys(), scopes=tuple(SCOPES), given=given or {"name": "", "days": USUAL_DAYS, "scopes": []}, now=store.now(),
    )  # fmt: skip


@router.post("/manage/keys")
def add_key(request: Request) -> Response:
    """A new key of whoever makes it; its secret is shown on this page and never again."""
    service, given, say = service_of(request), Given(request), telling_of(request).say
    name, days, scopes = given.text("name"), given.text("days"), [one for one in given.all("scopes") if one in SCOPES]
    typed: dict[str, object] = {"name": name, "days": days, "scopes": scopes}
    length = number_in(days) if days else None
    if days and (length is None or length > LONGEST_DAYS):
        return _keys(request, problem=say("source.number", given=days), given=typed)
    if not scopes:
        return _keys(request, problem=say("keys.scopeless"), given=typed)
    expires = service.store.now() + timedelta(days=length) if length else None
    try:
        _, secret = make_key(service.store, name, scopes, by(request), user=caller_of(request).name, expires_at=expires)
    except UsageError as error:
        return _keys(request, problem=str(error), given=typed)
    return _keys(request, secret=secret)


@router.post("/manage/keys/{key_id}/revoke")
def revoke_key(request: Request, key_id: int) -> Response:
    """End a key."""
    service = service_of(request)
    keys = service.store.keys()
    if not any(one.id == key_id for one in keys):
        raise Refused(404, "")
    service.store.revoke_key(key_id, by(request))
    return seen("/manage/keys", "key_revoked")


@router.get("/manage/log")
def log_page(request: Request) -> Response:
    """Who changed what, the newest first."""
    before = number_in(request.query_params.get("before"))
    found = service_of(request).store.audit_entries(limit=A_PAGE + 1, before=before)
    more = f"/manage/log?before={found[A_PAGE - 1].id}" if len(found) > A_PAGE else ""
    return render(request, "log.html", place="/manage/log", entries=found[:A_PAGE], next_url=more)
