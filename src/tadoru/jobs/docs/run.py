"""The use case of the job: a documentation site from its options to its files; and the Python API `tadoru.docs()`."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from contextlib import closing
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from tadoru.clock import SystemClock
from tadoru.config.options import JOB_SETTINGS, DocsOptions
from tadoru.config.resolve import shown_values
from tadoru.engine.crawl import PROBE_META, PROBE_TASK, CrawlOutcome
from tadoru.engine.job import MAX_REDIRECTS
from tadoru.engine.notifications import Notify
from tadoru.engine.url_filter import UrlFilter
from tadoru.errors import NothingToCrawl, SeedUnreachable, UsageError
from tadoru.fetch.base import BrowserOptions
from tadoru.jobs import crawl_setup
from tadoru.jobs.docs import site_markdown
from tadoru.jobs.docs.bundle import model
from tadoru.jobs.docs.bundle.model import DocChanges
from tadoru.jobs.docs.bundle.output_folder import STATE_FOLDER, check_folder, crawl_database_path
from tadoru.jobs.docs.bundle.writer import write_bundle
from tadoru.jobs.docs.content.page_info import page_part, title_parts
from tadoru.jobs.docs.job import DocsJob
from tadoru.jobs.docs.library import quote_untrusted
from tadoru.jobs.docs.reading_order import reading_order
from tadoru.jobs.docs.titles import rename_page
from tadoru.jobs.reporting.formatting import format_count
from tadoru.rules.address import Exemptions
from tadoru.rules.scope import Scope
from tadoru.rules.url import origin, parse_typed_url, split_url
from tadoru.store.crawl.crawl_database import CrawlDatabase
from tadoru.store.crawl.documents import DocumentPlace, DocumentRow
from tadoru.store.crawl.open import open_existing, open_store
from tadoru.store.crawl.records import TOO_DEEP
from tadoru.store.crawl.runs import RunOutcome

DEFAULT_FOLDER = ".context"


def site_folder_name(url: str) -> str:
    """The name of a site's folder: host, port and path of the start URL in lower case, with hyphens for everything else."""
    path = re.sub(r"(?:^|/)index\.html?$", "", split_url(url).path)
    return re.sub(r"[^a-z0-9]+", "-", f"{origin(url).partition('//')[2]}{path}".lower()).strip("-") or "site"


def site_folder(options: DocsOptions, url: str) -> Path:
    """The folder that the site's files are written to."""
    if options.output:
        return Path(options.output)
    return Path(DEFAULT_FOLDER) / (site_folder_name(url) + (f"@{options.label}" if options.label else ""))


def build_job(options: DocsOptions, scope: Scope, start: str) -> DocsJob:
    """The job that the options describe."""
    return DocsJob(
        scope=scope,
        start=start,
        follow=options.sitemap != "only",
        render=options.render,
        own_markdown=options.own_markdown,
        variants=frozenset(options.variants),
        language=options.language,
        cleaning=crawl_setup.build_cleaner(options),
    )


_MAX_FAILED = 1_000
"""Pages that failed and are listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocsOutcome:
    """What a docs run produced."""

    written: model.BundleSummary | None = None
    """None if nothing was written: the run was interrupted, or other workers are still active."""
    missing: str = ""
    """Why pages are incomplete: they need a browser and none is available."""
    deeper: int = 0
    """Pages that are known and lie beyond the depth."""
    failed: tuple[tuple[str, str], ...] = ()
    """Pages that could not be downloaded again, with the causes: their earlier versions are kept."""


@dataclass(frozen=True, slots=True)
class DocsCrawl(crawl_setup.SiteCrawl[DocsOutcome]):
    """A crawl of a documentation site in its folder."""

    options: DocsOptions
    url: str
    config: Mapping[str, Any] = field(default_factory=dict)
    """The options as they are stored with the crawl, without secrets."""
    allowed: Exemptions | None = None
    """See `resolve_exemptions`."""

    @property
    def folder(self) -> Path:
        return site_folder(self.options, parse_typed_url(self.url))

    async def prepare(self) -> crawl_setup.PreparedCrawl:
        options, start, root = self.options, parse_typed_url(self.url), self.folder
        store = await _open_store(root)
        try:
            stored = await _has_crawl(store, root, start)
            new = () if stored else (start,)
            scope, exemptions = await crawl_setup.recover_crawl(store, options, (start,), new, self.allowed)
            run, recrawl = await crawl_setup.begin_run(store, self.config, recrawl=stored, limit=options.limit, keep=1)
            settings = [options.render, str(options.own_markdown), str(options.spa_wait)]
            same = await crawl_setup.is_read_alike(store, "read_by", settings, anew=recrawl or not stored)
            if (recrawl and not options.diff) or await _probe_failed(store):
                await store.meta.set(PROBE_META, "")
                await store.tasks.repeat(PROBE_TASK)
            job = build_job(options, scope, start)
            url_filter = await _url_filter(store, job, options)
            await crawl_setup.apply_rules(store, url_filter, options.depth)
            await crawl_setup.queue_start_urls(store, url_filter, (start,), new, options.depth)
        finally:
            await store.close()
        policy = {
            "revalidate": options.diff and run > 1 and same,
            "sitemaps": options.sitemap != "off",
            "sitemap_urls": options.sitemap_url,
            "sitemap_below": "" if options.sitemap_url or options.sitemap == "only" else start[: start.rfind("/") + 1],
        }
        rendering = BrowserOptions(
            quiet=options.spa_wait,
            headed=options.headed,
            profile=root / STATE_FOLDER / "session" if options.keep_session else None,
            pages=max(1, min(4, options.concurrency)),
        )
        database, render = str(crawl_database_path(root)), options.render != "never"
        plan = crawl_setup.build_plan(options, job, (start,), exemptions, database, policy, render=render, rendering=rendering)
        return crawl_setup.PreparedCrawl(plan=plan, starts=(start,), run=run, resumed=stored and not recrawl, recrawl=recrawl)

    async def finish(
        self, prepared: crawl_setup.PreparedCrawl, ended: CrawlOutcome, seconds: float
    ) -> crawl_setup.FinishedCrawl[DocsOutcome]:
        """Write the files of the crawled site, unless the run was interrupted or other workers are still active."""
        clock, root = SystemClock(), self.folder
        store = open_store(prepared.plan.database, clock)
        try:
            outcome = crawl_setup.run_outcome(ended)
            if outcome is RunOutcome.INTERRUPTED or await store.frontier.has_workers():
                # The run is not marked as ended, so that it is resumed and not started anew, even if it was stopped at its last
                # page.
                return crawl_setup.FinishedCrawl(prepared=prepared, ended=ended, result=DocsOutcome(), is_complete=False)
            failure = await crawl_setup.start_failure(store)
            urls, reason = store.checks.unrendered(10)
            missing = f"{reason} Incomplete pages: {', '.join(urls)}." if urls else ""
            written = None
            if missing or (root / "index.json").exists() or _has_documents(store):
                written = await write_site(store, root, self.options, prepared.starts[0], clock.now(), prepared.run)
            else:
                failure = failure or await _start_without_text(store)
            await store.runs.end(prepared.run, outcome, None)
            result = DocsOutcome(
                written=written,
                missing=missing,
                deeper=dict(store.summary.skip_reasons(100)).get(TOO_DEEP, 0),
                failed=tuple(store.documents.outdated(_MAX_FAILED)),
            )
            return crawl_setup.FinishedCrawl(prepared=prepared, ended=ended, result=result, start=failure)
        finally:
            await store.close()


async def _open_store(root: Path) -> CrawlDatabase:
    check_folder(root)
    try:
        (root / STATE_FOLDER).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            "Cannot use the folder {folder}: {reason}. Choose another folder with -o.",
            folder=error.filename or root,
            reason=error.strerror,
        ) from None
    return await crawl_setup.open_for_run(str(crawl_database_path(root)))


async def _has_crawl(store: CrawlDatabase, root: Path, start: str) -> bool:
    """Whether the folder holds a crawl of this site. Raises UsageError if it holds a crawl of another site."""
    known = await store.meta.get("starts")
    starts = json.loads(known) if known else []
    if starts and starts[0] != start:
        raise UsageError(
            "{folder} already holds the site {url}. Choose another folder with -o, or crawl that URL.", folder=root, url=starts[0]
        )
    await store.meta.set("job", "docs")
    return bool(starts)


async def _probe_failed(store: CrawlDatabase) -> bool:
    """Whether the site was probed before and its start URL did not respond."""
    known = await store.meta.get(PROBE_META)
    return known is not None and known != "" and not json.loads(known).get("answered", True)


async def _url_filter(store: CrawlDatabase, job: DocsJob, options: DocsOptions) -> UrlFilter:
    """The URL filter of a site, with the result of its probe if there is one."""
    known = await store.meta.get(PROBE_META)
    probed = job.with_probe_result(json.loads(known)) if known else job
    return UrlFilter(
        job.scope,
        check_external=False,
        follow=job.follow,
        trap_cap=options.trap_limit,
        refuse=probed.skip_reason,
        refuse_by=[sorted(options.variants), options.language],
    )


def _has_documents(store: CrawlDatabase) -> bool:
    return bool(store.documents.places()) or next(store.documents.specifications(), None) is not None


async def _start_without_text(store: CrawlDatabase) -> crawl_setup.StartFailure | None:
    """Why a start URL that responded gives no page of documentation."""
    last: crawl_setup.StartFailure | None = None
    async for row in store.graph.pages():
        if row.depth > 0:
            break
        if row.redirect_url is None:
            kind = (row.content_type or "no content type").partition(";")[0].strip()
            is_page = row.status_code == 200
            reason = f"the response ({kind}) has no text" if is_page else f"the status code is {row.status_code}"
            last = crawl_setup.StartFailure(url=row.url, status=row.status, reason=reason, error_type=None)
    return last


async def write_site(
    store: CrawlDatabase, root: Path, options: DocsOptions, start: str, now: float, run: int
) -> model.BundleSummary:
    """Write the files of a stored site, and record what this run changed in them."""
    places, copies = _drop_duplicates(store.documents.places(), store)
    copies |= await _redirects(store, {place.url for place in places})
    shared = _shared_titles(places)
    own = _own_titles(places, shared, store)
    numbers = {place.url: place.page_id for place in places}
    onward = {place.url: place.next_url for place in places if place.next_url}
    onward |= {place.prev_url: place.url for place in places if place.prev_url and place.prev_url not in onward}
    order = reading_order([place.url for place in places], onward, store.documents.menus())
    await store.documents.number(order)
    pages = [numbers[url] for url in order]

    def docs() -> Iterator[model.StoredDoc]:
        for row in store.documents.read(pages):
            yield _named_page(_stored_doc(row, options), shared, own)

    def specs() -> Iterator[model.StoredSpec]:
        for url, content_type, body in store.documents.specifications():
            yield model.StoredSpec(url, body, content_type)

    first = next(docs(), None)
    site = model.BundleSite(
        base_url=start,
        checked_at=now,
        title=first.metadata.title or first.title if first else "",
        description=(first.metadata.description or "") if first else "",
        config={"maxDepth": options.depth, "sameDomain": options.same_domain},
        label=options.label or "",
        copies=copies,
    )

    def note(changes: DocChanges) -> None:
        kinds = (("added", changes.added), ("changed", changes.changed), ("removed", changes.removed))
        store.documents.note_changes(run, [(kind, one.url, one.title) for kind, found in kinds for one in found], now)

    return write_bundle(root, site, docs, _bundle_options(options), specs, note)


def _drop_duplicates(places: list[DocumentPlace], store: CrawlDatabase) -> tuple[list[DocumentPlace], dict[str, str]]:
    """The pages without second copies of a page, and the URL of the page that is kept for each of them.

    A copy is the Markdown version of a page that is there as HTML, or the same text at a URL that differs only in `index.html`,
    `.html` or a slash at its end.
    """
    kept_as: dict[str, str] = {}
    markdown_urls = {site_markdown.markdown_url(place.url): place.url for place in places if not place.url.endswith(".md")}
    groups: dict[str, list[DocumentPlace]] = {}
    for place in places:
        if place.url in markdown_urls:
            kept_as[place.url] = markdown_urls[place.url]
        else:
            groups.setdefault(_UNMARKED_END.sub("", place.url), []).append(place)
    for key, group in groups.items():
        if len(group) > 1:
            kept_as.update(_copies(key, group, store))
    return [place for place in places if place.url not in kept_as], kept_as


async def _redirects(store: CrawlDatabase, urls: Set[str]) -> dict[str, str]:
    """The URLs that redirect to a page of the site, each with the URL of that page."""
    targets = {row.url: row.redirect_url async for row in store.graph.pages() if row.redirect_url is not None}
    found: dict[str, str] = {}
    for url, target in targets.items():
        last = target
        for _ in range(MAX_REDIRECTS):
            last = targets.get(last, last)
        if last in urls and url not in urls:
            found[url] = last
    return found


_UNMARKED_END = re.compile(r"(?:/index)?(?:\.html?)?/?$")
"""The end of a path that makes no difference on most servers."""


def _copies(key: str, group: list[DocumentPlace], store: CrawlDatabase) -> dict[str, str]:
    """The pages of a group that have the text or are, as they declare, a copy of another one, each with the URL of that one.

    Links of a page to itself do not count as text.
    """
    first: dict[str, str] = {}
    copies: dict[str, str] = {}
    named: dict[str, str] = {}
    # `/tea/` before `/tea`, and `/tea` before `/tea.html` and `/tea/index.html`.
    group = sorted(group, key=lambda place: (not place.url.endswith("/"), len(place.url)))
    for place, row in zip(group, store.documents.read([place.page_id for place in group]), strict=True):
        text = row.markdown.replace(f"({place.url})", f"({key})").replace(f"({place.url}#", f"({key}#")
        if (kept := first.setdefault(text, place.url)) != place.url:
            copies[place.url] = kept
        if isinstance(canonical := row.metadata.get("canonical"), str):
            named[place.url] = canonical
    urls = {place.url for place in group} - named.keys() - copies.keys()
    copies |= {url: canonical for url, canonical in named.items() if url not in copies and canonical in urls}
    return copies


def _shared_titles(places: list[DocumentPlace]) -> frozenset[str]:
    """The titles that most pages have: the name of the site, and not of its pages."""
    counts = Counter(place.title for place in places)
    return frozenset(title for title, count in counts.items() if count > max(2, len(places) // 2))


def _own_titles(places: list[DocumentPlace], shared: frozenset[str], store: CrawlDatabase) -> dict[str, str]:
    """The names, by URL, that only one page has in its `<title>`, for pages whose heading is that of several."""
    counts = Counter(place.title for place in places)
    alike = [place.page_id for place in places if place.title and counts[place.title] > _MAX_ALIKE]
    named: list[tuple[str, str]] = []
    for row in store.documents.read(alike):
        parts = [page_part(row.metadata.get("title") or "")]
        if row.title in shared:
            parts += title_parts(row.metadata.get("title") or "")
        named += [(row.url, name) for name in dict.fromkeys(parts) if name and name not in counts]
    pages = Counter(name for _, name in named)
    return {url: name for url, name in reversed(named) if pages[name] == 1}


def _named_page(doc: model.StoredDoc, shared: frozenset[str], own: Mapping[str, str]) -> model.StoredDoc:
    """A page with a title of its own, if its title is that of several pages."""
    if doc.title not in shared and doc.url not in own:
        return doc
    named = [own.get(doc.url, "")]
    named += [heading.text for heading in doc.headings[:_MAX_TITLES] if heading.level < model.DEFINITION_LEVEL]
    better = next((name for name in named if name and name not in shared), "")
    if not better:
        return doc
    markdown = rename_page(doc.markdown, doc.title, better)
    headings = tuple(replace(heading, text=better) if at == 0 else heading for at, heading in enumerate(doc.headings))
    if doc.headings[:1] and doc.headings[0].text != doc.title:
        headings = doc.headings
    elif len(headings) > 1 and headings[1].text == better:
        headings = headings[:1] + headings[2:]
    return replace(doc, title=better, markdown=markdown, headings=headings, hash=sha256(markdown.encode()).hexdigest())


_MAX_ALIKE = 2
"""Pages that may have the same heading by chance."""
_MAX_TITLES = 4
"""Headings at the start of a page that may be its title."""


def _stored_doc(row: DocumentRow, options: DocsOptions) -> model.StoredDoc:
    markdown, digest, source = row.markdown, row.hash, row.source
    if row.offered is not None and options.own_markdown and source != "markdown":
        offered = site_markdown.normalise_markdown(row.offered, row.url)
        if site_markdown.missing_content(offered, markdown) is None:
            markdown, digest, source = offered, sha256(offered.encode()).hexdigest(), "llms-full"
    return model.StoredDoc(
        url=row.url,
        title=row.title,
        markdown=markdown,
        number=row.number,
        crawled_at=row.changed_at,
        hash=digest,
        depth=row.depth,
        links=row.links,
        metadata=model.PageMetadata(**{name: row.metadata.get(name) for name in model.PageMetadata.__dataclass_fields__}),
        headings=tuple(model.DocHeading(level, text, anchor) for level, text, anchor in row.headings),
        breadcrumbs=tuple(row.breadcrumbs),
        language=row.language,
        generator=row.generator,
        version=row.version,
        source=cast(model.MarkdownOrigin, source),
        etag=row.etag,
        last_modified=row.last_modified,
    )


def _bundle_options(options: DocsOptions) -> model.BundleOptions:
    return model.BundleOptions(
        pages=options.pages,
        merge=options.merge,
        chunks=options.chunks,
        chunk_tokens=options.chunk_tokens,
        max_tokens=options.max_tokens,
        links=options.links,
        diff=options.diff,
        tokenizer=options.tokenizer,
        local_links=options.local_links,
    )


def stored_options(folder: Path) -> tuple[str, DocsOptions, dict[str, Any]]:
    """Start URL, options and configuration of the crawl in a site's folder. Raises UsageError."""
    database = crawl_database_path(folder)
    if not database.is_file():
        raise UsageError(
            "{folder} has no crawl to update: {database} does not exist. Crawl the site again with -o {folder}.",
            folder=folder,
            database=database,
        )
    store = open_existing(str(database), SystemClock())
    with closing(store.sql):
        kept = store.meta.all()
    starts, config = json.loads(kept.get("starts") or "[]"), json.loads(kept.get("config") or "{}")
    if not starts:
        raise UsageError("{folder} has no crawl to update. Crawl the site again with -o {folder}.", folder=folder)
    secret = {setting.name for setting in JOB_SETTINGS["docs"] if setting.secret}
    if any(config.get(name) for name in secret):
        raise UsageError(
            "{folder} was crawled with credentials, which are not stored. Run tadoru docs {url} -o {folder} --diff with them.",
            folder=folder,
            url=starts[0],
        )
    known = {setting.name for setting in JOB_SETTINGS["docs"]}
    values = {name: value for name, value in config.items() if name in known and value not in (None, [], "")}
    options = replace(crawl_setup.parse_options("docs", DocsOptions, values), output=str(folder), diff=True)
    return starts[0], options, config


async def refresh_site(folder: Path) -> str:
    """Update one site and return a sentence about what changed."""
    url, options, config = stored_options(folder)
    finished = await DocsCrawl(options, url, config).run()
    written = finished.result.written
    if written is None:
        reason = finished.start.reason if finished.start else "another process is crawling it"
        return f"Not updated. {quote_untrusted(model.one_line(reason, 500))}"  # The site controls parts of the reason.
    changes = written.changes
    if not changes:
        return "Nothing changed."
    return f"{format_count(len(changes.added), 'page')} added, {len(changes.changed)} changed, {len(changes.removed)} removed."


@dataclass(frozen=True, slots=True, kw_only=True)
class DocsResult:
    """A documentation site on disk: its folder and the most important figures."""

    folder: Path
    pages: int
    tokens: int
    changes: DocChanges
    """The changes since the previous run."""
    stopped: bool
    """Whether the crawl stopped before it was complete, for example at its time limit."""
    deeper: int = 0
    """Pages that are known and lie beyond the depth."""
    failed: tuple[tuple[str, str], ...] = ()
    """Pages that could not be downloaded again, with the causes: their earlier versions are kept."""

    def markdown(self) -> Iterator[tuple[str, str]]:
        """URL and Markdown of each page, in reading order, from the files of its pages; none if they have no files."""
        index = json.loads((self.folder / "index.json").read_text("utf-8"))
        for page in index["pages"]:
            if page["file"] is None:
                continue
            text = (self.folder / page["file"]).read_text("utf-8")
            yield page["url"], text.partition("\n---\n")[2].lstrip("\n")


def docs(url: str, *, notify: Notify | None = None, **options: Any) -> DocsResult:
    """Crawl a documentation site into a folder as Markdown. Options are those of `tadoru docs` (`output="site", depth=3, …`).

    Raises `tadoru.errors.UsageError` for invalid arguments, `SeedUnreachable` or `NothingToCrawl` if no page can be crawled.
    """
    return crawl_setup.run_outside_loop("docs", lambda: docs_async(url, notify=notify, **options))


async def docs_async(url: str, *, notify: Notify | None = None, **options: Any) -> DocsResult:
    """As `docs`, awaited. Cancelling it stops the crawl; calling it again resumes the crawl."""
    chosen = crawl_setup.parse_options("docs", DocsOptions, options)
    if "depth" in options and "sitemap" not in options:
        chosen = replace(chosen, sitemap="off")
    crawl = DocsCrawl(chosen, url, shown_values(chosen, "docs"))
    finished = await crawl.run(notify)
    if finished.start is not None:
        kind = SeedUnreachable if finished.start.status == "error" else NothingToCrawl
        raise kind("Nothing could be crawled from {url}: {reason}.", url=finished.start.url, reason=finished.start.reason)
    written = finished.result.written
    return DocsResult(
        folder=crawl.folder,
        pages=written.pages if written else 0,
        tokens=written.tokens if written else 0,
        changes=written.changes if written else DocChanges(),
        stopped=finished.ended.stopped,
        deeper=finished.result.deeper,
        failed=finished.result.failed,
    )
