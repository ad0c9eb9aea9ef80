"""One page with everything that is known of it, and the first links to it and from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tadoru.jobs.audit.reading.findings import summary
from tadoru.jobs.audit.reading.lists import moment, page_summary
from tadoru.jobs.audit.reading.values import (
    Alternate,
    HeaderField,
    Heading,
    Hop,
    Image,
    Item,
    Link,
    Links,
    PageDetail,
    PageFinding,
)
from tadoru.store.browse_links import LinkFilter
from tadoru.store.read_only import ReadOnlyCrawl, looking_at

MOST_LISTED = 500
"""Of headings, images, alternates, items and header fields no more are told: a page may have any number."""
_LISTS = ("headers", "headings", "images", "directives", "extracted", "rendering")


def page(path: Path | str, which: int | str, *, lang: str = "en", links: int = 25) -> PageDetail | None:
    """A page by its number or its URL, with so many of its links; None when the crawl does not know it."""
    with looking_at(path) as crawl:
        number = crawl.page_id(which) if isinstance(which, str) else which
        line = crawl.page_line(number) if number is not None else None
        if line is None:
            return None
        facts = crawl.page_facts(line.id)
        return PageDetail(
            summary=page_summary(line),
            facts=_facts(facts),
            headings=tuple(Heading(level=level, text=text) for level, text, *_ in facts["headings"][:MOST_LISTED]),
            images=tuple(Image(src=src, alt=alt) for src, alt, *_ in facts["images"][:MOST_LISTED]),
            hreflang=tuple(
                Alternate(language=language, url=url, source=source)
                for language, url, source in crawl.page_alternates(line.id)[:MOST_LISTED]
            ),
            structured_data=tuple(
                Item(syntax=syntax, type=kind, properties=properties)
                for syntax, kind, properties in crawl.page_items(line.id)[:MOST_LISTED]
            ),
            headers=tuple(HeaderField(name=name, value=value) for name, value in facts["headers"][:MOST_LISTED]),
            redirects=tuple(Hop(url=url, status_code=code) for url, code in crawl.redirect_steps(line.id)),
            extracted=facts["extracted"],
            findings=_findings(crawl, line.id, lang),
            inlinks=_links(crawl, LinkFilter(target=line.id), links, crawl.link_total(to=line.id)),
            outlinks=_links(crawl, LinkFilter(source=line.id), links, crawl.link_total(of=line.id)),
        )


def _facts(facts: dict[str, Any]) -> dict[str, Any]:
    found = {name: value for name, value in facts.items() if name not in _LISTS}
    found["is_seed"] = bool(found["is_seed"])
    for name in ("added_at", "last_modified"):
        found[name] = moment(found[name])
    found["directives"] = [
        {"source": source, "agent": agent, "name": name, "value": value}
        for source, agent, name, value in facts["directives"][:MOST_LISTED]
    ]
    found["rendering"] = facts["rendering"] or None
    return found


def _findings(crawl: ReadOnlyCrawl, number: int, lang: str) -> tuple[PageFinding, ...]:
    found = crawl.page_found(number)
    if not found:
        return ()
    checks = {each.number: each for each in crawl.stored_checks()}
    return tuple(
        PageFinding(check=summary(checks[check], lang, 1), subject=subject, detail=detail, data=data)
        for check, subject, detail, data in found
        if check in checks
    )


def _links(crawl: ReadOnlyCrawl, chosen: LinkFilter, most: int, total: int | None) -> Links:
    lines, more = crawl.link_lines(chosen, limit=most)
    return Links(items=tuple(Link.of(line) for line in lines), next=more, total=total)
