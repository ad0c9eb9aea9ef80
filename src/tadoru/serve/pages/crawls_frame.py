"""What every page of a crawl has: the crawl of its address, its name, its state, and the way to its other pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import Request

from tadoru.jobs.report.escape import clip, origin, printable, readable_url, shortener
from tadoru.serve.pages.crawls_showing import state_of
from tadoru.serve.pages.desk import LARGEST
from tadoru.serve.pages.telling import number
from tadoru.serve.pages.words import Say
from tadoru.serve.problems import Refused
from tadoru.serve.service import service_of
from tadoru.store.crawls.register import NoSuchCrawl
from tadoru.store.crawls.values import ServedCrawl

PLACE = "/manage/crawls"
LONGEST, LONGEST_TEXT = 90, 400
_TABS = {
    "audit": ("", "findings", "pages", "links", "graph", "compare", "exports"),
    "links": ("", "pages", "links", "graph", "exports"),
    "docs": ("", "pages"),
}


@dataclass(frozen=True, slots=True)
class Chip:
    """How a crawl stands, as a colour and the key of its words."""

    kind: str
    words: str


def found_crawl(request: Request, crawl_id: int) -> ServedCrawl:
    """The crawl of an address, or 404."""
    if not 0 < crawl_id < LARGEST:
        raise Refused(404, "")
    try:
        return service_of(request).store.crawl(crawl_id)
    except NoSuchCrawl:
        raise Refused(404, "") from None


def frame(crawl: ServedCrawl, say: Say, tab: str = "") -> dict[str, Any]:
    """What the templates of a crawl's pages show around their own content."""
    base = f"{PLACE}/{crawl.id}"
    paths = [(f"{base}/{name}" if name else base, say(f"crawl.tab.{name or 'overview'}")) for name in _TABS[crawl.job]]
    return {
        "crawl": crawl, "base": base, "chip": Chip(*state_of(crawl)), "tabs": paths, "tab": f"{base}/{tab}" if tab else base,
        "short": _namer(crawl), "full": short, "said": said, "severities": severity_words(say),
    }  # fmt: skip


def has_tab(crawl: ServedCrawl, tab: str) -> bool:
    """Has a crawl of its job such a page?"""
    return tab in _TABS[crawl.job]


def short(url: str) -> str:
    """An address that a person can read, not too long."""
    return clip(readable_url(url), LONGEST)


def said(text: str) -> str:
    """What a stranger wrote, on one line, without signs that turn or hide what stands around it."""
    return clip(printable(text), LONGEST_TEXT)


def _namer(crawl: ServedCrawl) -> Callable[[str], str]:
    """How a page of a crawl names an address: by its path where it is of the site."""
    name = shortener(origin(crawl.starts[0])) if crawl.starts else readable_url
    return lambda url: clip(name(url), LONGEST)


def shown_number(value: float) -> str:
    """A figure: whole where it is whole."""
    return number(int(value)) if float(value).is_integer() else f"{value:,.1f}"


def severity_words(say: Say) -> Mapping[str, str]:
    return {name: say(f"severity.{name}") for name in ("error", "warning", "notice", "info")}
