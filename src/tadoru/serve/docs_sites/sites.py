"""The documentation sites of the service: its docs crawls with the summary in their folders, their files,
pages, versions, tables of contents and search, and their refresh."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from urllib.parse import quote, unquote, urldefrag, urljoin, urlsplit

from fastapi import Request

from tadoru.errors import UsageError
from tadoru.jobs.docs.bundle.model import DEFINITION_LEVEL, one_line
from tadoru.jobs.docs.bundle.output_folder import crawl_database_path
from tadoru.jobs.docs.library import SiteSummary, read_site_summary
from tadoru.jobs.docs.search import SearchHit, ensure_index, merge_results, search_site
from tadoru.serve.auth.principal import actor_of
from tadoru.serve.crawl_runner import control
from tadoru.serve.crawl_runner.crawl_files import crawl_path
from tadoru.serve.docs_sites.markdown_html import LinkResolver, local_fragment
from tadoru.serve.problems import HttpProblem
from tadoru.serve.service import Service, service_of
from tadoru.store.crawl.documents import DocumentHistory, DocumentVersion, open_history
from tadoru.store.docs_search import DocsSearchIndex, IndexedPage, IndexedSection, opened
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
    return DocsSite(
        name,
        folder,
        url,
        card.title,
        card.pages,
        card.tokens,
        card.crawled_at,
        card.last_checked,
        card.version,
        card.links,
        crawl,
    )


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


MARKDOWN, PLAIN, JSON, JSON_LINES = (
    "text/markdown; charset=utf-8", "text/plain; charset=utf-8", "application/json", "application/jsonl"
)  # fmt: skip
SITE_FILES = {
    "full.md": MARKDOWN, "llms.txt": PLAIN, "llms-full.txt": PLAIN, "index.json": JSON, "SKILL.md": MARKDOWN,
    "changes.md": MARKDOWN, "chunks.jsonl": JSON_LINES,
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
    def headings(self) -> list[IndexedSection]:
        """The sections that begin with a heading."""
        return [section for section in self.sections if 0 < section.level < DEFINITION_LEVEL]

    @property
    def anchors(self) -> list[str | None]:
        """The fragment of each heading on the original site."""
        return [section.anchor for section in self.headings]


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


@dataclass(frozen=True, slots=True)
class DocsSearchResult:
    """The hits of a query in several sites."""

    how: str
    """`all`, `any`, `text` or `meaning`, as in `SearchResult`."""
    hits: tuple[DocsSiteHit, ...]


def search_sites(found_in: Sequence[DocsSite], query: str, limit: int) -> DocsSearchResult:
    """The best sections for a query, in one ranking."""
    sites, results = [], []
    for site in found_in[:MAX_SEARCHED_SITES]:
        with suppress(UsageError):  # Not crawled yet.
            results.append(search_site(site.folder, query, limit))
            sites.append(site)
    how, ranked = merge_results(results)
    return DocsSearchResult(how, tuple(DocsSiteHit(sites[at], hit) for at, hit in ranked[:limit]))


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


CONTEXT_LINES = 3
"""Unchanged lines that are shown around a change."""
MAX_LINES = 2_000
"""Lines of each version between the first and the last difference that are compared: more would take too long."""
_MAX_LINE_LENGTH = 20_000
_MAX_WORDS = 120
"""Words of a line; longer lines are not compared word by word."""
_MAX_PAIRS = 40
"""Lines that are compared word by word."""
_WORDS = re.compile(r"\w+\s*|[^\w\s]\s*|\s+")

DiffSpan = tuple[str, bool]
"""A piece of a line, and whether it changed."""


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of one version or of both."""

    kind: str
    """` ` in both versions, `-` only in the old one, `+` only in the new one."""
    old: int | None
    new: int | None
    spans: tuple[DiffSpan, ...]

    @property
    def text(self) -> str:
        return "".join(text for text, _ in self.spans)


@dataclass(frozen=True, slots=True)
class DiffHunk:
    """Changed lines with the unchanged lines around them."""

    old_start: int
    new_start: int
    lines: tuple[DiffLine, ...]


@dataclass(frozen=True, slots=True)
class PageDiff:
    """The differences between two versions."""

    hunks: tuple[DiffHunk, ...]
    added: int
    removed: int
    is_cut: bool
    """Whether only the first lines were compared."""


def diff_markdown(before: str, after: str) -> PageDiff:
    """The differences between two versions of a Markdown text."""
    old, new = before.splitlines(), after.splitlines()
    start = _common_prefix(old, new)
    end = _common_prefix(old[start:][::-1], new[start:][::-1])
    first = max(0, start - CONTEXT_LINES)
    last_old, last_new = (min(len(lines), len(lines) - end + CONTEXT_LINES) for lines in (old, new))
    is_cut = max(last_old, last_new) - first > MAX_LINES
    left, right = (lines[first : min(last, first + MAX_LINES)] for lines, last in ((old, last_old), (new, last_new)))
    hunks: list[DiffHunk] = []
    pairs = _MAX_PAIRS
    for group in SequenceMatcher(None, left, right).get_grouped_opcodes(CONTEXT_LINES):
        lines: list[DiffLine] = []
        for code in group:
            marked = min(code[2] - code[1], code[4] - code[3], pairs) if code[0] == "replace" else 0
            pairs -= marked
            lines += _diff_lines(code, (left, right), first, marked)
        if any(line.kind != " " for line in lines):
            hunks.append(DiffHunk(first + group[0][1] + 1, first + group[0][3] + 1, tuple(lines)))
    counts = [line.kind for hunk in hunks for line in hunk.lines]
    return PageDiff(tuple(hunks), counts.count("+"), counts.count("-"), is_cut)


def _common_prefix(old: Sequence[str], new: Sequence[str]) -> int:
    """The number of equal lines at the start."""
    return next((at for at, (left, right) in enumerate(zip(old, new, strict=False)) if left != right), min(len(old), len(new)))


def _diff_lines(
    code: tuple[str, int, int, int, int], versions: tuple[Sequence[str], Sequence[str]], first: int, marked: int
) -> Iterator[DiffLine]:
    """The lines of one opcode; the first `marked` pairs are compared word by word."""
    kind, old_from, old_to, new_from, new_to = code
    old, new = versions
    if kind == "equal":
        for at in range(old_to - old_from):
            yield DiffLine(" ", first + old_from + at + 1, first + new_from + at + 1, ((old[old_from + at], False),))
        return
    pairs = [_diff_words(old[old_from + at], new[new_from + at]) for at in range(marked)]
    for at in range(old_from, old_to):
        place = at - old_from
        yield DiffLine("-", first + at + 1, None, pairs[place][0] if place < len(pairs) else ((old[at], False),))
    for at in range(new_from, new_to):
        place = at - new_from
        yield DiffLine("+", None, first + at + 1, pairs[place][1] if place < len(pairs) else ((new[at], False),))


def _diff_words(left: str, right: str) -> tuple[tuple[DiffSpan, ...], tuple[DiffSpan, ...]]:
    """Two lines with the changed words marked; lines that have little in common are not marked."""
    whole = ((left, False),), ((right, False),)
    if max(len(left), len(right)) > _MAX_LINE_LENGTH:
        return whole
    ours, theirs = _WORDS.findall(left), _WORDS.findall(right)
    if max(len(ours), len(theirs)) > _MAX_WORDS or (matcher := SequenceMatcher(None, ours, theirs)).ratio() < 0.4:
        return whole
    before: list[DiffSpan] = []
    after: list[DiffSpan] = []
    for kind, left_from, left_to, right_from, right_to in matcher.get_opcodes():
        before.append(("".join(ours[left_from:left_to]), kind != "equal"))
        after.append(("".join(theirs[right_from:right_to]), kind != "equal"))
    return tuple(span for span in before if span[0]), tuple(span for span in after if span[0])


@dataclass(frozen=True, slots=True)
class PageComparison:
    """A page compared with an earlier version."""

    number: int
    title: str
    row: IndexedPage | None
    """The current page; None if it was removed."""
    before: DocumentVersion
    after: DocumentVersion | None
    """The current version; None if the page was removed."""
    versions: tuple[DocumentVersion, ...]
    """All earlier versions, newest first."""
    difference: PageDiff


def compare_page(site: DocsSite, number: int, version: int | None) -> PageComparison:
    """Compare a page with an earlier version, by default the newest. Raises HttpProblem if there is none."""
    with open_site_index(site) as index:
        row = index.numbered(number) if index is not None else None
    with open_site_history(site) as history:
        known = history.versions(number)
        present = known[0] if row is not None and known and not known[0].id else None
        earlier = tuple(one for one in known if one is not present)
        if not known and row is None:
            raise HttpProblem(404, "Page {number} not found.", number=number)
        if not earlier:
            raise HttpProblem(
                404, "Page {number} has no earlier version: it has not changed since versions are stored.", number=number
            )
        before = next((one for one in earlier if version in (None, one.id)), None)
        if before is None:
            raise HttpProblem(
                404, "Version {version} of page {number} not found. The page lists its versions.", version=version, number=number
            )
        old = history.text(number, before.id) or ""
        new = (history.text(number, 0) or "") if present is not None else ""
    title = row.title if row is not None else before.title
    return PageComparison(number, title, row, before, present, earlier, diff_markdown(old, new))
