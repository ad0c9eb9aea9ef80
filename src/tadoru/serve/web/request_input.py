"""The fields of a form that was sent. The guard has read it by the time a route runs, and checked its token."""

from __future__ import annotations

from collections.abc import Iterable

from fastapi import Request

PAGE_SIZE = 50
"""Rows of a list on one page."""
MAX_ID = 2**62
MAX_FIELD_LENGTH = 20_000
"""Characters of one field; a description may be long."""


class SubmittedForm:
    """A form, as texts."""

    def __init__(self, request: Request) -> None:
        self._form = getattr(request.state, "form", None)

    def text(self, name: str) -> str:
        """One field; empty when it was not sent."""
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
        return {name: self.text(name) for name in names}

    def secret(self, name: str) -> str:
        """A password, as it was typed."""
        value = self._form.get(name) if self._form is not None else None
        return value if isinstance(value, str) else ""

    def has(self, name: str) -> bool:
        """Was it ticked?"""
        return bool(self.text(name))


def parse_id(text: str | None, *, least: int = 1) -> int | None:
    """A number of an address that the database can hold."""
    if not text or not text.isascii() or not text.isdigit() or len(text) > len(str(MAX_ID)):
        return None
    return number if least <= (number := int(text)) < MAX_ID else None
