"""Every reader of the product, as a function of one response, and which formats each is fed."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from bench.hostile.responses import HostileResponse
from tadoru.clock import SystemClock
from tadoru.engine.job import FetchedPage, PageResult
from tadoru.engine.page_fetch import page_facts
from tadoru.errors import TadoruError
from tadoru.fetch.credentials import CookieJar
from tadoru.fetch.limits import BadContentEncoding, BodyDecoder, BodyTooLarge
from tadoru.jobs.audit.job import AuditJob
from tadoru.jobs.docs.bundle.model import BundleOptions, BundleSite, StoredDoc
from tadoru.jobs.docs.bundle.writer import RepeatedBlocks, write_bundle
from tadoru.jobs.docs.job import DocsJob
from tadoru.jobs.docs.search import search_site, strip_markdown
from tadoru.jobs.events.collect.readers import BUILT_IN, SourceDocument
from tadoru.jobs.events.collect.source_registry import parse_source_file
from tadoru.jobs.events.enrich.llm import LARGEST_ANSWER, LlmQuestion, completion_text, parse_answer
from tadoru.jobs.events.normalise.normaliser import SourceRules, normalise
from tadoru.jobs.links.job import LinksJob
from tadoru.model.event import ParsedSource, RawEvent, SourceType
from tadoru.model.web import Response
from tadoru.parse import header_fields, sitemap
from tadoru.parse.complexity import PageTooComplex
from tadoru.parse.dates import read_when
from tadoru.parse.decode import decode, header_charset
from tadoru.parse.extract import Extraction
from tadoru.rules import retry, robots
from tadoru.rules.scope import Scope
from tadoru.serve.docs_sites.markdown_html import render_markdown
from tadoru.serve.docs_sites.sites import diff_markdown

URL = "http://127.0.0.1:8080/case/page.html"
NOW = datetime(2026, 5, 1, tzinfo=UTC)
SCOPE = Scope(sites=("http://127.0.0.1:8080/",))
LINKS = LinksJob(SCOPE)
EVERY_LINK = LinksJob(SCOPE, fragments=True)
AUDIT = AuditJob(SCOPE, fragments=True, extractions=(Extraction.parse("price=css:.price"), Extraction.parse("day=regex:[0-9]+")))
DOCS = DocsJob(SCOPE, start="http://127.0.0.1:8080/", render="never")
LONG_URLS = [
    f"http://127.0.0.1:8080/{path}" for path in ("", "a" * 8000, "a/" * 4000, "ab" * 4000, "%61" * 2600, "?" + "a=" * 4000)
]
LONGEST_LIST = 50_000
QUESTION = LlmQuestion({"title": "x"}, ("Music", "Art"), True, "model")
API_SETTINGS = {"items": "events", "fields": {"title": "title", "start": "start", "url": "url", "venue": "place.name"}}
HTML_SETTINGS = {
    "item": "li, .event, tr",
    "fields": {"title": "a, b, td", "start": "time, td, li", "url": {"selector": "a", "attribute": "href"}},
}


@dataclass(frozen=True, slots=True)
class Reader:
    """What is measured."""

    read: Callable[[Any], object]
    formats: frozenset[str]
    """Those it is made for; it is fed others now and then."""
    refusals: tuple[type[Exception], ...] = ()
    """How it may refuse."""
    prepare: Callable[[HostileResponse], Any] | None = None
    """What `read` takes of a response; not measured. By default the response as it is."""
    after: str = ""
    """The reader that `prepare` is the work of: where it fails, there is nothing to read."""
    is_of_crawls: bool = False
    """Whether it runs in the process of a crawl, which is tuned for it."""


def answer(given: HostileResponse) -> Response:
    """The response as the fetcher hands it on."""
    return Response(url=URL, status=given.status, headers=given.headers, body=given.body)


def page(given: HostileResponse) -> FetchedPage:
    return FetchedPage(url=URL, depth=1, response=answer(given))


def text(given: HostileResponse) -> str:
    return decode(given.body, given.content_type).text


def _events(kind: SourceType, settings: Mapping[str, Any]) -> Callable[[HostileResponse], ParsedSource]:
    reader = BUILT_IN[kind]
    own = reader.prepare(settings)

    def read(given: HostileResponse) -> ParsedSource:
        document = SourceDocument(
            body=given.body, content_type=given.content_type, url=URL, headers=given.headers, page=1, is_detail=False, now=NOW,
            zone="Asia/Tokyo",
        )  # fmt: skip
        return reader.read(document, own)

    return read


def _normalised(read: Callable[[HostileResponse], ParsedSource]) -> Reader:
    """What follows a reading, event by event: however many there are, a thousand of them take no longer than a response may."""
    rules = SourceRules(zone="Asia/Tokyo", now=NOW)

    def prepare(given: HostileResponse) -> tuple[RawEvent, ...]:
        return read(given).events[:1000]

    return Reader(lambda events: [normalise(event, rules) for event in events], frozenset(), (), prepare)


def _facts(given: FetchedPage) -> None:
    """All that is read of header fields, whatever the job."""
    response = given.response
    page_facts(response, PageResult())
    LINKS.handle_non_page(URL, response, None)
    AUDIT.handle_non_page(URL, response, None)
    header_fields.links(response.header_all("link"), URL)
    header_fields.robots_tags(response.header_all("x-robots-tag"))
    header_fields.cookies(response.header_all("set-cookie"))
    header_charset(response.header("content-type") or "")
    for name in ("retry-after", "last-modified", "age", "expires"):
        retry.parse_retry_after(response.header(name), NOW.timestamp())


def _cookies(given: FetchedPage) -> None:
    jar = CookieJar(SystemClock())
    jar.store(given.response)
    for url in LONG_URLS:
        jar.header(url)


def _robots(given: HostileResponse) -> None:
    found = robots.read(status=200, failure=None, body=given.body)
    for url in LONG_URLS:
        found.allows(url)


def _sitemaps(given: FetchedPage) -> None:
    search = sitemap.SitemapSearch([(URL, "robots.txt")], ["http://127.0.0.1:8080"])
    while search.next() is not None:
        search.take(given.response)
        if given.response.body.count(b"<sitemap>") > 1:
            return  # An index that names many others is asked for each of them, one response at a time.


def _decompressed(given: HostileResponse) -> None:
    encoding = next((value for name, value in given.headers if name == "Content-Encoding"), "gzip")
    body = BodyDecoder(encoding, 10 * 1024 * 1024)
    body.feed(given.body)
    body.finish()


def _dates(given: str) -> None:
    zone = ZoneInfo("Asia/Tokyo")
    read_when(given, now=NOW, zone=zone)
    read_when("2026-05-01", now=NOW, zone=zone, end=given[:100_000], start_time=given, end_time=given, note=given)


def _markdown(given: HostileResponse) -> str:
    """The Markdown that a documentation crawl makes of a response."""
    records = DOCS.handle(page(given)).records
    return records.document.markdown if records and records.document else ""


def _bundle(given: str) -> None:
    doc = StoredDoc(url=URL, title="Page", markdown=given, number=1, crawled_at=0.0, hash="x")
    site = BundleSite(base_url="http://127.0.0.1:8080/", checked_at=0.0)
    RepeatedBlocks().add(given)
    with tempfile.TemporaryDirectory() as folder:
        write_bundle(Path(folder) / "site", site, lambda: [doc], BundleOptions(chunk_tokens=2000, local_links=True))
        search_site(Path(folder) / "site", "word concert 祭り")


def _view(given: str) -> None:
    render_markdown(given, lambda href: href)
    strip_markdown(given)


def _difference(given: str) -> None:
    diff_markdown(given, given[len(given) // 3 :] + given[: len(given) // 3])


def _model_answer(given: HostileResponse) -> None:
    """An answer that is longer than the client accepts is not read at all."""
    body = given.body[:LARGEST_ANSWER]
    parse_answer(completion_text(body) or decode(body, given.content_type).text, QUESTION)


def _imported(name: str) -> Callable[[str], object]:
    """A list of sources is a file that a person has, not a response: it is not as large as one."""
    return lambda given: parse_source_file(given[:LONGEST_LIST], name)


def _event_readers() -> dict[str, Reader]:
    """The reader of each type of source, and the normalising of what it found."""
    kinds: dict[str, tuple[str, SourceType, Mapping[str, Any]]] = {
        "events: feed": ("feed", SourceType.RSS, {}),
        "events: ICS": ("ICS", SourceType.ICS, {}),
        "events: CSV": ("CSV", SourceType.CSV, {}),
        "events: API": ("JSON", SourceType.API, API_SETTINGS),
        "events: HTML": ("HTML", SourceType.HTML, {}),
        "events: selected HTML": ("HTML", SourceType.HTML, HTML_SETTINGS),
    }
    found: dict[str, Reader] = {}
    for name, (format_, kind, settings) in kinds.items():
        read = _events(kind, settings)
        found[name] = Reader(read, frozenset({format_}))
        found[f"{name}, normalised"] = replace(_normalised(read), formats=frozenset({format_}), after=name)
    return found


PAGES = frozenset({"HTML", "headers", "cookies"})
DOCUMENTS = frozenset({"HTML", "Markdown"})
READERS: dict[str, Reader] = {
    "links": Reader(LINKS.handle, PAGES, (PageTooComplex,), page, is_of_crawls=True),
    "links --check": Reader(EVERY_LINK.handle, PAGES, (PageTooComplex,), page, is_of_crawls=True),
    "audit": Reader(AUDIT.handle, PAGES, (PageTooComplex,), page, is_of_crawls=True),
    "docs": Reader(DOCS.handle, PAGES | {"Markdown", "JSON"}, (PageTooComplex,), page, is_of_crawls=True),
    "docs files": Reader(_bundle, DOCUMENTS, (), _markdown, "docs", is_of_crawls=True),
    "docs page of the service": Reader(_view, DOCUMENTS, (), _markdown, "docs"),
    "docs changes of the service": Reader(_difference, DOCUMENTS, (), _markdown, "docs"),
    **_event_readers(),
    "dates": Reader(_dates, frozenset({"CSV"}), (), text),
    "header fields": Reader(_facts, frozenset({"headers", "cookies"}), (), page),
    "cookies": Reader(_cookies, frozenset({"headers", "cookies"}), (), page),
    "decompression": Reader(_decompressed, frozenset({"headers"}), (BadContentEncoding, BodyTooLarge)),
    "robots.txt": Reader(_robots, frozenset({"robots"})),
    "sitemaps": Reader(_sitemaps, frozenset({"sitemap"}), (), page),
    "answer of a model": Reader(_model_answer, frozenset({"JSON"})),
    "import of CSV": Reader(_imported("sources.csv"), frozenset({"CSV"}), (TadoruError,), text),
    "import of OPML": Reader(_imported("sources.opml"), frozenset({"feed"}), (TadoruError,), text),
    "import of YAML": Reader(_imported("sources.yml"), frozenset({"robots"}), (TadoruError,), text),
}
