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
from operator import itemgetter
from pathlib import Path
from types import TracebackType

from tadoru.errors import UsageError
from tadoru.jobs.docs import semantic
from tadoru.jobs.docs.bundle.links import link_texts
from tadoru.jobs.docs.bundle.markdown_blocks import anchored_sections, plain_text, split_blocks
from tadoru.jobs.docs.bundle.model import DEFINITION_LEVEL, DocHeading, SectionChange
from tadoru.jobs.docs.bundle.output_folder import STATE_FOLDER
from tadoru.jobs.docs.bundle.site_files import page_body
from tadoru.jobs.docs.semantic import NearestPages
from tadoru.store.docs_search import (
    DocsSearchIndex,
    IndexedPage,
    IndexedSection,
    SearchHitRow,
    SectionText,
    idle_connections,
    is_current,
    opened,
    stored_headings,
)
from tadoru.store.search_terms import SearchTerms, asked, stem

_MAX_HITS_PER_PAGE = 3
_CANDIDATES = 60
_COMPLETE, _DEFINED, _IS_TITLE = 0.3, 2.0, 0.5
"""How much more a section is worth that has all terms or defines the name, and a page whose title is nothing but terms."""
_ABOUT, _POPULAR = 1.5, 0.6
"""What counts that a page is about the terms, and how much more the page is worth that most others link to."""
_OTHER_SECTIONS, _NEXT_SECTION, _MOST_SECTIONS = 0.4, 0.8, 8
"""How much the other sections of a page add to its best one, and each one relative to the one before."""
_LEAST = 0.5
_SURE_PAGES = 5
"""Where sections with all terms are found, others are left out that are worth less than this share of the best and are not of
the first pages."""
_LINKED = 2.0
"""How much more the page is worth that most others link to by the name that is asked for."""
_BY_MEANING = {"all": 0.2, "any": 1.0}
_RANK_OFFSET = 3
"""What the ranks by the nearest section and by the nearest page count beside that by words, by how these were found, and what is
added to ranks: if no section has all words, the words say little."""
_NEWS = 0.5
"""Release notes mention everything and explain little."""
_NEWS_TITLE = re.compile(r"\b(?:what.?s new|changelog|change log|release notes?|releases?|news)\b", re.IGNORECASE)
_WORD_CHARACTER = re.compile(r"\w")
_MOST_SIGNS = 50
_WORD = re.compile(r"[^\W_]+")
_LEAD_SECTIONS, _LEAD_LENGTH = 6, 400
_score = itemgetter(0)
_SNIPPET_BEFORE, _SNIPPET_AFTER, _SNIPPET_WINDOW, _SNIPPET_TEXT, _MOST_OCCURRENCES = 60, 180, 600, 6_000, 5
_LINK = re.compile(r"!?(?<!\\)\[((?:[^\[\]\\]|\\.){0,500})\]\((?:[^()\s]|\([^()\s]{0,300}\)){0,2000}(?:\s+\"[^\"]{0,300}\")?\)")
_FENCE = r"(?:`{3,}+|~{3,}+)[^\n]{0,200}"
_RULE = r"\|?[ \t]*+:?---[-:| \t]*+"
_CALLOUT = r">[ \t]?(?:\[![A-Z]+\])?"
_MARKS = re.compile(rf"^[ \t]{{0,12}}(?:{_FENCE}|{_CALLOUT}|{_RULE})$|^[ \t]{{0,12}}>(?!>>)[ \t]?|^#{{1,6}}[ \t]", re.M)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_PUNCTUATION = "?!.,;:()`'\""


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A section that matches a query."""

    url: str
    """With the fragment of its heading, if it has one."""
    title: str
    path: tuple[str, ...]
    file: str
    score: float
    """Higher is better; comparable only within one search."""
    text: str
    words: tuple[str, ...] = ()
    """The terms of the query, as the person wrote them."""
    number: int = 0
    """The number of the page."""
    crumbs: tuple[str, ...] = ()
    """Where the site itself files the page."""

    @property
    def snippet(self) -> str:
        """The passage of the text that matches best."""
        heading, _, body = self.text.partition("\n")
        return make_snippet(strip_markdown(body if heading.startswith("#") and body.strip() else self.text), self.words)

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
    strength: float = 0.0
    """How well the words match, comparable with other sites."""


WAYS = ("all", "any", "text", "meaning")
"""How hits are found, best first."""
_SOME_TERMS = 0.8
"""What a site counts that has no section with all terms, relative to one that has."""


def merge_results(results: Sequence[SearchResult]) -> tuple[str, list[tuple[int, SearchHit]]]:
    """One ranking of what several sites found: how, and the hits, best first, each with the place of its result.

    Scores of two sites are not comparable. Each hit counts by its score relative to the best of its site, and by how well that
    one matches.
    """
    ranked: list[tuple[float, int, int, SearchHit]] = []
    for at, found in enumerate(results):
        best = found.hits[0].score if found.hits else 0.0
        ranked += [
            (-found.strength * (hit.score / best if best else 1.0), place, at, hit) for place, hit in enumerate(found.hits)
        ]
    ranked.sort(key=lambda row: row[:3])
    ways = [WAYS.index(found.how) for found in results if found.hits]
    return WAYS[min(ways, default=0)], [(at, hit) for _, _, at, hit in ranked]


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
            if self._added or self._left:
                self._index.describe_pages()
            if self._added:
                self._index.optimize()
        self._stack.__exit__(kind, error, trace)

    def add(self, page: IndexedPage, markdown: str, headings: Sequence[DocHeading] = ()) -> None:
        """Add the next page in reading order."""
        self._place += 1
        if self._left.pop(page.url, None) == page.key:
            self._index.move(page.url, self._place)
        else:
            host = page.url.partition("://")[2].partition("/")[0]
            names = dict.fromkeys(
                (link_name(text), url)
                for text, url in link_texts(_clean_text(markdown))
                if url != page.url and url.partition("://")[2].startswith(host)
            )
            self._added += 1
            sections = list(_section_rows(page.title, markdown, headings))
            self._index.put(replace(page, lead=_lead(sections)), self._place, sections, names)

    def changed_sections(self, url: str, title: str, markdown: str, headings: Sequence[DocHeading]) -> tuple[SectionChange, ...]:
        """What differs from the sections of the page that the index has; to be called before `add`."""
        before = self._index.sections(url)
        if not any(section.level == DEFINITION_LEVEL for section in before):  # An earlier version had none.
            headings = [heading for heading in headings if heading.level < DEFINITION_LEVEL]
        return _section_changes(before, list(_section_rows(title, markdown, headings))) if before else ()


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
    """What a link calls its target: without marks of code and of a call."""
    return text.strip("`").removesuffix("()").casefold()


def _lead(sections: Sequence[IndexedSection]) -> str:
    """What a page says first: the beginning of its prose, without headings, code and targets of links."""
    lines: list[str] = []
    length = 0
    for section in sections[:_LEAD_SECTIONS]:
        for block in split_blocks(section.text[: 2 * _LEAD_LENGTH]):
            if block.kind == "text" and length < _LEAD_LENGTH:
                lines.append(plain_text(block.text))
                length += len(lines[-1])
    return " ".join(" ".join(lines).split())[:_LEAD_LENGTH]


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
    headings = stored_headings(path)  # Files of pages have no fragments.
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
            index.add(index_row(row), body, [DocHeading(*heading) for heading in headings.get(row.url, ())])
    return path


def _page_number(file: str) -> int:
    """The number of a page, from the name of its file."""
    number = file.split("-")[1]
    return int(number) if number.isdecimal() and number.isascii() and len(number) < 18 else 0


def _frontmatter(text: str) -> dict[str, object]:
    """The frontmatter of a page file as `bundle/site_files.py` writes it: one JSON value per line."""
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
        with idle_connections.lent(path) as index:
            if index.is_current():
                yield index
                return
    with idle_connections.lent(ensure_index(root)) as index:
        yield index


def search_site(root: Path, query: str, limit: int = 10, *, by_meaning: bool = True) -> SearchResult:
    """The best sections of a site for a query. Raises UsageError for a folder without pages, never for a query.

    `by_meaning`: also with word vectors, if the package for it is installed.
    """
    terms = asked(_clean_text(query))
    candidates = max(_CANDIDATES, limit * _MAX_HITS_PER_PAGE * 2)
    by_meaning = by_meaning and bool(terms.wanted) and not terms.identifier and semantic.is_available()
    with open_index(root) as index:
        if by_meaning:
            semantic.ensure_vectors(index_path(root), index)
        with index.reading():
            how, rows, about, rarity = index.find(terms, candidates)
            ranked = [(0.0, row) for row in rows] if how == "text" else _ranked(rows, about, terms, index)
            strength = ranked[0][0] / rarity * (1.0 if how == "all" else _SOME_TERMS) if ranked else 0.0
            if by_meaning:
                ranked = _merged(ranked, semantic.nearest(index, query), _BY_MEANING[how])
                how = how if rows or not ranked else "meaning"
            below = not terms.unwanted  # They may be in what is below a heading.
            hits = [_hit(row, index.read(row.id, below=below), score, terms) for score, row in _chosen(ranked, limit)]
    first = {(hit.url, hit.path): hit for hit in reversed(hits)}
    return SearchResult(query, how, tuple(hit for hit in hits if first[hit.url, hit.path] is hit), strength)


def _chosen(ranked: Sequence[tuple[float, SearchHitRow]], limit: int) -> list[tuple[float, SearchHitRow]]:
    """The best section of each page, and further sections of the pages if there are not enough pages; best first."""
    of_page: Counter[str] = Counter()
    places: list[tuple[int, int]] = []
    for at, (_, row) in enumerate(ranked):
        of_page[row.url] += 1
        if of_page[row.url] <= _MAX_HITS_PER_PAGE:
            places.append((of_page[row.url] > 1, at))
    return [ranked[at] for at in sorted(at for _, at in sorted(places)[:limit])]


def _merged(ranked: list[tuple[float, SearchHitRow]], near: NearestPages, by_meaning: float) -> list[tuple[float, SearchHitRow]]:
    """Sections by the reciprocal ranks of their pages: by words, by the nearest section and by the nearest page."""
    pages: dict[str, list[tuple[float, SearchHitRow]]] = {}
    for score, row in ranked:
        pages.setdefault(row.url, []).append((score, row))
    ranks: dict[str, float] = {}
    for weight, urls in ((1.0, list(pages)), (by_meaning, near.by_section), (by_meaning, near.by_page)):
        for at, url in enumerate(urls):
            ranks[url] = ranks.get(url, 0.0) + weight / (_RANK_OFFSET + at)
    merged: list[tuple[float, SearchHitRow]] = []
    for url, score in ranks.items():
        rows = pages.get(url) or [(1.0, near.rows[url])]
        merged += [(score * (own / rows[0][0] if rows[0][0] else 1.0), row) for own, row in rows]
    return sorted(merged, key=_score, reverse=True)


def _ranked(
    rows: Sequence[SearchHitRow], about: Sequence[SearchHitRow], terms: SearchTerms, index: DocsSearchIndex
) -> list[tuple[float, SearchHitRow]]:
    """Sections with their scores, best first; `about` are pages that are about the terms, each with its first section."""
    wanted = _stems(" ".join(terms.wanted))
    name = terms.identifier
    linked = index.linked(link_name(name)) if name else {}
    most_linked = max(linked.values(), default=1)
    pages: dict[str, list[tuple[float, SearchHitRow]]] = {}
    for row in rows:
        score = -row.rank * (1 + _COMPLETE * row.is_complete)
        if name and _is_defined(name, index.text(row.id)):
            score *= 1 + _DEFINED
        pages.setdefault(row.url, []).append((score, row))
    for row in about:
        pages.setdefault(row.url, [(0.0, row)])
    ranks = {row.url: -row.rank for row in about}
    ranked: list[tuple[float, SearchHitRow]] = []
    for url, found in pages.items():
        found.sort(key=_score, reverse=True)
        best, row = found[0]
        page = best
        for at, (score, _) in enumerate(found[1:_MOST_SECTIONS]):
            page += score * _OTHER_SECTIONS * _NEXT_SECTION**at
        page = (page + _ABOUT * ranks.get(url, 0.0)) * _title_weight(wanted, row.title) * (1 + _POPULAR * row.popularity)
        page *= 1 + _LINKED * linked.get(url, 0) / most_linked
        ranked += [(page * score / best if best else page, row) for score, row in found]
    ranked.sort(key=_score, reverse=True)
    least = _LEAST * ranked[0][0] if ranked and any(row.is_complete for _, row in ranked) else 0.0
    sure = set(list(dict.fromkeys(row.url for _, row in ranked))[:_SURE_PAGES])
    return [(score, row) for score, row in ranked if row.is_complete or score >= least or row.url in sure]


def _is_defined(name: str, text: str) -> bool:
    """Whether a line of a text begins with a name, behind signs only."""
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        before = text[max(0, at - _MOST_SIGNS) : at].rpartition("\n")[2]
        if not _WORD_CHARACTER.search(before) and not _WORD_CHARACTER.match(text, end):
            return True
        at = text.find(name, end)
    return False


def _title_weight(wanted: frozenset[str], title: str) -> float:
    """How much more a page is worth by the share of its title that the terms are; release notes are worth less."""
    words, is_news = _title_words(title)
    return (1 + _IS_TITLE * len(words & wanted) / len(words) if words else 1.0) * (_NEWS if is_news else 1.0)


@lru_cache(4096)
def _title_words(title: str) -> tuple[frozenset[str], bool]:
    return _stems(title), _NEWS_TITLE.search(title) is not None


def _stems(text: str) -> frozenset[str]:
    """The words of a text without their endings."""
    return frozenset(map(stem, _WORD.findall(text.lower())))


def _hit(row: SearchHitRow, shown: SectionText, score: float, terms: SearchTerms) -> SearchHit:
    url = f"{row.url}#{shown.anchor}" if shown.anchor else row.url
    return SearchHit(url, row.title, shown.path, shown.file, score, shown.text, terms.literal, shown.number, shown.crumbs)


def strip_markdown(markdown: str) -> str:
    """Markdown without its syntax: no link targets, fences, table rules and emphasis marks."""
    text = _LINK.sub(r"\1", _MARKS.sub(" ", markdown[: 2 * _SNIPPET_TEXT]))
    return _ESCAPED.sub(r"\1", text.replace("**", "").replace("`", ""))


def make_snippet(text: str, words: Sequence[str]) -> str:
    """The text where most of the words are near each other, or its start if none occurs."""
    body = text.partition("\n")[2] if text.startswith("#") else text
    body = (body if body.strip() else text)[:_SNIPPET_TEXT]
    middle = _densest_place(body, words)
    begin = max(0, middle - _SNIPPET_WINDOW)
    flat, at = " ".join(body[begin : middle + _SNIPPET_WINDOW].split()), len(" ".join(body[begin:middle].split()))
    start, end = max(0, at - _SNIPPET_BEFORE), min(len(flat), at + _SNIPPET_AFTER)
    if start and (space := flat.find(" ", start, at)) >= 0:
        start = space + 1
    if end < len(flat) and (space := flat.rfind(" ", at, end)) > at:
        end = space
    is_end = end == len(flat) and not body[middle + _SNIPPET_WINDOW :].strip()
    return f"{'…' if start or begin else ''}{flat[start:end]}{'' if is_end else '…'}"


def _densest_place(body: str, words: Sequence[str]) -> int:
    """Where the passage begins that has most of the words, whatever their endings."""
    low = body.lower()
    if len(low) != len(body):
        return 0
    stems = {stem(word.strip(_PUNCTUATION).lower()) for word in words} - {""}
    places = sorted((at, word) for word in stems for at in _occurrences(low, word))
    last: dict[str, int] = {}
    best = best_number = 0
    for at, word in reversed(places):
        last[word] = at
        number = sum(near < at + _SNIPPET_AFTER for near in last.values())
        if number >= best_number:
            best, best_number = at, number
    return best


def _occurrences(text: str, word: str) -> Iterator[int]:
    """Where a text has a word that begins so, at most a few."""
    at = -1
    for _ in range(_MOST_OCCURRENCES):
        at = text.find(word, at + 1)
        if at < 0:
            return
        if not (word[0].isascii() and at and text[at - 1].isalnum()):
            yield at
