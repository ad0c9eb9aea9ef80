"""Signing in and out, and the link that works once."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from tadoru.errors import UsageError
from tadoru.serve.access import cookies, sign_in
from tadoru.serve.access.cookies import SignedIn, safe_next
from tadoru.serve.pages.forms import Given
from tadoru.serve.pages.rendering import caller_of, render, seen, telling_of
from tadoru.serve.roles import Role

router = APIRouter(include_in_schema=False)
DESK = "/manage"


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
    given = Given(request)
    name, target = given.text("name"), _target(given.text("next"))
    signed_in = sign_in.sign_in(request, name, given.secret("password"))
    if signed_in is None:
        problem = telling_of(request).say("sign_in.wrong")
        return render(request, "sign_in.html", status=401, place="/sign-in", problem=problem, next=target, name=name)
    return _entered(request, signed_in, target)


@router.get("/welcome")
def welcome(request: Request) -> Response:
    """Whoever holds a link that works once chooses a password."""
    return _welcome(request, request.query_params.get("token", ""))


@router.post("/welcome")
def do_welcome(request: Request) -> Response:
    """Keep the password, and sign in."""
    given = Given(request)
    link, password = given.text("token"), given.secret("password")
    if password != given.secret("again"):
        return _welcome(request, link, telling_of(request).say("welcome.differ"))
    try:
        signed_in = sign_in.use_link(request, link, password)
    except UsageError as error:
        return _welcome(request, link, str(error))
    return _entered(request, signed_in, DESK) if signed_in is not None else _welcome(request, "")


def _welcome(request: Request, link: str, problem: str = "") -> Response:
    user = sign_in.open_link(request, link) if link else None
    status = 200 if user is not None and not problem else 400 if user is not None else 404
    response = render(request, "welcome.html", status=status, problem=problem, user=user, link=link, action="/welcome")
    response.headers["Cache-Control"] = "no-store"
    return response


@router.post("/sign-out")
def do_sign_out(request: Request) -> Response:
    """End this session."""
    sign_in.sign_out(request)
    response = seen("/", "signed_out")
    cookies.forget(response, request)
    return response


def _entered(request: Request, signed_in: SignedIn, target: str) -> Response:
    response = RedirectResponse(target, 303)
    cookies.start(response, request, signed_in)
    return response


def _target(asked: str) -> str:
    found = safe_next(asked)
    return DESK if found == "/" else found
