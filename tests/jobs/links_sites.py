"""Invented sites for the tests of the links reports: a few pages, or thousands, with every kind of outcome among them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tadoru.jobs.links.report import LinksReport
from tadoru.jobs.links.result import BrokenLink, CrawlResult, FailedUrl, LinkEdge, LinkSource, SkippedTrap, UrlInfo

START = datetime(2026, 11, 15, 9, 30, tzinfo=UTC)
HOME = "https://garden.example/"


def page(
    url: str, depth: int = 0, parent: str | None = None, status: int | None = 200, *, title: str = "",
    redirect_to: str | None = None, not_fetched: str | None = None,
) -> UrlInfo:  # fmt: skip
    return UrlInfo(url, depth, parent, status, START + timedelta(seconds=depth), title, "text/html", redirect_to, not_fetched)


def failure(
    url: str, status: int | None = 404, message: str = "", *, blocked: bool = False, parent: str | None = None
) -> FailedUrl:
    return FailedUrl(url, message or f"{status}", START, parent, "http_error" if status else "dns_failure", status, blocked)


def crawl(*internal: UrlInfo, external: tuple[UrlInfo, ...] = (), failed: tuple[FailedUrl, ...] = ()) -> CrawlResult:
    processed = sum(info.status_code is not None for info in internal)
    return CrawlResult(HOME, internal, external, failed, processed, len(internal) + len(external), 2.5)


def report(result: CrawlResult, *edges: LinkEdge, external: bool = False, checked: bool = False) -> LinksReport:
    return LinksReport(result, lambda: edges, result.bad_links, external, checked)


def small() -> LinksReport:
    """Five pages, of which one is broken, one moved and one was not requested; one site outside turns crawlers away."""
    about, team, old, shop = (HOME + path for path in ("about", "about/team", "old", "shop"))
    result = crawl(
        page(HOME, title="The garden"),
        page(about, 1, HOME, title="About us"),
        page(old, 1, HOME, 301, redirect_to=about),
        page(shop, 1, HOME, None, not_fetched="disallowed by robots.txt"),
        page(team, 2, about, 404),
        external=(page("https://club.example/", 1, HOME, 403),),
        failed=(failure(team, message="404 Not Found", parent=about), failure("https://club.example/", 403, blocked=True)),
    ).with_bad_links(
        (
            BrokenLink(team, 404, "404 Not Found", "broken", (LinkSource(about, "Our team"), LinkSource(HOME, "Who we are"))),
            BrokenLink("https://club.example/", 403, "403 Forbidden", "blocked", (LinkSource(HOME, "The club"),)),
        )
    )
    edges = [LinkEdge(HOME, url, "", "") for url in (about, old, shop, team)] + [
        LinkEdge(about, HOME, "", ""),
        LinkEdge(about, team, "", ""),
    ]
    return report(result, *edges, external=True, checked=True)


SECTIONS = ("blog", "plants", "guides", "shop", "events", "people", "archive")


def invented(count: int) -> LinksReport:
    """A site of `count` pages in sections, listing pages first; every 37th page broken, every 29th moved. The same every time."""
    pages: list[UrlInfo] = [page(HOME, title="Garden Society")]
    edges: list[LinkEdge] = []
    by_depth: list[list[str]] = [[HOME]]
    for number in range(1, count):
        listing = number <= len(SECTIONS)
        depth = 1 if listing or number % 90 == 0 else 2 + (number * 7 % 10 > 4) + (number % 23 == 0)
        depth = min(depth, len(by_depth))
        above = by_depth[depth - 1]
        parent = above[number * number % min(len(above), 7 + depth * 20)]
        section = SECTIONS[number - 1] if listing else parent.removeprefix(HOME).partition("/")[0] or "news"
        status = 404 if number % 37 == 0 else 301 if number % 29 == 0 else 403 if number % 61 == 0 else 200
        url = f"{HOME}{section}/" if listing else f"{HOME}{section}/entry-{number}"
        seen = None if number % 17 == 0 and depth > 2 else status
        why = "depth limit" if seen is None else None
        moved = f"{HOME}{section}/" if seen == 301 else None
        pages.append(page(url, depth, parent, seen, title=f"Entry {number} of the {section}", redirect_to=moved, not_fetched=why))
        if len(by_depth) == depth:
            by_depth.append([])
        by_depth[depth].append(url)
        edges.append(LinkEdge(parent, url, f"Entry {number}", ""))
        edges.append(LinkEdge(url, HOME, "Home", ""))
        edges.extend(LinkEdge(url, pages[number * step % len(pages)].url, "See also", "") for step in (3, 5, 11))
        edges.extend(LinkEdge(url, f"{HOME}{name}/", name, "") for name in SECTIONS[: number % 5])
    return _with_failures(pages, edges)


def _with_failures(pages: list[UrlInfo], edges: list[LinkEdge]) -> LinksReport:
    bad = [info for info in pages if info.status_code in (403, 404)]
    failed = tuple(failure(info.url, info.status_code, blocked=info.status_code == 403, parent=info.parent_url) for info in bad)
    outside = tuple(page(f"https://friend-{number}.example/", 1, HOME, None) for number in range(len(pages) // 20 + 1))
    links = []
    for info in bad:
        sources = tuple(LinkSource(edge.source, edge.text) for edge in edges if edge.target == info.url)
        if info.status_code == 403:
            links.append(BrokenLink(info.url, 403, "403 Forbidden", "blocked", sources))
        else:
            links.append(BrokenLink(info.url, 404, "404 Not Found", "broken", sources))
    result = CrawlResult(
        HOME, tuple(pages), outside, failed, sum(info.status_code is not None for info in pages), len(pages) + len(outside), 41.7,
        traps=(SkippedTrap(f"{HOME}events/{{year}}/{{month}}", "calendar", 412),) if len(pages) > 500 else (),
        stopped="the limit of 2,000 URLs was reached" if len(pages) >= 2000 else None,
    ).with_bad_links(links)  # fmt: skip
    return report(result, *edges, external=True, checked=True)
