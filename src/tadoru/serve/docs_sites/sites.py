"""The documentation sites of the service: its docs crawls with the summary in their folders, their files,
pages, tables of contents and search, and their refresh."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote, urldefrag, urljoin, urlsplit

from fastapi import Request

from tadoru.errors import UsageError
from tadoru.jobs.docs.bundle.model import one_line
from tadoru.jobs.docs.library import SiteSummary, read_site_summary
from tadoru.jobs.docs.run import crawl_database_path
from tadoru.jobs.docs.search import SearchHit, ensure_index, make_snippet, search_site
from tadoru.serve.auth.principal import actor_of
from tadoru.serve.crawl_runner import control
from tadoru.serve.crawl_runner.crawl_files import crawl_path
from tadoru.serve.docs_sites.markdown_html import LinkResolver, local_fragment
from tadoru.serve.problems import HttpProblem
from tadoru.serve.service import Service, service_of
from tadoru.store.crawl.documents import DocumentHistory, DocumentVersion, open_history
from tadoru.store.docs_search import DocsSearchIndex, IndexedPage, IndexedSection, opened
from tadoru.store.search_terms import asked
from tadoru.store.served_crawls.register import CrawlNotFound
from tadoru.store.served_crawls.schema import ServedCrawl

JOB = "docs"


@dataclass(frozen=True, slots=True)
class DocsSite(SiteSummary):
    """A documentation site of the service."""

    crawl: ServedCrawl

    @property
    def id(self) -> int:
        return self.crawl.id


def list_docs_sites(service: Service, *, limit: int, before: int | None = None) -> list[DocsSite]:
    """The documentation sites, newest first; `before` is the ID of the last one of the previous page."""
    return [_site(service, crawl) for crawl in service.store.crawls.list(job=JOB, limit=limit, before=before)]


def get_docs_site(service: Service, number: int) -> DocsSite:
    """One site. Raises HttpProblem if it does not exist."""
    try:
        crawl = service.store.crawls.get(number)
    except CrawlNotFound:
        crawl = None
    if crawl is None or crawl.job != JOB:
        raise HttpProblem(404, "Documentation site {number} not found.", number=number)
    return _site(service, crawl)


def _site(service: Service, crawl: ServedCrawl) -> DocsSite:
    folder = crawl_path(service, crawl)
    card = read_site_summary(folder, crawl.name)
    url = card.url or (crawl.starts[0] if crawl.starts else "")
    name = crawl.name or card.title or url
    return DocsSite(name, folder, url, card.title, card.pages, card.tokens, card.crawled_at, card.last_checked, crawl)


@contextmanager
def open_site_index(site: DocsSite) -> Iterator[DocsSearchIndex | None]:
    """The search index of a site; None before its first crawl has ended."""
    try:
        path = ensure_index(site.folder)
    except UsageError:
        yield None
        return
    with opened(path) as index:
        yield index


@contextmanager
def open_site_history(site: DocsSite) -> Iterator[DocumentHistory]:
    """The earlier versions of a site's pages."""
    with open_history(crawl_database_path(site.folder)) as found:
        yield found


MARKDOWN, PLAIN, JSON = "text/markdown; charset=utf-8", "text/plain; charset=utf-8", "application/json"
SITE_FILES = {
    "full.md": MARKDOWN, "llms.txt": PLAIN, "llms-full.txt": PLAIN, "index.json": JSON, "SKILL.md": MARKDOWN,
    "changes.md": MARKDOWN,
}  # fmt: skip
"""Files that can be downloaded, with their media types. Only these names are accepted, so that no path comes from a request."""
CHUNKS = "chunks"


@dataclass(frozen=True, slots=True)
class SiteFile:
    """A file to download."""

    path: Path
    media_type: str
    name: str


def find_file(site: DocsSite, name: str) -> SiteFile:
    """A file of the site by one of the known names. Raises HttpProblem if it does not exist."""
    media_type = SITE_FILES.get(name)
    path = site.folder / name if media_type is not None else None
    if media_type is None or path is None or path.is_symlink() or not path.is_file():
        known = ", ".join(SITE_FILES)
        raise HttpProblem(404, "File not found. A crawled site has {known}, depending on its options.", known=known)
    return SiteFile(path, media_type, f"docs-{site.id}-{name}")


def find_chunk(site: DocsSite, number: int) -> SiteFile:
    """A chunk of the site by its number. Raises HttpProblem."""
    name = f"chunk-{number:03}.md"
    path = site.folder / CHUNKS / name
    if path.parent.is_symlink() or path.is_symlink() or not path.is_file():
        raise HttpProblem(404, "Chunk {number} not found.", number=number)
    return SiteFile(path, MARKDOWN, f"docs-{site.id}-{name}")


def list_files(site: DocsSite) -> list[tuple[str, int]]:
    """The files that exist, with their sizes in bytes."""
    paths = ((name, site.folder / name) for name in SITE_FILES)
    return [(name, path.stat().st_size) for name, path in paths if path.is_file() and not path.is_symlink()]


def start_refresh(request: Request, site: DocsSite) -> DocsSite:
    """Start a run that fetches only what changed. Raises HttpProblem if the site is being crawled or the queue is full."""
    service = service_of(request)
    control.run(service, actor_of(request), site.id)
    return get_docs_site(service, site.id)


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
