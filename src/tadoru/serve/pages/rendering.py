"""A template made into an answer: what every template may use, the language, the token of forms, and files of our own.

Templates escape everything. Only what is made here, and descriptions that `public` has sanitised, is passed as markup.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tadoru.serve.access.cookies import csrf_token, is_secure
from tadoru.serve.access.who import NOBODY, Caller
from tadoru.serve.cluster_watch import can_have_cluster
from tadoru.serve.pages.language import COOKIE, KEEPS, chosen, language_of
from tadoru.serve.pages.live import live_script
from tadoru.serve.pages.telling import Telling
from tadoru.serve.pages.words import CATALOGUE
from tadoru.serve.pages.words_sentences import told
from tadoru.serve.roles import Role
from tadoru.serve.service import service_of

_DESK = (
    ("/manage", "nav.dashboard", Role.VIEWER), ("/manage/events", "nav.events", Role.VIEWER),
    ("/manage/sources", "nav.sources", Role.VIEWER), ("/manage/reviews", "nav.reviews", Role.VIEWER),
    ("/manage/runs", "nav.runs", Role.VIEWER), ("/manage/crawls", "nav.crawls", Role.VIEWER),
    ("/manage/cluster", "nav.cluster", Role.VIEWER), ("/manage/docs", "nav.docs", Role.VIEWER),
    ("/manage/keys", "nav.keys", Role.ADMIN), ("/manage/users", "nav.users", Role.ADMIN), ("/manage/log", "nav.log", Role.ADMIN),
)  # fmt: skip
_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}


@cache
def environment() -> Environment:
    """The templates, read once."""
    return Environment(
        loader=PackageLoader("tadoru.serve"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


@cache
def static_files() -> Mapping[str, tuple[bytes, str, str]]:
    """Each file of ours by its name: bytes, type, and what its address says about its content."""
    found = {}
    for file in files("tadoru.serve").joinpath("static").iterdir():
        content = file.read_bytes()
        found[file.name] = (content, _TYPES[file.name.rpartition(".")[2]], hashlib.sha256(content).hexdigest()[:12])
    return found


def static(name: str) -> str:
    """The address of a file of ours; it changes with the file, so that a browser may keep it for ever."""
    return f"/static/{name}?v={static_files()[name][2]}"


def caller_of(request: Request) -> Caller:
    found: Caller = getattr(request.state, "caller", NOBODY)
    return found


def telling_of(request: Request) -> Telling:
    """How this request is answered in words."""
    return Telling(language_of(request), service_of(request).options.timezone)


def render(
    request: Request, template: str, *, status: int = 200, place: str = "", problem: str = "", **context: Any
) -> HTMLResponse:
    """A page. `place` is the entry of the navigation it belongs to; `problem` is a sentence about what was refused."""
    telling, options = telling_of(request), service_of(request).options
    other = "en" if telling.lang == "ja" else "ja"
    done = f"done.{request.query_params.get('done', '')}"
    frame: dict[str, Any] = {
        "lang": telling.lang, "other_lang": other, "other_language_url": _with_language(request, place, other),
        "caller": caller_of(request), "desk_places": _places(request), "place": place,
        "problem": told(problem, telling.lang), "site_name": options.site_name,
        "contact": options.contact,
        "done": telling.say(done) if done in CATALOGUE and not problem else "", "zone_name": telling.here,
        "static": static, "token": lambda: _token(request),
        "live": lambda: live_script(request, telling.lang, static("live.js")),
    }  # fmt: skip
    text = environment().get_template(template).render(telling.tools() | frame | context)
    response = HTMLResponse(text, status)
    response.headers["Cache-Control"] = "no-cache" if caller_of(request).role is Role.PUBLIC else "no-store"
    response.headers["Vary"] = "Accept, Accept-Language, Cookie"
    remember_language(request, response)
    return response


def _places(request: Request) -> list[tuple[str, str, Role]]:
    """Where the desk leads: to the cluster only where there can be one."""
    has_cluster = can_have_cluster(service_of(request))
    return [one for one in _DESK if has_cluster or one[0] != "/manage/cluster"]


def remember_language(request: Request, response: Response) -> None:
    """Keep a language that was asked for."""
    if (asked := chosen(request)) is not None:
        response.set_cookie(COOKIE, asked, max_age=KEEPS, path="/", secure=is_secure(request), httponly=True, samesite="lax")


def seen(url: str, done: str = "", **query: Any) -> RedirectResponse:
    """After a change: the page that shows it, with a word about what was done."""
    asked = {**query, **({"done": done} if done else {})}
    return RedirectResponse(f"{url}?{urlencode(asked)}" if asked else url, 303)


def error_page(request: Request, status: int, detail: str) -> Response:
    """A refusal for a browser. What is told in both languages is; the rest is the sentence of whoever refused."""
    say = telling_of(request).say
    name = f"error.{status}"
    heading = say(name) if name in CATALOGUE else say("error.500" if status >= 500 else "error.400")
    own = f"{name}.text"
    sentence = say(own) if own in CATALOGUE and (not detail or status in (404, 500, 503)) else detail
    sentence = told(sentence, telling_of(request).lang)
    return render(request, "error.html", status=status, heading=heading, sentence=sentence)


def _token(request: Request) -> Markup:
    return Markup('<input type="hidden" name="csrf" value="{}">').format(csrf_token(request))


def _with_language(request: Request, place: str, lang: str) -> str:
    """This page in the other language; of an answer to a form, the page that it belongs to."""
    if request.method != "GET":
        return f"{place or '/'}?lang={lang}"
    kept = [(name, value) for name, value in request.query_params.multi_items() if name not in ("lang", "done", "token")]
    return f"{request.url.path}?{urlencode([*kept, ('lang', lang)])}"
