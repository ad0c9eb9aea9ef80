"""What a request asks for: the language of the page, and the fields of forms and queries."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TypeVar

from fastapi import Request
from starlette.requests import HTTPConnection

from tadoru.errors import UsageError
from tadoru.i18n.translation import CALENDAR_LANGUAGES, LANGUAGES, SOURCE_LANGUAGE
from tadoru.serve.problems import HttpProblem, quality_of
from tadoru.serve.service import service_of

Found = TypeVar("Found")
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


def api_language(request: HTTPConnection) -> str:
    """The language of messages for programs: the one that the user chose, or of Accept-Language; English for any other."""
    chosen = request.cookies.get(LANGUAGE_COOKIE, "")
    if chosen in LANGUAGES:
        return chosen
    return preferred_language(request.headers.get("accept-language", ""), LANGUAGES) or SOURCE_LANGUAGE


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


PAGE_SIZE = 50
"""Rows of a list on one page."""
MAX_ID = 2**62
"""Larger ids cannot be stored."""
MAX_FIELD_LENGTH = 20_000
"""Characters of one field; a description may be long."""


class SubmittedForm:
    """The fields of a submitted form."""

    def __init__(self, request: Request) -> None:
        self._form = getattr(request.state, "form", None)

    def text(self, name: str) -> str:
        """The first value of a field; empty if it was not sent."""
        return next(iter(self.all(name)), "")

    def all(self, name: str) -> list[str]:
        """Every value of a field."""
        if self._form is None:
            return []
        return [
            one.replace("\0", "").replace("\r\n", "\n").strip()[:MAX_FIELD_LENGTH]
            for one in self._form.getlist(name)
            if isinstance(one, str)
        ]

    def texts(self, names: Iterable[str]) -> dict[str, str]:
        """The first values of several fields."""
        return {name: self.text(name) for name in names}

    def secret(self, name: str) -> str:
        """A password, not trimmed."""
        value = self._form.get(name) if self._form is not None else None
        return value if isinstance(value, str) else ""

    def has(self, name: str) -> bool:
        """Whether a checkbox is checked."""
        return bool(self.text(name))


def parse_id(text: str | None, *, least: int = 1) -> int | None:
    """An id in a URL, if the database can hold it."""
    if not text or not text.isascii() or not text.isdigit() or len(text) > len(str(MAX_ID)):
        return None
    return number if least <= (number := int(text)) < MAX_ID else None


def find_or_404(read: Callable[[int], Found | None], number: int) -> Found:
    """What the store has for an id in a path. Raises HttpProblem."""
    with suppress(UsageError):
        if 0 < number < MAX_ID and (found := read(number)) is not None:
            return found
    raise HttpProblem(404)
