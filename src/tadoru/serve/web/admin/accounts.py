"""Signing in and out, and the link that works once."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from tadoru.errors import UsageError
from tadoru.serve.auth import authentication
from tadoru.serve.auth.api_keys import create_api_key
from tadoru.serve.auth.authentication import SignInResult, safe_redirect
from tadoru.serve.auth.principal import actor_of
from tadoru.serve.problems import HttpProblem
from tadoru.serve.roles import SCOPES, USER_ROLES, Role
from tadoru.serve.service import request_origin, service_of
from tadoru.serve.web.rendering import caller_of, formatter_of, redirect_after, render
from tadoru.serve.web.request_input import PAGE_SIZE, SubmittedForm, parse_id
from tadoru.store.accounts.audit_log import User

router = APIRouter(include_in_schema=False)
AFTER_SIGN_IN = "/manage"


@router.get("/sign-in")
def sign_in_page(request: Request) -> Response:
    """The form; who is signed in already goes on."""
    target = _target(request.query_params.get("next", ""))
    if caller_of(request).role > Role.PUBLIC:
        return RedirectResponse(target, 303)
    return render(request, "sign_in.html", place="/sign-in", next=target, name="")


@router.post("/sign-in")
def do_sign_in(request: Request) -> Response:
    """Sign in with a name and a password."""
    given = SubmittedForm(request)
    name, target = given.text("name"), _target(given.text("next"))
    signed_in = authentication.sign_in(request, name, given.secret("password"))
    if signed_in is None:
        problem = formatter_of(request).say("sign_in.wrong")
        return render(request, "sign_in.html", status=401, place="/sign-in", problem=problem, next=target, name=name)
    return _start_session(request, signed_in, target)


@router.get("/welcome")
def welcome(request: Request) -> Response:
    """Whoever holds a link that works once chooses a password."""
    return _welcome(request, request.query_params.get("token", ""))


@router.post("/welcome")
def do_welcome(request: Request) -> Response:
    """Keep the password, and sign in."""
    given = SubmittedForm(request)
    link, password = given.text("token"), given.secret("password")
    if password != given.secret("again"):
        return _welcome(request, link, formatter_of(request).say("welcome.differ"))
    try:
        signed_in = authentication.use_link(request, link, password)
    except UsageError as error:
        return _welcome(request, link, str(error))
    return _start_session(request, signed_in, AFTER_SIGN_IN) if signed_in is not None else _welcome(request, "")


def _welcome(request: Request, link: str, problem: str = "") -> Response:
    user = authentication.open_link(request, link) if link else None
    status = 200 if user is not None and not problem else 400 if user is not None else 404
    response = render(request, "welcome.html", status=status, problem=problem, user=user, link=link, action="/welcome")
    response.headers["Cache-Control"] = "no-store"
    return response


@router.post("/sign-out")
def do_sign_out(request: Request) -> Response:
    """End this session."""
    authentication.sign_out(request)
    response = redirect_after("/", "signed_out")
    authentication.clear_session_cookie(response, request)
    return response


def _start_session(request: Request, signed_in: SignInResult, target: str) -> Response:
    response = RedirectResponse(target, 303)
    authentication.set_session_cookie(response, request, signed_in)
    return response


def _target(asked: str) -> str:
    found = safe_redirect(asked)
    return AFTER_SIGN_IN if found == "/" else found


MAX_KEY_DAYS, DEFAULT_KEY_DAYS = 3650, 365


@router.get("/manage/users")
def users_page(request: Request) -> Response:
    """Everybody who may sign in."""
    return _users(request)


def _users(
    request: Request, *, problem: str = "", link: str = "", link_for: str = "", given: dict[str, str] | None = None
) -> Response:
    say = formatter_of(request).say
    return render(
        request, "users.html", status=400 if problem else 200, place="/manage/users", problem=problem, link=link,
        link_for=link_for, users=service_of(request).store.users(), given=given or {"name": "", "role": "viewer"},
        roles=[(one.label, say(f"role.{one.label}")) for one in USER_ROLES],
    )  # fmt: skip


@router.post("/manage/users")
def add_user(request: Request) -> Response:
    """Somebody new, and the link to hand over."""
    service, given = service_of(request), SubmittedForm(request)
    typed = given.texts(("name", "role"))
    try:
        user = service.store.add_user(typed["name"], typed["role"], actor_of(request))
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
        return _users(request, problem=formatter_of(request).say("users.self"))
    try:
        service_of(request).store.revoke_user(user.name, actor_of(request))
    except UsageError as error:
        return _users(request, problem=str(error))
    return redirect_after("/manage/users", "user_revoked")


def _linked(request: Request, user: User) -> Response:
    token = service_of(request).store.make_link(user.name, actor_of(request))
    return _users(request, link=f"{request_origin(request)}/welcome?token={quote(token)}", link_for=user.name)


def _user(request: Request, user_id: int) -> User:
    found = [one for one in service_of(request).store.users() if one.id == user_id and one.revoked_at is None]
    if not found:
        raise HttpProblem(404, "")
    return found[0]


@router.get("/manage/keys")
def keys_page(request: Request) -> Response:
    """The keys of programs."""
    return _keys(request)


def _keys(request: Request, *, problem: str = "", secret: str = "", given: dict[str, object] | None = None) -> Response:
    store = service_of(request).store
    return render(
        request, "keys.html", status=400 if problem else 200, place="/manage/keys", problem=problem, secret=secret,
        keys=store.keys(), scopes=tuple(SCOPES), given=given or {"name": "", "days": DEFAULT_KEY_DAYS, "scopes": []}, now=store.now(),
    )  # fmt: skip


@router.post("/manage/keys")
def add_key(request: Request) -> Response:
    """A new key of whoever makes it; its secret is shown on this page and never again."""
    service, given, say = service_of(request), SubmittedForm(request), formatter_of(request).say
    name, days, scopes = given.text("name"), given.text("days"), [one for one in given.all("scopes") if one in SCOPES]
    typed: dict[str, object] = {"name": name, "days": days, "scopes": scopes}
    length = parse_id(days) if days else None
    if days and (length is None or length > MAX_KEY_DAYS):
        return _keys(request, problem=say("source.number", given=days), given=typed)
    if not scopes:
        return _keys(request, problem=say("keys.scopeless"), given=typed)
    expires = service.store.now() + timedelta(days=length) if length else None
    try:
        _, secret = create_api_key(
            service.store, name, scopes, actor_of(request), user=caller_of(request).name, expires_at=expires
        )
    except UsageError as error:
        return _keys(request, problem=str(error), given=typed)
    return _keys(request, secret=secret)


@router.post("/manage/keys/{key_id}/revoke")
def revoke_key(request: Request, key_id: int) -> Response:
    """End a key."""
    service = service_of(request)
    keys = service.store.keys()
    if not any(one.id == key_id for one in keys):
        raise HttpProblem(404, "")
    service.store.revoke_key(key_id, actor_of(request))
    return redirect_after("/manage/keys", "key_revoked")


@router.get("/manage/log")
def log_page(request: Request) -> Response:
    """Who changed what, the newest first."""
    before = parse_id(request.query_params.get("before"))
    found = service_of(request).store.audit_entries(limit=PAGE_SIZE + 1, before=before)
    more = f"/manage/log?before={found[PAGE_SIZE - 1].id}" if len(found) > PAGE_SIZE else ""
    return render(request, "log.html", place="/manage/log", entries=found[:PAGE_SIZE], next_url=more)
