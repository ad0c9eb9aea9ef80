"""From the town's files to answers: a page's facts and body go into a layout, addresses and days are filled in.

An `.html` file begins with facts, one a line (`title: 星町`), then a blank line, then its body. A line of the layout that asks
for a fact the page does not state is left out; that is how a page comes to have no title. Everything is read once, at the start.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from importlib.resources import files
from importlib.resources.abc import Traversable

from tadoru.demo.dates import fill

TYPES = {
    "css": "text/css; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "ics": "text/calendar; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
    "xml": "application/xml",
}
_CRLF = frozenset({"ics", "csv"})
"""RFC 5545 and RFC 4180 end lines so, and readers may depend on it."""
_FACT = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the server says to a request."""

    status: int = 200
    type: str = "text/html; charset=utf-8"
    body: bytes = b""
    location: str | None = None


@dataclass(frozen=True, slots=True)
class Writer:
    """Fills texts of the town: its layouts, its address, and the Monday its days are counted from."""

    layouts: dict[str, str]
    base: str
    monday: date

    def page(self, text: str, status: int = 200) -> Answer:
        """A page with its facts on top, as an answer."""
        head, _, body = text.partition("\n\n")
        facts = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in head.splitlines())}
        charset = facts.setdefault("charset", "utf-8")
        facts |= {"body": body, "lang": facts.get("lang", "ja")}
        layout = self.layouts[facts.get("layout", "town")]
        dressed = self.text(_dress(layout, facts)).encode(charset, "xmlcharrefreplace")
        return Answer(status=status, type=f"text/html; charset={charset}", body=dressed)

    def text(self, text: str) -> str:
        """A text with its addresses and days in it."""
        return fill(text.replace("{{base}}", self.base), self.monday)

    def file(self, name: str, data: bytes) -> Answer:
        """A file as an answer."""
        suffix = name.rpartition(".")[2]
        if suffix == "html":
            return self.page(data.decode())
        text = self.text(data.decode())
        return Answer(type=TYPES[suffix], body=(text.replace("\n", "\r\n") if suffix in _CRLF else text).encode())


def _dress(layout: str, facts: dict[str, str]) -> str:
    lines = (line for line in layout.splitlines() if all(name in facts or name == "base" for name in _FACT.findall(line)))
    return _FACT.sub(lambda token: facts.get(token[1], token[0]), "\n".join(lines) + "\n")


def read_files() -> dict[str, bytes]:
    """Every file of the town by its path."""
    return dict(_walk(files("tadoru.demo") / "site", ""))


def _walk(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for entry in folder.iterdir():
        if entry.is_dir():
            found += _walk(entry, f"{prefix}{entry.name}/")
        elif entry.name.rpartition(".")[2] in {*TYPES, "html"}:
            found.append((prefix + entry.name, entry.read_bytes()))
    return found
