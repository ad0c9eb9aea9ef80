"""Local input: a folder, files and patterns as start URLs of a crawl, and its result with the names and lines of files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tadoru.config.options import LinksOptions
from tadoru.errors import Message, UsageError, quoted
from tadoru.fetch.local_files import LocalSite, documents_below, file_exists, is_local_name, matching_files, repository_root
from tadoru.jobs.launch import CrawlPlan, pick_processes
from tadoru.jobs.links.broken import NO_REFERENCE, format_status
from tadoru.jobs.links.job import STYLE_TYPE, html_of
from tadoru.jobs.links.result import BrokenLink, CrawlResult, FailedUrl, LinkEdge, LinkSource, UrlInfo
from tadoru.model.web import FOLLOWED, Link
from tadoru.parse.decode import decode
from tadoru.parse.html import HtmlDocument, PageTooComplex
from tadoru.parse.links import extract
from tadoru.parse.scan import ReferencePlace, css_places, html_places, html_references
from tadoru.rules.static_site import HTML_SUFFIXES, MARKDOWN_TYPE, StaticSite, content_type
from tadoru.rules.url import UrlCleaner, UrlResolver, host_key, origin, parse_typed_url, remap_url, split_url

FILES_BASE = "http://files.invalid"
"""Where the files are for the crawl: on a host that nobody has. Results have the URLs of files, or those below `--base-url`."""

_NOT_FOUND = format_status(404)

MANY_FILES = 200
"""So many files are read by several processes."""


@dataclass(frozen=True, slots=True)
class LocalInput:
    """The files whose links are checked."""

    site: LocalSite
    documents: tuple[str, ...]
    """The URLs of the files whose links are read."""
    start_url: str
    """The URL of the folder, or of the first file."""
    working_folder: str
    """The absolute path that the names of files are relative to."""
    base_url: str | None = None
    """The URL that the folder has on its site, without the slash at its end."""

    @property
    def root_url(self) -> str:
        """The URL of the folder that holds all files."""
        return self.site.urls.base + "/"

    def options(self, options: LinksOptions) -> LinksOptions:
        """The options of a crawl of these files: there is an end of them, and all are read."""
        limit = 0 if options.limit == LinksOptions().limit else options.limit
        return replace(options, limit=limit, depth=None, trap_limit=0, list=False, subdomains=False, scope="host")

    def cleaner(self, cleaner: UrlCleaner) -> UrlCleaner:
        """Cleans URLs and moves those of the folder to its files. What is beside it on its site is not on this machine."""
        if self.base_url is None:
            return cleaner
        files, site = self.site.urls.base, remap_url(origin(self.base_url + "/"), cleaner.remaps)
        return replace(cleaner, remaps=((self.base_url, files), (files, files), (FILES_BASE, site), *cleaner.remaps))

    def plan(self, plan: CrawlPlan, processes: int | None) -> CrawlPlan:
        """The plan of a crawl that reads these files from the disk, in several processes if there are many."""
        if processes is None:
            processes = pick_processes(None, 0.0) if len(self.documents) >= MANY_FILES else 1
        return replace(
            plan,
            policy=replace(plan.policy, local_host=host_key(self.root_url)),
            access=replace(plan.access, local=self.site),
            processes=processes,
        )

    def shown_url(self, url: str) -> str:
        """The URL as it is in results: that of the file, unless the user named the URL of the folder."""
        if not self.site.urls.holds(url):
            return url
        return (self.base_url or Path(self.site.root).as_uri().rstrip("/")) + url[len(self.site.urls.base) :]

    def file_name(self, url: str) -> str | None:
        """The name of the file of a URL, relative to the working folder if it is below it, with slashes."""
        path = self.site.file(url) if self.site.urls.holds(url) else None
        if path is None:
            return None
        file = Path(path)
        return (file.relative_to(self.working_folder) if file.is_relative_to(self.working_folder) else file).as_posix()

    def edges(self, edges: Iterable[LinkEdge]) -> Iterator[LinkEdge]:
        """Links between the pages of a result."""
        for edge in edges:
            yield edge._replace(source=self.shown_url(edge.source), target=self.shown_url(edge.target))

    def localize(self, result: CrawlResult, cleaner: UrlCleaner) -> CrawlResult:
        """The result with the names of files, and the lines and columns of links that do not work."""
        places = _SourcePlaces(self, UrlResolver(self.cleaner(cleaner)))
        links = [self._localize_link(link, places) for link in result.bad_links]
        return replace(
            result,
            start_url=self.shown_url(result.start_url),
            internal_urls=_LocalUrls(result.internal_urls, self._localize_info),
            failed_urls=tuple(self._localize_failure(failure, places) for failure in result.failed_urls),
        ).with_bad_links(links)

    def _localize_info(self, info: UrlInfo) -> UrlInfo:
        parent, target = info.parent_url, info.redirect_to
        return replace(
            info,
            url=self.shown_url(info.url),
            parent_url=None if parent is None else self.shown_url(parent),
            redirect_to=None if target is None else self.shown_url(target),
        )

    def _localize_failure(self, failure: FailedUrl, places: _SourcePlaces) -> FailedUrl:
        parent = failure.parent_url
        return replace(
            failure,
            url=self.shown_url(failure.url),
            error_message=self._shown_error(failure.url, failure.error_message),
            parent_url=None if parent is None else self.shown_url(parent),
            sources=places.locate(failure.url, failure.sources),
        )

    def _localize_link(self, link: BrokenLink, places: _SourcePlaces) -> BrokenLink:
        sources = places.locate(link.url, link.sources, is_fragment=link.kind == "fragment")
        return replace(link, url=self.shown_url(link.url), error=self._shown_error(link.url, link.error), sources=sources)

    def _shown_error(self, url: str, text: str) -> str:
        """What is wrong with a URL: of a file not the status, which no server sent."""
        if text == _NOT_FOUND and self.site.urls.holds(url):
            return Message("file not found")
        return text.replace(self.root_url, self.shown_url(self.root_url))


def find_local_input(arguments: Sequence[str], options: LinksOptions) -> LocalInput | None:
    """The files that arguments name; None if they are URLs. Raises UsageError."""
    local = [argument for argument in arguments if is_local_name(argument)]
    if not local:
        if options.base_url is not None:
            raise UsageError("--base-url is for folders and files. Give one, such as ./public.")
        return None
    if len(local) < len(arguments):
        raise UsageError("Give either URLs or files, not both.")
    names = [name for argument in local for name in _existing(argument)]
    base_url = None if options.base_url is None else parse_typed_url(options.base_url).rstrip("/")
    base = FILES_BASE if base_url is None else (FILES_BASE + split_url(base_url).path).rstrip("/")
    if len(names) == 1 and Path(names[0]).is_dir():
        return replace(_folder_input(Path(names[0]).resolve(), base, options), base_url=base_url)
    # With other files beside it, a folder is not the root of a site.
    files = [Path(name, below) for name in names for below in (documents_below(name) if Path(name).is_dir() else ("",))]
    return replace(_file_input([file.resolve() for file in files], base, options), base_url=base_url)


def _existing(argument: str) -> list[str]:
    """The files of an argument."""
    if "*" in argument:
        if not (names := matching_files(argument)):
            raise UsageError("No file matches {pattern}. Check the pattern.", pattern=quoted(argument))
        return names
    name = str(Path(argument).expanduser())
    if not file_exists(name):
        raise UsageError("{file} was not found. Check its name.", file=quoted(argument))
    return [name]


def _folder_input(root: Path, base: str, options: LinksOptions) -> LocalInput:
    names = list(documents_below(str(root)))
    if not names:
        raise UsageError("{folder} contains no HTML and no Markdown files. Choose another folder.", folder=quoted(str(root)))
    # A folder of Markdown is read on a code host, which lists the files of folders.
    has_pages = any(name.lower().endswith(HTML_SUFFIXES) for name in names)
    urls = StaticSite(base, extensionless=options.extensionless, listings=not has_pages)
    site = LocalSite(str(root), urls)
    return LocalInput(site, tuple(dict.fromkeys(map(urls.url, names))), f"{base}/", str(Path.cwd()))


def _file_input(files: Sequence[Path], base: str, options: LinksOptions) -> LocalInput:
    if not files:
        raise UsageError("The folders contain no HTML and no Markdown files. Choose other folders.")
    working_folder = Path.cwd()
    root = repository_root(working_folder)
    while not all(file.is_relative_to(root) for file in files):
        root = root.parent
    urls = StaticSite(base, extensionless=options.extensionless, listings=True)
    documents = tuple(dict.fromkeys(urls.url(file.relative_to(root).as_posix()) for file in files))
    return LocalInput(LocalSite(str(root), urls), documents, documents[0], str(working_folder))


@dataclass(frozen=True)
class _LocalUrls(Collection[UrlInfo]):
    """URLs of a result with the names of files, made when they are read."""

    infos: Collection[UrlInfo]
    localize: Callable[[UrlInfo], UrlInfo]

    def __len__(self) -> int:
        return len(self.infos)

    def __iter__(self) -> Iterator[UrlInfo]:
        return map(self.localize, self.infos)

    def __contains__(self, info: object) -> bool:
        return any(info == other for other in self)


class _SourcePlaces:
    """Finds the lines and columns of links, by reading their files again: only those that do not work need them.

    The crawl keeps one link of a page to each target; all are in the file.
    """

    def __init__(self, local: LocalInput, resolver: UrlResolver) -> None:
        self._local = local
        self._resolver = resolver
        self._pages: dict[str, _PagePlaces] = {}

    def locate(self, url: str, sources: Iterable[LinkSource], *, is_fragment: bool = False) -> tuple[LinkSource, ...]:
        """The sources of a link to a URL, or to what is no URL, with their places; those of one page are found together."""
        first = {(source.page_url, source.kind in FOLLOWED or source.kind): source for source in reversed(list(sources))}
        return tuple(each for source in reversed(first.values()) for each in self._locate(url, source, is_fragment))

    def _locate(self, url: str, source: LinkSource, is_fragment: bool) -> Iterator[LinkSource]:
        path = self._local.site.file(source.page_url) if self._local.site.urls.holds(source.page_url) else None
        if path is None:
            yield source
            return
        page = self._pages.get(source.page_url)
        if page is None:
            page = self._pages[source.page_url] = _PagePlaces(path, source.page_url, self._resolver)
        file, page_url = self._local.file_name(source.page_url), self._local.shown_url(source.page_url)
        for found, place in page.find(url, source, is_fragment):
            line, column = (None, None) if place is None else (place.line, place.column)
            yield replace(found, page_url=page_url, file=file, line=line, column=column)


class _PagePlaces:
    """The references of a file."""

    def __init__(self, path: str, page_url: str, resolver: UrlResolver) -> None:
        self._places: dict[str, list[ReferencePlace]] = {}
        """By URL and by reference."""
        self._links: dict[str, list[Link]] = {}
        try:
            body = Path(path).read_bytes()
        except OSError:
            return
        media_type, base = content_type(path), page_url
        text = decode(body, media_type).text
        if media_type != STYLE_TYPE:
            base = self._read_links(text, media_type, page_url, resolver)
        for place in _places(text, media_type):
            target = resolver.resolve(place.reference, base)
            for key in {"" if target is None else target[0], place.reference[:300] or NO_REFERENCE}:
                self._places.setdefault(key, []).append(place)

    def _read_links(self, text: str, media_type: str, page_url: str, resolver: UrlResolver) -> str:
        """Read the links of a page; returns what its references are relative to."""
        try:
            document = HtmlDocument.parse(html_of(text, media_type).encode("utf-8", "replace"), "text/html; charset=utf-8")
        except PageTooComplex:
            return page_url
        for link in extract(document, page_url, resolver).links:
            self._links.setdefault(link.url, []).append(link)
        return document.base_url(page_url)

    def find(self, url: str, source: LinkSource, is_fragment: bool) -> Iterator[tuple[LinkSource, ReferencePlace | None]]:
        """All links like this one, each with its place."""
        target = url.partition("#")[0] if is_fragment else url
        places = self._places.get(target, [])
        links = self._links.get(target, []) if source.kind in FOLLOWED else []
        for at, link in enumerate(links):
            if not is_fragment or link.fragment == source.fragment:
                found = replace(source, anchor_text=link.text, fragment=link.fragment, position=link.position, kind=link.kind)
                yield found, places[min(at, len(places) - 1)] if places else None
        if not links:
            yield source, places[0] if places else None
            yield from ((replace(source, anchor_text=""), place) for place in places[1:])


def _places(text: str, media_type: str) -> Iterator[ReferencePlace]:
    """Where the references of a file stand."""
    if media_type == STYLE_TYPE:
        return css_places(text)
    if media_type != MARKDOWN_TYPE:
        return html_places(text)
    from tadoru.parse.markdown import markdown_places  # Late: most sites have no Markdown.

    return markdown_places(text, html_references)
