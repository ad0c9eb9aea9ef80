"""What can become of a page between two crawls. Pure: two states of it go in, changes come out."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from tadoru.jobs.audit.indexability import INDEXABLE
from tadoru.store.states import PageState, Rewrite

SLOW_MS = 300.0
"""A response time has changed when it doubled or halved, and by at least so much."""
LARGE_BYTES = 10_000
FEW_LINKS = 5

Value = str | int | float | None


class Kind(StrEnum):
    """A change, in the order that a reader cares for."""

    BROKEN = "broken"
    REMOVED = "removed"
    DEINDEXED = "deindexed"
    """It could be shown in search results, and can not any more."""
    REDIRECTED = "redirected"
    """It redirects now, or to somewhere else."""
    STATUS = "status"
    FIXED = "fixed"
    ADDED = "added"
    INDEXED = "indexed"
    INDEXABILITY = "indexability"
    """There is another reason why it is not shown."""
    TITLE = "title"
    DESCRIPTION = "description"
    H1 = "h1"
    CANONICAL = "canonical"
    ROBOTS = "robots"
    CONTENT = "content"
    DEPTH = "depth"
    INLINKS = "inlinks"
    SLOWER = "slower"
    FASTER = "faster"
    LARGER = "larger"
    SMALLER = "smaller"
    NEW_FINDING = "new-finding"
    FIXED_FINDING = "fixed-finding"


WORSE = frozenset({Kind.BROKEN, Kind.REMOVED, Kind.DEINDEXED})
"""Together with new errors, these are regressions."""
FINDINGS = frozenset({Kind.NEW_FINDING, Kind.FIXED_FINDING})


class Change(NamedTuple):
    """One change of one URL."""

    kind: Kind
    url: str
    before: Value = None
    after: Value = None
    check_id: str = ""
    """Of a finding."""


def answer(state: PageState) -> str:
    """How a page answered, in a word."""
    if state.status == "skipped":
        return "not requested"
    return str(state.status_code) if state.status_code is not None else "no answer"


def works(state: PageState) -> bool:
    """Whether a visitor gets something: the page, or a redirect."""
    return state.status_code is not None and state.status_code < 400


def page_changes(before: PageState, after: PageState, rewrite: Rewrite | None) -> Iterator[Change]:
    """Everything that is different about a page that both crawls know."""
    was, now = answer(before), answer(after)
    yield from _answers(before, after, was, now, rewrite)
    read = (before.status_code or 0) // 100 == 2 == (after.status_code or 0) // 100
    if read or "not requested" in (was, now):
        yield from _indexability(before, after)
    if read:
        yield from _texts(before, after, rewrite)
        yield from _figures(before, after)


def _answers(before: PageState, after: PageState, was: str, now: str, rewrite: Rewrite | None) -> Iterator[Change]:
    asked = "not requested" not in (was, now)
    if asked and works(before) and not works(after):
        yield Change(Kind.BROKEN, after.url, was, now)
    elif asked and works(after) and not works(before):
        yield Change(Kind.FIXED, after.url, was, now)
    elif after.redirect_url is not None and _mapped(before.redirect_url, rewrite) != _mapped(after.redirect_url, rewrite):
        yield Change(Kind.REDIRECTED, after.url, before.redirect_url or was, after.redirect_url)
    elif was != now:
        yield Change(Kind.STATUS, after.url, was, now)


def _indexability(before: PageState, after: PageState) -> Iterator[Change]:
    was, now = before.indexability, after.indexability
    if was is None or now is None or was == now:
        return
    kind = Kind.DEINDEXED if was == INDEXABLE else Kind.INDEXED if now == INDEXABLE else Kind.INDEXABILITY
    yield Change(kind, after.url, was, now)


def _texts(before: PageState, after: PageState, rewrite: Rewrite | None) -> Iterator[Change]:
    for kind, was, now in (
        (Kind.TITLE, before.title, after.title),
        (Kind.DESCRIPTION, before.description, after.description),
        (Kind.H1, before.h1, after.h1),
        (Kind.ROBOTS, before.robots, after.robots),
    ):
        if (was or "") != (now or ""):
            yield Change(kind, after.url, was, now)
    if _mapped(before.canonical, rewrite) != _mapped(after.canonical, rewrite):
        yield Change(Kind.CANONICAL, after.url, before.canonical, after.canonical)
    if before.content_hash and after.content_hash and before.content_hash != after.content_hash:
        yield Change(Kind.CONTENT, after.url, before.word_count, after.word_count)


def _figures(before: PageState, after: PageState) -> Iterator[Change]:
    if before.depth != after.depth:
        yield Change(Kind.DEPTH, after.url, before.depth, after.depth)
    if _differ(before.response_ms, after.response_ms, SLOW_MS):
        slower = (after.response_ms or 0) > (before.response_ms or 0)
        yield Change(Kind.SLOWER if slower else Kind.FASTER, after.url, _round(before.response_ms), _round(after.response_ms))
    if _differ(before.size, after.size, LARGE_BYTES):
        larger = (after.size or 0) > (before.size or 0)
        yield Change(Kind.LARGER if larger else Kind.SMALLER, after.url, before.size, after.size)
    if before.inlinks is not None and after.inlinks is not None:
        lost_or_won = bool(before.inlinks) != bool(after.inlinks)
        if lost_or_won or _differ(before.inlinks, after.inlinks, FEW_LINKS):
            yield Change(Kind.INLINKS, after.url, before.inlinks, after.inlinks)


def _differ(was: float | None, now: float | None, floor: float) -> bool:
    """Clearly: by a factor of two, and by more than chance would."""
    if was is None or now is None:
        return False
    low, high = sorted((was, now))
    return high >= 2 * low and high - low >= floor


def _round(ms: float | None) -> float | None:
    return None if ms is None else round(ms)


def _mapped(url: str | None, rewrite: Rewrite | None) -> str | None:
    return rewrite(url) if url is not None and rewrite is not None else url
