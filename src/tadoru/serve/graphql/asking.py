"""Who asks, and what they may: each field that not everybody may read names the route of REST whose right it needs.

A `Shelf` holds what several fields of one answer want: they say beforehand what they will need, and the first to take something
has all of it read at once, so that a page of a hundred events costs no hundred questions for their sources.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from tadoru.jobs.events.publish.documents import document
from tadoru.serve.access.guard import refusal
from tadoru.serve.access.who import Caller
from tadoru.serve.problems import Refused
from tadoru.serve.rest.models import LARGEST
from tadoru.serve.rest.reading import source_documents
from tadoru.serve.roles import ROUTES, Route
from tadoru.serve.service import Service
from tadoru.store.events.walking import told_all

Document = dict[str, Any]
_ROWS = {(row.method, row.path): row for row in ROUTES}


def right_of(path: str) -> Route:
    """The row of the table that says who may read this path. A path that is not there is a fault of ours."""
    return _ROWS["GET", path]


class Batch:
    """Things by their id, read together."""

    def __init__(self, read: Callable[[set[int]], dict[int, Document]]) -> None:
        self._read, self._wanted, self._known = read, set[int](), dict[int, Document | None]()

    def want(self, ids: Iterable[int | None]) -> None:
        """These will be asked for."""
        self._wanted.update(one for one in ids if one is not None and one not in self._known)

    def take(self, one: int | None) -> Document | None:
        """One of them; None when it is not there."""
        if one is None:
            return None
        if one not in self._known:
            wanted = self._wanted | {one}
            found = self._read(wanted)
            self._known.update({number: found.get(number) for number in wanted})
            self._wanted.clear()
        return self._known[one]


@dataclass(slots=True)
class Asking:
    """One request: the context of every field."""

    service: Service
    caller: Caller
    sources: Batch = field(init=False)
    events: Batch = field(init=False)

    def __post_init__(self) -> None:
        self.sources, self.events = Batch(self._sources), Batch(self._events)

    def need(self, path: str) -> None:
        """Go on only when the caller may read this path of REST. Raises Refused."""
        row = right_of(path)
        if not self.caller.may(row.role, row.scope):
            raise refusal(row, self.caller)

    def _sources(self, ids: set[int]) -> dict[int, Document]:
        every = self.service.store.sources()
        return {one["id"]: one for one in source_documents(self.service, [one for one in every if one.id in ids], self.caller)}

    def _events(self, ids: set[int]) -> dict[int, Document]:
        return {number: document(one) for number, one in told_all(self.service.store, ids).items()}


def whole(value: Any, name: str, *, least: int = 1, most: int = LARGEST) -> int:
    """A number that somebody gave, also as text. Raises Refused."""
    text = str(value)
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(LARGEST)) and least <= int(text) <= most):
        raise Refused(422, f"{name} must be a whole number from {least} to {most}.")
    return int(text)


def one_of(value: str, name: str, allowed: tuple[str, ...]) -> Any:
    """One of a few words. Raises Refused."""
    if value not in allowed:
        raise Refused(422, f"{name} must be one of {', '.join(allowed)}.")
    return value
