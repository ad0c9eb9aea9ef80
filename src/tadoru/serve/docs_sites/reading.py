"""The pages of a documentation site: in reading order, one of them with what stands beside it, and those that answer a query."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote, urldefrag, urljoin, urlsplit

from tadoru.errors import UsageError
from tadoru.jobs.docs.search import Hit, search_site, snippet
from tadoru.serve.docs_sites.markup import Lead, fragment
from tadoru.serve.docs_sites.sites import DocsSite, history_of, index_of
from tadoru.serve.problems import Refused
from tadoru.store.docs_search import DocsSearch, PageRow, SectionRow
from tadoru.store.document_history import Version
from tadoru.store.search_terms import asked

MOST_SITES = 200
"""That are searched at once."""
_LONGEST_SECTION = 200_000
_LINK = re.compile(r"!?(?<!\\)\[((?:[^\[\]\\]|\\.){0,500})\]\((?:[^()\s]|\([^()\s]{0,300}\)){0,2000}(?:\s+\"[^\"]{0,300}\")?\)")
_FENCE = r"(?:`{3,}+|~{3,}+)[^\n]{0,200}"
_RULE = r"\|?[ \t]*+:?---[-:| \t]*+"
_CALLOUT = r">[ \t]?(?:\[![A-Z]+\])?"
_MARKS = re.compile(rf"^[ \t]{{0,12}}(?:{_FENCE}|{_CALLOUT}|{_RULE})$|^[ \t]{{0,12}}>[ \t]?|^#{{1,6}}[ \t]", re.M)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_SAFE = "!#$%&'()*+,/:;=?@[]~"


@dataclass(frozen=True, slots=True)
class SitePage:
    """One page, with its neighbours in reading order."""

    row: PageRow
    sections: tuple[SectionRow, ...]
    before: PageRow | None
    after: PageRow | None
    versions: tuple[Version, ...]
    """What it said before, the newest first."""

    @property
    def markdown(self) -> str:
        return "".join(section.text for section in self.sections)

    @property
    def anchors(self) -> list[str | None]:
        """The site's own fragment of each heading."""
        return [section.anchor for section in self.sections if section.level]


def pages(site: DocsSite, *, after: int = 0, limit: int = -1) -> list[PageRow]:
    """In reading order, those behind a place."""
    with index_of(site) as index:
        return list(index.pages(after=after, limit=limit)) if index is not None else []


def page(site: DocsSite, number: int) -> SitePage:
    """A page of the site. Raises Refused."""
    with index_of(site) as index:
        row = index.numbered(number) if index is not None else None
        if index is None or row is None:
            raise Refused(404, f"The site {site.id} has no page {number}.")
        sections, before, after = tuple(index.sections(row.url)), index.before(row.place), index.after(row.place)
    with history_of(site) as history:
        versions = tuple(one for one in history.versions(number) if one.id)
    return SitePage(row, sections, before, after, versions)


def lead_from(index: DocsSearch, site: DocsSite, page_url: str, place: str) -> Lead:
    """Where the links of a page lead: to our page of it when it is one of the site, else out. `place` is where pages are here."""

    def lead(href: str) -> str | None:
        if href.lower().startswith("mailto:"):
            return quote(href, safe=_SAFE)
        try:
            url, name = urldefrag(urljoin(page_url, href.strip()))
            is_web = urlsplit(url).scheme in ("http", "https")
        except ValueError:
            return None
        if not is_web:
            return None
        here = f"#{quote(fragment(name), safe=_SAFE)}" if name and fragment(name) else ""
        number = next(filter(None, (index.number_of(one) for one in _spellings(url))), None)
        if number is not None:
            return f"{place}/{number}{here}"
        return quote(f"{url}#{name}" if name else url, safe=_SAFE)

    return lead


def _spellings(url: str) -> Sequence[str]:
    bare = url.rstrip("/")
    return tuple(dict.fromkeys((url, bare, f"{bare}/")))


@dataclass(frozen=True, slots=True)
class SiteHit:
    """A section of one of the sites that answers a query."""

    site: DocsSite
    hit: Hit
    words: tuple[str, ...]
    """That were looked for."""

    @property
    def snippet(self) -> str:
        """The words around what was found, as a reader sees them."""
        return snippet(readable(self.hit.text), self.words)


@dataclass(frozen=True, slots=True)
class Answered:
    """What was found."""

    how: str
    """`all` words in each section, `any` of them, or looked for as `text`."""
    hits: tuple[SiteHit, ...]


def readable(markdown: str) -> str:
    """Markdown without its marks: link texts without their targets, no fences, no rules of tables, no emphasis."""
    text = _LINK.sub(r"\1", _MARKS.sub(" ", markdown[:_LONGEST_SECTION]))
    return _ESCAPED.sub(r"\1", text.replace("**", "").replace("`", ""))


def search(found_in: Sequence[DocsSite], query: str, limit: int) -> Answered:
    """The sections that answer best. The ranks of two sites do not compare, so that the best of each come first."""
    ranked: list[tuple[int, int, SiteHit]] = []
    ways: set[str] = set()
    words = asked(query).literal
    for at, site in enumerate(found_in[:MOST_SITES]):
        try:
            found = search_site(site.folder, query, limit)
        except UsageError:  # Not crawled yet.
            continue
        if found.hits:
            ways.add(found.how)
        ranked += [(rank, at, SiteHit(site, hit, words)) for rank, hit in enumerate(found.hits)]
    ranked.sort(key=lambda row: row[:2])
    how = next((way for way in ("all", "any", "text") if way in ways), "all")
    return Answered(how, tuple(one for _, _, one in ranked[:limit]))
