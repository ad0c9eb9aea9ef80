"""The audit job: parses a page once, runs the page checks, and returns what is stored. `handle` is pure."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256

from tadoru.engine.job import FetchedPage, HtmlJob, PageResult
from tadoru.jobs.audit.catalogue import SITE_WIDE_CHECKS, CheckCatalogue
from tadoru.jobs.audit.context import (
    DEFAULT_BOTS,
    INDEXABLE,
    Limits,
    PageChecks,
    PageContext,
    RenderedContext,
    classify_indexability,
)
from tadoru.model.finding import Finding
from tadoru.model.web import EVERY_BOT, FOLLOWED, Answer, Link, LinkKind, RenderedPage, Response
from tadoru.parse.extract import Extraction
from tadoru.parse.html import HtmlDocument, is_html
from tadoru.parse.page import PageView, read_page
from tadoru.parse.page_structure import segment_of
from tadoru.parse.rendering import needs_rendering, rendering_differences
from tadoru.parse.structured import StructuredThing
from tadoru.parse.text_width import DESCRIPTION_SIZE, TITLE_SIZE, pixels
from tadoru.store.crawl.records import AlternateUrl, PageRecords, SiteFacts, StructuredItem

_RESOURCE_KINDS = frozenset(
    {LinkKind.IMAGE, LinkKind.SCRIPT, LinkKind.MEDIA, LinkKind.FRAME, LinkKind.CSS, LinkKind.STYLE, LinkKind.PREVIEW}
)
_RESOURCE_RELATIONS = frozenset({"stylesheet", "icon", "apple-touch-icon", "manifest", "preload", "modulepreload"})
"""Relations of `<link>` that load a resource."""
MAX_ITEMS = 50
MAX_VALUES = 2_000
"""Values of one item, including those of nested items."""
MAX_HEADINGS = 200
MAX_MESSAGES = 20
"""Errors of one kind that are stored of a rendered page."""
MAX_IMAGES = 500


@dataclass(frozen=True)
class AuditJob(HtmlJob):
    """Audit a site."""

    fragments: bool = False
    render: str = "never"
    store_bodies: bool = False
    extractions: tuple[Extraction, ...] = ()
    thresholds: tuple[tuple[str, float], ...] = ()
    plugins: tuple[PageChecks, ...] = ()
    enabled: tuple[str, ...] = ()
    """Checks that run although they are off by default."""
    bots: frozenset[str] = DEFAULT_BOTS
    """The names of crawlers whose robots directives count."""

    @cached_property
    def catalogue(self) -> CheckCatalogue:
        return CheckCatalogue(self.plugins, self.enabled)

    @cached_property
    def limits(self) -> Limits:
        return Limits(self.catalogue.checks.values(), dict(self.thresholds))

    def handle(self, page: FetchedPage) -> PageResult:
        """The result for one response."""
        response = page.response
        if not is_html(response) or not (response.body or _is_blank(response)):
            context = PageContext(url=page.url, limits=self.limits, answer=response, bots=self.bots)
            return PageResult(records=self._records(context, response))
        if self.render == "always" and page.rendered is None and response.status < 300:
            found = self._read(page, None)
            return replace(found, render="every page is rendered")
        return self._read(page, page.rendered)

    def handle_non_page(self, url: str, answer: Answer | None, refusal: str | None) -> PageRecords:
        context = PageContext(url=url, limits=self.limits, answer=answer, robots_rule=refusal, bots=self.bots)
        return self._records(context, answer if isinstance(answer, Response) else None)

    def _read(self, page: FetchedPage, rendered: RenderedPage | None) -> PageResult:
        response = page.response
        document = HtmlDocument.parse(response.body, response.header("content-type"))
        view = read_page(document, response, self.resolver)
        rendering = RenderedContext(rendered, view) if rendered is not None else None
        changes: dict[str, object] | None = None
        if rendering is not None:
            if rendering.redirect_target is None:
                seen = replace(response, body=rendering.page.html, headers=_as_utf8(response))
                document = HtmlDocument.parse(rendering.page.html, "text/html; charset=utf-8")
                view = read_page(document, seen, self.resolver)
            changes = _rendering_record(rendering, view)
        context = PageContext(url=page.url, limits=self.limits, answer=response, page=view, rendering=rendering, bots=self.bots)
        is_page = response.status < 300  # The links of an error page do not count.
        anchors = document.stored_anchors(view.anchors) if self.fragments and is_page else None
        return PageResult(
            links=_followed(view, rendering) if is_page else (),
            title=view.head.title,
            meta_description=view.head.meta_description,
            meta_robots=self._meta_robots(view),
            canonical_url=view.head.canonical,
            content_hash=view.content_hash,
            anchors=None if anchors is None else sorted(anchors),
            resources=_unique_links(link for link in view.links if link.kind not in FOLLOWED and _is_resource(link))
            if is_page
            else (),
            records=self._page_records(context, response, view, document, changes),
            render=self._render_reason(view) if rendered is None and is_page else "",
            left_out=tuple(document.left_out),
        )

    def _meta_robots(self, view: PageView) -> str | None:
        """The directives that count; those for one crawler begin with its name, as in `X-Robots-Tag`."""
        counted = ((name, content) for name, content in view.head.meta_robots if name in self.bots)
        return ", ".join(content if name == EVERY_BOT else f"{name}: {content}" for name, content in counted) or None

    def _render_reason(self, view: PageView) -> str:
        return needs_rendering(view) or "" if self.render == "auto" else ""

    def _check(self, context: PageContext) -> tuple[tuple[Finding, ...], SiteFacts]:
        """The findings about the page, and the evidence of those that may turn out to be about the whole site."""
        findings: list[Finding] = []
        facts: SiteFacts = {}
        for finding in self.catalogue.run(context):
            if finding.check_id in SITE_WIDE_CHECKS:
                facts[finding.check_id] = (finding.detail, finding.data) if finding.data else finding.detail
            else:
                findings.append(finding)
        return tuple(findings), facts

    def _records(self, context: PageContext, response: Response | None, *, is_page: bool = False) -> PageRecords:
        """The records of a response, or of none, without those that only a page has."""
        reason = classify_indexability(context)
        findings, facts = self._check(context)
        if response is None:
            return PageRecords(indexable=False, indexability=reason, findings=findings)
        return PageRecords(
            indexable=reason == INDEXABLE,
            indexability=reason,
            findings=findings,
            site_facts=facts,
            http_version=response.http_version,
            address=response.address,
            transferred_bytes=response.transferred,
            body_hash=sha256(response.body).hexdigest() if response.body or is_page else None,
            etag=context.headers.get("etag"),
            last_modified_field=context.headers.get("last-modified"),
            headers=_kept_headers(response),
            x_robots_tag=", ".join(response.header_all("x-robots-tag")) or None,
            body=zlib.compress(response.body, 6) if self.store_bodies and (response.body_read or is_page) else None,
        )

    def _page_records(
        self,
        context: PageContext,
        response: Response,
        view: PageView,
        document: HtmlDocument,
        rendering: dict[str, object] | None,
    ) -> PageRecords:
        head, title, description = view.head, view.head.title or "", view.head.meta_description or ""
        robots = (*(("meta", one) for one in view.directives), *(("header", one) for one in view.header_directives))
        return replace(
            self._records(context, response, is_page=True),
            charset=head.charset,
            language=head.lang,
            title_length=len(title) if head.title is not None else None,
            title_pixels=pixels(title, TITLE_SIZE) if head.title is not None else None,
            description_length=len(description) if head.meta_description is not None else None,
            description_pixels=pixels(description, DESCRIPTION_SIZE) if head.meta_description is not None else None,
            h1=head.h1[0] if head.h1 else None,
            word_count=view.content.words,
            text_ratio=round(view.text_share, 4),
            canonical_http=next((link.url for link in view.header_links if "canonical" in link.rel), None),
            next_url=head.next,
            prev_url=head.prev,
            sketch=view.sketch or None,
            headings=[(heading.level, heading.text) for heading in view.headings[:MAX_HEADINGS]],
            images=[(one.src, one.alt, one.width, one.height, one.loading) for one in view.images[:MAX_IMAGES]],
            directives=[(source, *one) for source, one in robots],
            rendering=rendering,
            extracted=_extracted(self.extractions, document, response),
            template=view.template or None,
            segment=segment_of(context.url),
            hreflang=_alternates(view),
            items=[_item(item) for item in view.structured.items if not item.is_nested][:MAX_ITEMS],
        )


def _followed(view: PageView, rendering: RenderedContext | None) -> list[Link]:
    """The links that lead to pages; a page that a script redirects leads where the script does."""
    links = [link for link in view.links if link.kind in FOLLOWED]
    if rendering is not None and (target := rendering.redirect_target) is not None:
        links.append(Link(target, LinkKind.REFRESH, "", "", len(view.links), ""))
    return links


def _rendering_record(rendering: RenderedContext, view: PageView) -> dict[str, object]:
    """What rendering changed and what went wrong, as it is stored."""
    shown = rendering.page
    record: dict[str, object] = {
        "differences": rendering_differences(rendering.raw, view),
        "console_errors": list(shown.console_errors[:MAX_MESSAGES]),
        "page_errors": list(shown.page_errors[:MAX_MESSAGES]),
        "failed_resources": list(shown.failed_resources[:MAX_MESSAGES]),
        "refused_resources": list(shown.refused_resources[:MAX_MESSAGES]),
        "loaded": shown.loaded,
        "settled": shown.settled,
    }
    if (target := rendering.redirect_target) is not None:
        record["redirect_url"] = target
    return record


def _is_blank(response: Response) -> bool:
    """Whether a page was sent without content, which has to be reported."""
    return response.status == 200 and response.body_read


def _is_resource(link: Link) -> bool:
    return link.kind in _RESOURCE_KINDS or (link.kind is LinkKind.LINK and not _RESOURCE_RELATIONS.isdisjoint(link.rel.split()))


def _unique_links(links: Iterable[Link]) -> list[Link]:
    """The first link to each URL."""
    first: dict[str, Link] = {}
    for link in links:
        first.setdefault(link.url, link)
    return list(first.values())


def _as_utf8(response: Response) -> tuple[tuple[str, str], ...]:
    kept = tuple(header for header in response.headers if header[0].lower() != "content-type")
    return (*kept, ("Content-Type", "text/html; charset=utf-8"))


def _kept_headers(response: Response) -> tuple[tuple[str, str], ...]:
    """The header fields without the values of cookies, which may be secrets."""
    return tuple(
        (name, _without_value(value)) if name.lower() == "set-cookie" else (name, value) for name, value in response.headers
    )


def _without_value(cookie: str) -> str:
    pair, semicolon, attributes = cookie.partition(";")
    return f"{pair.partition('=')[0]}=…{semicolon}{attributes}"


def _alternates(view: PageView) -> list[AlternateUrl]:
    html = [AlternateUrl(language, url, "html") for language, url in view.head.hreflang]
    http = [AlternateUrl(link.hreflang, link.url, "http") for link in view.header_links if link.hreflang]
    return html + http


def _item(item: StructuredThing) -> StructuredItem:
    return StructuredItem(item.syntax, ", ".join(item.types), _properties(item, iter(range(MAX_VALUES))))


def _properties(item: StructuredThing, budget: Iterator[int]) -> dict[str, object]:
    """The values of an item and of its nested items as plain data, up to the limit: one item may be reachable many times."""
    found: dict[str, object] = {}
    for name, values in item.properties.items():
        plain = [_plain(value, budget) for value, _ in zip(values, budget, strict=False)]
        if plain:
            found[name] = plain[0] if len(plain) == 1 else plain
    return found


def _plain(value: str | StructuredThing, budget: Iterator[int]) -> object:
    return _properties(value, budget) | {"@type": ", ".join(value.types)} if isinstance(value, StructuredThing) else value


def _extracted(extractions: tuple[Extraction, ...], document: HtmlDocument, response: Response) -> dict[str, list[str]] | None:
    return {one.name: one.find(document, response) for one in extractions} if extractions else None
