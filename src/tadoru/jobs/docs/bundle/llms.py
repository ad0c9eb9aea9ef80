"""llms.txt: what a site has to say on one page, as llmstxt.org describes it, with the local file and the size of each page."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from tadoru.jobs.docs.bundle.base import Site, StoredDoc, one_line
from tadoru.jobs.docs.bundle.changes import link

_MOST_NOTE = 200
TOP = "Overview"
"""The section of pages that are in none."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One page in the list."""

    section: str
    title: str
    url: str
    note: str
    file: str
    tokens: int


def entry(doc: StoredDoc, base_url: str, file: str, tokens: int) -> Entry:
    """What the list says of a page."""
    note = one_line(doc.metadata.description or "", _MOST_NOTE)
    title = one_line(doc.title, _MOST_NOTE) or doc.url
    return Entry(section_of(doc, base_url), title, doc.url, "" if note == title else note, file, tokens)


def section_of(doc: StoredDoc, base_url: str) -> str:
    """Where the site itself files a page: its first breadcrumb, else the first folder below the start."""
    crumbs = [crumb for crumb in (one_line(crumb, 80) for crumb in doc.breadcrumbs) if crumb and crumb != one_line(doc.title)]
    if crumbs:
        return crumbs[0]
    base = urlsplit(base_url).path.rpartition("/")[0] + "/"
    path = urlsplit(doc.url).path
    folders = path.removeprefix(base).split("/")[:-1] if path.startswith(base) else path.strip("/").split("/")[:-1]
    name = one_line(unquote(folders[0]).replace("-", " ").replace("_", " "), 80) if folders else ""
    return name[:1].upper() + name[1:] if name else TOP


def sections(entries: list[Entry]) -> dict[str, list[Entry]]:
    """The pages by section, both in reading order."""
    found: dict[str, list[Entry]] = {}
    for each in entries:
        found.setdefault(each.section, []).append(each)
    return found


def render(site: Site, entries: list[Entry], *, pages: bool) -> str:
    """The file. `pages` says whether the pages have files of their own."""
    summary = one_line(site.description, 400) or f"The documentation at {site.base_url}."
    parts = [f"# {site_title(site)}\n\n> {summary}\n\nSource: {site.base_url}\n"]
    for name, found in sections(entries).items():
        parts.append(f"\n## {name}\n\n" + "".join(_line(each, pages) for each in found))
    return "".join(parts)


def site_title(site: Site) -> str:
    """What a site is called; its host when it does not say."""
    return one_line(site.title, 120) or urlsplit(site.base_url).netloc


def _line(each: Entry, pages: bool) -> str:
    about = " · ".join([*([each.note] if each.note else []), *([each.file] if pages else []), f"{each.tokens} tokens"])
    return f"- {link(each.title, each.url)}: {about}\n"
