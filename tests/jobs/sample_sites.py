"""Small crawled sites for the checks of a whole site: described page by page, written through the store as a crawl would."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from tadoru.jobs.audit.catalogue import SITE_WIDE_CHECKS
from tadoru.jobs.audit.context import Limits
from tadoru.jobs.audit.run import analyse
from tadoru.jobs.audit.site_checks import SITE_CHECKS
from tadoru.model import web
from tadoru.model.web import LinkKind
from tadoru.parse.content import normalise_content
from tadoru.rules.minhash import sketch
from tadoru.rules.url import host_key
from tadoru.store.crawl import records
from tadoru.store.crawl.records import AlternateUrl, PageRecords, ResourceUse
from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.support.clock import FakeClock

ORIGIN = "https://a.example"
TTL = 60.0


def url(path: str) -> str:
    return path if "://" in path else ORIGIN + path


def words(seed: str, count: int = 120) -> str:
    """A text of its own for each seed."""
    return " ".join(f"word{sha256(f'{seed} {number}'.encode()).hexdigest()[:6]}" for number in range(count))


@dataclass(frozen=True, kw_only=True)
class Link:
    """A link to a path."""

    to: str
    rel: str = ""
    kind: str = "a"
    fragment: str = ""


@dataclass(frozen=True, kw_only=True)
class Page:
    """What a URL answers. What is not said is its own and without fault."""

    status: int = 200
    links: Sequence[str | Link] | None = None
    """None: to every other page of the site."""
    title: str | None = None
    description: str | None = None
    h1: str | None = None
    text: str | None = None
    canonical: str | None = None
    noindex: bool = False
    nofollow: bool = False
    language: str = "en"
    hreflang: Mapping[str, str] = field(default_factory=dict)
    next: str | None = None
    prev: str | None = None
    redirect: str | None = None
    failure: str | None = None
    forbidden: bool = False
    type: str = "text/html; charset=utf-8"
    ttfb_ms: float = 50.0
    size: int = 20_000
    anchors: Sequence[str] | None = None
    resources: Sequence[str] = ()
    facts: records.SiteFacts = field(default_factory=dict)
    linked: bool = True
    """Whether the other pages link to it when they link to everything."""


@dataclass(frozen=True, kw_only=True)
class Resource:
    """What something that pages are made of answers."""

    kind: str = "img"
    status: int = 200
    type: str = "image/png"
    length: int = 1_000
    final: str | None = None
    failure: str | None = None


@dataclass(frozen=True, kw_only=True)
class SampleSite:
    """A site and what is around it."""

    pages: Mapping[str, Page]
    start: str = "/"
    external: Mapping[str, Page] = field(default_factory=dict)
    """Links to other sites that were tried."""
    resources: Mapping[str, Resource] = field(default_factory=dict)
    sitemaps: Sequence[records.SitemapRecord] = ()
    entries: Mapping[str, Sequence[str | tuple[str, str]]] = field(default_factory=dict)
    """By the URL of the sitemap: paths, or paths with a date."""
    robots: tuple[int | None, str | None, str] | None = (200, None, "User-agent: *\nDisallow: /private\n")
    """Status, failure, text."""
    unfinished: bool = False
    """The crawl stopped with a page still waiting."""
    skipped: str = ""
    """A path that was not requested for a reason of the crawl."""


def sitemap(path: str = "/sitemap.xml", *problems: str, **changes: object) -> records.SitemapRecord:
    plain = records.SitemapRecord(url(path), 0, "robots.txt", "read", "urlset", 200, 1_000, 3, problems)
    return plain._replace(**changes)  # type: ignore[arg-type]


class SampleWriter:
    """Writes one world into a store."""

    def __init__(self, store: SqliteStore, sample: SampleSite) -> None:
        self._store = store
        self._world = sample

    async def run(self) -> None:
        sample, store = self._world, self._store
        await self.begin()
        worker = await store.frontier.join(TTL)
        while leases := (await store.frontier.lease(worker, {}, new_hosts=9, per_host=50, limit=0)).leases:
            await store.frontier.finish(worker, [self.outcome(lease) for lease in leases], max_depth=None)
        await self._try_resources(worker)
        if sample.robots is not None:
            status, failure, text = sample.robots
            await store.robots.claim(worker, ORIGIN, hold=9.0, max_age=9.0)
            await store.robots.put(ORIGIN, records.RobotsRecord(status, failure, "", text.encode(), 0.0))
        if sample.unfinished:
            await store.frontier.add(
                [records.LinkTarget(url("/waiting"), "a.example", records.PageStatus.QUEUED)], seed=False, depth=9
            )
        if sample.skipped:
            await store.frontier.add(
                [records.LinkTarget(url(sample.skipped), "a.example", records.PageStatus.SKIPPED, "trap: calendar")],
                seed=False,
                depth=9,
            )
        await store.frontier.leave(worker)

    async def begin(self) -> None:
        """What is there before the first page: the checks, the start, what sitemaps name."""
        await self._store.checks.install([*SITE_CHECKS.values(), *SITE_WIDE_CHECKS.values()], "site")
        await self._store.frontier.add([self._target(self._world.start)], seed=True)
        await self._name_pages()

    async def _name_pages(self) -> None:
        for record in self._world.sitemaps:
            number = await self._store.sitemaps.put(record)
            named = self._world.entries.get(record.url.removeprefix(ORIGIN), ())
            pairs = [(one, None) if isinstance(one, str) else one for one in named]
            await self._store.frontier.add_named(
                number, [records.NamedPage(self._target(path), lastmod) for path, lastmod in pairs]
            )

    async def _try_resources(self, worker: int) -> None:
        while leases := await self._store.resources.lease(worker, 50, budget=1000):
            results = []
            for lease in leases:
                one = self._world.resources[lease.url.removeprefix(ORIGIN)]
                results.append(
                    records.ResourceResult(
                        resource_id=lease.resource_id,
                        status="error" if one.failure else "completed",
                        status_code=None if one.failure else one.status,
                        content_type=one.type,
                        content_length=one.length,
                        final_url=one.final,
                        error_type=one.failure,
                    )
                )
            await self._store.resources.finish(worker, results)

    def _target(self, path: str) -> records.LinkTarget:
        address = url(path)
        host = host_key(address)
        if path in self._world.external:
            return records.LinkTarget(
                address, host, records.PageStatus.QUEUED, "another site", records.UrlPurpose.CHECK, internal=False
            )
        if host.removeprefix("www.") != "a.example":
            return records.LinkTarget(address, host, records.PageStatus.DISCOVERED, "another site", internal=False)
        return records.LinkTarget(address, host, records.PageStatus.QUEUED)

    def outcome(self, lease: records.Lease) -> records.Outcome:
        path = lease.url.removeprefix(ORIGIN)
        page = self._world.pages.get(path) or self._world.external.get(path) or Page(status=404)
        recorded = None if lease.purpose is records.UrlPurpose.CHECK else self._records(path, page)
        if page.forbidden:
            return records.RefusedOutcome(lease=lease, reason="robots.txt line 2: Disallow: /private", records=recorded)
        if page.failure:
            return records.FailedOutcome(lease=lease, kind=page.failure, message="No answer.", records=recorded)
        if page.redirect is not None:
            status = page.status if page.status >= 300 else 301
            return records.CompletedOutcome(
                lease=lease, facts=records.PageFacts(status_code=status), redirect=self._target(page.redirect), records=recorded
            )
        linked = self._linked(path, page)
        return records.CompletedOutcome(
            lease=lease, facts=self._facts(path, page), anchors=page.anchors, records=recorded,
            links=[
                web.Link(url(one.to), LinkKind(one.kind), f"To {one.to}", one.rel, at, one.fragment)
                for at, one in enumerate(linked)
            ],
            targets={url(one.to): self._target(one.to) for one in linked},
            resources=[self._use(one) for one in page.resources],
        )  # fmt: skip

    def _use(self, path: str) -> ResourceUse:
        return ResourceUse(url(path), "a.example", self._world.resources[path].kind, True, True)

    def _facts(self, path: str, page: Page) -> records.PageFacts:
        if page.status != 200 or not page.type.startswith("text/html"):
            return records.PageFacts(status_code=page.status, content_type=page.type, ttfb_ms=page.ttfb_ms, download_time_ms=1.0)
        content = normalise_content(page.text if page.text is not None else words(path))
        return records.PageFacts(
            status_code=page.status, content_type=page.type, ttfb_ms=page.ttfb_ms, download_time_ms=1.0,
            response_size_bytes=page.size, title=page.title or f"About {path}",
            meta_description=page.description or f"What {path} says", canonical_url=url(page.canonical or path),
            content_hash=content.hash,
        )  # fmt: skip

    def _linked(self, path: str, page: Page) -> list[Link]:
        if page.status != 200:
            return []
        links: Iterable[str | Link] = page.links if page.links is not None else self._everything(path)
        return [Link(to=one) if isinstance(one, str) else one for one in links]

    def _everything(self, path: str) -> list[str]:
        return [other for other, page in self._world.pages.items() if page.linked and other != path]

    def _records(self, path: str, page: Page) -> PageRecords:
        reason = _indexability(path, page)
        if page.status != 200 or page.redirect or page.failure or page.forbidden or not page.type.startswith("text/html"):
            return PageRecords(indexable=reason == "indexable", indexability=reason)
        content = normalise_content(page.text if page.text is not None else words(path))
        names = [name for name, said in (("noindex", page.noindex), ("nofollow", page.nofollow)) if said]
        return PageRecords(
            indexable=reason == "indexable", indexability=reason, language=page.language, h1=page.h1 or f"Heading of {path}",
            word_count=content.words, site_facts=page.facts, sketch=sketch(content.shingles()) or None,
            next_url=url(page.next) if page.next else None, prev_url=url(page.prev) if page.prev else None,
            directives=[("header", "robots", name, "") for name in names], x_robots_tag=", ".join(names) or None,
            hreflang=[AlternateUrl(language, url(other), "html") for language, other in page.hreflang.items()],
        )  # fmt: skip


def _indexability(path: str, page: Page) -> str:
    if page.forbidden:
        return "blocked by robots.txt"
    if page.failure:
        return "no response"
    if page.redirect:
        return "redirected"
    if page.status != 200:
        return "server error" if page.status >= 500 else "client error"
    if page.noindex:
        return "noindex"
    return "canonicalised" if page.canonical not in (None, path) else "indexable"


def site(changes: Mapping[str, Page] | None = None, **around: object) -> SampleSite:
    """A site of five pages without a fault, every page linked to every other and named by the sitemap, with some changes."""
    pages = {**{path: Page() for path in ("/", "/a", "/b", "/c", "/d")}, **(changes or {})}
    given = [path for path, page in pages.items() if _indexability(path, page) == "indexable" and "://" not in path]
    values: dict[str, object] = {"pages": pages, "sitemaps": [sitemap()], "entries": {"/sitemap.xml": given}}
    return SampleSite(**{**values, **around})  # type: ignore[arg-type]


async def crawled(sample: SampleSite, name: str = ":memory:", clock: FakeClock | None = None) -> SqliteStore:
    """The world in a store, not yet analysed."""
    store = SqliteStore(name, clock or FakeClock())
    await SampleWriter(store, sample).run()
    return store


async def analysed(sample: SampleSite, **thresholds: float) -> SqliteStore:
    store = await crawled(sample)
    await judge(store, **thresholds)
    return store


async def judge(store: SqliteStore, **thresholds: float) -> float | None:
    chosen = {name.replace("_", "-"): value for name, value in thresholds.items()}
    return await analyse(store, Limits(SITE_CHECKS.values(), chosen), enabled=SITE_CHECKS)


def found(store: SqliteStore) -> set[tuple[str, str]]:
    """(check, path or subject) of everything that was found."""
    rows = store.sql.execute("SELECT check_id, url FROM findings WHERE scope = 'site'")
    return {(check, where.removeprefix(ORIGIN)) for check, where in rows}
