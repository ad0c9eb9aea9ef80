"""Sign-in, users, API keys and the audit log. A secret is shown once, when it is created."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from tadoru.errors import UsageError
from tadoru.i18n.translation import N_
from tadoru.serve.auth import authentication
from tadoru.serve.auth.authentication import SignInResult, create_api_key, safe_redirect
from tadoru.serve.auth.principal import actor_of
from tadoru.serve.problems import HttpProblem
from tadoru.serve.roles import SCOPES, USER_ROLES, Role
from tadoru.serve.service import request_origin, service_of
from tadoru.serve.web.rendering import Problem, caller_of, formatter_of, redirect_after, render
from tadoru.serve.web.request_input import PAGE_SIZE, SubmittedForm, parse_id
from tadoru.serve.web.sources import source_names
from tadoru.store.accounts.audit_log import User

router = APIRouter(include_in_schema=False)
AFTER_SIGN_IN = "/manage"
MAX_KEY_DAYS, DEFAULT_KEY_DAYS = 3650, 365
ROLE_LABELS = {
    "viewer": N_("Viewer: read-only"),
    "editor": N_("Editor: events, sources, reviews"),
    "admin": N_("Administrator: everything"),
}


@router.get("/sign-in")
def sign_in_page(request: Request) -> Response:
    """The sign-in form; signed-in users are redirected."""
    target = _target(request.query_params.get("next", ""))
    if caller_of(request).role > Role.PUBLIC:
        return RedirectResponse(target, 303)
    return render(request, "accounts/sign_in.html", place="/sign-in", robots="noindex", next=target, name="")


@router.post("/sign-in")
def do_sign_in(request: Request) -> Response:
    """Sign in with a name and a password."""
    given = SubmittedForm(request)
    name, target = given.text("name"), _target(given.text("next"))
    signed_in = authentication.sign_in(request, name, given.secret("password"))
    if signed_in is None:
        problem = formatter_of(request).gettext("Wrong username or password.")
        return render(request, "accounts/sign_in.html", status=401, place="/sign-in", problem=problem, next=target, name=name)
    return _start_session(request, signed_in, target)


@router.get("/welcome")
def welcome(request: Request) -> Response:
    """The form that sets a password with a one-time link."""
    return _welcome(request, request.query_params.get("token", ""))


@router.post("/welcome")
def do_welcome(request: Request) -> Response:
    """Save the password and sign in."""
    given = SubmittedForm(request)
    link, password = given.text("token"), given.secret("password")
    if password != given.secret("again"):
        return _welcome(request, link, formatter_of(request).gettext("The passwords do not match."))
    try:
        signed_in = authentication.use_link(request, link, password)
    except UsageError as error:
        return _welcome(request, link, error)
    return _start_session(request, signed_in, AFTER_SIGN_IN) if signed_in is not None else _welcome(request, "")


def _welcome(request: Request, link: str, problem: Problem = "") -> Response:
    user = authentication.open_link(request, link) if link else None
    status = 200 if user is not None and not problem else 400 if user is not None else 404
    response = render(request, "accounts/welcome.html", status=status, problem=problem, user=user, link=link, action="/welcome")
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


@router.get("/manage/users")
def users_page(request: Request) -> Response:
    """All users."""
    return _users(request)


def _users(
    request: Request, *, problem: Problem = "", link: str = "", link_for: str = "", given: dict[str, str] | None = None
) -> Response:
    _ = formatter_of(request).gettext
    return render(
        request, "accounts/users.html", status=400 if problem else 200, place="/manage/users", problem=problem, link=link,
        link_for=link_for, role_labels=ROLE_LABELS, users=service_of(request).store.users.list(),
        given=given or {"name": "", "role": "viewer"}, roles=[(one.label, _(ROLE_LABELS[one.label])) for one in USER_ROLES],
    )  # fmt: skip


@router.post("/manage/users")
def add_user(request: Request) -> Response:
    """Add a user and show the one-time link."""
    service, given = service_of(request), SubmittedForm(request)
    typed = given.texts(("name", "role"))
    try:
        user = service.store.users.add(typed["name"], typed["role"], actor_of(request))
    except UsageError as error:
        return _users(request, problem=error, given=typed)
    return _linked(request, user)


@router.post("/manage/users/{user_id}/link")
def link_user(request: Request, user_id: int) -> Response:
    """Create a new one-time link for a user."""
    return _linked(request, _user(request, user_id))


@router.post("/manage/users/{user_id}/revoke")
def revoke_user(request: Request, user_id: int) -> Response:
    """Revoke the access of a user."""
    user = _user(request, user_id)
    if user.id == caller_of(request).user_id:
        return _users(
            request, problem=formatter_of(request).gettext("You cannot revoke your own access. Ask another administrator.")
        )
    try:
        service_of(request).store.users.revoke(user.name, actor_of(request))
    except UsageError as error:
        return _users(request, problem=error)
    return redirect_after("/manage/users", "user_revoked")


def _linked(request: Request, user: User) -> Response:
    token = service_of(request).store.users.make_link(user.name, actor_of(request))
    return _users(request, link=f"{request_origin(request)}/welcome?token={quote(token)}", link_for=user.name)


def _user(request: Request, user_id: int) -> User:
    found = [one for one in service_of(request).store.users.list() if one.id == user_id and one.revoked_at is None]
    if not found:
        raise HttpProblem(404)
    return found[0]


@router.get("/manage/keys")
def keys_page(request: Request) -> Response:
    """All API keys."""
    return _keys(request)


def _keys(request: Request, *, problem: Problem = "", secret: str = "", given: dict[str, object] | None = None) -> Response:
    store = service_of(request).store
    return render(
        request, "accounts/keys.html", status=400 if problem else 200, place="/manage/keys", problem=problem, secret=secret,
        keys=store.keys.list(), scopes=tuple(SCOPES), given=given or {"name": "", "days": DEFAULT_KEY_DAYS, "scopes": []},
        now=store.db.now(),
    )  # fmt: skip


@router.post("/manage/keys")
def add_key(request: Request) -> Response:
    """Create an API key that belongs to the caller; its secret is shown on this page only."""
    service, given, _ = service_of(request), SubmittedForm(request), formatter_of(request).gettext
    name, days, scopes = given.text("name"), given.text("days"), [one for one in given.all("scopes") if one in SCOPES]
    typed: dict[str, object] = {"name": name, "days": days, "scopes": scopes}
    length = parse_id(days) if days else None
    if days and (length is None or length > MAX_KEY_DAYS):
        return _keys(request, problem=_("“{given}” is not a number.", given=days), given=typed)
    if not scopes:
        return _keys(request, problem=_("Select at least one permission."), given=typed)
    expires = service.store.db.now() + timedelta(days=length) if length else None
    try:
        _, secret = create_api_key(
            service.store, name, scopes, actor_of(request), user=caller_of(request).name, expires_at=expires
        )
    except UsageError as error:
        return _keys(request, problem=error, given=typed)
    return _keys(request, secret=secret)


@router.post("/manage/keys/{key_id}/revoke")
def revoke_key(request: Request, key_id: int) -> Response:
    """Revoke an API key."""
    service = service_of(request)
    keys = service.store.keys.list()
    if not any(one.id == key_id for one in keys):
        raise HttpProblem(404)
    service.store.keys.revoke(key_id, actor_of(request))
    return redirect_after("/manage/keys", "key_revoked")


@router.get("/manage/log")
def log_page(request: Request) -> Response:
    """The audit log, newest first."""
    before = parse_id(request.query_params.get("before"))
    found = service_of(request).store.audit.entries(limit=PAGE_SIZE + 1, before=before)
    more = f"/manage/log?before={found[PAGE_SIZE - 1].id}" if len(found) > PAGE_SIZE else ""
    subjects = {f"source {number}": name for number, name in source_names(service_of(request)).items()}
    return render(
        request, "accounts/audit_log.html", place="/manage/log", entries=found[:PAGE_SIZE], next_url=more, subjects=subjects
    )
