"""The docs job: reads pages as Markdown, and prefers Markdown that the site publishes if it is complete. Pure.

The site is probed before it is crawled: whether it publishes Markdown, which version and language the crawl is about, and whether
there is an llms.txt. This is decided once, from its start page, so that two crawls read every page the same way.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeGuard
from urllib.parse import urljoin

from tadoru.engine.job import ExtraRequest, FetchedPage, HtmlJob, PageResult
from tadoru.jobs.docs import site_markdown
from tadoru.jobs.docs.bundle.api_specs import detect_spec
from tadoru.jobs.docs.content import MainContent, find_main_content
from tadoru.jobs.docs.content.main_content import GENERATOR_CONFIDENCE
from tadoru.jobs.docs.content.variants import DocsEdition, detect_edition, variant_of
from tadoru.jobs.docs.markdown import ConvertOptions, MarkdownDocument, convert
from tadoru.jobs.docs.titles import apply_title
from tadoru.jobs.reporting.formatting import format_count
from tadoru.model.web import Answer, Link, LinkKind, Response
from tadoru.parse import links as link_parser
from tadoru.parse.complexity import PageTooComplex
from tadoru.parse.decode import decode
from tadoru.parse.gc_pause import paused_gc
from tadoru.parse.html import HTML_TYPES, Element, HtmlDocument, is_html
from tadoru.parse.page_limits import MAX_DOC_LINKS, MAX_DOC_TAGS, MAX_MARKDOWN_BLOCKS, markdown_limit
from tadoru.rules.scope import Admission, Scope
from tadoru.rules.url import UrlResolver, origin, split_url
from tadoru.store.crawl.records import DocumentRecord, PageRecords, Specification

_META_NAMES = {
    "description": "description",
    "keywords": "keywords",
    "author": "author",
    "og:title": "ogTitle",
    "og:type": "ogType",
}
MAX_METADATA_LENGTH = 2_000
_LARGE_PAGE = 20_000
"""Tags."""
_MAX_READ_AGAIN = 2_000_000
"""Bytes of a page that is parsed a second time: both trees are in memory for a moment."""
_MIN_PARAGRAPH_WORDS = 200
"""Words in paragraphs; if less than a tenth of more of them is found, the page is read again with fewer rules."""
_PARAGRAPH = re.compile(rb"<p[\s>](?:[^<]++|<(?!/?p[\s>]))*+", re.IGNORECASE)
"""The markup from the start of a paragraph to its end, or to the start of the next one."""
_MAX_HEADINGS = 1_000
"""Headings of level 1 that are compared with the title."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocPage:
    """A page of documentation."""

    main: MainContent
    markdown: MarkdownDocument
    metadata: dict[str, str | None]
    """title, description, keywords, author, ogTitle and ogType; and `canonical` if that is another URL."""
    links: list[Link]
    alternate: str | None
    """The URL of the page's Markdown version (`<link rel=alternate>`)."""
    has_scripts: bool
    has_heading: bool
    """Whether the main content has a heading."""
    specifications: list[str]
    """URLs of API descriptions that the page displays or declares."""
    left_out: tuple[str, ...]
    """As `Document.left_out`."""


def read_doc_page(body: bytes, content_type: str | None, url: str, resolver: UrlResolver) -> DocPage:
    """Read a page. Raises PageTooComplex."""
    with paused_gc() if body.count(b"<") > _LARGE_PAGE else nullcontext():
        return _read_doc_page(body, content_type, url, resolver)


def _read_doc_page(body: bytes, content_type: str | None, url: str, resolver: UrlResolver) -> DocPage:
    """Read a page. Links and metadata are read first, because finding the main content removes everything else from the tree."""
    document = HtmlDocument.parse(body, content_type, MAX_DOC_TAGS, MAX_DOC_LINKS)
    is_partial = bool(document.left_out)
    links = link_parser.extract(document, url, resolver).links
    alternate, canonical = _declared_urls(document, url, resolver)
    metadata = _metadata(document) | ({"canonical": canonical} if canonical is not None and canonical != url else {})
    scripts = document.select("script")
    has_tex = any(map(_renders_tex, scripts))
    described = find_specifications(document, url, resolver)
    links += [Link(found, LinkKind.A, "", "", len(links) + at, "") for at, found in enumerate(described)]
    base = document.base_url(url)
    main = find_main_content(document, url, resolver)
    words = len(main.root.text().split(None, _MIN_PARAGRAPH_WORDS))
    if words < _MIN_PARAGRAPH_WORDS and len(body) <= _MAX_READ_AGAIN:
        enough = max(_MIN_PARAGRAPH_WORDS, 10 * words)
        if _may_have_words(body, enough):
            again = HtmlDocument.parse(body, content_type, MAX_DOC_TAGS, MAX_DOC_LINKS)
            if _paragraph_words(again) > enough:
                document, main = again, find_main_content(again, url, resolver, takes_all=True)
    first = main.root.css_first("h1,h2,h3,h4")
    repeats = first is not None and _collapsed_text(first).startswith(main.title)
    has_it = any(_collapsed_text(heading) == main.title for heading in main.root.css("h1")[:_MAX_HEADINGS])
    limit = markdown_limit(len(body))
    options = ConvertOptions(title=None if repeats else main.title, has_tex=has_tex, most_characters=limit, is_partial=is_partial)
    markdown = convert(main.root, base=base, options=options)
    document.leave_out(*markdown.left_out)
    markdown = apply_title(markdown, main.title, begins_with_it=repeats, has_it=has_it)
    return DocPage(
        main=main,
        markdown=markdown,
        metadata=metadata,
        links=links,
        alternate=alternate,
        has_scripts=bool(scripts),
        has_heading=first is not None,
        specifications=described,
        left_out=tuple(document.left_out),
    )


def _may_have_words(body: bytes, number: int) -> bool:
    """Whether the paragraphs of a page may have more words than this: a quick check, which counts words of tags too."""
    if b"\0" in body[:1_000]:  # Not in an encoding that extends ASCII.
        return True
    return sum(len(found.group().split()) for found in _PARAGRAPH.finditer(body)) > number


def _paragraph_words(document: HtmlDocument) -> int:
    """The number of words in the paragraphs of a page, outside its navigation and footer."""
    count = 0
    for paragraph in document.select("p"):
        around = paragraph.parent
        if around is None or around.tag not in {"nav", "footer", "aside", "noscript", "template"}:
            count += len(paragraph.text().split())
    return count


def _collapsed_text(heading: Element) -> str:
    return " ".join(heading.text().split())


def _renders_tex(script: Element) -> bool:
    """Whether a script renders formulas in the text: MathJax, or the extension of KaTeX that does so."""
    attributes = script.attributes
    names = " ".join(attributes.get(name) or "" for name in ("src", "type", "id")).lower()
    return "mathjax" in names or ("katex" in names and "auto-render" in names)


def _metadata(document: HtmlDocument) -> dict[str, str | None]:
    found: dict[str, str | None] = {"title": document.title(), **dict.fromkeys(_META_NAMES.values())}
    for element in document.select("meta[content]"):
        attributes = element.attributes
        name = _META_NAMES.get((attributes.get("name") or attributes.get("property") or "").lower())
        if name is not None and found[name] is None:
            found[name] = " ".join((attributes.get("content") or "").split())[:MAX_METADATA_LENGTH] or None
    return found


def alternate_url(document: HtmlDocument, url: str, resolver: UrlResolver) -> str | None:
    """The URL of the Markdown version that a page declares."""
    return _declared_urls(document, url, resolver)[0]


def _declared_urls(document: HtmlDocument, url: str, resolver: UrlResolver) -> tuple[str | None, str | None]:
    """The URL of the Markdown version and the canonical URL that a page declares."""
    base = document.base_url(url)
    found: dict[str, str] = {}
    for element in document.select("link[rel]"):
        attributes = element.attributes
        rel, kind = (attributes.get("rel") or "").lower().split(), (attributes.get("type") or "").lower()
        name = "alternate" if "alternate" in rel and kind.startswith("text/markdown") else "canonical"
        if name in rel and name not in found:
            resolved = resolver.resolve(attributes.get("href") or "", base)
            if resolved is not None:
                found[name] = resolved[0]
    return found.get("alternate"), found.get("canonical")


_SPEC_ATTRIBUTES = {
    "redoc": "spec-url",
    "rapi-doc": "spec-url",
    "elements-api": "apidescriptionurl",
    "asyncapi-component": "schemaurl",
    "link": "href",
}
_SPEC_ELEMENTS = (
    "script,redoc[spec-url],rapi-doc[spec-url],elements-api[apidescriptionurl],asyncapi-component[schemaurl],"
    "link[rel~='service-desc'][href]"
)
_VIEWER = re.compile(r"SwaggerUIBundle\s*\(|Redoc\.init\s*\(|createApiReference\s*\(|AsyncApiStandalone\.render\s*\(")
_SPEC_URL = re.compile(r"""(?:\burl["']?\s*:|Redoc\.init\s*\()\s*(["'])((?:(?!\1)[^\\\n]|\\/){1,2000})\1""")
MAX_SPECIFICATIONS = 20
_MAX_SPEC_URLS = 1_000
_MAX_SCRIPT_LENGTH = 200_000


def find_specifications(document: HtmlDocument, url: str, resolver: UrlResolver) -> list[str]:
    """URLs of API descriptions that a page displays or declares without a link, each once, in document order.

    They are in the attributes of elements that a script replaces, in the settings of such a script, or in the head.
    """
    base = document.base_url(url)
    named: list[str] = []
    for element in document.select(_SPEC_ELEMENTS):
        attributes = element.attributes
        if (attribute := _SPEC_ATTRIBUTES.get(element.tag or "")) is not None:
            named.append(attributes.get(attribute) or "")
        elif attributes.get("id") == "api-reference" and attributes.get("data-url"):
            named.append(attributes["data-url"] or "")
        elif "src" not in attributes:
            text = element.text(deep=True)[:_MAX_SCRIPT_LENGTH]
            if _VIEWER.search(text):
                named += [found[2].replace("\\/", "/") for found in _SPEC_URL.finditer(text)]
    resolved = (resolver.resolve(name, base) for name in named[:_MAX_SPEC_URLS] if name.strip())
    return list(dict.fromkeys(found[0] for found in resolved if found is not None))[:MAX_SPECIFICATIONS]


ACCEPT_MARKDOWN = "text/markdown, text/html;q=0.5, */*;q=0.1"
LLMS_FILES = ("llms.txt", "llms-full.txt")
MAX_MARKDOWN_REQUESTS = 3
"""Pages whose Markdown is requested until one has it."""
ProbeFlow = Generator[ExtraRequest, Answer, dict[str, object]]


def probe_site(start: str, scope: Scope, resolver: UrlResolver, *, own_markdown: bool) -> ProbeFlow:
    """Probe a site. Returns `own` ("accept", "alternate", "twin" or ""), `version`, `language`, `files` and `answered`."""
    kind = ""
    answer = yield ExtraRequest(start, ACCEPT_MARKDOWN if own_markdown else None)
    if own_markdown and _is_markdown_response(answer, site_markdown.MARKDOWN_TYPES):
        kind = "accept"
        answer = yield ExtraRequest(start)
    if not isinstance(answer, Response) or answer.status >= 400:
        return {"own": kind, **asdict(detect_edition(start, ())), "files": [], "answered": False}
    page = _StartPage(answer, resolver) if _is_html(answer) else None
    if own_markdown and not kind:
        kind = "alternate" if page is not None and page.alternate else (yield from _probe_markdown_urls(start, scope, page))
    files: list[str] = []
    if page is not None:
        files = yield from _probe_llms_files(page.url, scope)
    edition = detect_edition(start, page.links, page.language) if page is not None else detect_edition(start, ())
    return {"own": kind, **asdict(edition), "files": files, "answered": True}


def edition_from_probe(found: dict[str, object]) -> DocsEdition:
    """The version and language in the result of a probe."""
    version, language = found.get("version"), found.get("language")
    return DocsEdition(version if isinstance(version, str) else None, language if isinstance(language, str) else None)


class _StartPage:
    """Links, language and Markdown version of the start page."""

    def __init__(self, response: Response, resolver: UrlResolver) -> None:
        self.url = response.url
        self.links: Sequence[str] = ()
        self.language: str | None = None
        self.alternate: str | None = None
        try:
            document = HtmlDocument.parse(response.body, response.header("content-type"))
        except PageTooComplex:
            return  # The crawl reports it.
        found = link_parser.extract(document, response.url, resolver).links
        self.links = [link.url for link in found if link.kind is LinkKind.A and origin(link.url) == origin(response.url)]
        for element in document.select("html[lang]"):
            self.language = (element.attributes.get("lang") or "").strip() or None
        self.alternate = alternate_url(document, response.url, resolver)


def _probe_markdown_urls(start: str, scope: Scope, page: _StartPage | None) -> Generator[ExtraRequest, Answer, str]:
    """Whether pages have a `.md` version: requested for the start page and the first pages that it links to."""
    inside = [start, *(url for url in (page.links if page else ()) if scope.decide(url).admission is Admission.FOLLOW)]
    candidates = dict.fromkeys(candidate for url in inside if (candidate := site_markdown.markdown_url(url)) is not None)
    for candidate in list(candidates)[:MAX_MARKDOWN_REQUESTS]:
        if _is_markdown_response((yield ExtraRequest(candidate)), (*site_markdown.MARKDOWN_TYPES, "text/plain")):
            return "twin"
    return ""


def _probe_llms_files(start: str, scope: Scope) -> Generator[ExtraRequest, Answer, list[str]]:
    """The llms.txt and llms-full.txt that exist beside the start page or at the root of the host, unless they are excluded."""
    found: list[str] = []
    for name in LLMS_FILES:
        for url in dict.fromkeys((urljoin(start, name), f"{origin(start)}/{name}")):
            if scope.decide(url).admission is Admission.REFUSED:
                continue
            answer = yield ExtraRequest(url, None, "HEAD")
            if (
                isinstance(answer, Response)
                and answer.status == 200
                and answer.media_type in (*site_markdown.MARKDOWN_TYPES, "text/plain")
            ):
                found.append(answer.url)
                break
    return list(dict.fromkeys(found))


def _is_markdown_response(answer: Answer, types: Sequence[str]) -> bool:
    if not isinstance(answer, Response) or answer.status != 200 or answer.media_type not in types:
        return False
    return site_markdown.is_markdown(answer.media_type, decode(answer.body, answer.header("content-type")).text)


def _is_html(answer: Answer) -> TypeGuard[Response]:
    return isinstance(answer, Response) and answer.status == 200 and "html" in answer.media_type


SPEC_TYPES = (
    "application/json", "application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml", "application/vnd.oai",
    "application/schema+json", "application/graphql", "text/plain",
)  # fmt: skip
MAX_MARKDOWN_LENGTH = 1_000_000
"""Characters of a page that is published as Markdown."""
MIN_INDEX_LINKS = 3_000
"""Links; a page with this many links and hardly any other text is an index."""
MIN_RENDERED_WORDS = 25
"""Words; a page with scripts and fewer words may be an empty shell that needs rendering."""
MIN_SENTENCE_WORDS = 3
"""Words beside the heading that make a short page complete."""
MIN_MENU_LINKS = 5
"""Links; a page with this many does not wait for a script."""
_PLACEHOLDER = re.compile(r"\bloading\b|java\s?script|please wait", re.IGNORECASE)
"""Text that a page shows until scripts have filled it."""
_LINKED = re.compile(r"(?:[-*+] *+)?(?<!\\)\[(?:[^\[\]\\]|\\.)*+\]\([^)]{0,2000}+\)")
NO_VALIDATORS = PageRecords(indexable=False, indexability="not judged")
DROP_DOCUMENT = PageRecords(indexable=False, indexability="not judged", drops_document=True)
GONE_STATUSES = frozenset({301, 308, 404, 410})
"""Status codes after which the stored document of a page is dropped. Other errors may be temporary."""


@dataclass(frozen=True)
class DocsJob(HtmlJob):
    """Crawls a documentation site."""

    start: str = field(kw_only=True)
    render: str = "auto"
    own_markdown: bool = True
    variants: frozenset[str] = frozenset()
    """Kinds of duplicate pages that are read all the same."""
    language: str | None = None
    body_types: tuple[str, ...] = HTML_TYPES + site_markdown.MARKDOWN_TYPES + SPEC_TYPES
    markdown_access: str = ""
    """How the site publishes Markdown, as the probe found it: "accept", "alternate", "twin" or ""."""
    edition: DocsEdition = DocsEdition()
    files: tuple[str, ...] = ()

    def probe(self) -> ProbeFlow:
        return probe_site(self.start, self.scope, self.resolver, own_markdown=self.own_markdown)

    def with_probe_result(self, found: Mapping[str, object]) -> DocsJob:
        edition = edition_from_probe(dict(found))
        files: Any = found.get("files") or ()
        return replace(
            self,
            markdown_access=str(found.get("own") or "") if self.own_markdown else "",
            edition=replace(edition, language=self.language or edition.language),
            files=tuple(files) if self.follow else (),
        )

    def skip_reason(self, url: str) -> str | None:
        variant = variant_of(url, self.edition, self.start)
        return variant.reason if variant is not None and not self._takes(variant.kind) else None

    def _takes(self, kind: str) -> bool:
        return kind in self.variants or "all" in self.variants

    def extra_urls(self) -> Sequence[str]:
        return self.files

    def handle(self, page: FetchedPage) -> PageResult:
        response = page.response
        if response.status >= 300:
            return PageResult(records=DROP_DOCUMENT if response.status in GONE_STATUSES else None)
        if not response.body:
            return PageResult(records=None if is_html(response) else DROP_DOCUMENT)
        if is_html(response):
            return self._html(page)
        name = split_url(page.url).path.rpartition("/")[2]
        if name in LLMS_FILES:
            return self._listing(page, name)
        if response.media_type in site_markdown.MARKDOWN_TYPES:
            return self._markdown(page)
        records = replace(_records(response), drops_document=True)
        if detect_spec(response.body, page.url, response.media_type) is not None:
            records = replace(records, specification=Specification(response.media_type, response.body))
        return PageResult(records=records)

    def handle_non_page(self, url: str, answer: Answer | None, refusal: str | None) -> PageRecords | None:
        return DROP_DOCUMENT if isinstance(answer, Response) and answer.status in GONE_STATUSES else None

    def _html(self, page: FetchedPage) -> PageResult:
        if self.markdown_access in ("accept", "twin") and page.alternate_answer is None and page.rendered is None:
            request = self._markdown_request(page.url)
            if request is not None:
                return PageResult(alternate_request=request)
        doc = self._read(page)
        if self.markdown_access == "alternate" and page.alternate_answer is None and page.rendered is None and doc.alternate:
            return PageResult(alternate_request=ExtraRequest(doc.alternate))
        found = PageResult(
            links=doc.links,
            title=doc.main.title or doc.metadata["title"],
            meta_description=doc.metadata["description"],
            left_out=doc.left_out,
        )
        # What a browser renders may change even if the response does not, so validators are not kept.
        records = _records(page.response) if page.rendered is None else NO_VALIDATORS
        source = "html" if page.rendered is None else "rendered"
        why = self._render_reason(doc) if page.rendered is None else ""
        document = self._best(page, _document(doc, source, listings=self._takes("index")))
        is_own = document is not None and document.source == "markdown"
        if why and not is_own and (document is None or self.render == "auto"):
            # "Loading …" is not documentation, and the document of an earlier run may still be valid.
            return replace(found, records=NO_VALIDATORS, render=why)
        return replace(found, records=replace(records, document=document, drops_document=document is None), render=why)

    def _markdown_request(self, url: str) -> ExtraRequest | None:
        if self.markdown_access == "accept":
            return ExtraRequest(url, ACCEPT_MARKDOWN)
        alternate = site_markdown.markdown_url(url)
        return ExtraRequest(alternate) if alternate is not None else None

    def _read(self, page: FetchedPage) -> DocPage:
        if page.rendered is not None:
            return read_doc_page(page.rendered.html, "text/html; charset=utf-8", page.url, self.resolver)
        response = page.response
        return read_doc_page(response.body, response.header("content-type"), page.url, self.resolver)

    def _best(self, page: FetchedPage, made: DocumentRecord | None) -> DocumentRecord | None:
        """The Markdown that the site publishes if it is complete, else the Markdown made of the page."""
        answer = page.alternate_answer
        if not isinstance(answer, Response) or answer.status != 200:
            return made
        text = decode(answer.body, answer.header("content-type")).text
        if self.markdown_access == "accept" and answer.media_type not in site_markdown.MARKDOWN_TYPES:
            return made
        if _exceeded_limit(text) or not site_markdown.is_markdown(answer.media_type, text):
            return made
        if made is None:
            return _site_document(text, page.url, answer.url)
        if site_markdown.missing_content(text, made.markdown) is not None:
            return made
        return replace(made, markdown=site_markdown.normalise_markdown(text, answer.url), source="markdown")

    def _render_reason(self, doc: DocPage) -> str:
        if self.render == "always":
            return "every page is rendered"
        if self.render != "auto" or not doc.has_scripts or doc.specifications or doc.main.is_tool:
            return ""  # The specification itself is stored.
        words = len(doc.markdown.text.split())
        if words >= MIN_RENDERED_WORDS or doc.markdown.code_blocks or _is_complete(doc, words):
            return ""
        return f"it has {format_count(words, 'word')} and scripts"

    def _markdown(self, page: FetchedPage) -> PageResult:
        response = page.response
        text = decode(response.body, response.header("content-type")).text
        if reason := _exceeded_limit(text):
            raise PageTooComplex(reason)
        document = _site_document(text, page.url, page.url)
        links, left_out = site_markdown.links_of(text, page.url, self.resolver)
        return PageResult(
            links=links,
            left_out=left_out,
            title=document.title if document else None,
            records=replace(_records(response), document=document, drops_document=document is None),
        )

    def _listing(self, page: FetchedPage, name: str) -> PageResult:
        """Read llms.txt, which links to pages, or llms-full.txt, which contains them."""
        response = page.response
        text = decode(response.body, response.header("content-type")).text
        links, left_out = site_markdown.links_of(text, page.url, self.resolver)
        offered = (
            site_markdown.split_llms_full(text, page.url, self.resolver) if name == LLMS_FILES[1] and self.own_markdown else []
        )
        links += [Link(one.url, LinkKind.A, "", "", len(links) + at, "") for at, one in enumerate(offered)]
        return PageResult(
            links=links, left_out=left_out, records=replace(_records(response), drops_document=True, offered=offered)
        )


def _exceeded_limit(markdown: str) -> str:
    """Which limit published Markdown exceeds; empty if none."""
    if len(markdown) > MAX_MARKDOWN_LENGTH:
        return f"its Markdown has more than {MAX_MARKDOWN_LENGTH:,} characters"
    if markdown.count("\n\n") + markdown.count("\n#") > MAX_MARKDOWN_BLOCKS:
        return f"its Markdown has more than {MAX_MARKDOWN_BLOCKS:,} blocks"
    return ""


def _is_complete(doc: DocPage, words: int) -> bool:
    """Whether a short page is complete: it has a sentence and a heading in the content area, or a sentence and a menu."""
    if _PLACEHOLDER.search(doc.markdown.text) or words - len(f"# {doc.main.title}".split()) < MIN_SENTENCE_WORDS:
        return False
    has_menu = sum(link.kind is LinkKind.A for link in doc.links) >= MIN_MENU_LINKS
    if not doc.has_heading:
        return has_menu and doc.markdown.text.rstrip().endswith((".", "。"))
    return has_menu or doc.main.confidence >= GENERATOR_CONFIDENCE


def _document(doc: DocPage, source: str, *, listings: bool) -> DocumentRecord | None:
    """The document of a page; None for a page without text, a search page or an index."""
    main, markdown = doc.main, doc.markdown
    if not markdown.text.strip() or main.is_tool or (not listings and _is_link_list(doc)):
        return None
    return DocumentRecord(
        title=main.title or doc.metadata["title"] or "",
        markdown=markdown.text,
        source=source,
        generator=main.generator,
        language=main.language,
        version=main.version,
        confidence=main.confidence,
        metadata=doc.metadata,
        headings=[(heading.level, heading.text, heading.anchor) for heading in (*markdown.headings, *markdown.definitions)],
        breadcrumbs=main.breadcrumbs,
        navigation=[item.url for item in main.navigation],
        next_url=main.next_url,
        prev_url=main.prev_url,
    )


def _is_link_list(doc: DocPage) -> bool:
    if len(doc.links) < MIN_INDEX_LINKS:
        return False
    beside, links = _LINKED.subn("", doc.markdown.text)
    return links >= MIN_INDEX_LINKS and len(beside.split()) < links


def _site_document(text: str, url: str, base: str) -> DocumentRecord | None:
    markdown = site_markdown.normalise_markdown(text, base)
    if not markdown.strip():
        return None
    title = site_markdown.title_of(text) or split_url(url).path.rpartition("/")[2] or url
    return DocumentRecord(title=title, markdown=markdown, source="markdown", headings=site_markdown.headings_of(markdown))


def _records(response: Response) -> PageRecords:
    """Records with the validators of a response, for conditional requests of the next run."""
    return PageRecords(
        indexable=False,
        indexability="not judged",
        etag=response.header("etag"),
        last_modified_field=response.header("last-modified"),
    )
