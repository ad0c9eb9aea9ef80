"""The pages of a documentation site: list, single page, table of contents and search."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, unquote, urldefrag, urljoin, urlsplit

from tadoru.errors import UsageError
from tadoru.jobs.docs.bundle.model import one_line
from tadoru.jobs.docs.search import SearchHit, make_snippet, search_site
from tadoru.serve.docs_sites.markdown_html import LinkResolver, local_fragment
from tadoru.serve.docs_sites.sites import DocsSite, open_site_history, open_site_index
from tadoru.serve.problems import HttpProblem
from tadoru.store.crawl.documents import DocumentVersion
from tadoru.store.docs_search import DocsSearchIndex, IndexedPage, IndexedSection
from tadoru.store.search_terms import asked

MAX_SEARCHED_SITES = 200
"""Sites that one search covers."""
_MAX_SECTION_LENGTH = 200_000
_LINK = re.compile(r"!?(?<!\\)\[((?:[^\[\]\\]|\\.){0,500})\]\((?:[^()\s]|\([^()\s]{0,300}\)){0,2000}(?:\s+\"[^\"]{0,300}\")?\)")
_FENCE = r"(?:`{3,}+|~{3,}+)[^\n]{0,200}"
_RULE = r"\|?[ \t]*+:?---[-:| \t]*+"
_CALLOUT = r">[ \t]?(?:\[![A-Z]+\])?"
_MARKS = re.compile(rf"^[ \t]{{0,12}}(?:{_FENCE}|{_CALLOUT}|{_RULE})$|^[ \t]{{0,12}}>[ \t]?|^#{{1,6}}[ \t]", re.M)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_SAFE_CHARACTERS = "!#$%&'()*+,/:;=?@[]~"


@dataclass(frozen=True, slots=True)
class DocsSitePage:
    """One page with the previous and next page in reading order."""

    row: IndexedPage
    sections: tuple[IndexedSection, ...]
    before: IndexedPage | None
    after: IndexedPage | None
    versions: tuple[DocumentVersion, ...]
    """Its earlier versions, newest first."""

    @property
    def markdown(self) -> str:
        return "".join(section.text for section in self.sections)

    @property
    def anchors(self) -> list[str | None]:
        """The fragment of each heading on the original site."""
        return [section.anchor for section in self.sections if section.level]


def list_pages(site: DocsSite, *, after: int = 0, limit: int = -1) -> list[IndexedPage]:
    """The pages in reading order that follow a position."""
    with open_site_index(site) as index:
        return list(index.pages(after=after, limit=limit)) if index is not None else []


def get_page(site: DocsSite, number: int) -> DocsSitePage:
    """A page of the site. Raises HttpProblem if it does not exist."""
    with open_site_index(site) as index:
        row = index.numbered(number) if index is not None else None
        if index is None or row is None:
            raise HttpProblem(404, "Page {number} not found.", number=number)
        sections, before, after = tuple(index.sections(row.url)), index.before(row.place), index.after(row.place)
    with open_site_history(site) as history:
        versions = tuple(one for one in history.versions(number) if one.id)
    return DocsSitePage(row, sections, before, after, versions)


def link_resolver(index: DocsSearchIndex, site: DocsSite, page_url: str, place: str) -> LinkResolver:
    """Resolves the links of a page: to the copy of the page if the site has one, else to the web. `place`: path of pages."""

    def resolve_link(href: str) -> str | None:
        if href.lower().startswith("mailto:"):
            return quote(href, safe=_SAFE_CHARACTERS)
        try:
            url, name = urldefrag(urljoin(page_url, href.strip()))
            is_web = urlsplit(url).scheme in ("http", "https")
        except ValueError:
            return None
        if not is_web:
            return None
        here = f"#{quote(local_fragment(name), safe=_SAFE_CHARACTERS)}" if name and local_fragment(name) else ""
        number = next(filter(None, (index.number_of(one) for one in _url_variants(url))), None)
        if number is not None:
            return f"{place}/{number}{here}"
        return quote(f"{url}#{name}" if name else url, safe=_SAFE_CHARACTERS)

    return resolve_link


def _url_variants(url: str) -> Sequence[str]:
    bare = url.rstrip("/")
    return tuple(dict.fromkeys((url, bare, f"{bare}/")))


@dataclass(frozen=True, slots=True)
class DocsSiteHit:
    """A section of one of the sites that matches a query."""

    site: DocsSite
    hit: SearchHit
    words: tuple[str, ...]
    """The search terms."""

    @property
    def snippet(self) -> str:
        """The text around the search terms, without Markdown syntax."""
        return make_snippet(strip_markdown(self.hit.text), self.words)


@dataclass(frozen=True, slots=True)
class DocsSearchResult:
    """The hits of a query in several sites."""

    how: str
    """`all`, `any` or `text`, as in `SearchResult`."""
    hits: tuple[DocsSiteHit, ...]


def strip_markdown(markdown: str) -> str:
    """Markdown without its syntax: no link targets, fences, table rules and emphasis marks."""
    text = _LINK.sub(r"\1", _MARKS.sub(" ", markdown[:_MAX_SECTION_LENGTH]))
    return _ESCAPED.sub(r"\1", text.replace("**", "").replace("`", ""))


def search_sites(found_in: Sequence[DocsSite], query: str, limit: int) -> DocsSearchResult:
    """The best sections for a query. Ranks of two sites are not comparable, so the best hits of each site come first."""
    ranked: list[tuple[int, int, DocsSiteHit]] = []
    ways: set[str] = set()
    words = asked(query).literal
    for at, site in enumerate(found_in[:MAX_SEARCHED_SITES]):
        try:
            found = search_site(site.folder, query, limit)
        except UsageError:  # Not crawled yet.
            continue
        if found.hits:
            ways.add(found.how)
        ranked += [(rank, at, DocsSiteHit(site, hit, words)) for rank, hit in enumerate(found.hits)]
    ranked.sort(key=lambda row: row[:2])
    how = next((way for way in ("all", "any", "text") if way in ways), "all")
    return DocsSearchResult(how, tuple(one for _, _, one in ranked[:limit]))


MAX_INDENT = 3
"""Maximum indentation level: a phone has no space for more."""


@dataclass(frozen=True, slots=True)
class ContentsEntry:
    """A page in the table of contents."""

    number: int
    title: str
    depth: int
    """The depth below its section, from 0."""


@dataclass(slots=True)
class ContentsSection:
    """A section of a site; the section without a name has the pages that are in none."""

    name: str
    lines: list[ContentsEntry] = field(default_factory=list)


def build_contents(pages: Iterable[IndexedPage], base_url: str) -> list[ContentsSection]:
    """The sections of a site in the order of their first page, and their pages in reading order.

    A section that is a folder of URLs is named after the page of that folder, if there is one.
    """
    base = urlsplit(base_url).path.rpartition("/")[0] + "/"
    parts: dict[str, ContentsSection] = {}
    titles: dict[str, str] = {}
    for page in pages:
        crumbs = [crumb for crumb in page.crumbs if crumb and crumb != page.title]
        path = urlsplit(page.url).path.removeprefix(base)
        steps = crumbs or [folder for folder in path.split("/")[:-1] if folder]
        key = steps[0] if steps else ""
        if not crumbs and path in (f"{key}/", f"{key}/index.html"):
            titles.setdefault(key, page.title)
        part = parts.setdefault(key, ContentsSection(key if crumbs else _folder_title(key)))
        part.lines.append(ContentsEntry(page.number, page.title, min(MAX_INDENT, max(0, len(steps) - 1))))
    for key, title in titles.items():
        parts[key].name = title
    return list(parts.values())


def _folder_title(folder: str) -> str:
    name = one_line(unquote(folder).replace("-", " ").replace("_", " "), 80)
    return name[:1].upper() + name[1:]
