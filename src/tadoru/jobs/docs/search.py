"""Searches a crawled site: indexes its sections page by page, and returns hits with snippets.

The index is part of the folder's state and is updated with the pages; if a folder has none, it is built from the page files.
Terms and ranking are in `store/docs_search.py`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType

from tadoru.errors import UsageError
from tadoru.jobs.docs.bundle.markdown_blocks import split_sections
from tadoru.jobs.docs.bundle.model import DocHeading
from tadoru.jobs.docs.bundle.output_folder import STATE_FOLDER
from tadoru.jobs.docs.bundle.page_files import page_body
from tadoru.store.docs_search import DocsSearchIndex, IndexedPage, IndexedSection, SearchHitRow, is_current, opened
from tadoru.store.search_terms import SearchTerms, asked

_MAX_HITS_PER_PAGE = 3
_SNIPPET_RADIUS = 120


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A section that matches a query."""

    url: str
    """With the fragment of its heading, if it has one."""
    title: str
    path: tuple[str, ...]
    file: str
    snippet: str
    score: float
    """Higher is better; comparable only within one search."""
    text: str
    number: int = 0
    """The number of the page."""

    def as_json(self) -> dict[str, object]:
        """The hit for JSON output, without the whole text."""
        return {
            "url": self.url, "title": self.title, "path": list(self.path), "file": self.file, "snippet": self.snippet,
            "score": round(self.score, 4),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits of a query."""

    query: str
    how: str
    """`all`: each section has every term; `any`: no section has all of them; `text`: found by text search, without the index."""
    hits: tuple[SearchHit, ...]


class SectionIndexer:
    """Updates the index in one pass over all pages: unchanged pages are kept, missing ones are dropped."""

    def __init__(self, root: Path) -> None:
        self._path = index_path(root)
        self._stack = ExitStack()
        self._place = 0

    def __enter__(self) -> SectionIndexer:
        if not is_current(self._path):
            for path in (self._path, self._path.with_name(self._path.name + "-journal")):
                path.unlink(missing_ok=True)
        self._index: DocsSearchIndex = self._stack.enter_context(opened(self._path, writable=True))
        self._stack.enter_context(self._index.changing())
        self._left = self._index.keys()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            for url in self._left:
                self._index.drop(url)
        self._stack.__exit__(kind, error, trace)

    def add(self, page: IndexedPage, markdown: str, headings: Sequence[DocHeading] = ()) -> None:
        """Add the next page in reading order."""
        self._place += 1
        if self._left.pop(page.url, None) == page.key:
            self._index.move(page.url, self._place)
        else:
            self._index.put(page, self._place, _section_rows(page.title, markdown, headings))


def index_row(page: IndexedPage, headings: Sequence[DocHeading] = ()) -> IndexedPage:
    """The index row of a page: with cleaned text and with its key."""
    depends_on = (page.title, page.file, page.tokens, page.hash, headings, page.number, page.crawled_at, page.crumbs)
    key = hashlib.sha256(repr(depends_on).encode("utf-8", "replace")).hexdigest()
    crumbs = tuple(_clean_text(crumb) for crumb in page.crumbs)
    return replace(page, url=_clean_text(page.url), title=_clean_text(page.title), key=key, crumbs=crumbs)


def _section_rows(title: str, markdown: str, headings: Sequence[DocHeading]) -> Iterator[IndexedSection]:
    found = list(split_sections(_clean_text(markdown), title))
    with_heading = [section.level for section in found if section.level]
    # Fragments can be assigned only if the headings of the page are exactly those of the sections.
    anchors = iter([heading.anchor for heading in headings] if with_heading == [heading.level for heading in headings] else ())
    for section in found:
        yield IndexedSection(section.level, section.path, next(anchors, None) if section.level else None, section.text)


def _clean_text(text: str) -> str:
    """Text that SQLite accepts: without lone surrogates and NUL."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "\ufffd")


def index_path(root: Path) -> Path:
    """The path of a site's search index."""
    return root / STATE_FOLDER / "search.db"


def ensure_index(root: Path) -> Path:
    """The index of a folder, built from its page files if it is missing. Raises UsageError if there are no page files."""
    path = index_path(root)
    if is_current(path):
        return path
    files = sorted((root / "pages").glob("page-*.md"), key=lambda file: (len(file.name.split("-")[1]), file.name))
    if not files:
        raise UsageError(
            "No crawled site in {folder}. Pass a folder that `tadoru docs URL` has written, or crawl the site first.", folder=root
        )
    path.parent.mkdir(exist_ok=True)
    with SectionIndexer(root) as index:
        for file in files:
            text = file.read_text("utf-8")
            fields = _frontmatter(text)
            body = page_body(text)
            url, title = str(fields.get("url", file.name)), str(fields.get("title", file.stem))
            digest = hashlib.sha256(body.encode()).hexdigest()
            tokens, crumbs = fields.get("tokens"), fields.get("breadcrumbs")
            row = IndexedPage(
                url, title, f"pages/{file.name}", tokens if isinstance(tokens, int) else 0,
                number=_page_number(file.name), hash=digest, crawled_at=str(fields.get("crawledAt", "")),
                crumbs=tuple(map(str, crumbs)) if isinstance(crumbs, list) else (),
            )  # fmt: skip
            index.add(index_row(row), body)
    return path


def _page_number(file: str) -> int:
    """The number of a page, from the name of its file."""
    number = file.split("-")[1]
    return int(number) if number.isdecimal() and number.isascii() and len(number) < 18 else 0


def _frontmatter(text: str) -> dict[str, object]:
    """The frontmatter of a page file as `bundle/page_files.py` writes it: one JSON value per line."""
    fields: dict[str, object] = {}
    head = text[4 : text.find("\n---\n", 3)] if text.startswith("---\n") else ""
    for line in head.splitlines():
        name, _, value = line.partition(": ")
        with suppress(ValueError):
            fields[name] = json.loads(value)
    return fields


def search_site(root: Path, query: str, limit: int = 10) -> SearchResult:
    """The best sections of a site for a query. Raises UsageError for a folder without pages, never for a query."""
    terms = asked(_clean_text(query))
    with opened(ensure_index(root)) as index:
        how, rows = index.find(terms, limit * _MAX_HITS_PER_PAGE * 2)
    hits: list[SearchHit] = []
    of_page: dict[str, int] = {}
    for row in rows:
        of_page[row.url] = of_page.get(row.url, 0) + 1
        if of_page[row.url] <= _MAX_HITS_PER_PAGE and len(hits) < limit:
            hits.append(_hit(row, terms))
    return SearchResult(query, how, tuple(hits))


def _hit(row: SearchHitRow, terms: SearchTerms) -> SearchHit:
    url = f"{row.url}#{row.anchor}" if row.anchor else row.url
    return SearchHit(url, row.title, row.path, row.file, make_snippet(row.text, terms.literal), -row.rank, row.text, row.number)


def make_snippet(text: str, words: Sequence[str]) -> str:
    """The text around the first occurrence of one of the words, or the start of the text if none occurs literally."""
    body = text.partition("\n")[2] if text.startswith("#") else text
    flat = " ".join(body.split()) or " ".join(text.split())
    low = flat.lower()
    places = [at for at in (low.find(word.lower()) for word in words) if at >= 0]
    at = min(places, default=0)
    start, end = max(0, at - _SNIPPET_RADIUS), min(len(flat), at + _SNIPPET_RADIUS)
    if start and (space := flat.find(" ", start, at)) >= 0:
        start = space + 1
    if end < len(flat) and (space := flat.rfind(" ", at, end)) > at:
        end = space
    return f"{'…' if start else ''}{flat[start:end]}{'…' if end < len(flat) else ''}"
