"""How an interface that answers in pages says where the next one is: by number, by offset, by cursor, or by a link.

Pure: the values of the expressions come in, an address goes out. At most `most` pages are asked for, and an address that leads to
the page itself ends it. Whether the address may be asked (host, scheme, credentials) is judged where it is fetched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Self

from tadoru.errors import ConfigError, quoted
from tadoru.parse.header_fields import links
from tadoru.parse.sources.fields import absolute
from tadoru.parse.sources.given import Given
from tadoru.rules.url import with_parameter

KINDS = ("none", "page", "offset", "cursor", "link")
Next = tuple[str | None, str]
"""The address of the next page, and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Paging:
    """How the pages of an interface hang together."""

    kind: str = "none"
    most: int = 50
    parameter: str = ""
    """`page`, `cursor`: the name in the query."""
    start: int = 1
    step: int = 1
    """`page`: the value on the first page, and how far it is to the next; an offset is a page whose number steps by its size."""
    size: int = 0
    """`page`: events on a page, asked for as `size_parameter` when it is named."""
    size_parameter: str = ""
    total: str = ""
    """`page`: an expression for how many events there are."""
    pages: str = ""
    """`page`: an expression for how many pages there are."""
    path: str = ""
    """`cursor`: the expression of the cursor; `link`: of the address, or the Link header when it is empty."""

    @classmethod
    def given(cls, mapping: Mapping[str, object], most: int) -> Self:
        """The settings a person wrote. Raises ConfigError."""
        given = Given(mapping, "pagination.")
        kind = given.choice("kind", KINDS, "none")
        if kind == "offset":
            size = given.number("size", 0, least=0, most=10**6)
            if not size:
                raise ConfigError("The setting pagination.size is missing; it must be how many events a page has.")
            parameter, total = given.text("parameter", "offset"), given.text("total")
            start, size_parameter = given.number("start", 0, least=0, most=10**6), given.text("size_parameter")
            found = cls("page", most, parameter, start, size, size, size_parameter, total)
        elif kind == "page":
            start, step = given.number("start", 1, least=0, most=10**6), given.number("step", 1, least=1, most=10**6)
            size, size_parameter = given.number("size", 0, least=0, most=10**6), given.text("size_parameter")
            parameter, total, pages = given.text("parameter", "page"), given.text("total"), given.text("pages")
            found = cls(kind, most, parameter, start, step, size, size_parameter, total, pages)
        elif kind == "cursor":
            found = cls(kind, most, given.text("parameter", "cursor"), path=given.text("path"))
        else:
            found = cls(kind, most, path=given.text("path") if kind == "link" else "")
        given.done()
        if kind == "cursor" and not found.path:
            raise ConfigError("The setting pagination.path is missing; it must be the expression that gives the next cursor.")
        if found.size_parameter and not found.size:
            raise ConfigError("The setting pagination.size is missing; it must be the number to send as size_parameter.")
        return found

    def paths(self) -> Iterator[tuple[str, str]]:
        """The expressions whose values `next` wants, by name."""
        for name in ("total", "pages", "path"):
            if path := getattr(self, name):
                yield name, path

    def first(self, url: str) -> str:
        """The address of the first page: with the size, where it is sent."""
        return with_parameter(url, self.size_parameter, str(self.size)) if self.size_parameter else url

    def next(self, url: str, page: int, count: int, values: Mapping[str, object], headers: Iterable[tuple[str, str]]) -> Next:
        """The page after this one, which is the `page`th, is at `url` and has `count` events."""
        if self.kind == "none" or page >= self.most:
            return None, ""
        if self.kind == "page":
            return self._by_number(url, page, count, values), ""
        if self.kind == "cursor":
            cursor = values.get("path")
            # False and "" are how interfaces say that there are no more; 0 is a cursor only where a person would say so.
            if not isinstance(cursor, str | int) or not cursor or isinstance(cursor, bool):
                return None, ""
            return _other(with_parameter(url, self.parameter, str(cursor)), url)
        return self._by_link(url, values, headers)

    def _by_number(self, url: str, page: int, count: int, values: Mapping[str, object]) -> str | None:
        pages, total = _number(values.get("pages")), _number(values.get("total"))
        if count == 0 or (pages is not None and page >= pages):
            return None
        if total is not None and page * (self.size or count) >= total:
            return None
        following = with_parameter(url, self.parameter, str(self.start + page * self.step))
        return self.first(following)

    def _by_link(self, url: str, values: Mapping[str, object], headers: Iterable[tuple[str, str]]) -> Next:
        if self.path:
            target = values.get("path")
            if not isinstance(target, str) or not target.strip():
                return None, ""
            address = absolute(target, url)
            return (
                _other(address, url) if address else (None, f"The next page is {quoted(target[:200])}, which is no web address.")
            )
        fields = [value for name, value in headers if name.lower() == "link"]
        found = next((link.url for link in links(fields, url) if "next" in link.rel), None)
        return _other(found, url) if found else (None, "")


NO_PAGING = Paging()


def _other(address: str, url: str) -> Next:
    if address.partition("#")[0] == (absolute(url, url) or url).partition("#")[0]:
        return None, "The next page is this page again, so no more pages are read."
    return address, ""


def _number(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return int(value)
    except (ValueError, OverflowError):
        return None
