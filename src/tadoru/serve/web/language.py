"""Which language a page is in: what was asked for just now, what this browser asked for before, what it prefers, the site's."""

from __future__ import annotations

from fastapi import Request

from tadoru.serve.problems import quality_of
from tadoru.serve.service import service_of
from tadoru.serve.web.words import LANGUAGES

LANGUAGE_COOKIE = "lang"
COOKIE_MAX_AGE = 365 * 24 * 3600


def requested_language(request: Request) -> str | None:
    """The language that this very request asks for."""
    asked = request.query_params.get("lang", "")
    return asked if asked in LANGUAGES else None


def language_of(request: Request) -> str:
    """The language to answer in."""
    asked = requested_language(request) or request.cookies.get(LANGUAGE_COOKIE, "")
    if asked in LANGUAGES:
        return asked
    configured = service_of(request).options.lang
    return preferred_language(request.headers.get("accept-language", "")) or (
        configured if configured in LANGUAGES else LANGUAGES[0]
    )


def preferred_language(header: str) -> str | None:
    """The first of our languages in an Accept-Language header, by its weights."""
    found: list[tuple[float, int, str]] = []
    for place, part in enumerate(header[:500].split(",")):
        name, *parameters = (piece.strip().lower() for piece in part.split(";"))
        lang = name.partition("-")[0]
        weight = quality_of(parameters)
        if lang in LANGUAGES and weight > 0:
            found.append((-weight, place, lang))
    return min(found)[2] if found else None
