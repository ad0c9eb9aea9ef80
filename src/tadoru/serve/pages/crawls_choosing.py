"""What the lists of a crawl are asked for by their addresses: which pages, which links, in which order. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from tadoru.jobs.audit.reading import LinkFilter, PageFilter
from tadoru.serve.pages.words import Say

LONGEST = 200
DEEPEST = 1000
ANSWERS: dict[str, PageFilter] = {
    "2xx": PageFilter(codes=((200, 299),)), "3xx": PageFilter(codes=((300, 399),)), "4xx": PageFilter(codes=((400, 499),)),
    "5xx": PageFilter(codes=((500, 599),)), "error": PageFilter(statuses=("error",)),
    "queued": PageFilter(statuses=("queued", "processing")), "skipped": PageFilter(statuses=("skipped", "discovered")),
}  # fmt: skip
SORTS = ("url", "depth", "response_ms", "size", "inlinks", "status_code", "title")
WHICH: dict[str, LinkFilter] = {
    "broken": LinkFilter(broken=True), "internal": LinkFilter(internal=True), "external": LinkFilter(internal=False),
    "nofollow": LinkFilter(nofollow=True), "all": LinkFilter(),
}  # fmt: skip

Choices = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class PagesAsked:
    """Which pages, and in which order."""

    q: str = ""
    answer: str = ""
    depth: str = ""
    indexable: str = ""
    sort: str = "url"

    def filter(self) -> PageFilter:
        chosen = ANSWERS.get(self.answer, PageFilter())
        return PageFilter(
            codes=chosen.codes, statuses=chosen.statuses, q=self.q, depth=int(self.depth) if self.depth else None,
            indexable={"yes": True, "no": False}.get(self.indexable),
        )  # fmt: skip

    def query(self, **more: str) -> str:
        """The part of an address that asks for the same."""
        given = {"q": self.q, "answer": self.answer, "depth": self.depth, "indexable": self.indexable}
        return _query({**given, "sort": self.sort if self.sort != "url" else "", **more})

    def choices(self, say: Say) -> dict[str, Choices]:
        anything = ("", say("pages.any"))
        return {
            "answer": [anything, *((one, say(f"pages.answer.{one}")) for one in ANSWERS)],
            "indexable": [anything, ("yes", say("pages.indexable.yes")), ("no", say("pages.indexable.no"))],
            "sort": [(one, say(f"pages.sort.{one}")) for one in SORTS],
        }


@dataclass(frozen=True, slots=True)
class LinksAsked:
    """Which links."""

    which: str = "broken"
    q: str = ""
    source: str = ""
    target: str = ""
    """Of one page, or to one page, by its number."""

    def filter(self) -> LinkFilter:
        chosen = WHICH[self.which]
        return LinkFilter(
            broken=chosen.broken, internal=chosen.internal, nofollow=chosen.nofollow, q=self.q,
            source=int(self.source) if self.source else None, target=int(self.target) if self.target else None,
        )  # fmt: skip

    def query(self, **more: str) -> str:
        return _query({"which": self.which, "q": self.q, "source": self.source, "target": self.target, **more})

    def choices(self, say: Say) -> Choices:
        return [(one, say(f"links.{one}")) for one in WHICH]


def pages_asked(given: Mapping[str, str]) -> PagesAsked:
    """What an address asks for; what makes no sense is left out."""
    return PagesAsked(
        q=given.get("q", "").strip()[:LONGEST], answer=_one_of(given.get("answer", ""), ANSWERS),
        depth=_number(given.get("depth", ""), DEEPEST), indexable=_one_of(given.get("indexable", ""), ("yes", "no")),
        sort=_one_of(given.get("sort", ""), SORTS) or "url",
    )  # fmt: skip


def links_asked(given: Mapping[str, str]) -> LinksAsked:
    """The same, of links; those of one page are all shown unless it is said."""
    source, target = _number(given.get("source", ""), 2**62), _number(given.get("target", ""), 2**62)
    which = _one_of(given.get("which", ""), WHICH) or ("all" if source or target else "broken")
    return LinksAsked(which, given.get("q", "").strip()[:LONGEST], source, target)


def _one_of(text: str, known: Mapping[str, object] | tuple[str, ...]) -> str:
    return text if text in known else ""


def _number(text: str, most: int) -> str:
    return str(int(text)) if text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= most else ""


def _query(given: Mapping[str, str]) -> str:
    asked = {name: value for name, value in given.items() if value}
    return f"?{urlencode(asked)}" if asked else ""
