"""What a request sends: the fields of a form, whose CSRF token was checked before the route runs, and ids in URLs."""

from __future__ import annotations

from collections.abc import Iterable

from fastapi import Request

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
