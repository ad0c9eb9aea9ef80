"""What makes a page follow while it is open: the address of the script, the words it says, and from which message on it listens.

The number of the newest message is taken before a page is made, so that what happens between the making and the connection of the
script is told to it: nothing is missed, and at worst something is shown twice.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool

from tadoru.serve.auth.authentication import csrf_token, is_secure
from tadoru.serve.auth.principal import ANONYMOUS, Principal
from tadoru.serve.cluster_watch import can_have_cluster
from tadoru.serve.roles import Role
from tadoru.serve.service import service_of
from tadoru.serve.web.calendar.view_models import Formatter
from tadoru.serve.web.language import COOKIE_MAX_AGE, LANGUAGE_COOKIE, language_of, requested_language
from tadoru.serve.web.words import CATALOGUE, teller
from tadoru.serve.web.words_live import LIVE
from tadoru.serve.web.words_sentences import told
from tadoru.store.served_crawls.schema import CrawlState


async def note_live_position(request: Request) -> None:
    """Before every page for people who are signed in; a FastAPI dependency."""
    caller: Principal = getattr(request.state, "caller", ANONYMOUS)
    if request.method == "GET" and caller.role > Role.PUBLIC and request.url.path.startswith("/manage"):
        request.state.live_after = (await run_in_threadpool(service_of(request).store.message_span))[1]


@cache
def live_messages(lang: str) -> str:
    """What the script says, as JSON."""
    say = teller(lang)
    told = {key.removeprefix("live."): say(key) for key in LIVE}
    states = {f"state.{one.value}": say(f"crawl.state.{one.value}") for one in CrawlState}
    return json.dumps(told | states, ensure_ascii=False)


def live_script(request: Request, lang: str, address: str) -> Markup:
    """The element that makes a page follow. Without places to follow it does nothing."""
    after = getattr(request.state, "live_after", None)
    position = Markup(' data-after="{}"').format(after) if after is not None else ""
    return Markup('<script src="{}" defer data-words="{}"{}></script>').format(address, live_messages(lang), position)


_MANAGE_NAV = (
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


def static_url(name: str) -> str:
    """The address of a file of ours; it changes with the file, so that a browser may keep it for ever."""
    return f"/static/{name}?v={static_files()[name][2]}"


def caller_of(request: Request) -> Principal:
    found: Principal = getattr(request.state, "caller", ANONYMOUS)
    return found


def formatter_of(request: Request) -> Formatter:
    """How this request is answered in words."""
    return Formatter(language_of(request), service_of(request).options.timezone)


def render(
    request: Request, template: str, *, status: int = 200, place: str = "", problem: str = "", **context: Any
) -> HTMLResponse:
    """A page. `place` is the entry of the navigation it belongs to; `problem` is a sentence about what was refused."""
    telling, options = formatter_of(request), service_of(request).options
    other = "en" if telling.lang == "ja" else "ja"
    done = f"done.{request.query_params.get('done', '')}"
    frame: dict[str, Any] = {
        "lang": telling.lang, "other_lang": other, "other_language_url": _with_language(request, place, other),
        "caller": caller_of(request), "desk_places": _manage_nav(request), "place": place,
        "problem": told(problem, telling.lang), "site_name": options.site_name,
        "contact": options.contact,
        "done": telling.say(done) if done in CATALOGUE and not problem else "", "zone_name": telling.here,
        "static": static_url, "token": lambda: _csrf_field(request),
        "live": lambda: live_script(request, telling.lang, static_url("live.js")),
    }  # fmt: skip
    text = environment().get_template(template).render(telling.tools() | frame | context)
    response = HTMLResponse(text, status)
    response.headers["Cache-Control"] = "no-cache" if caller_of(request).role is Role.PUBLIC else "no-store"
    response.headers["Vary"] = "Accept, Accept-Language, Cookie"
    remember_language(request, response)
    return response


def _manage_nav(request: Request) -> list[tuple[str, str, Role]]:
    """Where the desk leads: to the cluster only where there can be one."""
    has_cluster = can_have_cluster(service_of(request))
    return [one for one in _MANAGE_NAV if has_cluster or one[0] != "/manage/cluster"]


def remember_language(request: Request, response: Response) -> None:
    """Keep a language that was asked for."""
    if (asked := requested_language(request)) is not None:
        response.set_cookie(
            LANGUAGE_COOKIE, asked, max_age=COOKIE_MAX_AGE, path="/", secure=is_secure(request), httponly=True, samesite="lax"
        )


def redirect_after(url: str, done: str = "", **query: Any) -> RedirectResponse:
    """After a change: the page that shows it, with a word about what was done."""
    asked = {**query, **({"done": done} if done else {})}
    return RedirectResponse(f"{url}?{urlencode(asked)}" if asked else url, 303)


def error_page(request: Request, status: int, detail: str) -> Response:
    """A refusal for a browser. What is told in both languages is; the rest is the sentence of whoever refused."""
    say = formatter_of(request).say
    name = f"error.{status}"
    heading = say(name) if name in CATALOGUE else say("error.500" if status >= 500 else "error.400")
    own = f"{name}.text"
    sentence = say(own) if own in CATALOGUE and (not detail or status in (404, 500, 503)) else detail
    sentence = told(sentence, formatter_of(request).lang)
    return render(request, "error.html", status=status, heading=heading, sentence=sentence)


def _csrf_field(request: Request) -> Markup:
    return Markup('<input type="hidden" name="csrf" value="{}">').format(csrf_token(request))


def _with_language(request: Request, place: str, lang: str) -> str:
    """This page in the other language; of an answer to a form, the page that it belongs to."""
    if request.method != "GET":
        return f"{place or '/'}?lang={lang}"
    kept = [(name, value) for name, value in request.query_params.multi_items() if name not in ("lang", "done", "token")]
    return f"{request.url.path}?{urlencode([*kept, ('lang', lang)])}"
