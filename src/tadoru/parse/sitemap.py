"""Sitemaps: reads one (XML, index, plain text, RSS or Atom, gzipped or not), and discovers all of a site.

`read` takes bytes and returns what could be read, with a list of problems; it never raises, and neither gzip bombs nor XML
entities make it grow. `SitemapSearch` returns the next URL to request and receives the response: the engine does the fetching,
and the content of one file is dropped before the next is read.
"""

from __future__ import annotations

import zlib
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Literal, NamedTuple
from xml.parsers import expat

from tadoru.errors import quoted
from tadoru.model.web import Answer, Failure
from tadoru.parse.decode import decode
from tadoru.parse.page_limits import MAX_LINK_CHARACTERS
from tadoru.rules.url import canonical, host_key

MAX_BYTES = 50 * 1024 * 1024
MAX_URLS = 50_000
"""Both are the protocol's own limits for one file."""
MAX_TAG_BYTES = 1024 * 1024
"""Of one tag with its attributes, which the parser holds all at once."""
MAX_NESTING = 5
MAX_PROBLEMS = 100

_CHUNK = 64 * 1024
_SLICE = 256 * 1024
_LONGEST_LINE = 10_000
"""Characters of a line that are looked at: more than a URL may have."""
_LONGEST_VALUE = 4096
_DEEPEST = 64
_MOST_MEMBERS = 1000

Kind = Literal["urlset", "index", "text", "feed"]
_ROOTS: dict[str, Kind] = {"urlset": "urlset", "sitemapindex": "index", "rss": "feed", "feed": "feed", "rdf": "feed"}
_ITEMS = frozenset({"url", "sitemap", "item", "entry"})
_URL_TAGS = frozenset({"loc", "link"})
_DATE_TAGS = frozenset({"lastmod", "pubdate", "updated", "date"})


class SitemapEntry(NamedTuple):
    """A page that a sitemap lists."""

    url: str
    lastmod: str | None
    """As written."""


class Sitemap(NamedTuple):
    """One sitemap file."""

    kind: Kind
    entries: tuple[SitemapEntry, ...]
    sitemaps: tuple[str, ...]
    """Of an index: the sitemaps it names."""
    problems: tuple[str, ...]


class SitemapFile(NamedTuple):
    """One sitemap that was requested, and the result."""

    url: str
    level: int
    """How many indexes lead to it."""
    named_by: str
    """`robots.txt`, `guess`, `option`, or the URL of the index."""
    status: Literal["read", "failed", "absent"]
    """`absent`: nobody said it was there, and it is not."""
    status_code: int | None
    bytes: int
    sitemap: Sitemap | None
    problems: tuple[str, ...]


class _Stop(Exception):
    """Reading ends here; the argument is the problem."""


def read(body: bytes, url: str, *, max_bytes: int = MAX_BYTES, max_urls: int = MAX_URLS) -> Sitemap:
    """What the sitemap at `url` (canonical) says."""
    found = _Found(url, max_urls)
    chunks = _plain_chunks(body, max_bytes)
    try:
        first = next(chunks, b"").lstrip()
        if first[:4].lstrip(b"\xef\xbb\xbf\xfe\xff\x00").startswith(b"<"):
            _read_xml(first, chunks, found)
        else:
            found.kind = "text"
            _read_text(b"".join((first, *_until_stopped(chunks, found))), found)
    except _Stop as stop:
        found.problems.append(str(stop))
    return found.sitemap()


class SitemapSearch:
    """The sitemaps of a site in order: those that are declared, else a guess, then those of indexes."""

    def __init__(
        self, named: Iterable[tuple[str, str]], origins: Iterable[str], *, max_sitemaps: int = 500, max_urls: int = 5_000_000
    ) -> None:
        """`named`: URL and who named it. Where nothing was named, `/sitemap.xml` of each origin is tried."""
        self._waiting: deque[tuple[str, int, str]] = deque()
        self._known: set[str] = set()
        self._asked: tuple[str, int, str] | None = None
        self._problems: list[str] = []
        self._max_sitemaps = max_sitemaps
        self._urls_left = max_urls
        named, origins = list(named), list(origins)
        for reference, by in named:
            if (url := canonical(reference, f"{origins[0]}/" if origins else None)) is None:
                self._problems.append(f"{by} names {quoted(reference[:200])} as a sitemap, which is not a URL.")
            else:
                self._add(url, 0, by)
        for origin in origins if not named else ():
            self._add(f"{origin.rstrip('/')}/sitemap.xml", 0, "guess")

    def next(self) -> str | None:
        """The URL to ask for; None when there is none left."""
        if self._urls_left <= 0 and self._waiting:
            self._problems.append("More URLs than are read: the rest of the sitemaps is left out.")
            self._waiting.clear()
        self._asked = self._waiting.popleft() if self._waiting else None
        return self._asked[0] if self._asked else None

    def take(self, answer: Answer) -> SitemapFile:
        """What came of the URL that `next` gave."""
        assert self._asked is not None
        url, level, by = self._asked
        if isinstance(answer, Failure):
            return SitemapFile(url, level, by, "failed", None, 0, None, self._said(answer.message))
        if answer.status != 200:
            # A site need not have a sitemap where nobody said there was one.
            if by == "guess" and answer.status in (404, 410):
                return SitemapFile(url, level, by, "absent", answer.status, 0, None, self._said())
            problem = f"answered with status {answer.status}"
            return SitemapFile(url, level, by, "failed", answer.status, 0, None, self._said(problem))
        sitemap = read(answer.body, answer.url, max_urls=min(MAX_URLS, self._urls_left))
        self._urls_left -= len(sitemap.entries)
        for child in sitemap.sitemaps:
            self._add(child, level + 1, url)
        return SitemapFile(url, level, by, "read", 200, len(answer.body), sitemap, self._said(*sitemap.problems))

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with no file that was read."""
        return tuple(self._problems)

    def _said(self, *problems: str) -> tuple[str, ...]:
        """The problems of one file, with what naming others brought up."""
        found = (*problems, *self._problems)
        self._problems.clear()
        return found[:MAX_PROBLEMS]

    def _add(self, url: str, level: int, by: str) -> None:
        if url in self._known:
            self._problem(f"{url} is named more than once, or by itself; it is read once.")
        elif level > MAX_NESTING:
            self._problem(f"{url} is nested more than {MAX_NESTING} indexes deep and not read.")
        elif len(self._known) >= self._max_sitemaps:
            self._problem(f"More than {self._max_sitemaps} sitemaps: the rest is not read.")
        else:
            self._known.add(url)
            self._waiting.append((url, level, by))

    def _problem(self, text: str) -> None:
        if text not in self._problems and len(self._problems) < MAX_PROBLEMS:
            self._problems.append(text)


class _Found:
    """The content of one sitemap; faults of single URLs are counted and reported once."""

    def __init__(self, url: str, max_urls: int) -> None:
        self.kind: Kind = "urlset"
        self.problems: list[str] = []
        self._url = url
        self._site = host_key(url)
        self._max_urls = max_urls
        self._relative_room = MAX_LINK_CHARACTERS
        """Characters: each relative URL is stored with a copy of the sitemap's own."""
        self._tried = 0
        """Also what proved to be no URL: a file of millions of those costs as much."""
        self._entries: list[SitemapEntry] = []
        self._sitemaps: list[str] = []
        self._faults: Counter[str] = Counter()
        self._examples: dict[str, str] = {}

    def add(self, text: str, lastmod: str | None) -> None:
        """Take one URL as written."""
        self._tried += 1
        if self._tried > self._max_urls:
            raise _Stop(f"More than {self._max_urls} URLs: the rest is not read.")
        absolute = canonical(text)
        url = absolute or canonical(text, self._url)
        if url is None or not text or (absolute is None and self.kind == "text"):
            self._fault("not a URL", text)
            return
        if absolute is None:
            self._fault("relative, though they must be absolute", text)
            self._relative_room -= len(url)
            if self._relative_room < 0:
                raise _Stop(f"The relative URLs have more than {MAX_LINK_CHARACTERS:,} characters: the rest is not read.")
        elif host_key(url) != self._site:
            self._fault("of another site", text)
        if self.kind == "index":
            self._sitemaps.append(url)
        else:
            self._entries.append(SitemapEntry(url, lastmod or None))

    def sitemap(self) -> Sitemap:
        counted = [
            f"URLs {fault}: {count}, the first is {quoted(self._examples[fault])}." for fault, count in self._faults.items()
        ]
        problems = counted + self.problems
        if not (self._entries or self._sitemaps or problems):
            problems = ["Names no URL."]
        return Sitemap(self.kind, tuple(self._entries), tuple(self._sitemaps), tuple(problems))

    def _fault(self, fault: str, text: str) -> None:
        self._faults[fault] += 1
        self._examples.setdefault(fault, text[:200])


def _plain_chunks(body: bytes, max_bytes: int) -> Iterator[bytes]:
    """The body in pieces, unzipped where it is gzipped, up to the cap."""
    pieces = (body[at : at + _CHUNK] for at in range(0, len(body), _CHUNK))
    total = 0
    for chunk in _unzipped(pieces) if body.startswith(b"\x1f\x8b") else pieces:
        total += len(chunk)
        if total > max_bytes:
            yield chunk[: max_bytes - total]
            raise _Stop(f"Larger than {max_bytes} bytes: the rest is not read.")
        yield chunk


def _unzipped(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Gzip data, of one or several members, unzipped at most a chunk at a time; what follows the last member is not looked at."""
    unzip = zlib.decompressobj(zlib.MAX_WBITS | 16)
    members = 1
    for piece in pieces:
        rest, is_done = piece, False
        while not is_done:
            try:
                chunk = unzip.decompress(rest, _CHUNK)
            except zlib.error as error:
                raise _Stop(f"Broken gzip data ({error}).") from None
            yield chunk
            rest = unzip.unused_data if unzip.eof else unzip.unconsumed_tail
            if unzip.eof and rest:
                members += 1
                if members > _MOST_MEMBERS or rest[0] != 0x1F:
                    return
                unzip = zlib.decompressobj(zlib.MAX_WBITS | 16)
            # Without input there may still be output that did not fit into the chunk.
            is_done = not rest and len(chunk) < _CHUNK
    if not unzip.eof:
        raise _Stop("The gzip data is cut off.")


def _until_stopped(chunks: Iterator[bytes], found: _Found) -> Iterator[bytes]:
    """Chunks, with the reason for an early end among the problems: what came before it is still to be read."""
    try:
        yield from chunks
    except _Stop as stop:
        found.problems.append(str(stop))


def _read_text(body: bytes, found: _Found) -> None:
    for line in _lines(decode(body, "text/plain; charset=utf-8").text):
        if text := line.strip():
            found.add(text, None)


def _lines(text: str) -> Iterator[str]:
    """The lines of a text, in slices: a list of millions of lines takes hundreds of megabytes."""
    rest = ""
    for start in range(0, len(text), _SLICE):
        lines = (rest + text[start : start + _SLICE]).splitlines(keepends=True)
        is_open = lines[-1].splitlines() == [lines[-1]]
        rest = lines.pop()[:_LONGEST_LINE] if is_open else ""
        yield from lines
    yield rest


def _read_xml(first: bytes, chunks: Iterator[bytes], found: _Found) -> None:
    reader = _XmlReader(found)
    in_tag = 0
    try:
        for chunk in chain((first,), chunks):
            reader.parser.Parse(chunk, False)
            opened, closed = chunk.rfind(b"<"), chunk.rfind(b">")
            if opened >= 0 or closed >= 0:
                in_tag = len(chunk) - opened if opened > closed else 0
            elif in_tag:
                in_tag += len(chunk)
            if in_tag > MAX_TAG_BYTES:
                raise _Stop(f"A tag has more than {MAX_TAG_BYTES:,} bytes: the rest is not read.")
        reader.parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise _Stop(f"Broken XML ({error}): what comes after is not read.") from None
    except (ValueError, LookupError) as error:
        raise _Stop(f"The XML is in an encoding that cannot be read ({error}).") from None


class _XmlReader:
    """Receives the events of the XML parser; names are compared without their namespace, because sitemaps occur with and
    without it.
    """

    def __init__(self, found: _Found) -> None:
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.EntityDeclHandler = self._entity
        self._found = found
        self._path: list[str] = []
        self._url = ""
        self._date = ""
        self._value = ""

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(":")[2].lower()
        if not self._path:
            if name not in _ROOTS:
                raise _Stop(f"Not a sitemap: the root element is <{name[:40]}>.")
            self._found.kind = _ROOTS[name]
        self._path.append(name)
        if len(self._path) > _DEEPEST:
            raise _Stop(f"Elements nested more than {_DEEPEST} deep: the rest is not read.")
        self._value = ""
        if name in _ITEMS:
            self._url = self._date = ""
        elif name == "link" and self._is_in_item() and attributes.get("rel", "alternate") == "alternate":
            self._url = self._url or attributes.get("href", "").strip()

    def _end(self, tag: str) -> None:
        name = self._path[-1]
        if self._is_in_item():
            value = self._value.strip()
            if name in _URL_TAGS:
                self._url = self._url or value
            elif name in _DATE_TAGS:
                self._date = self._date or value
        elif name in _ITEMS and len(self._path) > 1:
            self._found.add(self._url, self._date)
        self._path.pop()
        self._value = ""

    def _text(self, data: str) -> None:
        if len(self._value) < _LONGEST_VALUE:
            self._value += data[:_LONGEST_VALUE]

    def _entity(self, *_declaration: object) -> None:
        raise _Stop("The XML declares entities, which a sitemap has no use for: it is not read.")

    def _is_in_item(self) -> bool:
        """Whether this is a direct child of an item: `<image:loc>` in `<image:image>` is none."""
        return len(self._path) > 1 and self._path[-2] in _ITEMS
