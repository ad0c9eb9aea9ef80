"""Recognises duplicate pages of a documentation site by their URLs: other versions, other languages, the whole book on one page,
indexes, search pages and source listings. They are skipped by default, each with a reason for the report.

Only URLs are used, before anything is fetched. The start URL decides: a crawl that starts in `/v1/` is about version 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from tadoru.rules.url import split_url


class VariantKind(StrEnum):
    """Why a page is skipped; options that include such pages use these names."""

    VERSION = "version"
    LANGUAGE = "language"
    PRINT = "print"
    INDEX = "index"
    SOURCE = "source"


@dataclass(frozen=True, slots=True)
class PageVariant:
    """The kind of a duplicate page and the reason for skipping it."""

    kind: VariantKind
    reason: str


@dataclass(frozen=True, slots=True)
class DocsEdition:
    """The version and language that a crawl is about; None if the site has only one or its URLs do not name it."""

    version: str | None = None
    language: str | None = None


_NUMBER = re.compile(
    r"v?\d{1,4}(?:\.\d{1,4}){1,3}(?:\.x|-?(?:alpha|beta|rc|dev|lts)\d*)?|v\d{1,3}|\d{1,3}\.x|v?\d{1,3}-(?:lts|stable)"
)
_VERSION_NAMES = frozenset(
    "latest stable current master main dev devel develop development next nightly canary edge unstable head trunk preview".split()
)
_CURRENT_NAMES = ("stable", "latest", "current", "main", "master")
"""Names of the current version on sites with several versions, most likely first."""
_LANGUAGES = frozenset(
    "ar az bg bn ca cs da de el en eo es et eu fa fi fil fr gl he hi hr hu hy id it ja ka km ko lt lv mk mn ms my nb ne nl nn no "
    "pl pt ro ru si sk sl sq sr sv sw ta te th tr uk ur uz vi zh".split()
)
_LANGUAGE = re.compile(r"([a-z]{2,3})(?:[-_](?:[a-z]{2}|[a-z]{4}|\d{3}))?", re.IGNORECASE)
_PRINT = re.compile(
    r"/(?:print|_print|printable|singlehtml|single-page|all-in-one|onepage|single)(?:\.html?|/|$)|[-_/](?:single|onepage|print)\.html?$|"
    r"/(?:book|manual|documentation)-(?:single|all)\.html?$|/print_page/?$"
)
_PRINT_QUERY = re.compile(r"(?:^|&)(?:print|printable|do=export_[a-z]+|action=print|view=print|format=print)(?:=|&|$)")
_INDEX = re.compile(
    r"/(?:genindex(?:-\w+)?|(?:py-|np-|go-)?modindex|index-all|allclasses(?:-index|-frame|-noframe)?|allpackages-index|deprecated-list|"
    r"overview-(?:tree|frame)|package-(?:tree|frame|use)|index/index-[a-z_]|(?:functions|globals|namespacemembers)_\w+|doc-index(?:-\w+)?|"
    r"http-routingtable|bookindex|ix\d\d|api-index-[\w.-]+|"
    r"(?:concept|function|variable|command|operator|option|program|macro|key|symbol|datatype|[\w-]*properties)s?-index|"
    r"(?:class|struct|union|interface|namespace)\w+-members)\.html?$|"
    r"/genindex/?$|/index-files/|/class-use/|/(?:special|user|talk|file|template|category):"
)
_TOP_INDEX = re.compile(r"(?:search|search-results|tags|sitemap|404)(?:\.html?)?")
"""Only at the top level of the documentation: further down, a page of this name is about searching or tags."""
_SOURCE = re.compile(
    r"/_(?:modules|sources|downloads|static|images)/|^(?>.*?/src/).+\.rs\.html$|_source\.html?$|/src-html/|\.(?:rst|ipynb|py)\.txt$"
)
_TOP = frozenset("docs doc documentation manual book html l intl translations".split())
_MAX_VERSION_DEPTH = 4
"""Folders; further down, a version belongs to the subject, as in `/reference/rest/users/v2/`."""


def variant_of(url: str, edition: DocsEdition, start: str = "") -> PageVariant | None:
    """The kind of duplicate that a URL is; None for a page of the edition that is crawled."""
    pieces = split_url(url)
    path = pieces.path.lower()
    if url == start:
        return None
    if start and _is_single_page(path, split_url(start).path.lower()):
        return PageVariant(VariantKind.PRINT, "everything on one page")
    if _SOURCE.search(path):
        return PageVariant(VariantKind.SOURCE, "a listing of source code or a file of the build")
    if _PRINT.search(path) or _PRINT_QUERY.search(pieces.query.lower()):
        return PageVariant(VariantKind.PRINT, "a whole book on one page, or a page for printing")
    if _INDEX.search(path) or _is_top_index(path):
        return PageVariant(VariantKind.INDEX, "an index, a list of tags or a search page")
    version = version_of(url)
    if version is not None and version != edition.version:
        instead = f"version {edition.version}" if edition.version else "the current version"
        return PageVariant(VariantKind.VERSION, f"version {version}; this crawl is about {instead}")
    language = language_of(url)
    if language is not None and edition.language is not None and not is_same_language(language, edition.language):
        return PageVariant(VariantKind.LANGUAGE, f"in {language}; this crawl is about {edition.language}")
    return None


def detect_edition(start: str, links: Iterable[str], language: str | None = None) -> DocsEdition:
    """The edition that a crawl is about, from its start URL and the links and language of the start page.

    If the start URL has no version, the site has either the current version there and old ones below, or all versions below: the
    links of the start page decide.
    """
    stated = language_of(start)
    return DocsEdition(version_of(start) or _version_among(links), stated or language)


def _version_among(links: Iterable[str]) -> str | None:
    counts: dict[str | None, int] = {}
    for link in links:
        version = version_of(link)
        counts[version] = counts.get(version, 0) + 1
    versions = [version for version in counts if version is not None]
    if not versions or counts.get(None, 0) >= sum(counts[version] for version in versions):
        return None
    for name in _CURRENT_NAMES:
        if name in counts:
            return name
    return max(versions, key=lambda version: (counts[version], _rank(version)))


def _rank(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version))


def version_of(url: str) -> str | None:
    """The version in a URL: `3.12` of `/3.12/library/`, `latest` of `/en/latest/`; None if it has none."""
    return next((folder for folder in _folders(url)[:_MAX_VERSION_DEPTH] if _is_version(folder)), None)


def language_of(url: str) -> str | None:
    """The language in a URL, at the start of its path or beside a version: `ja` of `/ja/guide/` and of `/docs/ja/3.1/`."""
    folders = _folders(url)
    for position, folder in enumerate(folders[:3]):
        match = _LANGUAGE.fullmatch(folder)
        if match is None or match[1].lower() not in _LANGUAGES:
            continue
        beside = folders[max(0, position - 1) : position] + folders[position + 1 : position + 2]
        if position == 0 or folders[0] in _TOP or any(map(_is_version, beside)):
            return folder
    return None


def is_same_language(one: str, other: str) -> bool:
    """Whether two codes are the same language; regions are compared only if both have one."""
    first, second = (re.split(r"[-_]", name.lower()) for name in (one, other))
    return first[0] == second[0] and (len(first) == 1 or len(second) == 1 or first[1:] == second[1:])


def _is_single_page(path: str, start: str) -> bool:
    """Whether a page beside the start page is `all.html`: the whole manual of Node.js, every item of a crate."""
    above, _, name = path.rpartition("/")
    return name in {"all.html", "all.htm"} and above == start.rpartition("/")[0]


def _is_top_index(path: str) -> bool:
    *above, last = path.strip("/").split("/")
    return _TOP_INDEX.fullmatch(last) is not None and all(
        folder in _TOP or _is_version(folder) or folder in _LANGUAGES for folder in above
    )


def _is_version(folder: str) -> bool:
    return _NUMBER.fullmatch(folder) is not None or folder in _VERSION_NAMES


def _folders(url: str) -> list[str]:
    """The folders of a URL in lower case; its last part only if it is not a file of a known type."""
    path = split_url(url).path.lower()
    folders = path.strip("/").split("/")
    if not path.endswith("/") and folders[-1].endswith((".html", ".htm", ".php", ".aspx", ".md")):
        folders.pop()
    return folders
