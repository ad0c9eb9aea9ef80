"""Which documentation sites there are: the service's crawls of that job, each with what its folder says of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tadoru.errors import UsageError
from tadoru.jobs.docs.library import card_of
from tadoru.jobs.docs.run import database_in
from tadoru.jobs.docs.search import ensure_index
from tadoru.serve.crawling.places import path_of
from tadoru.serve.problems import Refused
from tadoru.serve.service import Service
from tadoru.store.crawls.register import NoSuchCrawl
from tadoru.store.crawls.values import ServedCrawl
from tadoru.store.docs_search import DocsSearch, opened
from tadoru.store.document_history import DocumentHistory, history

JOB = "docs"


@dataclass(frozen=True, slots=True, kw_only=True)
class DocsSite:
    """A documentation site of the service."""

    crawl: ServedCrawl
    folder: Path
    url: str
    title: str
    pages: int
    tokens: int
    crawled_at: str
    """When it last changed, and when it was last looked at: as index.json has it, empty before its first crawl ended."""
    last_checked: str

    @property
    def id(self) -> int:
        return self.crawl.id

    @property
    def name(self) -> str:
        return self.crawl.name or self.title or self.url


def sites(service: Service, *, limit: int, before: int | None = None) -> list[DocsSite]:
    """The newest first; `before` is the last that was seen."""
    return [_site(service, crawl) for crawl in service.store.crawls(job=JOB, limit=limit, before=before)]


def site_of(service: Service, number: int) -> DocsSite:
    """One site. Raises Refused when there is none of that number."""
    try:
        crawl = service.store.crawl(number)
    except NoSuchCrawl:
        crawl = None
    if crawl is None or crawl.job != JOB:
        raise Refused(404, f"There is no documentation site {number}.")
    return _site(service, crawl)


def _site(service: Service, crawl: ServedCrawl) -> DocsSite:
    folder = path_of(service, crawl)
    card = card_of(folder, crawl.name)
    return DocsSite(
        crawl=crawl,
        folder=folder,
        url=card.url or (crawl.starts[0] if crawl.starts else ""),
        title=card.title,
        pages=card.pages,
        tokens=card.tokens,
        crawled_at=card.crawled_at,
        last_checked=card.last_checked,
    )


@contextmanager
def index_of(site: DocsSite) -> Iterator[DocsSearch | None]:
    """What can be read of a site; nothing before its first crawl ended."""
    try:
        path = ensure_index(site.folder)
    except UsageError:
        yield None
        return
    with opened(path) as index:
        yield index


@contextmanager
def history_of(site: DocsSite) -> Iterator[DocumentHistory]:
    """What the site said before."""
    with history(database_in(site.folder)) as found:
        yield found
