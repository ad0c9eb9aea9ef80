"""The contents of a documentation site: its pages by the part of the site they are in, in reading order. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from tadoru.jobs.docs.bundle.base import one_line
from tadoru.store.docs_search import PageRow

DEEPEST = 3
"""Steps that a line is indented by at most: more is not seen on a phone."""


@dataclass(frozen=True, slots=True)
class Line:
    """A page in the contents."""

    number: int
    title: str
    depth: int
    """How deep below its part, from 0."""


@dataclass(slots=True)
class Part:
    """A part of a site; without a name, the pages that are in none."""

    name: str
    lines: list[Line] = field(default_factory=list)


def contents(pages: Iterable[PageRow], base_url: str) -> list[Part]:
    """The parts of a site in the order in which they are met, and their pages in reading order.

    A part that is only a folder of addresses is called what the page of that folder is called, when there is one.
    """
    base = urlsplit(base_url).path.rpartition("/")[0] + "/"
    parts: dict[str, Part] = {}
    titles: dict[str, str] = {}
    for page in pages:
        crumbs = [crumb for crumb in page.crumbs if crumb and crumb != page.title]
        path = urlsplit(page.url).path.removeprefix(base)
        steps = crumbs or [folder for folder in path.split("/")[:-1] if folder]
        key = steps[0] if steps else ""
        if not crumbs and path in (f"{key}/", f"{key}/index.html"):
            titles.setdefault(key, page.title)
        part = parts.setdefault(key, Part(key if crumbs else _named(key)))
        part.lines.append(Line(page.number, page.title, min(DEEPEST, max(0, len(steps) - 1))))
    for key, title in titles.items():
        parts[key].name = title
    return list(parts.values())


def _named(folder: str) -> str:
    name = one_line(unquote(folder).replace("-", " ").replace("_", " "), 80)
    return name[:1].upper() + name[1:]
