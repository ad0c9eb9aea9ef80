"""Renders templates: the context that every page has, messages after a change, error pages, static files and live updates.

Templates escape every value. Only markup that is built here, and descriptions that were sanitised, is passed as `Markup`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import tzinfo
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool

from tadoru.errors import TadoruError
from tadoru.i18n.translation import N_, Formatter, Translator, translator
from tadoru.serve.api.event_queries import local_today
from tadoru.serve.auth.authentication import csrf_token, is_secure
from tadoru.serve.auth.principal import ANONYMOUS, Principal
from tadoru.serve.problems import HttpProblem
from tadoru.serve.roles import Role
from tadoru.serve.service import can_have_cluster, service_of
from tadoru.serve.web.calendar.site_files import logo_url, theme_url
from tadoru.serve.web.crawls.view_models import STATE_LABELS
from tadoru.serve.web.request_input import (
    COOKIE_MAX_AGE,
    LANGUAGE_COOKIE,
    LANGUAGE_NAMES,
    language_of,
    page_languages,
    requested_language,
)
from tadoru.store.calendar.drafts import zone_or_utc

Problem = str | TadoruError | HttpProblem
"""Why a request was refused: a text for the page, or the error that explains it."""
_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}
_MANAGE_NAV = (
    ("/manage", N_("Overview"), Role.VIEWER), ("/manage/events", N_("Events"), Role.VIEWER),
    ("/manage/sources", N_("Sources"), Role.VIEWER), ("/manage/reviews", N_("Review queue"), Role.VIEWER),
    ("/manage/runs", N_("Runs"), Role.VIEWER), ("/manage/crawls", N_("Crawls"), Role.VIEWER),
    ("/manage/cluster", N_("Cluster"), Role.VIEWER), ("/manage/docs", N_("Docs sites"), Role.VIEWER),
    ("/manage/keys", N_("API keys"), Role.ADMIN), ("/manage/users", N_("Users"), Role.ADMIN),
    ("/manage/log", N_("Audit log"), Role.ADMIN),
)  # fmt: skip
DONE = {
    "signed_out": N_("Signed out."),
    "source_added": N_("Source added."),
    "source_saved": N_("Source saved."),
    "source_enabled": N_("Source enabled."),
    "source_disabled": N_("Source disabled. Its events are kept."),
    "source_removed": N_("Source removed. Its events are kept."),
    "run_started": N_("Run started."),
    "merged": N_("Events merged. You can undo this below."),
    "kept_apart": N_("The events stay separate."),
    "fixed": N_("Event published."),
    "retried": N_("Re-parsed and published."),
    "dismissed": N_("Review dismissed."),
    "reopened": N_("The review is open again."),
    "resolved_several": N_("Reviews resolved."),
    "resolved_some": N_("Some of the reviews stay as they are: this answer does not fit them, or somebody resolved them before."),
    "resolved_none": N_("Select the reviews that you want to resolve."),
    "undone": N_("Merge undone."),
    "event_added": N_("Event added."),
    "event_saved": N_("Event saved."),
    "event_same": N_("No changes to save."),
    "event_hidden": N_("Event hidden."),
    "event_shown": N_("Event published again."),
    "user_revoked": N_("User revoked and signed out."),
    "key_revoked": N_("API key revoked."),
    "crawl_added": N_("Crawl added and queued."),
    "crawl_queued": N_("Crawl queued."),
    "crawl_pausing": N_("The crawl pauses when its in-flight pages are done."),
    "crawl_stopping": N_("The crawl stops when its in-flight pages are done."),
    "crawl_changed": N_("Crawl saved."),
    "crawl_removed": N_("Crawl removed."),
    "view_saved": N_("View saved."),
    "segment_saved": N_("Segment saved."),
    "segment_removed": N_("Segment removed."),
    "view_removed": N_("View removed."),
    "finding_ignored": N_("The finding is ignored from now on."),
    "finding_open": N_("The finding is open again."),
    "share_revoked": N_("The link no longer works."),
    "docs_refresh": N_("Crawl started."),
}
"""What a page reports after a change, by the query parameter `done`, once: reloading the page does not repeat it."""
DONE_COOKIE = "tadoru-done"
_ERROR_TITLES = {
    400: N_("Request failed"), 401: N_("Sign-in required"), 403: N_("Access denied"), 404: N_("Page not found"),
    429: N_("Too many requests"), 500: N_("Something went wrong"), 503: N_("Temporarily unavailable"),
}  # fmt: skip
_ERROR_TEXTS = {
    403: N_("Your role does not allow this. Ask an administrator for access."),
    404: N_("This page does not exist. It may have been moved or removed."),
    429: N_("Wait a moment and try again."),
    500: N_("Something went wrong on our side. Try again; if it keeps happening, contact the administrator."),
    503: N_("The database is not responding. Try again in a moment."),
}
_LIVE_MESSAGES = {
    "crawl.state.queued": N_("{name} is queued."),
    "crawl.state.running": N_("{name} is running."),
    "crawl.state.paused": N_("{name} is paused."),
    "crawl.state.stopped": N_("{name} was stopped."),
    "crawl.state.finished": N_("{name} has finished."),
    "crawl.state.failed": N_("{name} has failed."),
    "run.started.running": N_("Collecting {name}."),
    "run.ended.success": N_("Run of {name} succeeded."),
    "run.ended.partial": N_("Run of {name} partly succeeded."),
    "run.ended.fail": N_("Run of {name} failed."),
    "source.health.failing": N_("Run of {name} failed."),
    "source.health.well": N_("{name} is healthy."),
    "over": N_("You are signed out. This page no longer updates."),
}
"""What the script announces, by the kind of a live message and its state."""


@cache
def environment(lang: str, zone: tzinfo) -> Environment:
    """The templates with the messages and formats of a language; imported macros see them too."""
    found = Environment(
        loader=PackageLoader("tadoru.serve"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    formatter, messages = Formatter(lang, zone), translator(lang)
    found.globals |= {
        "_": messages.gettext, "ngettext": messages.ngettext, "pgettext": messages.pgettext, "translate": messages.text,
        "lang": lang, "static": static_url,
        "day": formatter.day, "timestamp": formatter.timestamp, "duration": formatter.duration, "number": formatter.number,
    }  # fmt: skip
    return found


@cache
def static_files() -> Mapping[str, tuple[bytes, str, str]]:
    """The static files by name: content, media type, and a version made from the content."""
    found = {}
    for file in files("tadoru.serve").joinpath("static").iterdir():
        content = file.read_bytes()
        found[file.name] = (content, _TYPES[file.name.rpartition(".")[2]], hashlib.sha256(content).hexdigest()[:12])
    return found


def static_url(name: str) -> str:
    """The URL of a static file; it changes with the content, so that browsers can cache it for good."""
    return f"/static/{name}?v={static_files()[name][2]}"


def caller_of(request: Request) -> Principal:
    """The principal of a request."""
    found: Principal = getattr(request.state, "caller", ANONYMOUS)
    return found


def formatter_of(request: Request) -> Formatter:
    """The language of the page, with the time zone of the site."""
    return Formatter(language_of(request), zone_or_utc(service_of(request).options.timezone))


def explain(problem: Problem, messages: Translator) -> str:
    """The text of a problem in a language."""
    if isinstance(problem, TadoruError):
        return messages.error(problem)
    return messages.text(problem.detail if isinstance(problem, HttpProblem) else problem)


def render(
    request: Request, template: str, *, status: int = 200, place: str = "", problem: Problem = "", **context: Any
) -> HTMLResponse:
    """A page. `place` is its entry in the navigation; `problem` is why a form was refused."""
    formatter, options, caller = formatter_of(request), service_of(request).options, caller_of(request)
    done = DONE.get(request.query_params.get("done", ""), "") if not problem else ""
    done = done if request.cookies.get(DONE_COOKIE) else ""
    today = local_today(service_of(request))
    page: dict[str, Any] = {
        "language_form": language_form(request, place), "caller": caller, "manage_nav": _manage_nav(request, caller.role),
        "place": place, "problem": explain(problem, formatter.translator), "done": formatter.gettext(done),
        "description": "", "canonical": "", "robots": "", "image": "", "theme": theme_url(options), "logo": logo_url(options),
        "month_path": f"/month/{today:%Y-%m}", "day_path": f"/day/{today}",
        "site_name": options.site_name, "contact": options.contact, "zone_name": options.timezone,
        "token": lambda: _csrf_field(request), "live": lambda: live_script(request, formatter.lang),
    }  # fmt: skip
    text = environment(formatter.lang, formatter.zone).get_template(template).render(page | context)
    response = HTMLResponse(text, status)
    response.headers["Cache-Control"] = "no-cache" if caller.role is Role.PUBLIC else "no-store"
    response.headers["Vary"] = "Accept, Accept-Language, Cookie"
    remember_language(request, response)
    if DONE_COOKIE in request.cookies:
        response.delete_cookie(DONE_COOKIE, path="/", httponly=True, samesite="lax")
    return response


def _manage_nav(request: Request, role: Role) -> list[tuple[str, str]]:
    """The management pages that a role may see; the cluster only where there can be one."""
    if role is Role.PUBLIC:
        return []
    has_cluster = can_have_cluster(service_of(request))
    return [(path, label) for path, label, least in _MANAGE_NAV if role >= least and (has_cluster or path != "/manage/cluster")]


def remember_language(request: Request, response: Response) -> None:
    """Store a language that was requested in a cookie."""
    if (lang := requested_language(request)) is not None:
        response.set_cookie(
            LANGUAGE_COOKIE, lang, max_age=COOKIE_MAX_AGE, path="/", secure=is_secure(request), httponly=True, samesite="lax"
        )


def redirect_after(url: str, done: str = "", **query: Any) -> RedirectResponse:
    """After a change: a redirect to the page that shows it, with a key of `DONE` that is shown once."""
    parameters = {**query, **({"done": done} if done else {})}
    response = RedirectResponse(f"{url}?{urlencode(parameters, doseq=True)}" if parameters else url, 303)
    if done:
        response.set_cookie(DONE_COOKIE, "1", max_age=60, path="/", httponly=True, samesite="lax")
    return response


def error_page(request: Request, status: int, detail: str) -> Response:
    """An error as a page. `detail` is translated if it is a `Message`."""
    messages = formatter_of(request).translator
    heading = _ERROR_TITLES.get(status) or _ERROR_TITLES[500 if status >= 500 else 400]
    is_general = status in _ERROR_TEXTS and (not detail or status == 404)
    sentence = messages.gettext(_ERROR_TEXTS[status]) if is_general else messages.text(detail)
    return render(request, "error.html", status=status, heading=messages.gettext(heading), sentence=sentence)


def _csrf_field(request: Request) -> Markup:
    return Markup('<input type="hidden" name="csrf" value="{}">').format(csrf_token(request))


@dataclass(frozen=True, slots=True)
class LanguageForm:
    """The choice of a language: a form, because search engines would follow links to every page in every language."""

    path: str
    fields: list[tuple[str, str]]
    languages: list[tuple[str, str]]


def language_form(request: Request, place: str) -> LanguageForm:
    """The languages of this page. After a form was sent, those of the page that it belongs to."""
    languages = [(lang, LANGUAGE_NAMES[lang]) for lang in page_languages(request.url.path)]
    if request.method != "GET":
        return LanguageForm(place or "/", [], languages)
    kept = [(name, value) for name, value in request.query_params.multi_items() if name not in ("lang", "done", "token")]
    return LanguageForm(request.url.path, kept, languages)


async def note_live_position(request: Request) -> None:
    """A FastAPI dependency: the number of the newest live message, read before a management page is rendered.

    The script subscribes from this number on, so that nothing that happens while the page loads is missed.
    """
    caller = caller_of(request)
    if request.method == "GET" and caller.role > Role.PUBLIC and request.url.path.startswith("/manage"):
        request.state.live_after = (await run_in_threadpool(service_of(request).store.messages.span))[1]


@cache
def live_messages(lang: str) -> str:
    """The messages of the script as JSON."""
    messages = translator(lang)
    states = {f"state.{state.value}": messages.gettext(label) for state, label in STATE_LABELS.items()}
    return json.dumps({key: messages.gettext(text) for key, text in _LIVE_MESSAGES.items()} | states, ensure_ascii=False)


def live_script(request: Request, lang: str) -> Markup:
    """The script element that updates a page while it is open."""
    after = getattr(request.state, "live_after", None)
    position = Markup(' data-after="{}"').format(after) if after is not None else ""
    return Markup('<script src="{}" defer data-words="{}"{}></script>').format(
        static_url("live.js"), live_messages(lang), position
    )
