"""The result of a links crawl, and its JSON document.

The fields of the first version come first, in the classes and in the JSON, under their original names. Nothing is decided or
formatted here: `broken` decides what is broken, `report` shows it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from typing import Any, Literal, NamedTuple, cast

from tadoru.clock import iso
from tadoru.errors import UsageError

BrokenKind = Literal["broken", "blocked", "fragment"]


class LinkEdge(NamedTuple):
    """A link between two pages. A named tuple, because a site has millions."""

    source: str
    target: str
    text: str
    rel: str


@dataclass(frozen=True, slots=True)
class LinkSource:
    """Where a link was found."""

    page_url: str
    anchor_text: str
    fragment: str = ""
    """The fragment of the link, without `#`."""
    position: int | None = None
    """Its position on the page in document order, from 0."""
    kind: str | None = None
    """Which part of a page it is: `a`, `img`, `script` and so on (`LinkKind`)."""
    file: str | None = None
    """The name of the local file that contains it, as the user gave it, with slashes; None for a page of a site."""
    line: int | None = None
    """The line of the reference in the file, from 1."""
    column: int | None = None
    """The column of the reference in its line, in characters, from 1."""

    def to_dict(self) -> dict[str, Any]:
        return _fields(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> LinkSource:
        place = (data.get(name) for name in ("position", "kind", "file", "line", "column"))
        return cls(data["page_url"], data["anchor_text"], data.get("fragment", ""), *place)


@dataclass(frozen=True, slots=True)
class UrlInfo:
    """A URL that was found, whether it was requested or not."""

    url: str
    depth: int
    parent_url: str | None
    status_code: int | None
    discovered_at: datetime
    title: str = ""
    content_type: str | None = None
    redirect_to: str | None = None
    """The URL at the end of its redirects."""
    not_fetched: str | None = None
    """Why it was not requested; None if it was."""

    def __post_init__(self) -> None:
        _check_aware(self.discovered_at)

    def to_dict(self) -> dict[str, Any]:
        return {
            "url": self.url,
            "depth": self.depth,
            "parent_url": self.parent_url,
            "status_code": self.status_code,
            "discovered_at": iso(self.discovered_at),
            "title": self.title,
            "content_type": self.content_type,
            "redirect_to": self.redirect_to,
            "not_fetched": self.not_fetched,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> UrlInfo:
        return cls(
            data["url"],
            int(data["depth"]),
            data["parent_url"],
            data["status_code"],
            datetime.fromisoformat(data["discovered_at"]),
            data.get("title", ""),
            data.get("content_type"),
            data.get("redirect_to"),
            data.get("not_fetched"),
        )


@dataclass(frozen=True, slots=True)
class FailedUrl:
    """A URL whose request failed: no response, or one that is not accepted."""

    url: str
    error_message: str
    attempted_at: datetime
    parent_url: str | None
    error_type: str = ""
    status_code: int | None = None
    blocked: bool = False
    sources: tuple[LinkSource, ...] = ()

    def __post_init__(self) -> None:
        _check_aware(self.attempted_at)

    def to_dict(self) -> dict[str, Any]:
        return _fields(self) | {"attempted_at": iso(self.attempted_at), "sources": [source.to_dict() for source in self.sources]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> FailedUrl:
        return cls(
            data["url"],
            data["error_message"],
            datetime.fromisoformat(data["attempted_at"]),
            data["parent_url"],
            data.get("error_type", ""),
            data.get("status_code"),
            bool(data.get("blocked", False)),
            tuple(LinkSource.from_dict(source) for source in data.get("sources", ())),
        )


@dataclass(frozen=True, slots=True)
class BrokenLink:
    """A link target that does not work, with all pages that link to it."""

    url: str
    status_code: int | None
    error: str
    kind: BrokenKind
    sources: tuple[LinkSource, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return _fields(self) | {"sources": [source.to_dict() for source in self.sources]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> BrokenLink:
        if data["kind"] not in ("broken", "blocked", "fragment"):
            raise ValueError(f"unknown kind of broken link: {data['kind']!r}")
        sources = tuple(LinkSource.from_dict(source) for source in data.get("sources", ()))
        return cls(data["url"], data["status_code"], data["error"], cast(BrokenKind, data["kind"]), sources)


@dataclass(frozen=True, slots=True)
class SkippedTrap:
    """An endless URL space that was skipped."""

    pattern: str
    reason: str = ""
    skipped: int | None = None

    def to_dict(self) -> dict[str, Any]:
        return _fields(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SkippedTrap:
        return cls(data["pattern"], data.get("reason", ""), data.get("skipped"))


@dataclass(frozen=True, slots=True)
class CrawlResult:
    """The result of a crawl."""

    start_url: str
    internal_urls: Collection[UrlInfo]
    """By depth, then URL. May be read more than once; of a large crawl it is a view of the store."""
    external_urls: Collection[UrlInfo]
    failed_urls: tuple[FailedUrl, ...]
    total_processed: int
    total_found: int
    crawl_duration: float
    broken_links: tuple[BrokenLink, ...] = ()
    """Broken targets and missing fragments."""
    blocked_links: tuple[BrokenLink, ...] = ()
    """Targets that block crawlers; visitors may be able to open them."""
    traps: tuple[SkippedTrap, ...] = ()
    stopped: str | None = None
    """Why the crawl ended early; None if it is complete."""

    @property
    def redirects(self) -> tuple[UrlInfo, ...]:
        """The URLs that redirect."""
        return tuple(info for info in chain(self.internal_urls, self.external_urls) if info.redirect_to)

    @property
    def bad_links(self) -> tuple[BrokenLink, ...]:
        """Broken links, missing fragments and blocked links together."""
        return self.broken_links + self.blocked_links

    def with_bad_links(self, links: Iterable[BrokenLink]) -> CrawlResult:
        """The same crawl with these links, sorted into their fields."""
        links = tuple(links)
        return replace(
            self,
            broken_links=tuple(link for link in links if link.kind != "blocked"),
            blocked_links=tuple(link for link in links if link.kind == "blocked"),
        )

    def fields(self) -> Iterator[tuple[str, Any]]:
        """The name and JSON value of each field. Long lists are iterators, so that a writer can stream them."""
        yield "start_url", self.start_url
        yield "internal_urls", (info.to_dict() for info in self.internal_urls)
        yield "external_urls", (info.to_dict() for info in self.external_urls)
        yield "failed_urls", (failed.to_dict() for failed in self.failed_urls)
        yield "total_processed", self.total_processed
        yield "total_found", self.total_found
        yield "crawl_duration", self.crawl_duration
        yield "broken_links", (link.to_dict() for link in self.broken_links)
        yield "blocked_links", (link.to_dict() for link in self.blocked_links)
        yield (
            "redirects",
            ({"url": info.url, "status_code": info.status_code, "redirect_to": info.redirect_to} for info in self.redirects),
        )
        yield "traps", (trap.to_dict() for trap in self.traps)
        yield "stopped", self.stopped

    def to_dict(self) -> dict[str, Any]:
        """The JSON document."""
        return {name: list(value) if isinstance(value, Iterator) else value for name, value in self.fields()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> CrawlResult:
        """Parses the output of `to_dict`, and of the first version. Raises UsageError for anything else."""
        try:
            return cls(
                data["start_url"],
                tuple(UrlInfo.from_dict(item) for item in data["internal_urls"]),
                tuple(UrlInfo.from_dict(item) for item in data["external_urls"]),
                tuple(FailedUrl.from_dict(item) for item in data["failed_urls"]),
                int(data["total_processed"]),
                int(data["total_found"]),
                float(data["crawl_duration"]),
                tuple(BrokenLink.from_dict(item) for item in data.get("broken_links", ())),
                tuple(BrokenLink.from_dict(item) for item in data.get("blocked_links", ())),
                tuple(SkippedTrap.from_dict(item) for item in data.get("traps", ())),
                data.get("stopped"),
            )
        except KeyError as missing:
            raise UsageError("Not a result of `tadoru links`: the field {field} is missing.", field=missing) from None
        except (TypeError, ValueError, AttributeError) as problem:
            raise UsageError("Not a result of `tadoru links`: {error}.", error=problem) from None


def _fields(record: Any) -> dict[str, Any]:
    """The fields of a record with slots, by their names in their order: the names are those of the JSON document."""
    return {name: getattr(record, name) for name in record.__slots__}


def _check_aware(moment: datetime) -> None:
    if moment.tzinfo is None:
        raise ValueError("a time needs a time zone")
