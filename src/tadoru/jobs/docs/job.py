"""The job itself: a page of documentation as Markdown, the site's own where that is complete. Pure, like every job's `handle`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from tadoru.engine.job import Ask, Found, Page
from tadoru.jobs.docs import own
from tadoru.jobs.docs.bundle.specs import kind_of
from tadoru.jobs.docs.content.find import IN_ITS_PLACE
from tadoru.jobs.docs.content.variants import Wanted, variant_of
from tadoru.jobs.docs.page import DocPage, read_doc_page
from tadoru.jobs.docs.survey import ACCEPT, FILES, Questions, survey, wanted_of
from tadoru.jobs.report.words import counted
from tadoru.model.web import Answer, Link, LinkKind, Response
from tadoru.parse.bounds import PageTooComplex
from tadoru.parse.decode import decode
from tadoru.parse.html import looks_like_html
from tadoru.rules.scope import Scope
from tadoru.rules.url import Cleaning, Resolver, parts
from tadoru.store.records import DocumentRecord, PageRecords, Specification

HTML_TYPES = ("text/html", "application/xhtml+xml")
SPEC_TYPES = (
    "application/json", "application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml", "application/vnd.oai",
    "application/schema+json", "application/graphql", "text/plain",
)  # fmt: skip
LONGEST_MARKDOWN = 1_000_000
"""Characters of a page that is Markdown itself."""
LISTING = 3_000
"""Links that make a page a list of everything, when there is hardly a word beside them."""
EMPTY = 25
"""Words below which a page is an empty shell, when scripts may fill it."""
SENTENCE = 3
"""Words beside the heading that make a short page a whole one."""
MENU = 5
"""Links: so many are on no page that waits for a script."""
_PROMISES = re.compile(r"\bloading\b|java\s?script|please wait", re.IGNORECASE)
"""What a shell says until scripts fill it."""
_LINKED = re.compile(r"(?:[-*+] *+)?(?<!\\)\[(?:[^\[\]\\]|\\.)*+\]\([^)]{0,2000}+\)")
UNDATED = PageRecords(indexable=False, indexability="not judged")
GONE = PageRecords(indexable=False, indexability="not judged", drops_document=True)
LEAVES = frozenset({301, 308, 404, 410})
"""Answers after which a page is not where it was. With any other it may be back tomorrow: what was kept of it stays."""


@dataclass(frozen=True)
class DocsJob:
    """Read a documentation site."""

    scope: Scope
    start: str
    follow: bool = True
    check_external: bool = False
    render: str = "auto"
    own_markdown: bool = True
    variants: frozenset[str] = frozenset()
    """Kinds of pages that are read although they say again what others say."""
    language: str | None = None
    cleaning: Cleaning = Cleaning()
    body_types: tuple[str, ...] = HTML_TYPES + own.TYPES + SPEC_TYPES
    gives: str = ""
    """How the site gives its own Markdown, as the survey found it."""
    wanted: Wanted = Wanted()
    files: tuple[str, ...] = ()

    @cached_property
    def _resolver(self) -> Resolver:
        return Resolver(self.cleaning)

    def survey(self) -> Questions:
        return survey(self.start, self.scope, self._resolver, own_markdown=self.own_markdown)

    def surveyed(self, found: Mapping[str, object]) -> DocsJob:
        wanted = wanted_of(dict(found))
        files: Any = found.get("files") or ()
        return replace(
            self,
            gives=str(found.get("own") or "") if self.own_markdown else "",
            wanted=replace(wanted, language=self.language or wanted.language),
            files=tuple(files) if self.follow else (),
        )

    def refusal(self, url: str) -> str | None:
        variant = variant_of(url, self.wanted, self.start)
        return variant.reason if variant is not None and not self._takes(variant.kind) else None

    def _takes(self, kind: str) -> bool:
        return kind in self.variants or "all" in self.variants

    def extra(self) -> Sequence[str]:
        return self.files

    def handle(self, page: Page) -> Found:
        response = page.response
        if response.status >= 300:
            return Found(records=GONE if response.status in LEAVES else None)
        if not response.body:
            return Found(records=None if _is_html(response) else GONE)
        if _is_html(response):
            return self._html(page)
        name = parts(page.url).path.rpartition("/")[2]
        if name in FILES:
            return self._listing(page, name)
        if response.media_type in own.TYPES:
            return self._markdown(page)
        records = replace(_records(response), drops_document=True)
        if kind_of(response.body, page.url, response.media_type) is not None:
            records = replace(records, specification=Specification(response.media_type, response.body))
        return Found(records=records)

    def remark(self, url: str, answer: Answer | None, refusal: str | None) -> PageRecords | None:
        return GONE if isinstance(answer, Response) and answer.status in LEAVES else None

    def _html(self, page: Page) -> Found:
        if self.gives in ("accept", "twin") and page.twin is None and page.rendered is None:
            ask = self._twin(page.url)
            if ask is not None:
                return Found(twin=ask)
        doc = self._read(page)
        if self.gives == "alternate" and page.twin is None and page.rendered is None and doc.alternate:
            return Found(twin=Ask(doc.alternate))
        found = Found(
            links=doc.links,
            title=doc.main.title or doc.metadata["title"],
            meta_description=doc.metadata["description"],
            left_out=doc.left_out,
        )
        # What a browser shows may change though the page itself does not: it is asked for anew each time.
        records = _records(page.response) if page.rendered is None else UNDATED
        source = "html" if page.rendered is None else "rendered"
        why = self._render_reason(doc) if page.rendered is None else ""
        document = self._best(page, _document(doc, source, listings=self._takes("index")))
        is_own = document is not None and document.source == "markdown"
        if why and not is_own and (document is None or self.render == "auto"):
            # "Loading …" is no documentation; and what an earlier run saw may still be true.
            return replace(found, records=UNDATED, render=why)
        return replace(found, records=replace(records, document=document, drops_document=document is None), render=why)

    def _twin(self, url: str) -> Ask | None:
        if self.gives == "accept":
            return Ask(url, ACCEPT)
        twin = own.twin_of(url)
        return Ask(twin) if twin is not None else None

    def _read(self, page: Page) -> DocPage:
        if page.rendered is not None:
            return read_doc_page(page.rendered.html, "text/html; charset=utf-8", page.url, self._resolver)
        response = page.response
        return read_doc_page(response.body, response.header("content-type"), page.url, self._resolver)

    def _best(self, page: Page, made: DocumentRecord | None) -> DocumentRecord | None:
        """The site's Markdown when there is some that lacks nothing, else ours."""
        answer = page.twin
        if not isinstance(answer, Response) or answer.status != 200:
            return made
        text = decode(answer.body, answer.header("content-type")).text
        types = own.TYPES if self.gives == "accept" else (*own.TYPES, "text/plain")
        if len(text) > LONGEST_MARKDOWN or answer.media_type not in types or not own.is_markdown(answer.media_type, text):
            return made
        if made is None:
            return _own_document(text, page.url, answer.url)
        if own.objection(text, made.markdown) is not None:
            return made
        return replace(made, markdown=own.kept(text, answer.url), source="markdown")

    def _render_reason(self, doc: DocPage) -> str:
        if self.render == "always":
            return "every page is rendered"
        if self.render != "auto" or not doc.has_scripts or doc.specifications or doc.main.is_tool:
            return ""  # A page that shows a specification is had by having that.
        words = len(doc.markdown.text.split())
        if words >= EMPTY or doc.markdown.code_blocks or _is_short(doc, words):
            return ""
        return f"it has {counted(words, 'word')} and scripts"

    def _markdown(self, page: Page) -> Found:
        response = page.response
        text = decode(response.body, response.header("content-type")).text
        if len(text) > LONGEST_MARKDOWN:
            raise PageTooComplex(f"its Markdown has more than {LONGEST_MARKDOWN:,} characters")
        document = _own_document(text, page.url, page.url)
        links, left_out = own.links_of(text, page.url, self._resolver)
        return Found(
            links=links,
            left_out=left_out,
            title=document.title if document else None,
            records=replace(_records(response), document=document, drops_document=document is None),
        )

    def _listing(self, page: Page, name: str) -> Found:
        """llms.txt leads to pages; llms-full.txt holds them."""
        response = page.response
        text = decode(response.body, response.header("content-type")).text
        links, left_out = own.links_of(text, page.url, self._resolver)
        offered = own.offered_in(text, page.url, self._resolver) if name == FILES[1] and self.own_markdown else []
        links += [Link(one.url, LinkKind.A, "", "", len(links) + at, "") for at, one in enumerate(offered)]
        return Found(links=links, left_out=left_out, records=replace(_records(response), drops_document=True, offered=offered))


def _is_short(doc: DocPage, words: int) -> bool:
    """Whether a page says little and is whole: a heading and a sentence in their place or by a menu; there a sentence alone."""
    if _PROMISES.search(doc.markdown.text) or words - len(f"# {doc.main.title}".split()) < SENTENCE:
        return False
    has_menu = sum(link.kind is LinkKind.A for link in doc.links) >= MENU
    if not doc.has_heading:
        return has_menu and doc.markdown.text.rstrip().endswith((".", "。"))
    return has_menu or doc.main.confidence >= IN_ITS_PLACE


def _document(doc: DocPage, source: str, *, listings: bool) -> DocumentRecord | None:
    """None for a page without any text, for a tool, and for one that only lists the others."""
    main, markdown = doc.main, doc.markdown
    if not markdown.text.strip() or main.is_tool or (not listings and _is_listing(doc)):
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
        headings=[(heading.level, heading.text, heading.anchor) for heading in markdown.headings],
        breadcrumbs=main.breadcrumbs,
        navigation=[item.url for item in main.navigation],
        next_url=main.next_url,
        prev_url=main.prev_url,
    )


def _is_listing(doc: DocPage) -> bool:
    if len(doc.links) < LISTING:
        return False
    beside, links = _LINKED.subn("", doc.markdown.text)
    return links >= LISTING and len(beside.split()) < links


def _own_document(text: str, url: str, base: str) -> DocumentRecord | None:
    markdown = own.kept(text, base)
    if not markdown.strip():
        return None
    title = own.title_of(text) or parts(url).path.rpartition("/")[2] or url
    return DocumentRecord(title=title, markdown=markdown, source="markdown", headings=own.headings_of(markdown))


def _records(response: Response) -> PageRecords:
    """The validators, to ask the next time whether the page changed."""
    return PageRecords(
        indexable=False,
        indexability="not judged",
        etag=response.header("etag"),
        last_modified_field=response.header("last-modified"),
    )


def _is_html(response: Response) -> bool:
    media_type = response.media_type
    return media_type.startswith(HTML_TYPES) if media_type else looks_like_html(response.body)
