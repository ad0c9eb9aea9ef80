"""The documentation sites of the service: its docs crawls with the summary in their folders, their files, and their refresh."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fastapi import Request

from tadoru.errors import UsageError
from tadoru.jobs.docs.library import SiteSummary, read_site_summary
from tadoru.jobs.docs.run import crawl_database_path
from tadoru.jobs.docs.search import ensure_index
from tadoru.serve.auth.principal import actor_of
from tadoru.serve.crawl_runner import control
from tadoru.serve.crawl_runner.crawl_files import crawl_path
from tadoru.serve.problems import HttpProblem
from tadoru.serve.service import Service, service_of
from tadoru.store.crawl.documents import DocumentHistory, open_history
from tadoru.store.docs_search import DocsSearchIndex, opened
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
