"""Malformed links: kept with their page as a finding of one check, and read back as broken links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tadoru.i18n.translation import N_
from tadoru.jobs.links.result import BrokenLink, LinkSource
from tadoru.model.finding import Severity, define
from tadoru.parse.link_problems import MalformedLink
from tadoru.store.crawl.findings import FindingReader
from tadoru.store.crawl.records import PageRecords

MALFORMED_CHECK = define(
    "link-malformed",
    Severity.ERROR,
    title=N_("Malformed link URL"),
    why=N_("The URL is mistyped or refers to a file on a local computer."),
    fix=N_("Correct the href attribute."),
    group="links",
)
"""The same check as in audits."""
MAX_PER_PAGE = 1_000
NO_REFERENCE = '""'
"""An empty reference in results, so that it is seen and can be suppressed."""


def malformed_records(page_url: str, malformed: Sequence[MalformedLink]) -> PageRecords | None:
    """What is stored of a page with malformed links; None for other pages."""
    if not malformed:
        return None
    hrefs, texts, positions, problems, kinds = zip(*malformed[:MAX_PER_PAGE], strict=True)
    finding = MALFORMED_CHECK.on(
        page_url,
        hrefs[0],
        count=len(malformed),
        hrefs=hrefs,
        texts=texts,
        positions=tuple(map(str, positions)),
        problems=problems,
        kinds=tuple(map(str, kinds)),
    )
    return PageRecords(indexable=True, indexability="", findings=(finding,))


def malformed_links(findings: FindingReader) -> Iterator[BrokenLink]:
    """The malformed links of a crawl, each reference with all places where it is."""
    numbers = [stored.number for stored in findings.stored_checks() if stored.check.id == MALFORMED_CHECK.id]
    sources: dict[tuple[str, str], list[LinkSource]] = {}
    for row in findings.found(numbers) if numbers else ():
        columns = (row.data[name] for name in ("hrefs", "texts", "positions", "problems", "kinds"))
        for href, text, position, problem, kind in zip(*columns, strict=True):
            sources.setdefault((href, problem), []).append(LinkSource(row.url, text, position=int(position), kind=kind))
    for (href, problem), found in sorted(sources.items()):
        yield BrokenLink(href or NO_REFERENCE, None, problem, "broken", tuple(found))
