"""Searches a crawled site: indexes its sections page by page, ranks those that match, and returns hits with snippets.

The index is part of the folder's state and is updated with the pages; if a folder has none, it is built from the page files.
Sections with any of the terms come from the index (`store/docs_search.py`), best first. They are ranked again by what an index
of words does not know: all terms in one section, in its heading or in the title of the page, a page that has several good
sections, a name at the beginning of a line, where it is defined. `bench.docs_search` measures the weights.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import TracebackType

from tadoru.errors import UsageError
from tadoru.jobs.docs import semantic
from tadoru.jobs.docs.bundle.links import named_links
from tadoru.jobs.docs.bundle.markdown_blocks import anchored_sections
from tadoru.jobs.docs.bundle.model import DocHeading, SectionChange
from tadoru.jobs.docs.bundle.output_folder import STATE_FOLDER
from tadoru.jobs.docs.bundle.page_files import page_body
from tadoru.jobs.docs.semantic import NearestPages
from tadoru.store.docs_search import (
    DocsSearchIndex,
    IndexedPage,
    IndexedSection,
    SearchHitRow,
    SectionText,
    is_current,
    opened,
)
from tadoru.store.search_terms import SearchTerms, asked

_MAX_HITS_PER_PAGE = 3
_CANDIDATES = 100
_COMPLETE, _IN_HEADING, _IS_HEADING, _IN_TITLE, _IS_TITLE, _LEAD, _DEFINED = 0.3, 0.3, 0.2, 0.8, 0.5, 0.3, 2.0
"""How much more a section is worth whose text has all terms, whose heading has them, whose heading has little else, …"""
_OTHER_SECTIONS, _NEXT_SECTION, _MOST_SECTIONS = 0.4, 0.7, 8
"""How much the other sections of a page add to its best one, and each one relative to the one before."""
_LEAST = 0.5
"""Where sections with all terms are found, others are left out that are worth less than this share of the best."""
_LINKED = 2.0
"""How much more the page is worth that most others link to by the name that is asked for."""
_BY_SECTION, _BY_PAGE, _RANK_OFFSET = 0.3, 0.5, 6
"""What the rank by the nearest section and by the nearest page counts beside that by words, and what is added to ranks."""
_NEWS = 0.5
"""Release notes mention everything and explain little."""
_NEWS_TITLE = re.compile(r"\b(?:what.?s new|changelog|change log|release notes?|releases?|news)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")
_ENDINGS = ("ations", "ation", "ings", "ing", "ers", "ies", "ied", "ed", "es", "er", "ly", "s", "e", "y")
_SNIPPET_RADIUS, _SNIPPET_WINDOW = 120, 600


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
    crumbs: tuple[str, ...] = ()
    """Where the site itself files the page."""

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
    """`all`: some sections have every term; `any`: none has all of them; `text`: found by text search, without the index;
    `meaning`: none has any term."""
    hits: tuple[SearchHit, ...]


class SectionIndexer:
    """Updates the index in one pass over all pages: unchanged pages are kept, missing ones are dropped."""

    def __init__(self, root: Path) -> None:
        self._path = index_path(root)
        self._stack = ExitStack()
        self._place = 0
        self._added = 0

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
            if self._added:
                self._index.optimize()
        self._stack.__exit__(kind, error, trace)

    def add(self, page: IndexedPage, markdown: str, headings: Sequence[DocHeading] = ()) -> None:
        """Add the next page in reading order."""
        self._place += 1
        if self._left.pop(page.url, None) == page.key:
            self._index.move(page.url, self._place)
        else:
            names = dict.fromkeys((link_name(text), url) for text, url in named_links(_clean_text(markdown)) if url != page.url)
            self._added += 1
            self._index.put(page, self._place, _section_rows(page.title, markdown, headings), names)

    def changed_sections(self, url: str, title: str, markdown: str, headings: Sequence[DocHeading]) -> tuple[SectionChange, ...]:
        """What differs from the sections of the page that the index has; to be called before `add`."""
        before, after = self._index.sections(url), list(_section_rows(title, markdown, headings))
        return _section_changes(before, after) if before else ()


def _section_changes(before: Sequence[IndexedSection], after: Sequence[IndexedSection]) -> tuple[SectionChange, ...]:
    """The sections that differ, compared by their headings: those of now in order, then those that are gone."""
    earlier = dict(_by_heading(before))
    changes: list[SectionChange] = []
    for key, section in _by_heading(after):
        known = earlier.pop(key, None)
        if known is None or known.text.split() != section.text.split():
            changes.append(SectionChange("added" if known is None else "changed", section.path, section.anchor))
    return (*changes, *(SectionChange("removed", section.path, None) for section in earlier.values()))


def _by_heading(sections: Sequence[IndexedSection]) -> Iterator[tuple[tuple[tuple[str, ...], int], IndexedSection]]:
    """Sections by the headings below the title, which may have changed, numbered where they repeat."""
    seen: Counter[tuple[str, ...]] = Counter()
    for section in sections:
        path = section.path[1:] if section.path else ()
        seen[path] += 1
        yield (path, seen[path]), section


def index_row(page: IndexedPage, headings: Sequence[DocHeading] = ()) -> IndexedPage:
    """The index row of a page: with cleaned text and with its key."""
    depends_on = (page.title, page.file, page.tokens, page.hash, headings, page.number, page.crawled_at, page.crumbs)
    key = hashlib.sha256(repr(depends_on).encode("utf-8", "replace")).hexdigest()
    crumbs = tuple(_clean_text(crumb) for crumb in page.crumbs)
    return replace(page, url=_clean_text(page.url), title=_clean_text(page.title), key=key, crumbs=crumbs)


def link_name(text: str) -> str:
    """The name of a program's part as the text of a link gives it: without marks of code and of a call."""
    return text.strip("`").removesuffix("()").casefold()


def _section_rows(title: str, markdown: str, headings: Sequence[DocHeading]) -> Iterator[IndexedSection]:
    for section, anchor in anchored_sections(_clean_text(markdown), title, headings):
        yield IndexedSection(section.level, section.path, anchor, section.text)


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


@contextmanager
def open_index(root: Path) -> Iterator[DocsSearchIndex]:
    """The index of a folder to read, built first if it is missing. Raises UsageError if there are no page files."""
    path = index_path(root)
    if path.is_file():
        with opened(path) as index:
            if index.is_current():
                yield index
                return
    with opened(ensure_index(root)) as index:
        yield index


def search_site(root: Path, query: str, limit: int = 10, *, by_meaning: bool = True) -> SearchResult:
    """The best sections of a site for a query. Raises UsageError for a folder without pages, never for a query.

    `by_meaning`: also with word vectors, if the package for it is installed.
    """
    terms = asked(_clean_text(query))
    candidates = max(_CANDIDATES, limit * _MAX_HITS_PER_PAGE * 2)
    with open_index(root) as index:
        how, rows = index.find(terms, candidates)
        ranked = [(0.0, row) for row in rows] if how == "text" else _ranked(rows, terms, index)
        if by_meaning and how != "text" and not terms.identifier and semantic.is_available():
            near = semantic.nearest(index_path(root), index, query)
            ranked = _merged(ranked, near)
            how = how if rows or not ranked else "meaning"
        hits: list[SearchHit] = []
        of_page: dict[str, int] = {}
        for score, row in ranked:
            of_page[row.url] = of_page.get(row.url, 0) + 1
            if of_page[row.url] <= _MAX_HITS_PER_PAGE and len(hits) < limit:
                hits.append(_hit(row, index.read(row.id), score, terms))
    return SearchResult(query, how, tuple(hits))


def _merged(ranked: list[tuple[float, SearchHitRow]], near: NearestPages) -> list[tuple[float, SearchHitRow]]:
    """Sections by the reciprocal ranks of their pages: by words, by the nearest section and by the nearest page."""
    pages: dict[str, list[tuple[float, SearchHitRow]]] = {}
    for score, row in ranked:
        pages.setdefault(row.url, []).append((score, row))
    ranks: dict[str, float] = {}
    for weight, urls in ((1.0, list(pages)), (_BY_SECTION, near.by_section), (_BY_PAGE, near.by_page)):
        for at, url in enumerate(urls):
            ranks[url] = ranks.get(url, 0.0) + weight / (_RANK_OFFSET + at)
    merged: list[tuple[float, SearchHitRow]] = []
    for url, score in ranks.items():
        rows = pages.get(url) or [(1.0, near.rows[url])]
        merged += [(score * (own / rows[0][0] if rows[0][0] else 1.0), row) for own, row in rows]
    return sorted(merged, key=lambda one: -one[0])


def _ranked(rows: Sequence[SearchHitRow], terms: SearchTerms, index: DocsSearchIndex) -> list[tuple[float, SearchHitRow]]:
    """Sections with their scores, best first."""
    wanted = [_stems(term) for term in terms.wanted]
    name = terms.identifier
    defined = re.compile(rf"^[^\w\n]*+{re.escape(name)}(?!\w)", re.MULTILINE) if name else None
    linked = index.linked(link_name(name)) if name else {}
    most_linked = max(linked.values(), default=1)
    pages: dict[str, list[tuple[float, SearchHitRow]]] = {}
    for row in rows:
        score = -row.rank * _boost(wanted, row.heading, _IN_HEADING, _IS_HEADING)
        score *= (1 + _COMPLETE * row.is_complete) * (1 + _LEAD * row.is_lead)
        if defined and defined.search(index.text(row.id)):
            score *= 1 + _DEFINED
        pages.setdefault(row.url, []).append((score, row))
    ranked: list[tuple[float, SearchHitRow]] = []
    for url, found in pages.items():
        found.sort(key=lambda one: -one[0])
        title = found[0][1].title
        weight = _boost(wanted, title, _IN_TITLE, _IS_TITLE) * (_NEWS if _is_news(title) else 1.0)
        weight *= 1 + _LINKED * linked.get(url, 0) / most_linked
        others = sum(score * _NEXT_SECTION**at for at, (score, _) in enumerate(found[1:_MOST_SECTIONS]))
        page = (found[0][0] + _OTHER_SECTIONS * others) * weight
        ranked += [(page * score / found[0][0] if found[0][0] else 0.0, row) for score, row in found]
    ranked.sort(key=lambda one: -one[0])
    least = _LEAST * ranked[0][0] if ranked and any(row.is_complete for _, row in ranked) else 0.0
    return [(score, row) for score, row in ranked if row.is_complete or score >= least]


@lru_cache(4096)
def _is_news(title: str) -> bool:
    return _NEWS_TITLE.search(title) is not None


def _boost(wanted: Sequence[frozenset[str]], line: str, has: float, equals: float) -> float:
    """What a heading or a title adds: by the share of the terms that it has, and by the share of it that they are."""
    words = _stems(line)
    if not words or not wanted:
        return 1.0
    found = [term for term in wanted if term and term <= words]
    if not found:
        return 1.0
    covered = len(frozenset().union(*found)) / len(words)
    return (1 + has * len(found) / len(wanted)) * (1 + equals * covered)


@lru_cache(4096)
def _stems(text: str) -> frozenset[str]:
    """The words of a heading without their endings."""
    return frozenset(map(_stem, _WORD.findall(text.lower())))


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word


def _hit(row: SearchHitRow, shown: SectionText, score: float, terms: SearchTerms) -> SearchHit:
    url = f"{row.url}#{shown.anchor}" if shown.anchor else row.url
    snippet, path = make_snippet(shown.text, terms.literal), tuple(json.loads(row.path))
    return SearchHit(url, row.title, path, shown.file, snippet, score, shown.text, shown.number, shown.crumbs)


def make_snippet(text: str, words: Sequence[str]) -> str:
    """The text around the first occurrence of one of the words, or the start of the text if none occurs literally."""
    body = text.partition("\n")[2] if text.startswith("#") else text
    body = body if body.strip() else text
    low = body.lower()
    places = [at for at in (low.find(word.lower()) for word in words) if at >= 0]
    middle = min(places, default=0)
    begin = max(0, middle - _SNIPPET_WINDOW) if len(low) == len(body) else 0
    flat, at = " ".join(body[begin : middle + _SNIPPET_WINDOW].split()), len(" ".join(body[begin:middle].split()))
    start, end = max(0, at - _SNIPPET_RADIUS), min(len(flat), at + _SNIPPET_RADIUS)
    if start and (space := flat.find(" ", start, at)) >= 0:
        start = space + 1
    if end < len(flat) and (space := flat.rfind(" ", at, end)) > at:
        end = space
    is_end = end == len(flat) and not body[middle + _SNIPPET_WINDOW :].strip()
    return f"{'…' if start or begin else ''}{flat[start:end]}{'' if is_end else '…'}"
