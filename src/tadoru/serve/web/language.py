"""The language of a page: the one that the URL requests, the one in the cookie, the browser's preference, or the site's."""

from __future__ import annotations

from fastapi import Request

from tadoru.i18n.translation import CALENDAR_LANGUAGES, LANGUAGES, SOURCE_LANGUAGE
from tadoru.serve.problems import quality_of
from tadoru.serve.service import service_of

LANGUAGE_COOKIE = "lang"
COOKIE_MAX_AGE = 365 * 24 * 3600
LANGUAGE_NAMES = {"en": "English", "ja": "日本語", "de": "Deutsch"}
"""Each language by its own name."""
_MANAGEMENT = ("/manage", "/api/")
"""Paths of pages that exist only in the languages in which everything is translated."""


def page_languages(path: str) -> tuple[str, ...]:
    """The languages that a page exists in."""
    return LANGUAGES if path.startswith(_MANAGEMENT) else CALENDAR_LANGUAGES


def requested_language(request: Request) -> str | None:
    """The language in the URL of this request, if there is one."""
    lang = request.query_params.get("lang", "")
    return lang if lang in CALENDAR_LANGUAGES else None


def language_of(request: Request) -> str:
    """The language to render a page in; English if the page does not exist in the one that was chosen."""
    known = page_languages(request.url.path)
    chosen = requested_language(request) or request.cookies.get(LANGUAGE_COOKIE, "")
    if chosen in CALENDAR_LANGUAGES:
        return chosen if chosen in known else SOURCE_LANGUAGE
    configured = service_of(request).options.lang
    return preferred_language(request.headers.get("accept-language", ""), known) or (
        configured if configured in known else SOURCE_LANGUAGE
    )


def preferred_language(header: str, known: tuple[str, ...] = CALENDAR_LANGUAGES) -> str | None:
    """The known language with the highest weight in an Accept-Language header."""
    found: list[tuple[float, int, str]] = []
    for position, part in enumerate(header[:500].split(",")):
        name, *parameters = (piece.strip().lower() for piece in part.split(";"))
        lang = name.partition("-")[0]
        weight = quality_of(parameters)
        if lang in known and weight > 0:
            found.append((-weight, position, lang))
    return min(found)[2] if found else None
